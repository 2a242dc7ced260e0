"""Responses that are too large for a call, of queries that do not iterate."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from domain.qbxml import PAGE_SIZE
from domain.records.request import LAST_IN_LINE, Paging, State
from domain.web_connector.protocol.soap import MAX_BODY_BYTES
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_READ, BUSY_SECONDS_OF_A_WRITE
from simulator.faults import Fault
from tests.support.web_connector.quickbooks import page_of, response_to, stored_response
from tests.support.web_connector.service import Gateway, Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.records.request import RequestError
    from tests.support.web_connector.connector import Connector

MAY_BEGIN = Paging(may_begin=True)


def lose(qbwc: Connector) -> str:
    """Take a request and lose its response. Return the request."""
    request = qbwc.begin()
    qbwc.close()
    return request


def error_of(qbwc: Connector, request_id: str) -> RequestError:
    """Return the error of a request that ended in one."""
    error = qbwc.record(request_id).error
    assert error is not None
    return error


def test_a_read_whose_response_is_lost_in_three_sessions_is_too_large(qbwc: Connector) -> None:
    read = qbwc.queue()

    for _ in range(3):
        lose(qbwc)

    error = error_of(qbwc, read)
    assert error.code == error.details["reason"] == "response_too_large"
    assert (error.details["limit_bytes"], error.details["sessions"]) == (MAX_BODY_BYTES, 3)
    assert "6,291,456 bytes, about 4.3 MB of QBXML" in error.message
    assert all(word in error.details["hint"] for word in ("iterate=auto", "MaxReturned", "log of the Web Connector"))
    assert qbwc.authenticate() == "none"


def end_session(qbwc: Connector, ending: str) -> None:
    """Let a session end without a response, in each way that the Web Connector may end it."""
    match ending:
        case "close":
            qbwc.close()
        case "error, close":
            qbwc.last_error()
            qbwc.close()
        case "no call":
            qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_READ)
        case "exception":
            qbwc.receive(hresult="0x80040402")
            qbwc.close()


LOST = ("close", "error, close", "no call")


@pytest.mark.parametrize("endings", list(product(LOST, repeat=3)))
def test_a_read_without_a_response_in_three_sessions_is_too_large_however_they_ended(
    qbwc: Connector, endings: tuple[str, ...]
) -> None:
    """No capture shows which calls follow when a gateway has refused a response: perhaps none."""
    read = qbwc.queue()

    for ending in endings:
        qbwc.begin()
        end_session(qbwc, ending)
    assert qbwc.authenticate() == "none"

    error = error_of(qbwc, read)
    assert error.code == error.details["reason"] == "response_too_large"
    assert (error.details["sessions"], qbwc.record(read).attempts.lost_responses) == (3, 3)


@pytest.mark.parametrize("exception_in", [0, 1, 2])
@pytest.mark.parametrize("ending", LOST)
def test_an_exception_in_one_of_the_sessions_shows_that_the_size_is_not_the_cause(
    qbwc: Connector, ending: str, exception_in: int
) -> None:
    read = qbwc.queue()

    for number in range(3):
        qbwc.begin()
        end_session(qbwc, "exception" if number == exception_in else ending)
    assert qbwc.authenticate() == "none"

    assert error_of(qbwc, read).code == "quickbooks_connection_error"


@pytest.mark.parametrize("endings", list(product(LOST, repeat=2)))
def test_a_query_that_may_iterate_is_sent_in_pages_however_two_sessions_ended(
    qbwc: Connector, endings: tuple[str, ...]
) -> None:
    qbwc.queue(paging=MAY_BEGIN)

    for ending in endings:
        assert "iterator" not in qbwc.begin()
        end_session(qbwc, ending)

    assert ' iterator="Start"' in qbwc.begin()


@pytest.mark.parametrize("endings", list(product(LOST, repeat=3)))
def test_a_write_is_never_called_too_large_and_never_sent_again_however_its_sessions_ended(
    qbwc: Connector, endings: tuple[str, ...]
) -> None:
    write = qbwc.write()

    sent = []
    for ending in endings:
        qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)
        sent.append("CustomerAddRq" in qbwc.begin())
        end_session(qbwc, ending)

    assert sent == [True, False, False]
    assert qbwc.record(write).error is None


def test_a_query_whose_response_a_gateway_refuses_three_times_is_too_large() -> None:
    service = Gateway()
    qbwc = service.qbwc
    read = qbwc.queue()
    faults = [Fault.parse("process:*:oversized:7")]
    simulator = qbwc.simulator(service.company, transport=service, faults=faults)

    for _ in range(4):
        simulator.run_once()
        qbwc.clock.advance(minutes=3)

    assert error_of(qbwc, read).code == "response_too_large"


def test_a_read_that_also_met_an_exception_is_not_called_too_large(qbwc: Connector) -> None:
    read = qbwc.queue()
    lose(qbwc)
    qbwc.begin()
    qbwc.receive(hresult="0x80040402")
    qbwc.close()
    lose(qbwc)

    assert error_of(qbwc, read).code == "quickbooks_connection_error"


def test_a_query_that_may_iterate_is_sent_in_pages_after_two_losses(qbwc: Connector) -> None:
    first = qbwc.queue(content="<ActiveStatus>All</ActiveStatus>", paging=MAY_BEGIN)

    assert not any("iterator" in lose(qbwc) for _ in range(2))
    request = qbwc.begin()
    assert ' iterator="Start"><MaxReturned>100</MaxReturned><ActiveStatus>All</ActiveStatus>' in request
    qbwc.receive(page_of(request, 30))
    request = qbwc.send()
    assert ' iterator="Continue"' in request
    assert "<MaxReturned>100</MaxReturned><ActiveStatus>All</ActiveStatus>" in request
    assert qbwc.receive(page_of(request, 0)) == 100

    pages = sorted(qbwc.records, key=lambda record: record.paging.page)
    assert [(page.query_id, page.last_page, page.state) for page in pages] == [
        (first, False, State.RESPONSE_RECEIVED),
        (first, True, State.RESPONSE_RECEIVED),
    ]
    assert "iterator" not in qbwc.store.bodies[first].request_xml


def test_pages_that_are_too_large_are_halved(qbwc: Connector) -> None:
    qbwc.queue(paging=MAY_BEGIN)

    sizes = [re.findall("<MaxReturned>([0-9]+)", lose(qbwc)) for _ in range(5)]

    assert sizes == [[], [], ["100"], ["50"], ["25"]]


def test_a_query_that_may_iterate_is_sent_in_pages_at_once_if_the_service_sees_the_size(qbwc: Connector) -> None:
    first = qbwc.queue(paging=MAY_BEGIN)

    assert 1 <= qbwc.receive_oversized(response_to(qbwc.begin(), content="{padding}")) <= 99

    request = qbwc.send()
    assert f' iterator="Start"><MaxReturned>{PAGE_SIZE}</MaxReturned>' in request
    assert qbwc.receive(page_of(request, 0)) == 100
    assert (qbwc.record(first).state, qbwc.record(first).attempts.sessions) == (State.RESPONSE_RECEIVED, 1)


def test_the_requests_behind_a_large_read_are_sent_after_two_sessions(qbwc: Connector) -> None:
    large = qbwc.queue()
    behind = [qbwc.queue(), qbwc.write()]
    lose(qbwc)
    lose(qbwc)
    assert qbwc.record(large).queue_priority == LAST_IN_LINE

    request = qbwc.begin()
    assert behind[0] in request
    qbwc.receive(response_to(request))
    qbwc.receive(stored_response(qbwc.send()))
    assert large in qbwc.send()
    qbwc.close()

    assert error_of(qbwc, large).code == "response_too_large"
    assert {qbwc.record(request_id).state for request_id in behind} == {State.RESPONSE_RECEIVED}


@pytest.mark.parametrize("service", [Gateway, Service])
def test_a_write_whose_response_is_too_large_is_never_sent_again(service: Callable[[], Service]) -> None:
    """Behind a gateway its response is lost; without a gateway, the service receives an oversized call."""
    played_service = service()
    qbwc, company = played_service.qbwc, played_service.company
    write = qbwc.write()
    simulator = qbwc.simulator(company, transport=played_service, faults=[Fault.parse("process:*:oversized:7")])

    for _ in range(5):
        simulator.run_once()
        qbwc.clock.advance(minutes=15)

    assert [execution.name for execution in company.writes] == ["CustomerAddRq"]
    assert error_of(qbwc, write).code == "outcome_unknown"


@pytest.mark.parametrize("megabytes", [3, 5])
def test_a_response_that_fits_is_stored(megabytes: int) -> None:
    service = Gateway()
    qbwc = service.qbwc
    read = qbwc.queue()

    qbwc.simulator(
        service.company, transport=service, faults=[Fault.parse(f"process:1:oversized:{megabytes}")]
    ).run_once()

    assert qbwc.record(read).state is State.RESPONSE_RECEIVED
    assert qbwc.record(read).response_size > 1_000_000 * megabytes - 10


@pytest.mark.parametrize("service", [Gateway, Service])
def test_every_object_arrives_although_the_response_was_too_large(service: Callable[[], Service]) -> None:
    """The company has six customers, and their whole list does not fit into one call."""
    played = service()
    qbwc = played.qbwc
    qbwc.queue(content="<ActiveStatus>All</ActiveStatus>", paging=MAY_BEGIN)
    other = qbwc.queue("HostQueryRq")
    faults = [Fault.parse(f"process:{number}:oversized:7") for number in (1, 2)]
    simulator = qbwc.simulator(played.company, transport=played, faults=faults)

    for _ in range(4):
        simulator.run_once()
        qbwc.clock.advance(minutes=3)

    pages = [record for record in qbwc.records if record.id != other]
    names = [name for page in pages for name in re.findall("<ListID>(.*?)</ListID>", customers(qbwc, page.id))]
    assert len(names) == len(set(names)) == 6
    assert {record.state for record in qbwc.records} == {State.RESPONSE_RECEIVED}
    assert qbwc.store.counts == qbwc.store.recount()


def customers(qbwc: Connector, request_id: str) -> str:
    """Return the ListIDs of the customers in a response, one on a line."""
    return "\n".join(re.findall("<CustomerRet>\\s*(<ListID>.*?</ListID>)", qbwc.response(request_id) or ""))
