"""Lists of a connection's requests: numbered pages, filters, two sort orders, search.

DynamoDB has neither offsets nor counts. `page_range` calculates the position of a page, and `search` finds a phrase.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import InvalidRequest
from domain.listing.cut_days import counted, cut_days, days_within
from domain.listing.in_flight import Window, with_records_in_flight
from domain.listing.page_range import MIN_PART_RECORDS, index_days, locate, matching_days
from domain.listing.search import BOUNDS, MAX_SEARCH_SECONDS, Search
from domain.records.ownership import owned, owned_connection
from domain.records.request import IN_FLIGHT, ListedRequest
from domain.storage.counts import awaiting_approval, records_by_state

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from domain.listing.query import ListQuery
    from domain.listing.search import ReadBounds
    from domain.ports import Clock
    from domain.records.request import QueuedRequest, State
    from domain.storage.counts import DayCounts
    from domain.storage.ports import IndexEntry, ListStore, RequestBatch

MAX_LISTED_RESPONSE_BYTES = 256 * 1024
"""A larger response (bytes of UTF-8) is left out of a list item (docs/reference/service-contract.md, List items)."""

MAX_PAGE_BYTES = 8 * 1024 * 1024
"""The size of all bodies on a page, in bytes of UTF-8. A function needs up to 25 times as much memory for them, because
Python stores each character of a text with an emoji in four bytes, and JSON escapes quotes twice."""

MAX_UNCOUNTED_ENTRIES = 50_000
"""A list by label or query reads at most one index entry for each request of the connection. In a larger connection it
counts as a search. So does a list with a range of time that has to count more entries than this, and one that reads
records (`domain.listing.filters`), except those of given ids."""

FEW_HITS = 50
"""Up to this many hits, reading the records with their bodies costs less than reading the index of a connection."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page. `total` is the number of matching records. A page past the end has no items.

    `counts` are the numbers of the connection's records by state, and `awaiting_approval` is the number of those that
    wait for approval, both regardless of filters and search.
    """

    items: Sequence[ListedRequest]
    page: int
    total: int
    total_pages: int
    counts: Mapping[State, int]
    awaiting_approval: int = 0


class Lists:
    """Returns pages of a connection's requests."""

    def __init__(
        self,
        store: ListStore,
        clock: Clock,
        *,
        few_hits: int = FEW_HITS,
        min_part: int = MIN_PART_RECORDS,
        bounds: ReadBounds = BOUNDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._few_hits = few_hits
        self._min_part = min_part
        self._bounds = bounds

    def page(
        self, app_id: str, query: ListQuery, searching: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> ListPage:
        """Return one page. Raises NotFound, or InvalidRequest if a search takes too long.

        A search, and the counting of many entries, run in the context of `searching`, which may refuse them.

        While an index lags behind a change, a page can have fewer items. Its items are always correct and in order.
        """
        connection_id = query.connection_id
        with ThreadPoolExecutor(2) as parallel:
            if query.is_search:
                # Check the owner first, because a search reads everything that the connection has.
                owned_connection(self._store.connection(connection_id), app_id)
                ids = parallel.submit(self._store.in_flight_ids, connection_id)
                counts = self._store.day_counts(connection_id)
                in_flight = self._in_flight(ids.result())
                requests = sum(records_by_state(counts, ()).values())
                is_read = query.reads_records or requests > MAX_UNCOUNTED_ENTRIES
                is_costly = query.searched or (is_read and query.which.keys is None)
                with searching() if is_costly else nullcontext():
                    items, total = self._search(query, days_within(counts, query), in_flight)
            else:
                ids = parallel.submit(self._store.in_flight_ids, connection_id)
                connection = parallel.submit(self._store.connection, connection_id) if query.within else None
                counts = self._store.day_counts(connection_id, sort=query.sort)
                records = parallel.submit(self._in_flight, ids.result())
                if connection:
                    # Check the owner first, because entries are counted.
                    owned_connection(connection.result(), app_id)
                window = self._window(query, self._counts_within(query, counts, searching), margin=len(ids.result()))
                in_flight = records.result()
                window = with_records_in_flight(window, query, in_flight)
                items, total = self._items(query, window.page(query)), window.total
                # Each record names its app, so only an empty page needs the connection.
                if items:
                    owned(items[0].record, app_id, "connection")
                else:
                    owned_connection(self._store.connection(connection_id), app_id)
        return ListPage(
            items,
            query.page,
            total,
            -(-total // query.page_size),
            records_by_state(counts, in_flight, query.sort),
            awaiting_approval(counts, query.sort),
        )

    def _in_flight(self, ids: Sequence[str]) -> Sequence[QueuedRequest]:
        """Return the records that are in flight. The index of their ids can be late."""
        return [record for record in self._store.records_by_id(ids) if record.state in IN_FLIGHT] if ids else []

    def _counts_within(
        self,
        query: ListQuery,
        counts: Sequence[DayCounts],
        searching: Callable[[], AbstractContextManager[None]],
    ) -> Sequence[DayCounts]:
        """Return exact counts for the range of time. Counts the entries of the days that it cuts."""
        begun = self._clock()
        cut = cut_days(counts, query, begun)

        def check_time() -> None:
            if self._clock() >= begun + timedelta(seconds=MAX_SEARCH_SECONDS):
                raise InvalidRequest.of(
                    "from",
                    f"needs more than {MAX_SEARCH_SECONDS} seconds, because a day of the connection has very many "
                    "requests. Let from and to be midnight in UTC: whole days are not counted again",
                )

        with searching() if sum(day.expected for day in cut) > MAX_UNCOUNTED_ENTRIES else nullcontext():
            days = days_within(counts, query)
            return counted(self._store, days, query, cut, check_time, min_part=self._min_part) if cut else days

    def _window(self, query: ListQuery, counts: Sequence[DayCounts], margin: int) -> Window:
        """Return the entries of the page, and `margin` more on both sides, as the index has them."""
        days = matching_days(counts, query)
        total = sum(day.records for day in days)
        start = max((query.page - 1) * query.page_size - margin, 0)
        end = min(query.page * query.page_size + margin, total)
        place = locate(days, start, end)
        if place is None:
            return Window([], start, start, total)
        entries = self._store.index_entries(
            index_days(query, counts, place.first_day, place.last_day),
            descending=query.descending != place.from_end,
            skip=place.skip,
            limit=place.limit,
        )
        return Window(place.in_list_order(entries), start, end, total)

    def _search(
        self, query: ListQuery, counts: Sequence[DayCounts], in_flight: Sequence[QueuedRequest]
    ) -> tuple[Sequence[ListedRequest], int]:
        """Return the items of the page and the number of hits that match the filters."""
        if not counts or not (matching_days(counts, query) or any(map(query.which.matches, in_flight))):
            return [], 0
        search = Search(
            self._store, self._clock, query, counts, in_flight, min_part=self._min_part, bounds=self._bounds
        )
        if query.group:
            entries, total = search.page_of_group(query.group)
            return self._items(query, entries), total
        start = (query.page - 1) * query.page_size
        if query.reads_records:
            entries = search.matching_entries()
            return self._items(query, entries[start : start + query.page_size]), len(entries)
        hits = search.hits()
        if len(hits) > self._few_hits:
            entries, total = search.page_of(hits)
            return self._items(query, entries), total
        read = self._read(query, sorted(id_ for _, id_ in hits))
        records = [record for record in read.records if query.which.matches(record)]
        records.sort(key=lambda record: (query.time_of(record), record.id), reverse=query.descending)
        return read.listed(records[start : start + query.page_size]), len(records)

    def _items(self, query: ListQuery, entries: Sequence[IndexEntry]) -> Sequence[ListedRequest]:
        """Return the records of the entries. Leaves out those that changed since the index was written.

        A record that no longer matches does not belong in the list. One with another time belongs elsewhere in it.
        """
        if not entries:
            return []
        read = self._read(query, list(dict.fromkeys(entry.id for entry in entries)))
        by_id = {record.id: record for record in read.records}
        records = {
            entry.id: record
            for entry in entries
            if (record := by_id.get(entry.id)) and query.which.matches(record) and query.time_of(record) == entry.moment
        }
        return read.listed(list(records.values()))

    def _read(self, query: ListQuery, ids: Sequence[str]) -> _Read:
        """Read records, with their bodies if the list shows them."""
        if not query.bodies:
            return _Read(self._store.records_by_id(ids))
        batch = self._store.request_batch(ids)
        return _Read(batch.records, batch)


@dataclass(frozen=True, slots=True)
class _Read:
    """Records that were read for a list. Without `batch`, their bodies were not read."""

    records: Collection[QueuedRequest]
    batch: RequestBatch | None = None

    def listed(self, records: Sequence[QueuedRequest]) -> Sequence[ListedRequest]:
        """Return some of the records as items."""
        if self.batch is None:
            return [ListedRequest(record, None) for record in records]
        return self.batch.with_bodies(
            records, max_response_bytes=MAX_LISTED_RESPONSE_BYTES, max_total_bytes=MAX_PAGE_BYTES
        )
