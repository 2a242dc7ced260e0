"""Statistics of a connection: activity by hour, and how long its requests waited and executed, by day.

A commit adds them to the row of counts of its day, which it changes anyway. They are not exact like the counts. Nothing
recounts them, they are kept for KEPT_DAYS, and a request that is deleted stays in them. The sweep then moves them to
the totals of their month, which are kept as long as the connection.

Durations are counted in buckets. The bounds of the buckets are fixed and double from one to the next, so the numbers of
several days and connections are merged by addition. A percentile is the geometric middle of its bucket: the exact value
is at most 1.42 times as large or as small (the square root of 2).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple

from domain.records.request import ENDED, State
from domain.storage.changes import AddRequest, ChangeRequest
from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change

KEPT_DAYS = 8
"""The number of days with statistics, including today. Any 168 hours are within 8 days."""

HOURS_A_DAY = 24


class Series(StrEnum):
    """What is counted: requests by the hour in which they were queued or ended, durations by bucket, and writes."""

    QUEUED = "queued"
    RESPONSE_RECEIVED = "response_received"
    ERROR = "error"
    WAITING_TIME = "waiting_time"
    EXECUTING_TIME = "executing_time"
    WRITE = "write"


BOUNDS: Mapping[Series, Sequence[float]] = {
    # The Web Connector calls every minute or less often, and a machine is off for a weekend: 1 second to 3 days.
    Series.WAITING_TIME: [2.0**exponent for exponent in range(19)],
    # QuickBooks answers in a fraction of a second, and works on a large report for minutes: 31 ms to 34 minutes.
    Series.EXECUTING_TIME: [2.0**exponent for exponent in range(-5, 12)],
}
"""The bounds between the buckets, in seconds. A bucket includes its lower bound."""

SLOTS: Mapping[Series, int] = {
    series: len(BOUNDS[series]) + 1 if series in BOUNDS else HOURS_A_DAY for series in Series
} | {Series.WRITE: 1}
"""The number of hours or buckets of each series. The writes that were queued are one number."""


class Slot(NamedTuple):
    """One number: of an hour (UTC), of a bucket, or of a day."""

    series: Series
    position: int


class Day(NamedTuple):
    """A day of a connection."""

    connection_id: str
    day: str


def statistic_changes(changes: Iterable[Change]) -> Mapping[Day, Mapping[Slot, int]]:
    """Return what `changes` add to the statistics of each day. Nothing is ever subtracted."""
    total: dict[Day, Counter[Slot]] = {}
    for change in changes:
        match change:
            case AddRequest(record=record):
                of_day = _day(total, record, record.inserted_at)
                of_day[_hour(Series.QUEUED, record.inserted_at)] += 1
                if not record.is_read:
                    of_day[Slot(Series.WRITE, 0)] += 1
            case ChangeRequest(before=before, after=after) if before.state not in ENDED and after.state in ENDED:
                _day(total, after, after.updated_at).update(_slots_of_end(after))
            case _:
                pass
    return {day: slots for day, slots in total.items() if slots}


def _day(total: dict[Day, Counter[Slot]], record: QueuedRequest, moment: str) -> Counter[Slot]:
    return total.setdefault(Day(record.connection_id, day_of(moment)), Counter())


def _hour(series: Series, moment: str) -> Slot:
    return Slot(series, int(moment[11:13]))


def _slots_of_end(record: QueuedRequest) -> list[Slot]:
    """Return what a request that has just ended adds. One that was discarded is neither a success nor a failure."""
    slots = []
    if record.state is not State.DISCARDED:
        slots.append(_hour(Series(record.state.value), record.updated_at))
    if record.sent_at:
        slots.append(_bucket(Series.WAITING_TIME, record.inserted_at, record.sent_at))
        if record.responded_at:
            slots.append(_bucket(Series.EXECUTING_TIME, record.sent_at, record.responded_at))
    return slots


def _bucket(series: Series, begin: str, end: str) -> Slot:
    seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
    return Slot(series, bisect_right(BOUNDS[series], seconds))


@dataclass(frozen=True, slots=True)
class MonthTotals:
    """The statistics of the days of a month that were moved to it, as numbers of `totals_of`.

    `month` is like `2026-03`, and `days` are those that were moved, like `2026-03-14`.
    """

    month: str
    numbers: Mapping[Slot, int] = field(default_factory=dict)
    days: frozenset[str] = frozenset()


def month_of(day: str) -> str:
    """Return the month of a day or of a timestamp."""
    return day[: len("2026-03")]


def totals_of(slots: Mapping[Slot, int]) -> Mapping[Slot, int]:
    """Return statistics without hours: each series of hours as one number, at position 0."""
    totals: Counter[Slot] = Counter()
    for slot, number in slots.items():
        totals[slot if slot.series in BOUNDS else Slot(slot.series, 0)] += number
    return totals


def first_kept_day(now: datetime) -> str:
    """Return the oldest day that has statistics."""
    return first_day(now, KEPT_DAYS)


def first_day(now: datetime, days: int) -> str:
    """Return the first of the last `days` days, which include today."""
    return day_of(timestamp(now - timedelta(days=days - 1)))


class Bucket(NamedTuple):
    """The number of durations from `from_seconds` (inclusive) to `to_seconds`. The last bucket has no upper bound."""

    from_seconds: float
    to_seconds: float | None
    number: int


class Durations:
    """A distribution: the numbers of the buckets of a series."""

    def __init__(self, series: Series, numbers: Mapping[Slot, int]) -> None:
        self._bounds = BOUNDS[series]
        self._numbers = [numbers.get(Slot(series, position), 0) for position in range(SLOTS[series])]
        self.total = sum(self._numbers)

    @property
    def buckets(self) -> list[Bucket]:
        """The buckets that are not empty, the shortest durations first."""
        bounds = [0.0, *self._bounds, None]
        return [
            Bucket(bounds[position] or 0.0, bounds[position + 1], number)
            for position, number in enumerate(self._numbers)
            if number
        ]

    def percentile(self, share: float) -> float | None:
        """Return about how many seconds this share of the durations takes at most, or None if there are none.

        Below the first bound and above the last one, the value is only a limit of what can be told.
        """
        rank, position = ceil(share * self.total), -1
        if not self.total:
            return None
        while rank > 0:
            position += 1
            rank -= self._numbers[position]
        if position < len(self._bounds):
            return self._bounds[position] / sqrt(2)
        return self._bounds[-1] * sqrt(2)
