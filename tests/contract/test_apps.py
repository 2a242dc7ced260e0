"""Apps, API keys, idempotency keys and the read of a webhook attempt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.apps.record import ApiKey, App, Scope
from domain.errors import Conflict
from domain.requests.record import QueuedRequest, State, StoredRequest, Tombstone, timestamp
from domain.storage.changes import (
    ChangeRequest,
    ClaimIdempotencyKey,
    IdempotencyClaim,
    PutApiKey,
    PutApp,
    RemoveRequest,
)
from domain.storage.ports import Delivery
from tests.contract.stores import LATER, add
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, a_record

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore


def claim(**fields: object) -> ClaimIdempotencyKey:
    """Return a claim made at 1000 that expires at 2000."""
    claim = ClaimIdempotencyKey(APP_ID, "key", "hash", "record", now=1000, expires_at=2000)
    return replace(claim, **fields)  # type: ignore[arg-type]


def test_a_key_is_claimed_once(store: AnyStore) -> None:
    store.commit(claim())

    with pytest.raises(Conflict) as conflict:
        store.commit(claim(now=1999, record_id="other"))

    assert conflict.value.current == IdempotencyClaim("hash", "record", 2000)


@pytest.mark.parametrize("fields", [{"now": 2000}, {"app_id": OTHER_APP_ID}, {"key": "other"}])
def test_expired_and_other_keys_are_free(store: AnyStore, fields: dict[str, object]) -> None:
    store.commit(claim())

    store.commit(claim(**fields))


def test_apps_and_keys_are_read_back_whole(store: AnyStore) -> None:
    app = App(APP_ID, "Shop", timestamp(NOON), ("whsec_b", "whsec_a"))
    key = ApiKey("ab" * 32, APP_ID, Scope.READ_ONLY, "sk_abcd", timestamp(NOON))
    store.commit(PutApp(None, app), PutApiKey(None, key))
    revoked = replace(key, revoked_at=timestamp(LATER), revision=2)

    store.commit(PutApiKey(key, revoked))

    assert store.app(APP_ID) == app
    assert store.app(key.hash) is None
    assert store.api_key(key.hash) == revoked
    assert store.api_key(APP_ID) is None
    assert list(store.api_keys_of(APP_ID)) == [revoked]


def test_two_changes_of_an_app_do_not_both_hold(store: AnyStore) -> None:
    app = App(APP_ID, "Shop", timestamp(NOON))
    store.commit(PutApp(None, app))
    store.commit(PutApp(app, replace(app, webhook_secrets=("whsec_a",), revision=2)))

    for late in (PutApp(app, replace(app, name="late", revision=2)), PutApp(None, app)):
        with pytest.raises(Conflict):
            store.commit(late)


def test_a_delivery_has_record_bodies_and_secrets(store: AnyStore) -> None:
    store.commit(PutApp(None, App(APP_ID, "Shop", timestamp(NOON), ("whsec_a",))))
    record = a_record(state=State.SENT)
    add(store, record)
    response = "<a>" + "é" * 200_000 + "</a>"
    store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=response))
    ended = store.request(record.id)
    assert isinstance(ended, QueuedRequest)

    for parts in (0, ended.response_parts):
        whole = store.delivery(record.id, APP_ID, response_parts=parts, max_response_bytes=2**20)
        assert whole == Delivery(StoredRequest(ended, REQUEST_XML, response), ("whsec_a",))
    small = store.delivery(record.id, APP_ID, response_parts=0, max_response_bytes=1000)
    assert small == Delivery(StoredRequest(ended, REQUEST_XML, None), ("whsec_a",))


def test_a_delivery_of_a_deleted_record_is_its_tombstone(store: AnyStore) -> None:
    record = a_record(state=State.ERROR)
    add(store, record)
    store.commit(RemoveRequest(record, timestamp(LATER)))

    found = store.delivery(record.id, APP_ID, response_parts=0, max_response_bytes=1000)

    assert isinstance(found, Tombstone)
    missing = "b0000000-0000-4000-8000-000000000001"
    assert store.delivery(missing, APP_ID, response_parts=0, max_response_bytes=10) is None
