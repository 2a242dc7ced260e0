"""The Windows machines that Web Connectors run on: several with the same `.qwc` file take turns, call by call.

Each machine has a thread, and only the one whose turn it is runs: two machines at once do the same every time.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Machine:
    """One machine. `number` is what `machine` of a fault names; `calls` notes the calls of a session, if it is there.

    Alone (without `turns`) it waits for nobody.
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
        """Write a call down."""
        if self.calls is not None:
            self.calls.append(call)

    def nap(self, is_over: Callable[[], bool]) -> None:
        """Sleep while others make their calls, until `is_over()` or nobody else is awake."""
        if self._turns is not None:
            self._turns.sleep(self.number, is_over)


class Turns:
    """Whose turn it is: the machines that are in a session and awake, one after the other, by number."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._awake: list[int] = []
        self._asleep: dict[int, Callable[[], bool]] = {}
        self._turn = 0

    def begin(self, machines: Iterable[int]) -> None:
        """Let the sessions of these machines begin; the first one's turn is first."""
        with self._changed:
            self._awake = sorted(machines)
            self._turn = self._awake[0]

    def wait(self, machine: int) -> None:
        """Wait for the turn of a machine."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn == machine)

    def take(self, machine: int) -> None:
        """Give the turn away and wait until it comes back."""
        with self._changed:
            self._pass_on(machine)
        self.wait(machine)

    def sleep(self, machine: int, is_over: Callable[[], bool]) -> None:
        """Let the others take their turns without this machine until `is_over()` or all others are done."""
        with self._changed:
            self._asleep[machine] = is_over
            self._remove(machine)
        self.wait(machine)

    def end(self, machine: int) -> None:
        """Take a machine out whose session is over."""
        with self._changed:
            self._remove(machine)

    def _remove(self, machine: int) -> None:
        self._awake.remove(machine)
        self._pass_on(machine)

    def _pass_on(self, machine: int) -> None:
        """Give the turn to the next machine that is awake, after waking those whose sleep is over."""
        woken = [number for number, is_over in self._asleep.items() if is_over()]
        if not self._awake and not woken:
            woken = list(self._asleep)
        for number in woken:
            del self._asleep[number]
        self._awake = sorted([*self._awake, *woken])
        later = [number for number in self._awake if number > machine]
        self._turn = next(iter(later + self._awake), 0)
        self._changed.notify_all()
