"""Every list equals that of a brute-force list in memory."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.changes import AddConnection, AddRequest
from domain.errors import NotFound
from domain.listing import ListQuery, Lists, Span, locate
from domain.queued_request import QueuedRequest, State, WebhookState, timestamp
from tests.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    SequentialIds,
    a_connection,
    a_record,
)
from tests.fakes import FakeStore

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = ("alpha", "beta", "Gamma Ray")


@st.composite
def a_history(draw: st.DrawFn) -> list[tuple[QueuedRequest, str]]:
    """Draw up to 40 records over a few days, with texts; moments collide often."""
    new_id = SequentialIds()
    history = []
    for _ in range(draw(st.integers(0, 40))):
        inserted = NOON + timedelta(days=draw(st.integers(0, 4)), hours=draw(st.integers(-2, 2)))
        updated = inserted + timedelta(hours=draw(st.sampled_from([0, 1, 26])))
        record = a_record(
            id=new_id(),
            inserted_at=timestamp(inserted),
            updated_at=timestamp(updated),
            state=draw(st.sampled_from([State.WAITING, State.ERROR, State.RESPONSE_RECEIVED])),
            webhook_state=draw(st.sampled_from([WebhookState.PENDING, WebhookState.NOT_APPLICABLE])),
        )
        history.append((record, draw(st.sampled_from(WORDS))))
    return history


queries = st.builds(
    ListQuery,
    connection_id=st.just(CONNECTION_ID),
    page=st.integers(1, 6),
    page_size=st.integers(1, 12),
    sort=st.sampled_from(["inserted_at", "updated_at"]),
    descending=st.booleans(),
    state=st.none() | st.sampled_from([State.WAITING, State.ERROR]),
    webhook_state=st.none() | st.sampled_from(list(WebhookState)),
    search_phrase=st.none() | st.sampled_from(["alpha", "GAMMA", "nowhere", "a"]),
)


def brute_force(history: Sequence[tuple[QueuedRequest, str]], query: ListQuery) -> tuple[list[QueuedRequest], int]:
    """Return the page and the number of pages the plain way."""
    fitting = [
        record
        for record, word in history
        if query.state in (None, record.state)
        and query.webhook_state in (None, record.webhook_state)
        and (query.search_phrase or "").casefold() in word.casefold()
    ]
    fitting.sort(key=lambda record: (getattr(record, query.sort), record.id), reverse=query.descending)
    start = (query.page - 1) * query.page_size
    return fitting[start : start + query.page_size], -(-len(fitting) // query.page_size)


@settings(max_examples=400, deadline=None)
@given(history=a_history(), query=queries)
def test_a_page_equals_that_of_a_brute_force_list(history: list[tuple[QueuedRequest, str]], query: ListQuery) -> None:
    store = FakeStore()
    store.commit(AddConnection(a_connection()))
    for record, word in history:
        store.commit(AddRequest(record, REQUEST_XML, word.casefold()))

    page = Lists(store, store, store).page(APP_ID, query)

    items, total_pages = brute_force(history, query)
    assert [stored.record for stored in page.items] == items
    assert (page.page, page.total_pages) == (query.page, total_pages)


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
    lists = Lists(store, store, store)

    with pytest.raises(NotFound):
        lists.page(OTHER_APP_ID, ListQuery(CONNECTION_ID))
    with pytest.raises(NotFound):
        lists.page(APP_ID, ListQuery("c0000000-0000-4000-8000-00000000dead"))
    assert lists.page(APP_ID, ListQuery(CONNECTION_ID)).total_pages == int(filled)
