"""Changes of many requests of a connection: discard them, or send their webhooks again.

A call does a bounded amount of work and returns a cursor, with which the next call continues. A call may be repeated:
the requests that it has changed are not meant any more.

A call walks over a listing index in order of time, and stores nothing: its cursor has the place, the end, and a hash
of the call. A discard and a call that queues again walk by time of insertion, which never changes; a redelivery walks
by last change, because a request that changes moves behind the end. Each record decides when it is read, on condition
that it has not changed. The index lags, so a discard also reads the newest minute, the queue and the requests in
flight consistently. The id of a request that is queued again follows from the old one, so a repeated call queues
nothing twice; a write is left out unless its error proves that QuickBooks did not execute it. With `ids` there is no
walk.

Rejected: a walk over the queue, in which a claimed request has no place; a job in the background, which needs a table
and a schedule; transactions of one change, which write the counts of a day each time; the phrase of a search, which
reads every text again for each part; the calls for single requests, with an audit entry each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.batches.dependants import waiting_dependants
from domain.errors import Conflict, InvalidRequest, QuotaExceeded, TooManyRequests
from domain.listing.filters import RequestFilter
from domain.queueing.audited_call import AuditedCall
from domain.queueing.selection import FIRST_TIME, Place, Walk, counted_parts
from domain.queueing.service import redelivered
from domain.records.audit import Action, Actor
from domain.records.ownership import owned_connection
from domain.records.request import ENDED, LISTED_PAIRS, QUEUED, QueuedRequest, State
from domain.records.webhook import ListedWebhookState, WebhookState
from domain.storage.changes import ChangeRequest
from domain.storage.commit_size import fitting
from domain.storage.counts import INSERTED, UPDATED
from domain.storage.ports import IndexStretch
from domain.timestamps import TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.storage.ports import QueueStore

PER_COMMIT = 25
"""The most changes in one transaction. There are fewer if they change the counts of many days (`commit_size.py`)."""

MAX_CONFLICTS = 100
"""How many changes of a part may meet another change of their record before the call gives up."""

ANY_REQUEST = RequestFilter()

_BEFORE_THE_END = frozenset(
    {
        ListedWebhookState.NOT_APPLICABLE,
        ListedWebhookState.PENDING,
        ListedWebhookState.APPROVAL_NOT_APPLICABLE,
        ListedWebhookState.APPROVAL_PENDING,
    }
)
"""The webhook states of requests that have not ended. Four pairs more are read for those that wait for approval."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a call does. It ends after the part in which it reaches a bound. A dry run changes nothing.

    DynamoDB returns up to 100 records in one batch. The function may take 25 seconds.
    """

    part_size: int = 100
    looked_at: int = 2_000
    changed: int = 200
    seconds: float = 10


USUAL_BOUNDS = Bounds()


@dataclass
class Tally:
    """The result of a call. `next_cursor` continues where it ended, and is None at the end.

    `changed` counts the requests that were changed, or that a dry run would have changed. `may_be_executed` counts
    those that are meant, but that QuickBooks may be executing or may have executed, and `has_dependants` those for
    which other requests wait.
    """

    changed: int = 0
    may_be_executed: int = 0
    has_dependants: int = 0
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    """What a call does. Only a cursor of an equal call continues it.

    `after` returns a record after its change, or None if it is not to be changed. `check_quota` is called before each
    change, and raises QuotaExceeded.
    """

    subject: Sequence[object]
    walk: Walk
    after: Callable[[QueuedRequest], QueuedRequest | None]
    dry_run: bool
    audited: AuditedCall
    check_quota: Callable[[], None] = lambda: None


class ManyRequests:
    """The use cases. Each method raises NotFound for another app's connection, and InvalidRequest.

    `check_read` counts a read of the app for each part of a call after the first. If it raises QuotaExceeded, the call
    ends there. The audit log names the `actor`.
    """

    def __init__(
        self, store: QueueStore, clock: Clock, check_read: Callable[[], None], bounds: Bounds = USUAL_BOUNDS
    ) -> None:
        self._store = store
        self._clock = clock
        self._check_read = check_read
        self._bounds = bounds

    def discard(
        self,
        app_id: str,
        connection_id: str,
        which: RequestFilter,
        *,
        actor: Actor,
        cursor: str | None = None,
        dry_run: bool = False,
    ) -> Tally:
        """Take the queued requests that `which` matches, and that were queued before the first call, out of the queue.

        What QuickBooks may be executing stays as it is, and so does a request for which others wait. Both are counted.
        """
        if which.is_empty:
            raise InvalidRequest.of("filter", "must have a condition. To mean every request, give a `to` in the future")
        tally = Tally()

        def discarded(record: QueuedRequest) -> QueuedRequest | None:
            if not which.matches(record) or record.state in ENDED:
                return None
            if record.may_be_executed:
                tally.may_be_executed += 1
                return None
            if waiting_dependants(self._store, record):
                tally.has_dependants += 1
                return None
            return record.moved(State.DISCARDED, self._clock())

        # Requests in flight are listed as before their claim.
        pairs = [pair for pair in LISTED_PAIRS if pair[0] in QUEUED and pair[1] in _BEFORE_THE_END]
        stretch = IndexStretch(connection_id, INSERTED, pairs, which.from_ or FIRST_TIME, "")
        walk = Walk(self._store, stretch, self._bounds.part_size, which.keys, queue_too=True)
        subject = ("discard", connection_id, which.given, dry_run)
        place = Place.of(cursor, self._clock(), *subject, before=which.insertions.end)
        audited = self._audited(Action.REQUESTS_DISCARDED, actor)
        tally = self._change(app_id, _Task(subject, walk, discarded, dry_run, audited), place, tally)
        audited.complete(discarded=tally.changed, in_flight=tally.may_be_executed, has_dependants=tally.has_dependants)
        return tally

    def redeliver(
        self,
        app_id: str,
        connection_id: str,
        failed: TimeRange,
        check_quota: Callable[[], None],
        *,
        actor: Actor,
        which: RequestFilter = ANY_REQUEST,
        include_pending: bool = False,
        cursor: str | None = None,
        dry_run: bool = False,
    ) -> Tally:
        """Send the webhooks again that failed in a range of time and before the first call. `check_quota` counts each.

        Only those of requests that `which` matches. With `include_pending`, also those that are not delivered yet, if
        they were tried, or their request ended, in this time. If the quota is used up after some webhooks, the call
        ends there. Raises QuotaExceeded if it is before the first one.
        """
        if failed.start is None and which.is_empty:
            raise InvalidRequest.of("failed_since", "must be given, or a filter with a condition")
        states = {WebhookState.FAILED, *([WebhookState.PENDING] if include_pending else [])}
        subject = ("redeliver", connection_id, failed.start, failed.end, which.given, include_pending, dry_run)
        place = Place.of(cursor, self._clock(), *subject, before=failed.end)

        def again(record: QueuedRequest) -> QueuedRequest | None:
            is_meant = record.state in ENDED and record.webhook_state in states and which.matches(record)
            # A webhook that was tried after the first call began is left to its own schedule.
            if not is_meant or record.updated_at not in TimeRange(failed.start, place.until):
                return None
            return redelivered(record, self._clock())

        pairs = [pair for pair in LISTED_PAIRS if pair[0] in ENDED and pair[1].webhook_state in states]
        stretch = IndexStretch(connection_id, UPDATED, pairs, failed.start or FIRST_TIME, "")
        walk = Walk(self._store, stretch, self._bounds.part_size, which.keys)
        audited = self._audited(Action.WEBHOOKS_REDELIVERED, actor)
        tally = self._change(app_id, _Task(subject, walk, again, dry_run, audited, check_quota), place, Tally())
        audited.complete(redelivered=tally.changed)
        return tally

    def _audited(self, action: Action, actor: Actor) -> AuditedCall:
        return AuditedCall(self._store, self._clock, action, actor)

    def _change(self, app_id: str, task: _Task, place: Place, tally: Tally) -> Tally:
        """Change the requests of some parts behind a place, and return how many."""
        owned_connection(self._store.connection(task.walk.connection_id), app_id)
        now, looked_at = self._clock(), 0
        following: Place | None = place
        for part in counted_parts(task.walk, place, now, self._check_read):
            changes: list[ChangeRequest] = []
            refusal: QuotaExceeded | None = None
            for entry, record in part.requests:
                after = task.after(record)
                if after and not task.dry_run:
                    try:
                        task.check_quota()
                    except QuotaExceeded as error:
                        refusal = error
                        break
                if after:
                    changes.append(ChangeRequest(record, after))
                place = replace(place, after=entry)
            tally.changed += len(changes) if task.dry_run else self._commit(changes, task)
            if refusal and not tally.changed:
                raise refusal
            following = place if refusal else part.following
            looked_at += len(part.requests)
            changed = 0 if task.dry_run else tally.changed
            if refusal or following is None or self._is_enough(looked_at, changed, now):
                break
        tally.next_cursor = following.cursor(*task.subject) if following else None
        return tally

    def _is_enough(self, looked_at: int, changed: int, begun: datetime) -> bool:
        bounds = self._bounds
        is_late = self._clock() >= begun + timedelta(seconds=bounds.seconds)
        return is_late or looked_at >= bounds.looked_at or changed >= bounds.changed

    def _commit(self, changes: Sequence[ChangeRequest], task: _Task) -> int:
        """Do all changes, some at a time, and return their number. A record that has changed meanwhile is judged again.

        Raises TooManyRequests.
        """
        pending, done, conflicts = list(changes), 0, 0
        while pending:
            together = fitting(pending, PER_COMMIT)
            task.audited.begin(together[0].after)
            try:
                self._store.commit(*together)
            except Conflict as conflict:
                conflicts += 1
                if conflicts > MAX_CONFLICTS:
                    raise TooManyRequests("These requests are being changed. Try again in a moment.") from None
                pending = [change for change in pending if change != conflict.change]
                current = conflict.current
                if isinstance(current, QueuedRequest) and (changed := task.after(current)):
                    pending.append(ChangeRequest(current, changed))
            else:
                done += len(together)
                del pending[: len(together)]
        return done
