"""The time by which a request must have been sent: `send_by`, or `send_within` seconds.

Base rules without a store. The record has the time in Unix seconds, so a fraction of a second is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.errors import InvalidRequest
from domain.timestamps import timestamp

MIN_SECONDS = 60
"""The Web Connector calls every minute at most, so a shorter time would hardly ever be met."""

SECONDS_A_DAY = 24 * 60 * 60
MAX_SECONDS = 366 * SECONDS_A_DAY
"""A year. A later time is probably a mistake, such as milliseconds in place of seconds."""

_OR_WITHIN = "To count from the call on, use send_within"


@dataclass(frozen=True, slots=True)
class SendBy:
    """What a call gives: a timestamp, or a number of seconds from MIN_SECONDS to MAX_SECONDS, or neither.

    A copy of a request has what is `kept` of its time, in Unix seconds. It is dropped when it has passed.
    """

    time: str | None = None
    within: int | None = None
    kept: int | None = None

    def __post_init__(self) -> None:
        if self.time is not None and self.within is not None:
            raise InvalidRequest.of("send_within", "is given together with send_by. Send one of them")

    @property
    def is_given(self) -> bool:
        """Whether there is a time."""
        return self.time is not None or self.within is not None

    def seconds(self, now: datetime) -> int | None:
        """Return the time in Unix seconds, or None. Raises InvalidRequest if it is not that far ahead."""
        present = int(now.timestamp())
        if self.within is not None:
            return present + self.within
        if self.kept is not None:
            return self.kept if self.kept > present else None
        if self.time is None:
            return None
        seconds = int(datetime.fromisoformat(self.time).timestamp())
        if message := _problem(seconds - present):
            raise InvalidRequest.of("send_by", f"{message}. It is {timestamp(now)} now. {_OR_WITHIN}")
        return seconds


ANY_TIME = SendBy()
"""The request may be sent at any time."""


def _problem(ahead: int) -> str | None:
    """Return what is wrong with a time that is `ahead` by so many seconds, or None."""
    if ahead <= 0:
        return "is in the past"
    if ahead < MIN_SECONDS:
        return f"must be at least {MIN_SECONDS} seconds ahead"
    return f"must be at most {MAX_SECONDS // SECONDS_A_DAY} days ahead" if ahead > MAX_SECONDS else None
