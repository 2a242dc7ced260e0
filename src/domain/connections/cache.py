"""Connections as this process last read them, so that queueing a request costs one database call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.connections.record import Connection
from domain.ownership import owned_connection

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from domain.ports import Clock
    from domain.storage.ports import Connections

MAX_CACHED_CONNECTIONS = 1_000
"""About 1 KB each."""


class ConnectionCache:
    """Reads connections and remembers them. What it returns may be out of date."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock
        self._cached: dict[str, tuple[Connection, datetime]] = {}

    def get(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection as it was last read. Raises NotFound."""
        connection, _ = self._cached.get(connection_id, (None, None))
        if connection is not None and connection.app_id == app_id:
            return connection
        return self.read(app_id, connection_id)

    def read(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection as it is stored now. Raises NotFound."""
        return self.put(app_id, connection_id, self._connections.connection(connection_id))

    def put(self, app_id: str, connection_id: str, stored: object) -> Connection:
        """Remember and return a connection that was just read. Raises NotFound when `stored` is not the app's."""
        self._cached.pop(connection_id, None)
        connection = owned_connection(stored if isinstance(stored, Connection) else None, app_id)
        if len(self._cached) >= MAX_CACHED_CONNECTIONS:
            self._cached.clear()
        self._cached[connection_id] = connection, self._clock()
        return connection

    def recent(self, connection_id: str, max_age: timedelta) -> Connection | None:
        """Return the connection if it was read at most `max_age` ago."""
        connection, read_at = self._cached.get(connection_id, (None, self._clock()))
        return connection if self._clock() - read_at < max_age else None
