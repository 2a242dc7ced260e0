"""The chunks of large responses, which are stored before the transaction that makes them the response.

Each attempt to store a response gives its chunks a name of its own, so no other attempt overwrites them, however late a
call arrives. The body lists the attempts before their chunks are stored, and the record names the one that counts.
Whatever removes a request therefore finds the chunks of all attempts.

A chunk can still arrive after that. The removal of a request with chunks leaves a note, and the sweep removes what is
left of the request when no call can arrive any more (decision 0038).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import CHUNK_BYTES, HAS_BODY
from adapters.dynamodb.client import key_query
from adapters.dynamodb.compression import pack
from adapters.dynamodb.records import request_from_item
from domain.errors import Conflict
from domain.records.request import QueuedRequest

if TYPE_CHECKING:
    from collections.abc import Collection

    from adapters.dynamodb.batch_deletes import BatchDeletes
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from domain.storage.changes import ChangeRequest

MAX_NOTES = 100
"""Notes that a sweep handles. There is one for each removed request that had a large response."""


def note_of_removal(request_id: str, removed_at: str) -> Item:
    """Return the note that makes the sweep look again for chunks of a removed request."""
    return keys.payload_key(keys.REMOVED_WITH_CHUNKS, f"{removed_at}#{request_id}")


def index_attributes(record: QueuedRequest) -> Item:
    """Return the attributes that put a body into the search index, which it may have left (`packing.py`)."""
    return {keys.CONNECTION_ID: {"S": record.connection_id}, keys.INSERTED_AT: {"S": record.inserted_at}}


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """The chunks that a body lists: how many its request has, and the attempts to store its response."""

    requests: int
    responses: Collection[str]

    @classmethod
    def of(cls, body: Item) -> StoredChunks:
        """Return the chunks that a body lists."""
        requests = int(body.get(keys.REQUEST_CHUNKS, {"N": "0"})["N"])
        return cls(requests, body.get(keys.RESPONSE_CHUNKS, {}).get("SS", ()))

    def keys(self, request_id: str) -> list[Item]:
        """Return the keys of all chunks."""
        responses = [keys.response_chunk_keys(request_id, name) for name in self.responses]
        return [*keys.chunk_keys(request_id, keys.REQUEST, self.requests), *chain.from_iterable(responses)]

    def condition(self) -> tuple[str, Item]:
        """Return the condition that a body lists exactly these chunks, and its values."""
        values: Item = {}
        if self.requests:
            values[":requests"] = {"N": str(self.requests)}
        if self.responses:
            values[":responses"] = {"SS": list(self.responses)}
        conditions = [
            f"{attribute} = {name}" if name in values else f"attribute_not_exists({attribute})"
            for attribute, name in ((keys.REQUEST_CHUNKS, ":requests"), (keys.RESPONSE_CHUNKS, ":responses"))
        ]
        return " AND ".join(conditions), values


class ResponseChunks:
    """Stores and removes the chunks of large responses in the table of payloads."""

    def __init__(self, dynamodb: DynamoDB, deletes: BatchDeletes) -> None:
        self._dynamodb = dynamodb
        self._deletes = deletes

    def store(self, change: ChangeRequest, attempt: str) -> str:
        """Store the chunks of a large response. Return their name for the record.

        The body lists the attempt first, and is in the search index then, where the removal of the connection finds it.
        Raises Conflict if the record was removed.
        """
        packed, request_id = pack(change.response_xml or ""), change.after.id
        pieces = [packed[start : start + CHUNK_BYTES] for start in range(0, len(packed), CHUNK_BYTES)]
        name = f"{attempt}#{len(pieces)}"
        index = index_attributes(change.after)
        try:
            self._dynamodb.client.update_item(
                TableName=self._dynamodb.tables.payloads,
                Key=keys.payload_key(request_id),
                UpdateExpression="SET "
                + ", ".join(f"{attribute} = :{attribute}" for attribute in index)
                + f" ADD {keys.RESPONSE_CHUNKS} :name",
                ConditionExpression=HAS_BODY,
                ExpressionAttributeValues={f":{attribute}": value for attribute, value in index.items()}
                | {":name": {"SS": [name]}},
            )
        except self._dynamodb.client.exceptions.ConditionalCheckFailedException:
            raise Conflict(change, None) from None
        for key, piece in zip(keys.response_chunk_keys(request_id, name), pieces, strict=True):
            self._dynamodb.client.put_item(
                TableName=self._dynamodb.tables.payloads, Item=key | {keys.DATA: {"B": piece}}
            )
        return name

    def discard(self, request_id: str, name: str) -> None:
        """Remove the chunks of an attempt that was not committed.

        They stay if the record names them: a lost call has committed the attempt, and then others have changed all of
        its items, so that the commit does not recognise it.
        """
        item = self._dynamodb.get(self._dynamodb.tables.queued_requests, keys.id_key(request_id))
        record = request_from_item(item) if item else None
        if isinstance(record, QueuedRequest) and record.response_chunks == name:
            return
        for key in keys.response_chunk_keys(request_id, name):
            self._dynamodb.client.delete_item(TableName=self._dynamodb.tables.payloads, Key=key)

    def remove_late_responses(self, before: str) -> int:
        """Remove the chunks of requests that were removed before a timestamp. Return their number."""
        table, delete = self._dynamodb.tables.payloads, self._deletes.delete
        removed = 0
        notes = key_query(
            table, {keys.REQUEST_ID: keys.REMOVED_WITH_CHUNKS}, below=(keys.PART, before), consistent=True
        )
        for note in self._dynamodb.client.query(**notes, Limit=MAX_NOTES)["Items"]:
            request_id = note[keys.PART]["S"].rpartition("#")[2]
            attributes = (keys.REQUEST_ID, keys.PART)
            query = key_query(table, {keys.REQUEST_ID: request_id}, attributes=attributes, consistent=True)
            parts = self._dynamodb.query(query)
            chunks = [part for part in parts if part[keys.PART] != {"S": keys.BODY}]
            delete(table, chunks)
            delete(table, [{name: note[name] for name in attributes}])
            removed += len(chunks)
        return removed
