"""Backoff: growing pauses after QuickBooks failed for several requests in a row.

One failure may be due to its request, so the session sends the next one. If that fails too, QuickBooks is probably the
cause. The session ends, its attempts do not count, and nothing is sent for a while. Each further session without a
response sends one request more before it gives up, so that requests that always fail cannot block those behind them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.qbxml.codes.hresults import describe_hresult
from domain.records.connection import Backoff
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.session import Session

MIN_FAILURES = 2
"""The number of failures in a row that a backoff requires."""

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
    doublings = min(former, 10)  # Enough for every limit.
    return Backoff(former + 1, timestamp(now + min(FIRST_PAUSE * 2**doublings, limit)))


def gives_up(session: Session) -> bool:
    """Whether a session sends nothing more, because QuickBooks failed for too many requests in a row."""
    return session.backoff is not None and session.failures >= max(MIN_FAILURES, session.backoff.sessions + 1)


def at_end(session: Session) -> Backoff | None:
    """Return the backoff of the connection after the end of a session.

    If a single request failed and there was no other to compare it with, its attempts count again.
    """
    return None if 0 < session.failures < MIN_FAILURES else session.backoff
