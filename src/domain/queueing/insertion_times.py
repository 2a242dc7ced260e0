"""The times at which requests are inserted, which are their order in the queue and in lists."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from domain.timestamps import later_than

if TYPE_CHECKING:
    from datetime import datetime

    from domain.ports import Clock


class InsertionTimes:
    """Returns the time of a clock, but always later than the time before.

    Requests that one process queues within a microsecond therefore keep their order, also if its clock is set back.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last: datetime | None = None

    def __call__(self) -> datetime:
        """Return the time at which the next request is inserted."""
        with self._lock:
            now = self._clock()
            self._last = later_than(self._last, now) if self._last else now
            return self._last
