"""Iterated queries, page by page, with lost pages and pages that are too large."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from domain import qbxml
from domain.records.audit import Actor, ActorType
from domain.records.request import State
from domain.records.webhook import Webhook, WebhookState
from domain.web_connector.outcomes.pages import max_returned
from domain.web_connector.protocol.soap import MAX_BODY_BYTES
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_READ
from simulator.faults import Fault
from tests.support.qbxml_samples import request_xml
from tests.support.web_connector.quickbooks import page_of, response_to, stored_response
from tests.support.web_connector.service import Gateway, Service

if TYPE_CHECKING:
    from tests.support.web_connector.connector import Connector


def pages(qbwc: Connector) -> list[Any]:
    """Return the records by page."""
    return sorted(qbwc.records, key=lambda record: record.paging.page)


def test_pages_are_sent_in_order_before_other_requests(qbwc: Connector) -> None:
    metadata = {"order": "1007"}
    author = Actor(ActorType.API_KEY, "key_1", "Nightly sync")
    first = qbwc.iterate(
        request_label="mine",
        webhook=Webhook.to("https://example.com/"),
        label="nightly",
        metadata=metadata,
        queued_by=author,
    )
    other = qbwc.queue()
    request = qbwc.begin()

    assert qbwc.receive(page_of(request, 3)) < 100
    request = qbwc.send()
    assert 'requestID="mine" iterator="Continue" iteratorID="{eb05f701-e727-472f-8ade-6753c4f67a46}"' in request
    assert "<MaxReturned>2</MaxReturned><ActiveStatus>All</ActiveStatus>" in request
    assert qbwc.receive(page_of(request, 1)) < 100
    request = qbwc.send()
    assert qbwc.receive(page_of(request, 0)) < 100
    assert other in qbwc.send()

    one, two, three = (record for record in qbwc.records if record.id != other)
    assert [record.paging.page for record in (one, two, three)] == [1, 2, 3]
    assert [record.query_id for record in (one, two, three)] == [first] * 3
    assert [record.last_page for record in (one, two, three)] == [False, False, True]
    assert {record.state for record in (one, two, three)} == {State.RESPONSE_RECEIVED}
    assert {record.webhook_state for record in (one, two, three)} == {WebhookState.PENDING}
    assert {record.webhook.url for record in (one, two, three)} == {"https://example.com/"}
    assert {record.request_label for record in (one, two, three)} == {"mine"}
    assert {record.label for record in (one, two, three)} == {"nightly"}
    assert [qbwc.store.bodies[record.id].metadata for record in (one, two, three)] == [metadata] * 3
    assert [qbwc.store.bodies[record.id].queued_by for record in (one, two, three)] == [author] * 3
    assert "iterator=" in qbwc.store.bodies[two.id].request_xml


def test_a_page_is_interrupted_if_the_session_ends_before_it_is_sent(qbwc: Connector) -> None:
    qbwc.iterate()
    qbwc.receive(page_of(qbwc.begin(), 3))

    qbwc.close()

    page = pages(qbwc)[1]
    assert page.state is State.ERROR
    assert page.error.code == "iteration_interrupted"
    assert page.last_page
    assert qbwc.authenticate() == "none"


def test_a_page_is_interrupted_if_its_response_is_lost(qbwc: Connector) -> None:
    qbwc.iterate()
    qbwc.receive(page_of(qbwc.begin(), 3))
    qbwc.send()
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_READ)

    assert qbwc.authenticate() == "none"

    assert pages(qbwc)[1].error.code == "iteration_interrupted"


def test_a_page_is_interrupted_by_an_exception_and_the_session_continues(qbwc: Connector) -> None:
    qbwc.iterate()
    other = qbwc.queue()
    qbwc.receive(page_of(qbwc.begin(), 3))
    qbwc.send()

    assert qbwc.receive(hresult="0x8004041B") < 100

    assert pages(qbwc)[2].error.code == "iteration_interrupted"
    assert other in qbwc.send()


def test_a_query_starts_again_if_its_first_page_was_lost(qbwc: Connector) -> None:
    first = qbwc.iterate()
    qbwc.begin()

    assert 'iterator="Start"' in qbwc.take_over()

    assert qbwc.record(first).attempts.sessions == 2


def test_an_error_on_a_page_ends_the_query(qbwc: Connector) -> None:
    qbwc.iterate()
    qbwc.receive(page_of(qbwc.begin(), 3))
    request = qbwc.send()

    assert qbwc.receive(response_to(request, code=3120, severity="Error")) == 100

    assert len(qbwc.store.records) == 2


@pytest.mark.parametrize("attributes", ["", ' iterator="Stop" iteratorID="{1}"'])
def test_a_query_without_iterator_has_one_page_whatever_the_response_says(qbwc: Connector, attributes: str) -> None:
    qbwc.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", attributes)

    assert qbwc.receive(page_of(qbwc.begin(), 3)) == 100

    assert len(qbwc.store.records) == 1


# --- an iterator that has ended


def second_page(qbwc: Connector, size: int = 2) -> str:
    """Begin an iteration and send its second page. Return the text that was sent."""
    qbwc.iterate(size)
    qbwc.receive(page_of(qbwc.begin(), 30))
    return qbwc.send()


def test_an_expired_iterator_interrupts_the_query(qbwc: Connector) -> None:
    request = second_page(qbwc)

    qbwc.receive(response_to(request, code=3000, severity="Error", message="The given object ID is invalid."))

    error = pages(qbwc)[1].error
    assert error.code == "iteration_interrupted"
    assert (error.details["reason"], error.details["status_code"]) == ("iterator_expired", 3000)
    assert "Queue the query again" in error.details["hint"]


def test_a_parse_error_for_an_iterator_interrupts_the_query(qbwc: Connector) -> None:
    second_page(qbwc)

    qbwc.receive(hresult="0x80040400", message="QuickBooks found an error.")

    assert pages(qbwc)[1].error.code == "iteration_interrupted"


def test_an_invalid_id_on_the_first_page_is_an_error_of_the_request(qbwc: Connector) -> None:
    first = qbwc.iterate()

    qbwc.receive(response_to(qbwc.begin(), code=3000, severity="Error"))

    assert error_code(qbwc, first) == "quickbooks_error"


# --- lost again and again


def error_code(qbwc: Connector, request_id: str) -> str | None:
    """Return the error's code of a record."""
    error = qbwc.record(request_id).error
    return error.code if error else None


def asked_for(text: str) -> int | None:
    """Return the number of objects that a request asks for."""
    _, element, rest = text.partition("<MaxReturned>")
    return int(rest.partition("<")[0]) if element else None


def lose(qbwc: Connector) -> int | None:
    """Fetch a request and lose its response. Return the page size of the request."""
    size = asked_for(qbwc.begin())
    qbwc.close()
    return size


def test_after_two_losses_the_page_size_is_halved_in_each_session(qbwc: Connector) -> None:
    first = qbwc.iterate(20)

    sizes = []
    while qbwc.record(first).state is not State.ERROR:
        sizes.append(lose(qbwc))

    assert sizes == [20, 20, 10, 5, 2, 1]
    assert error_code(qbwc, first) == "quickbooks_connection_error"
    assert qbwc.authenticate() == "none"


@pytest.mark.parametrize(("size", "tries"), [(1, 3), (2, 3), (4, 4)])
def test_a_small_page_is_sent_in_at_least_three_sessions(qbwc: Connector, size: int, tries: int) -> None:
    first = qbwc.iterate(size)

    for _ in range(tries):
        assert qbwc.record(first).state is not State.ERROR
        lose(qbwc)

    assert error_code(qbwc, first) == "quickbooks_connection_error"


def test_a_query_without_iterator_keeps_its_size(qbwc: Connector) -> None:
    """A smaller MaxReturned would truncate the result."""
    first = qbwc.queue("CustomerQueryRq", "<MaxReturned>20</MaxReturned>")

    assert [lose(qbwc) for _ in range(3)] == [20, 20, 20]

    assert error_code(qbwc, first) == "response_too_large"


def test_an_iterator_without_max_returned_is_sent_unchanged(qbwc: Connector) -> None:
    first = qbwc.queue("CustomerQueryRq", "", ' iterator="Start"')

    assert [lose(qbwc) for _ in range(3)] == [None] * 3

    assert error_code(qbwc, first) == "response_too_large"


def test_a_query_that_continues_an_iterator_keeps_its_size(qbwc: Connector) -> None:
    qbwc.queue("CustomerQueryRq", "<MaxReturned>20</MaxReturned>", ' iterator="Continue" iteratorID="{1}"')

    assert [lose(qbwc) for _ in range(3)] == [20, 20, 20]


def test_an_exception_before_execution_does_not_halve_the_page_size(qbwc: Connector) -> None:
    first = qbwc.iterate(20)
    qbwc.clock.advance(days=8)
    for _ in range(3):
        assert asked_for(qbwc.begin()) == 20
        qbwc.receive(hresult="0x80040414")
        qbwc.close()

    assert error_code(qbwc, first) == "quickbooks_connection_error"


def test_a_crash_of_quickbooks_halves_the_page_size(qbwc: Connector) -> None:
    qbwc.iterate(20)
    for size in (20, 20, 10):
        assert asked_for(qbwc.begin()) == size
        qbwc.receive(hresult="0x800706BE")
        qbwc.close()


def test_later_pages_have_the_smaller_size_and_stored_requests_are_unchanged(qbwc: Connector) -> None:
    qbwc.iterate(20)
    lose(qbwc)
    lose(qbwc)
    request = qbwc.begin()

    for remaining in (30, 20):
        qbwc.receive(page_of(request, remaining))
        request = qbwc.send()
        assert asked_for(request) == 10

    assert [asked_for(qbwc.store.bodies[page.id].request_xml) for page in pages(qbwc)] == [20, 20, 20]


# --- too large


def oversized(request: str) -> str:
    """Return a response that does not fit into a call."""
    return response_to(request, content="{padding}")


def test_an_oversized_page_is_sent_again_in_the_same_session_with_half_its_size(qbwc: Connector) -> None:
    first = qbwc.iterate(20)
    request = qbwc.begin()

    for size in (10, 5):
        revision = qbwc.record(first).revision
        assert 1 <= qbwc.receive_oversized(oversized(request)) <= 99
        assert qbwc.record(first).revision == revision + 1
        assert qbwc.store.calls.total() <= 3
        request = qbwc.send()
        assert asked_for(request) == size

    assert qbwc.record(first).attempts.sessions == 1
    qbwc.receive(page_of(request, 5))
    assert asked_for(qbwc.send()) == 5


def test_an_oversized_page_keeps_half_its_size_in_the_next_session(qbwc: Connector) -> None:
    qbwc.iterate(20)
    qbwc.receive_oversized(oversized(qbwc.begin()))
    qbwc.close()

    assert asked_for(qbwc.begin()) == 10


def test_an_oversized_page_of_one_object_fails(qbwc: Connector) -> None:
    first = qbwc.iterate(1)
    other = qbwc.queue()

    assert qbwc.receive_oversized(oversized(qbwc.begin())) <= 99

    error = qbwc.record(first).error
    assert error is not None
    assert error.code == error.details["reason"] == "response_too_large"
    assert error.details["limit_bytes"] == MAX_BODY_BYTES
    assert other in qbwc.send()


def test_an_oversized_response_fails_a_query_without_iterator_with_a_hint(qbwc: Connector) -> None:
    first = qbwc.queue("CustomerQueryRq", "<MaxReturned>5000</MaxReturned>")

    assert qbwc.receive_oversized(oversized(qbwc.begin())) == 100

    error = qbwc.record(first).error
    assert error is not None
    assert error.code == "response_too_large"
    assert all(word in error.details["hint"] for word in ("iterate", "max_returned", "filter", "include[]"))
    assert qbwc.response(first) is None


def test_an_oversized_later_page_fails(qbwc: Connector) -> None:
    """The iterator has moved on: a repeated request would return the objects after these."""
    request = second_page(qbwc)

    qbwc.receive_oversized(oversized(request))

    assert pages(qbwc)[1].error.code == "response_too_large"
    assert qbwc.send() == ""


def test_an_oversized_response_to_a_write_leaves_its_outcome_unknown(qbwc: Connector) -> None:
    write = qbwc.write()
    request = qbwc.begin()

    qbwc.receive_oversized(stored_response(request, content="{padding}"))

    error = qbwc.record(write).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "response_too_large")


def test_a_duplicate_oversized_response_does_not_end_the_next_request(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue()
    text = oversized(qbwc.begin())
    qbwc.receive_oversized(text)
    qbwc.send()

    qbwc.receive_oversized(text)

    assert error_code(qbwc, first) == "response_too_large"
    assert qbwc.record(second).state is State.SENT


def test_an_oversized_response_for_an_ended_session_changes_nothing(qbwc: Connector) -> None:
    qbwc.queue()
    request = qbwc.begin()
    qbwc.close()

    assert qbwc.receive_oversized(oversized(request)) == -1


def test_every_object_arrives_although_the_first_pages_were_oversized() -> None:
    """With the simulator, which has six customers."""
    service = Service()
    qbwc = service.qbwc
    qbwc.iterate(4)
    faults = [Fault.parse(f"process:{number}:oversized:7") for number in (1, 2)]
    simulator = qbwc.simulator(service.company, transport=service, faults=faults)

    simulator.run_once()

    names = [
        name
        for page in pages(qbwc)
        for name in re.findall("<CustomerRet>.*?<ListID>(.*?)</ListID>", qbwc.response(page.id) or "", re.DOTALL)
    ]
    assert len(names) == len(set(names)) == 6
    assert [page.paging.page for page in pages(qbwc)] == [1, 2, 3, 4, 5, 6]
    assert {page.state for page in pages(qbwc)} == {State.RESPONSE_RECEIVED}
    assert qbwc.store.counts == qbwc.store.recount()


def test_pages_that_a_gateway_refuses_arrive_with_a_smaller_size() -> None:
    """With the simulator: four objects do not fit into a response, two do."""
    service = Gateway()
    qbwc = service.qbwc
    first = qbwc.iterate(4)
    faults = [Fault.parse(f"process:{number}:oversized:7") for number in (1, 2)]
    simulator = qbwc.simulator(service.company, transport=service, faults=faults)

    for _ in range(3):
        qbwc.clock.advance(minutes=3)
        simulator.run_once()

    assert qbwc.record(first).attempts.sessions == 3
    assert [page.paging.page for page in pages(qbwc)] == [1, 2, 3]
    assert {page.state for page in pages(qbwc)} == {State.RESPONSE_RECEIVED}


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("-7", None), ("\u0667", None), ("", None)]
)
def test_a_number_of_objects_has_at_most_18_digits(text: str, number: int | None) -> None:
    query = f"<CustomerQueryRq><MaxReturned>{text}</MaxReturned></CustomerQueryRq>"

    assert max_returned(qbxml.stored_request(request_xml(query), "13.0")) == number
