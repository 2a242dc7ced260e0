"""A batch in which a request failed is continued: each request is queued again once, with links to what exists."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.batches.dependants import with_dependants
from domain.errors import Gone, InvalidRequest, InvalidState, NotFound, OtherSuccessor, PossiblyExecuted
from domain.queueing.continuation import ContinueBatch, Continuing
from domain.queueing.new_request import NewRequest, QueueBatch, QueuedBatch, QueueRequest
from domain.queueing.service import RequestService
from domain.queueing.successor import Replaces
from domain.records.approval import Approval, ApprovalDecision
from domain.records.audit import Action
from domain.records.batch import batch_id, id_at, position_of
from domain.records.request import ErrorCode, QueuedRequest, State, WhetherExecuted
from domain.records.successor import id_again
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.ports import RequestDetail
from domain.timestamps import timestamp
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
from tests.support.queueing import new_request, queueing_without_quotas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.records.connection import Connection

PATH = "CustomerRet/Name"


def customer(ref: str, *sources: str, depends_on: Sequence[str] = ()) -> NewRequest:
    """Return a write with a value of the response to each source."""
    values = [{"$from": source, "path": PATH} for source in sources]
    fields: dict[str, Any] = {"Name": f"C{ref}"} | dict(
        zip(("CompanyName", "FirstName", "LastName"), values, strict=False)
    )
    return new_request({"CustomerAddRq": {"CustomerAdd": fields}}, ref, *depends_on)


def response_of(record: QueuedRequest) -> str:
    return (
        '<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><CustomerAddRs statusCode="0" statusSeverity="Info">'
        f"<CustomerRet><Name>of {record.id[-6:]}</Name></CustomerRet></CustomerAddRs></QBXMLMsgsRs></QBXML>"
    )


class Bench:
    """A connection with a batch."""

    def __init__(self, *batch: NewRequest) -> None:
        self.store, self.clock = FakeStore(), FixedClock(NOON)
        self.queueing = queueing_without_quotas(self.store, self.clock, SequentialIds())
        self.continuing = Continuing(self.store, self.queueing)
        self.store.commit(Put(None, a_connection()))
        self.ids = self.queue(*batch)

    def queue(self, *batch: NewRequest) -> list[str]:
        """Queue a batch, and return its ids."""
        queued = self.queueing.queue_batch(QueueBatch(APP_ID, CONNECTION_ID, lambda _: batch))
        return [one.stored.record.id for one in queued.requests]

    def record(self, request_id: str) -> QueuedRequest:
        """Return a request."""
        record = self.store.request(request_id)
        assert isinstance(record, QueuedRequest)
        return record

    def xml(self, request_id: str) -> str:
        """Return a request as it is sent."""
        detail = self.store.request_detail(request_id)
        assert isinstance(detail, RequestDetail)
        return detail.stored.request_xml

    def respond(self, request_id: str) -> None:
        """End a request with a response, as a session does."""
        self._end(request_id, lambda record: record.moved(State.RESPONSE_RECEIVED, NOON), with_response=True)

    def fail(self, request_id: str, code: ErrorCode = ErrorCode.QUICKBOOKS_ERROR) -> None:
        """End a request with an error, as a session does."""
        self._end(request_id, lambda record: record.failed(NOON, code, "No.", {}))

    def _end(
        self, request_id: str, end: Callable[[QueuedRequest], QueuedRequest], *, with_response: bool = False
    ) -> None:
        for state in (State.TICKETED, State.SENT):
            record = self.record(request_id)
            self.store.commit(ChangeRequest(record, record.moved(state, NOON)))
        record = self.record(request_id)
        response = response_of(record) if with_response else None
        self.store.commit(*with_dependants(self.store, [ChangeRequest(record, end(record), response)], NOON))

    def continue_batch(
        self, step: str | None = None, corrected: NewRequest | None = None, **options: Any
    ) -> QueuedBatch:
        """Continue the batch. Without a request, the copy of the one that failed is queued."""

        def correction(_: Connection, former: NewRequest) -> NewRequest:
            del former
            assert corrected
            return corrected

        command: dict[str, Any] = {"app_id": APP_ID, "batch_id": self.ids[0], "actor": AN_ACTOR} | options
        return self.continuing.continue_batch(
            ContinueBatch(
                connection_id=CONNECTION_ID, step=step, correction=correction if corrected else None, **command
            )
        )

    def records(self) -> list[QueuedRequest]:
        """Return all requests that exist."""
        return [one for one in map(self.store.request, self.store.records) if isinstance(one, QueuedRequest)]

    def continue_everything(self) -> bool:
        """Continue every batch from each of its failed steps, twice. Return whether something was queued."""
        has_queued = False
        for step in self.records():
            if step.error and step.error.code == ErrorCode.QUICKBOOKS_ERROR:
                self.ids = [id_at(step.id, 0)]
                first, second = self.continue_batch(step.id), self.continue_batch(step.id)
                assert ids_in(first) == ids_in(second)
                assert second.repeated
                has_queued |= not first.repeated
        return has_queued

    def requests(self) -> set[str]:
        """Return the ids of all requests that were ever queued."""
        return {*self.store.records}


MAX_FAILURES = 4


def ids_in(batch: QueuedBatch) -> list[str]:
    return [one.stored.record.id for one in batch.requests]


def test_a_failed_step_and_what_ended_because_of_it_are_queued_again_with_values_of_what_exists() -> None:
    bench = Bench(customer("a"), customer("b", "a"), customer("c", "a", "b"), customer("d", depends_on=["c"]))
    a, b, c, d = bench.ids
    bench.respond(a)
    bench.fail(b)
    assert [bench.record(one).error.code for one in (c, d)] == ["dependency_failed"] * 2  # type: ignore[union-attr]

    continued = bench.continue_batch(b, customer("x", a))

    new_b, new_c, new_d = (id_again(one) for one in (b, c, d))
    assert (ids_in(continued), continued.repeated) == ([new_b, new_c, new_d], False)
    assert "<Name>Cx</Name>" in bench.xml(new_b)
    assert f"<CompanyName>of {a[-6:]}</CompanyName>" in bench.xml(new_b)
    assert "$from" not in bench.xml(new_b)
    bench.respond(new_b)
    assert f"<FirstName>of {new_b[-6:]}</FirstName>" in bench.xml(new_c)
    assert f"<CompanyName>of {a[-6:]}</CompanyName>" in bench.xml(new_c)
    assert [bench.record(one).is_in_queue for one in (new_c, new_d)] == [True, False]
    bench.respond(new_c)
    assert bench.record(new_d).is_in_queue
    assert [batch_id(one) for one in (new_b, new_d)] == [id_again(a)] * 2
    assert [position_of(one) for one in (new_b, new_c, new_d)] == [1, 2, 3]
    assert [queued.stored.replaces for queued in continued.requests] == [b, c, d]


def test_a_second_call_returns_the_first_batch_and_another_body_is_refused() -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    bench.fail(bench.ids[0])
    first = bench.continue_batch(corrected=customer("x"))
    before = bench.requests()

    again = [bench.continue_batch(corrected=customer("x")), bench.continue_batch()]

    assert [ids_in(one) for one in again] == [ids_in(first)] * 2
    assert all(one.repeated for one in again)
    with pytest.raises(OtherSuccessor) as refused:
        bench.continue_batch(corrected=customer("y"))
    assert refused.value.details == {"record_id": id_again(bench.ids[0])}
    assert bench.requests() == before
    (entry,) = bench.store.audit_log.values()
    assert (entry.action, entry.request_id) == (Action.REQUEST_QUEUED_AGAIN, bench.ids[0])


@pytest.mark.parametrize("executed", [WhetherExecuted.UNKNOWN, WhetherExecuted.YES])
def test_a_step_that_quickbooks_may_have_executed_is_continued_only_by_force(executed: WhetherExecuted) -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    bench.fail(bench.ids[0], ErrorCode.OUTCOME_UNKNOWN)
    step = bench.record(bench.ids[0])
    bench.store.commit(ChangeRequest(step, step.settled(NOON, executed)))
    before = bench.requests()

    with pytest.raises(PossiblyExecuted):
        bench.continue_batch()
    assert bench.requests() == before

    assert len(bench.continue_batch(force=True).requests) == 2


def settled_step(bench: Bench, objects: int) -> str:
    """Settle the first request of the batch: QuickBooks has executed it. Return the id of the query for its object."""
    bench.fail(bench.ids[0], ErrorCode.OUTCOME_UNKNOWN)
    step = bench.record(bench.ids[0])
    asked = step.asked(NOON)
    bench.store.commit(ChangeRequest(step, asked))
    bench.store.commit(ChangeRequest(asked, asked.settled(NOON, WhetherExecuted.YES)))
    query_id = asked.settling_query_id or ""
    query = a_record(id=query_id, request_name="CustomerQueryRq", settles=step.id)
    bench.store.commit(AddRequest(query, "<CustomerQueryRq/>", ""))
    rows = "".join(f"<CustomerRet><ListID>{n}</ListID><Name>found {n}</Name></CustomerRet>" for n in range(objects))
    answer = f'<QBXML><QBXMLMsgsRs><CustomerQueryRs statusCode="0">{rows}</CustomerQueryRs></QBXMLMsgsRs></QBXML>'
    sent = query.moved(State.TICKETED, NOON).moved(State.SENT, NOON)
    bench.store.commit(ChangeRequest(query, sent.moved(State.RESPONSE_RECEIVED, NOON).as_change_of(query), answer))
    return query_id


def test_if_quickbooks_has_executed_the_step_only_its_dependants_are_queued_with_values_of_its_object() -> None:
    bench = Bench(customer("a"), customer("b", "a"), customer("c", "b"), customer("d", depends_on=["a"]))
    settled_step(bench, 1)

    first, second = bench.continue_batch(), bench.continue_batch()

    _, *others = bench.ids
    assert ids_in(first) == [id_again(one) for one in others]
    assert (ids_in(second), first.repeated, second.repeated) == (ids_in(first), False, True)
    new_b, new_c, new_d = ids_in(first)
    assert "<CompanyName>found 0</CompanyName>" in bench.xml(new_b)
    assert [bench.record(one).is_in_queue for one in (new_b, new_c, new_d)] == [True, False, True]
    assert id_again(bench.ids[0]) not in bench.store.records


def test_a_step_that_quickbooks_has_executed_is_queued_again_with_a_correction_only_by_force() -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    settled_step(bench, 1)

    with pytest.raises(PossiblyExecuted):
        bench.continue_batch(corrected=customer("x"))

    new_a, new_b = ids_in(bench.continue_batch(corrected=customer("x"), force=True))
    bench.respond(new_a)
    assert f"<CompanyName>of {new_a[-6:]}</CompanyName>" in bench.xml(new_b)


@pytest.mark.parametrize("objects", [0, 2])
def test_without_one_object_of_the_step_nothing_is_bound_to_it(objects: int) -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    settled_step(bench, objects)

    with pytest.raises(PossiblyExecuted):
        bench.continue_batch()


def test_a_step_that_quickbooks_has_executed_and_that_nothing_needs_is_not_queued_again() -> None:
    bench = Bench(customer("a"), customer("b"))
    settled_step(bench, 1)

    with pytest.raises(PossiblyExecuted):
        bench.continue_batch()


def test_if_the_query_for_the_object_was_deleted_nothing_is_bound_to_it() -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    query = bench.record(settled_step(bench, 1))
    bench.store.commit(RemoveRequest(query, timestamp(NOON)))

    with pytest.raises(PossiblyExecuted):
        bench.continue_batch()


def test_a_step_that_was_queued_again_alone_is_not_queued_once_more_and_its_dependants_get_its_value() -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    a, b = bench.ids
    bench.fail(a)
    alone = QueueRequest(APP_ID, CONNECTION_ID, lambda _: customer("x"), replaces=Replaces(a))
    assert bench.queueing.queue(alone).stored.record.id == id_again(a)
    assert ids_in(bench.continue_batch()) == [id_again(a)]
    bench.respond(id_again(a))

    continued = bench.continue_batch()

    assert (ids_in(continued), continued.repeated) == ([id_again(a), id_again(b)], False)
    assert f"<CompanyName>of {id_again(a)[-6:]}</CompanyName>" in bench.xml(id_again(b))
    assert bench.record(id_again(b)).is_in_queue


def test_a_dependant_of_two_failed_steps_is_queued_when_both_have_a_successor_with_a_response() -> None:
    bench = Bench(customer("a"), customer("b"), customer("c", "a", "b"))
    a, b, c = bench.ids
    bench.fail(a)
    bench.fail(b)

    with pytest.raises(InvalidRequest) as refused:
        bench.continue_batch()
    assert all(one in refused.value.message for one in (a, b))
    assert ids_in(bench.continue_batch(a)) == [id_again(a)]
    bench.respond(id_again(a))
    assert ids_in(bench.continue_batch(b)) == [id_again(b), id_again(c)]
    bench.respond(id_again(b))

    assert bench.record(id_again(c)).is_in_queue


def test_a_source_that_was_deleted_is_gone() -> None:
    outside = Bench(customer("z"))
    (z,) = outside.ids
    outside.respond(z)
    outside.ids = outside.queue(customer("a"), customer("b", "a", z))
    a, b = outside.ids
    outside.respond(a)
    outside.fail(b)
    for source in (z, a):
        bench = outside
        record = bench.record(source)
        kept = dict(bench.store.records)
        bench.store.commit(RemoveRequest(record, timestamp(NOON)))
        before = bench.requests()
        with pytest.raises(Gone) as gone:
            bench.continue_batch()
        assert source in gone.value.message
        assert bench.requests() == before
        bench.store.records.update(kept)


def test_a_step_or_a_successor_that_was_deleted_is_gone() -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    a, b = bench.ids
    bench.fail(a)
    bench.continue_batch()
    bench.store.commit(RemoveRequest(bench.record(id_again(b)), timestamp(NOON)))
    bench.respond(id_again(a))
    with pytest.raises(Gone):
        bench.continue_batch()

    bench = Bench(customer("a"), customer("b", "a"))
    bench.fail(bench.ids[0])
    bench.store.commit(RemoveRequest(bench.record(bench.ids[0]), timestamp(NOON)))
    for step in (None, bench.ids[0]):
        with pytest.raises(Gone):
            bench.continue_batch(step)


def test_a_step_that_is_deleted_while_its_request_is_read_is_gone() -> None:
    bench = Bench(customer("a"))
    (a,) = bench.ids
    bench.fail(a)
    read = bench.store.request_batch

    def read_too_late(*arguments: Any, **options: Any) -> Any:
        bench.store.commit(RemoveRequest(bench.record(a), timestamp(NOON)))
        return read(*arguments, **options)

    bench.store.request_batch = read_too_late  # type: ignore[method-assign]
    with pytest.raises(Gone) as gone:
        bench.continue_batch()

    assert a in gone.value.message


def test_the_batch_of_a_request_has_only_requests_of_its_app() -> None:
    bench = Bench(customer("a"), customer("b"))
    a, b = bench.ids
    bench.store.records[b] = replace(bench.record(b), app_id=OTHER_APP_ID)

    found = RequestService(bench.store, bench.clock).batch_of(bench.record(a))

    assert [record.id for record in found] == [a]


def test_a_correction_with_another_label_is_another_request() -> None:
    bench = Bench(customer("a"))
    bench.fail(bench.ids[0])
    corrected = customer("a")
    bench.continue_batch(corrected=corrected)
    other = replace(corrected, request=corrected.request.with_request_label("other"))

    bench.continue_batch(corrected=corrected)
    with pytest.raises(OtherSuccessor):
        bench.continue_batch(corrected=other)


def test_a_step_that_somebody_rejected_is_continued_only_with_a_correction() -> None:
    bench = Bench(customer("a"), customer("b", "a"))
    record = bench.record(bench.ids[0])
    rejection = Approval(queued_by="anne", decision=ApprovalDecision.REJECTED, reason="Too late.")
    rejected = replace(record.moved(State.DISCARDED, NOON), approval=rejection)
    bench.store.commit(*with_dependants(bench.store, [ChangeRequest(record, rejected)], NOON))

    with pytest.raises(InvalidState, match="rejected"):
        bench.continue_batch()
    continued = bench.continue_batch(corrected=customer("a"))

    assert len(continued.requests) == 2


def test_only_a_batch_with_a_failed_request_is_continued() -> None:
    bench = Bench(customer("a"), customer("b", "a"), customer("c"))
    a, b, c = bench.ids
    with pytest.raises(InvalidState):
        bench.continue_batch()
    bench.fail(a)
    with pytest.raises(InvalidState, match=a):
        bench.continue_batch(b)
    with pytest.raises(InvalidState):
        bench.continue_batch(c)
    with pytest.raises(InvalidRequest):
        bench.continue_batch("c0000000-0000-4000-8000-000000000001")
    wrong: list[dict[str, Any]] = [
        {"app_id": OTHER_APP_ID},
        {"batch_id": b},
        {"batch_id": "b0000000-0000-4000-8000-000000000001"},
    ]
    for members in wrong:
        with pytest.raises(NotFound):
            bench.continue_batch(**members)


def test_requests_of_the_former_batch_do_not_count_towards_the_bound_of_outside_requests() -> None:
    bench = Bench(*(customer(f"r{number}") for number in range(25)))
    *former, last = bench.ids
    for request_id in former:
        bench.respond(request_id)
    bench.fail(last)
    (outside,) = bench.queue(customer("z"))
    bench.respond(outside)

    continued = bench.continue_batch(corrected=customer("x", outside, depends_on=former))

    assert ids_in(continued) == [id_again(last)]


@given(others=st.lists(st.sampled_from(["alone", "continued", "dependant", "corrected"]), min_size=1, max_size=3))
def test_a_batch_that_is_continued_while_others_queue_its_requests_again_queues_each_once(others: list[str]) -> None:
    """The other calls run before each commit of the first one."""
    bench = Bench(customer("a"), customer("b", "a"), customer("c", "b"))
    a, b, _ = bench.ids
    bench.fail(a)
    commit, waiting = bench.store.commit, iter(others)

    def other(what: str) -> None:
        if what in {"continued", "corrected"}:
            with suppress(OtherSuccessor):
                bench.continue_batch(corrected=customer("y") if what == "corrected" else None)
            return
        replaces = Replaces(a if what == "alone" else b)
        bench.queueing.queue(QueueRequest(APP_ID, CONNECTION_ID, lambda _: customer("x"), replaces=replaces))

    def overtaken(*changes: Any) -> Any:
        if (what := next(waiting, None)) is not None:
            other(what)
        return commit(*changes)

    bench.store.commit = overtaken  # type: ignore[method-assign]
    continued = bench.continue_batch()

    assert set(ids_in(continued)) <= {*map(id_again, bench.ids)}
    assert id_again(a) in ids_in(continued)
    assert bench.requests() <= {*bench.ids, *map(id_again, bench.ids)}
    successors = [bench.record(one) for one in sorted(bench.requests() - {*bench.ids})]
    for record in successors:
        dependants = [id_at(record.id, position) for position in record.dependants]
        assert {one for one in dependants if one in bench.requests()} == {*dependants}
        for position in record.dependencies:
            assert position_of(record.id) in bench.record(id_at(record.id, position)).dependants


shapes = st.integers(1, 7).flatmap(
    lambda size: st.tuples(
        *(st.sets(st.integers(0, index - 1), max_size=3) if index else st.just(set()) for index in range(size))
    )
)


@settings(max_examples=40, deadline=None)
@given(shape=shapes, data=st.data())
def test_a_batch_that_is_continued_until_all_steps_succeed_executes_each_step_once(
    shape: tuple[set[int], ...], data: st.DataObject
) -> None:
    """Requests end in any order, fail up to four times, and all batches are continued whenever nothing can be sent."""
    bench = Bench(*(customer(f"r{i}", *(f"r{one}" for one in sorted(sources))) for i, sources in enumerate(shape)))
    executed, failures = set[int](), 0
    while len(executed) < len(shape):
        ready = sorted(one.id for one in bench.records() if one.is_in_queue)
        assert ready or bench.continue_everything(), "what can be queued again is queued"
        for request_id in ready:
            position = position_of(request_id)
            assert position not in executed, "a step that was executed is never queued again"
            assert shape[position] <= executed, "a step is queued after all that it depends on"
            assert "$from" not in bench.xml(request_id)
            if failures < MAX_FAILURES and data.draw(st.booleans()):
                failures += 1
                bench.fail(request_id)
            else:
                executed.add(position)
                bench.respond(request_id)
