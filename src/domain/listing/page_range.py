"""Calculates the position of a list page in an index from the exact counts of each day.

The counts give the number of matching records, the days of the page, and the number of entries on these days that are
outside the page. A page can therefore be read without the pages before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from domain.storage.ports import IndexDays

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from domain.listing.query import ListQuery
    from domain.records.request import Pair
    from domain.storage.counts import DayCounts

MAX_PARALLEL_READS = 8
"""Parts of an index, or of the search texts of a connection, that are read at the same time."""

MIN_PART_RECORDS = 1_000
"""One response of the database holds this many records, so smaller parts would save no time."""

T = TypeVar("T")


class DayTotal(NamedTuple):
    """The number of matching records of a day."""

    day: str
    records: int


@dataclass(frozen=True, slots=True)
class PageRange:
    """The entries of a page: `skip` … `skip + limit` of the days `first_day` … `last_day`.

    `from_end` means that the entries are read and counted from the opposite end, because it is nearer to the page.
    """

    first_day: str
    last_day: str
    skip: int
    limit: int
    from_end: bool = False

    def in_list_order(self, entries: Sequence[T]) -> Sequence[T]:
        """Return entries, which were read in this range, in the order of the list."""
        return entries[::-1] if self.from_end else entries


def matching_days(counts: Iterable[DayCounts], query: ListQuery) -> list[DayTotal]:
    """Return the days with matching records, in the order of the list."""
    totals = (
        DayTotal(day.day, sum(number for pair, number in day.of(query.sort).items() if query.which.includes(pair)))
        for day in counts
    )
    return sorted((total for total in totals if total.records > 0), reverse=query.descending)


def locate(days: Sequence[DayTotal], start: int, end: int) -> PageRange | None:
    """Return where the entries `start` to `end` of `days` (from `matching_days`) are, or None if there are none."""
    ends = list(accumulate(day.records for day in days))
    end = min(end, ends[-1] if ends else 0)
    if start >= end:
        return None
    first, last = bisect_right(ends, start), bisect_left(ends, end)
    before, after = start - (ends[first] - days[first].records), ends[last] - end
    first_day, last_day = sorted((days[first].day, days[last].day))
    return PageRange(first_day, last_day, min(before, after), end - start, from_end=after < before)


def split_points(days: Iterable[DayTotal], min_part: int = MIN_PART_RECORDS) -> list[str]:
    """Return the times at which to split `days` into parts of about equal size.

    The parts are read in parallel. A day that is larger than a part is split at full hours. A part has at least
    `min_part` records.
    """
    days = sorted(days)
    total = sum(day.records for day in days)
    parts = min(MAX_PARALLEL_READS, -(-total // min_part))
    points: list[str] = []
    total_before = 0  # in 24ths of a record, which makes the share of an hour a whole number
    for day, records in days:
        hours = 24 if records * parts > total else 1
        for hour in range(hours):
            if total_before * parts >= 24 * total * (len(points) + 1):
                points.append(f"{day}T{hour:02}" if hour else day)
            total_before += records * 24 // hours
    return points


def index_days(query: ListQuery, counts: Iterable[DayCounts], first_day: str, last_day: str) -> IndexDays:
    """Return the part of an index that contains the matching records of these days."""
    numbers: Counter[Pair] = Counter()
    for day in counts:
        if first_day <= day.day <= last_day:
            numbers.update(day.of(query.sort))
    matching = {pair: number for pair, number in numbers.items() if number > 0 and query.which.includes(pair)}
    return IndexDays(query.connection_id, query.sort, first_day, last_day, matching, query.within)
