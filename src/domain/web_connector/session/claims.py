"""Claims: a session reserves the next request of its connection's queue in a commit that is made anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from domain.errors import Conflict
from domain.requests.record import QUEUED
from domain.storage.changes import ChangeRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from domain.requests.record import QueuedRequest
    from domain.storage.changes import Change
    from domain.storage.ports import Database

FRONT = 10
"""Requests read from the front of the queue. The number of results also estimates the waiting work."""

MAX_CLAIMS = 8
"""Maximum number of attempts to claim a request while other callers claim or discard the front of the queue. Each
attempt is a transaction, and the Web Connector waits for it."""

Changes: TypeAlias = "Callable[[QueuedRequest | None, int], Sequence[Change]]"
"""Returns the changes to commit with a claim. The parameters are the claimed record, or None if nothing is claimed, and
the number of waiting requests, including that record."""


class Claims:
    """Claims requests for sessions."""

    def __init__(self, store: Database) -> None:
        self._store = store

    def commit_and_claim(
        self,
        connection_id: str,
        session_id: str,
        now: datetime,
        changes: Changes,
        released: ChangeRequest | None = None,
    ) -> QueuedRequest | None:
        """Commit `changes` together with the claim of the next request. Return that request, or None.

        `released` is the change of a record that a session releases. It is part of the commit. If another session
        released the record, it can be claimed at once. If this session released it, a later session claims it. A
        request that was discarded after the queue was read and before the commit is skipped. Raises Conflict if a
        condition of `changes` does not hold.
        """
        tried: list[QueuedRequest] = []
        for _ in range(MAX_CLAIMS):
            queue = [record for record in self._queue(connection_id, session_id, released) if record not in tried]
            if not queue:
                break
            claim = _claim(queue[0], session_id, now, released)
            others = [released] if released and released.before is not claim.before else []
            try:
                # The claim comes last because a conflict in any other change must be reported first.
                self._store.commit(*changes(claim.after, len(queue)), *others, claim)
            except Conflict as conflict:
                if conflict.change != claim:
                    raise
                tried.append(queue[0])
            else:
                return claim.after
        self._store.commit(*changes(None, 0), *([released] if released else []))
        return None

    def next_request(self, connection_id: str, session_id: str) -> QueuedRequest | None:
        """Return the request that this session can claim next."""
        return next(iter(self._queue(connection_id, session_id, None)), None)

    def _queue(self, connection_id: str, session_id: str, released: ChangeRequest | None) -> Sequence[QueuedRequest]:
        """Return the front of the queue after `released`, without the requests that this session already had."""
        queue = list(self._store.queue_front(connection_id, FRONT))
        if released:
            queue = [record for record in queue if record.id != released.before.id]
            if released.after.state in QUEUED:
                queue.append(released.after)
                queue.sort(key=lambda record: (record.queue_priority, record.inserted_at, record.id))
        return [record for record in queue if record.last_session_id != session_id]


def _claim(record: QueuedRequest, session_id: str, now: datetime, released: ChangeRequest | None) -> ChangeRequest:
    before = released.before if released and record is released.after else record
    return ChangeRequest(before, record.claimed(session_id, now).as_change_of(before))
