"""The sync window: the daily hours, in local time, in which requests are sent.

The window is open while a clock in its time zone shows a time from `opens` up to but not including `closes`. A time
that the clock skips in spring does not occur. An hour that occurs twice in autumn counts both times.

Time zones are those of the system, or else of the package `tzdata`: Lambda does not promise any. An offset in place of
a zone would be an hour wrong for half of the year.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from domain.errors import InvalidRequest, Problem
from domain.suggestions import similar_names

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

MAX_HORIZON = timedelta(hours=49)
"""A short window is skipped on at most one day, in spring, so the next opening or closing is at most this far
away."""

_TIME_OF_DAY = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
_MINUTE = timedelta(minutes=1)
_MINUTES_OF_A_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class SyncWindow:
    """From `opens` to `closes` (`HH:MM`) in an IANA time zone. It crosses midnight if `closes` is before `opens`."""

    opens: str
    closes: str
    time_zone: str

    @classmethod
    def checked(cls, opens: str, closes: str, time_zone: str) -> SyncWindow:
        """Return a valid window. Raises InvalidRequest with a problem for each wrong field (`sync_window.from`)."""
        problems = [
            Problem(f"sync_window.{name}", "must be a time of day from 00:00 to 23:59, for example 22:00")
            for name, value in (("from", opens), ("to", closes))
            if not _TIME_OF_DAY.fullmatch(value)
        ]
        if opens == closes and not problems:
            reason = "must differ from `from`. To send around the clock, set sync_window to null"
            problems.append(Problem("sync_window.to", reason))
        if time_zone not in _zone_names():
            reason = "is not a time zone of the IANA database, for example America/New_York"
            problems.append(Problem("sync_window.time_zone", reason, suggestion=_nearest(time_zone)))
        if problems:
            raise InvalidRequest(problems)
        return cls(opens, closes, time_zone)

    @property
    def length(self) -> timedelta:
        """How long the window is open on a day without a change of clocks."""
        return timedelta(minutes=(_minutes(self.closes) - _minutes(self.opens)) % _MINUTES_OF_A_DAY)

    def is_open(self, now: datetime) -> bool:
        """Return whether requests may be sent at `now`."""
        local = now.astimezone(_zone(self.time_zone)).strftime("%H:%M")
        if self.opens < self.closes:
            return self.opens <= local < self.closes
        return local >= self.opens or local < self.closes

    def changes_at(self, now: datetime, within: timedelta = MAX_HORIZON) -> datetime:
        """Return when the window next opens or closes, at most `now` + `within`.

        If the clock is not changed before that, arithmetic predicts it. Otherwise every minute is tried: a day takes 1
        to 2 ms.
        """
        is_open = self.is_open(now)
        moment = now.replace(second=0, microsecond=0)
        local = moment.astimezone(_zone(self.time_zone))
        change = _minutes(self.closes if is_open else self.opens)
        change_at = moment + timedelta(minutes=(change - local.hour * 60 - local.minute) % _MINUTES_OF_A_DAY)
        if change_at.astimezone(local.tzinfo).utcoffset() == local.utcoffset():
            return min(change_at, now + within)
        while (moment := moment + _MINUTE) < now + within:
            if self.is_open(moment) is not is_open:
                return moment
        return now + within


def _minutes(time_of_day: str) -> int:
    return int(time_of_day[:2]) * 60 + int(time_of_day[3:])


@cache
def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - only connections with a window need time zones

    return ZoneInfo(name)


@cache
def _zone_names() -> set[str]:
    from zoneinfo import available_timezones  # noqa: PLC0415 - see above

    return available_timezones()


def _nearest(name: str) -> str | None:
    """Return a suggestion with the most similar names. The name of a city is enough to find its zone."""
    zones = {zone: zone for zone in sorted(_zone_names())}
    for zone in sorted(_zone_names()):
        zones.setdefault(zone.rpartition("/")[2], zone)
    similar = dict.fromkeys(zones[match] for match in similar_names(name, zones))
    return f"Did you mean {' or '.join(similar)}?" if similar else None
