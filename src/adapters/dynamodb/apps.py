"""Apps, their API keys and their idempotency keys: how they are stored and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.transactions import Operation, put_if, put_revision
from domain.apps.record import ApiKey, App
from domain.storage.changes import ClaimIdempotencyKey, IdempotencyClaim, PutApiKey, PutApp

if TYPE_CHECKING:
    from collections.abc import Sequence

APPS = Codec(App)

API_KEYS = Codec(ApiKey, renamed={"hash": keys.ID, "app_id": keys.KEY_OF})
"""API keys are in the table of the apps. The id of a key is its hash, so the authorizer finds it with one read."""

IDEMPOTENCY_CLAIMS = Codec(IdempotencyClaim)


class Apps(Database):
    """Reads apps and API keys."""

    def app(self, app_id: str) -> App | None:
        """Return an app with one read."""
        item = self._get(self._tables.apps, keys.id_key(app_id))
        return APPS.entity(item) if item and keys.KEY_OF not in item else None

    def apps_by_age(self) -> Sequence[App]:
        """Return every app, oldest first. Reads the index, then one batch for each 100 apps."""
        query = key_query(self._tables.apps, keys.APPS_PARTITION, index=keys.ALL_APPS_INDEX)
        ids = [keys.id_key(entry[keys.ID]["S"]) for entry in self._query(query)]
        apps = map(APPS.entity, self._batch_get({self._tables.apps: ids})[self._tables.apps])
        return sorted(apps, key=lambda app: (app.inserted_at, app.id))

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash, with one read."""
        item = self._get(self._tables.apps, keys.id_key(key_hash))
        return API_KEYS.entity(item) if item and keys.KEY_OF in item else None

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return the keys of an app, oldest first. The sparse index holds them whole."""
        query = key_query(self._tables.apps, {keys.KEY_OF: app_id}, index=keys.KEYS_OF_APP_INDEX)
        return [API_KEYS.entity(item) for item in self._query(query)]

    def _put_app(self, change: PutApp) -> Operation:
        revision = change.before.revision if change.before else None
        item = APPS.item(change.after) | keys.APP_MARK
        return put_revision(self._tables.apps, item, revision, change, APPS.entity)

    def _put_api_key(self, change: PutApiKey) -> Operation:
        revision = change.before.revision if change.before else None
        return put_revision(self._tables.apps, API_KEYS.item(change.after), revision, change, API_KEYS.entity)

    def _claim_idempotency_key(self, change: ClaimIdempotencyKey) -> Operation:
        claim = IdempotencyClaim(change.body_hash, change.record_id, change.expires_at)
        return put_if(
            self._tables.idempotency_keys,
            IDEMPOTENCY_CLAIMS.item(claim) | keys.idempotency_key(change.app_id, change.key),
            # DynamoDB removes expired keys within days, not at once.
            f"attribute_not_exists({keys.APP_ID}) OR {keys.EXPIRES_AT} <= :now",
            change,
            IDEMPOTENCY_CLAIMS.entity,
            now=change.now,
        )
