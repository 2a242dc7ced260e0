"""Searches for a phrase in the search texts of all requests of a connection.

The search texts give the ids and insertion times of the hits. If there are too many hits to read their records, an
index provides the values for the filters and the order by `updated_at`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import InvalidRequest
from domain.listing.in_flight import entries_of, in_order
from domain.listing.page_range import DayTotal, index_days, locate, matching_days, split_points
from domain.records.search_text import normalized_phrase
from domain.storage.counts import INSERTED
from domain.storage.ports import IndexEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from domain.listing.query import ListQuery
    from domain.ports import Clock
    from domain.records.request import QueuedRequest
    from domain.storage.counts import DayCounts
    from domain.storage.ports import Database

    Hits: TypeAlias = Collection[tuple[str, str]]

MAX_SEARCH_SECONDS = 20
"""The function may take 25 seconds, and the gateway waits 29 seconds."""


class Search:
    """One search. Its methods raise InvalidRequest after MAX_SEARCH_SECONDS."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        query: ListQuery,
        counts: Sequence[DayCounts],
        in_flight: Sequence[QueuedRequest],
        *,
        min_part: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._query = query
        self._counts = counts
        self._in_flight = in_flight
        self._min_part = min_part
        self._deadline = clock() + timedelta(seconds=MAX_SEARCH_SECONDS)

    def hits(self, phrase: str) -> Hits:
        """Return (inserted_at, id) of all requests with the phrase in their search text. Filters do not apply."""
        unfiltered = replace(self._query, sort="inserted_at", state=None, webhook_state=None, retrying=False)
        points = split_points(matching_days(self._counts, unfiltered), self._min_part)
        return self._store.search_matches(
            self._query.connection_id, normalized_phrase(phrase), points, self._check_time
        )

    def page_of(self, hits: Hits) -> tuple[Sequence[IndexEntry], int]:
        """Return the entries of the page, in order, and the number of hits that match the filters."""
        query = self._query
        start = (query.page - 1) * query.page_size
        if query.has_filter:
            entries = self._first_entries(query, hits, len(hits))
            return entries[start : start + query.page_size], len(entries)
        page = locate([DayTotal("", len(hits))], start, start + query.page_size)
        if page is None:
            return [], len(hits)
        from_nearer_end = replace(query, descending=query.descending != page.from_end)
        entries = self._first_entries(from_nearer_end, hits, page.skip + page.limit)
        return page.in_list_order(entries[page.skip : page.skip + page.limit]), len(hits)

    def _first_entries(self, query: ListQuery, hits: Hits, number: int) -> list[IndexEntry]:
        """Return at least the first `number` hits that match the filters, in order, or all if there are fewer."""
        if query.sort == INSERTED and not query.has_filter:
            return [IndexEntry(id_, inserted_at) for inserted_at, id_ in sorted(hits, reverse=query.descending)]
        ids = {id_ for _, id_ in hits}
        in_flight = [record for record in self._in_flight if record.id in ids]
        others = ids - {record.id for record in in_flight}
        days = matching_days(self._counts, query)
        # Expect the hits to be spread evenly over the matching records.
        batch = number * sum(day.records for day in days) // len(hits) + self._min_part
        entries: dict[str, IndexEntry] = {}
        for group in _batches(days, batch):
            read = self._store.all_index_entries(
                index_days(query, self._counts, *sorted((group[0].day, group[-1].day))),
                split_points(group, self._min_part),
                self._check_time,
            )
            for entry in in_order(read, query):
                if entry.id in others:
                    entries.setdefault(entry.id, entry)  # an index that lags can show a record twice
            if len(entries) >= number:
                break
        return in_order([*entries.values(), *entries_of(in_flight, query)], query)

    def _check_time(self) -> None:
        if self._clock() >= self._deadline:
            raise InvalidRequest.of(
                "search_phrase",
                f"could not be searched for in all requests of the connection within {MAX_SEARCH_SECONDS} seconds. "
                "Leave it out and filter by state and webhook_state, or try again tomorrow: requests of today take "
                "longest",
            )


def _batches(days: Iterable[DayTotal], min_records: int) -> Iterator[list[DayTotal]]:
    """Yield consecutive days in batches with at least `min_records` records."""
    batch: list[DayTotal] = []
    records = 0
    for day in days:
        batch.append(day)
        records += day.records
        if records >= min_records:
            yield batch
            batch, records = [], 0
    if batch:
        yield batch
