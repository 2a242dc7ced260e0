"""Operations of the transactions that change queued requests: record, bodies and place in the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import (
    HAS_BODY,
    new_body_items,
    pack,
    removed_item,
)
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.operations import Operation, delete, put, put_if, put_revision
from adapters.dynamodb.requests import record_item, request_from_item, tombstone_item
from adapters.dynamodb.response_chunks import StoredChunks, index_attributes, note_of_removal
from domain.errors import Conflict
from domain.maintenance.retention import expires_at
from domain.records.request import QUEUED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.records.request import QueuedRequest
    from domain.storage.changes import AddRequest, ChangeRequest, ForgetRequest, RemoveRequest


MAX_DELETED_CHUNKS = 80
"""DynamoDB: a transaction has at most 100 entries. The sweep deletes the rest."""


class RequestChanges(Database):
    """Converts changes of requests into operations."""

    def _add_request(self, change: AddRequest) -> list[Operation]:
        record = change.record
        bodies = new_body_items(record, change.request_xml, change.search_text)
        return [
            self._put_record(record, None, change),
            *(put(self._tables.payloads, item) for item in bodies),
            *self._queue(None, record),
        ]

    def _change_request(self, change: ChangeRequest, response_chunks: str) -> list[Operation]:
        """Return the operations of a change. `response_chunks` names the chunks of a large response."""
        after = change.after
        body: Item = {}
        if change.response_xml:  # an empty one is none
            after = replace(after, response_size=len(change.response_xml.encode()), response_chunks=response_chunks)
            if not response_chunks:
                body[keys.RESPONSE] = {"B": pack(change.response_xml)}
        if change.search_text is not None:
            body |= index_attributes(after) | {keys.SEARCH_TEXT: {"S": change.search_text}}
        record = self._put_record(after, change.before.revision, change)
        update = [Operation({"Update": self._body_update(after.id, body)})] if body else []
        return [record, *update, *self._queue(change.before, after)]

    def _remove_request(self, change: RemoveRequest, stored: StoredChunks | None) -> list[Operation]:
        """Return the operations of a removal, on condition that the chunks are those in `stored`.

        Without `stored`, the record tells the chunks. The Conflict contains the ones that the body lists otherwise.
        """
        record = change.before
        own = (record.response_chunks,) if record.response_chunks else ()
        chunks = stored or StoredChunks(0, own)
        tombstone = tombstone_item(record, change.deleted_at)
        condition, values = chunks.condition()
        body = put_if(self._tables.payloads, removed_item(record), condition, change, StoredChunks.of, values=values)
        return [
            put_revision(self._tables.queued_requests, tombstone, record.revision, change, request_from_item),
            body,
            *self._removal_of_chunks(chunks.keys(record.id), change, noted=bool(chunks.responses)),
            *self._queue(record, None),
        ]

    def _removal_of_chunks(
        self, chunk_keys: Sequence[Item], change: RemoveRequest | ForgetRequest, *, noted: bool
    ) -> list[Operation]:
        """Return the deletions of chunks, and the note that makes the sweep look again if there were responses."""
        payloads = self._tables.payloads
        deletions = [delete(payloads, key) for key in chunk_keys[:MAX_DELETED_CHUNKS]]
        return [*deletions, put(payloads, note_of_removal(change.before.id, change.deleted_at))] if noted else deletions

    def _forget_request(self, change: ForgetRequest) -> list[Operation]:
        """Delete the stored parts. Replacing the body makes a second attempt fail."""
        record = change.before
        payloads = self._tables.payloads
        attributes = (keys.REQUEST_ID, keys.PART, keys.RESPONSE_CHUNKS)
        query = key_query(payloads, {keys.REQUEST_ID: record.id}, attributes=attributes, consistent=True)
        stored_parts = {part[keys.PART]["S"]: part for part in self._query(query)}
        body = stored_parts.pop(keys.BODY, None)
        if body is None:
            raise Conflict(change, None)
        chunk_keys = [keys.payload_key(record.id, part) for part in stored_parts]
        tombstone = tombstone_item(record, change.deleted_at)
        return [
            put_if(payloads, removed_item(record), HAS_BODY, change),
            put_revision(self._tables.queued_requests, tombstone, None, change, request_from_item),
            *self._removal_of_chunks(chunk_keys, change, noted=keys.RESPONSE_CHUNKS in body),
        ]

    def _put_record(self, record: QueuedRequest, before: int | None, change: AddRequest | ChangeRequest) -> Operation:
        item = record_item(record, expires_at(record, self._retention_days()))
        return put_revision(self._tables.queued_requests, item, before, change, request_from_item)

    def _body_update(self, request_id: str, attributes: Item) -> dict[str, Any]:
        """Return the parameters of an update that sets attributes of a body item."""
        return {
            "TableName": self._tables.payloads,
            "Key": keys.payload_key(request_id),
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
            "ExpressionAttributeNames": {f"#{name}": name for name in attributes},
            "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
        }

    def _queue(self, before: QueuedRequest | None, after: QueuedRequest | None) -> list[Operation]:
        """Keep a record in the queue only while it is queued. The record's condition also guards these operations."""
        old = keys.queue_key(before) if before and before.state in QUEUED else None
        new = keys.queue_key(after) if after and after.state in QUEUED else None
        operations = []
        if old and old != new:
            operations.append(delete(self._tables.queue, old))
        if after and new:
            operations.append(put(self._tables.queue, record_item(after) | new))
        return operations
