"""Moves the statistics of days that are too old to the totals of their month.

Each list reads the rows of all days, so these must stay small. Nothing but a report of usage reads the totals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.storage.statistics import first_kept_day

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.ports import Clock
    from domain.storage.counts import DayCounts
    from domain.storage.ports import RecountStore


class OldStatistics:
    """Looks at connections by the counts of their last days, which the sweep reads anyway.

    Each day is moved once, with one read and a transaction of its rows and the row of the month.
    """

    def __init__(self, store: RecountStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def look_at(self, connection_id: str, days: Iterable[DayCounts]) -> None:
        """Move what is too old."""
        for day in days:
            if day.statistics and day.day < first_kept_day(self._clock()):
                self._store.move_statistics(connection_id, day.day)
