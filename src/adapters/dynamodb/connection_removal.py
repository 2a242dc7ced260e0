"""Removes the data of deleted connections in parallel batches (decision 0022).

The search index names the records whose texts are not packed. The search blocks name the others (`search.py`). A body
with chunks is always in the index, which contains their number.

A record is found through its body and deleted before it. A removal that stops at any point therefore finds the
remaining records when it starts again. Two concurrent removals do no harm, because they delete the same items.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import key_query
from adapters.dynamodb.connections import CONNECTIONS
from adapters.dynamodb.counts import DAY
from adapters.dynamodb.months import months_of
from adapters.dynamodb.queue import POSITION
from adapters.dynamodb.response_chunks import StoredChunks, note_of_removal
from adapters.dynamodb.search import SEARCH, is_removed
from adapters.dynamodb.search_blocks import block_from_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.dynamodb.batch_deletes import BatchDeletes
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.events import Events
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.sessions import Sessions
    from adapters.dynamodb.subscriptions import Subscriptions
    from domain.records.connection import Connection

RECORDS_A_STEP = 500
"""About a second's work."""


class ConnectionRemoval:
    """Removes deleted connections."""

    def __init__(
        self,
        dynamodb: DynamoDB,
        deletes: BatchDeletes,
        events: Events,
        sessions: Sessions,
        subscriptions: Subscriptions,
    ) -> None:
        self._dynamodb = dynamodb
        self._deletes = deletes
        self._events = events
        self._sessions = sessions
        self._subscriptions = subscriptions

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove a deleted connection's records, then its sessions; yield the number of records of each step.

        Raises TooManyRequests.
        """
        records, payloads = self._dynamodb.tables.queued_requests, self._dynamodb.tables.payloads
        query = key_query(
            payloads,
            {keys.CONNECTION_ID: connection.id},
            index=SEARCH,
            attributes=(keys.REQUEST_ID, keys.REQUEST_CHUNKS, keys.RESPONSE_CHUNKS, keys.SEARCH_TEXT),
        )
        bodies = self._dynamodb.query(query)
        tombstones: set[str] = set()
        while step := list(islice(bodies, RECORDS_A_STEP)):
            # A record that was removed before has a tombstone, which stays.
            tombstones.update(body[keys.REQUEST_ID]["S"] for body in step if is_removed(body))
            stored = [body for body in step if not is_removed(body)]
            self._deletes.delete(records, (keys.id_key(body[keys.REQUEST_ID]["S"]) for body in stored))
            for body in stored:
                if keys.RESPONSE_CHUNKS in body:
                    note = note_of_removal(body[keys.REQUEST_ID]["S"], connection.deleted_at or "")
                    self._dynamodb.client.put_item(TableName=payloads, Item=note)
            chunk_keys = (StoredChunks.of(body).keys(body[keys.REQUEST_ID]["S"]) for body in stored)
            self._deletes.delete(payloads, chain.from_iterable(chunk_keys))
            self._deletes.delete(payloads, (keys.payload_key(body[keys.REQUEST_ID]["S"]) for body in step))
            yield len(stored)
        for block in self._search_blocks(connection.id):
            ids = {request_id for _, request_id in block_from_item(block).texts} - tombstones
            self._deletes.delete(records, map(keys.id_key, ids))
            self._deletes.delete(payloads, map(keys.payload_key, ids))
            self._deletes.delete(payloads, [keys.payload_key(connection.id, block[keys.PART]["S"])])
            yield len(ids)
        # A connection with work every minute has 43,200 sessions.
        ended = self._sessions.keys_of_ended(connection.id)
        while step := list(islice(ended, RECORDS_A_STEP)):
            self._deletes.delete(self._dynamodb.tables.sessions, step)
            yield 0

    def remove_connection(self, connection: Connection) -> None:
        """Remove a connection without records: its events, subscriptions, queue and counts, then itself.

        The id of a connection that was created with a key stays. Another one with it would be removed too, by a sweep
        that still works on this one or by a repeated call. Raises TooManyRequests.
        """
        self._events.remove_events_of(connection.app_id, connection.id)
        self._subscriptions.remove_copy(connection.id)
        payloads = self._dynamodb.tables.payloads
        queue, counts = self._dynamodb.tables.queue, self._dynamodb.tables.counts
        # No statistics are moved to a month without counts, so the months come last.
        for table, partition, sort_key in (
            (queue, connection.id, POSITION),
            (counts, connection.id, DAY),
            (counts, months_of(connection.id), DAY),
        ):
            query = key_query(table, {keys.CONNECTION_ID: partition}, attributes=(keys.CONNECTION_ID, sort_key))
            self._deletes.delete(table, self._dynamodb.query(query))
        # Blocks are not stored without counts, so these are the last blocks.
        blocks = self._search_blocks(connection.id)
        self._deletes.delete(payloads, (keys.payload_key(connection.id, block[keys.PART]["S"]) for block in blocks))
        table, client = self._dynamodb.tables.connections, self._dynamodb.client
        if connection.is_of_key:
            client.put_item(TableName=table, Item=CONNECTIONS.item(connection.without_data()))
        else:
            client.delete_item(TableName=table, Key=keys.id_key(connection.id))

    def _search_blocks(self, connection_id: str) -> Iterator[Item]:
        return self._dynamodb.query(
            key_query(self._dynamodb.tables.payloads, {keys.REQUEST_ID: connection_id}, consistent=True)
        )
