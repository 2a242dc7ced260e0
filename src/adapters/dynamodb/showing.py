"""One record with all that is told of it, in two round trips at most (`docs/data-model.md`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import items, payloads
from adapters.dynamodb.reading import batch_get
from domain.requests.record import QUEUED, QueuedRequest, Tombstone
from domain.storage.ports import RequestDetail

if TYPE_CHECKING:
    from adapters.dynamodb.items import Item
    from adapters.dynamodb.tables import TableNames


def request_detail(
    client: Any, tables: TableNames, request_id: str, connection_id: str | None, most: int
) -> RequestDetail | Tombstone | None:
    """Return a record by one read, and side by side what that one leaves open.

    That is the connection when it was not named, bodies in chunks, and how many requests are sent
    before one that waits, counted up to `most`.
    """
    named = [_id_key(connection_id)] if connection_id else []
    found = batch_get(
        client,
        {
            tables.queued_requests: [_id_key(request_id)],
            tables.payloads: [payloads.payload_key(request_id)],
            tables.connections: named,
        },
    )
    if not found[tables.queued_requests]:
        return None
    record = items.request_from_item(found[tables.queued_requests][0])
    if connection_id not in {None, record.connection_id}:
        return None
    body = payloads.body_from_item(found[tables.payloads][0]) if found[tables.payloads] else None
    keys = {
        tables.connections: [] if named else [_id_key(record.connection_id)],
        tables.payloads: payloads.keys_of_chunks(record, body) if isinstance(record, QueuedRequest) and body else [],
    }
    further, ahead = _further(client, tables, keys, record, most)
    connections = [
        items.connection_from_item(item) for item in (*found[tables.connections], *further[tables.connections])
    ]
    if not connections or connections[0].deleted_at:
        return None
    if isinstance(record, Tombstone):
        return record
    if body is None:
        return None  # it was deleted while it was read: a batch is no single moment
    stored = payloads.stored_request(record, body, payloads.by_part(further[tables.payloads]))
    return RequestDetail(stored, connections[0], ahead)


def _further(
    client: Any, tables: TableNames, keys: dict[str, list[Item]], record: QueuedRequest | Tombstone, most: int
) -> tuple[dict[str, list[Item]], int]:
    """Return the items with these keys, and how many requests are sent before the record."""
    if not most or isinstance(record, Tombstone) or record.state not in QUEUED:
        return batch_get(client, keys), 0
    with ThreadPoolExecutor(2) as readers:
        further = readers.submit(batch_get, client, keys)
        ahead = readers.submit(_ahead, client, tables, record, most)
        return further.result(), ahead.result()


def _ahead(client: Any, tables: TableNames, record: QueuedRequest, most: int) -> int:
    key = items.queue_key(record)
    answer = client.query(
        TableName=tables.queue,
        KeyConditionExpression="connection_id = :connection AND #position < :position",
        ExpressionAttributeNames={"#position": "position"},
        ExpressionAttributeValues={":connection": key["connection_id"], ":position": key["position"]},
        Select="COUNT",
        Limit=most,
    )
    return int(answer["Count"])


def _id_key(one: str) -> Item:
    return {"id": {"S": one}}
