"""Timestamps: the one form in which times are stored, compared and shown."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def timestamp(moment: datetime) -> str:
    """Return `moment` (aware, UTC) in ISO 8601 with microseconds and `Z`.

    All timestamps have the same length, so they sort by time.
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def later_than(former: datetime, now: datetime) -> datetime:
    """Return `now`, or the next microsecond after `former` if that is later. The timestamps then differ."""
    return max(now, former + timedelta(microseconds=1))


def minute_of(text: str) -> str:
    """Return the minute (`YYYY-MM-DDTHH:MM`, UTC) of a `timestamp`."""
    return text[:16]


def day_of(text: str) -> str:
    """Return the day (`YYYY-MM-DD`, UTC) of a `timestamp`."""
    return text[:10]
