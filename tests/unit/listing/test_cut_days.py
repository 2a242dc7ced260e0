"""A range of time that begins or ends within a day: how much is counted, and who may count how much."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, QuotaExceeded
from domain.listing.cut_days import cut_days
from domain.listing.filters import RequestFilter
from domain.listing.lists import MAX_UNCOUNTED_ENTRIES, Lists
from domain.listing.query import ListQuery
from domain.listing.search import MAX_SEARCH_SECONDS
from domain.records.request import State
from domain.records.webhook import ListedWebhookState
from domain.storage.changes import Put
from domain.storage.counts import DayCounts
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, FixedClock, a_connection
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from domain.storage.ports import IndexDays

PAIR = (State.ERROR, ListedWebhookState.NOT_APPLICABLE)
OTHER = (State.WAITING, ListedWebhookState.NOT_APPLICABLE)
A_DAY = timedelta(days=1)
MIDNIGHT = NOON.replace(hour=0)

minutes = st.integers(0, 24 * 60).map(lambda number: MIDNIGHT + timedelta(minutes=number))


@given(minutes, minutes, minutes | st.just(NOON + 9 * A_DAY))
def test_at_most_half_of_the_time_that_a_day_has_had_is_counted(first: Any, last: Any, now: Any) -> None:
    first, last = sorted((first, last))
    day = timestamp(NOON)[:10]
    query = ListQuery(CONNECTION_ID, RequestFilter(from_=timestamp(first), to=timestamp(last), state=State.ERROR))

    cut = cut_days([DayCounts(day, {PAIR: 10_000, OTHER: 1})], query, now)

    for one in cut:
        assert one.expected <= 5_000 or now == MIDNIGHT
        assert one.counts == {PAIR: 10_000}
    assert (cut == []) == (last - first == A_DAY or (last == MIDNIGHT) or first == MIDNIGHT + A_DAY)


class FullStore(FakeStore):
    """A store with a day of very many requests. Counting them takes time."""

    def __init__(self, clock: FixedClock, number: int, seconds: float = 0) -> None:
        super().__init__()
        self.clock, self.number, self.seconds = clock, number, seconds
        self.commit(Put(None, a_connection()))

    def day_counts(self, *_: Any, **__: Any) -> Sequence[DayCounts]:
        """Return one day."""
        counts = {PAIR: self.number}
        return [DayCounts("2026-03-14", counts, counts)]

    def count_index_entries(self, days: IndexDays, split_points: Sequence[str], check_deadline: Any = None) -> Any:
        """Return as many as there are, after some time."""
        self.clock.advance(seconds=self.seconds)
        check_deadline()
        assert len(split_points) <= 7
        return dict.fromkeys(days.counts, self.number // 2)


@contextmanager
def refusing() -> Iterator[None]:
    """Refuse."""
    raise QuotaExceeded("This app may make no searches.")
    yield


QUERY = ListQuery(CONNECTION_ID, RequestFilter(from_="2026-03-14T12:00:00.000000Z"))


@pytest.mark.parametrize(("number", "is_refused"), [(2 * MAX_UNCOUNTED_ENTRIES, False), (2_000_000, True)])
def test_counting_very_many_requests_is_limited_like_a_search(number: int, *, is_refused: bool) -> None:
    clock = FixedClock(NOON + A_DAY)
    lists = Lists(FullStore(clock, number), clock)

    if is_refused:
        with pytest.raises(QuotaExceeded):
            lists.page(APP_ID, QUERY, refusing)
    else:
        assert lists.page(APP_ID, QUERY, refusing).total_pages == number // 2 // 20


def test_counting_that_takes_too_long_is_refused_with_an_alternative() -> None:
    clock = FixedClock(NOON + A_DAY)

    with pytest.raises(InvalidRequest, match="midnight in UTC"):
        Lists(FullStore(clock, 10, MAX_SEARCH_SECONDS), clock).page(APP_ID, QUERY)
