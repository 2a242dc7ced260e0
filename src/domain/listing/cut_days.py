"""The counts of a list with a range of time.

The counts are those of whole days. Of a day that the range cuts, the entries of the index are counted: those in the
range or the others, whichever are probably fewer. So a list with a range takes one round of calls more, and none if the
range begins and ends at midnight UTC.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from domain.listing.page_range import DayTotal, split_points
from domain.storage.counts import INSERTED
from domain.storage.ports import IndexDays
from domain.timestamps import TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.listing.query import ListQuery
    from domain.records.request import Pair
    from domain.storage.counts import DayCounts
    from domain.storage.ports import ListStore

A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CutDay:
    """A day of which a range of time has a part. `counts` are those of the whole day, for the pairs of the list.

    `pieces` are to be counted. They are the part of the day that `is_inside` the range, or the rest. They have about
    `expected` entries.
    """

    day: str
    counts: Mapping[Pair, int]
    pieces: Sequence[TimeRange]
    is_inside: bool
    expected: int


def days_within(counts: Sequence[DayCounts], query: ListQuery) -> Sequence[DayCounts]:
    """Return the counts without those of days outside the range. A day that the range cuts has its whole counts.

    Only the counts in the order of the list change.
    """
    if not query.within:
        return counts
    return [day if _overlaps(day.day, query.within) else _with_counts(day, query.sort, {}) for day in counts]


def cut_days(counts: Sequence[DayCounts], query: ListQuery, now: datetime) -> Sequence[CutDay]:
    """Return the days that the range cuts and that have records of the list. There are at most two."""
    cut: list[CutDay] = []
    for day in counts:
        matching = {
            pair: number for pair, number in day.of(query.sort).items() if number > 0 and query.which.includes(pair)
        }
        if matching and _overlaps(day.day, query.within):
            cut_day = _cut_day(day.day, matching, query.within, now)
            cut += [cut_day] if cut_day else []
    return cut


def counted(
    store: ListStore,
    counts: Sequence[DayCounts],
    query: ListQuery,
    cut: Sequence[CutDay],
    check_deadline: Callable[[], None],
    *,
    min_part: int,
) -> Sequence[DayCounts]:
    """Return the counts with exact ones for the days that the range cuts."""
    steps = [(day, piece) for day in cut for piece in day.pieces]

    def count(step: tuple[CutDay, TimeRange]) -> Mapping[Pair, int]:
        day, piece = step
        entries = IndexDays(query.connection_id, query.sort, day.day, day.day, day.counts, piece)
        points = split_points([DayTotal(day.day, sum(day.counts.values()))], min_part)
        numbers = store.count_index_entries(entries, points, check_deadline)
        return {pair: numbers.get(pair, 0) for pair in day.counts}

    found: dict[str, Counter[Pair]] = {day.day: Counter() for day in cut}
    with ThreadPoolExecutor(max(len(steps), 1)) as threads:
        for (day, _), numbers in zip(steps, threads.map(count, steps), strict=True):
            found[day.day].update(numbers)
    exact = {
        day.day: found[day.day] if day.is_inside else Counter(day.counts) - found[day.day]  # never less than none
        for day in cut
    }
    return [_with_counts(day, query.sort, exact[day.day]) if day.day in exact else day for day in counts]


def _overlaps(day: str, within: TimeRange) -> bool:
    begin, end = _bounds(day)
    return (within.start is None or _moment(within.start) < end) and (within.end is None or begin < _moment(within.end))


def _cut_day(day: str, counts: Mapping[Pair, int], within: TimeRange, now: datetime) -> CutDay | None:
    """Return what to count of a day that the range overlaps, or None if the range has all of it."""
    begin, end = _bounds(day)
    start = max(_moment(within.start), begin) if within.start else begin
    stop = min(_moment(within.end), end) if within.end else end
    if (start, stop) == (begin, end):
        return None
    # The rest of a day that has not ended has no records.
    elapsed = min(max(now, begin), end)
    whole = elapsed - begin
    inside = max(min(stop, elapsed) - start, timedelta())
    is_inside = 2 * inside <= whole
    rest = [
        *([TimeRange(end=within.start)] if start > begin else []),
        *([TimeRange(start=within.end)] if stop < end else []),
    ]
    share = (inside if is_inside else whole - inside) / whole if whole else 1
    return CutDay(day, counts, [within] if is_inside else rest, is_inside, int(sum(counts.values()) * share))


def _with_counts(day: DayCounts, sort: str, counts: Mapping[Pair, int]) -> DayCounts:
    return replace(day, inserted=counts) if sort == INSERTED else replace(day, updated=counts)


def _bounds(day: str) -> tuple[datetime, datetime]:
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return begin, begin + A_DAY


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
