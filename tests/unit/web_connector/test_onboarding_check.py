"""The onboarding check: while a customer sets up a connection, an empty session asks QuickBooks who it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from domain.connections.onboarding import is_connected
from domain.connections.service import ConnectionService
from domain.records.connection import Backoff
from domain.records.sync_window import SyncWindow
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.session.onboarding_check import AGAIN_AFTER, SETTING_UP
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, SequentialIds, a_link, counting_bytes
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, response_to

OTHER_FILE = "{11111111-1111-1111-1111-111111111111}"
A_DIALOG = "0x80040414"
PATH = "C:\\Books\\acme.qbw"


@pytest.fixture
def qbwc() -> Connector:
    """Return the Web Connector of a connection with an empty queue, whose onboarding link was created now."""
    return a_connector()


def a_connector(**fields: Any) -> Connector:
    """Return a Web Connector."""
    qbwc = Connector()
    qbwc.connect(**({"onboarding": a_link()} | fields))
    return qbwc


def change(qbwc: Connector, **fields: Any) -> None:
    """Change the connection."""
    before = qbwc.connection
    qbwc.store.commit(Put(before, replace(before, **fields).changed(timestamp(qbwc.clock.now))))


def check(qbwc: Connector, facts: str = "", **arguments: Any) -> str:
    """Log in and fetch the check."""
    assert qbwc.authenticate() == (qbwc.connection.company_file or "")
    return qbwc.send(facts, **arguments)


def test_an_empty_queue_and_a_right_password_ask_quickbooks_for_host_and_company(qbwc: Connector) -> None:
    question = check(qbwc)

    assert "<HostQueryRq" in question
    assert "<CompanyQueryRq" in question
    assert not qbwc.records
    assert qbwc.connection.quickbooks_status == "testing"
    assert not is_connected(qbwc.connection)


def test_the_answer_tells_company_product_and_version(qbwc: Connector) -> None:
    check(qbwc)

    assert qbwc.receive(hcp()) == 100

    connection = qbwc.connection
    assert connection.company_name == "Acme"
    assert connection.quickbooks_product_name == "QuickBooks Enterprise 24"
    assert connection.quickbooks_version == "34"
    assert connection.quickbooks_status == "connected"
    assert is_connected(connection)
    assert qbwc.close() == "OK"
    assert qbwc.connection.session_id is None


def test_the_facts_of_the_first_call_do_not_replace_the_answer(qbwc: Connector) -> None:
    check(qbwc, hcp())

    assert qbwc.connection.company_name == "Acme"
    assert not is_connected(qbwc.connection)
    qbwc.receive("", "0x80010105", "QuickBooks failed.")
    assert not is_connected(qbwc.connection)


def test_the_facts_of_the_first_call_create_no_connection_that_was_removed(qbwc: Connector) -> None:
    qbwc.authenticate()
    del qbwc.store.connections[CONNECTION_ID]

    assert "<HostQueryRq" in qbwc.send(hcp())

    assert qbwc.store.connections == {}


def test_after_the_answer_polls_open_no_session(qbwc: Connector) -> None:
    check(qbwc)
    qbwc.receive(hcp())
    qbwc.close()

    assert qbwc.authenticate() == "none"


@pytest.mark.parametrize(
    "fields",
    [
        {"onboarding": None},
        {"onboarding": a_link(expires_at=timestamp(NOON))},
        {"paused_at": timestamp(NOON)},
        {"quickbooks_answered_at": timestamp(NOON + timedelta(microseconds=1))},
    ],
    ids=["without a link", "link expired", "paused", "answered"],
)
def test_there_is_no_check(fields: dict[str, Any]) -> None:
    qbwc = a_connector(**fields)

    assert qbwc.authenticate() == "none"
    assert qbwc.store.sessions == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"sync_window": SyncWindow("01:00", "02:00", "UTC")},
        {"backoff": Backoff(3, timestamp(NOON + timedelta(hours=1)))},
    ],
    ids=["window closed", "backoff"],
)
def test_a_closed_window_and_a_backoff_delay_requests_but_not_the_check(fields: dict[str, Any]) -> None:
    qbwc = a_connector(**fields)
    qbwc.queue()

    assert "<HostQueryRq" in check(qbwc)
    assert qbwc.receive(hcp()) == 100

    assert qbwc.send() == ""
    assert qbwc.close() == "OK"
    assert qbwc.states() == ["waiting"]
    assert qbwc.connection.backoff == fields.get("backoff")
    assert qbwc.authenticate() == "none"


def test_a_session_with_requests_needs_no_check(qbwc: Connector) -> None:
    qbwc.queue()

    request = qbwc.begin()

    assert "CustomerQueryRq" in request
    assert is_connected(qbwc.connection)
    assert qbwc.connection.company_name == "Acme"
    assert qbwc.receive(response_to(request)) == 100


def test_a_session_with_requests_but_without_facts_leaves_the_check_to_the_next(qbwc: Connector) -> None:
    qbwc.queue()
    assert qbwc.authenticate() == ""
    qbwc.receive(response_to(qbwc.send()))
    qbwc.close()

    assert not is_connected(qbwc.connection)
    assert "<HostQueryRq" in check(qbwc)


def test_a_check_sends_nothing_else_even_if_requests_are_queued_meanwhile_or_it_may_linger() -> None:
    qbwc = a_connector(linger_seconds=60)
    check(qbwc)
    qbwc.queue()

    assert qbwc.receive(hcp()) == 100
    assert qbwc.send() == ""
    qbwc.close()

    assert qbwc.states() == ["waiting"]
    assert "CustomerQueryRq" in qbwc.begin()


# --- Failures


def test_a_company_file_that_cannot_be_opened_is_the_last_error_until_a_check_succeeds(qbwc: Connector) -> None:
    qbwc.authenticate()
    qbwc.call("connectionError", qbwc.ticket, A_DIALOG, "A modal dialog box is showing.")
    assert qbwc.connection.last_error
    assert qbwc.connection.last_error["reason"] == "modal_dialog"
    assert qbwc.connection.quickbooks_status == "error"
    assert not is_connected(qbwc.connection)

    check(qbwc)
    qbwc.receive(hcp())

    assert qbwc.connection.last_error is None
    assert is_connected(qbwc.connection)


def test_a_problem_after_the_answer_is_checked_again_while_the_link_lives(qbwc: Connector) -> None:
    check(qbwc)
    qbwc.receive(hcp())
    qbwc.close()
    change(qbwc, last_error={"code": "quickbooks_connection_error", "message": "closed"})

    check(qbwc)
    qbwc.receive(hcp())

    assert is_connected(qbwc.connection)


def test_another_company_file_is_not_asked() -> None:
    qbwc = a_connector(company_file_paths=(PATH,), file_id_seen="90A44FB5-33D9-4815-AC85-BC87A7E7D1EB")

    assert check(qbwc, hcp(OTHER_FILE), company_file="D:\\other.qbw") == ""

    error = qbwc.connection.last_error
    assert error
    assert error["code"] == "company_file_mismatch"
    assert error["company_name"] == "Acme"
    assert error["path"] == "D:\\other.qbw"
    assert qbwc.connection.company_name is None
    assert qbwc.session.ended


def test_a_path_that_cannot_be_opened_is_tried_once_with_the_open_file() -> None:
    qbwc = a_connector(company_file=PATH)
    assert qbwc.authenticate() == PATH
    could_not_open = "0x80040403", "Could not open the file."
    assert qbwc.call("connectionError", qbwc.ticket, *could_not_open) == ""

    assert "<HostQueryRq" in qbwc.send(hcp())
    assert qbwc.receive(hcp()) == 100
    assert is_connected(qbwc.connection)


@pytest.mark.parametrize(
    ("response", "hresult", "reason"),
    [
        ("", "0x80040423", "qbxml_version_not_supported"),
        ("", "0x8004041A", "no_permission"),
        ("", "0x8FFFFFFF", "unknown_hresult"),
        ("<QBXML/>", "", "check_not_answered"),
        ("", "", "check_not_answered"),
        (response_to('<HostQueryRq requestID="0"/>', code=500, severity="Error"), "", "check_not_answered"),
    ],
)
def test_an_exception_and_an_answer_without_a_product_fail_the_check(
    qbwc: Connector, response: str, hresult: str, reason: str
) -> None:
    check(qbwc)

    assert qbwc.receive(response, hresult) == -1
    assert qbwc.last
    assert qbwc.last.log["problem"] == "quickbooks_connection_error"
    assert qbwc.receive(response, hresult) == -1

    error = qbwc.connection.last_error
    assert error
    assert (error["code"], error["reason"]) == ("quickbooks_connection_error", reason)
    assert qbwc.connection.session_id is None
    assert qbwc.last_error() != "No more requests."


def test_an_answer_that_is_too_large_fails_the_check(qbwc: Connector) -> None:
    check(qbwc)

    assert qbwc.receive_oversized("<QBXML>{padding}") == -1

    assert not is_connected(qbwc.connection)


def test_a_pause_stops_a_check_that_was_not_sent(qbwc: Connector) -> None:
    qbwc.authenticate()
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=SequentialIds(), secrets=counting_bytes)
    service.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    assert qbwc.send() == ""
    assert "paused" in qbwc.last_error()


def test_a_company_file_that_was_reset_is_checked_again(qbwc: Connector) -> None:
    check(qbwc)
    qbwc.receive(hcp())
    qbwc.close()
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=SequentialIds(), secrets=counting_bytes)
    service.reset_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    assert qbwc.connection.company_name is None
    change(qbwc, message_set_to_forget="of the former file")

    check(qbwc, hcp(OTHER_FILE), company_file="D:\\other.qbw")
    qbwc.receive(hcp(OTHER_FILE))

    assert is_connected(qbwc.connection)
    assert qbwc.session.message_set_to_forget is None


def test_the_message_set_to_forget_survives_a_check() -> None:
    qbwc = a_connector(message_set_to_forget="stored")

    check(qbwc, hcp())

    assert qbwc.session.message_set_to_forget == "stored"


# --- Repetition


def test_a_repeated_call_gets_the_same_question_and_a_repeated_answer_the_same_reply(qbwc: Connector) -> None:
    assert check(qbwc) == qbwc.send()
    revision = qbwc.session.revision
    assert (qbwc.receive(hcp()), qbwc.session.revision) == (100, revision + 1)
    answered = qbwc.connection

    assert (qbwc.receive(hcp()), qbwc.connection) == (100, answered)
    assert qbwc.send() == ""


def test_an_answer_before_the_question_changes_nothing(qbwc: Connector) -> None:
    qbwc.authenticate()
    before = qbwc.connection

    qbwc.receive(hcp())

    assert qbwc.connection == before


def test_a_check_that_keeps_failing_is_made_at_each_login_for_an_hour_and_then_every_ten_minutes(
    qbwc: Connector,
) -> None:
    times = []
    while qbwc.clock.now < NOON + 3 * SETTING_UP:
        if qbwc.authenticate() == "":
            times.append(qbwc.clock.now)
            qbwc.call("connectionError", qbwc.ticket, A_DIALOG, "")
        qbwc.clock.advance(seconds=58)

    first_hour = [time for time in times if time < NOON + SETTING_UP]
    assert len(first_hour) >= SETTING_UP / timedelta(seconds=60) - 1
    later = times[len(first_hour) :]
    assert len(later) <= 2 * SETTING_UP / AGAIN_AFTER + 1


def test_a_new_password_lets_each_login_make_the_check_again(qbwc: Connector) -> None:
    qbwc.clock.now = NOON + 2 * SETTING_UP
    check(qbwc)
    qbwc.call("connectionError", qbwc.ticket, A_DIALOG, "")
    assert qbwc.authenticate() == "none"

    change(qbwc, password_changed_at=timestamp(qbwc.clock.now))

    assert qbwc.authenticate() == ""


def test_the_next_login_takes_over_a_check_that_got_no_answer(qbwc: Connector) -> None:
    check(qbwc)
    former = qbwc.ticket

    assert "<HostQueryRq" in check(qbwc)

    assert qbwc.ticket != former
    assert qbwc.receive(hcp()) == 100
    assert qbwc.call("receiveResponseXML", former, hcp(), "", "") == -1


def test_a_check_costs_no_more_calls_to_the_store_than_a_request(qbwc: Connector) -> None:
    qbwc.authenticate()
    assert qbwc.store.calls == {"connection": 1, "queue_front": 1, "commit": 1}
    qbwc.send()
    assert qbwc.store.calls == {"session": 1, "connection": 1, "commit": 1}
    qbwc.receive(hcp())
    assert qbwc.store.calls == {"session": 1, "connection": 1, "commit": 1}
    qbwc.close()
    assert qbwc.store.calls == {"session": 1, "connection": 1, "commit": 1}
