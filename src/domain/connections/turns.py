"""When a connection may work: its place among others, and its turn in its sync window.

Many connections have the same sync window, and would log in within the same second. Each connection therefore has a
fixed *place* from 0 to 1, the hash of its id. Its turn in the window begins after `place` times a fifth of the window's
length, ten minutes at most.

Of 1,000 connections whose window opens at 22:00, 929 logged in within the same second, and a response that is refused
with 429 is lost. A random delay would not do: the time of the next session could not be shown. A longer minimum
interval would not either, because nothing lowers it again.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.connection import Connection

MIN_USER_INTERVAL_SECONDS = 60
"""The shortest interval that the Web Connector's window accepts, and the one in the `.qwc` file."""

MAX_POSTPONEMENT_SECONDS = 15 * 60
"""The longest postponement but for a backoff. A resumed connection is polled again within this time."""

SPREAD = 0.2
"""The share of a window or a postponement over which connections are spread."""

MAX_DELAY = timedelta(minutes=10)
"""The longest time from the opening of a sync window to the turn of a connection."""


def place(connection_id: str) -> float:
    """Return the place of a connection among all others: from 0 up to 1, always the same."""
    return int.from_bytes(hashlib.sha256(connection_id.encode()).digest()[:4], "big") / 2**32


def turn_in_window(connection: Connection, now: datetime) -> datetime | None:
    """Return when the turn of a connection in its sync window begins, or None if requests may be sent now."""
    window = connection.sync_window
    if window is None:
        return None
    # The delay is at most the time for which the window is closed. A longer one would reach into the window before.
    longest = min(window.length * SPREAD, timedelta(days=1) - window.length, MAX_DELAY)
    delay = timedelta(seconds=int(place(connection.id) * longest.total_seconds()))
    if not window.is_open(now):
        return window.changes_at(now) + delay
    if not window.is_open(now - delay):
        return window.changes_at(now - delay) + delay
    return None
