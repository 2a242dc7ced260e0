"""Lists through the DynamoDB adapter equal brute-force lists."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from domain.listing.lists import Lists
from domain.maintenance.search_packing import pack_days
from domain.storage.changes import AddRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.support.builders import APP_ID, NOON, REQUEST_XML, FixedClock, a_connection
from tests.support.random_lists import (
    a_history,
    brute_force,
    claim_some,
    in_flight_numbers,
    queries,
    query_of,
    seeds,
)
from tests.support.request_filters import QUERY_IDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.listing.query import ListQuery
    from domain.records.request import QueuedRequest

CASES = int(os.environ.get("LISTING_CASES", "60"))
"""The number of lists to compare. 10,000 take a quarter of an hour."""

QUERIES = max(12, CASES // 100)
"""The number of lists that are requested from one history, because storing a history takes longer than a list."""

SMALL_BLOCK = 250
"""Bytes of packed texts, so that a history has several search blocks."""

AN_HOUR = timedelta(hours=1)
LATER = NOON + timedelta(days=30)


@pytest.fixture(scope="module")
def database() -> Iterator[tuple[DynamoDBStore, DynamoDBStore]]:
    """Yield a shared store on the DynamoDB emulated in this process. Each case has a separate connection."""
    with emulated_dynamodb():
        client = dynamodb_client()
        tables = make_tables(client, f"lists{uuid.uuid4().hex[:8]}-")
        yield (
            DynamoDBStore(client, tables),
            DynamoDBStore(client, tables, max_block_bytes=SMALL_BLOCK),
        )


def _renamed(record: QueuedRequest, new_ids: Mapping[str, str]) -> QueuedRequest:
    """Return a record with its new id, and that of its query."""
    first = record.paging.first_page_id
    paging = replace(record.paging, first_page_id=new_ids[first]) if first else record.paging
    return replace(record, id=new_ids[record.id], paging=paging)


@settings(max_examples=CASES // QUERIES, deadline=None)
@given(
    seed=seeds,
    numbers=st.tuples(st.integers(0, 70), in_flight_numbers),
    list_queries=st.lists(queries, min_size=QUERIES, max_size=QUERIES),
    runs=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_a_page_equals_that_of_a_brute_force_list(
    database: tuple[DynamoDBStore, DynamoDBStore],
    seed: int,
    numbers: tuple[int, int],
    list_queries: list[ListQuery],
    runs: tuple[int, int],
) -> None:
    """The packer runs before and after the removal of records, so any part of the search texts may be packed."""
    store, packing = database
    connection_id = str(uuid.uuid4())
    history = a_history(seed, numbers[0], connection_id)
    # Hypothesis may run one seed twice, and ids are unique: give each record, and so each query, a new one.
    new_ids = {id_: str(uuid.uuid4()) for id_ in (*QUERY_IDS, *(past.record.id for past in history))}
    history = [replace(past, record=_renamed(past.record, new_ids)) for past in history]
    store.commit(Put(None, a_connection(id=connection_id)))
    for past in history:
        store.commit(AddRequest(past.record, REQUEST_XML, past.search_text, queued_by=past.queued_by))
    for _ in range(runs[0]):
        pack_days(packing, lambda: LATER, LATER + AN_HOUR)
    for past in history:
        if past.removed:
            store.commit(RemoveRequest(past.record, timestamp(NOON)))
    for _ in range(runs[1]):
        pack_days(packing, lambda: LATER, LATER + AN_HOUR)
    history, claims = claim_some(history, numbers[1], seed)
    for claim in claims:
        store.commit(claim)
    lists = Lists(store, FixedClock())

    for list_query in list_queries:
        which = query_of(list_query, history).which
        which = replace(which, query_id=new_ids[which.query_id] if which.query_id else None)
        query = replace(list_query, connection_id=connection_id, which=which)
        page = lists.page(APP_ID, query)
        items, total_pages = brute_force(history, query)
        assert ([item.record for item in page.items], page.total_pages) == (items, total_pages), query
