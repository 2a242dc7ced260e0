"""Injected faults: what the service sees, and what the Web Connector sees."""

from __future__ import annotations

import pytest

from simulator import Simulator
from simulator.faults import Fault, FaultyTransport
from tests.unit.simulator.support import ScriptedService, a_company, document, qwc

ADD = document(
    "<CustomerAddRq><CustomerAdd><Name>Once</Name></CustomerAdd></CustomerAddRq>", sets=' newMessageSetID="A"'
)


class Run:
    """A session through a faulty transport."""

    def __init__(self, *faults: str, sessions: int = 1) -> None:
        self.service = ScriptedService(sendRequestXML=[ADD])
        self.waits: list[float] = []
        self.company = a_company()
        self.transport = FaultyTransport(self.service, map(Fault.parse, faults), sleep=self.waits.append)
        simulator = Simulator(qwc(), "secret", self.company, transport=self.transport)
        self.results = [simulator.run_once() for _ in range(sessions)]


def test_without_a_fault_everything_passes() -> None:
    run = Run("getLastError:1:close")

    assert run.results[0].error is None
    assert run.transport.happened == []


def test_a_lost_request_never_reaches_the_service() -> None:
    run = Run("receiveResponseXML:1:lose-request")

    assert run.results[0].error == 1042
    assert run.service.methods[-1] == "sendRequestXML"
    assert len(run.company.writes) == 1


def test_a_lost_response_was_seen_by_the_service() -> None:
    run = Run("receiveResponseXML:1:lose-response")

    assert run.results[0].error == 1042
    assert run.service.methods[-1] == "receiveResponseXML"


def test_the_call_is_counted_over_all_sessions() -> None:
    run = Run("receiveResponseXML:2:lose-response", sessions=3)

    assert [result.error for result in run.results] == [None, 1042, None]
    assert len(run.company.writes) == 1
    assert run.transport.happened == [Fault("receiveResponseXML", 2, "lose-response")]


def test_a_star_means_every_call() -> None:
    run = Run("authenticate:*:lose-request", sessions=2)

    assert [result.error for result in run.results] == [1012, 1012]


def test_a_duplicate_reaches_the_service_twice_and_the_session_goes_on() -> None:
    run = Run("receiveResponseXML:1:duplicate")

    assert run.results[0].error is None
    assert run.service.methods[-3:] == ["receiveResponseXML", "receiveResponseXML", "closeConnection"]
    assert len(run.company.writes) == 1


def test_a_delay_waits_before_the_call() -> None:
    run = Run("sendRequestXML:1:delay:2.5", "closeConnection:1:delay")

    assert run.results[0].error is None
    assert run.waits == [2.5, 5.0]


def test_a_hang_ends_in_a_time_out_after_the_service_saw_the_call() -> None:
    run = Run("sendRequestXML:1:hang")

    assert run.results[0].error == 1041
    assert run.waits == [100.0]
    assert run.service.methods[-1] == "sendRequestXML"


def test_close_stops_the_session_without_another_call() -> None:
    run = Run("receiveResponseXML:1:close")

    assert run.results[0].stopped
    assert run.service.methods[-1] == "sendRequestXML"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sendRequestXML:1",
        "sendrequestxml:1:close",
        "sendRequestXML:0:close",
        "sendRequestXML:x:close",
        "sendRequestXML:1:explode",
        "sendRequestXML:1:close:5",
        "sendRequestXML:1:delay:soon",
        "sendRequestXML:1:delay:1:2",
    ],
)
def test_a_fault_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Fault.parse(text)
