"""The items of the table of records: records of queued requests, and the tombstones that replace deleted ones."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from domain.maintenance.retention import SECONDS_A_DAY
from domain.records.request import QueuedRequest, Tombstone

if TYPE_CHECKING:
    from adapters.dynamodb.keys import Item

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
