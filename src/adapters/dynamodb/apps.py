"""The table of apps and their API keys: keys, indexes, items, reads and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.app import ApiKey, App

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from adapters.dynamodb.events import Events
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.usages import Usages
    from domain.storage.changes import Put, RemoveApp

KEY_OF = "key_of"
"""The app of an API key. An app has no such attribute."""

KEYS_OF_APP = Index("keys_of_app")

ALL_APPS = Index("all_apps")
APPS_PARTITION = {"kind": "app"}
"""The one partition of the sparse index of apps. API keys are not in it."""
APP_MARK: Item = {"kind": {"S": "app"}}

APPS = Codec(App)
API_KEYS = Codec(ApiKey, renamed={"hash": keys.ID, "app_id": KEY_OF})
"""API keys are in the table of the apps. The id of a key is its hash, so the authorizer finds it with one read."""


class Apps:
    """Reads apps and API keys, and converts their changes into operations."""

    def __init__(
        self, dynamodb: DynamoDB, events: Events, usages: Usages, remove_members: Callable[[str], None]
    ) -> None:
        self._dynamodb = dynamodb
        self._events = events
        self._usages = usages
        self._remove_members = remove_members

    def app(self, app_id: str) -> App | None:
        """Return an app with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.apps, keys.id_key(app_id))
        return APPS.entity(item) if item and KEY_OF not in item else None

    def app_ids(self) -> Sequence[str]:
        """Return the id of every app. Reads the index."""
        query = key_query(self._dynamodb.tables.apps, APPS_PARTITION, index=ALL_APPS)
        return [entry[keys.ID]["S"] for entry in self._dynamodb.query(query)]

    def apps_by_id(self, app_ids: Collection[str]) -> Sequence[App]:
        """Return the apps that exist, with one call for each 100."""
        return self._dynamodb.entities(self._dynamodb.tables.apps, APPS, map(keys.id_key, sorted(set(app_ids))))

    def apps_by_age(self) -> Sequence[App]:
        """Return every app, oldest first. Reads the index, then one batch for each 100 apps."""
        return sorted(self.apps_by_id(self.app_ids()), key=lambda app: (app.inserted_at, app.id))

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash, with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.apps, keys.id_key(key_hash))
        return API_KEYS.entity(item) if item and KEY_OF in item else None

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return the keys of an app, oldest first. The sparse index holds them whole."""
        query = key_query(self._dynamodb.tables.apps, {KEY_OF: app_id}, index=KEYS_OF_APP)
        return [API_KEYS.entity(item) for item in self._dynamodb.query(query)]

    def remove_app(self, app_id: str) -> None:
        """Delete the log of events, the counters, the members, the API keys and the app, with one call for each key."""
        self._events.remove_log(app_id)
        self._usages.remove_usages(app_id)
        self._remove_members(app_id)
        for item_id in [*(key.hash for key in self.api_keys_of(app_id)), app_id]:
            self._dynamodb.client.delete_item(TableName=self._dynamodb.tables.apps, Key=keys.id_key(item_id))

    def remove(self, change: RemoveApp) -> list[Operation]:
        """Return the operation that removes an app."""
        entry: dict[str, Any] = {
            "TableName": self._dynamodb.tables.apps,
            "Key": keys.id_key(change.before.id),
            "ConditionExpression": f"{keys.REVISION} = :before",
            "ExpressionAttributeValues": {":before": {"N": str(change.before.revision)}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        return [Operation({"Delete": entry}, change, APPS.entity)]

    def put_app(self, change: Put[App]) -> list[Operation]:
        """Return the operation that stores an app."""
        return [put_entity(self._dynamodb.tables.apps, APPS, change, APP_MARK)]

    def put_api_key(self, change: Put[ApiKey]) -> list[Operation]:
        """Return the operation that stores an API key."""
        return [put_entity(self._dynamodb.tables.apps, API_KEYS, change)]
