"""The end of a session: the request in flight is requeued or ends, and the connection is free again.

It is used by `closeConnection`, `connectionError`, the next `authenticate`, the sweep and the removal of a connection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.records.request import IN_FLIGHT, QueuedRequest, State
from domain.records.session import InFlight
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.lost_response import Ending, after_session_end
from domain.web_connector.outcomes.outcome import RequestUpdate
from domain.web_connector.session.backoff import at_end

if TYPE_CHECKING:
    from datetime import datetime

    from domain.errors import Conflict
    from domain.records.connection import Connection
    from domain.records.session import Limits, Session
    from domain.storage.changes import Change


def session_end(session: Session, now: datetime, reason: str | None) -> Put[Session]:
    """Return the change that ends a session. A late `getLastError` returns `reason`."""
    last_error = reason or session.last_error
    return Put(session, session.called(now, ended=True, in_flight=None, connection=None, last_error=last_error))


def request_release(session: Session, now: datetime, ending: Ending) -> ChangeRequest | None:
    """Return the change of the request in flight, or None if there is no such request."""
    return release(session.in_flight, now, ending, session.limits) if session.in_flight else None


def release(in_flight: InFlight, now: datetime, ending: Ending, limits: Limits) -> ChangeRequest:
    """Return the change that requeues or ends the request of a session with these limits."""
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
    if request_change := request_release(session, now, ending):
        changes.append(request_change)
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


def returned_write(session: Session, record: object, now: datetime) -> list[ChangeRequest]:
    """Return the change of the session's returned write, which QuickBooks may have been executing until now.

    `record` is the stored record of that write, or None.
    """
    if not isinstance(record, QueuedRequest) or record.state is not State.RETRYABLE:
        return []
    if record.last_session_id != session.id or not record.recovery.running_until:
        return []
    return [ChangeRequest(record, record.changed(now, recovery=replace(record.recovery, running_until=None)))]
