"""The pace of a Web Connector: when it may work, and how soon it is to come again.

`authenticate` has two levers (`web_connector_protocol.md` §2.4), both only where the user ticked Auto-Run. The
minimum interval raises the interval that the user sees and never lowers it again, so that it is always the same: it
keeps a schedule of seconds from asking without a pause. To come later is asked for by a postponement, which lasts for
one time; without one the user's own interval counts, which the `.qwc` file sets to a minute.

| the login finds | it answers | minimum | postponed by | because |
|---|---|---|---|---|
| work | the company file | 15 s | | what follows from the answers is often queued at once |
| none, but lately there was some | `none` | 15 s | | work comes in bursts; a new connection is being tried out |
| none for a quarter of an hour | `none` | 15 s | 300 s | each visit costs five calls, and most find nothing |
| a closed sync window | `none` | 15 s | until it opens, 60 to 900 s | it may be changed meanwhile |
| a paused connection | `none` | 15 s | 900 s | it may be resumed meanwhile |
| a wrong password, too much at once | `nvu`, `busy` | | | nothing is known that should change the interval |
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.requests.record import timestamp

if TYPE_CHECKING:
    from domain.connections.record import Connection
    from domain.web_connector.session.record import Session

MIN_INTERVAL_SECONDS = 15
MIN_USER_INTERVAL_SECONDS = 60
"""The shortest that the Web Connector's window lets a user set, and what the `.qwc` file asks for."""

IDLE_POSTPONEMENT_SECONDS = 5 * 60
MAX_POSTPONEMENT_SECONDS = 15 * 60
"""What a pause or a closed window asks for at most: so late a resumed connection is worked again."""

LATELY = timedelta(minutes=15)

PAUSED = "This connection is paused: nothing is sent until it is resumed."
WINDOW_CLOSED = "This connection's sync window is closed: what is queued is sent when it opens."


def is_held(connection: Connection, now: datetime) -> bool:
    """Tell whether nothing may be sent: the connection is paused, or its sync window is closed."""
    window = connection.sync_window
    return connection.paused_at is not None or (window is not None and not window.is_open(now))


def reason_to_hold(session: Session, now: datetime) -> str | None:
    """Return why a session may hand out nothing new, in words for the user; None when it may.

    What the session knows is enough: pausing tells it, and the login told it when the window closes.
    """
    if session.paused:
        return PAUSED
    if session.work_until is not None and timestamp(now) >= session.work_until:
        return WINDOW_CLOSED
    return None


def work_until(connection: Connection, now: datetime) -> str | None:
    """Return when the open window closes (a timestamp), None when there is no window."""
    return timestamp(connection.sync_window.changes_at(now)) if connection.sync_window else None


def with_work() -> tuple[str, str]:
    """Return postponement and minimum interval for a login that found work."""
    return "", str(MIN_INTERVAL_SECONDS)


def without_work(connection: Connection, now: datetime) -> tuple[str, str]:
    """Return postponement and minimum interval for a login that is answered `none`."""
    return str(_postponed_by(connection, now) or ""), str(MIN_INTERVAL_SECONDS)


def _postponed_by(connection: Connection, now: datetime) -> int:
    if connection.paused_at is not None:
        return MAX_POSTPONEMENT_SECONDS
    window = connection.sync_window
    if window and not window.is_open(now):
        opens = window.changes_at(now, timedelta(seconds=MAX_POSTPONEMENT_SECONDS))
        return max(MIN_USER_INTERVAL_SECONDS, -int((now - opens).total_seconds() // 1))
    lately = timestamp(now - LATELY)
    return 0 if (connection.last_worked_at or connection.inserted_at) > lately else IDLE_POSTPONEMENT_SECONDS
