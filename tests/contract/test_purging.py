"""A deleted connection is not found from that commit on. Interruptions do not stop its removal in the background."""

from __future__ import annotations

import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.batch_deletes import BATCH_WRITE, MAX_BATCH_DELETES
from adapters.dynamodb.connection_removal import RECORDS_A_STEP
from domain.connections.service import ConnectionService
from domain.errors import Conflict, Gone, NotFound, TooManyRequests
from domain.records.request import QueuedRequest, State
from domain.storage.changes import (
    AddRequest,
    ChangeRequest,
    Put,
    RemoveRequest,
    RequireConnection,
)
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.contract.stores import add, counts_of, recount
from tests.contract.test_retention import LARGE, LATER, an_ended_record, expire, forget, with_bodies
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    SequentialIds,
    a_connection,
    a_record,
    a_session,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.records.connection import Connection
    from tests.contract.stores import AnyStore

OTHER_ID = "c0000000-0000-4000-8000-000000000099"


def test_the_ended_sessions_of_a_deleted_connection_are_removed_and_no_others(store: AnyStore) -> None:
    for number, owner in enumerate((CONNECTION_ID, OTHER_ID) * 30):
        session = a_session(id=f"{number:064x}", connection_id=owner, ended=True, began_at=timestamp(NOON))
        store.commit(Put(None, session))

    assert sum(store.remove_records(a_deleted_connection(store))) == 0

    assert list(store.ended_sessions(CONNECTION_ID, timestamp(NOON), 100)) == []
    assert len(store.ended_sessions(OTHER_ID, timestamp(NOON), 100)) == 30
    assert [number for number in range(60) if store.session(f"{number:064x}")] == list(range(1, 60, 2))


def a_deleted_connection(store: AnyStore) -> Connection:
    """Store a connection, delete it, and return its stored form."""
    connection = a_connection(password_hash="scrypt$…", session_id="ab" * 32)
    store.commit(Put(None, connection))
    store.commit(Put(connection, connection.removed(timestamp(NOON))))
    stored_connection = store.connection(CONNECTION_ID)
    assert stored_connection
    return stored_connection


def test_a_deleted_connection_has_no_password_no_session_and_no_list(store: AnyStore) -> None:
    add(store, a_record())

    connection = a_deleted_connection(store)

    assert (connection.deleted_at, connection.password_hash, connection.session_id) == (timestamp(NOON), None, None)
    assert list(store.deleted_connections(10)) == [connection]
    assert store.connections_of(APP_ID, 0, 10) == ([], 0)
    with pytest.raises(NotFound):
        store.day_counts(CONNECTION_ID)
    with pytest.raises(Conflict):
        store.commit(RequireConnection(CONNECTION_ID, APP_ID, None), AddRequest(a_record(), REQUEST_XML, ""))


def test_a_connection_that_was_changed_meanwhile_is_not_deleted(store: AnyStore) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    store.commit(Put(connection, first_change := replace(connection, name="first").changed(timestamp(NOON))))

    with pytest.raises(Conflict) as conflict:
        store.commit(Put(connection, connection.removed(timestamp(NOON))))

    assert conflict.value.current == first_change
    assert store.day_counts(CONNECTION_ID) == []


def test_everything_of_a_deleted_connection_is_removed_and_nothing_else(store: AnyStore) -> None:
    ids = [an_ended_record(store, response=LARGE, request=LARGE).id, an_ended_record(store).id]
    for state in (State.WAITING, State.RETRYABLE, State.SENT):
        add(store, record := a_record(state=state))
        ids.append(record.id)
    add(store, other_record := a_record(connection_id=OTHER_ID))
    connection = a_deleted_connection(store)

    assert sum(store.remove_records(connection)) == 5
    assert store.connection(CONNECTION_ID) == connection
    store.remove_connection(connection)

    assert store.connection(CONNECTION_ID) is None
    assert list(store.deleted_connections(10)) == []
    assert [store.request(record_id) for record_id in ids] == [None] * 5
    assert with_bodies(store, [*ids, other_record.id]) == {other_record.id}
    assert counts_of(store) == {}
    assert list(store.queue_front(CONNECTION_ID, 10)) == []
    assert list(store.queue_front(OTHER_ID, 10)) == [other_record]


def test_bodies_of_expired_records_are_removed_too_and_a_late_stream_record_changes_nothing(store: AnyStore) -> None:
    first, second = an_ended_record(store), an_ended_record(store)
    expire(store, LATER)
    assert forget(store, first)
    connection = a_deleted_connection(store)

    assert sum(store.remove_records(connection)) == 1
    store.remove_connection(connection)

    assert not forget(store, second)
    assert with_bodies(store, [first.id, second.id]) == set()
    assert counts_of(store) == {}


def test_a_connection_that_was_created_with_a_key_leaves_its_id_so_no_other_one_is_removed(store: AnyStore) -> None:
    """A sweep that began before the end of another one would remove the data of a connection with the same id."""

    def create() -> Connection:
        service = ConnectionService(store, clock=lambda: NOON, new_id=SequentialIds(), secrets=os.urandom)
        made = service.created_with(APP_ID, "customer-7", {"name": "Books"})
        return made or service.create(APP_ID, actor=AN_ACTOR, key="customer-7", name="Books")

    connection = create()
    store.commit(Put(connection, connection.removed(timestamp(NOON))))
    (deleted,) = store.deleted_connections(10)
    late_sweep = store.remove_records(deleted)
    store.remove_connection(deleted)

    with pytest.raises(Gone, match="new key"):
        create()
    assert sum(late_sweep) == 0
    store.remove_connection(deleted)
    assert store.connection(connection.id) == deleted.without_data()
    assert list(store.deleted_connections(10)) == []
    assert store.connections_of(APP_ID, 0, 10) == ([], 0)


class Faulty:
    """A client that fails or leaves deletes unprocessed now and then, and counts its calls."""

    def __init__(self, client: Any, seed: int = 1) -> None:
        self._client = client
        self._chance = random.Random(seed)
        self.dying = self.holding_back = 0.0
        self.refusing = 0.5
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def batch_write_item(self, RequestItems: dict[str, list[Any]]) -> Any:  # noqa: N803 - DynamoDB's name
        """Fail, leave some entries unprocessed, throttle, or delete all."""
        self.calls["batch_write_item"] += 1
        assert sum(map(len, RequestItems.values())) <= MAX_BATCH_DELETES
        if self._chance.random() < self.dying:
            raise ConnectionError("the function is stopped")
        if self._chance.random() >= self.holding_back:
            return self._client.batch_write_item(RequestItems=RequestItems)
        if self._chance.random() < self.refusing:
            code: Any = {"Error": {"Code": "ThrottlingException"}}
            raise ClientError(code, "BatchWriteItem")
        deletions, unprocessed = {}, {}
        for table, entries in RequestItems.items():
            cut = self._chance.randrange(len(entries))
            deletions[table], unprocessed[table] = entries[cut:], entries[:cut]
        self._client.batch_write_item(RequestItems=deletions)
        return {"UnprocessedItems": {table: entries for table, entries in unprocessed.items() if entries}}


class Removal:
    """The removal of a deleted connection with records, with a faulty client."""

    def __init__(self, records: int) -> None:
        plain = dynamodb_client()
        tables = make_tables(plain, "")
        self.client = Faulty(plain)
        self.store = DynamoDBStore(plain, tables)
        self.pauses: list[float] = []
        self.remover = DynamoDBStore(self.client, tables, sleep=self.pauses.append, random=random.Random(2).random)
        self.ids = []
        for number in range(records):
            add(self.store, record := a_record(), LARGE if number % 20 == 0 else REQUEST_XML)
            self.ids.append(record.id)
        self.connection = a_deleted_connection(self.store)

    def remaining_counts(self) -> tuple[int, int]:
        """Return the numbers of remaining records and bodies."""
        records = [record_id for record_id in self.ids if self.store.request(record_id)]
        return len(records), len(with_bodies(self.store, self.ids))


@pytest.fixture
def emulation() -> Iterator[None]:
    """Emulate DynamoDB in the process."""
    with emulated_dynamodb():
        yield


@pytest.mark.usefixtures("emulation")
class TestRemoval:
    """The removal while DynamoDB throttles and functions end."""

    def test_a_batch_takes_one_call(self) -> None:
        removal = Removal(100)

        assert list(removal.remover.remove_records(removal.connection)) == [100]

        assert removal.remaining_counts() == (0, 0)
        # Records, bodies, and the chunks of five requests.
        assert removal.client.calls["batch_write_item"] == 4 + 4 + 1
        assert removal.pauses == []

    @pytest.mark.parametrize("number", [1, RECORDS_A_STEP, RECORDS_A_STEP + 1, 2 * RECORDS_A_STEP + 30])
    def test_the_sessions_are_removed_in_steps(self, number: int) -> None:
        removal = Removal(0)
        began = timestamp(NOON)
        for index in range(number):
            removal.store.commit(Put(None, a_session(id=f"{index:064x}", ended=True, began_at=began)))

        calls, steps = 0, []
        for removed in removal.remover.remove_records(removal.connection):
            assert removed == 0
            steps.append(removal.client.calls["batch_write_item"] - calls)
            calls += steps[-1]

        assert max(steps) <= RECORDS_A_STEP // MAX_BATCH_DELETES
        assert len(steps) == -(-number // RECORDS_A_STEP)
        assert list(removal.store.ended_sessions(CONNECTION_ID, began, 100)) == []

    def test_unprocessed_deletes_are_repeated_after_a_pause(self) -> None:
        removal = Removal(100)
        removal.client.holding_back = 0.6

        assert sum(removal.remover.remove_records(removal.connection)) == 100
        removal.remover.remove_connection(removal.connection)

        assert removal.remaining_counts() == (0, 0)
        assert removal.pauses
        assert removal.store.connection(CONNECTION_ID) is None

    def test_a_removal_without_progress_gives_up(self) -> None:
        removal = Removal(2)
        removal.client.holding_back = removal.client.refusing = 1.0

        with pytest.raises(TooManyRequests):
            list(removal.remover.remove_records(removal.connection))

        assert len(removal.pauses) == BATCH_WRITE.retries

    def test_a_removal_that_stops_anywhere_can_be_continued(self) -> None:
        removal = Removal(RECORDS_A_STEP // 5)
        removal.client.dying = 0.3
        runs = 0
        is_complete = False
        while not is_complete:
            runs += 1
            try:
                list(removal.remover.remove_records(removal.connection))
                removal.remover.remove_connection(removal.connection)
                is_complete = True
            except ConnectionError:
                records, bodies = removal.remaining_counts()
                assert records <= bodies  # a record is found by its body

        assert runs > 1
        assert removal.remaining_counts() == (0, 0)
        assert removal.store.connection(CONNECTION_ID) is None


def test_removals_in_parallel_with_deletions_and_expiry_leave_nothing(store: AnyStore) -> None:
    records = [an_ended_record(store) for _ in range(40)]
    connection = a_deleted_connection(store)
    expired_records: list[QueuedRequest] = []

    def purge(_: int) -> None:
        for _step in store.remove_records(connection):
            pass

    def meddle(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(10):
            record = chance.choice(records)
            try:
                store.commit(RemoveRequest(record, timestamp(LATER)))
            except Conflict:
                forget(store, record)

    with ThreadPoolExecutor(5) as threads:
        futures = [threads.submit(meddle, seed) for seed in range(2)]
        futures += [threads.submit(purge, number) for number in range(2)]
        expired_records += expire(store, LATER)
        for future in futures:
            future.result()
    for record in expired_records:
        forget(store, record)
    purge(0)
    store.remove_connection(connection)

    assert with_bodies(store, [record.id for record in records]) == set()
    assert counts_of(store) == {}
    assert recount(store, [record.id for record in records]) == {}


def test_chunks_of_an_uncommitted_response_are_removed(store: AnyStore) -> None:
    add(store, record := a_record(state=State.SENT))
    store.commit(ChangeRequest(record, after := record.moved(State.ERROR, NOON)))
    with pytest.raises(Conflict):
        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), response_xml=LARGE))
    assert store.request(record.id) == after
    connection = a_deleted_connection(store)

    assert sum(store.remove_records(connection)) == 1

    assert with_bodies(store, [record.id]) == set()
