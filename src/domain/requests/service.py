"""What an API consumer does with requests: queue, read, discard, delete, have the webhook sent again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from domain import qbxml
from domain.connections.record import Connection, owned
from domain.errors import (
    Conflict,
    Gone,
    IdempotencyKeyReused,
    InFlight,
    InvalidState,
    NotFound,
    TooManyRequests,
    UnsupportedByVersion,
)
from domain.requests import waiting_reason
from domain.requests.record import (
    ENDED,
    QUEUED,
    QueuedRequest,
    State,
    StoredRequest,
    Tombstone,
    Webhook,
    WebhookState,
    timestamp,
)
from domain.requests.search_text import searchable_text
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

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.ports import Clock, IdSource
    from domain.storage.ports import Database

IDEMPOTENCY_SECONDS = 24 * 60 * 60
"""How long a repeated `Idempotency-Key` answers the first record (contract §4)."""

TRIES = 5
"""How often a change is made again from what is stored, after somebody else changed it first."""


MAX_CACHED_CONNECTIONS = 1_000
"""How many connections a process remembers, about 1 KB each."""

FRESH = timedelta(minutes=1)
"""How long what a process remembers of a connection is good enough to tell by it why a new request waits."""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """An `Idempotency-Key` with the hash of all that the request asks for."""

    key: str
    body_hash: str

    @classmethod
    def of(cls, key: str, connection_id: str, body: object) -> Idempotency:
        """Return the key for a JSON body: the same asked again has the same hash, however it is spelt."""
        canonical = json.dumps([connection_id, body], sort_keys=True, separators=(",", ":"))
        return cls(key, hashlib.sha256(canonical.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Queued:
    """A queued request; `repeated` when an idempotency key found the one that was there already."""

    stored: StoredRequest
    repeated: bool = False


class RequestService:
    """The use cases. Every method takes the caller's app: what is another app's does not exist for it."""

    def __init__(self, store: Database, clock: Clock, new_id: IdSource) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        # Connections as last seen, so that to queue costs one call. The commit checks owner and default webhook.
        self._known: dict[str, tuple[Connection, datetime]] = {}

    def queue(
        self,
        app_id: str,
        connection_id: str,
        request: qbxml.Request,
        webhook_url: str | None,
        idempotency: Idempotency | None = None,
    ) -> Queued:
        """Queue a request: one commit, which also checks the connection and the idempotency key.

        A connection that this process has not seen yet costs a read more. Without a `webhook_url`
        the connection's default is taken. Raises NotFound (no such connection),
        UnsupportedByVersion, IdempotencyKeyReused.
        """
        connection = self.connection(app_id, connection_id)
        connection = self._serving(request, connection)
        for _ in range(TRIES):
            now = self._clock()
            stored = self._new(app_id, connection_id, request, webhook_url or connection.webhook_url, now)
            changes: list[Change] = [
                RequireConnection(connection_id, app_id, connection.webhook_url),
                AddRequest(stored.record, stored.request_xml, searchable_text(stored.record, request)),
            ]
            if idempotency:
                changes.append(_claim(app_id, idempotency, stored.record.id, now))
            try:
                self._store.commit(*changes)
            except Conflict as conflict:
                if isinstance(conflict.current, IdempotencyClaim) and idempotency:
                    return self._repeated(app_id, connection_id, idempotency, conflict.current)
                connection = self._learned(app_id, connection_id, conflict.current)
            else:
                return Queued(stored)
        raise TooManyRequests("The connection is being changed. Try again in a moment.")

    def connection(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection as this process last saw it. Raises NotFound.

        Good enough to read a request by: the country of a company file does not change.
        """
        known, _ = self._known.get(connection_id, (None, None))
        if known is not None and known.app_id == app_id:
            return known
        return self._learned(app_id, connection_id, self._store.connection(connection_id))

    def _learned(self, app_id: str, connection_id: str, found: object) -> Connection:
        self._known.pop(connection_id, None)
        connection = owned(found if isinstance(found, Connection) else None, app_id)
        if len(self._known) >= MAX_CACHED_CONNECTIONS:
            self._known.clear()
        self._known[connection_id] = connection, self._clock()
        return connection

    def _serving(self, request: qbxml.Request, connection: Connection) -> Connection:
        """Return the connection when its QuickBooks serves the request's version of QBXML.

        What this process knows may be from before an upgrade, so that it refuses nothing by it.
        """
        try:
            qbxml.check_version(request, connection.qbxml_version)
        except UnsupportedByVersion:
            found = self._store.connection(connection.id)
            connection = self._learned(connection.app_id, connection.id, found)
            qbxml.check_version(request, connection.qbxml_version)
        return connection

    def _new(
        self, app_id: str, connection_id: str, request: qbxml.Request, webhook_url: str | None, now: datetime
    ) -> StoredRequest:
        request_id = self._new_id()
        if not request.request_id:
            request = request.with_request_id(request_id)
        moment = timestamp(now)
        record = QueuedRequest(
            id=request_id,
            connection_id=connection_id,
            app_id=app_id,
            request_name=request.name,
            request_label=request.request_id or request_id,
            qbxml_version=request.version,
            inserted_at=moment,
            updated_at=moment,
            webhook=Webhook.to(webhook_url),
        )
        return StoredRequest(record, request.to_xml())

    def _repeated(self, app_id: str, connection_id: str, idempotency: Idempotency, claim: IdempotencyClaim) -> Queued:
        if claim.body_hash != idempotency.body_hash:
            raise IdempotencyKeyReused(
                "This Idempotency-Key was used with another body. Take a new key for a new request.",
                {"record_id": claim.record_id},
            )
        return Queued(self.get(app_id, claim.record_id, connection_id), repeated=True)

    def get(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Return a record with its bodies. Raises NotFound, also when its connection was deleted; Gone when it was."""
        return _existing(app_id, self._store.stored_request(request_id, connection_id))

    def show(
        self, app_id: str, request_id: str, connection_id: str | None = None
    ) -> tuple[StoredRequest, waiting_reason.WaitingReason | None]:
        """Return a record with its bodies and why it waits, if it does. Two round trips at most. Raises as `get`."""
        found = self._store.request_detail(request_id, connection_id, waiting_reason.MAX_COUNTED_AHEAD)
        if not isinstance(found, RequestDetail):
            return _existing(app_id, found), None
        stored = _existing(app_id, found.stored)
        return stored, waiting_reason.of_request(stored.record, found.connection, self._clock(), ahead=found.ahead)

    def known_waiting_reason(self, record: QueuedRequest) -> waiting_reason.WaitingReason | None:
        """Return why a record that was queued just now waits, as far as it is known without a read."""
        now = self._clock()
        known, read_at = self._known.get(record.connection_id, (None, now))
        return waiting_reason.of_request(record, known if now - read_at < FRESH else None, now)

    def discard(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Take a request out of the queue. Raises InFlight, or InvalidState when it has ended."""

        def discarded(record: QueuedRequest, now: datetime) -> QueuedRequest:
            return record.moved(State.DISCARDED, now)

        return self._change(app_id, request_id, connection_id, discarded)

    def redeliver(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Have the webhook of an ended request sent again, in a new round. Raises InvalidState."""

        def pending(record: QueuedRequest, now: datetime) -> QueuedRequest:
            if not record.webhook.url:
                raise InvalidState("The request has no webhook_url: there is nothing to deliver.")
            if record.state not in ENDED:
                raise InvalidState(
                    f"The request is {record.state}: its webhook is sent when it has ended.",
                    {"state": record.state.value},
                )
            return record.with_webhook(
                now, state=WebhookState.PENDING, error=None, round=record.webhook.round + 1, tries=0
            )

        return self._change(app_id, request_id, connection_id, pending)

    def delete(self, app_id: str, request_id: str, connection_id: str | None = None, *, force: bool = False) -> None:
        """Delete an ended request, with `force` also one that waits. Deleting it again does nothing.

        Raises InvalidState for one that waits, InFlight for one that QuickBooks may be working on.
        """
        for _ in range(TRIES):
            record = self._store.request(request_id)
            if record is None or connection_id not in {None, record.connection_id}:
                raise _not_found()
            _owned(record, app_id)
            connection = self._store.connection(record.connection_id)
            if connection is None or connection.deleted_at:
                raise _not_found()
            if isinstance(record, Tombstone):
                return
            _refuse_deletion(record, force=force)
            try:
                self._store.commit(RemoveRequest(record, timestamp(self._clock())))
            except Conflict:
                continue
            return
        raise _contended()

    def _change(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None,
        change: Callable[[QueuedRequest, datetime], QueuedRequest],
    ) -> StoredRequest:
        """Read, change, commit; again from the start when somebody else was first."""
        for _ in range(TRIES):
            stored = self.get(app_id, request_id, connection_id)
            after = change(stored.record, self._clock())
            try:
                self._store.commit(ChangeRequest(stored.record, after))
            except Conflict:
                continue
            return StoredRequest(after, stored.request_xml, stored.response_xml)
        raise _contended()


def _claim(app_id: str, idempotency: Idempotency, record_id: str, now: datetime) -> ClaimIdempotencyKey:
    seconds = int(now.timestamp())
    return ClaimIdempotencyKey(
        app_id, idempotency.key, idempotency.body_hash, record_id, seconds, seconds + IDEMPOTENCY_SECONDS
    )


def _existing(app_id: str, found: StoredRequest | Tombstone | None) -> StoredRequest:
    if found is None:
        raise _not_found()
    if isinstance(found, Tombstone):
        _owned(found, app_id)
        raise Gone("The request was deleted.", {"deleted_at": found.deleted_at})
    _owned(found.record, app_id)
    return found


def _owned(record: QueuedRequest | Tombstone, app_id: str) -> None:
    if record.app_id != app_id:
        raise _not_found()


def _refuse_deletion(record: QueuedRequest, *, force: bool) -> None:
    details = {"state": record.state.value}
    if record.may_be_executed:
        raise InFlight(f"The request is {record.state}: QuickBooks may be working on it.", details)
    if record.state in QUEUED and not force:
        raise InvalidState(f"The request is {record.state}. Discard it first, or delete it with ?force=true.", details)


def _not_found() -> NotFound:
    return NotFound("There is no such queued request.")


def _contended() -> TooManyRequests:
    return TooManyRequests("The request is being changed. Try again in a moment.")
