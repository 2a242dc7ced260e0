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

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.faults.forms import EVENT_KEYS, Fault, refuse_unknown
from simulator.runs.scenario import Expectations, Scenario, is_count, read_json
from simulator.runs.script_run import ScriptRun

if TYPE_CHECKING:
    from simulator.company import Company

MAX_MACHINES = 9

SHIPPED = Path(__file__).parents[1] / "scripts"
"""The scripts of the simulator, which are found by their names."""

_KEYS = ("about", "machines", "sessions", "steps", "expect")


@dataclass(frozen=True, slots=True)
class Script(Scenario):
    """A scenario that is read from JSON."""

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """Read a script file, or the script of the simulator with this name (`lost-answer`).

        Raises `OSError`, and `ValueError` with the file, the step and the reason.
        """
        file = Path(path)
        shipped = SHIPPED / f"{file.name.removesuffix('.json')}.json"
        if not file.exists() and file.name == str(path):
            if not shipped.exists():
                names = ", ".join(sorted(script.stem for script in SHIPPED.glob("*.json")))
                raise ValueError(f"{path} is neither a file nor the name of a script. The scripts are: {names}")
            file = shipped
        try:
            return cls.parse(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> Script:
        """Read a script's JSON. Raises `ValueError`."""
        return cls.of(read_json(text))

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
        if not is_count(machines) or not 1 <= machines <= MAX_MACHINES:
            raise ValueError(f"machines is a number from 1 to {MAX_MACHINES}, not {machines!r}")
        if sessions is not None and not (is_count(sessions) and sessions):
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
        """Return a run of this script. `options` are those of `ScriptRun`.

        Raises `QbwcError` for a `.qwc` that the Web Connector would refuse.
        """
        return ScriptRun(self, qwc_text, password, company, **options)


def _faults(steps: list[Any]) -> tuple[Fault, ...]:
    """Read the steps. An `until` that is a name means the event of the step with that name."""
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
