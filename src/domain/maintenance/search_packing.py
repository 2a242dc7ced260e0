"""Packs the search texts of past days, so a search of a large connection reads few large items.

Several runs share the work: each packs the days of its share of the connections. The runs of a share are minutes apart,
because a text is copied by one run and removed from the index by the next (`adapters.dynamodb.search`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from zlib import crc32

from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.storage.ports import PackingStore

THREADS = 4
"""The number of days that a run packs in parallel. A run mostly waits for the database: a small day takes a dozen
calls, one after the other."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of all connections: number `number`, counted from 0, of `of` shares. The default is all of them."""

    number: int = 0
    of: int = 1

    def __post_init__(self) -> None:
        """Refuse a share without connections."""
        if not 0 <= self.number < self.of:
            raise ValueError(f"Share {self.number} of {self.of} does not exist. Shares are counted from 0.")

    def contains(self, connection_id: str) -> bool:
        """Return whether the connection belongs to this share. Each connection belongs to one."""
        return crc32(connection_id.encode()) % self.of == self.number

    def parts(self, number: int) -> Sequence[Share]:
        """Return this share in `number` parts."""
        return [Share(self.number + self.of * part, self.of * number) for part in range(number)]


EVERYTHING = Share()


@dataclass(frozen=True, slots=True)
class Packed:
    """The result of a run. `finished` is False if the time ran out before the work was done.

    `days` counts the days that were visited, `settled` the days that the next run will visit unless they change.
    `failures` are the errors of the days that could not be packed, by (connection, day).
    """

    days: int
    settled: int
    finished: bool
    failures: Mapping[tuple[str, str], Exception]


def pack_days(
    store: PackingStore, clock: Clock, until: datetime, share: Share = EVERYTHING, threads: int = THREADS
) -> Packed:
    """Pack the days of a share. Starts no step after `until`. May stop anywhere and run again at any time.

    Today's texts stay unpacked, because they change when responses arrive. The days of a connection are packed by the
    same thread, because they may share a search block.
    """
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(partial(_pack_part, store, clock, until), share.parts(threads)))
    return Packed(
        sum(part.days for part in parts),
        sum(part.settled for part in parts),
        all(part.finished for part in parts),
        {day: error for part in parts for day, error in part.failures.items()},
    )


def _pack_part(store: PackingStore, clock: Clock, until: datetime, share: Share) -> Packed:
    today = day_of(timestamp(clock()))
    visited: set[tuple[str, str]] = set()
    failures: dict[tuple[str, str], Exception] = {}
    for connection_id, day in store.days_to_pack(today):
        # A second visit in the same run would remove the texts that the first one has just copied.
        if not share.contains(connection_id) or (connection_id, day) in visited:
            continue
        try:
            if not _pack_day(store, connection_id, day, clock, until):
                return Packed(len(visited) - len(failures), 0, finished=False, failures=failures)
        except Exception as error:  # noqa: BLE001 - a day that fails must not stop the others
            failures[connection_id, day] = error
        visited.add((connection_id, day))
    settled, all_settled = _settle_days(store, today, clock, until, share)
    return Packed(len(visited) - len(failures), settled, all_settled, failures)


def _pack_day(store: PackingStore, connection_id: str, day: str, clock: Clock, until: datetime) -> bool:
    """Pack a day. Return False if the time runs out first."""
    after = None
    while clock() < until:
        after = store.pack(connection_id, day, after)
        if after is None:
            return True
    return False


def _settle_days(store: PackingStore, today: str, clock: Clock, until: datetime, share: Share) -> tuple[int, bool]:
    """Let the next run pack the changed days. Return their number, and False if the time runs out first.

    This comes after the packing, because a run must not pack the days that it has settled itself.
    """
    settled = 0
    for number in store.settle_days(today, share.contains):
        settled += number
        if clock() >= until:
            return settled, False
    return settled, True
