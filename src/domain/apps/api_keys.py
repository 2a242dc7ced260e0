"""What the admins of an app do with its API keys (docs/reference/service-contract.md, API keys)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import TooManyKeys
from domain.records.ownership import not_found
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.apps.administration import Administration, NewKey
    from domain.ports import Clock
    from domain.records.app import ApiKey, Scope
    from domain.records.audit import Actor
    from domain.storage.ports import AppStore

MAX_ACTIVE_KEYS = 200
"""Of an app. Two calls in the same second can exceed it by one, because keys are counted by an index."""

MAX_ACTIVE_OF_FAMILY = 2
"""The key that is rotated, and the new one."""

MAX_LISTED_INACTIVE = 300
"""The newest keys that were revoked or have expired. They answer who used a key."""


class ApiKeys:
    """The use cases of the API keys of one app. The methods that take an id can raise NotFound."""

    def __init__(self, store: AppStore, clock: Clock, administration: Administration) -> None:
        self._store = store
        self._clock = clock
        self._administration = administration

    def listed(self, app_id: str) -> Sequence[ApiKey]:
        """Return the active keys of an app and the newest of the others, oldest first."""
        now, keys = self._now(), self._store.api_keys_of(app_id)
        inactive = [key.hash for key in keys if not key.is_active(now)]
        left_out = set(inactive[:-MAX_LISTED_INACTIVE])
        return [key for key in keys if key.hash not in left_out]

    def create(self, app_id: str, name: str, scope: Scope, expires_at: str | None, actor: Actor) -> NewKey:
        """Store a new key. Raises TooManyKeys and InvalidRequest."""
        self._check_number(app_id)
        return self._administration.create_key(app_id, scope, name=name, expires_at=expires_at, actor=actor)

    def rename(self, app_id: str, key_id: str, name: str, actor: Actor) -> ApiKey:
        """Give a key another name. Raises InvalidRequest for a name that is not a line of text."""
        return self._administration.rename_key(self._key(app_id, key_id).hash, name, actor=actor)

    def rotate(self, app_id: str, key_id: str, expires_at: str | None, actor: Actor) -> NewKey:
        """Store a new key beside another one, with which it is one actor. Raises TooManyKeys and InvalidRequest."""
        key = self._key(app_id, key_id)
        self._check_number(app_id)
        return self._administration.create_key(
            app_id, key.scope, rotates=key.hash, expires_at=expires_at, actor=actor, check=self._check_rotation
        )

    def revoke(self, app_id: str, key_id: str, actor: Actor) -> ApiKey:
        """Revoke a key. Revoking it again changes nothing."""
        return self._administration.revoke_key(self._key(app_id, key_id).hash, actor=actor)

    def _key(self, app_id: str, key_id: str) -> ApiKey:
        """Return the key with this public id. The index of keys may not show a key that was just created."""
        for key in self._store.api_keys_of(app_id):
            if key.id == key_id:
                return key
        raise not_found("API key")

    def _check_number(self, app_id: str) -> None:
        now = self._now()
        if sum(key.is_active(now) for key in self._store.api_keys_of(app_id)) >= MAX_ACTIVE_KEYS:
            raise TooManyKeys(f"The app has {MAX_ACTIVE_KEYS} active API keys. Revoke one that is not used.")

    def _check_rotation(self, key: ApiKey) -> None:
        """Raise TooManyKeys unless the key is the only active one of its family.

        The index may not show the key that this one was rotated to last, so that key is read by its hash.
        """
        now = self._now()
        if not key.is_active(now):
            raise TooManyKeys("The API key was revoked or has expired. Create a new one.")
        family = {other.hash for other in self._store.api_keys_of(key.app_id) if other.family == key.family}
        hashes = (family | {key.rotated_to}) - {key.hash, None}
        others = filter(None, (self._store.api_key(other) for other in sorted(filter(None, hashes))))
        if sum(other.is_active(now) for other in others) >= MAX_ACTIVE_OF_FAMILY - 1:
            raise TooManyKeys("The API key and its rotation are both active. Revoke one of them first.")

    def _now(self) -> str:
        return timestamp(self._clock())
