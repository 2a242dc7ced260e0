"""The error of an idempotency key that was used: how the first request ended, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from domain.queueing.reused_key import key_reused
from domain.records.request import (
    ENDED,
    NEVER_COMPLETE,
    NOT_EXECUTED,
    ErrorCode,
    QueuedRequest,
    Recovery,
    RequestError,
    State,
)
from tests.support.builders import a_record
from tests.support.cases import for_each

ONE = "11111111-1111-4111-8111-111111111111"


def write(state: State, code: ErrorCode | None = None, **fields: Any) -> QueuedRequest:
    error = RequestError(code, "No.", {"retryable": fields.pop("retryable", False)}) if code else None
    return a_record(id=ONE, request_name="InvoiceAddRq", state=state, error=error, **fields)


def message_of(*records: QueuedRequest, number: int = 1) -> str:
    return key_reused([ONE, *(f"{other}" for other in range(number - 1))], records).message


@pytest.mark.parametrize("state", sorted(set(State) - ENDED))
def test_a_request_that_has_not_ended_is_waited_for_or_discarded(state: State) -> None:
    for record in (write(state), a_record(id=ONE, state=state)):
        message = message_of(record)
        assert f"It is {state}." in message
        assert "Wait until it has, or discard it" in message
        assert "written" not in message


@for_each("code", sorted(ErrorCode))
@for_each("retryable", [True, False])
def test_of_a_write_only_a_certain_refusal_wrote_nothing(code: ErrorCode, *, retryable: bool) -> None:
    message = message_of(write(State.ERROR, code, retryable=retryable))

    assert f"It ended as {code}." in message
    if code in NOT_EXECUTED:
        assert "Nothing was written." in message
        assert ("Queue it again" in message) == retryable
    else:
        assert "QuickBooks may have executed it. Look in QuickBooks" in message
        assert "written" not in message


@pytest.mark.parametrize("code", sorted(ErrorCode))
def test_a_query_wrote_nothing_however_it_ended(code: ErrorCode) -> None:
    error = RequestError(code, "No.")
    for record in (a_record(id=ONE, state=State.ERROR, error=error), a_record(id=ONE, state=State.RESPONSE_RECEIVED)):
        assert "Nothing was written." in message_of(record)


@pytest.mark.parametrize("code", [*sorted(NOT_EXECUTED - NEVER_COMPLETE), None])
def test_a_write_whose_response_was_lost_once_may_have_been_executed(code: ErrorCode | None) -> None:
    record = write(State.ERROR if code else State.DISCARDED, code, recovery=Recovery(begun=True))

    assert "QuickBooks may have executed it" in message_of(record)


def test_a_write_that_was_executed_is_not_queued_again_and_a_discarded_one_wrote_nothing() -> None:
    assert "QuickBooks executed it. With a new key" in message_of(write(State.RESPONSE_RECEIVED))
    assert "It ended as discarded. Nothing was written." in message_of(write(State.DISCARDED))


def test_of_a_deleted_request_nothing_is_known() -> None:
    message = message_of()

    assert "It was deleted, so the service cannot say how it ended. Look in QuickBooks" in message
    assert "written" not in message


def test_a_batch_gets_the_advice_of_its_most_uncertain_request() -> None:
    refused, executed = write(State.ERROR, ErrorCode.QUICKBOOKS_ERROR), write(State.RESPONSE_RECEIVED)
    unknown, waiting = write(State.ERROR, ErrorCode.OUTCOME_UNKNOWN), write(State.WAITING)

    assert "Nothing was written." in message_of(refused, refused, number=2)
    assert "QuickBooks executed those with a response" in message_of(refused, executed, number=2)
    assert "Some were deleted" in message_of(executed, refused, number=3)
    assert "may have executed some of them" in message_of(executed, unknown, number=3)
    assert "They have not all ended" in message_of(unknown, waiting, number=3)
    error = key_reused([ONE, "2", "3"], [refused, executed, refused])
    assert "They are quickbooks_error (2), response_received (1)." in error.message
    assert error.details == {"record_id": ONE, "outcomes": {"quickbooks_error": 2, "response_received": 1}}
