"""Subscriptions, what they have read, pages of changes and their events, in every store."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import Conflict, InvalidRequest, InvalidState, NotFound
from domain.events.feed import Feed, FeedFilter
from domain.events.log import append_events
from domain.records.app import App
from domain.records.audit import Action
from domain.records.event import LoggedEvent
from domain.records.session import Session
from domain.records.subscription import (
    MAX_SUBSCRIPTIONS,
    Activity,
    BooksCopy,
    BooksRange,
    ChangePage,
    CopyPhase,
    CopyState,
    DerivedEvery,
    EntryCount,
    NewestChange,
    ObjectCopy,
    ObjectPass,
    PageKind,
    RememberedPart,
    RunMessage,
    RunMessageKind,
    Subscription,
    SubscriptionWebhook,
)
from domain.storage.changes import Put, RemoveCopy
from domain.subscriptions.history import HistoryFilter, history
from domain.subscriptions.service import SubscriptionService
from domain.timestamps import timestamp
from handlers.rest.models import ChangedSubscription
from handlers.views.feed_event import feed_event
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, FixedClock, SequentialIds, a_connection

if TYPE_CHECKING:
    from datetime import datetime

    from domain.events.feed import FeedEvent
    from tests.contract.stores import AnyStore

NOW = timestamp(NOON)
READING = ObjectPass(
    NOW,
    (BooksRange("A", "M"), BooksRange("M")),
    True,
    4_000,
    NOW,
    NewestChange("1-1", NOW),
    ("a", "b"),
    7,
    True,
    3,
    EntryCount(4),
)
CUSTOMERS = ObjectCopy(
    *(CONNECTION_ID, "Customer", CopyPhase.SNAPSHOT, NOW, 5, NOW, NewestChange("2-1", NOW), ("c",), READING),
    opened=7,
    count=EntryCount(12, ("a", "b"), is_unchecked=True, is_last_try=True),
    again=("1-1", "2-1"),
    derived_at=NOW,
    derived_of=NOW,
    gap="There are too many.",
)
COPY = BooksCopy(
    *(CONNECTION_ID, APP_ID, 12, {"Customer": NOW}, NOW, 2, "A dialog is open.", True),
    activity=Activity(NOW, "abc"),
    active=8,
)


def a_subscription(**fields: Any) -> Subscription:
    """Return a subscription."""
    values: dict[str, Any] = {"objects": ("Customer", "Invoice"), "every_minutes": 15, "start": "all"} | fields
    return Subscription("s1", CONNECTION_ID, APP_ID, NOW, NOW, began_at=NOW, **values)


def a_page(sequence: int, number: int = 1, kind: PageKind = PageKind.CHANGED, name: str = "Customer") -> ChangePage:
    """Return a page with this number of changes."""
    changes = json.dumps([{"id": f"{sequence + index}-é"} for index in range(number)])
    return ChangePage(CONNECTION_ID, APP_ID, sequence, kind, name, 5, NOW, number, changes)


@pytest.fixture
def subscribed(store: AnyStore) -> AnyStore:
    """Return a store with an app and a connection."""
    store.commit(Put(None, App(APP_ID, "Shop", NOW)))
    store.commit(Put(None, a_connection()))
    return store


def test_everything_is_read_as_it_was_stored(subscribed: AnyStore) -> None:
    webhook = SubscriptionWebhook("https://hooks.example.com/", "HTTP 500", NOW, NOW)
    include = {"Invoice": ("lines", "linked")}
    one = a_subscription(include=include, name="Shop", runs_at=NOW, paused_at=NOW, webhook=webhook)
    one = replace(one, derived=DerivedEvery.DAILY, derived_since=NOW)
    page = replace(a_page(7, 3), webhooks=("s1", "s2"))
    subscribed.commit(Put(None, one), Put(None, CUSTOMERS), Put(None, COPY), Put(None, page))

    state = subscribed.copy_state(CONNECTION_ID)

    assert (state.copy, state.objects) == (COPY, (CUSTOMERS,))
    (read,) = state.subscriptions
    assert replace(read, include={}) == replace(one, include={})
    assert {name: tuple(parts) for name, parts in read.include.items()} == one.include
    assert subscribed.subscription(CONNECTION_ID, one.id) == read
    assert subscribed.subscription(CONNECTION_ID, "s2") is None
    assert list(subscribed.change_pages([(CONNECTION_ID, 7), (CONNECTION_ID, 8)])) == [page]
    assert subscribed.copy_state("c0000000-0000-4000-8000-00000000000f").copy is None


def test_a_session_keeps_the_message_of_its_run(subscribed: AnyStore) -> None:
    asked = RunMessage(3, True, ("Customer",), ("1~x",), RunMessageKind.SWEEP, 25, "{i}", 2, NOW, NOW)
    session = Session("t", CONNECTION_ID, NOW, run=asked)
    subscribed.commit(Put(None, session))

    assert subscribed.session("t") == session


def test_what_the_feed_has_said_is_read_apart_and_changes_only_as_it_was_read(subscribed: AnyStore) -> None:
    parts = [
        RememberedPart(CONNECTION_ID, name, first, {f"{first}{number}-é": str(number) for number in range(9)})
        for name, first in (("Invoice", ""), ("Invoice", "000000001F-1"), ("InvoiceX", ""), ("Bill", ""))
    ]
    empty = RememberedPart(CONNECTION_ID, "Charge", "")
    subscribed.commit(Put(None, CUSTOMERS), *(Put(None, part) for part in (*parts, empty)))

    assert list(subscribed.copy_state(CONNECTION_ID, ["Invoice"]).remembered) == parts[:2]
    assert list(subscribed.copy_state(CONNECTION_ID, ["Bill", "Charge", "Vendor"]).remembered) == [parts[3], empty]
    assert subscribed.copy_state(CONNECTION_ID) == CopyState(None, (CUSTOMERS,), ())
    after = replace(parts[0], entries={"a": "b"}, revision=2)
    subscribed.commit(Put(parts[0], after))
    with pytest.raises(Conflict):
        subscribed.commit(Put(parts[0], after))
    with pytest.raises(Conflict):
        subscribed.commit(Put(None, parts[1]))
    assert list(subscribed.copy_state(CONNECTION_ID, ["Invoice"]).remembered) == [after, parts[1]]


@pytest.mark.parametrize("entity", [a_subscription(), CUSTOMERS, COPY])
def test_a_change_of_what_others_have_changed_is_refused(subscribed: AnyStore, entity: Any) -> None:
    subscribed.commit(Put(None, entity))
    after = replace(entity, revision=2)
    subscribed.commit(Put(entity, after))

    with pytest.raises(Conflict):
        subscribed.commit(Put(entity, after))
    with pytest.raises(Conflict):
        subscribed.commit(Put(None, entity))
    if not isinstance(entity, BooksCopy):
        with pytest.raises(Conflict):
            subscribed.commit(RemoveCopy(entity))
        subscribed.commit(RemoveCopy(after))
        assert subscribed.copy_state(CONNECTION_ID).objects == ()


def test_pages_are_read_backwards_and_only_those_of_the_connection(subscribed: AnyStore) -> None:
    pages = [a_page(number) for number in range(2, 130, 2)]
    for page in (*pages, replace(a_page(5), connection_id="other")):
        subscribed.commit(Put(None, page))
    newest_first = pages[::-1]

    assert list(subscribed.change_pages_before(CONNECTION_ID, None)) == newest_first
    assert list(subscribed.change_pages_before(CONNECTION_ID, 100)) == [
        one for one in newest_first if one.sequence < 100
    ]
    assert list(subscribed.change_pages_before(CONNECTION_ID, 2)) == []


def test_the_data_of_a_deleted_connection_are_removed(subscribed: AnyStore) -> None:
    subscribed.commit(Put(None, a_subscription()), Put(None, CUSTOMERS), Put(None, COPY), Put(None, a_page(7)))

    subscribed.remove_connection(a_connection())

    state = subscribed.copy_state(CONNECTION_ID)
    assert (state.copy, state.objects, state.subscriptions) == (None, (), ())
    assert not subscribed.change_pages([(CONNECTION_ID, 7)])


# --- The feed


def log(store: AnyStore, *pages: ChangePage) -> None:
    """Store pages and append their events as one group."""
    for page in pages:
        store.commit(Put(None, page))
    append_events(store, APP_ID, list(map(LoggedEvent.of_page, pages)), NOON)


def ids(store: AnyStore, events: list[FeedEvent]) -> list[str]:
    """Return the ids of the changes of events."""
    found = Feed(store, FixedClock()).contents(events)
    return [json.loads(page.changes)[event.index]["id"] for event, page in found if isinstance(page, ChangePage)]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_of_any_size_list_every_change_once(subscribed: AnyStore, limit: int) -> None:
    log(subscribed, a_page(10, 3), a_page(20))
    log(subscribed, a_page(30, 2))
    feed, cursor, found = Feed(subscribed, FixedClock()), None, []
    while True:
        page = feed.page(APP_ID, cursor, FeedFilter(), limit)
        found += ids(subscribed, list(page.events))
        cursor = str(page.after)
        if not page.has_more:
            break

    assert found == ["10-é", "11-é", "12-é", "20-é", "30-é", "31-é"]


def test_a_cursor_inside_a_page_stays_valid_when_its_connection_is_deleted(subscribed: AnyStore) -> None:
    other = "c0000000-0000-4000-8000-000000000002"
    subscribed.commit(Put(None, a_connection(id=other)))
    log(subscribed, a_page(10, 3), replace(a_page(20, 2), connection_id=other))
    feed = Feed(subscribed, FixedClock())
    cursor = str(feed.page(APP_ID, None, FeedFilter(), 2).after)

    subscribed.remove_connection(a_connection())

    assert ids(subscribed, list(feed.page(APP_ID, cursor, FeedFilter(), 10).events)) == ["20-é", "21-é"]


def test_the_changes_of_a_deleted_connection_are_in_no_answer(subscribed: AnyStore) -> None:
    log(subscribed, a_page(10, 3))
    subscribed.commit(Put(a_connection(), a_connection().removed(NOW)))

    page = Feed(subscribed, FixedClock()).page(APP_ID, None, FeedFilter(), 100)

    assert ids(subscribed, list(page.events)) == []


def test_events_are_filtered_by_type_and_by_subscription(subscribed: AnyStore) -> None:
    subscribed.commit(Put(None, a_subscription(objects=("Customer",))))
    log(subscribed, a_page(10), a_page(20, name="Invoice"), a_page(30, kind=PageKind.DELETED))
    log(subscribed, a_page(40, kind=PageKind.FAILED, name=""), a_page(50, kind=PageKind.SNAPSHOT_STARTED))

    def found(**fields: Any) -> list[str]:
        page = Feed(subscribed, FixedClock()).page(APP_ID, None, FeedFilter(**fields), 100)
        return ids(subscribed, list(page.events))

    assert found(types=frozenset({"record.*"})) == ["10-é", "20-é", "30-é"]
    assert found(types=frozenset({"record.deleted", "subscription.failed"})) == ["30-é", "40-é"]
    assert found(connection_id=CONNECTION_ID, subscription_id="s1") == ["10-é", "30-é", "40-é", "50-é"]
    with pytest.raises(NotFound):
        found(connection_id=CONNECTION_ID, subscription_id="s2")
    with pytest.raises(InvalidRequest):
        found(subscription_id="s1")


# --- The history of a record

KINDS = (PageKind.CHANGED, PageKind.CHANGED, PageKind.DELETED, PageKind.SNAPSHOT_STARTED)


def looked_back(store: AnyStore, wanted: HistoryFilter, limit: int, since: datetime) -> list[tuple[str, str, int]]:
    """Return all changes, newest first, by as many calls as it takes. Each goes on before the last one."""
    found: list[tuple[str, str, int]] = []
    read_from = "9"
    for _ in range(1_000):
        part = history(store, APP_ID, CONNECTION_ID, wanted, limit, since=since)
        assert len(part.changes) <= limit
        assert part.read_from <= read_from
        assert all(change.page.at >= part.read_from for change in part.changes)
        read_from = part.read_from
        found += [(change.page.object, change.content["id"], change.sequence) for change in part.changes]
        if part.before is None:
            assert read_from == timestamp(since)
            return found
        assert wanted.before is None or part.before < wanted.before
        wanted = replace(wanted, before=part.before)
    raise AssertionError("The history does not end.")


def test_the_history_has_each_change_of_the_wanted_records_once_and_the_newest_first(subscribed: AnyStore) -> None:
    chance, sequence = random.Random(39), 10
    kept: list[tuple[str, str, int]] = []
    for number in range(130):
        at, kind = NOON + timedelta(hours=number - 70), chance.choice(KINDS)
        page = a_page(sequence, chance.choice([1, 1, 3]), kind, chance.choice(["Customer", "Invoice"]))
        ids_of_page = [chance.choice(["1-1", "2-\u00e9"]) for _ in range(page.number)]
        page = replace(page, at=timestamp(at), changes=json.dumps([{"id": id_} for id_ in ids_of_page]))
        subscribed.commit(Put(None, page))
        if at > NOON - timedelta(hours=40) and kind is not PageKind.SNAPSHOT_STARTED:
            kept += [(page.object, id_, sequence + index) for index, id_ in enumerate(ids_of_page)]
        sequence += page.number + chance.randrange(3)
    kept.reverse()

    for wanted, limit in product(
        (HistoryFilter(name, id_) for name in (None, "Customer", "Vendor") for id_ in (None, "1-1", "2-\u00e9")),
        (2, 50),
    ):
        expected = [one for one in kept if wanted.object in {None, one[0]} and wanted.record_id in {None, one[1]}]
        assert looked_back(subscribed, wanted, limit, NOON - timedelta(hours=40)) == expected


@pytest.mark.parametrize("value", ["a-1042", " A-1042 ", "10-é", "Ström:Villa", "STRÖM:VILLA", "GROSS"])
def test_the_history_is_found_by_a_number_or_a_name_as_a_whole_ignoring_case(subscribed: AnyStore, value: str) -> None:
    record = {"RefNumber": "A-1042", "Name": "Groß", "FullName": "Ström:Villa", "Memo": "Villa A"}
    changes = [
        {"id": "10-é", "record": record},
        {"id": "2-2", "record": {"Name": "Villa A"}},
        {"id": "3", "record": None},
    ]
    subscribed.commit(Put(None, replace(a_page(10, 3), changes=json.dumps(changes))))

    for looked_for, found in ((value, [10]), (value.strip()[:-1], []), ("Villa a", [11]), ("2-2", [11])):
        wanted = HistoryFilter(value=looked_for)
        assert [one[2] for one in looked_back(subscribed, wanted, 50, NOON - timedelta(days=1))] == found


def test_a_call_for_a_history_looks_at_a_limited_number_of_pages_and_bytes(
    subscribed: AnyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        subscribed.commit(Put(None, a_page(10 + number)))
    since = NOON - timedelta(days=7)
    for name, most in (("MAX_PAGES", 7), ("MAX_BYTES", 0), ("MAX_ANSWER_BYTES", 0)):
        with monkeypatch.context() as patched:
            patched.setattr(f"domain.subscriptions.history.{name}", most)
            part = history(subscribed, APP_ID, CONNECTION_ID, HistoryFilter(), 100, since=since)
            assert len(part.changes) == max(most, 1)
            assert part.before == 40 - max(most, 1)
            assert len(looked_back(subscribed, HistoryFilter(), 100, since)) == 30


def test_the_history_of_another_connection_and_of_an_unknown_object_is_refused(subscribed: AnyStore) -> None:
    with pytest.raises(NotFound):
        history(subscribed, "another app", CONNECTION_ID, HistoryFilter(), 5, since=NOON)
    with pytest.raises(InvalidRequest, match="Did you mean Customer"):
        history(subscribed, APP_ID, CONNECTION_ID, HistoryFilter("Custmer"), 5, since=NOON)


# --- Use cases


def service(store: AnyStore) -> SubscriptionService:
    """Return the use cases."""
    return SubscriptionService(store, FixedClock(), SequentialIds())


def test_the_connection_knows_when_its_next_run_is_due(subscribed: AnyStore) -> None:
    use = service(subscribed)

    _, one = use.create(APP_ID, CONNECTION_ID, actor=AN_ACTOR, objects=("Invoice",), every_minutes=15, start="all")
    assert (subscribed.connection(CONNECTION_ID) or a_connection()).run_due_at == NOW
    use.act(APP_ID, CONNECTION_ID, one.id, Action.SUBSCRIPTION_PAUSED, actor=AN_ACTOR)
    assert (subscribed.connection(CONNECTION_ID) or a_connection()).run_due_at is None
    use.act(APP_ID, CONNECTION_ID, one.id, Action.SUBSCRIPTION_RESUMED, actor=AN_ACTOR)
    assert (subscribed.connection(CONNECTION_ID) or a_connection()).run_due_at == NOW
    use.delete(APP_ID, CONNECTION_ID, one.id, actor=AN_ACTOR)
    assert (subscribed.connection(CONNECTION_ID) or a_connection()).run_due_at is None


def test_an_object_that_no_subscription_wants_any_more_is_forgotten(subscribed: AnyStore) -> None:
    part = RememberedPart(CONNECTION_ID, "Customer", "", {"1-1": "x"})
    subscribed.commit(Put(None, a_subscription()), Put(None, CUSTOMERS), Put(None, part))

    service(subscribed).delete(APP_ID, CONNECTION_ID, "s1", actor=AN_ACTOR)

    assert subscribed.copy_state(CONNECTION_ID).objects == ()
    assert list(subscribed.copy_state(CONNECTION_ID, ["Customer"]).remembered) == []


def test_derived_fields_are_wanted_from_the_moment_at_which_a_subscription_asks_for_them(subscribed: AnyStore) -> None:
    use = service(subscribed)
    _, one = use.create(APP_ID, CONNECTION_ID, actor=AN_ACTOR, objects=("Customer",), every_minutes=15, start="all")
    assert one.derived_since is None

    def changed(**body: Any) -> Subscription:
        settings = ChangedSubscription(**body).settings()
        return use.update(APP_ID, CONNECTION_ID, one.id, actor=AN_ACTOR, **settings)[1]

    assert changed(derived="daily").derived_since == NOW
    daily = changed(name="Shop")
    assert (daily.derived, daily.derived_since) == (DerivedEvery.DAILY, NOW)
    ended = changed(derived=None)
    assert (ended.derived, ended.derived_since, ended.name) == (None, None, "Shop")
    assert subscribed.copy_state(CONNECTION_ID).subscriptions == (ended,)


def test_an_event_of_derived_fields_is_for_subscriptions_that_ask_for_them(subscribed: AnyStore) -> None:
    wanting = replace(a_subscription(objects=("Customer",)), id="s2", derived=DerivedEvery.HOURLY)
    subscribed.commit(Put(None, a_subscription(objects=("Customer",))), Put(None, wanting))
    content = {"id": "1-1", "as_of": NOW, "derived": {"Balance": "1.00"}}
    page = replace(a_page(10, kind=PageKind.DERIVED), changes=json.dumps([content]))
    log(subscribed, page, a_page(20))
    feed = Feed(subscribed, FixedClock())

    def types(**fields: Any) -> list[str]:
        found = feed.page(APP_ID, None, FeedFilter(**fields), 100).events
        return [json.loads(feed_event(event, stored))["type"] for event, stored in feed.contents(found)]

    assert types(connection_id=CONNECTION_ID, subscription_id="s1") == ["record.changed"]
    assert types(connection_id=CONNECTION_ID, subscription_id="s2") == ["record.derived", "record.changed"]
    assert types(types=frozenset({"record.derived"})) == ["record.derived"]
    [(event, stored)] = feed.contents(
        feed.page(APP_ID, None, FeedFilter(types=frozenset({"record.derived"})), 1).events
    )
    view = json.loads(feed_event(event, stored))
    assert view == {**view, **content, "object": "Customer", "sequence": 10, "generation": 5}
    assert "record" not in view


def test_a_connection_has_a_limited_number_of_subscriptions(subscribed: AnyStore) -> None:
    use = service(subscribed)
    settings: dict[str, Any] = {"objects": ("Invoice",), "every_minutes": 15, "start": "now"}
    for _ in range(MAX_SUBSCRIPTIONS):
        use.create(APP_ID, CONNECTION_ID, actor=AN_ACTOR, **settings)

    with pytest.raises(InvalidState, match="at most 20"):
        use.create(APP_ID, CONNECTION_ID, actor=AN_ACTOR, **settings)


@pytest.mark.parametrize(
    ("objects", "include", "message"),
    [
        (("Invoices",), {}, "Did you mean Invoice"),
        (("Item",), {}, "ItemInventory"),
        (("Customer",), {"Customer": ["lines"]}, "custom_fields"),
        (("Customer",), {"Invoice": ["lines"]}, "not in objects"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_nearest_names(
    subscribed: AnyStore, objects: tuple[str, ...], include: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InvalidRequest) as error:
        service(subscribed).create(
            APP_ID, CONNECTION_ID, actor=AN_ACTOR, objects=objects, include=include, every_minutes=15, start="all"
        )

    assert message in str(error.value.message)
