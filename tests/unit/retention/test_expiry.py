"""The expiry of a record, and the function that the stream invokes after its removal."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from adapters.dynamodb.records import record_item
from domain.errors import TooManyRequests
from domain.maintenance.retention import forget_record
from domain.records.request import ENDED, QueuedRequest, State, Tombstone
from domain.records.retention import SECONDS_A_DAY, expires_at
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest
from domain.timestamps import timestamp
from handlers import log_and_forget
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_record
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore
from tests.support.services import services_with, using
from tests.support.webhooks import stream_image

LATER = NOON + timedelta(days=40)


@for_each("state", list(State))
@for_each("webhook_state", list(WebhookState))
def test_only_an_ended_request_with_a_settled_webhook_expires(state: State, webhook_state: WebhookState) -> None:
    record = a_record(state=state, webhook=Webhook(webhook_state))

    settled = state in ENDED and webhook_state is not WebhookState.PENDING
    assert expires_at(record, 30) == (int(NOON.timestamp()) + 30 * SECONDS_A_DAY if settled else None)


@pytest.mark.parametrize("state", list(State))
def test_without_a_retention_time_no_record_expires(state: State) -> None:
    assert expires_at(a_record(state=state), 0) is None


def test_a_redelivery_removes_the_expiry_and_its_end_sets_a_later_one() -> None:
    record = a_record(state=State.ERROR, webhook=Webhook(WebhookState.FAILED))

    again = record.with_webhook(LATER, replace(record.webhook, state=WebhookState.PENDING))
    delivered = again.with_webhook(LATER, replace(again.webhook, state=WebhookState.SUCCEEDED))

    assert expires_at(again, 30) is None
    assert expires_at(delivered, 30) == int(LATER.timestamp()) + 30 * SECONDS_A_DAY


def an_expired_record(store: FakeStore) -> QueuedRequest:
    """Store an ended record and let time to live remove it."""
    record = a_record(state=State.DISCARDED)
    store.commit(AddRequest(record, REQUEST_XML, ""))
    assert record in store.expire(int(LATER.timestamp()))
    return record


def removal(record: QueuedRequest, number: int = 1) -> dict[str, Any]:
    """Return the stream record of a removal, as Lambda passes it on."""
    return {"dynamodb": {"SequenceNumber": str(number), "OldImage": stream_image(record_item(record, 1))}}


def test_the_remains_of_an_expired_record_are_removed_once() -> None:
    store = FakeStore(retention_days=30)
    record = an_expired_record(store)

    assert [forget_record(store, record, LATER) for _ in range(2)] == [True, False]

    assert store.records == {record.id: Tombstone(record.id, CONNECTION_ID, APP_ID, timestamp(LATER))}
    assert not store.bodies
    assert not store.counts


def test_an_existing_record_is_not_forgotten() -> None:
    """Such a stream record cannot occur. A record that still exists loses nothing."""
    store = FakeStore(retention_days=30)
    record = a_record(state=State.DISCARDED)
    store.commit(AddRequest(record, REQUEST_XML, ""))

    assert not forget_record(store, record, NOON)

    assert store.records == {record.id: record}
    assert store.counts == store.recount(CONNECTION_ID)


def test_a_record_that_cannot_be_read_does_not_block_others() -> None:
    """A repetition would fail as well, and the events behind it would wait."""
    store = FakeStore(retention_days=30)
    records = [an_expired_record(store) for _ in range(3)]
    entries = [removal(record, number) for number, record in enumerate(records)]
    del entries[1]["dynamodb"]["OldImage"]["state"]

    with using(services_with(store, FixedClock(LATER))):
        response = log_and_forget.handler({"Records": entries}, None)

    assert response == {"batchItemFailures": []}
    assert set(store.bodies) == {records[1].id}


def test_contention_causes_the_stream_record_to_be_delivered_again() -> None:
    class Contended(FakeStore):
        def commit(self, *changes: object) -> None:
            raise TooManyRequests(f"busy: {changes}")

    with using(services_with(Contended(), FixedClock())):
        response = log_and_forget.handler({"Records": [removal(a_record(state=State.ERROR), 7)]}, None)

    assert response == {"batchItemFailures": [{"itemIdentifier": "7"}]}
