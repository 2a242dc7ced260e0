"""A read in the middle of a transaction or a removal returns the state before it or after it, and no mixture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.records import RECORDS
from adapters.dynamodb.torn_reads import TORN_READ
from domain.errors import Gone, Unavailable
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.queueing.service import RequestService
from domain.records.app import App
from domain.records.request import QueuedRequest, State, Tombstone
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.ports import Delivery
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.contract.stores import LATER
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    RESPONSE_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.unreliable_dynamodb import TORN, UnreliableDynamoDB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGE = "<a>" + "é" * 200_000 + "</a>"
RESPONSES = ["<a/>", RESPONSE_XML, LARGE]
SECRETS = ("whsec_a",)


class Bench:
    """Reads over a client that tears batches."""

    def __init__(self) -> None:
        self.client = UnreliableDynamoDB(dynamodb_client())
        self.pauses: list[float] = []
        tables = make_tables(self.client, "")
        self.store = DynamoDBStore(self.client, tables, sleep=self.pauses.append)
        self.requests = RequestService(self.store, FixedClock())
        self.lists = Lists(self.store, FixedClock())
        self.payloads = tables.payloads
        self.store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), SECRETS)), Put(None, a_connection()))

    def tear(self) -> None:
        """Tear every batch from now on."""
        self.client.fault = lambda operation: TORN if operation == "batch_get_item" else None

    def completed(self, response: str) -> str:
        """Store a request and then its response; return the request's id."""
        record = a_record(state=State.SENT, webhook=Webhook(WebhookState.PENDING, "https://example.com/hook"))
        self.store.commit(AddRequest(record, REQUEST_XML, "ann"))
        after = record.moved(State.RESPONSE_RECEIVED, LATER)
        self.store.commit(ChangeRequest(record, after, response_xml=response, search_text="ann"))
        return record.id

    def delivery(self, request_id: str) -> Delivery | Tombstone | None:
        """Read a request for its webhook."""
        return self.store.delivery(request_id, APP_ID, response_chunks="", max_response_bytes=2**20)


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield the reads on DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield Bench()


@pytest.mark.parametrize("response", RESPONSES, ids=len)
@pytest.mark.parametrize("connection_id", [None, CONNECTION_ID])
def test_a_completed_request_is_read_with_its_response(bench: Bench, response: str, connection_id: str | None) -> None:
    request_id = bench.completed(response)
    bench.tear()

    stored = bench.requests.get(APP_ID, request_id, connection_id)

    assert (stored.record.state, stored.response_xml) == (State.RESPONSE_RECEIVED, response)
    assert TORN in bench.client.happened


@pytest.mark.parametrize("phrase", [None, "ann"])
def test_a_completed_request_is_listed_and_found_with_its_response(bench: Bench, phrase: str | None) -> None:
    ids = {bench.completed(RESPONSE_XML) for _ in range(3)}
    large = bench.completed(LARGE)
    bench.tear()

    page = bench.lists.page(APP_ID, ListQuery(CONNECTION_ID, search_phrase=phrase))

    responses = {item.record.id: item.response_xml for item in page.items}
    assert responses == dict.fromkeys(ids, RESPONSE_XML) | {large: None}
    assert TORN in bench.client.happened


@pytest.mark.parametrize("response", RESPONSES, ids=len)
def test_a_webhook_has_the_response(bench: Bench, response: str) -> None:
    request_id = bench.completed(response)
    bench.tear()

    delivery = bench.delivery(request_id)

    assert isinstance(delivery, Delivery)
    assert delivery.stored.response_xml == response


def test_a_new_request_is_read_and_sent_with_its_body(bench: Bench) -> None:
    record = a_record()
    bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    bench.tear()

    assert bench.requests.get(APP_ID, record.id).request_xml == REQUEST_XML
    assert [read_record.id for read_record in bench.store.request_batch([record.id]).records] == [record.id]


def test_a_record_that_was_read_before_its_response_is_read_without_it(bench: Bench) -> None:
    """The record of the batch is older than its body."""
    request_id = bench.completed(RESPONSE_XML)
    current = bench.store.request(request_id)
    assert isinstance(current, QueuedRequest)
    bench.client.batch_get_item = _older_record(bench.client.batch_get_item)  # type: ignore[method-assign]

    stored = bench.requests.get(APP_ID, request_id, CONNECTION_ID)

    assert (stored.record.state, stored.response_xml) == (State.SENT, None)
    assert bench.pauses == []


def _older_record(batch_get_item: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `batch_get_item` that shows records as they were before their response."""

    def read(**request: Any) -> Any:
        response = batch_get_item(**request)
        for items in response["Responses"].values():
            for item in items:
                if "state" in item:
                    record = replace(RECORDS.entity(item), state=State.SENT, response_size=0)
                    item.update(RECORDS.item(record))
        return response

    return read


def test_an_empty_response_is_read_as_none(bench: Bench) -> None:
    record = a_record(state=State.SENT)
    bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    bench.store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=""))
    bench.tear()

    assert bench.requests.get(APP_ID, record.id).response_xml is None


def lose_response(bench: Bench, request_id: str) -> None:
    """Remove a response from its body, as in a table that was restored to another moment."""
    bench.client.update_item(
        TableName=bench.payloads,
        Key={"request_id": {"S": request_id}, "part": {"S": "body"}},
        UpdateExpression="REMOVE #response",
        ExpressionAttributeNames={"#response": "response"},
    )


def test_a_response_that_stays_missing_is_never_reported_as_null(bench: Bench) -> None:
    request_id = bench.completed(RESPONSE_XML)
    lose_response(bench, request_id)

    with pytest.raises(Unavailable):
        bench.requests.get(APP_ID, request_id)
    assert len(bench.pauses) == TORN_READ.retries
    with pytest.raises(Unavailable):
        bench.delivery(request_id)
    (item,) = bench.lists.page(APP_ID, ListQuery(CONNECTION_ID)).items
    assert item.response_xml is None
    assert item.record.response_size  # the view says that it is omitted


def test_a_body_that_stays_missing_is_reported_and_leaves_the_list(bench: Bench) -> None:
    request_id, other = bench.completed(RESPONSE_XML), bench.completed(RESPONSE_XML)
    bench.client.delete_item(TableName=bench.payloads, Key={"request_id": {"S": request_id}, "part": {"S": "body"}})

    with pytest.raises(Unavailable):
        bench.requests.get(APP_ID, request_id)
    record = bench.store.request(request_id)
    assert isinstance(record, QueuedRequest)
    assert bench.store.with_request_xml([record])[0].request_xml is None
    assert [item.record.id for item in bench.lists.page(APP_ID, ListQuery(CONNECTION_ID)).items] == [other]


@pytest.mark.parametrize("response", RESPONSES, ids=len)
@pytest.mark.parametrize("batches", [1, 2])
def test_a_request_that_is_deleted_during_the_read_is_gone(bench: Bench, response: str, batches: int) -> None:
    """The deletion happens after the record was read, before or after the connection and the chunks are read."""
    request_id = bench.completed(response)
    bench.client.batch_get_item = _deleting(bench, request_id, batches)  # type: ignore[method-assign]

    try:
        stored = bench.requests.get(APP_ID, request_id)
        assert stored.response_xml == response
        assert response != LARGE or batches > 1
    except Gone:
        assert response == LARGE

    bench.client.batch_get_item = bench.client.client.batch_get_item  # type: ignore[method-assign]
    assert isinstance(bench.delivery(request_id), Tombstone)


def test_a_webhook_of_a_request_that_is_deleted_during_the_read_is_not_sent(bench: Bench) -> None:
    request_id = bench.completed(LARGE)
    bench.client.batch_get_item = _deleting(bench, request_id, 1)  # type: ignore[method-assign]

    assert isinstance(bench.delivery(request_id), Tombstone)


def _deleting(bench: Bench, request_id: str, batches: int) -> Callable[..., Any]:
    """Return a `batch_get_item` after whose first calls the request is deleted."""
    calls = 0

    def read(**request: Any) -> Any:
        nonlocal calls
        response = bench.client.client.batch_get_item(**request)
        calls += 1
        if calls == batches:
            record = bench.store.request(request_id)
            assert isinstance(record, QueuedRequest)
            bench.store.commit(RemoveRequest(record, timestamp(LATER)))
        return response

    return read
