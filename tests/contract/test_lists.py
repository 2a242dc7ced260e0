"""Lists through the DynamoDB adapter equal brute-force lists."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from domain.changes import AddConnection, AddRequest, RemoveRequest
from domain.listing import ListQuery, Lists
from domain.queued_request import timestamp
from local.emulated_dynamodb import quick_moto
from local.tables import make_tables
from tests.builders import APP_ID, NOON, REQUEST_XML, a_connection
from tests.contract.conftest import dynamodb_client
from tests.lists import a_history, brute_force, queries, seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERIES = 12
"""How many lists are asked of one history: storing it takes longer than a list."""


@pytest.fixture(scope="module")
def filled() -> Iterator[DynamoDBStore]:
    """Yield a store on DynamoDB emulated in the process, shared: each case has a connection of its own."""
    with quick_moto(), mock_aws():
        client = dynamodb_client()
        yield DynamoDBStore(client, make_tables(client, f"lists{uuid.uuid4().hex[:8]}-"))


@settings(max_examples=10, deadline=None)
@given(
    seed=seeds,
    number=st.integers(0, 70),
    asked=st.lists(queries, min_size=QUERIES, max_size=QUERIES),
)
def test_a_page_equals_that_of_a_brute_force_list(
    filled: DynamoDBStore, seed: int, number: int, asked: list[ListQuery]
) -> None:
    connection_id = str(uuid.uuid4())
    history = a_history(seed, number, connection_id)
    # Ids are made anew: hypothesis may run one seed twice, and an id is used once.
    history = [replace(past, record=replace(past.record, id=str(uuid.uuid4()))) for past in history]
    filled.commit(AddConnection(a_connection(id=connection_id)))
    for past in history:
        filled.commit(AddRequest(past.record, REQUEST_XML, past.text))
        if past.removed:
            filled.commit(RemoveRequest(past.record, timestamp(NOON)))
    lists = Lists(filled, filled, filled)

    for one in asked:
        query = replace(one, connection_id=connection_id)
        page = lists.page(APP_ID, query)
        items, total_pages = brute_force(history, query)
        assert ([item.record for item in page.items], page.total_pages) == (items, total_pages), query
