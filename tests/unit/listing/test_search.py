"""A search ends in time and never reads the connection of another app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import InvalidRequest, NotFound
from domain.listing.filters import RequestFilter
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.listing.search import MAX_SEARCH_SECONDS
from domain.records.request import State
from domain.storage.changes import AddRequest, Put
from domain.timestamps import ANY_TIME, TimeRange
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from domain.storage.ports import IndexEntry


class SlowStore(FakeStore):
    """A store that takes `seconds` to read: first the search texts, then the index."""

    def __init__(self, clock: FixedClock, *seconds: float) -> None:
        super().__init__()
        self._clock = clock
        self._seconds = list(seconds)

    def _wait(self) -> None:
        self._clock.advance(seconds=self._seconds.pop(0))

    def search_matches(
        self,
        connection_id: str,
        texts: tuple[str, ...],
        split_points: Sequence[str],
        check_deadline: Callable[[], None] = lambda: None,
        within: TimeRange = ANY_TIME,
    ) -> Collection[tuple[str, str]]:
        self._wait()
        return super().search_matches(connection_id, texts, split_points, check_deadline, within)

    def all_index_entries(self, *arguments: Any, **keywords: Any) -> Iterable[IndexEntry]:
        self._wait()
        return super().all_index_entries(*arguments, **keywords)


@pytest.mark.parametrize("seconds", [(MAX_SEARCH_SECONDS,), (1, MAX_SEARCH_SECONDS - 1)])
def test_a_search_that_takes_too_long_is_refused_with_an_alternative(seconds: Sequence[float]) -> None:
    clock = FixedClock()
    store = SlowStore(clock, *seconds)
    store.commit(Put(None, a_connection()), AddRequest(a_record(), REQUEST_XML, "alpha"))
    lists = Lists(store, clock, few_hits=0)

    with pytest.raises(InvalidRequest) as caught:
        lists.page(APP_ID, ListQuery(CONNECTION_ID, RequestFilter(state=State.WAITING), search_phrase="alpha"))

    (problem,) = caught.value.problems
    assert problem.field == "search_phrase"
    assert f"within {MAX_SEARCH_SECONDS} seconds" in problem.message
    assert "filter by state and webhook_state" in problem.message


def test_a_search_may_use_all_of_its_time() -> None:
    clock = FixedClock()
    store = SlowStore(clock, MAX_SEARCH_SECONDS - 1)
    store.commit(Put(None, a_connection()), AddRequest(record := a_record(), REQUEST_XML, "alpha"))

    page = Lists(store, clock).page(APP_ID, ListQuery(CONNECTION_ID, search_phrase="alpha"))

    assert [item.record for item in page.items] == [record]


def test_the_connection_of_another_app_is_refused_before_it_is_searched() -> None:
    clock = FixedClock()
    store = SlowStore(clock)  # a search would fail, because it has no time left
    store.commit(Put(None, a_connection()), AddRequest(a_record(), REQUEST_XML, "alpha"))

    with pytest.raises(NotFound):
        Lists(store, clock).page(OTHER_APP_ID, ListQuery(CONNECTION_ID, search_phrase="alpha"))
