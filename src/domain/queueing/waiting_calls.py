"""Waiting calls: a call that waits until its request has ended, or until its time is over.

A waiting call keeps a function busy, and an account can run only so many. So at most `limit` calls of the whole service
wait. Each takes a lease: one of as many items of the database. A lease ends with its call, and expires if the function
was terminated. A call without a lease is answered at once.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from domain.records.request import ENDED, QueuedRequest
from domain.storage.counts import INSERTED
from domain.storage.ports import Group, IndexDays, Lease
from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from domain.ports import Clock, IdSource
    from domain.storage.ports import WaitingStore

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


class WaitFor(StrEnum):
    """What a call waits for: the last page of the query of its request, or its request, which can be one page."""

    QUERY = "query"
    PAGE = "page"

    def has_happened(self, record: QueuedRequest) -> bool:
        """Whether the call has to be answered. `record` is the newest page of the query, or the request."""
        return record.state in ENDED if self is WaitFor.PAGE else record.last_page is True

    def reads(self, record: QueuedRequest) -> int:
        """Return the reads that one look takes: the newest page is found in an index."""
        return 2 if self is WaitFor.QUERY and _is_paged(record) else 1


class WaitingCalls:
    """Lets calls wait. `pause` waits for a number of seconds. `chance` returns random numbers from 0 up to 1."""

    def __init__(
        self,
        store: WaitingStore,
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

    def wait_to_get(
        self, app_id: str, request_id: str, connection_id: str | None, until: datetime, wait_for: WaitFor
    ) -> None:
        """Let a call wait that gets a request of the app. Returns at once if there is no such request."""
        record = self._store.request(request_id) if self._limit else None
        if (
            isinstance(record, QueuedRequest)
            and record.app_id == app_id
            and connection_id in {None, record.connection_id}
        ):
            self.wait(record, until, wait_for)

    def wait(self, record: QueuedRequest, until: datetime, wait_for: WaitFor = WaitFor.QUERY) -> bool:
        """Let a call wait until `wait_for` has happened, or `until`. Return False if the call has to be answered.

        `record` is the request as it was read. It looks once before it pauses: other pages may have ended before.
        """
        reads = MAX_READS
        current: QueuedRequest | None = record
        if wait_for.reads(record) > 1 and not wait_for.has_happened(record):
            reads -= wait_for.reads(record)
            current = self._newest(record, wait_for)
        if current is None or wait_for.has_happened(current):
            return True
        with self.lease(record.app_id) as lease:
            if lease:
                self._watch(current, until, wait_for, reads)
            return lease is not None

    @contextmanager
    def lease(self, app_id: str) -> Iterator[Lease | None]:
        """Have a lease while the block runs, or None if there are too many waiting calls."""
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

    def _watch(self, record: QueuedRequest, until: datetime, wait_for: WaitFor, reads: int) -> None:
        """Look after growing pauses, with at most `reads`, until it has happened. The last pause takes all the rest."""
        current: QueuedRequest | None = record
        while current and not wait_for.has_happened(current) and (left := (until - self._clock()).total_seconds()) > 0:
            steps = reads // wait_for.reads(current)
            if not steps:
                self._pause(left)
                return
            self._pause(next_pause(left, steps))
            reads -= wait_for.reads(current)
            current = self._newest(current, wait_for)

    def _newest(self, record: QueuedRequest, wait_for: WaitFor) -> QueuedRequest | None:
        """Return the newest page of the query, or None if it was deleted. The index of pages can be late.

        A call that waits for a page gets that page.
        """
        page_id = record.id
        if wait_for is WaitFor.QUERY and _is_paged(record):
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
