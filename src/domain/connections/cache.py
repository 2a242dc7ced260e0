"""A cache of connections that were read in the last minute. It reduces queueing a request to one database call."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.records.connection import Connection
from domain.records.ownership import owned_connection

if TYPE_CHECKING:
    from datetime import datetime

    from domain.ports import Clock
    from domain.storage.ports import ConnectionReads

MAX_AGE = timedelta(minutes=1)
"""A session of another process can change the QBXML version and the country of a connection at any time."""

MAX_CACHED_CONNECTIONS = 1_000
"""Each connection takes about 1 KB."""


class ConnectionCache:
    """Reads connections and keeps them for a minute."""

    def __init__(self, store: ConnectionReads, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._cached: dict[str, tuple[Connection, datetime]] = {}

    def get(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection as it was at most a minute ago. Raises NotFound."""
        connection = self.cached(connection_id)
        return connection if connection and connection.app_id == app_id else self.read(app_id, connection_id)

    def cached(self, connection_id: str) -> Connection | None:
        """Return the connection if it was read at most a minute ago."""
        connection, read_at = self._cached.get(connection_id, (None, self._clock()))
        return connection if self._clock() - read_at <= MAX_AGE else None

    def read(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection as it is stored now. Raises NotFound."""
        return self.put(app_id, connection_id, self._store.connection(connection_id))

    def put(self, app_id: str, connection_id: str, stored: object) -> Connection:
        """Keep and return a connection that was just read. Raises NotFound if `stored` is not the app's."""
        self._cached.pop(connection_id, None)
        connection = owned_connection(stored if isinstance(stored, Connection) else None, app_id)
        if len(self._cached) >= MAX_CACHED_CONNECTIONS:
            self._cached.clear()
        self._cached[connection_id] = connection, self._clock()
        return connection
