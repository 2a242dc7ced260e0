"""Finds connections whose Web Connector has stopped calling although requests wait, and wakes test connections.

A machine that is off at night or at the weekend is not a fault. Requests that wait while nobody has fetched them for a
day need a person: the customer's machine is off or was replaced, Auto-Run is not ticked, or the password is wrong.

The Web Connector of a test connection does not poll. A call that queues requests wakes it, and the sweep does so while
requests wait: after a pause, a backoff, a lost response, or an error.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.connections.simulators import no_simulator
from domain.errors import Conflict, TooManyRequests, Unavailable
from domain.records.request import State
from domain.storage.changes import Put
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.storage.counts import DayCounts
    from domain.storage.ports import ConnectionStore

FORGOTTEN_AFTER = timedelta(days=4)
"""A connection that was given up does not count for ever: the alarm would never be over, and would hide others. Until
then, a machine that was turned off on a Friday is turned on again."""

QUEUED = (State.WAITING, State.RETRYABLE)
"""The counts have a request in flight in the state that it had before it was claimed."""


class StoppedConnections:
    """Collects the ids of connections that have stopped calling, and records it in each.

    Each look costs one read if requests wait, and a write when the connection is found for the first time.
    """

    def __init__(self, store: ConnectionStore, clock: Clock, wake: Callable[[str], object] = no_simulator) -> None:
        """`wake` lets a test connection run a session."""
        self._wake = wake
        self._store = store
        self._clock = clock
        self.ids: list[str] = []

    def look_at(self, connection_id: str, days: Iterable[DayCounts]) -> None:
        """Look at a connection by the counts of its last days."""
        if any(state in QUEUED and number > 0 for day in days for (state, _), number in day.inserted.items()):
            connection, now = self._store.connection(connection_id), self._clock()
            if connection and connection.simulated and not connection.deleted_at:
                self._wake(connection_id)
                return
            if connection is None or not has_stopped(connection, now):
                return
            self.ids.append(connection_id)
            if connection.stalled_at is None:
                # After a conflict, it is being used, or the next sweep looks again.
                with suppress(Conflict, TooManyRequests, Unavailable):
                    moment = timestamp(now)
                    self._store.commit(Put(connection, replace(connection, stalled_at=moment).changed(moment)))


def has_stopped(connection: Connection, now: datetime) -> bool:
    """Return whether the Web Connector last called between one and four days ago, and is expected to call."""
    if connection.deleted_at is not None or not connection.has_stopped_calling(now):
        return False
    return timestamp(now - FORGOTTEN_AFTER) <= (connection.last_call_at or "")
