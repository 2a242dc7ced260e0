"""Polling: when the Web Connector may work, and how soon it calls again.

`authenticate` returns two values for this (docs/reference/web-connector-protocol.md, Method authenticate). Both have
an effect only if the user ticked Auto-Run. The *minimum interval* can raise the user's interval but never lowers
it, so it is constant. It prevents a schedule of seconds from polling without a pause. A *postponement* delays one call.
Without it, the user's own interval counts, which the `.qwc` file sets to a minute.

| at login | reply | minimum | postponed by | because |
|---|---|---|---|---|
| work | company file | 15 s | | requests that follow from the responses are often queued at once |
| no work, but an onboarding check is due | company file | 15 s | | a customer waits for its result |
| no work, but some recently | `none` | 15 s | | work comes in bursts, and new connections are being tried out |
| no work for 15 minutes | `none` | 15 s | 240 to 300 s | each poll costs five calls, and most polls have no work |
| no work for a day | `none` | 15 s | `dormant_seconds`, or a fifth less | it costs a third of that |
| work, but too many sessions are running | `none` | 15 s | 60 to 600 s, longer each time | `admission.py` |
| sync window closed | `none` | 15 s | until the connection's turn, 60 to 900 s | the window may be changed meanwhile |
| connection paused | `none` | 15 s | 720 to 900 s | the connection may be resumed meanwhile |
| backoff | `none` | 15 s | until it ends or a fifth more, at least 60 s | QuickBooks failed repeatedly |
| another session has a request in QuickBooks | `busy` | | | the user sees it, and the session can end at any time |
| wrong password, contention | `nvu`, `busy` | | | there is no reason to change the interval |

Many connections have the same sync window, and would log in within the same second. Each connection therefore has a
fixed *place* from 0 to 1, the hash of its id. Its turn in the window begins after `place` times a fifth of the window's
length, ten minutes at most. In the same way, its postponements end up to a fifth earlier, and those of a backoff later.
Connections that were postponed together do not call together again.

Of 1,000 connections whose window opens at 22:00, 929 logged in within the same second, and a response that is refused
with 429 is lost. A random delay would not do: the time of the next session could not be shown. A longer minimum
interval would not either, because nothing lowers it again.
"""

from __future__ import annotations

import hashlib
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
"""The longest postponement but for a backoff. A resumed connection is polled again within this time."""

RECENTLY = timedelta(minutes=15)
DORMANT_AFTER = timedelta(days=1)

SPREAD = 0.2
"""The share of a window or a postponement over which connections are spread."""

MAX_DELAY = timedelta(minutes=10)
"""The longest time from the opening of a sync window to the turn of a connection."""

PAUSED = "This connection is paused: nothing is sent until it is resumed."
ENDS_FOR_OTHERS = "Sessions of other connections are waiting. The next update continues."
WINDOW_CLOSED = "This connection's sync window is closed: queued requests are sent when it opens."


def place(connection_id: str) -> float:
    """Return the place of a connection among all others: from 0 up to 1, always the same."""
    return int.from_bytes(hashlib.sha256(connection_id.encode()).digest()[:4], "big") / 2**32


def turn_in_window(connection: Connection, now: datetime) -> datetime | None:
    """Return when the turn of a connection in its sync window begins, or None if requests may be sent now."""
    window = connection.sync_window
    if window is None:
        return None
    # The delay is at most the time for which the window is closed. A longer one would reach into the window before.
    longest = min(window.length * SPREAD, timedelta(days=1) - window.length, MAX_DELAY)
    delay = timedelta(seconds=int(place(connection.id) * longest.total_seconds()))
    if not window.is_open(now):
        return window.changes_at(now) + delay
    if not window.is_open(now - delay):
        return window.changes_at(now - delay) + delay
    return None


def postponement_while_held(connection: Connection, now: datetime) -> int:
    """Return the postponement in seconds while nothing may be sent, or 0 if requests may be sent.

    Nothing may be sent while the connection is paused or backs off, or before its turn in its sync window.
    """
    longest = _shortened(MAX_POSTPONEMENT_SECONDS, connection)
    if connection.paused_at is not None:
        return longest
    turn, backoff = turn_in_window(connection, now), connection.backoff
    if turn:
        return min(longest, _seconds_until(turn, now))
    if backoff and timestamp(now) < backoff.until:
        seconds = _seconds_until(datetime.fromisoformat(backoff.until), now)
        return int(seconds * (1 + SPREAD * place(connection.id)))
    return 0


def postponement(connection: Connection, now: datetime, dormant_seconds: int = MAX_POSTPONEMENT_SECONDS) -> int:
    """Return the postponement in seconds after a login without work, or 0. `dormant_seconds` counts after a day."""
    if held := postponement_while_held(connection, now):
        return held
    last_work = connection.last_worked_at or connection.inserted_at
    if last_work > timestamp(now - RECENTLY):
        return 0
    is_dormant = last_work <= timestamp(now - DORMANT_AFTER)
    return _shortened(dormant_seconds if is_dormant else IDLE_POSTPONEMENT_SECONDS, connection)


def postponement_if_turned_away(connection: Connection, reserved: datetime, now: datetime) -> int:
    """Return the postponement in seconds of a login that is not admitted. It grows with each such login in a row.

    It ends at the reserved time at the latest. Connections that are turned away together call again over a time as long
    as the shortest of their postponements.
    """
    shortest = min(MIN_USER_INTERVAL_SECONDS * 2 ** min(connection.turned_away, 8), IDLE_POSTPONEMENT_SECONDS)
    return min(int(shortest * (1 + place(connection.id))), _seconds_until(reserved, now))


def _shortened(seconds: int, connection: Connection) -> int:
    return int(seconds * (1 - SPREAD * place(connection.id)))


def _seconds_until(moment: datetime, now: datetime) -> int:
    return max(MIN_USER_INTERVAL_SECONDS, -int((now - moment).total_seconds() // 1))


def work_until(connection: Connection, now: datetime) -> str | None:
    """Return the closing time of the open window as a timestamp, or None if there is no window."""
    return timestamp(connection.sync_window.changes_at(now)) if connection.sync_window else None


def reason_to_hold(session: Session, now: datetime) -> str | None:
    """Return a message for the user if a session must not send a new request, or None if it can.

    The session contains all facts: `authenticate` stored the closing time of the window, pausing the connection
    changes the live session, and a session that has to end for others remembers that.
    """
    if session.limits.paused:
        return PAUSED
    if session.limits.ends_for_others:
        return ENDS_FOR_OTHERS
    if session.limits.work_until is not None and timestamp(now) >= session.limits.work_until:
        return WINDOW_CLOSED
    return None
