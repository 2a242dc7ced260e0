"""The reads of lists: index entries, search matches."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from adapters.dynamodb.records import record_item
from domain.records.request import ErrorCode, Paging, State, WhetherExecuted
from domain.records.webhook import ListedWebhookState, Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, RemoveRequest
from domain.storage.counts import INSERTED, UPDATED, count_changes
from domain.storage.ports import Group, IndexDays, IndexEntry, IndexStretch
from domain.timestamps import TimeRange, day_of, timestamp
from tests.contract.stores import LATER, add, counts_of
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, a_record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from domain.records.request import Pair, QueuedRequest
    from tests.contract.stores import AnyStore


WAITING_NOT_APPLICABLE = (State.WAITING, ListedWebhookState.NOT_APPLICABLE)
PAIRS = [
    (state, webhook_state)
    for state in (State.WAITING, State.ERROR)
    for webhook_state in (ListedWebhookState.PENDING, ListedWebhookState.FAILED)
]


def days(
    records: Iterable[QueuedRequest], sort: str, first_day: str, last_day: str, pairs: Collection[Pair]
) -> IndexDays:
    """Return the days of an index with the number of entries of each pair."""
    counts = Counter(
        record.listed_pair
        for record in records
        if first_day <= day_of(getattr(record, sort)) <= last_day and record.listed_pair in pairs
    )
    return IndexDays(CONNECTION_ID, sort, first_day, last_day, counts)


@pytest.mark.parametrize("sort", [INSERTED, UPDATED])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[:2], PAIRS[::2], PAIRS[:1]])
def test_index_entries_are_those_of_the_days_in_order(
    store: AnyStore, sort: str, pairs: list[Pair], *, descending: bool
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
        if "2026-03-15" <= getattr(record, sort)[:10] <= "2026-03-16" and record.listed_pair in pairs
    ]
    expected.sort(key=lambda record: (getattr(record, sort), record.id), reverse=descending)

    entries = store.index_entries(
        days(records, sort, "2026-03-15", "2026-03-16", pairs), descending=descending, skip=2, limit=5
    )

    assert [entry.id for entry in entries] == [record.id for record in expected[2:7]]


def test_records_in_flight_are_found_by_their_connection(store: AnyStore) -> None:
    records = [a_record() for _ in range(4)]
    for record in (*records, other := a_record(connection_id="c0000000-0000-4000-8000-000000000099")):
        add(store, record)
    claimed, sent, ended = (record.claimed("a session", LATER) for record in records[1:])
    for before, after in (
        (records[1], claimed),
        (records[2], sent),
        (records[3], ended),
        (other, other.claimed("", NOON)),
    ):
        store.commit(ChangeRequest(before, after))
    store.commit(ChangeRequest(sent, sent.moved(State.SENT, LATER)))
    store.commit(ChangeRequest(ended, ended.moved(State.ERROR, LATER)))

    assert sorted(store.in_flight_ids(CONNECTION_ID)) == sorted([claimed.id, sent.id])


def test_a_claim_and_the_sending_leave_the_counts_and_the_index_as_they_are(store: AnyStore) -> None:
    record = a_record(webhook=Webhook(WebhookState.PENDING))
    add(store, record)
    counts = counts_of(store)
    ticketed = record.claimed("a session", LATER)
    sent = ticketed.moved(State.SENT, LATER)

    for before, after in ((record, ticketed), (ticketed, sent)):
        store.commit(ChangeRequest(before, after))
        assert counts_of(store) == counts
        assert count_changes([ChangeRequest(before, after)]) == {}
        for sort in (INSERTED, UPDATED):
            (entry,) = store.all_index_entries(days([record], sort, "2026-03-14", "2026-03-14", [record.pair]), ())
            assert entry == IndexEntry(record.id, record.inserted_at)


def test_records_are_read_by_id_without_their_bodies(store: AnyStore) -> None:
    records = [a_record() for _ in range(3)]
    for record in records:
        add(store, record)
    store.commit(RemoveRequest(records[0], timestamp(LATER)))

    ids = [*(record.id for record in records), a_record().id]

    for found in (store.records_by_id(ids), store.records_by_id(ids, may_lag=True)):
        assert sorted(record.id for record in found) == sorted(record.id for record in records[1:])
    for used in (store.ids_in_use(ids), store.ids_in_use(ids, may_lag=True)):
        assert set(used) == {record.id for record in records}
    assert not store.records_by_id([])
    assert not store.records_by_id([], may_lag=True)


@pytest.mark.parametrize("descending", [True, False])
def test_a_page_in_the_middle_of_a_very_full_day(store: AnyStore, *, descending: bool) -> None:
    records = [a_record(inserted_at=timestamp(NOON + timedelta(seconds=n // 3))) for n in range(1_620)]
    for start in range(0, len(records), 30):
        store.commit(*(AddRequest(record, REQUEST_XML, "") for record in records[start : start + 30]))
    records_in_order = sorted(records, key=lambda record: (record.inserted_at, record.id), reverse=descending)

    for skip in (1_600, 1_618, 1_620, 1_700):
        entries = store.index_entries(
            days(records, INSERTED, "2026-03-14", "2026-03-14", [WAITING_NOT_APPLICABLE]),
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
        everything = store.search_matches(CONNECTION_ID, ("text",), parts)
        assert sorted(everything) == [(record.inserted_at, record.id) for record in records]
        assert len(store.search_matches(CONNECTION_ID, ("text 1",), parts)) == 3
        assert not store.search_matches(CONNECTION_ID, ("text 12",), parts)


RANGES = (
    TimeRange(),
    TimeRange("2026-03-15T12:00:00.000000Z"),
    TimeRange(end="2026-03-15T12:00:00.000000Z"),
    TimeRange("2026-03-14T18:00:00.000000Z", "2026-03-15T18:00:00.000000Z"),
    TimeRange("2026-03-15T00:00:00.000000Z", "2026-03-15T00:00:00.000001Z"),
    TimeRange("2026-03-15T12:00:00.000000Z", "2026-03-15T12:00:00.000000Z"),
    TimeRange("2026-03-16T12:00:00.000000Z", "2026-03-14T12:00:00.000000Z"),
    TimeRange("2027-01-01T00:00:00.000000Z"),
)
"""Half open: some begin or end with a record. Some are empty."""


@pytest.mark.parametrize("within", RANGES)
@pytest.mark.parametrize("sort", [INSERTED, UPDATED])
def test_only_entries_in_a_range_of_time_are_counted_and_read(store: AnyStore, sort: str, within: TimeRange) -> None:
    records = []
    for number in range(24):
        moment = timestamp(NOON + timedelta(hours=2 * number))
        state, webhook_state = PAIRS[number % len(PAIRS)]
        webhook = Webhook(WebhookState(webhook_state.value), "https://shop.example/hooks")
        records.append(a_record(state=state, webhook=webhook, inserted_at=moment, updated_at=moment))
        add(store, records[-1])
    expected = [record for record in records if record.inserted_at in within and record.pair in PAIRS[:3]]
    counts = Counter(record.pair for record in expected)
    span = IndexDays(CONNECTION_ID, sort, "2026-03-14", "2026-03-16", dict.fromkeys(PAIRS[:3], 24), within)

    for points in ((), ("2026-03-14T20", "2026-03-15", "2026-03-15T12"), ("2026-03-01", "2026-04-01")):
        assert Counter(dict(store.count_index_entries(span, points))) == counts
        found = store.all_index_entries(span, points)
        assert sorted(entry.id for entry in found) == sorted(record.id for record in expected)
    for descending in (False, True):
        in_order = [record.id for record in (expected[::-1] if descending else expected)]
        page = store.index_entries(span, descending=descending, skip=1, limit=5)
        assert [entry.id for entry in page] == in_order[1:6]


@pytest.mark.parametrize("within", RANGES)
def test_a_search_finds_only_texts_in_a_range_of_time(store: AnyStore, within: TimeRange) -> None:
    records = [a_record(inserted_at=timestamp(NOON + timedelta(hours=2 * number))) for number in range(24)]
    for record in records:
        add(store, record, search_text="text")

    for points in ((), ("2026-03-14T20", "2026-03-15", "2026-03-15T12"), ("2026-03-01", "2026-04-01")):
        found = store.search_matches(CONNECTION_ID, ("text",), points, lambda: None, within)
        assert sorted(found) == [(one.inserted_at, one.id) for one in records if one.inserted_at in within]


def test_a_response_replaces_the_search_text(store: AnyStore) -> None:
    record = a_record()
    add(store, record, search_text="before")

    store.commit(ChangeRequest(record, record.moved(State.DISCARDED, LATER), search_text="after"))

    assert not store.search_matches(CONNECTION_ID, ("before",), [])
    assert list(store.search_matches(CONNECTION_ID, ("after",), [])) == [(record.inserted_at, record.id)]


def test_every_entry_of_an_index_can_be_read_in_parts(store: AnyStore) -> None:
    records = [a_record(inserted_at=timestamp(NOON + timedelta(hours=number))) for number in range(30)]
    for record in records:
        add(store, record)

    for split_points in ([], ["2026-03-15"], ["2026-03-14T20", "2026-03-15", "2026-03-15T05"]):
        entries = store.all_index_entries(
            days(records, INSERTED, "2026-03-14", "2026-03-15", [WAITING_NOT_APPLICABLE]), split_points
        )
        assert sorted(entry.id for entry in entries) == sorted(record.id for record in records)


def test_a_group_is_counted_and_read_whatever_happens_to_its_records(store: AnyStore) -> None:
    query_id = a_record().id
    labelled = [a_record(label="nightly", inserted_at=timestamp(NOON + timedelta(hours=9 * n))) for n in range(7)]
    pages = [a_record(paging=Paging(n, query_id), inserted_at=timestamp(NOON + timedelta(hours=n))) for n in (2, 3)]
    others = [a_record(), a_record(label="Nightly"), a_record(label="nightly", connection_id=query_id)]
    for record in (*labelled, *pages, *others):
        add(store, record)
    claimed = labelled[0].claimed("a session", LATER)
    store.commit(ChangeRequest(labelled[0], claimed))
    store.commit(
        ChangeRequest(claimed, claimed.moved(State.SENT, LATER).moved(State.ERROR, LATER).as_change_of(claimed))
    )
    store.commit(RemoveRequest(labelled[3], timestamp(LATER)))

    for group, records in (
        (Group("label", "nightly"), [*labelled[:3], *labelled[4:]]),
        (Group("query_id", query_id), pages),
        (Group("label", "none"), []),
    ):
        in_order = [IndexEntry(record.id, record.inserted_at) for record in records]
        first, last = "2026-03-14", "2026-03-17"
        days_of_group = IndexDays(CONNECTION_ID, INSERTED, first, last, {group: len(records)})
        for points in ((), ("2026-03-15", "2026-03-15T08", "2026-03-16")):
            assert sum(store.count_index_entries(days_of_group, points).values()) == len(records)
            found = store.all_index_entries(days_of_group, points)
            assert sorted(found, key=lambda entry: entry.moment) == in_order
        for descending in (False, True):
            page = store.index_entries(days_of_group, descending=descending, skip=1, limit=3)
            assert list(page) == (in_order[::-1] if descending else in_order)[1:4]


def test_a_request_without_a_label_or_a_query_writes_no_entry_of_the_sparse_indexes() -> None:
    plain, labelled = record_item(a_record()), record_item(a_record(label="nightly"))
    page = record_item(a_record(paging=Paging(2, CONNECTION_ID)))

    assert {"l_label", "query_id"} & plain.keys() == set()
    assert labelled.keys() - plain.keys() == {"l_label"}
    assert page.keys() - plain.keys() == {"query_id"}


@pytest.mark.parametrize("sort", [INSERTED, UPDATED])
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_a_stretch_is_read_in_order_from_one_entry_to_the_next(store: AnyStore, sort: str, limit: int) -> None:
    chance = random.Random(limit)
    records = []
    for _ in range(40):
        state, webhook_state = chance.choice(PAIRS)
        moment = timestamp(NOON + timedelta(seconds=chance.randrange(8)))  # some have the same time
        webhook = Webhook(WebhookState(webhook_state.value), "https://shop.example/hooks")
        records.append(a_record(state=state, webhook=webhook, inserted_at=moment, updated_at=moment))
        add(store, records[-1])
    first, last = (timestamp(NOON + timedelta(seconds=seconds)) for seconds in (1, 6))
    pairs = PAIRS[:3]
    expected = sorted(
        (record.inserted_at, record.id)
        for record in records
        if record.pair in pairs and first <= record.inserted_at <= last
    )

    read: list[IndexEntry] = []
    while entries := store.next_index_entries(
        IndexStretch(CONNECTION_ID, sort, pairs, first, last, read[-1] if read else None), limit
    ):
        assert len(entries) <= limit
        read += entries

    assert [(entry.moment, entry.id) for entry in read] == expected


def test_a_write_is_unsettled_from_its_unknown_end_until_the_answer_is_stored(store: AnyStore) -> None:
    sent = a_record(request_name="VendorDelRq", state=State.SENT)
    add(store, sent)
    ended = sent.failed(LATER, ErrorCode.OUTCOME_UNKNOWN, "…", {})
    asked = ended.asked(LATER)
    settled = asked.settled(LATER, WhetherExecuted.UNKNOWN)
    again = settled.asked(LATER)
    found = [store.unsettled_ids()]
    for before, after in pairwise([sent, ended, asked, settled, again]):
        store.commit(ChangeRequest(before, after))
        found.append(store.unsettled_ids())
        assert store.in_flight_ids(CONNECTION_ID) == []
    store.commit(RemoveRequest(again, timestamp(LATER)))

    assert found == [[], [sent.id], [sent.id], [], [sent.id]]
    assert store.unsettled_ids() == []
