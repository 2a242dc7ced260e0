"""Apps, API keys, idempotency keys and the read of a webhook attempt."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import Conflict
from domain.records.app import ApiKey, App, Scope
from domain.records.request import QueuedRequest, State, StoredRequest, Tombstone
from domain.storage.changes import (
    ChangeRequest,
    ClaimIdempotencyKey,
    IdempotencyClaim,
    Put,
    RemoveRequest,
)
from domain.storage.ports import Delivery, Lease, Usage
from domain.timestamps import timestamp
from tests.contract.stores import LATER, add
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, a_connection, a_record

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore


def claim(*, record_id: str = "record", **fields: object) -> ClaimIdempotencyKey:
    """Return a claim made at 1000 that expires at 2000."""
    claim = ClaimIdempotencyKey(APP_ID, "key", IdempotencyClaim("hash", record_id, 2000), now=1000)
    return replace(claim, **fields)  # type: ignore[arg-type]


def test_a_key_is_claimed_once(store: AnyStore) -> None:
    store.commit(claim())

    with pytest.raises(Conflict) as conflict:
        store.commit(claim(now=1999, record_id="other"))

    assert conflict.value.current == IdempotencyClaim("hash", "record", 2000)


def test_a_key_that_was_released_is_claimed_once(store: AnyStore) -> None:
    store.commit(claim())

    store.commit(claim(now=1999, record_id="other", released="record"))

    with pytest.raises(Conflict) as conflict:
        store.commit(claim(now=1999, record_id="third", released="record"))
    assert conflict.value.current == IdempotencyClaim("hash", "other", 2000)


@pytest.mark.parametrize("fields", [{"now": 2000}, {"app_id": OTHER_APP_ID}, {"key": "other"}])
def test_expired_and_other_keys_are_free(store: AnyStore, fields: dict[str, Any]) -> None:
    store.commit(claim())

    store.commit(claim(**fields))


def test_the_claim_of_a_key_is_read_back_whole(store: AnyStore) -> None:
    store.commit(claim())

    assert store.idempotency_claim(APP_ID, "key") == IdempotencyClaim("hash", "record", 2000)
    assert store.idempotency_claim(APP_ID, "other") is None
    assert store.idempotency_claim(OTHER_APP_ID, "key") is None


def test_apps_and_keys_are_read_back_whole(store: AnyStore) -> None:
    app = App(APP_ID, "Shop", timestamp(NOON), ("whsec_b", "whsec_a"))
    key = ApiKey("ab" * 32, APP_ID, Scope.READ_ONLY, "sk_abcd", timestamp(NOON))
    store.commit(Put(None, app), Put(None, key))
    revoked = replace(key, revoked_at=timestamp(LATER), revision=2)

    store.commit(Put(key, revoked))

    assert store.app(APP_ID) == app
    assert store.app(key.hash) is None
    assert store.api_key(key.hash) == revoked
    assert store.api_key(APP_ID) is None
    assert list(store.api_keys_of(APP_ID)) == [revoked]


def test_the_second_of_two_concurrent_changes_of_an_app_conflicts(store: AnyStore) -> None:
    app = App(APP_ID, "Shop", timestamp(NOON))
    store.commit(Put(None, app))
    store.commit(Put(app, replace(app, webhook_secrets=("whsec_a",), revision=2)))

    for late in (Put(app, replace(app, name="late", revision=2)), Put(None, app)):
        with pytest.raises(Conflict):
            store.commit(late)


def test_a_delivery_has_record_bodies_and_secrets(store: AnyStore) -> None:
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), ("whsec_a",))))
    record = a_record(state=State.SENT)
    add(store, record)
    response = "<a>" + "é" * 200_000 + "</a>"
    store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=response))
    ended_record = store.request(record.id)
    assert isinstance(ended_record, QueuedRequest)

    for parts in ("", ended_record.response_chunks):
        whole = store.delivery(record.id, APP_ID, response_chunks=parts, max_response_bytes=2**20)
        assert whole == Delivery(StoredRequest(ended_record, REQUEST_XML, response), ("whsec_a",))
    small = store.delivery(record.id, APP_ID, response_chunks="", max_response_bytes=1000)
    assert small == Delivery(StoredRequest(ended_record, REQUEST_XML, None), ("whsec_a",))


def test_a_delivery_of_a_deleted_record_is_its_tombstone(store: AnyStore) -> None:
    record = a_record(state=State.ERROR)
    add(store, record)
    store.commit(RemoveRequest(record, timestamp(LATER)))

    delivery = store.delivery(record.id, APP_ID, response_chunks="", max_response_bytes=1000)

    assert isinstance(delivery, Tombstone)
    missing = "b0000000-0000-4000-8000-000000000001"
    assert store.delivery(missing, APP_ID, response_chunks="", max_response_bytes=10) is None


def test_all_apps_are_listed_oldest_first_without_their_keys(store: AnyStore) -> None:
    apps = [App(app_id, "Shop", timestamp(moment)) for app_id, moment in ((APP_ID, LATER), (OTHER_APP_ID, NOON))]
    key = ApiKey("ab" * 32, APP_ID, Scope.FULL, "sk_abcd", timestamp(NOON))
    store.commit(*(Put(None, app) for app in apps), Put(None, key))

    assert list(store.apps_by_age()) == [apps[1], apps[0]]


def test_the_connections_of_an_app_are_listed_oldest_first(store: AnyStore) -> None:
    connections = [
        a_connection(id=f"c0000000-0000-4000-8000-00000000000{number}", inserted_at=timestamp(moment), app_id=app_id)
        for number, (moment, app_id) in enumerate([(LATER, APP_ID), (NOON, APP_ID), (NOON, OTHER_APP_ID)])
    ]
    store.commit(*(Put(None, connection) for connection in connections))

    assert store.connection_ids_of(APP_ID) == [connections[1].id, connections[0].id]


def test_usage_adds_up_for_each_app_and_counter(store: AnyStore) -> None:
    for app_id, counter in ((APP_ID, "creates#1"), (APP_ID, "creates#2"), (OTHER_APP_ID, "creates#1")):
        assert store.add_usage(app_id, counter, 3, expires_at=2000) == Usage(3)

    assert store.add_usage(APP_ID, "creates#1", 4, expires_at=2000) == Usage(7)


def test_usage_is_replaced(store: AnyStore) -> None:
    store.add_usage(APP_ID, "waiting", 10)
    store.set_usage(APP_ID, "waiting", Usage(3, counted_at=1000))

    assert store.add_usage(APP_ID, "waiting", 1) == Usage(4, counted_at=1000)


def test_no_use_is_lost_when_many_are_added_at_once(store: AnyStore) -> None:
    with ThreadPoolExecutor(8) as threads:
        totals = list(threads.map(lambda _: store.add_usage(APP_ID, "waiting", 2).total, range(40)))

    assert sorted(totals) == list(range(2, 82, 2))


def test_a_removed_app_leaves_no_counter_and_no_other_app_loses_one(store: AnyStore) -> None:
    for app_id in (APP_ID, OTHER_APP_ID):
        store.add_usage(app_id, "waiting", 10)

    store.remove_app(APP_ID)

    assert store.add_usage(APP_ID, "waiting", 1) == Usage(1)
    assert store.add_usage(OTHER_APP_ID, "waiting", 1) == Usage(11)


def test_the_latest_of_the_last_uses_of_a_key_stays_until_the_app_is_removed(store: AnyStore) -> None:
    earlier, later = timestamp(NOON), timestamp(LATER)
    for app_id, key_id, hour in (
        (APP_ID, "key_1", later),
        (APP_ID, "key_1", earlier),
        (APP_ID, "key_2", earlier),
        (OTHER_APP_ID, "key_1", earlier),
    ):
        store.set_last_use(app_id, key_id, hour, expires_at=2000)
    store.add_usage(APP_ID, "waiting", 10)
    store.add_usage(APP_ID, "creates#1", 10)

    assert store.last_uses(APP_ID) == {"key_1": later, "key_2": earlier}
    assert [store.last_use(APP_ID, key_id) for key_id in ("key_1", "key_2", "key_3")] == [later, earlier, None]

    store.remove_app(APP_ID)

    assert store.last_uses(APP_ID) == {}
    assert store.last_uses(OTHER_APP_ID) == {"key_1": earlier}


def test_a_removed_app_leaves_no_key_and_no_other_app_loses_one(store: AnyStore) -> None:
    for app_id in (APP_ID, OTHER_APP_ID):
        store.commit(Put(None, App(app_id, "Shop", timestamp(NOON), ("whsec_a",))))
    mine = [ApiKey(f"{number:064x}", APP_ID, Scope.FULL, "sk_abcd", timestamp(NOON)) for number in range(3)]
    other = ApiKey("ff" * 32, OTHER_APP_ID, Scope.FULL, "sk_abcd", timestamp(NOON))
    for key in (*mine, other):
        store.commit(Put(None, key))

    store.remove_app(APP_ID)
    store.remove_app(APP_ID)  # as after an interruption

    assert store.app(APP_ID) is None
    assert [store.api_key(key.hash) for key in mine] == [None] * 3
    assert list(store.app_ids()) == [OTHER_APP_ID]
    assert store.api_keys_of(OTHER_APP_ID) == [other]


def test_a_lease_is_held_by_one_call_until_it_is_released_or_has_expired(store: AnyStore) -> None:
    mine, yours = Lease(3, "mine", 130), Lease(3, "yours", 140)

    assert store.take_lease(mine, 100)
    assert store.take_lease(mine, 100)  # repeated by the client of the database
    assert not store.take_lease(yours, 129)
    assert store.take_lease(Lease(4, "yours", 140), 100)

    assert store.take_lease(yours, 130)
    store.release_lease(mine)  # late: the place is another's
    assert not store.take_lease(mine, 131)

    store.release_lease(yours)
    store.release_lease(yours)
    assert store.take_lease(Lease(3, "mine", 160), 132)
