"""Exceptions of QuickBooks' request processor: what they prove, and what they do not."""

from __future__ import annotations

import pytest

from domain.requests.record import State
from domain.requests.waiting_reason import of_request
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import Desk, answer, kept, not_kept


@pytest.fixture
def desk() -> Desk:
    """Return a desk with a connection and an empty queue."""
    desk = Desk(new_id=RandomIds())
    desk.connect()
    return desk


def test_a_request_that_quickbooks_cannot_parse_ends_and_the_session_goes_on(desk: Desk) -> None:
    request_id = desk.write()
    desk.queue()
    desk.begin()

    progress = desk.receive(hresult="0x80040400", message="QuickBooks found an error when parsing the XML.")

    record = desk.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "qbxml_parse_error"
    assert record.error.details["hresult"] == "0x80040400"
    assert progress < 100


def test_a_read_that_met_an_exception_is_kept_for_a_later_session(desk: Desk) -> None:
    first, second = desk.queue(), desk.queue()
    desk.begin()

    assert desk.receive(hresult="0x8004041B", message="Unable to lock.") < 100
    assert desk.record(first).state is State.RETRYABLE
    request = desk.send()
    assert second in request
    assert desk.receive(answer(request)) == 100  # the first is not tried again here
    desk.close()

    assert first in desk.begin()


def test_a_read_that_meets_exceptions_in_three_sessions_is_given_up(desk: Desk) -> None:
    request_id = desk.queue()

    for _ in range(3):
        desk.begin()
        assert desk.receive(hresult="0x8004041b") == -1
        desk.close()

    record = desk.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "quickbooks_connection_error"
    assert record.error.details["hresult"] == "0x8004041b"
    assert "queue it once more" in record.error.details["hint"]
    assert desk.authenticate() == "none"


def test_a_write_that_quickbooks_surely_did_not_execute_is_kept_for_a_later_session(desk: Desk) -> None:
    request_id = desk.write()
    desk.begin()

    desk.receive(hresult="0x80040414", message="A modal dialog box is showing.")

    assert desk.record(request_id).state is State.RETRYABLE


@pytest.mark.parametrize("hresult", ["0x800706BE", "0x80040402", "0x12345678", "nonsense"])
def test_a_write_that_quickbooks_may_have_executed_is_asked_for_in_the_next_session(desk: Desk, hresult: str) -> None:
    request_id = desk.write()
    desk.begin()

    desk.receive(hresult=hresult, message="The remote procedure call failed.")

    assert desk.send() == ""  # not in this one: QuickBooks may still be at work
    assert desk.record(request_id).recovering
    desk.close()
    assert "oldMessageSetID" in desk.begin()


def test_two_exceptions_in_a_row_end_the_session_before_the_rest_of_the_queue_fails(desk: Desk) -> None:
    records = [desk.write() for _ in range(5)]
    desk.begin()

    assert desk.receive(hresult="0x800706BA", message="The RPC server is unavailable.") < 100
    desk.send()
    assert desk.receive(hresult="0x800706BA", message="The RPC server is unavailable.") == -1

    assert "RPC server" in desk.last_error()
    assert desk.receive(hresult="0x800706BA") == -1  # once more
    assert desk.close() == "OK"
    assert [desk.record(one).state.value for one in records] == [
        "retryable",
        "retryable",
        "waiting",
        "waiting",
        "waiting",
    ]


def test_a_session_that_leaves_its_last_request_undone_ends_with_the_reason(desk: Desk) -> None:
    """100 would have the user read "Finished"."""
    first, second = desk.queue(), desk.queue()
    desk.receive(answer(desk.begin()))
    desk.send()

    assert desk.receive(hresult="0x80040414", message="A modal dialog box is showing.") == -1

    assert "modal dialog" in desk.last_error()
    assert desk.receive(hresult="0x80040414", message="A modal dialog box is showing.") == -1  # once more
    assert desk.close() == "OK"
    assert [desk.record(one).state for one in (first, second)] == [State.RESPONSE_RECEIVED, State.RETRYABLE]


def test_what_kept_quickbooks_from_answering_is_told_to_the_owner_until_a_session_reaches_it(desk: Desk) -> None:
    waiting = desk.queue()
    desk.begin()
    desk.receive(hresult="0x80040414", message="A modal dialog box is showing.")
    assert desk.connection.last_error is None  # the session may yet be answered

    desk.close()

    error = desk.connection.last_error
    assert error is not None
    assert (error["code"], error["reason"]) == ("quickbooks_connection_error", "modal_dialog")
    assert error["hresult"] == "0x80040414"
    reason = of_request(desk.record(waiting), desk.connection, desk.clock.now)
    assert reason is not None
    assert reason.code == "quickbooks_unreachable"
    assert "modal dialog" in reason.message
    assert "Answer the dialog" in (reason.hint or "")
    desk.begin()
    assert desk.connection.last_error is None


@pytest.mark.parametrize("hresult", ["", "0x80040400"])
def test_an_exception_that_quickbooks_answers_after_is_not_told_of_the_connection(desk: Desk, hresult: str) -> None:
    """Nor is a parse error: QuickBooks was reached, and the request ended."""
    desk.queue()
    desk.queue()
    desk.begin()
    desk.receive(hresult="0x8004041B")
    last = desk.send()

    assert desk.receive("" if hresult else answer(last), hresult=hresult) == 100

    desk.close()
    assert desk.connection.last_error is None


def test_exceptions_with_an_answer_between_them_do_not_end_the_session(desk: Desk) -> None:
    for _ in range(4):
        desk.queue()
    desk.begin()
    desk.receive(hresult="0x80040402")
    desk.receive(answer(desk.send()))
    desk.send()

    assert 1 <= desk.receive(hresult="0x80040402") <= 99


def test_an_hresult_of_zero_is_success(desk: Desk) -> None:
    request_id = desk.queue()

    desk.receive(answer(desk.begin()), hresult="0x00000000")

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


# --- an exception names no request: one that is delivered twice


def test_an_exception_delivered_twice_does_not_have_the_next_write_sent_twice(desk: Desk) -> None:
    """The copy comes while the next write is out, which QuickBooks executes: it is asked for, never repeated."""
    desk.queue()
    write = desk.write()
    desk.begin()
    desk.receive(hresult="0x80040414", message="A modal dialog box is showing.")
    sent = desk.send()
    assert "CustomerAdd" in sent

    desk.receive(hresult="0x80040414", message="A modal dialog box is showing.")
    desk.receive(kept(sent))

    assert desk.record(write).recovering
    desk.close()
    desk.begin()  # the read in its turn
    desk.receive(answer(desk.send()))
    check = desk.send()
    assert "oldMessageSetID" in check
    assert "CustomerAdd" not in check
    desk.receive(kept(sent))
    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_also_long_after_the_exception_a_copy_of_it_proves_nothing(desk: Desk) -> None:
    _, _, write = desk.queue(), desk.queue(), desk.write()
    desk.begin()
    desk.receive(hresult="0x80040414")
    desk.receive(answer(desk.send()))
    desk.send()

    desk.receive(hresult="0x80040414")

    record = desk.record(write)
    assert (record.state, record.recovering) == (State.RETRYABLE, True)


def test_a_parse_error_delivered_twice_does_not_tell_that_the_next_write_was_not_executed(desk: Desk) -> None:
    """The write is executed; its answer comes after the copy, and is asked for in the same session."""
    first, second = desk.write("Ann"), desk.write("Bob")
    desk.begin()
    desk.receive(hresult="0x80040400", message="QuickBooks found an error.")
    sent = desk.send()

    desk.receive(hresult="0x80040400", message="QuickBooks found an error.")
    assert 1 <= desk.receive(kept(sent)) <= 99
    check = desk.send()

    assert "oldMessageSetID" in check
    assert "CustomerAdd" not in check
    assert desk.receive(kept(sent)) == 100
    assert [desk.record(one).state for one in (first, second)] == [State.ERROR, State.RESPONSE_RECEIVED]


def test_writes_that_quickbooks_cannot_parse_end_one_after_another_in_one_session(desk: Desk) -> None:
    writes = [desk.write() for _ in range(3)]
    desk.begin()
    desk.receive(hresult="0x80040400", message="QuickBooks found an error.")

    for _ in range(2):
        desk.send()
        assert 1 <= desk.receive(hresult="0x80040400", message="QuickBooks found an error.") <= 99
        progress = desk.receive(not_kept(desk.send()))

    assert progress == 100
    for write in writes:
        error = desk.record(write).error
        assert error is not None
        assert (error.code, error.message) == ("qbxml_parse_error", "QuickBooks found an error.")
        assert (error.details["hresult"], error.details["reason"]) == ("0x80040400", "request_not_parsed")


def test_a_suspicion_ends_with_its_session(desk: Desk) -> None:
    _, second = desk.write("Ann"), desk.write("Bob")
    desk.begin()
    desk.receive(hresult="0x80040400")
    desk.send()
    desk.receive(hresult="0x80040400")
    desk.close()

    desk.receive(not_kept(desk.begin()))
    assert "Bob" in desk.send()
    desk.receive(hresult="0x80040400")

    error = desk.record(second).error
    assert error is not None
    assert error.code == "qbxml_parse_error"


def test_a_write_that_was_left_alone_after_all_is_sent_once_quickbooks_said_so(desk: Desk) -> None:
    first, second = desk.write("Ann"), desk.write("Bob")
    desk.begin()
    desk.receive(hresult="0x80040414")
    desk.send()
    assert desk.receive(hresult="0x80040414") == -1
    desk.close()

    sent = desk.begin()
    assert "Ann" in sent  # the order of the queue is kept
    desk.receive(kept(sent))
    desk.receive(not_kept(desk.send()))
    sent = desk.send()
    assert "Bob" in sent
    desk.receive(kept(sent))

    assert [desk.record(one).state for one in (first, second)] == [State.RESPONSE_RECEIVED] * 2


def test_the_next_session_believes_its_first_exception(desk: Desk) -> None:
    write = desk.write()
    for _ in range(2):
        desk.begin()
        desk.receive(hresult="0x80040414")
        assert not desk.record(write).recovering
        desk.close()


def test_an_exception_has_a_stable_reason_and_a_hint(desk: Desk) -> None:
    request_id = desk.queue()
    for _ in range(3):
        desk.begin()
        desk.receive(hresult="0x80040414", message="Une boîte de dialogue est ouverte.")
        desk.close()

    error = desk.record(request_id).error

    assert error is not None
    assert error.details["reason"] == "modal_dialog"
    assert "dialog" in error.details["hint"]
    assert "Une boîte" in error.message


def test_an_unknown_exception_is_passed_on_as_it_came(desk: Desk) -> None:
    request_id = desk.queue()
    for _ in range(3):
        desk.begin()
        desk.receive(hresult="0x80049999", message="Something new.")
        desk.close()

    error = desk.record(request_id).error

    assert error is not None
    assert (error.details["reason"], error.details["hresult"]) == ("unknown_hresult", "0x80049999")
    assert "Something new." in error.message


@pytest.mark.parametrize(
    ("code", "reason", "retryable"),
    [(3175, "object_in_use", True), (3200, "edit_sequence_out_of_date", False), (3999, "unknown_status", False)],
)
def test_a_status_has_a_stable_reason_and_says_whether_trying_again_may_help(
    desk: Desk, code: int, reason: str, *, retryable: bool
) -> None:
    request_id = desk.write()

    desk.receive(answer(desk.begin(), code=code, severity="Error", message="As QuickBooks says."))

    error = desk.record(request_id).error
    assert error is not None
    assert (error.code, error.message) == ("quickbooks_error", "As QuickBooks says.")
    assert (error.details["reason"], error.details["retryable"]) == (reason, retryable)


def test_a_write_given_up_tells_that_a_hung_copy_may_still_be_executed(desk: Desk) -> None:
    write = desk.write()
    for _ in range(4):
        desk.begin()
        desk.close()

    error = desk.record(write).error

    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "answer_lost")
    assert "may still execute the request" in error.details["hint"]
