"""Checks calls against the limits of their app.

A process takes allowances in portions, so that only the first call of a portion needs the database. Allowances stay
valid until they are used. Therefore each warm process can exceed a limit by one portion.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING

from domain.errors import NotFound, QuotaExceeded
from domain.requests.record import QUEUED
from domain.storage.counts import records_by_state
from domain.storage.ports import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.apps.record import Limits
    from domain.ports import Clock
    from domain.storage.ports import Database

PORTIONS_OF_RATE = 10
PORTIONS_OF_WAITING = 100
"""The number of portions that a limit is divided into."""

RECOUNT_SECONDS = 5
"""How often the waiting requests of an app are counted at most. A count reads the counts of all its connections."""

MAX_PARALLEL_COUNTS = 16

MAX_CACHED_PORTIONS = 1_000

_USAGE_LIFETIME_SECONDS = 60 * 60


@dataclass(frozen=True, slots=True)
class _Portion:
    """The allowances of this process. When none is left, the next portion is taken at `next_at` (Unix seconds)."""

    left: int
    next_at: float


class Quotas:
    """Counts the calls of each app. A call over a limit raises QuotaExceeded."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._portions: dict[tuple[str, str, int], _Portion] = {}
        self._lock = Lock()

    def check_create(self, app_id: str, limits: Limits) -> None:
        """Count one more request to queue."""
        rate = limits.creates_per_second
        self._use_rate((app_id, "creates_per_second", rate), 1, f"This app may queue {rate:,} requests per second.")
        self._use(
            (app_id, "waiting", limits.waiting),
            lambda now: self._portion_of_waiting(app_id, limits.waiting, now),
            f"{limits.waiting:,} requests of this app are waiting, and no more may. Discard some, or wait until "
            "QuickBooks has executed some.",
        )

    def check_redelivery(self, app_id: str, limits: Limits) -> None:
        """Count one more webhook to redeliver."""
        rate = limits.redeliveries_per_minute
        message = f"This app may redeliver {rate:,} webhooks per minute."
        self._use_rate((app_id, "redeliveries_per_minute", rate), 60, message)

    def _use_rate(self, quota: tuple[str, str, int], seconds: int, message: str) -> None:
        self._use(quota, lambda now: self._portion_of_rate(quota, seconds, now), message)

    def _use(self, quota: tuple[str, str, int], take: Callable[[float], _Portion], message: str) -> None:
        """Use one allowance of a quota: its app, its name and its limit. `take` returns the next portion."""
        with self._lock:
            now = self._clock().timestamp()
            portion = self._portions.get(quota)
            if portion is None or (portion.left == 0 and portion.next_at <= now):
                if len(self._portions) >= MAX_CACHED_PORTIONS:
                    self._portions.clear()
                portion = take(now)
            self._portions[quota] = replace(portion, left=max(portion.left - 1, 0))
        if portion.left == 0:
            _, name, limit = quota
            seconds = max(ceil(portion.next_at - now), 1)
            raise QuotaExceeded(message, {"limit": name, "value": limit}, retry_after_seconds=seconds)

    def _portion_of_rate(self, quota: tuple[str, str, int], seconds: int, now: float) -> _Portion:
        """Take a portion of the limit for the current second or minute."""
        app_id, name, limit = quota
        size = _portion_size(limit, PORTIONS_OF_RATE)
        start = int(now) // seconds * seconds
        usage = self._store.add_usage(app_id, f"{name}#{start}", size, start + _USAGE_LIFETIME_SECONDS)
        granted = _granted(size, usage, limit)
        return _Portion(granted, now if granted == size else start + seconds)

    def _portion_of_waiting(self, app_id: str, limit: int, now: float) -> _Portion:
        """Take a portion of the requests that may wait.

        The counter only grows. When it exceeds the limit, it is replaced by the number of requests that wait now.
        """
        size = _portion_size(limit, PORTIONS_OF_WAITING)
        usage = self._store.add_usage(app_id, "waiting", size)
        if usage.total > limit and usage.counted_at + RECOUNT_SECONDS <= now:
            usage = Usage(self._waiting(app_id) + size, counted_at=int(now))
            self._store.set_usage(app_id, "waiting", usage)
        granted = _granted(size, usage, limit)
        return _Portion(granted, now if granted == size else usage.counted_at + RECOUNT_SECONDS)

    def _waiting(self, app_id: str) -> int:
        """Return the number of an app's waiting and retryable requests."""
        with ThreadPoolExecutor(MAX_PARALLEL_COUNTS) as readers:
            return sum(readers.map(self._waiting_of_connection, self._store.connection_ids_of(app_id)))

    def _waiting_of_connection(self, connection_id: str) -> int:
        try:
            records = records_by_state(self._store.day_counts(connection_id))
        except NotFound:  # it was deleted meanwhile
            return 0
        return sum(records[state] for state in QUEUED)


def _portion_size(limit: int, portions: int) -> int:
    return max(limit // portions, 1)


def _granted(size: int, usage: Usage, limit: int) -> int:
    """Return how many of the last `size` allowances are within the limit."""
    return max(0, min(size, limit - (usage.total - size)))
