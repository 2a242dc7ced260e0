"""Every list equals that of a brute-force list in memory."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidRequest, NotFound
from domain.requests.listing import MIN_PART_ENTRIES, READERS, SEARCH_SECONDS, ListQuery, Lists, Span, cuts, locate
from domain.requests.record import QueuedRequest, State, Webhook, WebhookState, timestamp
from domain.storage.changes import AddConnection, AddRequest, ChangeRequest, RemoveRequest
from domain.storage.ports import unlimited
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeStore
from tests.support.random_lists import History, a_history, brute_force, numbers, queries, seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from domain.storage.ports import IndexDays, IndexEntry

CASES = int(os.environ.get("LISTING_CASES", "400"))
"""How many random lists are compared; 10,000 take some minutes."""


def stored(history: History, store: FakeStore | None = None) -> FakeStore:
    """Return a store with the history: what is removed was there once."""
    store = store or FakeStore()
    store.commit(AddConnection(a_connection()))
    for past in history:
        store.commit(AddRequest(past.record, REQUEST_XML, past.text))
        if past.removed:
            store.commit(RemoveRequest(past.record, timestamp(NOON)))
    return store


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, query=queries)
def test_a_page_equals_that_of_a_brute_force_list(seed: int, number: int, query: ListQuery) -> None:
    history = a_history(seed, number)
    store = stored(history)

    page = Lists(store, FixedClock()).page(APP_ID, query)

    items, total_pages = brute_force(history, query)
    assert [item.record for item in page.items] == items
    assert (page.page, page.total_pages) == (query.page, total_pages)


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, query=queries)
def test_many_hits_are_ordered_by_the_index_as_few_are_by_their_records(
    seed: int, number: int, query: ListQuery
) -> None:
    """Every search is one of many hits here, and every group of days a part."""
    history = a_history(seed, number)
    store = stored(history)
    searched = replace(query, search_phrase=query.search_phrase or "a")

    page = Lists(store, FixedClock(), few_hits=0, smallest_part=3).page(APP_ID, searched)

    assert ([item.record for item in page.items], page.total_pages) == brute_force(history, searched)


class LaggingStore(FakeStore):
    """A store whose indexes do not know the latest changes, or know them beside what was before."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.latest: dict[str, QueuedRequest] = {}
        self._chance = random.Random(seed)
        self._shown: dict[str, str] = {}

    def index_entries(self, days: IndexDays, **asked: Any) -> Sequence[IndexEntry]:
        """Return entries as the index has them: late, doubled or as they were."""
        lagging = FakeStore()
        for record in self._records_of(days.connection_id):
            older = self.latest.get(record.id, record)
            shown = self._shown.setdefault(record.id, self._chance.choice(["new", "old", "both", "none"]))
            if record.id not in self.latest or shown in {"new", "both"}:
                lagging.records[record.id, "new"] = record  # type: ignore[index] # one id twice, as never in the table
            if record.id in self.latest and shown in {"old", "both"}:
                lagging.records[record.id, "old"] = older  # type: ignore[index]
        return lagging.index_entries(days, **asked)


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, query=queries)
def test_an_index_that_lags_gives_a_shorter_page_in_order(seed: int, number: int, query: ListQuery) -> None:
    """The page holds records that fit, in order, none twice; how many there are is exact as ever."""
    history = a_history(seed, number)
    store = LaggingStore(seed)
    stored(history, store)
    chance = random.Random(seed)
    alive = {past.record.id: past for past in history if not past.removed}
    for past in chance.sample(list(alive.values()), len(alive) // 4):
        moved = past.record.changed(
            NOON + timedelta(hours=chance.randrange(200)), state=State.ERROR, webhook=Webhook(WebhookState.FAILED)
        )
        store.commit(ChangeRequest(past.record, moved))
        store.latest[moved.id] = past.record
        alive[moved.id] = replace(past, record=moved)

    page = Lists(store, FixedClock()).page(APP_ID, query)

    everything, _ = brute_force(list(alive.values()), replace(query, page=1, page_size=len(alive) + 1))
    places = [everything.index(item.record) for item in page.items]
    assert places == sorted(set(places))
    assert len(places) <= query.page_size
    if not query.search_phrase:
        assert page.total_pages == brute_force(list(alive.values()), query)[1]


@given(
    numbers=st.lists(st.integers(1, 50), min_size=1, max_size=8),
    page=st.integers(1, 20),
    page_size=st.integers(1, 30),
)
def test_no_more_is_skipped_than_half_of_the_days_that_a_page_touches(
    numbers: list[int], page: int, page_size: int
) -> None:
    days = [(f"2026-03-{index + 1:02}", number) for index, number in enumerate(numbers)]

    span = locate(days, sum(numbers), ListQuery(CONNECTION_ID, page=page, page_size=page_size))

    if span is None:
        assert (page - 1) * page_size >= sum(numbers)
        return
    touched = sum(number for day, number in days if span.first_day <= day <= span.last_day)
    assert span.skip <= (touched - span.limit) / 2


def test_a_page_past_the_end_reads_no_index() -> None:
    assert locate([("2026-03-14", 5)], 5, ListQuery(CONNECTION_ID, page=2, page_size=5)) is None


def test_the_last_page_is_read_from_the_far_end() -> None:
    span = locate([("2026-03-14", 100)], 100, ListQuery(CONNECTION_ID, page=10, page_size=10))

    assert span == Span("2026-03-14", "2026-03-14", skip=0, limit=10, backwards=True)


@pytest.mark.parametrize("filled", [True, False])
def test_anothers_connection_is_not_found(*, filled: bool) -> None:
    store = FakeStore()
    store.commit(AddConnection(a_connection()))
    if filled:
        store.commit(AddRequest(a_record(), REQUEST_XML, ""))
    lists = Lists(store, FixedClock())

    with pytest.raises(NotFound):
        lists.page(OTHER_APP_ID, ListQuery(CONNECTION_ID))
    with pytest.raises(NotFound):
        lists.page(APP_ID, ListQuery("c0000000-0000-4000-8000-00000000dead"))
    assert lists.page(APP_ID, ListQuery(CONNECTION_ID)).total_pages == int(filled)


class SlowStore(FakeStore):
    """A store whose database takes a while for each answer: at first the texts, then the index."""

    def __init__(self, clock: FixedClock, *seconds: float) -> None:
        super().__init__()
        self._clock = clock
        self._seconds = list(seconds)

    def _wait(self) -> None:
        self._clock.advance(seconds=self._seconds.pop(0))

    def search_hits(
        self, connection_id: str, needle: str, cuts: Sequence[str], in_time: Callable[[], None] = unlimited
    ) -> Collection[tuple[str, str]]:
        self._wait()
        return super().search_hits(connection_id, needle, cuts, in_time)

    def all_index_entries(self, *arguments: Any, **named: Any) -> Iterable[IndexEntry]:
        self._wait()
        return super().all_index_entries(*arguments, **named)


@pytest.mark.parametrize("seconds", [(SEARCH_SECONDS,), (1, SEARCH_SECONDS - 1)])
def test_a_search_that_takes_too_long_is_refused_with_what_to_do_instead(seconds: Sequence[float]) -> None:
    clock = FixedClock()
    store = SlowStore(clock, *seconds)
    store.commit(AddConnection(a_connection()), AddRequest(a_record(), REQUEST_XML, "alpha"))
    lists = Lists(store, clock, few_hits=0)

    with pytest.raises(InvalidRequest) as caught:
        lists.page(APP_ID, ListQuery(CONNECTION_ID, search_phrase="alpha", state=State.WAITING))

    (problem,) = caught.value.problems
    assert problem.field == "search_phrase"
    assert f"within {SEARCH_SECONDS} seconds" in problem.message
    assert "list by state and webhook_state" in problem.message


def test_a_search_may_take_as_long_as_the_function_has_time() -> None:
    clock = FixedClock()
    store = SlowStore(clock, SEARCH_SECONDS - 1)
    store.commit(AddConnection(a_connection()), AddRequest(record := a_record(), REQUEST_XML, "alpha"))

    page = Lists(store, clock).page(APP_ID, ListQuery(CONNECTION_ID, search_phrase="alpha"))

    assert [item.record for item in page.items] == [record]


def test_anothers_connection_is_refused_before_it_is_searched() -> None:
    clock = FixedClock()
    store = SlowStore(clock)  # searching it fails: no answer is prepared
    store.commit(AddConnection(a_connection()), AddRequest(a_record(), REQUEST_XML, "alpha"))

    with pytest.raises(NotFound):
        Lists(store, clock).page(OTHER_APP_ID, ListQuery(CONNECTION_ID, search_phrase="alpha"))


@given(counted=st.lists(st.integers(1, 40_000), min_size=1, max_size=40))
def test_what_is_read_whole_is_cut_into_parts_about_alike(counted: list[int]) -> None:
    days = [(f"2026-03-{index + 1:02}", number) for index, number in enumerate(counted)]

    found = cuts(days)

    total = sum(counted)
    assert found == sorted(set(found))
    assert len(found) < READERS
    if total <= MIN_PART_ENTRIES:
        assert found == []
    # Each hour of a day with its share: that is as even as it is cut.
    hours = [(f"{day}T{hour:02}", number / 24) for day, number in days for hour in range(24)]
    edges = ["0", *found, "~"]
    parts = [
        sum(number for hour, number in hours if low <= hour.removesuffix("T00") < high) for low, high in pairwise(edges)
    ]
    share = total / min(READERS, -(-total // MIN_PART_ENTRIES))
    assert max(parts) <= 2 * share + 1


def test_a_day_that_holds_everything_is_cut_at_its_hours() -> None:
    found = cuts([("2026-03-14", 100_000)])

    assert found == [f"2026-03-14T{hour:02}" for hour in range(3, 24, 3)]
