"""The end of a session: the request in flight is requeued or ends, and the connection is free again.

It is used by `closeConnection`, `connectionError`, the next `authenticate`, the sweep and the removal of a connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.lost_response import after_session_end
from domain.web_connector.outcomes.outcome import RequestUpdate
from domain.web_connector.session.backoff import at_end

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.session import Session
    from domain.storage.changes import Change, ChangeRequest


def session_end(session: Session, now: datetime, reason: str | None) -> Put[Session]:
    """Return the change that ends a session. A late `getLastError` returns `reason`."""
    last_error = reason or session.last_error
    return Put(session, session.called(now, ended=True, in_flight=None, connection=None, last_error=last_error))


def request_release(session: Session, now: datetime) -> ChangeRequest | None:
    """Return the change of the request in flight, or None if there is no such request."""
    in_flight = session.in_flight
    return RequestUpdate(after_session_end(in_flight.record, now)).change(in_flight) if in_flight else None


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
    session: Session, connection: Connection | None, now: datetime, reason: str | None = None, **fields: Any
) -> list[Change]:
    """Return the changes that end a session, release its request and free its connection.

    `fields` are fields of the connection to change in the same commit.
    """
    changes: list[Change] = [session_end(session, now, reason)]
    if release := request_release(session, now):
        changes.append(release)
    if connection and connection.session_id == session.id:
        fields = connection_fields(session) | fields
    if connection and fields:
        changes.append(Put(connection, connection.changed(timestamp(now), **fields)))
    return changes
