"""Waiting calls: when a call that is held is answered, what it reads, and how many are held at once."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.queueing.waiting_calls import (
    LEASE_SECONDS,
    MAX_READS,
    MAX_WAIT_SECONDS,
    MIN_SHARED_LIMIT,
    WaitFor,
    WaitingCalls,
    next_pause,
)
from domain.records.request import Paging, QueuedRequest, State
from domain.storage.changes import AddRequest, ChangeRequest, RemoveRequest
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, REQUEST_XML, FixedClock, SequentialIds, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from domain.storage.ports import IndexEntry


class CountingStore(FakeStore):
    """A store that counts the reads of waiting calls."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def request(self, request_id: str) -> Any:
        self.reads += 1
        return super().request(request_id)

    def index_entries(self, *arguments: Any, **keywords: Any) -> Sequence[IndexEntry]:
        self.reads += 1
        return super().index_entries(*arguments, **keywords)


@dataclass
class Setup:
    """A store in which things happen at set seconds while calls pause."""

    limit: int = 2
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    clock: FixedClock = field(default_factory=FixedClock)
    store: CountingStore = field(default_factory=CountingStore)
    events: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    new_id: SequentialIds = field(default_factory=SequentialIds)

    @property
    def calls(self) -> WaitingCalls:
        """The waiting calls of one process."""
        return WaitingCalls(
            self.store, self.clock, self.new_id, pause=self.pause, chance=self.chance.random, limit=self.limit
        )

    @property
    def seconds(self) -> float:
        """The seconds since noon."""
        return (self.clock() - NOON).total_seconds()

    def pause(self, seconds: float) -> None:
        """Move the clock, and let happen what is due."""
        end = self.clock() + timedelta(seconds=seconds)
        for second, event in sorted(self.events, key=lambda each: each[0]):
            if self.clock() <= NOON + timedelta(seconds=second) < end:
                event()
        self.clock.now = end

    def add(self, **fields: Any) -> QueuedRequest:
        """Store a request."""
        record = a_record(**fields)
        self.store.commit(AddRequest(record, REQUEST_XML, ""))
        return record

    def end(self, record_id: str, state: State = State.RESPONSE_RECEIVED, **fields: Any) -> None:
        """End a request as a session does."""
        before = self.store.records[record_id]
        assert isinstance(before, QueuedRequest)
        after = replace(before, state=state, updated_at=timestamp(NOON), revision=before.revision + 1, **fields)
        self.store.commit(ChangeRequest(before, after))

    def hold(self, record: QueuedRequest, seconds: int = MAX_WAIT_SECONDS, wait_for: WaitFor = WaitFor.QUERY) -> bool:
        """Hold a call for a request."""
        calls = self.calls
        return calls.wait(record, calls.end_of(seconds), wait_for)


@given(
    seconds=st.integers(1, MAX_WAIT_SECONDS), ends_after=st.floats(0, 25), state=st.sampled_from(["error", "discarded"])
)
def test_a_call_is_answered_soon_after_the_request_has_ended_and_in_time(
    seconds: int, ends_after: float, state: str
) -> None:
    setup = Setup()
    record = setup.add()
    setup.events = [(ends_after, lambda: setup.end(record.id, State(state)))]

    assert setup.hold(record, seconds)

    assert setup.seconds <= seconds + 0.001
    assert setup.seconds >= min(ends_after, seconds) - 0.001
    assert setup.seconds - ends_after <= 0.4 * min(ends_after, seconds) + seconds / 20
    assert setup.store.reads <= MAX_READS
    assert setup.store.leases == {}


def pages_of(setup: Setup, number: int, *, all_ended: bool) -> list[QueuedRequest]:
    """Store the pages of a query. All have ended, or all but the last one, which QuickBooks has."""
    first_id = setup.new_id()
    pages = []
    for page in range(1, number + 1):
        is_last = page == number
        pages.append(
            setup.add(
                id=first_id if page == 1 else setup.new_id(),
                state=State.RESPONSE_RECEIVED if all_ended or not is_last else State.SENT,
                paging=Paging(page, first_id if page > 1 else None, 100, continued=not is_last),
                inserted_at=timestamp(NOON + timedelta(microseconds=page)),
            )
        )
    return pages


@given(number=st.integers(1, 12), chosen=st.integers(0, 11), wait_for=st.sampled_from(WaitFor))
def test_a_call_looks_before_it_pauses_so_what_has_happened_is_answered_at_once(
    number: int, chosen: int, wait_for: WaitFor
) -> None:
    setup = Setup(limit=0)
    page = pages_of(setup, number, all_ended=True)[chosen % number]

    assert setup.hold(page, wait_for=wait_for)

    assert setup.seconds == 0
    assert setup.store.reads <= 2


@given(number=st.integers(2, 12), chosen=st.integers(0, 10))
def test_a_call_that_waits_for_a_page_does_not_wait_for_the_pages_behind_it(number: int, chosen: int) -> None:
    setup = Setup()
    page = pages_of(setup, number, all_ended=False)[chosen % (number - 1)]

    assert setup.hold(page, wait_for=WaitFor.PAGE)
    assert (setup.seconds, setup.store.reads) == (0, 0)

    assert setup.hold(page, wait_for=WaitFor.QUERY)
    assert setup.seconds == pytest.approx(20)


@given(seconds=st.integers(1, MAX_WAIT_SECONDS), ends_after=st.floats(0, 25), has_next=st.booleans())
def test_a_call_that_waits_for_a_page_is_answered_soon_after_the_page_has_ended(
    seconds: int, ends_after: float, has_next: bool
) -> None:
    setup = Setup()
    page = pages_of(setup, 3, all_ended=False)[-1]
    setup.events = [(ends_after, lambda: setup.end(page.id, paging=replace(page.paging, continued=has_next)))]

    assert setup.hold(page, seconds, WaitFor.PAGE)

    assert min(ends_after, seconds) - 0.001 <= setup.seconds <= seconds + 0.001
    assert setup.seconds - ends_after <= 0.4 * min(ends_after, seconds) + seconds / 20
    assert setup.store.reads <= MAX_READS
    assert setup.store.leases == {}


@given(
    seconds=st.integers(1, MAX_WAIT_SECONDS), moments=st.lists(st.floats(0, 25), min_size=1, max_size=30, unique=True)
)
def test_a_call_for_an_iterated_query_is_held_until_its_last_page_has_ended(seconds: int, moments: list[float]) -> None:
    setup = Setup()
    ids = [setup.new_id() for _ in moments]
    first = setup.add(id=ids[0], state=State.SENT)

    def page_ends(number: int) -> None:
        has_next = number + 1 < len(ids)
        paging = Paging(number + 1, ids[0] if number else None, 100, continued=has_next)
        setup.end(ids[number], paging=paging)
        if has_next:
            moment = timestamp(NOON + timedelta(microseconds=number + 1))
            following = Paging(number + 2, ids[0], 100)
            setup.add(id=ids[number + 1], state=State.SENT, paging=following, inserted_at=moment)

    setup.events = [(moment, partial(page_ends, number)) for number, moment in enumerate(sorted(moments))]

    assert setup.hold(first, seconds)

    last = setup.store.records.get(ids[-1])
    has_ended = isinstance(last, QueuedRequest) and last.last_page
    assert has_ended or setup.seconds >= seconds * 0.999
    assert setup.seconds <= seconds + 0.001
    assert setup.store.reads <= MAX_READS


def test_a_call_for_a_request_that_has_ended_is_answered_at_once_without_a_lease() -> None:
    setup = Setup(limit=0)

    assert setup.hold(setup.add(state=State.ERROR))

    assert (setup.seconds, setup.store.reads) == (0, 0)


def test_a_call_ends_when_its_request_is_deleted() -> None:
    setup = Setup()
    record = setup.add()
    setup.events = [(3, lambda: setup.store.commit(RemoveRequest(record, timestamp(NOON))))]

    setup.hold(record)

    assert 3 <= setup.seconds < 5


def test_a_call_to_get_a_request_of_another_app_or_connection_is_not_held() -> None:
    setup = Setup()
    record = setup.add()
    calls = setup.calls
    until = calls.end_of(20)

    calls.wait_to_get(OTHER_APP_ID, record.id, None, until, WaitFor.QUERY)
    calls.wait_to_get(APP_ID, record.id, OTHER_APP_ID, until, WaitFor.QUERY)
    calls.wait_to_get(APP_ID, setup.new_id(), None, until, WaitFor.QUERY)
    assert setup.seconds == 0

    calls.wait_to_get(APP_ID, record.id, record.connection_id, until, WaitFor.QUERY)
    assert setup.seconds == pytest.approx(20)
    assert setup.store.reads <= 3 + 1 + MAX_READS


@pytest.mark.parametrize("limit", [0, 1, 2, 7])
def test_only_as_many_calls_as_the_limit_are_held_and_the_next_is_answered_at_once(limit: int) -> None:
    setup = Setup(limit=limit)
    record, calls = setup.add(), setup.calls
    held: list[bool] = []

    def begin_another() -> None:
        """Begin a call inside a pause of the one before, as in another process."""
        if len(held) <= limit:
            held.append(len(setup.store.leases) < limit)
            setup.events = [(setup.seconds, begin_another)]
            assert calls.wait(record, calls.end_of(1)) == held[-1] or len(held) > limit

    begin_another()

    assert setup.store.leases == {}
    assert held.count(True) == limit
    assert setup.hold(record, 1) == (limit > 0)


def test_the_lease_of_a_function_that_was_terminated_expires() -> None:
    setup = Setup(limit=1)
    record = setup.add()

    class Terminated(BaseException):
        """The function ended in the middle."""

    def take_and_die() -> None:
        setup.calls._taken_lease(APP_ID)  # noqa: SLF001 - nothing releases it

    take_and_die()
    assert not setup.hold(record)
    setup.clock.advance(seconds=LEASE_SECONDS - 1)
    assert not setup.hold(record)
    setup.clock.advance(seconds=1)
    assert setup.hold(record, 1)


def test_a_lease_ends_also_if_the_database_fails_during_the_call() -> None:
    setup = Setup()
    record = setup.add()

    def fail() -> None:
        raise ConnectionError("the database does not answer")

    setup.events = [(1, fail)]
    with pytest.raises(ConnectionError):
        setup.hold(record)
    assert setup.store.leases == {}


def test_one_app_takes_at_most_half_of_many_places() -> None:
    setup = Setup(limit=4 * MIN_SHARED_LIMIT)
    taken = [setup.calls._taken_lease(APP_ID) for _ in range(400)]  # noqa: SLF001 - without holding 400 calls

    assert len(list(filter(None, taken))) == 2 * MIN_SHARED_LIMIT
    assert setup.calls._taken_lease("another app")  # noqa: SLF001


@given(seconds=st.floats(0.1, 20), steps=st.integers(1, MAX_READS))
def test_growing_pauses_take_the_whole_time_together(seconds: float, steps: int) -> None:
    left, pauses = seconds, []
    for number in range(steps, 0, -1):
        pauses.append(next_pause(left, number))
        left -= pauses[-1]

    assert sum(pauses) == pytest.approx(seconds)
    assert pauses == sorted(pauses)
