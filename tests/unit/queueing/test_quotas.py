"""The limits of an app: the calls that they allow and refuse, and the time until calls are allowed again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from domain.apps.quotas import RECOUNT_SECONDS, Quotas
from domain.errors import QuotaExceeded
from domain.records.app import Limits
from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore

WIDE = Limits(creates_per_second=10_000, waiting=1_000_000, redeliveries_per_minute=10_000)


def quotas(store: FakeStore | None = None, clock: FixedClock | None = None) -> Quotas:
    """Return the quotas of one process."""
    return Quotas(store or FakeStore(), clock or FixedClock())


def creates(process: Quotas, limits: Limits, app_id: str = APP_ID) -> int:
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
