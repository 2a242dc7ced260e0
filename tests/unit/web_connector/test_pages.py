"""Iterated queries: page by page, and what becomes of a page that is lost or too large."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from domain.requests.record import State, Webhook, WebhookState
from domain.web_connector.protocol import qwc
from domain.web_connector.protocol.soap import MAX_BODY_BYTES
from simulator import Simulator
from simulator.faults import Fault
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import PASSWORD, Desk, answer, kept, page_of
from tests.unit.simulator.service import Service

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture
def desk() -> Desk:
    """Return a desk with a connection and an empty queue."""
    desk = Desk(new_id=RandomIds())
    desk.connect()
    return desk


def pages(desk: Desk) -> list[Any]:
    """Return the records by page."""
    return sorted(desk.records, key=lambda record: record.paging.page)


def test_pages_come_one_after_another_ahead_of_other_work(desk: Desk) -> None:
    first = desk.iterate(request_label="mine", webhook=Webhook.to("https://example.com/"))
    other = desk.queue()
    request = desk.begin()

    assert desk.receive(page_of(request, 3)) < 100
    request = desk.send()
    assert 'requestID="mine" iterator="Continue" iteratorID="{eb05f701-e727-472f-8ade-6753c4f67a46}"' in request
    assert "<MaxReturned>2</MaxReturned><ActiveStatus>All</ActiveStatus>" in request
    assert desk.receive(page_of(request, 1)) < 100
    request = desk.send()
    assert desk.receive(page_of(request, 0)) < 100
    assert other in desk.send()

    one, two, three = (record for record in desk.records if record.id != other)
    assert [record.paging.page for record in (one, two, three)] == [1, 2, 3]
    assert [record.event_id for record in (one, two, three)] == [first] * 3
    assert {record.state for record in (one, two, three)} == {State.RESPONSE_RECEIVED}
    assert {record.webhook_state for record in (one, two, three)} == {WebhookState.PENDING}
    assert {record.webhook.url for record in (one, two, three)} == {"https://example.com/"}
    assert {record.request_label for record in (one, two, three)} == {"mine"}
    assert "iterator=" in desk.store.bodies[two.id].request_xml


def test_a_page_whose_session_ends_before_it_was_sent_is_interrupted(desk: Desk) -> None:
    desk.iterate()
    desk.receive(page_of(desk.begin(), 3))

    desk.close()

    page = pages(desk)[1]
    assert page.state is State.ERROR
    assert page.error.code == "iteration_interrupted"
    assert desk.authenticate() == "none"


def test_a_page_whose_answer_is_lost_is_interrupted(desk: Desk) -> None:
    desk.iterate()
    desk.receive(page_of(desk.begin(), 3))
    desk.send()

    assert desk.authenticate() == "none"

    assert pages(desk)[1].error.code == "iteration_interrupted"


def test_a_page_that_met_an_exception_is_interrupted_and_the_session_goes_on(desk: Desk) -> None:
    desk.iterate()
    other = desk.queue()
    desk.receive(page_of(desk.begin(), 3))
    desk.send()

    assert desk.receive(hresult="0x8004041B") < 100

    assert pages(desk)[2].error.code == "iteration_interrupted"
    assert other in desk.send()


def test_an_iteration_can_be_begun_again_when_its_first_page_was_lost(desk: Desk) -> None:
    first = desk.iterate()
    desk.begin()

    assert 'iterator="Start"' in desk.begin()

    assert desk.record(first).sessions == 2


def test_an_error_on_a_page_ends_the_iteration(desk: Desk) -> None:
    desk.iterate()
    desk.receive(page_of(desk.begin(), 3))
    request = desk.send()

    assert desk.receive(answer(request, code=3120, severity="Error")) == 100

    assert len(desk.store.records) == 2


@pytest.mark.parametrize("attributes", ["", ' iterator="Stop" iteratorID="{1}"'])
def test_a_query_that_does_not_iterate_has_one_page_whatever_the_answer_says(desk: Desk, attributes: str) -> None:
    desk.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", attributes)

    assert desk.receive(page_of(desk.begin(), 3)) == 100

    assert len(desk.store.records) == 1


# --- an iterator that has ended


def second_page(desk: Desk, size: int = 2) -> str:
    """Begin an iteration and hand out its second page; return what went out."""
    desk.iterate(size)
    desk.receive(page_of(desk.begin(), 30))
    return desk.send()


def test_an_expired_iterator_interrupts_the_iteration(desk: Desk) -> None:
    request = second_page(desk)

    desk.receive(answer(request, code=3000, severity="Error", message="The given object ID is invalid."))

    error = pages(desk)[1].error
    assert error.code == "iteration_interrupted"
    assert (error.details["reason"], error.details["status_code"]) == ("iterator_expired", 3000)
    assert "Queue the query again" in error.details["hint"]


def test_an_iterator_that_quickbooks_cannot_parse_interrupts_the_iteration(desk: Desk) -> None:
    second_page(desk)

    desk.receive(hresult="0x80040400", message="QuickBooks found an error.")

    assert pages(desk)[1].error.code == "iteration_interrupted"


def test_an_invalid_id_on_the_first_page_is_an_error_of_the_request(desk: Desk) -> None:
    first = desk.iterate()

    desk.receive(answer(desk.begin(), code=3000, severity="Error"))

    assert error_code(desk, first) == "quickbooks_error"


# --- lost again and again


def error_code(desk: Desk, request_id: str) -> str | None:
    """Return the error's code of a record."""
    error = desk.record(request_id).error
    return error.code if error else None


def asked_for(text: str) -> int | None:
    """Return the number of objects that a request asks for."""
    _, found, rest = text.partition("<MaxReturned>")
    return int(rest.partition("<")[0]) if found else None


def lose(desk: Desk) -> int | None:
    """Take a request and lose its answer; return the size of page that was asked for."""
    size = asked_for(desk.begin())
    desk.close()
    return size


def test_a_page_that_is_lost_twice_is_asked_for_with_half_its_size_as_long_as_it_can_be_halved(desk: Desk) -> None:
    first = desk.iterate(20)

    sizes = []
    while desk.record(first).state is not State.ERROR:
        sizes.append(lose(desk))

    assert sizes == [20, 20, 10, 5, 2, 1]
    assert error_code(desk, first) == "quickbooks_connection_error"
    assert desk.authenticate() == "none"


@pytest.mark.parametrize(("size", "tries"), [(1, 3), (2, 3), (4, 4)])
def test_a_small_page_is_tried_in_three_sessions_at_least(desk: Desk, size: int, tries: int) -> None:
    first = desk.iterate(size)

    for _ in range(tries):
        assert desk.record(first).state is not State.ERROR
        lose(desk)

    assert error_code(desk, first) == "quickbooks_connection_error"


def test_a_query_that_does_not_iterate_is_not_made_smaller(desk: Desk) -> None:
    """It would be cut off without a word."""
    first = desk.queue("CustomerQueryRq", "<MaxReturned>20</MaxReturned>")

    assert [lose(desk) for _ in range(3)] == [20, 20, 20]

    assert error_code(desk, first) == "quickbooks_connection_error"


def test_an_iteration_without_a_size_is_tried_as_it_is(desk: Desk) -> None:
    first = desk.queue("CustomerQueryRq", "", ' iterator="Start"')

    assert [lose(desk) for _ in range(3)] == [None] * 3

    assert error_code(desk, first) == "quickbooks_connection_error"


def test_an_iteration_that_its_author_continues_is_not_made_smaller(desk: Desk) -> None:
    desk.queue("CustomerQueryRq", "<MaxReturned>20</MaxReturned>", ' iterator="Continue" iteratorID="{1}"')

    assert [lose(desk) for _ in range(3)] == [20, 20, 20]


def test_what_keeps_quickbooks_from_working_does_not_make_pages_smaller(desk: Desk) -> None:
    first = desk.iterate(20)
    for _ in range(3):
        assert asked_for(desk.begin()) == 20
        desk.receive(hresult="0x80040414")
        desk.close()

    assert error_code(desk, first) == "quickbooks_connection_error"


def test_a_page_on_which_quickbooks_dies_is_made_smaller(desk: Desk) -> None:
    desk.iterate(20)
    for size in (20, 20, 10):
        assert asked_for(desk.begin()) == size
        desk.receive(hresult="0x800706BE")
        desk.close()


def test_the_pages_after_it_have_the_smaller_size_and_the_stored_requests_what_was_asked_for(desk: Desk) -> None:
    desk.iterate(20)
    lose(desk)
    lose(desk)
    request = desk.begin()

    for remaining in (30, 20):
        desk.receive(page_of(request, remaining))
        request = desk.send()
        assert asked_for(request) == 10

    assert [asked_for(desk.store.bodies[page.id].request_xml) for page in pages(desk)] == [20, 20, 20]


# --- too large


def oversized(request: str) -> str:
    """Return an answer that no call can carry."""
    return answer(request, content="{padding}")


def test_a_page_that_is_too_large_is_asked_for_again_in_the_same_session_with_half_its_size(desk: Desk) -> None:
    first = desk.iterate(20)
    request = desk.begin()

    for size in (10, 5):
        assert 1 <= desk.receive_oversized(oversized(request)) <= 99
        assert desk.store.calls.total() <= 3
        request = desk.send()
        assert asked_for(request) == size

    assert desk.record(first).sessions == 1
    desk.receive(page_of(request, 5))
    assert asked_for(desk.send()) == 5


def test_a_page_that_was_too_large_is_asked_for_with_half_its_size_by_the_next_session(desk: Desk) -> None:
    desk.iterate(20)
    desk.receive_oversized(oversized(desk.begin()))
    desk.close()

    assert asked_for(desk.begin()) == 10


def test_a_page_of_one_object_that_is_too_large_ends_in_an_error(desk: Desk) -> None:
    first = desk.iterate(1)
    other = desk.queue()

    assert desk.receive_oversized(oversized(desk.begin())) <= 99

    error = desk.record(first).error
    assert error is not None
    assert error.code == error.details["reason"] == "response_too_large"
    assert error.details["limit_bytes"] == MAX_BODY_BYTES
    assert other in desk.send()


def test_an_answer_that_is_too_large_ends_a_query_that_does_not_iterate_and_says_what_to_do(desk: Desk) -> None:
    first = desk.queue("CustomerQueryRq", "<MaxReturned>5000</MaxReturned>")

    assert desk.receive_oversized(oversized(desk.begin())) == 100

    error = desk.record(first).error
    assert error is not None
    assert error.code == "response_too_large"
    assert all(word in error.details["hint"] for word in ("iterate", "max_returned", "filter", "include[]"))
    assert desk.response(first) is None


def test_a_later_page_that_is_too_large_is_not_skipped_in_silence(desk: Desk) -> None:
    """Its iterator has moved on: asked for again it would answer with the objects after these."""
    request = second_page(desk)

    desk.receive_oversized(oversized(request))

    assert pages(desk)[1].error.code == "response_too_large"
    assert desk.send() == ""


def test_an_answer_to_a_write_that_is_too_large_leaves_its_outcome_unknown(desk: Desk) -> None:
    write = desk.write()
    sent = desk.begin()

    desk.receive_oversized(kept(sent, content="{padding}"))

    error = desk.record(write).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "response_too_large")


def test_an_answer_that_is_too_large_and_comes_twice_does_not_end_the_next_request(desk: Desk) -> None:
    first, second = desk.queue(), desk.queue()
    text = oversized(desk.begin())
    desk.receive_oversized(text)
    desk.send()

    desk.receive_oversized(text)

    assert error_code(desk, first) == "response_too_large"
    assert desk.record(second).state is State.SENT


def test_an_answer_that_is_too_large_for_a_session_that_is_over_changes_nothing(desk: Desk) -> None:
    desk.queue()
    request = desk.begin()
    desk.close()

    assert desk.receive_oversized(oversized(request)) == -1


def test_every_object_comes_though_the_first_pages_were_too_large() -> None:
    """Held against the simulator, whose company has six customers."""
    service = Service()
    desk = service.desk
    desk.iterate(4)
    text = qwc.render(service.connection, base_url="https://queue.example.com", app_name="Queue")
    faults = [Fault.parse(f"process:{number}:oversized:7") for number in (1, 2)]
    simulator = Simulator(text, PASSWORD, service.company, transport=service, sleep=id, faults=faults)

    simulator.run_once()

    names = [
        name
        for page in pages(desk)
        for name in re.findall("<CustomerRet>.*?<ListID>(.*?)</ListID>", desk.response(page.id) or "", re.DOTALL)
    ]
    assert len(names) == len(set(names)) == 6
    assert [page.paging.page for page in pages(desk)] == [1, 2, 3, 4, 5, 6]
    assert {page.state for page in pages(desk)} == {State.RESPONSE_RECEIVED}
    assert desk.store.counts == desk.store.recount()


class Gateway(Service):
    """The service behind API Gateway, which refuses what Lambda cannot carry: no function sees it."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Pass a call on, or refuse it."""
        if len(body) > MAX_BODY_BYTES:
            return 413, b'{"error": {"code": "request_too_large"}}'
        return super().post(url, headers, body)


def test_a_page_that_a_gateway_refuses_again_and_again_comes_in_the_end_by_smaller_ones() -> None:
    """Held against the simulator: four objects fit no answer, two do."""
    service = Gateway()
    desk = service.desk
    first = desk.iterate(4)
    text = qwc.render(service.connection, base_url="https://queue.example.com", app_name="Queue")
    faults = [Fault.parse(f"process:{number}:oversized:7") for number in (1, 2)]
    simulator = Simulator(text, PASSWORD, service.company, transport=service, sleep=id, faults=faults)

    for _ in range(3):
        desk.clock.advance(seconds=60)
        simulator.run_once()

    assert desk.record(first).sessions == 3
    assert [page.paging.page for page in pages(desk)] == [1, 2, 3]
    assert {page.state for page in pages(desk)} == {State.RESPONSE_RECEIVED}
