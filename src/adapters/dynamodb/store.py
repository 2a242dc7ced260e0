"""The store: the parts of this package put together, and the commit of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.counts import Counts
from adapters.dynamodb.entities import Entities
from adapters.dynamodb.listing import ListingIndexes
from adapters.dynamodb.packing import Packing
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.transactions import Operation, Transactions
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
    from collections.abc import Mapping


class DynamoDBStore(
    Requests,
    Entities,
    Counts,
    ListingIndexes,
    Packing,
    ConnectionRemoval,
    RequestChanges,
    Transactions,
):
    """Implements the ports of `domain.storage.ports` on DynamoDB."""

    def commit(self, *changes: Change) -> None:
        """Store the chunks of large responses, then do all changes or none in one transaction."""
        operations = [operation for change in changes for operation in self._operations(change)]
        self._transact(operations, count_changes(changes))

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts with one transaction for each day. If botocore sends a transaction twice, it adds only once."""
        for day in sorted({key.day for key in changes}):
            self._transact([], {key: change for key, change in changes.items() if key.day == day})

    def _operations(self, change: Change) -> list[Operation]:  # noqa: PLR0911
        match change:
            case Put():
                return self._put_entity(change)
            case AddRequest():
                return self._add_request(change)
            case ChangeRequest():
                return self._change_request(change)
            case RemoveRequest():
                return self._remove_request(change)
            case ForgetRequest():
                return self._forget_request(change)
            case RequireConnection():
                return self._require_connection(change)
            case ClaimIdempotencyKey():
                return self._claim_idempotency_key(change)
