"""Deletes a connection in one commit. The connection is not found after that, and the sweep removes its data."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.connections.service import live_session
from domain.errors import ConnectionActive
from domain.records.audit import Action, Actor, Subject, audit_entry
from domain.records.ownership import owned_connection
from domain.records.session import SILENCE_SECONDS
from domain.storage.changes import Put
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp
from domain.web_connector.session.end import end_of_session

if TYPE_CHECKING:
    from datetime import datetime

    from domain.errors import Conflict
    from domain.ports import Clock
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.storage.ports import SweepStore

REASON = "The connection was deleted."


def remove_connection(store: SweepStore, clock: Clock, app_id: str, connection_id: str, *, actor: Actor) -> None:
    """Delete a connection with its requests. End its session if the session is silent.

    Raises NotFound, TooManyRequests, or ConnectionActive if a Web Connector session is live.
    """

    def attempt(_: Conflict | None) -> None:
        connection = owned_connection(store.connection(connection_id), app_id)
        now = clock()
        changes: list[Change] = []
        if session := live_session(store, connection):
            _refuse_while_live(session, now)
            # The removal itself frees the connection.
            changes += end_of_session(session, store.requests_in_flight(session)[0], None, now, REASON)
        removed = connection.removed(timestamp(now))
        subject = Subject(app_id, removed.id, removed.revision, removed.id)
        entry = audit_entry(Action.CONNECTION_DELETED, actor, subject, removed.updated_at, name=connection.name)
        store.commit(*changes, Put(connection, removed), Put(None, entry))

    commit_with_retry(attempt, "The connection is being changed. Try again in a moment.")


def _refuse_while_live(session: Session, now: datetime) -> None:
    if session.last_call_at > timestamp(now - timedelta(seconds=SILENCE_SECONDS)):
        raise ConnectionActive(
            "A Web Connector session of this connection is live. Try again when it has ended.",
            {"last_call_at": session.last_call_at},
        )
