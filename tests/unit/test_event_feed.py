"""The feed reads a log page by page while groups are appended: a read is not a snapshot, and nothing may be lost."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.events.feed import GROUPS_A_READ, Feed, FeedFilter
from domain.records.event import EventGroup, EventOutcome, LoggedEvent
from domain.storage.changes import AppendEvents
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, FixedClock
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = 1_000
"""The position at which the log begins."""
MAX_GROUPS = 6


class TornReads(FakeStore):
    """A log in which one read does not see some groups, because they are appended during the read."""

    def __init__(self, groups: int, torn: int, unseen: set[int]) -> None:
        super().__init__()
        self.reads = 0
        self._torn, self._unseen = torn, {FIRST + number for number in unseen}
        for number in range(groups):
            event = LoggedEvent(EventOutcome.COMPLETED, str(number), CONNECTION_ID, 4)
            self.commit(AppendEvents(EventGroup(APP_ID, FIRST + number, timestamp(NOON), (event,), not number)))

    def event_groups_from(self, app_id: str, position: int, page_size: int) -> Iterator[EventGroup]:
        """Yield the groups that a read sees."""
        self.reads += 1
        unseen = self._unseen if self.reads == self._torn else set()
        return (g for g in super().event_groups_from(app_id, position, page_size) if g.position not in unseen)


@settings(max_examples=300)
@given(
    groups=st.integers(1, MAX_GROUPS),
    limit=st.integers(1, MAX_GROUPS + 1),
    torn=st.integers(1, 2 * MAX_GROUPS),
    unseen=st.sets(st.integers(0, MAX_GROUPS - 1)),
)
def test_a_reader_gets_every_event_once_in_order_whichever_groups_one_read_does_not_see(
    groups: int, limit: int, torn: int, unseen: set[int]
) -> None:
    """Also if it is the read of the oldest cursor. A later call gets what an earlier one did not see."""
    store = TornReads(groups, torn, unseen)
    feed = Feed(store, FixedClock())
    listed: list[int] = []
    after = None
    for _ in range(2 * groups + 2):
        page = feed.page(APP_ID, after, FeedFilter(), limit)
        listed += [int(event.logged.request_id) for event in page.events]
        after = str(page.after)

    assert listed == list(range(groups))


@pytest.mark.parametrize("late", [timedelta(0), timedelta(seconds=1)])
def test_a_waiting_call_whose_time_is_over_does_not_read_again(late: timedelta) -> None:
    store, clock = TornReads(0, torn=0, unseen=set()), FixedClock()
    feed = Feed(store, clock)
    page = feed.page(APP_ID, None, FeedFilter(), 1)
    reads, pauses = store.reads, list[float]()

    after = feed.next_page(APP_ID, page, FeedFilter(), 1, until=clock.now - late, pause=pauses.append)

    assert (after, store.reads, pauses) == (page, reads, [])


def test_a_page_ends_before_a_group_that_its_read_did_not_see() -> None:
    groups = 2 * GROUPS_A_READ
    for unseen in range(1, groups):
        store = TornReads(groups, torn=3, unseen={unseen})  # the oldest cursor is read twice before

        page = Feed(store, FixedClock()).page(APP_ID, None, FeedFilter(), groups)

        assert [event.logged.request_id for event in page.events] == [str(number) for number in range(unseen)]


@pytest.mark.parametrize("number", [1, 25, 26, 51])
def test_the_events_of_a_page_are_read_in_parts_and_yielded_once(number: int) -> None:
    store = TornReads(number, torn=0, unseen=set())
    feed = Feed(store, FixedClock())
    events = feed.page(APP_ID, None, FeedFilter(), number).events

    assert [event for event, _ in feed.contents(events)] == list(events)
    assert len(events) == number
