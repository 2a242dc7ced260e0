"""Outcomes: how a request in flight continues after a `receiveResponseXML`.

The functions decide about one record and have no side effects. They return None if the call is about another request
(`attribution`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree.ElementTree import Element

from domain import qbxml
from domain.qbxml.codes.hresults import PARSE_ERROR
from domain.qbxml.codes.statuses import INVALID_ID, describe_status
from domain.records.request import MAX_FACT_CHARACTERS, QUEUED, ErrorCode, State
from domain.records.search_text import MAX_TEXT_BYTES
from domain.storage.changes import ChangeRequest
from domain.web_connector.outcomes.attribution import is_about, names_request, response_about
from domain.web_connector.outcomes.error_reasons import Reason, hresult_details, reason_details
from domain.web_connector.outcomes.lost_response import (
    MAX_SESSIONS,
    RESPONSE_LIMIT,
    asked_too_early,
    iteration_interrupted,
    iteration_stopped,
    outcome_unknown,
    recover_later,
    too_large,
)
from domain.web_connector.outcomes.message_sets import NEVER_EXECUTED, NOT_STORED, OTHER_CONTENT
from domain.web_connector.outcomes.pages import MAX_PAGES, smaller_page
from domain.web_connector.protocol.soap import MAX_BODY_BYTES

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import HeldRequest, LastResponse, Session
    from domain.storage.changes import AddRequest


@dataclass(frozen=True, slots=True)
class RequestUpdate:
    """A change of the request in flight: the record after it, and the response to store with it."""

    after: QueuedRequest
    response_xml: str | None = None

    def change(self, held: HeldRequest) -> ChangeRequest:
        """Return the change of the request in flight."""
        after = replace(self.after, responded_at=self.after.updated_at) if self.response_xml else self.after
        return ChangeRequest(held.record, after, self.response_xml, self._search_text(held))

    def _search_text(self, held: HeldRequest) -> str | None:
        """Return the search text to store, or None to keep the stored text.

        The text of the request comes last, so a long request does not displace the response. A request that was sent
        and has no response gets its own text again, because a response may have been stored without its transaction
        (docs/decisions/0065).
        """
        error = self.after.error
        may_differ = error is not None or self.response_xml is not None or held.record.state is State.SENT
        if not may_differ or not (request_text := held.search_text):
            return None
        lines = [error.code, error.message] if error else []
        if self.response_xml is not None:
            no_request = qbxml.Request(self.after.qbxml_version, "", Element(self.after.request_name))
            # The response must be stored even if an error of the service prevents a search in it.
            with suppress(Exception):
                lines += qbxml.search_text(no_request, self.response_xml).split("\n")
        lines = [line.casefold() for line in lines] + request_text.split("\n")
        return "\n".join(dict.fromkeys(lines))[:MAX_TEXT_BYTES]


@dataclass(frozen=True, slots=True)
class Ended(RequestUpdate):
    """QuickBooks executed the request, or it ended in an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReceived(RequestUpdate):
    """QuickBooks returned a page of an iterated query. The query has a next page if objects remain.

    `next_page` is the record to add for it.
    """

    iterator_id: str
    iterator_remaining: int
    next_page: AddRequest | None = None

    @property
    def has_next_page(self) -> bool:
        """Whether QuickBooks has more objects."""
        return bool(self.iterator_id and self.iterator_remaining)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeued(RequestUpdate):
    """The request is queued for a later session.

    `held` is the reason, for the user, if nothing else may be sent before it. The session then ends.
    """

    held: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentAgain(RequestUpdate):
    """The session keeps the request. In the next call it sends the request again or asks for its response.

    `InFlight` explains `parse_error`.
    """

    parse_error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotExecuted(RequestUpdate):
    """QuickBooks was unable to work. `connection_error` becomes the `last_error` of the connection.

    `returns` means that the session's `closeConnection` will prove that QuickBooks has finished a write.
    """

    connection_error: dict[str, Any]
    returns: bool = False


@dataclass(frozen=True, slots=True)
class NotFalling:
    """A response to a later page whose `remaining` count did not fall.

    It is a duplicate of an earlier page if another response follows. Otherwise the iterator does not come to an end.
    """

    remaining: int


Outcome: TypeAlias = Ended | PageReceived | Requeued | SentAgain | NotExecuted

STILL_RUNNING = "QuickBooks may be executing {} {} until {}. The next update asks for its response again."


def ended_or_requeued(after: QueuedRequest, response_xml: str | None = None) -> Ended | Requeued:
    """Return the outcome of a record that is queued again or has ended. Only an ended one stores the response."""
    return Requeued(after) if after.state in QUEUED else Ended(after, response_xml)


def has_response(after: QueuedRequest) -> bool:
    """Whether a request has ended with the response of QuickBooks to it: it was executed, or QuickBooks refused it."""
    refused = after.error is not None and after.error.code == ErrorCode.QUICKBOOKS_ERROR
    return after.state is State.RESPONSE_RECEIVED or refused


def can_be_forgotten(after: QueuedRequest) -> bool:
    """Whether QuickBooks can delete its copy of the response to a write, because the response is stored here.

    If the write was sent more than once, QuickBooks may still receive a copy of it and must recognise it.
    """
    return has_response(after) and not after.is_read and after.sessions == 1


def of_response(session: Session, record: QueuedRequest, text: str, now: datetime) -> Outcome | NotFalling | None:
    """Return the outcome of the response `text` for `record`, which is `sent` alone."""
    response = response_about([record], text)
    if response is None:
        return None
    if isinstance(response, qbxml.UnreadableResponse):
        return not_understood(record, text, f"QuickBooks' response cannot be read. {response}", now)
    return of_own_response(session, record, text, response, now)


def of_own_response(
    session: Session, record: QueuedRequest, text: str, response: qbxml.Response, now: datetime
) -> Outcome | NotFalling | None:
    """Return the outcome of a response that is about `record`."""
    if not response.statuses:
        return of_message_set(session, record, text, response.message_set_status, now)
    for status in response.statuses:
        if _is_page_of_last_query(record, status, session.last_response):
            return None
        if not names_request(qbxml.ResponseName(status.name, status.request_label), record, record.request_label):
            other = f"{status.name} with requestID {status.request_label!r}"
            return not_understood(record, text, f"QuickBooks returned the response to another request: {other}.", now)
    refusal = next((status for status in response.statuses if status.is_error), None)
    if refusal:
        return Ended(_refused(record, refusal, now), text)
    status = response.statuses[0]
    if status.iterator_id is None:
        return Ended(record.moved(State.RESPONSE_RECEIVED, now), text)
    return _of_page(record, text, status.iterator_id, status.iterator_remaining or 0, session.last_response, now)


def _of_page(  # noqa: PLR0917 - the parts of one response
    record: QueuedRequest, text: str, iterator_id: str, remaining: int, last: LastResponse | None, now: datetime
) -> Outcome | NotFalling:
    """Return the outcome of a page. QuickBooks decides how many pages follow, so each must bring the end closer."""
    if remaining < 0 or len(iterator_id) > MAX_FACT_CHARACTERS:
        message = "iteratorRemainingCount is negative." if remaining < 0 else "The iteratorID is too long."
        return Ended(iteration_stopped(record, now, message, Reason.ITERATOR_INVALID, remaining), text)
    if record.paging.page > 1 and last and remaining >= (last.iterator_remaining or 0):
        return NotFalling(remaining)
    if remaining and record.paging.page >= MAX_PAGES:
        message = f"It has more than {MAX_PAGES:,} pages: {remaining:,} objects remain."
        return Ended(iteration_stopped(record, now, message, Reason.TOO_MANY_PAGES, remaining), text)
    after = record.moved(State.RESPONSE_RECEIVED, now)
    return PageReceived(after, text, iterator_id=iterator_id, iterator_remaining=remaining)


def _refused(record: QueuedRequest, status: qbxml.ResponseStatus, now: datetime) -> QueuedRequest:
    if record.paging.page > 1 and status.code == INVALID_ID:
        # QuickBooks accepted the rest of the request for the first page.
        details = reason_details(Reason.ITERATOR_EXPIRED, status_code=status.code, status_severity=status.severity)
        return iteration_interrupted(record, now, f"QuickBooks: {status.message}", details)
    meaning = describe_status(status.code, status.message)
    details = {
        "status_code": status.code,
        "status_severity": status.severity,
        "request_id": status.request_label,
        "reason": meaning.reason,
        "retryable": meaning.retryable,
        "hint": meaning.hint,
    }
    return record.failed(now, ErrorCode.QUICKBOOKS_ERROR, status.message or meaning.message or "", details)


def _is_page_of_last_query(record: QueuedRequest, status: qbxml.ResponseStatus, last: LastResponse | None) -> bool:
    """Whether this is a copy of a page of the query before, while the first page of a query is in flight.

    All pages of a query have the same element and label, and users repeat labels. A first page has a new iterator.
    `_of_page` compares later pages by the number of remaining objects, which falls with each page.
    """
    return bool(record.paging.page == 1 and status.iterator_id and last and status.iterator_id == last.iterator_id)


def of_message_set(
    session: Session, record: QueuedRequest, text: str | None, code: int | None, now: datetime
) -> Outcome | None:
    """Return the outcome of a document without a response. It has at most a status of the message set.

    `text` is the response to store, or None if it is stored with another request of the set.
    """
    if not code:
        return not_understood(record, text, "QuickBooks returned no response.", now)
    if not record.recovering:
        return _of_refused_message_set(record, text, code, now)
    parse_error = session.in_flight.parse_error if session.in_flight else None
    if code in NEVER_EXECUTED and parse_error is not None and record.message_set is None:
        return Ended(record.failed(now, ErrorCode.QBXML_PARSE_ERROR, parse_error, hresult_details(PARSE_ERROR)))
    may_be_running = parse_error is None and asked_too_early(record)
    outcome = _of_status_check(record, text, code, now, session.company_file.key, may_be_running=may_be_running)
    if record.message_set is None or not isinstance(outcome, SentAgain):
        return outcome
    if parse_error is not None:
        return Requeued(record.divided(now))
    # QuickBooks stores the response when it has executed the whole set, and it may have failed within the set. Only a
    # parse error shows that it executed nothing.
    message = f"QuickBooks has no response, but may have executed a part of the message set: status {code}."
    return Ended(outcome_unknown(record, now, message, _status(code)), text)


def _of_status_check(
    record: QueuedRequest, text: str | None, code: int, now: datetime, open_key: str | None, *, may_be_running: bool
) -> Outcome:
    """Return the outcome if QuickBooks has no response for a write: it never executed the write, or cannot tell.

    If the write was executed in one company file, QuickBooks correctly denies it while another file is open.
    """
    if code not in NEVER_EXECUTED:
        message = f"QuickBooks cannot tell whether it executed this request: status {code}."
        # The hint of a status is about a request that QuickBooks refused.
        return Ended(outcome_unknown(record, now, message, _status(code) | {"hint": None}), text)
    if may_be_running:
        held = STILL_RUNNING.format(record.request_name, record.id, record.recovery.running_until)
        return Requeued(recover_later(record, now, held, _status(code)), held=held)
    if open_key is None or open_key != record.recovery.company_file_key:
        message = "The open company file may not be the one that the write was sent to."
        details = reason_details(Reason.OTHER_FILE, status_code=code)
        return ended_or_requeued(recover_later(record, now, message, details))
    if record.sessions >= MAX_SESSIONS:
        # QuickBooks also reports this if it failed to store the response. A person must decide about another try.
        message = (
            f"Gave up after {record.sessions} sessions. No response arrived, and QuickBooks has none: status {code}."
        )
        details = {"status_code": code, "reason": describe_status(code).reason, "sessions": record.sessions}
        return Ended(outcome_unknown(record, now, message, details), text)
    # The status is valid for this session only.
    not_recovering = replace(record.recovery, active=False, running_until=None)
    return SentAgain(record.requeued(now).moved(State.TICKETED, now, recovery=not_recovering).as_change_of(record))


def _of_refused_message_set(record: QueuedRequest, text: str | None, code: int, now: datetime) -> Outcome | None:
    """Return the outcome of a message set that QuickBooks refused (docs/reference/qbxml-rules.md, Error recovery)."""
    if code in NEVER_EXECUTED:
        # QuickBooks returns this status only for a status check, so this response is a duplicate of an earlier one.
        return None
    if code == OTHER_CONTENT and record.recovery.begun:
        # QuickBooks executed an earlier copy, not this one. It stored the response to the earlier copy.
        return Requeued(record.queued_for_recovery(now, running_until=None))
    if code == NOT_STORED:
        message = f"QuickBooks could not store its response: status {code}."
        return Ended(record.failed(now, ErrorCode.OUTCOME_UNKNOWN, message, _status(code)), text)
    message = f"QuickBooks refused the message set with status {code}."
    details = _status(code) | {"status_severity": "Error", "retryable": describe_status(code).retryable}
    return Ended(record.failed(now, ErrorCode.QUICKBOOKS_ERROR, message, details), text)


def not_interpreted(record: QueuedRequest, text: str | None, error: Exception, now: datetime) -> Ended:
    """End a request after an unexpected error of the service, which would otherwise repeat with each delivery."""
    message = f"The service could not interpret QuickBooks' response: unexpected {type(error).__name__}."
    return not_understood(record, text, message, now)


def not_understood(record: QueuedRequest, text: str | None, message: str, now: datetime) -> Ended:
    """End a request with an unusable response. Store the text, because QuickBooks may have executed the request.

    A read is not sent again, because QuickBooks was reached and would return the same response.
    """
    details = reason_details(Reason.RESPONSE_NOT_UNDERSTOOD)
    return Ended(record.failed(now, ErrorCode.OUTCOME_UNKNOWN, message, details), text)


def of_oversized(record: QueuedRequest, beginning: str, now: datetime) -> Outcome | None:
    """Return the outcome of a response that is too large for a call, for `record`, which is `sent`.

    `beginning` is the first part of the response.
    """
    if not is_about([record], beginning, qbxml.named_responses(beginning)):
        return None
    message = f"QuickBooks' response has more than {RESPONSE_LIMIT}."
    if not record.is_read:
        details = reason_details(Reason.RESPONSE_TOO_LARGE, limit_bytes=MAX_BODY_BYTES)
        return Ended(outcome_unknown(record, now, f"{message} It cannot be stored.", details))
    smaller = smaller_page(record)
    if smaller is None:
        return Ended(too_large(record, now, message))
    # Ask again at once, in the same session. The session counts once.
    again = record.requeued(now, page_size=smaller).moved(State.TICKETED, now, sessions=record.sessions - 1)
    return SentAgain(again.as_change_of(record))


def _status(code: int) -> dict[str, Any]:
    meaning = describe_status(code)
    return {"status_code": code, "reason": meaning.reason, "hint": meaning.hint}
