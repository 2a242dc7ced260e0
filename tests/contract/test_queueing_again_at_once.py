"""Several calls that queue the same requests again, while answers are lost: one call queues each, and counts it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from domain.listing.filters import RequestFilter
from domain.queueing.queue_again import QueueAgain, id_again
from domain.records.request import QueuedRequest, State
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
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
        self.ids = [id_again(record.id) for record in records]

    def sleep(self, seconds: float) -> None:
        """Let the time of a pause pass."""
        self.now += seconds

    def call(self, function: int) -> AgainTally:
        """Queue all requests again."""
        which = RequestFilter(to=timestamp(NOON))
        return self.functions[function].queue_again(APP_ID, CONNECTION_ID, which, lambda _: None, actor=AN_ACTOR)

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
    with emulated_dynamodb(), mock_aws():
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
