"""A run of a script: its machines, their company, the plan of faults, and the report."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.faults.plan import FaultPlan
from simulator.requests.events import OWN_QUESTIONS
from simulator.runs.scheduler import Simulator, StopEvent, keep_running
from simulator.web_connector.machines import Machine, Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.company import Company, Execution
    from simulator.runs.scenario import Scenario
    from simulator.web_connector.connector import SessionResult
    from simulator.web_connector.transport import Transport

_IDLE_CALLS = {"serverVersion", "clientVersion", "authenticate", "closeConnection"}


class ScriptRun:
    """The simulators of a script, one for each machine. Their sessions run at the same time. Their calls take turns.

    The options are those of `Simulator`. `on_session` is called after every session. With several machines the texts of
    progress, log and status begin with the number of the machine. Use `simulators` to run them in another order.
    """

    def __init__(
        self,
        script: Scenario,
        qwc_text: str,
        password: str,
        company: Company,
        *,
        transport: Transport | None = None,
        sleep: Callable[[float], object] = time.sleep,
        on_progress: Callable[[int, str], None] = lambda _percent, _text: None,
        on_call: Callable[[str, str], None] | None = None,
        on_session: Callable[[SessionResult], None] = lambda _result: None,
        interactive: Callable[[str], bool] = lambda _url: False,
        on_warning: Callable[[str], bool] = lambda _text: True,
    ) -> None:
        self.script = script
        self.company = company
        self.plan = FaultPlan(script.faults, sleep=sleep)
        self.sessions: list[dict[str, Any]] = []
        self.idle_sessions = 0
        self._on_session = on_session
        self._turns = Turns()
        numbers = range(1, script.machines + 1)
        turns = self._turns if script.machines > 1 else None
        self.machines = [Machine(number, turns, []) for number in numbers]
        self.simulators = [
            Simulator(
                qwc_text,
                password,
                company,
                transport=transport,
                sleep=sleep,
                on_progress=_numbered(on_progress, machine, script),
                on_call=None if on_call is None else _numbered(on_call, machine, script),
                interactive=interactive,
                on_warning=on_warning,
                faults=self.plan,
                machine=machine,
            )
            for machine in self.machines
        ]

    def run_once(self) -> list[SessionResult]:
        """Run a session on each machine. Return the results in the order of the machines."""
        results: dict[int, SessionResult] = {}
        if len(self.simulators) == 1:
            results[1] = self.simulators[0].run_once()
        else:
            self._run_in_turn(results)
        for machine in self.machines:
            result = results[machine.number]
            self._write_down(machine, result)
            self._on_session(replace(result, status=_numbered_text(result.status, machine, self.script)))
        return [results[machine.number] for machine in self.machines]

    def run(self, stop_event: StopEvent, every_seconds: float | None = None, *, auto_run: bool = True) -> None:
        """Run sessions until `stop_event` is set, as `Simulator.run` does."""
        keep_running(self.simulators, self.run_once, stop_event, every_seconds, auto_run=auto_run)

    def problems(self) -> list[str]:
        """Return a sentence for each expectation of the script that failed."""
        return self.script.expect.problems(self.company, self.executed_elsewhere, self.plan)

    @property
    def executed_elsewhere(self) -> list[Execution]:
        """The requests of the service that another company executed (wrong-file)."""
        others = [simulator.books.elsewhere for simulator in self.simulators]
        return [
            execution
            for other in others
            if other is not None
            for execution in other.executed
            if (execution.name, execution.request_id) not in OWN_QUESTIONS
        ]

    def report(self) -> dict[str, Any]:
        """Return the run as JSON: sessions with their calls, executed requests, faults and problems."""
        executed = self.company.executed
        return {
            "about": self.script.about,
            "sessions": self.sessions,
            "idle_sessions": self.idle_sessions,
            "executed": dict(Counter(execution.name for execution in executed if execution.succeeded)),
            "refused": dict(Counter(execution.name for execution in executed if not execution.succeeded)),
            "writes": [
                {
                    "name": execution.name,
                    "request_id": execution.request_id,
                    "message_set_id": execution.message_set_id,
                    "status_code": execution.status_code,
                }
                for execution in self.company.writes
            ],
            "executed_in_wrong_file": [execution.name for execution in self.executed_elsewhere],
            "faults_happened": [str(fault) for fault in self.plan.happened],
            "faults_that_never_happened": [str(fault) for fault in self.plan.never_happened],
            "still_late": self.plan.still_late,
            "simplifications": dict(self.company.simplifications),
            "problems": self.problems(),
        }

    def write_report(self, path: str | Path) -> None:
        """Write the report to a file."""
        text = json.dumps(self.report(), indent=2, ensure_ascii=False)
        Path(path).write_text(f"{text}\n", encoding="utf-8")

    def _run_in_turn(self, results: dict[int, SessionResult]) -> None:
        self._turns.begin(machine.number for machine in self.machines)
        failures: list[BaseException] = []

        def session(simulator: Simulator, machine: Machine) -> None:
            self._turns.wait(machine.number)
            try:
                results[machine.number] = simulator.run_once()
            except BaseException as error:  # noqa: BLE001 - raised again below, in the thread of the caller
                failures.append(error)
            finally:
                self._turns.end(machine.number)

        threads = [
            threading.Thread(target=session, args=pair, daemon=True)
            for pair in zip(self.simulators, self.machines, strict=True)
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def _write_down(self, machine: Machine, result: SessionResult) -> None:
        calls, machine.calls = machine.calls or [], []
        if result.error is None and not result.stopped and all(call in _IDLE_CALLS for call in calls):
            self.idle_sessions += 1
            return
        self.sessions.append({
            "machine": machine.number,
            "status": result.status,
            "error": result.error,
            "stopped": result.stopped,
            "requests": result.requests,
            "calls": calls,
        })  # fmt: skip


def _numbered(tell: Callable[[Any, str], None], machine: Machine, script: Scenario) -> Callable[[Any, str], None]:
    return lambda what, text: tell(what, _numbered_text(text, machine, script))


def _numbered_text(text: str, machine: Machine, script: Scenario) -> str:
    """Put the machine's number before a text if there are several machines."""
    return text if script.machines == 1 else f"[machine {machine.number}] {text}"
