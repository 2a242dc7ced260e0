"""What failed in an app, by cause and by receiver: every failure is counted, or its connection is named."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import NotFound
from domain.listing import causes
from domain.listing.causes import FailureGroup, FailureReports
from domain.listing.filters import RequestFilter
from domain.listing.overview import MAX_SECONDS
from domain.queueing.queue_again import QueueAgain
from domain.records.audit import Actor, ActorType
from domain.records.request import (
    ENDED,
    FAILED_OR_DISCARDED,
    QueuedRequest,
    RequestError,
    Settling,
    State,
    WhetherExecuted,
)
from domain.records.successor import id_again
from domain.records.webhook import FAILING, Webhook, WebhookAttempt, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import TimeRange, timestamp
from handlers.views.failures import failures
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.index_lag import IndexLag
from tests.support.random_lists import a_history
from tests.support.request_filters import why_it_failed
from tests.support.unknown_writes import add_unknown_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.listing.causes import FailureReport
    from domain.storage.counts import DayCounts

CONNECTIONS = [f"c0000000-0000-4000-8000-{number:012}" for number in range(4)]
STRANGER = "c0000000-0000-4000-8000-0000000000ff"

ranges = st.tuples(st.integers(-30, 130), st.none() | st.integers(0, 100)).map(
    lambda hours: TimeRange(
        timestamp(NOON + timedelta(hours=hours[0])),
        None if hours[1] is None else timestamp(NOON + timedelta(hours=hours[0] + hours[1])),
    )
)


def filled(seed: int, numbers: Sequence[int], lag: IndexLag | None = None) -> tuple[FakeStore, list[QueuedRequest]]:
    """Return a store with so many requests in each connection, and those of the app. Another app has some, too."""
    store, own, chance = FakeStore(lag=lag), list[QueuedRequest](), random.Random(seed)
    for number, (connection, requests) in enumerate(zip((*CONNECTIONS, STRANGER), (*numbers, 5), strict=True)):
        app = OTHER_APP_ID if connection == STRANGER else APP_ID
        store.commit(Put(None, a_connection(id=connection, app_id=app)))
        for past in a_history(seed + number, requests, connection):
            record = replace(past.record, app_id=app, id=f"{past.record.id[:9]}{number:04x}{past.record.id[13:]}")
            if chance.randrange(2):  # its webhook changed it after its response
                changed = datetime.fromisoformat(record.updated_at)
                record = replace(record, responded_at=timestamp(changed - timedelta(hours=chance.randrange(40))))
            store.commit(AddRequest(record, REQUEST_XML, ""))
            own += [record] if app == APP_ID else []
    return store, own


def is_failure(record: QueuedRequest) -> bool:
    """Whether a request or its webhook failed."""
    is_undelivered = record.webhook.listed_state in FAILING and record.state is State.RESPONSE_RECEIVED
    return record.state is State.ERROR or is_undelivered


def in_groups(records: Sequence[QueuedRequest]) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return how many requests failed by cause and connection, and by receiver and connection."""
    by_cause = Counter((cause, one.connection_id) for one in records if (cause := why_it_failed(one)))
    failing = [one for one in records if one.webhook.listed_state in FAILING]
    by_receiver = Counter((one.webhook.receiver, one.connection_id) for one in failing if one.webhook.receiver)
    return by_cause, by_receiver


def counted(report: FailureReport) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return the numbers of a report in the same form."""
    return tuple(  # type: ignore[return-value] # there are two
        Counter({(one.name, one.connection.id): one.requests for one in groups})
        for groups in (report.causes, report.receivers)
    )


numbers = st.tuples(*[st.integers(0, 40)] * 4)


@settings(deadline=None)
@given(st.integers(0, 2**32), numbers, ranges)
def test_every_failure_of_the_range_is_counted_once(seed: int, requests: Sequence[int], within: TimeRange) -> None:
    store, own = filled(seed, requests)

    report = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, within)

    failed = [record for record in own if is_failure(record) and record.updated_at in within]
    assert counted(report) == in_groups(failed)
    assert (report.incomplete, report.omitted) == ([], 0)


@settings(deadline=None)
@given(st.integers(0, 2**32), numbers, ranges)
def test_an_index_that_lags_counts_no_request_that_has_changed_since_then(
    seed: int, requests: Sequence[int], within: TimeRange
) -> None:
    """A request that left the range, or is no longer a failure, is not counted because its old entry is still there."""
    clock, chance = FixedClock(NOON - timedelta(minutes=1)), random.Random(seed)
    store, own = filled(seed, requests, IndexLag(clock, seed))
    clock.now = NOON
    for before in own:
        if before.state in ENDED and chance.randrange(2):
            moved = before.changed(NOON + timedelta(hours=chance.randrange(-40, 200)))
            after = moved if chance.randrange(2) else replace(moved, webhook=Webhook(), state=State.DISCARDED)
            store.commit(ChangeRequest(before, after))

    report = FailureReports(store, clock).of_app(APP_ID, within)

    now = [record for record in store.records.values() if isinstance(record, QueuedRequest) and record.app_id == APP_ID]
    failed = [record for record in now if is_failure(record) and record.updated_at in within]
    for counted_of_kind, wanted in zip(counted(report), in_groups(failed), strict=True):
        assert counted_of_kind <= wanted


@settings(deadline=None)
@given(st.integers(0, 2**32), numbers, ranges)
def test_the_filters_of_a_group_mean_exactly_its_requests(
    seed: int, requests: Sequence[int], within: TimeRange
) -> None:
    """Whoever queues a group again, or sends its webhooks again, changes what was counted and nothing else."""
    store, own = filled(seed, requests)

    report = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, within)

    for one in report.causes:
        which = RequestFilter(state=State.ERROR, cause=one.name, updated_since=within.start, updated_before=within.end)
        meant = [record for record in own if record.connection_id == one.connection.id and which.matches(record)]
        assert len(meant) == one.requests
        times = sorted(record.responded_at or record.updated_at for record in meant)
        assert (one.first_at, one.last_at) == (times[0], times[-1])
        assert one.messages == len({record.error.message for record in meant if record.error})
        assert one.newest in meant
    for one in report.receivers:
        which = RequestFilter(
            webhook_failing=True, receiver=one.name, updated_since=within.start, updated_before=within.end
        )
        meant = [record for record in own if record.connection_id == one.connection.id and which.matches(record)]
        assert len([record for record in meant if is_failure(record)]) == one.requests


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), numbers, ranges)
def test_a_group_says_what_was_queued_again_and_what_a_bulk_action_would_queue(
    seed: int, requests: Sequence[int], within: TimeRange
) -> None:
    """The copies are requests like any other: one that fails is in the numbers too, one that waits is not.

    A copy that failed can have a copy too.
    """
    store, own = filled(seed, requests)
    chance = random.Random(seed)
    for record in own:  # it grows by the copies that have ended
        if record.state not in FAILED_OR_DISCARDED or not chance.randrange(2):
            continue
        copy = replace(a_record(connection_id=record.connection_id), id=id_again(record.id))
        if chance.randrange(2):
            copy = replace(record, id=copy.id)
            own.append(copy)
        store.commit(AddRequest(copy, REQUEST_XML, ""))
        if copy.state in ENDED and not chance.randrange(3):
            store.commit(RemoveRequest(copy, timestamp(NOON)))
            own.remove(copy)

    report = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, within)

    again = QueueAgain(store, FixedClock(NOON + timedelta(days=30)), lambda: None)
    failed = RequestFilter(state=State.ERROR, updated_since=within.start, updated_before=within.end)
    copies = {id_again(record.id) for record in own if failed.matches(record)}
    for one in report.causes:
        which = RequestFilter(state=State.ERROR, cause=one.name, updated_since=within.start, updated_before=within.end)
        meant = [record for record in own if record.connection_id == one.connection.id and which.matches(record)]
        assert one.queued_again == sum(id_again(record.id) in store.records for record in meant)
        still_failed = [record for record in meant if id_again(record.id) not in store.records]
        assert one.failed_again == sum(record.id in copies for record in still_failed)
        actor = Actor(ActorType.API_KEY, "key_test")
        tally = again.queue_again(APP_ID, one.connection.id, which, lambda _: None, actor=actor, dry_run=True)
        assert one.repeatable == tally.queued


@given(st.lists(st.sampled_from([None, *WhetherExecuted]), min_size=1, max_size=8))
def test_a_cause_says_how_many_of_its_writes_may_be_in_quickbooks(answers: list[WhetherExecuted | None]) -> None:
    """Those that QuickBooks was not asked about, and those about which it gave no clear answer."""
    store = FakeStore()
    store.commit(Put(None, a_connection()))
    for number, answer in enumerate(answers):
        add_unknown_write(store, id=f"0000000{number}-0000-4000-8000-000000000000", settling=Settling(1, answer))

    [group] = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, TimeRange("2026")).causes

    assert group.unknown == sum(answer in {None, WhetherExecuted.UNKNOWN} for answer in answers)


@given(st.lists(st.sampled_from([200, 204, 404, 503, None]), min_size=1, max_size=20))
def test_a_receiver_fails_from_the_first_failed_attempt_on(statuses: list[int | None]) -> None:
    """Each attempt changes the request, so its last change says nothing about the first failure."""
    times = [timestamp(NOON - timedelta(hours=30 - number)) for number in range(len(statuses) + 1)]
    attempts = [WebhookAttempt(at, "", status) for at, status in zip(times, [*statuses, 503], strict=True)]
    store, past = FakeStore(), a_record(state=State.RESPONSE_RECEIVED)
    webhook = Webhook(WebhookState.FAILED, "https://shop.example", tuple(attempts))
    store.commit(Put(None, a_connection()))
    store.commit(AddRequest(replace(past, webhook=webhook), REQUEST_XML, ""))

    [group] = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, TimeRange("2026")).receivers

    failed = [attempt.attempted_at for attempt in attempts if attempt.status_code not in {200, 204}]
    assert (group.first_at, group.last_at) == (failed[0], times[-1])


@settings(deadline=None)
@given(st.integers(0, 2**32), numbers, st.integers(1, 15))
def test_a_connection_with_too_many_failures_is_named_and_complete_after_a_time(
    seed: int, requests: Sequence[int], limit: int
) -> None:
    store, own = filled(seed, requests)
    within = TimeRange(timestamp(NOON - timedelta(days=1)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes, "MAX_RECORDS", limit)
        patch.setattr(causes, "RECORDS_PER_READ", 4)
        report = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, within)

    after = {one.connection.id: one.complete_after or "" for one in report.incomplete}
    for connection in CONNECTIONS:
        failed = [record for record in own if record.connection_id == connection and is_failure(record)]
        assert (connection in after) == (len(failed) > limit)
        certain = [record for record in failed if record.updated_at > after.get(connection, "")]
        for expected, found in zip(in_groups(certain), counted(report), strict=True):
            assert all(found[group] >= number for group, number in expected.items())


def test_what_is_not_read_in_time_is_named() -> None:
    store, _ = filled(1, (30, 30, 30, 30))
    clock = FixedClock(NOON)

    class Slow(FakeStore):
        """Takes half of the time for each read of records."""

        def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
            """Return records."""
            clock.advance(seconds=MAX_SECONDS / 2)
            return store.records_by_id(request_ids, may_lag=may_lag)

    slow = Slow()
    slow.__dict__ = store.__dict__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes, "PARALLEL_CONNECTIONS", 1)
        patch.setattr(causes, "RECORDS_PER_READ", 3)
        report = FailureReports(slow, clock).of_app(APP_ID, TimeRange(timestamp(NOON - timedelta(days=1)), None))

    assert [one.connection.id for one in report.incomplete] == CONNECTIONS
    assert [one.complete_after is None for one in report.incomplete] == [False, True, True, True]


def test_a_connection_that_is_deleted_meanwhile_has_no_failures() -> None:
    store, _ = filled(1, (30, 0, 0, 0))

    class Deleted(FakeStore):
        """Has lost the counts of its connections."""

        def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
            """Say that the connection was deleted."""
            del first_day, sort
            raise NotFound(connection_id)

    deleted = Deleted()
    deleted.__dict__ = store.__dict__
    report = FailureReports(deleted, FixedClock(NOON)).of_app(APP_ID, TimeRange("2026"))

    assert (report.causes, report.receivers, report.incomplete) == ([], [], [])


def test_connections_beyond_the_bound_are_counted() -> None:
    store, _ = filled(1, (0, 0, 0, 0))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes, "MAX_CONNECTIONS", 3)
        report = FailureReports(store, FixedClock(NOON)).of_app(APP_ID, TimeRange("2026"))

    assert report.omitted == 1


@settings(max_examples=10)
@given(groups=st.integers(0, 3), letter=st.sampled_from(["a", '"', "é", "会"]))
def test_the_largest_answer_fits_into_a_response_of_lambda(groups: int, letter: str) -> None:
    """An app has MAX_CONNECTIONS connections with up to MAX_RECORDS groups each."""
    connection = a_connection(id=CONNECTIONS[0], name=letter * 200)
    text = letter * 4_000
    attempt = WebhookAttempt(timestamp(NOON), text, 503)
    error = RequestError("quickbooks_error", text, {"hint": text})
    record = replace(a_record(error=error), webhook=Webhook(attempts=(attempt,)))
    number = causes.MAX_GROUPS + groups
    group = FailureGroup(letter * 60, connection, 1, timestamp(NOON), timestamp(NOON), record)
    shown = [group] * min(number, causes.MAX_GROUPS)
    report = causes.FailureReport(shown, shown, [causes.IncompleteConnection(connection, None)] * 1_000, 0, 2 * groups)

    view = failures(report, TimeRange(timestamp(NOON), None), NOON)

    assert view["omitted_groups"] == 2 * groups
    assert len(json.dumps(json.dumps({"data": view}, ensure_ascii=False), ensure_ascii=False).encode()) < 6_291_556


def test_only_the_largest_groups_are_in_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = filled(1, (40, 40, 40, 40))
    within = TimeRange(timestamp(NOON - timedelta(days=9)), None)
    whole = FailureReports(store, FixedClock()).of_app(APP_ID, within)
    monkeypatch.setattr(causes, "MAX_GROUPS", 2)

    report = FailureReports(store, FixedClock()).of_app(APP_ID, within)

    assert (report.causes, report.receivers) == (whole.causes[:2], whole.receivers[:2])
    assert report.omitted_groups == len(whole.causes) + len(whole.receivers) - 4 > 0
