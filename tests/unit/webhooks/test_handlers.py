"""The two functions that make webhook attempts: their events, their results and their log."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.dynamodb.records import RECORDS, record_item, tombstone_item
from adapters.sqs import message_of
from domain.errors import TooManyRequests
from domain.maintenance.overdue_webhooks import OVERDUE_AFTER, plan_overdue_webhooks
from domain.records.event import EventOutcome
from domain.records.request import Attempts, QueuedRequest, State
from domain.records.webhook import WebhookAttempt, WebhookState
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.webhooks.defaults import FIRST_ATTEMPT_TIMEOUT_SECONDS, MAX_FIRST_ATTEMPTS_PER_APP
from domain.webhooks.ports import DeliveryFailed, HttpResponse, Planned, PlannedAttempt
from handlers import deliver_webhook, retry_webhook
from handlers.common import webhook_batch
from handlers.common.bootstrap import Services
from tests.support.builders import NOON, a_connection
from tests.support.services import using
from tests.support.webhooks import URL, DeliverySetup, a_webhook, first_attempt, stream_image

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator

TRIES_OF_A_BATCH = 6
"""MaximumRetryAttempts in the template, and the first try."""

NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}


@pytest.fixture(autouse=True)
def _services() -> Iterator[None]:
    with using(Services()):
        yield


def a_setup(*responses: HttpResponse | DeliveryFailed) -> DeliverySetup:
    """Return a setup that the functions use."""
    setup = DeliverySetup(*responses)
    Services.current.deliverer, Services.current.clock = setup.deliverer, setup.clock
    return setup


def change(after: dict[str, Any] | None, before: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    """Return a stream record as Lambda passes it on."""
    images = {"NewImage": after, "OldImage": before}
    return {
        "dynamodb": {"SequenceNumber": str(number)}
        | {name: stream_image(item) for name, item in images.items() if item}
    }


def ending_of(record: QueuedRequest, number: int = 1) -> dict[str, Any]:
    """Return the stream record of the change by which a request ended."""
    before = QueuedRequest(**{name: getattr(record, name) for name in record.__slots__} | {"state": State.SENT})
    return change(record_item(record), record_item(before), number)


def message(record: QueuedRequest, identifier: str = "m1", body: str | None = None) -> dict[str, Any]:
    return {"messageId": identifier, "body": message_of(first_attempt(record, NOON)) if body is None else body}


# --- deliver_webhook


def test_a_request_that_ends_is_attempted_with_the_short_time_limit() -> None:
    setup = a_setup()
    record = setup.add()

    response = deliver_webhook.handler({"Records": [ending_of(record)]}, None)

    assert response == NO_FAILURES
    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED
    assert [timeout for _, _, _, timeout in setup.receiver.posts] == [FIRST_ATTEMPT_TIMEOUT_SECONDS]


def test_a_request_that_ends_with_another_event_is_attempted() -> None:
    """A rejection, for example, has the mark that the events of connections have."""
    setup = a_setup()
    record = setup.add()
    ending = ending_of(record)
    ending["dynamodb"]["NewImage"]["event"] = {"S": EventOutcome.REJECTED.value}

    assert deliver_webhook.handler({"Records": [ending]}, None) == NO_FAILURES
    assert len(setup.receiver.posts) == 1


def test_a_failed_attempt_is_not_a_failure_of_the_batch_because_a_retry_is_planned() -> None:
    setup = a_setup(HttpResponse(500, ""))
    record = setup.add()

    assert deliver_webhook.handler({"Records": [ending_of(record)]}, None) == NO_FAILURES
    assert len(setup.queue.attempts) == 1


def test_a_redelivery_is_attempted() -> None:
    setup = a_setup()
    before = setup.add(webhook=a_webhook(state=WebhookState.FAILED, attempts_in_round=8))
    after = before.with_webhook(NOON, replace(before.webhook, state=WebhookState.PENDING, attempts_in_round=0, round=1))
    setup.store.records[after.id] = after

    deliver_webhook.handler({"Records": [change(record_item(after), record_item(before))]}, None)

    assert len(setup.receiver.posts) == 1


def test_a_redelivery_of_a_pending_webhook_is_attempted() -> None:
    setup = a_setup()
    before = setup.add()
    after = before.with_webhook(NOON, replace(before.webhook, round=1))
    setup.store.records[after.id] = after

    deliver_webhook.handler({"Records": [change(record_item(after), record_item(before))]}, None)

    assert len(setup.receiver.posts) == 1


def test_changes_that_need_no_attempt_are_skipped_without_a_read() -> None:
    setup = a_setup()
    record = setup.add()
    with_session = replace(record, attempts=Attempts(1)).changed(NOON)
    with_attempt = record.with_webhook(NOON, replace(record.webhook, attempts_in_round=1))
    waiting = replace(record, state=State.WAITING).changed(NOON)
    tombstone = tombstone_item(record, timestamp(NOON))
    changes = [
        change(record_item(with_session), record_item(record), 1),  # an earlier change needed it
        change(record_item(with_attempt), record_item(record), 2),
        change(record_item(waiting), None, 3),
        change(tombstone, record_item(record), 4),
        change(None, tombstone, 5),
    ]

    assert deliver_webhook.handler({"Records": changes}, None) == NO_FAILURES
    assert setup.calls == []


def test_of_a_batch_only_the_attempt_that_could_not_be_processed_is_reported(
    lines: list[logging.LogRecord],
) -> None:
    setup = a_setup()
    record = setup.add()
    bad_change = change({"id": {"S": "no record"}}, None, 1)

    response = deliver_webhook.handler({"Records": [bad_change, ending_of(record, 2)]}, None)

    assert response == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED
    assert sorted(line.getMessage() for line in lines) == ["delivery.attempted", "delivery.not_processed"]


def test_only_the_first_attempt_says_how_long_the_answer_took(lines: list[logging.LogRecord]) -> None:
    setup = a_setup(HttpResponse(500, ""))
    later = timestamp(NOON + timedelta(seconds=90))
    record = setup.add(inserted_at=timestamp(NOON), updated_at=later)

    deliver_webhook.handler({"Records": [ending_of(record)]}, None)

    first = vars(lines[0])
    assert (first["state"], first["answered_seconds"], first["attempt"]) == (record.state.value, 90.0, 1)
    assert "answered_seconds" not in webhook_batch._facts(setup.stored_record(record))  # noqa: SLF001 - a further attempt


def test_an_attempt_in_a_repeated_batch_is_dropped() -> None:
    """Lambda repeats a stream's batch from the first failure on."""
    setup = a_setup(HttpResponse(500, ""))
    record = setup.add()
    event = {"Records": [ending_of(record)]}

    deliver_webhook.handler(event, None)
    deliver_webhook.handler(event, None)

    assert len(setup.receiver.posts) == 1
    assert len(setup.stored_record(record).webhook.attempts) == 1


def busy() -> None:
    raise TooManyRequests("busy")


def test_a_first_attempt_that_fails_with_an_error_moves_to_the_queue(lines: list[logging.LogRecord]) -> None:
    """Lambda repeats a batch a few times at once, and then gives it up."""
    setup = a_setup()
    record = setup.add()
    setup.store.before_commit.append(busy)

    assert deliver_webhook.handler({"Records": [ending_of(record)]}, None) == NO_FAILURES

    assert setup.queue.attempts == [first_attempt(record, NOON)]
    assert [line.getMessage() for line in lines] == ["delivery.failed", "delivery.deferred"]


@pytest.mark.parametrize("failures", [1, 5, 6, 50])
def test_a_first_attempt_is_made_however_often_database_and_queue_fail(failures: int) -> None:
    """While both fail, Lambda repeats the record. After it has given the record up, the sweep plans the attempt."""
    setup = a_setup()
    setup.store.commit(Put(None, a_connection()))
    record = setup.add()
    working_plan = setup.queue.plan

    def failing_plan(attempt: Planned) -> None:  # noqa: ARG001 - like `plan`
        raise ConnectionError("SQS does not respond")

    setup.queue.plan = failing_plan  # type: ignore[method-assign]
    setup.store.before_commit.extend([busy] * failures)
    for _ in range(min(failures, TRIES_OF_A_BATCH)):
        response = deliver_webhook.handler({"Records": [ending_of(record)]}, None)
        assert response == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    setup.queue.plan = working_plan  # type: ignore[method-assign]
    setup.store.before_commit.clear()

    setup.clock.now += OVERDUE_AFTER + timedelta(seconds=1)
    until = setup.clock() + timedelta(minutes=1)
    assert plan_overdue_webhooks(setup.store, setup.queue, setup.clock, until) == (1, True)
    [planned] = setup.queue.attempts
    retry_webhook.handler({"Records": [message(record, body=message_of(planned))]}, None)

    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED


def test_the_attempts_of_a_batch_are_made_in_parallel() -> None:
    """Each one waits in its receiver for all others, so in sequence they would never end."""
    setup = a_setup()
    setup.deliverer.first_attempt(setup.add())  # after that, its receiver is known to be quick
    records = [setup.add() for _ in range(10)]
    together = threading.Barrier(len(records), timeout=5)
    setup.receiver.while_responding = together.wait

    response = deliver_webhook.handler(
        {"Records": [ending_of(record, number) for number, record in enumerate(records)]}, None
    )

    assert response == NO_FAILURES
    assert {setup.stored_record(record).webhook_state for record in records} == {WebhookState.SUCCEEDED}


def test_the_first_attempts_of_an_app_at_the_same_time_are_bounded() -> None:
    setup = a_setup()
    setup.deliverer.first_attempt(setup.add())
    records = [setup.add() for _ in range(MAX_FIRST_ATTEMPTS_PER_APP + 1)]
    all_together = threading.Barrier(len(records), timeout=0.3)

    def respond() -> None:
        with suppress(threading.BrokenBarrierError):
            all_together.wait()

    setup.receiver.while_responding = respond

    events = [ending_of(record, number) for number, record in enumerate(records)]
    assert deliver_webhook.handler({"Records": events}, None) == NO_FAILURES
    assert all_together.broken
    assert {setup.stored_record(record).webhook_state for record in records} == {WebhookState.SUCCEEDED}


def test_a_deferred_attempt_is_logged_and_is_not_a_failure(lines: list[logging.LogRecord]) -> None:
    setup = a_setup(DeliveryFailed("hooks.example.com did not respond within 1 second.", timed_out=True))
    record = setup.add()

    assert deliver_webhook.handler({"Records": [ending_of(record)]}, None) == NO_FAILURES

    (line,) = lines
    assert line.getMessage() == "delivery.deferred"
    facts = {"request_id": record.id, "attempt": 1, "host": "hooks.example.com"}
    assert {name: getattr(line, name) for name in facts} == facts
    assert "did not respond" in vars(line)["reason"]


@given(refused=st.sets(st.integers(0, 24)))
def test_a_deferral_that_could_not_be_planned_fails_its_stream_record(refused: set[int]) -> None:
    """Lambda delivers the stream from the first failure on again. The others are in the queue."""
    setup = a_setup()
    setup.receiver.responses.extend([DeliveryFailed("no response", timed_out=True)] * 25)
    records = [setup.add() for _ in range(25)]
    working_plan = setup.queue.plan
    refused_ids = {records[number].id for number in refused}

    def plan(attempt: Planned) -> None:
        if isinstance(attempt, PlannedAttempt) and attempt.request_id in refused_ids:
            raise ConnectionError("SQS does not respond")
        working_plan(attempt)

    setup.queue.plan = plan  # type: ignore[method-assign]
    event = {"Records": [ending_of(record, number) for number, record in enumerate(records)]}

    response = deliver_webhook.handler(event, None)

    assert response == {"batchItemFailures": [{"itemIdentifier": str(number)} for number in sorted(refused)]}
    assert {attempt.request_id for attempt in setup.queue.attempts} == {record.id for record in records} - refused_ids


def test_a_record_with_attempts_in_the_former_format_is_readable() -> None:
    record = DeliverySetup().add(webhook=a_webhook(attempts=(WebhookAttempt(timestamp(NOON), "no route"),)))
    item = RECORDS.codec.item(record)
    item["webhook_attempts"]["S"] = json.dumps({"attempted_at": [timestamp(NOON)], "response": ["no route"]})

    assert RECORDS.entity(RECORDS.compressed(item)) == record


# --- retry_webhook


def test_a_planned_attempt_is_made_with_the_full_limit() -> None:
    setup = a_setup()
    record = setup.add(webhook=a_webhook(attempts_in_round=3))

    assert retry_webhook.handler({"Records": [message(record)]}, None) == NO_FAILURES
    assert setup.stored_record(record).webhook.attempts_in_round == 4
    assert [timeout for _, _, _, timeout in setup.receiver.posts] == [10.0]


def test_an_early_message_is_planned_again() -> None:
    setup = a_setup()
    record = setup.add(webhook=a_webhook(attempts_in_round=3))
    planned_attempt = first_attempt(record, NOON + timedelta(hours=5))

    response = retry_webhook.handler({"Records": [message(record, body=message_of(planned_attempt))]}, None)

    assert response == NO_FAILURES
    assert setup.queue.attempts == [planned_attempt]
    assert setup.stored_record(record) == record


def test_messages_that_cannot_be_processed_are_reported_by_their_ids() -> None:
    setup = a_setup()
    record = setup.add(webhook=a_webhook(attempts_in_round=3))
    ahead = setup.add(webhook=a_webhook(attempts_in_round=0))
    early = message_of(first_attempt(ahead.with_webhook(NOON, replace(ahead.webhook, attempts_in_round=1)), NOON))
    messages = [message(record, "good"), message(record, "poison", "no attempt"), message(ahead, "ahead", early)]

    response = retry_webhook.handler({"Records": messages}, None)

    assert response == {"batchItemFailures": [{"itemIdentifier": "poison"}, {"itemIdentifier": "ahead"}]}
    assert len(setup.receiver.posts) == 1


# --- The log


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (HttpResponse(200, "secret response"), {"outcome": "succeeded", "status": 200}),
        (
            HttpResponse(500, "secret response"),
            {
                "outcome": "retry",
                "status": 500,
                "reason": "The receiver returned HTTP 500.",
                "next_attempt_at": "2026-03-14T12:00:05.000000Z",
            },
        ),
        (
            HttpResponse(410, "secret response"),
            {"outcome": "gave_up", "status": 410, "reason": "The receiver returned HTTP 410."},
        ),
        (
            DeliveryFailed("hooks.example.com refuses connections."),
            {"outcome": "retry", "status": None, "reason": "hooks.example.com refuses connections."},
        ),
    ],
)
def test_each_attempt_is_one_flat_line_without_bodies_and_secrets(
    response: HttpResponse | DeliveryFailed, expected: dict[str, Any], lines: list[logging.LogRecord]
) -> None:
    setup = a_setup(response)
    record = setup.add(webhook=a_webhook(round=1))

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
    assert "secret response" not in text
