"""What becomes of a request that a session holds: after an answer, without one, at the session's end.

Pure decisions about one record (contract §8, `web_connector_protocol.md` §8); the session stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.qbxml.hresults import PARSE_ERROR, describe
from domain.qbxml.status_hints import hint_for_status
from domain.queued_request import FIRST_IN_LINE, RequestError, State
from domain.session import Answered
from domain.web_connector.message_sets import NEVER_EXECUTED, NOT_KEPT, OTHER_CONTENT, is_about_another

if TYPE_CHECKING:
    from datetime import datetime

    from domain.queued_request import QueuedRequest

MOST_SESSIONS = 3
"""How many sessions may hand a read out before it is given up: the Web Connector comes every few minutes, and
what has failed three times needs a person."""

MOST_RECOVERIES = 3
"""How many sessions may ask for the answer of a write. Asking does no harm, but its owner waits for a word."""

SESSION_ENDED = "The Web Connector session ended before QuickBooks' answer came."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a `receiveResponseXML` means for the record in flight.

    `response_xml` is the text to keep, `answered` what tells it when it comes again. `iterator_id` is there
    when the iteration goes on with another page. `trouble` says, for a person, what kept QuickBooks
    from answering at all. A record that is `ticketed` is held on by the session, which hands it out next.
    """

    after: QueuedRequest
    response_xml: str | None = None
    iterator_id: str | None = None
    trouble: str | None = None
    answered: Answered | None = None


def handed_out(record: QueuedRequest, now: datetime, file_mark: str | None) -> QueuedRequest:
    """Return the record once its request, or the question for its answer, is on its way.

    `file_mark` is the mark of the company file that it goes to.
    """
    if record.recovering:
        return record.moved(State.SENT, now, recoveries=record.recoveries + 1)
    facts = {} if record.is_read else {"sent_to_file": file_mark}
    return record.moved(State.SENT, now, sessions=record.sessions + 1, **facts)


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
    record: QueuedRequest, text: str, now: datetime, *, former: Answered | None = None, file_mark: str | None = None
) -> Outcome | None:
    """Return what QuickBooks' answer `text` means for `record`, which is `sent`.

    None when it is an answer to the request before, once more: it says nothing about this one. That is told
    by the message set, by name and label where they are not this one's, and by the iterator.
    `file_mark` is the mark of the company file that is open.
    """
    if is_about_another(record, text):
        return None
    try:
        response = qbxml.parse_response(text)
    except qbxml.UnreadableResponse as error:
        return _not_understood(record, text, f"QuickBooks' answer cannot be read. {error}", now)
    if not response.statuses:
        if response.message_set_status:
            if record.recovering:
                return _of_status_check(record, text, response.message_set_status, now, file_mark)
            return _of_message_set_status(record, text, response.message_set_status, now)
        return _not_understood(record, text, "QuickBooks' answer holds no response.", now)
    for status in response.statuses:
        if former and _is_repeated(record, status, former):
            return None
        if not _answers(record.request_name, record.request_label, status):
            what = f"{status.name} with requestID {status.request_id!r}"
            return _not_understood(record, text, f"QuickBooks answered another request: {what}.", now)
    failed = next((status for status in response.statuses if status.is_error), None)
    if failed:
        details = _details(
            status_code=failed.code,
            status_severity=failed.severity,
            request_id=failed.request_id,
            hint=hint_for_status(failed.code),
        )
        return Outcome(_failed(record, now, "quickbooks_error", failed.message, details), text)
    status = response.statuses[0]
    goes_on = bool(status.iterator_remaining and status.iterator_id)
    return Outcome(
        record.moved(State.RESPONSE_RECEIVED, now),
        text,
        iterator_id=status.iterator_id if goes_on else None,
        answered=Answered(record.request_name, record.request_label, status.iterator_id, status.iterator_remaining),
    )


def _answers(request_name: str, request_label: str, status: qbxml.ResponseStatus) -> bool:
    """Whether this can be the response to a request. White space in a label is whatever XML makes of an attribute."""
    if status.name.removesuffix("Rs") != request_name.removesuffix("Rq"):
        return False
    return status.request_id is None or status.request_id.split() == request_label.split()


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


def _of_status_check(record: QueuedRequest, text: str, code: int, now: datetime, file_mark: str | None) -> Outcome:
    """QuickBooks has no answer to give for a write: it never executed it, or cannot tell.

    Of a write that was executed in one company file, every other says truthfully that it was not.
    """
    if code not in NEVER_EXECUTED:
        return _not_understood(record, text, f"QuickBooks cannot tell what became of this: status {code}.", now)
    if file_mark is None or file_mark != record.sent_to_file:
        words = "The company file that is open is not known to be the one that it was sent to."
        return Outcome(_asked_in_vain(record, now, words, _details(status_code=code)))
    after = _tried_in_vain(record, now, "QuickBooks never executed it.", _details(status_code=code))
    if after.error:
        return Outcome(after, text)
    # Given back and claimed are two steps and one stored change. QuickBooks' word holds for this session only.
    return Outcome(replace(after.moved(State.TICKETED, now, recovering=False), revision=after.revision))


def _of_message_set_status(record: QueuedRequest, text: str, code: int, now: datetime) -> Outcome | None:
    """QuickBooks refused the message set as a whole (error recovery, `qbxml.md` §4)."""
    if code in NEVER_EXECUTED:
        # Said only of what is asked for: the answer to a question before, once more.
        return None
    if code == OTHER_CONTENT and record.unheard:
        # A former copy was executed, and this one was not: what it was answered is still to be had.
        return Outcome(_lost_write(record, now))
    if code == NOT_KEPT:
        return _not_understood(record, text, f"QuickBooks could not keep its answer: status {code}.", now)
    message = f"QuickBooks refused the message set with status {code}."
    details = _details(status_code=code, status_severity="Error", hint=hint_for_status(code))
    return Outcome(_failed(record, now, "quickbooks_error", message, details), text)


def _not_understood(record: QueuedRequest, text: str, reason: str, now: datetime) -> Outcome:
    """End a request whose answer is no answer to it, and keep the text: QuickBooks may have done it.

    A read is not sent again: QuickBooks was reached and answered, and would answer the same.
    """
    details = _details(
        hint="Look at the kept response and into the company file before you queue the request again.",
    )
    return Outcome(_failed(record, now, "outcome_unknown", reason, details), text)


def is_exception(hresult: str) -> bool:
    """Whether an hresult reports an exception; success is '' and, if ever, zero."""
    try:
        return bool(hresult.strip()) and int(hresult, 16) != 0
    except ValueError:
        return True


def of_exception(record: QueuedRequest, response: str, hresult: str, message: str, now: datetime) -> Outcome:
    """Return what an exception of QuickBooks' request processor means for `record`, which is `sent`.

    There is no response then; should there be one all the same, it is kept.
    """
    facts = describe(hresult)
    words = message.strip() or facts.message
    trouble = f"{hresult}: {words}"
    kept = response or None
    details = _details(hresult=hresult, hint=facts.hint)
    if record.recovering and facts.code == PARSE_ERROR:
        # The question was not understood; that says nothing about the request.
        return Outcome(_unknown(record, now, words, details), kept)
    if record.recovering:
        return Outcome(_asked_in_vain(record, now, words, details), trouble=trouble)
    if facts.code == PARSE_ERROR:
        return Outcome(_failed(record, now, "qbxml_parse_error", words, details), kept)
    if record.is_read or facts.executed == "no":
        return Outcome(_tried_in_vain(record, now, words, details), kept, trouble=trouble)
    return Outcome(_lost_write(record, now), trouble=trouble)


# --- no answer came


def settled(record: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return what becomes of the record that a session holds when the session is over."""
    if record.state is State.TICKETED and record.page == 1:
        return record.moved(State.RETRYABLE if record.sessions else State.WAITING, now, recovering=record.unheard)
    if record.is_read:
        return _tried_in_vain(record, now, SESSION_ENDED, {})
    if record.recovering:
        return _asked_in_vain(record, now, SESSION_ENDED, {})
    return _lost_write(record, now)


def _lost_write(record: QueuedRequest, now: datetime) -> QueuedRequest:
    """Keep a write whose answer was lost: a later session asks QuickBooks for the answer that it kept.

    Not this session: QuickBooks may still be at work on it, and would know nothing yet.
    """
    return record.moved(State.RETRYABLE, now, unheard=True, recovering=True, recoveries=0, queue_priority=FIRST_IN_LINE)


def _asked_in_vain(record: QueuedRequest, now: datetime, words: str, details: dict[str, Any]) -> QueuedRequest:
    """Return a write that is asked for again in a later session, or was asked for often enough."""
    if record.recoveries < MOST_RECOVERIES:
        return record.moved(State.RETRYABLE, now)
    message = f"{record.recoveries} sessions asked QuickBooks for its answer in vain. {words}"
    return _unknown(record, now, message, details)


def _tried_in_vain(record: QueuedRequest, now: datetime, words: str, details: dict[str, Any]) -> QueuedRequest:
    """Return a record that may be sent again in a later session, or that was tried often enough.

    A page after the first is never sent again: its iterator ends with the session (`qbxml.md` §5).
    """
    if record.page > 1:
        hint = "The pages before this one are complete. Queue the query again to get them all."
        message = f"Page {record.page} of this query did not come. {words}"
        return _failed(record, now, "iteration_interrupted", message, {**details, "hint": hint})
    if record.sessions < MOST_SESSIONS:
        return record.moved(State.RETRYABLE, now, recovering=record.unheard)
    message = f"Given up after {record.sessions} sessions. {words}"
    return _failed(record, now, "quickbooks_connection_error", message, {**details, "sessions": record.sessions})


def _unknown(record: QueuedRequest, now: datetime, message: str, details: dict[str, Any]) -> QueuedRequest:
    hint = "QuickBooks may have done it. Look into the company file before you queue the request again."
    if "hint" in details:
        hint = f"{details['hint']} {hint}"
    return _failed(record, now, "outcome_unknown", message, {**details, "hint": hint})


def unsendable(record: QueuedRequest, reason: str, now: datetime) -> QueuedRequest:
    """Return the record of a request that this version of the service can no longer write for QuickBooks."""
    message = f"The request was not sent: {reason}"
    return _failed(record, now, "qbxml_parse_error", message, _details(hint="Correct the request and queue it again."))


def _failed(record: QueuedRequest, now: datetime, code: str, message: str, details: dict[str, Any]) -> QueuedRequest:
    return record.moved(State.ERROR, now, error=RequestError(code, message, details))


def _details(**known: Any) -> dict[str, Any]:
    return {name: value for name, value in known.items() if value is not None}
