"""Polling: when the Web Connector may work, and how soon it calls again.

`authenticate` returns two values for this (docs/reference/web-connector-protocol.md, Method authenticate). Both have
an effect only if the user ticked Auto-Run. The *minimum interval* can raise the user's interval but never lowers
it, so it is constant. It prevents a schedule of seconds from polling without a pause. A *postponement* delays one call.
Without it, the user's own interval counts, which the `.qwc` file sets to a minute.

| at login | reply | minimum | postponed by | because |
|---|---|---|---|---|
| work | company file | 15 s | | requests that follow from the responses are often queued at once |
| no work, but an onboarding check is due | company file | 15 s | | a customer waits for its result |
| no work, but a run of subscriptions is due | company file | 15 s | | the copy of the books is late |
| no work, and a run is due soon | `none` | 15 s | until then | as above |
| no work, but some recently | `none` | 15 s | | work comes in bursts, and new connections are being tried out |
| no work for 15 minutes | `none` | 15 s | 240 to 300 s | each poll costs five calls, and most polls have no work |
| no work for a day | `none` | 15 s | `dormant_seconds`, or a fifth less | it costs a third of that |
| work, but too many sessions are running | `none` | 15 s | 60 to 600 s, longer each time | `admission.py` |
| sync window closed | `none` | 15 s | until the connection's turn, 60 to 900 s | the window may be changed meanwhile |
| connection paused | `none` | 15 s | 720 to 900 s | the connection may be resumed meanwhile |
| backoff | `none` | 15 s | until it ends or a fifth more, at least 60 s | QuickBooks failed repeatedly |
| another session has a request in QuickBooks | `busy` | | | the user sees it, and the session can end at any time |
| wrong password, contention | `nvu`, `busy` | | | there is no reason to change the interval |

Postponements end up to a fifth earlier by the connection's place (`domain.connections.turns`), and those of a backoff
later. Connections that were postponed together do not call together again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.connections.turns import (
    MAX_POSTPONEMENT_SECONDS,
    MIN_USER_INTERVAL_SECONDS,
    SPREAD,
    place,
    turn_in_window,
)
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.records.session import Session

MIN_INTERVAL_SECONDS = 15
IDLE_POSTPONEMENT_SECONDS = 5 * 60
RECENTLY = timedelta(minutes=15)
DORMANT_AFTER = timedelta(days=1)

PAUSED = "This connection is paused: nothing is sent until it is resumed."
ENDS_FOR_OTHERS = "Sessions of other connections are waiting. The next update continues."
WINDOW_CLOSED = "This connection's sync window is closed: queued requests are sent when it opens."


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
    postponed = _shortened(dormant_seconds if is_dormant else IDLE_POSTPONEMENT_SECONDS, connection)
    if connection.run_due_at is None:
        return postponed
    return min(postponed, _seconds_until(datetime.fromisoformat(connection.run_due_at), now))


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
