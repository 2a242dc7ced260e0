"""Removes what a deleted connection left: batches, side by side (decision 0022).

Records are found by the index of their bodies, and by the leaves that hold their texts once they are
packed (`search_texts.py`); a body with chunks is always in the index, which says how many.

A record goes before its body, and the body is what it is found by: a purge that was broken off
anywhere finds what is left when it is begun anew. Two at a time do no harm, they delete the same.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from botocore.exceptions import ClientError

from adapters.dynamodb import payloads
from adapters.dynamodb.items import Item, number
from adapters.dynamodb.leaves import leaf_from_item
from adapters.dynamodb.reading import query_all
from adapters.dynamodb.search_texts import is_gone
from adapters.dynamodb.tables import SEARCH_INDEX
from domain.errors import TooManyRequests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adapters.dynamodb.tables import TableNames

RECORDS_A_STEP = 500
"""About a second's work."""

WRITERS = 8
"""How many batches are written at the same time."""

BATCH_DELETES = 25
"""DynamoDB: BatchWriteItem takes at most 25 items."""

UNPROCESSED_RETRIES = 10
FIRST_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 2.0
"""Full jitter, doubled at each try without progress: all entries of a connection lie in one partition of an index,
which takes 1,000 writes a second (DynamoDB), and what it cannot take is held back at the table."""

_THROTTLED = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"})

Delete: TypeAlias = tuple[str, Item]
"""The table and the key of an item to delete."""


class Purge:
    """Removes a connection's records and what belongs to them."""

    def __init__(
        self,
        client: Any,
        tables: TableNames,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._tables = tables
        self._sleep = sleep
        self._chance = chance

    def records(self, connection_id: str) -> Iterator[int]:
        """Remove records with their bodies, step by step; yield how many each step removed. Raises TooManyRequests."""
        tables = self._tables
        bodies = query_all(
            self._client,
            TableName=tables.payloads,
            IndexName=SEARCH_INDEX,
            KeyConditionExpression="connection_id = :connection",
            ProjectionExpression="request_id, request_parts, response_parts, search_text",
            ExpressionAttributeValues={":connection": {"S": connection_id}},
        )
        removed: set[str] = set()
        while step := list(islice(bodies, RECORDS_A_STEP)):
            # What stands for a record that was removed before has a tombstone, which stays.
            removed.update(body["request_id"]["S"] for body in step if is_gone(body))
            own = {body["request_id"]["S"]: body for body in step if not is_gone(body)}
            self._delete([(tables.queued_requests, {"id": {"S": one}}) for one in own])
            self._delete([(tables.payloads, key) for body in own.values() for key in _chunk_keys(body)])
            self._delete([(tables.payloads, payloads.payload_key(body["request_id"]["S"])) for body in step])
            yield len(own)
        for leaf in self._leaves(connection_id):
            ids = {one for _, one in leaf_from_item(leaf).texts} - removed
            self._delete([(tables.queued_requests, {"id": {"S": one}}) for one in ids])
            self._delete([(tables.payloads, payloads.payload_key(one)) for one in ids])
            self._delete([(tables.payloads, payloads.payload_key(connection_id, leaf["part"]["S"]))])
            yield len(ids)

    def _leaves(self, connection_id: str) -> Iterator[Item]:
        """Yield the connection's packed texts."""
        return query_all(
            self._client,
            TableName=self._tables.payloads,
            KeyConditionExpression="request_id = :connection",
            ExpressionAttributeValues={":connection": {"S": connection_id}},
            ConsistentRead=True,
        )

    def rest(self, connection_id: str) -> None:
        """Remove the queue, the counts and then the connection, whose records are gone. Raises TooManyRequests."""
        tables = self._tables
        for table, sort_key in ((tables.queue, "position"), (tables.counts, "day")):
            rows = query_all(
                self._client,
                TableName=table,
                KeyConditionExpression="connection_id = :connection",
                ProjectionExpression="connection_id, #key",
                ExpressionAttributeNames={"#key": sort_key},
                ExpressionAttributeValues={":connection": {"S": connection_id}},
            )
            self._delete([(table, row) for row in rows])
        # No leaf is stored without counts: what was packed meanwhile is all there is.
        for leaf in self._leaves(connection_id):
            self._delete([(tables.payloads, payloads.payload_key(connection_id, leaf["part"]["S"]))])
        self._client.delete_item(TableName=tables.connections, Key={"id": {"S": connection_id}})

    def _delete(self, deletes: Sequence[Delete]) -> None:
        """Delete items, each named once, in batches side by side; return when all are gone."""
        batches = [deletes[start : start + BATCH_DELETES] for start in range(0, len(deletes), BATCH_DELETES)]
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(self._delete_batch, batches))

    def _delete_batch(self, deletes: Sequence[Delete]) -> None:
        wanted = list(deletes)
        fruitless = 0
        while wanted:
            left = self._left_of(wanted)
            fruitless = fruitless + 1 if len(left) == len(wanted) else 0
            if fruitless > UNPROCESSED_RETRIES:
                raise TooManyRequests("The database is busy. The next sweep goes on.")
            if left:
                longest = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0**fruitless)
                self._sleep(longest * self._chance())
            wanted = left

    def _left_of(self, deletes: list[Delete]) -> list[Delete]:
        """Delete a batch once; return what DynamoDB left undone."""
        requests: dict[str, list[dict[str, Any]]] = {}
        for table, key in deletes:
            requests.setdefault(table, []).append({"DeleteRequest": {"Key": key}})
        try:
            answer = self._client.batch_write_item(RequestItems=requests)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _THROTTLED:
                raise
            return deletes
        unprocessed = answer.get("UnprocessedItems", {})
        return [(table, one["DeleteRequest"]["Key"]) for table, rest in unprocessed.items() for one in rest]


def _chunk_keys(body: Item) -> Iterator[Item]:
    request_id = body["request_id"]["S"]
    for form in (payloads.REQUEST, payloads.RESPONSE):
        yield from payloads.chunk_keys(request_id, form, number(body, f"{form}_parts"))
