"""Queueing the successor of a request that has ended (`domain.records.successor`).

Several routes queue a request again: a bulk call, a call for one request, a corrected request that replaces it, and the
continuation of its batch. Whoever comes first queues it, and the others get the same one. A successor can have a
successor in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import InvalidState, PossiblyExecuted
from domain.records.audit import Action, Subject, audit_entry
from domain.records.request import ENDED, WhetherExecuted
from domain.storage.changes import Put

if TYPE_CHECKING:
    from domain.records.audit import Actor
    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change

_REFUSALS = {
    WhetherExecuted.YES: "QuickBooks has executed the request {}. Its copy would be executed too.",
    WhetherExecuted.UNKNOWN: "QuickBooks may have executed the request {}. Look in QuickBooks first.",
}


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
