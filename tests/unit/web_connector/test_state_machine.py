"""The rules that hold after any sequence of calls by consumers, Web Connectors and functions.

A short run; `make prove` runs 10,000 steps.
"""

from __future__ import annotations

from hypothesis import settings

from tests.support.fake_store import FakeStore
from tests.support.web_connector.interleavings import Interleavings, InterleavingsOfLooking
from tests.support.web_connector.system import System

TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)


TestInterleavingsOfLooking = InterleavingsOfLooking.TestCase
TestInterleavingsOfLooking.settings = settings(max_examples=10, stateful_step_count=40, deadline=None)


class InterleavingsOfSets(Interleavings):
    """Up to five requests in a message set."""

    batch_size = 5


TestInterleavingsOfSets = InterleavingsOfSets.TestCase
TestInterleavingsOfSets.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)


class InterleavingsOfFewSessions(Interleavings):
    """Two sessions may run at once."""

    max_sessions = 2


TestInterleavingsOfFewSessions = InterleavingsOfFewSessions.TestCase
TestInterleavingsOfFewSessions.settings = settings(max_examples=10, stateful_step_count=40, deadline=None)


def test_a_session_that_ends_in_a_backoff_delays_the_queue_but_does_not_stop_it() -> None:
    system = System(FakeStore())
    for _ in range(3):
        system.queue(0, "write", "")
    ticket, _ = system.log_in(0) or ("", "")
    for _ in range(2):
        system.send(ticket, 0)
        system.receive(ticket, "", "0x800706BE")

    system.to_quiet()

    system.check_end()
