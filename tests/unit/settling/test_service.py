"""Settling: QuickBooks is asked once at a time, and what they show is stored with the write."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import Conflict, Gone, InvalidState, NotFound, TooManyRequests
from domain.records.batch import ids_of_batch
from domain.records.lookup import IfExists, LookupStep, ObjectLookup
from domain.records.request import (
    LAST_IN_LINE,
    ErrorCode,
    QueuedRequest,
    Recovery,
    RequestError,
    State,
    WhetherExecuted,
    settling_id,
)
from domain.settling import service
from domain.settling.queries import MAX_CHANGES
from domain.settling.service import MAX_WAITING, SettlingService
from domain.storage.changes import AddRequest, Change, ChangeRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore
from tests.support.unknown_writes import (
    ADDITION,
    DELETION,
    FILE,
    MESSAGE_SET,
    add_executed,
    add_unknown_write,
    end_query,
)

VENDOR = "<VendorRet><ListID>8-1</ListID></VendorRet>"
CUSTOMER = "<CustomerRet><TimeCreated>2026-03-14T07:00:01-05:00</TimeCreated><Name>Ada</Name></CustomerRet>"
INVOICE = (
    "<InvoiceAddRq><InvoiceAdd><CustomerRef><FullName>Ada</FullName></CustomerRef>"
    "<InvoiceLineAdd><Amount>5.00</Amount></InvoiceLineAdd></InvoiceAdd></InvoiceAddRq>"
)


class Bench:
    """A connection with an unknown write."""

    def __init__(self, xml: str = DELETION, **fields: Any) -> None:
        self.store, self.clock = FakeStore(), FixedClock(NOON + timedelta(minutes=40))
        self.woken: list[str] = []
        self.service = SettlingService(self.store, self.clock, self.woken.append)
        self.store.commit(Put(None, a_connection()))
        self.write = add_unknown_write(self.store, xml, **fields)

    @property
    def record(self) -> QueuedRequest:
        """The write as it is stored."""
        record = self.store.request(self.write.id)
        assert isinstance(record, QueuedRequest)
        return record

    @property
    def queries(self) -> list[QueuedRequest]:
        """The queries that settle the write, in the order of the queue."""
        records = (one for one in self.store.records.values() if isinstance(one, QueuedRequest))
        return sorted((one for one in records if one.settles == self.write.id), key=lambda one: one.place_in_queue)

    def settle(self) -> QueuedRequest:
        return self.service.settle(APP_ID, self.write.id).record

    def answer(self, *rows: str, **how: Any) -> WhetherExecuted | None:
        """Let QuickBooks answer the queries that wait, in their order. Return what the last answer shows."""
        shown = None
        waiting = [one for one in self.queries if one.state is State.WAITING]
        for number, (query, answer) in enumerate(zip(waiting, rows, strict=True)):
            end_query(self.store, query.id, self.clock() + timedelta(minutes=1, seconds=number), answer, **how)
            shown = self.proceed()
        return shown

    def proceed(self) -> WhetherExecuted | None:
        """Take the next step, as the stream and the sweep do. Return what the answer shows that this stores."""
        write = self.service.proceed(self.write.id)
        return write.settling.executed if write else None


def test_the_query_waits_behind_the_other_requests_without_a_webhook() -> None:
    bench = Bench()
    bench.store.commit(AddRequest(a_record(), REQUEST_XML, ""))

    after = bench.settle()

    (query,) = bench.queries
    assert (query.request_name, query.queue_priority) == ("VendorQueryRq", LAST_IN_LINE)
    assert query.webhook.url is None
    assert query.id == after.settling_query_id == settling_id(bench.write.id, 1)
    assert bench.store.queue_front(CONNECTION_ID, 9)[-1].id == query.id
    assert (after.state, after.executed) == (State.ERROR, WhetherExecuted.UNKNOWN)
    assert bench.record == after


def test_calls_queue_one_query_until_it_has_settled_nothing() -> None:
    bench = Bench()
    assert bench.settle() == bench.settle()
    assert bench.answer("") is WhetherExecuted.UNKNOWN

    third = bench.settle()

    assert [query.id for query in bench.queries] == [settling_id(bench.write.id, number) for number in (1, 2)]
    assert bench.settle() == third
    assert bench.answer(VENDOR) is WhetherExecuted.NO
    assert bench.settle() == bench.record
    assert len(bench.queries) == 2
    assert (bench.record.state, bench.record.executed) == (State.ERROR, WhetherExecuted.NO)


def test_two_calls_at_once_queue_one_query() -> None:
    bench = Bench()
    commit, other = bench.store.commit, SettlingService(bench.store, bench.clock)

    def interleaved(*changes: Change) -> None:
        bench.store.commit = commit  # type: ignore[method-assign]
        other.settle(APP_ID, bench.write.id)
        commit(*changes)

    bench.store.commit = interleaved  # type: ignore[method-assign]

    assert bench.settle() == bench.record
    assert len(bench.queries) == 1


def test_a_call_stores_an_answer_whose_consumer_failed() -> None:
    bench = Bench()
    bench.settle()
    end_query(bench.store, bench.queries[0].id, bench.clock(), VENDOR)

    assert bench.settle().executed is WhetherExecuted.NO


def test_an_answer_that_comes_twice_is_stored_once() -> None:
    bench = Bench()
    bench.settle()
    assert bench.answer(VENDOR) is WhetherExecuted.NO
    before = bench.record

    assert bench.proceed() is None
    assert bench.record == before


def test_an_answer_to_an_earlier_query_is_not_stored() -> None:
    bench = Bench()
    bench.settle()
    bench.answer("")
    bench.settle()

    assert bench.proceed() is None
    assert bench.record.settling.executed is None


def test_the_books_are_asked_again_after_the_query_was_deleted() -> None:
    bench = Bench()
    bench.settle()
    (query,) = bench.queries
    bench.store.commit(RemoveRequest(query, timestamp(NOON)))

    assert bench.settle().settling_query_id == settling_id(bench.write.id, 2)


def test_the_books_are_asked_only_when_quickbooks_cannot_execute_the_write_any_more() -> None:
    until = timestamp(NOON + timedelta(minutes=50))
    bench = Bench(recovery=Recovery(begun=True, running_until=until, first_sent_at=timestamp(NOON)))
    with pytest.raises(InvalidState, match="may still be executing"):
        bench.settle()
    bench.clock.advance(minutes=10)

    assert bench.settle().settling_query_id


KNOWN: tuple[dict[str, Any], ...] = (
    {"state": State.RESPONSE_RECEIVED, "error": None},
    {"state": State.WAITING, "error": None},
    {"error": RequestError(ErrorCode.QUICKBOOKS_ERROR, "…")},
    {"request_name": "VendorQueryRq"},
)


@for_each("fields", KNOWN)
def test_only_an_unknown_write_can_be_settled(fields: dict[str, Any]) -> None:
    bench = Bench(**fields)
    with pytest.raises(InvalidState, match="outcome is unknown"):
        bench.settle()


def test_a_write_without_a_query_cannot_be_settled() -> None:
    bench = Bench("<DataExtDelRq><OwnerID>0</OwnerID><DataExtName>Birthday</DataExtName></DataExtDelRq>")
    with pytest.raises(InvalidState, match="No query can tell"):
        bench.settle()


def test_a_deleted_write_and_the_write_of_another_app_cannot_be_settled() -> None:
    bench = Bench()
    with pytest.raises(NotFound):
        bench.service.settle(OTHER_APP_ID, bench.write.id)
    bench.store.commit(RemoveRequest(bench.write, timestamp(NOON)))
    with pytest.raises(Gone):
        bench.settle()


def test_so_many_queries_wait_at_most() -> None:
    bench = Bench()
    for _ in range(MAX_WAITING):
        bench.store.commit(AddRequest(a_record(queue_priority=LAST_IN_LINE), REQUEST_XML, ""))
    with pytest.raises(TooManyRequests):
        bench.settle()
    assert bench.queries == []


def test_the_simulator_of_a_test_connection_is_woken() -> None:
    bench = Bench()
    bench.settle()
    assert bench.woken == []
    connection = bench.store.connection(CONNECTION_ID)
    assert connection
    bench.store.commit(Put(connection, replace(connection, simulated=True).changed(timestamp(NOON))))
    bench.answer("")
    bench.settle()

    assert bench.woken == [CONNECTION_ID]


def test_an_answer_from_another_company_file_settles_nothing() -> None:
    for file in ("another", None):
        bench = Bench()
        bench.settle()
        assert bench.answer(VENDOR, file=file) is WhetherExecuted.UNKNOWN


def test_a_query_that_failed_settles_nothing() -> None:
    bench = Bench()
    bench.settle()
    assert bench.answer(VENDOR, code=3120) is WhetherExecuted.UNKNOWN
    bench.settle()
    query = bench.queries[-1]
    bench.store.commit(ChangeRequest(query, query.moved(State.DISCARDED, NOON)))

    assert bench.proceed() is WhetherExecuted.UNKNOWN


def calibrated(bench: Bench) -> None:
    """Store additions that show a clock that is an hour behind: three hours before the sending, and after it."""
    add_executed(bench.store, NOON - timedelta(hours=3), "2026-03-14T03:00:00-05:00")
    add_executed(bench.store, NOON + timedelta(minutes=10), "2026-03-14T06:10:00-05:00")


OURS = CUSTOMER.replace("07:00:01", "06:00:00")


def test_an_addition_is_settled_when_all_its_queries_are_answered() -> None:
    bench = Bench(ADDITION)
    calibrated(bench)
    bench.settle()

    assert [query.request_name for query in bench.queries] == [
        "CustomerQueryRq",
        "CustomerQueryRq",
        "ListDeletedQueryRq",
    ]
    assert [query.id for query in bench.queries] == ids_of_batch(bench.record.settling_query_id or "", 3)
    changed = OURS.replace("</CustomerRet>", "<TimeModified>2026-03-14T06:00:00-05:00</TimeModified></CustomerRet>")
    assert bench.answer(OURS, changed, "") is WhetherExecuted.YES
    assert bench.record.executed is WhetherExecuted.YES


def test_an_addition_is_not_executed_if_nothing_has_happened() -> None:
    bench = Bench(ADDITION)
    calibrated(bench)
    bench.settle()

    assert bench.answer("", "", "") is WhetherExecuted.NO


def test_without_a_clock_nothing_is_known_about_an_addition() -> None:
    bench = Bench(ADDITION)
    bench.settle()

    assert bench.answer("", "", "") is WhetherExecuted.UNKNOWN


def test_two_objects_that_may_be_that_of_the_request_settle_nothing() -> None:
    bench = Bench(ADDITION.replace("</Name>", "</Name><CompanyName>Analytical</CompanyName>"))
    calibrated(bench)
    bench.settle()
    ours = OURS.replace("</Name>", "</Name><CompanyName>Analytical</CompanyName>")
    changed = OURS.replace("</CustomerRet>", "<TimeModified>2026-03-14T06:00:00-05:00</TimeModified></CustomerRet>")

    assert bench.answer(ours + OURS, changed, "") is WhetherExecuted.UNKNOWN


def test_changes_that_may_not_be_all_settle_nothing() -> None:
    old = "<CustomerRet><TimeModified>2026-03-14T01:00:00-05:00</TimeModified></CustomerRet>"
    for number, expected in ((MAX_CHANGES - 1, WhetherExecuted.NO), (MAX_CHANGES, WhetherExecuted.UNKNOWN)):
        bench = Bench(ADDITION)
        calibrated(bench)
        bench.settle()
        assert bench.answer("", old * number, "") is expected


SAMPLES: tuple[dict[str, Any], ...] = (
    {"recovery": Recovery(company_file_key="another")},
    {"request_name": "VendorModRq"},
    {"recovery": Recovery(company_file_key="0123456789abcdef", begun=True)},
    {"lookup": ObjectLookup(IfExists.UPDATE).modifying("a" * 20)},
)


@for_each("fields", SAMPLES)
def test_only_an_addition_that_was_sent_once_in_the_same_file_shows_the_clock(fields: dict[str, Any]) -> None:
    bench = Bench(ADDITION)
    add_executed(bench.store, NOON - timedelta(hours=3), "2026-03-14T03:00:00-05:00", **fields)
    bench.settle()

    assert bench.answer("", "", "") is WhetherExecuted.UNKNOWN


MOD = (
    f'<CustomerModRq requestID="mod-{"a" * 20}"><CustomerMod><ListID>8-1</ListID><EditSequence>5</EditSequence>'
    "<Phone>1</Phone></CustomerMod></CustomerModRq>"
)


def unknown_update(mod: str | None) -> Bench:
    """Return a bench with an addition that sent a Mod in its place, and whether it was executed is unknown."""
    lookup = ObjectLookup(IfExists.UPDATE).modifying("a" * 20)
    recovery = Recovery(company_file_key=FILE, begun=True)
    bench = Bench(ADDITION, lookup=replace(lookup, step=LookupStep.LAST_LOOK), recovery=recovery)
    text = MESSAGE_SET.format(mod) if mod else None
    bench.store.commit(ChangeRequest(bench.write, bench.write.changed(NOON), modification_xml=text))
    return bench


@for_each("answer", ((5, WhetherExecuted.NO), (6, WhetherExecuted.UNKNOWN)))
def test_an_update_is_settled_by_the_edit_sequence_of_the_mod_that_it_sent(
    answer: tuple[int, WhetherExecuted],
) -> None:
    sequence, expected = answer
    bench = unknown_update(MOD)
    calibrated(bench)
    bench.settle()

    assert [query.request_name for query in bench.queries] == ["CustomerQueryRq"]
    row = f"<CustomerRet><ListID>8-1</ListID><EditSequence>{sequence}</EditSequence></CustomerRet>"
    assert bench.answer(row) is expected


def test_an_update_whose_mod_is_missing_cannot_be_settled() -> None:
    with pytest.raises(InvalidState, match="No query can tell"):
        unknown_update(None).settle()


@for_each("name", ("Ada", "Bo"))
def test_an_object_that_another_request_may_have_made_settles_nothing(name: str) -> None:
    bench = Bench(ADDITION)
    calibrated(bench)
    other = ADDITION.replace("Ada", name)
    add_executed(
        bench.store, NOON + timedelta(minutes=5), "2026-03-14T06:05:00-05:00", other, request_name="CustomerAddRq"
    )
    bench.settle()

    expected = WhetherExecuted.UNKNOWN if name == "Ada" else WhetherExecuted.YES
    changed = OURS.replace("</CustomerRet>", "<TimeModified>2026-03-14T06:00:00-05:00</TimeModified></CustomerRet>")
    assert bench.answer(OURS, changed, "") is expected


def test_too_many_other_requests_settle_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_ENTRIES", 2)
    bench = Bench(ADDITION)
    calibrated(bench)
    bench.settle()
    changed = OURS.replace("</CustomerRet>", "<TimeModified>2026-03-14T06:00:00-05:00</TimeModified></CustomerRet>")

    assert bench.answer(OURS, changed, "") is WhetherExecuted.UNKNOWN


def test_the_first_sending_counts_and_not_the_last_one() -> None:
    later = timestamp(NOON + timedelta(hours=5))
    recovery = Recovery(begun=True, company_file_key="0123456789abcdef", first_sent_at=timestamp(NOON))
    bench = Bench(ADDITION, sent_at=later, recovery=recovery)
    bench.clock.advance(hours=6)
    calibrated(bench)
    bench.settle()
    changed = OURS.replace("</CustomerRet>", "<TimeModified>2026-03-14T06:00:00-05:00</TimeModified></CustomerRet>")

    assert bench.answer("", changed, "") is WhetherExecuted.UNKNOWN


def test_nothing_is_known_about_an_addition_whose_first_sending_is_not_known() -> None:
    bench = Bench(ADDITION, recovery=Recovery(begun=True, company_file_key="0123456789abcdef"))
    calibrated(bench)
    bench.settle()

    assert bench.answer("", "", "") is WhetherExecuted.UNKNOWN


def test_an_addition_without_name_or_number_is_settled_by_what_has_changed() -> None:
    bench = Bench(INVOICE)
    bench.settle()

    assert [query.request_name for query in bench.queries] == ["InvoiceQueryRq", "TxnDeletedQueryRq"]


def test_nothing_is_queued_for_a_connection_that_is_being_deleted() -> None:
    bench = Bench()
    connection = bench.store.connection(CONNECTION_ID)
    assert connection
    commit = bench.store.commit

    def interleaved(*changes: Change) -> None:
        bench.store.commit = commit  # type: ignore[method-assign]
        commit(Put(connection, connection.removed(timestamp(NOON))))
        with pytest.raises(Conflict):
            commit(*changes)
        commit(*changes)

    bench.store.commit = interleaved  # type: ignore[method-assign]

    with pytest.raises(NotFound):
        bench.settle()


def test_deletions_that_were_asked_for_before_the_changes_settle_nothing() -> None:
    """What was deleted between the two would be in neither answer."""
    bench = Bench(ADDITION)
    calibrated(bench)
    bench.settle()
    *others, deleted = bench.queries
    end_query(bench.store, deleted.id, bench.clock() + timedelta(minutes=1))
    for query in others:
        end_query(bench.store, query.id, bench.clock() + timedelta(minutes=2))

    assert bench.proceed() is WhetherExecuted.UNKNOWN


# --- The service asks by itself


@settings(max_examples=100)
@given(steps=st.lists(st.sampled_from(["proceed", "nothing", "answer", "later"]), max_size=12))
def test_the_service_asks_once_by_itself_however_often_a_step_is_repeated(steps: list[str]) -> None:
    """`nothing` is an answer that settles nothing: somebody else has to ask again."""
    until = timestamp(NOON + timedelta(minutes=50))
    bench = Bench(recovery=Recovery(begun=True, company_file_key=FILE, running_until=until))
    for step in steps:
        if step in {"nothing", "answer"} and any(one.state is State.WAITING for one in bench.queries):
            bench.answer(VENDOR if step == "answer" else "")
        elif step == "later":
            bench.clock.advance(minutes=10)
        else:
            bench.proceed()

    is_over = timestamp(bench.clock()) >= until
    assert len(bench.queries) <= 1
    assert not bench.queries or is_over
    assert bench.record.settling.times == len(bench.queries)
    bench.clock.advance(hours=1)
    bench.proceed()
    assert [query.id for query in bench.queries] == [settling_id(bench.write.id, 1)]


def test_a_write_of_a_connection_that_has_switched_it_off_is_settled_only_by_a_call() -> None:
    bench = Bench()
    connection = bench.store.connection(CONNECTION_ID)
    assert connection
    bench.store.commit(Put(connection, replace(connection, settles_on_call_only=True).changed(timestamp(NOON))))

    assert bench.proceed() is WhetherExecuted.UNKNOWN
    assert bench.proceed() is None
    assert (bench.queries, bench.record.is_unsettled, bench.record.settling_query_id) == ([], False, None)

    bench.settle()
    assert bench.answer(VENDOR) is WhetherExecuted.NO


def test_a_write_that_no_query_can_settle_is_looked_at_once() -> None:
    bench = Bench("<DataExtDelRq><OwnerID>0</OwnerID><DataExtName>Birthday</DataExtName></DataExtDelRq>")

    assert bench.proceed() is WhetherExecuted.UNKNOWN
    assert bench.proceed() is None
    assert not bench.record.is_unsettled


@for_each(
    "fields", (*KNOWN, {"error": RequestError(ErrorCode.NOT_SENT_IN_TIME, "…"), "recovery": Recovery(begun=True)})
)
def test_the_service_asks_by_itself_only_about_a_write_that_ended_as_unknown(fields: dict[str, Any]) -> None:
    bench = Bench(**fields)

    assert bench.proceed() is None
    assert (bench.queries, bench.record) == ([], bench.write)


def test_a_write_waits_while_so_many_queries_of_its_connection_wait() -> None:
    bench = Bench()
    waiting = [a_record(queue_priority=LAST_IN_LINE) for _ in range(MAX_WAITING)]
    for record in waiting:
        bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    with pytest.raises(TooManyRequests):
        bench.proceed()
    assert bench.record.is_unsettled

    bench.store.commit(ChangeRequest(waiting[0], waiting[0].moved(State.DISCARDED, NOON)))
    bench.proceed()

    assert len(bench.queries) == 1


@for_each("taken", [0, 1, 2])
@for_each("asks", [SettlingService.proceed, lambda service, write_id: service.settle(APP_ID, write_id)])
def test_a_write_that_lacks_a_query_of_its_own_after_a_restore_is_asked_about(taken: int, asks: Any) -> None:
    """A restored table may have one item of a transaction, and not another."""
    bench = Bench(ADDITION)
    former = ids_of_batch(settling_id(bench.write.id, 1), 3)[taken]
    bench.store.commit(AddRequest(a_record(id=former, settles=bench.write.id), REQUEST_XML, ""))

    asks(bench.service, bench.write.id)

    ids = ids_of_batch(settling_id(bench.write.id, 2), 3)
    assert sorted(query.id for query in bench.queries if query.id != former) == sorted(ids)
    assert (bench.record.settling.times, bench.record.revision) == (2, bench.write.revision + 1)


def test_a_write_of_an_unknown_company_file_is_asked_about_on_call_only() -> None:
    """No answer would count, because QuickBooks may have another file open."""
    bench = Bench(recovery=Recovery(begun=True))

    assert bench.proceed() is WhetherExecuted.UNKNOWN
    assert bench.queries == []
    assert not bench.record.is_unsettled


def test_nothing_is_done_for_a_write_that_was_deleted() -> None:
    bench = Bench()
    bench.store.commit(RemoveRequest(bench.write, timestamp(NOON)))

    assert bench.proceed() is None


def test_a_query_that_was_deleted_settles_nothing_and_ends_the_matter() -> None:
    bench = Bench()
    bench.proceed()
    bench.store.commit(RemoveRequest(bench.queries[0], timestamp(NOON)))

    assert bench.proceed() is WhetherExecuted.UNKNOWN
    assert bench.proceed() is None
