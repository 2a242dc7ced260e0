"""Why a request or a connection waits, and what to do about it.

Only one reason is shown. This is the order of precedence; reasons that need a person come first:

0. `send_by_passed`, `approval`, `dependency`: no session takes it from the queue, so nothing of the below concerns it.
   The requests that it waits for have reasons of their own.
1. `paused`: a person paused the connection.
2. `wrong_password`: the last login failed, so no session begins until the password is correct. A login that fails while
   another Web Connector keeps calling with the right password is not a reason: it is the warning
   `second_web_connector` (`domain.connections.second_machine`). If that Web Connector misses three calls, the reason is
   `not_seen` for a day, provided that good and failed logins have alternated. Otherwise it is this one.
3. `never_connected`: no Web Connector has logged in, so there are no other facts.
4. `quickbooks_failing`, `company_file_mismatch`, `company_file_moved`, `quickbooks_unreachable`: the last report of the
   Web Connector. Nothing is sent until a session succeeds. A closed window or a missing Web Connector must not hide a
   problem that a person has to solve.
5. `outside_sync_window`: it ends by itself. It precedes `not_seen`, because the machine may be off at these hours.
6. `not_seen`: the Web Connector has missed three calls that the service expected.
7. `service_busy`: it ends by itself too.
8. `recovering`, `requests_ahead`, `next_session`: nothing blocks the request. They say what happens next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.connections.calls import has_wrong_password, is_silent, missed_calls, next_session_at
from domain.connections.turns import turn_in_window
from domain.records.batch import id_at
from domain.records.connection import COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED, HELD_BY_COMPANY_FILE
from domain.records.request import QUEUED, State
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from domain.connections.calls import MissedCalls
    from domain.records.connection import Backoff, Connection
    from domain.records.request import QueuedRequest

CODES = (
    "send_by_passed",
    "approval",
    "dependency",
    "paused",
    "wrong_password",
    "never_connected",
    COMPANY_FILE_MISMATCH,
    COMPANY_FILE_MOVED,
    "quickbooks_failing",
    "quickbooks_unreachable",
    "outside_sync_window",
    "not_seen",
    "service_busy",
    "recovering",
    "requests_ahead",
    "next_session",
)

MAX_COUNTED_AHEAD = 100
"""Maximum number of requests ahead to count, because each one is read. A larger exact number does not help."""

MAX_COUNTED_MISSED = 100
"""Maximum number of missed calls to name. A larger exact number does not help."""

_NOT_SEEN_HINT = (
    "At the QuickBooks machine: switch it on, and log on as the Windows user of the Web Connector. Start the Web "
    "Connector, tick the connection and Auto-Run, and choose Update Selected, which starts a session at once. If it "
    "shows QBWC1040, type the connection's password there. If its interval is longer than a minute, it calls later "
    "than expected."
)

_LONGER_INTERVAL = (
    "If another Web Connector has the password, and its interval is longer than a minute, this ends with its next call."
)


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """A stable code, a message for developers, and a hint, or None if no action is needed."""

    code: str
    message: str
    hint: str | None = None


def waiting_since(records: Iterable[QueuedRequest], now: datetime) -> str | None:
    """Return since when one of the records waits in the queue of their connection, or None if none does."""
    queued = (record for record in records if record.state in QUEUED and not _outside_the_queue(record, now))
    return min((record.updated_at for record in queued), default=None)


def of_request(
    record: QueuedRequest,
    connection: Connection | None,
    now: datetime,
    *,
    ahead: int | None = None,
    waits_since: str | None = None,
) -> WaitingReason | None:
    """Return the reason why a request waits, or None if it does not wait.

    `connection` is None if it is not known. `ahead` is the number of requests that are sent before this one, at most
    `MAX_COUNTED_AHEAD`, or None if they were not counted. `waits_since`: since when another request of the connection
    waits, or None if that is not known.
    """
    if record.state not in QUEUED:
        return None
    if outside := _outside_the_queue(record, now):
        return outside
    waits_since = min(waits_since or record.updated_at, record.updated_at)
    if connection and (blocked := of_connection(connection, now, waits_since)):
        return blocked
    if record.recovering:
        return _recovering(record, now)
    if ahead:
        number = "100 or more requests are" if ahead >= MAX_COUNTED_AHEAD else f"{ahead} requests are"
        return WaitingReason("requests_ahead", f"{'1 request is' if ahead == 1 else number} sent before it.")
    return _next_session(record, connection, now, waits_since)


def _outside_the_queue(record: QueuedRequest, now: datetime) -> WaitingReason | None:
    """Return why no session takes the request from the queue, or None if it is there."""
    if record.misses_send_by(now):
        return _late(record)
    if record.awaits_approval:
        return _approval(record)
    return _dependency(record) if record.dependencies else None


def _next_session(
    record: QueuedRequest, connection: Connection | None, now: datetime, waits_since: str
) -> WaitingReason:
    again = " again" if record.state is State.RETRYABLE else ""
    if connection and connection.simulated:
        return WaitingReason(
            "next_session",
            f"The simulator of this test connection will send it{again}: within seconds, or within five minutes.",
            "If it waits longer, the simulator has probably used up its time for today. See GET "
            f"/api/v1/connections/{connection.id}/simulator.",
        )
    if connection and connection.session_id:
        return WaitingReason(
            "next_session",
            f"A session is running and will send it{again}.",
            "If the Web Connector has stopped, choose Update Selected in it to start a new session.",
        )
    session_at = next_session_at(connection, now, waits_since) if connection else None
    expected = f", which is expected by {timestamp(session_at)}" if session_at else ""
    return WaitingReason(
        "next_session",
        f"It will be sent{again} when the Web Connector next calls{expected}.",
        "To send it now, choose Update Selected in the Web Connector.",
    )


def _late(record: QueuedRequest) -> WaitingReason:
    message = f"It was not sent by {record.send_by_time}. It ends as not_sent_in_time within six minutes of that."
    return WaitingReason("send_by_passed", message)


def _approval(record: QueuedRequest) -> WaitingReason:
    return WaitingReason(
        "approval",
        f"It enters the queue when it is approved. Without an approval by {record.send_by_time}, it ends.",
        f"To approve it: POST /api/v1/queued_requests/{record.id}/approve, with another API key than its author's.",
    )


def _dependency(record: QueuedRequest) -> WaitingReason:
    ids = [id_at(record.id, position) for position in record.dependencies]
    message = f"It enters the queue when the request {ids[0]} has ended with a response."
    if len(ids) > 1:
        message = (
            f"It enters the queue when {len(ids)} requests of its batch have ended with responses: {', '.join(ids)}."
        )
    return WaitingReason("dependency", message, "See the waiting_reason of that request.")


def _recovering(record: QueuedRequest, now: datetime) -> WaitingReason:
    message = (
        "Its response was lost. The next session asks QuickBooks for the stored response, and sends the request "
        "only if QuickBooks never executed it."
    )
    if record.may_be_running(timestamp(now)):
        message = (
            f"QuickBooks may still be executing it, until {record.recovery.running_until} at the latest. Each session "
            "asks QuickBooks for the stored response. It sends nothing behind this request before the response is "
            "found or the time is over."
        )
    return WaitingReason("recovering", message, "Do not queue it again: QuickBooks may have executed it.")


def silent_since(connection: Connection, now: datetime, waits_since: str | None = None) -> str | None:
    """Return when the Web Connector last called, if it has missed three calls since, or None.

    `waits_since` is that of `missed_calls`.
    """
    missed = missed_calls(connection, now, waits_since)
    return missed.last_call if missed and is_silent(missed) else None


def of_connection(connection: Connection, now: datetime, waits_since: str | None = None) -> WaitingReason | None:
    """Return the reason that blocks all requests of a connection, or None if there is no such reason.

    `waits_since`: since when a request waits in the queue, or None if that is not known. If it is known, missed calls
    are noticed sooner.
    """
    url = f"/api/v1/connections/{connection.id}"
    if connection.paused_at is not None:
        return WaitingReason(
            "paused", f"The connection was paused at {connection.paused_at}.", f"To resume it: POST {url}/resume."
        )
    if not_logged_in := _not_logged_in(connection, now, waits_since, url):
        return not_logged_in
    missed = missed_calls(connection, now, waits_since)
    not_seen = _not_seen(missed) if missed and is_silent(missed) else None
    error, backoff = connection.last_error or {}, connection.backoff
    if backoff and timestamp(now) < backoff.until:
        return _backs_off(backoff, error, url)
    if error:
        return _reported(error, not_seen)
    missing = WaitingReason("not_seen", not_seen, _NOT_SEEN_HINT) if not_seen else None
    return _waits_its_turn(connection, now, url) or missing or _turned_away(connection)


def _not_seen(missed: MissedCalls) -> str:
    is_counted = missed.number <= MAX_COUNTED_MISSED
    # Which calls are recorded depends on `waits_since`, so more calls may have been missed than are known.
    number = f"At least {missed.number}" if is_counted else f"More than {MAX_COUNTED_MISSED}"
    return f"{number} calls missed since {missed.last_call}, when the Web Connector was last seen."


def _turned_away(connection: Connection) -> WaitingReason | None:
    """Return the reason if the last login opened no session because too many were running."""
    if not connection.turned_away or connection.session_id:
        return None
    message = "Too many sessions of other connections are running. The Web Connector was asked to call again later."
    if connection.reserved_at:
        message += f" A session is reserved for it from {connection.reserved_at} on."
    return WaitingReason("service_busy", message)


def _waits_its_turn(connection: Connection, now: datetime, url: str) -> WaitingReason | None:
    """Return the reason if the connection waits for its turn in the sync window."""
    window, turn = connection.sync_window, turn_in_window(connection, now)
    if window is None or turn is None:
        return None
    opens = f"opened at {window.opens}" if window.is_open(now) else f"is closed. It opens at {window.opens}"
    return WaitingReason(
        "outside_sync_window",
        f"The sync window {opens} ({window.time_zone}). The turn of this connection begins at {timestamp(turn)}.",
        f"To send sooner, change the connection's sync_window: PATCH {url}.",
    )


def _not_logged_in(connection: Connection, now: datetime, waits_since: str | None, url: str) -> WaitingReason | None:
    """Return the reason if no Web Connector has logged in, or the one that did has another password now."""
    if has_wrong_password(connection, now, waits_since):
        hint = f"Type the connection's password into the Web Connector. To set a new one: POST {url}/password."
        return WaitingReason(
            "wrong_password",
            f"The Web Connector called with a wrong password at {connection.login_failed_at}.",
            f"{hint} {_LONGER_INTERVAL}" if connection.password_works else hint,
        )
    if connection.last_connected_at is not None or connection.simulated:
        return None
    message = "No Web Connector has logged in yet"
    steps = (
        f"the connection's .qwc file (GET {url}/qwc) with the Web Connector on the QuickBooks machine, type the "
        "password and tick Auto-Run."
    )
    if connection.password_hash is None:
        return WaitingReason(
            "never_connected",
            f"{message}: the connection has no password.",
            f"Set a password (POST {url}/password). Then open {steps}",
        )
    return WaitingReason("never_connected", f"{message}.", f"Open {steps}")


def _backs_off(backoff: Backoff, error: dict[str, Any], url: str) -> WaitingReason:
    sessions = f"{backoff.sessions} sessions in a row" if backoff.sessions > 1 else "the last session"
    message = f"QuickBooks failed for several requests in {sessions}. Nothing is sent until {backoff.until}."
    hint = f"Update Selected has no effect until then. To end the pause: POST {url}/resume."
    return WaitingReason(
        "quickbooks_failing",
        " ".join(filter(None, (message, error.get("message")))),
        " ".join(filter(None, (error.get("hint"), hint))),
    )


def _reported(error: dict[str, Any], not_seen: str | None) -> WaitingReason:
    """Return the reason for the last error that the Web Connector reported."""
    if error["code"] in HELD_BY_COMPANY_FILE:
        code, message = error["code"], error["message"]
    else:
        code, message = "quickbooks_unreachable", f"QuickBooks could not be reached: {error['message']}"
    return WaitingReason(code, f"{message} {not_seen}" if not_seen else message, error.get("hint"))
