"""Both functions with emulated DynamoDB and SQS, and a receiver on loopback."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from adapters.dynamodb import DynamoDBStore, keys
from adapters.dynamodb.compression import packed_text
from adapters.dynamodb.connections import CONNECTIONS, event_mark
from adapters.dynamodb.records import record_item
from adapters.dynamodb.subscriptions import CHANGES, PAGES
from adapters.sqs import SqsRetryQueue
from adapters.webhook_http import WebhookHttp
from domain.queueing.service import RequestService
from domain.records.app import App
from domain.records.request import QueuedRequest, State
from domain.records.subscription import ChangePage, PageKind, Subscription, SubscriptionWebhook
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from domain.webhooks.addresses import UrlRules
from domain.webhooks.delivery import Deliverer
from domain.webhooks.patience import Patience
from domain.webhooks.unrecorded_events import EventDeliverer
from handlers import deliver_webhook, log_and_forget, retry_webhook
from handlers.views.changes_event import changes_event_body
from handlers.views.connection_event import connection_event_body
from handlers.views.webhook_event import event_body, resolved_event_body
from local.emulated_dynamodb import emulated_dynamodb
from local.gateway import Request
from local.receiver import verified_schemes
from local.tables import make_tables
from tests.contract.conftest import CREDENTIALS, dynamodb_client
from tests.support import clients
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    RESPONSE_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.services import services_with, using
from tests.support.webhook_servers import RESPONSE, Exchange, Receiver
from tests.support.webhooks import stream_image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"


class Stack:
    """The two functions and their parts. `calls` counts the DynamoDB calls by name."""

    def __init__(self) -> None:
        client = dynamodb_client()
        self.store = DynamoDBStore(client, make_tables(client, ""))
        self.sqs: Any = clients.client("sqs", **CREDENTIALS)
        self.queue_url = self.sqs.create_queue(QueueName="retries")["QueueUrl"]
        self.clock = FixedClock()
        self.requests = RequestService(self.store, self.clock)
        # This clock is ahead, so that no message is delayed and no test waits.
        queue = SqsRetryQueue(self.sqs, self.queue_url, lambda: self.clock() + timedelta(days=1))
        sender = WebhookHttp(UrlRules(allow_loopback=True))
        self.store.commit(Put(None, a_connection()), Put(None, App(APP_ID, "Shop", timestamp(NOON), (SECRET,))))
        self.services = services_with(self.store, self.clock)
        self.services.deliverer = Deliverer(
            self.store, event_body, sender, queue, self.clock, lambda: 0.5, Patience(self.clock)
        )
        self.services.retry_queue = queue
        self.services.event_deliverer = EventDeliverer(
            self.store,
            connection_event_body,
            resolved_event_body,
            changes_event_body,
            sender,
            queue,
            self.clock,
            lambda: 0.5,
        )
        self.calls: Counter[str] = Counter()
        client.meta.events.register("before-call.dynamodb", lambda model, **_: self.calls.update([model.name]))

    def an_ended_request(self, port: int, response_xml: str = RESPONSE_XML) -> tuple[QueuedRequest, QueuedRequest]:
        """Store a request with a webhook to this port and end it. Return it before and after its end."""
        before = a_record(state=State.SENT, webhook=Webhook.to(f"http://127.0.0.1:{port}/hook"))
        self.store.commit(AddRequest(before, REQUEST_XML, "text"))
        after = before.moved(State.RESPONSE_RECEIVED, self.clock())
        self.store.commit(ChangeRequest(before, after, response_xml))
        record = self.stored_record(after)
        self.calls.clear()
        return before, record

    def stored_record(self, record: QueuedRequest) -> QueuedRequest:
        """Return the record as it is stored now."""
        current = self.store.request(record.id)
        assert isinstance(current, QueuedRequest)
        return current

    def stream(self, before: QueuedRequest, after: QueuedRequest) -> dict[str, Any]:
        """Call `deliver_webhook` with this change."""
        images = {"OldImage": stream_image(record_item(before)), "NewImage": stream_image(record_item(after))}
        return deliver_webhook.handler({"Records": [{"dynamodb": {"SequenceNumber": "1"} | images}]}, None)

    def planned_messages(self) -> list[dict[str, str]]:
        """Return the visible messages as Lambda passes them on."""
        messages = self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages", [])
        return [{"messageId": message["MessageId"], "body": message["Body"]} for message in messages]


@pytest.fixture
def stack() -> Iterator[Stack]:
    with emulated_dynamodb(), mock_aws():  # for SQS
        stack = Stack()
        with using(stack.services):
            yield stack


def recording(requests: list[tuple[bytes, bytes]], response: bytes = RESPONSE) -> Callable[[Exchange], None]:
    """Return the script of a receiver that records each request and responds."""

    def script(exchange: Exchange) -> None:
        requests.append(exchange.read_request())
        exchange.send(response)

    return script


def test_an_ended_request_reaches_its_receiver_signed_with_two_database_calls(stack: Stack) -> None:
    requests: list[tuple[bytes, bytes]] = []
    with Receiver(recording(requests)) as receiver:
        before, after = stack.an_ended_request(receiver.port)
        response = stack.stream(before, after)

    assert response == {"batchItemFailures": []}
    assert stack.calls.total() == 2, stack.calls
    [(head, body)] = requests
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    assert verified_schemes(Request("POST", "/", list(headers.items()), body), SECRET) == {"standard", "qube"}
    event = json.loads(body)
    assert (event["id"], event["state"], event["response_xml"]) == (after.id, "completed", RESPONSE_XML)
    assert stack.stored_record(after).webhook_state is WebhookState.SUCCEEDED


def test_a_failed_attempt_is_repeated_through_the_queue(stack: Stack) -> None:
    requests: list[tuple[bytes, bytes]] = []
    with Receiver(recording(requests, BUSY)) as receiver:
        before, after = stack.an_ended_request(receiver.port)
        stack.stream(before, after)
        [attempt] = stack.stored_record(after).webhook.attempts
        stack.clock.advance(seconds=10)
        receiver.script = recording(requests)
        stack.calls.clear()
        response = retry_webhook.handler({"Records": stack.planned_messages()}, None)

    assert response == {"batchItemFailures": []}
    assert stack.calls.total() == 2, stack.calls
    assert attempt.response == "busy"
    record = stack.stored_record(after)
    assert (record.webhook_state, record.webhook.attempts_in_round) == (WebhookState.SUCCEEDED, 2)


def test_an_event_of_a_connection_is_repeated_through_the_queue_with_two_reads_each(stack: Stack) -> None:
    requests: list[tuple[bytes, bytes]] = []
    with Receiver(recording(requests, BUSY)) as receiver:
        before = stack.store.connection(CONNECTION_ID)
        assert before
        url = f"http://127.0.0.1:{receiver.port}/hook"
        asking = replace(before, webhook_url=url, webhook_events=("connection.stalled",)).changed(timestamp(NOON))
        change = Put(asking, replace(asking, stalled_at=timestamp(NOON)).changed(timestamp(NOON)))
        stack.store.commit(Put(before, asking))
        stack.store.commit(change)
        stack.calls.clear()
        image = CONNECTIONS.item(change.after) | event_mark(change)
        deliver_webhook.handler({"Records": [{"dynamodb": {"SequenceNumber": "1", "NewImage": image}}]}, None)
        calls_of_stream = stack.calls.total()
        for script in (recording(requests, BUSY), recording(requests)):
            receiver.script = script
            assert retry_webhook.handler({"Records": stack.planned_messages()}, None) == {"batchItemFailures": []}
            stack.clock.advance(seconds=10)

    assert (calls_of_stream, stack.calls) == (0, {"GetItem": 4})
    heads, bodies = zip(*requests, strict=True)
    ids = [dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])["webhook-id"] for head in heads]
    assert ids == [json.loads(body)["id"] for body in bodies]
    assert len(set(ids)) == 1
    assert [json.loads(body)["type"] for body in bodies] == ["connection.stalled"] * 2
    assert stack.planned_messages() == []


def test_a_page_of_changes_is_repeated_through_the_queue_and_its_failure_is_written_once(stack: Stack) -> None:
    requests: list[tuple[bytes, bytes]] = []
    now = timestamp(NOON)
    with Receiver(recording(requests, BUSY)) as receiver:
        webhook = SubscriptionWebhook(f"http://127.0.0.1:{receiver.port}/hook")
        one = Subscription(*("s1", CONNECTION_ID, APP_ID, now, now, ("Customer",), 15, "all", now), webhook=webhook)
        page = ChangePage(
            *(CONNECTION_ID, APP_ID, 7, PageKind.CHANGED, "Customer", 5, now, 1, '[{"id":"1-1"}]', (one.id,))
        )
        stack.store.commit(Put(None, one), Put(None, page))
        item = PAGES.item(page) | {CHANGES: packed_text(page.changes)} | keys.expiry(page.expires_at)
        record = {"eventName": "INSERT", "dynamodb": {"SequenceNumber": "1", "NewImage": stream_image(item)}}
        assert log_and_forget.handler({"Records": [record]}, None) == {"batchItemFailures": []}
        calls: list[dict[str, int]] = []
        errors: list[str | None] = []
        records: list[dict[str, str]] = []
        for script in (recording(requests, BUSY), recording(requests), recording(requests)):
            receiver.script = script
            stack.calls.clear()
            records = stack.planned_messages() or records
            assert retry_webhook.handler({"Records": records}, None) == {"batchItemFailures": []}
            stack.clock.advance(seconds=10)
            calls.append(dict(stack.calls))
            stored = stack.store.subscription(CONNECTION_ID, one.id)
            assert stored
            errors.append(stored.webhook.error)

    reads = {"GetItem": 3, "BatchGetItem": 1}
    assert calls == [reads | {"PutItem": 1}, reads | {"PutItem": 1}, reads], "a success after a success writes nothing"
    assert errors == ["The receiver returned HTTP 503.", None, None]
    assert {json.loads(body)["type"] for _, body in requests} == {"subscription.changes"}
    assert len({json.loads(body)["id"] for _, body in requests}) == 1


def test_an_event_omits_a_response_of_5_mb(stack: Stack) -> None:
    requests: list[tuple[bytes, bytes]] = []
    with Receiver(recording(requests)) as receiver:
        before, after = stack.an_ended_request(receiver.port, RESPONSE_XML.replace("Ann", "x" * 5_000_000))
        stack.stream(before, after)

    event = json.loads(requests[0][1])
    assert (event["response_xml"], event["response_json"], event["response_omitted"]) == (None, None, True)


@pytest.mark.parametrize("response", [RESPONSE, BUSY])
def test_a_redelivery_during_an_attempt_keeps_both_the_new_round_and_the_attempt(stack: Stack, response: bytes) -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        stack.requests.redeliver(APP_ID, after.id, actor=AN_ACTOR)
        exchange.send(response)

    with Receiver(script) as receiver:
        before, after = stack.an_ended_request(receiver.port)
        assert stack.stream(before, after) == {"batchItemFailures": []}

    record = stack.stored_record(after)
    assert (record.webhook_state, record.webhook.round, record.webhook.attempts_in_round) == (
        WebhookState.PENDING,
        1,
        0,
    )
    assert [attempt.response for attempt in record.webhook.attempts] == [response.decode().rpartition("\n")[2]]


def test_a_deletion_during_an_attempt_is_not_a_failure(stack: Stack) -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        stack.store.commit(RemoveRequest(after, timestamp(NOON)))
        exchange.send(RESPONSE)

    with Receiver(script) as receiver:
        before, after = stack.an_ended_request(receiver.port)
        assert stack.stream(before, after) == {"batchItemFailures": []}

    assert not isinstance(stack.store.request(after.id), QueuedRequest)
