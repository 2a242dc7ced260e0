"""A write whose answer was lost: QuickBooks is asked for it first (contract §8, `qbxml.md` §4)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.errors import InFlight
from domain.maintenance.sweep import Sweeper
from domain.requests.record import State
from domain.requests.service import RequestService
from domain.web_connector.protocol import qwc
from domain.web_connector.session.record import SILENCE_SECONDS
from simulator import Simulator
from simulator.faults import Fault
from tests.support.builders import APP_ID
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import PASSWORD, Desk, answer, hcp, kept, not_kept
from tests.support.web_connector.runs import Run
from tests.unit.simulator.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.requests.record import RequestError


@pytest.fixture
def desk() -> Desk:
    """Return a connection whose ids differ where message sets look."""
    desk = Desk(new_id=RandomIds())
    desk.connect()
    return desk


def lost_write(desk: Desk, name: str = "Ann", label: str | None = None) -> tuple[str, str]:
    """Queue a write, hand it out and lose its answer; return its id and what went out."""
    request_id = desk.write(name, request_label=label) if label else desk.write(name)
    sent = desk.begin()
    desk.close()
    return request_id, sent


def error_of(desk: Desk, request_id: str) -> RequestError:
    """Return the error of a record that ended in one."""
    error = desk.record(request_id).error
    assert error is not None
    return error


def queueing(desk: Desk) -> RequestService:
    """Return what an API consumer does with the queue."""
    return RequestService(desk.store, desk.clock, desk.new_id)


# --- how it comes to it


def taken_over(desk: Desk) -> None:
    """Do nothing: the next login is what ends the session."""


def closed(desk: Desk) -> None:
    """End it in order."""
    desk.close()


def cut_off(desk: Desk) -> None:
    """Say that QuickBooks is gone."""
    desk.call("connectionError", desk.ticket, "0x80040408", "Could not start QuickBooks.")


def swept(desk: Desk) -> None:
    """Say nothing more, until the sweeper comes."""
    desk.clock.advance(seconds=SILENCE_SECONDS + 60)
    Sweeper(desk.store, desk.clock).sweep(desk.clock.advance(seconds=1))


def failed(desk: Desk) -> None:
    """Say that QuickBooks fell over while it worked."""
    desk.receive(hresult="0x800706BE")
    desk.close()


@pytest.mark.parametrize("end", [taken_over, closed, cut_off, swept, failed])
def test_however_a_session_ends_a_write_that_was_out_is_asked_for_first(
    desk: Desk, end: Callable[[Desk], None]
) -> None:
    write = desk.write()
    desk.begin()
    end(desk)

    check = desk.begin()

    known = desk.record(write).message_set_id
    assert f'<QBXMLMsgsRq oldMessageSetID="{known}" newMessageSetID="{known}" onError="stopOnError"/>' in check
    assert desk.store.counts == desk.store.recount()


def test_it_is_asked_for_before_older_requests_are_sent(desk: Desk) -> None:
    write, _ = lost_write(desk)
    desk.queue(inserted_at="2020-01-01T00:00:00.000000Z", updated_at="2020-01-01T00:00:00.000000Z")

    assert desk.record(write).message_set_id in desk.begin()


# --- what QuickBooks can say


def test_the_kept_answer_is_the_response(desk: Desk) -> None:
    write, sent = lost_write(desk, "Grace")
    desk.begin()
    text = kept(sent, content="<CustomerRet><ListID>80-1</ListID></CustomerRet>")

    assert desk.receive(text) == 100

    record = desk.record(write)
    assert (record.state, record.sessions, record.recovering) == (State.RESPONSE_RECEIVED, 1, False)
    assert desk.response(write) == text
    found_by = desk.store.bodies[write].search_text
    assert "grace" in found_by
    assert "80-1" in found_by


def test_a_kept_error_is_the_error(desk: Desk) -> None:
    write, sent = lost_write(desk)
    desk.begin()

    desk.receive(kept(sent, code=3100, severity="Error", message="The name is in use."))

    assert error_of(desk, write).code == "quickbooks_error"


@pytest.mark.parametrize("code", [600, 9002])
def test_a_write_that_was_never_executed_is_sent_in_the_same_session_under_the_same_id(desk: Desk, code: int) -> None:
    write, sent = lost_write(desk)
    later = desk.write("Bob")

    assert 1 <= desk.receive(not_kept(desk.begin(), code)) <= 99

    assert desk.send() == sent
    desk.receive(kept(sent))
    assert desk.record(write).state is State.RESPONSE_RECEIVED
    assert later in desk.send()


def test_never_executed_is_believed_only_by_the_session_that_heard_it(desk: Desk) -> None:
    write, _ = lost_write(desk)
    desk.receive(not_kept(desk.begin()))
    desk.close()

    assert desk.record(write).recovering
    assert "oldMessageSetID" in desk.begin()


@pytest.mark.parametrize("text", ["", "no xml", "<QBXML><QBXMLMsgsRs/></QBXML>"])
def test_what_cannot_be_understood_leaves_the_outcome_unknown(desk: Desk, text: str) -> None:
    write, _ = lost_write(desk)
    desk.begin()

    desk.receive(text)

    assert error_of(desk, write).code == "outcome_unknown"


@pytest.mark.parametrize("code", [9001, 9003, 9004, 9005, 1])
def test_any_other_status_leaves_the_outcome_unknown(desk: Desk, code: int) -> None:
    write, _ = lost_write(desk)

    desk.receive(not_kept(desk.begin(), code))

    assert error_of(desk, write).code == "outcome_unknown"
    assert desk.authenticate() == "none"


def test_a_question_that_quickbooks_cannot_parse_leaves_the_outcome_unknown(desk: Desk) -> None:
    write, _ = lost_write(desk)
    desk.begin()

    desk.receive(hresult="0x80040400")

    assert error_of(desk, write).code == "outcome_unknown"


def test_a_request_that_can_no_longer_be_written_is_asked_for_all_the_same(desk: Desk) -> None:
    write, sent = lost_write(desk)
    desk.store.bodies[write] = replace(desk.store.bodies[write], request_xml="no xml")

    check = desk.begin()

    assert desk.record(write).message_set_id in check
    desk.receive(kept(sent))
    assert desk.record(write).state is State.RESPONSE_RECEIVED


# --- when the question is lost too


def test_a_lost_question_is_asked_again_in_three_sessions_at_most(desk: Desk) -> None:
    write, _ = lost_write(desk)
    for _ in range(3):
        assert desk.record(write).recovering
        assert "oldMessageSetID" in desk.begin()
        desk.close()

    assert error_of(desk, write).code == "outcome_unknown"
    assert desk.store.counts == desk.store.recount()


def test_exceptions_count_as_lost_questions(desk: Desk) -> None:
    write, _ = lost_write(desk)
    for _ in range(3):
        desk.begin()
        desk.receive(hresult="0x80040414", message="A modal dialog box is showing.")
        desk.close()

    assert error_of(desk, write).details["hresult"] == "0x80040414"
    assert error_of(desk, write).code == "outcome_unknown"


def test_a_question_that_is_fetched_twice_in_one_session_goes_out_twice(desk: Desk) -> None:
    write, _ = lost_write(desk)
    check = desk.begin()

    assert desk.send() == check

    assert desk.record(write).recovery.sessions == 1


def test_a_write_that_quickbooks_knows_nothing_of_after_three_sessions_ends_unknown(desk: Desk) -> None:
    write, _ = lost_write(desk)
    for _ in range(2):
        desk.receive(not_kept(desk.begin()))
        desk.send()
        desk.close()

    desk.receive(not_kept(desk.begin()))

    error = error_of(desk, write)
    assert (error.code, error.details["status_code"], error.details["sessions"]) == ("outcome_unknown", 9002, 3)
    assert "Look into the company file before" in error.details["hint"]


def test_a_write_whose_answer_quickbooks_kept_badly_is_executed_once_and_ends_unknown() -> None:
    """It says 9002 then, also to the write itself: nobody may read that nothing was done."""
    service = Service()
    desk = service.desk
    write = desk.write("Grace")
    text = qwc.render(service.connection, base_url="https://queue.example.com", app_name="Queue")
    faults = [Fault.parse("receiveResponseXML:1:lose-request"), Fault.parse("process/writes:1:store-badly")]
    simulator = Simulator(text, PASSWORD, service.company, transport=service, sleep=id, faults=faults)

    for _ in range(5):
        simulator.run_once()
        desk.clock.advance(seconds=60)

    assert [one.name for one in service.company.writes] == ["CustomerAddRq"]
    assert error_of(desk, write).code == "outcome_unknown"


def test_a_write_that_was_lost_once_is_asked_for_again_after_a_failure(desk: Desk) -> None:
    write, _ = lost_write(desk)
    desk.receive(not_kept(desk.begin()))
    desk.send()

    desk.receive(hresult="0x80040414")

    assert desk.record(write).recovering


# --- answers that come late, or twice


def test_never_executed_once_more_is_no_answer_to_the_write(desk: Desk) -> None:
    write, sent = lost_write(desk)
    late = not_kept(desk.begin())
    desk.receive(late)
    desk.send()

    assert desk.receive(late) <= 99

    assert desk.record(write).state is State.SENT
    desk.receive(kept(sent))
    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_an_answer_that_names_another_message_set_is_passed_over(desk: Desk) -> None:
    first, sent = lost_write(desk, "Ann", label="1")
    second = desk.write("Bob", request_label="1")
    desk.begin()
    text = kept(sent)
    desk.receive(text)
    other = desk.send()

    assert desk.receive(text) <= 99

    assert desk.record(first).state is State.RESPONSE_RECEIVED
    assert desk.record(second).state is State.SENT
    assert desk.receive(kept(other)) == 100


def test_a_copy_that_was_executed_after_all_is_asked_for_again(desk: Desk) -> None:
    write, sent = lost_write(desk)
    desk.receive(not_kept(desk.begin()))

    desk.receive(not_kept(desk.send(), 9001))

    assert desk.record(write).recovering
    desk.close()
    desk.begin()
    desk.receive(kept(sent))
    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_an_answer_that_could_not_be_kept_leaves_the_outcome_of_the_write_unknown(desk: Desk) -> None:
    write = desk.write()

    desk.receive(not_kept(desk.begin(), 9005))

    assert error_of(desk, write).code == "outcome_unknown"


# --- nobody takes it away


def test_it_can_be_neither_discarded_nor_deleted(desk: Desk) -> None:
    write, sent = lost_write(desk)

    with pytest.raises(InFlight):
        queueing(desk).discard(APP_ID, write)
    with pytest.raises(InFlight):
        queueing(desk).delete(APP_ID, write, force=True)

    desk.begin()
    desk.receive(kept(sent))
    queueing(desk).delete(APP_ID, write)


# --- forgetting


def cleared(text: str) -> str | None:
    """Return the message set that QuickBooks is told to forget with a write."""
    found = re.search(r'oldMessageSetID="([^"]*)"', text)
    return found and found[1]


def test_the_next_write_has_quickbooks_forget_what_is_stored_here(desk: Desk) -> None:
    first, read, second, third = desk.write("Ann"), desk.queue(), desk.write("Bob"), desk.write("Cid")
    sent = desk.begin()
    assert cleared(sent) is None
    desk.receive(kept(sent))
    sent = desk.send()
    assert read in sent
    assert "MessageSetID" not in sent
    desk.receive(answer(sent))

    sent = desk.send()

    assert cleared(sent) == desk.record(first).message_set_id
    desk.receive(kept(sent))
    desk.close()
    # The next session goes on where this one ended.
    assert cleared(desk.begin()) == desk.record(second).message_set_id
    assert desk.record(third).state is State.SENT


def test_what_a_former_session_left_is_forgotten_after_a_takeover(desk: Desk) -> None:
    first = desk.write("Ann")
    desk.write("Bob")
    desk.receive(kept(desk.begin()))

    assert cleared(desk.begin()) == desk.record(first).message_set_id


def test_what_is_left_survives_a_visit_without_work(desk: Desk) -> None:
    first = desk.write("Ann")
    desk.receive(kept(desk.begin()))
    desk.close()
    assert desk.authenticate() == "none"
    desk.write("Bob")

    assert cleared(desk.begin()) == desk.record(first).message_set_id


def test_a_write_that_went_out_twice_is_never_forgotten(desk: Desk) -> None:
    _, sent = lost_write(desk)
    desk.receive(not_kept(desk.begin()))
    desk.write("Bob")
    desk.send()
    desk.receive(kept(sent))

    assert cleared(desk.send()) is None


def test_quickbooks_keeps_the_last_answer_only() -> None:
    """Held against the simulator: two sessions of two writes."""
    run = Run(lambda desk: [desk.write("Ann"), desk.write("Bob")])
    run.simulator.run_once()
    run.desk.write("Cid")
    run.desk.write("Dan")

    run.to_the_end().check()

    (stored,) = run.company.message_sets.stored.values()
    (last,) = [record for record in run.records if record.message_set_id in stored]
    assert list(stored) == [last.message_set_id]
    assert last.inserted_at == max(record.inserted_at for record in run.records)


# --- what it costs


def test_every_call_of_a_recovery_keeps_to_its_budget(desk: Desk) -> None:
    _, sent = lost_write(desk)
    desk.authenticate()
    assert desk.store.calls.total() == 3
    check = desk.send(hcp())
    assert desk.store.calls.total() == 3
    desk.receive(not_kept(check))
    assert desk.store.calls.total() == 2
    desk.send()
    assert desk.store.calls.total() == 3
    desk.receive(kept(sent))
    assert desk.store.calls.total() == 3
