"""Backoff: growing pauses after QuickBooks failed for several requests in a row.

One failure may be due to its request, so the session sends the next one. If that fails too, QuickBooks is probably the
cause. The session ends, its attempts do not count, and nothing is sent for a while. Each further session without a
response sends one request more, and twice as many status checks, before it gives up. So requests that always fail
cannot block those behind them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.qbxml.codes.hresults import describe_hresult
from domain.records.connection import Backoff
from domain.records.request import BEHIND_OTHERS
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import Session

MIN_FAILURES = 2
"""The number of failures in a row that a backoff requires."""

MAX_FAILURES = 50
"""Maximum number of failures in a row in a session. It limits the number of writes that are sent to a QuickBooks that
is down for days. A session that has passed this number with status checks sends one request more."""

MAX_FAILED_CHECKS = 1_000
"""The same if the last failure was that of a status check, which executes nothing. A session asks about all writes that
may have been executed before it sends anything else, so with a lower limit they could block those behind them."""

MAX_REPEATED_FAILURES = 10
"""The same if only requests are left that have failed in several sessions. They take turns, so each has its chance."""

MAX_DOUBLINGS = 10
"""Enough for every limit."""

FIRST_PAUSE = timedelta(minutes=1)
MAX_PAUSE = timedelta(minutes=15)
MAX_PAUSE_WHILE_UNAVAILABLE = timedelta(minutes=5)
"""If QuickBooks is busy or closed, a person often resolves it and waits for the next session."""


def after_failure(session: Session, now: datetime, hresult: str) -> Backoff | None:
    """Return the backoff that begins if `session` ends after a further failure with this HRESULT."""
    if session.failures + 1 < MIN_FAILURES:
        return session.backoff
    former = session.backoff.sessions if session.backoff else 0
    former -= session.failures >= MIN_FAILURES  # This session is already included.
    unavailable = describe_hresult(hresult).kind == "unavailable"
    limit = MAX_PAUSE_WHILE_UNAVAILABLE if unavailable else MAX_PAUSE
    doublings = min(former, MAX_DOUBLINGS)
    return Backoff(former + 1, timestamp(now + min(FIRST_PAUSE * 2**doublings, limit)))


def gives_up(session: Session, last: QueuedRequest) -> bool:
    """Whether a session sends nothing more, because QuickBooks failed for too many requests in a row.

    `last` is the request that the session sent last. No request that is behind the others is sent before one that is
    not.
    """
    if session.backoff is None:
        return False
    sessions = session.backoff.sessions
    if last.recovering:
        return session.failures >= min(MAX_FAILED_CHECKS, 1 << min(sessions, MAX_DOUBLINGS))
    limit = MAX_REPEATED_FAILURES if last.queue_priority == BEHIND_OTHERS else MAX_FAILURES
    return session.failures >= min(limit, max(MIN_FAILURES, sessions + 1))


def at_end(session: Session) -> Backoff | None:
    """Return the backoff of the connection after the end of a session.

    If a single request failed and there was no other to compare it with, its attempts count again.
    """
    return None if 0 < session.failures < MIN_FAILURES else session.backoff
