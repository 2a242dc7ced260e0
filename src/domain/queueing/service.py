"""The operations of an app on its queued requests: read, discard, delete, redeliver the webhook."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.batches.dependants import waiting_dependants, with_dependants
from domain.errors import Gone, HasDependants, InvalidState, MayBeExecuted
from domain.queueing import waiting_reason
from domain.records.audit import Action, Actor, AuditEntry, Subject, audit_entry
from domain.records.batch import MAX_REQUESTS, batch_id, ids_of_batch, position_of
from domain.records.ownership import not_found, owned
from domain.records.request import ENDED, FAILED_OR_DISCARDED, QUEUED, QueuedRequest, State, StoredRequest
from domain.records.successor import id_again
from domain.records.webhook import WebhookState
from domain.storage.changes import (
    ChangeRequest,
    Put,
    RemoveRequest,
)
from domain.storage.ports import RequestDetail
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from domain.errors import Conflict
    from domain.ports import Clock
    from domain.records.request import Tombstone
    from domain.storage.ports import QueueStore

KIND = "queued request"
_CONTENDED = "The request is being changed. Try again in a moment."


class RequestService:
    """The use cases. Each method raises NotFound for another app's request or connection.

    A change is stored together with its entry in the audit log, which names the `actor`.
    """

    def __init__(self, store: QueueStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def get(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Return a record with its bodies. Raises Gone, or NotFound (also when its connection was deleted)."""
        return existing(app_id, self._store.request_detail(request_id, connection_id)).stored

    def batch_of(self, record: QueuedRequest) -> list[QueuedRequest]:
        """Return the requests of its batch that exist, in their order, with one read. A request alone has none."""
        first = batch_id(record.id)
        if first is None:
            return []
        found = self._store.records_by_id(ids_of_batch(first, MAX_REQUESTS))
        return sorted((one for one in found if one.app_id == record.app_id), key=lambda one: position_of(one.id))

    def batch(self, app_id: str, connection_id: str, first_id: str) -> list[QueuedRequest]:
        """Return the requests of the batch with this id that exist, in their order. There may be none."""
        if batch_id(first_id) != first_id:
            return []
        found = self._store.records_by_id(ids_of_batch(first_id, MAX_REQUESTS))
        own = (one for one in found if (one.app_id, one.connection_id) == (app_id, connection_id))
        return sorted(own, key=lambda one: position_of(one.id))

    def successor_id(self, record: QueuedRequest) -> str | None:
        """Return the id of the successor of a request that failed or was discarded, with one read, or None without one.

        A request that ended with a response can have a successor too. Its reads are many, so it is not looked for.
        """
        if record.state not in FAILED_OR_DISCARDED:
            return None
        successor = self._store.request(id_again(record.id))
        return successor.id if successor else None

    def successor_ids(self, records: Sequence[QueuedRequest]) -> Mapping[str, str | None]:
        """Return `successor_id` of each of up to 100 records, by its id, with one read of all."""
        ids = [id_again(record.id) for record in records if record.state in FAILED_OR_DISCARDED]
        existing = self._store.ids_in_use(ids) if ids else ()
        return {record.id: one if (one := id_again(record.id)) in existing else None for record in records}

    def copied(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Return a record that has all it takes to be queued again. Raises InvalidState and the errors of `get`."""
        stored = self.get(app_id, request_id, connection_id)
        refuse_incomplete(stored.record)
        return stored

    def detail(
        self, app_id: str, request_id: str, connection_id: str | None = None
    ) -> tuple[StoredRequest, waiting_reason.WaitingReason | None]:
        """Return a record with its bodies and its waiting reason, in at most two round trips.

        Raises the errors of `get`.
        """
        detail = self._store.request_detail(request_id, connection_id, waiting_reason.MAX_COUNTED_AHEAD)
        detail = existing(app_id, detail)
        record = detail.stored.record
        reason = waiting_reason.of_request(record, detail.connection, self._clock(), ahead=detail.ahead)
        return detail.stored, reason

    def discard(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None = None,
        *,
        actor: Actor,
        dependants: bool = False,
    ) -> StoredRequest:
        """Take a request out of the queue. Raises MayBeExecuted, or InvalidState if it has ended.

        With `dependants`, the requests that wait for it end in errors. Otherwise raises HasDependants if there are any.
        """

        def discarded(record: QueuedRequest, now: datetime) -> QueuedRequest:
            after = record.moved(State.DISCARDED, now)
            if not dependants:
                self.refuse_with_dependants(record)
            return after

        return self.change(
            app_id,
            request_id,
            connection_id,
            discarded,
            entry_of=entries(Action.REQUEST_DISCARDED, actor),
            is_done=lambda _, record: record.state is State.DISCARDED,
        )

    def refuse_with_dependants(self, record: QueuedRequest, but: Collection[str] = ()) -> None:
        """Raise HasDependants if other requests wait for this one, `but` those with these ids."""
        if ids := [one for one in waiting_dependants(self._store, record) if one not in but]:
            number = f"{len(ids)} requests wait" if len(ids) > 1 else "A request waits"
            message = f"{number} for this one, and would end in errors. Add ?dependants=true if that is intended."
            raise HasDependants(message, {"dependants": list(ids)})

    def redeliver(
        self, app_id: str, request_id: str, connection_id: str | None = None, *, actor: Actor
    ) -> StoredRequest:
        """Start a new round of webhook attempts for an ended request. Raises InvalidState."""

        def pending(record: QueuedRequest, now: datetime) -> QueuedRequest:
            if not record.webhook.url:
                raise InvalidState("The request has no webhook_url, so there is nothing to deliver.")
            if record.state not in ENDED:
                raise InvalidState(
                    f"The request is {record.state}. Its webhook is sent when the request has ended.",
                    {"state": record.state.value},
                )
            return redelivered(record, now)

        return self.change(
            app_id,
            request_id,
            connection_id,
            pending,
            entry_of=entries(Action.WEBHOOK_REDELIVERED, actor),
            is_done=lambda before, record: record.webhook.round > before.webhook.round,
        )

    def delete(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None = None,
        *,
        actor: Actor,
        force: bool = False,
        dependants: bool = False,
    ) -> None:
        """Delete an ended request, or with `force` also a waiting one. A second deletion does nothing.

        Raises InvalidState for a waiting request without `force`, and MayBeExecuted if QuickBooks may be executing it.
        `dependants` is as in `discard`.
        """
        entry_of = entries(Action.REQUEST_DELETED, actor)

        def attempt(_: Conflict | None) -> None:
            record = self._store.request(request_id)
            if record is None or record.app_id != app_id or connection_id not in {None, record.connection_id}:
                raise not_found(KIND)
            connection = self._store.connection(record.connection_id)
            if connection is None or connection.deleted_at:
                raise not_found(KIND)
            if isinstance(record, QueuedRequest):
                _refuse_deletion(record, force=force)
                if record.state in QUEUED and not dependants:
                    self.refuse_with_dependants(record)
                now = self._clock()
                entry = entry_of(record, record.revision + 1, timestamp(now))
                changes = with_dependants(self._store, [RemoveRequest(record, timestamp(now))], now)
                self._store.commit(*changes, Put(None, entry))

        commit_with_retry(attempt, _CONTENDED)

    def change(
        self,
        app_id: str,
        request_id: str,
        connection_id: str | None,
        change: Callable[[QueuedRequest, datetime], QueuedRequest | None],
        *,
        entry_of: Callable[[QueuedRequest, int, str], AuditEntry],
        is_done: Callable[[QueuedRequest, QueuedRequest], bool],
    ) -> StoredRequest:
        """Change a record together with its entry in the audit log, and return it. `change` returns None to leave it.

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
            now = self._clock()
            after = change(stored.record, now)
            if after is None:
                return stored
            changes = with_dependants(self._store, [ChangeRequest(stored.record, after)], now)
            self._store.commit(*changes, Put(None, entry_of(after, after.revision, timestamp(now))))
            return replace(stored, record=after)

        return commit_with_retry(attempt, _CONTENDED)


def entries(action: Action, actor: Actor) -> Callable[[QueuedRequest, int, str], AuditEntry]:
    """Return the function that makes an entry from a record, the revision that was made, and a timestamp."""

    def entry_of(record: QueuedRequest, revision: int, at: str) -> AuditEntry:
        subject = Subject(record.app_id, record.id, revision, record.connection_id)
        return audit_entry(action, actor, subject, at, request_id=record.id)

    return entry_of


def redelivered(record: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return an ended record after a new round of its webhook has begun."""
    former, state = record.webhook, WebhookState.PENDING
    webhook = replace(former, state=state, error=None, round=former.round + 1, attempts_in_round=0)
    return record.with_webhook(now, webhook)


def existing(app_id: str, detail: RequestDetail | Tombstone | None) -> RequestDetail:
    """Return the app's request. Raises NotFound, or Gone if it was deleted."""
    if isinstance(detail, RequestDetail):
        owned(detail.stored.record, app_id, KIND)
        return detail
    raise Gone("The request was deleted.", {"deleted_at": owned(detail, app_id, KIND).deleted_at})


def refuse_rejected(record: QueuedRequest) -> None:
    """Raise InvalidState if somebody has rejected the request. It is never copied."""
    if record.was_rejected:
        reason = record.approval.reason if record.approval else None
        message = 'It was rejected. Queue a corrected request in its place, with "replaces": "<id>".'
        raise InvalidState(message, {"state": record.state.value, "reason": reason})


def refuse_incomplete(record: QueuedRequest) -> None:
    """Raise InvalidState if the request cannot be queued again as it is."""
    refuse_rejected(record)
    if record.paging.page > 1:
        first = record.paging.first_page_id
        raise InvalidState(f"Its iterator in QuickBooks has ended. Queue page 1 again: {first}.", {"record_id": first})
    if record.lacks_values:
        raise InvalidState(
            "It lacks values of the responses to other requests of its batch. Queue a request with these values, with "
            '"replaces": "<id>".',
            {"state": record.state.value},
        )


def _refuse_deletion(record: QueuedRequest, *, force: bool) -> None:
    details = {"state": record.state.value}
    if record.may_be_executed:
        raise MayBeExecuted(f"The request is {record.state}: QuickBooks may be working on it.", details)
    if record.state in QUEUED and not force:
        raise InvalidState(f"The request is {record.state}. Discard it first, or delete it with ?force=true.", details)
