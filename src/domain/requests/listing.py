"""Lists of a connection's records: pages by number over a database that has no offsets and no counts.

A page is found by the exact counts of each day (`domain.counts`): they tell how many records there
are, in which days the page lies and how many entries of the first of these days come before it.
Only those entries are skipped, from whichever end of the day is nearer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.errors import InvalidRequest
from domain.ownership import owned, owned_connection
from domain.requests.search_text import needle_of
from domain.storage.counts import INSERTED, Pair
from domain.storage.ports import IndexDays, IndexEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from domain.ports import Clock
    from domain.requests.record import QueuedRequest, State, StoredRequest, WebhookState
    from domain.storage.counts import DayCounts
    from domain.storage.ports import Database

MAX_LISTED_RESPONSE_BYTES = 256 * 1024
"""A larger response (bytes of UTF-8) is left out of a list item (contract §3)."""

FEW_HITS = 50
"""As many records with their bodies are one read (`stored_requests`): cheaper than the index of a whole connection."""

READERS = 8
"""How many parts of a connection's texts, or of an index, are read at the same time."""

MIN_PART_ENTRIES = 1_000
"""Records in a part: fewer are one answer of the database anyway."""

SEARCH_SECONDS = 20
"""A search that takes longer is refused with a reason: the function has 25 seconds, the gateway 29."""

TOO_LONG = (
    f"could not be looked for in every request of this connection within {SEARCH_SECONDS} seconds. "
    "Try again later, when fewer of its requests are new, or list by state and webhook_state without it"
)

Sort: TypeAlias = Literal["inserted_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a list is asked for. `page` and `page_size` count from 1; `search_phrase` is a substring."""

    connection_id: str
    page: int = 1
    page_size: int = 20
    sort: Sort = "inserted_at"
    descending: bool = True
    state: State | None = None
    webhook_state: WebhookState | None = None
    search_phrase: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `total_pages` is 0 when no record fits; a page past the end has no items."""

    items: Sequence[StoredRequest]
    page: int
    total_pages: int


@dataclass(frozen=True, slots=True)
class Span:
    """Where a page lies: entries `skip` … `skip + limit` of the days `first_day` … `last_day`.

    `backwards` when the entries are read from the far end, so that fewer are skipped.
    """

    first_day: str
    last_day: str
    skip: int
    limit: int
    backwards: bool = False


class _TimeOver(Exception):
    """A search took longer than `SEARCH_SECONDS`."""


class Lists:
    """Lists a connection's records."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        *,
        few_hits: int = FEW_HITS,
        smallest_part: int = MIN_PART_ENTRIES,
    ) -> None:
        self._store = store
        self._clock = clock
        self._few_hits = few_hits
        self._smallest_part = smallest_part

    def page(self, app_id: str, query: ListQuery) -> Page:
        """Return one page. Raises NotFound when the app has no such connection, InvalidRequest for too long a search.

        Where the index lags behind the counts the page has fewer items, and what it has is in order.
        """
        if query.search_phrase:
            # Before the search: that reads as much as the connection has.
            owned_connection(self._store.connection(query.connection_id), app_id)
            days = self._store.day_counts(query.connection_id)
            items, total = self._found_in_time(query, query.search_phrase, days)
        else:
            days = self._store.day_counts(query.connection_id)
            total = sum(number for _, number in matching(days, query))
            items = self._items(query, self._entries_of_page(query, days, total))
            self._check_owner(app_id, query.connection_id, items)
        return Page(items, query.page, -(-total // query.page_size))

    def _check_owner(self, app_id: str, connection_id: str, items: Sequence[StoredRequest]) -> None:
        """Refuse another app's connection. A record names its app, so that only an empty page costs a read."""
        if not items:
            owned_connection(self._store.connection(connection_id), app_id)
        else:
            owned(items[0].record, app_id, "connection")

    def _entries_of_page(self, query: ListQuery, days: Sequence[DayCounts], total: int) -> Sequence[IndexEntry]:
        span = locate(matching(days, query), total, query)
        if span is None:
            return []
        entries = self._entries(query, span, use=rarer_index(days, query))
        return entries[::-1] if span.backwards else entries

    def _items(self, query: ListQuery, entries: Sequence[IndexEntry]) -> list[StoredRequest]:
        """Return the records of the entries that still tell the truth: the record itself decides.

        A record that has changed since has another place in the list, or none.
        """
        found = self._stored([entry.id for entry in entries])
        still = {
            entry.id: found[entry.id]
            for entry in entries
            if entry.id in found
            and fits(found[entry.id].record, query)
            and getattr(found[entry.id].record, query.sort) == entry.moment
        }
        return list(still.values())

    def _stored(self, ids: Iterable[str]) -> Mapping[str, StoredRequest]:
        once = list(dict.fromkeys(ids))
        return self._store.stored_requests(once, largest_response=MAX_LISTED_RESPONSE_BYTES) if once else {}

    def _entries(self, query: ListQuery, span: Span, *, use: str) -> Sequence[IndexEntry]:
        return self._store.index_entries(
            index_days(query, use, span.first_day, span.last_day),
            descending=query.descending != span.backwards,
            skip=span.skip,
            limit=span.limit,
        )

    def _found_in_time(
        self, query: ListQuery, phrase: str, days: Sequence[DayCounts]
    ) -> tuple[Sequence[StoredRequest], int]:
        """Return what `_found` does. Raises InvalidRequest when that takes too long."""
        until = self._clock() + timedelta(seconds=SEARCH_SECONDS)

        def in_time() -> None:
            if self._clock() >= until:
                raise _TimeOver

        try:
            return self._found(query, phrase, days, in_time)
        except _TimeOver:
            raise InvalidRequest.of("search_phrase", TOO_LONG) from None

    def _found(
        self, query: ListQuery, phrase: str, days: Sequence[DayCounts], in_time: Callable[[], None]
    ) -> tuple[Sequence[StoredRequest], int]:
        """Return a page of what a search finds, and how many it finds.

        The texts tell which records fit and when they were inserted. A few are read themselves, which
        tells what the filters leave and when they were updated; of many the index tells it.
        """
        candidates = matching(days, query)
        if not candidates:
            return [], 0
        stored = matching(days, ListQuery(query.connection_id))
        parts = cuts(stored, self._smallest_part)
        hits = self._store.search_hits(query.connection_id, needle_of(phrase), parts, in_time)
        start = (query.page - 1) * query.page_size
        if len(hits) <= self._few_hits:
            few = [
                found for found in self._stored(sorted(one for _, one in hits)).values() if fits(found.record, query)
            ]
            few.sort(key=lambda found: (getattr(found.record, query.sort), found.record.id), reverse=query.descending)
            return few[start : start + query.page_size], len(few)
        if query.state is None and query.webhook_state is None:
            span = locate([("", len(hits))], len(hits), query)
            entries = self._hits_in_order(query, hits, days, in_time, span) if span else []
            page = entries[span.skip : span.skip + span.limit] if span else []
            return self._items(query, page[::-1] if span and span.backwards else page), len(hits)
        entries = self._hits_in_order(query, hits, days, in_time)
        return self._items(query, entries[start : start + query.page_size]), len(entries)

    def _hits_in_order(
        self,
        query: ListQuery,
        hits: Collection[tuple[str, str]],
        days: Sequence[DayCounts],
        in_time: Callable[[], None],
        span: Span | None = None,
    ) -> Sequence[IndexEntry]:
        """Return the hits that the filters leave: of a span as many as it reaches to, from the far end if it says so.

        The index is read for as many days as hold so many by their share, and then for as many again.
        """
        needed = span.skip + span.limit if span else len(hits)
        backwards = span is not None and span.backwards
        descending = query.descending != backwards
        if query.sort == INSERTED and query.state is None and query.webhook_state is None:
            return [IndexEntry(one, moment) for moment, one in sorted(hits, reverse=descending)]
        wanted = {one for _, one in hits}
        candidates = matching(days, replace(query, descending=descending))
        share = needed * sum(number for _, number in candidates) // len(hits) + self._smallest_part
        ordered: dict[str, IndexEntry] = {}
        for group in groups(candidates, share):
            first_day, last_day = sorted((group[0][0], group[-1][0]))
            entries = self._store.all_index_entries(
                index_days(query, rarer_index(days, query), first_day, last_day),
                cuts(group, self._smallest_part),
                in_time,
            )
            for entry in sorted(entries, key=lambda entry: (entry.moment, entry.id), reverse=descending):
                if entry.id in wanted:
                    ordered.setdefault(entry.id, entry)  # an index that lags may show a record twice
            if len(ordered) >= needed:
                break
        return list(ordered.values())


def index_days(query: ListQuery, use: str, first_day: str, last_day: str) -> IndexDays:
    """Return what of an index holds the list's entries of these days."""
    return IndexDays(query.connection_id, query.sort, use, first_day, last_day, query.state, query.webhook_state)


def fits(record: QueuedRequest, query: ListQuery) -> bool:
    """Tell whether the filters leave the record in."""
    return query.state in (None, record.state) and query.webhook_state in (None, record.webhook_state)


def matching(days: Iterable[DayCounts], query: ListQuery) -> list[tuple[str, int]]:
    """Return (day, how many records fit the filters) in the order of the list, without empty days."""
    counted = [(day.day, _sum(day.of(query.sort), query.state, query.webhook_state)) for day in days]
    return sorted(((day, number) for day, number in counted if number > 0), reverse=query.descending)


def locate(days: Sequence[tuple[str, int]], total: int, query: ListQuery) -> Span | None:
    """Return where the page lies in `days` (in the order of the list), None when it is past the end."""
    start = (query.page - 1) * query.page_size
    if start >= total:
        return None
    end = min(start + query.page_size, total)
    passed = 0
    touched: list[tuple[str, int]] = []
    before = 0
    for day, number in days:
        if passed + number > start:
            if not touched:
                before = passed
            touched.append((day, number))
        passed += number
        if passed >= end:
            break
    first_day, last_day = sorted((touched[0][0], touched[-1][0]))
    skip_ahead, skip_behind = start - before, passed - end
    backwards = skip_behind < skip_ahead
    return Span(first_day, last_day, skip_behind if backwards else skip_ahead, end - start, backwards)


def cuts(days: Iterable[tuple[str, int]], smallest_part: int = MIN_PART_ENTRIES) -> list[str]:
    """Return the moments at which to cut what is read whole, so that the parts are about alike.

    A day that is a part's worth on its own may be cut at its hours. Few records are read in one part.
    """
    counted = sorted(days)
    total = sum(number for _, number in counted)
    parts = min(READERS, -(-total // smallest_part))
    found: list[str] = []
    passed = 0  # in 24ths of a record, so that an hour's share is a whole number
    for day, number in counted:
        hours = 24 if number * parts > total else 1
        for hour in range(hours):
            # Cut before this piece when what came before it reaches another part's worth.
            if passed * parts >= 24 * total * (len(found) + 1):
                found.append(f"{day}T{hour:02}" if hour else day)
            passed += number * 24 // hours
    return found


def groups(days: Iterable[tuple[str, int]], number: int) -> Iterator[list[tuple[str, int]]]:
    """Yield days that follow each other, so many at a time that they hold `number` records or more."""
    group: list[tuple[str, int]] = []
    held = 0
    for day, count in days:
        group.append((day, count))
        held += count
        if held >= number:
            yield group
            group, held = [], 0
    if group:
        yield group


def rarer_index(days: Iterable[DayCounts], query: ListQuery) -> str:
    """Return the index to read: by the filter that fewer records fit, when there are two."""
    if query.state is None and query.webhook_state is None:
        return "connection"
    if query.webhook_state is None:
        return "state"
    if query.state is None:
        return "webhook_state"
    by_state = by_webhook_state = 0
    for day in days:
        counts = day.of(INSERTED)
        by_state += _sum(counts, query.state, None)
        by_webhook_state += _sum(counts, None, query.webhook_state)
    return "state" if by_state <= by_webhook_state else "webhook_state"


def _sum(counts: Mapping[Pair, int], state: State | None, webhook_state: WebhookState | None) -> int:
    return sum(
        number
        for (one_state, one_webhook_state), number in counts.items()
        if state in (None, one_state) and webhook_state in (None, one_webhook_state)
    )
