"""The entries of several partitions of a listing index are those of one sorted list, wherever a page begins."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.client import DynamoDB
from adapters.dynamodb.listing import Listing, Skips
from adapters.dynamodb.records import record_item
from domain.records.request import State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.ports import Group, IndexDays
from domain.timestamps import day_of, timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import ENDPOINT, dynamodb_client
from tests.support.builders import NOON, a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from botocore.hooks import HierarchicalEmitter

    from domain.records.request import QueuedRequest

SOME_SKIPPED = Skips(max_read=15, min_number=4)
"""With these, a page of a few hundred records begins like one of a hundred thousand."""

PAIRS = [
    (State.RESPONSE_RECEIVED, Webhook(WebhookState.SUCCEEDED)),
    (State.RESPONSE_RECEIVED, Webhook(WebhookState.PENDING, attempts_in_round=2)),
    (State.ERROR, Webhook(WebhookState.FAILED)),
    (State.WAITING, Webhook(WebhookState.PENDING)),
]

SPREADS: dict[str, Callable[[random.Random, int], float]] = {
    "random": lambda chance, _pair: chance.random(),
    "one after the other": lambda chance, pair: pair + chance.random(),
    "overlapping": lambda chance, pair: pair / 2 + chance.random(),
    "all at once": lambda _chance, _pair: 0.5,
    "at few moments": lambda chance, _pair: chance.randrange(4) / 4,
}
"""The hour of a record of a pair, by the way in which the records of a day are spread."""


@pytest.fixture(scope="module")
def database() -> Iterator[DynamoDB]:
    """Yield a database. Each case has a separate connection."""
    if ENDPOINT:
        client = dynamodb_client(ENDPOINT)
        yield DynamoDB(client, make_tables(client, f"merge{uuid.uuid4().hex[:8]}-"))
        return
    with emulated_dynamodb():
        client = dynamodb_client()
        yield DynamoDB(client, make_tables(client, f"merge{uuid.uuid4().hex[:8]}-"))


def store_records(database: DynamoDB, records: list[QueuedRequest]) -> None:
    """Store records alone."""
    table = database.tables.queued_requests
    for start in range(0, len(records), 25):
        puts = [{"PutRequest": {"Item": record_item(record)}} for record in records[start : start + 25]]
        database.client.batch_write_item(RequestItems={table: puts})


def records_of_a_day(connection_id: str, numbers: list[int], spread: str, seed: int) -> list[QueuedRequest]:
    """Return records of one day, with these numbers of each pair."""
    chance = random.Random(seed)
    return [
        a_record(
            id=str(uuid.UUID(int=chance.getrandbits(128))),
            connection_id=connection_id,
            inserted_at=timestamp(NOON + timedelta(hours=SPREADS[spread](chance, pair))),
            state=state,
            webhook=webhook,
        )
        for pair, ((state, webhook), number) in enumerate(zip(PAIRS, numbers, strict=False))
        for _ in range(number)
    ]


@settings(max_examples=25, deadline=None)
@given(
    numbers=st.lists(st.integers(0, 120), min_size=1, max_size=4),
    spread=st.sampled_from(sorted(SPREADS)),
    seed=st.integers(0, 2**32),
    wrong=st.sampled_from([0, 0, 0, 3]),
)
def test_entries_are_those_of_one_sorted_list_wherever_they_begin(
    database: DynamoDB, numbers: list[int], spread: str, seed: int, wrong: int
) -> None:
    """If a count is wrong, as while an index lags, the entries are in order, and none is twice."""
    connection_id = str(uuid.uuid4())
    records = records_of_a_day(connection_id, numbers, spread, seed)
    store_records(database, records)
    counts = Counter(record.listed_pair for record in records)
    day = day_of(timestamp(NOON))
    days = IndexDays(connection_id, "inserted_at", day, day, {pair: number + wrong for pair, number in counts.items()})
    listing, chance = Listing(database, SOME_SKIPPED), random.Random(seed)

    for descending in (True, False):
        in_order = sorted(((record.inserted_at, record.id) for record in records), reverse=descending)
        for skip in [0, *(chance.randrange(len(records) + 5) for _ in range(6))]:
            entries = listing.index_entries(days, descending=descending, skip=skip, limit=7)
            found = [(entry.moment, entry.id) for entry in entries]
            if wrong:
                assert [entry for entry in in_order if entry in found] == found
            else:
                assert found == in_order[skip : skip + 7], (descending, skip)


@settings(max_examples=10, deadline=None)
@given(number=st.integers(0, 200), spread=st.sampled_from(sorted(SPREADS)), seed=st.integers(0, 2**32))
def test_a_page_of_a_large_label_begins_after_the_entries_that_are_skipped(
    database: DynamoDB, number: int, spread: str, seed: int
) -> None:
    connection_id, chance = str(uuid.uuid4()), random.Random(seed)
    records = [
        replace(record, label="nightly" if chance.random() < 0.8 else "other")
        for record in records_of_a_day(connection_id, [number // 2, number // 2], spread, seed)
    ]
    store_records(database, records)
    listing, day = Listing(database, SOME_SKIPPED), day_of(timestamp(NOON))
    places = [(record.inserted_at, record.id) for record in records if record.label == "nightly"]
    days = IndexDays(connection_id, "inserted_at", day, day, {Group("label", "nightly"): len(places)})

    assert listing.count_index_entries(days, (f"{day}T12", f"{day}T13")) == days.counts
    for descending in (True, False):
        in_order = sorted(places, reverse=descending)
        for skip in [0, *(chance.randrange(len(places) + 5) for _ in range(6))]:
            entries = listing.index_entries(days, descending=descending, skip=skip, limit=7)
            assert [(entry.moment, entry.id) for entry in entries] == in_order[skip : skip + 7]


class Queries(Counter[str]):
    """Counts queries and the entries that they read."""

    def __init__(self, emitter: HierarchicalEmitter) -> None:
        super().__init__()
        emitter.register("after-call.dynamodb.Query", self._count)

    def _count(self, parsed: dict[str, Any], **_: Any) -> None:
        self["queries"] += 1
        self["entries"] += parsed["ScannedCount"]


def test_a_page_in_the_middle_of_a_large_day_reads_few_more_entries_than_it_skips() -> None:
    """This is for records of all pairs in random order. One round skips, and one reads."""
    with emulated_dynamodb():
        client = dynamodb_client()
        store = DynamoDBStore(client, make_tables(client, "middle-"))
        database = DynamoDB(client, store.tables)
        connection_id = str(uuid.uuid4())
        records = records_of_a_day(connection_id, [3_200, 400, 300, 100], "random", 1)
        store_records(database, records)
        day = day_of(timestamp(NOON))
        days = IndexDays(connection_id, "inserted_at", day, day, Counter(record.listed_pair for record in records))
        used = Queries(client.meta.events)

        entries = store.index_entries(days, descending=False, skip=1_990, limit=20)

        in_order = sorted((record.inserted_at, record.id) for record in records)
        assert [(entry.moment, entry.id) for entry in entries] == in_order[1_990:2_010]
        assert used["queries"] <= 2 * len(days.counts)
        assert used["entries"] < 1.5 * 2_010
