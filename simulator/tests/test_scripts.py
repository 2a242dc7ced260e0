"""Scripts: their format, their expectations, and two machines that take turns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simulator import Script
from simulator.runs.scenario import Expectations
from simulator.runs.script import SHIPPED
from simulator.tests.support import ScriptedService, a_company, document, qwc

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from simulator.runs.script_run import ScriptRun


def add(name: str, label: str = "1", sets: str = "") -> str:
    body = f'<CustomerAddRq requestID="{label}"><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>'
    return document(body, sets=sets)


def start(script: dict[str, Any], service: ScriptedService, **options: Any) -> ScriptRun:
    return Script.of(script).start(qwc(), "secret", a_company(), transport=service, **options)


def play(script: dict[str, Any], service: ScriptedService, sessions: int = 1) -> ScriptRun:
    run = start(script, service, sleep=lambda _seconds: None)
    for _ in range(sessions):
        run.run_once()
    return run


# --- the file


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json")), ids=lambda path: path.stem)
def test_a_script_of_the_simulator_is_found_by_its_name(path: Path) -> None:
    assert Script.load(path.stem) == Script.load(path.name) == Script.load(path)


@pytest.mark.parametrize("name", ["lost-anwser", "nope.json"])
def test_a_name_of_no_script_is_refused_with_the_names(name: str) -> None:
    with pytest.raises(ValueError, match="The scripts are: bad-day, lost-answer"):
        Script.load(name)


def test_a_script_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"on": "authenticate", "do": "lose-request"}]))

    assert [str(fault) for fault in Script.load(path).faults] == ["authenticate:1:lose-request"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("{", "line 1, column 2"),
        ('"steps"', "an object or a list of steps"),
        ('{"step": []}', "a script has no 'step'; did you mean steps"),
        ('{"steps": {}}', "steps is a list"),
        (
            '[{"on": "authenticate", "do": "close"}, {"on": "sendRequestXml", "do": "close"}]',
            "step 2: .*sendRequestXML",
        ),
        ('[{"on": "session", "do": "forget", "machine": 2}]', "step 1: there is no machine 2"),
        ('[{"on": "authenticate", "do": "close", "name": "a"}, {"on": "session", "do": "forget", "name": "a"}]', "'a'"),
        ('[{"on": "session", "do": "forget", "until": "x"}]', "step 1: the script has no 'x'"),
        ('{"machines": 0}', "machines is a number"),
        ('{"machines": true}', "machines is a number"),
        ('{"sessions": 0}', "sessions is a number"),
        ('{"about": 1}', "about is a text"),
        ('{"expect": []}', "expect is an object"),
        ('{"expect": {"execute": {}}}', "did you mean executed"),
        ('{"expect": {"executed": {"CustomerAd": 1}}}', "did you mean CustomerAdd"),
        ('{"expect": {"executed": {"CustomerAddRq": "1"}}}', "executed is an object"),
        ('{"expect": {"repeated_writes": -1}}', "repeated_writes is a number"),
        ('{"expect": {"faults_happened": "none"}}', "faults_happened is"),
        ('{"expect": {"faults_happened": ["x"]}}', "the script has no 'x'"),
    ],
)
def test_an_error_in_a_script_is_reported_with_its_place(tmp_path: Path, script: str, words: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(script)

    with pytest.raises(ValueError, match=rf"script\.json: .*{words}"):
        Script.load(path)


def test_a_step_can_last_until_another_one_begins() -> None:
    script = Script.of([
        {"on": "session", "nth": "*", "do": "open-error", "until": "QuickBooks is opened"},
        {"name": "QuickBooks is opened", "on": "connectionError", "call": 2, "do": "delay", "seconds": 0},
    ])  # fmt: skip

    run = script.start(qwc(), "secret", a_company(), transport=ScriptedService(), sleep=lambda _seconds: None)

    assert [run.run_once()[0].error for _ in range(4)] == [1013, 1013, None, None]


# --- expectations


ONE_ADD = {"executed": {"CustomerAddRq": 1}, "repeated_writes": 0, "executed_in_wrong_file": 0}


def problems(expect: dict[str, Any], *requests: str, steps: Any = ()) -> list[str]:
    service = ScriptedService(sendRequestXML=[*requests, ""], receiveResponseXML=[50])
    return play({"expect": expect, "steps": list(steps)}, service).problems()


def test_expectations_are_met_by_a_correct_run() -> None:
    assert problems(ONE_ADD, add("A")) == []


def test_a_refused_request_was_not_executed() -> None:
    assert problems(ONE_ADD, add("A"), add("A", "2")) == []


def test_a_wrong_number_of_executions_is_reported() -> None:
    assert problems(ONE_ADD) == ["CustomerAddRq was to be executed once, and was never"]
    assert problems(ONE_ADD, add("A"), add("B")) == ["CustomerAddRq was to be executed once, and was twice"]


def test_a_write_executed_twice_is_reported_even_if_quickbooks_refused_it() -> None:
    assert problems(ONE_ADD, add("A", "order-7"), add("A", "order-7")) == [
        "1 writes were repeated, not 0: CustomerAddRq order-7"
    ]


def test_a_write_that_was_locked_at_first_is_not_repeated() -> None:
    locked = [{"on": "process", "do": "status", "code": 3175}]

    assert problems(ONE_ADD, add("A"), add("A"), steps=locked) == []


def test_a_write_that_was_kept_is_not_repeated_by_asking_again() -> None:
    request = add("A", sets=' newMessageSetID="A"')

    assert problems(ONE_ADD, request, request) == []


def test_an_execution_in_another_company_file_is_reported() -> None:
    elsewhere = [{"on": "session", "do": "wrong-file"}]

    assert problems(ONE_ADD | {"executed": {}}, add("A"), steps=elsewhere) == [
        "1 requests were executed in another company file, not 0"
    ]


@pytest.mark.parametrize("faults", ["all", ["the lost one"]])
def test_a_fault_that_never_happened_is_reported(faults: Any) -> None:
    steps = [
        {"on": "receiveResponseXML", "call": 9, "do": "lose-response", "name": "the lost one"},
        {"on": "sendRequestXML", "call": 1, "do": "duplicate"},
    ]

    assert problems({"faults_happened": faults}, add("A"), steps=steps) == ["the fault the lost one never happened"]


def test_without_expectations_no_problem_is_reported() -> None:
    assert problems({}, add("A"), add("A")) == []
    assert Expectations.parse("{}") == Expectations()


# --- the report


def test_the_report_lists_the_events() -> None:
    service = ScriptedService(
        authenticate=[["t1", ""], ["t2", ""], ["t3", "none"]], sendRequestXML=[add("A"), add("A", "2")]
    )
    steps = [
        {"on": "receiveResponseXML", "do": "lose-response", "name": "lost"},
        {"on": "session", "nth": 9, "do": "forget"},
    ]

    report = play({"about": "A bad line", "steps": steps, "expect": {"faults_happened": "all"}}, service, 3).report()

    first, second = report["sessions"]
    assert first["calls"] == [
        "serverVersion", "clientVersion", "authenticate", "sendRequestXML", "receiveResponseXML: lose-response",
    ]  # fmt: skip
    assert (first["machine"], first["error"], first["requests"]) == (1, 1042, 1)
    assert second["status"] == "Finished"
    assert report["idle_sessions"] == 1
    assert report["executed"]["CustomerAddRq"] == 1
    assert report["refused"] == {"CustomerAddRq": 1}
    assert [(write["request_id"], write["status_code"]) for write in report["writes"]] == [("1", 0), ("2", 3100)]
    assert report["faults_happened"] == ["lost"]
    assert report["faults_that_never_happened"] == ["session:9:forget"]
    assert report["problems"] == ["the fault session:9:forget never happened"]
    assert report["about"] == "A bad line"


# --- several machines


class TwoTickets(ScriptedService):
    """Gives each login a separate ticket, and a request to every caller."""

    def __init__(self) -> None:
        super().__init__(
            authenticate=[[f"t{number}", ""] for number in range(1, 9)],
            sendRequestXML=[document("<CustomerQueryRq><MaxReturned>1</MaxReturned></CustomerQueryRq>")],
        )

    @property
    def tickets(self) -> list[str]:
        return [f"{parts.get('ticket', '-')} {method}" for method, parts in self.calls]


def test_two_machines_make_their_calls_in_turn() -> None:
    service = TwoTickets()

    results = start({"machines": 2}, service).run_once()

    assert [result.status for result in results] == ["Finished", "Finished"]
    assert service.tickets == [
        "- serverVersion", "- serverVersion", "- clientVersion", "- clientVersion", "- authenticate", "- authenticate",
        "t1 sendRequestXML", "t2 sendRequestXML", "t1 receiveResponseXML", "t2 receiveResponseXML",
        "t1 closeConnection", "t2 closeConnection",
    ]  # fmt: skip


def test_a_machine_sleeps_during_a_takeover_and_wakes_with_its_old_ticket() -> None:
    service = TwoTickets()
    steps = [{"on": "receiveResponseXML", "machine": 1, "do": "sleep"}]

    start({"machines": 2, "steps": steps}, service).run_once()

    assert service.tickets[-4:] == [
        "t2 receiveResponseXML",
        "t2 closeConnection",
        "t1 receiveResponseXML",
        "t1 closeConnection",
    ]


def test_a_machine_sleeps_until_something_has_happened() -> None:
    service = TwoTickets()
    until = {"on": "sendRequestXML", "machine": 2}
    steps = [{"on": "sendRequestXML", "machine": 1, "do": "sleep", "until": until}]

    start({"machines": 2, "steps": steps}, service).run_once()

    after = service.tickets[service.tickets.index("t2 sendRequestXML") + 1 :]
    assert after[:3] == ["t1 sendRequestXML", "t2 receiveResponseXML", "t1 receiveResponseXML"]


def test_machines_that_all_sleep_wake_up() -> None:
    results = start(
        {"machines": 2, "steps": [{"on": "sendRequestXML", "nth": "*", "do": "sleep"}]}, TwoTickets()
    ).run_once()

    assert [result.status for result in results] == ["Finished", "Finished"]


def test_two_machines_do_the_same_every_time() -> None:
    def calls() -> list[str]:
        service = TwoTickets()
        run = start({"machines": 2, "steps": [{"on": "sendRequestXML", "nth": 2, "do": "sleep"}]}, service)
        run.run_once()
        run.run_once()
        return service.tickets

    assert calls() == calls()


def test_the_output_of_a_machine_begins_with_its_number() -> None:
    lines: list[str] = []

    start(
        {"machines": 2},
        TwoTickets(),
        on_progress=lambda _percent, text: lines.append(text),
        on_session=lambda result: lines.append(result.status),
    ).run_once()

    assert lines == ["[machine 1] Finished", "[machine 2] Finished"] * 2


def test_an_exception_in_a_machine_is_raised_to_the_caller() -> None:
    class FailingService(ScriptedService):
        def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
            raise ZeroDivisionError(url, headers, body)

    with pytest.raises(ZeroDivisionError):
        start({"machines": 2}, FailingService()).run_once()


def test_a_schedule_runs_all_machines_until_it_is_stopped() -> None:
    class Stop:
        waits = 0

        def is_set(self) -> bool:
            return self.waits >= 2

        def wait(self, _timeout: float) -> bool:
            self.waits += 1
            return self.is_set()

    service, results = TwoTickets(), list[Any]()
    run = start({"machines": 2}, service, on_session=results.append)

    run.run(Stop(), 1)

    assert len(results) == len(run.report()["sessions"]) == 4
