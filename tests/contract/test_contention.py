"""Conflicting transactions of one connection: a cancelled one is tried again, and no count is lost."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.transactions import CONTENTION
from domain.errors import TooManyRequests
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.counts import INSERTED
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.contract.stores import add, counts_of, recount
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.stores import AnyStore


class Contended:
    """A client that cancels a share of the transactions because of a conflict on their last item."""

    def __init__(self, client: Any, share: float) -> None:
        self._client = client
        self._chance = random.Random(3)
        self.share = share

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, **request: Any) -> Any:
        """Cancel the transaction as DynamoDB does, or carry it out."""
        if self._chance.random() < self.share:
            reasons = [{"Code": "None"} for _ in request["TransactItems"]]
            reasons[-1] = {"Code": "TransactionConflict"}
            raise ClientError(
                {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons},
                "TransactWriteItems",
            )
        return self._client.transact_write_items(**request)


class ContendedStore:
    """A store with a contended client, its pauses and its rows of counts."""

    def __init__(self) -> None:
        client = dynamodb_client()
        tables = make_tables(client, "")
        self.client = Contended(client, 0.0)
        self.pauses: list[float] = []
        self.store = DynamoDBStore(self.client, tables, sleep=self.pauses.append, random=random.Random(4).random)
        self._counts_table = tables.counts

    def rows(self) -> set[str]:
        """Return the sort keys of the connection's rows of counts."""
        response = self.client.query(
            TableName=self._counts_table,
            KeyConditionExpression="connection_id = :connection",
            ExpressionAttributeValues={":connection": {"S": CONNECTION_ID}},
        )
        return {item["day"]["S"] for item in response["Items"]}


@pytest.fixture
def contention() -> Iterator[ContendedStore]:
    """Yield the store on DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield ContendedStore()


def store_records(store: AnyStore, number: int) -> list[QueuedRequest]:
    """Store records, end every second one and delete every fifth; return the others."""
    records = []
    for index in range(number):
        record = a_record()
        add(store, record)
        if index % 2:
            ended_record = record.moved(State.DISCARDED, NOON)
            store.commit(ChangeRequest(record, ended_record))
            record = ended_record
        if index % 5 == 1:
            store.commit(RemoveRequest(record, timestamp(NOON)))
        else:
            records.append(record)
    return records


def test_a_transaction_without_conflicts_adds_to_the_row_of_the_day(contention: ContendedStore) -> None:
    store_records(contention.store, 10)

    assert contention.rows() == {"2026-03-14"}
    assert contention.pauses == []


def test_after_a_conflict_a_transaction_adds_to_an_overflow_row_and_the_sums_are_exact(
    contention: ContendedStore,
) -> None:
    contention.store.commit(Put(None, a_connection()))
    contention.client.share = 0.5
    records = store_records(contention.store, 40)

    assert contention.rows() == {"2026-03-14", *(f"2026-03-14#{row}" for row in range(4))}
    assert counts_of(contention.store) == recount(contention.store, [record.id for record in records])
    page = Lists(contention.store, FixedClock()).page(APP_ID, ListQuery(CONNECTION_ID, page_size=100))
    assert {item.record.id for item in page.items} == {record.id for record in records}
    deleted_connection = a_connection(id=CONNECTION_ID, deleted_at=timestamp(NOON))
    assert sum(contention.store.remove_records(deleted_connection)) == len(records)
    contention.store.remove_connection(deleted_connection)
    assert contention.rows() == set()


def test_a_transaction_that_conflicts_on_every_try_is_refused_and_stores_nothing(contention: ContendedStore) -> None:
    contention.client.share = 1.0
    record = a_record()

    with pytest.raises(TooManyRequests):
        contention.store.commit(AddRequest(record, REQUEST_XML, ""))

    assert len(contention.pauses) == CONTENTION.retries
    assert contention.store.request(record.id) is None
    assert contention.rows() == set()


def test_threads_that_create_and_change_at_once_lose_nothing(store: AnyStore) -> None:
    def work(_: int) -> list[str]:
        ids = []
        for index in range(5):
            record = a_record(webhook=Webhook(WebhookState.PENDING))
            add(store, record)
            if index % 2:
                store.commit(ChangeRequest(record, replace(record, state=State.DISCARDED, revision=2)))
            ids.append(record.id)
        return ids

    with ThreadPoolExecutor(10) as threads:
        ids = [request_id for ids_of_thread in threads.map(work, range(10)) for request_id in ids_of_thread]

    assert len(set(ids)) == 50
    assert counts_of(store) == recount(store, ids)
    assert sum(number for (sort, *_), number in counts_of(store).items() if sort == INSERTED) == 50
