"""The feed: reads the log of an app behind a cursor."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from domain.errors import CursorExpired, InvalidRequest, NotFound
from domain.events.log import KEPT
from domain.records.event import CHANGE_OUTCOMES, CONNECTION_OUTCOMES, PAGE_OUTCOMES, EventOutcome, LoggedEvent
from domain.records.event_types import is_of_types
from domain.records.ownership import owned_connection
from domain.records.request import ENDED
from domain.timestamps import timestamp
from domain.webhooks.defaults import MAX_BODY_BYTES, MAX_PARALLEL_READS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.event import EventGroup
    from domain.records.request import StoredRequest
    from domain.records.subscription import ChangePage
    from domain.storage.ports import FeedStore

GROUPS_A_READ = 25
"""How many groups are read at a time. Most have one event, and an answer has up to 100 events."""

MAX_GROUPS = 2_000
"""A call with a filter looks at no more groups, and then returns a cursor from which to go on."""

WAITING_READS = 8
"""How often a waiting call looks for events, at equal intervals. With these reads, it makes at most 12 in all."""

CONTENTS_A_READ = 25
"""How many records are read at a time with their bodies, up to 20 MB in all."""

_CURSOR = re.compile(r"(0|[1-9][0-9]{0,15})(?:-([1-9][0-9]{0,4}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a log: behind the group at `position`, or behind the first `used` events of this group."""

    position: int
    used: int | None = None

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Return the cursor of a text. Raises InvalidRequest if it is not one."""
        match = _CURSOR.fullmatch(text)
        if not match:
            raise InvalidRequest.of("after", "is not a cursor. Use `next` of an answer, or `cursor` of an event")
        return cls(int(match[1]), int(match[2]) if match[2] else None)

    def __str__(self) -> str:
        """Return the text of the cursor."""
        return str(self.position) if self.used is None else f"{self.position}-{self.used}"


BEGINNING = Cursor(0)
"""The place before the first event of a log, also while the log is empty."""


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """An event with the cursor behind it. `at` is when it was appended.

    `index` is its place among the events of its page of changes, from 0 on.
    """

    logged: LoggedEvent
    at: str
    cursor: Cursor
    index: int = 0


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """Which events are meant: of a connection, with one of these types or groups, or for a subscription.

    Those for a subscription are the changes of its objects, and what happened to their reading.
    """

    connection_id: str | None = None
    types: frozenset[str] = frozenset()
    subscription_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    """A filter, with the objects of its subscription or None, and the outcomes that are about them."""

    wanted: FeedFilter
    objects: frozenset[str] | None = None
    outcomes: frozenset[EventOutcome] = PAGE_OUTCOMES

    def has(self, logged: LoggedEvent) -> bool:
        """Return whether an event is meant."""
        if logged.outcome is EventOutcome.REMOVED or not is_of_types(logged.outcome, self.wanted.types):
            return False
        if self.wanted.connection_id not in {None, logged.connection_id}:
            return False
        return self.objects is None or (logged.outcome in self.outcomes and logged.object in self.objects)


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Events in their order. `after` is the cursor behind everything that was looked at."""

    events: Sequence[FeedEvent]
    after: Cursor
    has_more: bool


class _Gap(Exception):
    """The group behind a cursor is missing or too old."""


class Feed:
    """Reads logs and the records that their events name."""

    def __init__(self, store: FeedStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def page(self, app_id: str, after: str | None, wanted: FeedFilter, limit: int) -> FeedPage:
        """Return up to `limit` events of an app behind a cursor, or the oldest ones.

        Raises CursorExpired if events behind the cursor are gone, InvalidRequest if the text is not a cursor of the
        app or a subscription is named without its connection, and NotFound if the app has no such connection or
        subscription.
        """
        cursor = None if after is None else Cursor.parsed(after)
        match = self._match(app_id, wanted)
        since = timestamp(self._clock() - KEPT)
        if cursor is None:
            cursor = self._oldest(app_id, since)
        try:
            try:
                return self._page(app_id, cursor, match, limit, since)
            except _Gap:
                # A read is not a snapshot. Groups that were appended during it are there when it is repeated.
                return self._page(app_id, cursor, match, limit, since)
        except _Gap:
            if self._is_ahead(app_id, cursor):
                message = (
                    "is ahead of the newest event, so it is not a cursor of this app. Use `next` of an answer, or "
                    "leave it out to begin with the oldest event"
                )
                raise InvalidRequest.of("after", message) from None
            raise CursorExpired(
                "Events behind this cursor are gone, because events are kept for seven days. Continue with "
                "details.oldest, and read from the lists what you missed.",
                {"oldest": str(self._oldest(app_id, since))},
            ) from None

    def _match(self, app_id: str, wanted: FeedFilter) -> _Match:
        """Return the filter with the objects of its subscription."""
        if wanted.connection_id is None:
            if wanted.subscription_id is not None:
                raise InvalidRequest.of("subscription_id", "needs the connection of the subscription in connection_id")
            return _Match(wanted)
        owned_connection(self._store.connection(wanted.connection_id), app_id)
        if wanted.subscription_id is None:
            return _Match(wanted)
        subscriptions = self._store.copy_state(wanted.connection_id).subscriptions
        one = next((one for one in subscriptions if one.id == wanted.subscription_id), None)
        if one is None:
            raise NotFound("The subscription does not exist.")
        outcomes = PAGE_OUTCOMES if one.derived else PAGE_OUTCOMES - {EventOutcome.RECORD_DERIVED}
        return _Match(wanted, frozenset({"", *one.objects}), outcomes)

    def _is_ahead(self, app_id: str, cursor: Cursor) -> bool:
        """Return whether no answer can have returned a cursor. A log that was lost begins behind its former cursors."""
        newest = self._store.newest_event_groups(app_id, 1)
        return bool(newest) and cursor.position > newest[0].position

    def next_page(
        self,
        app_id: str,
        page: FeedPage,
        wanted: FeedFilter,
        limit: int,
        *,
        until: datetime,
        pause: Callable[[float], None],
    ) -> FeedPage:
        """Return the page behind an empty one, as soon as it has events, and at `until` at the latest.

        `pause` waits for a number of seconds. Raises the errors of `page`.
        """
        for reads in range(WAITING_READS, 0, -1):
            seconds = (until - self._clock()).total_seconds()
            if page.events or page.has_more or seconds <= 0:
                break
            pause(seconds / reads)
            page = self.page(app_id, str(page.after), wanted, limit)
        return page

    def _page(self, app_id: str, cursor: Cursor, match: _Match, limit: int, since: str) -> FeedPage:
        events: list[FeedEvent] = []
        for number, (group, used) in enumerate(self._groups_behind(app_id, cursor, since)):
            if number == MAX_GROUPS:
                return FeedPage(events, cursor, has_more=True)
            expanded = [(logged, index) for logged in group.events for index in range(logged.number)]
            for place in range(used, len(expanded)):
                if len(events) == limit:
                    return FeedPage(events, cursor, has_more=True)
                logged, index = expanded[place]
                cursor = Cursor(group.position, place + 1 if place + 1 < len(expanded) else None)
                if match.has(logged):
                    events.append(FeedEvent(logged, group.at, cursor, index))
        return FeedPage(events, cursor, has_more=False)

    def _groups_behind(self, app_id: str, cursor: Cursor, since: str) -> Iterator[tuple[EventGroup, int]]:
        """Yield the groups behind a cursor, each with the number of its events that are before the cursor.

        Raises _Gap if the first of them is gone. Ends before a later gap, because such a gap is a group that was
        appended during the read.
        """
        groups = self._store.event_groups_from(app_id, cursor.position, GROUPS_A_READ)
        group = next(groups, None)
        expected, used = cursor.position, cursor.used or 0
        if cursor.used is None and cursor != BEGINNING:
            expected += 1
            if group and group.position == cursor.position:
                group = next(groups, None)
                if group is None:
                    return
        if cursor == BEGINNING:
            if group is None:
                return
            expected = group.position if group.is_first else expected
        if group is None or group.position != expected or group.at <= since:
            raise _Gap
        while group and group.position == expected:
            yield group, used
            group, expected, used = next(groups, None), expected + 1, 0

    def _oldest(self, app_id: str, since: str) -> Cursor:
        """Return the cursor before the oldest event that is kept.

        It is read twice, because a read can miss groups that are appended during it.
        """
        cursors = [self._oldest_of_a_read(app_id, since) for _ in range(2)]
        return min(cursors, key=lambda cursor: cursor.position)

    def _oldest_of_a_read(self, app_id: str, since: str) -> Cursor:
        cursor = BEGINNING
        for group in self._store.event_groups_from(app_id, 0, GROUPS_A_READ):
            if group.at > since:
                return BEGINNING if group.is_first else Cursor(group.position - 1)
            cursor = Cursor(group.position)
        return cursor

    def contents(
        self, events: Sequence[FeedEvent]
    ) -> Iterator[tuple[FeedEvent, StoredRequest | Connection | ChangePage | None]]:
        """Yield each event with its request, its connection or its page, or with None if that was deleted.

        The requests are read in parts, when they are needed. Responses that are too large for an event are left out.
        The event of an end is left out if its request was put back into the queue, which reports its next end.
        """
        for start in range(0, len(events), CONTENTS_A_READ):
            part = events[start : start + CONTENTS_A_READ]
            readable = [event.logged for event in part if event.logged.outcome is not EventOutcome.UNREADABLE]
            request_ids = dict.fromkeys(
                logged.request_id for logged in readable if logged.request_id and logged.outcome not in PAGE_OUTCOMES
            )
            pages = self._pages({logged for logged in readable if logged.outcome in PAGE_OUTCOMES})
            batch = self._store.request_batch(list(request_ids))
            records = {record.id: record for record in batch.records}
            connections = self._connections({logged.connection_id for logged in readable})
            for event in part:
                record = records.get(event.logged.request_id)
                connection = connections.get(event.logged.connection_id)
                if event.logged.outcome in PAGE_OUTCOMES:
                    # The pages of a deleted connection are kept until the sweep removes them.
                    if connection and (page := pages.get(event.logged)):
                        yield event, page
                elif event.logged.outcome in CONNECTION_OUTCOMES:
                    yield event, connection
                elif record is None or connection is None:
                    yield event, None
                elif record.state in ENDED or event.logged.outcome in CHANGE_OUTCOMES:
                    yield event, batch.whole(record, max_response_bytes=MAX_BODY_BYTES)

    def _pages(self, logged: Collection[LoggedEvent]) -> Mapping[LoggedEvent, ChangePage]:
        """Return the pages of these events that are kept."""
        if not logged:
            return {}
        stored = self._store.change_pages([(one.connection_id, one.sequence) for one in logged])
        return {LoggedEvent.of_page(page): page for page in stored}

    def _connections(self, connection_ids: Collection[str]) -> Mapping[str, Connection]:
        """Return those of these connections that were not deleted, by id."""
        with ThreadPoolExecutor(MAX_PARALLEL_READS) as readers:
            connections = readers.map(self._store.connection, connection_ids)
            return {connection.id: connection for connection in connections if connection and not connection.deleted_at}
