"""A request that has ended has one successor: by whichever route it is queued, and however often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import qbxml
from domain.errors import Gone, IdempotencyKeyReused, InvalidState, NotFound, PossiblyExecuted
from domain.queueing.new_request import Idempotency, NewRequest, Queued, Queueing, QueueRequest
from domain.queueing.successor import Replaces
from domain.records.audit import Action
from domain.records.batch import MAX_REQUESTS, batch_id, ids_of_batch, new_batch_id, position_of
from domain.records.request import ENDED, ErrorCode, QueuedRequest, Recovery, RequestError, State, WhetherExecuted
from domain.records.successor import id_again
from domain.storage.changes import AddRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from domain.webhooks.addresses import UrlRules
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    FixedClock,
    SequentialIds,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeStore

WRITE = "<CustomerAddRq><CustomerAdd><Name>{}</Name></CustomerAdd></CustomerAddRq>"
ids = st.uuids(version=4).map(str)


def xml_of(name: str) -> str:
    return f'<QBXML><QBXMLMsgsRq onError="stopOnError">{WRITE.format(name)}</QBXMLMsgsRq></QBXML>'


class Bench:
    """A connection with one request that has ended."""

    def __init__(self, **members: Any) -> None:
        self.store, self.clock = FakeStore(), FixedClock(NOON)
        self.queueing = Queueing(
            self.store, self.clock, SequentialIds(), quotas=None, url_rules=UrlRules(allow_http=True)
        )
        self.store.commit(Put(None, a_connection()))
        self.record = a_record(**{"request_name": "CustomerAddRq", **members})
        self.store.commit(AddRequest(self.record, xml_of("former"), ""))

    def queue(self, name: str = "corrected", *, key: str | None = None, app_id: str = APP_ID, **how: Any) -> Queued:
        """Queue a corrected request in place of the ended one."""
        new = NewRequest(qbxml.stored_request(xml_of(name), "13.0").with_request_label(""))
        idempotency = Idempotency.of(key, CONNECTION_ID, name) if key else None
        replaces = Replaces(how.pop("request_id", self.record.id), **how)
        return self.queueing.queue(QueueRequest(app_id, CONNECTION_ID, lambda _: new, idempotency, replaces=replaces))

    @property
    def queued(self) -> list[QueuedRequest]:
        """The requests that were queued after the first one."""
        return [one for one in self.store.records.values() if isinstance(one, QueuedRequest) and one != self.record]


errors = st.sampled_from(ErrorCode).map(lambda code: RequestError(code, "…"))
ended = st.builds(
    lambda state, error, lost, is_read: {
        "request_name": "CustomerQueryRq" if is_read else "CustomerAddRq",
        "state": state,
        "error": error if state is State.ERROR else None,
        "recovery": Recovery(begun=lost and not is_read),
    },
    st.sampled_from(sorted(ENDED)),
    errors,
    st.booleans(),
    st.booleans(),
)


@given(members=ended, force=st.booleans())
def test_a_write_is_queued_again_only_if_it_certainly_wrote_nothing_or_by_force(
    members: dict[str, Any], *, force: bool
) -> None:
    bench = Bench(**members)
    record = bench.record
    refused_codes = {
        "quickbooks_error",
        "qbxml_parse_error",
        "quickbooks_connection_error",
        "dependency_failed",
        "reference_unresolved",
        "reference_invalid",
        "not_sent_in_time",
    }
    is_certain = record.state is State.DISCARDED or (record.error is not None and record.error.code in refused_codes)
    if record.request_name.endswith("QueryRq"):
        expected = None
    elif record.state is State.RESPONSE_RECEIVED:
        expected = WhetherExecuted.YES
    else:
        expected = WhetherExecuted.NO if is_certain and not record.recovery.begun else WhetherExecuted.UNKNOWN

    assert record.executed is expected
    if force or expected in {None, WhetherExecuted.NO}:
        assert bench.queue(force=force).stored.record.id == id_again(record.id)
        assert len(bench.queued) == 1
    else:
        with pytest.raises(PossiblyExecuted) as refused:
            bench.queue(force=force)
        assert refused.value.details == {"executed": expected.value, "record_id": record.id}
        assert bench.queued == []


@pytest.mark.parametrize("state", sorted(set(State) - ENDED))
def test_a_request_that_has_not_ended_is_not_queued_again(state: State) -> None:
    bench = Bench(state=state)

    assert bench.record.executed is None
    with pytest.raises(InvalidState):
        bench.queue(force=True)
    assert bench.queued == []


@given(names=st.lists(st.sampled_from(["one", "two", "three"]), min_size=2, max_size=6), by_key=st.booleans())
def test_the_first_call_queues_the_successor_and_all_others_return_it(names: list[str], *, by_key: bool) -> None:
    bench = Bench(state=State.DISCARDED)

    calls = [bench.queue(name, key=f"{number}" if by_key else None) for number, name in enumerate(names)]

    assert len(bench.queued) == 1
    assert {call.stored.record.id for call in calls} == {id_again(bench.record.id)}
    assert [call.repeated for call in calls] == [False] + [True] * (len(names) - 1)
    assert all(f"<Name>{names[0]}</Name>" in call.stored.request_xml.replace("\n", "") for call in calls)


def test_a_successor_can_have_a_successor() -> None:
    bench = Bench(state=State.DISCARDED)
    first = bench.queue().stored.record
    bench.store.records[first.id] = replace(first, state=State.DISCARDED)

    second = bench.queue(request_id=first.id).stored.record

    assert len({bench.record.id, first.id, second.id}) == 3


def test_a_key_that_queued_another_request_is_refused_and_queues_no_successor() -> None:
    bench = Bench(state=State.DISCARDED)
    bench.queue("one", key="k")

    with pytest.raises(IdempotencyKeyReused):
        bench.queue("two", key="k")


def test_a_successor_that_was_deleted_is_gone_and_not_queued_once_more() -> None:
    bench = Bench(state=State.DISCARDED)
    successor = bench.queue().stored.record
    bench.store.commit(RemoveRequest(successor, timestamp(NOON)))

    with pytest.raises(Gone):
        bench.queue()
    assert bench.queued == [] or all(not isinstance(one, QueuedRequest) for one in bench.queued)


def test_a_request_that_was_deleted_has_no_successor() -> None:
    bench = Bench(state=State.DISCARDED)
    bench.store.commit(RemoveRequest(bench.record, timestamp(NOON)))

    with pytest.raises(Gone):
        bench.queue()


@pytest.mark.parametrize(
    "members",
    [{"app_id": OTHER_APP_ID}, {"connection_id": "c0000000-0000-4000-8000-00000000000f"}],
)
def test_only_a_request_of_the_connection_can_be_replaced(members: dict[str, str]) -> None:
    bench = Bench(state=State.DISCARDED, **members)

    with pytest.raises(NotFound):
        bench.queue(force=True)
    with pytest.raises(NotFound):
        bench.queue(request_id=str(uuid4()), force=True)


def test_a_call_by_an_actor_has_one_entry_in_the_audit_log() -> None:
    bench = Bench(state=State.DISCARDED)

    for _ in range(2):
        bench.queue(actor=AN_ACTOR)

    (entry,) = bench.store.audit_log.values()
    assert (entry.action, entry.request_id, entry.actor) == (
        Action.REQUEST_QUEUED_AGAIN,
        bench.record.id,
        AN_ACTOR,
    )
    assert entry.completed_at


@given(ids)
def test_the_successors_of_a_batch_are_a_batch_in_which_each_has_its_position(random_id: str) -> None:
    batch = ids_of_batch(new_batch_id(random_id), MAX_REQUESTS)

    successors = [id_again(member) for member in batch]

    assert successors == ids_of_batch(successors[0], MAX_REQUESTS)
    assert [position_of(member) for member in successors] == list(range(MAX_REQUESTS))
    assert {batch_id(member) for member in successors} == {successors[0]}
    assert {batch_id(member) for member in batch} == {batch[0]}
    assert len({*batch, *successors, *map(id_again, successors)}) == 3 * MAX_REQUESTS


@given(ids)
def test_a_request_that_was_queued_alone_is_part_of_no_batch_and_neither_is_its_successor(random_id: str) -> None:
    assert batch_id(random_id) is batch_id(id_again(random_id)) is None
    assert UUID(id_again(random_id)).version == 5
