"""Ends requests that were not sent by their `send_by`, and their dependants."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from domain.batches.dependants import with_dependants
from domain.errors import Conflict, TooManyRequests, Unavailable
from domain.maintenance.failures import attempted, raising
from domain.records.request import IN_FLIGHT
from domain.storage.changes import Put
from domain.web_connector.outcomes.outcome import RequestUpdate

if TYPE_CHECKING:
    from datetime import datetime

    from domain.maintenance.failures import OnFailure
    from domain.ports import Clock
    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change
    from domain.storage.ports import LateStore


def end_late_requests(
    store: LateStore, clock: Clock, until: datetime, on_failure: OnFailure = raising
) -> tuple[int, bool]:
    """End late requests until `until`. Return the number of those that ended, and whether all were tried.

    May stop anywhere and run again at any time. A request that cannot be ended is left to the next run.
    """
    return attempted(partial(_end, store, clock, until, on_failure), (0, False), on_failure, task="end_late")


def _end(store: LateStore, clock: Clock, until: datetime, on_failure: OnFailure) -> tuple[int, bool]:
    ended = 0
    for record in store.late_requests(clock()):
        if clock() >= until:
            return ended, False
        facts = {"request_id": record.id, "connection_id": record.connection_id}
        ended += attempted(partial(_end_one, store, record, clock()), False, on_failure, task="end_late", **facts)
    return ended, True


def _end_one(store: LateStore, record: QueuedRequest, now: datetime) -> bool:
    """End a late request. If a session holds it but has not sent it, the session continues without it."""
    (stored,) = store.with_request_xml([record])
    changes: list[Change] = [RequestUpdate(record.not_sent_in_time(now)).change(stored)]
    if record.state in IN_FLIGHT:
        session = store.session(record.claim.session_id or "")
        if session is None or session.ids_in_flight != (record.id,):
            return False  # The next login releases it.
        changes.append(Put(session, session.without_request()))
    try:
        store.commit(*with_dependants(store, changes, now))
    except (Conflict, TooManyRequests, Unavailable):
        # A session has just claimed or sent it, or it was discarded. The next sweep looks again.
        return False
    return True
