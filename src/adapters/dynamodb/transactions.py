"""Commits as DynamoDB transactions: one `TransactWriteItems` for everything that belongs together."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import items, payloads
from adapters.dynamodb.count_rows import DELETED, count_updates, overflow_row
from adapters.dynamodb.items import Item, item_of
from adapters.dynamodb.reading import query_all
from domain.errors import Conflict, TooManyRequests
from domain.maintenance.retention import SECONDS_A_DAY, expires_at
from domain.requests.record import QUEUED
from domain.storage.changes import (
    AddConnection,
    AddRequest,
    AddSession,
    Change,
    ChangeConnection,
    ChangeRequest,
    ChangeSession,
    ClaimIdempotencyKey,
    ForgetRequest,
    PutApiKey,
    PutApp,
    RemoveConnection,
    RemoveRequest,
    RequireConnection,
)
from domain.storage.counts import count_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adapters.dynamodb.tables import TableNames
    from domain.requests.record import QueuedRequest
    from domain.storage.counts import CountKey

RETRIES = 10
"""How often a transaction that met another one on the same item is tried again."""

FIRST_PAUSE_SECONDS = 0.02
MAX_PAUSE_SECONDS = 0.5
"""Full jitter between nought and 20 ms, doubled at each try up to 500 ms: a transaction takes about 10 ms."""

_CONTENTION = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"}
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of a transaction and the change that it carries out (None: it cannot fail a condition)."""

    entry: dict[str, Any]
    change: Change | None = None


class Transactions:
    """Carries out commits."""

    def __init__(
        self,
        client: Any,
        tables: TableNames,
        *,
        retention_days: Callable[[], int] = lambda: 0,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`retention_days` is when DynamoDB may remove a record that has ended; 0 keeps all (`domain.retention`)."""
        self._client = client
        self._tables = tables
        self._retention_days = retention_days
        self._sleep = sleep
        self._chance = chance

    def commit(self, changes: Sequence[Change]) -> None:
        """Do all changes or none. Raises Conflict or TooManyRequests (see `domain.ports.Store`)."""
        operations = [operation for change in changes for operation in self._operations(change)]
        self._carry_out(operations, count_changes(changes))

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts alone, one day after the other. Raises TooManyRequests."""
        for day in sorted({key.day for key in changes}):
            self._carry_out([], {key: change for key, change in changes.items() if key.day == day})

    def _carry_out(self, operations: Sequence[Operation], counted: Mapping[CountKey, int]) -> None:
        for attempt in range(RETRIES + 1):
            if attempt:
                longest = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0**attempt)
                self._sleep(longest * self._chance())
            counts = (
                count_updates(self._tables.counts, counted, overflow_row(attempt, self._chance())) if counted else []
            )
            try:
                self._client.transact_write_items(
                    TransactItems=[*(operation.entry for operation in operations), *counts]
                )
            except ClientError as error:
                if error.response["Error"]["Code"] == "TransactionInProgressException":
                    continue
                if error.response["Error"]["Code"] != "TransactionCanceledException":
                    raise
                self._judge(error, operations)
            else:
                return
        raise TooManyRequests("Too many changes to this connection at the same time. Try again in a moment.")

    def _judge(self, error: ClientError, operations: Sequence[Operation]) -> None:
        """Raise Conflict for a condition that did not hold; return when trying again may help."""
        reasons = error.response.get("CancellationReasons", [])
        for operation, reason in zip(operations, reasons, strict=False):
            if reason.get("Code") == "ConditionalCheckFailed" and operation.change is not None:
                raise Conflict(operation.change, _stored(operation.change, reason.get("Item"))) from None
        if not any(reason.get("Code") in _CONTENTION for reason in reasons):
            raise error

    def _operations(self, change: Change) -> list[Operation]:  # noqa: C901, PLR0911, PLR0912 - one row for each kind of change
        tables = self._tables
        match change:
            case AddRequest(record=record):
                bodies = payloads.new_body_items(record, change.request_xml, change.search_text)
                return [
                    self._put_new(tables.queued_requests, "id", self._record_item(record), change),
                    *(Operation({"Put": {"TableName": tables.payloads, "Item": item}}) for item in bodies),
                    *self._queue(None, record),
                ]
            case ChangeRequest():
                return self._change_request(change)
            case RemoveRequest():
                return self._remove_request(change)
            case ForgetRequest():
                return self._forget_request(change)
            case AddConnection(connection=connection):
                return [self._put_new(tables.connections, "id", items.connection_item(connection), change)]
            case ChangeConnection(before=before, after=after):
                return [self._put(tables.connections, items.connection_item(after), before.revision, change)]
            case RemoveConnection(before=before):
                row = item_of({"connection_id": before.id, "day": DELETED})
                return [
                    self._put(tables.connections, items.connection_item(change.after), before.revision, change),
                    Operation({"Put": {"TableName": tables.counts, "Item": row}}),
                ]
            case RequireConnection():
                return [self._require_connection(change)]
            case AddSession(session=session):
                return [self._put_new(tables.sessions, "ticket", items.session_item(session), change)]
            case ChangeSession(before=session, after=later):
                return [self._put(tables.sessions, items.session_item(later), session.revision, change)]
            case ClaimIdempotencyKey():
                return [self._claim(change)]
            case PutApp(before=app, after=app_after):
                return [self._put_app(items.app_item(app_after), app.revision if app else None, change)]
            case PutApiKey(before=key, after=key_after):
                return [self._put_app(items.api_key_item(key_after), key.revision if key else None, change)]

    def _change_request(self, change: ChangeRequest) -> list[Operation]:
        """Change the record and, beside it, its body. A large response's chunks go ahead of the transaction.

        They are invisible until the record counts them, and written again alike when it is tried again.
        """
        after = change.after
        sets: dict[str, str | bytes] = {}
        if change.response_xml is not None:
            size = len(change.response_xml.encode())
            packed = payloads.pack(change.response_xml)
            if size <= payloads.INLINE_RESPONSE_BYTES:
                sets["response"] = packed
                after = replace(after, response_size=size, response_parts=0)
            else:
                chunks = payloads.chunk_items(after.id, payloads.RESPONSE, packed)
                self._put_chunks(change, chunks)
                after = replace(after, response_size=size, response_parts=len(chunks))
        if change.search_text is not None:
            # With its keys, since it may have left the index (`search_texts.py`).
            sets |= {
                "search_text": change.search_text,
                "connection_id": after.connection_id,
                "inserted_at": after.inserted_at,
            }
        record = self._put(self._tables.queued_requests, self._record_item(after), change.before.revision, change)
        bodies = [self._set_body(after.id, sets)] if sets else []
        return [record, *bodies, *self._queue(change.before, after)]

    def _put_chunks(self, change: ChangeRequest, chunks: Sequence[Item]) -> None:
        """Store a response's chunks; before them their number, so that they are found should the commit never come."""
        key = {"TableName": self._tables.payloads, "Key": payloads.payload_key(change.after.id)}
        expected = {
            # In the index, where the removal of the connection finds the number (`search_texts.py`).
            "UpdateExpression": "SET response_parts = :parts, connection_id = :connection, inserted_at = :inserted",
            "ConditionExpression": payloads.HAS_BODY,
            "ExpressionAttributeValues": {
                ":parts": {"N": str(len(chunks))},
                ":connection": {"S": change.after.connection_id},
                ":inserted": {"S": change.after.inserted_at},
            },
        }
        try:
            self._client.update_item(**key, **expected)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            raise Conflict(change, None) from None  # the record was removed
        for chunk in chunks:
            self._client.put_item(TableName=self._tables.payloads, Item=chunk)

    def _queue(self, before: QueuedRequest | None, after: QueuedRequest | None) -> list[Operation]:
        """Have the queue hold a record exactly while it waits or is retryable. The record's condition guards this."""
        left = items.queue_key(before) if before and before.state in QUEUED else None
        taken = items.queue_key(after) if after and after.state in QUEUED else None
        operations = []
        if left and left != taken:
            operations.append(Operation({"Delete": {"TableName": self._tables.queue, "Key": left}}))
        if after and taken:
            entry = items.record_item(after) | taken
            operations.append(Operation({"Put": {"TableName": self._tables.queue, "Item": entry}}))
        return operations

    def _set_body(self, request_id: str, sets: dict[str, str | bytes]) -> Operation:
        return Operation(
            {
                "Update": {
                    "TableName": self._tables.payloads,
                    "Key": payloads.payload_key(request_id),
                    "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in sets),
                    "ExpressionAttributeNames": {f"#{name}": name for name in sets},
                    "ExpressionAttributeValues": {f":{name}": value for name, value in item_of(sets).items()},
                }
            }
        )

    def _remove_request(self, change: RemoveRequest) -> list[Operation]:
        record = change.before
        keys = [
            *payloads.chunk_keys(record.id, payloads.RESPONSE, record.response_parts),
            # A request has three chunks at most: it is at most 1 MiB (contract §4) and zlib adds next to nothing.
            *payloads.chunk_keys(record.id, payloads.REQUEST, 1_048_576 // payloads.CHUNK_BYTES + 1),
        ]
        return [
            self._put(self._tables.queued_requests, _tombstone(record, change.deleted_at), record.revision, change),
            Operation({"Put": {"TableName": self._tables.payloads, "Item": payloads.gone_item(record)}}),
            *(Operation({"Delete": {"TableName": self._tables.payloads, "Key": key}}) for key in keys),
            *self._queue(record, None),
        ]

    def _forget_request(self, change: ForgetRequest) -> list[Operation]:
        """Delete every part that is there. What takes the body's place is what makes a second try fail."""
        parts = query_all(
            self._client,
            TableName=self._tables.payloads,
            KeyConditionExpression="request_id = :request",
            ProjectionExpression="request_id, part",
            ExpressionAttributeValues={":request": {"S": change.before.id}},
            ConsistentRead=True,
        )
        keys = list(parts)
        body = payloads.payload_key(change.before.id)
        if body not in keys:
            raise Conflict(change, None)
        chunks = [key for key in keys if key != body]
        tombstone = _tombstone(change.before, change.deleted_at)
        first = {
            "TableName": self._tables.payloads,
            "Item": payloads.gone_item(change.before),
            "ConditionExpression": payloads.HAS_BODY,
        }
        return [
            Operation({"Put": first}, change),
            self._put_new(self._tables.queued_requests, "id", tombstone, change),
            *(Operation({"Delete": {"TableName": self._tables.payloads, "Key": key}}) for key in chunks),
        ]

    def _record_item(self, record: QueuedRequest) -> Item:
        return items.record_item(record, expires_at(record, self._retention_days()))

    def _require_connection(self, change: RequireConnection) -> Operation:
        values = {":app": {"S": change.app_id}}
        if change.webhook_url is None:
            same_default = "attribute_not_exists(webhook_url)"
        else:
            same_default = "webhook_url = :url"
            values[":url"] = {"S": change.webhook_url}
        return Operation(
            {
                "ConditionCheck": {
                    "TableName": self._tables.connections,
                    "Key": {"id": {"S": change.connection_id}},
                    "ConditionExpression": f"app_id = :app AND attribute_not_exists(deleted_at) AND {same_default}",
                    "ExpressionAttributeValues": values,
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
            change,
        )

    def _claim(self, change: ClaimIdempotencyKey) -> Operation:
        item = item_of(
            {
                "app_id": change.app_id,
                "key": change.key,
                "body_hash": change.body_hash,
                "record_id": change.record_id,
                "expires_at": change.expires_at,
            }
        )
        return Operation(
            {
                "Put": {
                    "TableName": self._tables.idempotency_keys,
                    "Item": item,
                    # TTL removes expired keys within days, not at once (DynamoDB).
                    "ConditionExpression": "attribute_not_exists(app_id) OR expires_at <= :now",
                    "ExpressionAttributeValues": {":now": {"N": str(change.now)}},
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
            change,
        )

    def _put_app(self, item: Item, revision: int | None, change: Change) -> Operation:
        if revision is None:
            return self._put_new(self._tables.apps, "id", item, change)
        return self._put(self._tables.apps, item, revision, change)

    def _put_new(self, table: str, key: str, item: Item, change: Change) -> Operation:
        return Operation(
            {
                "Put": {
                    "TableName": table,
                    "Item": item,
                    "ConditionExpression": f"attribute_not_exists({key})",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
            change,
        )

    def _put(self, table: str, item: Item, revision: int, change: Change) -> Operation:
        return Operation(
            {
                "Put": {
                    "TableName": table,
                    "Item": item,
                    "ConditionExpression": "revision = :revision",
                    "ExpressionAttributeValues": {":revision": {"N": str(revision)}},
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
            change,
        )


def _tombstone(record: QueuedRequest, deleted_at: str) -> Item:
    deleted = int(datetime.fromisoformat(deleted_at).timestamp())
    return items.tombstone_item(record, deleted_at, deleted + items.TOMBSTONE_DAYS * SECONDS_A_DAY)


def _stored(change: Change, item: Item | None) -> object | None:  # noqa: PLR0911 - one row for each kind of change
    """Return the entity that stands where the change did not hold, None when there is none to show."""
    if not item:
        return None
    match change:
        case AddRequest() | ChangeRequest() | RemoveRequest() | ForgetRequest():
            return items.request_from_item(item)
        case AddConnection() | ChangeConnection() | RemoveConnection():
            return items.connection_from_item(item)
        case RequireConnection():
            found = items.connection_from_item(item)
            return found if found.app_id == change.app_id and not found.deleted_at else None
        case AddSession() | ChangeSession():
            return items.session_from_item(item)
        case ClaimIdempotencyKey():
            return items.claim_from_item(item)
        case PutApp():
            return items.app_from_item(item)
        case PutApiKey():
            return items.api_key_from_item(item)
