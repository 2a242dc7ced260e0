"""The operations of an app on its requests: queue, read, discard, delete, redeliver the webhook."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain import qbxml
from domain.connections.cache import ConnectionCache
from domain.errors import Gone, IdempotencyKeyReused, InFlight, InvalidState, UnsupportedByVersion
from domain.queueing import waiting_reason
from domain.queueing.insertion_times import InsertionTimes
from domain.records.ownership import not_found, owned
from domain.records.request import ENDED, QUEUED, Paging, QueuedRequest, State, StoredRequest
from domain.records.search_text import searchable_text
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import (
    AddRequest,
    Change,
    ChangeRequest,
    ClaimIdempotencyKey,
    IdempotencyClaim,
    RemoveRequest,
    RequireConnection,
)
from domain.storage.ports import RequestDetail
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.errors import Conflict
    from domain.ports import Clock, IdSource
    from domain.records.connection import Connection
    from domain.records.request import Tombstone
    from domain.storage.ports import Database

IDEMPOTENCY_SECONDS = 24 * 60 * 60
"""How long a repeated `Idempotency-Key` returns the first record (docs/reference/service-contract.md, Idempotency)."""

_KIND = "queued request"
_CONTENDED = "The request is being changed. Try again in a moment."


@dataclass(frozen=True, slots=True)
class Idempotency:
    """An `Idempotency-Key` and the hash of all inputs of the call."""

    key: str
    body_hash: str

    @classmethod
    def of(cls, key: str, connection_id: str, body: object) -> Idempotency:
        """Return the key for a JSON body. The order of its members does not matter."""
        canonical = json.dumps([connection_id, body], sort_keys=True, separators=(",", ":"))
        return cls(key, hashlib.sha256(canonical.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Queued:
    """A queued request. `repeated` means that an earlier call with the same idempotency key queued it."""

    stored: StoredRequest
    repeated: bool = False


class RequestService:
    """The use cases. Each method raises NotFound for another app's request or connection."""

    def __init__(self, store: Database, clock: Clock, new_id: IdSource) -> None:
        self._store = store
        self._cache = ConnectionCache(store, clock)
        self._clock = clock
        self._insertion_times = InsertionTimes(clock)
        self._new_id = new_id

    def queue(
        self,
        app_id: str,
        connection_id: str,
        request: qbxml.Request,
        webhook: Webhook | None,
        idempotency: Idempotency | None = None,
        *,
        may_iterate: bool = False,
    ) -> Queued:
        """Queue a request with one commit, which also checks the connection and the idempotency key.

        Reads the connection first if this process has not read it in the last minute. Without a `webhook`, the
        connection's default applies. `may_iterate` allows a query that can iterate to be sent in pages if its response
        is too large. Raises NotFound, UnsupportedByVersion, RequestTooLarge and IdempotencyKeyReused.
        """
        self._check_version(request, self.connection(app_id, connection_id))
        # All attempts have the same id, so a call of the database that arrives late cannot store the request again.
        request_id = self._new_id()

        def attempt(conflict: Conflict | None) -> Queued:
            match conflict and (conflict.change, conflict.current):
                case ClaimIdempotencyKey(), IdempotencyClaim() as claim if idempotency:
                    return self._first_response(app_id, connection_id, idempotency, claim)
                case AddRequest() as change, QueuedRequest() as record:
                    return Queued(StoredRequest(record, change.request_xml))
                case RequireConnection(), connection:
                    self._cache.put(app_id, connection_id, connection)
            connection, now = self.connection(app_id, connection_id), self._insertion_times()
            paging = Paging(may_begin=may_iterate and qbxml.iterated(request) is not None)
            stored = self._new(
                request_id,
                connection,
                request,
                webhook=webhook or Webhook.to(connection.webhook_url),
                paging=paging,
                now=now,
            )
            changes: list[Change] = [
                RequireConnection(connection_id, app_id, connection.webhook_url),
                AddRequest(stored.record, stored.request_xml, searchable_text(stored.record, request)),
            ]
            if idempotency:
                seconds = int(now.timestamp())
                claim = IdempotencyClaim(idempotency.body_hash, stored.record.id, seconds + IDEMPOTENCY_SECONDS)
                changes.append(ClaimIdempotencyKey(app_id, idempotency.key, claim, seconds))
            self._store.commit(*changes)
            return Queued(stored)

        return commit_with_retry(attempt, "The connection is being changed. Try again in a moment.")

    def connection(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection as it was at most a minute ago. Its facts decide whether a request is valid.

        Raises NotFound.
        """
        return self._cache.get(app_id, connection_id)

    def _check_version(self, request: qbxml.Request, connection: Connection) -> None:
        """Check that QuickBooks supports the request's version. Raises UnsupportedByVersion.

        Reads the connection again before it refuses, because QuickBooks may have been upgraded.
        """
        try:
            qbxml.check_version(request, connection.qbxml_version)
        except UnsupportedByVersion:
            qbxml.check_version(request, self._cache.read(connection.app_id, connection.id).qbxml_version)

    def _new(
        self,
        request_id: str,
        connection: Connection,
        request: qbxml.Request,
        *,
        webhook: Webhook,
        paging: Paging,
        now: datetime,
    ) -> StoredRequest:
        if not request.request_label:
            request = request.with_request_label(request_id)
        record = QueuedRequest(
            id=request_id,
            connection_id=connection.id,
            app_id=connection.app_id,
            request_name=request.name,
            request_label=request.request_label or request_id,
            qbxml_version=request.version,
            inserted_at=timestamp(now),
            updated_at=timestamp(now),
            webhook=webhook,
            paging=paging,
        )
        request_xml = request.to_xml()
        qbxml.check_wire_size(request_xml)
        return StoredRequest(record, request_xml)

    def _first_response(
        self, app_id: str, connection_id: str, idempotency: Idempotency, claim: IdempotencyClaim
    ) -> Queued:
        if claim.body_hash != idempotency.body_hash:
            raise IdempotencyKeyReused(
                "This Idempotency-Key was used with another body. Use a new key for a new request.",
                {"record_id": claim.record_id},
            )
        return Queued(self.get(app_id, claim.record_id, connection_id), repeated=True)

    def get(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Return a record with its bodies. Raises Gone, or NotFound (also when its connection was deleted)."""
        return _existing(app_id, self._store.request_detail(request_id, connection_id)).stored

    def detail(
        self, app_id: str, request_id: str, connection_id: str | None = None
    ) -> tuple[StoredRequest, waiting_reason.WaitingReason | None]:
        """Return a record with its bodies and its waiting reason, in at most two round trips.

        Raises the errors of `get`.
        """
        detail = self._store.request_detail(request_id, connection_id, waiting_reason.MAX_COUNTED_AHEAD)
        detail = _existing(app_id, detail)
        record = detail.stored.record
        reason = waiting_reason.of_request(record, detail.connection, self._clock(), ahead=detail.ahead)
        return detail.stored, reason

    def cached_waiting_reason(self, record: QueuedRequest) -> waiting_reason.WaitingReason | None:
        """Return the waiting reason of a request that was just queued, without reading the database."""
        return waiting_reason.of_request(record, self._cache.cached(record.connection_id), self._clock())

    def discard(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Take a request out of the queue. Raises InFlight, or InvalidState if it has ended."""
        return self._change(
            app_id,
            request_id,
            connection_id,
            lambda record, now: record.moved(State.DISCARDED, now),
            is_done=lambda _, record: record.state is State.DISCARDED,
        )

    def redeliver(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Start a new round of webhook attempts for an ended request. Raises InvalidState."""

        def pending(record: QueuedRequest, now: datetime) -> QueuedRequest:
            if not record.webhook.url:
                raise InvalidState("The request has no webhook_url, so there is nothing to deliver.")
            if record.state not in ENDED:
                raise InvalidState(
                    f"The request is {record.state}. Its webhook is sent when the request has ended.",
                    {"state": record.state.value},
                )
            return record.with_webhook(
                now, state=WebhookState.PENDING, error=None, round=record.webhook.round + 1, attempts_in_round=0
            )

        return self._change(
            app_id,
            request_id,
            connection_id,
            pending,
            is_done=lambda before, record: record.webhook.round > before.webhook.round,
        )

    def delete(self, app_id: str, request_id: str, connection_id: str | None = None, *, force: bool = False) -> None:
        """Delete an ended request, or with `force` also a waiting one. A second deletion does nothing.

        Raises InvalidState for a waiting request without `force`, and InFlight if QuickBooks may be executing it.
        """

        def attempt(_: Conflict | None) -> None:
            record = self._store.request(request_id)
            if record is None or record.app_id != app_id or connection_id not in {None, record.connection_id}:
                raise not_found(_KIND)
            connection = self._store.connection(record.connection_id)
            if connection is None or connection.deleted_at:
                raise not_found(_KIND)
            if isinstance(record, QueuedRequest):
                _refuse_deletion(record, force=force)
                self._store.commit(RemoveRequest(record, timestamp(self._clock())))

        commit_with_retry(attempt, _CONTENDED)

    def _change(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None,
        change: Callable[[QueuedRequest, datetime], QueuedRequest],
        is_done: Callable[[QueuedRequest, QueuedRequest], bool],
    ) -> StoredRequest:
        """Change a record and return it.

        After a conflict, `is_done` tells from the former and the current record whether the change was made meanwhile:
        by an equal call, or by this one, if the answer to its commit was lost.
        """
        before: QueuedRequest | None = None

        def attempt(_: Conflict | None) -> StoredRequest:
            nonlocal before
            stored = self.get(app_id, request_id, connection_id)
            if before and is_done(before, stored.record):
                return stored
            before = stored.record
            after = change(stored.record, self._clock())
            self._store.commit(ChangeRequest(stored.record, after))
            return StoredRequest(after, stored.request_xml, stored.response_xml)

        return commit_with_retry(attempt, _CONTENDED)


def _existing(app_id: str, detail: RequestDetail | Tombstone | None) -> RequestDetail:
    """Return the app's request. Raises NotFound, or Gone if it was deleted."""
    if isinstance(detail, RequestDetail):
        owned(detail.stored.record, app_id, _KIND)
        return detail
    raise Gone("The request was deleted.", {"deleted_at": owned(detail, app_id, _KIND).deleted_at})


def _refuse_deletion(record: QueuedRequest, *, force: bool) -> None:
    details = {"state": record.state.value}
    if record.may_be_executed:
        raise InFlight(f"The request is {record.state}: QuickBooks may be working on it.", details)
    if record.state in QUEUED and not force:
        raise InvalidState(f"The request is {record.state}. Discard it first, or delete it with ?force=true.", details)
