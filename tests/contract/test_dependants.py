"""Requests that wait for others: outside of the queue, and released or ended in the commit that ends the other one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import pytest

from domain import qbxml
from domain.batches.dependants import with_dependants
from domain.queueing.new_request import QueueBatch
from domain.queueing.service import RequestService
from domain.records.batch import MAX_DEPENDANTS, MAX_REQUESTS
from domain.records.request import ErrorCode, QueuedRequest, State, Tombstone
from domain.records.session import InFlight
from domain.storage.changes import ChangeRequest, Put
from tests.contract.stores import LATER, counts_of, recount, stored_request
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, FixedClock, SequentialIds, a_connection, a_session
from tests.support.queueing import new_request, queueing_without_quotas
from tests.support.restoring import rebuilt
from tests.support.web_connector.quickbooks import response_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb import DynamoDBStore
    from domain.queueing.new_request import NewRequest
    from tests.contract.stores import AnyStore

LARGE = 60_000


def root() -> NewRequest:
    """Return the request that the others depend on."""
    return new_request({"CustomerAddRq": {"CustomerAdd": {"Name": "Ann"}}}, "r0")


def dependant(source: str, ref: str | None = None, *, notes: str = "") -> NewRequest:
    """Return a request with a value of the response to another."""
    fields = {"Name": "Job", "ParentRef": {"ListID": {"$from": source, "path": "CustomerRet/ListID"}}}
    lines = [{"OwnerID": "0", "DataExtName": "x", "DataExtValue": part} for part in notes.split()]
    tree = {"CustomerAddRq": {"CustomerAdd": fields, "IncludeRetElement": [line["DataExtValue"] for line in lines]}}
    return new_request(tree, ref, validate=False)


def queue(store: AnyStore, *batch: NewRequest) -> list[str]:
    """Queue a batch and return its ids."""
    store.commit(Put(None, a_connection()))
    queueing = queueing_without_quotas(store, FixedClock(), SequentialIds())
    command = QueueBatch(APP_ID, CONNECTION_ID, lambda _: batch)
    return [queued.stored.record.id for queued in queueing.queue_batch(command).requests]


def record_of(store: AnyStore, request_id: str) -> QueuedRequest:
    """Return a record."""
    record = store.request(request_id)
    assert isinstance(record, QueuedRequest)
    return record


def answer(store: AnyStore, request_id: str, state: State, list_id: str = "80000001-1") -> None:
    """Send a request and end it, as a session does."""
    queued = record_of(store, request_id)
    sent = queued.claimed("session", LATER).sent(LATER).as_change_of(queued)
    store.commit(ChangeRequest(queued, sent))
    if state is State.RESPONSE_RECEIVED:
        after = sent.moved(state, LATER)
    else:
        after = sent.failed(LATER, ErrorCode.QUICKBOOKS_ERROR, "No.", {})
    content = f"<CustomerRet><ListID>{escape(list_id)}</ListID></CustomerRet>"
    response = response_to(f'<CustomerAddRq requestID="{request_id}"', content=content)
    store.commit(*with_dependants(store, [ChangeRequest(sent, after, response)], LATER))


def in_queue(store: AnyStore) -> Sequence[str]:
    """Return the ids in the queue."""
    return [record.id for record in store.queue_front(CONNECTION_ID, 100)]


def check_counts(store: AnyStore, ids: list[str]) -> None:
    """Check that the counts are exact."""
    assert {key: number for key, number in counts_of(store).items() if number} == recount(store, ids)


def random_text(size: int) -> str:
    """Return a text that does not compress, as words."""
    chance = random.Random(size)
    return " ".join(f"{chance.getrandbits(256):x}" for _ in range(size // 64))


def test_a_dependant_is_not_in_the_queue_until_its_dependency_has_ended(store: AnyStore) -> None:
    first, second = queue(store, root(), dependant("r0"))
    assert in_queue(store) == [first]

    answer(store, first, State.RESPONSE_RECEIVED, "a&b")

    assert in_queue(store) == [second]
    record = record_of(store, second)
    session = a_session(in_flight=InFlight((second,)))
    store.commit(ChangeRequest(record, record.claimed(session.id, LATER)))
    (sent,), _ = store.requests_in_flight(session)
    assert sent.request_xml
    assert "<ListID>a&amp;b</ListID>" in sent.request_xml
    check_counts(store, [first, second])


def test_the_body_of_a_request_whose_value_is_missing_is_not_read(store: AnyStore) -> None:
    """Such a request is in the queue only after a table was restored alone."""
    _, second = queue(store, root(), dependant("r0"))
    record = record_of(store, second)
    session = a_session(in_flight=InFlight((second,)))
    claimed = record.without_dependency(0, LATER).claimed(session.id, LATER).as_change_of(record)
    store.commit(ChangeRequest(record, claimed))

    (claimed_now,), _ = store.requests_in_flight(session)

    assert claimed_now.request_xml is None


@pytest.mark.parametrize("state", [State.RESPONSE_RECEIVED, State.ERROR])
@pytest.mark.parametrize("size", [0, LARGE])
def test_as_many_dependants_as_are_allowed_change_in_one_commit(store: AnyStore, state: State, size: int) -> None:
    """With large requests, which are stored in chunks, and with dependants of dependants."""
    batch = [root(), *(dependant("r0", f"r{number}") for number in range(1, MAX_DEPENDANTS + 1))]
    batch += [dependant("r1") for _ in range(MAX_REQUESTS - len(batch) - 1)]
    ids = queue(store, *batch, dependant("r2", notes=random_text(size)))

    answer(store, ids[0], state)

    ended = state is State.ERROR
    assert in_queue(store) == ([] if ended else ids[1 : MAX_DEPENDANTS + 1])
    failed = [record_of(store, request_id).error for request_id in ids[1:]]
    assert all((error is not None) == ended for error in failed)
    check_counts(store, ids)


def test_a_chain_of_the_longest_batch_ends_with_its_first_request(store: AnyStore) -> None:
    ids = queue(store, root(), *(dependant(f"r{number}", f"r{number + 1}") for number in range(MAX_REQUESTS - 1)))

    RequestService(store, FixedClock(LATER)).delete(APP_ID, ids[0], force=True, dependants=True, actor=AN_ACTOR)

    assert isinstance(store.request(ids[0]), Tombstone)
    errors = [record_of(store, request_id).error for request_id in ids[1:]]
    assert [error and error.details["dependency_id"] for error in errors] == ids[:-1]
    check_counts(store, ids)


def test_values_arrive_one_after_the_other(store: AnyStore) -> None:
    both = {"Name": "Job", "Notes": {"$from": "a", "path": "CustomerRet/ListID"}}
    both |= {"ParentRef": {"ListID": {"$from": "b", "path": "CustomerRet/ListID"}}}
    last = new_request({"CustomerAddRq": {"CustomerAdd": both}})
    named = [new_request({"CustomerAddRq": {"CustomerAdd": {"Name": name}}}, name) for name in "ab"]
    first, second, third = queue(store, *named, last)

    answer(store, second, State.RESPONSE_RECEIVED, "of b")

    detail = stored_request(store, third)
    assert not isinstance(detail, Tombstone | None)
    assert "<ListID>of b</ListID>" in detail.request_xml
    assert '{"$from"' in detail.request_xml
    assert in_queue(store) == [first]
    answer(store, first, State.RESPONSE_RECEIVED, "of a")
    (listed,) = store.request_batch([third]).with_bodies(
        [record_of(store, third)], max_response_bytes=0, max_total_bytes=10_000
    )
    assert listed.request_xml
    assert qbxml.stored_request(listed.request_xml, "13.0").element.findtext("CustomerAdd/Notes") == "of a"
    assert in_queue(store) == [third]


def test_a_restore_ends_a_read_whose_dependency_was_lost_and_leaves_the_others(emulated: DynamoDBStore) -> None:
    reads = [new_request({"CustomerQueryRq": {"FullName": "Ann"}}, None, name) for name in ("r0", "r1", "r0", "r1")]
    first, second, *waiting = queue(emulated, root(), new_request({"HostQueryRq": {}}, "r1"), *reads)
    RequestService(emulated, FixedClock(LATER)).discard(APP_ID, waiting[2], actor=AN_ACTOR)
    emulated.client.delete_item(TableName=emulated.tables.queued_requests, Key={"id": {"S": first}})

    rebuilt(emulated.client, emulated.tables, LATER)

    states = [record_of(emulated, request_id).state for request_id in waiting]
    assert states == [State.ERROR, State.WAITING, State.DISCARDED, State.WAITING]
    lost = record_of(emulated, waiting[0]).error
    assert lost
    assert (lost.code, lost.details["dependency_id"]) == ("dependency_failed", first)
    assert in_queue(emulated) == [second]
    check_counts(emulated, [second, *waiting])
