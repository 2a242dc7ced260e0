"""Statistics are added by the commits of requests, merged by addition and removed by day. Counts ignore them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.dynamodb import DynamoDBStore, keys
from adapters.dynamodb.counts import MARK, OVERFLOW_ROWS, PACK, count_attribute, count_updates, day_key
from adapters.dynamodb.months import months_of
from adapters.dynamodb.settings_marks import mark
from adapters.dynamodb.statistics import (
    DIGITS,
    SLOTS_PER_NUMBER,
    STATISTIC_ATTRIBUTES,
    statistic_additions,
    statistics_of,
)
from adapters.dynamodb.transactions import new_commit_id
from domain.maintenance.old_statistics import OldStatistics
from domain.records.request import IN_TURN, LAST_IN_LINE, LISTED_PAIRS, State
from domain.records.webhook import AWAITING_APPROVAL, ListedWebhookState, WebhookState
from domain.storage.changes import ChangeRequest, Put, RemoveRequest
from domain.storage.counts import INSERTED, UPDATED, CountKey
from domain.storage.statistics import BOUNDS, KEPT_DAYS, SLOTS, Day, Series, Slot, month_of, totals_of
from domain.timestamps import day_of, timestamp
from local.emulated_dynamodb.values import size_of
from tests.contract.stores import add, counts_of, mended
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, RESPONSE_XML, FixedClock, a_connection, a_record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from domain.records.request import Pair, QueuedRequest
    from tests.contract.stores import AnyStore

TODAY = day_of(timestamp(NOON))
ALL_SLOTS = [Slot(series, position) for series, number in SLOTS.items() for position in range(number)]


def statistics_by_day(store: AnyStore) -> dict[str, dict[Slot, int]]:
    """Return the stored statistics of the days that have some."""
    return {day.day: dict(day.statistics) for day in store.day_counts(CONNECTION_ID) if day.statistics}


def run(  # noqa: PLR0917 - the facts of a request
    store: AnyStore,
    queued: datetime,
    waiting: float,
    executing: float | None,
    end: State,
    name: str = "CustomerQueryRq",
) -> QueuedRequest:
    """Queue a request, send it after `waiting` seconds and end it. Without `executing`, it gets no response."""
    record = a_record(inserted_at=timestamp(queued), updated_at=timestamp(queued), request_name=name)
    add(store, record)
    sent_at = queued + timedelta(seconds=waiting)
    sent = record.claimed("", sent_at).sent(sent_at).as_change_of(record)
    store.commit(ChangeRequest(record, sent))
    ended_at = sent_at + timedelta(seconds=executing or 0)
    ended = sent.moved(end, ended_at)
    if executing is not None:
        ended = replace(ended, responded_at=ended.updated_at)
    store.commit(ChangeRequest(sent, ended, response_xml=RESPONSE_XML if executing is not None else None))
    return ended


def bucket(series: Series, seconds: float) -> Slot:
    """Return the bucket of a duration."""
    return Slot(series, sum(bound <= seconds for bound in BOUNDS[series]))


def test_each_request_is_counted_in_the_hours_and_buckets_of_its_times(store: AnyStore) -> None:
    """Random requests over three days: queued, waiting and executing for any time, with and without a response."""
    chance = random.Random(25)
    expected: dict[str, Counter[Slot]] = {}
    for _ in range(25):
        queued = NOON + timedelta(minutes=chance.randrange(3 * 24 * 60))
        waiting, executing = 10 ** chance.uniform(-1, 5), chance.choice([None, 10 ** chance.uniform(-2, 3)])
        end = chance.choice([State.ERROR, State.RESPONSE_RECEIVED] if executing else [State.ERROR])
        name = chance.choice(["InvoiceAddRq", "InvoiceQueryRq"])
        record = run(store, queued, waiting, executing, end, name)
        of_begin = expected.setdefault(day_of(record.inserted_at), Counter())
        of_begin[Slot(Series.QUEUED, queued.hour)] += 1
        of_begin.update([Slot(Series.WRITE, 0)] if name == "InvoiceAddRq" else [])
        of_end = expected.setdefault(day_of(record.updated_at), Counter())
        of_end[Slot(Series(end.value), int(record.updated_at[11:13]))] += 1
        of_end[bucket(Series.WAITING_TIME, waiting)] += 1
        if executing is not None:
            of_end[bucket(Series.EXECUTING_TIME, executing)] += 1

    assert statistics_by_day(store) == expected


def test_a_webhook_and_a_deletion_do_not_change_the_statistics(store: AnyStore) -> None:
    record = run(store, NOON, 3, 0.5, State.RESPONSE_RECEIVED)
    before = statistics_by_day(store)
    delivered = record.with_webhook(NOON + timedelta(hours=1), replace(record.webhook, state=WebhookState.SUCCEEDED))
    store.commit(ChangeRequest(record, delivered))
    store.commit(RemoveRequest(delivered, timestamp(NOON + timedelta(hours=2))))

    assert statistics_by_day(store) == before != {}


def test_a_discarded_request_is_neither_a_success_nor_a_failure(store: AnyStore) -> None:
    record = a_record()
    add(store, record)
    store.commit(ChangeRequest(record, record.moved(State.DISCARDED, NOON)))

    assert statistics_by_day(store) == {TODAY: {Slot(Series.QUEUED, NOON.hour): 1}}


def test_a_recount_leaves_the_statistics_alone(store: AnyStore) -> None:
    """A recount that mends wrong counts keeps the statistics, and does not report them as a difference."""
    store.commit(Put(None, a_connection()))
    run(store, NOON, 3, 0.5, State.RESPONSE_RECEIVED)
    before = statistics_by_day(store)
    assert mended(store) == {}
    (wrong, number), *_ = store.recount(CONNECTION_ID).items()
    store.add_to_counts({wrong: number})

    assert mended(store) == {wrong: -number}
    assert statistics_by_day(store) == before != {}


def test_only_statistics_that_are_too_old_are_moved_to_their_month_and_counts_stay(store: AnyStore) -> None:
    for days in range(KEPT_DAYS + 3):
        run(store, NOON - timedelta(days=days), 3, 0.5, State.RESPONSE_RECEIVED)
    counts = counts_of(store)

    OldStatistics(store, FixedClock(NOON)).look_at(CONNECTION_ID, store.day_counts(CONNECTION_ID))

    kept = [day_of(timestamp(NOON - timedelta(days=days))) for days in reversed(range(KEPT_DAYS))]
    assert list(statistics_by_day(store)) == kept
    assert counts_of(store) == counts
    [month] = store.month_totals(CONNECTION_ID, "2026-01")
    moved = [day_of(timestamp(NOON - timedelta(days=days))) for days in range(KEPT_DAYS, KEPT_DAYS + 3)]
    assert (month.month, month.days) == ("2026-03", frozenset(moved))
    assert month.numbers == {
        Slot(Series.QUEUED, 0): 3,
        Slot(Series.RESPONSE_RECEIVED, 0): 3,
        bucket(Series.WAITING_TIME, 3): 3,
        bucket(Series.EXECUTING_TIME, 0.5): 3,
    }


def test_a_day_is_moved_once_whatever_is_repeated_and_purged_with_its_connection(store: AnyStore) -> None:
    store.commit(Put(None, before := a_connection()))
    run(store, NOON, 3, 0.5, State.ERROR, "InvoiceAddRq")

    for _ in range(3):
        store.move_statistics(CONNECTION_ID, TODAY)

    [month] = store.month_totals(CONNECTION_ID, month_of(TODAY))
    assert {month.numbers[Slot(series, 0)] for series in (Series.QUEUED, Series.WRITE, Series.ERROR)} == {1}
    assert store.month_totals(CONNECTION_ID, "2026-04") == []
    deleted = replace(before, deleted_at=timestamp(NOON)).changed(timestamp(NOON))
    store.commit(Put(before, deleted))
    store.remove_connection(deleted)
    assert store.month_totals(CONNECTION_ID, month_of(TODAY)) == []


def test_the_oldest_request_of_the_queue_is_found_in_every_priority(store: AnyStore) -> None:
    assert store.oldest_queued(CONNECTION_ID) is None
    times = {IN_TURN: NOON, LAST_IN_LINE: NOON - timedelta(hours=2)}
    records = {}
    for priority, moment in times.items():
        records[priority] = a_record(
            inserted_at=timestamp(moment), updated_at=timestamp(moment), queue_priority=priority
        )
        add(store, records[priority])

    assert store.oldest_queued(CONNECTION_ID) == records[LAST_IN_LINE]
    old = records[LAST_IN_LINE]
    store.commit(ChangeRequest(old, old.moved(State.DISCARDED, NOON)))
    assert store.oldest_queued(CONNECTION_ID) == records[IN_TURN]


@pytest.fixture
def dynamodb(store: AnyStore) -> DynamoDBStore:
    """Return the store if it is on DynamoDB."""
    if not isinstance(store, DynamoDBStore):
        pytest.skip("only DynamoDB has rows")
    return store


def add_to_row(store: DynamoDBStore, slots: Mapping[Slot, int], row: int | None) -> None:
    """Add to the statistics of today as a commit does."""
    updates = count_updates(store.tables.counts, {}, row, {Day(CONNECTION_ID, TODAY): slots})
    for update in updates:
        store.client.update_item(**update["Update"])


def test_the_rows_of_a_day_are_merged_by_addition(dynamodb: DynamoDBStore) -> None:
    chance = random.Random(8)
    expected: Counter[Slot] = Counter()
    for row in (None, *range(OVERFLOW_ROWS)) * 3:
        slots = {slot: chance.randrange(1, 600_000) for slot in chance.sample(ALL_SLOTS, 40)}
        expected.update(slots)
        add_to_row(dynamodb, slots, row)

    assert statistics_by_day(dynamodb) == {TODAY: expected}


def test_a_move_takes_the_rows_of_a_day_together_and_none_that_has_changed(dynamodb: DynamoDBStore) -> None:
    """A row that changes during the move keeps its statistics, and the month gets none of the day."""
    chance = random.Random(9)
    expected: Counter[Slot] = Counter()
    for row in (None, *range(OVERFLOW_ROWS)):
        slots = {slot: chance.randrange(1, 600_000) for slot in ALL_SLOTS}
        expected.update(slots)
        add_to_row(dynamodb, slots, row)
    slot = ALL_SLOTS[0]
    changes = [{slot: 1}]

    def change(**_: object) -> None:
        if changes:
            add_to_row(dynamodb, changes.pop(), 2)

    dynamodb.client.meta.events.register("before-call.dynamodb.TransactWriteItems", change)
    dynamodb.move_statistics(CONNECTION_ID, TODAY)
    assert dynamodb.month_totals(CONNECTION_ID, month_of(TODAY)) == []
    dynamodb.move_statistics(CONNECTION_ID, TODAY)

    [month] = dynamodb.month_totals(CONNECTION_ID, month_of(TODAY))
    assert month.numbers == totals_of(expected + Counter({slot: 1}))
    assert statistics_by_day(dynamodb) == {}


def test_a_day_that_its_month_has_is_not_added_again(dynamodb: DynamoDBStore) -> None:
    """A restored table can have the day from before the move and the month from after it."""
    slots = dict.fromkeys(ALL_SLOTS, 7)
    for row in (0, 1):
        add_to_row(dynamodb, slots, row)
    before = dynamodb.client.scan(TableName=dynamodb.tables.counts, ConsistentRead=True)["Items"]
    dynamodb.move_statistics(CONNECTION_ID, TODAY)
    for item in before:
        dynamodb.client.put_item(TableName=dynamodb.tables.counts, Item=item)

    dynamodb.move_statistics(CONNECTION_ID, TODAY)

    [month] = dynamodb.month_totals(CONNECTION_ID, month_of(TODAY))
    assert month.numbers == totals_of(dict.fromkeys(ALL_SLOTS, 14))
    assert statistics_by_day(dynamodb) == {}


def test_a_month_takes_one_write_unit(dynamodb: DynamoDBStore) -> None:
    """Of each day of the month, every number has seven digits."""
    for number in range(1, 32):
        day = f"2026-03-{number:02}"
        for update in count_updates(
            dynamodb.tables.counts, {}, None, {Day(CONNECTION_ID, day): dict.fromkeys(ALL_SLOTS, 10**DIGITS - 1)}
        ):
            dynamodb.client.update_item(**update["Update"])
        dynamodb.move_statistics(CONNECTION_ID, day)

    key = day_key(months_of(CONNECTION_ID), "2026-03")
    row = dynamodb.client.get_item(TableName=dynamodb.tables.counts, Key=key)["Item"]
    assert size_of(row) <= 1024


APPROVALS = [
    (State.WAITING, ListedWebhookState.APPROVAL_NOT_APPLICABLE),
    (State.WAITING, ListedWebhookState.APPROVAL_PENDING),
]
"""The other pairs of requests that wait for approval exist only after a restore."""


@pytest.mark.parametrize(
    ("approvals", "digits"),
    [
        # A larger count would take more than 115 changes a second for a whole day.
        pytest.param([], DIGITS, id="without approvals"),
        # With 100,000 requests of each pair in a day, the row takes two write units.
        pytest.param(APPROVALS, 5, id="with approvals"),
    ],
)
def test_the_largest_row_is_at_most_1_kb(approvals: Collection[Pair], digits: int) -> None:
    """DynamoDB writes it with one write unit: every slot has seven digits, and all counts are negative."""
    largest = 10**DIGITS - 1
    counts = {
        count_attribute(CountKey(CONNECTION_ID, TODAY, sort, *pair)): {"N": str(1 - 10**digits)}
        for sort in (INSERTED, UPDATED)
        for pair in LISTED_PAIRS
        if pair[1] not in AWAITING_APPROVAL or pair in approvals
    }
    additions = statistic_additions(dict.fromkeys(ALL_SLOTS, largest))
    statistics = {name: {"N": str(number)} for name, number in additions.items()}
    marks = {PACK: {"S": "changed"}, keys.COMMIT_ID: {"S": new_commit_id()}}
    first_row = day_key(CONNECTION_ID, TODAY) | {MARK: {"S": mark(APP_ID, "https://example.com")}}
    overflow_row = day_key(CONNECTION_ID, f"{TODAY}#{OVERFLOW_ROWS}")
    rows = [row | counts | statistics | marks for row in (first_row, overflow_row)]

    assert set(statistics) == set(STATISTIC_ATTRIBUTES)
    assert [statistics_of(row) for row in rows] == [dict.fromkeys(ALL_SLOTS, largest)] * len(rows)
    assert max(len(number["N"]) for number in statistics.values()) == DIGITS * SLOTS_PER_NUMBER <= 38
    signs = len(counts)
    assert max(map(size_of, rows)) + signs <= 1024


def test_a_number_with_an_exponent_is_read() -> None:
    slot = ALL_SLOTS[SLOTS_PER_NUMBER - 1]
    ((name, number),) = statistic_additions({slot: 1}).items()
    exponent = len(str(number)) - 1

    assert statistics_of({name: {"N": f"1E+{exponent}"}}) == {slot: 1}


def test_the_row_of_an_empty_day_stays_while_it_has_statistics(dynamodb: DynamoDBStore) -> None:
    """Consumers that delete their requests also see yesterday. The packer deletes the row after the statistics."""
    record = run(dynamodb, NOON, 3, 0.5, State.RESPONSE_RECEIVED)
    dynamodb.commit(RemoveRequest(record, timestamp(NOON)))

    def pack() -> None:
        tomorrow = day_of(timestamp(NOON + timedelta(days=1)))
        for _ in range(6):
            for connection_id, day in list(dynamodb.days_to_pack(tomorrow)):
                dynamodb.pack(connection_id, day, None)
            list(dynamodb.settle_days(tomorrow, lambda _: True))

    pack()
    assert statistics_by_day(dynamodb)
    dynamodb.move_statistics(CONNECTION_ID, TODAY)
    assert dynamodb.day_counts(CONNECTION_ID) != []
    pack()
    assert dynamodb.day_counts(CONNECTION_ID) == []
