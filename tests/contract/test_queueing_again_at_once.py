"""Several calls that queue the same requests again, while answers are lost: one call queues each, and counts it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.records import request_from_item
from domain import qbxml
from domain.errors import TooManyRequests, Unavailable
from domain.listing.filters import RequestFilter
from domain.queueing.new_request import Idempotency, NewRequest, Queueing, QueueRequest, copy_of
from domain.queueing.queue_again import QueueAgain
from domain.queueing.service import RequestService
from domain.queueing.successor import Replaces
from domain.records.request import QueuedRequest, State
from domain.records.successor import id_again
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from domain.webhooks.addresses import UrlRules
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    FixedClock,
    SequentialIds,
    a_connection,
    a_record,
)
from tests.support.unreliable_dynamodb import LATER, SERVER_ERROR, TRANSACTION_FAULTS, UnreliableDynamoDB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from domain.queueing.queue_again import AgainTally

COMMITS = {"transact_write_items", "put_if"}
REQUESTS = 3
_numbers = count()


@dataclass
class TickingClock(FixedClock):
    """A clock that is never read twice at the same time."""

    def __call__(self) -> datetime:
        """Return the time."""
        return self.advance(milliseconds=1)


class Bench:
    """Failed requests of one connection, and two functions that queue them again."""

    def __init__(self, client: Any) -> None:
        self.client = UnreliableDynamoDB(client)
        self.clock = TickingClock()
        self.now = 0.0
        tables = make_tables(client, f"again{next(_numbers)}-")
        self.store = DynamoDBStore(
            self.client, tables, sleep=self.sleep, random=lambda: 0.5, monotonic=lambda: self.now
        )
        self.functions = [QueueAgain(self.store, self.clock, lambda: None) for _ in range(2)]
        self.store.commit(Put(None, a_connection()))
        times = [timestamp(NOON - timedelta(days=1, seconds=number)) for number in range(REQUESTS)]
        records = [a_record(state=State.ERROR, inserted_at=time, updated_at=time) for time in times]
        for record in records:
            self.store.commit(AddRequest(record, REQUEST_XML, ""))
        self.former = [record.id for record in records]
        self.ids = [id_again(request_id) for request_id in self.former]

    def sleep(self, seconds: float) -> None:
        """Let the time of a pause pass."""
        self.now += seconds

    def call(self, function: int) -> AgainTally:
        """Queue all requests again."""
        which = RequestFilter(to=timestamp(NOON))
        return self.functions[function].queue_again(APP_ID, CONNECTION_ID, which, lambda _: None, actor=AN_ACTOR)

    def store_records(self) -> list[QueuedRequest]:
        """Return all requests."""
        items = self.client.scan(TableName=self.store.tables.queued_requests)["Items"]
        return [record for item in items if isinstance(record := request_from_item(item), QueuedRequest)]

    def queued(self) -> list[QueuedRequest]:
        """Return the new requests."""
        return list(self.store.records_by_id(self.ids))

    def claim(self) -> None:
        """Let a session claim the new requests."""
        for record in self.queued():
            if record.state is State.WAITING:
                self.store.commit(ChangeRequest(record, record.claimed("ab" * 32, self.clock())))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield a client of DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield dynamodb_client()


places = st.lists(st.integers(0, 8), max_size=3)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(faults=st.lists(st.sampled_from([None, *TRANSACTION_FAULTS]), min_size=4, max_size=8), at=places, claims=places)
@example(faults=[None, SERVER_ERROR], at=[2], claims=[])
@example(faults=[None, SERVER_ERROR], at=[2], claims=[3])
@example(faults=[None, LATER], at=[], claims=[3])
def test_each_new_request_is_counted_by_the_call_that_queued_it(
    client: Any, faults: list[str | None], at: list[int], claims: list[int]
) -> None:
    """Another call runs, and a session claims what is queued, before any of the first call's commits."""
    bench = Bench(client)
    coming, commits = chain(faults, repeat(None)), count()
    others: list[AgainTally] = []

    def fault(operation: str) -> str | None:
        if operation not in COMMITS:
            return None
        number = next(commits)
        bench.client.fault = lambda _: None
        if number in at:
            others.append(bench.call(1))
        if number in claims:
            bench.claim()
        bench.client.fault = fault
        return next(coming)

    bench.client.fault = fault
    tallies = [bench.call(0), *others]

    bench.client.fault = lambda _: None
    bench.client.deliver_late_calls()
    assert sum(tally.queued for tally in tallies) == len(bench.queued()) == REQUESTS
    assert all(tally.queued + tally.queued_before == REQUESTS for tally in tallies)


# --- All routes that queue a request again


class Routes:
    """Three ways to queue the requests of a bench again, each in a function of its own."""

    def __init__(self, bench: Bench, former: list[str]) -> None:
        self.bench = bench
        self.former = former
        rules = UrlRules(allow_http=True)
        self.queueing = [
            Queueing(bench.store, bench.clock, SequentialIds(), quotas=None, url_rules=rules) for _ in range(2)
        ]

    def call(self, route: str) -> None:
        """Queue all requests again by one route. A call that is refused may be repeated."""
        with suppress(TooManyRequests, Unavailable):
            if route == "in bulk":
                self.bench.call(0)
                return
            for request_id in self.former:
                self.replace(request_id, route)

    def replace(self, request_id: str, route: str) -> None:
        """Queue one request again, as a copy or corrected."""
        if route == "alone":
            copy = copy_of(RequestService(self.bench.store, self.bench.clock).copied(APP_ID, request_id))
            replaces, queueing, key = Replaces(request_id, actor=AN_ACTOR), self.queueing[0], None
        else:
            request = qbxml.stored_request(REQUEST_XML.replace("10", "11"), "13.0")
            copy, replaces, queueing = NewRequest(request), Replaces(request_id), self.queueing[1]
            key = Idempotency.of(f"{request_id} {route}", CONNECTION_ID, route)
        command = QueueRequest(APP_ID, CONNECTION_ID, lambda _: copy, key, replaces=replaces)
        assert queueing.queue(command).stored.record.id == id_again(request_id)


routes = st.lists(st.sampled_from(["in bulk", "alone", "corrected"]), min_size=2, max_size=5)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(called=routes, at=places, claims=places, faults=st.lists(st.sampled_from([None, *TRANSACTION_FAULTS])))
@example(called=["in bulk", "alone", "corrected"], at=[1], claims=[], faults=[])
@example(called=["corrected", "alone", "in bulk"], at=[0, 2], claims=[1], faults=[None, SERVER_ERROR])
@example(called=["alone", "corrected", "alone"], at=[0], claims=[2], faults=[LATER])
def test_people_who_queue_a_request_again_by_different_routes_at_once_queue_it_once(
    client: Any, called: list[str], at: list[int], claims: list[int], faults: list[str | None]
) -> None:
    """The other routes run, and a session claims what is queued, before any of the first one's commits."""
    bench = Bench(client)
    system, coming, commits = Routes(bench, bench.former), chain(faults, repeat(None)), count()
    waiting = iter(called[1:])

    def fault(operation: str) -> str | None:
        if operation not in COMMITS:
            return None
        number = next(commits)
        bench.client.fault = lambda _: None
        if number in at and (route := next(waiting, None)):
            system.call(route)
        if number in claims:
            bench.claim()
        bench.client.fault = fault
        return next(coming)

    bench.client.fault = fault
    system.call(called[0])
    bench.client.fault = lambda _: None
    for route in [*waiting, called[0]]:
        system.call(route)

    bench.client.deliver_late_calls()
    assert sorted(record.id for record in bench.store_records()) == sorted([*bench.former, *bench.ids])
