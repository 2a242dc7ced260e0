"""A connection whose writes need approval, and the keys that queue and decide."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.maintenance.late_requests import end_late_requests
from domain.queueing.approvals import Approvals
from domain.queueing.new_request import Idempotency, QueueBatch, Queued, QueueRequest, copy_of
from domain.queueing.service import RequestService
from domain.queueing.successor import Replaces
from domain.records.approval import Author
from domain.records.audit import Actor, ActorType
from tests.support.builders import APP_ID, CONNECTION_ID
from tests.support.queueing import new_request, queueing_without_quotas
from tests.support.web_connector.connector import Connector

if TYPE_CHECKING:
    from domain.queueing.new_request import NewRequest
    from domain.records.request import QueuedRequest

ANNE, BOB, ROBOT = Author("key_anne"), Author("key_bob"), Author("key_robot", proposes=True)


def customer(name: str = "Ann", **fields: Any) -> NewRequest:
    """Return a write."""
    return new_request({"CustomerAddRq": {"CustomerAdd": {"Name": name}}}, **fields)


def actor_of(author: Author) -> Actor:
    """Return the API key with which an author calls now."""
    return Actor(ActorType.API_KEY, author.id)


class Desk:
    """The use cases of a connection, its Web Connector and the sweep, over a store in memory."""

    def __init__(self, **settings: Any) -> None:
        self.qbwc = Connector()
        self.qbwc.connect(**settings)
        self.store, self.clock = self.qbwc.store, self.qbwc.clock
        self.queueing = queueing_without_quotas(self.store, self.clock, self.qbwc.new_id)
        self.requests = RequestService(self.store, self.clock)
        self.approvals = Approvals(self.requests, self.clock)

    def queue(self, author: Author, new: NewRequest, key: str | None = None, replaces: str | None = None) -> Queued:
        """Queue a request."""
        self.clock.advance(seconds=1)
        idempotency = Idempotency.of(key, CONNECTION_ID, "the same body") if key else None
        former = Replaces(replaces, force=True) if replaces else None
        command = QueueRequest(APP_ID, CONNECTION_ID, lambda _: new, idempotency, replaces=former, author=author)
        return self.queueing.queue(command)

    def batch(self, author: Author, *requests: NewRequest) -> list[str]:
        """Queue a batch, and return its ids."""
        self.clock.advance(seconds=1)
        command = QueueBatch(APP_ID, CONNECTION_ID, lambda _: requests, author=author)
        return [queued.stored.record.id for queued in self.queueing.queue_batch(command).requests]

    def discard(self, request_id: str, **how: Any) -> None:
        """Take a request out of the queue."""
        self.requests.discard(APP_ID, request_id, actor=actor_of(ANNE), **how)

    def waiting(self, author: Author = ANNE, **fields: Any) -> str:
        """Queue a write that needs approval, and return its id."""
        return self.queue(author, customer(needs_approval=True, **fields)).stored.record.id

    def queue_again(self, author: Author, request_id: str) -> str:
        """Queue an ended request again, and return the id of its successor."""
        copy = copy_of(self.requests.copied(APP_ID, request_id))
        return self.queue(author, copy, replaces=request_id).stored.record.id

    def approve(self, author: Author, request_id: str, revision: int | None = None, **how: Any) -> QueuedRequest:
        """Approve a request as it is, or another revision of it."""
        actor = actor_of(author)
        how |= {"revision": self.record(request_id).revision if revision is None else revision}
        return self.approvals.approve(APP_ID, request_id, actor=actor, author=author, **how).record

    def reject(self, author: Author, request_id: str, reason: str = "No.", **how: Any) -> QueuedRequest:
        """Reject a request."""
        actor = actor_of(author)
        return self.approvals.reject(APP_ID, request_id, actor=actor, author=author, reason=reason, **how).record

    def record(self, request_id: str) -> QueuedRequest:
        """Return a record."""
        return self.qbwc.record(request_id)

    def sweep(self) -> int:
        """End what was not sent in time, and return how much."""
        return end_late_requests(self.store, self.clock, self.clock() + timedelta(minutes=5))[0]
