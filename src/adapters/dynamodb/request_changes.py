"""Operations of the transactions that change queued requests: record, bodies and place in the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import (
    HAS_BODY,
    body_update,
    modification_attributes,
    new_body_items,
    reference_attributes,
    removed_item,
)
from adapters.dynamodb.client import key_query
from adapters.dynamodb.compression import utf8_size
from adapters.dynamodb.operations import Operation, delete, put, put_if, put_revision
from adapters.dynamodb.records import event_mark, record_item, request_from_item, tombstone_item
from adapters.dynamodb.response_chunks import StoredChunks, note_of_removal
from adapters.dynamodb.responses import response_attributes, search_attributes
from domain.errors import Conflict
from domain.records.request import State
from domain.records.retention import expires_at
from domain.storage.commit_size import MAX_DELETED_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.queue import Queue
    from adapters.dynamodb.responses import StoredResponse
    from domain.records.request import QueuedRequest
    from domain.storage.changes import AddRequest, ChangeRequest, ForgetRequest, RemoveRequest


class RequestChanges:
    """Converts changes of requests into operations. `retention_days` is read at each use; 0 keeps all records."""

    def __init__(self, dynamodb: DynamoDB, queue: Queue, retention_days: Callable[[], int]) -> None:
        self._dynamodb = dynamodb
        self._queue = queue
        self._retention_days = retention_days

    def add(self, change: AddRequest) -> list[Operation]:
        """Return the operations that store a new request."""
        record = change.record
        return [
            self._put_record(None, record, change),
            *(put(self._dynamodb.tables.payloads, item) for item in new_body_items(change)),
            *self._queue.move(None, record),
        ]

    def change(self, change: ChangeRequest, response: StoredResponse | None) -> list[Operation]:
        """Return the operations of a change. `response` tells where its response is, if it has one."""
        after = change.after
        if response:
            after = replace(
                after,
                response_size=utf8_size(change.response_xml or ""),
                response_attempt="" if response.chunks else response.attempt,
                response_chunks=response.chunks,
            )
        return [
            self._put_record(change.before, after, change),
            *self._update_body(change, response),
            *self._queue.move(change.before, after),
        ]

    def _update_body(self, change: ChangeRequest, response: StoredResponse | None) -> list[Operation]:
        """Return the update of the body, if it has to change.

        After a request was sent, the update prevents that a response of another attempt is stored, and removes one that
        was (`responses.py`).
        """
        if response and response.in_body:
            return []
        removed: list[str] = []
        if response and not response.chunks:
            attributes = response_attributes(change, response.attempt)
        else:
            attributes = search_attributes(change) | reference_attributes(change.references or ())
            attributes |= modification_attributes(change.modification_xml, change.field_changes)
            if change.before.state is State.SENT:
                attributes[keys.RESPONSE_ATTEMPT] = {"S": keys.NO_ATTEMPT}
                removed = [keys.RESPONSE]
        if not attributes:
            return []
        update = body_update(self._dynamodb.tables.payloads, change.after.id, attributes, removed)
        return [Operation({"Update": update})]

    def remove(self, change: RemoveRequest, stored: StoredChunks | None) -> list[Operation]:
        """Return the operations of a removal, on condition that the chunks are those in `stored`.

        Without `stored`, the record tells the chunks. The Conflict contains the ones that the body lists otherwise.
        """
        record = change.before
        own = (record.response_chunks,) if record.response_chunks else ()
        chunks = stored or StoredChunks(0, own)
        tombstone = tombstone_item(record, change.deleted_at)
        condition, values = chunks.condition()
        body = put_if(
            self._dynamodb.tables.payloads, removed_item(record), condition, change, StoredChunks.of, values=values
        )
        return [
            put_revision(self._dynamodb.tables.queued_requests, tombstone, record.revision, change, request_from_item),
            body,
            *self._removal_of_chunks(chunks.keys(record.id), change, noted=bool(chunks.responses)),
            *self._queue.move(record, None),
        ]

    def _removal_of_chunks(
        self, chunk_keys: Sequence[Item], change: RemoveRequest | ForgetRequest, *, noted: bool
    ) -> list[Operation]:
        """Return the deletions of chunks, and the note that makes the sweep look again if there were responses."""
        payloads = self._dynamodb.tables.payloads
        deletions = [delete(payloads, key) for key in chunk_keys[:MAX_DELETED_CHUNKS]]
        return [*deletions, put(payloads, note_of_removal(change.before.id, change.deleted_at))] if noted else deletions

    def forget(self, change: ForgetRequest) -> list[Operation]:
        """Delete the stored parts. Replacing the body makes a second attempt fail."""
        record = change.before
        payloads = self._dynamodb.tables.payloads
        attributes = (keys.REQUEST_ID, keys.PART, keys.RESPONSE_CHUNKS)
        query = key_query(payloads, {keys.REQUEST_ID: record.id}, attributes=attributes, consistent=True)
        stored_parts = {part[keys.PART]["S"]: part for part in self._dynamodb.query(query)}
        body = stored_parts.pop(keys.BODY, None)
        if body is None:
            raise Conflict(change, None)
        chunk_keys = [keys.payload_key(record.id, part) for part in stored_parts]
        tombstone = tombstone_item(record, change.deleted_at)
        return [
            put_if(payloads, removed_item(record), HAS_BODY, change),
            put_revision(self._dynamodb.tables.queued_requests, tombstone, None, change, request_from_item),
            *self._removal_of_chunks(chunk_keys, change, noted=keys.RESPONSE_CHUNKS in body),
        ]

    def _put_record(
        self, before: QueuedRequest | None, after: QueuedRequest, change: AddRequest | ChangeRequest
    ) -> Operation:
        item = record_item(after, expires_at(after, self._retention_days())) | event_mark(before, after)
        revision = before.revision if before else None
        return put_revision(self._dynamodb.tables.queued_requests, item, revision, change, request_from_item)
