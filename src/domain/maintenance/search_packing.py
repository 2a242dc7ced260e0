"""Packs the search texts of past days, so a search of a large connection reads few large items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.requests.record import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.storage.ports import Packing

DAYS_A_RUN = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """A day that could not be packed."""

    connection_id: str
    day: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Packed:
    """The result of a run. `finished` is False if the time ran out before the work was done."""

    days: int
    finished: bool
    failures: Sequence[Failure] = ()


class Packer:
    """Packs the search texts of past days. It may stop anywhere and run again at any time."""

    def __init__(self, packing: Packing, clock: Clock) -> None:
        self._packing = packing
        self._clock = clock

    def run(self, until: datetime) -> Packed:
        """Pack days. Starts no step after `until`.

        Today's texts stay unpacked, because they change when responses arrive.
        """
        today = day_of(timestamp(self._clock()))
        days = self._packing.days_to_pack(today, DAYS_A_RUN)
        packed = 0
        failures: list[Failure] = []
        for connection_id, day in days:
            try:
                is_through = self._pack(connection_id, day, until)
            except Exception as error:  # noqa: BLE001 - a day that fails must not stop the others
                failures.append(Failure(connection_id, day, error))
                continue
            if not is_through:
                return Packed(packed, finished=False, failures=tuple(failures))
            packed += 1
        return Packed(packed, finished=len(days) < DAYS_A_RUN, failures=tuple(failures))

    def _pack(self, connection_id: str, day: str, until: datetime) -> bool:
        """Pack a day. Return False if the time runs out first."""
        after = None
        while self._clock() < until:
            after = self._packing.pack(connection_id, day, after)
            if after is None:
                return True
        return False
