"""The last use of API keys, to the hour. It is stored beside the counters of the app, not with the key."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.ports import Clock
    from domain.records.app import ApiKey
    from domain.storage.ports import KeyUseStore

LIFETIME = timedelta(days=400)
"""How long a last use is kept, so that a key that is used once a year has one."""

MAX_REMEMBERED = 1_000


class KeyUses:
    """Notes when keys are used. A process asks the store about a key at most once an hour."""

    def __init__(self, store: KeyUseStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._hours: dict[str, str] = {}

    def note(self, key: ApiKey) -> None:
        """Store the current hour as the last use of a key, unless this or a later hour is stored."""
        now = self._clock()
        hour = timestamp(now.replace(minute=0, second=0, microsecond=0))
        if self._hours.get(key.id, "") >= hour:
            return
        stored = self._store.last_use(key.app_id, key.id) or ""
        if stored < hour:
            self._store.set_last_use(key.app_id, key.id, hour, int((now + LIFETIME).timestamp()))
        if len(self._hours) >= MAX_REMEMBERED:
            self._hours.clear()
        self._hours[key.id] = max(stored, hour)
