"""Connections and Web Connector sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.errors import Conflict
from domain.records.session import KEPT_SECONDS
from domain.storage.changes import (
    AddRequest,
    Put,
    RequireConnection,
)
from domain.timestamps import timestamp
from tests.contract.stores import LATER
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    a_connection,
    a_record,
    a_session,
)

if TYPE_CHECKING:
    from adapters.dynamodb import DynamoDBStore
    from tests.contract.stores import AnyStore


def test_a_change_of_a_connection_from_an_old_revision_conflicts(store: AnyStore) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    first_change = connection.changed(timestamp(LATER), name="first")
    store.commit(Put(connection, first_change))

    with pytest.raises(Conflict) as conflict:
        store.commit(Put(connection, connection.changed(timestamp(LATER), name="second")))

    assert conflict.value.current == first_change


def test_an_app_lists_its_own_connections_page_by_page(store: AnyStore) -> None:
    mine = [
        a_connection(id=f"c0000000-0000-4000-8000-0000000000{n:02}", inserted_at=timestamp(NOON + timedelta(n)))
        for n in range(5)
    ]
    for connection in (*mine, a_connection(app_id=OTHER_APP_ID, id="c0000000-0000-4000-8000-000000000099")):
        store.commit(Put(None, connection))
    deleted_connection = mine[0].changed(timestamp(LATER), deleted_at=timestamp(LATER))
    store.commit(Put(mine[0], deleted_connection))

    page, total = store.connections_of(APP_ID, 1, 2)

    assert (list(page), total) == (mine[2:4], 4)
    assert store.connections_of("a0000000-0000-4000-8000-000000000077", 0, 10) == ([], 0)


@pytest.mark.parametrize(
    ("required", "holds"),
    [
        (RequireConnection(CONNECTION_ID, APP_ID, None), True),
        (RequireConnection(CONNECTION_ID, APP_ID, "https://example.com/hook"), False),
        (RequireConnection(CONNECTION_ID, OTHER_APP_ID, None), False),
        (RequireConnection("c0000000-0000-4000-8000-000000000099", APP_ID, None), False),
    ],
)
def test_a_commit_can_require_a_connection(store: AnyStore, required: RequireConnection, *, holds: bool) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    record = a_record()

    if holds:
        store.commit(required, AddRequest(record, REQUEST_XML, ""))
    else:
        with pytest.raises(Conflict) as conflict:
            store.commit(required, AddRequest(record, REQUEST_XML, ""))
        mine = required.app_id == APP_ID and required.connection_id == CONNECTION_ID
        assert conflict.value.current == (connection if mine else None)

    assert (store.request(record.id) is not None) == holds


def test_requiring_a_deleted_connection_raises_not_found(store: AnyStore) -> None:
    store.commit(Put(None, a_connection(deleted_at=timestamp(NOON))))

    with pytest.raises(Conflict) as conflict:
        store.commit(RequireConnection(CONNECTION_ID, APP_ID, None), AddRequest(a_record(), REQUEST_XML, ""))

    assert conflict.value.current is None


def test_a_change_of_a_session_from_an_old_revision_conflicts(store: AnyStore) -> None:
    session = a_session()
    store.commit(Put(None, session))
    first_change = session.called(LATER, last_error="first")
    store.commit(Put(session, first_change))

    with pytest.raises(Conflict) as conflict:
        store.commit(Put(session, session.called(LATER, last_error="second")))

    assert conflict.value.current == first_change


def test_the_sweep_finds_open_sessions_that_are_silent(store: AnyStore) -> None:
    silent = a_session(id="01" * 32, last_call_at=timestamp(NOON))
    silent_longer = a_session(id="02" * 32, last_call_at=timestamp(NOON - timedelta(hours=1)))
    lively = a_session(id="03" * 32, last_call_at=timestamp(LATER))
    ended_session = a_session(id="04" * 32, last_call_at=timestamp(NOON), ended=True)
    for session in (silent, silent_longer, lively, ended_session):
        store.commit(Put(None, session))

    assert list(store.silent_sessions(timestamp(LATER), 10)) == [silent_longer, silent]
    assert list(store.silent_sessions(timestamp(LATER), 1)) == [silent_longer]


def test_only_ended_sessions_expire(emulated: DynamoDBStore) -> None:
    client, table = emulated.client, emulated.tables.sessions
    live = a_session()
    emulated.commit(Put(None, live))
    assert "expires_at" not in client.scan(TableName=table)["Items"][0]

    ended = live.called(LATER, ended=True)
    emulated.commit(Put(live, ended))

    (item,) = client.scan(TableName=table)["Items"]
    assert item["expires_at"] == {"N": str(int(LATER.timestamp()) + KEPT_SECONDS)}
