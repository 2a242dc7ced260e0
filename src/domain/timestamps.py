"""Timestamps: the one form in which times are stored, compared and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def timestamp(moment: datetime) -> str:
    """Return `moment` (aware, UTC) in ISO 8601 with microseconds and `Z`.

    All timestamps have the same length, so they sort by time.
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def day_of(text: str) -> str:
    """Return the day (`YYYY-MM-DD`, UTC) of a `timestamp`."""
    return text[:10]
