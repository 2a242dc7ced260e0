"""The schedule, the command line and the package."""

from __future__ import annotations

import ast
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import simulator
from simulator import Simulator
from simulator.__main__ import main
from simulator.basics.errors import TransportError
from simulator.tests.support import ScriptedService, a_company, document, qwc
from simulator.web_connector.connector import SessionResult

FOLDER = Path(simulator.__file__ or "").parent
TEST_LIBRARIES = {"defusedxml", "pytest", "pytest_socket", "setuptools", "urllib3"}
CUSTOMERS = document("<CustomerQueryRq><MaxReturned>1</MaxReturned></CustomerQueryRq>")


class StopAfter:
    """A stop event that is set after a number of waits, and records them."""

    def __init__(self, waits: int) -> None:
        self.remaining_waits = waits
        self.waits: list[float] = []

    def is_set(self) -> bool:
        return self.remaining_waits <= 0

    def wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        self.remaining_waits -= 1
        return self.is_set()


def run_on_schedule(
    service: ScriptedService, waits: int, every: float | None = None, **changes: str | None
) -> tuple[StopAfter, list[SessionResult]]:
    stop, results = StopAfter(waits), list[SessionResult]()
    Simulator(qwc(**changes), "secret", a_company(), transport=service, on_session=results.append).run(stop, every)
    return stop, results


def test_a_schedule_runs_sessions_until_it_is_stopped() -> None:
    stop, results = run_on_schedule(ScriptedService(sendRequestXML=[CUSTOMERS]), 3, every=2)

    assert stop.waits == [2, 2, 2]
    assert [result.error for result in results] == [None, None, None]


def test_the_schedule_of_the_file_is_the_default() -> None:
    stop, _ = run_on_schedule(ScriptedService(authenticate=[["t", "none"]]), 1)

    assert stop.waits == [300]


def test_a_schedule_needs_an_interval() -> None:
    with pytest.raises(ValueError, match="Scheduler"):
        run_on_schedule(ScriptedService(), 1, Scheduler=None)


def test_the_service_can_postpone_and_slow_down_the_schedule() -> None:
    responses = [["t", "none", "", "30"], ["t", "", "7", ""], ["t", "none"]]

    stop, results = run_on_schedule(ScriptedService(authenticate=responses), 3, every=2)

    assert stop.waits == [30, 7, 30]
    assert results[1].status == "Update postponed by application"


def test_sessions_that_the_user_asks_for_are_not_slowed_down() -> None:
    stop, results = StopAfter(2), list[SessionResult]()
    service = ScriptedService(authenticate=[["t", "none", "60", "30"]])
    simulator = Simulator(qwc(), "secret", a_company(), transport=service, on_session=results.append)

    simulator.run(stop, 2, auto_run=False)

    assert stop.waits == [2, 2]
    assert [result.status for result in results] == ["No Data Exchange"] * 2


def test_a_service_that_is_not_up_yet_is_tried_again() -> None:
    service = ScriptedService(authenticate=[["t", "none"]])
    service.get_status["http://localhost:3000/qbwc"] = TransportError("refused")
    stop, results = StopAfter(2), list[SessionResult]()

    def then_it_is_up(result: SessionResult) -> None:
        results.append(result)
        service.get_status["http://localhost:3000/qbwc"] = 200

    Simulator(qwc(), "secret", a_company(), transport=service, on_session=then_it_is_up).run(stop, 1)

    assert [result.error for result in results] == [1048, None]


def test_stopping_while_waiting_makes_no_further_call() -> None:
    service = ScriptedService(sendRequestXML=["NoOp"], getLastError=["NoOp"])

    stop, results = run_on_schedule(service, 1, every=2)

    assert stop.waits[0] == 5
    assert results[0].stopped
    assert service.methods[-1] == "getLastError"


def test_stopping_between_a_request_and_its_response_still_delivers_the_response() -> None:
    stop = StopAfter(1)
    service = ScriptedService(sendRequestXML=[CUSTOMERS], receiveResponseXML=[50])

    def stop_it(_method: str, text: str) -> None:
        if "CustomerQueryRq" in text:
            stop.remaining_waits = 0

    Simulator(qwc(), "secret", a_company(), transport=service, on_call=stop_it).run(stop, 1)

    assert service.methods[-2:] == ["sendRequestXML", "receiveResponseXML"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "sample.qwc").write_text(qwc())
    (tmp_path / "password").write_text("secret\n")
    return tmp_path


def run(files: Path, *arguments: str, service: ScriptedService | None = None) -> int:
    return main(
        ["--qwc", str(files / "sample.qwc"), "--password-file", str(files / "password"), *arguments],
        transport=service or ScriptedService(sendRequestXML=[CUSTOMERS]),
        sleep=lambda _seconds: None,
    )


def test_once_runs_one_session_and_prints_its_result(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "--once", "--customers", "5") == 0

    output = capsys.readouterr().out
    assert "CustomerQueryRq · 1 record · " in output
    assert "Finished (1 request)" in output


def test_verbose_shows_calls_but_no_password(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(files, "--once", "--customers", "5", "-v")

    output = capsys.readouterr().out
    assert "sendRequestXML: →" in output
    assert "secret" not in output


def test_a_failed_session_exits_with_1(files: Path) -> None:
    assert run(files, "--once", service=ScriptedService(authenticate=[["", "nvu"]])) == 1
    assert run(files, "--once", "--open-error", "0x80040414") == 1
    assert run(files, "--once", "--fault", "sendRequestXML:1:lose-response") == 1


ADD = document('<CustomerAddRq requestID="1"><CustomerAdd><Name>A</Name></CustomerAdd></CustomerAddRq>')


@pytest.fixture
def script(files: Path) -> Path:
    path = files / "script.json"
    path.write_text(
        json.dumps(
            {
                "sessions": 2,
                "steps": [{"on": "receiveResponseXML", "do": "lose-response"}],
                "expect": {"executed": {"CustomerAddRq": 1}, "faults_happened": "all"},
            }
        )
    )
    return path


def test_a_script_that_meets_its_expectations_exits_with_0(files: Path, script: Path) -> None:
    service = ScriptedService(sendRequestXML=[ADD, ""], authenticate=[["1", ""], ["2", ""]])

    assert run(files, "--script", str(script), service=service) == 0
    assert service.methods.count("authenticate") == 2


def test_a_script_that_misses_its_expectations_exits_with_3(
    files: Path, script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(files, "--script", str(script), "--once", "--expect", '{"executed": {"CustomerAddRq": 2}}') == 3
    assert "CustomerAddRq was to be executed twice, and was never" in capsys.readouterr().err


def test_expectations_can_be_checked_without_a_script(files: Path) -> None:
    expect = ["--expect", '{"executed": {"CustomerAddRq": 1}, "faults_happened": "all"}']

    assert run(files, "--once", *expect, service=ScriptedService(sendRequestXML=[ADD])) == 0
    assert (
        run(files, "--once", *expect, "--fault", "process:2:fail", service=ScriptedService(sendRequestXML=[ADD])) == 3
    )


def test_the_command_line_adds_faults_to_those_of_the_script(files: Path, script: Path) -> None:
    report = files / "report.json"
    more = ["--fault", "process:1:slow:0", "--open-error", "closed", "--report", str(report)]

    assert run(files, "--script", str(script), "--once", *more) == 3
    assert json.loads(report.read_text())["faults_happened"] == ["session:*:open-error"]


def test_the_given_number_of_sessions_is_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "--sessions", "3") == 0
    assert capsys.readouterr().out.count("Finished (1 request)") == 3


def test_ctrl_c_exits_with_130(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "--once", service=Interrupted()) == 130
    assert "Stopped." in capsys.readouterr().out


class Interrupted(ScriptedService):
    """A service that makes the user press Ctrl-C during the first call."""

    def get(self, url: str) -> int:
        raise KeyboardInterrupt(url)


def test_the_company_is_kept_in_its_file(files: Path) -> None:
    add = document("<CustomerAddRq><CustomerAdd><Name>Kept</Name></CustomerAdd></CustomerAddRq>")
    company = files / "company.json"
    run(files, "--once", "--customers", "5", "--company", str(company), service=ScriptedService(sendRequestXML=[add]))
    service = ScriptedService(sendRequestXML=[document("<CustomerQueryRq><FullName>Kept</FullName></CustomerQueryRq>")])

    run(files, "--once", "--company", str(company), service=service)

    assert "&lt;FullName&gt;Kept&lt;/FullName&gt;" in service.bodies[4].decode()


def test_preferences_are_set_on_the_command_line_and_kept_in_the_file(files: Path) -> None:
    company = ["--company", str(files / "company.json"), "--customers", "5"]

    run(files, "--once", *company, "--preference", "classes=off", "--preference", "closing_date=2025-06-30")
    run(files, "--once", *company)

    kept = simulator.Company.load(files / "company.json").preferences
    assert (kept["classes"], kept["closing_date"], kept["sales_tax"]) == ("off", "2025-06-30", "on")


SITES = document("<ItemSitesQueryRq><MaxReturned>1</MaxReturned></ItemSitesQueryRq>")


def test_a_strict_run_warns_of_simplifications_and_exits_with_4(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = ScriptedService(sendRequestXML=[SITES, SITES, ""], receiveResponseXML=[50])
    report = files / "report.json"

    assert run(files, "--once", "--strict", "--report", str(report), service=service) == 4

    output, errors = capsys.readouterr()
    assert output.count("Not known to be as in QuickBooks: stock_by_site. Stock is not counted by site") == 1
    assert (
        "simulator: not known to be as in QuickBooks: stock_by_site (2 requests): Stock is not counted by site"
        in errors
    )
    assert json.loads(report.read_text())["simplifications"] == {"stock_by_site": 2}


def test_a_strict_run_without_simplifications_exits_with_0(files: Path) -> None:
    assert run(files, "--once", "--strict") == 0
    assert run(files, "--once", service=ScriptedService(sendRequestXML=[SITES, ""])) == 0


def test_a_strict_run_that_fails_keeps_its_exit_code(files: Path) -> None:
    service = ScriptedService(sendRequestXML=[SITES, ""])
    expect = ["--expect", '{"executed": {"CustomerAddRq": 1}}']

    assert run(files, "--once", "--strict", *expect, service=service) == 3


def test_strict_warnings_can_be_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(files, "--once", "--strict", "--json", service=ScriptedService(sendRequestXML=[SITES, ""]))

    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    warnings = [event for event in events if event["event"] == "simplification"]
    assert [(warning["name"], warning["type"]) for warning in warnings] == [("stock_by_site", "ItemSitesQueryRq")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--qwc", "missing.qwc", "--once"],
        ["--password-file", "missing", "--once"],
        ["--password-file", "empty", "--once"],
        ["--qwc", "bad.qwc", "--once"],
        ["--qwc", "manual.qwc"],
        ["--customers", "0", "--once"],
        ["--company", "bad.qwc", "--once"],
        ["--script", "missing.json", "--once"],
        ["--script", "bad.qwc", "--once"],
        ["--open-error", "dialog", "--once"],
        ["--preference", "classes=perhaps", "--once"],
        ["--preference", "class=on", "--once"],
    ],
)
def test_unusable_input_exits_with_2(
    files: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    (files / "empty").write_text("")
    (files / "bad.qwc").write_text(qwc(AppURL="http://127.0.0.1/qbwc"))
    (files / "manual.qwc").write_text(qwc(Scheduler=None))

    assert run(files, *arguments) == 2
    assert capsys.readouterr().err.startswith("simulator: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--every", "0"],
        ["--every", "x"],
        ["--sessions", "0"],
        ["--fault", "nonsense"],
        ["--expect", "[]"],
        ["--preference", "classes"],
        [],
    ],
)
def test_wrong_arguments_exit_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert "usage: qbxml-simulator" in capsys.readouterr().err


def test_the_password_can_be_in_the_environment(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS])
    monkeypatch.setenv("QBWC_PASSWORD", "from the environment")

    main(["--qwc", str(files / "sample.qwc"), "--once", "--customers", "5"], transport=service)

    assert service.parts("authenticate")[0]["strPassword"] == "from the environment"


@pytest.mark.parametrize(
    ("folder", "libraries"), [("", {"botocore", "defusedxml", "pytest", "urllib3"}), ("tests", TEST_LIBRARIES)]
)
def test_the_simulator_and_its_tests_import_nothing_of_the_service(folder: str, libraries: set[str]) -> None:
    """They import the standard library, their libraries and the simulator. Only the function in AWS uses botocore."""
    imported = set()
    for path in (FOLDER / folder).rglob("*.py"):
        if not folder and FOLDER / "tests" in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])

    assert "simulator" in imported
    assert imported <= {*sys.stdlib_module_names, "simulator", *libraries}


def test_a_person_edits_the_books_while_sessions_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class SlowService(ScriptedService):
        def post(self, url: str, headers: Any, body: bytes) -> tuple[int, bytes]:
            time.sleep(0.05)
            return super().post(url, headers, body)

    assert run(files, "--once", "--person", "0.01", "--customers", "5", service=SlowService()) == 0

    assert "A person: " in capsys.readouterr().out


def test_behaviours_and_the_time_zone_are_set_on_the_command_line(files: Path) -> None:
    path = files / "company.json"
    behaviours = ("payment_touches_paid=on", "merge_lists_source=off", "standard_offset_in_summer=on")
    options = [option for behaviour in behaviours for option in ("--behaviour", behaviour)]

    run(files, "--once", "--company", str(path), "--customers", "5", "--time-zone", "America/New_York", *options)

    company = simulator.Company.load(path)
    assert [f"{name}={company.behaviours[name]}" for name in (one.partition("=")[0] for one in behaviours)] == [
        *behaviours
    ]
    assert company.clock.text(1_790_000_000).endswith("T10:13:20-05:00")
