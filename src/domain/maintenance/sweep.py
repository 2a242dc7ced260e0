"""What nobody else comes back for: silent Web Connector sessions and the records of deleted connections."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import Conflict, TooManyRequests
from domain.requests.record import timestamp
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.record import SILENCE_SECONDS

if TYPE_CHECKING:
    from datetime import datetime

    from domain.connections.record import Connection
    from domain.ports import Clock
    from domain.storage.ports import Database
    from domain.web_connector.session.record import Session

SESSIONS_A_READING = 25
CONNECTIONS_A_SWEEP = 100

SETTLED_AFTER = timedelta(minutes=15)
"""A deleted connection is kept at least so long (Lambda's longest run): whoever was at work when it was deleted has
ended then, and an index that lags shows what he stored."""

SILENT = "The Web Connector was silent for too long. The next update begins a new session."


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did. `finished` is False when its time was over before its work."""

    sessions_released: int
    records_removed: int
    connections_purged: int
    finished: bool


class Sweeper:
    """Releases silent sessions and removes what deleted connections left. Can be stopped and repeated at will."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def sweep(self, until: datetime) -> Swept:
        """Do what there is to do, and begin nothing more after `until`."""
        released, all_released = self._release_sessions(until)
        removed, purged, all_purged = self._purge_connections(until)
        return Swept(released, removed, purged, all_released and all_purged)

    def _release_sessions(self, until: datetime) -> tuple[int, bool]:
        """Return how many sessions were released and whether none is left."""
        before = timestamp(self._clock() - timedelta(seconds=SILENCE_SECONDS))
        released = 0
        seen: set[str] = set()
        while self._clock() < until:
            silent = [
                session for session in self._store.silent_sessions(before, SESSIONS_A_READING) if session.id not in seen
            ]
            if not silent:
                return released, True
            for session in silent:
                if self._clock() >= until:
                    return released, False
                seen.add(session.id)
                released += self._release(session)
        return released, False

    def _release(self, session: Session) -> bool:
        connection = self._store.connection(session.connection_id)
        try:
            self._store.commit(*end_of_session(session, connection, self._clock(), SILENT))
        except (Conflict, TooManyRequests):
            # The session was called just now, or its connection is being changed: the next sweep looks again.
            return False
        return True

    def _purge_connections(self, until: datetime) -> tuple[int, int, bool]:
        """Return how many records and connections were removed, and whether nothing is left to do now.

        The connections take turns, a step each: a small one does not wait for a large one.
        """
        removed = purged = 0
        complete = True
        deleted = self._store.deleted_connections(CONNECTIONS_A_SWEEP)
        turns = deque((connection, self._store.remove_records(connection)) for connection in deleted)
        while turns:
            if self._clock() >= until:
                return removed, purged, False
            connection, steps = turns.popleft()
            try:
                step = next(steps, None)
                if step is not None:
                    removed += step
                    turns.append((connection, steps))
                elif self._is_settled(connection):
                    self._store.remove_connection(connection)
                    purged += 1
            except TooManyRequests:
                complete = False
        return removed, purged, complete and len(deleted) < CONNECTIONS_A_SWEEP

    def _is_settled(self, connection: Connection) -> bool:
        return (connection.deleted_at or "") <= timestamp(self._clock() - SETTLED_AFTER)
