"""Counts stay exact."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.errors import NotFound
from domain.records.app import App
from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import ChangeRequest, Put, RemoveRequest
from domain.timestamps import day_of, timestamp
from tests.contract.stores import add, counts_of, recount
from tests.support.builders import CONNECTION_ID, NOON, RESPONSE_XML, a_connection, a_record

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore


def test_counts_equal_a_recount_after_any_changes(store: AnyStore) -> None:
    """Random creations, transitions and deletions over three days leave the counts exact."""
    chance = random.Random(20260314)
    ids: list[str] = []
    for step in range(60):
        now = NOON + timedelta(hours=step)
        alive = [record for record in map(store.request, ids) if isinstance(record, QueuedRequest)]
        if not alive or chance.random() < 0.4:
            record = a_record(
                inserted_at=timestamp(now),
                updated_at=timestamp(now),
                webhook=Webhook(chance.choice([WebhookState.NOT_APPLICABLE, WebhookState.PENDING])),
            )
            add(store, record)
            ids.append(record.id)
            continue
        record = chance.choice(alive)
        match record.state:
            case State.WAITING:
                store.commit(ChangeRequest(record, record.moved(State.TICKETED, now)))
            case State.TICKETED:
                store.commit(ChangeRequest(record, record.moved(State.SENT, now)))
            case State.SENT:
                store.commit(
                    ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, now), response_xml=RESPONSE_XML)
                )
            case _ if record.webhook_state == WebhookState.PENDING:
                store.commit(
                    ChangeRequest(
                        record, record.with_webhook(now, replace(record.webhook, state=WebhookState.SUCCEEDED))
                    )
                )
            case _:
                store.commit(RemoveRequest(record, timestamp(now)))

    assert counts_of(store) == recount(store, ids)
    assert len(counts_of(store)) > 3


def test_counts_are_read_from_a_day_on(store: AnyStore) -> None:
    for age in (0, 1, 2, 400):
        moment = timestamp(NOON + timedelta(days=age))
        add(store, a_record(inserted_at=moment, updated_at=moment))

    days = [counts.day for counts in store.day_counts(CONNECTION_ID)]

    assert len(days) == 4
    for first in range(4):
        assert [counts.day for counts in store.day_counts(CONNECTION_ID, days[first])] == days[first:]


def test_the_counts_of_a_deleted_connection_are_not_read_from_any_day_on(store: AnyStore) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    store.commit(Put(connection, connection.removed(timestamp(NOON))))

    with pytest.raises(NotFound):
        store.day_counts(CONNECTION_ID, day_of(timestamp(NOON)))


def test_every_app_is_listed(store: AnyStore) -> None:
    apps = {f"a0000000-0000-4000-8000-{number:012}" for number in range(10, 15)}
    for app_id in apps:
        store.commit(Put(None, App(app_id, "Shop", timestamp(NOON))))

    assert apps <= set(store.app_ids())
