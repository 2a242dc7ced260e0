"""Queues a new request, or a batch of them, with one commit. It is the use case of REST calls and of queries."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from domain import qbxml
from domain.batches.dependencies import NO_LINKS, Links, links_of
from domain.connections.cache import ConnectionCache
from domain.connections.simulators import no_simulator
from domain.errors import Gone, InvalidRequest, UnsupportedByVersion, of_request_in_batch
from domain.existing.identity import identity_query
from domain.existing.modification import check_can_update
from domain.queueing import waiting_reason
from domain.queueing.insertion_times import InsertionTimes
from domain.queueing.low_lane import begin_low_lane, check_low
from domain.queueing.reused_key import key_reused
from domain.queueing.service import KIND, existing
from domain.queueing.successor import HasSuccessor, Replaces
from domain.records.app import AppLimits
from domain.records.approval import UNKNOWN_AUTHOR, Approval, Author
from domain.records.batch import ids_of_batch, new_batch_id
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.ownership import not_found
from domain.records.request import ENDED, Paging, QueuedRequest, StoredRequest, Tombstone
from domain.records.search_text import searchable_text
from domain.records.successor import id_again
from domain.records.webhook import Webhook
from domain.send_by import ANY_TIME, SendBy
from domain.storage.changes import (
    AddRequest,
    Change,
    ClaimIdempotencyKey,
    IdempotencyClaim,
    RequireConnection,
)
from domain.storage.ports import RequestDetail
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp
from domain.webhooks.addresses import check_url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from domain.apps.quotas import Quotas
    from domain.errors import Conflict
    from domain.ports import Clock, IdSource
    from domain.queueing.waiting_reason import WaitingReason
    from domain.records.connection import Connection
    from domain.storage.ports import NewRequestStore
    from domain.webhooks.addresses import UrlRules

IDEMPOTENCY_SECONDS = 24 * 60 * 60
"""How long a repeated `Idempotency-Key` returns the first record (docs/reference/service-contract.md, Idempotency)."""

MAX_SECONDS_WITH_APPROVAL = 2 * 366 * 24 * 60 * 60
"""How long the key of a request that needs approval can live. It is released IDEMPOTENCY_SECONDS after its end."""

MAX_RESPONSES_BYTES = 4 * 1024 * 1024
"""The responses in the answer to a repeated call that queued a batch."""


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


class WebhookUrl(Enum):
    """What a new request can have in place of a webhook URL of its own."""

    DEFAULT = "the URL of the connection"
    NONE = "no webhook"


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request to queue.

    `may_iterate` allows a query that can iterate to be sent in pages if its response is too large. `label` and
    `metadata` are the caller's (`domain.labels`).

    `author` queues it. If it `needs_approval` and is a write, somebody else has to approve it.

    In a batch, `ref` is its name for the requests behind it, and `depends_on` and `references` name the requests that
    have to end before it is queued. The request has placeholders in place of the references. `is_low` puts it into the
    low lane. `if_exists` is what an addition does if its object exists. `replaces` is the id of the request whose
    successor it is.
    """

    request: qbxml.Request
    webhook_url: str | WebhookUrl = WebhookUrl.DEFAULT
    may_iterate: bool = False
    label: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    ref: str | None = None
    depends_on: tuple[str, ...] = ()
    references: tuple[qbxml.Reference, ...] = ()
    send_by: SendBy = ANY_TIME
    needs_approval: bool = False
    author: Author = UNKNOWN_AUTHOR
    is_low: bool = False
    if_exists: IfExists = IfExists.FAIL
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """The command to queue a request.

    `read` returns the request for the QBXML version and the country of the connection. It raises InvalidRequest.
    `author` queues it. `limits` are those of the app. If it `replaces` a request of the connection, it is queued as its
    successor, unless there is one already.
    """

    app_id: str
    connection_id: str
    read: Callable[[Connection], NewRequest]
    idempotency: Idempotency | None = None
    limits: AppLimits = AppLimits()
    replaces: Replaces | None = None
    author: Author = UNKNOWN_AUTHOR


@dataclass(frozen=True, slots=True)
class Continues:
    """The requests of a former batch that the requests of a new one succeed, in this order.

    `step` is the one that failed. `former` are the ids of the requests of the former batch and of their successors.
    """

    step: Replaces
    ids: Sequence[str]
    former: Collection[str]


@dataclass(frozen=True, slots=True)
class QueueBatch:
    """The command to queue a batch: all requests in their order, or none.

    `read` is as in QueueRequest. It returns at least one request and at most MAX_REQUESTS, all of one lane.

    If it `continues` a former batch, its requests are the successors of some of that batch.
    """

    app_id: str
    connection_id: str
    read: Callable[[Connection], Sequence[NewRequest]]
    idempotency: Idempotency | None = None
    limits: AppLimits = AppLimits()
    continues: Continues | None = None
    author: Author = UNKNOWN_AUTHOR


@dataclass(frozen=True, slots=True)
class Queued:
    """A queued request and why it waits.

    `repeated`: an earlier call with the same idempotency key queued it, or one that replaced the same request.
    """

    stored: StoredRequest
    waiting: WaitingReason | None = None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class QueuedBatch:
    """The requests of a batch in their order. `repeated` is as in Queued."""

    requests: Sequence[Queued]
    repeated: bool = False


class Queueing:
    """Queues requests."""

    def __init__(
        self,
        store: NewRequestStore,
        clock: Clock,
        new_id: IdSource,
        *,
        quotas: Quotas | None,
        url_rules: UrlRules,
        wake: Callable[[str], object] = no_simulator,
    ) -> None:
        """Without `quotas`, calls are neither counted nor limited. `wake` lets a test connection run a session."""
        self._wake = wake
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._quotas = quotas
        self._url_rules = url_rules
        self._cache = ConnectionCache(store, clock)
        self._insertion_times = InsertionTimes(clock)

    def queue(self, command: QueueRequest) -> Queued:
        """Queue a request with one commit, which also checks the connection and the idempotency key.

        Reads the connection first if this process has not read it in the last minute. Raises NotFound, InvalidRequest,
        QuotaExceeded, UnsupportedByVersion, RequestTooLarge, IdempotencyKeyReused and TooManyRequests.

        A request that replaces another one takes a read more. Also raises InvalidState, PossiblyExecuted, and Gone if
        the replaced request or its successor was deleted.
        """
        connection = self._cache.get(command.app_id, command.connection_id)
        replaced = self._replaced(command, command.replaces) if command.replaces else None
        new = command.read(connection)
        if replaced:
            new = replace(new, replaces=replaced.id, needs_approval=new.needs_approval or replaced.approval is not None)
        self._check(new)
        if self._quotas:
            self._quotas.check_create(command.app_id, command.limits)
        self._check_version(new.request, connection)
        self._begin_lane(command, new)
        # All attempts have the same id, so a call of the database that arrives late cannot store the request again.
        request_id = id_again(command.replaces.request_id) if command.replaces else self._new_id()
        (queued,) = self._commit(command, [request_id], [new], [NO_LINKS], is_batch=False)
        self._wake_if_simulated(connection)
        return queued

    def _replaced(self, command: QueueRequest, replaces: Replaces) -> QueuedRequest:
        """Return the request that can be replaced. Raises NotFound, Gone, InvalidState and PossiblyExecuted."""
        record = self._store.request(replaces.request_id)
        if record is None or (record.app_id, record.connection_id) != (command.app_id, command.connection_id):
            raise not_found(KIND)
        if isinstance(record, Tombstone):
            raise Gone(f"The request {record.id} was deleted.", {"deleted_at": record.deleted_at})
        replaces.check(record)
        return record

    def queue_batch(self, command: QueueBatch) -> QueuedBatch:
        """Queue a batch with one commit, as `queue`. The errors of a single request name its `index`.

        Also raises Gone for a repeated call if a request of the batch was deleted meanwhile. For a batch that continues
        another one, raises HasSuccessor if one of its requests was queued meanwhile.
        """
        connection = self._cache.get(command.app_id, command.connection_id)
        batch = command.read(connection)
        for index, new in enumerate(batch):
            with of_request_in_batch(index):
                self._check(new)
        if self._quotas:
            self._quotas.check_create(command.app_id, command.limits, len(batch))
        for index, new in enumerate(batch):
            with of_request_in_batch(index):
                self._check_version(new.request, connection)
        self._begin_lane(command, batch[0])
        ids: Sequence[str]
        former: Collection[str] = ()
        if command.continues:
            ids, former = [id_again(request_id) for request_id in command.continues.ids], command.continues.former
            batch = [replace(new, replaces=one) for new, one in zip(batch, command.continues.ids, strict=True)]
        else:
            ids = ids_of_batch(new_batch_id(self._new_id()), len(batch))
        links = links_of(self._store, connection, ids, batch, partial(self._count_reads, command), former=former)
        queued = self._commit(command, ids, batch, links, is_batch=True)
        self._wake_if_simulated(connection)
        return QueuedBatch(queued, repeated=queued[0].repeated)

    def _begin_lane(self, command: QueueRequest | QueueBatch, new: NewRequest) -> None:
        if new.is_low:
            begin_low_lane(self._store, self._cache, self._clock, command.app_id, command.connection_id)

    def _wake_if_simulated(self, connection: Connection) -> None:
        if connection.simulated:
            self._wake(connection.id)

    def _count_reads(self, command: QueueBatch, number: int) -> None:
        """Count the requests outside a batch that it names. Raises QuotaExceeded."""
        if self._quotas:
            self._quotas.check_read(command.app_id, command.limits, number)

    def _commit(
        self,
        command: QueueRequest | QueueBatch,
        ids: Sequence[str],
        batch: Sequence[NewRequest],
        links: Sequence[Links],
        *,
        is_batch: bool,
    ) -> Sequence[Queued]:
        """Store the requests, or return those that an earlier call has stored."""
        replaces = command.replaces if isinstance(command, QueueRequest) else None
        if isinstance(command, QueueBatch) and command.continues:
            replaces = command.continues.step

        batch = [replace(new, author=command.author) for new in batch]
        released: IdempotencyClaim | None = None

        def attempt(conflict: Conflict | None) -> Sequence[Queued]:
            nonlocal released
            if conflict and (claim := self._released(conflict)):
                released = claim
            elif conflict and (there := self._already_there(command, ids, conflict)):
                return there
            connection = self._cache.get(command.app_id, command.connection_id)
            try:
                added = self._added(ids, connection, batch, links)
            except InvalidRequest:
                # Since the first of several equal calls, its `send_by` may have passed.
                if command.idempotency and (first := self._claim_of(command.app_id, command.idempotency)):
                    return self._first_response(command, command.idempotency, first)
                raise
            if self._quotas and conflict is None:
                size = sum(len(change.request_xml.encode()) for change in added)
                self._quotas.check_written(command.app_id, command.limits, size)
            unchanged = RequireConnection.of(connection)
            keys: list[Change] = []
            if command.idempotency:
                batch_size = len(ids) if is_batch else 0
                needs_approval = any(change.record.approval for change in added)
                claimed = self._claim(command.idempotency, ids[0], batch_size, needs_approval=needs_approval)
                keys = [self._claimed_key(command.app_id, command.idempotency, claimed, released)]
            if replaces:
                # A key of another call is refused before a successor of another call is returned.
                self._store.commit(unchanged, *keys, *added, *replaces.entries(added[0].record))
            else:
                self._store.commit(unchanged, *added, *keys)
            return [self._queued(_stored(change)) for change in added]

        return commit_with_retry(attempt, "The connection is being changed. Try again in a moment.")

    def _already_there(
        self, command: QueueRequest | QueueBatch, ids: Sequence[str], conflict: Conflict
    ) -> Sequence[Queued] | None:
        """Return the requests that an earlier call has stored, or None if the commit can be repeated."""
        is_successor = isinstance(command, QueueRequest) and command.replaces is not None
        match conflict.change, conflict.current:
            case ClaimIdempotencyKey(), IdempotencyClaim() as claim if command.idempotency:
                return self._first_response(command, command.idempotency, claim)
            case AddRequest(), Tombstone(id=deleted_id, deleted_at=deleted_at):
                raise Gone(f"The request {deleted_id} was deleted.", {"deleted_at": deleted_at})
            case AddRequest(), QueuedRequest() if isinstance(command, QueueBatch) and command.continues:
                raise HasSuccessor
            case AddRequest(), QueuedRequest():
                # Other ids are random, so an earlier attempt of this call has stored the requests.
                return self.stored(command.app_id, command.connection_id, ids, repeated=is_successor)
            case RequireConnection(), stored:
                self._cache.put(command.app_id, command.connection_id, stored)
        return None

    def _check(self, new: NewRequest) -> None:
        """Check what does not depend on the connection. Raises InvalidRequest."""
        if new.is_low:
            check_low(new.request, may_iterate=new.may_iterate)
        if new.if_exists is not IfExists.FAIL:
            identity_query(new.request)
        if new.if_exists is IfExists.UPDATE:
            check_can_update(new.request)
        if isinstance(new.webhook_url, str):
            check_url(new.webhook_url, self._url_rules)

    def current(self, queued: Queued) -> Queued:
        """Return a queued request as it is now, with one read, or two if a body is large. Raises NotFound and Gone."""
        record = queued.stored.record
        detail = existing(record.app_id, self._store.request_detail(record.id, record.connection_id))
        return self._queued(detail.stored, repeated=queued.repeated)

    def _check_version(self, request: qbxml.Request, connection: Connection) -> None:
        """Check that QuickBooks supports the request's version. Raises UnsupportedByVersion.

        Reads the connection again before it refuses, because QuickBooks may have been upgraded.
        """
        try:
            qbxml.check_version(request, connection.qbxml_version)
        except UnsupportedByVersion:
            qbxml.check_version(request, self._cache.read(connection.app_id, connection.id).qbxml_version)

    def _added(
        self, ids: Sequence[str], connection: Connection, batch: Sequence[NewRequest], links: Sequence[Links]
    ) -> list[AddRequest]:
        """Return the changes that store the requests. Raises RequestTooLarge, and InvalidRequest for a `send_by`."""
        if len(batch) == 1:
            return [self._added_request(ids[0], connection, batch[0], links[0])]
        added: list[AddRequest] = []
        for index, (request_id, new, link) in enumerate(zip(ids, batch, links, strict=True)):
            with of_request_in_batch(index):
                added.append(self._added_request(request_id, connection, new, link))
        qbxml.check_batch_size(change.request_xml for change in added)
        return added

    def _added_request(self, request_id: str, connection: Connection, new: NewRequest, links: Links) -> AddRequest:
        """Return the change that stores the request now. Raises RequestTooLarge, and InvalidRequest for a `send_by`."""
        return added_request(request_id, connection, new, timestamp(self._insertion_times()), links)

    def _claim(
        self, idempotency: Idempotency, request_id: str, batch_size: int, *, needs_approval: bool
    ) -> IdempotencyClaim:
        seconds = MAX_SECONDS_WITH_APPROVAL if needs_approval else IDEMPOTENCY_SECONDS
        expires_at = int(self._clock().timestamp()) + seconds
        return IdempotencyClaim(idempotency.body_hash, request_id, expires_at, batch_size)

    def _claimed_key(
        self, app_id: str, idempotency: Idempotency, claim: IdempotencyClaim, released: IdempotencyClaim | None
    ) -> ClaimIdempotencyKey:
        now = int(self._clock().timestamp())
        return ClaimIdempotencyKey(app_id, idempotency.key, claim, now, released.record_id if released else None)

    def _released(self, conflict: Conflict) -> IdempotencyClaim | None:
        """Return the claim of requests that needed approval and ended more than a day ago, or None."""
        claim, now = conflict.current, self._clock()
        # An ordinary key expires at its time. The clocks of two functions differ by less than a day.
        if not isinstance(claim, IdempotencyClaim) or claim.expires_at <= now.timestamp() + 2 * IDEMPOTENCY_SECONDS:
            return None
        a_day_ago = timestamp(now - timedelta(seconds=IDEMPOTENCY_SECONDS))
        is_released = all(_ended_before(a_day_ago, self._store.request_detail(one)) for one in _ids_of(claim))
        return claim if is_released else None

    def _claim_of(self, app_id: str, idempotency: Idempotency) -> IdempotencyClaim | None:
        """Return the claim of a key by an earlier call, or None."""
        claim = self._store.idempotency_claim(app_id, idempotency.key)
        return claim if claim and claim.expires_at > self._clock().timestamp() else None

    def _first_response(
        self, command: QueueRequest | QueueBatch, idempotency: Idempotency, claim: IdempotencyClaim
    ) -> Sequence[Queued]:
        """Return the requests that an earlier call with this key queued. Raises IdempotencyKeyReused."""
        ids = _ids_of(claim)
        if claim.body_hash != idempotency.body_hash:
            raise key_reused(ids, self._store.records_by_id(ids))
        return self.stored(command.app_id, command.connection_id, ids, repeated=True)

    def connection(self, app_id: str, connection_id: str) -> Connection:
        """Return the connection, which may be a minute old. Raises NotFound."""
        return self._cache.get(app_id, connection_id)

    def stored(
        self, app_id: str, connection_id: str, ids: Sequence[str], *, repeated: bool = False
    ) -> Sequence[Queued]:
        """Return the requests with these ids. Raises Gone if one of them was deleted.

        Only the first responses are returned, up to MAX_RESPONSES_BYTES in all.
        """
        room = MAX_RESPONSES_BYTES
        result: list[Queued] = []
        for request_id in ids:
            try:
                detail = existing(app_id, self._store.request_detail(request_id, connection_id))
            except Gone as error:
                error.details = {**(error.details or {}), "record_ids": list(ids)}
                raise
            stored = detail.stored
            room -= stored.record.response_size
            if room < 0 and len(ids) > 1:
                stored = replace(stored, response_xml=None)
            result.append(self._queued(stored, repeated=repeated))
        return result

    def _queued(self, stored: StoredRequest, *, repeated: bool = False) -> Queued:
        """Return the result. The waiting reason takes no read: it is that of the cached connection."""
        connection = self._cache.cached(stored.record.connection_id)
        return Queued(stored, waiting_reason.of_request(stored.record, connection, self._clock()), repeated)


def added_request(
    request_id: str, connection: Connection, new: NewRequest, moment: str, links: Links = NO_LINKS
) -> AddRequest:
    """Return the change that stores a request at a timestamp.

    Raises RequestTooLarge, and InvalidRequest for a `send_by`.
    """
    request = new.request
    label = request.request_label or request_id
    if not request.request_label:
        request = request.with_request_label(label)
    inserted_at = datetime.fromisoformat(moment)
    send_by = new.send_by.seconds(inserted_at)
    approval = _approval(new, connection, send_by)
    record = QueuedRequest(
        id=request_id,
        connection_id=connection.id,
        app_id=connection.app_id,
        request_name=request.name,
        request_label=label,
        qbxml_version=request.version,
        inserted_at=moment,
        updated_at=moment,
        webhook=_webhook(new.webhook_url, connection),
        paging=Paging(may_begin=new.may_iterate and qbxml.iterated(request) is not None),
        label=new.label,
        subject=qbxml.subject(request),
        dependencies=links.dependencies,
        dependants=links.dependants,
        send_by=send_by,
        is_low=new.is_low,
        simulated=connection.simulated,
        approval=approval,
        lookup=None if new.if_exists is IfExists.FAIL else ObjectLookup(new.if_exists),
    )
    if record.awaits_approval:
        record = record.awaiting_approval_again(inserted_at)
    request_xml = request.to_xml()
    qbxml.check_wire_size(request_xml)
    author = new.author.actor
    search_text = searchable_text(record, new.request, queued_by=author)
    return AddRequest(record, request_xml, search_text, new.metadata, links.references, new.replaces, author)


def copy_of(stored: StoredRequest) -> NewRequest:
    """Return what its author gave to a request, with the values of its references and a `send_by` that is ahead."""
    record = stored.record
    request = qbxml.stored_request(stored.request_xml, record.qbxml_version)
    if record.request_label == record.id:
        request = request.with_request_label("")
    return NewRequest(
        request,
        record.webhook.url or WebhookUrl.NONE,
        record.paging.may_begin,
        record.label,
        stored.metadata,
        send_by=SendBy(kept=record.given_send_by),
        needs_approval=record.approval is not None,
        is_low=record.is_low,
        if_exists=record.lookup.if_exists if record.lookup else IfExists.FAIL,
    )


def with_references(stored: StoredRequest, new: NewRequest) -> NewRequest:
    """Return the copy of a request with its references in place of their values."""
    request = qbxml.with_placeholders(new.request, stored.references)
    references = tuple(replace(reference, value=None) for reference in stored.references)
    return replace(new, request=request, references=references)


def _approval(new: NewRequest, connection: Connection, send_by: int | None) -> Approval | None:
    """Return the approval that a new request needs, or None."""
    needs_approval = new.needs_approval or new.author.proposes or connection.approval is not None
    return Approval(new.author.id, send_by) if needs_approval and not new.request.is_read else None


def _ids_of(claim: IdempotencyClaim) -> Sequence[str]:
    """Return the ids of the requests that the first call with a key has queued."""
    return ids_of_batch(claim.record_id, claim.batch_size) if claim.batch_size else [claim.record_id]


def _ended_before(moment: str, stored: RequestDetail | Tombstone | None) -> bool:
    """Whether a request has not changed since it ended before this time. A tombstone is kept for longer than a day."""
    match stored:
        case RequestDetail(stored=StoredRequest(record=record)):
            return record.state in ENDED and record.updated_at < moment
        case Tombstone():
            return stored.deleted_at < moment
        case None:
            return True


def _stored(change: AddRequest) -> StoredRequest:
    """Return a new request as it is stored."""
    request_xml = qbxml.filled(change.request_xml, change.references)
    return StoredRequest(
        change.record,
        request_xml,
        metadata=change.metadata,
        references=change.references,
        replaces=change.replaces,
        queued_by=change.queued_by,
    )


def _webhook(url: str | WebhookUrl, connection: Connection) -> Webhook:
    match url:
        case WebhookUrl.DEFAULT:
            return Webhook.to(connection.webhook_url)
        case WebhookUrl.NONE:
            return Webhook()
        case _:
            return Webhook.to(url)
