"""The sync window: the hours of the day, by the clock of one time zone, in which QuickBooks may be worked with.

A rule of the wall clock: the window is open at a moment when the clock there shows a time from `opens` up to but not
including `closes`. Where clocks are put forward, times that the clock skips never come; where they are put back, an
hour comes twice and the rule holds in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from domain.errors import InvalidRequest, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

MAX_HORIZON = timedelta(hours=49)
"""The next opening or closing is not later: a window of minutes is skipped at most on one day, when clocks change."""

_TIME_OF_DAY = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class SyncWindow:
    """From `opens` to `closes` (`HH:MM`, not the same; past midnight when `closes` is earlier) in an IANA zone."""

    opens: str
    closes: str
    time_zone: str

    @classmethod
    def checked(cls, opens: str, closes: str, time_zone: str) -> SyncWindow:
        """Return the window. Raises InvalidRequest, which names each problem by its field (`sync_window.from`)."""
        problems = [
            Problem(f"sync_window.{name}", "must be a time of day from 00:00 to 23:59, like 22:00")
            for name, value in (("from", opens), ("to", closes))
            if not _TIME_OF_DAY.fullmatch(value)
        ]
        if opens == closes and not problems:
            reason = "is the same as from: a window without end is sync_window null"
            problems.append(Problem("sync_window.to", reason))
        if time_zone not in _known_zones():
            problems.append(
                Problem(
                    "sync_window.time_zone",
                    "is no time zone of the IANA database, like America/New_York",
                    suggestion=_nearest(time_zone),
                )
            )
        if problems:
            raise InvalidRequest(problems)
        return cls(opens, closes, time_zone)

    @classmethod
    def of(cls, value: Mapping[str, str]) -> SyncWindow:
        """Return the window that `as_dict` wrote down."""
        return cls(value["from"], value["to"], value["time_zone"])

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"from": self.opens, "to": self.closes, "time_zone": self.time_zone}

    def is_open(self, now: datetime) -> bool:
        """Tell whether QuickBooks may be worked with at `now`."""
        shown = now.astimezone(_zone(self.time_zone)).strftime("%H:%M")
        if self.opens < self.closes:
            return self.opens <= shown < self.closes
        return shown >= self.opens or shown < self.closes

    def changes_at(self, now: datetime, within: timedelta = MAX_HORIZON) -> datetime:
        """Return when the window opens or closes next, `now` + `within` when that is not sooner.

        Looks at one minute after the other, because it is the clock that decides, not arithmetic; a day of them
        takes a millisecond or two.
        """
        is_open = self.is_open(now)
        moment = now.replace(second=0, microsecond=0)
        while (moment := moment + _MINUTE) < now + within:
            if self.is_open(moment) is not is_open:
                return moment
        return now + within


@cache
def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - only connections with a window need time zones

    return ZoneInfo(name)


@cache
def _known_zones() -> set[str]:
    from zoneinfo import available_timezones  # noqa: PLC0415 - see above

    return available_timezones()


def _nearest(name: str) -> str | None:
    """Return a hint with the names that are most like `name`; a city alone finds its zone."""
    from difflib import get_close_matches  # noqa: PLC0415 - see above

    spellings: dict[str, str] = {}
    for zone in sorted(_known_zones()):
        spellings.setdefault(zone.casefold(), zone)
        spellings.setdefault(zone.rpartition("/")[2].casefold(), zone)
    wanted = name.strip().replace(" ", "_").casefold()
    found = dict.fromkeys(spellings[one] for one in get_close_matches(wanted, spellings, n=3, cutoff=0.7))
    return f"Did you mean {' or '.join(found)}?" if found else None
