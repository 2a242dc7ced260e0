"""The table of the queue: the waiting and retryable requests of a connection, in the order of sending."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, key_query
from adapters.dynamodb.operations import Operation, delete, put
from adapters.dynamodb.records import RECORDS
from domain.records.request import FIRST_LOW_PLACE, IN_TURN
from domain.timestamps import AFTER_ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.records.request import QueuedRequest
    from domain.storage.ports import IndexEntry

POSITION = "position"


def queue_key(record: QueuedRequest) -> Item:
    """Return the key of a queued record. Positions sort in the order of sending."""
    position = "#".join(map(str, record.place_in_queue))
    return {keys.CONNECTION_ID: {"S": record.connection_id}, POSITION: {"S": position}}


class Queue:
    """Reads the queue, and converts changes of records into operations."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def queue_front(self, connection_id: str, limit: int, *, low_lane: bool = False) -> Sequence[QueuedRequest]:
        """Return the next requests to send, with consistent queries of a table that holds whole records.

        One query returns up to 1 MB, which is several hundred records.
        """
        query = key_query(
            self._dynamodb.tables.queue,
            {keys.CONNECTION_ID: connection_id},
            between=(POSITION, f"{FIRST_LOW_PLACE}#", AFTER_ALL) if low_lane else None,
            consistent=True,
        )
        return [RECORDS.entity(item) for item in islice(self._dynamodb.query(query | {"Limit": limit}), limit)]

    def queued_after(
        self, connection_id: str, after: IndexEntry, last: str, limit: int, *, low_lane: bool = False
    ) -> Sequence[QueuedRequest]:
        """Return queued records in turn behind an entry by insertion, oldest first, with one query."""
        place = FIRST_LOW_PLACE if low_lane else IN_TURN
        first = f"{after.moment}#{after.id}{AFTER_ALL}" if after.id else after.moment
        query = key_query(
            self._dynamodb.tables.queue,
            {keys.CONNECTION_ID: connection_id},
            between=(POSITION, f"{place}#{first}", f"{place}#{last}{AFTER_ALL}"),
            consistent=True,
        )
        return [RECORDS.entity(item) for item in islice(self._dynamodb.query(query | {"Limit": limit}), limit)]

    def oldest_queued(self, connection_id: str) -> QueuedRequest | None:
        """Return the oldest request of those that are first in each priority. One query for each priority in use."""
        first_records: list[QueuedRequest] = []
        after = ""
        while True:
            query = key_query(
                self._dynamodb.tables.queue,
                {keys.CONNECTION_ID: connection_id},
                between=(POSITION, after, AFTER_ALL) if after else None,
            )
            items = self._dynamodb.client.query(**query, Limit=1)["Items"]
            if not items:
                return min(first_records, key=lambda record: record.inserted_at, default=None)
            record = RECORDS.entity(items[0])
            first_records.append(record)
            after = f"{record.place_in_queue[0] + 1}#"

    def remove_from_queue(self, entry: QueuedRequest) -> None:
        """Delete the entry. An ended request never returns to its place, so no condition is necessary."""
        self._dynamodb.client.delete_item(TableName=self._dynamodb.tables.queue, Key=queue_key(entry))

    def count_ahead(self, record: QueuedRequest, max_ahead: int) -> int:
        """Return the number of requests before a queued one, at most `max_ahead`."""
        position = queue_key(record)[POSITION]["S"]
        query = key_query(
            self._dynamodb.tables.queue, {keys.CONNECTION_ID: record.connection_id}, below=(POSITION, position)
        )
        return int(self._dynamodb.client.query(**query, Select="COUNT", Limit=max_ahead)["Count"])

    def count_queued(self, connection_id: str, priority: int, limit: int) -> int:
        """Return the number of queued requests with a priority, at most `limit`, with one consistent query."""
        query = key_query(
            self._dynamodb.tables.queue,
            {keys.CONNECTION_ID: connection_id},
            between=(POSITION, f"{priority}#", f"{priority}#{AFTER_ALL}"),
            consistent=True,
        )
        return int(self._dynamodb.client.query(**query, Select="COUNT", Limit=limit)["Count"])

    def move(self, before: QueuedRequest | None, after: QueuedRequest | None) -> list[Operation]:
        """Keep a record in the queue only while it is queued. The record's condition also guards these operations."""
        old = queue_key(before) if before and before.is_in_queue else None
        new = queue_key(after) if after and after.is_in_queue else None
        operations = []
        if old and old != new:
            operations.append(delete(self._dynamodb.tables.queue, old))
        if after and new:
            operations.append(put(self._dynamodb.tables.queue, RECORDS.item(after) | new))
        return operations
