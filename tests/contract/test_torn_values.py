"""A read in the middle of the commit that resolves a reference returns the value, and no request is sent without it."""

from __future__ import annotations

import inspect
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from adapters.dynamodb import DynamoDBStore, keys
from adapters.dynamodb.bodies import BODY_IN_FLIGHT, Bodies
from adapters.dynamodb.torn_reads import TORN_READ
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import Claim, State
from domain.records.session import InFlight
from domain.storage.changes import AddRequest, ChangeRequest
from domain.storage.ports import RequestDetail
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.contract.stores import LATER
from tests.contract.test_dependants import answer, dependant, queue, record_of, root
from tests.support.builders import REQUEST_XML, a_record, a_session
from tests.support.queueing import new_request
from tests.support.unreliable_dynamodb import TORN, UnreliableDynamoDB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from domain.queueing.new_request import NewRequest

LIST_ID = "80000001-1"


class Bench:
    """A store over a client that tears batches. `pauses` are the pauses before repeated reads."""

    def __init__(self) -> None:
        self.client = UnreliableDynamoDB(dynamodb_client())
        self.pauses: list[float] = []
        self.store = DynamoDBStore(self.client, make_tables(self.client, ""), sleep=self.pauses.append)

    def tear(self) -> None:
        """Tear every batch from now on."""
        self.client.fault = lambda operation: TORN if operation == "batch_get_item" else None

    def claim(self, request_id: str) -> InFlight:
        """Claim a request, as a session does."""
        queued = record_of(self.store, request_id)
        self.store.commit(ChangeRequest(queued, queued.claimed(a_session().id, LATER).as_change_of(queued)))
        return InFlight((request_id,))


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield the store on DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield Bench()


A_MOD = '<CustomerModRq requestID="mod-aaaaaaaaaaaaaaaaaaaa"/>'


@pytest.mark.parametrize("stored", ["request", "large request", "Mod", "response"])
def test_a_session_reads_a_body_that_is_not_torn_once(bench: Bench, stored: str) -> None:
    """An attribute that this read leaves out looks like one of a torn body, which is read again, or like a lost one."""
    lookup = ObjectLookup(IfExists.UPDATE).modifying("a" * 20) if stored == "Mod" else None
    record = a_record(state=State.SENT, claim=Claim(a_session().id), lookup=lookup)
    text = random.Random(1).randbytes(100_000).hex() if stored == "large request" else REQUEST_XML
    bench.store.commit(AddRequest(record, text, ""))
    after = record.changed(LATER)
    change = ChangeRequest(record, after, response_xml="<a/>" if stored == "response" else None)
    bench.store.commit(replace(change, modification_xml=A_MOD if stored == "Mod" else None))
    reads = Mock(side_effect=bench.client.batch_get_item)
    bench.client.batch_get_item = reads  # type: ignore[method-assign]

    [request], _ = bench.store.requests_in_flight(a_session(in_flight=InFlight((record.id,))))

    assert (request.request_xml, request.modification_xml) == (text, A_MOD if stored == "Mod" else None)
    assert bool(request.record.response_attempt) == (stored == "response")
    assert (reads.call_count, bench.pauses) == (1 + (stored == "large request"), [])


def test_a_session_reads_each_attribute_of_a_body_but_those_that_it_does_not_need() -> None:
    named = re.findall(r"\bkeys\.([A-Z_]+)", inspect.getsource(Bodies))
    read = {getattr(keys, name) for name in named} - {keys.BODY, keys.DATA}

    assert read - set(BODY_IN_FLIGHT) == {keys.FIELD_CHANGES, keys.REPLACES}
    assert set(BODY_IN_FLIGHT) - read == {keys.REQUEST_ID}


def child_of_two() -> NewRequest:
    """Return a request with a value of the responses to two others."""
    fields = {
        "Name": {"$from": "r1", "path": "CustomerRet/ListID"},
        "ParentRef": {"ListID": {"$from": "r0", "path": "CustomerRet/ListID"}},
    }
    return new_request({"CustomerAddRq": {"CustomerAdd": fields}}, validate=False)


def detail(bench: Bench, request_id: str) -> str | None:
    """Read one request, as `GET` does."""
    found = bench.store.request_detail(request_id)
    assert isinstance(found, RequestDetail)
    return found.stored.request_xml


def listed(bench: Bench, request_id: str) -> str | None:
    """Read a request in a batch, as a list does."""
    batch = bench.store.request_batch([request_id])
    (item,) = batch.with_bodies(list(batch.records), max_response_bytes=0, max_total_bytes=2**20)
    return item.request_xml


def to_send(bench: Bench, request_id: str) -> str | None:
    """Read a claimed request, as `sendRequestXML` does."""
    (request,), _ = bench.store.requests_in_flight(a_session(in_flight=bench.claim(request_id)))
    return request.request_xml


def joining(bench: Bench, request_id: str) -> str | None:
    """Read a request that joins a message set."""
    (request,) = bench.store.with_request_xml([record_of(bench.store, request_id)])
    return request.request_xml


READS = [detail, listed, to_send, joining]


@pytest.mark.parametrize("read", READS)
def test_a_torn_read_of_a_released_request_is_repeated_and_has_the_value(
    bench: Bench, read: Callable[[Bench, str], str | None]
) -> None:
    first, second = queue(bench.store, root(), dependant("r0"))
    answer(bench.store, first, State.RESPONSE_RECEIVED, LIST_ID)
    bench.tear()

    request_xml = read(bench, second) or ""

    assert f"<ListID>{LIST_ID}</ListID>" in request_xml
    assert TORN in bench.client.happened


def test_the_value_of_a_second_response_leaves_that_of_the_first_in_its_place(bench: Bench) -> None:
    """Although the second response is stored from a torn read of the request, which had no value yet."""
    first, second, third = queue(bench.store, root(), dependant("r0", "r1"), child_of_two())
    answer(bench.store, first, State.RESPONSE_RECEIVED, LIST_ID)
    bench.tear()
    answer(bench.store, second, State.RESPONSE_RECEIVED, "90000001-1")

    assert TORN in bench.client.happened
    bench.client.fault = lambda _: None
    request_xml = joining(bench, third) or ""
    assert f"<ListID>{LIST_ID}</ListID>" in request_xml
    assert "<Name>90000001-1</Name>" in request_xml


@pytest.mark.parametrize("read", READS)
def test_a_request_that_never_gets_its_value_is_shown_with_its_reference_and_not_sent(
    bench: Bench, read: Callable[[Bench, str], str | None]
) -> None:
    """The bodies were restored to a moment before the value was stored."""
    _, second = queue(bench.store, root(), dependant("r0"))
    waiting = record_of(bench.store, second)
    bench.store.commit(ChangeRequest(waiting, waiting.without_dependency(0, LATER)))

    request_xml = read(bench, second)

    assert len(bench.pauses) == TORN_READ.retries
    assert (request_xml is None) if read in {to_send, joining} else ("$from" in (request_xml or ""))


@pytest.mark.parametrize("state", [State.WAITING, State.ERROR])
@pytest.mark.parametrize("read", [detail, listed])
def test_a_request_that_waits_or_ended_without_its_values_is_read_once(
    bench: Bench, read: Callable[[Bench, str], str | None], state: State
) -> None:
    """Also if it ends in the commit that ends one of its dependencies with a response."""
    wrong = {"Name": {"$from": "r0", "path": "CustomerRet/Email"}}
    batch = [root(), new_request({"CustomerAddRq": {"CustomerAdd": wrong}}, "r1"), child_of_two()]
    first, _, third = queue(bench.store, *batch)
    if state is State.ERROR:
        answer(bench.store, first, State.RESPONSE_RECEIVED, LIST_ID)
    assert record_of(bench.store, third).state is state

    assert "$from" in (read(bench, third) or "")

    assert bench.pauses == []
