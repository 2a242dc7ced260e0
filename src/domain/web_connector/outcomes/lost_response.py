"""Decides how a request continues if no response arrived: send it again, ask for its stored response, or end it.

The functions decide about one record and have no side effects (docs/decisions/0005 and 0014).
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from domain.records.request import LAST_IN_LINE, ErrorCode, State
from domain.web_connector.outcomes.error_reasons import MEANINGS, Reason, reason_details
from domain.web_connector.outcomes.pages import smaller_page
from domain.web_connector.protocol.soap import MAX_BODY_BYTES

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.request import QueuedRequest

MAX_SESSIONS = 3
"""Maximum number of sessions that send a read. A read that failed three times needs a person."""

MAX_SESSIONS_OF_ONE_SIZE = 2
"""Maximum number of sessions that ask for a page of one size. Then the size is halved. The network may have caused the
first loss. A gateway that refuses large responses may cause later ones. Only the Web Connector receives the refusal."""

MAX_RECOVERY_SESSIONS = 3
"""Maximum number of sessions that ask for the stored response of a write. Asking does no harm, but the owner waits."""


MAX_IGNORED = 2
"""Maximum number of responses in one session that are ignored because they name other requests. The request is then
left to a later session."""


class Ending(Enum):
    """How a session ended, as far as it matters for its request."""

    TAKEN_OVER = "another login"
    OTHER = "closeConnection, a connection error, the sweep, a wrong company file or the removal of the connection"


RESPONSE_LIMIT = f"{MAX_BODY_BYTES:,} bytes, about 4.3 MB of QBXML"
_SESSION_ENDED = MEANINGS[Reason.RESPONSE_LOST][0]

_OF_OTHERS = MEANINGS[Reason.RESPONSES_OF_OTHERS][0]

_LOOK_FIRST = (
    "QuickBooks may have executed it. Check the company file before you queue the request again. If QuickBooks or "
    "the Web Connector hangs, close it first: it may still execute the request."
)


def after_session_end(
    record: QueuedRequest, now: datetime, ending: Ending, *, running_until: str, in_set: bool = False
) -> QueuedRequest:
    """Return the request in flight after the end of its session. `in_set` means that it was sent with others.

    `running_until` is the time until which QuickBooks may be executing it, however the session ended. A Web Connector
    also calls `closeConnection` after a call with a result was lost. How the session ended does not tell whether the
    response was too large: after a gateway has refused the call, a Web Connector may close the session or not.
    """
    if record.state is State.TICKETED and record.paging.page == 1:
        return record.requeued(now)
    if record.is_read and in_set:
        return record.divided(now)
    if record.is_read:
        priority = LAST_IN_LINE if record.attempts.sessions >= MAX_SESSIONS_OF_ONE_SIZE else record.queue_priority
        attempts = replace(record.attempts, lost_responses=record.attempts.lost_responses + 1)
        lost = replace(record, queue_priority=priority, attempts=attempts)
        reason = Reason.SESSION_TAKEN_OVER if ending is Ending.TAKEN_OVER else Reason.RESPONSE_LOST
        return retry_later(lost, now, MEANINGS[reason][0], reason_details(reason), ask_for_less=True)
    details = reason_details(Reason.RESPONSE_LOST)
    if record.recovering:
        return recover_later(record, now, _SESSION_ENDED, details)
    return record.queued_for_recovery(now, running_until=running_until)


def asked_too_early(record: QueuedRequest) -> bool:
    """Whether the status check for `record` was sent while QuickBooks may have been executing the write.

    The time of the sending counts, because QuickBooks may have finished before the result of the check arrived.
    """
    return record.may_be_running(record.updated_at)


def recover_later(record: QueuedRequest, now: datetime, message: str, details: dict[str, Any]) -> QueuedRequest:
    """Queue a recovering write for a later session, or end it after MAX_RECOVERY_SESSIONS.

    A session that asked while QuickBooks may have been executing the write does not count.
    """
    if asked_too_early(record):
        return record.requeued(now, counts=False)
    sessions = record.recovery.sessions
    if sessions < MAX_RECOVERY_SESSIONS:
        return record.requeued(now)
    message = f"{sessions} sessions asked QuickBooks for the stored response without success. {message}"
    return outcome_unknown(record, now, message, details)


def retry_later(
    record: QueuedRequest, now: datetime, message: str, details: dict[str, Any], *, ask_for_less: bool
) -> QueuedRequest:
    """Queue a request for a later session, or end it after MAX_SESSIONS.

    `ask_for_less` is for a request that QuickBooks may have executed: a smaller response may then arrive. A query that
    does not iterate counts as too large if neither a response nor an exception arrived in any session.
    """
    if record.paging.page > 1:
        return iteration_interrupted(record, now, message, details)
    sessions = record.attempts.sessions
    smaller = smaller_page(record) if ask_for_less and sessions >= MAX_SESSIONS_OF_ONE_SIZE else None
    if smaller or sessions < MAX_SESSIONS:
        return record.requeued(now, page_size=smaller)
    if record.attempts.lost_responses == sessions and record.paging.page_size is None:
        message = f"No response arrived in {sessions} sessions. It is probably larger than {RESPONSE_LIMIT}."
        return too_large(record, now, message, sessions=sessions)
    hint = " ".join(
        filter(None, (details.get("hint"), "This request will not be sent again. Queue it as a new request."))
    )
    return record.failed(
        now,
        ErrorCode.QUICKBOOKS_CONNECTION_ERROR,
        f"Gave up after {sessions} sessions. {message}",
        {**details, "retryable": True, "hint": hint, "sessions": sessions},
    )


def after_ignored_responses(
    record: QueuedRequest, ignored: int, now: datetime, *, in_set: bool
) -> QueuedRequest | None:
    """Return a request for which QuickBooks returned nothing but `ignored` responses that name other requests.

    Return None if the session sends it again. A read that was sent `in_set` with others is sent alone, and a later page
    is never requested twice.
    """
    if in_set and record.is_read:
        return record.divided(now)
    if ignored < MAX_IGNORED and record.paging.page == 1:
        return None
    details = reason_details(Reason.RESPONSES_OF_OTHERS)
    if record.recovering:
        return recover_later(record, now, _OF_OTHERS, details)
    return retry_later(record, now, _OF_OTHERS, details, ask_for_less=False)


def too_large(record: QueuedRequest, now: datetime, message: str, **details: Any) -> QueuedRequest:
    """End a read with a response that a call cannot carry."""
    details = reason_details(Reason.RESPONSE_TOO_LARGE, limit_bytes=MAX_BODY_BYTES, **details)
    return record.failed(now, ErrorCode.RESPONSE_TOO_LARGE, message, details)


def iteration_interrupted(record: QueuedRequest, now: datetime, message: str, details: dict[str, Any]) -> QueuedRequest:
    """End a page after the first. It is never requested again, because its iterator may have advanced."""
    hint = "The pages before this one are complete. Queue the query again to get all pages."
    message = f"Page {record.paging.page} of this query did not arrive. {message}"
    return record.failed(now, ErrorCode.ITERATION_INTERRUPTED, message, {**details, "retryable": True, "hint": hint})


def iteration_stopped(
    record: QueuedRequest, now: datetime, message: str, reason: Reason, remaining: int
) -> QueuedRequest:
    """End a page of a query whose iterator does not come to an end. No further page is requested."""
    message = f"The query was stopped at page {record.paging.page}. {message}"
    details = reason_details(reason, iterator_remaining=remaining, retryable=reason is not Reason.TOO_MANY_PAGES)
    return record.failed(now, ErrorCode.ITERATION_STOPPED, message, details)


def iterator_not_falling(record: QueuedRequest, now: datetime, remaining: int) -> QueuedRequest:
    """End a page after which as many objects remain as before it, or more. Its iterator could go on for ever."""
    message = f"iteratorRemainingCount is {remaining:,}, which is not less than after the page before."
    return iteration_stopped(record, now, message, Reason.ITERATOR_NOT_FALLING, remaining)


def outcome_unknown(record: QueuedRequest, now: datetime, message: str, details: dict[str, Any]) -> QueuedRequest:
    """End a write that QuickBooks may or may not have executed."""
    hint = " ".join(filter(None, (details.get("hint"), _LOOK_FIRST)))
    return record.failed(now, ErrorCode.OUTCOME_UNKNOWN, message, {**details, "hint": hint})
