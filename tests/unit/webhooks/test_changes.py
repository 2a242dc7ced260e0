"""Pages of changes as webhooks: each reaches every subscription that asks for it, or the subscription says why not."""

from __future__ import annotations

import json
import logging
import random
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.dynamodb import keys
from adapters.dynamodb.compression import packed_text
from adapters.dynamodb.subscriptions import CHANGES, PAGES
from adapters.sqs import message_of, planned_attempt_of
from domain.events.feed import Feed, FeedFilter
from domain.records.app import App
from domain.records.subscription import (
    REPEATED_WITHIN,
    ChangePage,
    PageKind,
    Subscription,
    SubscriptionWebhook,
)
from domain.storage.changes import Put, RemoveCopy
from domain.subscriptions.stored import MAX_PAGE_CHANGES
from domain.timestamps import timestamp
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS, MAX_BODY_BYTES, RETRY_DELAYS
from domain.webhooks.delivery import GaveUp, NotRecorded, RetryAt, Succeeded
from domain.webhooks.ports import DeliveryFailed, HttpResponse, PlannedChanges
from domain.webhooks.unrecorded_events import EventAttempted, EventDeliverer
from handlers import log_and_forget, retry_webhook
from handlers.views.changes_event import changes_event_body
from handlers.views.connection_event import connection_event_body
from handlers.views.feed_event import feed_event
from handlers.views.webhook_event import resolved_event_body
from local.gateway import Request
from local.receiver import verified_schemes
from tests.support.books import Books
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, FixedClock, a_connection
from tests.support.copies import Copying, Reader, events_of
from tests.support.services import services_with, using
from tests.support.webhooks import SECRET, URL, CountingStore, PlannedAttempts, ScriptedReceiver, stream_image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from domain.webhooks.ports import Planned

NOW = timestamp(NOON)
NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}
HANGS = DeliveryFailed("The receiver did not respond in time.", timed_out=True)
NOT_PUBLIC = DeliveryFailed("The address is not public.", permanent=True)
FAULTS: dict[str, HttpResponse | DeliveryFailed] = {
    "hangs": HANGS,
    "fails": HttpResponse(500, "broken"),
    "redirects": HttpResponse(302, ""),
    "refuses": HttpResponse(410, ""),
    "moves to a private address": NOT_PUBLIC,
}
LASTING = {"refuses", "moves to a private address"}


def a_subscription(id_: str = "s1", *objects: str, **fields: Any) -> Subscription:
    """Return a subscription with a webhook."""
    values: dict[str, Any] = {"webhook": SubscriptionWebhook(URL)} | fields
    return Subscription(id_, CONNECTION_ID, APP_ID, NOW, NOW, objects or ("Customer",), 15, "all", NOW, **values)


def a_page(sequence: int = 7, *ids: str, webhooks: tuple[str, ...] = ("s1",), **fields: Any) -> ChangePage:
    """Return a page with records of these ids."""
    changes = json.dumps([{"id": one, "record": {"Name": f"{one}-é"}} for one in ids or ("1",)])
    page = ChangePage(CONNECTION_ID, APP_ID, sequence, PageKind.CHANGED, "Customer", 5, NOW, max(len(ids), 1), changes)
    return replace(page, webhooks=webhooks, **fields)


def stream_record(page: ChangePage, number: int = 0) -> dict[str, Any]:
    """Return the stream record of a page, as Lambda passes it on."""
    item = PAGES.item(page) | {CHANGES: packed_text(page.changes)} | keys.expiry(page.expires_at)
    image = stream_image(item)
    return {"eventName": "INSERT", "dynamodb": {"SequenceNumber": str(number), "NewImage": image}}


class Setup:
    """An app, its connection, a receiver, and the functions that send changes."""

    def __init__(self, *responses: HttpResponse | DeliveryFailed, secrets: tuple[str, ...] = (SECRET,)) -> None:
        self.clock = FixedClock()
        self.store = CountingStore()
        self.receiver = ScriptedReceiver(self.store.calls, deque(responses))
        self.queue = PlannedAttempts(self.store.calls)
        self.deliverer = EventDeliverer(
            self.store,
            connection_event_body,
            resolved_event_body,
            changes_event_body,
            self.receiver,
            self.queue,
            self.clock,
            lambda: 0.5,
        )
        self.services = services_with(self.store, self.clock)
        self.services.event_deliverer, self.services.retry_queue = self.deliverer, self.queue
        self.store.commit(Put(None, App(APP_ID, "Shop", NOW, secrets)), Put(None, a_connection()))

    def add(self, *entities: Subscription | ChangePage) -> None:
        """Store subscriptions and pages."""
        for one in entities:
            put: Put[Any] = Put(None, one)
            self.store.commit(put)
        self.store.calls.clear()

    def planned(self) -> PlannedChanges:
        """Store a subscription and a page, and return the planned attempt."""
        self.add(a_subscription(), a_page())
        return PlannedChanges(CONNECTION_ID, APP_ID, "s1", 7, 0, self.clock())

    def subscription(self, id_: str = "s1") -> Subscription:
        """Return a subscription as it is stored."""
        found = self.store.subscription(CONNECTION_ID, id_)
        assert found
        return found

    def change(self, **fields: Any) -> None:
        """Change the subscription, as a call of the API does."""
        before = self.subscription()
        self.store.commit(Put(before, replace(before, **fields).changed(timestamp(self.clock()))))

    def attempt(self, planned: PlannedChanges) -> EventAttempted:
        """Make an attempt."""
        attempted = self.deliverer.attempt(planned)
        assert attempted
        return attempted

    def from_stream(self, pages: Iterable[ChangePage]) -> dict[str, Any]:
        """Call the consumer of the stream."""
        with using(self.services):
            return log_and_forget.handler({"Records": [stream_record(page, n) for n, page in enumerate(pages)]}, None)

    def bodies(self) -> list[dict[str, Any]]:
        """Return the events that were posted."""
        return [json.loads(body) for _, _, body, _ in self.receiver.posts]


# --- From the books to the receiver


@dataclass
class WebhookReader(Reader):
    """A reader of webhooks, which have no order. It also knows the last complete snapshot of each object."""

    complete: dict[str, int] = field(default_factory=dict)

    def read(self, event: dict[str, Any]) -> None:
        """Apply one event, unless it is older than the last complete snapshot of its object."""
        name = event["object"]
        if event["generation"] < self.complete.get(name, 0):
            return
        if event["type"] == "subscription.snapshot_completed":
            self.complete[name] = event["generation"]
        super().read(event)


def edited_pages(chance: random.Random, subscriptions: Sequence[Subscription]) -> list[ChangePage]:
    """Return the pages of some runs, between which somebody edits the books and asks for snapshots."""
    books = Books()
    copying = Copying(books, list(subscriptions))
    copying.now = NOON
    for _ in range(chance.randrange(2, 6)):
        for _ in range(chance.randrange(8)):
            copying.tick(chance.randrange(1, 4_000))
            known = list(books.records.values())
            match chance.choice(("add", "add", "change", "delete")):
                case "change" if known:
                    books.change(chance.choice(known), memo=str(chance.random()))
                case "delete" if known:
                    books.delete(chance.choice(known))
                case _:
                    books.add(chance.choice(("Customer", "Invoice")), f"N{len(known)}")
        if chance.random() < 0.3:
            number = chance.randrange(len(copying.subscriptions))
            copying.subscriptions[number] = replace(copying.subscriptions[number], began_at=timestamp(copying.now))
        copying.tick(1_000)
        copying.run()
    return [replace(page, connection_id=CONNECTION_ID, app_id=APP_ID) for page in copying.pages]


def delivered(
    setup: Setup, chance: random.Random, fault: Callable[[], str]
) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Make all planned attempts in any order, some twice, with faults. Return the events that arrived, by subscription.

    After `lost` the receiver has the event, and the service does not know it.
    """
    arrived: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    messages = [message_of(one) for one in setup.queue.changes]
    for _ in range(100_000):
        if not messages:
            return arrived
        body = messages.pop(chance.randrange(len(messages)))
        if chance.random() < 0.1:
            messages.append(body)  # SQS delivers it again
        setup.queue.changes.clear()
        setup.clock.now = max(setup.clock.now, planned_attempt_of(body).not_before)
        name, posts = fault(), len(setup.receiver.posts)
        setup.receiver.responses = deque([FAULTS.get(name, HANGS)] if name else [])
        with using(setup.services):
            assert retry_webhook.handler({"Records": [{"messageId": "m", "body": body}]}, None) == NO_FAILURES
        messages += [message_of(one) for one in setup.queue.changes]
        if len(setup.receiver.posts) > posts and name in {"", "lost"}:
            event = setup.bodies()[-1]
            sequences = [(one["sequence"], one) for one in event["events"]]
            arrived.setdefault(event["subscription_id"], []).extend(sequences)
    raise AssertionError("The attempts do not end.")


@given(seed=st.integers(0, 1 << 32), faulty=st.sampled_from([0.0, 0.3, 0.6]), lasting=st.booleans())
def test_every_change_reaches_each_subscription_that_asks_for_it_or_its_failure_is_visible(
    seed: int, faulty: float, lasting: bool
) -> None:
    chance = random.Random(seed)
    webhooks = [SubscriptionWebhook(URL), SubscriptionWebhook(URL), SubscriptionWebhook()]
    objects = [("Customer",), ("Customer", "Invoice"), ("Invoice",)]
    subscriptions = [
        a_subscription(f"s{n}", *names, webhook=webhook)
        for n, (names, webhook) in enumerate(zip(objects, webhooks, strict=True))
    ]
    pages = edited_pages(chance, subscriptions)
    setup = Setup()
    setup.clock.now = NOON + timedelta(days=1)
    setup.add(*subscriptions, *pages)
    while pages and setup.from_stream(pages) and chance.random() < 0.2:
        pass  # Lambda repeats a batch
    names = ["lost", *sorted(FAULTS.keys() if lasting else FAULTS.keys() - LASTING)]
    faults = {"": 0}

    def fault() -> str:
        return chance.choice(names) if chance.random() < faulty else ""

    arrived = delivered(setup, chance, fault)

    assert not faults[""]
    for one in subscriptions:
        wanted = [event for event in events_of(pages) if one.wants(event["object"])] if one.webhook.url else []
        events = [event for _, event in arrived.get(one.id, [])]
        missing = {event["sequence"] for event in wanted} - {event["sequence"] for event in events}
        assert {event["sequence"] for event in events} <= {event["sequence"] for event in wanted}
        assert not missing or setup.subscription(one.id).webhook.gave_up_at, "the failure is visible"
        if not missing and wanted:
            feed, webhook = Reader(), WebhookReader()
            for event in wanted:
                feed.read(event)
            for event in events:
                webhook.read(event)
            assert {key: row["record"] for key, row in webhook.rows.items()} == {
                key: row["record"] for key, row in feed.rows.items()
            }


@given(seed=st.integers(0, 1 << 32))
def test_a_reader_of_webhooks_has_the_copy_of_the_feed_whatever_the_order_of_the_pages(seed: int) -> None:
    chance = random.Random(seed)
    pages = edited_pages(chance, [a_subscription("s", "Customer", "Invoice")])
    feed, webhook = Reader(), WebhookReader()
    for event in events_of(pages):
        feed.read(event)
    for page in chance.sample(pages, len(pages)) + chance.choices(pages, k=5 if pages else 0):
        for event in events_of([page]):
            webhook.read(event)

    assert webhook.rows == feed.rows


# --- What the stream plans


def test_a_page_of_a_subscription_without_webhook_costs_nothing_more() -> None:
    """Neither its item nor its stream record has anything of a webhook, so nothing is planned or called."""
    setup = Setup()
    plain = a_page(webhooks=())
    setup.add(a_subscription(webhook=SubscriptionWebhook()), plain)

    assert "webhooks" not in PAGES.item(plain)
    assert setup.from_stream([plain]) == NO_FAILURES
    assert "plan" not in setup.store.calls


def test_a_page_names_the_subscriptions_with_a_webhook_and_its_object() -> None:
    copying = Copying(Books(), [])
    copying.books.add("Customer", "A")
    for name, objects, webhook in (("a", ["Customer"], URL), ("b", ["Invoice"], URL), ("c", ["Customer"], None)):
        one = copying.subscribe(*objects)
        copying.subscriptions[-1] = replace(one, id=name, webhook=SubscriptionWebhook(webhook))
    copying.run()

    assert {page.webhooks for page in copying.pages if page.object == "Customer"} == {("a",)}
    assert {page.webhooks for page in copying.pages if page.object == "Invoice"} == {("b",)}


def test_what_happens_to_all_objects_goes_to_every_webhook() -> None:
    copying = Copying(Books(), [])
    for objects in ("Customer", "Invoice"):
        copying.subscriptions[-1:] = [*copying.subscriptions[-1:], copying.subscribe(objects)][:2]
    copying.subscriptions = [replace(one, webhook=SubscriptionWebhook(URL)) for one in copying.subscriptions]
    for _ in range(3):
        run = copying.run_state()
        run.failed("A dialog is open.")
        copying.commit(run)

    [page] = copying.pages
    assert (page.kind, set(page.webhooks)) == (PageKind.FAILED, {one.id for one in copying.subscriptions})


def test_no_receiver_is_called_while_events_wait_for_the_log() -> None:
    setup = Setup(HANGS)
    setup.add(a_subscription(), a_page())

    assert setup.from_stream([a_page()]) == NO_FAILURES
    assert (setup.receiver.posts, len(setup.queue.changes)) == ([], 1)


@given(refused=st.sets(st.integers(0, 4)))
def test_the_log_waits_until_the_attempts_before_it_are_planned(refused: set[int]) -> None:
    setup = Setup()
    pages = [a_page(10 * number, webhooks=("s1",)) for number in range(5)]
    setup.add(a_subscription(), *pages)
    working_plan = setup.queue.plan

    def plan(attempt: Planned) -> None:
        assert isinstance(attempt, PlannedChanges)
        if attempt.sequence // 10 in refused:
            raise ConnectionError("SQS does not respond")
        working_plan(attempt)

    setup.queue.plan = plan  # type: ignore[method-assign]
    first = setup.from_stream(pages)
    logged = Feed(setup.store, setup.clock).page(APP_ID, None, FeedFilter(), 100).events
    setup.queue.plan = working_plan  # type: ignore[method-assign]

    assert [int(one["itemIdentifier"]) for one in first["batchItemFailures"]] == sorted(refused)
    assert len(logged) == min(refused, default=5)
    assert setup.from_stream(pages[min(refused, default=5) :]) == NO_FAILURES
    assert {one.sequence for one in setup.queue.changes} == {page.sequence for page in pages}
    assert len(Feed(setup.store, setup.clock).page(APP_ID, None, FeedFilter(), 100).events) == 5


# --- What is sent


def test_a_page_is_signed_and_has_the_events_of_the_feed() -> None:
    setup = Setup()
    page = a_page(7, "1", "2", "3")
    setup.add(a_subscription(), page)
    setup.from_stream([page])
    [planned] = setup.queue.changes
    with using(setup.services):
        assert (
            retry_webhook.handler({"Records": [{"messageId": "m", "body": message_of(planned)}]}, None) == NO_FAILURES
        )

    [(url, headers, body, timeout)] = setup.receiver.posts
    assert (url, timeout) == (URL, ATTEMPT_TIMEOUT_SECONDS)
    assert verified_schemes(Request("POST", "/", list(headers.items()), body), SECRET) == {"standard", "qube"}
    event = json.loads(body)
    assert headers["webhook-id"] == planned.id == event["id"]
    assert (event["type"], event["subscription_id"]) == ("subscription.changes", "s1")
    assert (event["connection_id"], event["occurred_at"]) == (CONNECTION_ID, page.at)
    assert [one["sequence"] for one in event["events"]] == [7, 8, 9]
    logged = Feed(setup.store, setup.clock).page(APP_ID, None, FeedFilter(), 100).events
    in_feed = [json.loads(feed_event(one, page)) for one in logged]
    assert event["events"] == [
        {name: value for name, value in one.items() if name not in {"cursor", "timestamp", "connection_id"}}
        for one in in_feed
    ]


def test_each_page_of_each_subscription_has_an_id_of_its_own() -> None:
    planned = [
        PlannedChanges(connection, APP_ID, one, sequence, 0, NOON)
        for connection in ("c1", "c2")
        for one in ("s1", "s2")
        for sequence in (1, 2)
    ]

    assert len({one.id for one in planned}) == len(planned)
    assert {replace(one, earlier_attempts=3, not_before=NOON + timedelta(hours=1)).id for one in planned} == {
        one.id for one in planned
    }


@given(number=st.integers(1, MAX_PAGE_CHANGES), size=st.integers(0, 300_000))
def test_no_page_of_several_changes_is_over_one_mebibyte(number: int, size: int) -> None:
    text = json.dumps(["x" * (size // number)] * number)
    changes = json.dumps([{"id": f"{index:X}-1234567890", "record": one} for index, one in enumerate(json.loads(text))])
    page = replace(a_page(1_773_489_600_000), changes=changes[:1] + changes[1:], number=number)

    body = changes_event_body(page, PlannedChanges(CONNECTION_ID, APP_ID, "s1", page.sequence, 0, NOON), NOW)

    assert len(body) <= MAX_BODY_BYTES
    assert "record_omitted" not in json.loads(body)["events"][0]


def test_a_record_over_one_mebibyte_is_left_out() -> None:
    changes = json.dumps([{"id": "1", "edit_sequence": "5", "record": {"Memo": "x" * MAX_BODY_BYTES}}])
    planned = PlannedChanges(CONNECTION_ID, APP_ID, "s1", 7, 0, NOON)

    [event] = json.loads(changes_event_body(replace(a_page(), changes=changes), planned, NOW))["events"]

    assert (event["record"], event["record_omitted"]) == (None, True)
    assert (event["id"], event["edit_sequence"], event["sequence"]) == ("1", "5", 7)


# --- Failures


def test_a_page_is_tried_on_the_schedule_of_webhooks_with_one_id_and_then_given_up() -> None:
    setup = Setup(*[HttpResponse(503, "busy")] * 20)
    planned = setup.planned()
    for number in range(len(RETRY_DELAYS)):
        assert isinstance(setup.attempt(planned).outcome, RetryAt)
        after = setup.queue.changes.pop()
        assert after == replace(planned, earlier_attempts=number + 1, not_before=setup.clock() + RETRY_DELAYS[number])
        webhook = setup.subscription().webhook
        assert (webhook.error, webhook.gave_up_at) == ("The receiver returned HTTP 503.", None)
        planned, setup.clock.now = after, after.not_before

    assert isinstance(setup.attempt(planned).outcome, GaveUp)
    assert setup.queue.changes == []
    assert setup.subscription().webhook.gave_up_at == timestamp(setup.clock())
    assert len({headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts}) == 1


@pytest.mark.parametrize("response", [HttpResponse(410, ""), NOT_PUBLIC])
def test_a_page_that_nobody_wants_is_given_up_at_once(response: HttpResponse | DeliveryFailed) -> None:
    setup = Setup(response)

    assert isinstance(setup.attempt(setup.planned()).outcome, GaveUp)
    assert setup.queue.changes == []
    webhook = setup.subscription().webhook
    assert webhook.error
    assert webhook.gave_up_at == webhook.failed_at == NOW


def test_without_a_secret_nothing_is_sent_and_the_subscription_says_so() -> None:
    setup = Setup(secrets=())

    assert isinstance(setup.attempt(setup.planned()).outcome, GaveUp)
    assert setup.receiver.posts == []
    assert "no webhook secret" in (setup.subscription().webhook.error or "")


def test_a_success_ends_the_error_and_keeps_when_it_was() -> None:
    setup = Setup(HttpResponse(500, ""))
    planned = setup.planned()
    setup.attempt(planned)
    setup.attempt(planned)

    webhook = setup.subscription().webhook
    assert (webhook.error, webhook.failed_at) == (None, NOW)


def test_a_success_stores_nothing() -> None:
    setup = Setup()

    assert isinstance(setup.attempt(setup.planned()).outcome, Succeeded)
    assert "commit" not in setup.store.calls


@given(times=st.lists(st.integers(0, 100), min_size=1), response=st.sampled_from([HANGS, HttpResponse(410, "")]))
def test_a_receiver_that_is_down_costs_one_write_a_minute(
    times: list[int], response: HttpResponse | DeliveryFailed
) -> None:
    setup = Setup(*[response] * len(times))
    planned = setup.planned()
    for seconds in sorted(times):
        setup.clock.now = NOON + timedelta(seconds=seconds)
        setup.attempt(planned)

    span = timedelta(seconds=max(times) - min(times))
    assert 1 <= setup.store.calls.count("commit") <= 1 + span // REPEATED_WITHIN
    assert setup.subscription().webhook.error


@given(failures=st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["HTTP 500", "HTTP 503"]), st.booleans())))
def test_the_last_failure_and_the_last_page_that_was_given_up_are_noted_within_a_minute(
    failures: list[tuple[int, str, bool]],
) -> None:
    webhook = SubscriptionWebhook(URL)
    for seconds, reason, gave_up in sorted(failures):
        now = NOON + timedelta(seconds=seconds)
        webhook = webhook.failed(reason, timestamp(now), gave_up=gave_up)

        assert webhook.error == reason
        assert webhook.failed_at is not None
        assert webhook.failed_at > timestamp(now - REPEATED_WITHIN)
        if gave_up:
            assert webhook.gave_up_at is not None
            assert webhook.gave_up_at > timestamp(now - REPEATED_WITHIN)


@pytest.mark.parametrize(
    "fields",
    [
        {"webhook": SubscriptionWebhook()},
        {"objects": ("Invoice",)},
    ],
)
def test_what_is_no_longer_asked_for_is_not_sent(fields: dict[str, Any]) -> None:
    setup = Setup()
    planned = setup.planned()
    setup.change(**fields)

    assert setup.deliverer.attempt(planned) is None
    assert (setup.receiver.posts, setup.queue.changes) == ([], [])


def test_nothing_is_sent_for_a_deleted_subscription_a_deleted_connection_or_a_page_that_is_gone() -> None:
    setup = Setup()
    planned = setup.planned()
    gone = replace(planned, sequence=8)
    elsewhere = replace(planned, subscription_id="s2")
    connection = setup.store.connections[CONNECTION_ID]
    assert [setup.deliverer.attempt(one) for one in (gone, elsewhere)] == [None, None]

    setup.store.commit(Put(connection, replace(connection, deleted_at=NOW).changed(NOW)))

    assert setup.deliverer.attempt(planned) is None
    assert (setup.receiver.posts, setup.queue.changes) == ([], [])


def test_a_paused_subscription_gets_what_the_runs_of_others_find() -> None:
    setup = Setup()
    planned = setup.planned()
    setup.change(paused_at=NOW)

    assert isinstance(setup.attempt(planned).outcome, Succeeded)


def test_a_message_that_arrives_too_early_waits_again() -> None:
    setup = Setup()
    planned = replace(setup.planned(), not_before=setup.clock() + timedelta(hours=1))

    assert setup.deliverer.attempt(planned) is None
    assert (setup.queue.changes, setup.receiver.posts) == ([planned], [])


# --- Changes of the subscription during an attempt


def test_a_failure_at_a_former_receiver_is_not_noted() -> None:
    setup = Setup(HttpResponse(500, ""))
    planned = setup.planned()
    setup.receiver.while_responding = lambda: setup.change(webhook=SubscriptionWebhook("https://other.example.com/"))

    assert isinstance(setup.attempt(planned).outcome, RetryAt)
    assert setup.subscription().webhook == SubscriptionWebhook("https://other.example.com/")
    assert len(setup.queue.changes) == 1, "the new receiver gets the page"


def test_a_failure_is_noted_beside_another_change() -> None:
    setup = Setup(HttpResponse(500, ""))
    planned = setup.planned()
    setup.receiver.while_responding = lambda: setup.change(name="Shop")

    setup.attempt(planned)

    assert (setup.subscription().name, setup.subscription().webhook.failed_at) == ("Shop", NOW)


def test_a_subscription_that_was_deleted_meanwhile_stays_deleted() -> None:
    setup = Setup(HttpResponse(500, ""))
    planned = setup.planned()
    setup.receiver.while_responding = lambda: setup.store.commit(RemoveCopy(setup.subscription()))

    setup.attempt(planned)

    assert setup.store.subscription(CONNECTION_ID, "s1") is None


def test_an_attempt_that_cannot_be_noted_is_repeated_and_nothing_else_is_planned() -> None:
    setup = Setup(HttpResponse(500, ""))
    planned = setup.planned()
    names = iter(range(100))

    def rival() -> None:
        before = setup.subscription()
        setup.store.copies["Subscription", CONNECTION_ID, "s1"] = replace(before, name=str(next(names))).changed(NOW)

    setup.store.before_commit.extend([rival] * 50)

    with pytest.raises(NotRecorded):
        setup.deliverer.attempt(planned)
    assert setup.queue.changes == []


def test_each_attempt_is_one_flat_line_without_the_path_of_the_url(caplog: pytest.LogCaptureFixture) -> None:
    setup = Setup(HttpResponse(500, "secret words"))
    planned = setup.planned()
    with using(setup.services), caplog.at_level(logging.INFO):
        retry_webhook.handler({"Records": [{"messageId": "m", "body": message_of(planned)}]}, None)

    [line] = [record for record in caplog.records if record.getMessage() == "delivery.attempted"]
    facts = vars(line)
    assert (facts["type"], facts["event_id"], facts["host"]) == (planned.type, planned.id, "hooks.example.com")
    assert not any("token" in str(value) or "secret words" in str(value) for value in facts.values())
