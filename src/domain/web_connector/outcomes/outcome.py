"""Outcomes: how the requests in flight continue after a `receiveResponseXML`.

The requests in flight were sent in one message set, and each of their records is `sent`. Most are sent alone, which is
a set of one. Several requests differ from one in three ways: their text has labels of the service (`label_in_set`),
each part of the response is stored with its request, and a read without a response of its own is sent again alone.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree.ElementTree import Element

from domain import qbxml
from domain.qbxml.codes.hresults import PARSE_ERROR
from domain.qbxml.codes.statuses import INVALID_ID, describe_status
from domain.records.request import MAX_FACT_CHARACTERS, QUEUED, ErrorCode, State
from domain.records.search_text import error_lines, with_lines
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from domain.web_connector.outcomes.attribution import (
    is_about,
    is_sent_as_set,
    label_in_set,
    names_request,
    response_about,
)
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
    from collections.abc import Mapping, Sequence

    from domain.records.lookup import FieldChange
    from domain.records.request import QueuedRequest
    from domain.records.session import LastResponse, RequestInFlight, Session
    from domain.storage.changes import AddRequest


@dataclass(frozen=True, slots=True)
class RequestUpdate:
    """A change of the request in flight: the record after it, and the response to store with it.

    After the answer to a query for its object (`is_step`), the search text is left to the commit that ends the request.
    `modification_xml` is the Mod to send in place of the request, and `field_changes` are the fields that it changes.
    """

    after: QueuedRequest
    response_xml: str | None = None
    is_step: bool = field(default=False, kw_only=True)
    modification_xml: str | None = field(default=None, kw_only=True)
    field_changes: tuple[FieldChange, ...] = field(default=(), kw_only=True)

    def change(self, stored: RequestInFlight, position: int = 0) -> ChangeRequest:
        """Return the change of the request in flight. Several transitions are stored as one change.

        The request at each `position` of a message set has a time of its own, so that a list by last change shows the
        order of execution.
        """
        updated_at = _later(self.after.updated_at, position) if position else self.after.updated_at
        return ChangeRequest(
            stored.record,
            # One copy in place of several, as in `QueuedRequest.moved`.
            replace(
                self.after,
                updated_at=updated_at,
                responded_at=updated_at if self.response_xml else self.after.responded_at,
                revision=stored.record.revision + 1,
            ),
            self.response_xml,
            self._search_text(stored),
            modification_xml=self.modification_xml,
            field_changes=self.field_changes,
        )

    def _search_text(self, stored: RequestInFlight) -> str | None:
        """Return the search text to store, or None to keep the stored text.

        The text of the request comes last, so a long request does not displace the response. A request that was sent
        and has no response gets its own text again, because a response may have been stored without its transaction
        (docs/decisions/0065).
        """
        error = self.after.error
        may_differ = error is not None or self.response_xml is not None or stored.record.state is State.SENT
        if self.is_step or not may_differ or not (request_text := stored.search_text):
            return None
        lines = list(error_lines(self.after))
        if self.response_xml is not None:
            no_request = qbxml.Request(self.after.qbxml_version, "", Element(self.after.request_name))
            # The response must be stored even if an error of the service prevents a search in it.
            with suppress(Exception):
                lines += qbxml.search_text(no_request, self.response_xml).split("\n")
        return with_lines(request_text, lines)


def _later(moment: str, microseconds: int) -> str:
    """Return a later timestamp."""
    return timestamp(datetime.fromisoformat(moment) + timedelta(microseconds=microseconds))


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


Outcome: TypeAlias = Ended | PageReceived | Requeued | SentAgain | NotExecuted
"""How one request in flight continues."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """The call is about other requests: it was delayed, or delivered twice (`attribution`)."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """The call has a later page of a query whose `remaining` count did not fall.

    It is a duplicate of an earlier page if another response follows. Otherwise the iterator does not come to an end.
    """

    remaining: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The call is about the requests in flight, and has an outcome for each, in their order."""

    outcomes: Sequence[Outcome]


Answer: TypeAlias = Ignored | Repeated | Answered
"""What a call says about the requests in flight."""

STILL_RUNNING = "QuickBooks may be executing {} {} until {}. The next update asks for its response again."
MISSING = "QuickBooks returned no response to this request of a message set of several requests."


def ended_or_requeued(after: QueuedRequest, response_xml: str | None = None) -> Ended | Requeued:
    """Return the outcome of a record that is queued again or has ended. Only an ended one stores the response."""
    return Requeued(after) if after.state in QUEUED else Ended(after, response_xml)


def believed(outcomes: Sequence[Outcome], records: Sequence[QueuedRequest], now: datetime) -> Sequence[Outcome]:
    """Return outcomes, or those of writes that are asked about later, because QuickBooks may still be executing them.

    If they ended as unknown now, a request with `if_exists` behind them could look for its object too early.
    """
    pairs = list(zip(outcomes, records, strict=True))
    return [_held(record, now) for record in records] if all(_is_too_early(*pair) for pair in pairs) else outcomes


def _is_too_early(outcome: Outcome, record: QueuedRequest) -> bool:
    error = outcome.after.error
    is_unknown = error is not None and error.code == ErrorCode.OUTCOME_UNKNOWN
    return is_unknown and record.recovering and asked_too_early(record)


def _held(record: QueuedRequest, now: datetime) -> Requeued:
    """Return the outcome of a write that was asked about too early. The session ends."""
    held = STILL_RUNNING.format(record.request_name, record.id, record.recovery.running_until)
    return Requeued(record.requeued(now, counts=False), held=held)


def has_response(after: QueuedRequest) -> bool:
    """Whether a request has ended with the response of QuickBooks to it: it was executed, or QuickBooks refused it."""
    refused = after.error is not None and after.error.code == ErrorCode.QUICKBOOKS_ERROR
    return after.state is State.RESPONSE_RECEIVED or refused


def can_be_forgotten(after: QueuedRequest) -> bool:
    """Whether QuickBooks can delete its copy of the response to a write, because the response is stored here.

    If the write was sent more than once, QuickBooks may still receive a copy of it and must recognise it. So it must if
    the response to an addition was lost and its object was then found.
    """
    was_lost = after.looks and after.recovery.begun
    return has_response(after) and not after.is_read and after.attempts.sessions == 1 and not was_lost


def combined(records: Sequence[QueuedRequest], found: Sequence[Outcome | Ignored | Repeated], now: datetime) -> Answer:
    """Return the answer with what was `found` for each request.

    A read of several that has no response of its own is sent again alone, because another read may be the cause.
    """
    outcomes: list[Outcome] = []
    for record, one in zip(records, found, strict=True):
        if isinstance(one, Ignored | Repeated):
            return one
        goes_alone = record.is_read and is_sent_as_set(records) and isinstance(one, Ended)
        outcomes.append(Requeued(record.divided(now)) if goes_alone and not has_response(one.after) else one)
    return Answered(outcomes)


def stored_once(records: Sequence[QueuedRequest], text: str | None) -> list[tuple[QueuedRequest, str | None]]:
    """Return the records, each with the text to store. A text about the whole set is stored with the first one."""
    return [(record, text if index == 0 else None) for index, record in enumerate(records)]


def of_response(session: Session, records: Sequence[QueuedRequest], text: str, now: datetime) -> Answer:
    """Return what a response says, or the answer to the question for a stored response."""
    response = response_about(records, text)
    if response is None:
        return Ignored()
    whole = stored_once(records, text)
    if isinstance(response, qbxml.UnreadableResponse):
        message = f"QuickBooks' response cannot be read. {response}"
        return combined(records, [not_understood(record, stored, message, now) for record, stored in whole], now)
    if not is_sent_as_set(records):
        return combined(records, [_of_own(session, records[0], text, response, now)], now)
    parts, is_read = response.parts(), records[0].is_read
    # What is between the responses may belong to one of them.
    if parts and (parts[0].is_apart or not is_read):
        return combined(records, _of_parts(session, records, text, parts, now), now)
    if is_read:
        return Answered([Requeued(record.divided(now)) for record in records])
    code = response.message_set_status
    return combined(records, [_of_message_set(session, record, stored, code, now) for record, stored in whole], now)


def _of_parts(
    session: Session, records: Sequence[QueuedRequest], text: str, parts: Sequence[qbxml.ResponsePart], now: datetime
) -> Sequence[Outcome | Ignored | Repeated]:
    """Return the outcomes of several requests whose message set has these responses.

    If a part belongs to no request, the whole text is stored with the first request that ended without a response. A
    person needs it to find out what QuickBooks has executed.
    """
    own = _own_parts(records, parts)
    found = [_of_part(session, record, own.get(record.id), now) for record in records]
    without = [index for index, one in enumerate(found) if isinstance(one, Ended) and not one.response_xml]
    if len(own) < len(parts) and without:
        found[without[0]] = Ended(found[without[0]].after, text)
    return found


def _own_parts(
    records: Sequence[QueuedRequest], parts: Sequence[qbxml.ResponsePart]
) -> Mapping[str, qbxml.ResponsePart]:
    """Return the response to each request, by the id of its record.

    QuickBooks returns one response to each request, in their order. If it returns more, the first one to a write
    counts, and a read has none: alone, it would get all of them. Responses without labels belong to the writes of a set
    if there is one for each; their text names the set.
    """
    if not records[0].is_read and len(parts) == len(records) and not any(part.request_label for part in parts):
        return {record.id: part for record, part in zip(records, parts, strict=True)}
    times = Counter(part.request_label for part in parts)
    usable = [part for part in parts if times[part.request_label] == 1 or not records[0].is_read]
    by_label = {part.request_label: part for part in reversed(usable)}
    labels = {record.id: label_in_set(record) for record in records}
    return {record_id: by_label[label] for record_id, label in labels.items() if label in by_label}


def _of_part(session: Session, record: QueuedRequest, part: qbxml.ResponsePart | None, now: datetime) -> Outcome:
    """Return the outcome of one of several requests. A write without a response of its own may have been executed."""
    if part is not None:
        document = part.document(record.request_label)
        try:
            found = _of_own(session, record, document, part.response(record.request_label), now)
        except Exception as error:  # noqa: BLE001 - an error in one request must not block the others
            return not_interpreted(record, document, error, now)
        if isinstance(found, PageReceived):
            return Ended(found.after, found.response_xml)
        if not isinstance(found, Ignored | Repeated):
            return found
    return Ended(outcome_unknown(record, now, MISSING, reason_details(Reason.RESPONSE_NOT_UNDERSTOOD)))


def _of_own(
    session: Session, record: QueuedRequest, text: str, response: qbxml.Response, now: datetime
) -> Outcome | Ignored | Repeated:
    """Return the outcome of a response that is about `record`."""
    if not response.statuses:
        return _of_message_set(session, record, text, response.message_set_status, now)
    for status in response.statuses:
        if _is_page_of_last_query(record, status, session.last_response):
            return Ignored()
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
) -> Outcome | Repeated:
    """Return the outcome of a page. QuickBooks decides how many pages follow, so each must bring the end closer."""
    if remaining < 0 or len(iterator_id) > MAX_FACT_CHARACTERS:
        message = "iteratorRemainingCount is negative." if remaining < 0 else "The iteratorID is too long."
        return Ended(iteration_stopped(record, now, message, Reason.ITERATOR_INVALID, remaining), text)
    if record.paging.page > 1 and last and remaining >= (last.iterator_remaining or 0):
        return Repeated(remaining)
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


def _of_message_set(
    session: Session, record: QueuedRequest, text: str | None, code: int | None, now: datetime
) -> Outcome | Ignored:
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
        return _held(record, now)
    if open_key is None or open_key != record.recovery.company_file_key:
        message = "The open company file may not be the one that the write was sent to."
        details = reason_details(Reason.OTHER_FILE, status_code=code)
        return ended_or_requeued(recover_later(record, now, message, details))
    sessions = record.attempts.sessions
    if sessions >= MAX_SESSIONS:
        # QuickBooks also reports this if it failed to store the response. A person must decide about another try.
        message = f"Gave up after {sessions} sessions. No response arrived, and QuickBooks has none: status {code}."
        details = {"status_code": code, "reason": describe_status(code).reason, "sessions": sessions}
        return Ended(outcome_unknown(record, now, message, details), text)
    # The status is valid for this session only.
    not_recovering = replace(record.recovery, active=False, running_until=None)
    again = replace(record.requeued(now), recovery=not_recovering)
    return Requeued(again) if again.awaits_approval else SentAgain(again.moved(State.TICKETED, now))


def _of_refused_message_set(record: QueuedRequest, text: str | None, code: int, now: datetime) -> Outcome | Ignored:
    """Return the outcome of a message set that QuickBooks refused (docs/reference/qbxml-rules.md, Error recovery)."""
    if code in NEVER_EXECUTED:
        # QuickBooks returns this status only for a status check, so this response is a duplicate of an earlier one.
        return Ignored()
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


def of_oversized(records: Sequence[QueuedRequest], beginning: str, now: datetime) -> Answer:
    """Return what a response says that is too large for a call. `beginning` is its first part."""
    if not is_about(records, beginning, qbxml.named_responses(beginning)):
        return Ignored()
    in_set = is_sent_as_set(records)
    return combined(records, [_of_oversized(record, now, in_set=in_set) for record in records], now)


def _of_oversized(record: QueuedRequest, now: datetime, *, in_set: bool) -> Ended | SentAgain:
    message = f"QuickBooks' response{' to the message set' if in_set else ''} has more than {RESPONSE_LIMIT}."
    if not record.is_read:
        details = reason_details(Reason.RESPONSE_TOO_LARGE, limit_bytes=MAX_BODY_BYTES)
        return Ended(outcome_unknown(record, now, f"{message} It cannot be stored.", details))
    smaller = smaller_page(record)
    if smaller is None:
        return Ended(too_large(record, now, message))
    # Ask again at once, in the same session. The session counts once.
    attempts = replace(record.attempts, sessions=record.attempts.sessions - 1)
    again = replace(record.requeued(now, page_size=smaller), attempts=attempts)
    return SentAgain(again.moved(State.TICKETED, now))


def _status(code: int) -> dict[str, Any]:
    meaning = describe_status(code)
    return {"status_code": code, "reason": meaning.reason, "hint": meaning.hint}
