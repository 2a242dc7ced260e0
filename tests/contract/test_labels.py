"""No table keeps the label or the metadata of a request that was removed, in whatever way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.records.request import Paging, State
from domain.storage.changes import AddRequest, Put, RemoveRequest
from domain.storage.counts import INSERTED
from domain.storage.ports import Group, IndexDays
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client, keeping_for_a_time
from tests.contract.test_retention import LATER, expire, forget
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, a_connection, a_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.dynamodb import DynamoDBStore
    from domain.records.request import QueuedRequest

TRACES = ("l_label", "query_id", "metadata", "fields")
"""The attributes of an item that show a label, a query or metadata. `fields` has the label."""


def deletes_them(store: DynamoDBStore, records: list[QueuedRequest]) -> None:
    """Delete the requests, as their app does."""
    for record in records:
        store.commit(RemoveRequest(record, timestamp(NOON)))


def lets_them_expire(store: DynamoDBStore, records: list[QueuedRequest]) -> None:
    """Let the time to live remove the records, and clean up after it."""
    expired = expire(store, LATER)
    assert {record.id for record in expired} == {record.id for record in records}
    assert all(forget(store, record) for record in expired)


def deletes_the_connection(store: DynamoDBStore, records: list[QueuedRequest]) -> None:
    """Delete the connection and remove its data, as the sweep does."""
    connection = store.connection(CONNECTION_ID)
    assert connection
    deleted = connection.removed(timestamp(NOON))
    store.commit(Put(connection, deleted))
    assert sum(store.remove_records(deleted)) == len(records)
    store.remove_connection(deleted)


@pytest.mark.parametrize("remove", [deletes_them, lets_them_expire, deletes_the_connection])
def test_nothing_of_a_label_or_of_metadata_is_left(
    remove: Callable[[DynamoDBStore, list[QueuedRequest]], None],
) -> None:
    with emulated_dynamodb():
        client = dynamodb_client()
        tables = make_tables(client, "")
        store = keeping_for_a_time(client, tables)
        store.commit(Put(None, a_connection()))
        first = a_record(state=State.ERROR, label="nightly")
        records = [first, a_record(state=State.ERROR, label="nightly", paging=Paging(2, first.id))]
        for record in records:
            store.commit(AddRequest(record, REQUEST_XML, "text", {"order": "1007"}))
        groups = (Group("label", "nightly"), Group("query_id", first.id))
        days = [IndexDays(CONNECTION_ID, INSERTED, "2026-03-14", "2026-03-14", {group: 2}) for group in groups]
        assert [sum(store.count_index_entries(one, ()).values()) for one in days] == [2, 1]
        assert traces_in(client) == set(TRACES)

        remove(store, records)

        assert [sum(store.count_index_entries(one, ()).values()) for one in days] == [0, 0]
        assert traces_in(client) == set()


def traces_in(client: Any) -> set[str]:
    """Return which of TRACES are in any item of any table."""
    names = client.list_tables()["TableNames"]
    items = [item for name in names for item in client.scan(TableName=name)["Items"]]
    return {trace for trace in TRACES for item in items if trace in item}
