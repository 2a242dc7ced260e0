"""Events whose attempts no record counts: which are sent, to which URL, how often, and with which id."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.dynamodb.connections import CONNECTIONS, event_mark
from adapters.sqs import message_of
from domain.records.app import App
from domain.records.event import CONNECTION_OUTCOMES, EventOutcome, connection_outcomes
from domain.records.event_types import ALL_EVENTS, EVENT_TYPES, WEBHOOK_EVENTS, event_id, event_type
from domain.records.request import Settling, WhetherExecuted
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import Put, RemoveRequest
from domain.timestamps import timestamp
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS, RETRY_DELAYS
from domain.webhooks.delivery import GaveUp, RetryAt, Succeeded
from domain.webhooks.ports import (
    DeliveryFailed,
    HttpResponse,
    Planned,
    PlannedEvent,
    PlannedResolution,
    UnrecordedAttempt,
)
from domain.webhooks.unrecorded_events import EventAttempted, EventDeliverer, first_attempts
from handlers import deliver_webhook, retry_webhook
from handlers.views.changes_event import changes_event_body
from handlers.views.connection_event import connection_event_body
from handlers.views.webhook_event import resolved_event_body
from local.event_filters import passes, patterns_of
from local.gateway import Request
from local.receiver import verified_schemes
from local.template import Template
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, FixedClock, a_connection
from tests.support.services import services_with, using
from tests.support.unknown_writes import add_unknown_write
from tests.support.webhooks import SECRET, URL, CountingStore, PlannedAttempts, ScriptedReceiver

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator

    from domain.records.connection import Connection

OUTCOMES = sorted(CONNECTION_OUTCOMES)
ERROR = {"code": "company_file_mismatch", "message": "Another company file is open."}
NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}

CHANGES: dict[EventOutcome, tuple[dict[str, Any], dict[str, Any]]] = {
    EventOutcome.CONNECTED: ({}, {"last_connected_at": timestamp(NOON)}),
    EventOutcome.STALLED: ({}, {"stalled_at": timestamp(NOON)}),
    EventOutcome.CALLING_AGAIN: ({"stalled_at": timestamp(NOON)}, {"stalled_at": None}),
    EventOutcome.COMPANY_FILE_MISMATCH: ({}, {"last_error": ERROR}),
    EventOutcome.COMPANY_FILE_PATH_CHANGED: ({}, {"last_error": {"code": "company_file_moved"}}),
    EventOutcome.PASSWORD_CHANGED: ({}, {"password_changed_at": timestamp(NOON)}),
}
"""The fields before and after a change that reports the event."""


class Setup:
    """An app, a connection that asks for events, its receiver, and the functions that send them."""

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
        self.store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), secrets)))
        self.store.commit(Put(None, a_connection(name="Bakery", webhook_url=URL, webhook_events=(ALL_EVENTS,))))

    @property
    def connection(self) -> Connection:
        """The connection as it is stored."""
        return self.store.connections[CONNECTION_ID]

    def change(self, **fields: Any) -> Put[Connection]:
        """Change the connection."""
        before = self.connection
        change = Put(before, replace(before, **fields).changed(timestamp(self.clock())))
        self.store.commit(change)
        return change

    def stalled(self) -> PlannedEvent:
        """Report that the connection stalled; return the planned attempt."""
        change = self.change(stalled_at=timestamp(self.clock()))
        (planned_event,) = first_attempts(change.after, [EventOutcome.STALLED], self.clock())
        return planned_event

    def resolved(self, executed: WhetherExecuted = WhetherExecuted.YES, **fields: Any) -> PlannedResolution:
        """Store a write that was settled; return the planned attempt."""
        values = {"webhook": Webhook(WebhookState.SUCCEEDED, URL), "settling": Settling(1, executed), **fields}
        return PlannedResolution.first(add_unknown_write(self.store, **values), self.clock())

    def attempt(self, planned_event: UnrecordedAttempt) -> EventAttempted:
        """Make an attempt."""
        attempted = self.deliverer.attempt(planned_event)
        assert attempted
        return attempted


@pytest.fixture
def setup() -> Iterator[Setup]:
    setup = Setup()
    with using(setup.services):
        yield setup


def stream_records(*changes: Put[Connection]) -> list[dict[str, Any]]:
    """Return the stream records of changes, as DynamoDB reports them."""
    return [
        {
            "eventName": "MODIFY",
            "dynamodb": {
                "SequenceNumber": str(number),
                "NewImage": CONNECTIONS.item(change.after) | event_mark(change),
            },
        }
        for number, change in enumerate(changes)
    ]


def reported(*changes: Put[Connection]) -> list[dict[str, Any]]:
    """Return the stream records that the filter in the template passes to `deliver_webhook`."""
    (function,) = (
        function for function in Template.load().functions() if function.handler == "handlers.deliver_webhook.handler"
    )
    patterns = patterns_of(function.properties["Events"]["ConnectionChanged"]["Properties"])
    return [record for record in stream_records(*changes) if passes(record, patterns)]


@given(wanted=st.lists(st.sampled_from(WEBHOOK_EVENTS), unique=True), outcomes=st.permutations(OUTCOMES))
def test_a_webhook_gets_exactly_the_events_that_the_connection_asks_for(
    wanted: list[str], outcomes: list[EventOutcome]
) -> None:
    connection = a_connection(webhook_url=URL, webhook_events=tuple(wanted))

    planned = [planned_event.outcome for planned_event in first_attempts(connection, outcomes, NOON)]

    assert planned == [outcome for outcome in outcomes if ALL_EVENTS in wanted or event_type(outcome) in wanted]


def test_every_event_of_connections_can_be_asked_for() -> None:
    assert set(EVENT_TYPES) == {event_type(outcome) for outcome in CONNECTION_OUTCOMES}
    assert set(CHANGES) == CONNECTION_OUTCOMES


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_stream_passes_each_event_once_to_the_queue(setup: Setup, outcome: EventOutcome) -> None:
    before, after = CHANGES[outcome]
    setup.change(**before)
    first = setup.change(**after)
    second = setup.change(name="Shop")

    records = reported(first, second)

    assert deliver_webhook.handler({"Records": records}, None) == NO_FAILURES
    (planned_event,) = setup.queue.events
    assert planned_event == PlannedEvent(
        CONNECTION_ID, APP_ID, outcome, first.after.revision, first.after.updated_at, 0, NOON
    )
    assert connection_outcomes(first.before, first.after) == (outcome,)
    assert not setup.receiver.posts, "the receiver must not hold up the stream"


@pytest.mark.parametrize("fields", [{"webhook_events": ()}, {"webhook_url": None}])
def test_the_stream_calls_no_function_for_a_connection_that_asks_for_nothing(
    setup: Setup, fields: dict[str, Any]
) -> None:
    setup.change(**fields)

    assert reported(setup.change(stalled_at=timestamp(NOON))) == []


def test_a_change_that_the_connection_does_not_ask_for_plans_nothing(setup: Setup) -> None:
    setup.change(webhook_events=("connection.connected",))

    assert deliver_webhook.handler({"Records": reported(setup.change(stalled_at=timestamp(NOON)))}, None) == NO_FAILURES

    assert setup.queue.events == []


@given(refused=st.sets(st.integers(0, 24)))
def test_an_event_that_could_not_be_planned_fails_its_stream_record(refused: set[int]) -> None:
    """Lambda delivers the stream from the first failure on again. The others are in the queue."""
    setup = Setup()
    changes = [setup.change(password_changed_at=str(number)) for number in range(25)]
    refused_revisions = {changes[number].after.revision for number in refused}
    working_plan = setup.queue.plan

    def plan(attempt: Planned) -> None:
        if isinstance(attempt, PlannedEvent) and attempt.revision in refused_revisions:
            raise ConnectionError("SQS does not respond")
        working_plan(attempt)

    setup.queue.plan = plan  # type: ignore[method-assign]
    with using(setup.services):
        response = deliver_webhook.handler({"Records": reported(*changes)}, None)

    assert response == {"batchItemFailures": [{"itemIdentifier": str(number)} for number in sorted(refused)]}
    assert len(setup.queue.events) == 25 - len(refused)


def test_a_change_that_cannot_be_read_does_not_hold_up_the_others(setup: Setup, lines: list[logging.LogRecord]) -> None:
    records = reported(setup.change(stalled_at=timestamp(NOON)), setup.change(stalled_at=None))
    records[0]["dynamodb"]["NewImage"]["event"]["S"] = "?"

    assert deliver_webhook.handler({"Records": records}, None) == NO_FAILURES

    assert [line.getMessage() for line in lines] == ["delivery.not_processed"]
    assert [planned_event.outcome for planned_event in setup.queue.events] == [EventOutcome.CALLING_AGAIN]


def test_an_event_is_signed_and_has_the_content_of_the_connection(setup: Setup) -> None:
    planned_event = setup.stalled()
    setup.change(name="Harbor Street Bakery", last_error=ERROR)
    setup.clock.advance(seconds=7)

    response = retry_webhook.handler({"Records": [{"messageId": "m1", "body": message_of(planned_event)}]}, None)

    assert response == NO_FAILURES
    [(url, headers, body, timeout)] = setup.receiver.posts
    assert (url, timeout) == (URL, ATTEMPT_TIMEOUT_SECONDS)
    assert verified_schemes(Request("POST", "/", list(headers.items()), body), SECRET) == {"standard", "qube"}
    event = json.loads(body)
    assert event == {
        "type": "connection.stalled",
        "id": headers["webhook-id"],
        "connection_id": CONNECTION_ID,
        "name": "Harbor Street Bakery",
        "last_error": ERROR,
        "links": {"self": f"/api/v1/connections/{CONNECTION_ID}", "ui": f"/app/connections/{CONNECTION_ID}"},
        "timestamp": timestamp(NOON + timedelta(seconds=7)),
        "occurred_at": timestamp(NOON),
    }
    assert setup.queue.events == []


def test_a_repeated_delivery_of_the_stream_has_the_same_id(setup: Setup) -> None:
    records = reported(setup.change(stalled_at=timestamp(NOON)))
    for _ in range(2):
        deliver_webhook.handler({"Records": records}, None)
        setup.clock.advance(seconds=2)
    setup.change(stalled_at=None, name="Shop")
    for planned_event in setup.queue.events:
        setup.attempt(planned_event)

    first, second = (headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts)
    assert first == second


@given(
    events=st.lists(
        st.tuples(st.uuids().map(str), st.integers(1, 10**6), st.sampled_from(OUTCOMES)), unique=True, min_size=2
    )
)
def test_two_events_have_different_ids(events: list[tuple[str, int, EventOutcome]]) -> None:
    assert len({event_id(*event) for event in events}) == len(events)


def test_a_failed_event_is_tried_on_the_schedule_of_webhooks_with_one_id_and_then_given_up() -> None:
    setup = Setup(*[HttpResponse(503, "busy")] * 20)
    planned_event = setup.stalled()
    delays = []
    for number in range(len(RETRY_DELAYS)):
        attempted = setup.attempt(planned_event)
        assert isinstance(attempted.outcome, RetryAt)
        planned_event = setup.queue.events.pop()
        delays.append(planned_event.not_before - setup.clock())
        assert planned_event.earlier_attempts == number + 1
        setup.clock.now = planned_event.not_before

    last = setup.attempt(planned_event)

    assert tuple(delays) == RETRY_DELAYS
    assert isinstance(last.outcome, GaveUp)
    assert "10 attempts" in last.outcome.reason
    assert setup.queue.events == []
    assert len({headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts}) == 1


def test_the_next_attempt_is_planned_before_the_message_is_deleted(setup: Setup) -> None:
    """If SQS does not take the next message, the present one must be delivered again."""
    setup.receiver.responses.append(HttpResponse(503, "busy"))
    message = {"messageId": "m1", "body": message_of(setup.stalled())}

    def no_sqs(attempt: Planned) -> None:
        raise ConnectionError(f"SQS does not respond: {attempt}")

    working_plan, setup.queue.plan = setup.queue.plan, no_sqs  # type: ignore[method-assign]
    failed = retry_webhook.handler({"Records": [message]}, None)
    setup.queue.plan = working_plan  # type: ignore[method-assign]
    again = retry_webhook.handler({"Records": [message]}, None)

    assert failed == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert again == NO_FAILURES
    assert len({headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts}) == 1


@given(faults=st.lists(st.sampled_from(["receiver", "no response", "database", "SQS", "crash"]), max_size=9))
def test_an_event_reaches_its_receiver_after_any_nine_faults_with_one_id(faults: list[str]) -> None:
    """`crash` ends the process after the next attempt was planned, so that SQS delivers the message again."""
    setup = Setup()
    queued = [message_of(setup.stalled())]
    working_plan, working_read = setup.queue.plan, setup.store.connection
    accepted: list[str] = []

    def failing(argument: object) -> Any:
        raise ConnectionError(f"no response: {argument}")

    for fault in (*faults, ""):
        body = queued.pop(0)
        setup.queue.events.clear()
        setup.queue.plan = failing if fault == "SQS" else working_plan  # type: ignore[method-assign,assignment]
        setup.store.connection = failing if fault == "database" else working_read  # type: ignore[method-assign,assignment]
        is_refused = fault in {"receiver", "SQS", "crash"}
        setup.receiver.responses = deque([HttpResponse(503, "busy")] if is_refused else [])
        if fault == "no response":
            setup.receiver.responses.append(DeliveryFailed("no response", timed_out=True))
        setup.clock.advance(seconds=24 * 3600)
        with using(setup.services):
            failed = retry_webhook.handler({"Records": [{"messageId": "m1", "body": body}]}, None)
        if failed["batchItemFailures"] or fault == "crash":
            queued.append(body)
        queued += [message_of(planned_event) for planned_event in setup.queue.events]
        accepted += [setup.receiver.posts[-1][1]["webhook-id"]] if not fault else []

    assert len(accepted) == 1
    assert {headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts} == set(accepted)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (HttpResponse(410, ""), "410"),
        (DeliveryFailed("The address is not public.", permanent=True), "not public"),
    ],
)
def test_a_receiver_that_wants_no_event_is_not_called_again(
    response: HttpResponse | DeliveryFailed, reason: str
) -> None:
    setup = Setup(response)

    outcome = setup.attempt(setup.stalled()).outcome

    assert isinstance(outcome, GaveUp)
    assert reason in outcome.reason
    assert setup.queue.events == []


def test_retry_after_makes_the_delay_longer() -> None:
    setup = Setup(HttpResponse(429, "", retry_after="3600"))

    outcome = setup.attempt(setup.stalled()).outcome

    assert isinstance(outcome, RetryAt)
    assert outcome.moment == NOON + timedelta(hours=1)


def test_without_a_secret_nothing_is_sent() -> None:
    setup = Setup(secrets=())

    assert isinstance(setup.attempt(setup.stalled()).outcome, GaveUp)
    assert setup.receiver.posts == []


@pytest.mark.parametrize(
    "fields", [{"webhook_url": None}, {"webhook_events": ()}, {"webhook_events": ("connection.calling_again",)}]
)
def test_an_event_that_is_no_longer_asked_for_is_not_sent(setup: Setup, fields: dict[str, Any]) -> None:
    planned_event = setup.stalled()
    setup.change(**fields)

    assert setup.deliverer.attempt(planned_event) is None
    assert setup.receiver.posts == []


def test_a_deleted_connection_sends_nothing(setup: Setup) -> None:
    planned_event = setup.stalled()
    setup.store.commit(Put(setup.connection, setup.connection.removed(timestamp(NOON))))
    assert setup.deliverer.attempt(planned_event) is None

    del setup.store.connections[CONNECTION_ID]
    assert setup.deliverer.attempt(planned_event) is None
    assert setup.receiver.posts == []


def test_a_changed_url_gets_the_next_attempt(setup: Setup) -> None:
    planned_event = setup.stalled()
    setup.change(webhook_url="https://new.example/hook")

    assert isinstance(setup.attempt(planned_event).outcome, Succeeded)
    assert [url for url, _, _, _ in setup.receiver.posts] == ["https://new.example/hook"]


def test_a_message_that_arrives_early_is_planned_again(setup: Setup) -> None:
    """SQS delays a message by 15 minutes at most."""
    planned_event = replace(setup.stalled(), earlier_attempts=6, not_before=NOON + timedelta(hours=2))

    assert setup.deliverer.attempt(planned_event) is None

    assert (setup.queue.events, setup.receiver.posts) == ([planned_event], [])


def test_each_attempt_is_one_flat_line_without_the_path_of_the_url(
    setup: Setup, lines: list[logging.LogRecord]
) -> None:
    setup.receiver.responses.append(HttpResponse(503, "busy"))
    planned_event = setup.stalled()

    retry_webhook.handler({"Records": [{"messageId": "m1", "body": message_of(planned_event)}]}, None)

    [line] = lines
    facts = {
        "event_id": event_id(CONNECTION_ID, planned_event.revision, EventOutcome.STALLED),
        "type": "connection.stalled",
        "connection_id": CONNECTION_ID,
        "app_id": APP_ID,
        "attempt": 1,
        "host": "hooks.example.com",
        "outcome": "retry",
        "status": 503,
        "duration_ms": 0,
        "reason": "The receiver returned HTTP 503.",
        "next_attempt_at": "2026-03-14T12:00:05.000000Z",
    }
    assert line.getMessage() == "delivery.attempted"
    assert {name: value for name, value in vars(line).items() if name in facts} == facts
    assert "hidden" not in str(vars(line))


# --- Writes that were settled


@pytest.mark.parametrize("executed", [WhetherExecuted.YES, WhetherExecuted.NO])
def test_the_webhook_of_a_settled_write_has_an_id_of_its_own(setup: Setup, executed: WhetherExecuted) -> None:
    planned = setup.resolved(executed)
    setup.clock.advance(seconds=7)

    response = retry_webhook.handler({"Records": [{"messageId": "m1", "body": message_of(planned)}]}, None)

    assert response == NO_FAILURES
    [(url, headers, body, timeout)] = setup.receiver.posts
    assert (url, timeout) == (URL, ATTEMPT_TIMEOUT_SECONDS)
    assert verified_schemes(Request("POST", "/", list(headers.items()), body), SECRET) == {"standard", "qube"}
    assert headers["webhook-id"] == planned.id != planned.request_id
    event = json.loads(body)
    assert (event["type"], event["state"], event["executed"]) == ("queued_request.resolved", "failed", executed)
    assert (event["page_request_id"], event["timestamp"]) == (planned.request_id, timestamp(setup.clock.now))
    assert setup.store.calls.count("commit") == 3, "no attempt is recorded"


def test_the_webhook_of_a_settled_write_is_tried_on_the_same_schedule_with_one_id() -> None:
    setup = Setup(*[HttpResponse(503, "busy")] * 20)
    planned = setup.resolved()
    for number in range(len(RETRY_DELAYS)):
        assert isinstance(setup.attempt(planned).outcome, RetryAt)
        after = setup.queue.resolutions.pop()
        assert after == replace(planned, earlier_attempts=number + 1, not_before=setup.clock() + RETRY_DELAYS[number])
        planned, setup.clock.now = after, after.not_before

    assert isinstance(setup.attempt(planned).outcome, GaveUp)
    assert setup.queue.resolutions == []
    assert len({headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts}) == 1


def test_a_message_for_a_settled_write_that_arrives_too_early_waits_again(setup: Setup) -> None:
    planned = replace(setup.resolved(), not_before=setup.clock() + timedelta(hours=1))

    assert setup.deliverer.attempt(planned) is None
    assert (setup.queue.resolutions, setup.receiver.posts) == ([planned], [])


def test_nothing_is_sent_for_a_write_that_was_deleted_has_no_webhook_or_is_unknown_again(setup: Setup) -> None:
    """After a restore to a time before the answer, the outcome is unknown again."""
    deleted = setup.resolved()
    setup.store.commit(RemoveRequest(setup.store.records[deleted.request_id], timestamp(NOON)))  # type: ignore[arg-type]
    for planned in (deleted, setup.resolved(webhook=Webhook()), setup.resolved(settling=Settling(1))):
        assert setup.deliverer.attempt(planned) is None
    assert (setup.receiver.posts, setup.queue.resolutions) == ([], [])


def test_an_event_of_a_settled_write_without_a_secret_is_not_sent() -> None:
    setup = Setup(secrets=())

    assert isinstance(setup.attempt(setup.resolved()).outcome, GaveUp)
    assert setup.receiver.posts == []
