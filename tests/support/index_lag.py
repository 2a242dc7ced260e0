"""Indexes that follow their table later, as DynamoDB's do: each entry of each index at a pace of its own.

What an index shows of one item it shows in the order in which the item changed. Items overtake each
other: the newer of two may be shown first, one that left may still be shown, and one that changed as it was.
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
"""Half of all changes are shown at once, so that the others are overtaken."""


@dataclass
class IndexLag:
    """What the indexes of a store show, by the clock: everything after `most_seconds`, chance by `seed`.

    With `queue` the queue is an index too, which may be late. It is none in the tables (decision 0020).
    """

    clock: Clock
    seed: int = 0
    most_seconds: float = 3.0
    queue: bool = False
    _versions: dict[str, dict[str, list[tuple[datetime, Any]]]] = field(default_factory=dict)

    def note(self, table: str, key: str, value: object | None) -> None:
        """Remember what is stored under a key now, None when nothing is."""
        self._versions.setdefault(table, {}).setdefault(key, []).append((self.clock(), value))

    def shown(self, table: str, index: str) -> Iterator[Any]:
        """Yield what an index of a table shows at this moment."""
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
        return timedelta(seconds=late * self.most_seconds)
