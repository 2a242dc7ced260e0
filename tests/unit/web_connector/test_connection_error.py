"""QuickBooks could not be opened: `connectionError` (§2.6)."""

from __future__ import annotations

import pytest

from domain.requests.record import State, timestamp
from domain.storage.changes import ChangeConnection
from domain.web_connector.protocol import qwc
from simulator import Simulator
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import PASSWORD, Desk, answer, hcp
from tests.unit.simulator.service import Service


@pytest.fixture
def desk() -> Desk:
    """Return a desk with a connection and an empty queue."""
    desk = Desk(new_id=RandomIds())
    desk.connect()
    return desk


def test_a_connection_error_is_told_to_the_owner_and_gives_the_request_back(desk: Desk) -> None:
    request_id = desk.queue()
    desk.authenticate()

    assert desk.call("connectionError", desk.ticket, "0x80040408", "QuickBooks could not be started.") == "done"

    assert desk.record(request_id).state is State.WAITING
    error = desk.connection.last_error
    assert error is not None
    assert error["code"] == "quickbooks_connection_error"
    assert error["hresult"] == "0x80040408"
    assert error["message"] == "QuickBooks could not be started."
    assert error["hint"]
    assert error["at"] == timestamp(desk.clock.now)
    assert desk.connection.status == "error"
    assert desk.connection.session_id is None
    assert "QuickBooks could not be started." in desk.last_error()
    assert desk.close() == "OK"


def test_a_connection_error_without_a_message_is_described(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()

    desk.call("connectionError", desk.ticket, "0x80040408")

    assert desk.connection.last_error is not None
    assert desk.connection.last_error["message"] == "QuickBooks could not be started."


def test_the_next_session_that_reaches_quickbooks_clears_the_error(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.call("connectionError", desk.ticket, "0x80040408", "x")

    assert desk.authenticate() == ""
    assert desk.connection.status == "error"  # a login alone does not reach QuickBooks
    desk.send(hcp())

    assert desk.connection.status == "connected"


PATH = r"C:\Books\acme.qbw"
NOT_FOUND = "0x80040406"


@pytest.fixture
def with_path() -> Desk:
    """Return a desk whose connection names the company file to open, and one request that waits."""
    desk = Desk()
    desk.connect(company_file=PATH)
    desk.queue()
    assert desk.authenticate() == PATH
    return desk


def fails(desk: Desk, hresult: str = NOT_FOUND) -> str:
    """Say that QuickBooks could not be opened."""
    return str(desk.call("connectionError", desk.ticket, hresult, ""))


@pytest.mark.parametrize("hresult", ["0x80040403", "0x80040406", "0x8004040A", "0x8004040a"])
def test_a_path_that_cannot_be_opened_is_followed_by_the_file_that_is_open(with_path: Desk, hresult: str) -> None:
    assert fails(with_path, hresult) == ""
    assert with_path.store.calls.total() == 2

    request = with_path.send(hcp())
    assert with_path.receive(answer(request)) == 100
    assert with_path.connection.last_error is None


def test_the_second_failure_of_a_session_ends_it(with_path: Desk) -> None:
    fails(with_path)

    assert fails(with_path) == "done"

    assert with_path.connection.last_error is not None
    assert with_path.connection.last_error["reason"] == "company_file_not_found"
    assert with_path.states() == ["waiting"]


@pytest.mark.parametrize("hresult", ["0x80040414", "0x80040418", "0x8004041A", "0x80040408", "0x12345678"])
def test_what_another_file_cannot_help_against_ends_the_session(with_path: Desk, hresult: str) -> None:
    assert fails(with_path, hresult) == "done"


def test_without_a_path_there_is_no_other_attempt(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()

    assert fails(desk) == "done"


@pytest.mark.parametrize("mark", ["{11111111-1111-1111-1111-111111111111}", None])
def test_the_file_that_happened_to_be_open_must_bear_the_mark_of_the_connection(
    with_path: Desk, mark: str | None
) -> None:
    fails(with_path)

    assert with_path.send(hcp(mark)) == ""

    assert with_path.connection.last_error is not None
    assert with_path.connection.last_error["code"] == "company_file_mismatch"
    assert with_path.states() == ["waiting"]


def test_a_path_that_cannot_be_opened_is_named_when_the_open_file_bears_no_mark(with_path: Desk) -> None:
    """What mends it is another path: lifting the pin leaves that as it is."""
    fails(with_path)
    with_path.send(hcp(None), "C:\\Books\\sample.qbw")

    error = with_path.connection.last_error

    assert error is not None
    assert f"could not be opened: {PATH}" in error["message"]
    assert "C:\\Books\\sample.qbw" in error["message"]
    assert "PATCH" in error["hint"]


def test_a_failure_has_a_stable_reason(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    fails(desk, "0x80040414")

    assert desk.connection.last_error is not None
    assert desk.connection.last_error["reason"] == "modal_dialog"


def test_work_is_done_in_the_open_file_when_the_path_is_out_of_date() -> None:
    """Held against the simulator, whose company lies elsewhere and bears the mark."""
    service = Service()
    desk = service.desk
    request_id = desk.queue("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
    before = desk.connection
    desk.store.commit(ChangeConnection(before, before.changed(before.updated_at, company_file=r"C:\Old\moved.qbw")))
    text = qwc.render(service.connection, base_url="https://queue.example.com", app_name="Queue")

    Simulator(text, PASSWORD, service.company, transport=service, sleep=id).run_once()

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED
    assert desk.connection.last_error is None
