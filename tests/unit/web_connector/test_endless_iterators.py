"""An iterator that never ends causes a limited number of records and webhooks, whatever QuickBooks returns."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.records.app import App, AppLimits
from domain.records.request import MAX_FACT_CHARACTERS, Paging, State
from domain.storage.changes import Put
from domain.web_connector.outcomes.outcome import Answered, Ended, PageReceived, of_response
from domain.web_connector.outcomes.pages import MAX_PAGES
from domain.web_connector.session.lingering import NO_OP
from tests.support.builders import a_record
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, page_of, response_to

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest

MAX_REMAINING = 20

IDS = st.sampled_from(["{eb05f701-e727-472f-8ade-6753c4f67a46}", "{1}", "", "x" * (MAX_FACT_CHARACTERS + 1)])

COUNTS = st.one_of(
    st.integers(-3, MAX_REMAINING).map(str),
    st.sampled_from(["-0", "+7", "", "1e9", "9" * 40, "\N{ARABIC-INDIC DIGIT FIVE}"]),
)

ANSWERS = st.one_of(
    st.tuples(IDS, COUNTS), st.tuples(st.uuids().map(str), COUNTS), st.tuples(st.uuids().map(str), st.just("5"))
)

REPEATS = st.sampled_from([1, 1, 1, 2])
"""How many times a call is delivered."""


def an_answer(request: str, iterator_id: str, count: str) -> str:
    return response_to(request, extra=f' iteratorRemainingCount="{count}" iteratorID="{iterator_id}"')


def number_of_records(qbwc: Connector, answers: list[tuple[str, str]], repeats: list[int]) -> int:
    """Respond to the requests with `answers` in turn, again and again. Return the number of records."""
    first = hcp() if qbwc.authenticate() == "" else None
    for number in range(10 * MAX_REMAINING):
        request = qbwc.send(first or "")
        first = ""
        if request == "":
            break
        iterator_id, count = answers[number % len(answers)]
        for _ in range(repeats[number % len(repeats)]):
            qbwc.receive(an_answer(request, iterator_id, count))
    else:
        pytest.fail("the session does not end")
    qbwc.close()
    return len(qbwc.records)


@given(
    answers=st.lists(ANSWERS, min_size=1, max_size=8),
    repeats=st.lists(REPEATS, min_size=1, max_size=3),
)
@example([("{1}", "5")], [1]).via("the same page again and again")
@example([("{1}", "5"), ("{2}", "5")], [1]).via("a new iterator with each page")
@example([("{1}", "-1")], [1]).via("a negative number of remaining objects")
def test_a_query_ends_whatever_quickbooks_answers(answers: list[tuple[str, str]], repeats: list[int]) -> None:
    """Each page must leave fewer objects than the one before, so their number bounds records and webhooks."""
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect()
    qbwc.iterate()

    assert number_of_records(qbwc, answers, repeats) <= MAX_REMAINING + 1

    assert {record.state for record in qbwc.records} <= {State.RESPONSE_RECEIVED, State.ERROR}
    assert qbwc.authenticate() == "none"


def the_last(qbwc: Connector) -> QueuedRequest:
    return max(qbwc.records, key=lambda record: record.paging.page)


@pytest.mark.parametrize("second", [3, 4, 100])
@pytest.mark.parametrize("iterator_id", ["{eb05f701-e727-472f-8ade-6753c4f67a46}", "{another}"])
def test_a_count_that_does_not_fall_ends_the_query_and_the_queue_goes_on(
    qbwc: Connector, second: int, iterator_id: str
) -> None:
    qbwc.iterate()
    other = qbwc.queue()
    qbwc.receive(page_of(qbwc.begin(), 3))

    assert 1 <= qbwc.receive(an_answer(qbwc.send(), iterator_id, str(second))) <= 99
    assert other in qbwc.send()

    page = next(record for record in qbwc.records if record.paging.page == 2)
    assert page.error is not None
    assert (page.error.code, page.error.details["reason"]) == ("iteration_stopped", "iterator_not_falling")
    assert page.error.details["iterator_remaining"] == second
    assert f"iteratorRemainingCount is {second}, which is not less than after the page before" in page.error.message
    assert page.last_page


def test_a_page_that_is_delivered_twice_does_not_end_the_query(qbwc: Connector) -> None:
    """The second delivery can arrive while the next page is in QuickBooks."""
    qbwc.iterate()
    first = qbwc.begin()
    qbwc.receive(page_of(first, 3))
    second = qbwc.send()

    qbwc.receive(page_of(first, 3))
    qbwc.receive(page_of(second, 1))
    third = qbwc.send()
    qbwc.receive(page_of(first, 3))
    qbwc.receive(page_of(second, 1))

    assert qbwc.receive(page_of(third, 0)) == 100
    assert qbwc.states() == ["response_received"] * 3


@pytest.mark.parametrize(("iterator_id", "count"), [("{1}", "-1"), ("x" * (MAX_FACT_CHARACTERS + 1), "3")])
def test_an_iterator_that_cannot_be_continued_ends_the_query_with_its_response(
    qbwc: Connector, iterator_id: str, count: str
) -> None:
    first = qbwc.iterate()
    response = an_answer(qbwc.begin(), iterator_id, count)

    assert qbwc.receive(response) == 100

    error = qbwc.record(first).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("iteration_stopped", "iterator_invalid")
    assert qbwc.response(first) == response


@pytest.mark.parametrize(("page", "remaining", "ends"), [(MAX_PAGES - 1, 1, False), (MAX_PAGES, 1, True)])
def test_a_query_has_at_most_10_000_pages(qbwc: Connector, page: int, remaining: int, ends: bool) -> None:
    qbwc.iterate()
    request = qbwc.begin()
    record = a_record(state=State.SENT, request_name="CustomerQueryRq", request_label=the_last(qbwc).request_label)
    record = replace(record, paging=Paging(page, "first", 1))

    answer = of_response(qbwc.session, [record], page_of(request, remaining), qbwc.clock.now)

    assert isinstance(answer, Answered)
    (outcome,) = answer.outcomes
    if not ends:
        assert isinstance(outcome, PageReceived)
        return
    assert isinstance(outcome, Ended)
    assert outcome.after.error is not None
    assert outcome.after.error.details["reason"] == "too_many_pages"
    assert "more than 10,000 pages" in outcome.after.error.message
    assert outcome.response_xml is not None


# --- quotas


def limit(qbwc: Connector, creates_per_second: int) -> None:
    limits = AppLimits(creates_per_second=creates_per_second)
    qbwc.store.commit(Put(None, App(qbwc.connection.app_id, "Shop", qbwc.connection.inserted_at, limits=limits)))


@pytest.mark.parametrize("early_calls", [0, 1, 3])
def test_a_page_over_the_quota_of_its_app_waits_five_seconds_in_the_session(qbwc: Connector, early_calls: int) -> None:
    """A Web Connector waits five seconds after NoOp. One that does not gets NoOp until then."""
    limit(qbwc, creates_per_second=0)
    qbwc.iterate()
    qbwc.receive(page_of(qbwc.begin(), 30))

    for remaining in (20, 10, 0):
        for _ in range(early_calls):
            assert qbwc.send() == NO_OP
        assert qbwc.send() == NO_OP
        assert qbwc.last_error() == NO_OP
        qbwc.clock.advance(seconds=5)
        assert qbwc.last_error() == NO_OP
        request = qbwc.send()
        assert 'iterator="Continue"' in request
        qbwc.receive(page_of(request, remaining))

    assert qbwc.states() == ["response_received"] * 4


def test_pages_within_the_quota_of_their_app_do_not_wait(qbwc: Connector) -> None:
    limit(qbwc, creates_per_second=1)
    qbwc.iterate()
    request = qbwc.begin()

    for remaining in (3, 2, 1):
        qbwc.receive(page_of(request, remaining))
        request = qbwc.send()
        assert re.search('iterator="Continue"', request)


def test_only_pages_wait(qbwc: Connector) -> None:
    limit(qbwc, creates_per_second=0)
    qbwc.queue()
    qbwc.iterate()

    assert "CustomerQueryRq" in qbwc.begin()
