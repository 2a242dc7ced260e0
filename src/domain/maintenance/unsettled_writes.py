"""Finds writes whose outcome is unknown and that the stream has not settled.

QuickBooks may still have been executing them when they ended, too many queries of their connection waited, or a step
failed. A sparse index has their ids.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from domain.errors import TooManyRequests, Unavailable
from domain.maintenance.failures import attempted, raising
from domain.maintenance.overdue_webhooks import shuffled
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from domain.maintenance.failures import OnFailure
    from domain.ports import Clock
    from domain.settling.service import SettlingService
    from domain.storage.ports import SettlingStore

WRITES_A_SWEEP = 200
"""How many writes a sweep looks at. Each looks at different ones, because most of them may wait for QuickBooks."""


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
    for write_id in ids[:WRITES_A_SWEEP]:
        if clock() >= until:
            return steps, False
        step = partial(_proceed, settling, write_id)
        steps += attempted(step, False, on_failure, task="settle", request_id=write_id)
    return steps, len(ids) <= WRITES_A_SWEEP


def _proceed(settling: SettlingService, write_id: str) -> bool:
    try:
        return settling.proceed(write_id) is not None
    except (TooManyRequests, Unavailable):
        return False  # Many queries of its connection wait, for example. A later run tries again.
