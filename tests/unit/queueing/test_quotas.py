"""The limits of an app: the calls that they allow and refuse, and the time until calls are allowed again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.apps.quotas import RECOUNT_SECONDS, Quotas
from domain.errors import QuotaExceeded
from domain.records.app import AppLimits
from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable

WIDE = AppLimits(
    creates_per_second=10_000, waiting=1_000_000, redeliveries_per_minute=10_000, searches_per_minute=10_000
)


def quotas(store: FakeStore | None = None, clock: FixedClock | None = None) -> Quotas:
    """Return the quotas of one process."""
    return Quotas(store or FakeStore(), clock or FixedClock(), lambda: 0.0)


def creates(process: Quotas, limits: AppLimits, app_id: str = APP_ID) -> int:
    """Queue until a create is refused, and return the number of accepted ones."""
    for number in range(10_000):
        try:
            process.check_create(app_id, limits)
        except QuotaExceeded:
            return number
    raise AssertionError("no create is refused")


@pytest.mark.parametrize("limit", [0, 1, 7, 10, 95, 1000])
def test_an_app_may_queue_as_many_requests_per_second_as_its_limit(limit: int) -> None:
    clock = FixedClock()
    process, limits = quotas(clock=clock), replace(WIDE, creates_per_second=limit)

    assert creates(process, limits) == limit
    clock.advance(seconds=0.999)
    assert creates(process, limits) == 0
    clock.advance(seconds=0.001)
    assert creates(process, limits) == limit


def test_the_refusal_says_which_limit_and_when_to_call_again() -> None:
    clock = FixedClock()
    clock.advance(seconds=20.5)
    process = quotas(clock=clock)
    limits = replace(WIDE, redeliveries_per_minute=0)

    with pytest.raises(QuotaExceeded) as caught:
        process.check_redelivery(APP_ID, limits)

    assert caught.value.details == {"limit": "redeliveries_per_minute", "value": 0}
    assert caught.value.retry_after_seconds == 40


def test_another_app_is_not_affected() -> None:
    process, limits = quotas(), replace(WIDE, creates_per_second=5)
    creates(process, limits)

    assert creates(process, limits, OTHER_APP_ID) == 5


def test_processes_share_the_limit_of_an_app() -> None:
    store, limits = FakeStore(), replace(WIDE, creates_per_second=100)
    processes = [quotas(store) for _ in range(4)]

    with ThreadPoolExecutor(4) as threads:
        total = sum(threads.map(lambda process: creates(process, limits), processes))

    assert total == 100


def test_threads_of_a_process_share_its_portion() -> None:
    process, limits = quotas(), replace(WIDE, creates_per_second=100)

    with ThreadPoolExecutor(8) as threads:
        total = sum(threads.map(lambda _: creates(process, limits), range(8)))

    assert total == 100


def test_a_changed_limit_applies_to_the_next_call() -> None:
    process = quotas()
    process.check_create(APP_ID, replace(WIDE, creates_per_second=100))

    assert creates(process, replace(WIDE, creates_per_second=20)) == 20 - 10  # the first portion was 10


def test_redeliveries_are_counted_by_the_minute() -> None:
    clock = FixedClock()
    process, limits = quotas(clock=clock), replace(WIDE, redeliveries_per_minute=3)

    for _ in range(2):
        for _ in range(3):
            process.check_redelivery(APP_ID, limits)
        with pytest.raises(QuotaExceeded):
            process.check_redelivery(APP_ID, limits)
        clock.advance(minutes=1)


class Queue:
    """A store with two connections of an app, and requests that wait in them."""

    def __init__(self) -> None:
        self.store, self.clock = FakeStore(), FixedClock()
        self.connections = [a_connection(id=f"c0000000-0000-4000-8000-00000000000{number}") for number in (1, 2)]
        self.store.commit(*(Put(None, connection) for connection in self.connections))
        self.waiting = [a_record(connection_id=self.connections[number % 2].id) for number in range(6)]
        for record in self.waiting:
            self.store.commit(AddRequest(record, REQUEST_XML, ""))

    def send(self, number: int) -> None:
        """Claim waiting requests for a session."""
        for _ in range(number):
            record = self.waiting.pop()
            self.store.commit(ChangeRequest(record, record.moved(State.TICKETED, self.clock())))


def test_requests_that_wait_are_counted_when_the_limit_is_reached() -> None:
    queue, limits = Queue(), replace(WIDE, waiting=20)
    process = quotas(queue.store, queue.clock)

    # The counter does not include the 6 waiting requests until it reaches 20 and is replaced by 6.
    assert creates(process, limits) == 20 + 14


def test_when_requests_have_been_sent_as_many_may_be_queued() -> None:
    queue, limits = Queue(), replace(WIDE, waiting=6)
    process = quotas(queue.store, queue.clock)
    creates(process, limits)

    queue.send(2)
    assert creates(process, limits) == 0
    queue.clock.advance(seconds=RECOUNT_SECONDS)

    assert creates(process, limits) == 2


def test_requests_of_a_deleted_connection_do_not_wait() -> None:
    queue, limits = Queue(), replace(WIDE, waiting=6)
    process = quotas(queue.store, queue.clock)
    creates(process, limits)

    queue.store.commit(Put(queue.connections[0], queue.connections[0].removed(timestamp(NOON))))
    queue.clock.advance(seconds=RECOUNT_SECONDS)

    assert creates(process, limits) == 3


def test_the_limit_of_waiting_requests_says_when_to_call_again() -> None:
    queue = Queue()
    process = quotas(queue.store, queue.clock)
    creates(process, replace(WIDE, waiting=6))
    queue.clock.advance(seconds=2)

    with pytest.raises(QuotaExceeded) as caught:
        process.check_create(APP_ID, replace(WIDE, waiting=6))

    assert caught.value.details == {"limit": "waiting", "value": 6}
    assert caught.value.retry_after_seconds == RECOUNT_SECONDS - 2


# --- connections


def create_connections(store: FakeStore, process: Quotas, limits: AppLimits, wanted: int = 100) -> int:
    """Create connections until one is refused, and return their number."""
    for number in range(wanted):
        try:
            process.check_connection(APP_ID, limits)
        except QuotaExceeded:
            return number
        store.commit(Put(None, a_connection(id=f"d0000000-0000-4000-8000-{len(store.connections):012}")))
    return wanted


@given(limit=st.integers(0, 30), existing=st.integers(0, 30), processes=st.integers(1, 4))
def test_an_app_has_no_more_connections_than_its_limit_however_many_processes_create_them(
    limit: int, existing: int, processes: int
) -> None:
    store, limits = FakeStore(), replace(WIDE, connections=limit)
    create_connections(store, quotas(store), replace(WIDE, connections=1_000), existing)
    store.usages.clear()  # the connections are older than the counter

    created = sum(create_connections(store, quotas(store), limits) for _ in range(processes))

    assert created == max(0, limit - existing)


def test_when_a_connection_was_deleted_another_one_may_be_created() -> None:
    store, clock, limits = FakeStore(), FixedClock(), replace(WIDE, connections=3)
    process = quotas(store, clock)
    assert create_connections(store, process, limits) == 3
    clock.advance(seconds=RECOUNT_SECONDS)

    with pytest.raises(QuotaExceeded, match="may have 3 connections") as caught:
        process.check_connection(APP_ID, limits)

    assert caught.value.details == {"limit": "connections", "value": 3}
    first = next(iter(store.connections.values()))
    store.commit(Put(first, first.removed(timestamp(NOON))))
    clock.advance(seconds=RECOUNT_SECONDS)
    assert create_connections(store, process, limits) == 1


# --- bytes, reads and searches


def uses(use: Callable[[], None]) -> int:
    """Use a quota until it is refused, and return how many times it was accepted."""
    for number in range(10_000):
        try:
            use()
        except QuotaExceeded:
            return number
    raise AssertionError("nothing is refused")


@given(
    limit=st.integers(0, 5_000),
    sizes=st.lists(st.integers(1, 2_000), min_size=1, max_size=60),
    processes=st.integers(1, 4),
)
def test_processes_write_no_more_bytes_in_a_minute_than_the_limit(limit: int, sizes: list[int], processes: int) -> None:
    """What one process took and did not use is not available to others."""
    store, limits, written = FakeStore(), replace(WIDE, written_bytes_per_minute=limit), 0
    running = [quotas(store) for _ in range(processes)]

    for number, size in enumerate(sizes):
        with suppress(QuotaExceeded):
            running[number % processes].check_written(APP_ID, limits, size)
            written += size

    assert written <= limit
    assert processes > 1 or sum(sizes) > limit or written == sum(sizes)


@given(limit=st.integers(0, 200), processes=st.integers(1, 5))
def test_processes_make_no_more_reads_in_a_second_than_the_limit(limit: int, processes: int) -> None:
    store, limits = FakeStore(), replace(WIDE, reads_per_second=limit)
    running = [quotas(store) for _ in range(processes)]

    accepted = [uses(partial(process.check_read, APP_ID, limits)) for process in running]

    assert sum(accepted) == limit


@given(limit=st.integers(0, 300), processes=st.integers(1, 60))
def test_no_more_searches_run_at_once_than_their_time_allows(limit: int, processes: int) -> None:
    store, limits = FakeStore(), replace(WIDE, search_seconds_per_minute=limit)
    with ExitStack() as running:
        begun = 0
        for _ in range(processes):
            with suppress(QuotaExceeded):
                running.enter_context(quotas(store).searching(APP_ID, limits, 20))
                begun += 1

    assert begun == min(processes, limit // 20)


@given(seconds=st.lists(st.floats(0.01, 25), min_size=1, max_size=80))
def test_searches_use_their_time_rounded_up_to_seconds(seconds: list[float]) -> None:
    store, clock = FakeStore(), FixedClock()
    process, start = quotas(store, clock), clock.now
    limits = replace(WIDE, search_seconds_per_minute=240)
    used = 0
    for duration in seconds:
        with suppress(QuotaExceeded), process.searching(APP_ID, limits, 20):
            clock.now = start + timedelta(seconds=duration)
            used += ceil(duration)
        clock.now = start

    assert used <= 240 + 5  # a search that its function ends after 25 seconds
    assert used == sum(map(ceil, seconds)) or used > 240 - 20


def test_a_search_that_fails_returns_its_time() -> None:
    store, limits = FakeStore(), replace(WIDE, search_seconds_per_minute=20)
    process = quotas(store)

    with pytest.raises(ZeroDivisionError), process.searching(APP_ID, limits, 20):
        raise ZeroDivisionError

    assert [usage.total for (_, name), usage in store.usages.items() if "seconds" in name] == [1]


def test_retry_after_varies_by_chance_and_the_message_names_the_limit_and_how_to_raise_it() -> None:
    waits = set()
    for chance in (0.0, 0.5, 0.999):
        process = Quotas(FakeStore(), FixedClock(), partial(float, chance))
        with pytest.raises(
            QuotaExceeded, match=r"bytes of QBXML per minute.*written_bytes_per_minute \(set-limits\)"
        ) as e:
            process.check_written(APP_ID, replace(WIDE, written_bytes_per_minute=0), 1)
        waits.add(e.value.retry_after_seconds)

    assert waits == {60, 64, 67}
