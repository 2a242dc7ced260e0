"""Timestamps: the one form in which times are stored, compared and shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(moment: datetime) -> str:
    """Return `moment` (aware, UTC) in ISO 8601 with microseconds and `Z`.

    All timestamps have the same length, so they sort by time.
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def timestamp_from(text: str) -> str:
    """Return the timestamp of a time with a zone, such as `2026-03-14T12:00:00Z` or `…+01:00`. Raises ValueError."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo:
            return timestamp(max(moment.astimezone(UTC), FIRST_MOMENT))
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be a time with a time zone, such as 2026-03-14T12:00:00Z")


def later_than(former: datetime, now: datetime) -> datetime:
    """Return `now`, or the next microsecond after `former` if that is later. The timestamps then differ."""
    return max(now, former + timedelta(microseconds=1))


def minute_of(text: str) -> str:
    """Return the minute (`YYYY-MM-DDTHH:MM`, UTC) of a `timestamp`."""
    return text[:16]


def day_of(text: str) -> str:
    """Return the day (`YYYY-MM-DD`, UTC) of a `timestamp`."""
    return text[:10]
