"""Searches find the same records before and after packing, and removed records leave no text behind.

For the DynamoDB adapter alone: in memory there is nothing to pack.
"""

from __future__ import annotations

import random
import threading
import uuid
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore, TableNames
from domain.errors import Conflict
from domain.maintenance.search_packing import Share, pack_days
from domain.records.request import State, Tombstone
from domain.records.search_text import has_all
from domain.storage.changes import AddRequest, ChangeRequest, ForgetRequest, Put, RemoveRequest
from domain.timestamps import day_of, timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import drop_tables, make_tables
from tests.contract.conftest import ENDPOINT, dynamodb_client, sized
from tests.support.builders import NOON, REQUEST_XML, FixedClock, a_connection, a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from domain.records.request import QueuedRequest
    from domain.storage.ports import Database

WORDS = ("alpha", "beta", "gamma ray", "delta", "2026-03", "itemmodrq\nitem mod", "item change")
SMALL_BLOCK = 250
LONG = timedelta(hours=1)
TODAY = NOON + timedelta(days=30)


class PackedTables:
    """A store with small search blocks, and the items in its tables."""

    def __init__(self, client: Any, tables: TableNames) -> None:
        self.client = client
        self.tables = tables
        self.store = DynamoDBStore(client, tables, max_block_bytes=SMALL_BLOCK)

    def run(self, store: Database | None = None) -> None:
        """Pack as the function does."""
        result = pack_days(store or self.store, FixedClock(TODAY), TODAY + LONG)
        assert result.finished
        assert not result.failures

    def payloads(self, connection_id: str) -> list[dict[str, Any]]:
        """Return every payload item of a connection's records that is in the index, and its search blocks."""
        return [
            item
            for item in self._all(self.tables.payloads)
            if connection_id in (item["request_id"]["S"], item.get("connection_id", {}).get("S"))
        ]

    def _all(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield every item of a table."""
        for page in self.client.get_paginator("scan").paginate(TableName=table):
            yield from page["Items"]

    def marked_days(self) -> list[str]:
        """Return the days that are still to be packed; today's are not yet."""
        rows = self._all(self.tables.counts)
        return [row["day"]["S"] for row in rows if "pack" in row and row["day"]["S"] < day_of(timestamp(TODAY))]


DATABASES = ["emulated"]
if ENDPOINT:
    DATABASES.append(pytest.param("endpoint", marks=pytest.mark.dynamodb_local))  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=DATABASES)
def database(request: pytest.FixtureRequest) -> Iterator[PackedTables]:
    """Yield a shared database. Each case has a separate connection."""
    prefix = f"packing{uuid.uuid4().hex[:8]}-"
    if request.param == "endpoint":
        client = dynamodb_client(ENDPOINT)
        yield PackedTables(client, make_tables(client, prefix))
        drop_tables(client, prefix)
        client.close()
    else:
        with emulated_dynamodb():
            client = dynamodb_client()
            yield PackedTables(client, make_tables(client, prefix))


def a_past_record(connection_id: str, **values: Any) -> QueuedRequest:
    """Return a record of a connection, with an id that no other case uses."""
    return a_record(id=str(uuid.uuid4()), connection_id=connection_id, **values)


@settings(max_examples=sized(10), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_packing_does_not_change_the_result_of_a_search(database: PackedTables, seed: int) -> None:
    """Records are added, changed and removed in any order, and packed in between, completely or partly."""
    chance = random.Random(seed)
    connection_id = str(uuid.uuid4())
    alive: dict[QueuedRequest, str] = {}
    for _ in range(chance.randrange(1, 60)):
        match chance.choice(["add", "add", "add", "change", "remove", "pack"]):
            case "add":
                moment = timestamp(NOON + timedelta(days=chance.randrange(4), hours=chance.randrange(3)))
                record, text = a_past_record(connection_id, inserted_at=moment), chance.choice(WORDS)
                database.store.commit(AddRequest(record, REQUEST_XML, text))
                alive[record] = text
            case "change" if waiting := [record for record in alive if record.state is State.WAITING]:
                # A text changes only together with the state, which marks the day as changed.
                record = chance.choice(waiting)
                after, text = replace(record, state=State.ERROR).changed(TODAY), chance.choice(WORDS)
                database.store.commit(ChangeRequest(record, after, search_text=text))
                del alive[record]
                alive[after] = text
            case "remove" if alive:
                record = chance.choice(list(alive))
                database.store.commit(RemoveRequest(record, timestamp(TODAY)))
                del alive[record]
            case "pack":
                database.run()
        needle = chance.choice(["alpha", "a", "gamma ray", "2026", "nowhere", "item change", "change"])
        split_points = chance.choice([[], ["2026-03-15"], ["2026-03-14T13", "2026-03-16", "2026-03-17"]])

        matches = database.store.search_matches(connection_id, (needle,), split_points)

        assert sorted(matches) == sorted(
            (record.inserted_at, record.id) for record, text in alive.items() if has_all(text, [needle])
        )
    for _ in range(4):
        database.run()
    assert not database.marked_days()
    payloads = database.payloads(connection_id)
    assert all(item["part"]["S"].startswith("texts#") for item in payloads)
    assert all("removed" not in item and "search_text" not in item for item in payloads)


@pytest.fixture
def store_packed(database: PackedTables) -> Callable[..., list[QueuedRequest]]:
    """Return a function that stores records of three days with one text each, and packs all of them."""

    def pack(number: int = 30, text: str = "alpha") -> list[QueuedRequest]:
        connection_id = str(uuid.uuid4())
        records = [
            a_past_record(connection_id, inserted_at=timestamp(NOON + timedelta(hours=2 * index)))
            for index in range(number)
        ]
        for record in records:
            database.store.commit(AddRequest(record, REQUEST_XML, text))
        for _ in range(4):
            database.run()
        return records

    return pack


def test_the_text_of_a_removed_record_is_deleted(
    database: PackedTables, store_packed: Callable[..., list[QueuedRequest]]
) -> None:
    record = store_packed(1, "secret")[0]
    database.store.commit(RemoveRequest(record, timestamp(TODAY)))

    for _ in range(4):
        database.run()

    assert [item["part"]["S"] for item in database.payloads(record.connection_id)] == ["texts#"]
    assert not database.store.search_matches(record.connection_id, ("secret",), [])
    (block,) = database.payloads(record.connection_id)
    assert len(block["data"]["B"]) < len(b"secret") + 8  # an empty text, compressed


def test_the_text_and_the_day_of_an_expired_record_are_deleted(
    database: PackedTables, store_packed: Callable[..., list[QueuedRequest]]
) -> None:
    """The counts of the day stay until its text is out of the search blocks: the packer finds the day by them."""
    expired_record, other_record = store_packed(1, "secret") + store_packed(1, "other")
    database.store.move_statistics(expired_record.connection_id, day_of(expired_record.inserted_at))
    database.client.delete_item(TableName=database.tables.queued_requests, Key={"id": {"S": expired_record.id}})
    database.store.commit(ForgetRequest(expired_record, timestamp(TODAY)))
    days = []
    for _ in range(4):
        days.append([day.day for day in database.store.day_counts(expired_record.connection_id)])
        database.run()

    assert days == [[day_of(expired_record.inserted_at)]] * 4
    assert database.store.day_counts(expired_record.connection_id) == []
    assert not database.store.search_matches(expired_record.connection_id, ("secret",), [])
    (block,) = database.payloads(expired_record.connection_id)
    assert len(block["data"]["B"]) < len(b"secret") + 8  # an empty text, compressed
    assert [
        record_id for _, record_id in database.store.search_matches(other_record.connection_id, ("other",), [])
    ] == [other_record.id]


def test_packed_texts_are_in_few_items_and_no_longer_in_the_bodies(
    database: PackedTables, store_packed: Callable[..., list[QueuedRequest]]
) -> None:
    records = store_packed(30)

    payloads = database.payloads(records[0].connection_id)

    assert 2 <= len(payloads) <= 10
    assert all("data" in item for item in payloads)


def test_a_text_is_in_the_index_and_in_a_block_between_two_runs(database: PackedTables) -> None:
    """A search that reads first the index and then the search blocks misses no text, however late both are."""
    connection_id = str(uuid.uuid4())
    database.store.commit(AddRequest(a_past_record(connection_id), REQUEST_XML, "alpha"))
    kinds = []
    for _ in range(4):
        kinds.append(sorted(item["part"]["S"] for item in database.payloads(connection_id)))
        database.run()

    # The first run finds that the day no longer changes, the second copies its texts, the third deletes the originals.
    assert kinds == [["body"], ["body"], ["body", "texts#"], ["texts#"]]


@settings(max_examples=sized(8), deadline=None)
@given(number=st.integers(1, 40), max_page_rows=st.integers(1, 12), shares=st.integers(1, 5))
def test_the_shares_pack_the_days_of_all_connections_however_many(
    database: PackedTables, number: int, max_page_rows: int, shares: int
) -> None:
    """Marked rows are read page by page, and some days have overflow rows, which are marked too."""
    store = DynamoDBStore(database.client, database.tables, max_page_rows=max_page_rows)
    connection_ids = [str(uuid.uuid4()) for _ in range(number)]
    for connection_id in connection_ids:
        database.store.commit(AddRequest(a_past_record(connection_id), REQUEST_XML, "alpha"))
        with_overflow_row(database, connection_id)

    for _ in range(4):
        for share in range(shares):
            result = pack_days(store, FixedClock(TODAY), TODAY + LONG, Share(share, shares))
            assert (result.finished, result.failures) == (True, {})

    assert not database.marked_days()
    for connection_id in connection_ids:
        assert [item["part"]["S"] for item in database.payloads(connection_id)] == ["texts#"]
        assert len(database.store.search_matches(connection_id, ("alpha",), [])) == 1


def with_overflow_row(database: PackedTables, connection_id: str) -> None:
    """Add an overflow row to the only day of a connection, as a transaction does after a conflict."""
    key = {"connection_id": {"S": connection_id}, "day": {"S": "2026-03-14#2"}}
    database.client.put_item(TableName=database.tables.counts, Item=key | {"pack": {"S": "changed"}})


def test_a_day_of_which_a_row_has_changed_waits_for_the_next_run(database: PackedTables) -> None:
    """Its index entry may be older than the change. The mark is read consistently."""
    connection_id = str(uuid.uuid4())
    database.store.commit(AddRequest(a_past_record(connection_id), REQUEST_XML, "alpha"))
    database.run()
    with_overflow_row(database, connection_id)

    database.run()

    assert [item["part"]["S"] for item in database.payloads(connection_id)] == ["body"]
    for _ in range(3):
        database.run()
    assert [item["part"]["S"] for item in database.payloads(connection_id)] == ["texts#"]


def test_today_is_not_packed(database: PackedTables) -> None:
    connection_id = str(uuid.uuid4())
    database.store.commit(AddRequest(a_past_record(connection_id, inserted_at=timestamp(TODAY)), REQUEST_XML, "alpha"))

    for _ in range(4):
        database.run()

    assert [item["part"]["S"] for item in database.payloads(connection_id)] == ["body"]


class Overtaken:
    """A client of a run that read everything, and writes after another run has done the same work and more."""

    def __init__(self, client: Any, meanwhile: Callable[[], None]) -> None:
        self._client = client
        self._meanwhile = [meanwhile]
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        def write(**request: Any) -> Any:
            with self._lock:
                while self._meanwhile:
                    self._meanwhile.pop()()
            return call(**request)

        return write if name in {"transact_write_items", "update_item", "delete_item"} else call


def pack_late(database: PackedTables, record: QueuedRequest, meanwhile: Callable[[], None]) -> None:
    """Pack the day of a record. `meanwhile` is called before the first write."""
    client = Overtaken(database.client, meanwhile)
    store = DynamoDBStore(client, database.tables, max_block_bytes=SMALL_BLOCK)
    sum(database.store.settle_days(day_of(timestamp(TODAY)), lambda _: True))
    store.pack(record.connection_id, day_of(record.inserted_at), None)


def test_a_run_that_another_one_overtakes_changes_nothing(
    database: PackedTables, store_packed: Callable[..., list[QueuedRequest]]
) -> None:
    first, second, *_ = store_packed(3)
    database.store.commit(RemoveRequest(first, timestamp(TODAY)))
    database.run()
    late = replace(second, state=State.ERROR).changed(TODAY)

    def meanwhile() -> None:
        database.store.commit(ChangeRequest(second, late, search_text="omega"))
        for _ in range(3):
            database.run()

    pack_late(database, first, meanwhile)

    for _ in range(4):
        database.run()
    assert len(database.store.search_matches(first.connection_id, ("alpha",), [])) == 1
    assert [record_id for _, record_id in database.store.search_matches(first.connection_id, ("omega",), [])] == [
        late.id
    ]
    assert not database.marked_days()


def test_a_connection_with_packed_texts_is_removed_completely(
    database: PackedTables, store_packed: Callable[..., list[QueuedRequest]]
) -> None:
    records = store_packed(30)
    connection = a_connection(id=records[0].connection_id)
    database.store.commit(Put(None, connection))
    database.store.commit(AddRequest(late := a_past_record(connection.id), REQUEST_XML, "beta"))
    database.store.commit(RemoveRequest(records[0], timestamp(TODAY)))
    database.run()

    assert sum(database.store.remove_records(connection)) == 30
    database.run()
    database.store.remove_connection(connection)

    assert database.payloads(connection.id) == []
    assert [database.store.request(record.id) for record in (*records[1:], late)] == [None] * 30
    assert isinstance(database.store.request(records[0].id), Tombstone)
    assert not database.store.search_matches(connection.id, ("alpha",), [])


def test_a_block_is_not_stored_after_the_counts_of_its_connection_are_removed(database: PackedTables) -> None:
    """A slow run restores no text of a connection that is removed meanwhile."""
    database.store.commit(Put(None, connection := a_connection(id=str(uuid.uuid4()))))
    database.store.commit(AddRequest(record := a_past_record(connection.id), REQUEST_XML, "secret"))

    def remove() -> None:
        assert sum(database.store.remove_records(connection)) == 1
        database.store.remove_connection(connection)

    pack_late(database, record, remove)

    assert database.payloads(connection.id) == []


def test_a_body_with_chunks_stays_in_the_index_and_is_found(database: PackedTables) -> None:
    """The removal of the connection finds the number of its chunks there."""
    connection_id = str(uuid.uuid4())
    large = random.Random(1).randbytes(100_000).hex()
    record = a_past_record(connection_id)
    database.store.commit(AddRequest(record, large, "alpha"))
    for _ in range(4):
        database.run()

    assert [item["part"]["S"] for item in database.payloads(connection_id)] == ["body"]
    assert [record_id for _, record_id in database.store.search_matches(connection_id, ("alpha",), [])] == [record.id]


def test_a_large_response_that_was_never_committed_hides_no_packed_text(
    database: PackedTables, store_packed: Callable[..., list[QueuedRequest]]
) -> None:
    """Its chunks are announced in the body, which is in the index again, without a text."""
    (record,) = store_packed(1)
    large = random.Random(1).randbytes(200_000).hex()
    other = replace(record, revision=record.revision + 7)

    with pytest.raises(Conflict):
        database.store.commit(ChangeRequest(other, other.changed(TODAY), response_xml=large, search_text="beta"))

    assert [record_id for _, record_id in database.store.search_matches(record.connection_id, ("alpha",), [])] == [
        record.id
    ]
    database.run()
    assert [record_id for _, record_id in database.store.search_matches(record.connection_id, ("alpha",), [])] == [
        record.id
    ]


def test_bodies_with_chunks_hide_no_text_behind_them(database: PackedTables) -> None:
    """A step in which no record can be packed does not end the work of the day."""
    texts = DynamoDBStore(database.client, database.tables, max_step_texts=2)
    connection_id = str(uuid.uuid4())
    large = random.Random(1).randbytes(100_000).hex()
    for hour, xml in enumerate([large, large, large, REQUEST_XML]):
        record = a_past_record(connection_id, inserted_at=timestamp(NOON + timedelta(hours=hour)))
        database.store.commit(AddRequest(record, xml, "alpha"))
    for _ in range(4):
        database.run(texts)

    parts = sorted(item["part"]["S"] for item in database.payloads(connection_id))
    assert parts == ["body", "body", "body", "texts#"]
    assert not database.marked_days()


def test_a_day_with_separate_counts_is_packed(database: PackedTables) -> None:
    """The same holds if the first transaction of a day conflicted with another one, which then failed."""
    record = a_past_record(str(uuid.uuid4()))
    database.store.commit(AddRequest(record, REQUEST_XML, "alpha"))
    (row,) = database.client.query(
        TableName=database.tables.counts,
        KeyConditionExpression="connection_id = :connection",
        ExpressionAttributeValues={":connection": {"S": record.connection_id}},
    )["Items"]
    key = {"connection_id": row["connection_id"], "day": row["day"]}
    database.client.delete_item(TableName=database.tables.counts, Key=key)
    database.client.put_item(TableName=database.tables.counts, Item={**row, "day": {"S": row["day"]["S"] + "#2"}})
    for _ in range(4):
        database.run()

    assert [item["part"]["S"] for item in database.payloads(record.connection_id)] == ["texts#"]
    assert not database.marked_days()


@pytest.mark.parametrize("form", ["in the index", "packed"])
def test_a_search_can_be_stopped_before_each_database_call(database: PackedTables, form: str) -> None:
    """DynamoDB returns at most 1 MB at once. These texts take several calls."""
    connection_id = str(uuid.uuid4())
    chance = random.Random(1)
    moment = timestamp(NOON if form == "packed" else TODAY)
    for _ in range(150):
        record = a_past_record(connection_id, inserted_at=moment)
        database.store.commit(AddRequest(record, REQUEST_XML, chance.randbytes(4_096).hex()))
    if form == "packed":
        for _ in range(4):
            database.run(DynamoDBStore(database.client, database.tables))
    calls: list[None] = []

    def count() -> None:
        calls.append(None)

    database.store.search_matches(connection_id, ("alpha",), [], count)
    number_of_calls = len(calls)

    def end_the_last() -> None:
        calls.pop()
        if not calls:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        database.store.search_matches(connection_id, ("alpha",), [], end_the_last)
    assert number_of_calls == 2


def test_a_body_that_gets_chunks_meanwhile_stays_in_the_index(database: PackedTables) -> None:
    """Its response may never be committed. The removal of the connection finds the chunks anyway."""
    record = a_past_record(str(uuid.uuid4()))
    database.store.commit(AddRequest(record, REQUEST_XML, "alpha"))
    for _ in range(2):
        database.run()  # its text is in both places now
    large = random.Random(1).randbytes(200_000).hex()
    other = replace(record, revision=record.revision + 7)

    def announce() -> None:
        with pytest.raises(Conflict):
            database.store.commit(ChangeRequest(other, other.changed(TODAY), response_xml=large, search_text="beta"))

    pack_late(database, record, announce)

    (body,) = (item for item in database.payloads(record.connection_id) if item["part"]["S"] == "body")
    assert "response_chunks" in body
    assert [record_id for _, record_id in database.store.search_matches(record.connection_id, ("alpha",), [])] == [
        record.id
    ]


def test_a_day_is_packed_in_steps(database: PackedTables) -> None:
    texts = DynamoDBStore(database.client, database.tables, max_step_texts=7)
    connection_id = str(uuid.uuid4())
    for _ in range(20):
        database.store.commit(AddRequest(a_past_record(connection_id), REQUEST_XML, "alpha"))
    database.run()
    after, steps = None, 0
    while (after := texts.pack(connection_id, "2026-03-14", after)) is not None:
        steps += 1

    assert steps == 2
    assert len(database.store.search_matches(connection_id, ("alpha",), [])) == 20
