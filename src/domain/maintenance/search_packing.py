"""Search texts packed once a day is over, so that a search of a large connection reads few large items."""

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
    """A day that could not be packed, and why."""

    connection_id: str
    day: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Packed:
    """What a run did. `finished` is False when its time was over before its work."""

    days: int
    finished: bool
    failures: Sequence[Failure] = ()


class Packer:
    """Packs the search texts of days that are over. Can be stopped and repeated at will."""

    def __init__(self, packing: Packing, clock: Clock) -> None:
        self._packing = packing
        self._clock = clock

    def run(self, until: datetime) -> Packed:
        """Pack what there is to pack, and begin nothing more after `until`.

        Today's texts still change, when their requests are answered: they are left as they are.
        """
        today = day_of(timestamp(self._clock()))
        days = self._packing.quiet_days(today, DAYS_A_RUN)
        done = 0
        failures: list[Failure] = []
        for connection_id, day in days:
            try:
                through = self._pack(connection_id, day, until)
            except Exception as error:  # noqa: BLE001 - one bad day keeps no other from being packed
                failures.append(Failure(connection_id, day, error))
                continue
            if not through:
                return Packed(done, finished=False, failures=tuple(failures))
            done += 1
        return Packed(done, finished=len(days) < DAYS_A_RUN, failures=tuple(failures))

    def _pack(self, connection_id: str, day: str, until: datetime) -> bool:
        """Pack a day; return False when the time was over before."""
        after = None
        while self._clock() < until:
            after = self._packing.pack(connection_id, day, after)
            if after is None:
                return True
        return False
