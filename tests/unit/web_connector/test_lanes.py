"""Two lanes: requests of the low lane wait for those of the normal one, and get their share all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.records.request import State
from domain.records.session import MAX_EXECUTION_SECONDS, SENDS_OF_A_CYCLE
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.observed_store import ObservedStore
from tests.support.web_connector.quickbooks import hcp, labels_in, nothing_stored, page_of, response_to, set_response


def connected(**fields: Any) -> Connector:
    """Return a connection with a low lane."""
    qbwc = Connector(ObservedStore())
    qbwc.connect(has_low_lane=True, read_batch_size=1, **fields)
    return qbwc


def sent_lanes(qbwc: Connector, number: int) -> str:
    """Run a session for at most `number` sets. Return the lane of each: L or N."""
    lanes = ""
    if qbwc.authenticate():
        return lanes
    facts = hcp()
    while len(lanes) < number and (request := qbwc.send(facts)):
        facts = ""
        lanes += "L" if qbwc.in_flight[0].is_low else "N"
        if qbwc.receive(response_to(request)) == 100:
            return lanes
    qbwc.close()
    return lanes


def test_the_low_lane_waits_for_the_normal_one_and_has_its_share() -> None:
    qbwc = connected()
    low = [qbwc.queue(is_low=True) for _ in range(3)]
    normal = [qbwc.queue() for _ in range(20)]

    assert sent_lanes(qbwc, 100) == "NNNNNNNNNLNNNNNNNNNLNNL"
    in_order = [sorted(ids, key=lambda one: qbwc.record(one).sent_at or "") for ids in (low, normal)]
    assert in_order == [low, normal]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_the_share_counts_across_sessions(size: int) -> None:
    qbwc = connected()
    for _ in range(30):
        qbwc.queue(is_low=True)
        qbwc.queue()

    lanes = "".join(sent_lanes(qbwc, size) for _ in range(24 // size))

    assert lanes == ("NNNNNNNNNL" * 3)[: len(lanes)]


def test_a_set_counts_once_and_has_no_request_of_the_low_lane() -> None:
    qbwc = Connector(ObservedStore())
    qbwc.connect(has_low_lane=True, read_set_size=20)
    for _ in range(60):
        qbwc.queue(content="<ListID>80000001-1</ListID>")
        qbwc.queue(content="<ListID>80000001-1</ListID>", is_low=True)

    sizes = []
    qbwc.authenticate()
    request = qbwc.send(hcp())
    for _ in range(6):
        sizes.append((len(qbwc.in_flight), {record.is_low for record in qbwc.in_flight}))
        labels = labels_in(request)
        qbwc.receive(set_response(request) if len(labels) > 1 else response_to(request))
        request = qbwc.send()

    assert sizes == [(20, {False})] * 3 + [(1, {True})] * 3


@pytest.mark.parametrize("has_low_lane", [False, True])
def test_the_low_lane_is_read_once_in_ten_sends_and_never_without_one(*, has_low_lane: bool) -> None:
    qbwc = Connector(ObservedStore())
    qbwc.connect(has_low_lane=has_low_lane, read_batch_size=1)
    for _ in range(60):
        qbwc.queue()
    request, reads = qbwc.begin(), []

    for _ in range(40):
        qbwc.receive(response_to(request))
        # The front of the queue is read beside the request.
        reads.append(qbwc.store.calls["queue_front"])
        request = qbwc.send()

    due = [number % SENDS_OF_A_CYCLE == SENDS_OF_A_CYCLE - 2 for number in range(40)]
    assert reads == [int(has_low_lane and is_due) for is_due in due]
    assert qbwc.session.sends == 0


def test_a_cycle_whose_set_was_not_sent_is_not_counted() -> None:
    qbwc = connected()
    for _ in range(12):
        qbwc.queue()
        qbwc.queue(is_low=True)
    assert sent_lanes(qbwc, 9) == "N" * 9

    for _ in range(3):
        assert qbwc.authenticate() == ""
        assert qbwc.in_flight[0].is_low
        qbwc.close()

    assert sent_lanes(qbwc, 2) == "LN"


def test_a_set_without_a_response_counts() -> None:
    qbwc = connected()
    for _ in range(12):
        qbwc.queue()
        qbwc.queue(is_low=True)
    assert sent_lanes(qbwc, 8) == "N" * 8

    qbwc.begin()
    qbwc.close()

    assert sent_lanes(qbwc, 1) == "L"


def test_without_work_in_the_low_lane_a_cycle_begins_again() -> None:
    qbwc = connected()
    for _ in range(30):
        qbwc.queue()
    assert sent_lanes(qbwc, 10) == "N" * 10
    qbwc.queue(is_low=True)

    assert sent_lanes(qbwc, 11) == "NNNNNNNNNLN"


@pytest.mark.parametrize("is_low", [False, True])
def test_nothing_of_the_other_lane_passes_a_write_that_quickbooks_may_be_executing(*, is_low: bool) -> None:
    qbwc = connected()
    write = qbwc.write(is_low=is_low)
    qbwc.begin()
    qbwc.close()
    others = [qbwc.queue(is_low=lane) for lane in (False, True) for _ in range(15)]
    due = replace(qbwc.connection, sends=SENDS_OF_A_CYCLE - 1).changed(timestamp(qbwc.clock.now))
    qbwc.store.commit(Put(qbwc.connection, due))

    for _ in range(3):
        assert qbwc.authenticate() == ""
        assert qbwc.in_flight == [qbwc.record(write)]
        qbwc.receive(nothing_stored(qbwc.send(hcp())))
        assert qbwc.send() == ""
        qbwc.close()

    assert qbwc.record(write).state is State.RETRYABLE
    assert {qbwc.record(other).state for other in others} == {State.WAITING}
    assert isinstance(qbwc.store, ObservedStore)
    assert not qbwc.store.out_of_turn


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("queue"), st.sampled_from(["read", "write", "page"]), st.booleans(), st.integers(1, 12)),
        st.tuples(st.just("session"), st.integers(0, 14), st.sampled_from(["close", "lose", "fail"])),
    ),
    min_size=4,
    max_size=14,
)


def queue_some(qbwc: Connector, kind: str, number: int, *, is_low: bool) -> None:
    for _ in range(number):
        if kind == "write":
            qbwc.write(is_low=is_low)
        elif kind == "page" and not is_low:
            qbwc.iterate()
        else:
            qbwc.queue(content="<ListID>80000001-1</ListID>", is_low=is_low)


def answer_to(qbwc: Connector, request: str) -> str:
    """Return the response of QuickBooks, which has lost nothing but what a status check asks for."""
    if qbwc.in_flight[0].recovering:
        return nothing_stored(request)
    if len(qbwc.in_flight) > 1:
        return set_response(request)
    if "iterator=" in request:
        return page_of(request, 2 if 'iterator="Start"' in request else 0)
    return response_to(request)


def run(qbwc: Connector, number: int, end: str, executed: list[str]) -> None:
    """Run a session that answers `number` sets, and then ends in a way: between two sets, after a set, or in it."""
    if qbwc.authenticate():
        return
    facts = hcp()
    for count in range(number + 1):
        request = qbwc.send(facts)
        if not request:
            break
        facts = ""
        if count == number and end == "fail":
            qbwc.receive("", "0x80040400", "parse error")
            continue
        if count == number:
            break
        answer = answer_to(qbwc, request)
        executed += [record.id for record in qbwc.in_flight if not record.is_read and not record.recovering]
        qbwc.receive(answer)
    if end != "lose":
        qbwc.close()
    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)


@settings(max_examples=40)
@given(steps=STEPS)
def test_lanes_hold_whatever_is_queued_and_however_sessions_end(steps: list[tuple[Any, ...]]) -> None:
    qbwc = Connector(ObservedStore())
    qbwc.connect(has_low_lane=True, batch_size=5)
    executed: list[str] = []
    store = qbwc.store
    assert isinstance(store, ObservedStore)

    for step, *arguments in steps:
        if step == "queue":
            kind, is_low, number = arguments
            queue_some(qbwc, kind, number, is_low=is_low)
        else:
            number, end = arguments
            run(qbwc, number, end, executed)

    store.check_lanes()
    assert not store.out_of_turn
    assert len(executed) == len(set(executed))


@settings(max_examples=25)
@given(before=st.integers(0, 12), done=st.integers(0, 22), is_claimed=st.booleans())
def test_a_request_of_the_normal_lane_waits_for_one_of_the_low_lane_at_most(
    before: int, done: int, *, is_claimed: bool
) -> None:
    qbwc = connected()
    for _ in range(25):
        qbwc.queue(is_low=True)
    for _ in range(before):
        qbwc.queue()
    sent_lanes(qbwc, done)
    in_flight = 0
    if is_claimed:
        request = qbwc.begin()
        in_flight = int(qbwc.in_flight[0].is_low)
        waiting = sum(not record.is_low for record in qbwc.records if record.is_in_queue)
        normal = qbwc.queue()
        qbwc.receive(response_to(request))
        qbwc.close()
    else:
        waiting = sum(not record.is_low for record in qbwc.records if record.is_in_queue)
        normal = qbwc.queue()

    lanes = sent_lanes(qbwc, 50)

    assert qbwc.record(normal).sent_at
    passed = [
        record
        for record in qbwc.records
        if record.is_low
        and qbwc.record(normal).inserted_at < (record.sent_at or "") < (qbwc.record(normal).sent_at or "")
    ]
    assert in_flight + len(passed) <= 1 + waiting // (SENDS_OF_A_CYCLE - 1), lanes


def test_a_request_behind_a_backfill_of_10_000_is_sent_after_at_most_one_of_them() -> None:
    qbwc = Connector()
    qbwc.connect(has_low_lane=True)
    for _ in range(10_000):
        qbwc.queue(is_low=True)
    request, passed = qbwc.begin(), []

    for _ in range(6):
        normal, number = qbwc.queue(), 0
        while not qbwc.record(normal).sent_at:
            number += qbwc.in_flight[0].is_low
            qbwc.receive(response_to(request))
            request = qbwc.send()
        passed.append(number)
        qbwc.receive(response_to(request))
        request = qbwc.send()

    assert passed == [1] * 6
