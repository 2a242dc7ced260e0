"""Transactions: one `TransactWriteItems` for everything that is stored together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.counts import OVERFLOW_ROWS, count_updates
from adapters.dynamodb.database import Database, Policy
from domain.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Change
    from domain.storage.counts import CountKey

CONTENTION = Policy(
    retries=10,
    first_seconds=0.02,
    max_seconds=0.5,
    message="Too many changes to this connection at the same time. Try again in a moment.",
)
"""A transaction takes about 10 ms."""

_RETRYABLE = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"}
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of a transaction.

    The entry checks the condition of `change`, which is None if there is no condition. `decode` converts the stored
    item to the `current` of a Conflict.
    """

    entry: dict[str, Any]
    change: Change | None = None
    decode: Callable[[Item], object | None] = lambda _: None


def put(table: str, item: Item) -> Operation:
    """Store an item without a condition."""
    return Operation({"Put": {"TableName": table, "Item": item}})


def delete(table: str, key: Item) -> Operation:
    """Delete an item without a condition."""
    return Operation({"Delete": {"TableName": table, "Key": key}})


def put_if(
    table: str,
    item: Item,
    condition: str,
    change: Change,
    decode: Callable[[Item], object | None] = lambda _: None,
    **values: str | int,
) -> Operation:
    """Store an item if a condition on the stored item holds. `values` are the values of the placeholders."""
    entry: dict[str, Any] = {
        "TableName": table,
        "Item": item,
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if values:
        entry["ExpressionAttributeValues"] = {
            f":{name}": {"S": value} if isinstance(value, str) else {"N": str(value)} for name, value in values.items()
        }
    return Operation({"Put": entry}, change, decode)


def put_revision(
    table: str, item: Item, before: int | None, change: Change, decode: Callable[[Item], object | None]
) -> Operation:
    """Store an entity if the stored one has the revision `before`, or if `before` is None and none is stored."""
    if before is None:
        key = keys.SESSION_ID if keys.SESSION_ID in item else keys.ID
        return put_if(table, item, f"attribute_not_exists({key})", change, decode)
    return put_if(table, item, f"{keys.REVISION} = :before", change, decode, before=before)


class Transactions(Database):
    """Carries out transactions."""

    def _transact(self, operations: Sequence[Operation], counted: Mapping[CountKey, int]) -> None:
        """Do all operations or none, and add `counted` to the counts. Raises Conflict and TooManyRequests."""
        backoff = self._backoff(CONTENTION)
        while True:
            row = int(self._random() * OVERFLOW_ROWS) if backoff.failures else None
            counts = count_updates(self._tables.counts, counted, row) if counted else []
            try:
                self._client.transact_write_items(
                    TransactItems=[*(operation.entry for operation in operations), *counts]
                )
            except ClientError as error:
                _raise_unless_retryable(error, operations)
                backoff.wait()
            else:
                return


def _raise_unless_retryable(error: ClientError, operations: Sequence[Operation]) -> None:
    """Raise Conflict if a condition did not hold, or the error itself if a retry cannot help."""
    code = error.response["Error"]["Code"]
    if code == "TransactionInProgressException":
        return
    if code != "TransactionCanceledException":
        raise error
    reasons = error.response.get("CancellationReasons", [])
    for operation, reason in zip(operations, reasons, strict=False):
        if reason.get("Code") == "ConditionalCheckFailed" and operation.change is not None:
            item = reason.get("Item")
            raise Conflict(operation.change, operation.decode(item) if item else None) from None
    if not any(reason.get("Code") in _RETRYABLE for reason in reasons):
        raise error
