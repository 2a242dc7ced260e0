"""Why something waits, and what to do about it: of a record that is queued, and of a connection's whole queue.

One reason is told, the first of these that holds. It is the one without whose end no other matters, and of what can
go away by itself and what needs a person the latter comes first:

1. `paused`: somebody wants it so.
2. `never_connected`: nothing else is known of the connection yet.
3. `company_file_mismatch`, `quickbooks_unreachable`: what the Web Connector reported last; nothing is sent before a
   session gets past it. A closed window or an absent Web Connector would only hide that it has to be mended.
4. `outside_sync_window`: ends by the clock. Before `not_seen`, because a machine may be switched off then.
5. `not_seen`: the Web Connector stays away longer than it was ever asked to.
6. `recovering`, `requests_ahead`, `next_session`: nothing is in the way; what will happen with this record.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.connections.record import COMPANY_FILE_MISMATCH
from domain.requests.record import QUEUED, State, timestamp
from domain.web_connector.session.polling import MAX_POSTPONEMENT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from domain.connections.record import Connection
    from domain.requests.record import QueuedRequest

MAX_COUNTED_AHEAD = 100
"""So many requests ahead are counted: whoever waits behind more needs no exact number, and each one is read."""

NOT_SEEN_AFTER = timedelta(seconds=3 * MAX_POSTPONEMENT_SECONDS)
"""A Web Connector that missed the longest interval twice is missing. The user's own interval may be longer than that;
then it is missing in between, which tells why it takes so long."""

CODES = (
    "paused",
    "never_connected",
    COMPANY_FILE_MISMATCH,
    "quickbooks_unreachable",
    "outside_sync_window",
    "not_seen",
    "recovering",
    "requests_ahead",
    "next_session",
)

_ASK_AT_ONCE = "To send it at once, choose Update Selected in the Web Connector."

_BEGIN_ANEW = "Should the Web Connector have stopped, Update Selected begins a new session."


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """A stable code, what it says to a developer, and what somebody can do (None: nothing need be done)."""

    code: str
    message: str
    hint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def of_request(
    record: QueuedRequest, connection: Connection | None, now: datetime, *, ahead: int | None = None
) -> WaitingReason | None:
    """Return why a record waits, None when it does not.

    `connection` is None when nothing is known of it that could be told. `ahead` is how many requests are sent
    before it, at most `MAX_COUNTED_AHEAD`; None when they were not counted.
    """
    if record.state not in QUEUED:
        return None
    in_the_way = of_connection(connection, now) if connection else None
    return in_the_way or _in_turn(record, ahead, live=connection is not None and connection.session_ticket is not None)


def of_connection(connection: Connection, now: datetime) -> WaitingReason | None:
    """Return what stands in the way of a connection's queue, None when nothing does."""
    url = f"/api/v1/connections/{connection.id}"
    if connection.paused_at is not None:
        return WaitingReason(
            "paused", f"The connection was paused at {connection.paused_at}.", f"To go on: POST {url}/resume."
        )
    if connection.last_connected_at is None:
        return _never_connected(connection, url)
    seen = max(connection.last_connected_at, connection.last_worked_at or "")
    missing = connection.session_ticket is None and seen < timestamp(now - NOT_SEEN_AFTER)
    if connection.last_error is not None:
        return _reported(connection.last_error, f" The Web Connector was last seen at {seen}." if missing else "")
    window = connection.sync_window
    if window and not window.is_open(now):
        return WaitingReason(
            "outside_sync_window",
            f"The sync window is closed. It opens at {window.opens} ({window.time_zone}).",
            f"To send sooner, change the connection's sync_window: PATCH {url}.",
        )
    if missing:
        return WaitingReason(
            "not_seen",
            f"The Web Connector was last seen at {seen}.",
            "See that the QuickBooks machine is on, that the Web Connector runs on it, and that Auto-Run is ticked for "
            "this connection; Update Selected asks at once. Should it show QBWC1040, type the connection's "
            "password there.",
        )
    return None


def _never_connected(connection: Connection, url: str) -> WaitingReason:
    add = (
        f"the connection's .qwc file (GET {url}/qwc) with the Web Connector on the QuickBooks machine, type the "
        "password and tick Auto-Run."
    )
    if connection.password_hash is None:
        message = "No Web Connector has logged in yet: the connection has no password."
        return WaitingReason("never_connected", message, f"Set a password (POST {url}/password). Then open {add}")
    return WaitingReason("never_connected", "No Web Connector has logged in yet.", f"Open {add}")


def _reported(error: Mapping[str, Any], missing: str) -> WaitingReason:
    """Return what the Web Connector reported last."""
    if error["code"] == COMPANY_FILE_MISMATCH:
        return WaitingReason(COMPANY_FILE_MISMATCH, error["message"] + missing, error.get("hint"))
    message = f"QuickBooks could not be reached: {error['message']}{missing}"
    return WaitingReason("quickbooks_unreachable", message, error.get("hint"))


def _in_turn(record: QueuedRequest, ahead: int | None, *, live: bool) -> WaitingReason:
    """Return what will happen with a record that nothing is in the way of."""
    if record.recovering:
        return WaitingReason(
            "recovering",
            "Its answer was lost. The next session asks QuickBooks for the answer that it kept, and sends the request "
            "only when QuickBooks never executed it.",
            "Do not queue it again: QuickBooks may have executed it.",
        )
    if ahead:
        number = "100 or more requests are" if ahead >= MAX_COUNTED_AHEAD else f"{ahead} requests are"
        return WaitingReason("requests_ahead", f"{'1 request is' if ahead == 1 else number} sent before it.")
    again = " again" if record.state is State.RETRYABLE else ""
    if live:
        running = f"A session is running and sends it{again} in its turn."
        return WaitingReason("next_session", running, _BEGIN_ANEW)
    return WaitingReason("next_session", f"It is sent{again} in its turn when the Web Connector comes.", _ASK_AT_ONCE)
