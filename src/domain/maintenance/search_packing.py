"""Packs the search texts of past days, so a search of a large connection reads few large items."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from domain.ports import Clock
    from domain.storage.ports import Database

DAYS_A_RUN = 500


@dataclass(frozen=True, slots=True)
class Packed:
    """The result of a run. `finished` is False if the time ran out before the work was done.

    `failures` are the errors of the days that could not be packed, by (connection, day).
    """

    days: int
    finished: bool
    failures: Mapping[tuple[str, str], Exception] = field(default_factory=dict)


def pack_days(store: Database, clock: Clock, until: datetime) -> Packed:
    """Pack days. Starts no step after `until`. May stop anywhere and run again at any time.

    Today's texts stay unpacked, because they change when responses arrive.
    """
    days = store.days_to_pack(day_of(timestamp(clock())), DAYS_A_RUN)
    packed = 0
    failures: dict[tuple[str, str], Exception] = {}
    finished = len(days) < DAYS_A_RUN
    for connection_id, day in days:
        try:
            if not _pack_day(store, connection_id, day, clock, until):
                finished = False
                break
            packed += 1
        except Exception as error:  # noqa: BLE001 - a day that fails must not stop the others
            failures[connection_id, day] = error
    return Packed(packed, finished, failures)


def _pack_day(store: Database, connection_id: str, day: str, clock: Clock, until: datetime) -> bool:
    """Pack a day. Return False if the time runs out first."""
    after = None
    while clock() < until:
        after = store.pack(connection_id, day, after)
        if after is None:
            return True
    return False
