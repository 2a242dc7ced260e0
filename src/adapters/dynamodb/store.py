"""The store: the parts of this package put together, and the commit of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.counts import OVERFLOW_ROWS, Counts, count_addition, count_updates
from adapters.dynamodb.entities import Entities
from adapters.dynamodb.listing import ListingIndexes
from adapters.dynamodb.packing import Packing
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.transactions import CONTENTION, Transaction, Transactions, new_commit_id
from adapters.dynamodb.usages import Usages
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
        """Store the chunks of large responses, then do all changes or none in one transaction (`transactions.py`)."""
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
        self._write(new_commit_id(), operations, count_changes(changes))

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts with one transaction for each day of a connection. Each adds once, whatever is repeated."""
        for connection_id, day in sorted({(key.connection_id, key.day) for key in changes}):
            of_day = {
                key: change for key, change in changes.items() if (key.connection_id, key.day) == (connection_id, day)
            }
            commit_id = new_commit_id()
            self._write(commit_id, [count_addition(self._tables.counts, of_day, commit_id)], {})

    def _write(self, commit_id: str, operations: Sequence[Operation], counted: Mapping[CountKey, int]) -> None:
        """Do all operations or none, and add `counted` to the counts, after a conflict to an overflow row."""

        def additions(cancellations: int) -> list[dict[str, Any]]:
            row = int(self._random() * OVERFLOW_ROWS) if cancellations else None
            return count_updates(self._tables.counts, counted, row) if counted else []

        transactions = Transactions(self._client, lambda: self._backoff(CONTENTION), self._monotonic)
        transactions.write(Transaction(commit_id, operations, additions))
