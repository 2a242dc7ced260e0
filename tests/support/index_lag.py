"""Indexes that lag behind their table, as in DynamoDB. Each entry of each index has its own delay.

An index shows the changes of one item in order. Changes of different items may appear in any order: the newer of two
items may be shown first, a removed item may still be shown, and a changed item may be shown in its old form.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from domain.ports import Clock

SHARE_AT_ONCE = 0.5
"""Half of all changes are shown at once, so they overtake the others."""


@dataclass
class IndexLag:
    """Delays the contents of a store's indexes. After `max_seconds` they are complete. `seed` sets the delays.

    With `queue`, the queue is also an index that may be late. In the tables it is not an index (decision 0020).
    """

    clock: Clock
    seed: int = 0
    max_seconds: float = 3.0
    queue: bool = False
    _versions: dict[str, dict[str, list[tuple[datetime, Any]]]] = field(default_factory=dict)

    def note(self, table: str, key: str, value: object | None) -> None:
        """Record the value that is now stored under a key, or None if there is none."""
        self._versions.setdefault(table, {}).setdefault(key, []).append((self.clock(), value))

    def entries(self, table: str, index: str) -> Iterator[Any]:
        """Yield the entries that an index of a table shows now."""
        now = self.clock()
        for key, versions in self._versions.get(table, {}).items():
            value = None
            for number, (moment, later) in enumerate(versions):
                if moment + self._delay(index, key, number) > now:
                    break
                value = later
            if value is not None:
                yield value

    def _delay(self, index: str, key: str, number: int) -> timedelta:
        chance = zlib.crc32(f"{self.seed}/{index}/{key}/{number}".encode()) / 2**32
        late = max(0.0, chance - SHARE_AT_ONCE) / (1 - SHARE_AT_ONCE)
        return timedelta(seconds=late * self.max_seconds)
