"""Lists of a connection's requests: numbered pages, filters, two sort orders, search.

DynamoDB has neither offsets nor counts. `page_range` calculates the position of a page, and `search` finds a phrase.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.listing.page_range import MIN_PART_RECORDS, index_days, locate_page, matching_days
from domain.listing.search import Search
from domain.records.ownership import owned, owned_connection
from domain.records.request import ListedRequest
from domain.storage.counts import records_by_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.listing.query import ListQuery
    from domain.ports import Clock
    from domain.records.request import QueuedRequest, State
    from domain.storage.counts import DayCounts
    from domain.storage.ports import Database, IndexEntry, RequestBatch

MAX_LISTED_RESPONSE_BYTES = 256 * 1024
"""A larger response (bytes of UTF-8) is left out of a list item (docs/reference/service-contract.md, List items)."""

MAX_PAGE_BYTES = 8 * 1024 * 1024
"""The size of all bodies on a page, in bytes of UTF-8. A function needs up to 25 times as much memory for them, because
Python stores each character of a text with an emoji in four bytes, and JSON escapes quotes twice
(`benchmarks/list_memory.py`)."""

FEW_HITS = 50
"""Up to this many hits, reading the records with their bodies costs less than reading the index of a connection."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `total_pages` is 0 if nothing matches. A page past the end has no items.

    `counts` are the numbers of the connection's records by state, regardless of filters and search.
    """

    items: Sequence[ListedRequest]
    page: int
    total_pages: int
    counts: Mapping[State, int]


class Lists:
    """Returns pages of a connection's requests."""

    def __init__(
        self, store: Database, clock: Clock, *, few_hits: int = FEW_HITS, min_part: int = MIN_PART_RECORDS
    ) -> None:
        self._store = store
        self._clock = clock
        self._few_hits = few_hits
        self._min_part = min_part

    def page(self, app_id: str, query: ListQuery) -> Page:
        """Return one page. Raises NotFound, or InvalidRequest if a search takes too long.

        While an index lags behind a change, a page can have fewer items. Its items are always correct and in order.
        """
        if query.search_phrase:
            # Check the owner first, because a search reads everything that the connection has.
            owned_connection(self._store.connection(query.connection_id), app_id)
            counts = self._store.day_counts(query.connection_id)
            items, total = self._search(query, query.search_phrase, counts)
        else:
            counts = self._store.day_counts(query.connection_id)
            items, total = self._list(query, counts)
            # Each record names its app, so only an empty page needs the connection.
            if items:
                owned(items[0].record, app_id, "connection")
            else:
                owned_connection(self._store.connection(query.connection_id), app_id)
        return Page(items, query.page, -(-total // query.page_size), records_by_state(counts))

    def _list(self, query: ListQuery, counts: Sequence[DayCounts]) -> tuple[Sequence[ListedRequest], int]:
        """Return the items of the page and the number of matching records."""
        days = matching_days(counts, query)
        total = sum(day.records for day in days)
        page = locate_page(days, query)
        if page is None:
            return [], total
        entries = self._store.index_entries(
            index_days(query, counts, page.first_day, page.last_day),
            descending=query.descending != page.from_end,
            skip=page.skip,
            limit=page.limit,
        )
        return self._items(query, page.in_list_order(entries)), total

    def _search(
        self, query: ListQuery, phrase: str, counts: Sequence[DayCounts]
    ) -> tuple[Sequence[ListedRequest], int]:
        """Return the items of the page and the number of hits that match the filters."""
        if not matching_days(counts, query):
            return [], 0
        search = Search(self._store, self._clock, query, counts, min_part=self._min_part)
        hits = search.hits(phrase)
        if len(hits) > self._few_hits:
            entries, total = search.page_of(hits)
            return self._items(query, entries), total
        batch = self._store.request_batch(sorted(id_ for _, id_ in hits))
        records = [record for record in batch.records if query.matches(record)]
        records.sort(key=lambda record: (query.time_of(record), record.id), reverse=query.descending)
        start = (query.page - 1) * query.page_size
        return _listed(query, batch, records[start : start + query.page_size]), len(records)

    def _items(self, query: ListQuery, entries: Sequence[IndexEntry]) -> Sequence[ListedRequest]:
        """Return the records of the entries. Leaves out those that changed since the index was written.

        A record that no longer matches does not belong in the list. One with another time belongs elsewhere in it.
        """
        if not entries:
            return []
        batch = self._store.request_batch(list(dict.fromkeys(entry.id for entry in entries)))
        by_id = {record.id: record for record in batch.records}
        records = {
            entry.id: record
            for entry in entries
            if (record := by_id.get(entry.id)) and query.matches(record) and query.time_of(record) == entry.moment
        }
        return _listed(query, batch, list(records.values()))


def _listed(query: ListQuery, batch: RequestBatch, records: Sequence[QueuedRequest]) -> Sequence[ListedRequest]:
    if not query.bodies:
        return [ListedRequest(record, None) for record in records]
    return batch.with_bodies(records, max_response_bytes=MAX_LISTED_RESPONSE_BYTES, max_total_bytes=MAX_PAGE_BYTES)
