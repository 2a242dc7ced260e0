"""Finds requests of a connection by a phrase in their search text, by label, by query, or by reading records.

The search texts and two indexes give the ids and insertion times of the hits. If there are too many hits to read their
records, an index provides the values for the other filters and the order by `updated_at`. A list of all requests with a
label, in the order of insertion, reads no hits but those of its page. For a filter that no index has, the records are
read that the other filters leave. Who queued a request is a mark in its search text.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import InvalidRequest
from domain.listing.cut_days import days_within
from domain.listing.filters import FILTERS, Lookup
from domain.listing.in_flight import entries_of, in_order
from domain.listing.page_range import (
    MAX_PARALLEL_READS,
    DayTotal,
    index_days,
    locate,
    matching_days,
    split_points,
)
from domain.listing.query import ListQuery
from domain.listing.sent import decided, is_decided_by_records
from domain.qbxml.request.limits import MAX_WIRE_BYTES
from domain.records.request import State
from domain.records.search_text import has_all
from domain.records.session import RequestInFlight
from domain.storage.counts import INSERTED
from domain.storage.ports import Group, IndexDays, IndexEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from domain.ports import Clock
    from domain.records.request import QueuedRequest
    from domain.storage.counts import DayCounts
    from domain.storage.ports import ListStore, RecordReads

    Hits: TypeAlias = Collection[tuple[str, str]]

MAX_SEARCH_SECONDS = 20
"""The function may take 25 seconds, and the gateway waits 29 seconds."""


@dataclass(frozen=True, slots=True)
class ReadBounds:
    """The maximum numbers of requests that a list reads to find those of its filters.

    `records` are read for a filter that no index has. For a range of the time of sending, the entries of `spanned`
    requests are read, and the records of those `undecided` by their entries. Such a list then takes at most 200 read
    units in a connection with 100,000 requests.
    """

    records: int = 50_000
    spanned: int = 2_500
    undecided: int = 100


BOUNDS = ReadBounds()

RECORDS_PER_READ = 100
"""Maximum number of items that DynamoDB returns in one batch."""


class Search:
    """One search. Its methods raise InvalidRequest after MAX_SEARCH_SECONDS."""

    def __init__(
        self,
        store: ListStore,
        clock: Clock,
        query: ListQuery,
        counts: Sequence[DayCounts],
        in_flight: Sequence[QueuedRequest],
        *,
        min_part: int,
        bounds: ReadBounds,
    ) -> None:
        self._store = store
        self._clock = clock
        self._query = query
        self._counts = counts
        self._in_flight = in_flight
        self._min_part = min_part
        self._bounds = bounds
        self._deadline = clock() + timedelta(seconds=MAX_SEARCH_SECONDS)

    def hits(self) -> Hits:
        """Return (inserted_at, id) of the requests with the phrase, the author, the label and the query.

        Other filters do not apply, except for a range of the time of insertion.
        """
        query = self._query
        selections: list[Hits] = []
        if query.which.query_id:
            selections.append(self._pages_of(query.which.query_id))
        if query.which.label:
            selections.append(self._entries_of(Group("label", query.which.label)))
        if query.searched and all(selections):
            texts, points, within = query.searched, self._points(), query.which.inserted
            found = set(self._store.search_matches(query.connection_id, texts, points, self._check_time, within))
            selections.append(found - self._not_committed(found))
        hits = set.intersection(*map(set, selections))
        return {hit for hit in hits if hit[0] in query.which.inserted}

    def matching_entries(self) -> Sequence[IndexEntry]:
        """Return the entries of all requests that match, in order. Reads the record of each one that may match."""
        certain: Sequence[IndexEntry] = ()
        selected, max_read = self._selected(), self._bounds.records
        in_flight = [record for record in self._in_flight if selected is None or record.id in selected]
        is_few = selected is not None and (
            self._query.which.keys is not None or len(selected) <= self._bounds.undecided
        )
        if self._query.which.sent and not is_few:
            certain, selected = self._sent_among(selected)
            max_read = max_read if is_decided_by_records(self._query.which) else self._bounds.undecided
        elif selected is None:
            selected = self._entries_that_may_match()
        ids = sorted(selected - {record.id for record in in_flight})
        if len(ids) > max_read:
            raise self._narrower(f"the records of more than {max_read:,} requests would be read")

        def read(some: Sequence[str]) -> Sequence[QueuedRequest]:
            self._check_time()
            return self._store.records_by_id(some, may_lag=True)

        parts = [ids[at : at + RECORDS_PER_READ] for at in range(0, len(ids), RECORDS_PER_READ)]
        with ThreadPoolExecutor(MAX_PARALLEL_READS) as readers:
            records = [record for part in readers.map(read, parts) for record in part]
        own = (record for record in records if record.connection_id == self._query.connection_id)
        return in_order([*certain, *entries_of([*in_flight, *own], self._query)], self._query)

    def _selected(self) -> set[str] | None:
        """Return the ids of the requests with the phrase, the author, the group or the ids, or None without them."""
        which = self._query.which
        if self._query.searched or (which.has(Lookup.GROUP) and which.keys is None):
            return {id_ for _, id_ in self.hits() if which.keys is None or id_ in which.keys}
        return None if which.keys is None else set(which.keys)

    def _sent_among(self, selected: set[str] | None) -> tuple[Sequence[IndexEntry], set[str]]:
        """Return the entries of requests that were sent in the range, and the ids of others that may have been."""
        limit = self._bounds.spanned
        found = decided(self._store, self._query, self._counts, limit + 1)
        if found.spanned > limit and self._query.which.sent_since:
            hint = "Use a later time, or give updated_before or state too"
            raise InvalidRequest.of(
                "sent_since", f"has no index, and more than {limit:,} requests changed since then. {hint}"
            )
        if found.spanned > limit:
            raise InvalidRequest.of(
                "sent_before",
                f"has no index, and more than {limit:,} requests were queued before it. Give sent_since too",
            )
        if selected is None:
            return found.entries, found.undecided
        return [entry for entry in found.entries if entry.id in selected], found.undecided & selected

    def page_of_group(self, group: Group) -> tuple[Sequence[IndexEntry], int]:
        """Return the entries of the page, in order, and the number of requests of the group."""
        query = self._query
        numbers = self._store.count_index_entries(self._days_of(group), self._points(), self._check_time)
        total = sum(numbers.values())
        start = (query.page - 1) * query.page_size
        page = locate([DayTotal("", total)], start, start + query.page_size)
        if page is None:
            return [], total
        entries = self._store.index_entries(
            self._days_of(group, total),
            descending=query.descending != page.from_end,
            skip=page.skip,
            limit=page.limit,
        )
        return page.in_list_order(entries), total

    def _pages_of(self, query_id: str) -> Hits:
        """Return the pages of a query. The first page has the id of the query and is not in the index."""
        first = [
            (record.inserted_at, record.id)
            for record in self._store.records_by_id([query_id])
            if record.connection_id == self._query.connection_id and record.query_id == query_id
        ]
        return [*first, *self._entries_of(Group("query_id", query_id))]

    def _entries_of(self, group: Group) -> Hits:
        entries = self._store.all_index_entries(self._days_of(group), self._points(), self._check_time)
        return [(entry.moment, entry.id) for entry in entries]

    def _entries_that_may_match(self) -> set[str]:
        """Return the ids of the requests in the ranges of time. Entries of those in flight can be outside of them."""
        which = self._query.which
        if which.updated_since:
            query = replace(self._query, sort="updated_at")
        else:
            query = replace(self._query, sort="inserted_at", which=replace(which, to=which.insertions.end))
        counts = days_within(self._counts, query)
        days = sorted(matching_days(counts, query))
        if not days:
            return set()
        entries = index_days(query, counts, days[0].day, days[-1].day)
        points = split_points(days, self._min_part)
        return {entry.id for entry in self._store.all_index_entries(entries, points, self._check_time)}

    def _days_of(self, group: Group, number: int = 0) -> IndexDays:
        """Return the entries of a group in the range of time, which has this number of them."""
        first, last = self._counts[0].day, self._counts[-1].day
        within = self._query.which.inserted
        return IndexDays(self._query.connection_id, INSERTED, first, last, {group: number}, within)

    def _points(self) -> list[str]:
        """Return the times at which to split what is read of all requests of the connection."""
        unfiltered = ListQuery(self._query.connection_id)
        return split_points(matching_days(self._counts, unfiltered), self._min_part)

    def _not_committed(self, hits: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return the hits in a response whose transaction has not been made, and may never be.

        The response and its search text are stored before the transaction (docs/decisions/0065). For such a request,
        the request itself tells whether it contains what is searched for.
        """
        sent = [record for record in self._in_flight if record.state is State.SENT]
        ids = [record.id for record in sent if (record.inserted_at, record.id) in hits]
        if not ids:
            return set()
        texts = texts_without_response(self._store, ids)
        return {
            (record.inserted_at, record.id)
            for record in sent
            if record.id in texts and not has_all(texts[record.id], self._query.searched)
        }

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
        if self._clock() < self._deadline:
            return
        if self._query.reads_records:
            raise self._narrower(f"it would take more than {MAX_SEARCH_SECONDS} seconds")
        if not self._query.searched:
            raise InvalidRequest.of(
                "label",
                f"could not be combined with the other filters within {MAX_SEARCH_SECONDS} seconds. Leave out "
                "state, webhook_state and sort=updated_at: a list by label alone is faster",
            )
        raise InvalidRequest.of(
            "search_phrase" if self._query.search_phrase else "queued_by",
            f"could not be searched for in all requests of the connection within {MAX_SEARCH_SECONDS} seconds. "
            "Leave it out and filter by state and webhook_state, or try again tomorrow: requests of today take "
            "longest",
        )

    def _narrower(self, reason: str) -> InvalidRequest:
        """Return the error of a list that reads too many records, at a filter that no index has."""
        others = {Lookup.COUNTS, Lookup.GROUP}
        name = next(name for name in self._query.which.given if FILTERS[name].reading not in others)
        hint = "Filter also by state, label or a shorter range of time, such as from"
        return InvalidRequest.of(name, f"has no index, and {reason}. {hint}")


def texts_without_response(store: RecordReads, ids: Sequence[str]) -> Mapping[str, str]:
    """Return the search texts of requests whose stored response is not theirs yet, by id."""
    batch = store.request_batch(ids)
    stray = [record for record in batch.records if batch.has_stray_response(record)]
    listed = batch.with_bodies(stray, max_response_bytes=0, max_total_bytes=MAX_WIRE_BYTES * len(ids))
    stored = (RequestInFlight(item.record, item.request_xml, queued_by=item.queued_by) for item in listed)
    return {one.record.id: one.search_text for one in stored}


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
