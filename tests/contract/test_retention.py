"""Records that expire: the database removes them alone, late and in any order; counts and bodies follow once."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from adapters.dynamodb.records import RECORDS
from domain.errors import Conflict
from domain.maintenance.old_statistics import OldStatistics
from domain.maintenance.retention import forget_record
from domain.maintenance.search_packing import pack_days
from domain.records.request import QueuedRequest, State, StoredRequest, Tombstone
from domain.records.retention import SECONDS_A_DAY
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.statistics import KEPT_DAYS
from domain.timestamps import timestamp
from tests.contract.conftest import ENDPOINT, RETENTION_DAYS
from tests.contract.stores import add, counts_of, recount, stored_request
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore

LATER = NOON + timedelta(days=RETENTION_DAYS, hours=1)
AN_HOUR = timedelta(hours=1)
RUNS = 4
"""Runs of the packer: the first finds that a day is quiet, the next ones pack and clean up, the last has nothing to
do."""

LARGE = random.Random(1).randbytes(150_000).hex()
"""Too large for a body item, as a request and as a response."""


def expire(store: AnyStore, now: datetime) -> list[QueuedRequest]:
    """Remove the items that expired before `now` as DynamoDB's time to live does. Return the removals in its stream."""
    seconds = int(now.timestamp())
    if isinstance(store, FakeStore):
        return store.expire(seconds)
    client, table = store.client, store.tables.queued_requests
    removals = []
    for item in client.scan(TableName=table)["Items"]:
        if "state" in item and int(item.get("expires_at", {"N": seconds})["N"]) < seconds:
            with suppress(ClientError):  # it was changed meanwhile
                response = client.delete_item(
                    TableName=table,
                    Key={"id": item["id"]},
                    ConditionExpression="expires_at < :now AND attribute_exists(#state)",
                    ExpressionAttributeNames={"#state": "state"},
                    ExpressionAttributeValues={":now": {"N": str(seconds)}},
                    ReturnValues="ALL_OLD",
                )
                removals.append(RECORDS.entity(response["Attributes"]))
    return removals


def with_bodies(store: AnyStore, ids: list[str]) -> set[str]:
    """Return those of these records that have items in the table of bodies."""
    if isinstance(store, FakeStore):
        return set(store.bodies)
    client, table = store.client, store.tables.payloads
    return {
        record_id
        for record_id in ids
        if client.query(
            TableName=table,
            KeyConditionExpression="request_id = :one",
            FilterExpression="attribute_not_exists(removed)",  # replaces a body until no search block contains its text
            ExpressionAttributeValues={":one": {"S": record_id}},
        )["Items"]
    }


def kept_days(store: AnyStore) -> set[str]:
    """Return the days that have a row of counts."""
    return {day.day for day in store.day_counts(CONNECTION_ID)}


def days_of(records: list[QueuedRequest]) -> set[str]:
    """Return the days on which these records were stored and last changed."""
    return {moment[:10] for record in records for moment in (record.inserted_at, record.updated_at)}


def pack(store: AnyStore) -> None:
    """Run the packer as often as it runs in a few hours."""
    for _ in range(RUNS):
        pack_days(store, FixedClock(LATER), LATER + AN_HOUR)


def forget(store: AnyStore, record: QueuedRequest) -> bool:
    """Clean up as the function of the stream does."""
    return forget_record(store, record, LATER)


def an_ended_record(store: AnyStore, response: str = "<a/>", request: str = REQUEST_XML) -> QueuedRequest:
    """Store a record that has ended and return it."""
    record = a_record(state=State.SENT)
    add(store, record, request)
    store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), response_xml=response))
    stored_record = store.request(record.id)
    assert isinstance(stored_record, QueuedRequest)
    return stored_record


def test_only_expired_records_are_removed(store: AnyStore) -> None:
    old = an_ended_record(store)
    for state in (State.WAITING, State.TICKETED, State.SENT):
        add(store, a_record(state=state))
    add(store, a_record(state=State.ERROR, webhook=Webhook(WebhookState.PENDING)))

    assert expire(store, NOON + timedelta(seconds=RETENTION_DAYS * SECONDS_A_DAY)) == []
    assert expire(store, LATER) == [old]


def test_an_expired_record_is_removed_with_bodies_and_counts_and_is_not_found(store: AnyStore) -> None:
    store.commit(Put(None, a_connection()))
    record, other = an_ended_record(store, response=LARGE, request=LARGE), an_ended_record(store)
    store.commit(ChangeRequest(other, later := other.changed(LATER)))
    assert expire(store, LATER) == [record]

    assert forget(store, record)

    tombstone = Tombstone(record.id, CONNECTION_ID, APP_ID, timestamp(LATER))
    assert stored_request(store, record.id) == tombstone
    assert stored_request(store, other.id) == StoredRequest(later, REQUEST_XML, "<a/>")
    assert with_bodies(store, [record.id, other.id]) == {other.id}
    assert counts_of(store) == recount(store, [other.id])


def test_between_the_removal_and_the_function_lists_omit_the_record(store: AnyStore) -> None:
    record = an_ended_record(store)
    expire(store, LATER)

    assert store.request(record.id) is None
    assert stored_request(store, record.id) is None
    assert not store.request_batch([record.id]).records
    assert store.delivery(record.id, APP_ID, response_chunks="", max_response_bytes=10) is None


def test_a_repeated_stream_record_changes_nothing(store: AnyStore) -> None:
    records = [an_ended_record(store), an_ended_record(store)]
    expire(store, LATER)

    assert [forget(store, record) for record in (*records, *records, records[0])] == [True, True, *[False] * 3]

    assert counts_of(store) == {}


def test_a_deleted_record_is_subtracted_from_the_counts_once(store: AnyStore) -> None:
    record = an_ended_record(store)
    store.commit(RemoveRequest(record, timestamp(LATER)))

    assert expire(store, LATER) == []
    assert not forget(store, record)
    assert counts_of(store) == {}


def test_a_day_is_removed_with_its_last_record(store: AnyStore) -> None:
    first, second = an_ended_record(store), an_ended_record(store)
    late = a_record(inserted_at=timestamp(LATER), updated_at=timestamp(LATER))
    add(store, late)
    expire(store, LATER)

    forget(store, first)
    pack(store)
    assert kept_days(store) == {first.inserted_at[:10], late.inserted_at[:10]}

    forget(store, second)
    OldStatistics(store, FixedClock(LATER)).look_at(CONNECTION_ID, store.day_counts(CONNECTION_ID))
    pack(store)
    assert kept_days(store) == {late.inserted_at[:10]}
    assert counts_of(store) == recount(store, [late.id])


def test_any_changes_with_expiry_leave_exact_counts_and_no_bodies_behind(store: AnyStore) -> None:
    """Stream records arrive late, repeatedly and in any order. A function that died is one that was not called."""
    chance = random.Random(20260315)
    clock = FixedClock()
    ids: list[str] = []
    removals: list[QueuedRequest] = []
    for _ in range(100 if ENDPOINT else 150):
        now = clock.advance(days=chance.choice([0, 1, 9]))
        alive = [record for record in map(store.request, ids[-12:]) if isinstance(record, QueuedRequest)]
        step = chance.random()
        if not alive or step < 0.25:
            record = a_record(
                inserted_at=timestamp(now),
                updated_at=timestamp(now),
                state=chance.choice([State.WAITING, State.SENT, State.SENT]),
                webhook=Webhook(chance.choice([WebhookState.NOT_APPLICABLE, WebhookState.PENDING])),
            )
            add(store, record, chance.choice([REQUEST_XML, LARGE]))
            ids.append(record.id)
        elif step < 0.75:
            change_somehow(store, chance.choice(alive), now, chance)
        elif step < 0.85:
            removals += expire(store, now)
        elif removals:
            forget_record(store, chance.choice(removals), clock())
            pack_days(store, clock, now + AN_HOUR)
    removals += expire(store, now)
    for record in chance.sample(removals, len(removals)):
        forget_record(store, record, clock())
    clock.advance(days=KEPT_DAYS)
    OldStatistics(store, clock).look_at(CONNECTION_ID, store.day_counts(CONNECTION_ID))
    for _ in range(RUNS):
        pack_days(store, clock, clock() + AN_HOUR)

    record_ids = [record_id for record_id in ids if isinstance(store.request(record_id), QueuedRequest)]
    assert len(removals) > 5
    assert counts_of(store) == recount(store, ids)
    assert kept_days(store) & days_of(removals) <= {day for _, day, *_ in counts_of(store)}
    assert with_bodies(store, ids) == set(record_ids)


def change_somehow(store: AnyStore, record: QueuedRequest, now: datetime, chance: random.Random) -> None:
    """Take a step that the state of the record allows."""
    match record.state:
        case State.WAITING:
            store.commit(ChangeRequest(record, record.moved(State.DISCARDED, now)))
        case State.SENT:
            after = record.moved(State.RESPONSE_RECEIVED, now)
            store.commit(ChangeRequest(record, after, response_xml=chance.choice(["<a/>", LARGE])))
        case _ if record.webhook_state is WebhookState.PENDING:
            webhook_state = chance.choice([WebhookState.SUCCEEDED, WebhookState.FAILED])
            store.commit(ChangeRequest(record, record.with_webhook(now, replace(record.webhook, state=webhook_state))))
        case _ if record.webhook_state is WebhookState.FAILED:
            store.commit(
                ChangeRequest(record, record.with_webhook(now, replace(record.webhook, state=WebhookState.PENDING)))
            )
        case _:
            store.commit(RemoveRequest(record, timestamp(now)))


def lives(store: AnyStore, seed: int) -> list[str]:
    """Store records and change each a few times; return their ids."""
    chance, ids = random.Random(seed), []
    for _ in range(6):
        record = a_record(state=State.SENT)
        store.commit(AddRequest(record, REQUEST_XML, ""))
        ids.append(record.id)
        for _ in range(chance.randrange(4)):
            current = store.request(record.id)
            if isinstance(current, QueuedRequest):
                with suppress(Conflict):  # it was removed meanwhile
                    change_somehow(store, current, NOON, chance)
    return ids


def test_threads_that_change_delete_and_expire_at_once_leave_exact_counts(store: AnyStore) -> None:
    removals: list[QueuedRequest] = []
    over = Event()

    def time_to_live() -> None:
        while not over.is_set():
            removals.extend(expire(store, LATER))

    def function(seed: int) -> None:
        chance = random.Random(seed)
        while not over.is_set():
            if removals:
                forget(store, chance.choice(removals))
                pack_days(store, FixedClock(LATER), LATER + AN_HOUR)

    with ThreadPoolExecutor(9) as threads:
        behind = [threads.submit(time_to_live), *(threads.submit(function, seed) for seed in range(2))]
        ids = [
            record_id
            for ids_of_thread in threads.map(lambda seed: lives(store, seed), range(6))
            for record_id in ids_of_thread
        ]
        over.set()
    for future in behind:
        future.result()
    removals.extend(expire(store, LATER))
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda record: forget(store, record), [*removals, *removals[::-1]]))

    assert removals
    assert counts_of(store) == recount(store, ids)
    assert with_bodies(store, ids) == {
        record_id for record_id in ids if isinstance(store.request(record_id), QueuedRequest)
    }
