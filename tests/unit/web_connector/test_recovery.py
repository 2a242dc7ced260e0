"""Recovery: QuickBooks is asked for the stored response of a write before anything else is sent."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.errors import MayBeExecuted
from domain.maintenance.sweep import sweep
from domain.queueing.service import RequestService
from domain.records.request import State
from domain.records.session import SILENCE_SECONDS
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from simulator.faults import Fault
from tests.support.builders import AN_ACTOR, APP_ID
from tests.support.web_connector.drain import Drain
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response
from tests.support.web_connector.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.records.request import RequestError
    from tests.support.web_connector.connector import Connector


def lost_write(qbwc: Connector, name: str = "Ann", label: str | None = None) -> tuple[str, str]:
    """Queue a write, send it and lose its response. QuickBooks has certainly finished.

    Return its id and the text that was sent.
    """
    request_id = qbwc.write(name, request_label=label) if label else qbwc.write(name)
    request = qbwc.begin()
    qbwc.close_and_wait()
    return request_id, request


def error_of(qbwc: Connector, request_id: str) -> RequestError:
    """Return the error of a record that ended in one."""
    error = qbwc.record(request_id).error
    assert error is not None
    return error


def queueing(qbwc: Connector) -> RequestService:
    """Return the use cases of an API consumer."""
    return RequestService(qbwc.store, qbwc.clock)


# --- how a recovery begins


def take_over(qbwc: Connector) -> None:
    """Make no further call until the next login may end the session."""
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)


def close(qbwc: Connector) -> None:
    """End the session normally."""
    qbwc.close()


def lose_connection(qbwc: Connector) -> None:
    """Report that QuickBooks cannot be reached."""
    qbwc.call("connectionError", qbwc.ticket, "0x80040408", "Could not start QuickBooks.")


def sweep_session(qbwc: Connector) -> None:
    """Make no further call until the sweep runs."""
    qbwc.clock.advance(seconds=SILENCE_SECONDS + 60)
    sweep(qbwc.store, qbwc.clock, qbwc.clock.now + timedelta(minutes=1))


def fail(qbwc: Connector) -> None:
    """Report that QuickBooks crashed during the request."""
    qbwc.receive(hresult="0x800706BE")
    qbwc.close()


@pytest.mark.parametrize("end", [take_over, close, lose_connection, sweep_session, fail])
def test_a_sent_write_recovers_first_however_its_session_ended(
    qbwc: Connector, end: Callable[[Connector], None]
) -> None:
    write = qbwc.write()
    qbwc.begin()
    end(qbwc)

    check = qbwc.begin()

    message_set_id = qbwc.record(write).message_set_id
    assert (
        f'<QBXMLMsgsRq oldMessageSetID="{message_set_id}" newMessageSetID="{message_set_id}" onError="stopOnError"/>'
        in check
    )
    assert qbwc.store.counts == qbwc.store.recount()


def test_recovery_precedes_older_requests(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    qbwc.queue(inserted_at="2020-01-01T00:00:00.000000Z", updated_at="2020-01-01T00:00:00.000000Z")

    assert qbwc.record(write).message_set_id in qbwc.begin()


# --- the replies of QuickBooks


def test_the_time_of_the_first_sending_is_kept_after_the_response_was_recovered(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)
    first = qbwc.record(write).sent_at
    assert first is not None
    qbwc.begin()
    qbwc.receive(stored_response(request))

    record = qbwc.record(write)
    assert record.sent_at is not None
    assert record.state is State.RESPONSE_RECEIVED
    assert record.recovery.first_sent_at == first < record.sent_at


def test_the_stored_response_completes_the_write(qbwc: Connector) -> None:
    write, request = lost_write(qbwc, "Grace")
    qbwc.begin()
    text = stored_response(request, content="<CustomerRet><ListID>80-1</ListID></CustomerRet>")

    assert qbwc.receive(text) == 100

    record = qbwc.record(write)
    assert (record.state, record.attempts.sessions, record.recovering) == (State.RESPONSE_RECEIVED, 1, False)
    assert qbwc.response(write) == text
    found_by = qbwc.store.bodies[write].search_text
    assert "grace" in found_by
    assert "80-1" in found_by


def test_a_stored_error_fails_the_write(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)
    qbwc.begin()

    qbwc.receive(stored_response(request, code=3100, severity="Error", message="The name is in use."))

    assert error_of(qbwc, write).code == "quickbooks_error"


@pytest.mark.parametrize("code", [600, 9002])
def test_a_write_that_was_never_executed_is_sent_in_the_same_session_with_the_same_id(
    qbwc: Connector, code: int
) -> None:
    write, request = lost_write(qbwc)
    later = qbwc.write("Bob")

    assert 1 <= qbwc.receive(nothing_stored(qbwc.begin(), code)) <= 99

    assert qbwc.send() == request
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED
    assert later in qbwc.send()


def test_never_executed_holds_only_in_the_session_that_received_it(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))
    qbwc.close()

    assert qbwc.record(write).recovering
    assert "oldMessageSetID" in qbwc.begin()


@pytest.mark.parametrize("cut_at", ["</QBXMLMsgsRs>", "statusMessage", "\n<CustomerAddRs"])
def test_a_stored_response_that_cannot_be_read_leaves_the_outcome_unknown(qbwc: Connector, cut_at: str) -> None:
    write, request = lost_write(qbwc)
    qbwc.begin()
    text = stored_response(request).partition(cut_at)[0]

    qbwc.receive(text)

    assert error_of(qbwc, write).code == "outcome_unknown"
    assert qbwc.response(write) == text


@pytest.mark.parametrize("text", ["", "no xml", "<QBXML><QBXMLMsgsRs/></QBXML>"])
def test_quickbooks_is_asked_again_after_a_text_that_names_nothing(qbwc: Connector, text: str) -> None:
    write, request = lost_write(qbwc)
    check = qbwc.begin()

    qbwc.receive(text)

    assert qbwc.send() == check
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


@pytest.mark.parametrize("code", [9001, 9003, 9004, 9005, 1])
def test_any_other_status_leaves_the_outcome_unknown(qbwc: Connector, code: int) -> None:
    write, _ = lost_write(qbwc)

    qbwc.receive(nothing_stored(qbwc.begin(), code))

    assert error_of(qbwc, write).code == "outcome_unknown"
    assert qbwc.authenticate() == "none"


def test_a_status_check_that_quickbooks_cannot_parse_leaves_the_outcome_unknown(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    qbwc.begin()

    qbwc.receive(hresult="0x80040400")

    assert error_of(qbwc, write).code == "outcome_unknown"


def test_a_request_that_can_no_longer_be_written_recovers(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)
    qbwc.store.bodies[write] = replace(qbwc.store.bodies[write], request_xml="no xml")

    check = qbwc.begin()

    assert qbwc.record(write).message_set_id in check
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


# --- when the question is lost too


def test_a_lost_status_check_is_repeated_in_at_most_three_sessions(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    for _ in range(3):
        assert qbwc.record(write).recovering
        assert "oldMessageSetID" in qbwc.begin()
        qbwc.close()

    assert error_of(qbwc, write).code == "outcome_unknown"
    assert qbwc.store.counts == qbwc.store.recount()


def test_exceptions_count_as_lost_status_checks(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    for _ in range(3):
        qbwc.begin()
        qbwc.receive(hresult="0x80040414", message="A modal dialog box is showing.")
        qbwc.close()

    assert error_of(qbwc, write).details["hresult"] == "0x80040414"
    assert error_of(qbwc, write).code == "outcome_unknown"


def test_a_status_check_may_be_fetched_twice_in_one_session(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    check = qbwc.begin()

    assert qbwc.send() == check

    assert qbwc.record(write).recovery.sessions == 1


def test_a_write_that_quickbooks_denies_after_three_sessions_has_an_unknown_outcome(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    for _ in range(2):
        qbwc.receive(nothing_stored(qbwc.begin()))
        qbwc.send()
        qbwc.close_and_wait()

    qbwc.receive(nothing_stored(qbwc.begin()))

    error = error_of(qbwc, write)
    assert (error.code, error.details["status_code"], error.details["sessions"]) == ("outcome_unknown", 9002, 3)
    assert "Check the company file before" in error.details["hint"]


@pytest.mark.parametrize("code", [-1, 3100, 9004, 9005])
def test_if_quickbooks_cannot_tell_the_hint_is_that_of_an_unknown_outcome(qbwc: Connector, code: int) -> None:
    write, _ = lost_write(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin(), code))

    error = error_of(qbwc, write)
    assert (error.code, error.details["status_code"]) == ("outcome_unknown", code)
    assert "Check the company file before" in error.details["hint"]


def test_a_write_with_a_badly_stored_response_is_executed_once_and_has_an_unknown_outcome() -> None:
    """QuickBooks then returns 9002, even for the write itself. This does not prove that nothing was executed."""
    service = Service()
    qbwc = service.qbwc
    write = qbwc.write("Grace")
    faults = [Fault.parse("receiveResponseXML:1:lose-request"), Fault.parse("process/writes:1:store-badly")]
    simulator = qbwc.simulator(service.company, transport=service, faults=faults)

    for _ in range(9):
        simulator.run_once()
        qbwc.clock.advance(minutes=10)

    assert [execution.name for execution in service.company.writes] == ["CustomerAddRq"]
    assert error_of(qbwc, write).code == "outcome_unknown"


def test_a_write_lost_before_recovers_again_after_an_exception(qbwc: Connector) -> None:
    write, _ = lost_write(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))
    qbwc.send()

    qbwc.receive(hresult="0x80040414")

    assert qbwc.record(write).recovering


# --- responses that arrive late or twice


def test_a_duplicate_of_never_executed_does_not_answer_the_write(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)
    late = nothing_stored(qbwc.begin())
    qbwc.receive(late)
    qbwc.send()

    assert qbwc.receive(late) <= 99

    assert qbwc.record(write).state is State.SENT
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_response_with_another_message_set_is_ignored(qbwc: Connector) -> None:
    first, request = lost_write(qbwc, "Ann", label="1")
    second = qbwc.write("Bob", request_label="1")
    qbwc.begin()
    text = stored_response(request)
    qbwc.receive(text)
    other = qbwc.send()

    assert qbwc.receive(text) <= 99

    assert qbwc.record(first).state is State.RESPONSE_RECEIVED
    assert qbwc.record(second).state is State.SENT
    assert qbwc.receive(stored_response(other)) == 100


def test_a_write_that_was_executed_late_recovers_again(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))

    qbwc.receive(nothing_stored(qbwc.send(), 9001))

    assert qbwc.record(write).recovering
    qbwc.close()
    qbwc.begin()
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_response_that_could_not_be_stored_leaves_the_outcome_unknown(qbwc: Connector) -> None:
    write = qbwc.write()

    qbwc.receive(nothing_stored(qbwc.begin(), 9005))

    assert error_of(qbwc, write).code == "outcome_unknown"


# --- a recovering write cannot be removed


def test_a_recovering_write_can_be_neither_discarded_nor_deleted(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)

    with pytest.raises(MayBeExecuted):
        queueing(qbwc).discard(APP_ID, write, actor=AN_ACTOR)
    with pytest.raises(MayBeExecuted):
        queueing(qbwc).delete(APP_ID, write, force=True, actor=AN_ACTOR)

    qbwc.begin()
    qbwc.receive(stored_response(request))
    queueing(qbwc).delete(APP_ID, write, actor=AN_ACTOR)


# --- forgetting


def message_set_to_forget(text: str) -> str | None:
    """Return the message set that QuickBooks is told to forget with a write."""
    match = re.search(r'oldMessageSetID="([^"]*)"', text)
    return match and match[1]


def test_the_next_write_tells_quickbooks_to_forget_a_stored_response(qbwc: Connector) -> None:
    first, read, second, third = qbwc.write("Ann"), qbwc.queue(), qbwc.write("Bob"), qbwc.write("Cid")
    request = qbwc.begin()
    assert message_set_to_forget(request) is None
    qbwc.receive(stored_response(request))
    request = qbwc.send()
    assert read in request
    assert "MessageSetID" not in request
    qbwc.receive(response_to(request))

    request = qbwc.send()

    assert message_set_to_forget(request) == qbwc.record(first).message_set_id
    qbwc.receive(stored_response(request))
    qbwc.close()
    # The next session continues where this one ended.
    assert message_set_to_forget(qbwc.begin()) == qbwc.record(second).message_set_id
    assert qbwc.record(third).state is State.SENT


def test_the_message_set_to_forget_survives_a_takeover(qbwc: Connector) -> None:
    first = qbwc.write("Ann")
    qbwc.write("Bob")
    qbwc.receive(stored_response(qbwc.begin()))

    assert message_set_to_forget(qbwc.begin()) == qbwc.record(first).message_set_id


def test_the_message_set_to_forget_survives_a_login_without_work(qbwc: Connector) -> None:
    first = qbwc.write("Ann")
    qbwc.receive(stored_response(qbwc.begin()))
    qbwc.close()
    assert qbwc.authenticate() == "none"
    qbwc.write("Bob")

    assert message_set_to_forget(qbwc.begin()) == qbwc.record(first).message_set_id


def test_the_response_to_a_write_sent_twice_is_never_forgotten(qbwc: Connector) -> None:
    _, request = lost_write(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))
    qbwc.write("Bob")
    qbwc.send()
    qbwc.receive(stored_response(request))

    assert message_set_to_forget(qbwc.send()) is None


def test_quickbooks_stores_only_the_last_response() -> None:
    """With the simulator: two sessions of two writes."""
    run = Drain(lambda qbwc: [qbwc.write("Ann"), qbwc.write("Bob")])
    run.simulator.run_once()
    run.qbwc.write("Cid")
    run.qbwc.write("Dan")

    run.to_the_end().check()

    (message_sets,) = run.company.message_sets.stored.values()
    (last,) = [record for record in run.records if record.message_set_id in message_sets]
    assert list(message_sets) == [last.message_set_id]
    assert last.inserted_at == max(record.inserted_at for record in run.records)


# --- the number of calls


def test_every_call_of_a_recovery_stays_within_its_budget(qbwc: Connector) -> None:
    _, request = lost_write(qbwc)
    qbwc.authenticate()
    assert qbwc.store.calls.total() == 3
    check = qbwc.send(hcp())
    assert qbwc.store.calls.total() == 3
    qbwc.receive(nothing_stored(check))
    assert qbwc.store.calls.total() == 3
    qbwc.send()
    assert qbwc.store.calls.total() == 3
    qbwc.receive(stored_response(request))
    assert qbwc.store.calls.total() == 4  # it ends the session


def test_a_message_set_id_has_20_characters_and_stays_the_same(qbwc: Connector) -> None:
    write, request = lost_write(qbwc)
    assert len(qbwc.record(write).message_set_id) == 20
    assert qbwc.record(write).message_set_id in request

    message_set = qbwc.record(write).message_set_id
    check = qbwc.begin()
    assert f'oldMessageSetID="{message_set}" newMessageSetID="{message_set}"' in check
    qbwc.receive(nothing_stored(check))
    assert f'newMessageSetID="{message_set}"' in qbwc.send()
