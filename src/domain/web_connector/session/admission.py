"""Admission: how many sessions run at once, of all apps and of one.

A rate limit of API Gateway that is reached in the middle of a session refuses a response, which is then lost. So the
limit must never be reached by sessions. A login without a place gets `none` and a postponement. Nothing is lost by it,
because no session has begun. `pacing.py` keeps the sessions that have a place below the limit.

Two numbers decide:

* The live sessions. They are counted in the index that the sweep reads: those with a recorded call in the last two or
  three minutes. Nothing has to be kept up to date, and a session whose machine was switched off leaves the count by
  itself. The index has shards. Each process reads a shard at most once a second, beside its other calls, and lets only
  as many sessions begin in this shard as fit in it.
* The sessions that began in these two seconds. Every process would otherwise use the same free places before the index
  shows the new sessions. Before its transaction, a login adds one to a counter of its shard, and fails if the counter
  has reached the limit of the shard, or the share of its app.

An app has a share of the places: four fifths. It also may have at most four times as many sessions as there are free
places, so apps that press equally get equal numbers, and a place is left for an app that has none. Sessions beyond the
share of their app take no place of another app.

Some logins need no free place:

* A login whose reservation is due. Each login that is turned away reserves a time (`reservations.py`). So every login
  is admitted in the end, in the order of the first calls.
* A takeover of a session that is counted, because it ends that session.
* Any other takeover, a login whose former session is missing, and a customer who sets up a connection and waits for its
  first call. They need a place in the share of their app only.

A session that is five minutes old ends between two requests if its shard or its app has more sessions than it should
have, so that the reservations of others do not add up.

If the sessions cannot be counted, logins are admitted.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from domain.records.session import LIVE_SHARDS
from domain.storage.changes import CountBeginning
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor, Future
    from datetime import datetime

    from domain.ports import Clock, SecretSource
    from domain.records.session import Session
    from domain.storage.ports import AdmissionStore

CALLS_OF_A_FAST_SESSION = 10
"""The calls a second of a session without a pace: two calls for each request, with 100 ms between two calls."""

CALLS_OF_A_PACED_SESSION = 1
"""The calls a second to which a session is slowed down if all places are taken."""

CALLS_OF_A_FUNCTION = 10
"""The calls a second of sessions that a function has time for: half of those that take 50 ms."""

SHARE_OF_SESSIONS = 0.5
"""The share of the rate limit that sessions may use. The rest is for logins, and for polls that find no work."""

SESSIONS_FOR_A_FREE_PLACE = 4
"""How many sessions an app may have for each place that is free. An app that is alone can have four fifths."""

MIN_SESSIONS_OF_A_SHARD = 8
"""With fewer, a shard is often full while others have free places."""

COUNTED_FOR = timedelta(minutes=2)
"""A session counts as live for this long after its last recorded call, and until the end of that minute. A session that
waits longer than this, for QuickBooks or for new requests, makes few calls."""

UNDISTURBED = timedelta(minutes=5)
"""A session is not ended for others before it is this old."""

UNPACED_REQUESTS = 3
"""The first requests of a session, for which no count is read. They may be sent within five seconds at any pace."""

READ_EVERY_SECONDS = 1
MAX_READING_SECONDS = 0.5
"""How long a login waits for the count, which usually takes 5 ms, after the password was checked."""

PERIOD_SECONDS = 2
"""The period in which the sessions that begin are counted. The index shows them well within the next one."""

COUNTER_KEPT_SECONDS = 60 * 60


@dataclass(frozen=True, slots=True)
class Budget:
    """The number of sessions that may run at once, and the calls a second that all of them may make."""

    sessions: int
    calls_per_second: float

    @property
    def shards(self) -> int:
        """The number of shards that the sessions are spread over."""
        fast = int(self.calls_per_second / CALLS_OF_A_FAST_SESSION)
        return min(LIVE_SHARDS, max(1, min(self.sessions, fast) // MIN_SESSIONS_OF_A_SHARD))

    @property
    def capacity(self) -> int:
        """The places of a shard."""
        return max(1, self.sessions // self.shards)

    @property
    def share(self) -> int:
        """The places of a shard that one app may have."""
        return share_of(self.capacity)

    @property
    def beginnings(self) -> int:
        """How many sessions may begin in a shard in a period. One that is short makes ten calls in all."""
        begin = int(self.calls_per_second / CALLS_OF_A_FAST_SESSION * PERIOD_SECONDS / self.shards)
        return max(1, min(self.capacity, begin))


def share_of(places: int) -> int:
    """Return how many of these places one app may have."""
    return -(-places * SESSIONS_FOR_A_FREE_PLACE // (SESSIONS_FOR_A_FREE_PLACE + 1))


def budget(calls_per_second: int, concurrency: int, max_sessions: int = 0) -> Budget:
    """Return the budget for a rate limit and a number of functions that may run at once.

    There may be `max_sessions` sessions, or as many as can be paced to their share of the calls if it is 0.
    """
    calls = min(calls_per_second * SHARE_OF_SESSIONS, concurrency * CALLS_OF_A_FUNCTION)
    return Budget(max_sessions or max(1, int(calls / CALLS_OF_A_PACED_SESSION)), calls)


@dataclass
class Reading:
    """The live sessions of a shard by app, read once, and those that this process has let begin there since."""

    shard: int
    budget: Budget
    read_at: float
    counted: Future[Mapping[str, int]]
    begun: Counter[str] = field(default_factory=Counter)

    @cached_property
    def _counted(self) -> Counter[str] | None:
        try:
            return Counter(self.counted.result(MAX_READING_SECONDS))
        except Exception:  # noqa: BLE001 - whatever is wrong with the count, it must not stop logins
            return None

    @property
    def live(self) -> Counter[str] | None:
        """The numbers of live sessions by app, or None if they cannot be read."""
        return None if self._counted is None else self._counted + self.begun

    def is_full(self, app_id: str) -> bool:
        """Whether no further session of the app may begin in this shard, unless it is exempt or has a reservation."""
        if self.live is None:
            return False
        free = self.budget.capacity - sum(min(number, self.budget.share) for number in self.live.values())
        return self.live[app_id] >= min(self.budget.share, SESSIONS_FOR_A_FREE_PLACE * free)

    def share_is_full(self, app_id: str) -> bool:
        """Whether the app has its share of this shard."""
        return self.live is not None and self.live[app_id] >= self.budget.share

    def is_exceeded(self, app_id: str) -> bool:
        """Whether there are more sessions than places, or the app has more than its share."""
        if self.live is None:
            return False
        return self.live.total() > self.budget.capacity or self.live[app_id] > self.budget.share

    def apps_with(self, app_id: str) -> int:
        """Return the number of apps that have live sessions here, including this app in any case."""
        return len({app_id, *(self.live or ())})

    def calls_of_a_session(self) -> float | None:
        """Return the calls a second that each session of this shard may make, or None if they were not counted."""
        if not self.live:
            return None
        return self.budget.calls_per_second / self.budget.shards / self.live.total()

    def beginning(self, app_id: str, now: datetime) -> list[CountBeginning]:
        """Return the change that counts a session among those that begin now, or none if nothing can be counted."""
        if self.live is None:
            return []
        period, limit = int(now.timestamp()) // PERIOD_SECONDS * PERIOD_SECONDS, self.budget.beginnings
        return [CountBeginning(self.shard, period, limit, app_id, share_of(limit), period + COUNTER_KEPT_SECONDS)]


class Admission:
    """Reads the counts of the shards.

    Each process begins with a random shard for its logins and then takes one after the other, so sessions are spread
    over all. `executor` makes the reads, by default in a thread of its own.
    """

    def __init__(
        self,
        store: AdmissionStore,
        clock: Clock,
        budget: Budget,
        random: SecretSource,
        executor: Executor | None = None,
    ) -> None:
        self.budget = budget
        self._store = store
        self._clock = clock
        self._next_shard = random(1)[0]
        self._lock = Lock()
        self._executor = executor or ThreadPoolExecutor(1)
        self._login: Reading | None = None
        self._readings: dict[int, Reading] = {}

    def for_login(self) -> Reading:
        """Return the reading for logins, or begin the next one if it is a second old. Does not wait for it."""
        with self._lock:
            if self._login is None or self._is_old(self._login):
                self._login = self._begin(self._next_shard % self.budget.shards)
                self._next_shard += 1
            return self._login

    def of(self, session: Session) -> Reading:
        """Return the reading of the session's shard, or begin one if it is a second old. Does not wait for it."""
        with self._lock:
            reading = self._readings.get(session.shard)
            return self._begin(session.shard) if reading is None or self._is_old(reading) else reading

    def for_pace(self, session: Session) -> Reading | None:
        """Return the reading of the session's shard, or None for its first requests, which have no pace."""
        return self.of(session) if session.responses >= UNPACED_REQUESTS else None

    def limited(self, session: Session, now: datetime) -> Session:
        """Return the session, which ends for others if it has run long enough. Reads its shard if it is old enough."""
        is_old = "" < session.began_at <= timestamp(now - UNDISTURBED)
        if not is_old or not self.of(session).is_exceeded(session.app_id):
            return session
        return replace(session, limits=replace(session.limits, ends_for_others=True))

    def _is_old(self, reading: Reading) -> bool:
        return abs(self._clock().timestamp() - reading.read_at) >= READ_EVERY_SECONDS

    def _begin(self, shard: int) -> Reading:
        now = self._clock()
        counted = self._executor.submit(self._store.live_sessions, shard, timestamp(now - COUNTED_FOR))
        reading = self._readings[shard] = Reading(shard, self.budget, now.timestamp(), counted)
        return reading
