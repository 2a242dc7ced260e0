"""The log of events of an app: appended in one order, read behind a cursor, removed with what it names."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.dynamodb.events import beginning_key, group_key
from adapters.dynamodb.records import RECORDS
from domain.errors import Conflict, CursorExpired, InvalidRequest, NotFound, TooManyRequests, Unavailable
from domain.events.feed import Feed, FeedFilter
from domain.events.log import KEPT, LEAP, LOOK_BACK, append_events
from domain.maintenance.sweep import sweep
from domain.records.app import App
from domain.records.event import EventGroup, EventOutcome, LoggedEvent, events_of
from domain.records.request import State, StoredRequest
from domain.storage.changes import AddRequest, AppendEvents, BeginLog, ChangeRequest, Put
from domain.timestamps import timestamp
from tests.contract.conftest import sized
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, OTHER_APP_ID, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from adapters.dynamodb import DynamoDBStore
    from tests.contract.stores import AnyStore

OTHER_CONNECTION_ID = "c0000000-0000-4000-8000-000000000002"


def an_event(number: int, connection_id: str = CONNECTION_ID) -> LoggedEvent:
    """Return the event of a request."""
    return LoggedEvent(EventOutcome.COMPLETED, f"b0000000-0000-4000-8000-{number:012}", connection_id, 4)


def an_event_of_a_connection(number: int) -> LoggedEvent:
    """Return an event that the stream of connections reports."""
    return LoggedEvent(EventOutcome.STALLED, "", CONNECTION_ID, number)


def number_of(event: LoggedEvent) -> int:
    """Return the number with which an event was made."""
    return int(event.request_id[-12:]) if event.request_id else event.revision


def numbers(events: Sequence[Any]) -> list[int]:
    """Return the numbers of the events of a page."""
    return [number_of(event.logged) for event in events]


@pytest.fixture
def clock() -> FixedClock:
    """Return the clock of the log."""
    return FixedClock()


@pytest.fixture
def log(store: AnyStore) -> AnyStore:
    """Return a store with two apps that have no events."""
    for app_id in (APP_ID, OTHER_APP_ID):
        store.commit(Put(None, App(app_id, "Shop", timestamp(NOON))))
    return store


def append(store: Any, *events: int, at: FixedClock | None = None, app_id: str = APP_ID) -> int:
    """Append a group of events."""
    return append_events(store, app_id, list(map(an_event, events)), at() if at else NOON)


def read(store: Any, after: str | None, limit: int = 100, at: FixedClock | None = None) -> tuple[list[int], str, bool]:
    """Return the events of a page, the cursor behind it, and whether there are more."""
    page = Feed(store, at or FixedClock()).page(APP_ID, after, FeedFilter(), limit)
    return numbers(page.events), str(page.after), page.has_more


def test_a_log_is_read_in_the_order_in_which_it_was_appended(log: AnyStore) -> None:
    append(log, 5, 3)
    append(log, 4)
    append(log, 9, 1, 2)

    everything, end, has_more = read(log, None)

    assert (everything, has_more) == ([5, 3, 4, 9, 1, 2], False)
    assert read(log, end) == ([], end, False)
    append(log, 7)
    assert read(log, end)[0] == [7]


@pytest.mark.parametrize("limit", range(1, 8))
def test_pages_of_any_size_list_every_event_once(log: AnyStore, limit: int) -> None:
    """Also when a page ends inside a group."""
    for group in ((1, 2, 3), (4,), (5, 6), (7,)):
        append(log, *group)
    listed, cursor, has_more = [], None, True

    while has_more:
        events, cursor, has_more = read(log, cursor, limit)
        assert len(events) == limit or not has_more
        listed += events

    assert listed == [1, 2, 3, 4, 5, 6, 7]


def test_the_cursor_of_each_event_is_the_place_behind_it(log: AnyStore) -> None:
    for group in ((1, 2, 3), (4,), (5, 6)):
        append(log, *group)
    page = Feed(log, FixedClock()).page(APP_ID, None, FeedFilter(), 100)

    for number, event in enumerate(page.events):
        assert read(log, str(event.cursor))[0] == numbers(page.events[number + 1 :])


def test_a_reader_that_began_with_an_empty_log_gets_its_first_events(log: AnyStore) -> None:
    nothing, cursor, has_more = read(log, None)
    assert (nothing, has_more) == ([], False)
    assert read(log, cursor) == ([], cursor, False)

    append(log, 1)
    append(log, 2)

    assert read(log, cursor)[0] == [1, 2]


def test_the_logs_of_apps_are_separate(log: AnyStore) -> None:
    append(log, 1)
    append(log, 2, app_id=OTHER_APP_ID)

    assert read(log, None)[0] == [1]


def test_a_filter_lists_the_events_of_one_connection_and_passes_the_others(log: AnyStore) -> None:
    for connection_id in (CONNECTION_ID, OTHER_CONNECTION_ID):
        log.commit(Put(None, a_connection(id=connection_id)))
    for number in range(60):
        append_events(log, APP_ID, [an_event(number, OTHER_CONNECTION_ID if number % 7 else CONNECTION_ID)], NOON)
    feed = Feed(log, FixedClock())

    page = feed.page(APP_ID, None, FeedFilter(CONNECTION_ID), 100)

    assert numbers(page.events) == list(range(0, 60, 7))
    assert feed.page(APP_ID, str(page.after), FeedFilter(), 100).events == []


def test_a_filter_by_a_connection_of_another_app_is_refused(log: AnyStore) -> None:
    log.commit(Put(None, a_connection(app_id=OTHER_APP_ID)))

    with pytest.raises(NotFound):
        Feed(log, FixedClock()).page(APP_ID, None, FeedFilter(CONNECTION_ID), 100)


@pytest.mark.parametrize("length", [0, 1, 2048, 2049])
def test_a_filter_by_a_text_that_is_not_an_id_finds_no_connection(log: AnyStore, length: int) -> None:
    """DynamoDB refuses keys that are empty or have more than 2,048 bytes."""
    with pytest.raises(NotFound):
        Feed(log, FixedClock()).page(APP_ID, None, FeedFilter("x" * length), 100)


@pytest.mark.parametrize("text", ["", "x", "-1", "01", "1-0", "1-", "1.5", "9" * 17, "1-100000", "\u0661"])
def test_a_text_that_is_not_a_cursor_is_refused(log: AnyStore, text: str) -> None:
    with pytest.raises(InvalidRequest, match="after"):
        read(log, text)


class TestRepetitions:
    """The stream reports each commit at least once."""

    def test_events_that_are_in_the_log_are_not_appended_again(self, log: AnyStore) -> None:
        append(log, 1, 2)
        append(log, 3)

        assert [append(log, 1, 2), append(log, 2, 3), append(log, 3, 4)] == [0, 0, 1]

        assert read(log, None)[0] == [1, 2, 3, 4]

    def test_an_event_that_is_twice_in_a_batch_is_appended_once(self, log: AnyStore) -> None:
        append(log, 1, 2, 1)

        assert read(log, None)[0] == [1, 2]

    def test_a_late_repetition_is_behind_all_events_that_were_read(self, log: AnyStore) -> None:
        """Then an event is listed twice, which the contract allows."""
        for number in range(LOOK_BACK + 1):
            append(log, number)
        end = read(log, None)[1]

        append(log, 0)

        assert read(log, end)[0] == [0]

    def test_a_request_that_ends_again_has_another_event(self, log: AnyStore) -> None:
        append(log, 1)

        append_events(log, APP_ID, [replace(an_event(1), revision=9)], NOON)

        assert read(log, None)[0] == [1, 1]


class TestExpiry:
    """The feed shows events for seven days, whenever the database removes them."""

    def test_a_cursor_before_events_that_are_gone_gets_the_oldest_one(self, log: AnyStore, clock: FixedClock) -> None:
        append(log, 1, at=clock)
        first = read(log, None)[1]
        clock.advance(days=1)
        append(log, 2, at=clock)
        clock.advance(days=5)
        append(log, 3, at=clock)
        clock.advance(days=2, seconds=1)

        for expired in ("0", first):
            with pytest.raises(CursorExpired) as error:
                read(log, expired, at=clock)
            assert error.value.details
            assert read(log, error.value.details["oldest"], at=clock)[0] == [3]
        assert read(log, None, at=clock)[0] == [3]

    def test_a_reader_that_has_read_everything_can_wait_longer(self, log: AnyStore, clock: FixedClock) -> None:
        append(log, 1, at=clock)
        append(log, 2, at=clock)
        end = read(log, None)[1]
        clock.advance(days=30)
        assert read(log, end, at=clock) == ([], end, False)

        append(log, 3, at=clock)

        assert read(log, end, at=clock)[0] == [3]

    def test_a_place_inside_a_group_that_is_gone_has_expired(self, log: AnyStore, clock: FixedClock) -> None:
        append(log, 1, 2, at=clock)
        inside = read(log, None, limit=1)[1]
        clock.advance(days=7, seconds=1)

        with pytest.raises(CursorExpired):
            read(log, inside, at=clock)

    @pytest.mark.parametrize("removed", [(), (0,), (1,), (0, 1)])
    def test_it_does_not_matter_which_old_groups_were_removed(
        self, log: AnyStore, clock: FixedClock, removed: tuple[int, ...]
    ) -> None:
        """Time to live removes them late and in any order."""
        for number in (1, 2, 3):
            append(log, number, at=clock)
        cursors = [str(event.cursor) for event in Feed(log, clock).page(APP_ID, None, FeedFilter(), 100).events]
        clock.advance(days=8)
        append(log, 4, at=clock)
        for index in removed:
            remove_group(log, int(cursors[index]))

        assert read(log, None, at=clock)[0] == [4]
        assert read(log, cursors[2], at=clock)[0] == [4]
        for cursor in cursors[:2]:
            with pytest.raises(CursorExpired) as error:
                read(log, cursor, at=clock)
            assert error.value.details == {"oldest": cursors[2]}

    def test_every_group_but_the_newest_expires_an_hour_after_the_feed_shows_it(self, log: AnyStore) -> None:
        for number in range(3):
            append(log, number)

        groups = list(log.event_groups_from(APP_ID, 0, 10))

        expiry = int((NOON + KEPT + timedelta(hours=1)).timestamp())
        assert [group.expires_at for group in groups] == [expiry, expiry, None]

    def test_the_next_append_lets_a_group_expire_that_a_crash_left(self, log: AnyStore) -> None:
        head = EventGroup(APP_ID, 7, timestamp(NOON), (an_event(1),), is_first=True)
        log.commit(AppendEvents(head))
        log.commit(AppendEvents(replace(head, position=8, events=(an_event(2),), is_first=False)))

        append(log, 2)

        assert [group.expires_at is None for group in log.newest_event_groups(APP_ID, 2)] == [True, False]

    def test_a_group_that_was_the_newest_for_long_expires_an_hour_after_the_next_one(
        self, log: AnyStore, clock: FixedClock
    ) -> None:
        """A read of the newest groups can pass the place of the next one before, and must find this one."""
        append(log, 1, at=clock)
        append(log, 2, at=clock)
        clock.advance(days=30)
        append(log, 3, at=clock)

        expiries = [group.expires_at for group in log.event_groups_from(APP_ID, 0, 10)]

        assert expiries[1:] == [int((clock.now + timedelta(hours=1)).timestamp()), None]

    def test_a_group_that_was_removed_is_not_stored_again_to_expire(self, log: AnyStore) -> None:
        log.let_event_group_expire(EventGroup(APP_ID, 7, timestamp(NOON), (), expires_at=1))

        assert list(log.event_groups_from(APP_ID, 0, 10)) == []

    def test_a_log_that_was_lost_begins_behind_its_former_cursors(self, log: AnyStore, clock: FixedClock) -> None:
        for number in range(5):
            append(log, number, at=clock)
        cursor = read(log, None)[1]
        for group in list(log.event_groups_from(APP_ID, 0, 10)):
            remove_group(log, group.position)
        for _ in range(2):
            with pytest.raises(CursorExpired):
                read(log, cursor, at=clock)
            clock.advance(seconds=1)
            append(log, 9, at=clock)


def lose_log(store: AnyStore, *, beginning_stays: bool) -> None:
    """Remove all groups of a log, and where it began, as the loss of the table does."""
    for group in list(store.event_groups_from(APP_ID, 0, 100)):
        remove_group(store, group.position)
    if beginning_stays:
        return
    if isinstance(store, FakeStore):
        store.log_beginnings.clear()
    else:
        store.client.delete_item(TableName=store.tables.events, Key=beginning_key(APP_ID))


def remove_group(store: AnyStore, position: int) -> None:
    """Remove a group, as time to live does."""
    if isinstance(store, FakeStore):
        del store.events[APP_ID, position]
    else:
        store.client.delete_item(TableName=store.tables.events, Key=group_key(APP_ID, position))


def test_a_position_is_given_once(log: AnyStore) -> None:
    group = EventGroup(APP_ID, 7, timestamp(NOON), (an_event(1),))
    log.commit(AppendEvents(group))

    with pytest.raises(Conflict):
        log.commit(AppendEvents(replace(group, events=(an_event(2),))))

    assert log.newest_event_groups(APP_ID, 5) == [group]


def test_the_time_of_a_log_never_falls(log: AnyStore, clock: FixedClock) -> None:
    append(log, 1, at=clock)
    clock.advance(seconds=-5)
    append(log, 2, at=clock)

    assert [group.at for group in log.event_groups_from(APP_ID, 0, 10)] == [timestamp(NOON)] * 2


def test_no_log_begins_for_an_app_that_does_not_exist(store: AnyStore) -> None:
    assert append(store, 1) == 0
    assert list(store.event_groups_from(APP_ID, 0, 10)) == []


class TestRemoval:
    """Deleting an app or a connection reaches the log."""

    def test_an_app_is_removed_with_its_log(self, log: AnyStore) -> None:
        for app_id in (APP_ID, OTHER_APP_ID):
            for number in range(30):
                append(log, number, app_id=app_id)

        log.remove_app(APP_ID)

        assert list(log.event_groups_from(APP_ID, 0, 10)) == []
        assert log.log_beginning(APP_ID) is None
        assert log.log_beginning(OTHER_APP_ID) == next(log.event_groups_from(OTHER_APP_ID, 0, 10)).position
        assert len(list(log.event_groups_from(OTHER_APP_ID, 0, 10))) == 30

    def test_the_events_of_a_removed_connection_are_removed_and_the_others_keep_their_cursors(
        self, log: AnyStore
    ) -> None:
        connection = a_connection(id=OTHER_CONNECTION_ID, deleted_at=timestamp(NOON))
        log.commit(Put(None, connection))
        for first in range(0, 12, 4):
            group = [an_event(n, OTHER_CONNECTION_ID if n % 2 else CONNECTION_ID) for n in range(first, first + 4)]
            append_events(log, APP_ID, group, NOON)
        cursors = [str(event.cursor) for event in Feed(log, FixedClock()).page(APP_ID, None, FeedFilter(), 100).events]

        log.remove_connection(connection)

        for number, cursor in enumerate(cursors):
            assert read(log, cursor)[0] == [n for n in range(number + 1, 12) if n % 2 == 0]
        assert OTHER_CONNECTION_ID not in str(list(log.event_groups_from(APP_ID, 0, 10)))


def everything(store: DynamoDBStore) -> str:
    """Return the text of all items of all tables, with the compressed attributes."""
    names = store.client.list_tables()["TableNames"]
    items = [item for name in names for item in store.client.scan(TableName=name)["Items"]]
    return str([item | (RECORDS.decompressed(item) if "fields" in item else {}) for item in items])


def test_deleting_a_connection_and_an_app_leaves_no_trace_in_any_table(emulated: DynamoDBStore) -> None:
    store, clock = emulated, FixedClock()
    for app_id in (APP_ID, OTHER_APP_ID):
        store.commit(Put(None, App(app_id, "Shop", timestamp(NOON))))
    connection, other = a_connection(), a_connection(id=OTHER_CONNECTION_ID)
    store.commit(Put(None, connection))
    store.commit(Put(None, other))
    records = [a_record(state=State.SENT, label="secret", connection_id=c.id) for c in (connection, other, connection)]
    for record in records:
        store.commit(AddRequest(record, "<a>secret</a>", "secret", {"secret": "secret"}))
        ended = record.moved(State.RESPONSE_RECEIVED, NOON)
        store.commit(ChangeRequest(record, ended, response_xml="<b>secret</b>"))
        append_events(store, APP_ID, events_of(State.SENT, ended), NOON)
    assert all(text in everything(store) for text in (connection.id, records[0].id))

    store.commit(Put(connection, connection.removed(timestamp(NOON))))
    for _ in range(3):
        sweep(store, clock, clock.advance(minutes=20) + timedelta(minutes=1))

    text = everything(store)
    assert not [left for left in (connection.id, records[0].id, records[2].id) if left in text]
    assert records[1].id in text

    store.commit(Put(other, other.removed(timestamp(NOON))))
    for _ in range(3):
        sweep(store, clock, clock.advance(minutes=20) + timedelta(minutes=1))
    store.remove_app(APP_ID)

    text = everything(store)
    assert not [left for left in (APP_ID, other.id, records[1].id, "secret") if left in text]


class TestContents:
    """What an event shows is read from the record of its request."""

    @pytest.mark.parametrize("letters", [10, 400_000])
    def test_an_event_has_the_bodies_and_metadata_of_its_request(self, log: AnyStore, letters: int) -> None:
        """Also if they are in chunks."""
        log.commit(Put(None, a_connection()))
        text = random.Random(1).randbytes(letters).hex()
        record = a_record(state=State.SENT)
        log.commit(AddRequest(record, f"<a>{text}</a>", "", {"order": "7"}))
        ended = record.moved(State.RESPONSE_RECEIVED, NOON)
        log.commit(ChangeRequest(record, ended, response_xml=f"<b>{text}</b>"))
        append_events(log, APP_ID, events_of(State.SENT, ended), NOON)
        feed = Feed(log, FixedClock())

        ((_, stored),) = feed.contents(feed.page(APP_ID, None, FeedFilter(), 10).events)

        assert isinstance(stored, StoredRequest)
        assert (stored.request_xml, stored.response_xml) == (f"<a>{text}</a>", f"<b>{text}</b>")
        assert stored.metadata == {"order": "7"}

    def test_a_response_that_is_too_large_for_an_event_is_not_read(self, log: AnyStore) -> None:
        record = a_record(state=State.SENT)
        log.commit(AddRequest(record, "<a/>", ""))
        log.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), response_xml="x" * 1_000))
        batch = log.request_batch([record.id])
        (stored_record,) = batch.records

        (without, whole) = (batch.whole(stored_record, max_response_bytes=size) for size in (999, 1_000))

        assert without
        assert whole
        assert (without.response_xml, whole.response_xml) == (None, "x" * 1_000)


# --- No event appears behind a cursor that was returned -------------------------------------------------------------


@dataclass
class Interrupted:
    """A store in which other shards and readers run between two calls, and whose appends fail.

    After each read, before each append and between two groups that are read, the next step of the test runs. An append
    then fails before or after it is stored, as the step says.
    """

    store: Any
    steps: deque[Callable[[], Exception | None]] = field(default_factory=deque)

    def __getattr__(self, name: str) -> Any:
        """Return a method of the store."""
        return getattr(self.store, name)

    def step(self) -> Exception | None:
        """Run the next step."""
        return self.steps.popleft()() if self.steps else None

    def commit(self, *changes: Any) -> None:
        """Run a step, then append or fail."""
        failure = self.step()
        if isinstance(failure, TooManyRequests):
            raise failure
        self.store.commit(*changes)
        if failure:
            raise failure

    def newest_event_groups(self, app_id: str, limit: int) -> Sequence[EventGroup]:
        """Return the newest groups as they were before a step."""
        groups: Sequence[EventGroup] = self.store.newest_event_groups(app_id, limit)
        self.step()
        return groups

    def log_beginning(self, app_id: str) -> int | None:
        """Return the beginning as it was before a step."""
        position: int | None = self.store.log_beginning(app_id)
        self.step()
        return position

    def event_groups_from(self, app_id: str, position: int, page_size: int) -> Iterator[EventGroup]:
        """Yield the groups, as they are when each is read."""
        del page_size
        while group := next(self.store.event_groups_from(app_id, position, 1), None):
            yield group
            self.step()
            position = group.position + 1


@dataclass
class Reader:
    """Goes from cursor to cursor. `listed` are the events of the log with the number `log` that it has read."""

    cursor: str | None = None
    listed: list[int] = field(default_factory=list)
    log: int = 0
    is_reading: bool = False


SHARDS = 4
"""Three of the stream of requests, and one of the stream of connections."""


class Run:
    """Shards that append the events of their batches, each with a clock of its own, and readers.

    The logs of the app are numbered: each time that its log is lost, another one begins.
    """

    def __init__(self, store: Any, append: Callable[..., int] = append_events) -> None:
        self.store = Interrupted(store)
        self.append = append
        self.clocks = [FixedClock() for _ in range(SHARDS)]
        self.shards: list[list[list[LoggedEvent]]] = [[] for _ in range(SHARDS)]
        self.busy: set[int] = set()
        self.readers = [Reader(), Reader()]
        self.log = 0
        self.delivered: list[int] = []

    @property
    def listed(self) -> list[int]:
        """What the first reader has read."""
        return self.readers[0].listed

    def deliver(self, shard: int, again: int) -> None:
        """Deliver the next batch of a shard until it succeeds, as Lambda does; then `again` times more."""
        if shard in self.busy or not self.shards[shard]:
            return
        self.busy.add(shard)
        batch = self.shards[shard].pop(0)
        self.delivered += map(number_of, batch)
        for _ in range(1 + again):
            while True:
                try:
                    self.append(self.store, APP_ID, batch, self.clocks[shard]())
                except (TooManyRequests, Unavailable):
                    continue
                break
        self.busy.discard(shard)

    def read(self, number: int, limit: int) -> None:
        """Read the next page. A cursor of a log that was lost is refused, and no other one is."""
        reader = self.readers[number]
        if reader.is_reading:
            return
        reader.is_reading = True
        feed, is_of_lost_log = Feed(self.store, FixedClock()), reader.log < self.log and bool(reader.listed)
        try:
            page = feed.page(APP_ID, reader.cursor, FeedFilter(), limit)
        except CursorExpired as error:
            assert is_of_lost_log, "a reader that missed nothing was refused"
            reader.cursor, reader.listed, reader.log = (error.details or {})["oldest"], [], self.log
        else:
            assert not is_of_lost_log, "a cursor of a lost log was accepted"
            reader.listed += numbers(page.events)
            reader.cursor, reader.log = str(page.after), self.log
        reader.is_reading = False

    def move(self, shard: int, milliseconds: int) -> None:
        """Set the clock of a shard to this time after, or before, the clock of the readers."""
        self.clocks[shard].now = NOON + timedelta(milliseconds=milliseconds)

    def lose(self, *, beginning_stays: bool) -> None:
        """Lose the log, as a restore and the loss of the table do, while no function runs.

        If nothing remains of it, the clocks have passed it when it begins again.
        """
        if self.busy or any(reader.is_reading for reader in self.readers):
            return
        lose_log(self.store.store, beginning_stays=beginning_stays)
        self.log, self.delivered = self.log + 1, []
        if not beginning_stays:
            for clock in self.clocks:
                clock.now = NOON + timedelta(hours=self.log)

    def act(self, kind: str, first: int, second: int) -> Exception | None:
        """Do a step, or return the failure of the append before which it is done."""
        match kind:
            case "deliver":
                self.deliver(first, second)
            case "late":
                self.deliver(first, 0)
                self.read(0, second)
            case "read":
                self.read(first, second)
            case "move":
                self.move(first, second)
            case "lose":
                self.lose(beginning_stays=bool(first))
            case "fail":
                return TooManyRequests("throttled") if first else Unavailable("the answer was lost")
        return None

    def finish(self) -> None:
        """Deliver and read the rest without interruptions."""
        self.store.steps.clear()
        while any(self.shards):
            for shard in range(SHARDS):
                self.deliver(shard, 0)
        for number, reader in enumerate(self.readers):
            former = None
            while former != (reader.log, reader.cursor, len(reader.listed)):
                former = (reader.log, reader.cursor, len(reader.listed))
                self.read(number, 7)


MILLISECONDS = st.sampled_from([-1_200_000, -1_000, -5, -1, 0, 1, 5, 1_000, 1_200_000])
"""Clocks differ by up to 40 minutes, and by as little as groups of a log do."""

NEVER_LOST = [
    st.tuples(st.just("deliver"), st.integers(0, SHARDS - 1), st.integers(0, 1)),
    st.tuples(st.just("read"), st.integers(0, 1), st.integers(1, 4)),
    st.tuples(st.just("fail"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("pass"), st.just(0), st.just(0)),
    st.tuples(st.just("move"), st.integers(0, SHARDS - 1), MILLISECONDS),
]
STEPS = st.lists(st.one_of(*NEVER_LOST), max_size=40)
STEPS_WITH_LOSSES = st.lists(
    st.one_of(*NEVER_LOST, st.tuples(st.just("lose"), st.integers(0, 1), st.just(0))), max_size=60
)
BATCHES = st.lists(st.tuples(st.integers(0, SHARDS - 1), st.integers(1, 3)), min_size=1, max_size=10)


def run_all(run: Run, batches: list[tuple[int, int]], steps: list[tuple[str, int, int]]) -> int:
    """Run the steps, each inside a call of the one before; return the number of events."""
    number = 0
    for shard, size in batches:
        event = an_event_of_a_connection if shard == SHARDS - 1 else an_event
        run.shards[shard].append([event(number + index) for index in range(size)])
        number += size

    run.store.steps.extend(partial(run.act, *step) for step in steps)
    while run.store.steps:
        run.store.step()
    run.finish()
    return number


def positions_and_firsts(store: Any) -> tuple[list[int], list[bool]]:
    """Return how far each group of the log is from the first one, and whether each began the log."""
    groups = list(store.event_groups_from(APP_ID, 0, 100))
    return [group.position - groups[0].position for group in groups], [group.is_first for group in groups]


def an_empty_log(store: AnyStore) -> AnyStore:
    """Return the store with an app that never had an event."""
    store.remove_app(APP_ID)
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    return store


@settings(max_examples=sized(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=BATCHES, steps=STEPS, salt=st.uuids())
def test_a_reader_gets_every_event_once_whatever_is_delayed_repeated_and_fails(
    log: AnyStore, batches: list[tuple[int, int]], steps: list[tuple[str, int, int]], salt: object
) -> None:
    """Shards append at the same time, Lambda repeats batches, appends fail, and clocks differ and move.

    The log is empty, so the shards of both streams compete for its beginning.
    """
    del salt
    run = Run(an_empty_log(log))

    number = run_all(run, batches, steps)

    positions, firsts = positions_and_firsts(log)
    assert positions == list(range(len(positions)))
    assert firsts == [True] + [False] * (len(firsts) - 1)
    assert sorted(run.listed) == list(range(number))
    for reader in run.readers:
        assert reader.listed == read(log, None)[0]


@settings(max_examples=sized(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=BATCHES, steps=STEPS_WITH_LOSSES, salt=st.uuids())
def test_a_log_that_begins_again_is_behind_all_cursors_of_the_former_one(
    log: AnyStore, batches: list[tuple[int, int]], steps: list[tuple[str, int, int]], salt: object
) -> None:
    """Cursors of a lost log are refused, whichever clocks began the logs. Readers of a log get all of its events."""
    del salt
    run = Run(an_empty_log(log))

    run_all(run, batches, steps)

    positions, firsts = positions_and_firsts(log)
    assert positions == list(range(len(positions)))
    assert firsts == [True, *[False] * len(firsts)][: len(firsts)]
    assert sorted(read(log, None)[0]) == sorted(run.delivered)
    for reader in run.readers:
        assert reader.listed == read(log, None)[0]


@pytest.mark.parametrize("passed", range(4))
def test_a_log_that_begins_during_the_reads_of_an_empty_one_is_not_replaced(log: AnyStore, passed: int) -> None:
    """Another shard begins it after the first, the second or the third read, or before the transaction."""
    run = Run(log)
    steps = [("pass", 0, 0)] * passed

    run_all(run, [(0, 1), (1, 1)], [("move", 1, 5), ("deliver", 0, 0), *steps, ("deliver", 1, 0)])

    assert positions_and_firsts(log) == ([0, 1], [True, False])
    assert sorted(run.listed) == [0, 1]


def test_a_beginning_whose_log_was_lost_is_replaced_once(log: AnyStore) -> None:
    append(log, 1)
    former = log.log_beginning(APP_ID)
    assert former is not None
    lose_log(log, beginning_stays=True)
    group = EventGroup(APP_ID, former + LEAP, timestamp(NOON), (an_event(2),), is_first=True)

    log.commit(BeginLog(group, former))
    for change in (BeginLog(replace(group, position=former + 2 * LEAP), former), BeginLog(replace(group), None)):
        with pytest.raises(Conflict):
            log.commit(change)

    assert log.log_beginning(APP_ID) == former + LEAP
    assert list(log.event_groups_from(APP_ID, 0, 10)) == [group]


def test_a_log_whose_clock_stands_behind_the_former_one_begins_behind_it(log: AnyStore, clock: FixedClock) -> None:
    for number in range(5):
        append(log, number, at=clock)
    former = read(log, None)[1]
    lose_log(log, beginning_stays=True)
    clock.advance(minutes=-30)

    append(log, 5, at=clock)

    assert log.newest_event_groups(APP_ID, 1)[0].position > int(former)
    with pytest.raises(CursorExpired):
        read(log, former, at=clock)


def begun_at_the_time_alone(store: Any, app_id: str, events: Sequence[LoggedEvent], now: datetime) -> int:
    """Append as the service once did: an empty log begins at the time, if this position is free."""
    while True:
        newest = store.newest_event_groups(app_id, 1)
        position = newest[0].position + 1 if newest else int(now.timestamp() * 1_000)
        group = EventGroup(app_id, position, timestamp(now), tuple(events), is_first=not newest)
        try:
            store.commit(AppendEvents(group))
        except Conflict:
            continue
        return len(events)


@pytest.mark.parametrize("milliseconds", [5, -5])
def test_the_check_finds_a_log_that_begins_twice(milliseconds: int) -> None:
    """Another shard, whose clock is ahead or behind, begins the log and is read."""
    run = Run(FakeStore(), begun_at_the_time_alone)

    with pytest.raises(AssertionError, match="a reader that missed nothing was refused"):
        run_all(run, [(0, 1), (1, 1)], [("move", 1, milliseconds), ("deliver", 0, 0), ("late", 1, 4)])

    assert positions_and_firsts(run.store.store) == ([0, 5], [True, True])


def at_a_position_chosen_before(store: Any, app_id: str, events: Sequence[LoggedEvent], now: Any) -> int:
    """Append at a position that is chosen first and taken without regard to the newest group, as a time would be."""
    newest = store.newest_event_groups(app_id, 1)
    position = newest[0].position + 1 if newest else 1
    while True:
        group = EventGroup(app_id, position, timestamp(now), tuple(events), is_first=position == 1)
        try:
            store.commit(AppendEvents(group))
        except Conflict:
            position += 1
        else:
            return len(events)


def test_the_check_finds_a_log_that_repeats_events() -> None:
    run = Run(FakeStore(), at_a_position_chosen_before)

    run_all(run, [(0, 1)], [("deliver", 0, 1)])

    assert run.listed == [0, 0]


def test_the_check_finds_an_event_whose_place_was_chosen_before_its_commit() -> None:
    """Another shard chooses the next place, commits first, and is read."""
    places = count(1)

    def at_a_place_chosen_before(store: Any, app_id: str, events: Sequence[LoggedEvent], now: Any) -> int:
        place = next(places)
        store.commit(AppendEvents(EventGroup(app_id, place, timestamp(now), tuple(events), is_first=True)))
        return len(events)

    run = Run(FakeStore(), at_a_place_chosen_before)

    run_all(run, [(0, 1), (1, 1)], [("deliver", 0, 0), ("late", 1, 4)])

    assert run.listed == [1], "the event of the first shard is behind the cursor"
