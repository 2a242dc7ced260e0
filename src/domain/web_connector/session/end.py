"""The end of a session: the request in flight is requeued or ends, and the connection is free again.

It is used by `closeConnection`, `connectionError`, the next `authenticate`, the sweep and the removal of a connection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.records.request import IN_FLIGHT, QueuedRequest
from domain.records.session import InFlight, Limits
from domain.storage.changes import ChangeRequest, Put
from domain.storage.ports import IndexDays
from domain.timestamps import timestamp
from domain.web_connector.outcomes.lost_response import Ending, after_session_end
from domain.web_connector.outcomes.outcome import RequestUpdate
from domain.web_connector.session.backoff import at_end

if TYPE_CHECKING:
    from datetime import datetime

    from domain.errors import Conflict
    from domain.records.connection import Connection
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.storage.ports import Database

FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"

MAX_IN_FLIGHT = 10
"""The number of index entries that a login reads to find the request of a missing session. A connection has only one
request in flight, but an index can show former states."""


def session_end(session: Session, now: datetime, reason: str | None) -> Put[Session]:
    """Return the change that ends a session. A late `getLastError` returns `reason`."""
    last_error = reason or session.last_error
    return Put(session, session.called(now, ended=True, in_flight=None, connection=None, last_error=last_error))


def request_release(session: Session, now: datetime, ending: Ending) -> ChangeRequest | None:
    """Return the change of the request in flight, or None if there is no such request."""
    return _release(session.in_flight, now, ending, session.limits) if session.in_flight else None


def _release(in_flight: InFlight, now: datetime, ending: Ending, limits: Limits) -> ChangeRequest:
    record = in_flight.record
    after = after_session_end(record, now, ending, running_until=limits.running_until(record))
    return RequestUpdate(after).change(in_flight)


def connection_fields(session: Session) -> dict[str, Any]:
    """Return the fields of the connection that change when its session ends."""
    fields: dict[str, Any] = {
        "session_id": None,
        "message_set_to_forget": session.message_set_to_forget,
        "backoff": at_end(session),
    }
    if session.connection_error:
        fields["last_error"] = session.connection_error
    if session.responses:
        fields["last_worked_at"] = session.last_call_at
    return fields


def end_of_session(
    session: Session,
    connection: Connection | None,
    now: datetime,
    reason: str | None = None,
    *,
    ending: Ending = Ending.OTHER,
    **fields: Any,
) -> list[Change]:
    """Return the changes that end a session, release its request and free its connection.

    `fields` are fields of the connection to change in the same commit.
    """
    changes: list[Change] = [session_end(session, now, reason)]
    if release := request_release(session, now, ending):
        changes.append(release)
    if connection and connection.session_id == session.id:
        fields = connection_fields(session) | fields
    if connection and fields:
        changes.append(Put(connection, connection.changed(timestamp(now), **fields)))
    return changes


def corrected(session: Session, conflict: Conflict | None) -> Session:
    """Return the session with its request as it is stored, if releasing the request caused the conflict.

    This happens only after the tables were changed from outside the service: a request was removed, or a table was
    restored alone. A request that the session does not hold is not released. Otherwise the session could never end.
    """
    if conflict is None or session.in_flight is None or not isinstance(conflict.change, ChangeRequest):
        return session
    if conflict.change.before.id != session.in_flight.record.id:
        return session
    stored = conflict.current
    held = isinstance(stored, QueuedRequest) and stored.state in IN_FLIGHT and stored.last_session_id == session.id
    return replace(session, in_flight=InFlight(stored) if held else None)  # type: ignore[arg-type]


def release_without_session(
    store: Database, connection: Connection, now: datetime, limits: Limits
) -> ChangeRequest | None:
    """Return the release of the request that the connection's missing session holds, or None if there is none.

    A session is missing if the table of the sessions was lost or restored. Its request is found by its state. A write
    that was sent is recovered, because a missing session does not show whether QuickBooks has executed it. `limits` are
    those of a new session, because the ones of the missing session are unknown.
    """
    for state in sorted(IN_FLIGHT):
        days = IndexDays(connection.id, "updated_at", "state", FIRST_DAY, LAST_DAY, state)
        for entry in store.index_entries(days, descending=True, skip=0, limit=MAX_IN_FLIGHT):
            record = store.request(entry.id)
            if isinstance(record, QueuedRequest) and record.last_session_id == connection.session_id:
                return _release(InFlight(record), now, Ending.OTHER, limits)
    return None
