"""The overview of a connection, and of all connections of an app.

It is read from the counts and statistics of the last days, from the front of the queue, and, for a connection with
webhooks that failed, from the newest of their records. Its cost does not depend on the number of requests. The overview
of an app reads that for each connection, so it is bounded by a number of connections and by time, and says how many it
left out.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.errors import NotFound
from domain.records.ownership import owned_connection
from domain.records.request import ENDED
from domain.records.webhook import FAILING, ListedWebhookState
from domain.storage.counts import UPDATED
from domain.storage.ports import IndexDays
from domain.storage.statistics import HOURS_A_DAY, Durations, Series, Slot, first_day
from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.request import Pair, QueuedRequest
    from domain.records.webhook import WebhookAttempt
    from domain.storage.counts import DayCounts
    from domain.storage.ports import OverviewStore

MAX_CONNECTIONS = 1_000
MAX_SECONDS = 10
"""The overview of an app includes this many connections, and as many as it can read in this time. Each takes two calls
of the database, or a few more."""

PARALLEL_CONNECTIONS = 16

RECORDS_OF_FAILURES = 10
"""The number of records with a failed webhook that are read for a connection, the newest first."""


@dataclass(frozen=True, slots=True)
class Hour:
    """The number of requests that were queued in an hour, and of those that ended in it. `begin` is a timestamp."""

    begin: str
    queued: int
    response_received: int
    error: int


@dataclass(frozen=True, slots=True)
class FailingReceiver:
    """A receiver that the newest of the failed webhooks were sent to: its origin and its last failed attempt.

    `records` is the number of these records, at most RECORDS_OF_FAILURES for each connection.
    """

    origin: str
    records: int
    last_attempt: WebhookAttempt | None


@dataclass(frozen=True, slots=True)
class ConnectionOverview:
    """What was read of a connection. `webhooks` counts the requests that changed last in the period and have ended."""

    connection: Connection
    statistics: Mapping[str, Mapping[Slot, int]] = field(default_factory=dict)
    webhooks: Mapping[ListedWebhookState, int] = field(default_factory=dict)
    oldest_queued: QueuedRequest | None = None
    failures: Sequence[QueuedRequest] = ()
    has_stopped_calling: bool = False

    def total(self, series: Series) -> int:
        """Return the number of a series in the period."""
        days = self.statistics.values()
        return sum(number for slots in days for slot, number in slots.items() if slot.series is series)


@dataclass(frozen=True, slots=True)
class Overview:
    """The overview of connections, from the first moment of the UTC day `first_day` to `now`.

    `omitted` is the number of connections that were not read.
    """

    first_day: str
    now: str
    connections: Sequence[ConnectionOverview]
    omitted: int = 0

    @property
    def hours(self) -> list[Hour]:
        """Every hour of the period, the current one last."""
        totals = self._totals()
        first = datetime.fromisoformat(f"{self.first_day}T00:00:00Z")
        number = int((datetime.fromisoformat(self.now) - first).total_seconds() // 3600) + 1
        hours = []
        for index in range(number):
            day = day_of(timestamp(first + timedelta(hours=index)))
            numbers = [
                totals.get(day, Counter()).get(Slot(series, index % HOURS_A_DAY), 0)
                for series in (Series.QUEUED, Series.RESPONSE_RECEIVED, Series.ERROR)
            ]
            hours.append(Hour(timestamp(first + timedelta(hours=index)), *numbers))
        return hours

    def durations(self, series: Series) -> Durations:
        """Return the distribution of a series."""
        total: Counter[Slot] = Counter()
        for slots in self._totals().values():
            total.update(slots)
        return Durations(series, total)

    @property
    def webhooks(self) -> Mapping[ListedWebhookState, int]:
        """The numbers of webhooks by their state."""
        total: Counter[ListedWebhookState] = Counter()
        for connection in self.connections:
            total.update(connection.webhooks)
        return total

    @property
    def oldest_queued(self) -> QueuedRequest | None:
        """The request that has been in a queue for the longest time."""
        queued = [connection.oldest_queued for connection in self.connections if connection.oldest_queued]
        return min(queued, key=lambda record: record.inserted_at, default=None)

    @property
    def failing_receivers(self) -> list[FailingReceiver]:
        """The receivers of the newest failed webhooks, the one with most of them first."""
        return failing_receivers(record for connection in self.connections for record in connection.failures)

    def _totals(self) -> Mapping[str, Counter[Slot]]:
        totals: dict[str, Counter[Slot]] = {}
        for connection in self.connections:
            for day, slots in connection.statistics.items():
                totals.setdefault(day, Counter()).update(slots)
        return totals


class Overviews:
    """Reads overviews of the last `days` days, which include today (UTC)."""

    def __init__(self, store: OverviewStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def of_connection(self, app_id: str, connection_id: str, days: int) -> Overview:
        """Return the overview of a connection. Raises NotFound."""
        now = self._clock()
        connection = owned_connection(self._store.connection(connection_id), app_id)
        first = first_day(now, days)
        return Overview(first, timestamp(now), [self._read(connection, first, now)])

    def of_app(self, app_id: str, days: int) -> Overview:
        """Return the overview of an app's oldest MAX_CONNECTIONS connections. Stops reading after MAX_SECONDS."""
        now = self._clock()
        first, deadline = first_day(now, days), now + timedelta(seconds=MAX_SECONDS)
        connections, total = self._store.connections_of(app_id, 0, MAX_CONNECTIONS)

        def read(connection: Connection) -> ConnectionOverview | None:
            try:
                return self._read(connection, first, now) if self._clock() < deadline else None
            except NotFound:  # it was deleted meanwhile
                return None

        with ThreadPoolExecutor(PARALLEL_CONNECTIONS) as readers:
            overviews = [overview for overview in readers.map(read, connections) if overview]
        return Overview(first, timestamp(now), overviews, total - len(overviews))

    def _read(self, connection: Connection, first: str, now: datetime) -> ConnectionOverview:
        days = self._store.day_counts(connection.id, first)
        return ConnectionOverview(
            connection,
            {day.day: day.statistics for day in days},
            _webhooks(days),
            self._store.oldest_queued(connection.id),
            self._failures(connection.id, days),
            connection.has_stopped_calling(now),
        )

    def _failures(self, connection_id: str, days: Sequence[DayCounts]) -> Sequence[QueuedRequest]:
        """Return the newest records whose webhook failed. The index may lag, so others are left out."""
        numbers: Counter[Pair] = Counter()
        for day in days:
            numbers.update({pair: n for pair, n in day.updated.items() if pair[0] in ENDED and pair[1] in FAILING})
        pairs = {pair: number for pair, number in numbers.items() if number > 0}
        if not pairs:
            return ()
        index_days = IndexDays(connection_id, UPDATED, days[0].day, days[-1].day, pairs)
        entries = self._store.index_entries(index_days, descending=True, skip=0, limit=RECORDS_OF_FAILURES)
        records = self._store.records_by_id([entry.id for entry in entries])
        return [record for record in records if record.webhook.listed_state in FAILING]


def _webhooks(days: Iterable[DayCounts]) -> Mapping[ListedWebhookState, int]:
    total: Counter[ListedWebhookState] = Counter()
    for day in days:
        for (state, webhook_state), number in day.updated.items():
            if state in ENDED:
                total[webhook_state] += number
    return {state: max(number, 0) for state, number in total.items()}


def failing_receivers(records: Iterable[QueuedRequest]) -> list[FailingReceiver]:
    """Return the receivers of records whose webhook failed, by the origin of the URL."""
    attempts: dict[str, list[WebhookAttempt | None]] = {}
    for record in records:
        attempts.setdefault(record.webhook.receiver or "", []).append(
            record.webhook.attempts[-1] if record.webhook.attempts else None
        )
    receivers = [
        FailingReceiver(
            origin,
            len(of_origin),
            max(filter(None, of_origin), key=lambda attempt: attempt.attempted_at, default=None),
        )
        for origin, of_origin in attempts.items()
    ]
    return sorted(receivers, key=lambda receiver: (-receiver.records, receiver.origin))
