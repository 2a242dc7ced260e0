"""Connections, sessions, apps, API keys and idempotency keys: how they are stored and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.operations import Operation, put, put_if, put_revision
from domain.records.app import ApiKey, App
from domain.records.connection import Connection
from domain.records.session import Session
from domain.storage.changes import ClaimIdempotencyKey, IdempotencyClaim, Put, RequireConnection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adapters.dynamodb.keys import Item

T = TypeVar("T")

CONNECTIONS = Codec(Connection)
SESSIONS = Codec(Session, renamed={"id": keys.SESSION_ID})
APPS = Codec(App)
API_KEYS = Codec(ApiKey, renamed={"hash": keys.ID, "app_id": keys.KEY_OF})
"""API keys are in the table of the apps. The id of a key is its hash, so the authorizer finds it with one read."""
IDEMPOTENCY_CLAIMS = Codec(IdempotencyClaim)


class Entities(Database):
    """Reads these entities, and converts their changes into operations."""

    # --- Connections

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
        stored = self._entities(self._tables.connections, CONNECTIONS, map(keys.id_key, ids))
        connections = {connection.id: connection for connection in stored}
        return [connections[one] for one in ids if one in connections]

    # --- Sessions

    def session(self, session_id: str) -> Session | None:
        """Return a session with one read."""
        item = self._get(self._tables.sessions, keys.session_key(session_id))
        return SESSIONS.entity(item) if item else None

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return live sessions whose last call was before the timestamp. Reads the sparse index, then one batch."""
        table = self._tables.sessions
        query = key_query(table, keys.LIVE_PARTITION, index=keys.LIVE_SESSIONS_INDEX, below=(keys.LAST_CALL_AT, before))
        entries = self._client.query(**query, Limit=limit)["Items"]
        sessions = self._entities(table, SESSIONS, (keys.session_key(entry[keys.SESSION_ID]["S"]) for entry in entries))
        # The index may lag behind the sessions.
        silent = [session for session in sessions if not session.ended and session.last_call_at < before]
        return sorted(silent, key=lambda session: session.last_call_at)

    # --- Apps

    def app(self, app_id: str) -> App | None:
        """Return an app with one read."""
        item = self._get(self._tables.apps, keys.id_key(app_id))
        return APPS.entity(item) if item and keys.KEY_OF not in item else None

    def app_ids(self) -> Sequence[str]:
        """Return the id of every app. Reads the index."""
        query = key_query(self._tables.apps, keys.APPS_PARTITION, index=keys.ALL_APPS_INDEX)
        return [entry[keys.ID]["S"] for entry in self._query(query)]

    def apps_by_age(self) -> Sequence[App]:
        """Return every app, oldest first. Reads the index, then one batch for each 100 apps."""
        apps = self._entities(self._tables.apps, APPS, map(keys.id_key, self.app_ids()))
        return sorted(apps, key=lambda app: (app.inserted_at, app.id))

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash, with one read."""
        item = self._get(self._tables.apps, keys.id_key(key_hash))
        return API_KEYS.entity(item) if item and keys.KEY_OF in item else None

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return the keys of an app, oldest first. The sparse index holds them whole."""
        query = key_query(self._tables.apps, {keys.KEY_OF: app_id}, index=keys.KEYS_OF_APP_INDEX)
        return [API_KEYS.entity(item) for item in self._query(query)]

    def _entities(self, table: str, codec: Codec[T], item_keys: Iterable[Item]) -> list[T]:
        """Return the entities that exist, read in batches, in no particular order."""
        return list(map(codec.entity, self._batch_get({table: list(item_keys)})[table]))

    # --- Changes

    def _put_entity(self, change: Put[Any]) -> list[Operation]:
        entity = change.after
        table, codec, marks = self._stored_form(entity)
        revision = change.before.revision if change.before else None
        operations = [put_revision(table, codec.item(entity) | marks, revision, change, codec.entity)]
        if isinstance(entity, Connection) and entity.deleted_at:
            operations.append(put(self._tables.counts, keys.day_key(entity.id, keys.DELETED_CONNECTION)))
        return operations

    def _stored_form(self, entity: Connection | Session | App | ApiKey) -> tuple[str, Codec[Any], Item]:
        """Return the table of an entity, its codec, and attributes that are not fields."""
        match entity:
            case Connection():
                return self._tables.connections, CONNECTIONS, keys.PURGE_MARK if entity.deleted_at else {}
            case Session():
                return (
                    self._tables.sessions,
                    SESSIONS,
                    (keys.expiry(entity.expires_at) if entity.ended else keys.LIVE_MARK),
                )
            case App():
                return self._tables.apps, APPS, keys.APP_MARK
            case ApiKey():
                return self._tables.apps, API_KEYS, {}

    def _require_connection(self, change: RequireConnection) -> list[Operation]:
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

        return [Operation({"ConditionCheck": entry}, change, decode)]

    def _claim_idempotency_key(self, change: ClaimIdempotencyKey) -> list[Operation]:
        operation = put_if(
            self._tables.idempotency_keys,
            IDEMPOTENCY_CLAIMS.item(change.claim) | keys.idempotency_key(change.app_id, change.key),
            # DynamoDB removes expired keys within days, not at once.
            f"attribute_not_exists({keys.APP_ID}) OR {keys.EXPIRES_AT} <= :now",
            change,
            IDEMPOTENCY_CLAIMS.entity,
            values={":now": {"N": str(change.now)}},
        )
        return [operation]
