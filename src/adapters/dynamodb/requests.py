"""Queued requests: how they are stored, and how they are read. `request_changes.py` writes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import Bodies, StoredBatch, unpack
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.entities import APPS, CONNECTIONS
from adapters.dynamodb.torn_reads import TORN_READ, PartMissing, consistently
from domain.errors import NotFound, TooManyRequests, Unavailable
from domain.maintenance.retention import SECONDS_A_DAY
from domain.records.request import QUEUED, QueuedRequest, Tombstone
from domain.storage.ports import Delivery, RequestDetail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.ports import RequestBatch

TOMBSTONE_DAYS = 90
"""How long GET returns 410 for a deleted or expired record before it returns 404."""

RECORDS = Codec(
    QueuedRequest,
    # Shorter names save bytes in every record.
    renamed={
        "queue_priority": "priority",
        "paging_page": "page",
        "paging_first_page_id": "first_page_id",
        "paging_page_size": "page_size",
        "paging_continued": "continued",
        "webhook_attempts_in_round": keys.WEBHOOK_ATTEMPTS_IN_ROUND,
    },
    # The indexes, the counts and the event filters in the template depend on them.
    required={keys.STATE, keys.WEBHOOK_STATE, keys.WEBHOOK_ATTEMPTS_IN_ROUND},
)
TOMBSTONES = Codec(Tombstone)


def record_item(record: QueuedRequest, expires_at: int | None = None) -> Item:
    """Return the item of a record. DynamoDB removes it some time after `expires_at` (Unix seconds)."""
    return RECORDS.item(record) | keys.expiry(expires_at)


def tombstone_item(record: QueuedRequest, deleted_at: str) -> Item:
    """Return the tombstone that replaces a deleted record. Without `inserted_at`, it is not in any listing index."""
    deleted = int(datetime.fromisoformat(deleted_at).timestamp())
    tombstone = Tombstone(record.id, record.connection_id, record.app_id, deleted_at)
    return TOMBSTONES.item(tombstone) | keys.expiry(deleted + TOMBSTONE_DAYS * SECONDS_A_DAY)


def request_from_item(item: Item) -> QueuedRequest | Tombstone:
    """Return the record or its tombstone."""
    return TOMBSTONES.entity(item) if keys.DELETED_AT in item else RECORDS.entity(item)


class Requests(Database):
    """Reads requests."""

    def request(self, request_id: str) -> QueuedRequest | Tombstone | None:
        """Return the record without its bodies, with one read."""
        item = self._get(self._tables.queued_requests, keys.id_key(request_id))
        return request_from_item(item) if item else None

    def request_detail(
        self, request_id: str, connection_id: str | None = None, max_ahead: int = 0
    ) -> RequestDetail | Tombstone | None:
        """Return a record with one read. If that does not return everything, a second round of reads follows.

        The second round reads the connection if `connection_id` is None, the chunks of large bodies, and the number of
        requests ahead.
        """

        def read() -> RequestDetail | Tombstone | None:
            return self._read_detail(request_id, connection_id, max_ahead)

        return consistently(read, self._backoff(TORN_READ))

    def _read_detail(
        self, request_id: str, connection_id: str | None, max_ahead: int
    ) -> RequestDetail | Tombstone | None:
        tables = self._tables
        first = self._batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id)],
                tables.payloads: [keys.payload_key(request_id)],
                tables.connections: [keys.id_key(connection_id)] if connection_id else [],
            }
        )
        request = next(map(request_from_item, first[tables.queued_requests]), None)
        if request is None or connection_id not in {None, request.connection_id}:
            return None
        record = request if isinstance(request, QueuedRequest) else None
        bodies = Bodies.of(first[tables.payloads]) if record else None
        second, ahead = self._second_round(
            {
                tables.connections: [] if connection_id else [keys.id_key(request.connection_id)],
                tables.payloads: bodies.missing_chunks(request_id, record.response_chunks) if record and bodies else [],
            },
            record,
            max_ahead,
        )
        connections = [CONNECTIONS.entity(item) for items in (first, second) for item in items[tables.connections]]
        if not connections or connections[0].deleted_at:
            return None
        if isinstance(request, Tombstone):
            return request
        if bodies is None:
            raise PartMissing(request_id)
        return RequestDetail((bodies | second[tables.payloads]).stored_request(request), connections[0], ahead)

    def _second_round(
        self, needed: Mapping[str, Sequence[Item]], record: QueuedRequest | None, max_ahead: int
    ) -> tuple[dict[str, list[Item]], int]:
        """Return the items with these keys, and the number of requests ahead of a queued record."""
        if not max_ahead or record is None or record.state not in QUEUED:
            return self._batch_get(needed), 0
        with ThreadPoolExecutor(2) as readers:
            items = readers.submit(self._batch_get, needed)
            ahead = readers.submit(self._count_ahead, record, max_ahead)
            return items.result(), ahead.result()

    def _count_ahead(self, record: QueuedRequest, max_ahead: int) -> int:
        position = keys.queue_key(record)[keys.POSITION]["S"]
        query = key_query(
            self._tables.queue, {keys.CONNECTION_ID: record.connection_id}, below=(keys.POSITION, position)
        )
        return int(self._client.query(**query, Select="COUNT", Limit=max_ahead)["Count"])

    def request_batch(self, request_ids: Sequence[str]) -> RequestBatch:
        """Read the existing records with their compressed bodies. Each needs two keys, so one read returns 50.

        A torn read is repeated. If a record still has no body then, it is left out. If a response is still missing, it
        is not in the list.
        """
        tables, backoff = self._tables, self._backoff(TORN_READ)
        records: dict[str, QueuedRequest] = {}
        bodies: dict[str, Bodies] = {}
        to_read = list(request_ids)
        with suppress(TooManyRequests):
            while to_read:
                items = self._batch_get(
                    {
                        tables.queued_requests: [keys.id_key(request_id) for request_id in to_read],
                        tables.payloads: [keys.payload_key(request_id) for request_id in to_read],
                    }
                )
                for request_id in to_read:
                    records.pop(request_id, None)
                    bodies.pop(request_id, None)
                for record in map(request_from_item, items[tables.queued_requests]):
                    if isinstance(record, QueuedRequest):
                        records[record.id] = record
                for item in items[tables.payloads]:
                    if body := Bodies.of([item]):
                        bodies[item[keys.REQUEST_ID]["S"]] = body
                to_read = [one for one in to_read if one in records and _is_torn(records[one], bodies.get(one))]
                if to_read:
                    backoff.wait()
        return StoredBatch([record for one, record in records.items() if one in bodies], bodies, self._payloads)

    def _complete(self, bodies: Bodies, request_id: str, response_chunks: str = "") -> Bodies:
        """Return the bodies with the chunks of the request and the response that are still missing."""
        return bodies | self._payloads(bodies.missing_chunks(request_id, response_chunks))

    def _payloads(self, item_keys: Sequence[Item]) -> list[Item]:
        return self._batch_get({self._tables.payloads: item_keys})[self._tables.payloads]

    def request_xml(self, request_id: str) -> str:
        """Return the request XML with one read, or two reads if it is in chunks. Raises NotFound."""

        def read() -> str:
            item = self._get(self._tables.payloads, keys.payload_key(request_id))
            bodies = Bodies.of([item] if item else [])
            if bodies is None:
                raise PartMissing(request_id)
            return unpack(self._complete(bodies, request_id).packed_request)

        try:
            return consistently(read, self._backoff(TORN_READ))
        except Unavailable:
            raise NotFound("The request does not exist.") from None

    def queue_front(self, connection_id: str, limit: int) -> Sequence[QueuedRequest]:
        """Return the next requests to send, with consistent queries of a table that holds whole records.

        One query returns up to 1 MB, which is several hundred records.
        """
        query = key_query(self._tables.queue, {keys.CONNECTION_ID: connection_id}, consistent=True)
        return [RECORDS.entity(item) for item in islice(self._query(query | {"Limit": limit}), limit)]

    def remove_from_queue(self, entry: QueuedRequest) -> None:
        """Delete the entry. An ended request never returns to its place, so no condition is necessary."""
        self._client.delete_item(TableName=self._tables.queue, Key=keys.queue_key(entry))

    def delivery(
        self, request_id: str, app_id: str, *, response_chunks: str, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        """Return the data for one webhook attempt, with one read of three tables."""

        def read() -> Delivery | Tombstone | None:
            return self._read_delivery(request_id, app_id, response_chunks, max_response_bytes)

        return consistently(read, self._backoff(TORN_READ))

    def _read_delivery(
        self, request_id: str, app_id: str, response_chunks: str, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        tables = self._tables
        items = self._batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id)],
                tables.payloads: [
                    keys.payload_key(request_id),
                    *keys.response_chunk_keys(request_id, response_chunks),
                ],
                tables.apps: [keys.id_key(app_id)],
            }
        )
        record = next(map(request_from_item, items[tables.queued_requests]), None)
        if not isinstance(record, QueuedRequest):
            return record
        bodies = Bodies.of(items[tables.payloads])
        if bodies is None:
            raise PartMissing(request_id)
        secrets = APPS.entity(items[tables.apps][0]).webhook_secrets if items[tables.apps] else ()
        with_response = record.response_size <= max_response_bytes
        bodies = self._complete(bodies, record.id, record.response_chunks if with_response else "")
        return Delivery(bodies.stored_request(record, with_response=with_response), secrets)


def _is_torn(record: QueuedRequest, bodies: Bodies | None) -> bool:
    """Whether the body was read at another moment than the record, so that it is missing or lacks the response."""
    return bodies is None or bodies.is_older_than(record)
