"""Small responses, which are stored before the transaction that refers to them: whatever fails, only those are read."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.batch_deletes import BatchDeletes
from adapters.dynamodb.client import DynamoDB
from adapters.dynamodb.compression import unpack
from adapters.dynamodb.response_chunks import ResponseChunks
from adapters.dynamodb.responses import MAX_BATCH_BYTES, Responses
from domain.errors import Conflict, Unavailable
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.maintenance.retention import forget_record
from domain.maintenance.sweep import SETTLED_AFTER, sweep
from domain.queueing.service import RequestService
from domain.records.request import ErrorCode, QueuedRequest, State, StoredRequest
from domain.records.session import RequestInFlight
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import IMPLEMENTATIONS, dynamodb_client, sized
from tests.contract.stores import LATER as LATER_MOMENT
from tests.contract.stores import stored_request
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.unreliable_dynamodb import (
    ANSWER_LOST,
    BATCH_FAULTS,
    CONFLICT,
    IN_PROGRESS,
    LATE,
    REFUSED,
    SERVER_ERROR,
    UPDATE_FAULTS,
    UnreliableDynamoDB,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adapters.dynamodb.responses import StoredResponse

_numbers = count()
FIRST, SECOND = "<a>first</a>", "<a>second</a>"
LARGE = "<a>" + "é" * 200_000 + "</a>"
PHRASE_OF_REQUEST = "customerquery"


def text_of(record: QueuedRequest) -> str:
    """Return the search text of a request without a response."""
    return RequestInFlight(record, REQUEST_XML).search_text


class Bench:
    """Requests over an unreliable client.

    Each response is stored alone, or with those of `companions` other requests of its message set.
    """

    def __init__(self, client: Any, companions: int = 0) -> None:
        self.companions: dict[str, QueuedRequest] = {}
        self._companions = companions
        self.write = "batch_execute_statement" if companions else "update_item"
        self.client = UnreliableDynamoDB(client)
        self.client.holds_late_calls = True
        self.tables = make_tables(client, f"responses{next(_numbers)}-")
        self.clock = FixedClock()
        self.store = DynamoDBStore(self.client, self.tables, sleep=lambda _: None)
        self.requests = RequestService(self.store, self.clock)
        self.lists = [Lists(self.store, self.clock), Lists(self.store, self.clock, few_hits=0)]
        self.store.commit(Put(None, a_connection()))

    def sent(self, label: str | None = None) -> QueuedRequest:
        """Store a request that was sent."""
        record = a_record(state=State.SENT, label=label)
        self.store.commit(AddRequest(record, REQUEST_XML, text_of(record)))
        return record

    def end(self, record: QueuedRequest, response: str) -> None:
        """Store a response, in one commit with those of new companions."""
        fault, self.client.fault = self.client.fault, lambda _: None
        companions = [self.sent() for _ in range(self._companions)]
        self.client.fault = fault
        self.companions |= {companion.id: companion for companion in companions}
        ends = [(record, response), *((companion, companion.id) for companion in companions)]
        self.store.commit(
            *(
                ChangeRequest(
                    before,
                    before.moved(State.RESPONSE_RECEIVED, LATER_MOMENT),
                    response_xml=text,
                    search_text=f"{text}\n{text_of(before)}",
                )
                for before, text in ends
            )
        )
        for companion in companions:
            assert self.response(companion) == companion.id

    def release(self, record: QueuedRequest) -> QueuedRequest:
        """Put a sent request back into the queue, and let another session send it; return it as it is then."""
        queued = record.requeued(LATER_MOMENT)
        self.store.commit(ChangeRequest(record, queued, search_text=text_of(record)))
        claimed = queued.claimed("ab" * 32, LATER_MOMENT)
        self.store.commit(ChangeRequest(queued, claimed))
        sent = claimed.sent(LATER_MOMENT)
        self.store.commit(ChangeRequest(claimed, sent))
        return sent

    def fail(self, operation: str, fault: str | None) -> None:
        """Let every call of an operation fail from now on."""
        self.client.fault = lambda called: fault if called == operation else None

    def lose_attempt(self, record: QueuedRequest, response: str = FIRST) -> None:
        """Store a response, and let the function end before the transaction."""
        self.fail("transact_write_items", SERVER_ERROR)
        with pytest.raises(Unavailable):
            self.end(record, response)
        self.fail("", None)

    def write_late(self, record: QueuedRequest, response: str = FIRST) -> None:
        """Let a function send the write of a response, and end before it arrives."""
        self.client.fault = {self.write: LATE, "transact_write_items": SERVER_ERROR}.get
        with pytest.raises(Unavailable):
            self.end(record, response)
        self.fail("", None)
        assert self.client.late

    def current(self, record: QueuedRequest) -> QueuedRequest:
        """Return the stored record."""
        stored = self.store.request(record.id)
        assert isinstance(stored, QueuedRequest)
        return stored

    def response(self, record: QueuedRequest) -> str | None:
        """Return the stored response, as a GET and a list show it."""
        stored = stored_request(self.store, record.id)
        assert isinstance(stored, StoredRequest)
        batch = self.store.request_batch([record.id])
        (listed,) = batch.with_bodies([*batch.records], max_response_bytes=2**20, max_total_bytes=2**20)
        assert listed.response_xml == (None if stored.record.response_chunks else stored.response_xml)
        return stored.response_xml

    def found(self, phrase: str) -> set[str]:
        """Return the ids of the requests that a search finds, also if it had too many hits to read all of them."""
        query = ListQuery(CONNECTION_ID, search_phrase=phrase)
        few, many = ({item.record.id for item in lists.page(APP_ID, query).items} for lists in self.lists)
        assert few == many
        return few - self.companions.keys()

    def bodies(self) -> list[dict[str, Any]]:
        """Return every stored part except the markers of removed records, and the parts of companions."""
        items: list[dict[str, Any]] = self.client.client.scan(TableName=self.tables.payloads)["Items"]
        return [item for item in items if "removed" not in item and item["request_id"]["S"] not in self.companions]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield a client of DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield dynamodb_client()


@pytest.fixture(params=[0, 2], ids=["alone", "in a set"])
def bench(client: Any, request: pytest.FixtureRequest) -> Bench:
    """Return requests over empty tables."""
    return Bench(client, request.param)


def test_a_response_is_stored_with_one_plain_write_and_its_transaction_leaves_the_body_alone(bench: Bench) -> None:
    record = bench.sent()
    tables: list[str] = []
    transact = bench.client.client.transact_write_items

    def recorded(**request: Any) -> Any:
        tables[:] = [write["TableName"] for entry in request["TransactItems"] for write in entry.values()]
        return transact(**request)

    bench.client.transact_write_items = recorded  # type: ignore[method-assign]
    bench.end(record, FIRST)

    assert bench.tables.payloads not in tables
    assert bench.response(record) == FIRST
    assert bench.found("first") == {record.id}


def test_a_response_without_its_transaction_is_not_shown_and_the_next_one_is_stored(bench: Bench) -> None:
    record = bench.sent("customer mod")

    bench.lose_attempt(record)

    assert bench.current(record) == record
    assert bench.response(record) is None
    assert bench.found("first") == set()
    assert bench.found(PHRASE_OF_REQUEST) == bench.found("customer change") == {record.id}
    bench.end(record, SECOND)
    assert bench.response(record) == SECOND


@pytest.mark.parametrize("fault", UPDATE_FAULTS)
def test_a_response_whose_write_fails_is_stored_all_the_same(bench: Bench, fault: str) -> None:
    record = bench.sent()
    bench.fail(bench.write, fault)

    bench.end(record, FIRST)
    bench.client.deliver_late_calls()

    assert bench.response(record) == FIRST


def test_the_responses_of_a_set_are_stored_also_if_dynamodb_throttles_some_of_them(client: Any) -> None:
    bench = Bench(client, companions=4)
    record = bench.sent()
    bench.fail(bench.write, REFUSED)

    bench.end(record, FIRST)

    assert bench.client.happened == [REFUSED]
    assert bench.response(record) == FIRST


@pytest.mark.parametrize("response", [SECOND, LARGE], ids=["small", "large"])
def test_a_late_write_does_not_change_the_stored_response(bench: Bench, response: str) -> None:
    record = bench.sent()
    bench.write_late(record)

    bench.end(record, response)
    bench.client.deliver_late_calls()

    assert bench.response(record) == response
    assert bench.found("first") == set()


def test_a_response_of_a_function_that_is_late_does_not_change_the_stored_one(bench: Bench) -> None:
    record = bench.sent()
    bench.end(record, FIRST)

    with pytest.raises(Conflict):
        bench.end(record, SECOND)

    assert bench.response(record) == FIRST
    assert bench.found("second") == set()


@pytest.mark.parametrize("lose", ["lose_attempt", "write_late"])
def test_a_response_that_no_transaction_refers_to_is_gone_after_the_request_was_queued_again(
    bench: Bench, lose: str
) -> None:
    record = bench.sent()
    getattr(bench, lose)(record)

    sent_again = bench.release(record)
    bench.client.deliver_late_calls()

    assert bench.response(record) is None
    assert all("response" not in body for body in bench.bodies())
    assert bench.found("first") == set()
    assert bench.found(PHRASE_OF_REQUEST) == {record.id}
    bench.end(sent_again, SECOND)
    assert bench.response(record) == SECOND
    assert bench.found("second") == {record.id}


@pytest.mark.parametrize("lose", ["lose_attempt", "write_late"])
def test_a_request_that_ends_in_an_error_has_no_response_of_a_lost_attempt(bench: Bench, lose: str) -> None:
    record = bench.sent()
    getattr(bench, lose)(record)

    failed = record.failed(LATER_MOMENT, ErrorCode.OUTCOME_UNKNOWN, "Nobody can tell.", {})
    bench.store.commit(ChangeRequest(record, failed, search_text="outcome_unknown"))
    bench.client.deliver_late_calls()

    assert bench.response(record) is None
    assert bench.found("first") == set()


def remove(bench: Bench, record: QueuedRequest, how: str) -> None:
    """Remove an ended request."""
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
        assert sum(bench.store.remove_records(removed)) == 1 + len(bench.companions)


@pytest.mark.parametrize("how", ["deleted", "expired", "with its connection"])
def test_a_response_that_arrives_after_its_request_was_removed_is_not_stored(bench: Bench, how: str) -> None:
    record = bench.sent()
    bench.write_late(record)
    bench.end(record, SECOND)

    remove(bench, record, how)
    bench.client.deliver_late_calls()

    assert bench.bodies() == []


RESPONSES = {"first": FIRST, "second": SECOND, "large": LARGE}


@settings(max_examples=40, deadline=None)
@given(
    companions=st.sampled_from([0, 2]),
    writes=st.lists(st.sampled_from([None, *BATCH_FAULTS]), max_size=4),
    faults=st.lists(st.sampled_from([None, ANSWER_LOST, IN_PROGRESS, SERVER_ERROR, CONFLICT]), max_size=4),
    steps=st.lists(st.sampled_from([*RESPONSES, "release"]), min_size=1, max_size=4),
)
def test_after_any_faults_the_response_that_was_committed_is_read_and_a_deletion_leaves_nothing(
    client: Any, companions: int, writes: list[str | None], faults: list[str | None], steps: list[str]
) -> None:
    bench = Bench(client, companions)
    record = bench.sent()
    possible_writes = [None if fault == REFUSED and not companions else fault for fault in writes]
    coming = {bench.write: iter(possible_writes), "transact_write_items": iter(faults)}
    bench.client.fault = lambda operation: next(coming.get(operation, iter(())), None)
    possible = set()
    for step in steps:
        if record.state is not State.SENT:
            break
        possible.add(RESPONSES.get(step))
        with suppress(Conflict, Unavailable):
            if step == "release":
                bench.release(record)
            else:
                bench.end(record, RESPONSES[step])
                possible = {RESPONSES[step]}
        record = bench.current(record)
    bench.client.fault = lambda _: None
    bench.client.deliver_late_calls()
    record = bench.current(record)
    if record.state is not State.RESPONSE_RECEIVED:
        assert bench.response(record) is None
        return
    assert bench.response(record) in possible

    bench.requests.delete(APP_ID, record.id, actor=AN_ACTOR)
    bench.client.deliver_late_calls()
    bench.clock.advance(seconds=(SETTLED_AFTER + timedelta(minutes=5)).total_seconds())
    sweep(bench.store, bench.clock, bench.clock() + timedelta(seconds=30))
    assert bench.bodies() == []


BODIES: dict[str, dict[str, Any] | None] = {
    "a request": {"request": {"B": b"r"}},
    "a request in chunks": {"request_chunks": {"N": "2"}},
    "another attempt": {"request": {"B": b"r"}, "response_attempt": {"S": "other"}},
    "no attempt to come": {"request": {"B": b"r"}, "response_attempt": {"S": "none"}},
    "a mark of removal": {"removed": {"BOOL": True}},
    "a mark of removal and more": {"removed": {"BOOL": True}, "request": {"B": b"r"}},
    "nothing, because it is missing": None,
}
"""What a body can have when a response arrives."""
STORABLE = {"a request", "a request in chunks"}


@pytest.fixture(params=IMPLEMENTATIONS[1:])
def database(request: pytest.FixtureRequest) -> DynamoDBStore:
    """Return a store on each database, empty."""
    store: DynamoDBStore = request.getfixturevalue(request.param)
    return store


def ended(number: int, response: str = FIRST) -> ChangeRequest:
    """Return the change of a request that ends with a response."""
    record = a_record(id=f"{number}", state=State.SENT)
    after = record.moved(State.RESPONSE_RECEIVED, LATER_MOMENT)
    return ChangeRequest(record, after, response_xml=response, search_text=response)


def stored_before(
    store: DynamoDBStore, changes: Sequence[ChangeRequest], client: Any = None
) -> Mapping[str, StoredResponse]:
    """Store responses as a commit does it before its transaction."""
    dynamodb = DynamoDB(client or store.client, store.tables, sleep=lambda _: None)
    return Responses(dynamodb, ResponseChunks(dynamodb, BatchDeletes(dynamodb))).store(changes)


def body_of(store: DynamoDBStore, request_id: str) -> dict[str, Any] | None:
    """Return a body."""
    key = {"request_id": {"S": request_id}, "part": {"S": "body"}}
    body: dict[str, Any] | None = store.client.get_item(TableName=store.tables.payloads, Key=key).get("Item")
    return body


def put_body(store: DynamoDBStore, request_id: str, attributes: Mapping[str, Any]) -> None:
    """Store a body."""
    key = {"request_id": {"S": request_id}, "part": {"S": "body"}}
    store.client.put_item(TableName=store.tables.payloads, Item=key | dict(attributes))


@pytest.mark.parametrize("size", [1, 2, len(BODIES)])
def test_each_response_is_stored_on_a_condition_of_its_own_which_is_the_same_alone_and_in_a_set(
    database: DynamoDBStore, size: int
) -> None:
    """Nothing brings a removed body back, and nothing makes one."""
    changes = [ended(number) for number in range(len(BODIES))]
    for change, attributes in zip(changes, BODIES.values(), strict=True):
        if attributes is not None:
            put_body(database, change.after.id, attributes)
    before = [body_of(database, change.after.id) for change in changes]

    stored: dict[str, StoredResponse] = {}
    for start in range(0, len(changes), size):
        stored |= stored_before(database, changes[start : start + size])

    for change, name, former in zip(changes, BODIES, before, strict=True):
        body = body_of(database, change.after.id)
        assert stored[change.after.id].in_body == (name in STORABLE), name
        if name in STORABLE:
            assert body is not None
            assert unpack(body["response"]["B"]) == FIRST
            assert body["response_attempt"] == {"S": stored[change.after.id].attempt}
            assert unpack(body["search_text"]["B"]) == FIRST
        else:
            assert body == former, name


def test_a_batch_writes_to_nothing_but_bodies(database: DynamoDBStore) -> None:
    """Each has its request or the number of its chunks. DynamoDB's rule that PartiQL makes no item is not relied on."""
    changes = [ended(number) for number in range(3)]
    for change in changes:
        put_body(database, change.after.id, {})

    assert not any(response.in_body for response in stored_before(database, changes).values())
    assert "response" not in (body_of(database, changes[0].after.id) or {})


def test_a_batch_that_botocore_repeats_is_stored(database: DynamoDBStore) -> None:
    """Its first answer was lost, so its own attempt is in the bodies."""
    changes = [ended(number) for number in range(3)]
    for change in changes:
        put_body(database, change.after.id, {"request": {"B": b"r"}})
    client = UnreliableDynamoDB(database.client)

    def twice(**request: Any) -> Any:
        database.client.batch_execute_statement(**request)
        return database.client.batch_execute_statement(**request)

    client.batch_execute_statement = twice  # type: ignore[method-assign]
    assert all(response.in_body for response in stored_before(database, changes, client).values())


@settings(max_examples=sized(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(sizes=[10] * 60, seed=0)
@given(sizes=st.lists(st.sampled_from([10, 60_000, 130_000, 255_000]), min_size=2, max_size=60), seed=st.integers(0, 9))
def test_the_responses_of_a_set_travel_in_batches_that_dynamodb_takes(
    database: DynamoDBStore, sizes: list[int], seed: int
) -> None:
    chance = random.Random(seed)
    changes = [ended(number, chance.randbytes(size // 2).hex()) for number, size in enumerate(sizes)]
    for change in changes:
        put_body(database, change.after.id, {"request": {"B": b"r"}})
    batches: list[Sequence[Mapping[str, Any]]] = []
    client = UnreliableDynamoDB(database.client)

    def counted(**request: Any) -> Any:
        batches.append(request["Statements"])
        return database.client.batch_execute_statement(**request)

    client.batch_execute_statement = counted  # type: ignore[method-assign]
    stored = stored_before(database, changes, client)

    assert all(response.in_body for response in stored.values())
    assert stored.keys() == {change.after.id for change in changes}
    for batch in batches:
        contents = [content for entry in batch for value in entry["Parameters"] for content in value.values()]
        assert 1 < len(batch) <= 25
        assert sum(map(len, contents)) <= MAX_BATCH_BYTES + 100 * len(batch)  # the keys
    assert len(batches) <= 1 + sum(sizes) // 400_000 + len(sizes) // 25
