"""Requests for which QuickBooks always fails: those behind them are sent, in a limited time and in order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.records.request import BEHIND_OTHERS, ENDED, FIRST_IN_LINE, QUEUED, State
from domain.records.session import MAX_EXECUTION_SECONDS
from domain.web_connector.session.backoff import MAX_FAILURES, MAX_PAUSE
from tests.support.web_connector.bad_requests import UNKNOWN_CAUSE, Bad, FailingBooks
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from tests.support.web_connector.connector import Connector

MODAL_DIALOG = "0x80040414"
A_SESSION = MAX_PAUSE + timedelta(minutes=3)
"""The longest pause with the session before it."""
A_HELD_WRITE = timedelta(seconds=MAX_EXECUTION_SECONDS) + A_SESSION
"""The longest time for which a write is held that QuickBooks may be executing, with the session after it."""


def sessions_for(failing_calls: int) -> int:
    """Return the number of sessions with this many failures: 2 in the first one, one more in each, up to 50."""
    number, limit = 0, 2
    while failing_calls > 0:
        failing_calls -= min(limit, MAX_FAILURES)
        number, limit = number + 1, limit + 1
    return number


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        *((number, Bad.READ) for number in (2, 10, 11)),
        (11, Bad.ITERATED_READ),
        *(pytest.param(number, Bad.READ, marks=pytest.mark.nightly) for number in (50, 200)),
        pytest.param(50, Bad.ITERATED_READ, marks=pytest.mark.nightly),
    ],
)
def test_a_request_behind_bad_reads_is_sent_after_two_failures_of_each(number: int, kind: Bad) -> None:
    books = FailingBooks()
    for _ in range(number):
        books.queue_bad(kind)
    good = books.qbwc.write()

    time = books.run_until(lambda: books.has_ended(good))

    assert books.qbwc.record(good).state is State.RESPONSE_RECEIVED
    assert books.failing_calls <= 2 * number + 2
    assert books.sessions <= sessions_for(2 * number) + 1
    assert time <= books.sessions * A_SESSION
    assert not [request_id for request_id in books.bad if books.has_ended(request_id)]
    assert books.qbwc.store.counts == books.qbwc.store.exact_counts()


@pytest.mark.parametrize("number", [2, 11, pytest.param(50, marks=pytest.mark.nightly)])
def test_a_request_behind_bad_writes_is_sent_after_three_sessions_for_each(number: int) -> None:
    books = FailingBooks()
    for _ in range(number):
        books.queue_bad(Bad.WRITE)
    good = books.qbwc.write()

    time = books.run_until(lambda: books.has_ended(good))

    assert books.sessions <= 3 * number + 1
    assert books.failing_calls <= 3 * number
    assert time <= timedelta(minutes=2 * books.sessions)
    books.run_until(lambda: all(map(books.has_ended, books.bad)))
    assert books.failing_calls <= 3 * number


@pytest.mark.parametrize("number", [2, 11, MAX_FAILURES + 10])
def test_a_request_behind_writes_that_cannot_be_recovered_waits_for_two_sessions_for_each(number: int) -> None:
    books = FailingBooks()
    for _ in range(number):
        books.queue_bad(Bad.WRITE_AND_CHECK)
    good = books.qbwc.write()

    time = books.run_until(lambda: books.has_ended(good))

    assert books.sessions <= 2 * number + 3
    assert time <= books.sessions * A_SESSION
    # The number of status checks doubles with each session, so the next request waits for a few sessions only.
    later = books.qbwc.write()
    assert books.run_until(lambda: books.has_ended(later)) <= number.bit_length() * A_SESSION


@settings(max_examples=20, deadline=None)
@given(
    kinds=st.lists(st.sampled_from([*Bad, Bad.READ, Bad.WRITE]), max_size=30),
    is_write=st.booleans(),
    later=st.integers(0, 3),
)
def test_any_mix_of_bad_requests_delays_those_behind_them_for_a_limited_time(
    kinds: list[Bad], is_write: bool, later: int
) -> None:
    books = FailingBooks()
    for kind in kinds:
        books.queue_bad(kind)
    good = [books.qbwc.write() if is_write else books.qbwc.queue() for _ in range(later + 1)]

    time = books.run_until(lambda: all(map(books.has_ended, good)))

    assert time <= 3 * (len(kinds) + 1) * A_HELD_WRITE
    assert {books.qbwc.record(request_id).state for request_id in good} == {State.RESPONSE_RECEIVED}
    first_sent = [books.sent.index(request_id) for request_id in good]
    assert first_sent == sorted(first_sent)


def test_new_requests_are_sent_before_those_that_failed_in_several_sessions() -> None:
    books = FailingBooks()
    for _ in range(30):
        books.queue_bad(Bad.READ)
    books.run_for(timedelta(hours=12))
    assert {books.qbwc.record(request_id).queue_priority for request_id in books.bad} == {BEHIND_OTHERS}

    good = books.qbwc.queue()
    del books.sent[:]
    time = books.run_until(lambda: books.has_ended(good))

    assert books.sent[0] == good
    assert time <= A_SESSION


def test_requests_behind_the_others_take_turns() -> None:
    """A request that failed only because QuickBooks was down is found among those that always fail."""
    books = FailingBooks()
    for _ in range(60):
        books.queue_bad(Bad.READ)
    good = books.qbwc.queue()
    books.is_down = UNKNOWN_CAUSE
    books.run_for(timedelta(days=1))
    assert books.qbwc.record(good).queue_priority == BEHIND_OTHERS
    books.is_down = ""

    time = books.run_until(lambda: books.has_ended(good))

    assert time <= 7 * A_SESSION


@pytest.mark.parametrize("hresult", [UNKNOWN_CAUSE, MODAL_DIALOG, "0x800706BE"])
def test_a_quickbooks_that_is_down_for_days_costs_no_request_and_is_not_flooded(hresult: str) -> None:
    books = FailingBooks()
    requests = [books.qbwc.queue() if number % 3 else books.qbwc.write() for number in range(12)]
    books.is_down = hresult

    books.run_for(timedelta(days=1))

    assert {record.state for record in books.qbwc.records} <= QUEUED
    assert books.failing_calls <= MAX_FAILURES * books.sessions
    books.is_down = ""
    books.run_until(lambda: all(map(books.has_ended, requests)))
    assert {record.state for record in books.qbwc.records} == {State.RESPONSE_RECEIVED}


def test_the_order_stays_if_quickbooks_says_that_it_is_unavailable() -> None:
    books = FailingBooks()
    requests = [books.qbwc.queue() for _ in range(30)]
    books.is_down = MODAL_DIALOG
    books.run_for(timedelta(hours=12))
    books.is_down = ""
    del books.sent[:]

    books.run_until(lambda: all(map(books.has_ended, requests)))

    assert books.sent == requests


def test_a_write_that_may_have_been_executed_never_goes_behind_others() -> None:
    books = FailingBooks()
    write = books.queue_bad(Bad.WRITE_AND_CHECK)
    for _ in range(5):
        books.queue_bad(Bad.READ)

    for _ in range(30):
        before = len(books.sent)
        books.run_session()
        if books.has_ended(write):
            break
        assert books.sent[before:][:1] in ([write], [])
        assert books.qbwc.record(write).queue_priority == FIRST_IN_LINE
        books.qbwc.queue()

    assert books.qbwc.record(write).state in ENDED


@pytest.mark.parametrize("failures", [1, 11, 150])
def test_a_session_looks_behind_all_requests_that_failed_in_it(qbwc: Connector, failures: int) -> None:
    for _ in range(failures):
        qbwc.queue("VendorQueryRq")
        qbwc.queue()
    last = qbwc.queue()

    request = qbwc.begin()
    while request:
        failed = "VendorQueryRq" in request
        progress = qbwc.receive(hresult=UNKNOWN_CAUSE) if failed else qbwc.receive(response_to(request))
        request = qbwc.send() if 0 <= progress < 100 else ""

    assert qbwc.record(last).state is State.RESPONSE_RECEIVED
    assert sum(record.state is State.RESPONSE_RECEIVED for record in qbwc.records) == failures + 1


def test_the_queue_is_read_once_while_its_front_has_a_request_to_send(qbwc: Connector) -> None:
    for _ in range(30):
        qbwc.queue()
    qbwc.authenticate()
    assert qbwc.store.calls["queue_front"] == 1

    request = qbwc.send(hcp())
    for _ in range(9):
        qbwc.receive(response_to(request))
        assert qbwc.store.calls["queue_front"] == 0  # it was read in parallel with the request
        request = qbwc.send()
