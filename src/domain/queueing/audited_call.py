"""The audit entry of a call that changes many requests in several commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import Conflict, TooManyRequests
from domain.records.audit import Subject, begun_entry
from domain.storage.changes import Put
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.ports import Clock
    from domain.records.audit import Action, Actor, AuditEntry
    from domain.records.request import QueuedRequest
    from domain.storage.ports import Committing


class AuditedCall:
    """Stores the entry before the first change of the call, and completes it when the call has ended.

    A call that changes nothing has no entry. A call that is cut off leaves an entry that is not completed.
    """

    def __init__(self, store: Committing, clock: Clock, action: Action, actor: Actor) -> None:
        self._store = store
        self._clock = clock
        self._action = action
        self._actor = actor
        self._begun: AuditEntry | None = None

    def begin(self, first: QueuedRequest) -> None:
        """Store the entry, unless that was done before. `first` is a record as the first commit would store it.

        Raises TooManyRequests if an equal call began at the same moment.
        """
        if self._begun:
            return
        subject = Subject(first.app_id, first.id, first.revision, first.connection_id)
        entry = begun_entry(self._action, self._actor, subject, timestamp(self._clock()))
        try:
            self._store.commit(Put(None, entry))
        except Conflict:
            raise TooManyRequests("Another call changes these requests. Try again in a moment.") from None
        self._begun = entry

    def complete(self, **counts: int) -> None:
        """Store how many requests the call changed."""
        if self._begun:
            self._store.commit(Put(self._begun, self._begun.completed(timestamp(self._clock()), counts)))
