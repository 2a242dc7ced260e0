"""Pacing: a session that is faster than its share of the rate limit waits between two requests.

Each session of a shard may make the same number of calls a second (`Reading.calls_of_a_session`). Only `NoOp` makes the
Web Connector wait, for five seconds (docs/reference/web-connector-protocol.md, Method sendRequestXML). So a session
sends some requests one after the other, and then waits once. A session in which QuickBooks takes the time never waits.
A page of an iterator never waits, because its iterator ends with the session.

Calls are independent of each other, so the pace follows from a stored time: when the requests so far would have ended
at the session's pace. A request waits while that is more than five seconds ahead.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.timestamps import timestamp
from domain.web_connector.session.admission import CALLS_OF_A_FAST_SESSION

if TYPE_CHECKING:
    from domain.records.session import Session

WAIT = timedelta(seconds=5)
"""The time for which `NoOp` makes the Web Connector wait."""

MAX_AHEAD = timedelta(seconds=20)
"""The longest time for which the pages of an iterator are made up for after it."""

_CALLS_OF_A_REQUEST = 2
_CALLS_OF_A_WAIT = 2
_SECONDS_OF_A_REQUEST = _CALLS_OF_A_REQUEST / CALLS_OF_A_FAST_SESSION


def interval(calls_per_second: float) -> timedelta:
    """Return the time between two requests with which a session makes so many calls a second, with those for waiting.

    While n requests and a wait take 5 + 0.2 n seconds, there are 2 n + 2 calls.
    """
    seconds = WAIT.total_seconds()
    if calls_per_second >= CALLS_OF_A_FAST_SESSION:
        return timedelta()
    requests = (seconds * calls_per_second - _CALLS_OF_A_WAIT) / (
        _CALLS_OF_A_REQUEST - _SECONDS_OF_A_REQUEST * calls_per_second
    )
    return timedelta(seconds=_SECONDS_OF_A_REQUEST + seconds / max(requests, 1))


def paced_to(session: Session, now: datetime, calls_per_second: float) -> str | None:
    """Return the time that the session has used up with a request that is sent now, or None if it is not paced."""
    length = interval(calls_per_second)
    if not length:
        return None
    before = datetime.fromisoformat(session.paced_to) if session.paced_to else now
    return timestamp(min(max(before, now) + length, now + MAX_AHEAD))


def waits(session: Session, now: datetime) -> bool:
    """Whether the session must wait before it sends another request."""
    return session.paced_to is not None and session.paced_to > timestamp(now + WAIT)


def is_waiting(session: Session, now: datetime) -> bool:
    """Whether `sendRequestXML` has probably just made the session wait, as far as the session shows.

    A moment later it need not wait any more, so this is true for a few seconds longer than `waits`.
    """
    has_request = session.in_flight is not None and session.last_error is None and not session.ended
    return has_request and session.paced_to is not None and session.paced_to > timestamp(now)
