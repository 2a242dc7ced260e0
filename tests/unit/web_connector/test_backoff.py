"""Backoff: QuickBooks fails for several requests in a row."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from domain.connections.service import ConnectionService
from domain.queueing.waiting_reason import of_connection, of_request
from domain.records.connection import Backoff
from domain.records.request import (
    BEHIND_OTHERS,
    ENDED,
    FIRST_IN_LINE,
    IN_TURN,
    QUEUED,
    Attempts,
    Recovery,
    State,
)
from domain.timestamps import timestamp
from domain.web_connector.session.backoff import gives_up
from simulator.faults import Fault
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    a_record,
    a_session,
    counting_bytes,
)
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response
from tests.support.web_connector.service import Service

if TYPE_CHECKING:
    from datetime import datetime

    from tests.support.web_connector.connector import Connector

UNKNOWN = "0x80040402"
DIALOG = "0x80040414"


def failing(request: str = "reads") -> Fault:
    """Return a fault with which every request of this kind fails."""
    return Fault.of({"on": "process", "request": request, "do": "fail", "hresult": UNKNOWN, "nth": "*"})


def work_until_backoff(qbwc: Connector, hresult: str = UNKNOWN) -> int:
    """Run a session in which QuickBooks fails for every request. Return the number of requests that were sent."""
    qbwc.begin()
    number = 1
    while qbwc.receive(hresult=hresult, message="An error occurred.") != -1:
        qbwc.send()
        number += 1
    qbwc.close()
    return number


def end_of_pause(qbwc: Connector) -> datetime:
    """Return the end of the pause."""
    assert qbwc.connection.backoff
    return qbwc.clock.now.fromisoformat(qbwc.connection.backoff.until)


def test_twenty_reads_that_all_fail_lose_no_request_in_fifteen_sessions() -> None:
    service = Service()
    qbwc = service.qbwc
    reads = [qbwc.queue() for _ in range(20)]
    simulator = qbwc.simulator(service.company, transport=service, faults=[failing()])

    ends = []
    for _ in range(15):
        assert simulator.run_once().error == -1
        ends.append(end_of_pause(qbwc))
        assert qbwc.authenticate() == "none"
        qbwc.clock.now = ends[-1]

    pauses = [round((end - start).total_seconds() / 60) for start, end in pairwise(ends)]
    assert pauses == [2, 4, 8, *([15] * 11)]
    assert {record.state for record in qbwc.records} <= QUEUED
    qbwc.simulator(service.company, transport=service).run_once()
    assert {qbwc.record(read).state for read in reads} == {State.RESPONSE_RECEIVED}
    assert qbwc.connection.backoff is None
    assert qbwc.store.counts == qbwc.store.recount()


def test_each_session_of_a_backoff_sends_one_request_more(qbwc: Connector) -> None:
    for _ in range(8):
        qbwc.queue()

    numbers = []
    for _ in range(4):
        numbers.append(work_until_backoff(qbwc))
        qbwc.clock.now = end_of_pause(qbwc)

    assert numbers == [2, 3, 4, 5]


def test_each_session_of_a_backoff_makes_twice_as_many_status_checks(qbwc: Connector) -> None:
    for _ in range(10):
        recovery = Recovery(begun=True, active=True)
        qbwc.write(state=State.RETRYABLE, attempts=Attempts(1), recovery=recovery, queue_priority=FIRST_IN_LINE)

    numbers = []
    for _ in range(3):
        numbers.append(work_until_backoff(qbwc))
        qbwc.clock.now = end_of_pause(qbwc)

    assert numbers == [2, 4, 8]


@pytest.mark.parametrize("poisons", [1, 2, 3, 5])
def test_requests_that_always_fail_end_and_all_others_are_answered(poisons: int) -> None:
    service = Service()
    qbwc = service.qbwc
    bad = [qbwc.queue("VendorQueryRq") for _ in range(poisons)]
    good = [qbwc.queue() for _ in range(20)]
    simulator = qbwc.simulator(service.company, transport=service, faults=[failing("VendorQueryRq")])

    sessions = 0
    while service.open_requests:
        if sessions % 3 == 0:
            good.append(qbwc.queue())  # A queue that is in use.
        simulator.run_once()
        qbwc.clock.advance(minutes=15)
        sessions += 1
        assert sessions < 60

    assert {qbwc.record(request_id).state for request_id in good} == {State.RESPONSE_RECEIVED}
    for request_id in bad:
        error = qbwc.record(request_id).error
        assert error is not None
        assert (error.code, error.details["sessions"]) == ("quickbooks_connection_error", 3)


def test_a_single_request_that_always_fails_ends_after_three_sessions(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    for _ in range(3):
        qbwc.begin()
        assert qbwc.receive(hresult=UNKNOWN) == -1
        qbwc.close()
        assert qbwc.connection.backoff is None

    assert qbwc.record(request_id).state is State.ERROR


def test_a_request_that_is_left_alone_in_a_backoff_ends_after_three_more_sessions(qbwc: Connector) -> None:
    request_id, other = qbwc.queue(), qbwc.queue()
    work_until_backoff(qbwc)
    qbwc.change(other, state=State.DISCARDED)

    for _ in range(3):
        qbwc.clock.advance(minutes=15)
        assert work_until_backoff(qbwc) == 1

    assert qbwc.record(request_id).state is State.ERROR


def test_the_pause_also_grows_if_a_session_has_fewer_requests_than_it_may_send(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.queue()

    pauses = []
    for _ in range(6):
        assert work_until_backoff(qbwc) == 2
        pauses.append(round((end_of_pause(qbwc) - qbwc.clock.now).total_seconds() / 60))
        qbwc.clock.now = end_of_pause(qbwc)

    assert pauses == [1, 2, 4, 8, 15, 15]


def test_attempts_count_again_a_week_after_the_request_was_queued(qbwc: Connector) -> None:
    reads = [qbwc.queue() for _ in range(2)]
    work_until_backoff(qbwc)
    qbwc.clock.advance(days=7)

    while qbwc.record(reads[0]).state not in ENDED:
        work_until_backoff(qbwc)
        qbwc.clock.advance(minutes=15)

    assert qbwc.record(reads[0]).attempts.sessions == 3


@pytest.mark.parametrize(("hresult", "longest"), [(UNKNOWN, timedelta(minutes=15)), (DIALOG, timedelta(minutes=5))])
def test_a_pause_is_shorter_if_quickbooks_is_busy_or_closed(qbwc: Connector, hresult: str, longest: timedelta) -> None:
    for _ in range(8):
        qbwc.queue()

    for _ in range(7):
        qbwc.authenticate()
        work_until_backoff(qbwc, hresult)
        start, qbwc.clock.now = qbwc.clock.now, end_of_pause(qbwc)

    assert abs((qbwc.clock.now - start) - longest) < timedelta(seconds=2)


def test_during_the_pause_nothing_is_sent_and_the_web_connector_is_told_when_to_call(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.queue()
    work_until_backoff(qbwc)

    assert qbwc.authenticate() == "none"
    assert qbwc.schedule == ["62", "15"]  # a fifth of a minute, times the place of the connection

    qbwc.clock.advance(minutes=1)
    assert qbwc.authenticate() == ""


def test_the_pause_is_the_waiting_reason_of_the_connection_and_its_requests(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.queue()
    work_until_backoff(qbwc)

    for reason in (
        of_connection(qbwc.connection, qbwc.clock.now),
        of_request(qbwc.record(request_id), qbwc.connection, qbwc.clock.now),
    ):
        assert reason is not None
        assert reason.code == "quickbooks_failing"
        assert qbwc.connection.backoff
        assert "for several requests in the last session. Nothing is sent" in reason.message
        assert f"until {qbwc.connection.backoff.until}. An error occurred." in reason.message
        assert "qbsdklog.txt" in (reason.hint or "")
        assert f"/api/v1/connections/{CONNECTION_ID}/resume" in (reason.hint or "")
    qbwc.clock.advance(minutes=1)
    reason = of_connection(qbwc.connection, qbwc.clock.now)
    assert reason is not None
    assert reason.code == "quickbooks_unreachable"


@pytest.mark.parametrize(("priority", "limit"), [(BEHIND_OTHERS, 10), (IN_TURN, 50)])
def test_a_session_gives_up_after_a_number_of_failures(priority: int, limit: int) -> None:
    backoff = Backoff(1_000, timestamp(NOON))
    last = a_record(queue_priority=priority)

    assert not gives_up(a_session(failures=limit - 1, backoff=backoff), last)
    assert gives_up(a_session(failures=limit, backoff=backoff), last)


def test_resuming_the_connection_ends_the_pause(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.queue()
    work_until_backoff(qbwc)

    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    service.resume(APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    assert qbwc.authenticate() == ""
    assert qbwc.connection.backoff
    assert qbwc.connection.backoff.sessions == 1  # attempts still do not count
    after = qbwc.connection
    service.resume(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    assert qbwc.connection == after


def test_the_pause_begins_although_the_session_was_not_closed(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.queue()
    qbwc.begin()
    qbwc.receive(hresult=UNKNOWN)
    qbwc.send()
    assert qbwc.receive(hresult=UNKNOWN, message="An error occurred.") == -1

    assert qbwc.authenticate() == "none"

    assert qbwc.connection.last_error
    assert qbwc.connection.last_error["message"] == "An error occurred."
    qbwc.clock.advance(minutes=1)
    assert qbwc.authenticate() == ""


def test_a_response_ends_the_backoff(qbwc: Connector) -> None:
    for _ in range(3):
        qbwc.queue()
    work_until_backoff(qbwc)
    qbwc.clock.advance(minutes=1)
    qbwc.receive(response_to(qbwc.begin()))
    qbwc.close()

    assert qbwc.connection.backoff is None
    assert work_until_backoff(qbwc) == 2


def test_an_unreadable_response_ends_the_backoff(qbwc: Connector) -> None:
    for _ in range(3):
        qbwc.queue()
    work_until_backoff(qbwc)
    qbwc.clock.advance(minutes=1)
    qbwc.begin()
    qbwc.receive("<QBXML>")
    qbwc.close()

    assert qbwc.connection.backoff is None


@pytest.mark.parametrize("stored", [True, False])
def test_the_answer_to_a_status_check_ends_the_backoff_only_if_it_has_the_stored_response(
    qbwc: Connector, stored: bool
) -> None:
    for _ in range(3):
        recovery = Recovery(begun=True, active=True)
        qbwc.write(state=State.RETRYABLE, attempts=Attempts(1), recovery=recovery, queue_priority=FIRST_IN_LINE)
    work_until_backoff(qbwc)
    qbwc.clock.advance(minutes=1)
    check = qbwc.begin()
    request = f'{check}<CustomerAddRq requestID="{qbwc.session.ids_in_flight[0]}"'
    qbwc.receive(stored_response(request) if stored else nothing_stored(check))
    qbwc.close()

    assert (qbwc.connection.backoff is None) is stored


def test_a_session_that_sends_nothing_does_not_end_the_backoff(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.queue()
    work_until_backoff(qbwc)
    before = qbwc.connection.backoff
    qbwc.clock.advance(minutes=1)

    qbwc.authenticate()
    qbwc.close()

    assert qbwc.connection.backoff == before


def test_a_write_in_recovery_is_not_given_up_during_a_backoff(qbwc: Connector) -> None:
    writes = [qbwc.write(name) for name in ("Ann", "Bob")]
    request = qbwc.begin()
    qbwc.close_and_wait()
    qbwc.begin()
    qbwc.receive(hresult=UNKNOWN)
    qbwc.send()
    assert qbwc.receive(hresult=UNKNOWN) == -1
    qbwc.close()

    for _ in range(6):
        qbwc.clock.now = end_of_pause(qbwc)
        qbwc.authenticate()
        check = qbwc.send(hcp())
        while check and "oldMessageSetID" in check:
            qbwc.receive(hresult=UNKNOWN)
            check = qbwc.send()
        qbwc.close()

    assert all(qbwc.record(write).recovering for write in writes)
    qbwc.clock.advance(minutes=15)
    qbwc.begin()
    qbwc.receive(stored_response(request))
    assert qbwc.record(writes[0]).state is State.RESPONSE_RECEIVED
