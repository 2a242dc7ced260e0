"""The company file that a connection is pinned to, known by its mark (FileID), and how the pin is lifted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.connections.service import ConnectionService
from domain.requests.record import State
from domain.requests.waiting_reason import of_request
from domain.web_connector.protocol import qwc
from simulator import Company, Simulator
from simulator.faults import Fault
from tests.support.builders import APP_ID, CONNECTION_ID, counting_bytes
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import PASSWORD, Desk, answer, hcp, kept, not_kept
from tests.unit.simulator.service import Service

if TYPE_CHECKING:
    from domain.connections.record import Connection

OURS = "{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}"
OTHER = "{11111111-1111-1111-1111-111111111111}"
PATH = "C:\\Books\\acme.qbw"
ELSEWHERE = "C:\\Books\\sample.qbw"


@pytest.fixture
def desk() -> Desk:
    """Return a connection whose ids differ where message sets look."""
    desk = Desk(new_id=RandomIds())
    desk.connect()
    return desk


def reset(desk: Desk) -> Connection:
    """Lift the pin, as an API consumer does."""
    store = desk.store
    managed = ConnectionService(store, clock=desk.clock, new_id=desk.new_id, secrets=counting_bytes)
    return managed.reset_company_file(APP_ID, CONNECTION_ID)


def begin_in(desk: Desk, mark: str | None, path: str = PATH) -> str:
    """Log in while the company file with this mark is open; return what is handed out."""
    desk.authenticate()
    return desk.send(hcp(mark), path)


def marked_at(desk: Desk, path: str = PATH) -> None:
    """Queue a request and have it done in the connection's file, which lies at `path`."""
    desk.queue()
    desk.receive(answer(begin_in(desk, OURS, path)))
    desk.close()


# --- the pin


def test_a_session_goes_on_in_a_company_file_without_a_mark(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()

    assert desk.send(hcp(file_id=None)) != ""


def test_the_mark_is_compared_without_braces_and_case(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()

    assert desk.send(hcp(desk.connection.file_id.lower())) != ""


def test_another_company_file_gets_nothing_and_the_queue_waits(desk: Desk) -> None:
    first, second = desk.queue(), desk.write()
    desk.authenticate()

    assert desk.send(hcp("{11111111-1111-1111-1111-111111111111}"), "C:\\other.qbw") == ""

    assert "C:\\other.qbw" in desk.last_error()
    assert desk.record(first).state is State.WAITING
    assert desk.connection.last_error is not None
    assert desk.connection.last_error["code"] == "company_file_mismatch"
    assert desk.connection.status == "error"
    assert desk.send() == ""  # the session gets nothing more
    assert desk.close() == "OK"
    assert desk.drain() == [50, 100]  # with the right one
    assert desk.record(second).state is State.RESPONSE_RECEIVED
    assert desk.connection.last_error is None


def test_a_session_in_another_company_file_is_over_and_its_user_reads_why(desk: Desk) -> None:
    desk.queue()

    assert begin_in(desk, OTHER) == ""

    assert desk.session.ended
    assert desk.connection.session_id is None
    assert "not the file of this connection" in desk.last_error()
    assert desk.close() == "OK"


def test_a_mismatch_tells_what_to_do(desk: Desk) -> None:
    desk.queue()
    begin_in(desk, OTHER)

    error = desk.connection.last_error

    assert error is not None
    assert "reset_company_file" in error["hint"]
    assert error["file_id"] == OTHER.strip("{}")


def test_a_mismatch_names_the_right_file_where_it_is_known(desk: Desk) -> None:
    desk.queue()
    begin_in(desk, OTHER, ELSEWHERE)
    assert PATH not in desk.last_error()
    desk.close()
    marked_at(desk)
    desk.queue()

    begin_in(desk, OTHER, ELSEWHERE)

    assert f"{ELSEWHERE}. The connection's file was last {PATH}." in desk.last_error()


def test_a_mismatch_in_a_file_that_took_the_place_of_the_right_one_names_it_once(desk: Desk) -> None:
    marked_at(desk)
    desk.queue()

    begin_in(desk, OTHER)

    assert desk.last_error().count(PATH) == 1


def test_what_there_was_to_forget_survives_a_mismatch(desk: Desk) -> None:
    first, _ = desk.write("Ann"), desk.write("Bob")
    desk.receive(kept(desk.begin()))
    desk.close()
    begin_in(desk, OTHER)

    assert f'oldMessageSetID="{desk.record(first).message_set_id}"' in desk.begin()


# --- a file without a mark


def test_a_file_without_a_mark_is_refused_once_the_mark_was_seen_in_a_file_elsewhere(desk: Desk) -> None:
    marked_at(desk)
    waiting = desk.queue()

    assert begin_in(desk, None, ELSEWHERE) == ""

    assert desk.record(waiting).state is State.WAITING
    assert desk.connection.last_error is not None
    assert desk.connection.last_error["code"] == "company_file_mismatch"
    reason = of_request(desk.record(waiting), desk.connection, desk.clock.now)
    assert reason is not None
    assert reason.code == "company_file_mismatch"
    assert "reset_company_file" in (reason.hint or "")
    told = desk.last_error()
    assert told == reason.message
    assert ELSEWHERE in told
    assert PATH in told


def test_the_file_without_a_mark_is_refused_each_time_and_the_marked_one_goes_on(desk: Desk) -> None:
    marked_at(desk)
    desk.queue()

    refused = [begin_in(desk, None, ELSEWHERE) for _ in range(3)]

    assert refused == ["", "", ""]
    assert begin_in(desk, OURS) != ""
    assert desk.connection.last_error is None


@pytest.mark.parametrize("path", [PATH, "c:\\BOOKS\\Acme.QBW", "C:/Books/acme.qbw", " C:\\Books\\\\acme.qbw ", ""])
def test_a_file_without_a_mark_is_taken_where_the_mark_was_seen_and_where_no_path_is_told(
    desk: Desk, path: str
) -> None:
    marked_at(desk)
    desk.queue()

    assert begin_in(desk, None, path) != ""


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
def test_facts_that_cannot_be_read_lock_nobody_out(desk: Desk, unreadable: str) -> None:
    marked_at(desk)
    desk.queue()
    desk.authenticate()

    assert desk.send(unreadable, ELSEWHERE) != ""


def test_before_the_mark_was_ever_seen_a_file_without_one_is_taken_wherever_it_lies(desk: Desk) -> None:
    """The first session on a machine whose Web Connector brings the mark late."""
    for path in (PATH, ELSEWHERE):
        desk.queue()
        desk.receive(answer(begin_in(desk, None, path)))
        desk.close()

    assert desk.states() == ["response_received"] * 2


def test_a_file_that_bears_the_mark_is_taken_wherever_it_lies(desk: Desk) -> None:
    """A restored backup and a new machine: the file brings its mark along."""
    marked_at(desk)
    desk.queue()

    assert begin_in(desk, OURS, "D:\\Restored\\acme.qbw") != ""

    assert desk.connection.company_file_seen == "D:\\Restored\\acme.qbw"


def test_only_a_file_that_bore_the_mark_says_where_it_lies(desk: Desk) -> None:
    marked_at(desk)
    desk.queue()
    begin_in(desk, OTHER, ELSEWHERE)
    desk.close()

    assert begin_in(desk, None, ELSEWHERE) == ""

    assert desk.connection.company_file_seen == PATH


def test_a_reset_lets_a_file_without_a_mark_in_until_a_marked_one_comes(desk: Desk) -> None:
    marked_at(desk)
    desk.queue()
    begin_in(desk, None, ELSEWHERE)
    reset(desk)

    desk.receive(answer(begin_in(desk, None, ELSEWHERE)))
    desk.close()
    marked_at(desk)
    desk.queue()

    assert begin_in(desk, None, ELSEWHERE) == ""


# --- the reset


def test_after_a_reset_the_file_of_the_next_session_is_the_connections(desk: Desk) -> None:
    request_id = desk.queue()
    begin_in(desk, OTHER)

    connection = reset(desk)

    assert (connection.last_error, connection.status, connection.file_pinned) == (None, "connected", False)
    sent = begin_in(desk, OTHER)
    assert request_id in sent
    assert desk.connection.file_id == OTHER.strip("{}")
    assert desk.connection.file_pinned
    desk.receive(answer(sent))
    desk.queue()
    assert begin_in(desk, OTHER) != ""


def test_the_qwc_file_carries_the_mark_that_was_taken(desk: Desk) -> None:
    """QuickBooks keeps the mark that it has, and refuses a file with another one (QBWC1039)."""
    desk.queue()
    reset(desk)
    begin_in(desk, OTHER)

    text = qwc.render(desk.connection, base_url="https://queue.example.com", app_name="Queue")

    assert f"<FileID>{OTHER}</FileID>" in text


def test_after_a_reset_the_former_file_is_the_wrong_one_once_another_was_taken(desk: Desk) -> None:
    desk.queue()
    reset(desk)
    begin_in(desk, OTHER)
    desk.close()

    assert begin_in(desk, OURS) == ""


def test_a_reset_can_be_asked_for_twice(desk: Desk) -> None:
    reset(desk)

    assert not reset(desk).file_pinned


def test_a_reset_waits_for_a_file_that_bears_a_mark(desk: Desk) -> None:
    desk.queue()
    reset(desk)

    assert begin_in(desk, None) != ""

    assert not desk.connection.file_pinned


def test_a_reset_leaves_other_errors_as_they_are(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.call("connectionError", desk.ticket, "0x80040408", "Could not start QuickBooks.")

    error = reset(desk).last_error

    assert error is not None
    assert error["code"] == "quickbooks_connection_error"


def test_a_reset_between_login_and_first_request_counts_at_once(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    reset(desk)

    assert desk.send(hcp(OTHER)) != ""


def test_a_live_session_goes_on_in_its_file_through_a_reset(desk: Desk) -> None:
    first, second = desk.queue(), desk.queue()
    sent = desk.begin()
    reset(desk)

    desk.receive(answer(sent))
    desk.receive(answer(desk.send()))
    desk.close()

    assert [desk.record(one).state for one in (first, second)] == [State.RESPONSE_RECEIVED] * 2
    assert not desk.connection.file_pinned


def test_a_new_company_file_is_not_told_to_forget_what_the_former_one_keeps(desk: Desk) -> None:
    desk.write("Ann")
    desk.write("Bob")
    desk.receive(kept(desk.begin()))
    desk.close()
    reset(desk)

    sent = begin_in(desk, OTHER)

    assert "CustomerAddRq" in sent
    assert "oldMessageSetID" not in sent


# --- no write reaches QuickBooks twice


def test_never_executed_is_believed_only_in_the_company_file_of_the_connection(desk: Desk) -> None:
    write = desk.write()
    desk.begin()
    desk.close()
    desk.authenticate()
    check = desk.send(hcp(file_id=None))

    desk.receive(not_kept(check))

    assert desk.send() == ""
    assert desk.record(write).recovering


def test_another_company_file_is_not_asked(desk: Desk) -> None:
    write = desk.write()
    desk.begin()
    desk.close()
    desk.authenticate()

    assert desk.send(hcp(file_id="{00000000-0000-0000-0000-000000000000}")) == ""

    assert desk.record(write).recovering


def test_never_executed_is_not_believed_of_a_write_that_went_to_another_file(desk: Desk) -> None:
    """The write was executed in the former file; the new one says truthfully that it never was."""
    write, read = desk.write(), desk.queue()
    sent = desk.begin()
    desk.close()
    reset(desk)

    for _ in range(3):
        check = begin_in(desk, OTHER)
        assert desk.record(write).message_set_id in check
        assert "CustomerAdd" not in check
        desk.receive(not_kept(check))
        if desk.record(read).state is not State.RESPONSE_RECEIVED:
            desk.receive(answer(desk.send()))
        assert desk.send() == ""
        desk.close()

    error = desk.record(write).error
    assert "CustomerAdd" in sent
    assert error is not None
    assert error.code == "outcome_unknown"
    assert desk.record(read).state is State.RESPONSE_RECEIVED


def test_a_write_is_asked_for_with_success_once_its_own_file_is_back(desk: Desk) -> None:
    write = desk.write()
    sent = desk.begin()
    desk.close()
    reset(desk)
    desk.receive(not_kept(begin_in(desk, OTHER)))
    desk.close()
    reset(desk)

    begin_in(desk, OURS)
    desk.receive(kept(sent))

    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_never_executed_is_not_believed_of_a_write_that_went_to_a_file_without_a_mark(desk: Desk) -> None:
    write = desk.write()
    begin_in(desk, None)
    desk.close()

    desk.receive(not_kept(desk.begin()))

    assert desk.send() == ""
    assert desk.record(write).recovering


def test_a_write_that_quickbooks_refused_to_execute_may_go_to_the_new_file(desk: Desk) -> None:
    write = desk.write()
    desk.begin()
    desk.receive(hresult="0x80040414")
    desk.close()
    reset(desk)

    assert desk.record(write).request_label in begin_in(desk, OTHER)
    assert desk.record(write).recovery.company_file_mark == OTHER.strip("{}")


def test_a_write_that_one_company_executed_is_never_executed_in_the_next() -> None:
    """Held against the simulator: its answer is lost, the pin is lifted, and another company is open from then on."""
    service = Service()
    desk = service.desk
    write, read = desk.write("Grace"), desk.queue("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
    text = qwc.render(service.connection, base_url="https://queue.example.com", app_name="Queue")
    faults = [Fault.parse("receiveResponseXML:1:lose-request")]
    simulator = Simulator(text, PASSWORD, service.company, transport=service, sleep=id, faults=faults)
    simulator.run_once()
    reset(desk)

    other = Company.generated(seed=2, customers=3, now=desk.clock.now.timestamp)
    other.private_fields = {f"{{{desk.connection.owner_id}}}": {"FileID": OTHER}}
    simulator.connector.company = other
    for _ in range(5):
        desk.clock.advance(seconds=60)
        simulator.run_once()

    assert [one.name for one in service.company.writes] == ["CustomerAddRq"]
    assert other.writes == []
    assert [desk.record(one).state for one in (write, read)] == [State.ERROR, State.RESPONSE_RECEIVED]
    error = desk.record(write).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "other_file")
    assert desk.connection.file_id == OTHER.strip("{}")
