"""A company file at a path that nobody has accepted may be a copy: nothing is sent to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.connections.service import MAX_PATHS, ConnectionService
from domain.errors import InvalidState, NotFound
from domain.queueing.waiting_reason import of_connection
from domain.records.request import State
from domain.records.session import MAX_EXECUTION_SECONDS
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, OTHER_APP_ID, counting_bytes
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response

PATH = "Z:\\Books\\acme.qbw"
COPY = "C:\\Users\\Ann\\Desktop\\acme.qbw"
SHARE = "\\\\server\\books\\acme.qbw"


def service(qbwc: Connector) -> ConnectionService:
    """Return the use cases of an API consumer."""
    return ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)


def begin_at(qbwc: Connector, path: str, facts: str | None = None) -> str:
    """Log in while the connection's marked file is open at `path`. Return the text that the service sends."""
    qbwc.authenticate()
    return qbwc.send(hcp() if facts is None else facts, path)


def known_at(qbwc: Connector, path: str = PATH) -> None:
    """Let QuickBooks execute a request in the file at `path`."""
    qbwc.queue()
    qbwc.receive(response_to(begin_at(qbwc, path)))
    qbwc.close()


def accept(qbwc: Connector, path: str) -> None:
    """Open the file at `path`, and accept it there."""
    assert begin_at(qbwc, path) == ""
    service(qbwc).accept_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def test_the_first_path_is_accepted_by_itself(qbwc: Connector) -> None:
    known_at(qbwc)

    assert qbwc.connection.company_file_paths == (PATH,)


@pytest.mark.parametrize("facts", [hcp(), "unreadable"])
def test_at_another_path_nothing_is_sent_and_the_connection_says_so(qbwc: Connector, facts: str) -> None:
    known_at(qbwc)
    write, read = qbwc.write(), qbwc.queue()

    assert begin_at(qbwc, COPY, facts) == ""

    assert qbwc.last
    assert qbwc.last.log["problem"] == "company_file_moved"
    assert PATH in qbwc.last_error()
    assert COPY in qbwc.last_error()
    error = qbwc.connection.last_error
    assert error
    assert (error["code"], error["reason"], error["path"]) == ("company_file_moved", "company_file_moved", COPY)
    assert "accept_company_file" in error["hint"]
    assert qbwc.connection.status == "error"
    reason = of_connection(qbwc.connection, qbwc.clock.now)
    assert reason
    assert reason.code == "company_file_moved"
    assert [qbwc.record(request_id).state for request_id in (write, read)] == [State.WAITING] * 2
    assert qbwc.session.ended
    assert qbwc.connection.company_file_paths == (PATH,)


def test_the_former_path_needs_no_decision(qbwc: Connector) -> None:
    known_at(qbwc)
    qbwc.queue()
    begin_at(qbwc, COPY)
    qbwc.close()

    assert begin_at(qbwc, PATH) != ""

    assert qbwc.connection.last_error is None


@given(st.lists(st.sampled_from("/\\"), min_size=2, max_size=2), st.booleans())
def test_windows_paths_are_equal_regardless_of_case_and_slashes(slashes: list[str], is_upper: bool) -> None:
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect()
    known_at(qbwc)
    qbwc.queue()
    first, second = slashes
    path = f"z:{first}books{second}acme.qbw"

    assert begin_at(qbwc, path.upper() if is_upper else path) != ""


def test_a_file_can_be_accepted_at_several_paths(qbwc: Connector) -> None:
    known_at(qbwc)
    qbwc.queue()

    accept(qbwc, SHARE)

    assert qbwc.connection.company_file_paths == (PATH, SHARE)
    assert qbwc.connection.last_error is None
    for path in (SHARE, PATH, SHARE):
        qbwc.queue()
        request = begin_at(qbwc, path)
        assert qbwc.receive(response_to(request)) < 100
        qbwc.close()
    assert qbwc.connection.company_file_paths == (PATH, SHARE)


def test_only_a_path_that_was_reported_can_be_accepted(qbwc: Connector) -> None:
    known_at(qbwc)

    with pytest.raises(InvalidState, match="did not report another path"):
        service(qbwc).accept_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    with pytest.raises(NotFound):
        service(qbwc).accept_company_file(OTHER_APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def test_the_number_of_accepted_paths_is_limited(qbwc: Connector) -> None:
    known_at(qbwc)
    qbwc.queue()
    for number in range(MAX_PATHS - 1):
        accept(qbwc, f"D:\\{number}\\acme.qbw")
    begin_at(qbwc, COPY)

    with pytest.raises(InvalidState, match="10 paths at most"):
        service(qbwc).accept_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def test_a_reset_forgets_the_accepted_paths(qbwc: Connector) -> None:
    known_at(qbwc)
    qbwc.queue()
    begin_at(qbwc, COPY)

    assert service(qbwc).reset_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR).last_error is None

    assert begin_at(qbwc, COPY) != ""
    assert qbwc.connection.company_file_paths == (COPY,)


def test_a_copy_is_not_believed_that_it_never_executed_a_write(qbwc: Connector) -> None:
    """The response is lost. Then a copy is open, somebody accepts its path, and the copy knows nothing of the write."""
    known_at(qbwc)
    write = qbwc.write()
    request = begin_at(qbwc, PATH)
    qbwc.close_and_wait()
    accept(qbwc, COPY)

    for _ in range(2):
        qbwc.receive(nothing_stored(begin_at(qbwc, COPY)))
        assert qbwc.send() == ""
        qbwc.close()
    assert qbwc.record(write).recovering
    begin_at(qbwc, PATH)
    qbwc.receive(stored_response(request))

    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_if_the_file_stays_away_the_outcome_is_unknown(qbwc: Connector) -> None:
    known_at(qbwc)
    write = qbwc.write()
    begin_at(qbwc, PATH)
    qbwc.close()
    accept(qbwc, COPY)
    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    for _ in range(3):
        qbwc.receive(nothing_stored(begin_at(qbwc, COPY)))
        qbwc.close()

    error = qbwc.record(write).error
    assert error
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "other_file")
