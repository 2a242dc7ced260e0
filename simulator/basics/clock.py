"""Times as QuickBooks writes them: local time of its machine with an offset."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class MachineClock:
    """The clock of the machine that QuickBooks runs on.

    `now` gives Unix seconds. With `standard_offset_in_summer` it writes times as QuickBooks did before about 2020:
    the right wall-clock time with the offset of winter.
    """

    now: Callable[[], float]
    zone: tzinfo
    standard_offset_in_summer: bool = False

    def seconds(self) -> int:
        """Return the current time in Unix seconds."""
        return int(self.now())

    def today(self) -> date:
        """Return the current day in the machine's zone."""
        return datetime.fromtimestamp(self.now(), self.zone).date()

    def text(self, seconds: int) -> str:
        """Write a time as in TimeModified: `2026-01-31T09:15:00-05:00`."""
        local = datetime.fromtimestamp(seconds, self.zone)
        if self.standard_offset_in_summer:
            summer = local.dst() or timedelta()
            offset = local.utcoffset() or timedelta()
            local = local.replace(tzinfo=timezone(offset - summer))
        return local.isoformat(timespec="seconds")


def zone_named(name: str) -> tzinfo:
    """Return a time zone from an offset ("-05:00") or an IANA name. Raises `ValueError` for anything else."""
    matched = re.fullmatch(r"([+-])(\d\d):(\d\d)", name)
    if matched:
        offset = timedelta(hours=int(matched[2]), minutes=int(matched[3]))
        return timezone(-offset if matched[1] == "-" else offset)
    if name in {"", "UTC"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError) as error:
        raise ValueError(f"no such time zone: {name!r}") from error
