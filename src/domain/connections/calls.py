"""When the Web Connector calls, as far as the service knows, and which calls it has missed.

A call is expected when the postponement of the last one is over, or after the interval in the `.qwc` file. Nothing is
predicted from calls that did not come.

Not every call is recorded. A call that finds no work and changes nothing is recorded only every ten minutes. While a
request waits, each call would find work, so each is recorded. The first call after a session, after a failed login and
after another change of the connection is recorded too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

from domain.connections.turns import MIN_USER_INTERVAL_SECONDS, turn_in_window
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.records.connection import Connection

RECORDED_EVERY = timedelta(minutes=10)
"""A poll without work records the time of the call at most this often, because a write costs more than the rest of it
in the database."""

LATE = timedelta(seconds=30)
"""A call is missed when it is this late. The Web Connector begins the updates of several applications one by one."""

SILENT_AFTER_CALLS = 3
"""After so many missed calls the Web Connector counts as silent."""


@dataclass(frozen=True, slots=True)
class MissedCalls:
    """How many expected calls did not come at least, and the time of the last call that came."""

    number: int
    last_call: str


@dataclass(frozen=True, slots=True)
class _Expected:
    """The last known contact, from when on a further call would have been recorded, and the time between two calls.

    `last`: the last recorded call, or the end of the session that it opened.
    """

    last: datetime
    recorded_from: datetime
    interval: timedelta

    @property
    def first(self) -> datetime:
        """By when a further call would have been recorded. Calls before it may have been later than asked."""
        return self.recorded_from + self.interval


def missed_calls(connection: Connection, now: datetime, waits_since: str | None = None) -> MissedCalls | None:
    """Return the calls that the Web Connector has missed, or None if it is not known to have missed any.

    `waits_since`: since when a request waits in the queue, or None if that is not known.
    It is None if the Web Connector never called, while a session is running and while the connection is paused. The
    simulator of a test connection calls only while requests wait.
    """
    expected = _expected(connection, waits_since)
    if expected is None or now < expected.first + LATE:
        return None
    number = 1 + (now - LATE - expected.first) // expected.interval
    return MissedCalls(number, connection.last_call_at or "")


def is_silent(missed: MissedCalls | None) -> bool:
    """Return whether so many calls were missed that the Web Connector counts as silent."""
    return missed is not None and missed.number >= SILENT_AFTER_CALLS


def next_session_at(connection: Connection, now: datetime, waits_since: str | None = None) -> datetime | None:
    """Return when the next session is expected, or None if that is not known.

    It is known if the Web Connector polls as the service asked it to. It is not known while a session is running, if
    none can begin (the connection is paused, or the last password was wrong), and while the service does not know
    whether the expected call came. `waits_since` is that of `missed_calls`.
    """
    expected = _expected(connection, waits_since)
    if expected is None or has_wrong_password(connection, now, waits_since):
        return None
    known_until = min(now, expected.recorded_from)
    call = expected.last + max(1, ceil((known_until - expected.last) / expected.interval)) * expected.interval
    if now > call:
        return None
    backoff = connection.backoff
    if backoff and timestamp(call) < backoff.until:
        call = datetime.fromisoformat(backoff.until)
    return turn_in_window(connection, call) or call


def has_wrong_password(connection: Connection, now: datetime, waits_since: str | None = None) -> bool:
    """Return whether no session can begin because the Web Connector has a wrong password.

    While the Web Connector that knows the password keeps calling, a failed login is that of another one. If good and
    failed logins have alternated, there are two. The good one may have an interval longer than a minute, so its silence
    counts as a wrong password only after a day. `waits_since` is that of `missed_calls`.
    """
    if connection.login_failed_at is None or connection.password_hash is None or connection.session_id is not None:
        return False
    if not connection.password_works:
        return True
    beside = connection.failed_beside
    if beside and beside.prove_second and not connection.has_stopped_calling(now):
        return False
    return is_silent(missed_calls(connection, now, waits_since))


def _expected(connection: Connection, waits_since: str | None) -> _Expected | None:
    last_call = connection.last_call_at
    if last_call is None or connection.session_id or connection.paused_at or connection.simulated:
        return None
    ended_at = connection.session_ended_at or ""
    if last_call != connection.last_connected_at or ended_at > last_call:
        end = datetime.fromisoformat(max(last_call, ended_at))
        return _Expected(end, end, timedelta(seconds=MIN_USER_INTERVAL_SECONDS))
    seen = datetime.fromisoformat(last_call)
    recorded_from = seen + RECORDED_EVERY
    for moment in filter(None, (_changed_at(connection), waits_since)):
        recorded_from = min(recorded_from, max(seen, datetime.fromisoformat(moment)))
    return _Expected(seen, recorded_from, timedelta(seconds=connection.postponed_seconds or MIN_USER_INTERVAL_SECONDS))


def _changed_at(connection: Connection) -> str | None:
    """Return when something changed the connection after its last call, so that the next one is recorded, or None.

    Of several failed logins in a row the first one counts. `updated_at` is that of the last one.
    """
    if connection.login_failed_at:
        return connection.failed_beside.since if connection.failed_beside else None
    return connection.updated_at if connection.updated_at > (connection.last_call_at or "") else None
