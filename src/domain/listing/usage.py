"""Usage: how many requests, writes and failures the connections of an app had, by month, and how long they took.

It is read from the totals of months and from the statistics of the last days, which the sweep has not moved to a month
yet. A day that is moved during the read is counted once, because the totals name their days and are read last.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import NotFound
from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS, PARALLEL_CONNECTIONS
from domain.storage.statistics import Durations, Series, Slot, month_of, totals_of
from domain.timestamps import day_of, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.storage.ports import UsageStore

MAX_MONTHS = 24
"""Two years, the current month included."""

UNMOVED_DAYS = timedelta(days=35)
"""The sweep moves the statistics of a day after eight days, and looks at the last 35 days."""


@dataclass(frozen=True, slots=True)
class MonthOfUse:
    """The numbers of a month: requests that were queued, writes among them, and requests that ended in an error."""

    month: str
    requests: int
    writes: int
    failures: int


@dataclass(frozen=True, slots=True)
class ConnectionUse:
    """The use of a connection in some months. A month in which no request was queued or ended is left out."""

    connection: Connection
    months: Sequence[MonthOfUse] = ()
    numbers: Mapping[Slot, int] = field(default_factory=dict)

    def durations(self, series: Series) -> Durations:
        """Return the distribution of a series in all of these months."""
        return Durations(series, self.numbers)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The use of an app. `unread` are connections that were not read, and `omitted` is the number of further ones."""

    connections: Sequence[ConnectionUse]
    unread: Sequence[Connection] = ()
    omitted: int = 0


class UsageReports:
    """Reads the use of the oldest MAX_CONNECTIONS connections of an app, for MAX_SECONDS."""

    def __init__(self, store: UsageStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def of_app(self, app_id: str, first_month: str, last_month: str) -> UsageReport:
        """Return the use from one month to another one (inclusive), such as `2026-03`."""
        deadline = self._clock() + timedelta(seconds=MAX_SECONDS)
        connections, total = self._store.connections_of(app_id, 0, MAX_CONNECTIONS)

        def read(connection: Connection) -> ConnectionUse | None:
            return None if self._clock() >= deadline else self._read(connection, first_month, last_month)

        with ThreadPoolExecutor(PARALLEL_CONNECTIONS) as readers:
            uses = list(readers.map(read, connections))
        return UsageReport(
            [use for use in uses if use],
            [connection for connection, use in zip(connections, uses, strict=True) if use is None],
            total - len(connections),
        )

    def _read(self, connection: Connection, first_month: str, last_month: str) -> ConnectionUse:
        try:
            days = self._store.day_counts(connection.id, day_of(timestamp(self._clock() - UNMOVED_DAYS)))
        except NotFound:  # it was deleted meanwhile
            return ConnectionUse(connection)
        months: dict[str, Counter[Slot]] = {}
        moved: set[str] = set()
        for totals in self._store.month_totals(connection.id, first_month):
            months[totals.month] = Counter(totals.numbers)
            moved |= totals.days
        for day in days:
            if day.statistics and day.day not in moved:
                months.setdefault(month_of(day.day), Counter()).update(totals_of(day.statistics))
        chosen = {month: months[month] for month in sorted(months) if first_month <= month <= last_month}
        return ConnectionUse(
            connection,
            [_month(month, numbers) for month, numbers in chosen.items()],
            sum(chosen.values(), Counter()),
        )


def _month(month: str, numbers: Mapping[Slot, int]) -> MonthOfUse:
    requests, writes, failures = (
        numbers.get(Slot(series, 0), 0) for series in (Series.QUEUED, Series.WRITE, Series.ERROR)
    )
    return MonthOfUse(month, requests, writes, failures)


def months_before(month: str, number: int) -> str:
    """Return the month that is so many months before another one."""
    months = int(month[:4]) * 12 + int(month[5:]) - 1 - number
    return f"{months // 12:04}-{months % 12 + 1:02}"
