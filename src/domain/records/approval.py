"""The approval that a write needs before it is sent. Its author cannot give it.

A request without a decision waits outside the queue. Its `send_by` is then at most MAX_SECONDS ahead, so that the sweep
ends a request without a decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.records.audit import Actor

MAX_SECONDS = 7 * 24 * 60 * 60
"""How long a request waits for approval."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who queues or decides: a person, or an API key with its rotations, which are one author.

    `id` is that of the person, or the public id of the first of these keys. It is None if it is not known. All writes
    of an author who `proposes` need approval. `actor` is the person, or the key that is used.
    """

    id: str | None = None
    proposes: bool = False
    actor: Actor | None = None


UNKNOWN_AUTHOR = Author()


class ApprovalDecision(StrEnum):
    """What was decided about a request."""

    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Approval:
    """The approval of a request.

    `queued_by` is the id of its author, and `send_by` the time that the author gave, in Unix seconds. `decided_by` is
    the id of the person or of the API key that decided. `revision` is the revision of the record that was approved, and
    `reason` tells why it was rejected.
    """

    queued_by: str | None
    send_by: int | None = None
    decision: ApprovalDecision | None = None
    decided_by: str | None = None
    decided_at: str | None = None
    revision: int | None = None
    reason: str | None = None

    def is_by_its_author(self, author: Author) -> bool:
        """Whether the decision of `author` does not count. An unknown author may be the one who queued the request."""
        return None in {author.id, self.queued_by} or author.id == self.queued_by

    def deadline(self, since: int) -> int:
        """Return the `send_by` of the request while it waits for approval from `since` on, in Unix seconds."""
        return min(since + MAX_SECONDS, self.send_by or since + MAX_SECONDS)

    def asked_again(self) -> Approval:
        """Return the approval without its decision."""
        return Approval(self.queued_by, self.send_by)

    def granted(self, by: str | None, at: str, revision: int) -> Approval:
        """Return the approval after somebody has approved a revision."""
        decision = ApprovalDecision.APPROVED
        return replace(self, decision=decision, decided_by=by, decided_at=at, revision=revision)

    def refused(self, by: str | None, at: str, reason: str) -> Approval:
        """Return the approval after somebody has rejected the request."""
        return replace(self, decision=ApprovalDecision.REJECTED, decided_by=by, decided_at=at, reason=reason)
