"""The two functions that attempt deliveries: what they are given, what they report, what they log."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.dynamodb.items import record_item, tombstone_item
from adapters.sqs import message_of
from domain.errors import TooManyRequests
from domain.requests.record import QueuedRequest, State, WebhookState, timestamp
from domain.webhooks.delivery import first_planned_attempt
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from handlers import _delivery_batch, deliver_webhook, retry_webhook
from handlers.bootstrap import Services
from tests.support.builders import NOON
from tests.support.services import using
from tests.support.webhooks import URL, World, a_webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}


class Lines(logging.Handler):
    """Keeps log records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record."""
        self.records.append(record)


@pytest.fixture
def lines() -> Iterator[list[logging.LogRecord]]:
    """Return the log of the functions."""
    handler = Lines()
    _delivery_batch.logger.addHandler(handler)
    yield handler.records
    logging.getLogger(_delivery_batch.logger.name).removeHandler(handler)


@pytest.fixture(autouse=True)
def _services() -> Iterator[None]:
    with using(Services()):
        yield


def a_world(*answers: HttpResponse | DeliveryFailed) -> World:
    """Return a world that the functions live in."""
    world = World(*answers)
    Services.current.deliverer, Services.current.clock = world.deliverer, world.clock
    return world


def change(after: dict[str, Any] | None, before: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    """Return a stream record as Lambda passes it on."""
    images = {"NewImage": after, "OldImage": before}
    return {"dynamodb": {"SequenceNumber": str(number)} | {name: item for name, item in images.items() if item}}


def ending_of(record: QueuedRequest, number: int = 1) -> dict[str, Any]:
    """Return the stream record of the change by which a request ended."""
    before = QueuedRequest(**{name: getattr(record, name) for name in record.__slots__} | {"state": State.SENT})
    return change(record_item(record), record_item(before), number)


def message(record: QueuedRequest, identifier: str = "m1", body: str | None = None) -> dict[str, Any]:
    return {"messageId": identifier, "body": message_of(first_planned_attempt(record, NOON)) if body is None else body}


# --- deliver_webhook


def test_a_request_that_ends_is_delivered_with_the_first_attempts_limit() -> None:
    world = a_world()
    record = world.add()

    answer = deliver_webhook.handler({"Records": [ending_of(record)]}, None)

    assert answer == NO_FAILURES
    assert world.stored(record).webhook_state is WebhookState.SUCCEEDED
    assert [timeout for _, _, _, timeout in world.receiver.posts] == [10.0]


def test_a_failed_delivery_is_no_failure_of_the_batch_because_a_retry_is_planned() -> None:
    world = a_world(HttpResponse(500, ""))
    record = world.add()

    assert deliver_webhook.handler({"Records": [ending_of(record)]}, None) == NO_FAILURES
    assert len(world.queue.tickets) == 1


def test_a_redelivery_by_hand_is_delivered() -> None:
    world = a_world()
    before = world.add(webhook=a_webhook(state=WebhookState.FAILED, tries=8))
    after = before.with_webhook(NOON, state=WebhookState.PENDING, tries=0, round=1)
    world.store.records[after.id] = after

    deliver_webhook.handler({"Records": [change(record_item(after), record_item(before))]}, None)

    assert len(world.receiver.posts) == 1


def test_a_redelivery_of_a_webhook_that_still_waits_is_delivered() -> None:
    world = a_world()
    before = world.add()
    after = before.with_webhook(NOON, round=1)
    world.store.records[after.id] = after

    deliver_webhook.handler({"Records": [change(record_item(after), record_item(before))]}, None)

    assert len(world.receiver.posts) == 1


def test_changes_that_ask_for_no_attempt_are_passed_over_without_a_read() -> None:
    world = a_world()
    record = world.add()
    noted = record.changed(NOON, sessions=1)
    tried = record.with_webhook(NOON, tries=1)
    waiting = record.changed(NOON, state=State.WAITING)
    gone = tombstone_item(record, timestamp(NOON), 0)
    changes = [
        change(record_item(noted), record_item(record), 1),  # the change before this one asked for it
        change(record_item(tried), record_item(record), 2),
        change(record_item(waiting), None, 3),
        change(gone, record_item(record), 4),
        change(None, gone, 5),
    ]

    assert deliver_webhook.handler({"Records": changes}, None) == NO_FAILURES
    assert world.calls == []


def test_of_a_batch_only_the_attempt_that_could_not_be_processed_is_reported(
    lines: list[logging.LogRecord],
) -> None:
    world = a_world()
    record = world.add()
    broken = change({"id": {"S": "no record"}}, None, 1)

    answer = deliver_webhook.handler({"Records": [broken, ending_of(record, 2)]}, None)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    assert world.stored(record).webhook_state is WebhookState.SUCCEEDED
    assert sorted(line.getMessage() for line in lines) == ["delivery.attempted", "delivery.not_processed"]


def test_an_attempt_that_comes_again_with_its_batch_is_dropped() -> None:
    """Lambda repeats a stream's batch from the first failure on."""
    world = a_world(HttpResponse(500, ""))
    record = world.add()
    event = {"Records": [ending_of(record)]}

    deliver_webhook.handler(event, None)
    deliver_webhook.handler(event, None)

    assert len(world.receiver.posts) == 1
    assert len(world.stored(record).webhook.attempts) == 1


def test_an_attempt_that_could_not_be_written_down_comes_again() -> None:
    world = a_world()
    record = world.add()

    def busy() -> None:
        raise TooManyRequests("busy")

    world.store.before_commit.append(busy)

    assert deliver_webhook.handler({"Records": [ending_of(record)]}, None) == {
        "batchItemFailures": [{"itemIdentifier": "1"}]
    }


def test_the_attempts_of_a_batch_are_made_side_by_side() -> None:
    """Each waits in its receiver until all have come: one after the other they would never end."""
    world = a_world()
    records = [world.add() for _ in range(10)]
    together = threading.Barrier(len(records), timeout=5)
    world.receiver.while_answering = together.wait

    answer = deliver_webhook.handler(
        {"Records": [ending_of(record, number) for number, record in enumerate(records)]}, None
    )

    assert answer == NO_FAILURES
    assert {world.stored(record).webhook_state for record in records} == {WebhookState.SUCCEEDED}


# --- retry_webhook


def test_a_planned_attempt_is_made_with_the_full_limit() -> None:
    world = a_world()
    record = world.add(webhook=a_webhook(tries=3))

    assert retry_webhook.handler({"Records": [message(record)]}, None) == NO_FAILURES
    assert world.stored(record).webhook.tries == 4
    assert [timeout for _, _, _, timeout in world.receiver.posts] == [10.0]


def test_a_message_before_its_time_hops_and_is_done() -> None:
    world = a_world()
    record = world.add(webhook=a_webhook(tries=3))
    ticket = first_planned_attempt(record, NOON + timedelta(hours=5))

    answer = retry_webhook.handler({"Records": [message(record, body=message_of(ticket))]}, None)

    assert answer == NO_FAILURES
    assert world.queue.tickets == [ticket]
    assert world.stored(record) == record


def test_messages_that_cannot_be_processed_are_reported_by_their_ids() -> None:
    world = a_world()
    record = world.add(webhook=a_webhook(tries=3))
    ahead = world.add(webhook=a_webhook(tries=0))
    early = message_of(first_planned_attempt(ahead.with_webhook(NOON, tries=1), NOON))
    messages = [message(record, "good"), message(record, "poison", "no ticket"), message(ahead, "ahead", early)]

    answer = retry_webhook.handler({"Records": messages}, None)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "poison"}, {"itemIdentifier": "ahead"}]}
    assert len(world.receiver.posts) == 1


# --- The log


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (HttpResponse(200, "secret answer"), {"outcome": "succeeded", "status": 200}),
        (
            HttpResponse(500, "secret answer"),
            {
                "outcome": "retry",
                "status": 500,
                "reason": "The receiver answered HTTP 500.",
                "next_attempt_at": "2026-03-14T12:00:05.000000Z",
            },
        ),
        (
            HttpResponse(410, "secret answer"),
            {"outcome": "gave_up", "status": 410, "reason": "The receiver answered HTTP 410."},
        ),
        (
            DeliveryFailed("hooks.example.com refuses connections."),
            {"outcome": "retry", "status": None, "reason": "hooks.example.com refuses connections."},
        ),
    ],
)
def test_each_attempt_is_one_flat_line_without_bodies_and_secrets(
    answer: HttpResponse | DeliveryFailed, expected: dict[str, Any], lines: list[logging.LogRecord]
) -> None:
    world = a_world(answer)
    record = world.add(webhook=a_webhook(round=1))

    deliver_webhook.handler({"Records": [ending_of(record)]}, None)

    [line] = lines
    assert line.getMessage() == "delivery.attempted"
    facts = {
        "request_id": record.id,
        "connection_id": record.connection_id,
        "app_id": record.app_id,
        "webhook_round": 1,
        "attempt": 1,
        "host": "hooks.example.com",
        "duration_ms": 0,
        "recorded": True,
        **expected,
    }
    assert {name: getattr(line, name) for name in facts} == facts
    text = repr(vars(line))
    assert "hidden" in URL
    assert "hidden" not in text
    assert "whsec_" not in text
    assert "secret answer" not in text
