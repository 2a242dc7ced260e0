"""When a webhook is tried again (contract §9). The numbers are in `defaults`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from domain.webhooks.defaults import JITTER, MAX_RETRY_AFTER, RETRY_DELAYS

_MAX_DIGITS = 9
"""Digits of a number of seconds that is still worth reading: 30 years are more than any limit."""


def next_attempt_at(now: datetime, tries: int, retry_after: str | None, random: float) -> datetime | None:
    """Return when to try again after `tries` failed attempts, None when that was the last one.

    `random` in [0, 1) spreads the delay by ± 20 %. `retry_after` is the header's text: the
    receiver's wish makes the wait longer, at most 24 hours, never shorter than the schedule.
    """
    if tries > len(RETRY_DELAYS):
        return None
    delay = RETRY_DELAYS[tries - 1] * (1 - JITTER + 2 * JITTER * random)
    wished = retry_after_delay(retry_after, now) if retry_after else None
    return now + max(delay, min(wished or timedelta(), MAX_RETRY_AFTER))


def retry_after_delay(text: str, now: datetime) -> timedelta | None:
    """Return what a `Retry-After` header asks for, None when it says nothing usable.

    RFC 9110 §10.2.3: whole seconds, or an HTTP date (a moment in the past asks for nothing).
    """
    text = text.strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text)) if len(text) <= _MAX_DIGITS else MAX_RETRY_AFTER
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # RFC 9110 §5.6.7: an HTTP date is in GMT, also where its form does not say so.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(moment - now, timedelta())
