"""Follow a page: run its commands in their order, and compare what they print with what the page shows."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.documents.pages import Command, contains, prints
from tests.documents.shell import Ended, Hanging, Shell, Terminal, wait_until
from tests.documents.table import CheckedBy, Fails, Instead, NeedsAws, Reader, UntilStopped, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.documents.pages import Group
    from tests.documents.place import Place
    from tests.documents.table import Row

COMMAND_SECONDS = 240
"""How long a command may take. The longest ones install packages."""

FAILURE_SECONDS = 60
"""Within this time a command has to say that it cannot work here, also on a machine that does much else."""

READY_SECONDS = 120
SLOW_SECONDS = 5
SHOWN_LINES = 25


@dataclass(frozen=True, slots=True)
class Problem:
    """A command that does not do what its page says."""

    command: Command
    message: str
    output: str

    def __str__(self) -> str:
        """Return the place, the problem, and the end of the output."""
        lines = [f"  | {line}" for line in self.output.strip("\n").splitlines()[-SHOWN_LINES:]]
        return "\n".join([str(self.command), f"  {self.message}", *lines])


@dataclass(slots=True)
class Report:
    """What was found on a page: the number of commands, the slow ones, what was left out and why, the problems."""

    ran: int = 0
    slow: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def started_twice(groups: Sequence[Group], rows: Sequence[Row], reader: Reader) -> Iterator[tuple[Command, str]]:
    """Yield each command that starts a program while one of its kind runs and the page does not say to stop it."""
    running = set[str]()
    for text in reader.before:
        row = row_of(rows, Command(groups[0].block.page, 0, text))
        running |= {row.kind} if isinstance(row, UntilStopped) else set()
    for group in groups:
        started = [(command, row_of(rows, command)) for command in group.commands]
        for command, row in started:
            if isinstance(row, UntilStopped):
                if row.kind in running and not group.asks_to_stop(row.kind):
                    yield command, row.kind
                running.add(row.kind)
        running -= {row.kind for _, row in started if isinstance(row, UntilStopped) and row.ends_with_block}


class Follower:
    """A reader of one page, with a terminal and the programs that they started in others."""

    def __init__(
        self, place: Place, reader: Reader | None, rows: Sequence[Row], *, seconds: float = COMMAND_SECONDS
    ) -> None:
        self.report = Report()
        self._place = place
        self._reader = reader or Reader("*", "")
        self._rows = rows
        self._seconds = seconds
        self._started: dict[str, tuple[Shell, Terminal]] = {}

    def follow(self, groups: Sequence[Group]) -> Report:
        """Run all commands. A command that hangs or ends the shell ends the page."""
        with ExitStack() as terminals:
            shell = self._terminal(terminals)
            for text in self._reader.before:
                self._run(shell, Command(groups[0].block.page, 0, text))
            for command, kind in started_twice(groups, self._rows, self._reader):
                self._problem(command, f"{kind} is still running. Say so in this block: # Stop {kind} …", "")
            for group in groups:
                own = self._terminal(terminals) if group.has_own_terminal else shell
                try:
                    self._follow_group(own, group)
                except (Hanging, Ended):
                    break
            for kind in list(self._started):
                self._stop(kind, groups[-1].commands[-1])
        return self.report

    def _terminal(self, terminals: ExitStack) -> Shell:
        folder = self._place.own_folder if self._reader.in_own_folder else self._place.clone
        return terminals.enter_context(Shell(folder, self._place.environment, self._place.scratch))

    def _follow_group(self, shell: Shell, group: Group) -> None:
        outputs, kinds = list[str](), list[str]()
        for number, command in enumerate(group.commands):
            is_last = number + 1 == len(group.commands)
            shown = command.output or (group.output if is_last and len(group.commands) == 1 else None)
            row = row_of(self._rows, command)
            if isinstance(row, UntilStopped) and row.ends_with_block:
                kinds.append(row.kind)
            outputs.append(self._run(shell, replace(command, output=shown)))
        if group.output is not None and len(group.commands) > 1:
            shown = self._with_replacements(group.output)
            if not any(prints("".join(outputs[first:]), shown) for first in range(len(outputs))):
                self._problem(
                    group.commands[-1], f"the last commands of the block do not print\n{shown}", "".join(outputs)
                )
        if group.terminal_output is not None:
            self._compare_terminals(group)
        for kind in kinds:
            self._stop(kind, group.commands[-1])

    def _run(self, shell: Shell, command: Command) -> str:
        """Run a command as its row says. Return its output."""
        row = row_of(self._rows, command)
        text = self._with_replacements(row.command if isinstance(row, Instead) else command.text)
        if isinstance(row, CheckedBy):
            self.report.left_out.append(f"{command}: {row.test} checks it, because it {row.reason}")
            return ""
        missing = [tool for tool in (row.tools if row else ()) if not self._place.has(tool)]
        if missing:
            self.report.left_out.append(f"{command}: {' and '.join(missing)} is not installed")
            return ""
        self.report.ran += 1
        begin = time.monotonic()
        try:
            return self._do(shell, command, text, row)
        finally:
            seconds = time.monotonic() - begin
            if seconds > SLOW_SECONDS:
                self.report.slow.append(f"{seconds:5.1f} s  {command}")

    def _do(self, shell: Shell, command: Command, text: str, row: Row | None) -> str:
        """Run a command, and compare what happens with what its row and its page say. Return its output."""
        if isinstance(row, UntilStopped):
            return self._start(shell, command, text, row)
        is_to_fail = isinstance(row, (NeedsAws, Fails))
        seconds = min(FAILURE_SECONDS, self._seconds) if is_to_fail else self._seconds
        try:
            result = shell.run(text, seconds)
        except Hanging as hanging:
            self._problem(command, f"did not end within {seconds:g} s. The rest of the page was not run.", str(hanging))
            raise
        except Ended as ended:
            self._problem(command, "ended the shell. The rest of the page was not run.", str(ended))
            raise
        if isinstance(row, (NeedsAws, Fails)):
            if result.status == 0 or not re.search(row.message, result.output):
                self._problem(command, f"must fail, because it {row.reason}, and say {row.message!r}", result.output)
        elif result.status != 0:
            self._problem(command, f"exit status {result.status}", result.output)
        elif command.output is not None and not prints(result.output, self._with_replacements(command.output)):
            self._problem(command, f"does not print what the page shows:\n{command.output}", result.output)
        return result.output

    def _start(self, shell: Shell, command: Command, text: str, row: UntilStopped) -> str:
        """Start a program, and wait until it is ready. Return what it has printed until then."""
        kind = row.kind
        self._stop(kind, command)
        # Without its &: bash 5.3 lets a program that a script starts with & ignore Ctrl-C.
        terminal = shell.start(re.sub(r" &( *#.*)?$", "", text))
        self._started[kind] = shell, terminal
        shown = command.output and self._with_replacements(command.output)
        if row.ready:
            ready = shell.run(row.ready, self._seconds)
            is_ready, output = ready.status == 0, ready.output
        else:

            def has_printed() -> bool:
                return contains(terminal.output, shown) if shown else re.search(row.prints, terminal.output) is not None

            wait_until(lambda: has_printed() or not terminal.is_running, min(READY_SECONDS, self._seconds))
            is_ready, output = has_printed() and terminal.is_running, ""
        if not is_ready:
            expected = f", or does not print what the page shows:\n{shown}" if shown else ""
            self._problem(command, f"does not start{expected}", output + terminal.output)
        return terminal.output

    def _stop(self, kind: str, command: Command) -> None:
        if kind not in self._started:
            return
        shell, terminal = self._started.pop(kind)
        output = terminal.output
        if not shell.stop(terminal):
            self._problem(command, f"{kind} does not end after Ctrl-C", output)

    def _compare_terminals(self, group: Group) -> None:
        assert group.terminal_output is not None
        terminals = [terminal for _, terminal in self._started.values()]
        shown = group.terminal_output

        def is_shown() -> bool:
            return any(contains(terminal.output, shown) for terminal in terminals)

        if not wait_until(is_shown, min(FAILURE_SECONDS, self._seconds)):
            output = "".join(terminal.output for terminal in terminals)
            self._problem(group.commands[-1], f"no other terminal prints\n{shown}", output)

    def _with_replacements(self, text: str) -> str:
        for old, new in self._reader.replace:
            text = text.replace(old, new)
        for port, other in self._place.ports.items():
            text = re.sub(rf"(?<![\w.-]){port}\b", str(other), text)
        return text

    def _problem(self, command: Command, message: str, output: str) -> None:
        self.report.problems.append(Problem(command, message.replace("\n", "\n  > "), output))
