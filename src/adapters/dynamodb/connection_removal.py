"""Removes the data of deleted connections in parallel batches (decision 0022).

The search index names the records whose texts are not packed. The search blocks name the others (`search.py`). A body
with chunks is always in the index, which contains their number.

A record is found through its body and deleted before it. A removal that stops at any point therefore finds the
remaining records when it starts again. Two concurrent removals do no harm, because they delete the same items.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.database import Database, Policy, key_query
from adapters.dynamodb.response_chunks import StoredChunks, note_of_removal
from adapters.dynamodb.search import is_removed
from adapters.dynamodb.search_blocks import block_from_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adapters.dynamodb.keys import Item
    from domain.records.connection import Connection

RECORDS_A_STEP = 500
"""About a second's work."""

WRITERS = 8
"""The number of batches that are written in parallel."""

MAX_BATCH_DELETES = 25
"""DynamoDB: BatchWriteItem takes at most 25 items."""

BATCH_WRITE = Policy(
    retries=10, first_seconds=0.05, max_seconds=2.0, message="The database is busy. The next sweep continues."
)
"""All entries of a connection are in one partition of an index. DynamoDB accepts 1,000 writes a second for a partition.
Above that, it throttles writes to the table."""

_THROTTLED = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"})


class ConnectionRemoval(Database):
    """Removes deleted connections."""

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove a deleted connection's records; yield the number for each step. Raises TooManyRequests."""
        records, payloads = self._tables.queued_requests, self._tables.payloads
        query = key_query(
            payloads,
            {keys.CONNECTION_ID: connection.id},
            index=keys.SEARCH_INDEX,
            attributes=(keys.REQUEST_ID, keys.REQUEST_CHUNKS, keys.RESPONSE_CHUNKS, keys.SEARCH_TEXT),
        )
        bodies = self._query(query)
        tombstones: set[str] = set()
        while step := list(islice(bodies, RECORDS_A_STEP)):
            # A record that was removed before has a tombstone, which stays.
            tombstones.update(body[keys.REQUEST_ID]["S"] for body in step if is_removed(body))
            stored = [body for body in step if not is_removed(body)]
            self._delete(records, (keys.id_key(body[keys.REQUEST_ID]["S"]) for body in stored))
            for body in stored:
                if keys.RESPONSE_CHUNKS in body:
                    note = note_of_removal(body[keys.REQUEST_ID]["S"], connection.deleted_at or "")
                    self._client.put_item(TableName=payloads, Item=note)
            chunk_keys = (StoredChunks.of(body).keys(body[keys.REQUEST_ID]["S"]) for body in stored)
            self._delete(payloads, chain.from_iterable(chunk_keys))
            self._delete(payloads, (keys.payload_key(body[keys.REQUEST_ID]["S"]) for body in step))
            yield len(stored)
        for block in self._search_blocks(connection.id):
            ids = {request_id for _, request_id in block_from_item(block).texts} - tombstones
            self._delete(records, map(keys.id_key, ids))
            self._delete(payloads, map(keys.payload_key, ids))
            self._delete(payloads, [keys.payload_key(connection.id, block[keys.PART]["S"])])
            yield len(ids)

    def remove_connection(self, connection: Connection) -> None:
        """Remove a connection that has no records: its queue, its counts, then itself. Raises TooManyRequests."""
        payloads = self._tables.payloads
        for table, sort_key in ((self._tables.queue, keys.POSITION), (self._tables.counts, keys.DAY)):
            query = key_query(table, {keys.CONNECTION_ID: connection.id}, attributes=(keys.CONNECTION_ID, sort_key))
            self._delete(table, self._query(query))
        # Blocks are not stored without counts, so these are the last blocks.
        blocks = self._search_blocks(connection.id)
        self._delete(payloads, (keys.payload_key(connection.id, block[keys.PART]["S"]) for block in blocks))
        self._client.delete_item(TableName=self._tables.connections, Key=keys.id_key(connection.id))

    def _search_blocks(self, connection_id: str) -> Iterator[Item]:
        return self._query(key_query(self._tables.payloads, {keys.REQUEST_ID: connection_id}, consistent=True))

    def _delete(self, table: str, item_keys: Iterable[Item]) -> None:
        """Delete items in parallel batches and return when all are deleted. Each item must be named only once."""
        remaining = iter(item_keys)
        batches = iter(lambda: list(islice(remaining, MAX_BATCH_DELETES)), [])
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(partial(self._delete_batch, table), batches))

    def _delete_batch(self, table: str, item_keys: list[Item]) -> None:
        backoff = self._backoff(BATCH_WRITE)
        while item_keys:
            unprocessed = self._try_delete(table, item_keys)
            if len(unprocessed) < len(item_keys):
                backoff.reset()
            if unprocessed:
                backoff.wait()
            item_keys = unprocessed

    def _try_delete(self, table: str, item_keys: list[Item]) -> list[Item]:
        """Delete a batch once; return the keys that DynamoDB did not process."""
        requests = [{"DeleteRequest": {"Key": key}} for key in item_keys]
        try:
            result = self._client.batch_write_item(RequestItems={table: requests})
        except ClientError as error:
            if error.response["Error"]["Code"] not in _THROTTLED:
                raise
            return item_keys
        return [request["DeleteRequest"]["Key"] for request in result.get("UnprocessedItems", {}).get(table, [])]
