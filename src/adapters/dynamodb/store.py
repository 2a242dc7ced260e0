"""The store: the parts of this package put together, and the commit of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.apps import Apps
from adapters.dynamodb.bodies import PackedResponse
from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.connections import Connections
from adapters.dynamodb.counts import Counts
from adapters.dynamodb.listing import ListingIndexes
from adapters.dynamodb.packing import Packing
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.sessions import Sessions
from adapters.dynamodb.transactions import Operation, Transactions, put
from adapters.dynamodb.usages import Usages
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
from domain.storage.counts import CountKey, count_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.dynamodb.keys import TableNames


class DynamoDBStore(
    Requests,
    Connections,
    Sessions,
    Apps,
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

    def _operations(  # noqa: C901, PLR0911, PLR0912 - one row for each kind of change
        self, change: Change, responses: Mapping[str, PackedResponse]
    ) -> list[Operation]:
        match change:
            case AddRequest():
                return self._add_request(change)
            case ChangeRequest():
                return self._change_request(change, responses.get(change.after.id))
            case RemoveRequest():
                return self._remove_request(change)
            case ForgetRequest():
                return self._forget_request(change, self._stored_parts(change.before.id))
            case AddConnection(connection=connection):
                return [self._put_connection(None, connection, change)]
            case ChangeConnection(before=connection, after=after):
                return [self._put_connection(connection, after, change)]
            case RemoveConnection(before=connection, after=after):
                deleted = keys.day_key(connection.id, keys.DELETED_CONNECTION)
                return [self._put_connection(connection, after, change), put(self._tables.counts, deleted)]
            case RequireConnection():
                return [self._require_connection(change)]
            case AddSession(session=session):
                return [self._put_session(None, session, change)]
            case ChangeSession(before=session, after=later):
                return [self._put_session(session, later, change)]
            case ClaimIdempotencyKey():
                return [self._claim_idempotency_key(change)]
            case PutApp():
                return [self._put_app(change)]
            case PutApiKey():
                return [self._put_api_key(change)]
