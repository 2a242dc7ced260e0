"""A write that QuickBooks may still be executing is not sent again, whoever logs in and however its session ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.connections.service import ConnectionService
from domain.maintenance.sweep import sweep
from domain.queueing.waiting_reason import of_request
from domain.records.request import Claim, State
from domain.records.session import MAX_EXECUTION_SECONDS, SILENCE_SECONDS, session_id
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, counting_bytes
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response

if TYPE_CHECKING:
    from collections.abc import Callable

NEW_PASSWORD = "correct horse battery staple"


def a_connector() -> Connector:
    """Return a Web Connector with an empty queue."""
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect()
    return qbwc


# --- busy


BUSY_SECONDS = pytest.mark.parametrize(("is_read", "seconds"), [(True, 2 * 60), (False, 5 * 60)])


@BUSY_SECONDS
def test_a_session_with_a_request_in_quickbooks_is_not_taken_over_for_some_time(
    qbwc: Connector, is_read: bool, seconds: int
) -> None:
    request_id = qbwc.queue() if is_read else qbwc.write()
    request = qbwc.begin()
    sent, mine, before = qbwc.clock.now, qbwc.ticket, (qbwc.session, qbwc.connection)

    for after in (1, seconds // 2, seconds - 1):
        qbwc.clock.now = sent + timedelta(seconds=after - 1)  # a call takes a second
        assert (after, qbwc.authenticate()) == (after, "busy")
        assert qbwc.ticket != mine
        assert qbwc.close() == "OK"

    qbwc.ticket = mine
    assert (qbwc.session, qbwc.connection) == before
    assert qbwc.receive(response_to(request) if is_read else stored_response(request)) == 100
    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


@BUSY_SECONDS
def test_a_session_is_taken_over_when_quickbooks_has_worked_too_long(
    qbwc: Connector, is_read: bool, seconds: int
) -> None:
    qbwc.queue() if is_read else qbwc.write()
    qbwc.begin()

    qbwc.clock.advance(seconds=seconds)

    assert qbwc.authenticate() in {"", "none"}


def test_a_busy_login_makes_three_calls_to_the_store_and_writes_nothing(qbwc: Connector) -> None:
    qbwc.write()
    qbwc.begin()

    assert qbwc.authenticate() == "busy"

    assert qbwc.store.calls == {"connection": 1, "session": 1, "requests_in_flight": 1}


def test_a_claimed_request_and_a_lingering_session_are_taken_over_at_once() -> None:
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(linger_seconds=60)
    qbwc.queue()
    qbwc.authenticate()
    assert qbwc.authenticate() == ""  # the request was only claimed
    qbwc.receive(response_to(qbwc.send(hcp())))
    assert qbwc.send() == "NoOp"

    assert qbwc.authenticate() == "none"


def test_an_ended_session_does_not_make_the_next_one_wait(qbwc: Connector) -> None:
    qbwc.write()
    qbwc.begin()
    qbwc.close()

    assert qbwc.authenticate() == ""


def test_a_session_with_the_former_password_is_taken_over_at_once(qbwc: Connector) -> None:
    qbwc.write()
    qbwc.begin()
    change_password(qbwc)

    assert qbwc.authenticate(NEW_PASSWORD) == ""


# --- when "never executed" is believed


def change_password(qbwc: Connector) -> None:
    """Revoke the session of the Web Connector."""
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    service.set_password(APP_ID, CONNECTION_ID, NEW_PASSWORD, actor=AN_ACTOR)


def take_over(qbwc: Connector) -> None:
    """Make no further call until another login may end the session."""
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)


def report_that_quickbooks_cannot_be_reached(qbwc: Connector) -> None:
    """End the session with `connectionError`."""
    qbwc.call("connectionError", qbwc.ticket, "0x80040408", "Could not start QuickBooks.")


def report_a_failed_call(qbwc: Connector) -> None:
    """Report a code after which QuickBooks may still run, and close the session."""
    qbwc.receive(hresult="0x800706BE")
    qbwc.close()


def report_an_unknown_code(qbwc: Connector) -> None:
    """Report a code that nobody knows, and close the session."""
    qbwc.receive(hresult="0x8FFFFFFF")
    qbwc.close()


def report_an_exception_and_disappear(qbwc: Connector) -> None:
    """Report a code that does not tell whether the write was executed, and never close the session."""
    qbwc.receive(hresult="0x80040402")


UNPROVEN = [
    Connector.close,
    take_over,
    report_that_quickbooks_cannot_be_reached,
    report_a_failed_call,
    report_an_unknown_code,
    report_an_exception_and_disappear,
]


def receive_what_cannot_be_interpreted(qbwc: Connector, check: str) -> int:
    """Deliver the stored response to a write whose record has a form that no version of the service stores."""
    for record in qbwc.in_flight:
        qbwc.store.records[record.id] = replace(record, request_label=None)  # type: ignore[arg-type]
    return qbwc.receive(stored_response(check.replace("<QBXMLMsgsRq", '<CustomerAddRq requestID="1"')))


ANSWERS: list[Callable[[Connector, str], int]] = [
    lambda qbwc, check: qbwc.receive(nothing_stored(check)),
    lambda qbwc, check: qbwc.receive(nothing_stored(check, 9004)),
    lambda qbwc, check: qbwc.receive(nothing_stored(check)[:-30]),
    lambda qbwc, _: qbwc.receive(hresult="0x80040400"),
    receive_what_cannot_be_interpreted,
]
"""QuickBooks never executed the write, cannot tell, is cut off, or cannot parse the question, or the service fails."""


@pytest.mark.parametrize("end", UNPROVEN)
@given(seconds=st.integers(0, MAX_EXECUTION_SECONDS - 600), answer=st.sampled_from(ANSWERS))
def test_until_its_time_is_over_a_write_and_everything_behind_it_are_held(
    end: Callable[[Connector], None], seconds: int, answer: Callable[[Connector, str], int]
) -> None:
    qbwc = a_connector()
    write = qbwc.write("Ann")
    later = [qbwc.write("Bob"), qbwc.queue()]
    qbwc.begin()
    end(qbwc)
    qbwc.clock.advance(seconds=seconds)

    check = qbwc.begin()
    assert "oldMessageSetID" in check
    assert answer(qbwc, check) == -1

    assert "QuickBooks may be executing CustomerAddRq" in qbwc.last_error()
    assert qbwc.send() == ""
    record = qbwc.record(write)
    assert (record.state, record.recovering, record.recovery.sessions) == (State.RETRYABLE, True, 0)
    assert [qbwc.record(request_id).state for request_id in later] == [State.WAITING] * 2


@pytest.mark.parametrize("end", UNPROVEN)
def test_when_its_time_is_over_a_write_that_was_never_executed_is_sent(
    qbwc: Connector, end: Callable[[Connector], None]
) -> None:
    write = qbwc.write("Ann")
    request = qbwc.begin()
    end(qbwc)
    for _ in range(5):  # more sessions than may ask without success
        qbwc.clock.advance(seconds=60)
        qbwc.receive(nothing_stored(qbwc.begin()))
        qbwc.close()
    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    qbwc.receive(nothing_stored(qbwc.begin()))

    assert qbwc.send() == request
    assert qbwc.record(write).recovery.running_until is None


def test_a_stored_response_ends_a_held_write_at_once(qbwc: Connector) -> None:
    write = qbwc.write("Ann")
    request = qbwc.begin()
    qbwc.receive(nothing_stored(qbwc.take_over()))
    qbwc.close()

    qbwc.begin()

    assert qbwc.receive(stored_response(request)) == 100
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_the_time_counts_from_the_last_sending_of_the_write_itself(qbwc: Connector) -> None:
    """Neither a repeated sendRequestXML nor a status check is a sending."""
    qbwc.write("Ann")
    request = qbwc.begin()
    sent = qbwc.clock.now
    qbwc.clock.advance(minutes=4)
    qbwc.send()
    qbwc.receive(nothing_stored(qbwc.take_over()))
    qbwc.clock.now = sent
    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    qbwc.receive(nothing_stored(qbwc.begin()))

    assert qbwc.send() == request


def test_a_check_counts_by_the_time_at_which_it_was_sent(qbwc: Connector) -> None:
    """Its result may arrive after the write has ended, although QuickBooks made it before."""
    qbwc.write("Ann")
    qbwc.begin()
    sent = qbwc.clock.now
    check = qbwc.take_over()
    qbwc.clock.now = sent
    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS + 60)

    assert qbwc.receive(nothing_stored(check)) == -1


@pytest.mark.parametrize("hresult", ["0x80040402", "0x80040421"])
def test_after_an_exception_of_quickbooks_itself_closeconnection_proves_that_it_has_finished(
    qbwc: Connector, hresult: str
) -> None:
    write, later = qbwc.write("Ann"), qbwc.write("Bob")
    request = qbwc.begin()
    assert qbwc.receive(hresult=hresult) == -1
    assert qbwc.record(later).state is State.WAITING
    qbwc.close()
    assert qbwc.record(write).recovery.running_until is None

    qbwc.receive(nothing_stored(qbwc.begin()))

    assert qbwc.send() == request
    assert qbwc.store.counts == qbwc.store.recount()


def test_closeconnection_proves_nothing_about_a_write_that_another_session_has_had_since(qbwc: Connector) -> None:
    write = qbwc.write("Ann")
    qbwc.begin()
    assert qbwc.receive(hresult="0x80040402") == -1
    held_until = qbwc.record(write).recovery.running_until
    assert held_until
    qbwc.change(write, claim=Claim("another"))

    qbwc.close()

    assert qbwc.record(write).recovery.running_until == held_until


def test_an_exception_that_may_be_a_copy_of_an_earlier_one_proves_nothing(qbwc: Connector) -> None:
    """QuickBooks may be executing the second write: its own exception (0x80010105) may be lost."""
    qbwc.queue()
    write = qbwc.write()
    qbwc.begin()
    qbwc.receive(hresult="0x80040402")
    request = qbwc.send()
    qbwc.receive(hresult="0x80040402")
    qbwc.close()
    assert qbwc.record(write).recovery.running_until

    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS - 60)
    assert qbwc.receive(nothing_stored(qbwc.begin())) == -1
    qbwc.close()
    qbwc.clock.advance(minutes=1)

    qbwc.receive(nothing_stored(qbwc.begin()))
    assert qbwc.send() == request


def test_closing_a_session_does_not_change_a_write_that_another_session_has_claimed(qbwc: Connector) -> None:
    write = qbwc.write("Ann")
    qbwc.begin()
    qbwc.receive(hresult="0x80040402")
    former = qbwc.ticket
    check = qbwc.begin()

    qbwc.call("closeConnection", former)

    assert qbwc.record(write).recovery.running_until
    assert qbwc.receive(nothing_stored(check)) == -1


def test_a_session_with_the_former_password_proves_nothing(qbwc: Connector) -> None:
    qbwc.write("Ann")
    qbwc.begin()
    change_password(qbwc)
    qbwc.close()
    qbwc.authenticate(NEW_PASSWORD)

    assert qbwc.receive(nothing_stored(qbwc.send(hcp()))) == -1


def test_after_a_sweep_never_executed_is_believed_only_after_the_longest_execution(qbwc: Connector) -> None:
    write = qbwc.write("Ann")
    request = qbwc.begin()
    qbwc.clock.advance(seconds=SILENCE_SECONDS - 60)
    qbwc.send()  # the session made a call, so it is not silent
    qbwc.clock.advance(seconds=SILENCE_SECONDS + 60)
    sweep(qbwc.store, qbwc.clock, qbwc.clock.now + timedelta(minutes=1))
    assert qbwc.record(write).recovery.running_until

    qbwc.receive(nothing_stored(qbwc.begin()))

    assert qbwc.send() == request


@given(seconds=st.integers(1, MAX_EXECUTION_SECONDS), early=st.floats(0.01, 0.9))
def test_the_time_is_a_setting(seconds: int, early: float) -> None:
    qbwc = Connector(new_id=RandomIds(), execution_seconds=seconds)
    qbwc.connect()
    write = qbwc.write("Ann")
    request = qbwc.begin()
    sent = qbwc.clock.now
    qbwc.receive(hresult="0x800706BE")

    qbwc.clock.now = sent
    qbwc.clock.advance(seconds=early * seconds - 3)
    qbwc.receive(nothing_stored(qbwc.begin()))
    assert qbwc.record(write).state is State.RETRYABLE
    qbwc.close()
    qbwc.clock.now = sent
    qbwc.clock.advance(seconds=seconds)
    qbwc.receive(nothing_stored(qbwc.begin()))

    assert qbwc.send() == request


def test_a_lost_check_that_came_too_early_does_not_count(qbwc: Connector) -> None:
    write = qbwc.write("Ann")
    request = qbwc.begin()
    for _ in range(5):
        qbwc.take_over()
    assert qbwc.record(write).recovering

    qbwc.receive(stored_response(request))

    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


# --- what people see


def test_the_reason_for_waiting_says_until_when_a_write_is_held(qbwc: Connector) -> None:
    write, later = qbwc.write("Ann"), qbwc.write("Bob")
    qbwc.begin()
    report_a_failed_call(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))
    qbwc.close()

    held = of_request(qbwc.record(write), qbwc.connection, qbwc.clock.now)
    behind = of_request(qbwc.record(later), qbwc.connection, qbwc.clock.now, ahead=1)

    assert held
    assert (held.code, f"until {qbwc.record(write).recovery.running_until}" in held.message) == ("recovering", True)
    assert behind
    assert behind.code == "requests_ahead"


def test_a_user_reads_that_another_session_is_working(qbwc: Connector) -> None:
    qbwc.write()
    qbwc.begin()
    mine = qbwc.ticket

    qbwc.authenticate()

    assert session_id(qbwc.ticket) not in qbwc.store.sessions
    qbwc.ticket = mine
    assert not qbwc.session.ended
