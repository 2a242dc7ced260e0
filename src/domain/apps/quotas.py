"""Checks calls against the quotas of their app.

A process takes a portion of a quota at a time, so that only the first call of a portion needs the database. A portion
stays valid until it is used up. Therefore each warm process can exceed a limit by one portion.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import NotFound, QuotaExceeded
from domain.records.app import AppLimits
from domain.records.request import QUEUED
from domain.storage.counts import INSERTED
from domain.storage.ports import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from domain.ports import Clock
    from domain.storage.ports import QuotaStore

PERIOD_SECONDS = {"second": 1, "minute": 60}
"""The lengths of the periods at the end of the names of limits."""

PORTIONS_OF_RATE = 10
PORTIONS_OF_WAITING = 100
"""The number of portions that a limit is divided into."""

COUNTED_ONE_BY_ONE = frozenset({"searches_per_minute", "connections"})
"""Limits without portions. A search takes many calls of the database anyway, and connections are rarely created. A few
processes that make one such call would use up the portions of a low limit."""

RECOUNT_SECONDS = 5
"""Minimum number of seconds between two counts of an app's waiting requests or connections. A count reads the index of
its connections, and the one of waiting requests the counts of all of them."""

MAX_PARALLEL_COUNTS = 16

SEARCH_RECHECK_SECONDS = 5
"""How long a process refuses searches before it looks again whether others have ended."""

JITTER = 0.1
"""`Retry-After` is longer by a random time of up to a second and this share of the period. Otherwise all callers that
were refused would return at the same moment."""

LIMITS_SECONDS = 60
"""How long the limits of an app are cached for callers without an API key, as API Gateway caches those of a key."""

MAX_CACHED_PORTIONS = 1_000

_USAGE_LIFETIME_SECONDS = 60 * 60


_SEARCH_SECONDS = "The searches of this app take longer than it may search per minute."


class _Quota(NamedTuple):
    app_id: str
    name: str
    limit: int


class _Portion(NamedTuple):
    """How much more this process may accept. When it is not enough, more is taken at `next_at` (Unix) or later."""

    left: int
    next_at: float


class Quotas:
    """Counts the calls of each app. A call over a limit raises QuotaExceeded.

    `chance` returns random numbers from 0 to 1, for the jitter of `Retry-After`.
    """

    def __init__(self, store: QuotaStore, clock: Clock, chance: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance
        self._portions: dict[_Quota, _Portion] = {}
        self._limits: dict[str, tuple[AppLimits, float]] = {}
        self._lock = RLock()  # tests make calls inside the calls of the store

    def check_create(self, app_id: str, limits: AppLimits, number: int = 1) -> None:
        """Count `number` more requests to queue."""
        rate, waiting = limits.creates_per_second, limits.waiting
        quota = _Quota(app_id, "creates_per_second", rate)
        self._use(quota, f"This app may queue {rate:,} requests per second.", number)
        self._use(
            _Quota(app_id, "waiting", waiting),
            f"This app may have {waiting:,} waiting requests, and has no room for {number:,} more. Discard some, or "
            "wait until QuickBooks has executed some.",
            number,
        )

    def check_written(self, app_id: str, limits: AppLimits, size: int) -> None:
        """Count the bytes of a request to queue."""
        rate = limits.written_bytes_per_minute
        quota = _Quota(app_id, "written_bytes_per_minute", rate)
        self._use(quota, f"This app may queue {rate:,} bytes of QBXML per minute.", size)

    def check_connection(self, app_id: str, limits: AppLimits) -> None:
        """Count one more connection."""
        limit = limits.connections
        message = f"This app may have {limit:,} connections. Delete one that is not used."
        self._use(_Quota(app_id, "connections", limit), message)

    def check_read(self, app_id: str, limits: AppLimits, number: int = 1) -> None:
        """Count reads: one, or as many as a call costs. A call that costs more than a second has takes all of them."""
        rate = limits.reads_per_second
        quota = _Quota(app_id, "reads_per_second", rate)
        self._use(quota, f"This app may make {rate:,} reads per second.", min(number, max(rate, 1)))

    @contextmanager
    def searching(self, app_id: str, limits: AppLimits, max_seconds: int) -> Iterator[None]:
        """Count a search that runs in the block. Its time is reserved before it begins, and the rest returned after it.

        The counter holds the time of all searches that ended and `max_seconds` for each that runs, so the limit also
        bounds how many run at once, in all processes. If the function is terminated, nothing is returned.
        """
        rate = limits.searches_per_minute
        self._use(_Quota(app_id, "searches_per_minute", rate), f"This app may make {rate:,} searches per minute.")
        quota = _Quota(app_id, "search_seconds_per_minute", limits.search_seconds_per_minute)
        begun = self._clock().timestamp()
        counter, expires_at, _ = _period(quota.name, begun)
        if self._portions.get(quota, _Portion(0, 0)).next_at > begun:
            raise self._refusal(quota, _SEARCH_SECONDS, SEARCH_RECHECK_SECONDS)
        usage = self._store.add_usage(app_id, counter, max_seconds, expires_at)
        if usage.total > quota.limit:
            self._store.add_usage(app_id, counter, -max_seconds, expires_at)
            self._portions[quota] = _Portion(0, begun + 1)
            raise self._refusal(quota, _SEARCH_SECONDS, SEARCH_RECHECK_SECONDS)
        try:
            yield
        finally:
            seconds = max(ceil(self._clock().timestamp() - begun), 1)
            self._store.add_usage(app_id, counter, seconds - max_seconds, expires_at)

    def allow_page(self, app_id: str) -> bool:
        """Count one more page of an iterated query. Return False if the app may not queue another request now."""
        limits = self._limits_of(app_id)
        try:
            self._use(_Quota(app_id, "creates_per_second", limits.creates_per_second), "")
        except QuotaExceeded:
            return False
        return True

    def check_redelivery(self, app_id: str, limits: AppLimits, number: int = 1) -> None:
        """Count webhooks to redeliver: one, or as many as a call costs."""
        rate = limits.redeliveries_per_minute
        quota = _Quota(app_id, "redeliveries_per_minute", rate)
        self._use(quota, f"This app may redeliver {rate:,} webhooks per minute.", number)

    def _limits_of(self, app_id: str) -> AppLimits:
        """Return the limits of an app, for callers that have no API key. Reads the app once a minute."""
        now = self._clock().timestamp()
        limits, read_at = self._limits.get(app_id, (AppLimits(), 0.0))
        if read_at + LIMITS_SECONDS <= now:
            app = self._store.app(app_id)
            limits = app.limits if app else AppLimits()
            if len(self._limits) >= MAX_CACHED_PORTIONS:
                self._limits.clear()
            self._limits[app_id] = (limits, now)
        return limits

    def _use(self, quota: _Quota, message: str, amount: int = 1) -> None:
        """Accept a call that uses `amount` of a quota, or raise QuotaExceeded with the message."""
        with self._lock:
            now = self._clock().timestamp()
            portion = self._portions.get(quota, _Portion(0, 0))
            if portion.left < amount and portion.next_at <= now:
                if len(self._portions) >= MAX_CACHED_PORTIONS:
                    self._portions.clear()
                portion = self._next_portion(quota, now, portion.left, amount)
            is_enough = portion.left >= amount
            self._portions[quota] = portion._replace(left=portion.left - amount) if is_enough else portion
        if not is_enough:
            raise self._refusal(quota, message, max(ceil(portion.next_at - now), 1))

    def _refusal(self, quota: _Quota, message: str, seconds: int) -> QuotaExceeded:
        """Return the error. It says which limit was reached, when to try again, and who can raise the limit."""
        seconds += int(self._chance() * (2 + JITTER * _period_seconds(quota.name)))
        message += f" The operator can change {quota.name} (set-limits)."
        return QuotaExceeded(message, {"limit": quota.name, "value": quota.limit}, retry_after_seconds=seconds)

    def _next_portion(self, quota: _Quota, now: float, left: int, amount: int) -> _Portion:
        """Take a portion: of the current second or minute, or of the requests that may wait. Add it to what is `left`.

        It is larger than usual if `amount` needs more.

        The counters of waiting requests and of connections only grow. When one exceeds the limit, it is replaced by the
        number that there are now. Connections can be older than their counter, so they are also counted at first.
        """
        app_id, name, limit = quota
        is_standing = name in {"waiting", "connections"}
        portions = PORTIONS_OF_WAITING if is_standing else PORTIONS_OF_RATE
        size = amount if name in COUNTED_ONE_BY_ONE else max(limit // portions, amount - left)
        if is_standing:
            usage = self._store.add_usage(app_id, name, size)
            is_wrong = usage.total > limit or (name == "connections" and not usage.counted_at)
            if is_wrong and usage.counted_at + RECOUNT_SECONDS <= now:
                count = self._waiting if name == "waiting" else self._connections
                usage = Usage(count(app_id) + size, counted_at=int(now))
                self._store.set_usage(app_id, name, usage)
            end = usage.counted_at + RECOUNT_SECONDS
        else:
            counter, expires_at, end = _period(name, now)
            usage = self._store.add_usage(app_id, counter, size, expires_at)
        within_limit = max(0, min(size, limit - (usage.total - size)))
        return _Portion(left + within_limit, now if within_limit == size else end)

    def _connections(self, app_id: str) -> int:
        """Return the number of an app's connections."""
        return len(self._store.connection_ids_of(app_id))

    def _waiting(self, app_id: str) -> int:
        """Return the number of an app's waiting and retryable requests."""
        with ThreadPoolExecutor(MAX_PARALLEL_COUNTS) as readers:
            return sum(readers.map(self._waiting_of_connection, self._store.connection_ids_of(app_id)))

    def _waiting_of_connection(self, connection_id: str) -> int:
        try:
            days = self._store.day_counts(connection_id, sort=INSERTED)
        except NotFound:  # it was deleted meanwhile
            return 0
        queued = sum(number for day in days for (state, _), number in day.inserted.items() if state in QUEUED)
        # A record in flight is counted as before its claim.
        return max(queued - len(self._store.in_flight_ids(connection_id)), 0)


def _period_seconds(name: str) -> int:
    return PERIOD_SECONDS.get(name.rpartition("_")[2], 0)


def _period(name: str, now: float) -> tuple[str, int, int]:
    """Return the counter of a limit for the current period, its expiry, and the end of the period (Unix)."""
    seconds = _period_seconds(name)
    start = int(now) // seconds * seconds
    return f"{name}#{start}", start + _USAGE_LIFETIME_SECONDS, start + seconds
