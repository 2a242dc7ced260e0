"""Connections: how they are stored, read and required by a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.transactions import Operation, put_revision
from domain.connections.record import Connection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Change, RequireConnection

CONNECTIONS = Codec(Connection)


class Connections(Database):
    """Reads connections."""

    def connection(self, connection_id: str) -> Connection | None:
        """Return a connection, even a deleted one, with one read."""
        item = self._get(self._tables.connections, keys.id_key(connection_id))
        return CONNECTIONS.entity(item) if item else None

    def connection_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of an app's connections, oldest first. Reads the index."""
        query = key_query(self._tables.connections, {keys.APP_ID: app_id}, index=keys.CONNECTIONS_BY_APP_INDEX)
        entries = self._query(query | {"FilterExpression": f"attribute_not_exists({keys.DELETED_AT})"})
        return [entry[keys.ID]["S"] for entry in entries]

    def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
        """Return one page of an app's connections and their number. Reads the index, then one batch."""
        ids = self.connection_ids_of(app_id)
        return self._connections_by_id(ids[offset : offset + limit]), len(ids)

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return deleted connections with records to remove, in order of deletion."""
        query = key_query(self._tables.connections, keys.PURGE_PARTITION, index=keys.CONNECTIONS_TO_PURGE_INDEX)
        entries = self._client.query(**query, Limit=limit)["Items"]
        return self._connections_by_id([entry[keys.ID]["S"] for entry in entries])

    def _connections_by_id(self, ids: Sequence[str]) -> list[Connection]:
        table = self._tables.connections
        items = self._batch_get({table: [keys.id_key(one) for one in ids]})[table]
        connections = {connection.id: connection for connection in map(CONNECTIONS.entity, items)}
        return [connections[one] for one in ids if one in connections]

    def _put_connection(self, before: Connection | None, after: Connection, change: Change) -> Operation:
        item = CONNECTIONS.item(after) | (keys.PURGE_MARK if after.deleted_at else {})
        revision = before.revision if before else None
        return put_revision(self._tables.connections, item, revision, change, CONNECTIONS.entity)

    def _require_connection(self, change: RequireConnection) -> Operation:
        values: Item = {":app": {"S": change.app_id}}
        if change.webhook_url is None:
            default = f"attribute_not_exists({keys.WEBHOOK_URL})"
        else:
            default = f"{keys.WEBHOOK_URL} = :url"
            values[":url"] = {"S": change.webhook_url}
        entry: dict[str, Any] = {
            "TableName": self._tables.connections,
            "Key": keys.id_key(change.connection_id),
            "ConditionExpression": f"{keys.APP_ID} = :app AND attribute_not_exists({keys.DELETED_AT}) AND {default}",
            "ExpressionAttributeValues": values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

        def decode(item: Item) -> Connection | None:
            connection = CONNECTIONS.entity(item)
            return connection if connection.app_id == change.app_id and not connection.deleted_at else None

        return Operation({"ConditionCheck": entry}, change, decode)
