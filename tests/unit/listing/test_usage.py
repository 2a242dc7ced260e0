"""Usage by month is the number of requests, whatever the sweep has moved and moves meanwhile."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.listing import usage
from domain.listing.overview import MAX_SECONDS
from domain.listing.usage import UsageReports, months_before
from domain.maintenance.old_statistics import OldStatistics
from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.statistics import Series
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.storage.counts import DayCounts

CONNECTIONS = [f"c0000000-0000-4000-8000-{number:012}" for number in range(3)]
STRANGER = "c0000000-0000-4000-8000-0000000000ff"


class Moving(FakeStore):
    """Moves what is too old between the two reads of a report."""

    moves: bool = False

    def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
        """Return counts."""
        days = super().day_counts(connection_id, first_day, sort)
        if self.moves:
            for day in days:
                self.move_statistics(connection_id, day.day)
        return days


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60), st.booleans(), st.booleans())
def test_each_request_counts_once_in_the_month_in_which_it_was_queued_or_failed(
    seed: int, number: int, sweeps: bool, moves: bool
) -> None:
    chance, store, clock = random.Random(seed), Moving(), FixedClock(NOON - timedelta(days=100))
    expected: Counter[tuple[str, str, str]] = Counter()
    measured: Counter[str] = Counter()
    for connection in (*CONNECTIONS, STRANGER):
        app = OTHER_APP_ID if connection == STRANGER else APP_ID
        store.commit(Put(None, a_connection(id=connection, app_id=app)))
    for age in sorted((chance.uniform(0, 100) for _ in range(number)), reverse=True):
        queued = NOON - timedelta(days=age)
        if sweeps:
            clock.now = queued
            for connection in CONNECTIONS:
                OldStatistics(store, clock).look_at(connection, store.day_counts(connection))
        connection, name = chance.choice([*CONNECTIONS, STRANGER]), chance.choice(["InvoiceAddRq", "ItemQueryRq"])
        record = a_record(
            connection_id=connection,
            request_name=name,
            inserted_at=timestamp(queued),
            updated_at=timestamp(queued),
        )
        sent = record.claimed("", queued).sent(queued).as_change_of(record)
        ended = sent.moved(chance.choice([State.ERROR, State.RESPONSE_RECEIVED]), queued + timedelta(hours=1))
        store.commit(AddRequest(record, REQUEST_XML, ""))
        store.commit(ChangeRequest(record, sent))
        store.commit(ChangeRequest(sent, ended))
        expected[connection, record.inserted_at[:7], "requests"] += 1
        expected[connection, record.inserted_at[:7], "writes"] += name == "InvoiceAddRq"
        expected[connection, ended.updated_at[:7], "failures"] += ended.state is State.ERROR
        measured[connection] += 1
    store.moves = moves

    report = UsageReports(store, FixedClock(NOON + timedelta(hours=2))).of_app(APP_ID, "2025-01", "2026-12")

    assert [use.connection.id for use in report.connections] == CONNECTIONS
    found = Counter(
        {
            (use.connection.id, month.month, name): getattr(month, name)
            for use in report.connections
            for month in use.months
            for name in ("requests", "writes", "failures")
        }
    )
    own = Counter({key: value for key, value in expected.items() if key[0] != STRANGER})
    if sweeps or not number:
        assert found == own
    else:
        # Without a sweep, days that are older than it looks back are not seen. In production it runs every 5 minutes.
        assert all(value <= own[key] for key, value in found.items())
    if sweeps:
        durations = {use.connection.id: use.durations(Series.WAITING_TIME).total for use in report.connections}
        assert durations == {connection: measured[connection] for connection in CONNECTIONS}


@given(st.integers(2000, 2090), st.integers(1, 12), st.integers(0, 30))
def test_months_are_counted_backwards(year: int, month: int, number: int) -> None:
    before = months_before(f"{year}-{month:02}", number)

    assert 12 * year + month - number == 12 * int(before[:4]) + int(before[5:])
    assert 1 <= int(before[5:]) <= 12


def test_connections_that_are_not_read_are_named_or_counted() -> None:
    store, clock = FakeStore(), FixedClock(NOON)
    for connection in CONNECTIONS:
        store.commit(Put(None, a_connection(id=connection)))

    class Slow(FakeStore):
        """Takes all the time for its first read."""

        def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
            """Return counts."""
            clock.advance(seconds=MAX_SECONDS)
            return super().day_counts(connection_id, first_day, sort)

    slow = Slow()
    slow.__dict__ = store.__dict__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage, "PARALLEL_CONNECTIONS", 1)
        patch.setattr(usage, "MAX_CONNECTIONS", 2)
        report = UsageReports(slow, clock).of_app(APP_ID, "2026-01", "2026-03")

    assert [use.connection.id for use in report.connections] == CONNECTIONS[:1]
    assert [connection.id for connection in report.unread] == CONNECTIONS[1:2]
    assert report.omitted == 1
