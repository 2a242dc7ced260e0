"""The successor of a request that has ended: the one request that is queued in its place.

Several routes queue a request again: a bulk call, a call for one request, a corrected request that replaces it, and the
continuation of its batch. The id of the successor follows from the request, and no id is stored twice. So whoever comes
first queues it, and the others get the same one. A successor can have a successor in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from domain.errors import InvalidState, PossiblyExecuted
from domain.records.audit import Action, Subject, audit_entry
from domain.records.batch import batch_id, id_at, new_batch_id, position_of
from domain.records.request import ENDED, WhetherExecuted
from domain.storage.changes import Put

if TYPE_CHECKING:
    from domain.records.audit import Actor
    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change

_NAMESPACE = UUID("5c1d6a0e-52c1-4a0c-9c39-1c8f6f3f7a52")
"""Makes the ids of successors differ from all other ids. It must not change, or requests could be queued twice."""

_REFUSALS = {
    WhetherExecuted.YES: "QuickBooks has executed the request {}. Its copy would be executed too.",
    WhetherExecuted.UNKNOWN: "QuickBooks may have executed the request {}. Look in QuickBooks first.",
}


def id_again(request_id: str) -> str:
    """Return the id of the successor of a request.

    The successors of a batch are a batch too, and each has the position of its predecessor.
    """
    family = str(uuid5(_NAMESPACE, id_at(request_id, 0)))
    if batch_id(request_id):
        family = new_batch_id(family)
    return id_at(family, position_of(request_id))


class HasSuccessor(Exception):
    """One of several requests was queued again meanwhile. Callers of the API never see it."""


@dataclass(frozen=True, slots=True)
class Replaces:
    """The request that a new one succeeds.

    With `force`, QuickBooks may have executed it. If an `actor` is given, their entry in the audit log is stored
    together with the new request.
    """

    request_id: str
    force: bool = False
    actor: Actor | None = None

    def check(self, record: QueuedRequest) -> None:
        """Raise InvalidState unless the request has ended, and PossiblyExecuted unless it certainly wrote nothing."""
        if record.state not in ENDED:
            message = f"The request {record.id} is {record.state}. It can be queued again when it has ended."
            raise InvalidState(message, {"state": record.state.value})
        if (refusal := _REFUSALS.get(record.executed or WhetherExecuted.NO)) and not self.force:
            message = f"{refusal.format(record.id)} Add ?force=true to queue it all the same."
            raise PossiblyExecuted(message, {"executed": record.executed, "record_id": record.id})

    def entries(self, successor: QueuedRequest) -> list[Change]:
        """Return the change that stores the entry in the audit log, or none without an actor."""
        if self.actor is None:
            return []
        subject = Subject(successor.app_id, successor.id, successor.revision, successor.connection_id)
        action, at = Action.REQUEST_QUEUED_AGAIN, successor.inserted_at
        return [Put(None, audit_entry(action, self.actor, subject, at, request_id=self.request_id))]
