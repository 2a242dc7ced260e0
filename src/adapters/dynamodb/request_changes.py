"""Operations of the transactions that change queued requests: record, bodies and place in the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import (
    HAS_BODY,
    MAX_INLINE_RESPONSE_BYTES,
    MAX_REQUEST_CHUNKS,
    chunk_items,
    new_body_items,
    pack,
    removed_item,
)
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.operations import Operation, delete, put, put_if, put_revision
from adapters.dynamodb.requests import record_item, request_from_item, tombstone_item
from domain.errors import Conflict
from domain.maintenance.retention import expires_at
from domain.records.request import QUEUED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.records.request import QueuedRequest
    from domain.storage.changes import AddRequest, ChangeRequest, ForgetRequest, RemoveRequest


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

    def _change_request(self, change: ChangeRequest) -> list[Operation]:
        after = change.after
        body: Item = {}
        if change.response_xml:  # an empty one is none
            size, packed = len(change.response_xml.encode()), pack(change.response_xml)
            chunks = chunk_items(after.id, keys.RESPONSE, packed) if size > MAX_INLINE_RESPONSE_BYTES else []
            after = replace(after, response_size=size, response_chunks=len(chunks))
            if chunks:
                self._store_chunks(change, chunks)
            else:
                body[keys.RESPONSE] = {"B": packed}
        if change.search_text is not None:
            body |= _index_attributes(after) | {keys.SEARCH_TEXT: {"S": change.search_text}}
        record = self._put_record(after, change.before.revision, change)
        update = [Operation({"Update": self._body_update(after.id, body)})] if body else []
        return [record, *update, *self._queue(change.before, after)]

    def _store_chunks(self, change: ChangeRequest, chunks: Sequence[Item]) -> None:
        """Store the chunks of a large response before the transaction that makes them valid.

        They are not read until the record contains their number. A repeated commit writes them again unchanged. The
        body gets their number first, so they can be found and removed even if the transaction never happens.
        """
        attributes = _index_attributes(change.after) | {keys.RESPONSE_CHUNKS: {"N": str(len(chunks))}}
        try:
            self._client.update_item(**self._body_update(change.after.id, attributes), ConditionExpression=HAS_BODY)
        except self._client.exceptions.ConditionalCheckFailedException:
            raise Conflict(change, None) from None  # the record was removed
        for chunk in chunks:
            self._client.put_item(TableName=self._tables.payloads, Item=chunk)

    def _remove_request(self, change: RemoveRequest) -> list[Operation]:
        record = change.before
        chunks = [
            *keys.chunk_keys(record.id, keys.RESPONSE, record.response_chunks),
            *keys.chunk_keys(record.id, keys.REQUEST, MAX_REQUEST_CHUNKS),
        ]
        tombstone = tombstone_item(record, change.deleted_at)
        return [
            put_revision(self._tables.queued_requests, tombstone, record.revision, change, request_from_item),
            put(self._tables.payloads, removed_item(record)),
            *(delete(self._tables.payloads, key) for key in chunks),
            *self._queue(record, None),
        ]

    def _forget_request(self, change: ForgetRequest) -> list[Operation]:
        """Delete the stored parts. Replacing the body makes a second attempt fail."""
        record = change.before
        payloads = self._tables.payloads
        attributes = (keys.REQUEST_ID, keys.PART)
        query = key_query(payloads, {keys.REQUEST_ID: record.id}, attributes=attributes, consistent=True)
        stored_parts = list(self._query(query))
        body = keys.payload_key(record.id)
        if body not in stored_parts:
            raise Conflict(change, None)
        tombstone = tombstone_item(record, change.deleted_at)
        return [
            put_if(payloads, removed_item(record), HAS_BODY, change),
            put_revision(self._tables.queued_requests, tombstone, None, change, request_from_item),
            *(delete(payloads, key) for key in stored_parts if key != body),
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


def _index_attributes(record: QueuedRequest) -> Item:
    """Return the attributes that put a body into the search index, which it may have left (`packing.py`)."""
    return {keys.CONNECTION_ID: {"S": record.connection_id}, keys.INSERTED_AT: {"S": record.inserted_at}}
