"""Exceptions of QuickBooks' request processor, and the conclusions that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.qbxml.codes.hresults import describe_hresult
from domain.queueing.waiting_reason import of_request
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import State
from domain.records.session import MAX_EXECUTION_SECONDS
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_request_that_quickbooks_cannot_parse_fails_and_the_session_continues(qbwc: Connector) -> None:
    request_id = qbwc.write()
    qbwc.queue()
    qbwc.begin()

    progress = qbwc.receive(hresult="0x80040400", message="QuickBooks found an error when parsing the XML.")

    record = qbwc.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "qbxml_parse_error"
    assert record.error.details["hresult"] == "0x80040400"
    assert progress < 100


def test_a_read_with_an_exception_is_sent_again_in_a_later_session(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue()
    qbwc.begin()

    assert qbwc.receive(hresult="0x8004041B", message="Unable to lock.") < 100
    assert qbwc.record(first).state is State.RETRYABLE
    request = qbwc.send()
    assert second in request
    assert qbwc.receive(response_to(request)) == 100  # the first is not tried again here
    qbwc.close()

    assert first in qbwc.begin()


def test_a_read_with_exceptions_in_three_sessions_fails(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    for _ in range(3):
        qbwc.begin()
        assert qbwc.receive(hresult="0x8004040x") == -1
        qbwc.close()

    record = qbwc.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "quickbooks_connection_error"
    assert record.error.details["hresult"] == "0x8004040x"
    assert "Queue it as a new request" in record.error.details["hint"]
    assert qbwc.authenticate() == "none"


def test_spaces_around_an_hresult_are_removed(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    for _ in range(3):
        qbwc.begin()
        qbwc.receive(hresult=" 0x80040402\n")
        qbwc.close()

    record, last_error = qbwc.record(request_id), qbwc.connection.last_error
    assert record.error is not None
    assert last_error is not None
    assert record.error.details["hresult"] == last_error["hresult"] == "0x80040402"


@pytest.mark.parametrize("queue", [Connector.queue, Connector.write])
def test_attempts_while_quickbooks_is_unavailable_do_not_count_for_a_week(
    qbwc: Connector, queue: Callable[[Connector], str]
) -> None:
    request_id = queue(qbwc)

    for _ in range(5):
        qbwc.begin()
        assert qbwc.receive(hresult="0x8004041b") == -1
        qbwc.close()
    assert (qbwc.record(request_id).state, qbwc.record(request_id).attempts.sessions) == (State.RETRYABLE, 0)

    qbwc.clock.advance(days=7)
    for _ in range(3):
        qbwc.begin()
        qbwc.receive(hresult="0x8004041b")
        qbwc.close()
    error = qbwc.record(request_id).error
    assert error is not None
    assert (error.code, error.details["hresult"]) == ("quickbooks_connection_error", "0x8004041b")


def test_a_write_that_was_certainly_not_executed_is_sent_in_a_later_session(qbwc: Connector) -> None:
    request_id = qbwc.write()
    qbwc.begin()

    qbwc.receive(hresult="0x80040414", message="A modal dialog box is showing.")

    assert qbwc.record(request_id).state is State.RETRYABLE


@pytest.mark.parametrize("hresult", ["0x800706BE", "0x80040402", "0x12345678", "nonsense"])
def test_a_write_that_may_have_been_executed_recovers_in_the_next_session(qbwc: Connector, hresult: str) -> None:
    request_id = qbwc.write()
    qbwc.begin()

    qbwc.receive(hresult=hresult, message="The remote procedure call failed.")

    assert qbwc.send() == ""  # not in this one: QuickBooks may still be at work
    assert qbwc.record(request_id).recovering
    qbwc.close()
    assert "oldMessageSetID" in qbwc.begin()


def test_two_exceptions_in_a_row_end_the_session_and_spare_the_queue(qbwc: Connector) -> None:
    records = [qbwc.queue() for _ in range(5)]
    qbwc.begin()

    assert qbwc.receive(hresult="0x800706BA", message="The RPC server is unavailable.") < 100
    qbwc.send()
    assert qbwc.receive(hresult="0x800706BA", message="The RPC server is unavailable.") == -1

    assert "RPC server" in qbwc.last_error()
    assert qbwc.receive(hresult="0x800706BA") == -1  # once more
    assert qbwc.close() == "OK"
    assert [qbwc.record(request_id).state.value for request_id in records] == [
        "retryable",
        "retryable",
        "waiting",
        "waiting",
        "waiting",
    ]


def test_a_session_that_ends_with_an_exception_gives_the_reason(qbwc: Connector) -> None:
    """100 would have the user read "Finished"."""
    first, second = qbwc.queue(), qbwc.queue()
    qbwc.receive(response_to(qbwc.begin()))
    qbwc.send()

    assert qbwc.receive(hresult="0x80040414", message="A modal dialog box is showing.") == -1

    assert "modal dialog" in qbwc.last_error()
    assert qbwc.receive(hresult="0x80040414", message="A modal dialog box is showing.") == -1  # once more
    assert qbwc.close() == "OK"
    assert "modal dialog" in qbwc.last_error()
    assert [qbwc.record(request_id).state for request_id in (first, second)] == [
        State.RESPONSE_RECEIVED,
        State.RETRYABLE,
    ]


def test_an_exception_is_the_connections_last_error_until_quickbooks_works_again(qbwc: Connector) -> None:
    waiting = qbwc.queue()
    qbwc.begin()
    qbwc.receive(hresult="0x80040414", message="A modal dialog box is showing.")
    assert qbwc.connection.last_error is None  # a response may still arrive in this session

    qbwc.close()

    error = qbwc.connection.last_error
    assert error is not None
    assert (error["code"], error["reason"]) == ("quickbooks_connection_error", "modal_dialog")
    assert error["hresult"] == "0x80040414"
    reason = of_request(qbwc.record(waiting), qbwc.connection, qbwc.clock.now)
    assert reason is not None
    assert reason.code == "quickbooks_unreachable"
    assert "modal dialog" in reason.message
    assert "Close the dialog" in (reason.hint or "")
    qbwc.begin()
    assert qbwc.connection.last_error is None


@pytest.mark.parametrize("hresult", ["", "0x80040400"])
def test_an_exception_followed_by_a_response_is_not_the_connections_last_error(qbwc: Connector, hresult: str) -> None:
    """A parse error is not one either: QuickBooks was reached, and the request ended."""
    qbwc.queue()
    qbwc.queue()
    qbwc.begin()
    qbwc.receive(hresult="0x8004041B")
    last = qbwc.send()

    assert qbwc.receive("" if hresult else response_to(last), hresult=hresult) == 100

    qbwc.close()
    assert qbwc.connection.last_error is None


def test_exceptions_with_a_response_between_them_do_not_end_the_session(qbwc: Connector) -> None:
    for _ in range(4):
        qbwc.queue()
    qbwc.begin()
    qbwc.receive(hresult="0x80040402")
    qbwc.receive(response_to(qbwc.send()))
    qbwc.send()

    assert 1 <= qbwc.receive(hresult="0x80040402") <= 99


def test_an_hresult_of_zero_is_success(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin()), hresult="0x00000000")

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


# --- exceptions that are delivered twice: an exception does not name its request


def test_a_duplicate_exception_does_not_send_the_next_write_twice(qbwc: Connector) -> None:
    """The copy arrives while QuickBooks executes the next write. That write recovers and is never repeated."""
    qbwc.queue()
    write = qbwc.write()
    qbwc.begin()
    qbwc.receive(hresult="0x80040402", message="An unexpected error occurred.")
    request = qbwc.send()
    assert "CustomerAdd" in request

    qbwc.receive(hresult="0x80040402", message="An unexpected error occurred.")
    qbwc.receive(stored_response(request))

    assert qbwc.record(write).recovering
    qbwc.close()
    qbwc.clock.advance(minutes=1)
    check = qbwc.begin()
    assert "oldMessageSetID" in check
    assert "CustomerAdd" not in check
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_late_duplicate_of_an_exception_proves_nothing(qbwc: Connector) -> None:
    _, _, write = qbwc.queue(), qbwc.queue(), qbwc.write()
    qbwc.begin()
    qbwc.receive(hresult="0x80040414")
    qbwc.receive(response_to(qbwc.send()))
    qbwc.send()

    qbwc.receive(hresult="0x80040414")

    record = qbwc.record(write)
    assert (record.state, record.recovering) == (State.RETRYABLE, True)


def test_a_duplicate_parse_error_does_not_fail_the_next_write(qbwc: Connector) -> None:
    """QuickBooks executes the write. Its response arrives after the copy and is requested in the same session."""
    first, second = qbwc.write("Ann"), qbwc.write("Bob")
    qbwc.begin()
    qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.")
    request = qbwc.send()

    qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.")
    assert 1 <= qbwc.receive(stored_response(request)) <= 99
    check = qbwc.send()

    assert "oldMessageSetID" in check
    assert "CustomerAdd" not in check
    assert qbwc.receive(stored_response(request)) == 100
    assert [qbwc.record(request_id).state for request_id in (first, second)] == [State.ERROR, State.RESPONSE_RECEIVED]


@pytest.mark.parametrize("hresult", ["0x80010105", "0x800706BE", "0x80040402"])
def test_a_duplicate_parse_error_does_not_hide_another_failure_of_the_next_write(qbwc: Connector, hresult: str) -> None:
    """QuickBooks runs on and executes the write after the status check. The write is not reported as never executed."""
    _, second = qbwc.write("Ann"), qbwc.write("Bob")
    qbwc.begin()
    qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.")
    request = qbwc.send()
    qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.")

    qbwc.receive(hresult=hresult)
    qbwc.receive(nothing_stored(qbwc.send()))

    assert qbwc.record(second).recovering
    qbwc.close()
    qbwc.clock.advance(minutes=1)
    qbwc.begin()
    qbwc.receive(stored_response(request))
    assert qbwc.record(second).state is State.RESPONSE_RECEIVED


def test_several_writes_that_quickbooks_cannot_parse_fail_in_one_session(qbwc: Connector) -> None:
    writes = [qbwc.write() for _ in range(3)]
    qbwc.begin()
    qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.")

    for _ in range(2):
        qbwc.send()
        assert 1 <= qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.") <= 99
        progress = qbwc.receive(nothing_stored(qbwc.send()))

    assert progress == 100
    for write in writes:
        error = qbwc.record(write).error
        assert error is not None
        assert (error.code, error.message) == ("qbxml_parse_error", "QuickBooks found an error.")
        assert (error.details["hresult"], error.details["reason"]) == ("0x80040400", "request_not_parsed")


def test_an_unconfirmed_parse_error_is_forgotten_with_its_session(qbwc: Connector) -> None:
    _, second = qbwc.write("Ann"), qbwc.write("Bob")
    qbwc.begin()
    qbwc.receive(hresult="0x80040400")
    qbwc.send()
    qbwc.receive(hresult="0x80040400")
    qbwc.close()
    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    qbwc.receive(nothing_stored(qbwc.begin()))
    assert "Bob" in qbwc.send()
    qbwc.receive(hresult="0x80040400")

    error = qbwc.record(second).error
    assert error is not None
    assert error.code == "qbxml_parse_error"


@pytest.mark.parametrize("first_is_read", [True, False])
def test_after_a_dialog_box_the_session_sends_no_write_and_the_next_one_sends_all(
    qbwc: Connector, *, first_is_read: bool
) -> None:
    """The second exception of a session would not be believed, and the write would be held."""
    ids = [qbwc.queue() if first_is_read else qbwc.write("Ann"), qbwc.queue(), qbwc.write("Bob"), qbwc.queue()]
    qbwc.begin()
    qbwc.receive(hresult="0x80040414")
    qbwc.receive(response_to(qbwc.send()))  # A read can be repeated, so it shows whether QuickBooks works again.
    qbwc.close()
    assert [qbwc.record(request_id).state for request_id in ids[1:2]] == [State.RESPONSE_RECEIVED]

    qbwc.begin()
    qbwc.receive(hresult="0x80040414")
    assert qbwc.send() == ""
    qbwc.close()
    qbwc.clock.advance(minutes=1)
    request = qbwc.begin()
    while request:
        qbwc.receive(response_to(request))
        request = qbwc.send()

    assert [qbwc.record(request_id).state for request_id in ids] == [State.RESPONSE_RECEIVED] * 4


def test_the_first_exception_of_a_session_is_believed(qbwc: Connector) -> None:
    write = qbwc.write()
    for _ in range(2):
        qbwc.begin()
        qbwc.receive(hresult="0x80040414")
        assert not qbwc.record(write).recovering
        qbwc.close()


def test_an_exception_has_a_stable_reason_and_a_hint(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.clock.advance(days=8)
    for _ in range(3):
        qbwc.begin()
        qbwc.receive(hresult="0x80040414", message="Une boîte de dialogue est ouverte.")
        qbwc.close()

    error = qbwc.record(request_id).error

    assert error is not None
    assert error.details["reason"] == "modal_dialog"
    assert "dialog" in error.details["hint"]
    assert "Une boîte" in error.message


def test_an_unknown_exception_is_reported_unchanged(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    for _ in range(3):
        qbwc.begin()
        qbwc.receive(hresult="0x80049999", message="Something new.")
        qbwc.close()

    error = qbwc.record(request_id).error

    assert error is not None
    assert (error.details["reason"], error.details["hresult"]) == ("unknown_hresult", "0x80049999")
    assert "Something new." in error.message


@pytest.mark.parametrize(
    ("code", "reason", "retryable"),
    [(3175, "object_in_use", True), (3200, "edit_sequence_out_of_date", False), (3999, "unknown_status", False)],
)
def test_a_status_has_a_stable_reason_and_says_whether_it_is_retryable(
    qbwc: Connector, code: int, reason: str, *, retryable: bool
) -> None:
    request_id = qbwc.write()

    qbwc.receive(response_to(qbwc.begin(), code=code, severity="Error", message="As QuickBooks says."))

    error = qbwc.record(request_id).error
    assert error is not None
    assert (error.code, error.message) == ("quickbooks_error", "As QuickBooks says.")
    assert (error.details["reason"], error.details["retryable"]) == (reason, retryable)


def test_an_unknown_outcome_warns_that_a_hung_copy_may_still_be_executed(qbwc: Connector) -> None:
    write = qbwc.write()
    for _ in range(4):
        qbwc.begin()
        qbwc.close_and_wait()

    error = qbwc.record(write).error

    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "response_lost")
    assert "may still execute the request" in error.details["hint"]


@pytest.mark.parametrize("lookup", [None, ObjectLookup(IfExists.RETURN)])
def test_a_text_that_comes_with_an_exception_is_kept_with_the_error_and_only_then(
    qbwc: Connector, lookup: ObjectLookup | None
) -> None:
    addition = ("CustomerAddRq", "<CustomerAdd><Name>Ada</Name></CustomerAdd>")
    request_id = qbwc.queue(*(addition if lookup else ("CustomerQueryRq", "")), lookup=lookup)
    texts = []
    for _ in range(3):
        qbwc.begin()
        qbwc.receive("<half of a response", hresult="0x8004040x")
        qbwc.close()
        texts.append(qbwc.response(request_id))

    assert texts == [None, None, "<half of a response"]


@pytest.mark.parametrize("message", ["", " "])
def test_an_exception_without_a_message_has_one_of_ours(qbwc: Connector, message: str) -> None:
    request_id = qbwc.queue()
    qbwc.begin()

    qbwc.receive(hresult="0x80040428", message=message)

    error = qbwc.record(request_id).error
    assert error is not None
    assert error.message.strip()
    assert error.message == describe_hresult("0x80040428").message


@pytest.mark.parametrize(
    ("queue", "hresult"),
    [(Connector.queue, "0x80040423"), (Connector.write, "0x80040423"), (Connector.queue, "0x80040428")],
)
def test_a_request_that_this_quickbooks_can_never_execute_fails_at_once(
    qbwc: Connector, queue: Callable[[Connector], str], hresult: str
) -> None:
    request_id, next_one = queue(qbwc), qbwc.queue()
    qbwc.begin()

    assert 1 <= qbwc.receive(hresult=hresult, message="not supported") <= 99

    error = qbwc.record(request_id).error
    assert error is not None
    assert (error.code, error.details["hresult"]) == ("qbxml_parse_error", hresult)
    assert next_one in qbwc.send()


def test_a_duplicate_of_such_an_exception_does_not_fail_the_next_write(qbwc: Connector) -> None:
    qbwc.write("Ann")
    write = qbwc.write("Bob")
    qbwc.begin()
    qbwc.receive(hresult="0x80040423")
    request = qbwc.send()

    qbwc.receive(hresult="0x80040423")

    assert qbwc.record(write).recovering
    qbwc.close()
    qbwc.begin()
    assert qbwc.receive(stored_response(request)) == 100
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_long_texts_from_quickbooks_are_shortened_before_they_are_stored(qbwc: Connector) -> None:
    long = "x" * 500_000
    facts = hcp(f"{{{long}}}").replace("QuickBooks Enterprise 24", long).replace("<Country>US", f"<Country>{long}")
    read, rejected_write, query = qbwc.queue(), qbwc.write(), qbwc.iterate()
    qbwc.authenticate()
    qbwc.send(hcp())
    qbwc.receive(hresult=long, message=long)
    qbwc.receive(response_to(qbwc.send(), code=3100, severity="Error", message=long))
    qbwc.receive(response_to(qbwc.send(), extra=f' iteratorRemainingCount="2" iteratorID="{long}"'))
    qbwc.close()
    qbwc.queue()
    qbwc.authenticate()
    qbwc.call("connectionError", qbwc.ticket, long[:25_000], long[:25_000])
    qbwc.authenticate()
    qbwc.send(facts)

    entities = (qbwc.record(read), qbwc.record(rejected_write), qbwc.record(query), qbwc.connection)
    assert all(len(repr(entity)) < 20_000 for entity in (*entities, *qbwc.store.sessions.values()))


def test_a_write_that_may_have_been_executed_recovers_although_quickbooks_does_not_support_it(qbwc: Connector) -> None:
    write = qbwc.write()
    qbwc.begin()

    qbwc.receive(hresult="0x80040428")

    assert qbwc.record(write).recovering
