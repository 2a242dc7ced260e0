"""Moves the records in flight to their current place in a list.

The index entries and the counts of a record in flight are those from before its claim. A list therefore reads more
entries on both sides of the page than it shows: as many as there are records in flight. Then it takes their entries
out and puts the records where they belong now.

A claim and a sending would otherwise write 14 units of index entries and counts for a state that lasts a second. A
sparse index names the records in flight, for two units. The session could name them for none, but in two more rounds
of calls, and a record whose session was lost would be in no list. While that index lags, totals by state count a
record where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.storage.ports import IndexEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from domain.listing.query import ListQuery
    from domain.records.request import QueuedRequest


@dataclass(frozen=True, slots=True)
class Window:
    """The entries `start` to `end` of a list of `total` entries. An index that lags can return fewer."""

    entries: Sequence[IndexEntry]
    start: int
    end: int
    total: int

    def page(self, query: ListQuery) -> Sequence[IndexEntry]:
        """Return the entries of the page."""
        first = (query.page - 1) * query.page_size - self.start
        return self.entries[max(first, 0) : max(first + query.page_size, 0)]


def with_records_in_flight(window: Window, query: ListQuery, records: Sequence[QueuedRequest]) -> Window:
    """Return a window of the index with these records at their current place."""
    listed = [IndexEntry(record.id, query.listed_time_of(record)) for record in records if query.lists(record)]
    current = entries_of(records, query)
    ids = {record.id for record in records}
    others = [entry for entry in window.entries if entry.id not in ids]

    def is_before(entry: IndexEntry) -> bool:
        return bool(window.start and window.entries) and _precedes(entry, window.entries[0], query)

    def is_after(entry: IndexEntry) -> bool:
        return bool(window.end < window.total and window.entries) and _precedes(window.entries[-1], entry, query)

    inside = [entry for entry in current if not is_before(entry) and not is_after(entry)]
    moved = sum(map(is_before, current)) - sum(map(is_before, listed))
    entries = in_order([*others, *inside], query)
    total = window.total - len(listed) + len(current)
    return Window(entries, window.start + moved, window.start + moved + len(entries), total)


def entries_of(records: Iterable[QueuedRequest], query: ListQuery) -> list[IndexEntry]:
    """Return the entries of the records that match the filters now, where they belong now."""
    return [IndexEntry(record.id, query.time_of(record)) for record in records if query.which.matches(record)]


def in_order(entries: Iterable[IndexEntry], query: ListQuery) -> list[IndexEntry]:
    """Return entries in the order of the list."""
    return sorted(entries, key=_place, reverse=query.descending)


def _place(entry: IndexEntry) -> tuple[str, str]:
    return entry.moment, entry.id


def _precedes(first: IndexEntry, second: IndexEntry, query: ListQuery) -> bool:
    return _place(first) > _place(second) if query.descending else _place(first) < _place(second)
