"""Requests outside a batch that it names: how many and how large they may be, and what reading them costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.apps.quotas import Quotas
from domain.batches.dependencies import MAX_OUTSIDE, MAX_OUTSIDE_BYTES
from domain.errors import InvalidRequest, QuotaExceeded
from domain.queueing.new_request import QueueBatch, Queueing
from domain.records.app import AppLimits
from domain.records.batch import MAX_REQUESTS
from domain.records.request import Paging, QueuedRequest, State
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from domain.webhooks.addresses import UrlRules
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    FixedClock,
    SequentialIds,
    a_connection,
    a_record,
)
from tests.support.queueing import new_request
from tests.support.web_connector.connector import CountingStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.queueing.new_request import NewRequest, QueuedBatch


def response(name: str) -> str:
    """Return a response with one customer."""
    content = f"<CustomerRet><Name>{name}</Name></CustomerRet>"
    return f"<QBXML><QBXMLMsgsRs><CustomerQueryRs>{content}</CustomerQueryRs></QBXMLMsgsRs></QBXML>"


class Service:
    """An app with requests that have ended."""

    def __init__(self, store: CountingStore | None = None, **limits: int) -> None:
        self.store, self.limits, clock = store or CountingStore(), AppLimits(**limits), FixedClock()
        self.store.commit(Put(None, a_connection()))
        quotas = Quotas(self.store, clock, lambda: 0.0)
        self._queueing = Queueing(self.store, clock, SequentialIds(), quotas=quotas, url_rules=UrlRules())

    def ended(self, response_xml: str = response("Ann")) -> str:
        """Return the id of a request that has ended with a response."""
        record = a_record()
        self.store.commit(AddRequest(record, REQUEST_XML, ""))
        for state in (State.TICKETED, State.SENT, State.RESPONSE_RECEIVED):
            after = record.moved(state, NOON)
            text = response_xml if state is State.RESPONSE_RECEIVED else None
            self.store.commit(ChangeRequest(record, after, response_xml=text))
            record = after
        return record.id

    def queue(self, batch: Sequence[NewRequest]) -> QueuedBatch:
        """Queue a batch, and count the calls of the store from here on."""
        self.store.calls.clear()
        return self._queueing.queue_batch(QueueBatch(APP_ID, CONNECTION_ID, lambda _: batch, limits=self.limits))


def naming(values_of: Sequence[str], waits_for: Sequence[str] = ()) -> NewRequest:
    """Return a query that takes a value of each of these responses, and names the others."""
    names = [{"$from": request_id, "path": "CustomerRet[1]/Name"} for request_id in values_of]
    return new_request({"CustomerQueryRq": {"FullName": names} if names else {}}, None, *waits_for)


@settings(max_examples=40)
@given(
    distinct=st.one_of(st.integers(1, 2 * MAX_OUTSIDE), st.integers(MAX_OUTSIDE, MAX_OUTSIDE + 1)),
    more=st.lists(st.integers(0, 2 * MAX_OUTSIDE), max_size=30),
    data=st.data(),
)
def test_a_batch_names_a_bounded_number_of_requests_each_of_which_is_one_read(
    distinct: int, more: list[int], data: st.DataObject
) -> None:
    service = Service(reads_per_second=50)
    ids = [service.ended() for _ in range(distinct)]
    numbers = [*range(distinct), *(number % distinct for number in more)]
    places = st.tuples(st.booleans(), st.integers(0, MAX_REQUESTS - 1))
    named = [(number, *data.draw(places)) for number in numbers]
    batch = [
        naming(
            [ids[number] for number, has_value, at in named if has_value and at == index],
            [ids[number] for number, has_value, at in named if not has_value and at == index],
        )
        for index in range(MAX_REQUESTS)
    ]

    if distinct > MAX_OUTSIDE:
        with pytest.raises(InvalidRequest, match=f"name {distinct} requests outside the batch"):
            service.queue(batch)
        assert service.store.calls["records_by_id"] == service.store.calls["request_batch"] == 0
    else:
        assert len(service.queue(batch).requests) == MAX_REQUESTS
        assert service.store.calls["records_by_id"] == 1
        assert service.store.calls["request_batch"] == any(has_value for _, has_value, _ in named)
        used = sum(usage.total for (_, name), usage in service.store.usages.items() if name.startswith("reads_"))
        assert distinct <= used <= distinct + 5  # a portion has five


@pytest.mark.parametrize(("page", "page_size"), [(1, 100), (2, None), (2, 100), (3, None)])
def test_a_page_of_an_iterated_query_cannot_be_named(page: int, page_size: int | None) -> None:
    service = Service()
    request_id = service.ended()
    record = service.store.request(request_id)
    assert isinstance(record, QueuedRequest)
    service.store.records[request_id] = replace(record, paging=Paging(page=page, page_size=page_size))

    with pytest.raises(InvalidRequest, match="iterated"):
        service.queue([naming([request_id])])


def test_a_value_that_a_response_lacks_is_reported_at_its_place() -> None:
    service = Service()
    batch = [naming([service.ended("<QBXML><QBXMLMsgsRs><CustomerQueryRs/></QBXMLMsgsRs></QBXML>")])]

    with pytest.raises(InvalidRequest) as raised:
        service.queue(batch)

    assert [(problem.index, problem.path) for problem in raised.value.problems] == [(0, "CustomerQueryRq/FullName")]


def test_a_batch_over_the_reads_of_the_app_is_refused_before_it_reads() -> None:
    service = Service(reads_per_second=10)
    batch = [naming([service.ended() for _ in range(6)])]
    service.queue(batch)

    with pytest.raises(QuotaExceeded):
        service.queue(batch)

    assert service.store.calls["records_by_id"] == 0


def test_a_batch_that_names_more_than_the_reads_of_a_second_uses_all_of_them() -> None:
    service = Service(reads_per_second=3)
    batch = [naming([service.ended() for _ in range(MAX_OUTSIDE)])]

    assert service.queue(batch).requests


@settings(max_examples=25)
@given(
    beyond=st.integers(-2, 2),
    shares=st.lists(st.integers(0, MAX_OUTSIDE_BYTES // 6), max_size=5),
    waits=st.booleans(),
)
def test_the_responses_that_values_come_from_have_a_bounded_size_together(
    beyond: int, shares: list[int], waits: bool
) -> None:
    service = Service()
    texts = [response("Ann") + " " * share for share in shares]
    rest = MAX_OUTSIDE_BYTES + beyond - sum(map(len, texts)) - len(response("Ann"))
    ids = [service.ended(text) for text in [*texts, response("Ann") + " " * rest]]
    batch = [naming([], ids) if waits else naming(ids)]

    if waits or beyond <= 0:
        assert service.queue(batch).requests
    else:
        with pytest.raises(InvalidRequest, match=r"at most 8,388,608 are allowed"):
            service.queue(batch)
        assert service.store.calls["request_batch"] == 0


class DeletingStore(CountingStore):
    """A store in which a request is deleted after its record was read."""

    def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
        """Return the records, and delete them."""
        records = super().records_by_id(request_ids, may_lag=may_lag)
        self.commit(*(RemoveRequest(record, timestamp(NOON)) for record in records))
        return records


def test_a_request_that_is_deleted_while_it_is_named_is_a_problem_of_its_reference() -> None:
    service = Service(DeletingStore())
    request_id = service.ended()

    with pytest.raises(InvalidRequest, match=f"This connection has no request {request_id}"):
        service.queue([naming([request_id])])
