"""Processor exceptions: `receiveResponseXML` with an HRESULT in place of a response.

An exception does not name a request. The first one of a session is about the request in flight. A later one
may be a duplicate of it, so it does not prove that QuickBooks did not execute a write (docs/decisions/0014).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import shortened
from domain.qbxml.codes.hresults import PARSE_ERROR, describe_hresult
from domain.records.request import FIRST_IN_LINE, IN_TURN, MAX_MESSAGE_CHARACTERS, State
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import (
    MAX_HRESULT_CHARACTERS,
    Reason,
    connection_error,
    hresult_details,
)
from domain.web_connector.outcomes.lost_response import (
    iteration_interrupted,
    outcome_unknown,
    recover_later,
    retry_later,
)
from domain.web_connector.outcomes.outcome import NotExecuted, SentAgain, ended_or_requeued

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.web_connector.outcomes.outcome import Ended, Requeued
    from domain.web_connector.protocol.soap import Call

MAX_UNCOUNTED = timedelta(days=7)
"""While every request fails, attempts do not count for this time after a request was queued. Later attempts count,
because otherwise a request could wait for ever."""


def is_exception(hresult: str) -> bool:
    """Whether an HRESULT reports an exception. '' and zero report success."""
    try:
        return bool(hresult.strip()) and int(hresult, 16) != 0
    except ValueError:
        return True


def of_exception(
    session: Session, record: QueuedRequest, call: Call, now: datetime
) -> Ended | Requeued | SentAgain | NotExecuted:
    """Return the outcome of an exception for `record`, which is `sent`.

    An exception normally comes without a response. If there is one, it is stored with the error.
    """
    hresult = shortened(call["hresult"].strip(), MAX_HRESULT_CHARACTERS)
    meaning = describe_hresult(call["hresult"])
    message = shortened(call["message"].strip() or meaning.message, MAX_MESSAGE_CHARACTERS)
    response, certain = call["response"] or None, meaning.executed == "no"
    believed = certain and not session.exception_reported
    if meaning.kind == "invalid_request" and (
        believed or record.is_read or record.recovering or meaning.code == PARSE_ERROR
    ):
        return _of_invalid_request(session, record, meaning.code, message, response, now)
    details = hresult_details(hresult)
    others_failed = session.failures > 0 or session.backoff is not None
    others_would_fail = certain and meaning.kind == "unavailable" and not record.recovering
    resendable = record.is_read or record.recovering or believed
    if (others_failed or others_would_fail) and resendable and _is_recent(record, now):
        after = record.requeued(now, counts=False)
    elif record.recovering:
        after = recover_later(record, now, message, details)
    elif record.is_read or believed:
        after = retry_later(record, now, message, details, ask_for_less=not certain)
    else:
        # If QuickBooks most likely did not execute it, it keeps its place in the queue, because the same exception
        # may have affected the requests before it.
        priority = min(record.queue_priority, IN_TURN) if certain else FIRST_IN_LINE
        after = record.queued_for_recovery(now, priority, running_until=session.limits.running_until(record))
    if meaning.kind != "unavailable":
        # QuickBooks did not say that every request would fail, so the cause may be this one.
        after = after.after_failed_session()
    error = connection_error(hresult, message, now)
    returns = not (record.is_read or record.recovering or meaning.may_continue)
    return NotExecuted(after, response if after.error else None, connection_error=error, returns=returns)


def _of_invalid_request(  # noqa: PLR0917 - the parts of one call
    session: Session, record: QueuedRequest, hresult: str, message: str, response: str | None, now: datetime
) -> Ended | Requeued | SentAgain:
    """Return the outcome if QuickBooks can never execute the QBXML that was sent."""
    details = hresult_details(hresult)
    if record.recovering and session.exception_reported:
        after = recover_later(record, now, message, details)
    elif record.recovering:
        # QuickBooks did not understand the status check. This tells nothing about the request.
        after = outcome_unknown(record, now, message, details)
    elif record.paging.page > 1:
        # QuickBooks accepted the rest of the request for the first page, so the iterator must have expired.
        after = iteration_interrupted(record, now, message, details | {"reason": Reason.ITERATOR_EXPIRED.value})
    elif record.is_read or not session.exception_reported:
        after = record.failed(now, "qbxml_parse_error", message, details)
    else:
        # In this session, QuickBooks is idle when it gets the status check, because the Web Connector fetches it only
        # after the write returned.
        lost = record.queued_for_recovery(now, running_until=session.limits.running_until(record))
        return SentAgain(lost.moved(State.TICKETED, now).as_change_of(record), parse_error=message)
    return ended_or_requeued(after, response)


def _is_recent(record: QueuedRequest, now: datetime) -> bool:
    return record.paging.page == 1 and record.inserted_at > timestamp(now - MAX_UNCOUNTED)
