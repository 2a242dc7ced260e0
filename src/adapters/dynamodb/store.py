"""The store: the parts of this package put together, and the commit of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.bodies import PackedResponse
from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.counts import Counts
from adapters.dynamodb.entities import Entities
from adapters.dynamodb.listing import ListingIndexes
from adapters.dynamodb.packing import Packing
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.transactions import Operation, Transactions
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
    from collections.abc import Callable, Mapping

    from adapters.dynamodb.keys import TableNames


class DynamoDBStore(
    Requests,
    Entities,
    Usages,
    Counts,
    ListingIndexes,
    Packing,
    ConnectionRemoval,
    RequestChanges,
    Transactions,
):
    """Implements the ports of `domain.storage.ports` on DynamoDB."""

    def __init__(
        self,
        client: Any,
        tables: TableNames,
        *,
        retention_days: Callable[[], int] = lambda: 0,
        **settings: Any,
    ) -> None:
        """DynamoDB may remove a record `retention_days` after its end; 0 keeps all. The setting is read at each use.

        `settings` are those of `Database` and `Packing`.
        """
        super().__init__(client, tables, **settings)
        self._retention_days = retention_days

    def commit(self, *changes: Change) -> None:
        """Store the chunks of large responses, then do all changes or none in one transaction."""
        responses = {
            change.after.id: PackedResponse.of(change.after.id, change.response_xml)
            for change in changes
            if isinstance(change, ChangeRequest) and change.response_xml is not None
        }
        for change in changes:
            if isinstance(change, ChangeRequest) and (response := responses.get(change.after.id)) and response.chunks:
                self._store_chunks(change, response)
        operations = [operation for change in changes for operation in self._operations(change, responses)]
        self._transact(operations, count_changes(changes))

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts with one transaction for each day. If botocore sends a transaction twice, it adds only once."""
        for day in sorted({key.day for key in changes}):
            self._transact([], {key: change for key, change in changes.items() if key.day == day})

    def _operations(self, change: Change, responses: Mapping[str, PackedResponse]) -> list[Operation]:  # noqa: PLR0911
        match change:
            case Put():
                return self._put_entity(change)
            case AddRequest():
                return self._add_request(change)
            case ChangeRequest():
                return self._change_request(change, responses.get(change.after.id))
            case RemoveRequest():
                return self._remove_request(change)
            case ForgetRequest():
                return self._forget_request(change, self._stored_parts(change.before.id))
            case RequireConnection():
                return self._require_connection(change)
            case ClaimIdempotencyKey():
                return self._claim_idempotency_key(change)
