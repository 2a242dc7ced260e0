"""Every page equals that of a brute-force list in memory."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidRequest, NotFound
from domain.listing.filters import RequestFilter
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.listing.search import ReadBounds
from domain.records.request import TRANSITIONS, QueuedRequest, State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.ports import Group
from domain.timestamps import timestamp
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    SequentialIds,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeBatch, FakeStore
from tests.support.random_lists import (
    History,
    Past,
    a_history,
    brute_force,
    claim_some,
    in_flight_numbers,
    numbers,
    queries,
    query_of,
    seeds,
)
from tests.support.request_filters import conditions, moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.storage.ports import IndexDays, IndexEntry

CASES = int(os.environ.get("LISTING_CASES", "150"))
"""The number of random lists to compare. 10,000 take some minutes."""


def store_with(history: History, store: FakeStore | None = None) -> FakeStore:
    """Return a store with the history. Removed records are stored first, then removed."""
    store = store or FakeStore()
    store.commit(Put(None, a_connection()))
    for past in history:
        store.commit(AddRequest(past.record, REQUEST_XML, past.search_text, queued_by=past.queued_by))
        if past.removed:
            store.commit(RemoveRequest(past.record, timestamp(NOON)))
    return store


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, in_flight=in_flight_numbers, query=queries)
def test_a_page_equals_that_of_a_brute_force_list(seed: int, number: int, in_flight: int, query: ListQuery) -> None:
    """Also the records in flight are where `GET` shows them."""
    history = a_history(seed, number)
    store = store_with(history)
    history, claims = claim_some(history, in_flight, seed)
    for claim in claims:
        store.commit(claim)

    query = query_of(query, history)
    page = Lists(store, FixedClock()).page(APP_ID, query)

    items, total_pages = brute_force(history, query)
    assert [item.record for item in page.items] == items
    assert (page.page, page.total_pages) == (query.page, total_pages)
    states = Counter(past.record.state for past in history if not past.removed)
    assert page.counts == {state: states[state] for state in State}


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, in_flight=in_flight_numbers, query=queries)
def test_many_hits_have_the_same_order_from_the_index_as_few_from_their_records(
    seed: int, number: int, in_flight: int, query: ListQuery
) -> None:
    """Here every search has many hits, and small groups of days are separate parts."""
    history = a_history(seed, number)
    store = store_with(history)
    history, claims = claim_some(history, in_flight, seed)
    for claim in claims:
        store.commit(claim)
    searched = query_of(query if query.is_search else replace(query, search_phrase="a"), history)

    page = Lists(store, FixedClock(), few_hits=0, min_part=3).page(APP_ID, searched)

    assert ([item.record for item in page.items], page.total_pages) == brute_force(history, searched)


ranges_of_sending = st.tuples(moments, moments).map(sorted).map(
    lambda both: dict(zip(("sent_since", "sent_before"), both, strict=True))
) | st.sampled_from(["sent_since", "sent_before"]).flatmap(lambda name: st.fixed_dictionaries({name: moments}))
times_of_sending = st.builds(
    lambda which, sent: replace(which, **sent), st.just(RequestFilter()) | conditions(), ranges_of_sending
)
bounds_of_sending = st.builds(
    ReadBounds,
    spanned=st.just(60) | st.integers(0, 60),
    undecided=st.just(60) | st.integers(0, 20),
)


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, query=queries, which=times_of_sending, bounds=bounds_of_sending, searches=st.booleans())
def test_a_list_by_the_time_of_sending_is_complete_or_refused_with_the_way_to_narrow_it(
    *, seed: int, query: ListQuery, which: RequestFilter, bounds: ReadBounds, searches: bool
) -> None:
    """With bounds of its entries and records that are as small as the lists here."""
    history = a_history(seed, 60)
    store = store_with(history)
    history, claims = claim_some(history, 3, seed)
    for claim in claims:
        store.commit(claim)
    query = query_of(replace(query, which=which, search_phrase=query.search_phrase if searches else None), history)
    lists = Lists(store, FixedClock(), bounds=bounds)

    try:
        page = lists.page(APP_ID, query)
    except InvalidRequest as refusal:
        problems = refusal.details["problems"] if refusal.details else []
        page = None

    if page is None:
        assert problems[0]["field"] in which.given
    else:
        assert [item.record for item in page.items] == brute_force(history, query)[0]
        assert page.total == brute_force(history, replace(query, page_size=1))[1]


@pytest.mark.parametrize(
    ("which", "is_answered"),
    [
        (RequestFilter(sent_since=timestamp(NOON)), False),
        (RequestFilter(sent_before=timestamp(NOON)), True),
        (RequestFilter(sent_since=timestamp(NOON + timedelta(seconds=1))), True),
        (RequestFilter(sent_since=timestamp(NOON), state=State.ERROR), True),
        (RequestFilter(sent_since=timestamp(NOON), label="nightly"), True),
        (RequestFilter(sent_since=timestamp(NOON), updated_since=timestamp(NOON + timedelta(seconds=1))), True),
        (RequestFilter(request_name="HostQueryRq"), False),
        (RequestFilter(request_name="HostQueryRq", to=timestamp(NOON)), True),
        (RequestFilter(updated_since=timestamp(NOON)), False),
        (RequestFilter(label_prefix="x", ids=("c0000000-0000-4000-8000-00000000dead",)), True),
    ],
)
def test_a_filter_for_which_too_many_requests_would_be_read_says_how_to_narrow_it(
    which: RequestFilter, is_answered: bool
) -> None:
    """The requests that match are looked for among those that the other filters leave."""
    query = ListQuery(CONNECTION_ID, which)
    store = store_with([])
    for number in range(11):
        record = a_record(state=State.WAITING if number else State.ERROR, label=None if number else "nightly")
        store.commit(AddRequest(record, REQUEST_XML, ""))
    lists = Lists(store, FixedClock(), bounds=ReadBounds(records=10, spanned=10, undecided=10))

    if is_answered:
        assert lists.page(APP_ID, query).items == []
        return
    with pytest.raises(InvalidRequest) as refusal:
        lists.page(APP_ID, query)
    assert refusal.value.details
    (problem,) = refusal.value.details["problems"]
    assert problem["field"] in which.given
    assert "more than 10 requests" in problem["message"]


class LaggingStore(FakeStore):
    """A store whose indexes miss the latest changes, or show a record before and after its change."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.latest: dict[str, QueuedRequest] = {}
        self._chance = random.Random(seed)
        self._versions: dict[str, str] = {}

    def index_entries(self, days: IndexDays, **keywords: Any) -> Sequence[IndexEntry]:
        """Return entries that are missing, doubled or out of date. Those of groups never change."""
        if any(isinstance(partition, Group) for partition in days.counts):
            return super().index_entries(days, **keywords)
        lagging = FakeStore()
        for record in self._records_of(days.connection_id):
            older = self.latest.get(record.id, record)
            versions = self._versions.setdefault(record.id, self._chance.choice(["new", "old", "both", "none"]))
            if record.id not in self.latest or versions in {"new", "both"}:
                lagging.records[record.id, "new"] = record  # type: ignore[index] # one id twice, which a table never has
            if record.id in self.latest and versions in {"old", "both"}:
                lagging.records[record.id, "old"] = older  # type: ignore[index]
        return lagging.index_entries(days, **keywords)


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, query=queries)
def test_an_index_that_lags_gives_a_shorter_page_in_order(seed: int, number: int, query: ListQuery) -> None:
    """The page has matching records in order, none twice.

    The number of pages stays exact, except for parts of days and for filters that no index has.
    """
    history = a_history(seed, number)
    store = LaggingStore(seed)
    store_with(history, store)
    chance = random.Random(seed)
    alive = {past.record.id: past for past in history if not past.removed}
    for past in chance.sample(list(alive.values()), len(alive) // 4):
        moved = replace(past.record, state=State.ERROR, webhook=Webhook(WebhookState.FAILED)).changed(
            NOON + timedelta(hours=chance.randrange(200))
        )
        store.commit(ChangeRequest(past.record, moved))
        store.latest[moved.id] = past.record
        alive[moved.id] = replace(past, record=moved)

    query = query_of(query, history)
    page = Lists(store, FixedClock()).page(APP_ID, query)

    everything, _ = brute_force(list(alive.values()), replace(query, page=1, page_size=len(alive) + 1))
    places = [everything.index(item.record) for item in page.items]
    assert places == sorted(set(places))
    assert len(places) <= query.page_size
    if not query.search_phrase and not query.within and not query.reads_records:
        assert page.total_pages == brute_force(list(alive.values()), query)[1]


class ChangingStore(FakeStore):
    """A store in which a record is changed after the index was read and before the records are."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)
        self.changes = 0

    def _change_some(self) -> None:
        alive = [record for record in self.records.values() if isinstance(record, QueuedRequest)]
        for record in self._chance.sample(alive, min(self.changes, len(alive))):
            moment = NOON + timedelta(hours=self._chance.randrange(100))
            steps = [record.moved(state, moment) for state in TRANSITIONS[record.state] if state is not State.DISCARDED]
            steps.append(record.with_webhook(moment, replace(record.webhook, state=WebhookState.FAILED)))
            self.commit(ChangeRequest(record, self._chance.choice(steps)))

    def request_batch(self, request_ids: Sequence[str]) -> FakeBatch:
        self._change_some()
        return super().request_batch(request_ids)

    def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
        self._change_some()
        return super().records_by_id(request_ids, may_lag=may_lag)


@settings(max_examples=CASES, deadline=None)
@given(seed=seeds, number=numbers, in_flight=in_flight_numbers, query=queries)
def test_records_that_change_between_two_reads_are_shown_as_they_are_or_not_at_all(
    seed: int, number: int, in_flight: int, query: ListQuery
) -> None:
    store = ChangingStore(seed)
    history = a_history(seed, number)
    store_with(history, store)
    for claim in claim_some(history, in_flight, seed)[1]:
        store.commit(claim)
    store.changes = 5

    query = query_of(query, history)
    page = Lists(store, FixedClock()).page(APP_ID, query)

    shown = [item.record for item in page.items]
    assert all(store.records[record.id] == record and query.which.matches(record) for record in shown)
    places = [(query.time_of(record), record.id) for record in shown]
    assert places == sorted(set(places), reverse=query.descending)
    assert len(shown) <= query.page_size


def test_thousands_of_webhooks_that_are_retried_are_pending_and_in_order() -> None:
    store = FakeStore()
    store.commit(Put(None, a_connection()))
    chance, new_id = random.Random(1), SequentialIds()
    webhooks = [Webhook(WebhookState.PENDING, attempts_in_round=2)] * 25 + [Webhook(WebhookState.PENDING), Webhook()]
    history = [
        Past(
            a_record(
                id=new_id(),
                state=State.ERROR,
                webhook=webhook,
                updated_at=timestamp(NOON + timedelta(minutes=chance.randrange(3_000))),
            ),
            "",
        )
        for webhook in webhooks * 200
    ]
    for start in range(0, len(history), 40):
        store.commit(*(AddRequest(past.record, "", "") for past in history[start : start + 40]))
    lists = Lists(store, FixedClock())

    for retrying, pages in ((None, 260), (True, 250), (False, 10)):
        for page in (1, 100, pages, pages + 1):
            which = RequestFilter(webhook_state=WebhookState.PENDING, webhook_retrying=retrying)
            query = ListQuery(CONNECTION_ID, which, page, sort="updated_at")
            result = lists.page(APP_ID, query)
            assert ([item.record for item in result.items], result.total_pages) == brute_force(history, query)
            assert result.total_pages == pages


@pytest.mark.parametrize("filled", [True, False])
def test_the_connection_of_another_app_is_not_found(*, filled: bool) -> None:
    store = FakeStore()
    store.commit(Put(None, a_connection()))
    if filled:
        store.commit(AddRequest(a_record(), REQUEST_XML, ""))
    lists = Lists(store, FixedClock())

    with pytest.raises(NotFound):
        lists.page(OTHER_APP_ID, ListQuery(CONNECTION_ID))
    with pytest.raises(NotFound):
        lists.page(APP_ID, ListQuery("c0000000-0000-4000-8000-00000000dead"))
    assert lists.page(APP_ID, ListQuery(CONNECTION_ID)).total_pages == int(filled)
