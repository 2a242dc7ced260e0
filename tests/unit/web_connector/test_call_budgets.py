"""The number of calls of the store that each call of the Web Connector makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.web_connector.quickbooks import hcp, page_of, response_to

if TYPE_CHECKING:
    from tests.support.web_connector.connector import Connector

BUDGET = 3
BUDGET_OF_THE_LAST_RESPONSE = 4
"""The response after which nothing waits ends the session, and reads the connection for that."""


def test_every_call_of_a_session_stays_within_its_budget(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.drain()  # The connection then has the facts about QuickBooks.
    for _ in range(3):
        qbwc.queue()
    qbwc.authenticate()
    calls_by_step = {"authenticate": qbwc.store.calls.total()}
    first = hcp()
    for number in range(3):
        request = qbwc.send(first)
        calls_by_step[f"sendRequestXML {number}"] = qbwc.store.calls.total()
        qbwc.receive(response_to(request))
        calls_by_step[f"receiveResponseXML {number}"] = qbwc.store.calls.total()
        first = ""
    qbwc.close()
    calls_by_step["closeConnection"] = qbwc.store.calls.total()
    qbwc.authenticate()
    calls_by_step["authenticate: nothing queued"] = qbwc.store.calls.total()

    assert {name: calls for name, calls in calls_by_step.items() if calls > BUDGET} == {
        "receiveResponseXML 2": BUDGET_OF_THE_LAST_RESPONSE
    }
    assert calls_by_step["closeConnection"] == 1


def test_new_facts_about_quickbooks_cost_one_more_call(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    qbwc.send(hcp())

    assert qbwc.store.calls.total() == BUDGET + 1


def test_every_call_of_an_iterated_query_stays_within_its_budget(qbwc: Connector) -> None:
    qbwc.iterate()
    request = qbwc.begin()
    for remaining in (3, 2, 1, 0):
        qbwc.receive(page_of(request, remaining))
        assert qbwc.store.calls.total() <= (BUDGET if remaining else BUDGET_OF_THE_LAST_RESPONSE)
        if remaining:
            request = qbwc.send()
            assert qbwc.store.calls.total() <= BUDGET


@pytest.mark.parametrize(("method", "calls"), [("getLastError", 1), ("serverVersion", 0), ("closeConnection", 4)])
def test_the_other_calls_are_cheap(qbwc: Connector, method: str, calls: int) -> None:
    qbwc.queue()
    qbwc.authenticate()

    qbwc.call(method, qbwc.ticket)

    assert qbwc.store.calls.total() <= calls


def test_a_takeover_costs_two_more_calls(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    qbwc.authenticate()

    assert qbwc.store.calls.total() == BUDGET + 2


def test_a_refused_login_costs_one_read_and_at_most_one_write_a_minute(qbwc: Connector) -> None:
    qbwc.authenticate("wrong")
    assert qbwc.store.calls == {"connection": 1, "commit": 1}

    qbwc.authenticate("wrong")
    assert qbwc.store.calls == {"connection": 1}
