"""What becomes of a request that a session holds: when it is handed out, and when its answer comes.

Pure decisions about one record (contract §8, `web_connector_protocol.md` §8); the session stores them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.qbxml.codes.statuses import INVALID_ID, describe_status
from domain.requests.record import State
from domain.web_connector.error_reasons import Reason, hint
from domain.web_connector.recovery.lost_response import (
    MAX_SESSIONS,
    asked_in_vain,
    interrupted,
    not_parsed,
    unknown,
)
from domain.web_connector.recovery.message_sets import NEVER_EXECUTED, NOT_KEPT, OTHER_CONTENT, is_about_another
from domain.web_connector.responses.pages import smaller_page
from domain.web_connector.session.record import Answered

if TYPE_CHECKING:
    from datetime import datetime

    from domain.requests.record import QueuedRequest
    from domain.web_connector.session.record import Session


_RESPONSE_BEGINS = re.compile(r"""<(\w+)Rs\s[^>]*?\brequestID\s*=\s*["']([^"']*)["']""")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a `receiveResponseXML` means for the record in flight.

    `response_xml` is the text to keep, `answered` what tells it when it comes again. `iterator_id` is there
    when the iteration goes on with another page. `trouble` says, for a person, what kept QuickBooks
    from answering at all, `reported` says it for the connection (its `last_error`), and `by_exception`
    tells that it reported an exception. `suspicion` is what a parse error said that may be a former one
    delivered twice: QuickBooks is asked before it is believed.
    A record that is `ticketed` is held on by the session, which hands it out next.
    """

    after: QueuedRequest
    response_xml: str | None = None
    iterator_id: str | None = None
    trouble: str | None = None
    reported: dict[str, Any] | None = None
    answered: Answered | None = None
    by_exception: bool = False
    suspicion: str | None = None


def may_be_forgotten(after: QueuedRequest) -> bool:
    """Whether QuickBooks has no more to keep of a write: its answer is stored here.

    One that went out more than once is kept for good: should a copy still be on its way, QuickBooks
    must know it.
    """
    answered = after.state is State.RESPONSE_RECEIVED or (
        after.error is not None and after.error.code == "quickbooks_error"
    )
    return answered and not after.is_read and after.sessions == 1


# --- an answer came


def of_answer(  # noqa: PLR0911 - one return for each thing that an answer can be
    session: Session, record: QueuedRequest, text: str, now: datetime
) -> Outcome | None:
    """Return what QuickBooks' answer `text` means for `record`, which is `sent`.

    None when it is an answer to the request before, once more: it says nothing about this one. That is told
    by the message set, by name and label where they are not this one's, and by the iterator.
    """
    if is_about_another(record, text):
        return None
    try:
        response = qbxml.parse_response(text)
    except qbxml.UnreadableResponse as error:
        return _not_understood(record, text, f"QuickBooks' answer cannot be read. {error}", now)
    if not response.statuses:
        return _of_message_set(session, record, text, response.message_set_status, now)
    former = session.last_answered
    for status in response.statuses:
        if former and _is_repeated(record, status, former):
            return None
        if not _answers(record.request_name, record.request_label, status):
            what = f"{status.name} with requestID {status.request_id!r}"
            return _not_understood(record, text, f"QuickBooks answered another request: {what}.", now)
    refused = next((status for status in response.statuses if status.is_error), None)
    if refused:
        return Outcome(_refused(record, refused, now), text)
    status = response.statuses[0]
    goes_on = bool(status.iterator_remaining and status.iterator_id)
    return Outcome(
        record.moved(State.RESPONSE_RECEIVED, now),
        text,
        iterator_id=status.iterator_id if goes_on else None,
        answered=Answered(record.request_name, record.request_label, status.iterator_id, status.iterator_remaining),
    )


def _refused(record: QueuedRequest, status: qbxml.ResponseStatus, now: datetime) -> QueuedRequest:
    if record.paging.page > 1 and status.code == INVALID_ID:
        # The rest of the request was good enough for the first page.
        details = _because(Reason.ITERATOR_EXPIRED, status_code=status.code, status_severity=status.severity)
        return interrupted(record, now, f"QuickBooks: {status.message}", details)
    facts = describe_status(status.code, status.message)
    details = {
        "status_code": status.code,
        "status_severity": status.severity,
        "request_id": status.request_id,
        "reason": facts.reason,
        "retryable": facts.retryable,
        "hint": facts.hint,
    }
    return record.failed(now, "quickbooks_error", status.message or facts.message or "", details)


def _answers(request_name: str, request_label: str, status: qbxml.ResponseStatus) -> bool:
    """Whether this can be the response to a request. White space in a label is whatever XML makes of an attribute."""
    return _is_named(request_name, request_label, status.name, status.request_id)


def _is_named(request_name: str, request_label: str, name: str, label: str | None) -> bool:
    if name.removesuffix("Rs") != request_name.removesuffix("Rq"):
        return False
    return label is None or label.split() == request_label.split()


def _is_repeated(record: QueuedRequest, status: qbxml.ResponseStatus, former: Answered) -> bool:
    """Whether this is the response to the request before, once more.

    The Web Connector names only the session, so that a response that was delayed or delivered twice can arrive while
    the next request is out. Pages of a query have one name and label; in their iterator less remains with each.
    """
    if not _answers(former.request_name, former.request_label, status):
        return False
    if not _answers(record.request_name, record.request_label, status):
        return True
    if status.iterator_id is None or status.iterator_id != former.iterator_id:
        return False
    return (status.iterator_remaining or 0) >= (former.remaining or 0)


def _of_message_set(
    session: Session, record: QueuedRequest, text: str, code: int | None, now: datetime
) -> Outcome | None:
    """Return what an answer without a response means: it has a status of the message set, or nothing to say."""
    if not code:
        return _not_understood(record, text, "QuickBooks' answer holds no response.", now)
    if not record.recovering:
        return _of_message_set_status(record, text, code, now)
    if session.suspicion is not None and code in NEVER_EXECUTED:
        return Outcome(not_parsed(record, session.suspicion, now))
    return _of_status_check(record, text, code, now, session.company_file_mark)


def _of_status_check(record: QueuedRequest, text: str, code: int, now: datetime, file_mark: str | None) -> Outcome:
    """QuickBooks has no answer to give for a write: it never executed it, or cannot tell.

    Of a write that was executed in one company file, every other says truthfully that it was not.
    """
    if code not in NEVER_EXECUTED:
        message = f"QuickBooks cannot tell what became of this: status {code}."
        return Outcome(unknown(record, now, message, _status(code)), text)
    if file_mark is None or file_mark != record.recovery.company_file_mark:
        words = "The company file that is open is not known to be the one that it was sent to."
        return Outcome(asked_in_vain(record, now, words, _because(Reason.OTHER_FILE, status_code=code)))
    if record.sessions >= MAX_SESSIONS:
        # Nothing kept is also said of what was kept badly: once more, and somebody has to look.
        message = (
            f"Given up after {record.sessions} sessions. No answer came, and QuickBooks keeps none: status {code}."
        )
        details = {"status_code": code, "reason": describe_status(code).reason, "sessions": record.sessions}
        return Outcome(unknown(record, now, message, details), text)
    # QuickBooks' word holds for this session only.
    sent_again = replace(record.recovery, active=False)
    return Outcome(record.requeued(now).moved(State.TICKETED, now, recovery=sent_again).as_change_of(record))


def _of_message_set_status(record: QueuedRequest, text: str, code: int, now: datetime) -> Outcome | None:
    """QuickBooks refused the message set as a whole (error recovery, `qbxml.md` §4)."""
    if code in NEVER_EXECUTED:
        # Said only of what is asked for: the answer to a question before, once more.
        return None
    if code == OTHER_CONTENT and record.recovery.response_lost:
        # A former copy was executed, and this one was not: what it was answered is still to be had.
        return Outcome(record.response_lost(now))
    if code == NOT_KEPT:
        message = f"QuickBooks could not keep its answer: status {code}."
        return Outcome(record.failed(now, "outcome_unknown", message, _status(code)), text)
    message = f"QuickBooks refused the message set with status {code}."
    details = _status(code) | {"status_severity": "Error", "retryable": describe_status(code).retryable}
    return Outcome(record.failed(now, "quickbooks_error", message, details), text)


def _not_understood(record: QueuedRequest, text: str, reason: str, now: datetime) -> Outcome:
    """End a request whose answer is no answer to it, and keep the text: QuickBooks may have done it.

    A read is not sent again: QuickBooks was reached and answered, and would answer the same.
    """
    return Outcome(record.failed(now, "outcome_unknown", reason, _because(Reason.ANSWER_NOT_UNDERSTOOD)), text)


def of_oversized(record: QueuedRequest, beginning: str, limit_bytes: int, now: datetime) -> Outcome | None:
    """Return what an answer that is too large to be taken means for `record`, which is `sent`.

    `beginning` is its first part. None when that says that it is the answer to another request.
    """
    if is_about_another(record, beginning):
        return None
    named = _RESPONSE_BEGINS.search(beginning)
    if named and not _is_named(record.request_name, record.request_label, named[1], named[2]):
        return None
    details = _because(Reason.RESPONSE_TOO_LARGE, limit_bytes=limit_bytes)
    words = f"QuickBooks' answer has over {limit_bytes:,} bytes."
    if not record.is_read:
        return Outcome(unknown(record, now, f"{words} It cannot be taken.", details))
    smaller = smaller_page(record)
    if smaller is None:
        return Outcome(record.failed(now, "response_too_large", words, details))
    # At once, in the same session, which counts once.
    again = record.requeued(now, page_size=smaller).moved(State.TICKETED, now, sessions=record.sessions - 1)
    return Outcome(again.as_change_of(record))


def unsendable(record: QueuedRequest, reason: str, now: datetime) -> QueuedRequest:
    """Return the record of a request that this version of the service can no longer write for QuickBooks."""
    message = f"The request was not sent: {reason}"
    return record.failed(now, "qbxml_parse_error", message, _because(Reason.REQUEST_NOT_WRITABLE))


def _because(reason: Reason, **known: Any) -> dict[str, Any]:
    return {"reason": reason.value, **known, "hint": hint(reason)}


def _status(code: int) -> dict[str, Any]:
    facts = describe_status(code)
    return {"status_code": code, "reason": facts.reason, "hint": facts.hint}
