"""Connections and Web Connector sessions."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from adapters.dynamodb import DynamoDBStore
from domain.errors import Conflict
from domain.records.session import KEPT_SECONDS, LIVE_SHARDS
from domain.storage.changes import (
    AddRequest,
    CountBeginning,
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
from tests.support.unreliable_dynamodb import UPDATE_FAULTS, UnreliableDynamoDB

if TYPE_CHECKING:
    from domain.records.session import Session
    from tests.contract.stores import AnyStore


def test_a_change_of_a_connection_from_an_old_revision_conflicts(store: AnyStore) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    first_change = replace(connection, name="first").changed(timestamp(LATER))
    store.commit(Put(connection, first_change))

    with pytest.raises(Conflict) as conflict:
        store.commit(Put(connection, replace(connection, name="second").changed(timestamp(LATER))))

    assert conflict.value.current == first_change


def test_an_app_lists_its_own_connections_page_by_page(store: AnyStore) -> None:
    mine = [
        a_connection(id=f"c0000000-0000-4000-8000-0000000000{n:02}", inserted_at=timestamp(NOON + timedelta(n)))
        for n in range(5)
    ]
    for connection in (*mine, a_connection(app_id=OTHER_APP_ID, id="c0000000-0000-4000-8000-000000000099")):
        store.commit(Put(None, connection))
    deleted_connection = replace(mine[0], deleted_at=timestamp(LATER)).changed(timestamp(LATER))
    store.commit(Put(mine[0], deleted_connection))

    page, total = store.connections_of(APP_ID, 1, 2)

    assert (list(page), total) == (mine[2:4], 4)
    assert store.connections_of("a0000000-0000-4000-8000-000000000077", 0, 10) == ([], 0)


@pytest.mark.parametrize(
    ("required", "holds"),
    [
        (RequireConnection(CONNECTION_ID, APP_ID, None), True),
        (RequireConnection(CONNECTION_ID, APP_ID, "https://example.com/hook"), False),
        (RequireConnection(CONNECTION_ID, APP_ID, None, "required"), False),
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
    first_change = replace(session, last_error="first").called(LATER)
    store.commit(Put(session, first_change))

    with pytest.raises(Conflict) as conflict:
        store.commit(Put(session, replace(session, last_error="second").called(LATER)))

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


def test_silent_sessions_of_all_shards_are_found_the_longest_silent_first(store: AnyStore) -> None:
    sessions = [
        a_session(id=f"{shard:064x}", shard=shard, last_call_at=timestamp(NOON - timedelta(seconds=7 * (shard % 5))))
        for shard in range(LIVE_SHARDS)
    ]
    for session in sessions:
        store.commit(Put(None, session))

    calls = [session.last_call_at for session in store.silent_sessions(timestamp(LATER), LIVE_SHARDS)]

    assert len(calls) == LIVE_SHARDS
    assert calls == sorted(calls)


@pytest.mark.parametrize("seconds", [0, 1, 29, 30, 31, 59])
def test_a_session_is_silent_exactly_if_its_last_call_was_before_the_timestamp(store: AnyStore, seconds: int) -> None:
    moment = NOON + timedelta(seconds=30)
    store.commit(Put(None, a_session(last_call_at=timestamp(NOON + timedelta(seconds=seconds)))))

    assert bool(store.silent_sessions(timestamp(moment), 10)) is (seconds < 30)


def test_live_sessions_are_counted_by_shard_and_app_and_by_the_minute_of_their_last_call(store: AnyStore) -> None:
    calls = [(0, 0, APP_ID), (0, 1, OTHER_APP_ID), (0, 5, APP_ID), (0, 5, ""), (7, 5, APP_ID)]
    for number, (shard, minutes, app_id) in enumerate(calls):
        call = timestamp(NOON + timedelta(minutes=minutes, seconds=30))
        store.commit(Put(None, a_session(id=f"{number:064x}", shard=shard, last_call_at=call, app_id=app_id)))
    ended = a_session(id="ff" * 32, last_call_at=timestamp(NOON + timedelta(minutes=5)))
    store.commit(Put(None, ended))
    store.commit(Put(ended, replace(ended, ended=True).called(NOON + timedelta(minutes=5))))

    def counted(shard: int, minutes: float) -> dict[str, int]:
        return dict(store.live_sessions(shard, timestamp(NOON + timedelta(minutes=minutes))))

    for later in (0.0, 0.9):
        assert counted(0, later) == {APP_ID: 2, OTHER_APP_ID: 1, "": 1}
    for later in (1.0, 1.9):
        assert counted(0, later) == {APP_ID: 1, OTHER_APP_ID: 1, "": 1}
    for later in (2.0, 5.9):
        assert counted(0, later) == {APP_ID: 1, "": 1}
    assert (counted(0, 6), counted(7, 0)) == ({}, {APP_ID: 1})


def test_the_index_of_live_sessions_changes_once_a_minute(emulated: DynamoDBStore) -> None:
    def entry() -> tuple[str, str]:
        item = emulated.client.scan(TableName=emulated.tables.sessions)["Items"][0]
        return item["live"]["S"], item["live_minute"]["S"]

    session = a_session(shard=5, last_call_at=timestamp(NOON))
    emulated.commit(Put(None, session))
    entries = [entry()]
    for seconds in range(1, 180, 3):
        after = session.called(NOON + timedelta(seconds=seconds))
        emulated.commit(Put(session, after))
        session = after
        if entry() != entries[-1]:
            entries.append(entry())

    assert len(entries) == 3
    assert {shard for shard, _ in entries} == {"5"}


def test_the_ended_sessions_of_a_connection_are_found_newest_first(store: AnyStore) -> None:
    chance = random.Random(41)
    ended: list[Session] = []
    for number in range(40):
        began = timestamp(NOON + timedelta(seconds=chance.randrange(10**6)))
        owner = chance.choice((CONNECTION_ID, "c0000000-0000-4000-8000-000000000002"))
        session = a_session(id=f"{number:064x}", connection_id=owner, began_at=chance.choice((began, began, "")))
        store.commit(Put(None, session))
        if chance.random() < 0.7:
            store.commit(Put(session, after := replace(session, ended=True).called(LATER)))
            ended += [after] if after.began_at and owner == CONNECTION_ID else []
    ended.sort(key=lambda session: session.began_at, reverse=True)

    for since in ("", ended[len(ended) // 2].began_at, timestamp(NOON + timedelta(days=30))):
        for limit in (1, 5, 100):
            expected = [session for session in ended if session.began_at >= (since or timestamp(NOON))][:limit]
            assert list(store.ended_sessions(CONNECTION_ID, since or timestamp(NOON), limit)) == expected


def test_an_ended_session_has_one_entry_of_its_connection_and_a_live_one_has_none(emulated: DynamoDBStore) -> None:
    def entries() -> int:
        query = {
            "TableName": emulated.tables.sessions,
            "IndexName": "of_connection",
            "KeyConditionExpression": "connection_id = :id",
            "ExpressionAttributeValues": {":id": {"S": CONNECTION_ID}},
        }
        return int(emulated.client.query(**query)["Count"])

    session = a_session(began_at=timestamp(NOON))
    emulated.commit(Put(None, session))
    for seconds in range(1, 5):
        after = session.called(NOON + timedelta(seconds=seconds))
        emulated.commit(Put(session, after))
        session = after
        assert entries() == 0
    emulated.commit(Put(session, replace(session, ended=True).called(LATER)))
    assert entries() == 1


def a_beginning(**fields: Any) -> CountBeginning:
    values: dict[str, Any] = {
        "shard": 0,
        "period": 1_000,
        "limit": 9,
        "app_id": APP_ID,
        "limit_of_app": 9,
        "expires_at": 5_000,
    }
    return CountBeginning(**(values | fields))


def test_sessions_that_begin_are_counted_up_to_the_limit_of_their_app(store: AnyStore) -> None:
    first, other = (a_beginning(limit=5, limit_of_app=3, app_id=app_id) for app_id in (APP_ID, "another-app"))

    def begins(counting: CountBeginning) -> bool:
        try:
            store.commit(Put(None, a_session(id=f"{next(numbers):064x}")), counting)
        except Conflict:
            return False
        return True

    numbers = count()
    assert [begins(first) for _ in range(4)] == [True, True, True, False]
    assert [begins(other) for _ in range(3)] == [True, True, False]
    assert not begins(first)


@pytest.mark.parametrize("limit", [1, 3])
def test_sessions_that_begin_are_counted_up_to_the_limit_of_their_shard_and_period(store: AnyStore, limit: int) -> None:
    counting = a_beginning(shard=3, limit=limit)
    sessions = [a_session(id=f"{number:064x}") for number in range(limit + 1)]
    for session in sessions[:limit]:
        store.commit(Put(None, session), counting)

    with pytest.raises(Conflict) as conflict:
        store.commit(Put(None, sessions[limit]), counting)

    assert conflict.value.change == counting
    assert store.session(sessions[limit].id) is None
    for other in (replace(counting, shard=4), replace(counting, period=1_002)):
        store.commit(Put(None, a_session(id=f"{other.shard}{other.period}")), other)


def test_sessions_that_begin_at_the_same_time_do_not_exceed_the_limit(emulated: DynamoDBStore) -> None:
    counting = a_beginning(limit=5)

    def begin(number: int) -> bool:
        try:
            emulated.commit(Put(None, a_session(id=f"{number:064x}")), counting)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        begun = list(threads.map(begin, range(40)))

    assert sum(begun) == 5


@pytest.mark.parametrize("fault", UPDATE_FAULTS)
def test_a_session_whose_count_is_not_answered_begins_all_the_same(emulated: DynamoDBStore, fault: str) -> None:
    client = UnreliableDynamoDB(emulated.client, {"update_item": fault}.get)
    store = DynamoDBStore(client, emulated.tables, sleep=lambda _: None)
    session = a_session()

    store.commit(Put(None, session), a_beginning(limit=1))

    assert client.happened == [fault]
    assert store.session(session.id) == session


def test_only_ended_sessions_expire(emulated: DynamoDBStore) -> None:
    client, table = emulated.client, emulated.tables.sessions
    live = a_session()
    emulated.commit(Put(None, live))
    assert "expires_at" not in client.scan(TableName=table)["Items"][0]

    ended = replace(live, ended=True).called(LATER)
    emulated.commit(Put(live, ended))

    (item,) = client.scan(TableName=table)["Items"]
    assert item["expires_at"] == {"N": str(int(LATER.timestamp()) + KEPT_SECONDS)}
