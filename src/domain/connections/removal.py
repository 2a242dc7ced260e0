"""Deleting a connection: one commit after which nothing of it is found. The sweeper removes what it leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.connections.record import owned
from domain.errors import Conflict, ConnectionActive, TooManyRequests
from domain.requests.record import timestamp
from domain.storage.changes import ChangeConnection, RemoveConnection
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.record import SILENCE_SECONDS

if TYPE_CHECKING:
    from domain.connections.record import Connection
    from domain.ports import Clock
    from domain.storage.changes import Change
    from domain.storage.ports import Database
    from domain.web_connector.session.record import Session

TRIES = 5
"""How often it is tried again after the Web Connector changed the connection first."""

REASON = "The connection was deleted."


class ConnectionRemoval:
    """The use case. What belongs to another app, and what was deleted, is NotFound."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def delete(self, app_id: str, connection_id: str) -> None:
        """Delete a connection with its requests. A session that fell silent ends with it.

        Raises NotFound, ConnectionActive while a Web Connector session is live, TooManyRequests.
        """
        for _ in range(TRIES):
            connection = owned(self._store.connection(connection_id), app_id)
            try:
                self._store.commit(*self._changes(connection))
            except Conflict:
                continue
            return
        raise TooManyRequests("The connection is being changed. Try again in a moment.")

    def _changes(self, connection: Connection) -> list[Change]:
        """Return what deletes the connection. Raises ConnectionActive."""
        now = self._clock()
        removal = RemoveConnection(connection, timestamp(now))
        session = self._store.session(connection.session_ticket) if connection.session_ticket else None
        if session is None or session.ended:
            return [removal]
        self._refuse_while_live(session)
        ending = end_of_session(session, connection, now, REASON)
        return [*(change for change in ending if not isinstance(change, ChangeConnection)), removal]

    def _refuse_while_live(self, session: Session) -> None:
        if session.last_call_at > timestamp(self._clock() - timedelta(seconds=SILENCE_SECONDS)):
            raise ConnectionActive(
                "A Web Connector session of this connection is live. Try again when it has ended.",
                {"last_call_at": session.last_call_at},
            )
