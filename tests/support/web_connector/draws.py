"""What the rules of the state machine draw: connections, and what happens to a function."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.web_connector.functions import ConcurrentCall, FailedRead, Termination, Trouble
from tests.support.web_connector.system import OWNERS

CONNECTIONS = st.integers(0, len(OWNERS) - 1)
TERMINATION = st.one_of(
    st.builds(Termination, st.integers(0, 4), st.booleans()), st.builds(FailedRead, st.integers(0, 3))
)
OTHERS = st.sampled_from(
    ["copy", "copy", "login", "pause", "sweep", "discard", "consume", "consume", "bulk", "webhook", "expire"]
)


def concurrent(trouble: st.SearchStrategy[Trouble]) -> st.SearchStrategy[ConcurrentCall]:
    """Return another call of which the function has a trouble itself."""
    return st.builds(ConcurrentCall, st.integers(0, 3), OTHERS, CONNECTIONS, trouble)


TROUBLE = st.one_of(
    st.none(),
    st.none(),
    TERMINATION,
    concurrent(st.one_of(st.none(), st.none(), TERMINATION, concurrent(st.one_of(st.none(), TERMINATION)))),
)
"""Most functions end well. Some are terminated before or after a call of the store or end with a failed read, and some
run concurrently with another, which may be interrupted by a third."""
