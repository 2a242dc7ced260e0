"""Queued requests: how they are stored, and how they are read. `request_changes.py` writes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import Bodies, StoredBatch, unpack
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.entities import APPS, CONNECTIONS
from domain.errors import NotFound
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
    # The names without their prefix save bytes in every record. The last two are older names.
    renamed={
        "queue_priority": "priority",
        "paging_page": "page",
        "paging_first_page_id": "first_page_id",
        "paging_page_size": "page_size",
        "paging_continued": "continued",
        "response_chunks": keys.RESPONSE_CHUNKS,
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
            return None  # it was deleted during the read: a batch is not a snapshot
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
        """Read the existing records with their compressed bodies. Each needs two keys, so one read returns 50."""
        tables = self._tables
        items = self._batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id) for request_id in request_ids],
                tables.payloads: [keys.payload_key(request_id) for request_id in request_ids],
            }
        )
        bodies = {
            item[keys.REQUEST_ID]["S"]: stored for item in items[tables.payloads] if (stored := Bodies.of([item]))
        }
        records = [
            record
            for record in map(request_from_item, items[tables.queued_requests])
            if isinstance(record, QueuedRequest) and record.id in bodies
        ]
        return StoredBatch(records, bodies, self._payloads)

    def _complete(self, bodies: Bodies, request_id: str, response_chunks: int = 0) -> Bodies:
        """Return the bodies with the chunks of the request and the response that are still missing."""
        return bodies | self._payloads(bodies.missing_chunks(request_id, response_chunks))

    def _payloads(self, item_keys: Sequence[Item]) -> list[Item]:
        return self._batch_get({self._tables.payloads: item_keys})[self._tables.payloads]

    def request_xml(self, request_id: str) -> str:
        """Return the request XML with one read, or two reads if it is in chunks. Raises NotFound."""
        item = self._get(self._tables.payloads, keys.payload_key(request_id))
        bodies = Bodies.of([item] if item else [])
        if bodies is None:
            raise NotFound("The request does not exist.")
        return unpack(self._complete(bodies, request_id).packed_request)

    def queue_front(self, connection_id: str, limit: int) -> Sequence[QueuedRequest]:
        """Return the next requests to send, with one consistent query of a table that holds whole records."""
        query = key_query(self._tables.queue, {keys.CONNECTION_ID: connection_id}, consistent=True)
        return [RECORDS.entity(item) for item in self._client.query(**query, Limit=limit)["Items"]]

    def delivery(
        self, request_id: str, app_id: str, *, response_chunks: int, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        """Return the data for one webhook attempt, with one read of three tables."""
        tables = self._tables
        items = self._batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id)],
                tables.payloads: [
                    keys.payload_key(request_id),
                    *keys.chunk_keys(request_id, keys.RESPONSE, response_chunks),
                ],
                tables.apps: [keys.id_key(app_id)],
            }
        )
        record = next(map(request_from_item, items[tables.queued_requests]), None)
        if not isinstance(record, QueuedRequest):
            return record
        bodies = Bodies.of(items[tables.payloads])
        if bodies is None:
            return None  # it was removed during the read
        secrets = APPS.entity(items[tables.apps][0]).webhook_secrets if items[tables.apps] else ()
        with_response = record.response_size <= max_response_bytes
        bodies = self._complete(bodies, record.id, record.response_chunks if with_response else 0)
        return Delivery(bodies.stored_request(record, with_response=with_response), secrets)
