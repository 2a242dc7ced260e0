"""Admission: how many sessions run at once.

A rate limit of API Gateway that is reached in the middle of a session refuses a response, which is then lost. So the
limit must never be reached by sessions. A login beyond the budget of sessions gets `none` and a postponement. Nothing
is lost by it, because no session has begun.

Two numbers decide:

* The live sessions. They are counted in the index that the sweep reads: those with a recorded call in the last two or
  three minutes. Nothing has to be kept up to date, and a session whose machine was switched off leaves the count by
  itself. The index has shards. Each process reads one of them at most once a second, while it checks the password, and
  lets only as many sessions begin in this shard as fit in it.
* The sessions that began in these two seconds. Every process would otherwise use the same free places before the index
  shows the new sessions. Before its transaction, a login adds one to a counter of its shard, and fails if the counter
  has reached the budget of the shard.

If the sessions cannot be counted, logins are admitted. Takeovers end a session, and a customer who sets up a connection
waits for its first call, so these logins are always admitted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from domain.records.session import LIVE_SHARDS
from domain.storage.changes import CountBeginning
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from concurrent.futures import Future
    from datetime import datetime

    from domain.ports import Clock, SecretSource
    from domain.storage.ports import Database

CALLS_OF_A_SESSION = 10
"""The calls a second of a fast session: two calls for each request, with 100 ms between two calls."""

SHARE_OF_SESSIONS = 0.5
"""The share of the rate limit that sessions may use. The rest is for logins, and for polls that find no work."""

MIN_SESSIONS_OF_A_SHARD = 8
"""With fewer, a shard is often full while others have free places."""

COUNTED_FOR = timedelta(minutes=2)
"""A session counts as live for this long after its last recorded call, and until the end of that minute. A session that
waits longer than this, for QuickBooks or for new requests, makes few calls."""

READ_EVERY_SECONDS = 1
MAX_READING_SECONDS = 0.5
"""How long a login waits for the count, which usually takes 5 ms, after the password was checked."""

PERIOD_SECONDS = 2
"""The period in which the sessions that begin are counted. The index shows them well within the next one."""

COUNTER_KEPT_SECONDS = 60 * 60


def max_sessions(calls_per_second: int, concurrency: int) -> int:
    """Return the budget of live sessions for a rate limit and a number of functions that may run at once.

    A session keeps about a third of a function busy, so there may be as many sessions as functions.
    """
    return max(1, min(int(calls_per_second * SHARE_OF_SESSIONS / CALLS_OF_A_SESSION), concurrency))


@dataclass
class Reading:
    """The live sessions of a shard, read once, and the sessions that this process has let begin there since."""

    shard: int
    capacity: int
    live: Future[int]
    begun: int = 0

    @cached_property
    def count(self) -> int | None:
        """The number of live sessions when it was read, or None if it cannot be read."""
        try:
            return self.live.result(MAX_READING_SECONDS)
        except Exception:  # noqa: BLE001 - whatever is wrong with the count, it must not stop logins
            return None

    @property
    def is_full(self) -> bool:
        """Whether no further session may begin in this shard."""
        return self.count is not None and self.count + self.begun >= self.capacity

    def counted(self, now: datetime) -> list[CountBeginning]:
        """Return the change that counts a session among those that begin now, or none if nothing can be counted."""
        if self.count is None:
            return []
        period = int(now.timestamp()) // PERIOD_SECONDS * PERIOD_SECONDS
        return [CountBeginning(self.shard, period, self.capacity, period + COUNTER_KEPT_SECONDS)]


class Admission:
    """Reads the count of one shard at a time. `budget` is the number of sessions that may run at once.

    Each process begins with a random shard and then reads one after the other, so sessions are spread over all.
    """

    def __init__(self, store: Database, clock: Clock, budget: int, random: SecretSource) -> None:
        self._store = store
        self._clock = clock
        self._shards = min(LIVE_SHARDS, max(1, budget // MIN_SESSIONS_OF_A_SHARD))
        self._capacity = max(1, budget // self._shards)
        self._readings = random(1)[0]
        self._read_at = float("-inf")
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1)
        self._reading: Reading | None = None

    def begin_reading(self) -> Reading:
        """Return the current reading, or begin the next one if it is a second old. Does not wait for it."""
        now = self._clock()
        with self._lock:
            if self._reading is None or abs(now.timestamp() - self._read_at) >= READ_EVERY_SECONDS:
                self._read_at = now.timestamp()
                shard = self._readings % self._shards
                self._readings += 1
                since = timestamp(now - COUNTED_FOR)
                live = self._thread.submit(self._store.live_sessions, shard, since)
                self._reading = Reading(shard, self._capacity, live)
            return self._reading
