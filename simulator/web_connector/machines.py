"""The Windows machines that Web Connectors run on: several with the same `.qwc` file take turns, call by call.

Each machine has a thread, and only one runs at a time, so two machines at once give the same result every time.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Machine:
    """One machine. The key `machine` of a fault names its `number`. `calls`, if present, records a session's calls.

    Without `turns` it waits for no other machine.
    """

    def __init__(self, number: int = 1, turns: Turns | None = None, calls: list[str] | None = None) -> None:
        self.number = number
        self.calls = calls
        self._turns = turns

    def begin_call(self) -> None:
        """Wait until it is this machine's turn."""
        if self._turns is not None:
            self._turns.take(self.number)

    def note(self, call: str) -> None:
        """Record a call."""
        if self.calls is not None:
            self.calls.append(call)

    def nap(self, is_over: Callable[[], bool]) -> None:
        """Sleep while other machines make calls, until `is_over()` or no other machine is awake."""
        if self._turns is not None:
            self._turns.sleep(self.number, is_over)


class Turns:
    """The turns of the machines that are in a session and awake, in the order of their numbers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._awake: list[int] = []
        self._asleep: dict[int, Callable[[], bool]] = {}
        self._turn = 0

    def begin(self, machines: Iterable[int]) -> None:
        """Begin the sessions of these machines. The first one has the first turn."""
        with self._changed:
            self._awake = sorted(machines)
            self._turn = self._awake[0]

    def wait(self, machine: int) -> None:
        """Wait for the turn of a machine."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn == machine)

    def take(self, machine: int) -> None:
        """Pass the turn on and wait for the next one."""
        with self._changed:
            self._pass_on(machine)
        self.wait(machine)

    def sleep(self, machine: int, is_over: Callable[[], bool]) -> None:
        """Let the other machines take turns without this one until `is_over()` or all of them have finished."""
        with self._changed:
            self._asleep[machine] = is_over
            self._remove(machine)
        self.wait(machine)

    def end(self, machine: int) -> None:
        """Remove a machine when its session is over."""
        with self._changed:
            self._remove(machine)

    def _remove(self, machine: int) -> None:
        self._awake.remove(machine)
        self._pass_on(machine)

    def _pass_on(self, machine: int) -> None:
        """Wake the machines whose sleep is over, then pass the turn to the next one that is awake."""
        woken = [number for number, is_over in self._asleep.items() if is_over()]
        if not self._awake and not woken:
            woken = list(self._asleep)
        for number in woken:
            del self._asleep[number]
        self._awake = sorted([*self._awake, *woken])
        later = [number for number in self._awake if number > machine]
        self._turn = next(iter(later + self._awake), 0)
        self._changed.notify_all()
