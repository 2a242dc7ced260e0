"""Finds writes whose outcome is unknown and that the stream has not settled.

QuickBooks may still have been executing them when they ended, too many queries of their connection waited, or a step
failed. A sparse index has their ids. Most of the others wait for a machine that is switched off, perhaps
thousands after a restore. Their records and queries are read in batches, so that a step is taken only for those that
are due.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from domain.errors import TooManyRequests, Unavailable
from domain.maintenance.failures import attempted, raising
from domain.maintenance.overdue_webhooks import shuffled
from domain.records.request import ENDED
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.maintenance.failures import OnFailure
    from domain.ports import Clock
    from domain.records.request import QueuedRequest
    from domain.settling.service import SettlingService
    from domain.storage.ports import SettlingStore

WRITES_A_SWEEP = 5_000
"""How many writes a sweep looks at, in 100 reads. If there are more, each looks at different ones."""

BATCH = 100
"""How many of them are read together. One read returns as many."""


def settle_writes(
    store: SettlingStore, settling: SettlingService, clock: Clock, until: datetime, on_failure: OnFailure = raising
) -> tuple[int, bool]:
    """Take the next step for unsettled writes until `until`. Return the number of steps, and whether it looked at all.

    May stop anywhere and run again at any time. A write that cannot be handled is left to the next run.
    """
    return attempted(partial(_settle, store, settling, clock, until, on_failure), (0, False), on_failure, task="settle")


def _settle(
    store: SettlingStore, settling: SettlingService, clock: Clock, until: datetime, on_failure: OnFailure
) -> tuple[int, bool]:
    ids, steps = shuffled(store.unsettled_ids(), timestamp(clock())), 0
    full: set[str] = set()
    nothing: list[QueuedRequest] = []
    for start in range(0, min(len(ids), WRITES_A_SWEEP), BATCH):
        if clock() >= until:
            return steps, False
        batch = partial(_due, store, ids[start : start + BATCH], timestamp(clock()))
        for write in attempted(batch, nothing, on_failure, task="settle"):
            if clock() >= until:
                return steps, False
            if write.settling.times or write.connection_id not in full:
                step = partial(_proceed, settling, write, full)
                steps += attempted(step, False, on_failure, task="settle", request_id=write.id)
    return steps, len(ids) <= WRITES_A_SWEEP


def _due(store: SettlingStore, ids: Sequence[str], moment: str) -> list[QueuedRequest]:
    """Return the writes that QuickBooks can be asked about now, and those whose query has ended.

    Of several queries, which are next to each other in the queue, the first one is looked at.
    """
    writes = store.records_by_id(ids, may_lag=True)
    query_ids = [write.settling_query_id for write in writes if write.settling_query_id]
    queries = store.records_by_id(query_ids, may_lag=True)
    waiting = {query.settles for query in queries if query.state not in ENDED}
    return [write for write in writes if write.id not in waiting and not write.may_be_running(moment)]


def _proceed(settling: SettlingService, write: QueuedRequest, full: set[str]) -> bool:
    """Take the next step for a write. Adds its connection to those of which too many queries wait already."""
    try:
        return settling.proceed(write.id) is not None
    except TooManyRequests:
        full.add(write.connection_id)
    except Unavailable:
        pass  # A later run tries again.
    return False
