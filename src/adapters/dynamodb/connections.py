"""The table of connections: keys, indexes, items, reads and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.counts import mark_of_deleted_connection
from adapters.dynamodb.operations import Operation, put, put_entity
from domain.records.connection import Connection
from domain.records.event import connection_outcomes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put, RequireConnection

BY_APP = Index("by_app")

TO_PURGE = Index("to_purge")
PURGE_PARTITION = {"purge": "purge"}
"""The one partition of the sparse index of deleted connections, of which there are few at any time."""
PURGE_MARK: Item = {"purge": {"S": "purge"}}

WEBHOOK_URL = "webhook_url"
APPROVAL = "approval"

CONNECTIONS = Codec(Connection)


def event_mark(change: Put[Connection]) -> Item:
    """Return the mark of the events that a change reports, for the stream."""
    outcomes = connection_outcomes(change.before, change.after)
    return {keys.EVENT: {"S": "".join(outcomes)}} if outcomes else {}


class Connections:
    """Reads connections, and converts their changes into operations."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def connection(self, connection_id: str) -> Connection | None:
        """Return a connection, even a deleted one, with one read."""
        if len(connection_id.encode(errors="surrogatepass")) not in keys.SIZES:
            return None
        item = self._dynamodb.get(self._dynamodb.tables.connections, keys.id_key(connection_id))
        return CONNECTIONS.entity(item) if item else None

    def connection_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of an app's connections, oldest first. Reads the index."""
        query = key_query(self._dynamodb.tables.connections, {keys.APP_ID: app_id}, index=BY_APP)
        entries = self._dynamodb.query(query | {"FilterExpression": f"attribute_not_exists({keys.DELETED_AT})"})
        return [entry[keys.ID]["S"] for entry in entries]

    def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
        """Return one page of an app's connections and their number. Reads the index, then one batch."""
        ids = self.connection_ids_of(app_id)
        return self._by_id(ids[offset : offset + limit]), len(ids)

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return deleted connections with records to remove, in order of deletion."""
        query = key_query(self._dynamodb.tables.connections, PURGE_PARTITION, index=TO_PURGE)
        entries = self._dynamodb.client.query(**query, Limit=limit)["Items"]
        return self._by_id([entry[keys.ID]["S"] for entry in entries])

    def _by_id(self, ids: Sequence[str]) -> list[Connection]:
        table = self._dynamodb.tables.connections
        stored = self._dynamodb.entities(table, CONNECTIONS, map(keys.id_key, ids))
        connections = {connection.id: connection for connection in stored}
        return [connections[connection_id] for connection_id in ids if connection_id in connections]

    def put(self, change: Put[Connection]) -> list[Operation]:
        """Return the operations that store a connection. A deleted one gets marks for its lists and for the sweep."""
        tables, connection = self._dynamodb.tables, change.after
        if not connection.deleted_at:
            return [put_entity(tables.connections, CONNECTIONS, change, event_mark(change))]
        return [
            put_entity(tables.connections, CONNECTIONS, change, PURGE_MARK),
            put(tables.counts, mark_of_deleted_connection(connection.id)),
        ]

    def require(self, change: RequireConnection) -> list[Operation]:
        """Return the operation that checks a connection."""
        values: Item = {":app": {"S": change.app_id}}
        conditions = [f"{keys.APP_ID} = :app", f"attribute_not_exists({keys.DELETED_AT})"]
        for name, value in ((WEBHOOK_URL, change.webhook_url), (APPROVAL, change.approval)):
            conditions.append(f"attribute_not_exists({name})" if value is None else f"{name} = :{name}")
            if value is not None:
                values[f":{name}"] = {"S": value}
        entry: dict[str, Any] = {
            "TableName": self._dynamodb.tables.connections,
            "Key": keys.id_key(change.connection_id),
            "ConditionExpression": " AND ".join(conditions),
            "ExpressionAttributeValues": values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

        def decode(item: Item) -> Connection | None:
            connection = CONNECTIONS.entity(item)
            return connection if connection.app_id == change.app_id and not connection.deleted_at else None

        return [Operation({"ConditionCheck": entry}, change, decode)]
