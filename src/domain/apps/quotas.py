"""Checks calls against the quotas of their app.

A process takes a portion of a quota at a time, so that only the first call of a portion needs the database. A portion
stays valid until it is used up. Therefore each warm process can exceed a limit by one portion.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import ceil
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import NotFound, QuotaExceeded
from domain.records.app import Limits
from domain.records.request import QUEUED
from domain.storage.counts import records_by_state
from domain.storage.ports import Usage

if TYPE_CHECKING:
    from domain.ports import Clock
    from domain.storage.ports import Database

PERIOD_SECONDS = {"creates_per_second": 1, "redeliveries_per_minute": 60}

PORTIONS_OF_RATE = 10
PORTIONS_OF_WAITING = 100
"""The number of portions that a limit is divided into."""

RECOUNT_SECONDS = 5
"""Minimum number of seconds between two counts of an app's waiting requests. A count reads the counts of all its
connections."""

MAX_PARALLEL_COUNTS = 16

LIMITS_SECONDS = 60
"""How long the limits of an app are cached for callers without an API key, as API Gateway caches those of a key."""

MAX_CACHED_PORTIONS = 1_000

_USAGE_LIFETIME_SECONDS = 60 * 60


class _Quota(NamedTuple):
    app_id: str
    name: str
    limit: int


class _Portion(NamedTuple):
    """How many more calls this process may accept. When none is left, the next portion is taken at `next_at` (Unix)."""

    left: int
    next_at: float


class Quotas:
    """Counts the calls of each app. A call over a limit raises QuotaExceeded."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._portions: dict[_Quota, _Portion] = {}
        self._limits: dict[str, tuple[Limits, float]] = {}
        self._lock = RLock()  # tests make calls inside the calls of the store

    def check_create(self, app_id: str, limits: Limits) -> None:
        """Count one more request to queue."""
        rate, waiting = limits.creates_per_second, limits.waiting
        self._use(_Quota(app_id, "creates_per_second", rate), f"This app may queue {rate:,} requests per second.")
        self._use(
            _Quota(app_id, "waiting", waiting),
            f"This app has {waiting:,} waiting requests, which is its limit. Discard some, or wait until QuickBooks "
            "has executed some.",
        )

    def allow_page(self, app_id: str) -> bool:
        """Count one more page of an iterated query. Return False if the app may not queue another request now."""
        limits = self._limits_of(app_id)
        try:
            self._use(_Quota(app_id, "creates_per_second", limits.creates_per_second), "")
        except QuotaExceeded:
            return False
        return True

    def check_redelivery(self, app_id: str, limits: Limits) -> None:
        """Count one more webhook to redeliver."""
        rate = limits.redeliveries_per_minute
        quota = _Quota(app_id, "redeliveries_per_minute", rate)
        self._use(quota, f"This app may redeliver {rate:,} webhooks per minute.")

    def _limits_of(self, app_id: str) -> Limits:
        """Return the limits of an app, for callers that have no API key. Reads the app once a minute."""
        now = self._clock().timestamp()
        limits, read_at = self._limits.get(app_id, (Limits(), 0.0))
        if read_at + LIMITS_SECONDS <= now:
            app = self._store.app(app_id)
            limits = app.limits if app else Limits()
            if len(self._limits) >= MAX_CACHED_PORTIONS:
                self._limits.clear()
            self._limits[app_id] = (limits, now)
        return limits

    def _use(self, quota: _Quota, message: str) -> None:
        """Accept one call, or raise QuotaExceeded with the message."""
        with self._lock:
            now = self._clock().timestamp()
            portion = self._portions.get(quota)
            if portion is None or (portion.left == 0 and portion.next_at <= now):
                if len(self._portions) >= MAX_CACHED_PORTIONS:
                    self._portions.clear()
                portion = self._next_portion(quota, now)
            self._portions[quota] = portion._replace(left=max(portion.left - 1, 0))
        if portion.left == 0:
            seconds = max(ceil(portion.next_at - now), 1)
            raise QuotaExceeded(message, {"limit": quota.name, "value": quota.limit}, retry_after_seconds=seconds)

    def _next_portion(self, quota: _Quota, now: float) -> _Portion:
        """Take a portion: of the current second or minute, or of the requests that may wait.

        The counter of waiting requests only grows. When it exceeds the limit, it is replaced by the number of requests
        that wait now.
        """
        app_id, name, limit = quota
        if name == "waiting":
            size = max(limit // PORTIONS_OF_WAITING, 1)
            usage = self._store.add_usage(app_id, name, size)
            if usage.total > limit and usage.counted_at + RECOUNT_SECONDS <= now:
                usage = Usage(self._waiting(app_id) + size, counted_at=int(now))
                self._store.set_usage(app_id, name, usage)
            end = usage.counted_at + RECOUNT_SECONDS
        else:
            size = max(limit // PORTIONS_OF_RATE, 1)
            start = int(now) // PERIOD_SECONDS[name] * PERIOD_SECONDS[name]
            usage = self._store.add_usage(app_id, f"{name}#{start}", size, start + _USAGE_LIFETIME_SECONDS)
            end = start + PERIOD_SECONDS[name]
        within_limit = max(0, min(size, limit - (usage.total - size)))
        return _Portion(within_limit, now if within_limit == size else end)

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
