"""The names of tables, indexes and attributes, and the keys of every item.

An attribute that only mirrors a field of an entity gets its name from the field (`codec.py`). This module names the
attributes that a key, an index, a condition or a query uses. `template.yaml` declares tables and indexes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.records.request import QueuedRequest

AttributeValue: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, AttributeValue]
"""Attribute values by name (`{"id": {"S": "…"}}`), as botocore's client and stream images have them."""


class _TableName:
    """An attribute that looks up the name of its table."""

    def __set_name__(self, _owner: type[TableNames], name: str) -> None:
        self._table = name

    def __get__(self, names: TableNames, _owner: type[TableNames]) -> str:
        return names.name_of(self._table)


class TableNames:
    """The names of the deployed tables.

    A name is looked up when it is used, because a function receives only the names of the tables that it uses.
    """

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self.name_of = name_of

    queued_requests = _TableName()
    payloads = _TableName()
    counts = _TableName()
    connections = _TableName()
    sessions = _TableName()
    apps = _TableName()
    idempotency_keys = _TableName()
    queue = _TableName()
    usages = _TableName()


LISTING_INDEXES = {
    ("connection", "inserted_at"): "by_inserted",
    ("connection", "updated_at"): "by_updated",
    ("state", "inserted_at"): "by_state_inserted",
    ("state", "updated_at"): "by_state_updated",
    ("webhook_state", "inserted_at"): "by_webhook_state_inserted",
    ("webhook_state", "updated_at"): "by_webhook_state_updated",
}
SEARCH_INDEX = "search"
DAYS_TO_PACK_INDEX = "to_pack"
CONNECTIONS_BY_APP_INDEX = "by_app"
CONNECTIONS_TO_PURGE_INDEX = "to_purge"
LIVE_SESSIONS_INDEX = "live"
KEYS_OF_APP_INDEX = "keys_of_app"
ALL_APPS_INDEX = "all_apps"

ID = "id"
APP_ID = "app_id"
CONNECTION_ID = "connection_id"
INSERTED_AT = "inserted_at"
DELETED_AT = "deleted_at"
EXPIRES_AT = "expires_at"
"""The time in Unix seconds after which DynamoDB removes the item (time to live)."""
REVISION = "revision"
COMMIT_ID = "commit_id"
"""The id of the commit that stored the item (`transactions.py`)."""

# QueuedRequests
STATE = "state"
WEBHOOK_STATE = "webhook_state"
WEBHOOK_ATTEMPTS_IN_ROUND = "round_attempts"

# Queue
POSITION = "position"

# Payloads
REQUEST_ID = "request_id"
PART = "part"
BODY = "body"
"""The part that holds the request, a small response and the search text."""
REQUEST = "request"
RESPONSE = "response"
REQUEST_CHUNKS = "request_chunks"
RESPONSE_CHUNKS = "response_chunks"
SEARCH_TEXT = "search_text"
REMOVED_WITH_CHUNKS = "removed with chunks"
"""The partition of the notes about removed requests that had a large response (`response_chunks.py`)."""
REMOVED = "removed"
"""Marks the item that replaces the body of a removed record until no search block contains its text."""
DATA = "data"
VERSION = "version"
SEARCH_BLOCKS = "texts#"
"""Prefix of the parts that are search blocks. The prefix alone is the first block of a connection."""

# Counts
DAY = "day"
PACK = "pack"
DELETED_CONNECTION = "deleted"
"""Replaces the day in the row of a deleted connection. A list reads this row with the counts."""

# Connections
WEBHOOK_URL = "webhook_url"
PURGE_PARTITION = {"purge": "purge"}
"""The one partition of the sparse index of deleted connections, of which there are few at any time."""
PURGE_MARK: Item = {"purge": {"S": "purge"}}

# Sessions
SESSION_ID = "ticket"
"""The hash of the session ticket."""
LAST_CALL_AT = "last_call_at"
LIVE_PARTITION = {"live": "live"}
"""The one partition of the sparse index of live sessions. Each Web Connector call rewrites one entry. A partition takes
1,000 writes a second (DynamoDB), which is enough for some thousands of Web Connectors."""
LIVE_MARK: Item = {"live": {"S": "live"}}

# Apps and IdempotencyKeys
KEY_OF = "key_of"
"""The app of an API key. An app has no such attribute."""
APPS_PARTITION = {"kind": "app"}
"""The one partition of the sparse index of apps. API keys are not in it."""
APP_MARK: Item = {"kind": {"S": "app"}}
KEY = "key"

# Usages
COUNTER = "counter"


def expiry(expires_at: int | None) -> Item:
    """Return the attribute that makes DynamoDB remove an item, or no attribute for an item that stays."""
    return {} if expires_at is None else {EXPIRES_AT: {"N": str(expires_at)}}


def id_key(entity_id: str) -> Item:
    """Return the key of a record, a connection, an app or an API key."""
    return {ID: {"S": entity_id}}


def session_key(session_id: str) -> Item:
    """Return the key of a session."""
    return {SESSION_ID: {"S": session_id}}


def queue_key(record: QueuedRequest) -> Item:
    """Return the key of a queued record. Positions sort in the order of sending."""
    position = "#".join(map(str, record.place_in_queue))
    return {CONNECTION_ID: {"S": record.connection_id}, POSITION: {"S": position}}


def payload_key(request_id: str, part: str = BODY) -> Item:
    """Return the key of a body, a chunk or, under a connection's id, a search block."""
    return {REQUEST_ID: {"S": request_id}, PART: {"S": part}}


def chunk_keys(request_id: str, body: str, count: int) -> list[Item]:
    """Return the keys of the first `count` chunks of a request (`REQUEST`) or of an attempt to store a response."""
    return [payload_key(request_id, f"{body}#{number}") for number in range(count)]


def response_chunk_keys(request_id: str, name: str) -> list[Item]:
    """Return the keys of the chunks of a response, by the name of the attempt that stored them: `k3Jf9-Qx0aZb#2`."""
    attempt, _, count = name.rpartition("#")
    return chunk_keys(request_id, f"{RESPONSE}#{attempt}", int(count)) if attempt else []


def search_block_part(inserted_at: str, request_id: str = "") -> str:
    """Return the part of the search block that begins with this record."""
    return f"{SEARCH_BLOCKS}{inserted_at}#{request_id}"


def search_index_key(connection_id: str, inserted_at: str, request_id: str) -> Item:
    """Return the key of an entry of the index `search`."""
    return payload_key(request_id) | {CONNECTION_ID: {"S": connection_id}, INSERTED_AT: {"S": inserted_at}}


def day_key(connection_id: str, day: str) -> Item:
    """Return the key of a row of counts."""
    return {CONNECTION_ID: {"S": connection_id}, DAY: {"S": day}}


def usage_key(app_id: str, counter: str) -> Item:
    """Return the key of a counter of an app."""
    return {APP_ID: {"S": app_id}, COUNTER: {"S": counter}}


def idempotency_key(app_id: str, key: str) -> Item:
    """Return the key of an app's idempotency key."""
    return {APP_ID: {"S": app_id}, KEY: {"S": key}}
