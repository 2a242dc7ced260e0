"""Exact counts of a connection's records, by day and by pair of state and webhook state.

Each record is counted twice: on the day it was inserted and on the day it was last updated. Lists use these counts to
find the day on which a page begins (`domain.listing.lists`). A record in flight is counted as before its claim, so a
claim and the sending change no counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.records.connection import Connection
from domain.records.request import State
from domain.records.webhook import AWAITING_APPROVAL
from domain.storage.changes import AddRequest, ChangeRequest, ForgetRequest, Put, RemoveRequest
from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from domain.records.request import Pair, QueuedRequest
    from domain.records.webhook import ListedWebhookState
    from domain.storage.changes import Change
    from domain.storage.statistics import Slot

INSERTED = "inserted_at"
UPDATED = "updated_at"

CLOCK_TOLERANCE = timedelta(hours=1)
"""How much the clocks of two processes may differ, together with the time that a commit takes."""

_REQUIRED = ("webhook_url", "approval", "deleted_at")
"""What of a connection `RequireConnection` requires."""


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The number of records of one day for each pair, by insertion and by last update, and the day's statistics."""

    day: str
    inserted: Mapping[Pair, int] = field(default_factory=dict)
    updated: Mapping[Pair, int] = field(default_factory=dict)
    statistics: Mapping[Slot, int] = field(default_factory=dict)

    def of(self, sort: str) -> Mapping[Pair, int]:
        """Return the counts by insertion or by last update; `sort` is INSERTED or UPDATED."""
        return self.inserted if sort == INSERTED else self.updated


@dataclass(frozen=True, slots=True)
class CountKey:
    """Identifies one count."""

    connection_id: str
    day: str
    sort: str
    state: State
    webhook_state: ListedWebhookState


def records_by_state(
    days: Iterable[DayCounts], in_flight: Iterable[QueuedRequest], sort: str = INSERTED
) -> Mapping[State, int]:
    """Return the number of a connection's records in each state. `in_flight` are its records in flight."""
    total: Counter[State] = Counter()
    for day in days:
        for (state, _), records in day.of(sort).items():
            total[state] += records
    for record in in_flight:
        total[record.listed_pair[0]] -= 1
        total[record.state] += 1
    return {state: max(total[state], 0) for state in State}


def awaiting_approval(days: Iterable[DayCounts], sort: str = INSERTED) -> int:
    """Return the number of a connection's records that wait for approval."""
    pairs = (item for day in days for item in day.of(sort).items())
    return max(sum(number for (_, webhook_state), number in pairs if webhook_state in AWAITING_APPROVAL), 0)


def count_changes(changes: Iterable[Change]) -> Mapping[CountKey, int]:
    """Return the change of each count that `changes` cause. Counts that do not change are left out."""
    total: Counter[CountKey] = Counter()
    for change in changes:
        match change:
            case AddRequest(record=record):
                _count(total, record, 1)
            case ChangeRequest(before=before, after=after):
                _count(total, before, -1)
                _count(total, after, 1)
            case RemoveRequest(before=before) | ForgetRequest(before=before):
                _count(total, before, -1)
            case _:
                pass
    return {key: change for key, change in total.items() if change}


def marked_days(changes: Iterable[Change]) -> Mapping[tuple[str, str], Connection]:
    """Return the days whose counts tell that a connection was changed, with the connection, by its id and the day.

    If `changes` change what `RequireConnection` requires, these are the days on which a request can be queued now. A
    new connection has no counts yet.
    """
    days: dict[tuple[str, str], Connection] = {}
    for change in changes:
        match change:
            case Put(before=Connection() as before, after=Connection() as after):
                if any(getattr(before, name) != getattr(after, name) for name in _REQUIRED):
                    moment = datetime.fromisoformat(after.updated_at)
                    for time in (moment - CLOCK_TOLERANCE, moment + CLOCK_TOLERANCE):
                        days[after.id, day_of(timestamp(time))] = after
            case _:
                pass
    return days


def _count(total: Counter[CountKey], record: QueuedRequest, change: int) -> None:
    for sort, at in ((INSERTED, record.inserted_at), (UPDATED, record.listed_updated_at)):
        total[CountKey(record.connection_id, day_of(at), sort, *record.listed_pair)] += change
