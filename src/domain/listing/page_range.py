"""Calculates the position of a list page in an index from the exact counts of each day.

The counts give the number of matching records, the days of the page, and the number of entries on these days that are
outside the page. A page can therefore be read without the pages before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from domain.storage.ports import IndexDays

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.listing.query import ListQuery
    from domain.records.request import State
    from domain.records.webhook import WebhookState
    from domain.storage.counts import DayCounts, Pair

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
    totals = (DayTotal(day.day, _sum(day.of(query.sort), query.state, query.webhook_state)) for day in counts)
    return sorted((total for total in totals if total.records > 0), reverse=query.descending)


def locate_page(days: Sequence[DayTotal], query: ListQuery) -> PageRange | None:
    """Return the position of a page in `days` (from `matching_days`), or None if it is past the end."""
    ends = list(accumulate(day.records for day in days))
    start = (query.page - 1) * query.page_size
    if not ends or start >= ends[-1]:
        return None
    end = min(start + query.page_size, ends[-1])
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
    """Return the part of an index that contains the matching records of these days.

    If the query has both filters, the index of the filter with fewer matching records is read.
    """
    use = "state" if query.state else "webhook_state" if query.webhook_state else "connection"
    if query.state and query.webhook_state:
        days = [day.inserted for day in counts]
        by_state = sum(_sum(day, query.state, None) for day in days)
        by_webhook_state = sum(_sum(day, None, query.webhook_state) for day in days)
        use = "state" if by_state <= by_webhook_state else "webhook_state"
    return IndexDays(query.connection_id, query.sort, use, first_day, last_day, query.state, query.webhook_state)


def _sum(counts: Mapping[Pair, int], state: State | None, webhook_state: WebhookState | None) -> int:
    return sum(
        number
        for (one_state, one_webhook_state), number in counts.items()
        if state in (None, one_state) and webhook_state in (None, one_webhook_state)
    )
