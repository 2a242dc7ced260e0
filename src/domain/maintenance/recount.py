"""Counts compared with the records themselves, and mended: for the operator, when a list looks wrong.

Counts are exact by construction (`domain.changes`); this is for what came by other ways, such as a
table that was restored to another moment than its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.ownership import not_found
from domain.storage.counts import INSERTED, UPDATED, CountKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.storage.ports import Database


class Recounting:
    """Compares a connection's counts with its records, and mends them."""

    def __init__(self, store: Database) -> None:
        self._store = store

    def differences(self, connection_id: str) -> Mapping[CountKey, int]:
        """Return by how much counts are short of the records (negative: how many too many).

        Records are counted by an index, which lags, while others change them: only what two recounts,
        one after the other, find alike is a difference. Raises NotFound.
        """
        if self._store.connection(connection_id) is None:
            raise not_found("connection")
        first, second = self._compare(connection_id), self._compare(connection_id)
        return {key: short for key, short in second.items() if first.get(key) == short}

    def mend(self, connection_id: str) -> Mapping[CountKey, int]:
        """Add the differences to the counts and return them. Do it while nothing is in flight. Raises NotFound."""
        found = self.differences(connection_id)
        if found:
            self._store.add_to_counts(found)
        return found

    def _compare(self, connection_id: str) -> Mapping[CountKey, int]:
        stored = {
            CountKey(connection_id, day.day, sort, state, webhook_state): number
            for day in self._store.day_counts(connection_id)
            for sort in (INSERTED, UPDATED)
            for (state, webhook_state), number in day.of(sort).items()
        }
        recounted = self._store.recount(connection_id)
        short = {key: recounted.get(key, 0) - stored.get(key, 0) for key in recounted.keys() | stored.keys()}
        return {key: number for key, number in short.items() if number}
