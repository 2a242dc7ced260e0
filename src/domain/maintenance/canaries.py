"""Canaries: changes that each consumer of a stream has to process, so that a missing consumer is noticed.

A disabled event source calls no function and publishes no metric, so an alarm on the age of its records stays silent.
The sweep therefore changes one item in each table with a stream. Each consumer notes that the change has arrived. The
sweep looks which consumers have noted none for long (decision 0118).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from domain.storage.ports import CanaryStore

EVERY = timedelta(minutes=14)
"""How long after the last canaries the next ones are sent at the earliest: in each third sweep."""

SILENT_AFTER = timedelta(minutes=40)
"""How long a consumer may process no canary. It misses two in this time, and works on the stream late otherwise."""

STREAMS: Mapping[str, Sequence[str]] = {
    "queued_requests": ("deliver_webhook", "log_and_forget"),
    "connections": ("deliver_webhook", "log_and_forget"),
    "change_pages": ("log_and_forget",),
}
"""The tables with a stream, and the functions that consume it."""


def consumer_of(function: str, stream: str) -> str:
    """Return the name of a consumer: a function, and the table whose stream it reads."""
    return f"{function} of {stream}"


CONSUMERS = tuple(consumer_of(function, stream) for stream, functions in STREAMS.items() for function in functions)


def silent_consumers(store: CanaryStore, now: datetime) -> Sequence[str]:
    """Return the consumers that have not processed a canary for too long. Then send canaries, if they are due."""
    canaries = store.canaries()
    before = timestamp(now - SILENT_AFTER)
    silent = [name for name in CONSUMERS if canaries.missing_since.get(name, timestamp(now)) <= before]
    if canaries.sent_at is None or canaries.sent_at <= timestamp(now - EVERY):
        others = [name for name in CONSUMERS if name not in canaries.missing_since]
        store.send_canaries(STREAMS, others, timestamp(now))
    return silent
