"""Processor exceptions: `receiveResponseXML` with an HRESULT in place of a response.

An exception names no request. The first one of a session is about the request in flight. A later one may be a
duplicate of it, so it does not prove that QuickBooks left a write alone (docs/decisions/0014).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.qbxml.codes.hresults import PARSE_ERROR, describe_hresult
from domain.requests.record import FIRST_IN_LINE, State, shortened, timestamp
from domain.web_connector.error_reasons import Reason
from domain.web_connector.recovery.lost_response import (
    invalid_request,
    iteration_interrupted,
    outcome_unknown,
    recover_later,
    retry_later,
)
from domain.web_connector.responses.outcome import Failed, NotExecuted, SendAgain, without_response
from domain.web_connector.session.connection_error import MAX_HRESULT_CHARACTERS, connection_error

if TYPE_CHECKING:
    from datetime import datetime

    from domain.qbxml.codes.hresults import Hresult
    from domain.requests.record import QueuedRequest
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.responses.outcome import Outcome
    from domain.web_connector.session.record import Session


MAX_UNCOUNTED = timedelta(days=7)
"""During this time after a request was queued, attempts while QuickBooks is unavailable do not count. Later they do, so
that no request waits for ever."""


def is_exception(hresult: str) -> bool:
    """Whether an HRESULT reports an exception; success is '' or zero."""
    try:
        return bool(hresult.strip()) and int(hresult, 16) != 0
    except ValueError:
        return True


def of_exception(session: Session, record: QueuedRequest, call: Call, now: datetime) -> Outcome:
    """Return what an exception means for `record`, which is `sent`.

    There is no response with an exception; if one arrives all the same, it is stored with the error.
    """
    hresult = shortened(call["hresult"], MAX_HRESULT_CHARACTERS)
    facts = describe_hresult(call["hresult"])
    message = shortened(call["message"].strip() or facts.message)
    details, certain = _details(hresult, facts), facts.executed == "no"
    believed = certain and not session.exception_reported
    if facts.kind == "invalid_request" and (
        believed or record.is_read or record.recovering or facts.code == PARSE_ERROR
    ):
        return _of_invalid_request(session, record, message, facts, call["response"] or None, now)
    if record.recovering:
        after = recover_later(record, now, message, details)
    elif certain and _is_recent(record, now) and facts.kind == "unavailable" and (record.is_read or believed):
        # Every request would fail now, so the attempt does not count.
        after = record.requeued(now, counts=False)
    elif record.is_read or believed:
        after = retry_later(record, now, message, details, lost=not certain)
    else:
        # If it was most likely not executed it keeps its turn: requests before it may have met the same.
        after = record.response_lost(now, record.queue_priority if certain else FIRST_IN_LINE)
    return NotExecuted(
        after,
        (call["response"] or None) if after.error else None,
        message=f"{hresult}: {message}",
        connection_error=connection_error(hresult, message, now),
    )


def _of_invalid_request(  # noqa: PLR0917 - facts of one call
    session: Session, record: QueuedRequest, message: str, facts: Hresult, response: str | None, now: datetime
) -> Outcome:
    """QuickBooks can never execute what was sent."""
    details = _details(facts.code, facts)
    if record.recovering and session.exception_reported:
        outcome = without_response(recover_later(record, now, message, details))
    elif record.recovering:
        # QuickBooks did not understand the question. That says nothing about the request.
        outcome = Failed(outcome_unknown(record, now, message, details))
    elif record.paging.page > 1:
        # QuickBooks accepted the rest of the request for the first page, so the iterator must have expired.
        expired = details | {"reason": Reason.ITERATOR_EXPIRED.value}
        outcome = Failed(iteration_interrupted(record, now, message, expired))
    elif record.is_read or not session.exception_reported:
        outcome = Failed(invalid_request(record, message, facts.code, now))
    else:
        # QuickBooks is idle now: the Web Connector fetches the question only after the write returned.
        return SendAgain(record.response_lost(now).moved(State.TICKETED, now).as_change_of(record), None, message)
    return Failed(outcome.after, response) if outcome.after.error else outcome


def _is_recent(record: QueuedRequest, now: datetime) -> bool:
    return record.paging.page == 1 and record.inserted_at > timestamp(now - MAX_UNCOUNTED)


def _details(hresult: str, facts: Hresult) -> dict[str, str | None]:
    return {"hresult": hresult, "reason": facts.reason, "hint": facts.hint}
