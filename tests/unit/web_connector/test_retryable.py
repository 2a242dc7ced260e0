"""`details.retryable` of an error is true exactly if its hint says to queue the same request again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from domain.qbxml.codes.hresults import HRESULTS
from domain.qbxml.codes.statuses import STATUSES, describe_status
from domain.records.request import Attempts, ErrorCode, Paging, State
from domain.web_connector.outcomes import lost_response
from domain.web_connector.outcomes.error_reasons import MEANINGS, Reason, reason_details
from tests.support.builders import NOON, a_record
from tests.support.cases import for_each
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.records.request import QueuedRequest, RequestError
    from tests.support.web_connector.connector import Connector

says_again = re.compile(
    r"(?<!before you )queue (it|this one|the request|the query) (again|as a new request)", re.IGNORECASE
).search


def check(error: RequestError | None) -> ErrorCode:
    """Compare `retryable` of an error with its hint, and return its code."""
    assert error is not None
    hint = str(error.details.get("hint", ""))
    assert error.details["retryable"] is bool(says_again(hint)), f"{error.code}: {hint}"
    return ErrorCode(error.code)


@for_each("code", [*STATUSES, 4711, 9100])
def test_of_every_status(code: int) -> None:
    for message in (None, "The list has been modified by another user.", "It is already defined."):
        status = describe_status(code, message)
        assert status.retryable is bool(says_again(status.hint or "")), status


@pytest.mark.parametrize("hresult", [*HRESULTS, "0x12345678"])
def test_of_every_hresult(qbwc: Connector, hresult: str) -> None:
    """A query and a write, with the same exception in each session until they end, or their sessions are used up."""
    ids = [qbwc.queue(), qbwc.write()]

    for _ in range(60):
        if qbwc.authenticate() == "":
            if qbwc.send():
                qbwc.receive(hresult=hresult)
            qbwc.close()
        qbwc.clock.advance(hours=6)

    for request_id in ids:
        record = qbwc.record(request_id)
        assert record.state is State.ERROR
        check(record.error)


def read_errors() -> Iterator[QueuedRequest]:
    """Yield a record for each way in which the service itself ends a request in flight."""
    sent = a_record(state=State.SENT, attempts=Attempts(3))
    later = a_record(state=State.SENT, attempts=Attempts(1), paging=Paging(2, sent.id, 100))
    for reason in Reason:
        details, message = reason_details(reason), MEANINGS[reason][0]
        yield lost_response.retry_later(sent, NOON, message, details, ask_for_less=False)
        yield lost_response.iteration_interrupted(later, NOON, message, details)
        if "iterator" not in details["reason"]:  # a write has none
            yield lost_response.outcome_unknown(sent, NOON, message, details)
    for reason in (Reason.ITERATOR_NOT_FALLING, Reason.ITERATOR_INVALID, Reason.TOO_MANY_PAGES):
        yield lost_response.iteration_stopped(later, NOON, "It does not end.", reason, 7)
    yield lost_response.too_large(sent, NOON, "It is too large.")
    yield lost_response.iterator_not_falling(later, NOON, 7)


def test_of_every_error_of_the_service() -> None:
    found = {check(record.error) for record in read_errors()}

    assert found == {
        ErrorCode.QUICKBOOKS_CONNECTION_ERROR,
        ErrorCode.ITERATION_INTERRUPTED,
        ErrorCode.OUTCOME_UNKNOWN,
        ErrorCode.ITERATION_STOPPED,
        ErrorCode.RESPONSE_TOO_LARGE,
    }


@pytest.mark.parametrize("code", [1010, 1000, 3100, 3175, 3200, 9001])
def test_of_a_response_of_quickbooks(qbwc: Connector, code: int) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin(), code=code, severity="Error"))

    assert check(qbwc.record(request_id).error) is ErrorCode.QUICKBOOKS_ERROR


@pytest.mark.parametrize("code", [*STATUSES, 4711])
def test_of_every_status_in_answer_to_the_question_whether_a_write_was_executed(qbwc: Connector, code: int) -> None:
    request_id = qbwc.write()
    qbwc.begin()
    qbwc.close_and_wait()

    for _ in range(4):
        if qbwc.authenticate() == "":
            qbwc.receive(nothing_stored(qbwc.send(hcp(None)), code))
            qbwc.close_and_wait()

    error = qbwc.record(request_id).error
    assert check(error) is ErrorCode.OUTCOME_UNKNOWN
