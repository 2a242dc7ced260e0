"""Requests keep the order in which they are queued, in the queue and in lists, whatever the clock does."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain import qbxml
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.records.request import Paging, State
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.pages import next_page
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.queueing import command, queueing_without_quotas
from tests.support.web_connector.interruptions import RandomIds

REQUEST = qbxml.parse_request_xml(REQUEST_XML)
ITERATED = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq iterator="Start"><MaxReturned>2</MaxReturned>'
    "</CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)
STEPS = st.lists(st.integers(-3_000_000, 3_000_000) | st.just(0), min_size=2, max_size=30)
"""By how many microseconds the clock moves before each request; often it stands still."""


@given(steps=STEPS)
def test_requests_of_one_process_keep_their_order(steps: list[int]) -> None:
    store, clock = FakeStore(), FixedClock()
    store.commit(Put(None, a_connection()))
    queueing = queueing_without_quotas(store, clock, RandomIds())
    ids = []
    for microseconds in steps:
        clock.now += timedelta(microseconds=microseconds)
        ids.append(queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST)).stored.record.id)

    assert [record.id for record in store.queue_front(CONNECTION_ID, len(ids))] == ids
    query = ListQuery(CONNECTION_ID, page_size=100, descending=False)
    assert [item.record.id for item in Lists(store, clock).page(APP_ID, query).items] == ids


@given(steps=STEPS)
def test_pages_of_a_query_keep_their_order(steps: list[int]) -> None:
    """Functions on different hosts store them, so the clock of the next page can be behind."""
    now, new_id = NOON, RandomIds()
    pages = [a_record(inserted_at=timestamp(NOON), state=State.SENT, paging=Paging(page_size=2))]
    for microseconds in steps:
        now += timedelta(microseconds=microseconds)
        page = next_page(pages[-1], ITERATED, "{1}", new_id(), now, metadata={}, queued_by=None)
        assert page
        pages.append(page.record)

    assert all(one.inserted_at < other.inserted_at for one, other in pairwise(pages))
    assert [page.paging.page for page in pages] == list(range(1, len(pages) + 1))
