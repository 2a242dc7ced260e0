"""Queues many ended requests of a connection again, each as a new request, in a walk like those of `many`.

A request is queued again at most once (`successor`). So a call may be repeated, and several calls at the same time
queue each request once. The new request can be queued again in turn.

What QuickBooks has executed, or may have executed, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from domain.errors import Conflict, InvalidRequest, QuotaExceeded, TooManyRequests
from domain.queueing.audited_call import AuditedCall
from domain.queueing.insertion_times import InsertionTimes
from domain.queueing.many import USUAL_BOUNDS
from domain.queueing.new_request import added_request, copy_of
from domain.queueing.selection import FIRST_TIME, Place, Walk, counted_parts
from domain.records.approval import UNKNOWN_AUTHOR, Author
from domain.records.audit import Action, Actor
from domain.records.ownership import owned_connection
from domain.records.request import FAILED_OR_DISCARDED, LISTED_PAIRS, QueuedRequest
from domain.records.successor import id_again, may_be_queued_again
from domain.storage.changes import AddRequest, RequireConnection
from domain.storage.counts import INSERTED
from domain.storage.ports import IndexStretch, RequestDetail
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.listing.filters import RequestFilter
    from domain.ports import Clock
    from domain.queueing.many import Bounds
    from domain.queueing.selection import Part
    from domain.records.connection import Connection
    from domain.records.request import StoredRequest
    from domain.storage.ports import QueueStore


@dataclass
class AgainTally:
    """The result of a call. `next_cursor` continues where it ended, and is None at the end.

    `queued` counts the requests that were queued again, or that a dry run would have queued, and `queued_before` those
    that had been. `left_out` counts writes that QuickBooks may have executed or that were rejected, and later pages of
    queries.
    """

    queued: int = 0
    queued_before: int = 0
    left_out: int = 0
    next_cursor: str | None = None


class QueueAgain:
    """The use case. `check_quota` counts a request with this many bytes, and raises QuotaExceeded. `author` queues.

    `check_read` is as in `ManyRequests`.
    """

    def __init__(
        self,
        store: QueueStore,
        clock: Clock,
        check_read: Callable[[], None],
        bounds: Bounds = USUAL_BOUNDS,
        *,
        author: Author = UNKNOWN_AUTHOR,
    ) -> None:
        self._store = store
        self._clock = clock
        self._check_read = check_read
        self._bounds = bounds
        self._author = author
        self._insertion_times = InsertionTimes(clock)

    def queue_again(
        self,
        app_id: str,
        connection_id: str,
        which: RequestFilter,
        check_quota: Callable[[int], None],
        *,
        actor: Actor,
        cursor: str | None = None,
        dry_run: bool = False,
    ) -> AgainTally:
        """Queue the requests again that `which` matches, and that were queued before the first call.

        If a quota is used up after some requests, the call ends there. Raises QuotaExceeded if it is before the first
        one, NotFound for another app's connection, and InvalidRequest.
        """
        if which.is_empty:
            raise InvalidRequest.of("filter", "must have a condition. To mean every request, give a `to` in the future")
        subject = ("queue_again", connection_id, which.given, dry_run)
        now = self._clock()
        place = Place.of(cursor, now, *subject, before=which.insertions.end)
        connection = owned_connection(self._store.connection(connection_id), app_id)
        pairs = [pair for pair in LISTED_PAIRS if pair[0] in FAILED_OR_DISCARDED]
        stretch = IndexStretch(connection_id, INSERTED, pairs, which.from_ or FIRST_TIME, "")
        walk = Walk(self._store, stretch, self._bounds.part_size, which.keys)
        audited = AuditedCall(self._store, self._clock, Action.REQUESTS_QUEUED_AGAIN, actor)
        tally = AgainTally()
        queue = partial(self._queue, connection, which, check_quota, tally, audited=audited, dry_run=dry_run)
        following: Place | None = place
        looked_at = 0
        for part in counted_parts(walk, place, now, self._check_read):
            stopped = self._queue_part(part, place, queue, tally, now)
            following = stopped or part.following
            looked_at += len(part.requests)
            changed = 0 if dry_run else tally.queued
            is_enough = looked_at >= self._bounds.looked_at or changed >= self._bounds.changed
            if stopped or following is None or is_enough:
                break
            place = following
        tally.next_cursor = following.cursor(*subject) if following else None
        audited.complete(queued=tally.queued, queued_before=tally.queued_before, left_out=tally.left_out)
        return tally

    def _queue_part(
        self, part: Part, place: Place, queue: Callable[[QueuedRequest], None], tally: AgainTally, begun: datetime
    ) -> Place | None:
        """Queue the requests of a part again. Return the place at which the time or a quota was used up, or None."""
        for entry, record in part.requests:
            if self._clock() >= begun + timedelta(seconds=self._bounds.seconds):
                return place
            try:
                queue(record)
            except QuotaExceeded:
                if not tally.queued:
                    raise
                return place
            place = replace(place, after=entry)
        return None

    def _queue(
        self,
        connection: Connection,
        which: RequestFilter,
        check_quota: Callable[[int], None],
        tally: AgainTally,
        record: QueuedRequest,
        *,
        audited: AuditedCall,
        dry_run: bool,
    ) -> None:
        """Queue a request again if it is meant and may be, and count what was done."""
        if record.state not in FAILED_OR_DISCARDED or not which.matches(record):
            return
        if not may_be_queued_again(record):
            tally.left_out += 1
        elif self._store.request(id_again(record.id)) is not None:
            tally.queued_before += 1
        elif dry_run:
            tally.queued += 1
        else:
            detail = self._store.request_detail(record.id)
            if not isinstance(detail, RequestDetail):
                return  # it was deleted meanwhile
            check_quota(len(detail.stored.request_xml.encode()))
            if self._add(connection, detail.stored, audited):
                tally.queued += 1
            else:
                tally.queued_before += 1

    def _add(self, connection: Connection, stored: StoredRequest, audited: AuditedCall) -> bool:
        """Queue a request as a new one. Return False if that was done before. Raises TooManyRequests."""
        requires = RequireConnection.of(connection)
        moment = timestamp(self._insertion_times())
        copy = replace(copy_of(stored), author=self._author, replaces=stored.record.id)
        addition = added_request(id_again(stored.record.id), connection, copy, moment)
        audited.begin(addition.record)
        try:
            self._store.commit(requires, addition)
        except Conflict as conflict:
            if isinstance(conflict.change, AddRequest):
                return False
            raise TooManyRequests("The connection is being changed. Try again in a moment.") from None
        return True
