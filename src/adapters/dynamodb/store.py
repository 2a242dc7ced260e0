"""The store: the parts of this package put together, and the commit of changes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.counts import OVERFLOW_ROWS, Counts, count_addition, count_updates
from adapters.dynamodb.entities import Entities
from adapters.dynamodb.listing import ListingIndexes
from adapters.dynamodb.packing import Packing
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.response_chunks import ResponseChunks, StoredChunks
from adapters.dynamodb.transactions import CONTENTION, LOST_ANSWERS, Transaction, Transactions, new_commit_id
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
        chunks = {
            change.after.id: name
            for change in changes
            if isinstance(change, ChangeRequest)
            and change.response_xml  # functions that store no response know nothing of the bodies' table
            and (name := self._chunks.store(change, new_commit_id()))
        }
        stored_chunks: dict[str, StoredChunks] = {}
        operations_of: dict[type, Callable[[Any], list[Operation]]] = {
            Put: self._put_entity,
            AddRequest: self._add_request,
            ChangeRequest: lambda change: self._change_request(change, chunks.get(change.after.id, "")),
            RemoveRequest: lambda change: self._remove_request(change, stored_chunks.get(change.before.id)),
            ForgetRequest: self._forget_request,
            RequireConnection: self._require_connection,
            ClaimIdempotencyKey: self._claim_idempotency_key,
        }
        while True:
            operations = [operation for change in changes for operation in operations_of[type(change)](change)]
            try:
                self._write(new_commit_id(), operations, count_changes(changes))
            except Conflict as conflict:
                if isinstance(conflict.change, RemoveRequest) and isinstance(conflict.current, StoredChunks):
                    stored_chunks[conflict.change.before.id] = conflict.current
                    continue
                with suppress(ClientError, *LOST_ANSWERS):  # the removal of the request finds the rest
                    for request_id, name in chunks.items():
                        self._chunks.discard(request_id, name)
                raise
            return

    def remove_late_chunks(self, before: str) -> int:
        """Remove the chunks of requests that were removed before a timestamp. Return their number."""
        payloads = self._tables.payloads
        return self._chunks.remove_late(before, self._query, lambda item_keys: self._delete(payloads, item_keys))

    @property
    def _chunks(self) -> ResponseChunks:
        return ResponseChunks(self._client, self._tables.payloads)

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
