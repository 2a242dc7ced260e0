"""The reads of lists: index entries, search matches."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.records.request import State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest
from domain.storage.counts import INSERTED, UPDATED
from domain.storage.ports import IndexDays
from domain.timestamps import day_of, timestamp
from tests.contract.stores import LATER, add
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, a_record

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore


@pytest.mark.parametrize("sort", [INSERTED, UPDATED])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize(
    ("state", "webhook_state", "use"),
    [
        (None, None, "connection"),
        (State.WAITING, None, "state"),
        (None, WebhookState.PENDING, "webhook_state"),
        (State.WAITING, WebhookState.PENDING, "state"),
        (State.WAITING, WebhookState.PENDING, "webhook_state"),
    ],
)
def test_index_entries_are_those_of_the_days_in_order(
    store: AnyStore,
    sort: str,
    state: State | None,
    webhook_state: WebhookState | None,
    use: str,
    *,
    descending: bool,
) -> None:
    chance = random.Random(7)
    records = []
    for _ in range(40):
        inserted = NOON + timedelta(days=chance.randrange(4))
        record = a_record(
            inserted_at=timestamp(inserted),
            updated_at=timestamp(inserted + timedelta(days=chance.randrange(3))),
            state=chance.choice([State.WAITING, State.ERROR]),
            webhook=Webhook(chance.choice([WebhookState.PENDING, WebhookState.FAILED])),
        )
        records.append(record)
        add(store, record)
    expected = [
        record
        for record in records
        if "2026-03-15" <= getattr(record, sort)[:10] <= "2026-03-16"
        and state in (None, record.state)
        and webhook_state in (None, record.webhook_state)
    ]
    expected.sort(key=lambda record: (getattr(record, sort), record.id), reverse=descending)

    entries = store.index_entries(
        IndexDays(CONNECTION_ID, sort, use, "2026-03-15", "2026-03-16", state, webhook_state),
        descending=descending,
        skip=2,
        limit=5,
    )

    assert [entry.id for entry in entries] == [record.id for record in expected[2:7]]


@pytest.mark.parametrize("descending", [True, False])
def test_a_page_in_the_middle_of_a_very_full_day(store: AnyStore, *, descending: bool) -> None:
    records = [a_record(inserted_at=timestamp(NOON + timedelta(seconds=n // 3))) for n in range(1_620)]
    for start in range(0, len(records), 30):
        store.commit(*(AddRequest(record, REQUEST_XML, "") for record in records[start : start + 30]))
    records_in_order = sorted(records, key=lambda record: (record.inserted_at, record.id), reverse=descending)

    for skip in (1_600, 1_618, 1_620, 1_700):
        entries = store.index_entries(
            IndexDays(CONNECTION_ID, INSERTED, "connection", "2026-03-14", "2026-03-14"),
            descending=descending,
            skip=skip,
            limit=10,
        )
        assert [entry.id for entry in entries] == [record.id for record in records_in_order[skip : skip + 10]]


def test_a_search_finds_the_texts_that_contain_its_phrase(store: AnyStore) -> None:
    records = [a_record(inserted_at=timestamp(NOON + timedelta(days=number))) for number in range(12)]
    for number, record in enumerate(records):
        add(store, record, search_text=f"text {number}")
    split_points = [day_of(record.inserted_at) for record in records[2::3]]

    for parts in ([], split_points, ["2026-03-15T06"]):
        everything = store.search_matches(CONNECTION_ID, "text", parts)
        assert sorted(everything) == [(record.inserted_at, record.id) for record in records]
        assert len(store.search_matches(CONNECTION_ID, "text 1", parts)) == 3
        assert not store.search_matches(CONNECTION_ID, "text 12", parts)


def test_a_response_replaces_the_search_text(store: AnyStore) -> None:
    record = a_record()
    add(store, record, search_text="before")

    store.commit(ChangeRequest(record, record.moved(State.DISCARDED, LATER), search_text="after"))

    assert not store.search_matches(CONNECTION_ID, "before", [])
    assert list(store.search_matches(CONNECTION_ID, "after", [])) == [(record.inserted_at, record.id)]


def test_every_entry_of_an_index_can_be_read_in_parts(store: AnyStore) -> None:
    records = [a_record(inserted_at=timestamp(NOON + timedelta(hours=number))) for number in range(30)]
    for record in records:
        add(store, record)

    for split_points in ([], ["2026-03-15"], ["2026-03-14T20", "2026-03-15", "2026-03-15T05"]):
        entries = store.all_index_entries(
            IndexDays(CONNECTION_ID, INSERTED, "state", "2026-03-14", "2026-03-15", State.WAITING), split_points
        )
        assert sorted(entry.id for entry in entries) == sorted(record.id for record in records)
