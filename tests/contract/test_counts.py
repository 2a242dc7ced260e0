"""Counts stay exact."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import ChangeRequest, RemoveRequest
from domain.timestamps import timestamp
from tests.contract.stores import add, counts_of, recount
from tests.support.builders import NOON, RESPONSE_XML, a_record

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
                store.commit(ChangeRequest(record, record.with_webhook(now, state=WebhookState.SUCCEEDED)))
            case _:
                store.commit(RemoveRequest(record, timestamp(now)))

    assert counts_of(store) == recount(store, ids)
    assert len(counts_of(store)) > 3
