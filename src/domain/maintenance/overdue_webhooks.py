"""Finds webhooks that are pending although no attempt is planned, and plans one.

An attempt is planned before its predecessor is recorded, so a webhook normally always has a message. It loses the
message if the database and the queue fail several times in a row, if the operator purges the queue, or after a restore.
The counts of a connection say on which days it has such webhooks, so there is no scan, and a connection without them
costs one query.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from domain.errors import Conflict, NotFound, TooManyRequests, Unavailable
from domain.maintenance.failures import attempted, contained, raising
from domain.records.request import ENDED, QueuedRequest
from domain.records.webhook import WebhookState
from domain.storage.changes import ChangeRequest
from domain.storage.counts import UPDATED
from domain.storage.ports import IndexDays
from domain.timestamps import day_of, timestamp
from domain.webhooks.ports import PlannedAttempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from domain.maintenance.failures import OnFailure
    from domain.ports import Clock
    from domain.records.request import Pair
    from domain.storage.counts import DayCounts
    from domain.storage.ports import OverdueStore
    from domain.webhooks.ports import RetryQueue

    Observer: TypeAlias = Callable[[str, Sequence[DayCounts]], object]

OVERDUE_AFTER = timedelta(hours=1)
"""A retry queue that works is never this late, even after an outage of SQS that lasts for minutes."""

DAYS = timedelta(days=35)
"""Webhooks that changed earlier are left alone. Each sweep looks at every webhook, and a restore goes back by at most
35 days (DynamoDB)."""

RECORDS_A_DAY = 200
"""The number of pending webhooks of a connection and a day that one run reads. Each run reads different
ones, because most of them may wait for an attempt that is planned."""

OVERDUE = "The attempt was overdue. It is planned again."


def plan_overdue_webhooks(  # noqa: PLR0917 - as `sweep`
    store: OverdueStore,
    retries: RetryQueue,
    clock: Clock,
    until: datetime,
    observers: Sequence[Observer] = (),
    on_failure: OnFailure = raising,
) -> tuple[int, bool]:
    """Plan an attempt for each overdue webhook. Return their number, and whether all connections were looked at.

    `observers` get each connection with the counts that were read. Starts no step after `until`. It may stop anywhere
    and run again at any time. The connections are looked at in a different order in each run, so a run that stops early
    does not always leave the same ones. A webhook or connection that cannot be handled is left to the next run, and
    the others are handled.
    """
    planned = 0
    unknown: Sequence[DayCounts] = ()
    for connection_id in shuffled(_connection_ids(store), timestamp(clock())):
        if clock() >= until:
            return planned, False
        facts = {"connection_id": connection_id}
        count = partial(_recent_days, store, connection_id, clock())
        days = attempted(count, unknown, on_failure, task="count", **facts)
        for observe in observers:
            attempted(partial(observe, connection_id, days), None, on_failure, task="observe", **facts)
        for record in contained(_overdue_records(store, connection_id, days, clock), on_failure, task="find", **facts):
            if clock() >= until:
                return planned, False
            plan = partial(plan_attempt, store, retries, record, clock())
            planned += attempted(plan, False, on_failure, task="plan", request_id=record.id, **facts)
    return planned, True


def overdue_webhooks(
    store: OverdueStore, clock: Clock, until: datetime, max_records: int
) -> tuple[list[QueuedRequest], bool]:
    """Return records whose webhook is overdue, and whether these are all. Starts no step after `until`."""
    found: list[QueuedRequest] = []
    for connection_id in shuffled(_connection_ids(store), timestamp(clock())):
        days = _recent_days(store, connection_id, clock())
        for record in _overdue_records(store, connection_id, days, clock):
            if len(found) == max_records or clock() >= until:
                return found, False
            found.append(record)
        if clock() >= until:
            return found, False
    return found, True


def is_overdue(record: QueuedRequest, now: datetime) -> bool:
    """Return whether the next webhook attempt should have changed the record an hour ago."""
    if record.state not in ENDED or record.webhook_state is not WebhookState.PENDING:
        return False
    planned_at = record.webhook.attempts[-1].next_attempt_at if record.webhook.attempts_in_round else None
    return max(record.updated_at, planned_at or "") < timestamp(now - OVERDUE_AFTER)


def _connection_ids(store: OverdueStore) -> Iterator[str]:
    for app_id in store.app_ids():
        yield from store.connection_ids_of(app_id)


def shuffled(ids: Iterable[str], run: str) -> list[str]:
    """Return ids in an order that differs from run to run."""
    return sorted(ids, key=lambda connection_id: hashlib.sha256(f"{run}{connection_id}".encode()).digest())


def _recent_days(store: OverdueStore, connection_id: str, now: datetime) -> Sequence[DayCounts]:
    """Return the counts of a connection's last days. There are none if it was deleted."""
    try:
        return store.day_counts(connection_id, day_of(timestamp(now - DAYS)))
    except NotFound:
        return ()


def _overdue_records(
    store: OverdueStore, connection_id: str, days: Iterable[DayCounts], clock: Clock
) -> Iterator[QueuedRequest]:
    now = clock()
    last_day = day_of(timestamp(now - OVERDUE_AFTER))
    for counts in days:
        pending = {pair: number for pair, number in counts.updated.items() if number > 0 and _may_be_overdue(pair)}
        if not pending or counts.day > last_day:
            continue
        entries = store.all_index_entries(IndexDays(connection_id, UPDATED, counts.day, counts.day, pending), ())
        for request_id in shuffled((entry.id for entry in entries), timestamp(now))[:RECORDS_A_DAY]:
            record = store.request(request_id)
            # The index lags, and a record whose next attempt is planned is not overdue.
            if isinstance(record, QueuedRequest) and is_overdue(record, now):
                yield record


def _may_be_overdue(pair: Pair) -> bool:
    state, webhook_state = pair
    return state in ENDED and webhook_state.webhook_state is WebhookState.PENDING


def plan_attempt(store: OverdueStore, retries: RetryQueue, record: QueuedRequest, now: datetime) -> bool:
    """Plan the next attempt of an overdue record, and change the record, so that it is not overdue for the next hour.

    Return False if another attempt was recorded meanwhile or the database is not available.
    If the planned attempt still has another message, the one that arrives second is dropped.
    """
    try:
        retries.plan(PlannedAttempt.of(record, record.webhook.attempts_in_round, now))
        store.commit(ChangeRequest(record, record.with_webhook(now, replace(record.webhook, error=OVERDUE))))
    except Conflict:  # another attempt was just recorded
        return False
    except (TooManyRequests, Unavailable):  # the next run plans it again
        return False
    return True
