"""How far the objects of subscriptions have been read, and when they are read next, for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.subscription import BooksCopy, CopyPhase
from domain.subscriptions.run import RunState
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.subscription import CopyState, ObjectCopy, Subscription


class Progress:
    """What the next run of a connection finds.

    `copy` and `objects` are what is stored, after what the subscriptions of today change in it. An object that no run
    has looked at is not among them.
    """

    def __init__(self, state: CopyState, connection: Connection, now: datetime) -> None:
        self.now = now
        self.copy = state.copy or BooksCopy(connection.id, connection.app_id)
        self.run = RunState(
            state,
            connection.id,
            connection.app_id,
            version=qbxml.default_version(connection.qbxml_version),
            now=now,
            file_id=connection.file_id_seen,
        )
        self.objects = {one.name: self.run.objects.get(one.name, one) for one in state.objects}
        self._state = state
        self._connection = connection

    def of(self, connection: Connection) -> Progress:
        """Return the progress of the connection as it is after a change."""
        return self if connection is self._connection else Progress(self._state, connection, self.now)

    def next_read_at(self, name: str) -> str | None:
        """Return when an object is read next, or None if it is not read. Now and earlier mean the next session."""
        moment = self.run.due_at(name) if name in self.run.objects else NEVER
        if moment == NEVER:
            return None
        return max(moment, self._connection.run_due_at or "") or timestamp(self.now)

    def next_run_at(self, one: Subscription) -> str | None:
        """Return when the first object of a subscription is read next, or None if none is."""
        moments = () if one.paused_at else map(self.next_read_at, one.objects)
        return min(filter(None, moments), default=None)

    def copied_at(self, one: Subscription) -> str | None:
        """Return when all objects of a subscription had been read to the end."""
        return copied_at(one.objects, self.copy, self.objects)

    @property
    def all_copied_at(self) -> str | None:
        """When all objects of the connection had been read to the end."""
        return copied_at(wanted(self._state.subscriptions), self.copy, self.objects)


NEVER = "9"
"""The time at which an object is due that is not read any more (`RunState.due_at`)."""


def wanted(subscriptions: Collection[Subscription]) -> frozenset[str]:
    """Return the objects that the copy of a connection has: those that are read, or that were if all are paused."""
    read = [one for one in subscriptions if one.paused_at is None]
    return frozenset(name for one in read or subscriptions for name in one.objects)


def copied_at(names: Iterable[str], copy: BooksCopy, objects: Mapping[str, ObjectCopy]) -> str | None:
    """Return when all of these objects had been read to the end: the earliest of the last times.

    An object that QuickBooks cannot read does not count. Return None if none is left, and while one was never read or
    needs a resync.
    """
    moments = []
    for name in names:
        one, read = objects.get(name), copy.read.get(name)
        if one and one.phase is CopyPhase.UNSUPPORTED:
            continue
        if one is None or read is None or one.phase is CopyPhase.RESYNC_REQUIRED:
            return None
        if one.phase is CopyPhase.SNAPSHOT and read < one.began_at:
            return None
        moments.append(read)
    return min(moments, default=None)
