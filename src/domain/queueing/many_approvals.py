"""Decides about several requests that wait for approval: those with given ids, or a batch as a whole.

Each decision is a commit of its own with its entry in the audit log, as a single one is: the log says who approved
which write. A repeated call returns the decisions that were made before, so a call that was cut off is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import InvalidState, ServiceError, TooManyRequests
from domain.records.batch import position_of
from domain.records.ownership import not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from domain.ports import Clock
    from domain.queueing.approvals import Approvals
    from domain.queueing.service import RequestService
    from domain.records.approval import Author
    from domain.records.audit import Actor
    from domain.records.request import QueuedRequest

MAX_SECONDS = 15
"""A call decides about nothing more after this time. The function may take 25 seconds."""


@dataclass(frozen=True, slots=True)
class DecidedRequest:
    """The result for one request of a call. `refusal` is None if it is approved or rejected, as the call asked."""

    id: str
    refusal: ServiceError | None = None


class ManyApprovals:
    """The use cases. A request about which the call cannot decide stays as it is, and the result has the reason.

    A batch is decided about as a whole: if one of its requests has to be left, the call raises the error and changes
    nothing. Raises NotFound for a batch that does not exist.
    """

    def __init__(self, requests: RequestService, approvals: Approvals, clock: Clock) -> None:
        self._requests = requests
        self._approvals = approvals
        self._clock = clock

    def approve(
        self,
        app_id: str,
        connection_id: str,
        revisions: Mapping[str, int],
        *,
        actor: Actor,
        author: Author,
        accept_values: bool = False,
        batch_id: str | None = None,
    ) -> Sequence[DecidedRequest]:
        """Approve revisions of requests, by their ids. Of a batch, each one that waits for approval must be named."""

        def approve(request_id: str) -> None:
            self._approvals.approve(
                app_id,
                request_id,
                connection_id,
                actor=actor,
                author=author,
                revision=revisions[request_id],
                accept_values=accept_values,
            )

        ids = list(revisions)
        if batch_id:
            records = {record.id: record for record in self._batch(app_id, connection_id, batch_id)}
            unnamed = [record.id for record in records.values() if record.awaits_approval and record.id not in ids]
            if unnamed or not records.keys() >= revisions.keys():
                message = "Name each request of the batch that waits for approval, and no other one."
                raise InvalidState(message, {"requests": unnamed})
            ids.sort(key=position_of)
            for request_id in ids:
                self._approvals.check_approval(
                    records[request_id], author=author, revision=revisions[request_id], accept_values=accept_values
                )
        return self._each(ids, approve)

    def reject(
        self,
        app_id: str,
        connection_id: str,
        ids: Sequence[str],
        *,
        actor: Actor,
        author: Author,
        reason: str,
        dependants: bool = False,
        batch_id: str | None = None,
    ) -> Sequence[DecidedRequest]:
        """Reject requests. With a batch in place of `ids`, all of its requests that wait for approval.

        `dependants` is as in `Approvals.reject`. Requests that are rejected too need it not.
        """

        def reject(request_id: str) -> None:
            self._approvals.reject(
                app_id,
                request_id,
                connection_id,
                actor=actor,
                author=author,
                reason=reason,
                dependants=dependants,
            )

        if batch_id:
            batch = self._batch(app_id, connection_id, batch_id)
            open_ = [record for record in batch if record.awaits_approval]
            ids = [record.id for record in batch if record.awaits_approval or record.was_rejected]
            for record in open_:
                self._approvals.check_rejection(record, author=author, with_them=ids, dependants=dependants)
            if not ids:
                raise InvalidState("No request of the batch waits for approval.")
        # A request is rejected before those that it depends on.
        return self._each(sorted(ids, key=position_of, reverse=True), reject)

    def _batch(self, app_id: str, connection_id: str, batch_id: str) -> Sequence[QueuedRequest]:
        batch = self._requests.batch(app_id, connection_id, batch_id)
        if not batch:
            raise not_found("batch")
        return batch

    def _each(self, ids: Collection[str], decide: Callable[[str], None]) -> Sequence[DecidedRequest]:
        """Decide about each request. What is refused is left."""
        until = self._clock() + timedelta(seconds=MAX_SECONDS)
        decided = []
        for request_id in ids:
            try:
                if self._clock() >= until:
                    raise TooManyRequests("The call took too long. Repeat it: what was decided stays decided.")
                decide(request_id)
            except ServiceError as error:
                decided.append(DecidedRequest(request_id, error))
            else:
                decided.append(DecidedRequest(request_id))
        return decided
