"""The names of tables, and the attributes and keys that several modules use.

The module of a table names its other attributes and indexes. An attribute that only mirrors a field of an entity gets
its name from the field (`codec.py`). `template.yaml` declares tables and indexes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

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
    events = _TableName()
    audit_log = _TableName()
    people = _TableName()
    subscriptions = _TableName()
    change_pages = _TableName()


ID = "id"
APP_ID = "app_id"
CONNECTION_ID = "connection_id"
INSERTED_AT = "inserted_at"
UPDATED_AT = "updated_at"
DELETED_AT = "deleted_at"
EXPIRES_AT = "expires_at"
"""The time in Unix seconds after which DynamoDB removes the item (time to live)."""
REVISION = "revision"
COMMIT_ID = "commit_id"
"""The id of the commit that stored the item (`transactions.py`)."""

CANARY = "canary"
"""Marks the item that the sweep changes in a table with a stream. Its value is the table's name (`canaries.py`)."""

# Connections
EVENT = "event"
"""The events that a change of a connection reports, as letters. Only the change itself stores it: the next one removes
it, so the filter of the stream passes each event once."""

# QueuedRequests
STATE = "state"
WEBHOOK_STATE = "webhook_state"
WEBHOOK_ATTEMPTS_IN_ROUND = "round_attempts"
QUERY_ID = "query_id"
"""Pages of an iterated query have it, but for the first page."""

SEND_BY = "send_by"
"""In Unix seconds. Only a request that has one has it."""

# Payloads
REQUEST_ID = "request_id"
PART = "part"
BODY = "body"
"""The part that holds the request, a small response and the search text."""
REQUEST = "request"
RESPONSE = "response"
REQUEST_CHUNKS = "request_chunks"
RESPONSE_CHUNKS = "response_chunks"
RESPONSE_ATTEMPT = "response_attempt"
"""The attempt that stored the response of a body (`responses.py`)."""
NO_ATTEMPT = "none"
"""The attempt of a body without a response, to which no earlier attempt may write."""
METADATA = "metadata"
REFERENCES = "references"
REPLACES = "replaces"
QUEUED_BY = "queued_by"
MODIFICATION = "modification"
"""The Mod that a request with `if_exists` sends, or has sent, in place of its addition."""
FIELD_CHANGES = "field_changes"
"""What this Mod changes."""
SEARCH_TEXT = "search_text"
REMOVED_WITH_CHUNKS = "removed with chunks"
"""The partition of the notes about removed requests that had a large response (`response_chunks.py`)."""
REMOVED = "removed"
"""Marks the item that replaces the body of a removed record until no search block contains its text."""
DATA = "data"
VERSION = "version"
SEARCH_BLOCKS = "texts#"
"""Prefix of the parts that are search blocks. The prefix alone is the first block of a connection."""


def expiry(expires_at: int | None) -> Item:
    """Return the attribute that makes DynamoDB remove an item, or no attribute for an item that stays."""
    return {} if expires_at is None else {EXPIRES_AT: {"N": str(expires_at)}}


SIZES = range(1, 2048 + 1)
"""The bytes of a partition key. DynamoDB refuses a read with another one, so no item has it."""


def id_key(entity_id: str) -> Item:
    """Return the key of a record, a connection, an app or an API key."""
    return {ID: {"S": entity_id}}


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
