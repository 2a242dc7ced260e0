"""A script: the faults of a run and the expectations at its end, as JSON.

    {
      "about": "The response to the second write is lost",
      "machines": 1,
      "sessions": 3,
      "steps": [{"on": "receiveResponseXML", "call": 2, "do": "lose-response"}],
      "expect": {"executed": {"CustomerAddRq": 3}, "repeated_writes": 0, "faults_happened": "all"}
    }

Steps are the faults of `simulator.faults.forms`. An unknown name is refused with the number of its step and the nearest
known name, never skipped.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from simulator.faults.forms import EVENT_KEYS, Fault, refuse_unknown
from simulator.faults.script_run import ScriptRun
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulator.company import Company, Execution
    from simulator.faults.plan import FaultPlan

MAX_MACHINES = 9

_KEYS = ("about", "machines", "sessions", "steps", "expect")
_EXPECTATIONS = ("executed", "repeated_writes", "executed_in_wrong_file", "faults_happened")


@dataclass(frozen=True, slots=True)
class Expectations:
    """The state that a run must end with.

    `executed`: how many times QuickBooks executed each request without an error; requests without an entry do not
    matter. `repeated_writes`: how many writes were executed again after they had succeeded. `executed_in_wrong_file`:
    how many requests of the service the company of the fault wrong-file executed. `faults_happened`: "all", or the
    names of the steps that must have happened.
    """

    executed: Mapping[str, int] = field(default_factory=dict)
    repeated_writes: int | None = None
    executed_in_wrong_file: int | None = None
    faults_happened: Literal["all"] | tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Expectations:
        """Read the JSON of `expect`. Raises `ValueError`."""
        return cls.of(_json(text))

    @classmethod
    def of(cls, document: Any, names: Iterable[str] | None = None) -> Expectations:
        """Check the value of `expect` and return it; `names` are the names of the steps. Raises `ValueError`."""
        if not isinstance(document, dict):
            raise ValueError(f'expect is an object like {{"executed": {{"CustomerAddRq": 1}}}}, not {document!r}')  # noqa: TRY004 - every mistake in a script is one kind of error
        refuse_unknown("expect", document, _EXPECTATIONS)
        executed = document.get("executed", {})
        if not isinstance(executed, dict) or not all(_is_count(number) for number in executed.values()):
            raise ValueError(f'executed is an object like {{"CustomerAddRq": 1}}, not {executed!r}')
        refuse_unknown("qbXML", executed, schema().requests)
        for key in ("repeated_writes", "executed_in_wrong_file"):
            if key in document and not _is_count(document[key]):
                raise ValueError(f"{key} is a number from 0, not {document[key]!r}")
        faults_happened = document.get("faults_happened", [])
        if faults_happened != "all":
            if not isinstance(faults_happened, list) or not all(isinstance(name, str) for name in faults_happened):
                raise ValueError(f'faults_happened is "all" or a list of names of steps, not {faults_happened!r}')
            if names is not None:
                refuse_unknown("the script", faults_happened, tuple(names))
        return cls(
            executed,
            document.get("repeated_writes"),
            document.get("executed_in_wrong_file"),
            "all" if faults_happened == "all" else tuple(faults_happened),
        )

    def problems(self, company: Company, elsewhere: Sequence[Execution], plan: FaultPlan) -> list[str]:
        """Return a sentence for each expectation that failed; `elsewhere` are the executions in another company."""
        failures = []
        counts = Counter(execution.name for execution in company.executed if execution.succeeded)
        for name, count in self.executed.items():
            if counts[name] != count:
                failures.append(f"{name} was to be executed {_times(count)}, and was {_times(counts[name])}")
        repeated = repeated_writes(company.executed)
        if self.repeated_writes is not None and len(repeated) != self.repeated_writes:
            labels = ", ".join(f"{again.name} {again.request_id or ''}".strip() for again in repeated)
            failures.append(f"{len(repeated)} writes were repeated, not {self.repeated_writes}: {labels or 'none'}")
        if self.executed_in_wrong_file is not None and len(elsewhere) != self.executed_in_wrong_file:
            failures.append(
                f"{len(elsewhere)} requests were executed in another company file, not {self.executed_in_wrong_file}"
            )
        missing = (
            plan.never_happened
            if self.faults_happened == "all"
            else [fault for fault in plan.never_happened if fault.name in self.faults_happened]
        )
        return failures + [f"the fault {fault} never happened" for fault in missing]


@dataclass(frozen=True, slots=True)
class Script:
    """A script. `machines` Web Connectors have the same `.qwc` file, and each runs `sessions` sessions."""

    faults: tuple[Fault, ...] = ()
    expect: Expectations = field(default_factory=Expectations)
    machines: int = 1
    sessions: int | None = None
    about: str = ""

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """Read a script file. Raises `OSError`, and `ValueError` with the file, the step and the reason."""
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> Script:
        """Read a script's JSON. Raises `ValueError`."""
        return cls.of(_json(text))

    @classmethod
    def of(cls, document: Any) -> Script:
        """Check a script and return it: an object, or only the list of its steps. Raises `ValueError`."""
        if isinstance(document, list):
            document = {"steps": document}
        if not isinstance(document, dict):
            raise ValueError(f"a script is an object or a list of steps, not {document!r}")  # noqa: TRY004 - as above
        refuse_unknown("a script", document, _KEYS)
        steps = document.get("steps", [])
        if not isinstance(steps, list):
            raise ValueError(f"steps is a list, not {steps!r}")  # noqa: TRY004 - as above
        faults = _faults(steps)
        names = [fault.name for fault in faults if fault.name]
        machines, sessions = document.get("machines", 1), document.get("sessions")
        if not _is_count(machines) or not 1 <= machines <= MAX_MACHINES:
            raise ValueError(f"machines is a number from 1 to {MAX_MACHINES}, not {machines!r}")
        if sessions is not None and not (_is_count(sessions) and sessions):
            raise ValueError(f"sessions is a number from 1, not {sessions!r}")
        for number, fault in enumerate(faults, 1):
            highest = max(fault.machine or 1, (fault.until.machine if fault.until else None) or 1)
            if highest > machines:
                raise ValueError(f"step {number}: there is no machine {highest}; the script has machines: {machines}")
        about = document.get("about", "")
        if not isinstance(about, str):
            raise ValueError(f"about is a text, not {about!r}")  # noqa: TRY004 - as above
        return cls(faults, Expectations.of(document.get("expect", {}), names), machines, sessions, about)

    def start(self, qwc_text: str, password: str, company: Company, **options: Any) -> ScriptRun:
        """Return a run of this script; `options` are those of `ScriptRun`.

        Raises `QbwcError` for a `.qwc` that the Web Connector would refuse.
        """
        return ScriptRun(self, qwc_text, password, company, **options)


def repeated_writes(executed: Iterable[Execution]) -> list[Execution]:
    """Return the executions of writes that had succeeded before with the same content and requestID."""
    successes: set[tuple[str, str]] = set()
    again = []
    for execution in executed:
        if not execution.is_write:
            continue
        key = execution.application, execution.fingerprint
        if key in successes:
            again.append(execution)
        if execution.succeeded:
            successes.add(key)
    return again


def _faults(steps: list[Any]) -> tuple[Fault, ...]:
    """Read the steps; an `until` that is a name means the event of the step with that name."""
    steps_with_names = [step for step in steps if isinstance(step, dict) and isinstance(step.get("name"), str)]
    twice = [name for name, number in Counter(step["name"] for step in steps_with_names).items() if number > 1]
    if twice:
        raise ValueError(f"two steps have the name {twice[0]!r}")
    events = {step["name"]: {key: step[key] for key in EVENT_KEYS if key in step} for step in steps_with_names}
    faults = []
    for number, step in enumerate(steps, 1):
        try:
            if isinstance(step, dict) and isinstance(step.get("until"), str):
                refuse_unknown("the script", [step["until"]], events)
                faults.append(Fault.of({**step, "until": events[step["until"]]}))
            else:
                faults.append(Fault.of(step))
        except ValueError as error:
            raise ValueError(f"step {number}: {error}") from error
    return tuple(faults)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")
