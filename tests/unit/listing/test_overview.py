"""Overviews add up the statistics of connections, and are bounded for an app of any size."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import NotFound
from domain.listing import overview
from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS, Overviews
from domain.records.request import State
from domain.records.webhook import ListedWebhookState, Webhook, WebhookAttempt, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.statistics import BOUNDS, Durations, Series, Slot
from domain.timestamps import timestamp
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.storage.counts import DayCounts


def connection_id(number: int) -> str:
    """Return the id of a connection."""
    return f"c0000000-0000-4000-8000-{number:012}"


def store_with(connections: int) -> FakeStore:
    """Return a store with an app of so many connections."""
    store = FakeStore()
    for number in range(connections):
        store.commit(Put(None, a_connection(id=connection_id(number))))
    return store


def end(store: FakeStore, at: datetime, state: State, connection: str = CONNECTION_ID, url: str = "") -> QueuedRequest:
    """Store a request that was queued an hour before and has ended. With a URL, its webhook failed."""
    queued = timestamp(at - timedelta(hours=1))
    record = a_record(connection_id=connection, inserted_at=queued, updated_at=queued, webhook=Webhook.to(url or None))
    sent = record.claimed("", at).sent(at).as_change_of(record)
    ended = sent.moved(state, at)
    store.commit(AddRequest(record, REQUEST_XML, ""))
    store.commit(ChangeRequest(record, sent))
    store.commit(ChangeRequest(sent, ended))
    if url:
        attempts = (WebhookAttempt(timestamp(at), "overloaded", 503),)
        failed = ended.with_webhook(
            at, replace(ended.webhook, state=WebhookState.FAILED, attempts=attempts, attempts_in_round=1)
        )
        store.commit(ChangeRequest(ended, failed))
    return record


@given(
    st.sampled_from(list(BOUNDS)),
    st.lists(st.floats(0, 1), min_size=1, max_size=50),
    st.sampled_from([0.5, 0.95]),
)
def test_a_percentile_is_exact_to_a_factor_of_the_square_root_of_2(
    series: Series, places: list[float], share: float
) -> None:
    """Durations anywhere between the first and the last bound."""
    bounds = BOUNDS[series]
    seconds = sorted(bounds[0] * (bounds[-1] / bounds[0]) ** (place * 0.999) for place in places)
    numbers: dict[Slot, int] = {}
    for duration in seconds:
        slot = Slot(series, sum(bound <= duration for bound in bounds))
        numbers[slot] = numbers.get(slot, 0) + 1
    exact = seconds[math.ceil(share * len(seconds)) - 1]

    estimate = Durations(series, numbers).percentile(share)

    assert estimate is not None
    assert exact / math.sqrt(2) <= estimate * 1.0001
    assert estimate <= exact * math.sqrt(2) * 1.0001


def test_without_durations_there_is_no_percentile() -> None:
    assert Durations(Series.WAITING_TIME, {}).percentile(0.5) is None


def test_every_hour_of_the_period_is_there_once() -> None:
    store = store_with(2)
    for age in (0, 1, 30, 36, 37, 60):
        end(store, NOON - timedelta(hours=age), State.ERROR, connection_id(age % 2))

    hours = Overviews(store, FixedClock(NOON + timedelta(minutes=5))).of_app(APP_ID, 2).hours

    midnight = NOON.replace(hour=0) - timedelta(days=1)
    assert [hour.begin for hour in hours] == [timestamp(midnight + timedelta(hours=number)) for number in range(37)]
    assert [hour.begin for hour in hours if hour.error] == [
        timestamp(NOON - timedelta(hours=number)) for number in (36, 30, 1, 0)
    ]
    assert sum(hour.queued for hour in hours) == 3


def test_the_overview_of_an_app_is_that_of_its_connections_together() -> None:
    store = store_with(3)
    for number in range(3):
        for _ in range(number + 1):
            end(store, NOON, State.ERROR, connection_id(number))
    waiting = timestamp(NOON - timedelta(days=9))
    oldest = a_record(connection_id=connection_id(1), inserted_at=waiting, updated_at=waiting)
    store.commit(AddRequest(oldest, REQUEST_XML, ""))

    of_app = Overviews(store, FixedClock()).of_app(APP_ID, 1)

    assert of_app.hours[-1].error == 6
    assert of_app.durations(Series.WAITING_TIME).total == 6
    assert [connection.total(Series.ERROR) for connection in of_app.connections] == [1, 2, 3]
    assert of_app.oldest_queued == oldest
    assert of_app.omitted == 0


def test_receivers_are_grouped_by_origin_without_credentials() -> None:
    store = store_with(2)
    for number, url in enumerate(
        ["https://user:pass@a.example/x?token=1", "https://a.example/y", "https://b.example/"]
    ):
        end(store, NOON, State.RESPONSE_RECEIVED, connection_id(number % 2), url)
    end(store, NOON - timedelta(days=3), State.RESPONSE_RECEIVED, connection_id(0), "https://earlier.example/")

    of_app = Overviews(store, FixedClock()).of_app(APP_ID, 2)

    assert [(receiver.origin, receiver.records) for receiver in of_app.failing_receivers] == [
        ("https://a.example", 2),
        ("https://b.example", 1),
    ]
    last_attempt = of_app.failing_receivers[0].last_attempt
    assert last_attempt
    assert last_attempt.status_code == 503
    assert of_app.webhooks[ListedWebhookState.FAILED] == 3


@pytest.mark.parametrize(
    ("last_call", "paused", "stopped"),
    [
        (timedelta(hours=25), False, True),
        (timedelta(days=400), False, True),
        (timedelta(hours=23), False, False),
        (timedelta(hours=25), True, False),
        (None, False, False),
    ],
)
def test_a_machine_has_stopped_calling_after_a_day_unless_it_is_paused(
    last_call: timedelta | None, paused: bool, stopped: bool
) -> None:
    store = FakeStore()
    called = None if last_call is None else timestamp(NOON - last_call)
    connection = a_connection(last_connected_at=called, paused_at=timestamp(NOON) if paused else None)
    store.commit(Put(None, connection))

    (read,) = Overviews(store, FixedClock()).of_app(APP_ID, 1).connections

    assert read.has_stopped_calling is stopped


def test_connections_beyond_the_first_1000_are_counted_as_omitted() -> None:
    of_app = Overviews(store_with(MAX_CONNECTIONS + 7), FixedClock()).of_app(APP_ID, 1)

    assert [connection.connection.id for connection in of_app.connections] == [
        connection_id(number) for number in range(MAX_CONNECTIONS)
    ]
    assert of_app.omitted == 7


class SlowStore(FakeStore):
    """Each read of counts takes a second."""

    def __init__(self, clock: FixedClock) -> None:
        super().__init__()
        self.clock = clock

    def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
        """Advance the clock."""
        with self._lock:
            self.clock.advance(seconds=1)
            return super().day_counts(connection_id, first_day, sort)


def test_connections_that_cannot_be_read_in_time_are_counted_as_omitted() -> None:
    clock = FixedClock()
    store = SlowStore(clock)
    for number in range(100):
        store.commit(Put(None, a_connection(id=connection_id(number))))

    of_app = Overviews(store, clock).of_app(APP_ID, 1)

    # Each reader may have begun one more before the time was over.
    assert MAX_SECONDS <= len(of_app.connections) <= MAX_SECONDS + overview.PARALLEL_CONNECTIONS
    assert of_app.omitted == 100 - len(of_app.connections)


def test_a_connection_that_is_deleted_meanwhile_is_left_out() -> None:
    store = store_with(2)

    class Deleting(FakeStore):
        """Deletes a connection after the list of connections was read."""

        def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
            """Read, then delete."""
            found = super().connections_of(app_id, offset, limit)
            stored = self.connections[connection_id(0)]
            self.commit(Put(stored, stored.removed(timestamp(NOON))))
            return found

    deleting = Deleting()
    deleting.connections = store.connections

    of_app = Overviews(deleting, FixedClock()).of_app(APP_ID, 1)

    assert [read.connection.id for read in of_app.connections] == [connection_id(1)]
    assert of_app.omitted == 1


def test_the_connection_of_another_app_is_not_found() -> None:
    store = FakeStore()
    store.commit(Put(None, replace(a_connection(), app_id=OTHER_APP_ID)))

    with pytest.raises(NotFound):
        Overviews(store, FixedClock()).of_connection(APP_ID, CONNECTION_ID, 2)
