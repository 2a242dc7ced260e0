"""Bulk actions: exactly those that are meant are changed, none that may be executed, and the calls end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidRequest, NotFound, QuotaExceeded
from domain.listing.filters import RequestFilter
from domain.queueing.many import Bounds, ManyRequests, Tally
from domain.queueing.queue_again import AgainTally, QueueAgain
from domain.queueing.selection import Place
from domain.records.approval import Approval
from domain.records.batch import id_at, ids_of_batch
from domain.records.request import ENDED, QUEUED, Attempts, ErrorCode, QueuedRequest, Recovery, State
from domain.records.session import InFlight
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import TimeRange, timestamp
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    FixedClock,
    a_connection,
    a_record,
    a_session,
)
from tests.support.fake_store import FakeStore
from tests.support.index_lag import IndexLag
from tests.support.request_filters import NAMES, ORACLES, conditions, meets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.storage.changes import Change

OTHER_CONNECTION_ID = "c0000000-0000-4000-8000-000000000002"
HOOK = "https://shop.example/hooks"
SESSION = "ab" * 32

EVERYTHING = RequestFilter(to=timestamp(NOON + timedelta(days=1)))

SMALL = Bounds(part_size=3, looked_at=7, changed=4)


@dataclass
class Watching(FakeStore):
    """A store that tells what was changed, and that lets something happen before a commit."""

    def __init__(self, lag: IndexLag | None = None) -> None:
        super().__init__(lag=lag)
        self.changes: list[ChangeRequest] = []
        self.reads = 0
        self.before_commit: Callable[[], None] = lambda: None

    def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
        """Return records, and count the reads."""
        self.reads += 1
        return super().records_by_id(request_ids, may_lag=may_lag)

    def commit(self, *changes: Change) -> None:
        """Commit, and note the changes of records."""
        happens, self.before_commit = self.before_commit, lambda: None
        happens()
        super().commit(*changes)
        self.changes += [change for change in changes if isinstance(change, ChangeRequest)]


@dataclass
class Bench:
    """A connection with requests, which others change while many are changed."""

    lag_seed: int | None = None
    bounds: Bounds = SMALL
    check_read: Callable[[], None] = lambda: None
    clock: FixedClock = field(default_factory=FixedClock)
    store: Watching = field(init=False)

    def __post_init__(self) -> None:
        lag = None if self.lag_seed is None else IndexLag(self.clock, self.lag_seed)
        self.store = Watching(lag)
        self.store.commit(Put(None, a_connection(has_low_lane=True)))

    @property
    def many(self) -> ManyRequests:
        return ManyRequests(self.store, self.clock, self.check_read, self.bounds)

    @property
    def records(self) -> list[QueuedRequest]:
        return [record for record in self.store.records.values() if isinstance(record, QueuedRequest)]

    def add(self, **fields: Any) -> QueuedRequest:
        now = timestamp(self.clock())
        record = a_record(**({"inserted_at": now, "updated_at": now} | fields))
        self.store.commit(AddRequest(record, "", ""))
        return record

    def move(self, record: QueuedRequest, to: State) -> None:
        """Move a record as a session or a consumer does, if it can move there now."""
        current = self.store.request(record.id)
        if not isinstance(current, QueuedRequest):
            return
        after = _moved(current, to, self.clock)
        if after:
            FakeStore.commit(self.store, ChangeRequest(current, after))

    def all_calls(
        self, call: Callable[[str | None], Tally], meanwhile: Callable[[], None] = lambda: None
    ) -> tuple[int, int, int]:
        """Call until the end. Return the changed requests, those that may be executed, and the number of calls."""
        changed, kept, calls, cursor = 0, 0, 0, None
        while calls < 200:
            tally = call(cursor)
            changed, kept, calls = changed + tally.changed, kept + tally.may_be_executed, calls + 1
            cursor = tally.next_cursor
            if cursor is None:
                return changed, kept, calls
            meanwhile()
        raise AssertionError("the calls do not end")


def _moved(current: QueuedRequest, to: State, clock: FixedClock) -> QueuedRequest | None:  # noqa: PLR0911 - a table
    """Return a record after a move that others make, or None if it is not possible now."""
    match current.state, to:
        case ((State.WAITING | State.RETRYABLE), State.TICKETED):
            return current.claimed(SESSION, clock())
        case ((State.TICKETED | State.SENT), State.RETRYABLE):
            return current.requeued(clock())
        case State.TICKETED, State.SENT:
            return current.sent(clock())
        case State.SENT, State.RESPONSE_RECEIVED:
            return current.moved(to, clock())
        case State.SENT, State.ERROR:
            return current.failed(clock(), ErrorCode.QUICKBOOKS_ERROR, "It failed.", {"status_code": 3170})
        case ((State.WAITING | State.RETRYABLE), State.DISCARDED) if not current.may_be_executed:
            return current.moved(to, clock())
        case _:
            return None


fields = st.fixed_dictionaries(
    {
        "request_name": st.sampled_from(NAMES),
        "webhook": st.sampled_from([Webhook(), Webhook.to(HOOK)]),
        "approval": st.sampled_from([None, None, Approval("key_1")]),
        "age": st.integers(0, 200),
        "steps": st.lists(st.sampled_from([*State]), max_size=4),
        "recovering": st.booleans(),
    }
)

MOMENTS = [timestamp(NOON - timedelta(seconds=age)) for age in (-100, 0, 30, 100)]
filters = conditions([name for name in ORACLES if name not in {"ids", "batch_id"}], st.sampled_from(MOMENTS)).filter(
    lambda which: not which.is_empty
)
chosen = st.none() | st.lists(st.integers(0, 40), min_size=1, max_size=20)
"""None, or which of the requests are chosen by their ids."""

disturbances = st.lists(st.tuples(st.integers(0, 40), st.sampled_from([*State, None])), max_size=12)


def choosing(bench: Bench, which: RequestFilter, numbers: list[int] | None) -> RequestFilter:
    """Return a filter that also chooses some requests by their ids, one of them of another connection."""
    if numbers is None or not bench.records:
        return which
    other = bench.add(connection_id=OTHER_CONNECTION_ID)
    ids = [bench.records[number % len(bench.records)].id for number in numbers]
    return replace(which, ids=(*ids, other.id))


def filled(bench: Bench, requests: list[dict[str, Any]]) -> None:
    """Store requests of several ages and states."""
    for request in requests:
        moment = timestamp(NOON - timedelta(seconds=request["age"]))
        recovery = Recovery(begun=True, active=True) if request["recovering"] else Recovery()
        record = bench.add(
            request_name=request["request_name"],
            webhook=request["webhook"],
            inserted_at=moment,
            updated_at=moment,
            recovery=recovery,
            state=State.RETRYABLE if request["recovering"] else State.WAITING,
        )
        for step in request["steps"]:
            bench.move(record, step)


@settings(max_examples=300, deadline=None)
@given(
    requests=st.lists(fields, max_size=25),
    fresh=st.lists(st.sampled_from(NAMES), max_size=10),
    which=filters,
    numbers=chosen,
    disturbances=disturbances,
    store=st.tuples(st.sampled_from([None, 1, 2, 3]), st.integers(1, 6)),
)
def test_exactly_the_requests_that_match_and_are_not_executed_are_discarded_while_others_change_them(
    *,
    requests: list[dict[str, Any]],
    fresh: list[str],
    which: RequestFilter,
    numbers: list[int] | None,
    disturbances: list[tuple[int, State | None]],
    store: tuple[int | None, int],
) -> None:
    lag_seed, part_size = store
    bench = Bench(lag_seed, replace(SMALL, part_size=part_size))
    filled(bench, requests)
    bench.clock.advance(seconds=5)
    for number, name in enumerate(fresh):  # the index may not show these yet
        bench.add(request_name=name, is_low=number % 2 == 1)
        bench.clock.advance(seconds=0.01)
    which = choosing(bench, which, numbers)
    meant = {record.id for record in bench.records if is_discardable(record, which)}
    begun = timestamp(bench.clock())
    bench.store.changes.clear()
    touched: set[str] = set()
    coming = iter(disturbances)

    def disturb() -> None:
        bench.clock.advance(seconds=0.5)
        number, to = next(coming, (0, None))
        if to is None:
            bench.add(request_name=NAMES[0])
        elif bench.records:
            record = bench.records[number % len(bench.records)]
            touched.add(record.id)
            bench.move(record, to)
        bench.store.before_commit = disturb if number % 2 else lambda: None

    bench.store.before_commit = disturb
    changed, _, _ = bench.all_calls(
        lambda cursor: bench.many.discard(APP_ID, CONNECTION_ID, which, cursor=cursor, actor=AN_ACTOR), disturb
    )

    discards = [change for change in bench.store.changes if change.after.state is State.DISCARDED]
    assert changed == len(discards)
    for change in discards:
        assert is_discardable(change.before, which)
        assert change.before.inserted_at <= begun
    assert {change.before.id for change in discards} >= meant - touched
    left = {record.id for record in bench.records if is_discardable(record, which) and record.inserted_at <= begun}
    assert left <= touched


def is_discardable(record: QueuedRequest, which: RequestFilter) -> bool:
    """Whether a record is meant and may be discarded, judged without the code under test."""
    is_meant = record.connection_id == CONNECTION_ID and meets(which, record)
    return is_meant and record.state in QUEUED and not record.recovering


@settings(max_examples=100, deadline=None)
@given(requests=st.lists(fields, max_size=25), which=filters, numbers=chosen, part_size=st.integers(1, 6))
def test_a_dry_run_changes_nothing_and_counts_what_the_same_calls_change(
    requests: list[dict[str, Any]], which: RequestFilter, numbers: list[int] | None, part_size: int
) -> None:
    bench = Bench(bounds=replace(SMALL, part_size=part_size))
    filled(bench, requests)
    which = choosing(bench, which, numbers)
    bench.store.changes.clear()
    meant = Counter(is_discardable(record, which) for record in bench.records)[True]
    kept = sum(
        which.matches(record) and record.may_be_executed and record.connection_id == CONNECTION_ID
        for record in bench.records
    )

    def calls(*, dry_run: bool) -> tuple[int, int]:
        return bench.all_calls(
            lambda cursor: bench.many.discard(
                APP_ID, CONNECTION_ID, which, cursor=cursor, dry_run=dry_run, actor=AN_ACTOR
            )
        )[:2]

    planned = calls(dry_run=True)
    assert bench.store.changes == []
    assert planned == (meant, kept)
    assert calls(dry_run=False) == planned
    assert calls(dry_run=False) == (0, kept)


@settings(max_examples=200, deadline=None)
@given(
    ages=st.lists(st.tuples(st.integers(0, 200), st.sampled_from(["failed", "retrying", "new", "done"])), max_size=25),
    since_age=st.none() | st.integers(0, 200),
    before_age=st.none() | st.integers(-10, 200),
    numbers=chosen,
    include_pending=st.booleans(),
    disturbed=st.lists(st.integers(0, 40), max_size=8),
    store=st.tuples(st.sampled_from([None, 1, 2]), st.integers(1, 6)),
)
def test_exactly_the_webhooks_that_failed_in_the_time_are_sent_again_once(
    *,
    ages: list[tuple[int, str]],
    since_age: int | None,
    before_age: int | None,
    numbers: list[int] | None,
    include_pending: bool,
    disturbed: list[int],
    store: tuple[int | None, int],
) -> None:
    lag_seed, part_size = store
    bench = Bench(lag_seed, replace(SMALL, part_size=part_size))
    for age, kind in ages:
        state = {"failed": WebhookState.FAILED, "done": WebhookState.SUCCEEDED}.get(kind, WebhookState.PENDING)
        webhook = Webhook(state, HOOK, attempts_in_round=0 if kind == "new" else 3)
        moment = timestamp(NOON - timedelta(seconds=age))
        bench.add(state=sorted(ENDED)[age % 3], webhook=webhook, updated_at=moment)
    bench.add(webhook=Webhook.to(HOOK), updated_at=timestamp(NOON))  # it has not ended
    since = None if since_age is None else timestamp(NOON - timedelta(seconds=since_age))
    before = None if before_age is None else timestamp(NOON - timedelta(seconds=before_age))
    which = choosing(bench, RequestFilter(to=timestamp(NOON + timedelta(hours=1))), numbers)
    states = {WebhookState.FAILED, *([WebhookState.PENDING] if include_pending else [])}
    meant = {
        r.id
        for r in bench.records
        if r.state in ENDED
        and r.webhook_state in states
        and (since or "") <= r.updated_at < (before or "~")
        and (which.ids is None or r.id in which.ids)
        and r.connection_id == CONNECTION_ID
    }
    bench.clock.advance(seconds=5)  # what changes in the last second may not be in the index
    bench.store.changes.clear()
    touched: set[str] = set()
    coming = iter(disturbed)

    def disturb() -> None:
        bench.clock.advance(seconds=1)
        number = next(coming, None)
        if number is None or not bench.records:
            return
        record = bench.records[number % len(bench.records)]
        touched.add(record.id)
        after = record.with_webhook(
            bench.clock(), replace(record.webhook, attempts_in_round=record.webhook.attempts_in_round + 1)
        )
        FakeStore.commit(bench.store, ChangeRequest(record, after))
        bench.store.before_commit = disturb

    def call(cursor: str | None) -> Tally:
        return bench.many.redeliver(
            APP_ID,
            CONNECTION_ID,
            TimeRange(since, before),
            lambda: None,
            which=which,
            include_pending=include_pending,
            cursor=cursor,
            actor=AN_ACTOR,
        )

    bench.store.before_commit = disturb
    changed, _, _ = bench.all_calls(call, disturb)

    sent_again = [change.before.id for change in bench.store.changes if change.after.webhook.round == 1]
    assert changed == len(sent_again) == len(set(sent_again))
    assert meant - touched <= set(sent_again) <= meant
    assert all(bench.store.records[id_].webhook.state is WebhookState.PENDING for id_ in sent_again)  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(8))
def test_requests_that_the_index_does_not_show_yet_are_discarded(seed: int) -> None:
    bench = Bench(seed, Bounds(part_size=2, changed=2))
    for _ in range(9):
        bench.add()
        bench.clock.advance(seconds=0.001)

    changed, _, _ = bench.all_calls(
        lambda cursor: bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, cursor=cursor, actor=AN_ACTOR)
    )

    assert changed == 9


def test_a_request_that_has_changed_between_the_read_and_the_commit_is_judged_again() -> None:
    bench = Bench()
    waits, is_claimed, is_deleted = (bench.add() for _ in range(3))
    bench.clock.advance(seconds=1)

    def change() -> None:
        FakeStore.commit(bench.store, ChangeRequest(waits, replace(waits, attempts=Attempts(1)).changed(bench.clock())))
        bench.move(is_claimed, State.TICKETED)
        FakeStore.commit(bench.store, RemoveRequest(is_deleted, timestamp(NOON)))

    bench.store.before_commit = change
    tally = bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, actor=AN_ACTOR)

    assert (tally.changed, tally.may_be_executed, tally.next_cursor) == (1, 1, None)
    assert {record.id: record.state for record in bench.records} == {
        waits.id: State.DISCARDED,
        is_claimed.id: State.TICKETED,
    }


@pytest.mark.parametrize("by_ids", [False, True])
def test_a_redelivery_ends_where_the_quota_ends_and_the_next_call_continues_there(*, by_ids: bool) -> None:
    bench = Bench(bounds=Bounds(part_size=4))
    for number in range(10):
        webhook = Webhook(WebhookState.FAILED, HOOK, attempts_in_round=1)
        bench.add(state=State.ERROR, webhook=webhook, updated_at=timestamp(NOON + timedelta(seconds=number)))
    bench.clock.advance(minutes=1)
    ids = tuple(record.id for record in bench.records) if by_ids else None
    left = [7]

    def check_quota() -> None:
        if not left[0]:
            raise QuotaExceeded("It is used up.")
        left[0] -= 1

    def call(cursor: str | None) -> Tally:
        return bench.many.redeliver(
            APP_ID,
            CONNECTION_ID,
            TimeRange(timestamp(NOON)),
            check_quota,
            which=RequestFilter(ids=ids),
            cursor=cursor,
            actor=AN_ACTOR,
        )

    first = call(None)
    with pytest.raises(QuotaExceeded):
        call(first.next_cursor)
    left[0] = 100
    last = call(first.next_cursor)

    assert (first.changed, last.changed, last.next_cursor) == (7, 3, None)
    assert [record.webhook.round for record in bench.records] == [1] * 10
    assert [entry.counts for entry in bench.store.audit_log.values()] == [{"redelivered": 7}, {"redelivered": 3}]


@given(part_size=st.integers(1, 12), changed=st.integers(1, 30), looked_at=st.integers(1, 50))
@settings(max_examples=12)
def test_a_call_ends_after_the_part_in_which_it_reaches_a_bound(part_size: int, changed: int, looked_at: int) -> None:
    bench = Bench()
    for number in range(70):
        bench.add(request_name=NAMES[number < 35])

    bench.bounds, bench.store.reads = Bounds(part_size, looked_at=looked_at, changed=1_000), 0
    assert bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, dry_run=True, actor=AN_ACTOR).next_cursor
    assert bench.store.reads == -(-looked_at // part_size)

    bench.bounds = Bounds(part_size, looked_at=1_000, changed=changed)
    meant = RequestFilter(request_name=NAMES[1])
    parts = -(-changed // part_size)
    assert bench.many.discard(APP_ID, CONNECTION_ID, meant, actor=AN_ACTOR).changed == min(parts * part_size, 35)


def test_a_walk_in_a_range_of_time_reads_only_the_requests_of_this_time() -> None:
    bench = Bench(bounds=Bounds(part_size=10))
    for number in range(100):
        bench.add(inserted_at=timestamp(NOON - timedelta(hours=number)), updated_at=timestamp(NOON))
    bench.clock.advance(hours=1)
    bench.store.reads = 0
    hours = [timestamp(NOON - timedelta(hours=number)) for number in (50, 40)]

    tally = bench.many.discard(APP_ID, CONNECTION_ID, RequestFilter(from_=hours[0], to=hours[1]), actor=AN_ACTOR)

    assert (tally.changed, tally.next_cursor) == (10, None)
    assert bench.store.reads <= 2


def test_a_call_ends_when_its_time_is_over() -> None:
    bench = Bench(bounds=Bounds(part_size=1, seconds=2))
    for _ in range(5):
        bench.add()

    def wait() -> None:
        bench.clock.advance(seconds=3)

    bench.store.before_commit = wait

    tally = bench.many.discard(APP_ID, CONNECTION_ID, RequestFilter(request_name=NAMES[0]), actor=AN_ACTOR)

    assert tally.changed == 1
    assert tally.next_cursor


def test_requests_of_another_app_or_a_deleted_one_are_not_changed() -> None:
    bench = Bench()
    record = bench.add()
    which = RequestFilter(request_name=NAMES[0])

    with pytest.raises(NotFound):
        bench.many.discard(OTHER_APP_ID, CONNECTION_ID, which, actor=AN_ACTOR)
    bench.store.before_commit = lambda: FakeStore.commit(bench.store, RemoveRequest(record, timestamp(NOON)))
    tally = bench.many.discard(APP_ID, CONNECTION_ID, which, actor=AN_ACTOR)

    assert tally == Tally()


def test_an_empty_filter_is_refused() -> None:
    with pytest.raises(InvalidRequest) as error:
        Bench().many.discard(APP_ID, CONNECTION_ID, RequestFilter(), actor=AN_ACTOR)

    assert error.value.problems[0].field == "filter"


@settings(max_examples=200)
@given(cursor=st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda data: data.hex())))
def test_a_text_that_is_not_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        Place.of(cursor, NOON, "discard")


def test_a_cursor_continues_only_the_call_that_returned_it() -> None:
    bench = Bench(bounds=Bounds(part_size=1, looked_at=1))
    for _ in range(3):
        bench.add()
    which = RequestFilter(request_name=NAMES[0])
    cursor = bench.many.discard(APP_ID, CONNECTION_ID, which, dry_run=True, actor=AN_ACTOR).next_cursor

    with pytest.raises(InvalidRequest):
        bench.many.discard(APP_ID, CONNECTION_ID, which, cursor=cursor, actor=AN_ACTOR)
    with pytest.raises(InvalidRequest):
        bench.many.discard(
            APP_ID, CONNECTION_ID, RequestFilter(state=State.WAITING), cursor=cursor, dry_run=True, actor=AN_ACTOR
        )
    assert bench.many.discard(APP_ID, CONNECTION_ID, which, cursor=cursor, dry_run=True, actor=AN_ACTOR).changed == 1


def test_a_request_for_which_others_wait_is_discarded_after_them() -> None:
    bench = Bench()
    first, second = ids_of_batch("b0000000-0000-4000-8000-000000000001", 2)
    bench.add(id=first, dependants=(1,))
    bench.add(id=second, dependencies=(0,))
    bench.clock.advance(seconds=1)

    tallies = [bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, actor=AN_ACTOR) for _ in range(3)]

    assert [(tally.changed, tally.has_dependants) for tally in tallies] == [(1, 1), (1, 0), (0, 0)]


@pytest.mark.parametrize("seed", range(4))
def test_requests_that_entered_the_queue_late_are_discarded_once_and_the_calls_end(seed: int) -> None:
    bench = Bench(seed, Bounds(part_size=2, looked_at=2))
    for number in range(6):
        bench.add(queued_at=timestamp(NOON + timedelta(seconds=30 - number)))
        bench.add()
    bench.clock.advance(seconds=40)

    def call(cursor: str | None) -> Tally:
        return bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, cursor=cursor, actor=AN_ACTOR)

    assert bench.all_calls(call)[0] == 12


def add_family(bench: Bench, number: int, links: Sequence[int]) -> list[str]:
    """Queue a batch in which each request but the first depends on an earlier one. Return its ids."""
    parents = {place: link % place for place, link in enumerate(links, 1)}
    ids = ids_of_batch(f"b0000000-0000-4000-8000-{number:012}", len(links) + 1)
    for place, request_id in enumerate(ids):
        dependants = tuple(other for other, parent in parents.items() if parent == place)
        bench.add(id=request_id, dependencies=(parents[place],) if place else (), dependants=dependants)
        bench.clock.advance(milliseconds=1)
    return list(ids)


def hold(bench: Bench, request_id: str, number: int) -> None:
    """Let a session claim a request."""
    session_id = f"{number:064}"
    bench.store.commit(Put(None, a_session(id=session_id, in_flight=InFlight((request_id,)))))
    before = bench.store.connections[CONNECTION_ID]
    bench.store.commit(Put(before, replace(before, session_id=session_id).changed(timestamp(bench.clock()))))
    record = bench.store.records[request_id]
    assert isinstance(record, QueuedRequest)
    bench.store.commit(ChangeRequest(record, record.claimed(session_id, bench.clock())))


def release_dependants(bench: Bench, request_id: str) -> None:
    """End a request with a response, as a session does. Those that waited for it enter the queue."""
    bench.move(a_record(id=request_id), State.TICKETED)
    bench.move(a_record(id=request_id), State.SENT)
    bench.move(a_record(id=request_id), State.RESPONSE_RECEIVED)
    record = bench.store.records[request_id]
    assert isinstance(record, QueuedRequest)
    for place in record.dependants if record.state is State.RESPONSE_RECEIVED else ():
        waiting = bench.store.records[id_at(request_id, place)]
        if isinstance(waiting, QueuedRequest) and waiting.state is State.WAITING:
            FakeStore.commit(bench.store, ChangeRequest(waiting, waiting.without_dependency(0, bench.clock())))


@settings(max_examples=200, deadline=None)
@given(
    families=st.lists(
        st.tuples(st.lists(st.integers(0, 24), max_size=8), st.sampled_from(["waits", "ended", "ends"])), max_size=5
    ),
    held=st.none() | st.integers(0, 4),
    seed=st.integers(0, 30),
    part_size=st.integers(1, 6),
)
def test_requests_of_the_last_minute_that_wait_for_others_are_discarded_in_one_pass(
    families: list[tuple[list[int], str]], held: int | None, seed: int, part_size: int
) -> None:
    """However late the index is, and whether the request that they wait for waits, is in flight or ends meanwhile."""
    bench = Bench(seed, Bounds(part_size=part_size, looked_at=7, changed=4))
    roots: list[str] = []
    for number, (links, fate) in enumerate(families):
        roots.append(add_family(bench, number, links)[0])
        if fate == "ended":
            release_dependants(bench, roots[-1])
    if held is not None and held < len(families) and families[held][1] == "waits":
        hold(bench, roots[held], number=held)
    bench.clock.advance(milliseconds=1)

    def end_some() -> None:
        for root, (_, fate) in zip(roots, families, strict=True):
            if fate == "ends":
                release_dependants(bench, root)

    bench.store.before_commit = end_some
    bench.store.changes.clear()
    changed, _, _ = bench.all_calls(
        lambda cursor: bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, cursor=cursor, actor=AN_ACTOR)
    )

    left = [record for record in bench.records if record.state in QUEUED]
    assert all(record.dependants for record in left), "one for which none waits was left"
    assert changed == sum(change.after.state is State.DISCARDED for change in bench.store.changes)


@pytest.mark.parametrize("seed", range(8))
def test_a_new_request_in_flight_is_counted_however_late_the_index_is(seed: int) -> None:
    bench = Bench(seed)
    (root,) = add_family(bench, 1, [])
    hold(bench, root, 1)

    tally = bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, actor=AN_ACTOR)

    assert (tally.changed, tally.may_be_executed) == (0, 1)


def test_a_connection_that_is_deleted_during_the_call_has_nothing_in_flight() -> None:
    bench = Bench()
    bench.add()
    answers = iter([bench.store.connection(CONNECTION_ID)])
    bench.store.connection = lambda _id: next(answers, None)  # type: ignore[method-assign, assignment]

    tally = bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, actor=AN_ACTOR)

    assert tally.may_be_executed == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("event", ["claimed before", "returned after"])
def test_a_request_that_a_session_claims_or_returns_during_the_read_is_found(seed: int, event: str) -> None:
    bench = Bench(seed)
    root, *waiting = add_family(bench, 1, [0, 0, 0])
    read = bench.store.queued_after
    if event == "returned after":
        hold(bench, root, 1)

    def queued_after(*arguments: Any, low_lane: bool) -> Sequence[QueuedRequest]:
        if event == "claimed before":
            hold(bench, root, 1)
        queue = read(*arguments, low_lane=low_lane)
        if event == "returned after":
            bench.move(a_record(id=root), State.RETRYABLE)
            bench.store.sessions.clear()
        bench.store.queued_after = read  # type: ignore[method-assign]
        return queue

    bench.store.queued_after = queued_after  # type: ignore[method-assign, assignment]
    bench.all_calls(lambda cursor: bench.many.discard(APP_ID, CONNECTION_ID, EVERYTHING, cursor=cursor, actor=AN_ACTOR))

    assert {bench.store.request(request_id).state for request_id in waiting} == {State.DISCARDED}  # type: ignore[union-attr]


@given(
    number=st.integers(1, 60),
    part_size=st.integers(1, 10),
    looked_at=st.integers(1, 60),
    reads=st.lists(st.integers(0, 6), min_size=1, max_size=10),
    queues_again=st.booleans(),
)
def test_each_part_after_the_first_is_a_read_and_a_call_ends_where_reads_are_used_up(
    number: int, part_size: int, looked_at: int, reads: list[int], queues_again: bool
) -> None:
    left = 0

    def check_read() -> None:
        nonlocal left
        if not left:
            raise QuotaExceeded("too many")
        left -= 1

    bench = Bench(bounds=Bounds(part_size, looked_at, changed=1_000), check_read=check_read)
    for _ in range(number):
        bench.add(**({"state": State.DISCARDED} if queues_again else {}))
        bench.clock.advance(seconds=1)
    bench.clock.advance(minutes=5)
    use_case = (
        partial(
            QueueAgain(bench.store, bench.clock, check_read, bench.bounds).queue_again,
            APP_ID,
            CONNECTION_ID,
            EVERYTHING,
            lambda _: None,
            actor=AN_ACTOR,
            dry_run=True,
        )
        if queues_again
        else partial(bench.many.discard, APP_ID, CONNECTION_ID, EVERYTHING, actor=AN_ACTOR, dry_run=True)
    )
    cursor, found, calls = None, 0, 0
    while calls == 0 or cursor:
        left = allowed = reads[calls % len(reads)]
        tally = use_case(cursor=cursor)
        changed = tally.queued if isinstance(tally, AgainTally) else tally.changed
        found, calls, cursor = found + changed, calls + 1, tally.next_cursor
        assert changed <= (allowed - left + 1) * part_size
        assert changed > (allowed - left) * part_size or cursor is None

    assert found == number
