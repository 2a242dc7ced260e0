"""The end of a session: what it holds is given back or ends, and its connection is free again.

Used by `closeConnection`, `connectionError`, the next `authenticate` and the sweeper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.requests.record import timestamp
from domain.storage.changes import ChangeConnection, ChangeRequest, ChangeSession
from domain.web_connector.recovery.lost_response import settled
from domain.web_connector.responses.search_text import search_text_of
from domain.web_connector.session.record import KEPT_SECONDS

if TYPE_CHECKING:
    from datetime import datetime

    from domain.connections.record import Connection
    from domain.requests.record import QueuedRequest
    from domain.storage.changes import Change
    from domain.web_connector.session.record import Session


def moved_on(session: Session, now: datetime, **fields: Any) -> Session:
    """Return the session with `fields` changed, and the time of its call and of its expiry with them."""
    return session.changed(timestamp(now), **fields, expires_at=int(now.timestamp()) + KEPT_SECONDS)


def ended(session: Session, now: datetime, reason: str | None) -> ChangeSession:
    """Return the change that ends a session; `reason` is what a late `getLastError` is told."""
    after = moved_on(
        session,
        now,
        ended=True,
        in_flight=None,
        connection=None,
        search_text="",
        last_error=reason or session.last_error,
    )
    return ChangeSession(session, after)


def released(session: Session, now: datetime) -> ChangeRequest | None:
    """Return the change to what the session holds, None when it holds nothing."""
    record = session.in_flight
    return None if record is None else give_back(session, record, settled(record, now))


def give_back(session: Session, record: QueuedRequest, after: QueuedRequest) -> ChangeRequest:
    """Return the change of a held record that got no answer; an error can be searched for."""
    return ChangeRequest(record, after, search_text=search_text_of(session, None, after) if after.error else None)


def end_of_session(
    session: Session, connection: Connection | None, now: datetime, reason: str | None = None, **facts: Any
) -> list[Change]:
    """Return the changes that end a session, give back what it holds and free its connection.

    `facts` are members of the connection to change with that.
    """
    changes: list[Change] = [ended(session, now, reason)]
    if release := released(session, now):
        changes.append(release)
    if connection and connection.session_ticket == session.ticket:
        facts["session_ticket"] = None
        facts["answered_message_set"] = session.answered_message_set
        if session.reported:
            facts.setdefault("last_error", session.reported)
        if session.answered:
            facts["last_worked_at"] = session.last_call_at
    if connection and facts:
        changes.append(ChangeConnection(connection, connection.changed(timestamp(now), **facts)))
    return changes
