"""QuickBooks could not be opened: `connectionError` ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.records.request import State
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, response_to
from tests.support.web_connector.service import Service


def test_a_connection_error_is_reported_and_the_request_waits_again(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.authenticate()

    assert qbwc.call("connectionError", qbwc.ticket, "0x80040408", "QuickBooks could not be started.") == "done"

    assert qbwc.record(request_id).state is State.WAITING
    error = qbwc.connection.last_error
    assert error is not None
    assert error["code"] == "quickbooks_connection_error"
    assert error["hresult"] == "0x80040408"
    assert error["message"] == "QuickBooks could not be started."
    assert error["hint"]
    assert error["at"] == timestamp(qbwc.clock.now)
    assert qbwc.connection.status == "error"
    assert qbwc.connection.session_id is None
    assert "QuickBooks could not be started." in qbwc.last_error()
    assert qbwc.close() == "OK"


def test_a_connection_error_without_a_message_gets_a_description(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    qbwc.call("connectionError", qbwc.ticket, "0x80040408")

    assert qbwc.connection.last_error is not None
    assert qbwc.connection.last_error["message"] == "QuickBooks could not be started."


def test_the_next_session_that_reaches_quickbooks_clears_the_error(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.call("connectionError", qbwc.ticket, "0x80040408", "x")

    assert qbwc.authenticate() == ""
    assert qbwc.connection.status == "error"  # a login alone does not reach QuickBooks
    qbwc.send(hcp())

    assert qbwc.connection.status == "connected"


PATH = r"C:\Books\acme.qbw"
NOT_FOUND = "0x80040406"


@pytest.fixture
def with_path() -> Connector:
    """Return a Web Connector and one waiting request. The connection names the company file to open."""
    qbwc = Connector()
    qbwc.connect(company_file=PATH)
    qbwc.queue()
    assert qbwc.authenticate() == PATH
    return qbwc


def fails(qbwc: Connector, hresult: str = NOT_FOUND) -> str:
    """Report that QuickBooks could not be opened."""
    return str(qbwc.call("connectionError", qbwc.ticket, hresult, ""))


@pytest.mark.parametrize("hresult", ["0x80040403", "0x80040406", "0x8004040A", "0x8004040a"])
def test_if_the_path_cannot_be_opened_the_open_file_is_tried(with_path: Connector, hresult: str) -> None:
    assert fails(with_path, hresult) == ""
    assert with_path.store.calls.total() == 2
    assert hresult in with_path.last_error()

    request = with_path.send(hcp())
    assert with_path.receive(response_to(request)) == 100
    assert with_path.connection.last_error is None


def test_the_second_failure_of_a_session_ends_it(with_path: Connector) -> None:
    fails(with_path)

    assert fails(with_path) == "done"

    assert with_path.connection.last_error is not None
    assert with_path.connection.last_error["reason"] == "company_file_not_found"
    assert with_path.states() == ["waiting"]


@pytest.mark.parametrize("hresult", ["0x80040414", "0x80040418", "0x8004041A", "0x80040408", "0x12345678"])
def test_an_error_that_is_not_about_the_file_ends_the_session(with_path: Connector, hresult: str) -> None:
    assert fails(with_path, hresult) == "done"


def test_an_error_after_the_file_was_opened_ends_the_session(with_path: Connector) -> None:
    with_path.send(hcp())

    assert fails(with_path) == "done"

    assert with_path.session.ended


def test_without_a_path_there_is_no_second_attempt(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    assert fails(qbwc) == "done"


@pytest.mark.parametrize("mark", ["{11111111-1111-1111-1111-111111111111}", None])
def test_a_fallback_file_must_have_the_connections_mark(with_path: Connector, mark: str | None) -> None:
    fails(with_path)

    assert with_path.send(hcp(mark)) == ""

    assert with_path.connection.last_error is not None
    assert with_path.connection.last_error["code"] == "company_file_mismatch"
    assert with_path.states() == ["waiting"]


def test_the_path_that_could_not_be_opened_is_named_if_the_open_file_is_unmarked(with_path: Connector) -> None:
    """Another path is the remedy. Removing the pin does not change the path."""
    fails(with_path)
    with_path.send(hcp(None), "C:\\Books\\sample.qbw")

    error = with_path.connection.last_error

    assert error is not None
    assert f"could not be opened: {PATH}" in error["message"]
    assert "C:\\Books\\sample.qbw" in error["message"]
    assert "PATCH" in error["hint"]


def test_a_connection_error_has_a_stable_reason(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    fails(qbwc, "0x80040414")

    assert qbwc.connection.last_error is not None
    assert qbwc.connection.last_error["reason"] == "modal_dialog"


def test_requests_are_executed_in_the_open_file_when_the_path_is_outdated() -> None:
    """With the simulator: its company file has another path and bears the mark."""
    service = Service()
    qbwc = service.qbwc
    request_id = qbwc.queue("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
    before = qbwc.connection
    qbwc.store.commit(Put(before, replace(before, company_file=r"C:\Old\moved.qbw").changed(before.updated_at)))
    qbwc.simulator(service.company, transport=service).run_once()

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED
    assert qbwc.connection.last_error is None
