"""What failed in an app: requests by cause, and webhooks by receiver.

Nothing is stored for it. The counts of each connection tell whether anything failed in the range of time. Then the
newest entries of the index by last change are read, and their records. The answer names each connection that was not
read, or not to the beginning of the range, so it never counts too few without a word.

Whether a request was queued again is not stored either. The id of its successor follows from its own, so one more batch
for each batch of failures tells it.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import NotFound
from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS, PARALLEL_CONNECTIONS
from domain.records.request import ENDED, State, WhetherExecuted
from domain.records.successor import id_again, may_be_queued_again
from domain.records.webhook import FAILING
from domain.storage.counts import UPDATED
from domain.storage.ports import IndexDays
from domain.timestamps import day_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.request import Pair, QueuedRequest
    from domain.storage.ports import FailureStore, IndexEntry
    from domain.timestamps import TimeRange

MAX_GROUPS = 1_000
"""The number of causes in an answer, and of receivers: the largest ones."""

MAX_RECORDS = 1_000
"""The number of records that are read for a connection, those that changed last."""

RECORDS_PER_READ = 100
"""Maximum number of items that DynamoDB returns in one batch."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Requests of a connection that failed for the same cause, or whose webhook failed at the same receiver.

    `name` is the cause or the receiver. `first_at` and `last_at` are timestamps. Those of a cause are the first and the
    last failure of its requests. Those of a receiver are the first failed attempt that a record keeps, and the last
    attempt. `messages` is the number of different error messages.
    `queued_again` is the number of requests that were queued again since, and `repeatable` of those that a bulk action
    would queue again now. `failed_again` is the number of the others that are copies of failures of the report.
    `unknown` is the number of writes that QuickBooks may have executed.
    """

    name: str
    connection: Connection
    requests: int
    first_at: str
    last_at: str
    newest: QueuedRequest
    messages: int = 1
    queued_again: int = 0
    failed_again: int = 0
    repeatable: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class IncompleteConnection:
    """A connection of which nothing was read, or only what changed after `complete_after` (a timestamp)."""

    connection: Connection
    complete_after: str | None


@dataclass(frozen=True, slots=True)
class FailureReport:
    """What failed in a range of time. The largest groups come first.

    `incomplete` names the connections that were not read to the end, and `omitted` is the number of those that are not
    even named, because the app has too many. `omitted_groups` is the number of groups behind the largest ones.
    """

    causes: Sequence[FailureGroup]
    receivers: Sequence[FailureGroup]
    incomplete: Sequence[IncompleteConnection] = ()
    omitted: int = 0
    omitted_groups: int = 0


@dataclass(frozen=True, slots=True)
class _Read:
    """The failures that were read of a connection, and what is missing. `replaced` are the ids of the successors."""

    connection: Connection
    records: Sequence[QueuedRequest] = ()
    replaced: Collection[str] = ()
    incomplete: IncompleteConnection | None = None


@dataclass(frozen=True, slots=True)
class _Failure:
    """A request and the name of its group, or None if it belongs to none. It failed between two timestamps.

    `is_copy`: it was queued in place of another failure of the report.
    """

    name: str | None
    connection: Connection
    record: QueuedRequest
    first_at: str
    last_at: str
    was_queued_again: bool
    is_copy: bool

    @property
    def message(self) -> str | None:
        return self.record.error.message if self.record.error else None

    @property
    def may_be_queued_again(self) -> bool:
        return not self.was_queued_again and may_be_queued_again(self.record)


class FailureReports:
    """Reads what failed in the oldest MAX_CONNECTIONS connections of an app, for MAX_SECONDS."""

    def __init__(self, store: FailureStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def of_app(self, app_id: str, within: TimeRange) -> FailureReport:
        """Return what failed in requests that changed last in this range, which has a beginning."""
        deadline = self._clock() + timedelta(seconds=MAX_SECONDS)
        connections, total = self._store.connections_of(app_id, 0, MAX_CONNECTIONS)
        with ThreadPoolExecutor(PARALLEL_CONNECTIONS) as readers:
            read = list(readers.map(lambda connection: self._read(connection, within, deadline), connections))
        failed = [
            (one.connection, record, (id_again(record.id) in one.replaced, record.id in one.replaced))
            for one in read
            for record in one.records
        ]
        causes = _groups(
            _Failure(record.cause, connection, record, at := _failed_at(record), at, *copies)
            for connection, record, copies in failed
        )
        receivers = _groups(
            _Failure(record.webhook.receiver, connection, record, *_first_and_last_attempt(record), *copies)
            for connection, record, copies in failed
            if record.webhook.listed_state in FAILING
        )
        return FailureReport(
            causes[:MAX_GROUPS],
            receivers[:MAX_GROUPS],
            [one.incomplete for one in read if one.incomplete],
            total - len(connections),
            sum(max(len(groups) - MAX_GROUPS, 0) for groups in (causes, receivers)),
        )

    def _read(self, connection: Connection, within: TimeRange, deadline: datetime) -> _Read:
        """Read the newest failures of a connection."""
        if self._clock() >= deadline:
            return _Read(connection, incomplete=IncompleteConnection(connection, None))
        try:
            entries = self._entries(connection.id, within)
        except NotFound:  # it was deleted meanwhile
            return _Read(connection)
        records: list[QueuedRequest] = []
        replaced: set[str] = set()
        for at in range(0, min(len(entries), MAX_RECORDS), RECORDS_PER_READ):
            if self._clock() >= deadline:
                missing = IncompleteConnection(connection, entries[at - 1].moment if at else None)
                return _Read(connection, records, replaced, missing)
            part = [entry.id for entry in entries[at : min(at + RECORDS_PER_READ, MAX_RECORDS)]]
            # The index may lag, so its entries may be of records that have changed.
            found = [
                record
                for record in self._store.records_by_id(part, may_lag=True)
                if _is_failure(record) and record.updated_at in within
            ]
            records += found
            replaced.update(self._successors(found))
        if len(entries) <= MAX_RECORDS:
            return _Read(connection, records, replaced)
        missing = IncompleteConnection(connection, entries[MAX_RECORDS - 1].moment)
        return _Read(connection, records, replaced, missing)

    def _successors(self, records: Sequence[QueuedRequest]) -> Collection[str]:
        """Return the ids of the requests that were queued in place of those that failed, with one read."""
        ids = [id_again(record.id) for record in records if record.state is State.ERROR]
        return self._store.ids_in_use(ids, may_lag=True) if ids else ()

    def _entries(self, connection_id: str, within: TimeRange) -> Sequence[IndexEntry]:
        """Return the newest entries of failures, one more than are read if there are more."""
        days = [
            day
            for day in self._store.day_counts(connection_id, day_of(within.first), sort=UPDATED)
            if within.end is None or day.day <= day_of(within.end)
        ]
        numbers: Counter[Pair] = Counter()
        for day in days:
            numbers.update({pair: number for pair, number in day.updated.items() if _is_of_failures(pair)})
        pairs = {pair: number for pair, number in numbers.items() if number > 0}
        if not pairs:
            return ()
        index_days = IndexDays(connection_id, UPDATED, days[0].day, days[-1].day, pairs, within)
        return self._store.index_entries(index_days, descending=True, skip=0, limit=MAX_RECORDS + 1)


def _is_of_failures(pair: Pair) -> bool:
    state, webhook_state = pair
    return state is State.ERROR or (state in ENDED and webhook_state in FAILING)


def _is_failure(record: QueuedRequest) -> bool:
    return _is_of_failures((record.state, record.webhook.listed_state))


def _failed_at(record: QueuedRequest) -> str:
    """Return when QuickBooks answered: a webhook changes the record later. Without an answer, its last change."""
    return record.responded_at or record.updated_at


def _first_and_last_attempt(record: QueuedRequest) -> tuple[str, str]:
    """Return when the first failed webhook attempt began that the record keeps, and when the last attempt began."""
    attempts = record.webhook.attempts
    failed = [attempt.attempted_at for attempt in attempts if not attempt.succeeded]
    last = attempts[-1].attempted_at if attempts else record.updated_at
    return min(failed, default=last), last


def _groups(failures: Iterable[_Failure]) -> list[FailureGroup]:
    """Return failures as groups, the largest first."""
    together: dict[tuple[str, str], list[_Failure]] = {}
    for failure in failures:
        if failure.name is not None:
            together.setdefault((failure.name, failure.connection.id), []).append(failure)
    groups = []
    for (name, _), members in together.items():
        newest = max(members, key=lambda member: (member.last_at, member.record.id))
        first_at = min(member.first_at for member in members)
        groups.append(
            FailureGroup(
                name,
                newest.connection,
                len(members),
                first_at,
                newest.last_at,
                newest.record,
                messages=len({member.message for member in members}),
                queued_again=sum(member.was_queued_again for member in members),
                failed_again=sum(member.is_copy and not member.was_queued_again for member in members),
                repeatable=sum(member.may_be_queued_again for member in members),
                unknown=sum(member.record.executed is WhetherExecuted.UNKNOWN for member in members),
            )
        )
    return sorted(groups, key=lambda group: (-group.requests, group.name, group.connection.id))
