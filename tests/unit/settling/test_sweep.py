"""The sweep settles the writes that the stream has not settled."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Unavailable
from domain.maintenance import unsettled_writes
from domain.maintenance.unsettled_writes import settle_writes
from domain.records.request import LAST_IN_LINE, QueuedRequest, Recovery
from domain.settling.service import MAX_WAITING, SettlingService
from domain.storage.changes import AddRequest, Put
from domain.timestamps import timestamp
from tests.support.builders import NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.unknown_writes import FILE, add_unknown_write, end_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VENDOR = "<VendorRet><ListID>8-1</ListID></VendorRet>"


class Bench:
    """A connection and a service."""

    def __init__(self) -> None:
        self.store, self.clock = FakeStore(), FixedClock(NOON + timedelta(minutes=40))
        self.service = SettlingService(self.store, self.clock)
        self.store.commit(Put(None, a_connection()))
        self.failures: list[Exception] = []

    def sweep(self, until: timedelta = timedelta(minutes=4)) -> tuple[int, bool]:
        return settle_writes(self.store, self.service, self.clock, self.clock() + until, self.failed)

    def failed(self, error: Exception, _: Mapping[str, str]) -> None:
        self.failures.append(error)

    @property
    def queries(self) -> list[QueuedRequest]:
        records = (one for one in self.store.records.values() if isinstance(one, QueuedRequest))
        return [one for one in records if one.settles]


def test_a_write_is_asked_about_when_quickbooks_cannot_execute_it_any_more() -> None:
    bench = Bench()
    until = timestamp(NOON + timedelta(minutes=50))
    add_unknown_write(bench.store, recovery=Recovery(begun=True, company_file_key=FILE, running_until=until))

    assert bench.sweep() == (0, True)
    bench.clock.advance(minutes=10)
    assert bench.sweep() == (1, True)
    assert bench.sweep() == (0, True)
    assert len(bench.queries) == 1


def test_an_answer_that_the_stream_did_not_store_is_stored() -> None:
    bench = Bench()
    write = add_unknown_write(bench.store)
    bench.sweep()
    end_query(bench.store, bench.queries[0].id, bench.clock(), VENDOR)

    assert bench.sweep() == (1, True)
    settled = bench.store.request(write.id)
    assert isinstance(settled, QueuedRequest)
    assert settled.executed == "no"
    assert bench.store.unsettled_ids() == []


def test_many_writes_as_after_a_restore_are_asked_about_in_parts() -> None:
    bench = Bench()
    for _ in range(MAX_WAITING + 3):
        add_unknown_write(bench.store)

    assert bench.sweep() == (MAX_WAITING, True)
    assert bench.sweep() == (0, True), "the others wait"
    assert len(bench.queries) == MAX_WAITING
    assert {query.queue_priority for query in bench.queries} == {LAST_IN_LINE}
    end_query(bench.store, bench.queries[0].id, bench.clock(), VENDOR)
    assert bench.sweep() == (2, True), "one answer is stored, and one write is asked about"
    assert bench.failures == []


def waiting(bench: Bench) -> str:
    """Store a write about which QuickBooks was asked, and return its id."""
    write = add_unknown_write(bench.store)
    bench.service.proceed(write.id)
    return write.id


def answered(bench: Bench) -> str:
    """Store a write whose answer the stream did not store."""
    write_id = waiting(bench)
    (query,) = (one for one in bench.queries if one.settles == write_id)
    end_query(bench.store, query.id, bench.clock(), VENDOR)
    return write_id


def running(bench: Bench) -> str:
    """Store a write that QuickBooks may still be executing."""
    until = timestamp(bench.clock() + timedelta(minutes=1))
    recovery = Recovery(begun=True, company_file_key=FILE, running_until=until)
    return add_unknown_write(bench.store, recovery=recovery).id


def new(bench: Bench) -> str:
    """Store a write about which nobody has asked."""
    return add_unknown_write(bench.store).id


@given(kinds=st.lists(st.sampled_from([waiting, answered, running, new]), max_size=12), batch=st.integers(1, 4))
def test_a_step_is_taken_only_for_what_is_due_however_much_waits(kinds: list[Any], batch: int) -> None:
    bench = Bench()
    ids = [kind(bench) for kind in kinds]
    taken: list[str] = []
    bench.service.proceed = taken.append  # type: ignore[assignment, method-assign]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(unsettled_writes, "BATCH", batch)
        bench.sweep()

    assert sorted(taken) == sorted(one for kind, one in zip(kinds, ids, strict=True) if kind in {answered, new})


def test_a_run_ends_at_its_time_although_nothing_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsettled_writes, "BATCH", 1)
    bench = Bench()
    for _ in range(10):
        running(bench)
    read, batches = bench.store.records_by_id, list[int]()

    def slow(ids: Sequence[str], *, may_lag: bool = False) -> Any:
        batches.append(len(ids))
        bench.clock.advance(seconds=10)
        return read(ids, may_lag=may_lag)

    monkeypatch.setattr(bench.store, "records_by_id", slow)

    assert bench.sweep(timedelta(seconds=50)) == (0, False)
    assert 2 < len(batches) <= 6


def test_a_read_that_fails_leaves_the_other_writes_to_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsettled_writes, "BATCH", 1)
    bench = Bench()
    ids = [new(bench), new(bench)]
    read = bench.store.records_by_id

    def failing(found: Sequence[str], *, may_lag: bool = False) -> Any:
        if ids[0] in found:
            raise Unavailable("Later.")
        return read(found, may_lag=may_lag)

    monkeypatch.setattr(bench.store, "records_by_id", failing)

    assert bench.sweep() == (1, True)
    assert len(bench.failures) == 1


def test_of_a_connection_of_which_too_many_queries_wait_one_write_is_tried() -> None:
    bench = Bench()
    for _ in range(MAX_WAITING + 3):
        add_unknown_write(bench.store)
    bench.sweep()
    taken: list[str] = []
    proceed = bench.service.proceed

    def counted(write_id: str) -> QueuedRequest | None:
        taken.append(write_id)
        return proceed(write_id)

    bench.service.proceed = counted  # type: ignore[method-assign]

    assert bench.sweep() == (0, True)
    assert len(taken) == 1


def test_a_run_looks_at_some_writes_and_the_next_run_at_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsettled_writes, "WRITES_A_SWEEP", 1)
    bench = Bench()
    for _ in range(3):
        add_unknown_write(bench.store)
    for _ in range(100):
        bench.sweep()
        bench.clock.advance(minutes=5)

    assert len(bench.queries) == 3
    assert bench.sweep()[1] is False


def test_a_run_ends_when_its_time_is_over() -> None:
    bench = Bench()
    add_unknown_write(bench.store)

    assert bench.sweep(timedelta(0)) == (0, False)


def test_a_write_that_fails_does_not_hold_up_the_others() -> None:
    bench = Bench()
    failing = [add_unknown_write(bench.store), add_unknown_write(bench.store), add_unknown_write(bench.store)]
    errors = {failing[0].id: ValueError("a record that cannot be read"), failing[1].id: Unavailable("no answer")}
    proceed = bench.service.proceed

    def sometimes(write_id: str) -> QueuedRequest | None:
        if error := errors.get(write_id):
            raise error
        return proceed(write_id)

    bench.service.proceed = sometimes  # type: ignore[method-assign]

    assert bench.sweep() == (1, True)
    assert [str(error) for error in bench.failures] == ["a record that cannot be read"]
    bench.service.proceed = proceed  # type: ignore[method-assign]
    assert bench.sweep() == (2, True)


def test_the_queue_of_other_requests_is_not_touched() -> None:
    bench = Bench()
    other = a_record()
    bench.store.commit(AddRequest(other, REQUEST_XML, ""))
    add_unknown_write(bench.store)
    bench.sweep()

    assert bench.store.queue_front(other.connection_id, 1) == [other]
