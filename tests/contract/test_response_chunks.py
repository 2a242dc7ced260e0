"""Chunks of large responses: only those of the stored response are read, and none outlives its request."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from domain.errors import Conflict, Unavailable
from domain.maintenance.retention import forget_record
from domain.maintenance.sweep import SETTLED_AFTER, sweep
from domain.queueing.service import RequestService
from domain.records.request import QueuedRequest, State, StoredRequest
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.contract.stores import stored_request
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.unreliable_dynamodb import (
    ANSWER_LOST,
    CONFLICT,
    IN_PROGRESS,
    LATER,
    REPEATED,
    SERVER_ERROR,
    WRITE_FAULTS,
    UnreliableDynamoDB,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_numbers = count()
FIRST, SECOND = (random.Random(seed).randbytes(400_000).hex() for seed in (1, 2))
"""Each is stored in two chunks."""
LARGE_REQUEST = random.Random(3).randbytes(300_000).hex()


class Bench:
    """Requests over an unreliable client, and everything that is stored of them."""

    def __init__(self, client: Any) -> None:
        self.client = UnreliableDynamoDB(client)
        self.client.holds_late_calls = True
        self.tables = make_tables(client, f"chunks{next(_numbers)}-")
        self.clock = FixedClock()
        self.store = DynamoDBStore(self.client, self.tables, sleep=lambda _: None)
        self.requests = RequestService(self.store, self.clock)
        self.store.commit(Put(None, a_connection()))

    def sent(self, request_xml: str = REQUEST_XML) -> QueuedRequest:
        """Store a request that was sent."""
        record = a_record(state=State.SENT)
        self.store.commit(AddRequest(record, request_xml, ""))
        return record

    def end(self, record: QueuedRequest, response: str) -> None:
        """Store a response."""
        self.store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), response_xml=response))

    def ended(self, response: str, request_xml: str = REQUEST_XML) -> QueuedRequest:
        """Store a request with its response."""
        record = self.sent(request_xml)
        self.end(record, response)
        return self.current(record)

    def current(self, record: QueuedRequest) -> QueuedRequest:
        """Return the stored record."""
        stored = self.store.request(record.id)
        assert isinstance(stored, QueuedRequest)
        return stored

    def fail(self, operation: str, fault: str | None) -> None:
        """Let every call of an operation fail from now on."""
        self.client.fault = lambda called: fault if called == operation else None

    def response(self, record: QueuedRequest) -> str | None:
        """Return the stored response."""
        stored = stored_request(self.store, record.id)
        assert isinstance(stored, StoredRequest)
        return stored.response_xml

    def parts(self) -> list[str]:
        """Return every stored part except bodies and the markers that replace them."""
        items = self.client.client.scan(TableName=self.tables.payloads)["Items"]
        return [item["part"]["S"] for item in items if item["part"]["S"] != "body"]

    def sweep_later(self) -> None:
        """Sweep at a time when no earlier call can still arrive."""
        self.clock.advance(seconds=(SETTLED_AFTER + timedelta(minutes=5)).total_seconds())
        assert sweep(self.store, self.clock, self.clock() + timedelta(seconds=30)).finished


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield a client of DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield dynamodb_client()


@pytest.fixture
def bench(client: Any) -> Bench:
    """Return requests over empty tables."""
    return Bench(client)


def test_a_late_chunk_of_a_former_session_does_not_change_the_response(bench: Bench) -> None:
    record = bench.sent()
    bench.fail("put_item", REPEATED)
    with suppress(Conflict):
        stale = record.changed(NOON).changed(NOON)
        bench.store.commit(ChangeRequest(stale, stale.changed(NOON), response_xml=FIRST))
    bench.fail("put_item", None)
    assert len(bench.client.late) == 2

    bench.end(record, SECOND)
    bench.client.deliver_late_calls()

    assert bench.response(record) == SECOND


def test_chunks_of_a_response_that_conflicts_are_removed_at_once(bench: Bench) -> None:
    record = bench.ended("<a/>")

    with pytest.raises(Conflict):
        bench.store.commit(ChangeRequest(a_record(id=record.id), record.changed(NOON), response_xml=FIRST))

    assert bench.parts() == []
    assert bench.response(record) == "<a/>"


def test_chunks_of_a_response_that_a_lost_call_stored_stay_if_the_record_has_changed_since(bench: Bench) -> None:
    record = bench.sent()
    client, faults = bench.client, iter([LATER])

    def fault(operation: str) -> str | None:
        if operation != "transact_write_items":
            return None
        stored = bench.current(record)
        if stored.response_size and stored.revision == record.revision + 1:
            # The lost call has arrived. Another caller changes the record before the call is repeated.
            item = client.get_item(TableName=bench.tables.queued_requests, Key={"id": {"S": record.id}})["Item"]
            item |= {"revision": {"N": str(stored.revision + 1)}, "commit_id": {"S": "of another"}}
            client.client.put_item(TableName=bench.tables.queued_requests, Item=item)
        return next(faults, None)

    client.fault = fault
    client.holds_late_calls = False
    with pytest.raises(Conflict):
        bench.end(record, FIRST)

    assert bench.response(record) == FIRST


def lose_attempt(bench: Bench, record: QueuedRequest) -> None:
    """Store chunks, and let the function end before the transaction."""
    before = bench.parts()
    bench.fail("transact_write_items", SERVER_ERROR)
    with pytest.raises(Unavailable):
        bench.end(record, FIRST)
    bench.fail("transact_write_items", None)
    added = set(bench.parts()) - set(before)
    assert [part.startswith("response#") for part in added] == [True, True]


def test_a_request_with_the_chunks_of_many_attempts_can_be_deleted(bench: Bench) -> None:
    """One transaction has at most 100 entries. The sweep removes the rest."""
    record = bench.sent()
    for _ in range(51):
        lose_attempt(bench, record)
    assert len(bench.parts()) == 102
    bench.end(record, "<a/>")

    bench.requests.delete(APP_ID, record.id, actor=AN_ACTOR)

    bench.sweep_later()
    assert bench.parts() == []


@pytest.mark.parametrize("response", ["<a/>", SECOND], ids=["small", "large"])
@pytest.mark.parametrize("request_xml", [REQUEST_XML, LARGE_REQUEST], ids=["small", "large"])
@pytest.mark.parametrize("how", ["deleted", "expired", "with its connection"])
def test_a_removed_request_leaves_no_chunk_of_any_attempt(
    bench: Bench, response: str, request_xml: str, how: str
) -> None:
    record = bench.sent(request_xml)
    lose_attempt(bench, record)
    bench.end(record, response)

    if how == "deleted":
        bench.requests.delete(APP_ID, record.id, actor=AN_ACTOR)
    elif how == "expired":
        ended = bench.current(record)
        bench.client.delete_item(TableName=bench.tables.queued_requests, Key={"id": {"S": record.id}})
        assert forget_record(bench.store, ended, bench.clock())
    else:
        connection = bench.store.connection(CONNECTION_ID)
        assert connection
        removed = connection.removed(timestamp(bench.clock()))
        bench.store.commit(Put(connection, removed))
        assert sum(bench.store.remove_records(removed)) == 1

    assert all(record.id in part for part in bench.parts())  # the note
    bench.sweep_later()
    assert bench.parts() == []


@pytest.mark.parametrize("how", ["deleted", "expired", "with its connection"])
def test_a_chunk_that_arrives_after_its_request_was_removed_is_removed(bench: Bench, how: str) -> None:
    record = bench.sent()
    bench.fail("put_item", REPEATED)
    bench.end(record, FIRST)
    bench.fail("put_item", None)
    ended = bench.current(record)
    if how == "deleted":
        bench.requests.delete(APP_ID, record.id, actor=AN_ACTOR)
    elif how == "expired":
        bench.client.delete_item(TableName=bench.tables.queued_requests, Key={"id": {"S": record.id}})
        assert forget_record(bench.store, ended, bench.clock())
    else:
        connection = bench.store.connection(CONNECTION_ID)
        assert connection
        removed = connection.removed(timestamp(bench.clock()))
        bench.store.commit(Put(connection, removed))
        assert sum(bench.store.remove_records(removed)) == 1

    bench.client.deliver_late_calls()
    assert len([part for part in bench.parts() if part.startswith("response#")]) == 2
    assert sweep(bench.store, bench.clock, bench.clock() + timedelta(seconds=30)).chunks_removed == 0
    bench.sweep_later()

    assert bench.parts() == []


def test_an_attempt_that_is_announced_during_a_deletion_is_removed_too(bench: Bench) -> None:
    """The deletion read the record before, and finds in its transaction that the body lists more."""
    record = bench.sent()
    lose_attempt(bench, record)

    bench.store.commit(RemoveRequest(record, timestamp(NOON)))

    assert [part for part in bench.parts() if part.startswith("response#")] == []


def test_a_request_without_chunks_is_removed_with_one_transaction_and_leaves_no_note(bench: Bench) -> None:
    record = bench.ended("<a/>")
    calls: list[Any] = []
    transact = bench.client.client.transact_write_items
    bench.client.transact_write_items = lambda **request: calls.append(request) or transact(**request)  # type: ignore[func-returns-value, method-assign]

    bench.store.commit(RemoveRequest(record, timestamp(NOON)))

    assert len(calls) == 1
    assert bench.parts() == []


def test_a_removal_of_an_old_revision_conflicts_and_removes_nothing(bench: Bench) -> None:
    record = bench.ended(FIRST, LARGE_REQUEST)
    parts = bench.parts()

    with pytest.raises(Conflict) as conflict:
        bench.store.commit(RemoveRequest(a_record(id=record.id), timestamp(NOON)))

    assert conflict.value.current == record
    assert bench.parts() == parts


@settings(max_examples=25, deadline=None)
@given(
    chunk_faults=st.lists(st.sampled_from([None, None, *WRITE_FAULTS]), max_size=6),
    faults=st.lists(st.sampled_from([None, ANSWER_LOST, IN_PROGRESS, SERVER_ERROR, CONFLICT]), max_size=4),
    attempts=st.lists(st.sampled_from([FIRST, SECOND, "<a/>"]), min_size=1, max_size=3),
)
def test_after_any_faults_the_stored_response_is_read_and_a_deletion_leaves_nothing(
    client: Any, chunk_faults: list[str | None], faults: list[str | None], attempts: list[str]
) -> None:
    bench = Bench(client)
    coming = {"put_item": iter(chunk_faults), "transact_write_items": iter(faults)}
    record = bench.sent()
    bench.client.fault = lambda operation: next(coming.get(operation, iter(())), None)
    for response in attempts:
        with suppress(Conflict, Unavailable, ReadTimeoutError):
            bench.end(record, response)
    bench.client.fault = lambda _: None
    if bench.current(record).state is State.SENT:
        bench.end(record, attempts[-1])
    assert bench.response(record) in attempts

    bench.requests.delete(APP_ID, record.id, actor=AN_ACTOR)
    bench.client.deliver_late_calls()
    bench.sweep_later()

    assert bench.parts() == []
