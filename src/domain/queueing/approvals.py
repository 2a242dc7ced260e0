"""Approves and rejects requests that wait for approval (`domain.records.approval`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import Forbidden, InvalidState
from domain.queueing.service import RequestService, entries
from domain.records.approval import ApprovalDecision
from domain.records.audit import Action
from domain.records.request import ENDED

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.approval import Approval, Author
    from domain.records.audit import Actor
    from domain.records.request import QueuedRequest, StoredRequest

_OF_ITS_AUTHOR = (
    "The API key that queued a request cannot approve or reject it. Neither can a key that it was rotated from or to."
)


class Approvals:
    """The use cases. Each raises the errors of `RequestService.get`, and Forbidden for the author of the request.

    A decision is one commit together with its entry in the audit log, which names the `actor`. `author` is the API key
    with its rotations. A decision that was made before is returned.
    """

    def __init__(self, requests: RequestService, clock: Clock) -> None:
        self._requests = requests
        self._clock = clock

    def approve(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None = None,
        *,
        actor: Actor,
        author: Author,
        revision: int,
        accept_values: bool = False,
    ) -> StoredRequest:
        """Approve a revision of a request, which then enters the queue.

        Raises InvalidState if the request does not wait for approval, has another revision, or will get values of the
        responses to other requests and the caller does not accept values that nobody has seen.
        """

        def approved(record: QueuedRequest, now: datetime) -> QueuedRequest | None:
            if _is_approved(record, author, revision, now, accept_values=accept_values):
                return None
            return record.approved(actor.id, now)

        return self._requests.change(
            app_id,
            request_id,
            connection_id,
            approved,
            entry_of=entries(Action.REQUEST_APPROVED, actor),
            is_done=lambda _, record: _was_approved(record.approval, revision),
        )

    def reject(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None = None,
        *,
        actor: Actor,
        author: Author,
        reason: str,
        dependants: bool = False,
    ) -> StoredRequest:
        """Discard a request that waits for approval.

        Raises InvalidState if it does not. `dependants` is as in `RequestService.discard`.
        """

        def rejected(record: QueuedRequest, now: datetime) -> QueuedRequest | None:
            if _approval(record, author).decision is ApprovalDecision.REJECTED:
                return None
            _refuse_unless_open(record, now)
            if not dependants:
                self._requests.refuse_with_dependants(record)
            return record.rejected(actor.id, reason, now)

        return self._requests.change(
            app_id,
            request_id,
            connection_id,
            rejected,
            entry_of=entries(Action.REQUEST_REJECTED, actor),
            is_done=lambda _, record: record.was_rejected,
        )

    def check_approval(
        self, record: QueuedRequest, *, author: Author, revision: int, accept_values: bool = False
    ) -> None:
        """Raise the error that `approve` would raise for a record."""
        _is_approved(record, author, revision, self._clock(), accept_values=accept_values)

    def check_rejection(
        self, record: QueuedRequest, *, author: Author, with_them: Collection[str], dependants: bool = False
    ) -> None:
        """Raise the error that `reject` would raise for a record, after those `with_them` were rejected."""
        _approval(record, author)
        _refuse_unless_open(record, self._clock())
        if not dependants:
            self._requests.refuse_with_dependants(record, but=with_them)


def _is_approved(record: QueuedRequest, author: Author, revision: int, now: datetime, *, accept_values: bool) -> bool:
    """Return whether the revision was approved. Raises the errors of `approve` if it cannot be."""
    if _was_approved(_approval(record, author), revision):
        return True
    _refuse_unless_open(record, now)
    if record.revision != revision:
        message = f"The request has changed since revision {revision}. Look at it again before you approve it."
        raise InvalidState(message, {"revision": record.revision})
    if record.dependencies and not accept_values:
        raise InvalidState(
            "It waits for the responses to other requests, and may get values of them that nobody has seen. "
            'Approve it when they have ended, or with "accept_values": true.',
            {"state": record.state.value},
        )
    return False


def _approval(record: QueuedRequest, author: Author) -> Approval:
    """Return the approval that a request needs. Raises InvalidState if it needs none, and Forbidden for its author."""
    if record.approval is None:
        raise InvalidState("The request needs no approval.", {"state": record.state.value})
    if record.approval.is_by_its_author(author):
        raise Forbidden(_OF_ITS_AUTHOR)
    return record.approval


def _refuse_unless_open(record: QueuedRequest, now: datetime) -> None:
    if record.misses_send_by(now):
        raise InvalidState(f"The time for its approval is over: {record.send_by_time}.", {"state": record.state.value})
    if not record.awaits_approval:
        decision = record.approval.decision if record.approval else None
        if decision is None and record.state not in ENDED:
            message = "Nobody can decide about it yet: QuickBooks is asked first which write the request needs."
            raise InvalidState(message, {"state": record.state.value})
        how = f"was {decision}" if decision else f"is {record.state}"
        message = f"The request {how}, so nobody can decide about it any more."
        raise InvalidState(message, {"state": record.state.value})


def _was_approved(approval: Approval | None, revision: int) -> bool:
    """Return whether this revision of a request was approved."""
    return approval is not None and (approval.decision, approval.revision) == (ApprovalDecision.APPROVED, revision)
