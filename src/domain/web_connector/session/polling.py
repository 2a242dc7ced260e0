"""Polling: when the Web Connector may work, and how soon it calls again.

`authenticate` returns two values for this (docs/reference/web-connector-protocol.md, Method authenticate). Both have
an effect only if the user ticked Auto-Run. The *minimum interval* can raise the user's interval but never lowers
it, so it is constant. It prevents a schedule of seconds from polling without a pause. A *postponement* delays one call.
Without it, the user's own interval counts, which the `.qwc` file sets to a minute.

| at login | reply | minimum | postponed by | because |
|---|---|---|---|---|
| work | company file | 15 s | | requests that follow from the responses are often queued at once |
| no work, but some recently | `none` | 15 s | | work comes in bursts, and new connections are being tried out |
| no work for 15 minutes | `none` | 15 s | 300 s | each poll costs five calls, and most polls have no work |
| sync window closed | `none` | 15 s | until it opens, 60 to 900 s | the window may be changed meanwhile |
| connection paused | `none` | 15 s | 900 s | the connection may be resumed meanwhile |
| backoff | `none` | 15 s | until it ends, 60 to 900 s | QuickBooks failed for several requests in a row |
| another session has a request in QuickBooks | `busy` | | | the user sees it, and the session can end at any time |
| wrong password, contention | `nvu`, `busy` | | | there is no reason to change the interval |
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.records.session import Session

MIN_INTERVAL_SECONDS = 15
MIN_USER_INTERVAL_SECONDS = 60
"""The shortest interval that the Web Connector's window accepts, and the one in the `.qwc` file."""

IDLE_POSTPONEMENT_SECONDS = 5 * 60
MAX_POSTPONEMENT_SECONDS = 15 * 60
"""The longest postponement. A resumed connection is polled again within this time."""

RECENTLY = timedelta(minutes=15)

PAUSED = "This connection is paused: nothing is sent until it is resumed."
WINDOW_CLOSED = "This connection's sync window is closed: queued requests are sent when it opens."


def postponement_while_held(connection: Connection, now: datetime) -> int:
    """Return the postponement in seconds while nothing may be sent, or 0 if requests may be sent.

    Nothing may be sent while the connection is paused or backs off, or its sync window is closed.
    """
    if connection.paused_at is not None:
        return MAX_POSTPONEMENT_SECONDS
    window, backoff = connection.sync_window, connection.backoff
    if window and not window.is_open(now):
        return _seconds_until(window.changes_at(now, timedelta(seconds=MAX_POSTPONEMENT_SECONDS)), now)
    if backoff and timestamp(now) < backoff.until:
        return _seconds_until(datetime.fromisoformat(backoff.until), now)
    return 0


def postponement(connection: Connection, now: datetime) -> int:
    """Return the postponement in seconds after a login without work, or 0."""
    recently = timestamp(now - RECENTLY)
    idle = 0 if (connection.last_worked_at or connection.inserted_at) > recently else IDLE_POSTPONEMENT_SECONDS
    return postponement_while_held(connection, now) or idle


def _seconds_until(moment: datetime, now: datetime) -> int:
    return max(MIN_USER_INTERVAL_SECONDS, -int((now - moment).total_seconds() // 1))


def work_until(connection: Connection, now: datetime) -> str | None:
    """Return the closing time of the open window as a timestamp, or None if there is no window."""
    return timestamp(connection.sync_window.changes_at(now)) if connection.sync_window else None


def reason_to_hold(session: Session, now: datetime) -> str | None:
    """Return a message for the user if a session must not send a new request, or None if it can.

    The session contains all facts: `authenticate` stored the closing time of the window, and pausing the connection
    changes the live session.
    """
    if session.limits.paused:
        return PAUSED
    if session.limits.work_until is not None and timestamp(now) >= session.limits.work_until:
        return WINDOW_CLOSED
    return None
