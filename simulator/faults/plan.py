"""The plan of a run's faults: counts the events of all machines and finds the fault that is due.

The line (`simulator.faults.line`) and QuickBooks (`simulator.faults.company`) ask the plan at each event. Late copies
of calls and late executions wait here for their event.

A fault waits for an event, never for a time, and machines take turns: only one runs at once. So a script does the same
in every run, and its expectations are exact. The connector and the company contain no faults; they are wrapped, and a
new fault changes neither.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.basics.errors import SimulatorError
from simulator.faults.forms import LATE, Event, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence


@dataclass(slots=True)
class _Count:
    """The number of times that an event has happened."""

    event: Event
    passed: int = 0

    @property
    def reached(self) -> bool:
        return self.passed >= (self.event.nth or 1)


class FaultPlan:
    """The faults of a run. `happened` lists them in order, once for each time that they happened.

    Safe for several threads. `sleep` waits for slow calls and sleeping machines.
    """

    def __init__(self, faults: Iterable[Fault] = (), *, sleep: Callable[[float], object] = time.sleep) -> None:
        self.faults = tuple(faults)
        self.happened: list[Fault] = []
        self.sleep = sleep
        self._lock = threading.Lock()
        self._begins = [_Count(fault.event) for fault in self.faults]
        self._ends = [_Count(fault.until) if fault.until else None for fault in self.faults]
        self._late: list[tuple[_Count, Callable[[], object]]] = []

    @property
    def never_happened(self) -> list[Fault]:
        """The faults that have not happened."""
        return [fault for fault in self.faults if fault not in self.happened]

    def progress(self) -> dict[str, list[int]]:
        """Return how far the plan is, as JSON for `resume`. Actions that are late are not in it."""
        with self._lock:
            return {
                "begins": [count.passed for count in self._begins],
                "ends": [count.passed if count else 0 for count in self._ends],
                "happened": [self.faults.index(fault) for fault in self.happened],
            }

    def resume(self, progress: Mapping[str, Sequence[int]]) -> None:
        """Continue a plan of the same faults, in another process, from its `progress`."""
        with self._lock:
            for count, passed in zip(self._begins, progress["begins"], strict=True):
                count.passed = passed
            for end, passed in zip(self._ends, progress["ends"], strict=True):
                if end:
                    end.passed = passed
            self.happened = [self.faults[index] for index in progress["happened"]]

    @property
    def still_late(self) -> int:
        """The number of copies and executions that still wait for their event."""
        return len(self._late)

    def due(self, place: str, *, machine: int = 1, kinds: Collection[str] = ()) -> Fault | None:
        """Count an event at `place` before it happens, and return the first fault that is due.

        `kinds` are the kinds of requests in a ProcessRequest. The caller reports with `came_true` that the fault
        happened.
        """
        with self._lock:
            fault_due = None
            for fault, begin, end in zip(self.faults, self._begins, self._ends, strict=True):
                if not begin.event.counts(place, machine, kinds):
                    continue
                begin.passed += 1
                if fault_due is None and _is_due(fault, begin, end):
                    fault_due = fault
            return fault_due

    def came_true(self, fault: Fault) -> None:
        """Record that a fault happened."""
        self.happened.append(fault)

    def passed(self, place: str, *, machine: int = 1, kinds: Collection[str] = ()) -> None:
        """Count an event after it happened, and run the actions that waited for it."""
        with self._lock:
            for count in [end for end in self._ends if end] + [count for count, _ in self._late]:
                count.passed += count.event.counts(place, machine, kinds)
            ripe = [action for count, action in self._late if count.reached]
            self._late = [entry for entry in self._late if not entry[0].reached]
        for action in ripe:
            _do(action)

    def later(self, fault: Fault, next_event: Event, action: Callable[[], object]) -> None:
        """Run `action` after the fault's `until`, which counts from the start, or after the next `next_event`."""
        with self._lock:
            end = self._ends[self.faults.index(fault)]
            if end is None or not end.reached:
                self._late.append((_Count(next_event) if end is None else _Count(end.event, end.passed), action))
                return
        _do(action)

    def is_over(self, fault: Fault) -> bool:
        """Return whether the `until` of a fault has happened. A fault without `until` is never over."""
        with self._lock:
            end = self._ends[self.faults.index(fault)]
            return end is not None and end.reached

    def do_what_is_late(self) -> None:
        """Run all actions that still wait for their event."""
        with self._lock:
            late, self._late = self._late, []
        for _, action in late:
            _do(action)


def _is_due(fault: Fault, begin: _Count, end: _Count | None) -> bool:
    if fault.call is None or begin.passed < fault.call:
        return fault.call is None and (end is None or fault.action in LATE or not end.reached)
    if end is not None and fault.action not in LATE:
        return not end.reached
    return begin.passed < fault.call + fault.times


def _do(action: Callable[[], object]) -> None:
    """Run a late action. Its failure is ignored, because no caller waits for it."""
    with suppress(SimulatorError):
        action()
