"""Waiting calls: a call that is held until its request has ended, or until its time is over.

A waiting call keeps a function busy, and an account can run only so many. So the whole service holds at most `limit`
calls. Each takes a lease: one of as many items of the database. A lease ends with its call, and expires if the function
was terminated. A call without a lease is answered at once.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from domain.records.request import QueuedRequest
from domain.storage.counts import INSERTED
from domain.storage.ports import Group, IndexDays, Lease
from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from domain.ports import Clock, IdSource
    from domain.storage.ports import Database

MAX_WAIT_SECONDS = 20
"""A function may take 25 seconds, and API Gateway waits for 29."""

MAX_READS = 8
"""The reads of one waiting call between its first and its last one. With those, it makes at most 12."""

GROWTH = 1.4
"""Each pause is longer than the one before by this factor. Of 20 seconds, the first pause takes 0.6 and the last 6."""

LEASE_SECONDS = 30
"""A lease expires when its function has certainly ended."""

MAX_TRIES = 8
"""The places that a call tries. Near the limit it may find none although one is free."""

MIN_SHARED_LIMIT = 10
"""From this limit on, the calls of one app can take only half of the places, so that others find some."""


class WaitingCalls:
    """Holds calls. `pause` waits for a number of seconds. `chance` returns random numbers from 0 up to 1."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        new_id: IdSource,
        *,
        pause: Callable[[float], None],
        chance: Callable[[], float],
        limit: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._pause = pause
        self._chance = chance
        self._limit = limit

    def end_of(self, seconds: int) -> datetime:
        """Return when a call that arrives now and waits for `seconds` is answered."""
        return self._clock() + timedelta(seconds=seconds)

    def hold_get(self, app_id: str, request_id: str, connection_id: str | None, until: datetime) -> None:
        """Hold a call that gets a request of the app. Returns at once if there is no such request."""
        record = self._store.request(request_id) if self._limit else None
        if (
            isinstance(record, QueuedRequest)
            and record.app_id == app_id
            and connection_id in {None, record.connection_id}
        ):
            self.hold(record, until)

    def hold(self, record: QueuedRequest, until: datetime) -> bool:
        """Hold a call until all pages of a request have ended, or `until`. Return False if the call has to be answered.

        `record` is the request as it was read.
        """
        if record.last_page:
            return True
        with self.lease(record.app_id) as lease:
            if lease:
                self._watch(record, until)
            return lease is not None

    @contextmanager
    def lease(self, app_id: str) -> Iterator[Lease | None]:
        """Hold a lease while the block runs, or None if there are too many waiting calls."""
        lease = self._taken_lease(app_id)
        try:
            yield lease
        finally:
            if lease:
                self._store.release_lease(lease)

    def _taken_lease(self, app_id: str) -> Lease | None:
        now, holder = int(self._clock().timestamp()), self._new_id()
        for place in islice(self._places(app_id), MAX_TRIES):
            lease = Lease(place, holder, now + LEASE_SECONDS)
            if self._store.take_lease(lease, now):
                return lease
        return None

    def _places(self, app_id: str) -> Iterator[int]:
        """Yield the places that an app may take, from a random one on."""
        share = self._limit if self._limit < MIN_SHARED_LIMIT else self._limit // 2
        first, start = zlib.crc32(app_id.encode()), int(self._chance() * share)
        for number in range(share):
            yield (first + (start + number) % share) % self._limit

    def _watch(self, record: QueuedRequest, until: datetime) -> None:
        """Read the request after growing pauses, until all its pages have ended. The last pause takes all the rest."""
        reads = MAX_READS
        current: QueuedRequest | None = record
        while current and not current.last_page and (seconds := (until - self._clock()).total_seconds()) > 0:
            reads_of_step = 2 if _is_paged(current) else 1
            steps = reads // reads_of_step
            if not steps:
                self._pause(seconds)
                return
            self._pause(next_pause(seconds, steps))
            reads -= reads_of_step
            current = self._newest_page(current)

    def _newest_page(self, record: QueuedRequest) -> QueuedRequest | None:
        """Return the newest page of the query, or None if it was deleted. The index of pages can be late."""
        page_id = record.id
        if _is_paged(record):
            first = day_of(record.inserted_at)
            last = max(first, day_of(timestamp(self._clock())))
            days = IndexDays(record.connection_id, INSERTED, first, last, {Group("query_id", record.query_id): 1})
            page_id = next(
                (entry.id for entry in self._store.index_entries(days, descending=True, skip=0, limit=1)), page_id
            )
        newest = self._store.request(page_id)
        return newest if isinstance(newest, QueuedRequest) else None


def next_pause(seconds: float, steps: int) -> float:
    """Return the next of a number of growing pauses that take `seconds` together."""
    return float(seconds * (GROWTH - 1) / (GROWTH**steps - 1))


def _is_paged(record: QueuedRequest) -> bool:
    return record.paging.page > 1 or record.paging.continued
