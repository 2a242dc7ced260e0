"""The store: the parts of this package put together, and the commit of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.counts import OVERFLOW_ROWS, Counts, count_updates
from adapters.dynamodb.database import Policy
from adapters.dynamodb.entities import Entities
from adapters.dynamodb.listing import ListingIndexes
from adapters.dynamodb.packing import Packing
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.usages import Usages
from domain.errors import Conflict
from domain.storage.changes import (
    AddRequest,
    Change,
    ChangeRequest,
    ClaimIdempotencyKey,
    ForgetRequest,
    Put,
    RemoveRequest,
    RequireConnection,
)
from domain.storage.counts import CountKey, count_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adapters.dynamodb.operations import Operation


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


class DynamoDBStore(
    Requests,
    Entities,
    Usages,
    Counts,
    ListingIndexes,
    Packing,
    ConnectionRemoval,
    RequestChanges,
):
    """Implements the ports of `domain.storage.ports` on DynamoDB."""

    def commit(self, *changes: Change) -> None:
        """Store the chunks of large responses, then do all changes or none in one transaction."""
        operations_of: dict[type, Callable[[Any], list[Operation]]] = {
            Put: self._put_entity,
            AddRequest: self._add_request,
            ChangeRequest: self._change_request,
            RemoveRequest: self._remove_request,
            ForgetRequest: self._forget_request,
            RequireConnection: self._require_connection,
            ClaimIdempotencyKey: self._claim_idempotency_key,
        }
        operations = [operation for change in changes for operation in operations_of[type(change)](change)]
        self._transact(operations, count_changes(changes))

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts with one transaction for each day. If botocore sends a transaction twice, it adds only once."""
        for day in sorted({key.day for key in changes}):
            self._transact([], {key: change for key, change in changes.items() if key.day == day})

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
