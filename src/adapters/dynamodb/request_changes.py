"""Operations of the transactions that change queued requests: record, bodies and place in the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import HAS_BODY, MAX_REQUEST_CHUNKS, new_body_items, removed_item
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.requests import record_item, request_from_item, tombstone_item
from adapters.dynamodb.transactions import Operation, delete, put, put_if, put_revision
from domain.errors import Conflict
from domain.maintenance.retention import expires_at
from domain.requests.record import QUEUED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.dynamodb.bodies import PackedResponse
    from adapters.dynamodb.keys import Item
    from domain.requests.record import QueuedRequest
    from domain.storage.changes import AddRequest, ChangeRequest, ForgetRequest, RemoveRequest


class RequestChanges(Database):
    """Converts changes to requests into operations."""

    _retention_days: Callable[[], int]

    def _store_chunks(self, change: ChangeRequest, response: PackedResponse) -> None:
        """Store the chunks of a large response before the transaction that makes them valid.

        They are not read until the record contains their number. A repeated commit writes them again unchanged. The
        body gets their number first, so they can be found and removed even if the transaction never happens.
        """
        try:
            self._client.update_item(
                TableName=self._tables.payloads,
                Key=keys.payload_key(change.after.id),
                # The keys put the body into the search index, where the removal of a connection finds it.
                UpdateExpression=f"SET {keys.RESPONSE_PARTS} = :parts, {keys.CONNECTION_ID} = :connection, "
                f"{keys.INSERTED_AT} = :inserted",
                ConditionExpression=HAS_BODY,
                ExpressionAttributeValues={
                    ":parts": {"N": str(len(response.chunks))},
                    ":connection": {"S": change.after.connection_id},
                    ":inserted": {"S": change.after.inserted_at},
                },
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            raise Conflict(change, None) from None  # the record was removed
        for chunk in response.chunks:
            self._client.put_item(TableName=self._tables.payloads, Item=chunk)

    def _stored_parts(self, request_id: str) -> list[Item]:
        """Return the keys of the payload items of a record."""
        query = key_query(
            self._tables.payloads,
            {keys.REQUEST_ID: request_id},
            attributes=(keys.REQUEST_ID, keys.PART),
            consistent=True,
        )
        return list(self._query(query))

    def _add_request(self, change: AddRequest) -> list[Operation]:
        record = change.record
        bodies = new_body_items(record, change.request_xml, change.search_text)
        return [
            self._put_record(record, None, change),
            *(put(self._tables.payloads, item) for item in bodies),
            *self._queue(None, record),
        ]

    def _change_request(self, change: ChangeRequest, response: PackedResponse | None) -> list[Operation]:
        after = change.after
        body: Item = {}
        if response is not None:
            after = replace(after, response_size=response.size, response_parts=len(response.chunks))
            if not response.chunks:
                body[keys.RESPONSE] = {"B": response.packed}
        if change.search_text is not None:
            # The keys are included because the body may have left the search index (`packing.py`).
            body[keys.SEARCH_TEXT] = {"S": change.search_text}
            body[keys.CONNECTION_ID] = {"S": after.connection_id}
            body[keys.INSERTED_AT] = {"S": after.inserted_at}
        record = self._put_record(after, change.before.revision, change)
        return [record, *([self._set_body(after.id, body)] if body else []), *self._queue(change.before, after)]

    def _remove_request(self, change: RemoveRequest) -> list[Operation]:
        record = change.before
        chunks = [
            *keys.chunk_keys(record.id, keys.RESPONSE, record.response_parts),
            *keys.chunk_keys(record.id, keys.REQUEST, MAX_REQUEST_CHUNKS),
        ]
        tombstone = tombstone_item(record, change.deleted_at)
        return [
            put_revision(self._tables.queued_requests, tombstone, record.revision, change, request_from_item),
            put(self._tables.payloads, removed_item(record)),
            *(delete(self._tables.payloads, key) for key in chunks),
            *self._queue(record, None),
        ]

    def _forget_request(self, change: ForgetRequest, stored_parts: Sequence[Item]) -> list[Operation]:
        """Delete the stored parts. Replacing the body makes a second attempt fail."""
        body = keys.payload_key(change.before.id)
        if body not in stored_parts:
            raise Conflict(change, None)
        tombstone = tombstone_item(change.before, change.deleted_at)
        return [
            put_if(self._tables.payloads, removed_item(change.before), HAS_BODY, change),
            put_revision(self._tables.queued_requests, tombstone, None, change, request_from_item),
            *(delete(self._tables.payloads, key) for key in stored_parts if key != body),
        ]

    def _put_record(self, record: QueuedRequest, before: int | None, change: AddRequest | ChangeRequest) -> Operation:
        item = record_item(record, expires_at(record, self._retention_days()))
        return put_revision(self._tables.queued_requests, item, before, change, request_from_item)

    def _set_body(self, request_id: str, attributes: Item) -> Operation:
        entry: dict[str, Any] = {
            "TableName": self._tables.payloads,
            "Key": keys.payload_key(request_id),
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
            "ExpressionAttributeNames": {f"#{name}": name for name in attributes},
            "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
        }
        return Operation({"Update": entry})

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
