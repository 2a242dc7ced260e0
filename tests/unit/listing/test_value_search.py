"""A search for a whole value that runs out of time while it reads the entries of search blocks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.listing.overview import MAX_SECONDS
from domain.listing.value_search import Unsearched, ValueSearches
from domain.storage.changes import Put
from domain.storage.ports import BlockEntry
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, a_connection
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

DAYS = 5


class Paged(FakeStore):
    """A store with a block for each day, each in a page of its own. A page takes a second of `now`."""

    now = NOON

    def block_entries(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[BlockEntry]]:  # noqa: ARG002
        """Yield the newest day first. The first block begins before all times."""
        for day in reversed(range(DAYS)):
            self.now += timedelta(seconds=1)
            since = timestamp(NOON + timedelta(days=day)) if day else ""
            yield [BlockEntry(f"texts#{since}", since, since, may_match=False)]


@for_each("left", range(DAYS + 2))
def test_a_search_that_is_late_names_the_time_of_the_last_entry(left: int) -> None:
    store = Paged()
    store.commit(Put(None, connection := a_connection()))
    times: list[datetime] = []

    def clock() -> datetime:
        times.append(store.now)
        return store.now if len(times) > 1 else store.now - timedelta(seconds=MAX_SECONDS - left)

    report = ValueSearches(store, clock).of_app(APP_ID, "Ann", 10)

    named = [(one.connection, one.complete_after, one.reason) for one in report.unsearched]
    match left:
        case 0:
            assert named == [(connection, None, Unsearched.TIME)]
        case _ if left < DAYS:
            assert named == [(connection, timestamp(NOON + timedelta(days=DAYS - left)), Unsearched.TIME)]
        case _:
            assert named == []
