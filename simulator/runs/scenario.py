"""The content of a script: its faults, and the expectations at its end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from simulator.faults.forms import Fault, refuse_unknown
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulator.company import Company, Execution
    from simulator.faults.plan import FaultPlan

_EXPECTATIONS = ("executed", "repeated_writes", "executed_in_wrong_file", "faults_happened")


@dataclass(frozen=True, slots=True)
class Expectations:
    """The state that a run must end with.

    `executed`: how many times QuickBooks executed each request without an error. Requests without an entry do
    not matter. `repeated_writes`: how many writes were executed again after they had succeeded.
    `executed_in_wrong_file`: how many requests of the service the company of the fault wrong-file executed.
    `faults_happened`: "all", or the names of the steps that must have happened.
    """

    executed: Mapping[str, int] = field(default_factory=dict)
    repeated_writes: int | None = None
    executed_in_wrong_file: int | None = None
    faults_happened: Literal["all"] | tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Expectations:
        """Read the JSON of `expect`. Raises `ValueError`."""
        return cls.of(read_json(text))

    @classmethod
    def of(cls, document: Any, names: Iterable[str] | None = None) -> Expectations:
        """Check the value of `expect` and return it. `names` are the names of the steps. Raises `ValueError`."""
        if not isinstance(document, dict):
            raise ValueError(f'expect is an object like {{"executed": {{"CustomerAddRq": 1}}}}, not {document!r}')  # noqa: TRY004 - every mistake in a script is one kind of error
        refuse_unknown("expect", document, _EXPECTATIONS)
        executed = document.get("executed", {})
        if not isinstance(executed, dict) or not all(is_count(number) for number in executed.values()):
            raise ValueError(f'executed is an object like {{"CustomerAddRq": 1}}, not {executed!r}')
        refuse_unknown("qbXML", executed, schema().requests)
        for key in ("repeated_writes", "executed_in_wrong_file"):
            if key in document and not is_count(document[key]):
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
        """Return a sentence for each expectation that failed. `elsewhere` are the executions in another company."""
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
class Scenario:
    """A script. `machines` Web Connectors have the same `.qwc` file, and each runs `sessions` sessions."""

    faults: tuple[Fault, ...] = ()
    expect: Expectations = field(default_factory=Expectations)
    machines: int = 1
    sessions: int | None = None
    about: str = ""


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


def read_json(text: str) -> Any:
    """Read JSON. Raises `ValueError` with the position of a mistake."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error


def is_count(value: object) -> bool:
    """Return whether a value of a script is a whole number from 0."""
    return type(value) is int and value >= 0


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")
