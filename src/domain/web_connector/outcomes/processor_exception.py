"""Processor exceptions: `receiveResponseXML` with an HRESULT in place of a response.

An exception does not name a request. The first one of a session is about the request in flight. A later one
may be a duplicate of it, so it does not prove that QuickBooks did not execute a write (docs/decisions/0014).

| request | exception | the request |
|---|---|---|
| read of a set | any | is queued again, each alone, and the attempt does not count |
| harmless to repeat | QuickBooks fails for every request | is queued again, and the attempt does not count |
| status check | another | is queued again, at most MAX_RECOVERY_SESSIONS times |
| other read, or write that was not executed | another | is queued again, at most MAX_SESSIONS times |
| write that may have been executed | any | is queued for recovery |

Two in a row end the session: one can be the fault of one request, two are that of QuickBooks, and going on would fail
the whole queue. If QuickBooks can never execute the QBXML, the request ends (`_of_invalid_request`). If it was sent in
a message set with others, it is not known which request is at fault: reads are sent again, each alone and before
anything behind them, and writes are checked first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.errors import shortened
from domain.qbxml.codes.hresults import PARSE_ERROR, describe_hresult
from domain.records.request import FIRST_IN_LINE, IN_TURN, MAX_MESSAGE_CHARACTERS, ErrorCode, State
from domain.timestamps import timestamp
from domain.web_connector.outcomes.attribution import is_sent_as_set
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
from domain.web_connector.outcomes.outcome import (
    NotExecuted,
    Requeued,
    SentAgain,
    combined,
    ended_or_requeued,
    stored_once,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.qbxml.codes.hresults import Hresult
    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.web_connector.outcomes.outcome import Answer, Ended
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


def is_parse_error(hresult: str) -> bool:
    """Whether an HRESULT reports that QuickBooks cannot parse the QBXML."""
    return describe_hresult(hresult).code == PARSE_ERROR


@dataclass(frozen=True, slots=True)
class _Exception:
    """A processor exception for `record`, which is `sent`, `in_set` with others or alone.

    `text` is the response that came with it and is stored with this request, or None. `hresult` is the code as it was
    reported.
    """

    session: Session
    record: QueuedRequest
    in_set: bool
    text: str | None
    hresult: str
    meaning: Hresult
    message: str
    now: datetime

    @property
    def details(self) -> dict[str, Any]:
        """The members of an error that explain the exception."""
        return hresult_details(self.hresult)

    @property
    def running_until(self) -> str:
        """The time until which QuickBooks may be executing the request."""
        return self.session.limits.running_until(self.record)

    @property
    def was_not_executed(self) -> bool:
        """Whether it is certain that QuickBooks has not executed the request."""
        return self.meaning.proves_no_execution and not self.session.exception_reported

    @property
    def repeats_safely(self) -> bool:
        """Whether the same QBXML can be sent again without harm."""
        return self.record.is_read or self.record.recovering or self.was_not_executed

    @property
    def divides(self) -> bool:
        """Whether the request is a read of a set. It is sent again alone, because another read may be the cause."""
        return self.in_set and self.record.is_read

    @property
    def concerns_every_request(self) -> bool:
        """Whether QuickBooks fails now for every request, as far as is known."""
        others_failed = self.session.failures > 0 or self.session.backoff is not None
        return others_failed or (self.meaning.fails_every_request and not self.record.recovering)

    @property
    def may_be_uncounted(self) -> bool:
        """Whether the request may wait for QuickBooks without counting its attempts. A later page cannot wait."""
        return self.record.paging.page == 1 and self.record.inserted_at > timestamp(self.now - MAX_UNCOUNTED)


def of_exception(session: Session, records: Sequence[QueuedRequest], call: Call, now: datetime) -> Answer:
    """Return what an exception says about the requests in flight, which are `sent`.

    An exception normally comes without a response. If there is one, it is stored with the error.
    """
    hresult = shortened(call["hresult"].strip(), MAX_HRESULT_CHARACTERS)
    meaning = describe_hresult(call["hresult"])
    message = shortened(call["message"].strip() or meaning.message, MAX_MESSAGE_CHARACTERS)
    in_set = is_sent_as_set(records)
    exceptions = [
        _Exception(session, record, in_set, text, hresult, meaning, message, now)
        for record, text in stored_once(records, call["response"] or None)
    ]
    return combined(records, list(map(_of_one, exceptions)), now)


def _of_one(exception: _Exception) -> Ended | Requeued | SentAgain | NotExecuted:
    """Return the outcome for one request."""
    record, meaning = exception.record, exception.meaning
    # A parse error can only be about this request or an earlier one, so QuickBooks is asked which.
    if meaning.kind == "invalid_request" and (exception.repeats_safely or meaning.code == PARSE_ERROR):
        return _of_invalid_request(exception)
    after = _queued_again(exception)
    if meaning.kind != "unavailable" and not exception.divides:
        # QuickBooks did not say that every request would fail, so the cause may be this one.
        after = after.after_failed_session()
    error = connection_error(exception.hresult, exception.message, exception.now)
    # A later exception of a session may be a copy of an earlier one, which tells nothing about this write.
    is_first = not exception.session.exception_reported
    returns = is_first and not (record.is_read or record.recovering or meaning.may_continue)
    return NotExecuted(after, exception.text if after.error else None, connection_error=error, returns=returns)


def _queued_again(exception: _Exception) -> QueuedRequest:
    """Return the record queued for a later session, or ended after too many of them. The module shows the table."""
    record, now = exception.record, exception.now
    if exception.divides:
        return record.divided(now)
    if exception.concerns_every_request and exception.repeats_safely and exception.may_be_uncounted:
        return record.requeued(now, counts=False)
    if record.recovering:
        return recover_later(record, now, exception.message, exception.details)
    may_be_executed = not exception.meaning.proves_no_execution
    if exception.repeats_safely:
        return retry_later(record, now, exception.message, exception.details, ask_for_less=may_be_executed)
    # If QuickBooks most likely did not execute it, it keeps its place in the queue, because the same exception may have
    # affected the requests before it.
    # With two lanes, the front of the queue must show the write, which may be running, whatever is claimed next.
    is_first = may_be_executed or exception.session.limits.has_low_lane
    priority = FIRST_IN_LINE if is_first else min(record.queue_priority, IN_TURN)
    return record.queued_for_recovery(now, priority, running_until=exception.running_until)


def _of_invalid_request(exception: _Exception) -> Ended | Requeued | SentAgain:
    """Return the outcome if QuickBooks can never execute the QBXML that was sent."""
    record, message, now, response = exception.record, exception.message, exception.now, exception.text
    is_first = not exception.session.exception_reported
    details = hresult_details(exception.meaning.code)
    if record.recovering:
        # QuickBooks did not understand the status check. This tells nothing about the request.
        continue_recovery = outcome_unknown if is_first else recover_later
        return ended_or_requeued(continue_recovery(record, now, message, details), response)
    if exception.divides:
        # QuickBooks executed nothing of the set, and it is not known which request is at fault.
        return Requeued(record.divided(now))
    if record.paging.page > 1:
        # QuickBooks accepted the rest of the request for the first page, so the iterator must have expired.
        details |= {"reason": Reason.ITERATOR_EXPIRED.value}
        return ended_or_requeued(iteration_interrupted(record, now, message, details), response)
    if record.is_read or (is_first and not exception.in_set):
        return ended_or_requeued(record.failed(now, ErrorCode.QBXML_PARSE_ERROR, message, details), response)
    return _checked_first(exception)


def _checked_first(exception: _Exception) -> SentAgain:
    """Return the outcome for a write about whose stored response the session asks next.

    In this session, QuickBooks is idle when it gets the status check, because the Web Connector fetches it only after
    the write returned.
    """
    record, now = exception.record, exception.now
    recovering = record.queued_for_recovery(now, running_until=exception.running_until)
    return SentAgain(recovering.moved(State.TICKETED, now), parse_error=exception.message)
