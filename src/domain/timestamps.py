"""Timestamps: the one form in which times are stored, compared and shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from domain.dates import how_to_write_date
from domain.errors import shortened

LENGTH_OF_A_DATE = len("2026-03-14")

_EXPECTED = "must be a time with a time zone, such as 2026-03-14T12:00:00Z"
_MAX_QUOTED = 60
"""The maximum characters of a text that a message repeats."""

FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)

BEFORE_ALL = "0"
"""Sorts before every timestamp. DynamoDB refuses an empty text in a condition of a key."""

AFTER_ALL = "~"
"""Sorts after every timestamp and every id. A day or a timestamp followed by it sorts after every text that begins with
that day or timestamp."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The timestamps from `start` on and before `end`. None means that there is no bound.

    A moment that is None, because something has not happened, is only in a range without bounds.
    """

    start: str | None = None
    end: str | None = None

    def __contains__(self, moment: str | None) -> bool:
        if moment is None:
            return not self
        return self.first <= moment and (self.end is None or moment < self.end)

    def __bool__(self) -> bool:
        """Whether there is a bound."""
        return self.start is not None or self.end is not None

    @property
    def first(self) -> str:
        """The first timestamp in the range, or a text that sorts before all of them."""
        return self.start or BEFORE_ALL

    @property
    def last(self) -> str:
        """A text that sorts after the timestamps in the range and before all later ones."""
        return AFTER_ALL if self.end is None else self.end[:-1]


ANY_TIME = TimeRange()


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
    how = _how_to_write(text)
    found = repr(shortened(text, _MAX_QUOTED))
    raise ValueError(f"{_EXPECTED}, not {found}" + (f". {how.removesuffix('.')}" if how else ""))


def _how_to_write(text: str) -> str | None:
    """Return a suggestion for a text that is a time without a zone, or a date. The zone is then taken to be UTC."""
    try:
        if len(text) > LENGTH_OF_A_DATE:
            return f"Write {datetime.fromisoformat(text).replace(tzinfo=None).isoformat()}Z"
    except ValueError:
        pass
    return how_to_write_date(text, "T00:00:00Z")


def later_than(former: datetime, now: datetime) -> datetime:
    """Return `now`, or the next microsecond after `former` if that is later. The timestamps then differ."""
    return max(now, former + timedelta(microseconds=1))


def minute_of(text: str) -> str:
    """Return the minute (`YYYY-MM-DDTHH:MM`, UTC) of a `timestamp`."""
    return text[:16]


def day_of(text: str) -> str:
    """Return the day (`YYYY-MM-DD`, UTC) of a `timestamp`."""
    return text[:10]


def books_time(text: str | None) -> datetime | None:
    """Return a time of the books, such as `2026-03-14T12:00:00-05:00`. Without an offset, it is taken to be UTC."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def known_books_time(text: str) -> datetime:
    """Return a time of the books that was stored. Raises ValueError for another text."""
    moment = books_time(text)
    if moment is None:
        raise ValueError(f"{text!r} is not a time of the books.")
    return moment
