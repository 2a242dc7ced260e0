"""authenticate: passwords, tickets, and the takeover of a former session."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from domain.connections.service import ConnectionService
from domain.errors import Conflict, TooManyRequests
from domain.records.request import State
from domain.records.session import NO_SESSION, session_id
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_READ
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, counting_bytes
from tests.support.web_connector.connector import PASSWORD, Connector
from tests.support.web_connector.quickbooks import hcp, response_to, stored_response


def raise_busy(*_changes: object) -> None:
    """Refuse every commit because of contention."""
    raise TooManyRequests("busy")


def test_without_work_the_reply_is_none_and_only_the_login_time_is_stored(qbwc: Connector) -> None:
    assert qbwc.authenticate() == "none"

    assert qbwc.connection.last_connected_at == timestamp(qbwc.clock.now)
    assert qbwc.connection.session_id is None
    assert qbwc.store.sessions == {}
    assert len(qbwc.ticket) == 32
    assert qbwc.close() == "OK"


def test_a_wrong_password_is_refused_and_only_the_time_of_the_failure_is_stored(qbwc: Connector) -> None:
    qbwc.queue()
    before = qbwc.connection

    assert qbwc.authenticate("wrong") == "nvu"

    now = timestamp(qbwc.clock.now)
    assert qbwc.connection == replace(before, login_failed_at=now).changed(now)
    assert qbwc.states() == ["waiting"]
    assert qbwc.close() == "OK"


def test_failed_logins_are_stored_at_most_once_a_minute(qbwc: Connector) -> None:
    qbwc.authenticate("wrong")
    first = qbwc.connection
    qbwc.clock.now += timedelta(seconds=30)
    qbwc.authenticate("wrong")
    assert qbwc.connection is first

    qbwc.clock.now += timedelta(seconds=30)
    qbwc.authenticate("wrong")
    assert qbwc.connection.login_failed_at == timestamp(qbwc.clock.now)


@pytest.mark.parametrize("queued", [0, 1])
def test_a_successful_login_clears_the_failure(qbwc: Connector, queued: int) -> None:
    for _ in range(queued):
        qbwc.queue()
    qbwc.authenticate("wrong")

    qbwc.authenticate()

    assert qbwc.connection.login_failed_at is None


def test_a_failed_login_costs_two_calls_to_the_store_and_a_repeated_one_costs_one(qbwc: Connector) -> None:
    qbwc.store.calls.clear()
    qbwc.authenticate("wrong")
    assert qbwc.store.calls == {"connection": 1, "commit": 1}

    qbwc.store.calls.clear()
    qbwc.authenticate("wrong")
    assert qbwc.store.calls == {"connection": 1}


def test_a_failure_that_conflicts_with_another_change_is_not_recorded(qbwc: Connector) -> None:
    def commit(*changes: Any) -> None:
        raise Conflict(changes[0])

    qbwc.store.commit = commit  # type: ignore[method-assign]

    assert qbwc.authenticate("wrong") == "nvu"

    assert qbwc.connection.login_failed_at is None


@pytest.mark.parametrize("fields", [{"password_hash": None}, {"deleted_at": "2026-03-14T12:00:00.000000Z"}])
def test_a_deleted_connection_and_one_without_password_refuse_every_login(fields: dict[str, Any]) -> None:
    qbwc = Connector()
    qbwc.connect(**fields)
    qbwc.queue()

    assert qbwc.authenticate() == "nvu"
    assert qbwc.authenticate("") == "nvu"


UNKNOWN = ["c0000000-0000-4000-8000-00000000ffff", "admin", ""]


@pytest.mark.parametrize("username", UNKNOWN)
def test_only_the_logins_of_existing_users_count_as_failed(qbwc: Connector, username: str) -> None:
    qbwc.authenticate(username=username)
    assert qbwc.last is not None
    assert qbwc.last.log == {"method": "authenticate", "login": "unknown"}

    qbwc.authenticate("wrong")
    assert qbwc.last.log == {"method": "authenticate", "login": "nvu", "connection_id": CONNECTION_ID}


def test_an_unknown_user_is_refused(qbwc: Connector) -> None:
    qbwc.store.calls.clear()

    assert qbwc.authenticate(username="c0000000-0000-4000-8000-00000000ffff") == "nvu"

    assert qbwc.store.calls == {"connection": 1}


@pytest.mark.parametrize(
    "username", ["", "admin", "x" * 10_000, CONNECTION_ID.upper(), f" {CONNECTION_ID}", "' OR 1=1"]
)
def test_a_user_name_that_is_not_an_id_is_refused_without_a_read(qbwc: Connector, username: str) -> None:
    assert qbwc.authenticate(username=username) == "nvu"

    assert not qbwc.store.calls


def test_every_session_gets_a_new_ticket(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    first = qbwc.ticket
    qbwc.authenticate()

    assert NO_SESSION != first != qbwc.ticket


@pytest.mark.parametrize("password", [PASSWORD, "wrong"])
def test_the_calls_after_a_login_without_a_session_read_nothing(qbwc: Connector, password: str) -> None:
    qbwc.authenticate(password)

    assert (qbwc.close(), qbwc.store.calls.total()) == ("OK", 0)
    assert qbwc.last_error()
    assert qbwc.store.calls.total() == 0
    assert (qbwc.send(), qbwc.receive("<QBXML/>")) == ("", -1)
    assert qbwc.store.calls.total() == 0


def test_only_the_hash_of_a_ticket_is_stored(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.begin()

    assert qbwc.ticket not in repr(qbwc.store.sessions)
    assert qbwc.ticket not in repr(qbwc.store.connections)
    assert qbwc.connection.session_id == session_id(qbwc.ticket)


@pytest.mark.parametrize(
    ("company_file", "status"),
    [
        ("C:\\Books\\acme.qbw", "C:\\Books\\acme.qbw"),
        (" \\\\server\\books\\ACME.QBW ", "\\\\server\\books\\ACME.QBW"),
        ("Acme", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_company_file_is_named_if_it_is_a_path(company_file: str | None, status: str) -> None:
    """QuickBooks would open any other text as a path and fail."""
    qbwc = Connector()
    qbwc.connect(company_file=company_file)
    qbwc.queue()

    assert qbwc.authenticate() == status


def test_contention_at_login_replies_busy(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.store.commit = raise_busy  # type: ignore[method-assign]

    assert qbwc.authenticate() == "busy"


def test_contention_within_a_session_is_a_server_fault(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.store.commit = raise_busy  # type: ignore[method-assign]

    with pytest.raises(AssertionError, match="soap:Server"):
        qbwc.send()

    assert qbwc.last is not None
    assert qbwc.last.status == 503


def test_a_password_changed_during_the_login_takes_effect(qbwc: Connector) -> None:
    qbwc.queue()
    real = qbwc.store.queue_front

    def changing(connection_id: str, limit: int, **lane: bool) -> Any:
        if qbwc.connection.revision == 1:
            after = replace(qbwc.connection, password_hash=None).changed("2026-03-14T12:00:00.000000Z")
            qbwc.store.commit(Put(qbwc.connection, after))
        return real(connection_id, limit, **lane)

    qbwc.store.queue_front = changing  # type: ignore[method-assign]

    assert qbwc.authenticate() == "nvu"


def test_a_login_that_conflicts_with_its_own_commit_takes_over_its_session(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    real = qbwc.store.commit
    commits: list[Any] = []

    def commit(*changes: Any) -> None:
        real(*changes)
        if not commits:
            commits.extend(changes)
            raise Conflict(changes[0])

    qbwc.store.commit = commit  # type: ignore[method-assign]

    assert qbwc.authenticate() == ""

    assert qbwc.connection.session_id == session_id(qbwc.ticket)
    assert qbwc.record(request_id).claim.session_id == session_id(qbwc.ticket)
    assert len([session for session in qbwc.store.sessions.values() if not session.ended]) == 1


def test_a_new_login_ends_the_former_session_and_claims_its_request(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue()
    qbwc.authenticate()
    former = qbwc.ticket

    assert qbwc.authenticate() == ""

    assert qbwc.store.sessions[session_id(former)].ended
    assert qbwc.record(first).claim.session_id == session_id(qbwc.ticket)
    assert qbwc.record(first).state is State.TICKETED
    assert qbwc.record(second).state is State.WAITING
    assert qbwc.connection.session_id == session_id(qbwc.ticket)


def test_a_sent_read_is_sent_again_by_the_next_session(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    first = qbwc.begin()

    assert qbwc.take_over() == first

    assert qbwc.record(request_id).attempts.sessions == 2
    assert qbwc.receive(response_to(first)) == 100


def test_a_sent_write_is_not_sent_again_by_the_next_session_but_recovers(qbwc: Connector) -> None:
    write, _read = qbwc.write(), qbwc.queue()
    qbwc.begin()

    second = qbwc.take_over()

    record = qbwc.record(write)
    assert (record.state, record.recovering) == (State.SENT, True)
    assert "oldMessageSetID" in second
    assert "CustomerAddRq" not in second


def test_a_read_that_was_taken_over_three_times_is_too_large_and_the_hint_names_other_causes(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    for _ in range(3):
        qbwc.take_over()
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_READ)
    assert qbwc.authenticate() == "none"

    record = qbwc.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "response_too_large"
    assert (record.error.details["reason"], record.error.details["sessions"]) == ("response_too_large", 3)
    assert "another Web Connector with the same .qwc file" in record.error.details["hint"]


def test_a_login_works_if_the_former_session_was_removed(qbwc: Connector) -> None:
    qbwc.store.commit(Put(qbwc.connection, replace(qbwc.connection, session_id="gone").changed("x")))
    qbwc.queue()

    assert qbwc.authenticate() == ""


def test_a_ticket_that_was_taken_over_is_treated_like_an_expired_one(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    request = qbwc.begin()
    former = qbwc.ticket
    qbwc.take_over()
    mine, qbwc.ticket = qbwc.ticket, former

    assert qbwc.receive(response_to(request)) == -1
    assert "Another session" in qbwc.last_error()
    assert qbwc.send() == ""
    assert qbwc.call("connectionError", former, "0x80040408", "x") == "done"
    assert qbwc.close() == "OK"
    qbwc.ticket = mine
    assert qbwc.record(request_id).state is State.SENT
    assert qbwc.receive(response_to(request)) == 100


def test_a_new_password_ends_the_live_session(qbwc: Connector) -> None:
    write = qbwc.write()
    request = qbwc.begin()
    connections = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)

    connections.set_password(APP_ID, CONNECTION_ID, "correct horse battery staple", actor=AN_ACTOR)

    assert qbwc.receive(stored_response(request)) == -1
    assert "password" in qbwc.last_error()
    assert (qbwc.send(), qbwc.close()) == ("", "OK")
    assert qbwc.record(write).state is State.SENT
    # The next login recovers the write instead of sending it again.
    assert qbwc.authenticate("correct horse battery staple") == ""
    assert "oldMessageSetID" in qbwc.send(hcp())
    assert qbwc.receive(stored_response(request)) == 100
    assert qbwc.record(write).attempts.sessions == 1
