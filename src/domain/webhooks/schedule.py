"""When a failed webhook is tried again (docs/reference/service-contract.md, Webhook retries)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from domain.webhooks.defaults import JITTER, MAX_RETRY_AFTER, RETRY_DELAYS

_MAX_DIGITS = 9
"""A longer number of seconds is not parsed. It is over 30 years, more than any limit."""


def next_attempt_at(now: datetime, attempts: int, retry_after: str | None, random: float) -> datetime | None:
    """Return when to try again after `attempts` failed attempts, or None if that was the last one.

    `random` in [0, 1) spreads the delay by ± 20 %. `retry_after` is the text of the header. It can make the delay
    longer, up to 24 hours, but never shorter.
    """
    if attempts > len(RETRY_DELAYS):
        return None
    delay = RETRY_DELAYS[attempts - 1] * (1 - JITTER + 2 * JITTER * random)
    requested = retry_after_delay(retry_after, now) if retry_after else None
    return now + max(delay, min(requested or timedelta(), MAX_RETRY_AFTER))


def retry_after_delay(text: str, now: datetime) -> timedelta | None:
    """Return the delay that a `Retry-After` header requests, or None if the header cannot be parsed.

    The header holds whole seconds or an HTTP date (RFC 9110 §10.2.3). A date in the past requests no delay.
    """
    text = text.strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text)) if len(text) <= _MAX_DIGITS else MAX_RETRY_AFTER
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # RFC 9110 §5.6.7: an HTTP date is in GMT, even in the obsolete form without a time zone.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(moment - now, timedelta())
