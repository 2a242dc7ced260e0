"""No XML makes a function use more memory than it may.

Every way into the service for XML reads every shape of `tests/support/hostile_xml.py` in a process whose memory is
limited.
"""

from __future__ import annotations

import pytest

from tests.support.hostile_xml import SHAPES
from tests.support.xml_doors import DOORS, MAX_MEMORY_BYTES, Door, ProcessFailed, Reader, measured

HOSTILE_BYTES = 500_000


@pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))
def test_no_xml_makes_a_function_use_more_memory_than_it_may(door: Door) -> None:
    door()("")  # so that each process need not load the same modules again
    for seed, shape in enumerate(SHAPES):
        peak = measured(door, shape, HOSTILE_BYTES, seed, limit_bytes=MAX_MEMORY_BYTES)

        assert peak < MAX_MEMORY_BYTES, shape


def test_a_process_that_needs_more_memory_than_it_may_use_fails() -> None:
    def wasteful() -> Reader:
        return lambda text: [text * 1_000_000]

    with pytest.raises(ProcessFailed):
        measured(wasteful, "elements", 1_000, 1, limit_bytes=MAX_MEMORY_BYTES)
