"""Ended requests are queued again: exactly those that match, each once, and nothing that may have been executed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import Conflict, InvalidRequest, NotFound, QuotaExceeded, TooManyRequests, Unavailable
from domain.listing.filters import RequestFilter
from domain.queueing.many import Bounds
from domain.queueing.queue_again import AgainTally, QueueAgain
from domain.records.request import Paging, QueuedRequest, Recovery, RequestError, State
from domain.records.successor import id_again
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest, Put, RemoveRequest
from domain.storage.ports import RequestDetail
from domain.timestamps import timestamp
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeStore
from tests.support.request_filters import meets

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.storage.changes import Change

HOOK = "https://shop.example/hooks"
CODES = (
    "quickbooks_error",
    "qbxml_parse_error",
    "quickbooks_connection_error",
    "outcome_unknown",
    "response_too_large",
)
REFUSED = {"quickbooks_error", "qbxml_parse_error", "quickbooks_connection_error"}
SMALL = Bounds(part_size=3, looked_at=7, changed=4)
EVERYTHING = RequestFilter(to=timestamp(NOON + timedelta(days=1)))


class LosingAnswers(FakeStore):
    """A store of which some commits are done, and the answer is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: set[int] = set()
        self.commits = 0

    def commit(self, *changes: Change) -> None:
        """Commit, and fail if the answer is lost."""
        super().commit(*changes)
        self.commits += 1
        if self.commits in self.lost:
            raise Unavailable("It is not known whether the change was made.")


@dataclass
class Bench:
    """A connection with ended requests."""

    bounds: Bounds = SMALL
    check_read: Callable[[], None] = lambda: None
    clock: FixedClock = field(default_factory=FixedClock)
    store: LosingAnswers = field(default_factory=LosingAnswers)

    def __post_init__(self) -> None:
        self.store.commit(Put(None, a_connection()))

    @property
    def records(self) -> list[QueuedRequest]:
        return [record for record in self.store.records.values() if isinstance(record, QueuedRequest)]

    @property
    def added(self) -> list[QueuedRequest]:
        """The requests that still wait."""
        return [record for record in self.records if record.state is State.WAITING]

    def add(
        self, *, metadata: dict[str, str] | None = None, request_xml: str = REQUEST_XML, **fields: Any
    ) -> QueuedRequest:
        record = a_record(**fields)
        self.store.commit(AddRequest(record, request_xml, "", metadata or {}))
        return record

    def call(
        self,
        which: RequestFilter = EVERYTHING,
        cursor: str | None = None,
        check_quota: Callable[[int], None] = lambda _size: None,
        *,
        dry_run: bool = False,
        app_id: str = APP_ID,
    ) -> AgainTally:
        use_case = QueueAgain(self.store, self.clock, self.check_read, self.bounds)
        return use_case.queue_again(
            app_id, CONNECTION_ID, which, check_quota, cursor=cursor, dry_run=dry_run, actor=AN_ACTOR
        )

    def all_calls(self, which: RequestFilter, *, dry_run: bool = False) -> AgainTally:
        """Call until the end, repeat a call whose answer was lost, and return the sums."""
        total, cursor, calls = AgainTally(), None, 0
        while calls < 300:
            calls += 1
            try:
                tally = self.call(which, cursor, dry_run=dry_run)
            except Unavailable:
                continue
            total.queued += tally.queued
            total.queued_before += tally.queued_before
            total.left_out += tally.left_out
            cursor = tally.next_cursor
            if cursor is None:
                return total
            self.clock.advance(seconds=1)
        raise AssertionError("the calls do not end")


requests = st.fixed_dictionaries(
    {
        "request_name": st.sampled_from(["CustomerQueryRq", "CustomerAddRq", "InvoiceModRq"]),
        "state": st.sampled_from([State.ERROR, State.ERROR, State.DISCARDED, *State]),
        "code": st.sampled_from(CODES),
        "begun": st.booleans(),
        "page": st.sampled_from([1, 1, 2]),
        "webhook": st.sampled_from([Webhook(), Webhook.to(HOOK)]),
        "label": st.sampled_from([None, "a-1", "a-2", "b-1"]),
        "age": st.integers(0, 100),
    }
)
filters = st.builds(
    RequestFilter,
    state=st.sampled_from([None, State.ERROR, State.DISCARDED, State.RESPONSE_RECEIVED, State.WAITING]),
    request_name=st.sampled_from([None, "CustomerQueryRq", "CustomerAddRq"]),
    label_prefix=st.sampled_from([None, "a-", "b-1"]),
    from_=st.sampled_from([None, None, timestamp(NOON - timedelta(seconds=70))]),
    to=st.sampled_from([None, timestamp(NOON - timedelta(seconds=50))]),
    updated_since=st.sampled_from([None, None, timestamp(NOON - timedelta(seconds=60))]),
    updated_before=st.sampled_from([None, None, timestamp(NOON - timedelta(seconds=40))]),
).filter(lambda which: not which.is_empty)


def filled(bench: Bench, given_requests: list[dict[str, Any]]) -> None:
    """Store requests."""
    for request in given_requests:
        moment = timestamp(NOON - timedelta(seconds=request["age"]))
        is_write = not request["request_name"].endswith("QueryRq")
        bench.add(
            request_name=request["request_name"],
            state=request["state"],
            error=RequestError(request["code"], "It failed.") if request["state"] is State.ERROR else None,
            recovery=Recovery(begun=request["begun"] and is_write),
            paging=Paging(request["page"], "page 1" if request["page"] > 1 else None),
            webhook=request["webhook"],
            label=request["label"],
            inserted_at=moment,
            updated_at=moment,
        )


def is_meant(record: QueuedRequest, which: RequestFilter) -> bool:
    """Whether a request matches and has ended without a response, judged without the code under test."""
    return record.state in {State.ERROR, State.DISCARDED} and meets(which, record)


def is_harmless(record: QueuedRequest) -> bool:
    """Whether QuickBooks has certainly not executed a request, or it is a query that begins at its first page."""
    if record.paging.page > 1:
        return False
    if record.request_name.endswith("QueryRq"):
        return True
    refused = record.error is None or record.error.code in REFUSED
    return refused and not record.recovery.begun


@settings(max_examples=200, deadline=None)
@given(
    given_requests=st.lists(requests, max_size=25),
    which=filters,
    numbers=st.none() | st.lists(st.integers(0, 40), min_size=1, max_size=20),
    lost=st.sets(st.integers(1, 60), max_size=6),
    part_size=st.integers(1, 6),
)
def test_exactly_the_requests_that_match_and_are_harmless_are_queued_again_once(
    given_requests: list[dict[str, Any]],
    which: RequestFilter,
    numbers: list[int] | None,
    lost: set[int],
    part_size: int,
) -> None:
    bench = Bench(replace(SMALL, part_size=part_size))
    filled(bench, given_requests)
    bench.clock.advance(seconds=1)
    before = {record.id: record for record in bench.records}
    if numbers and before:
        which = replace(which, ids=tuple(list(before)[number % len(before)] for number in numbers))
    meant = [record for record in before.values() if is_meant(record, which)]
    harmless = [record for record in meant if is_harmless(record)]
    planned = bench.all_calls(which, dry_run=True)
    assert {record.id: record for record in bench.records} == before
    bench.store.lost = {bench.store.commits + number for number in lost}

    done = bench.all_calls(which)

    new = {record.id for record in bench.records} - before.keys()
    assert new == {id_again(record.id) for record in harmless}
    assert (planned.queued, planned.left_out) == (len(harmless), len(meant) - len(harmless))
    if not lost:
        assert (done.queued, done.left_out) == (planned.queued, planned.left_out)
    assert {id_: bench.store.records[id_] for id_ in before} == before, "the ended requests do not change"
    again = bench.all_calls(which)
    assert (again.queued, again.queued_before) == (0, len(harmless))


@pytest.mark.parametrize("webhook", [Webhook.to(HOOK), Webhook()])
def test_the_new_request_has_what_its_author_gave_to_the_old_one(webhook: Webhook) -> None:
    bench = Bench()
    request_xml = REQUEST_XML.replace("<MaxReturned>10</MaxReturned>", "")
    labelled = a_record(
        state=State.DISCARDED,
        request_label="1",
        qbxml_version="16.0",
        label="import-7",
        webhook=webhook,
        paging=Paging(may_begin=True),
    )
    bench.store.commit(AddRequest(labelled, request_xml, "", {"order": "1007"}))
    bench.clock.advance(seconds=1)

    bench.call()

    detail = bench.store.request_detail(id_again(labelled.id))
    assert isinstance(detail, RequestDetail)
    stored = detail.stored
    assert ("".join(stored.request_xml.split()), stored.metadata) == (
        "".join(request_xml.split()),
        {"order": "1007"},
    )
    assert stored.record == replace(
        labelled,
        id=id_again(labelled.id),
        state=State.WAITING,
        inserted_at=stored.record.inserted_at,
        updated_at=stored.record.updated_at,
    )
    assert stored.record.inserted_at >= timestamp(NOON + timedelta(seconds=1))


def test_a_request_without_a_label_of_its_author_gets_its_new_id_as_its_label() -> None:
    bench = Bench()
    record = a_record(state=State.DISCARDED)
    record = replace(record, request_label=record.id)
    bench.store.commit(AddRequest(record, REQUEST_XML.replace('requestID="1"', f'requestID="{record.id}"'), ""))
    bench.clock.advance(seconds=1)

    bench.call()

    detail = bench.store.request_detail(id_again(record.id))
    assert isinstance(detail, RequestDetail)
    assert detail.stored.record.request_label == id_again(record.id)
    assert f'requestID="{id_again(record.id)}"' in detail.stored.request_xml
    assert record.id not in detail.stored.request_xml


def test_a_new_request_that_was_deleted_is_not_queued_once_more() -> None:
    bench = Bench()
    bench.add(state=State.DISCARDED)
    bench.clock.advance(seconds=1)
    bench.call()
    (new,) = bench.added
    bench.store.commit(RemoveRequest(new, timestamp(NOON)))
    bench.clock.advance(seconds=1)

    tally = bench.call()

    assert (tally.queued, tally.queued_before, bench.added) == (0, 1, [])


def test_a_call_ends_where_the_quota_ends_and_the_next_one_continues_there() -> None:
    bench = Bench(Bounds())
    for _ in range(5):
        bench.add(state=State.DISCARDED)
    bench.clock.advance(seconds=1)
    left = [3]

    def check_quota(size: int) -> None:
        assert size == len(REQUEST_XML.encode())
        if not left[0]:
            raise QuotaExceeded("It is used up.")
        left[0] -= 1

    first = bench.call(check_quota=check_quota)
    with pytest.raises(QuotaExceeded):
        bench.call(cursor=first.next_cursor, check_quota=check_quota)
    left[0] = 10
    last = bench.call(cursor=first.next_cursor, check_quota=check_quota)

    assert (first.queued, last.queued, last.next_cursor, len(bench.added)) == (3, 2, None, 5)


def test_a_request_that_another_call_queues_meanwhile_was_queued_before() -> None:
    bench, others = Bench(), list[AgainTally]()
    bench.add(state=State.DISCARDED)

    def meanwhile(_size: int) -> None:
        others.append(bench.call())
        bench.clock.advance(milliseconds=1)

    tally = bench.call(check_quota=meanwhile)

    assert others == [AgainTally(queued=1)]
    assert tally == AgainTally(queued_before=1)
    assert len(bench.added) == 1


def test_a_connection_that_others_change_without_end_is_too_busy() -> None:
    bench = Bench()
    bench.add(state=State.DISCARDED)
    commit = bench.store.commit

    def refuse_additions(*changes: Change) -> None:
        if any(isinstance(change, AddRequest) for change in changes):
            raise Conflict(changes[0], None)
        commit(*changes)

    bench.store.commit = refuse_additions  # type: ignore[method-assign]

    with pytest.raises(TooManyRequests, match="being changed"):
        bench.call()


@pytest.mark.parametrize(("dry_run", "queued"), [(False, 6), (True, 9)])
@pytest.mark.parametrize("bounds", [Bounds(part_size=3, looked_at=7, changed=4), Bounds(3, looked_at=9, changed=6)])
def test_a_call_ends_after_the_part_in_which_it_reaches_a_bound(bounds: Bounds, *, dry_run: bool, queued: int) -> None:
    bench = Bench(bounds=bounds)
    for _ in range(20):
        bench.add(state=State.DISCARDED)

    tally = bench.call(dry_run=dry_run)

    assert tally.queued == queued
    assert tally.next_cursor


def test_other_apps_and_empty_filters_are_refused() -> None:
    bench = Bench()
    bench.add(state=State.DISCARDED)

    with pytest.raises(NotFound):
        bench.call(app_id=OTHER_APP_ID)
    with pytest.raises(InvalidRequest):
        bench.call(RequestFilter())
    assert bench.added == []


def test_a_call_ends_when_its_time_is_over_and_the_next_one_continues() -> None:
    bench = Bench(Bounds(part_size=10, seconds=2))
    for _ in range(5):
        bench.add(state=State.DISCARDED)
    bench.clock.advance(seconds=1)

    def take_a_second(_size: int) -> None:
        bench.clock.advance(seconds=1)

    first = bench.call(check_quota=take_a_second)
    rest = bench.call(cursor=first.next_cursor)

    assert (first.queued, rest.queued, rest.next_cursor) == (2, 3, None)
