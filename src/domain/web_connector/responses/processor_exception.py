"""Exceptions of QuickBooks' request processor: `receiveResponseXML` with an hresult in place of a response.

An exception names no request. The first one of a session is about the request that is out. A further one may be a
former one delivered twice: it does not prove that QuickBooks left a write alone (decision 0014).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.qbxml.codes.hresults import PARSE_ERROR, describe_hresult
from domain.requests.record import FIRST_IN_LINE, State
from domain.web_connector.error_reasons import Reason
from domain.web_connector.recovery.lost_response import (
    asked_in_vain,
    interrupted,
    not_parsed,
    tried_in_vain,
    unknown,
)
from domain.web_connector.responses.outcome import Outcome
from domain.web_connector.session.connection_error import reported

if TYPE_CHECKING:
    from datetime import datetime

    from domain.qbxml.codes.hresults import Hresult
    from domain.requests.record import QueuedRequest
    from domain.web_connector.session.record import Session


def is_exception(hresult: str) -> bool:
    """Whether an hresult reports an exception; success is '' and, if ever, zero."""
    try:
        return bool(hresult.strip()) and int(hresult, 16) != 0
    except ValueError:
        return True


def of_exception(  # noqa: PLR0917 - the parameters of the call
    session: Session, record: QueuedRequest, response: str, hresult: str, message: str, now: datetime
) -> Outcome:
    """Return what an exception means for `record`, which is `sent`.

    There is no response then; should there be one all the same, it is kept.
    """
    facts = describe_hresult(hresult)
    words = message.strip() or facts.message
    trouble = f"{hresult}: {words}"
    if facts.code == PARSE_ERROR:
        outcome = _of_parse_error(session, record, words, now)
    elif record.recovering:
        outcome = Outcome(asked_in_vain(record, now, words, _details(hresult, facts)), trouble=trouble)
    elif not record.is_read and (session.met_exception or facts.executed != "no"):
        # In its turn, if it was most likely left alone: what was queued before it may have met the same.
        priority = record.queue_priority if facts.executed == "no" else FIRST_IN_LINE
        outcome = Outcome(record.response_lost(now, priority), trouble=trouble)
    else:
        lost = facts.executed != "no"
        outcome = Outcome(tried_in_vain(record, now, words, _details(hresult, facts), lost=lost), trouble=trouble)
    if outcome.trouble:
        outcome = replace(outcome, reported=reported(hresult.strip(), words, now))
    return replace(outcome, by_exception=True, response_xml=(response or None) if outcome.after.error else None)


def _of_parse_error(session: Session, record: QueuedRequest, words: str, now: datetime) -> Outcome:
    details = _details(PARSE_ERROR, describe_hresult(PARSE_ERROR))
    if record.recovering and session.met_exception:
        return Outcome(asked_in_vain(record, now, words, details))
    if record.recovering:
        # The question was not understood; that says nothing about the request.
        return Outcome(unknown(record, now, words, details))
    if record.paging.page > 1:
        # The rest of the request was good enough for the first page.
        return Outcome(interrupted(record, now, words, details | {"reason": Reason.ITERATOR_EXPIRED.value}))
    if record.is_read or not session.met_exception:
        return Outcome(not_parsed(record, words, now))
    # QuickBooks is not at work on it. The Web Connector fetches the question once the write was answered.
    asked = record.response_lost(now).moved(State.TICKETED, now).as_change_of(record)
    return Outcome(asked, suspicion=words)


def _details(hresult: str, facts: Hresult) -> dict[str, str | None]:
    return {"hresult": hresult, "reason": facts.reason, "hint": facts.hint}
