"""Injected faults and their effects on the service and the Web Connector."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import Simulator
from simulator.faults.line import Fault, FaultyTransport
from simulator.tests.support import ScriptedService, a_company, document, qwc

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


def test_a_call_with_a_lost_response_reached_the_service() -> None:
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


def test_a_duplicate_reaches_the_service_twice_and_the_session_continues() -> None:
    run = Run("receiveResponseXML:1:duplicate")

    assert run.results[0].error is None
    assert run.service.methods[-3:] == ["receiveResponseXML", "receiveResponseXML", "closeConnection"]
    assert len(run.company.writes) == 1


def test_a_delay_waits_before_the_call() -> None:
    run = Run("sendRequestXML:1:delay:2.5", "closeConnection:1:delay")

    assert run.results[0].error is None
    assert run.waits == [2.5, 5.0]


def test_a_hang_ends_in_a_time_out_after_the_call_reached_the_service() -> None:
    run = Run("sendRequestXML:1:hang")

    assert run.results[0].error == 1041
    assert run.waits == [100.0]
    assert run.service.methods[-1] == "sendRequestXML"


def test_close_stops_the_session_without_another_call() -> None:
    run = Run("receiveResponseXML:1:close")

    assert run.results[0].stopped
    assert run.service.methods[-1] == "sendRequestXML"


def tickets(run: Run, method: str) -> list[str]:
    return [parts["ticket"] for parts in run.service.parts(method)]


def run_with_tickets(*faults: str, sessions: int = 2, **responses: list[Any]) -> Run:
    run = Run(*faults, sessions=0)
    run.service.replies |= {"authenticate": [[f"ticket-{number}", ""] for number in range(1, 9)], **responses}
    simulator = Simulator(qwc(), "secret", run.company, transport=run.transport, sleep=run.waits.append)
    run.results = [simulator.run_once() for _ in range(sessions)]
    return run


def test_a_call_can_carry_the_ticket_of_the_session_before() -> None:
    run = run_with_tickets("receiveResponseXML:2:stale-ticket")

    assert tickets(run, "receiveResponseXML") == ["ticket-1", "ticket-1"]
    assert tickets(run, "closeConnection") == ["ticket-1", "ticket-2"]
    assert len(run.transport.happened) == 1


def test_the_first_session_has_no_stale_ticket_to_show() -> None:
    run = run_with_tickets("receiveResponseXML:1:stale-ticket", sessions=1)

    assert tickets(run, "receiveResponseXML") == ["ticket-1"]
    assert run.transport.happened == []


def test_a_late_duplicate_is_repeated_after_the_next_login() -> None:
    run = run_with_tickets("receiveResponseXML:1:late-duplicate")

    at = run.service.methods.index("authenticate", 3)
    assert run.service.methods[at : at + 2] == ["authenticate", "receiveResponseXML"]
    assert tickets(run, "receiveResponseXML") == ["ticket-1", "ticket-1", "ticket-2"]
    assert [result.error for result in run.results] == [None, None]


def test_a_late_duplicate_can_arrive_in_the_middle_of_its_own_session() -> None:
    step = {"on": "receiveResponseXML", "do": "late-duplicate", "until": {"on": "sendRequestXML", "call": 2}}
    run = Run(sessions=0)
    run.service.replies["receiveResponseXML"] = [50, 50, 100]
    Simulator(qwc(), "s", run.company, transport=run.service, faults=[Fault.of(step)]).run_once()

    assert run.service.methods[3:-1] == [
        "sendRequestXML",
        "receiveResponseXML",
        "sendRequestXML",
        "receiveResponseXML",
        "receiveResponseXML",
    ]
    assert "&lt;CustomerAddRs" in run.service.bodies[6].decode()
    assert run.service.bodies[6] == run.service.bodies[4]


def test_stop_still_delivers_the_response_in_progress() -> None:
    run = run_with_tickets("sendRequestXML:1:stop", receiveResponseXML=[50, 100])

    assert run.results[0].status == "Stopped by the user"
    assert run.service.methods[3:6] == ["sendRequestXML", "receiveResponseXML", "serverVersion"]
    assert run.results[1].error is None


def test_stop_during_the_last_answer_does_not_reach_into_the_next_session() -> None:
    run = run_with_tickets("closeConnection:1:stop")

    assert [result.stopped for result in run.results] == [False, False]


def test_a_machine_that_slept_continues_with_its_old_ticket() -> None:
    run = run_with_tickets("receiveResponseXML:1:sleep:3600")

    assert run.waits == [3600.0]
    assert tickets(run, "receiveResponseXML") == ["ticket-1", "ticket-2"]


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
        "sendRequestXML:1:delay:1:seconds",
        "sendRequestXML:1:delay:-1",
        "sendRequestXML:1:delay:times=0",
        "sendRequestXML/CustomerAddRq:1:delay",
        "process:1:lose-request",
        "session:1:fail",
        "authenticate:2:stale-ticket",
        "process/CustomrAddRq:1:fail",
        "process:1:fail:8004",
        "process:1:fail:message",
        "process:1:fail:after_execution=yes",
        "process:1:status:locked",
        "process:1:fail:machine=0",
    ],
)
def test_a_fault_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Fault.parse(text)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ([], "a step is an object"),
        ({"do": "fail"}, "says where"),
        ({"on": "proces", "do": "fail"}, "did you mean process"),
        ({"on": "process", "do": "fale"}, "did you mean fail"),
        ({"on": "process", "do": "fail", "hresul": "0x1"}, "fail has no 'hresul'; did you mean hresult"),
        ({"on": "process", "do": "fail", "hresult": "modal-dialogue"}, "did you mean modal-dialog"),
        ({"on": "process", "do": "fail", "nth": 0}, "counts from 1"),
        ({"on": "process", "do": "fail", "nth": True}, "counts from 1"),
        ({"on": "process", "do": "fail", "nth": 1, "call": 1}, "mean the same"),
        ({"on": "process", "do": "fail", "request": "CustomerAdRq"}, "did you mean CustomerAddRq"),
        ({"on": "authenticate", "do": "close", "request": "CustomerAddRq"}, "request goes with process"),
        ({"on": "authenticate", "do": "close", "until": "never"}, "an event is an object"),
        ({"on": "authenticate", "do": "close", "until": {"on": "session", "nr": 1}}, "an event has no 'nr'"),
        ({"on": "authenticate", "do": "close", "until": {"nth": 1}}, "there is no place None"),
        ({"on": "authenticate", "do": "close", "times": 2, "until": {"on": "session"}}, "not both"),
        ({"on": "authenticate", "do": "close", "name": 1}, "name is a text"),
        ({"on": "authenticate", "do": "delay", "seconds": "1"}, "seconds is a number"),
        ({"on": "process", "do": "oversized", "megabytes": float("nan")}, "megabytes is a number"),
        ({"on": "session", "do": "wrong-file", "file_id": 1}, "file_id is a text"),
        ({"on": "session", "do": ["fail"]}, "no such action"),
        ({"on": ["session"], "do": "fail"}, "there is no place"),
    ],
)
def test_a_wrong_step_is_reported_with_a_suggestion(step: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Fault.of(step)


def test_a_fault_of_the_command_line_is_the_same_as_a_step_of_a_script() -> None:
    assert Fault.parse("process/CustomerAddRq:2:fail:0x80040402:after_execution=true:times=3") == Fault.of({
        "on": "process",
        "request": "CustomerAddRq",
        "nth": 2,
        "do": "fail",
        "hresult": "0x80040402",
        "after_execution": True,
        "times": 3,
    })  # fmt: skip
