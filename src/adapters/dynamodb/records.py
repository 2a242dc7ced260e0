"""The items of the table of records: records of queued requests, and the tombstones that replace deleted ones.

Three attributes are the keys of the listing indexes. They follow every change of a record except the moves to ticketed
and sent, which therefore write no index entries (decision 0060). Records with a label and later pages of a query have
one more, which never changes (decision 0078). A request that has to be sent by a time has one until it is sent.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from typing import TYPE_CHECKING
from zlib import crc32

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec, CompressedCodec
from domain.records.event import changes_of
from domain.records.request import IN_FLIGHT, QueuedRequest, State, Tombstone
from domain.records.retention import SECONDS_A_DAY
from domain.records.webhook import ListedWebhookState

if TYPE_CHECKING:
    from adapters.dynamodb.keys import Item

TOMBSTONE_DAYS = 90
"""How long GET returns 410 for a deleted or expired record before it returns 404."""

LISTED_STATE = "l_state"
LISTED_WEBHOOK_STATE = "l_webhook"
LISTED_UPDATED_AT = "l_updated"
LISTED_LABEL = "l_label"
"""A hash of the label. It has 16 characters, while a label can take 200 bytes, for which a record has no room."""
IN_FLIGHT_OF = "in_flight"
"""The connection of a record in flight, or the shard of a write that is unsettled. Other records do not have it, so the
index is sparse."""
UNSETTLED = "unsettled#"
"""Prefix of the shards of unsettled writes. No connection has such an id."""
UNSENT = "unsent"
"""The shard of the index `to_send`. Only a request that ends if its `send_by` passes has it, so the index is sparse."""
UNSENT_SHARDS = 4
"""DynamoDB writes up to 1,000 entries a second to each. Each sweep reads all. Unsettled writes have as many."""

STATE_CODES = {
    State.WAITING: "w",
    State.RETRYABLE: "y",
    State.RESPONSE_RECEIVED: "r",
    State.ERROR: "e",
    State.DISCARDED: "d",
}
WEBHOOK_STATE_CODES = {
    ListedWebhookState.NOT_APPLICABLE: "n",
    ListedWebhookState.PENDING: "p",
    ListedWebhookState.RETRYING: "r",
    ListedWebhookState.SUCCEEDED: "s",
    ListedWebhookState.FAILED: "f",
    ListedWebhookState.APPROVAL_NOT_APPLICABLE: "a",
    ListedWebhookState.APPROVAL_PENDING: "b",
    ListedWebhookState.APPROVAL_SUCCEEDED: "c",
    ListedWebhookState.APPROVAL_FAILED: "d",
}
"""Each is one letter in index keys and in the names of count attributes, because lists read many of both. For example,
`irs` counts the records inserted that day that are now response_received and succeeded."""

_CODEC = Codec(
    QueuedRequest,
    renamed={
        "webhook_attempts_in_round": keys.WEBHOOK_ATTEMPTS_IN_ROUND,
        "paging_first_page_id": keys.QUERY_ID,
        "attempts_sessions": "sessions",
        "attempts_lost_responses": "lost_responses",
        "attempts_failed_sessions": "failed_sessions",
        "claim_session_id": "last_session_id",
        "claim_state_before": "state_before_claim",
        "claim_updated_before": "updated_before_claim",
    },
    # The indexes, the counts and the event filters in the template depend on them.
    required={keys.STATE, keys.WEBHOOK_STATE, keys.WEBHOOK_ATTEMPTS_IN_ROUND},
)

_PLAIN = frozenset(
    {
        keys.ID,
        keys.CONNECTION_ID,
        keys.STATE,
        keys.WEBHOOK_STATE,
        keys.WEBHOOK_ATTEMPTS_IN_ROUND,
        keys.INSERTED_AT,
        keys.UPDATED_AT,
        keys.QUERY_ID,
        keys.REVISION,
        keys.SEND_BY,
    }
)
"""The attributes that keys, conditions and event filters name. All others are in the attribute `FIELDS`."""

FIELDS = "fields"

_DICTIONARY = (
    b'{"recovery_begun":{"BOOL":true},"recovery_active":{"BOOL":true},"recovery_sessions":{"N":"1"},'
    b'"recovery_running_until":{"S":"2027-01-"},"paging_page":{"N":"2"},"paging_first_page_id":{"S":"'
    b'"},"paging_page_size":{"N":"500"},"paging_may_begin":{"BOOL":true},"paging_continued":{"BOOL":true},'
    b'"lost_responses":{"N":"1"},"failed_sessions":{"N":"1"},"webhook_error":{"S":"The receiver returned HTTP 500."},'
    b'"webhook_round":{"N":"1"},"error":{"S":"{\\"code\\":\\"quickbooks_error\\",\\"message\\":\\"'
    b'\\",\\"details\\":{\\"status_code\\":3140,\\"status_severity\\":\\"Error\\",\\"request_id\\":\\"'
    b'\\",\\"reason\\":\\"\\",\\"retryable\\":false,\\"hint\\":\\"\\"}}"},'
    b'"subject":{"S":"'
    b'"},"dependants":{"S":"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24]"},'
    b'"dependencies":{"N":"1"},"label":{"S":"'
    b'"},"query_id":{"S":"'
    b'"},"webhook_url":{"S":"https://www.example.com/api/webhooks/quickbooks"},'
    b'"webhook_attempts":{"S":"{\\"attempted_at\\":[\\"2027-01-01T'
    b'\\"],\\"response\\":[\\"OK\\"],\\"status_code\\":[200],\\"duration_ms\\":[123],'
    b'\\"next_attempt_at\\":[null]}"},'
    b'"recovery_company_file_key":{"S":"0123456789abcdef'
    b'"},"app_id":{"S":"'
    b'"},"request_name":{"S":"SalesReceiptAddRq SalesOrderModRq ItemInventoryQueryRq BillPaymentCheckAddRq '
    b"VendorQueryRq TxnDelRq ListDelRq ReceivePaymentAddRq CustomerModRq InvoiceAddRq InvoiceQueryRq "
    b"CustomerAddRq CustomerQueryRq"
    b'"},"request_label":{"S":"'
    b'"},"qbxml_version":{"S":"16.0"},"queue_priority":{"N":"1"},"sessions":{"N":"1"},"last_session_id":{"S":"'
    b'"},"sent_at":{"S":"2026-12-31T'
    b'"},"responded_at":{"S":"2026-11-'
    b'"},"response_size":{"N":"1"},"response_chunks":{"S":"#2"}}'
)
"""Texts that occur in most records, the most frequent ones last. Stored records cannot be read without it, so it must
never change, whatever fields a record gets or loses. A better one needs another name in place of `FIELDS`."""

RECORDS = CompressedCodec(_CODEC, _PLAIN, FIELDS, _DICTIONARY)
TOMBSTONES = Codec(Tombstone)

RECORD_ATTRIBUTES = sorted(_PLAIN | {FIELDS, keys.APP_ID, keys.DELETED_AT})
"""What `request_from_item` needs of an item: its record, or its tombstone."""


def record_item(record: QueuedRequest, expires_at: int | None = None) -> Item:
    """Return the item of a record. DynamoDB removes it some time after `expires_at` (Unix seconds)."""
    return RECORDS.item(record) | _listing_attributes(record) | keys.expiry(expires_at)


def event_mark(before: QueuedRequest | None, after: QueuedRequest) -> Item:
    """Return the mark of what a change reports beside an end, for the stream. The next change removes it."""
    outcomes = changes_of(before, after)
    return {keys.EVENT: {"S": "".join(outcomes)}} if outcomes else {}


def _listing_attributes(record: QueuedRequest) -> Item:
    state, webhook_state = record.listed_pair
    attributes = {
        LISTED_STATE: {"S": STATE_CODES[state]},
        LISTED_WEBHOOK_STATE: {"S": WEBHOOK_STATE_CODES[webhook_state]},
        LISTED_UPDATED_AT: {"S": record.listed_updated_at},
    }
    if record.label:
        attributes[LISTED_LABEL] = {"S": hash_of_label(record.label)}
    if record.obeys_send_by:
        attributes[UNSENT] = {"S": _shard(record)}
    if record.state in IN_FLIGHT:
        attributes[IN_FLIGHT_OF] = {"S": record.connection_id}
    if record.is_unsettled:
        attributes[IN_FLIGHT_OF] = {"S": UNSETTLED + _shard(record)}
    return attributes


def _shard(record: QueuedRequest) -> str:
    return str(crc32(record.id.encode()) % UNSENT_SHARDS)


def hash_of_label(label: str) -> str:
    """Return 96 bits of the SHA-256 of a label, as 16 characters. Two labels of one connection never share them."""
    return base64.urlsafe_b64encode(hashlib.sha256(label.encode()).digest()[:12]).decode()


def tombstone_item(record: QueuedRequest, deleted_at: str) -> Item:
    """Return the tombstone that replaces a deleted record. Without `inserted_at`, it is not in any listing index."""
    deleted = int(datetime.fromisoformat(deleted_at).timestamp())
    tombstone = Tombstone(record.id, record.connection_id, record.app_id, deleted_at)
    return TOMBSTONES.item(tombstone) | keys.expiry(deleted + TOMBSTONE_DAYS * SECONDS_A_DAY)


def request_from_item(item: Item) -> QueuedRequest | Tombstone:
    """Return the record or its tombstone."""
    return TOMBSTONES.entity(item) if keys.DELETED_AT in item else RECORDS.entity(item)
