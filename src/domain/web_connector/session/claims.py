"""Claiming: a session takes the next request of its connection's queue, in the commit that it makes anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from domain.errors import Conflict
from domain.storage.changes import ChangeRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from domain.requests.record import QueuedRequest
    from domain.storage.changes import Change
    from domain.storage.ports import Database

FRONT = 10
"""How many candidates one reading of the queue yields: enough to pass over what others took meanwhile."""

TRIES_A_READING = 4
"""How many of them are tried. Each takes a transaction, and the Web Connector waits."""

READINGS = 2


class Candidate(NamedTuple):
    """A request that could be claimed: as it is stored, and as it is once it is back in the queue.

    The two differ only for what a former session held.
    """

    stored: QueuedRequest
    queued: QueuedRequest


Changes: TypeAlias = "Callable[[QueuedRequest | None, int], Sequence[Change]]"
"""What a commit changes beside the claimed record, given that (None: nothing is claimed) and how many known
ones wait, itself included."""


class Claims:
    """Claims requests for sessions."""

    def __init__(self, store: Database) -> None:
        self._store = store

    def commit_and_claim(
        self,
        connection_id: str,
        ticket: str,
        now: datetime,
        changes: Changes,
        *,
        held: str | None = None,
        given_back: Candidate | None = None,
    ) -> QueuedRequest | None:
        """Commit `changes` together with the claim of what is next; return that, or None.

        Between the reading of the queue and the commit somebody may discard a candidate: it is then
        passed over. `held` is the id of a record that `changes` already change. What this
        session had and gave back is left to a later one.

        Raises Conflict when one of `changes` does not hold.
        """
        stale: set[tuple[str, int]] = set()
        for _ in range(READINGS):
            front = [
                candidate
                for candidate in self._front(connection_id, ticket, given_back)
                if candidate.stored.id != held and (candidate.stored.id, candidate.stored.revision) not in stale
            ]
            if not front:
                break
            for candidate in front[:TRIES_A_READING]:
                claimed = _claimed(candidate, ticket, now)
                claim = ChangeRequest(candidate.stored, claimed)
                try:
                    # The claim comes last: what else does not hold is named before it.
                    self._store.commit(*changes(claimed, len(front)), claim)
                except Conflict as conflict:
                    if conflict.change != claim:
                        raise
                    stale.add((candidate.stored.id, candidate.stored.revision))
                else:
                    return claimed
        self._store.commit(*changes(None, 0))
        return None

    def next_in_line(self, connection_id: str, ticket: str) -> QueuedRequest | None:
        """Return what this session could claim next, as it is stored."""
        front = self._front(connection_id, ticket, None)
        return front[0].stored if front else None

    def _front(self, connection_id: str, ticket: str, given_back: Candidate | None) -> Sequence[Candidate]:
        queued = [
            Candidate(record, record)
            for record in self._store.queue_front(connection_id, FRONT)
            if record.last_session_id != ticket
        ]
        if given_back is None:
            return queued
        others = [candidate for candidate in queued if candidate.stored.id != given_back.stored.id]
        return sorted([given_back, *others], key=_turn)


def _turn(candidate: Candidate) -> tuple[int, str, str]:
    record = candidate.queued
    return record.queue_priority, record.inserted_at, record.id


def _claimed(candidate: Candidate, ticket: str, now: datetime) -> QueuedRequest:
    return candidate.queued.claimed(ticket, now).as_change_of(candidate.stored)
