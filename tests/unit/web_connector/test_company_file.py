"""The company file that a connection is pinned to, known by its mark (FileID), and how the pin is lifted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.connections.service import ConnectionService
from domain.queueing.waiting_reason import of_request
from domain.records.request import State
from domain.timestamps import timestamp
from domain.web_connector.protocol import qwc
from domain.web_connector.protocol.soap import Call
from domain.web_connector.session.company_file_check import CompanyFileCheck
from simulator import Company
from simulator.faults import Fault
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, counting_bytes
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response
from tests.support.web_connector.service import Service

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from tests.support.web_connector.connector import Connector

OURS = "{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}"
OTHER = "{11111111-1111-1111-1111-111111111111}"
PATH = "C:\\Books\\acme.qbw"
ELSEWHERE = "C:\\Books\\sample.qbw"


def reset(qbwc: Connector) -> Connection:
    """Lift the pin, as an API consumer does."""
    store = qbwc.store
    service = ConnectionService(store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    return service.reset_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def begin_in(qbwc: Connector, mark: str | None, path: str = PATH) -> str:
    """Log in while the company file with this mark is open. Return the text that the service sends."""
    qbwc.authenticate()
    return qbwc.send(hcp(mark), path)


def marked_at(qbwc: Connector, path: str = PATH) -> None:
    """Queue a request and let QuickBooks execute it in the connection's file at `path`."""
    qbwc.queue()
    qbwc.receive(response_to(begin_in(qbwc, OURS, path)))
    qbwc.close()


# --- the pin


def test_a_session_continues_in_a_company_file_without_a_mark(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    assert qbwc.send(hcp(file_id=None)) != ""


def test_the_mark_is_compared_without_braces_and_case(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    assert qbwc.send(hcp(qbwc.connection.file_id.lower())) != ""


def test_no_request_is_sent_to_another_company_file(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.write()
    qbwc.authenticate()

    assert qbwc.send(hcp("{11111111-1111-1111-1111-111111111111}"), "C:\\other.qbw") == ""

    assert "C:\\other.qbw" in qbwc.last_error()
    assert qbwc.record(first).state is State.WAITING
    assert qbwc.connection.last_error is not None
    assert qbwc.connection.last_error["code"] == "company_file_mismatch"
    assert qbwc.connection.status == "error"
    assert qbwc.send() == ""  # the session gets nothing more
    assert qbwc.close() == "OK"
    assert qbwc.drain() == [50, 100]  # with the right one
    assert qbwc.record(second).state is State.RESPONSE_RECEIVED
    assert qbwc.connection.last_error is None


def test_a_session_in_another_company_file_ends_with_an_explanation(qbwc: Connector) -> None:
    qbwc.queue()

    assert begin_in(qbwc, OTHER) == ""

    assert qbwc.session.ended
    assert qbwc.connection.session_id is None
    assert "not the file of this connection" in qbwc.last_error()
    assert qbwc.close() == "OK"


def test_a_mismatch_has_a_hint(qbwc: Connector) -> None:
    qbwc.queue()
    begin_in(qbwc, OTHER)

    error = qbwc.connection.last_error

    assert error is not None
    assert "reset_company_file" in error["hint"]
    assert error["file_id"] == OTHER.strip("{}")
    assert error["at"] == timestamp(qbwc.clock.now)


def test_a_mismatch_names_the_right_file_if_it_is_known(qbwc: Connector) -> None:
    qbwc.queue()
    begin_in(qbwc, OTHER, ELSEWHERE)
    assert PATH not in qbwc.last_error()
    qbwc.close()
    marked_at(qbwc)
    qbwc.queue()

    begin_in(qbwc, OTHER, ELSEWHERE)

    assert f"{ELSEWHERE}. The connection's file was last seen at {PATH}." in qbwc.last_error()


def test_a_mismatch_in_a_file_that_replaced_the_right_one_names_the_path_once(qbwc: Connector) -> None:
    marked_at(qbwc)
    qbwc.queue()

    begin_in(qbwc, OTHER)

    assert qbwc.last_error().count(PATH) == 1


def test_the_message_set_to_forget_survives_a_mismatch(qbwc: Connector) -> None:
    first, _ = qbwc.write("Ann"), qbwc.write("Bob")
    qbwc.receive(stored_response(qbwc.begin()))
    qbwc.close()
    begin_in(qbwc, OTHER)

    assert f'oldMessageSetID="{qbwc.record(first).message_set_id}"' in qbwc.begin()


# --- a file without a mark


def test_an_unmarked_file_is_refused_after_the_mark_was_seen_in_another_file(qbwc: Connector) -> None:
    marked_at(qbwc)
    waiting = qbwc.queue()

    assert begin_in(qbwc, None, ELSEWHERE) == ""

    assert qbwc.record(waiting).state is State.WAITING
    assert qbwc.connection.last_error is not None
    assert qbwc.connection.last_error["code"] == "company_file_mismatch"
    reason = of_request(qbwc.record(waiting), qbwc.connection, qbwc.clock.now)
    assert reason is not None
    assert reason.code == "company_file_mismatch"
    assert "reset_company_file" in (reason.hint or "")
    message = qbwc.last_error()
    assert message == reason.message
    assert ELSEWHERE in message
    assert PATH in message


def test_the_unmarked_file_is_refused_in_each_session_and_the_marked_file_is_accepted(qbwc: Connector) -> None:
    marked_at(qbwc)
    qbwc.queue()

    requests = [begin_in(qbwc, None, ELSEWHERE) for _ in range(3)]

    assert requests == ["", "", ""]
    assert begin_in(qbwc, OURS) != ""
    assert qbwc.connection.last_error is None


@pytest.mark.parametrize("path", [PATH, "c:\\BOOKS\\Acme.QBW", "C:/Books/acme.qbw", " C:\\Books\\\\acme.qbw ", ""])
def test_an_unmarked_file_is_accepted_at_the_path_of_the_mark_and_without_a_path(qbwc: Connector, path: str) -> None:
    marked_at(qbwc)
    qbwc.queue()

    assert begin_in(qbwc, None, path) != ""


def test_a_marked_file_without_a_path_keeps_the_paths_of_its_mark(qbwc: Connector) -> None:
    marked_at(qbwc)
    marked_at(qbwc, "")

    assert qbwc.connection.company_file_paths == (PATH,)


@pytest.mark.parametrize(
    "unreadable",
    [
        "",
        "text",
        hcp(None).replace("<CompanyName>Acme</CompanyName>", ""),
        hcp("").replace("</CompanyRet>", "<DataExtRet><DataExtName>FileID</DataExtName></DataExtRet></CompanyRet>"),
        hcp("").replace("</CompanyRet>", "<DataExtRet>what is this</DataExtRet></CompanyRet>"),
        hcp(None).replace('statusCode="0"', "statusCode=0"),
    ],
)
def test_unreadable_facts_do_not_refuse_a_file(qbwc: Connector, unreadable: str) -> None:
    marked_at(qbwc)
    qbwc.queue()
    qbwc.authenticate()

    assert qbwc.send(unreadable, PATH) != ""


@pytest.mark.parametrize("facts", ["", "text", hcp(None)])
@pytest.mark.parametrize("path", [PATH, ELSEWHERE, ""])
def test_a_file_that_is_open_in_place_of_the_right_one_needs_a_mark(qbwc: Connector, facts: str, path: str) -> None:
    check = CompanyFileCheck(
        Call("sendRequestXML", {"strHCPResponse": facts, "strCompanyFileName": path}),
        replace(qbwc.connection, company_file=PATH),
        must_be_marked=True,
    )

    assert check.is_other_company_file
    assert check.problem == "company_file_mismatch"
    assert "could not be opened" in check.mismatch_message


def test_without_a_pin_a_file_is_accepted_at_any_path(qbwc: Connector) -> None:
    marked_at(qbwc)
    call = Call("sendRequestXML", {"strHCPResponse": hcp(None), "strCompanyFileName": ELSEWHERE})

    assert CompanyFileCheck(call, qbwc.connection).is_other_company_file
    assert not CompanyFileCheck(call, replace(qbwc.connection, file_pinned=False)).is_other_company_file


def test_an_unmarked_file_is_accepted_at_any_path_until_the_mark_is_seen(qbwc: Connector) -> None:
    """The first session on a machine where the Web Connector reports the mark late."""
    for path in (PATH, ELSEWHERE):
        qbwc.queue()
        qbwc.receive(response_to(begin_in(qbwc, None, path)))
        qbwc.close()

    assert qbwc.states() == ["response_received"] * 2


def test_only_a_marked_file_sets_the_known_path(qbwc: Connector) -> None:
    marked_at(qbwc)
    qbwc.queue()
    begin_in(qbwc, OTHER, ELSEWHERE)
    qbwc.close()

    assert begin_in(qbwc, None, ELSEWHERE) == ""

    assert qbwc.connection.company_file_paths == (PATH,)


def test_after_a_reset_unmarked_files_are_accepted_until_a_marked_one_is_open(qbwc: Connector) -> None:
    marked_at(qbwc)
    qbwc.queue()
    begin_in(qbwc, None, ELSEWHERE)
    reset(qbwc)

    qbwc.receive(response_to(begin_in(qbwc, None, ELSEWHERE)))
    qbwc.close()
    marked_at(qbwc)
    qbwc.queue()

    assert begin_in(qbwc, None, ELSEWHERE) == ""


# --- the reset


def test_after_a_reset_the_connection_takes_the_file_of_the_next_session(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    begin_in(qbwc, OTHER)

    connection = reset(qbwc)

    assert (connection.last_error, connection.status, connection.file_pinned) == (None, "connected", False)
    request = begin_in(qbwc, OTHER)
    assert request_id in request
    assert qbwc.connection.file_id == OTHER.strip("{}")
    assert qbwc.connection.file_pinned
    qbwc.receive(response_to(request))
    qbwc.queue()
    assert begin_in(qbwc, OTHER) != ""


def test_the_qwc_file_carries_the_new_mark(qbwc: Connector) -> None:
    """QuickBooks keeps the mark that it has, and refuses a file with another one (QBWC1039)."""
    qbwc.queue()
    reset(qbwc)
    begin_in(qbwc, OTHER)

    text = qwc.render(qbwc.connection, base_url="https://queue.example.com")

    assert f"<FileID>{OTHER}</FileID>" in text


def test_the_former_file_is_refused_after_a_reset_pinned_another(qbwc: Connector) -> None:
    qbwc.queue()
    reset(qbwc)
    begin_in(qbwc, OTHER)
    qbwc.close()

    assert begin_in(qbwc, OURS) == ""


def test_a_repeated_reset_changes_nothing(qbwc: Connector) -> None:
    reset(qbwc)

    assert not reset(qbwc).file_pinned


def test_a_reset_waits_for_a_marked_file(qbwc: Connector) -> None:
    qbwc.queue()
    reset(qbwc)

    assert begin_in(qbwc, None) != ""

    assert not qbwc.connection.file_pinned


def test_a_reset_keeps_other_errors(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.call("connectionError", qbwc.ticket, "0x80040408", "Could not start QuickBooks.")

    error = reset(qbwc).last_error

    assert error is not None
    assert error["code"] == "quickbooks_connection_error"


def test_a_reset_between_login_and_first_request_takes_effect_at_once(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    reset(qbwc)

    assert qbwc.send(hcp(OTHER)) != ""


def test_a_live_session_continues_in_its_file_after_a_reset(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue()
    request = qbwc.begin()
    reset(qbwc)

    qbwc.receive(response_to(request))
    qbwc.receive(response_to(qbwc.send()))
    qbwc.close()

    assert [qbwc.record(request_id).state for request_id in (first, second)] == [State.RESPONSE_RECEIVED] * 2
    assert not qbwc.connection.file_pinned


def test_a_new_company_file_does_not_clear_the_former_files_message_set(qbwc: Connector) -> None:
    qbwc.write("Ann")
    qbwc.write("Bob")
    qbwc.receive(stored_response(qbwc.begin()))
    qbwc.close()
    reset(qbwc)

    request = begin_in(qbwc, OTHER)

    assert "CustomerAddRq" in request
    assert "oldMessageSetID" not in request


# --- no write reaches QuickBooks twice


def test_never_executed_is_believed_only_in_the_connections_company_file(qbwc: Connector) -> None:
    write = qbwc.write()
    qbwc.begin()
    qbwc.close_and_wait()
    qbwc.authenticate()
    check = qbwc.send(hcp(file_id=None))

    qbwc.receive(nothing_stored(check))

    assert qbwc.send() == ""
    assert qbwc.record(write).recovering


def test_another_company_file_is_not_asked_for_the_response(qbwc: Connector) -> None:
    write = qbwc.write()
    qbwc.begin()
    qbwc.close()
    qbwc.authenticate()

    assert qbwc.send(hcp(file_id="{00000000-0000-0000-0000-000000000000}")) == ""

    assert qbwc.record(write).recovering


def test_never_executed_is_not_believed_for_a_write_sent_to_another_file(qbwc: Connector) -> None:
    """The write was executed in the former file. The new file correctly reports that it was never executed."""
    write, read = qbwc.write(), qbwc.queue()
    request = qbwc.begin()
    qbwc.close_and_wait()
    reset(qbwc)

    for _ in range(3):
        check = begin_in(qbwc, OTHER)
        assert qbwc.record(write).message_set_id in check
        assert "CustomerAdd" not in check
        qbwc.receive(nothing_stored(check))
        if qbwc.record(read).state is not State.RESPONSE_RECEIVED:
            qbwc.receive(response_to(qbwc.send()))
        assert qbwc.send() == ""
        qbwc.close()

    error = qbwc.record(write).error
    assert "CustomerAdd" in request
    assert error is not None
    assert error.code == "outcome_unknown"
    assert qbwc.record(read).state is State.RESPONSE_RECEIVED


def test_a_write_recovers_when_its_own_file_is_open_again(qbwc: Connector) -> None:
    write = qbwc.write()
    request = qbwc.begin()
    qbwc.close_and_wait()
    reset(qbwc)
    qbwc.receive(nothing_stored(begin_in(qbwc, OTHER)))
    qbwc.close()
    reset(qbwc)

    begin_in(qbwc, OURS)
    qbwc.receive(stored_response(request))

    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_never_executed_is_not_believed_for_a_write_sent_to_an_unmarked_file(qbwc: Connector) -> None:
    write = qbwc.write()
    begin_in(qbwc, None)
    qbwc.close_and_wait()

    qbwc.receive(nothing_stored(qbwc.begin()))

    assert qbwc.send() == ""
    assert qbwc.record(write).recovering


def test_a_write_that_was_certainly_not_executed_may_be_sent_to_the_new_file(qbwc: Connector) -> None:
    write = qbwc.write()
    qbwc.begin()
    qbwc.receive(hresult="0x80040414")
    qbwc.close()
    reset(qbwc)

    assert qbwc.record(write).request_label in begin_in(qbwc, OTHER)
    assert qbwc.record(write).recovery.company_file_key == qbwc.session.company_file.key


def test_a_write_executed_in_one_company_file_is_never_executed_in_another() -> None:
    """With the simulator: the response is lost, the pin is removed, and then another company is open."""
    service = Service()
    qbwc = service.qbwc
    write, read = qbwc.write("Grace"), qbwc.queue("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
    faults = [Fault.parse("receiveResponseXML:1:lose-request")]
    simulator = qbwc.simulator(service.company, transport=service, faults=faults)
    simulator.run_once()
    reset(qbwc)

    other = Company.generated(seed=2, customers=3, sales_orders=0, now=qbwc.clock.now.timestamp)
    other.private_fields = {f"{{{qbwc.connection.owner_id}}}": {"FileID": OTHER}}
    simulator.connector.company = other
    for _ in range(9):
        qbwc.clock.advance(minutes=6)
        simulator.run_once()

    assert [execution.name for execution in service.company.writes] == ["CustomerAddRq"]
    assert other.writes == []
    assert [qbwc.record(request_id).state for request_id in (write, read)] == [State.ERROR, State.RESPONSE_RECEIVED]
    error = qbwc.record(write).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "other_file")
    assert qbwc.connection.file_id == OTHER.strip("{}")
