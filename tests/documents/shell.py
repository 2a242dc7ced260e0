"""A reader's terminal: commands in one shell, one after the other, and programs that run until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tests.support.processes import group_has_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

STOP_SECONDS = 30
"""How long a program may take to end after Ctrl-C."""

PRESSES = 3

LOOK_SECONDS = 0.1

# A program that a script started with `&` ignores Ctrl-C, as does all that it starts. A reader's shell does not.
START_BASH = """\
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execlp("bash", "bash", "--noprofile", "--norc")
"""


class Hanging(Exception):
    """A command did not end in its time. The message is its output until then. The shell is gone."""


class Ended(Exception):
    """A command has ended the shell, as `exit` does. The message is its output."""


@dataclass(frozen=True, slots=True)
class Result:
    """The exit status of a command and all that it printed."""

    status: int
    output: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """A program in a terminal of its own, by its process group, and the file with its output."""

    group: int
    file: Path

    @property
    def output(self) -> str:
        """Return what it has printed until now."""
        return self.file.read_text(encoding="utf-8", errors="replace")

    @property
    def is_running(self) -> bool:
        """Return whether a process of the group is left."""
        return not group_has_ended(self.group)


class Shell:
    """One bash, which keeps variables and the folder between commands. Ends everything that it started."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], scratch: Path, *, stop_seconds: float = STOP_SECONDS
    ) -> None:
        self._stop_seconds = stop_seconds
        self._scratch = scratch
        self._count = 0
        self._terminals: list[Terminal] = []
        self._answers, answers = os.pipe()
        self._says = f">&{answers}"
        self._process = subprocess.Popen(  # noqa: S603 - our own arguments
            [sys.executable, "-c", START_BASH],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            pass_fds=[answers],
            start_new_session=True,
        )
        os.close(answers)
        self._buffer = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for terminal in self._terminals:
            self.stop(terminal)
        self._kill()
        os.close(self._answers)

    def run(self, text: str, seconds: float) -> Result:
        """Run a command and wait until it ends. Raises Hanging or Ended."""
        script, output = self._files(text)
        try:
            self._write(f". {_word(script)} </dev/null >{_word(output)} 2>&1; echo $? {self._says}")
            status = int(self._answer(seconds))
        except TimeoutError:
            self._kill()
            raise Hanging(_text(output)) from None
        except (EOFError, BrokenPipeError):
            raise Ended(_text(output)) from None
        return Result(status, _text(output))

    def start(self, text: str) -> Terminal:
        """Run a command in the background, as in another terminal with the same variables and the same folder."""
        script, output = self._files(text)
        output.touch()
        self._write(f"set -m; ( . {_word(script)} ) </dev/null >{_word(output)} 2>&1 & echo $! {self._says}; set +m")
        terminal = Terminal(int(self._answer(STOP_SECONDS)), output)
        self._terminals.append(terminal)
        return terminal

    def stop(self, terminal: Terminal) -> bool:
        """Press Ctrl-C. Return whether this ended the program; end it in any case.

        A program that is just being started by the shell can miss it, so press again, as a person would.
        """
        for _ in range(PRESSES):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(terminal.group, signal.SIGINT)
            if wait_until(lambda: not terminal.is_running, self._stop_seconds / PRESSES):
                return True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(terminal.group, signal.SIGKILL)
        return False

    def _files(self, text: str) -> tuple[Path, Path]:
        self._count += 1
        script = self._scratch / f"{self._process.pid}-{self._count}.sh"
        script.write_text(f"{text}\n", encoding="utf-8")
        return script, script.with_suffix(".out")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _answer(self, seconds: float) -> str:
        """Return the next line that the shell says. Raises TimeoutError, and EOFError if the shell has ended."""
        end = time.monotonic() + seconds
        while "\n" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            # The programs that it started may keep the pipe open, so its end alone does not show that the shell ended.
            if select.select([self._answers], [], [], min(left, LOOK_SECONDS))[0]:
                read = os.read(self._answers, 1024).decode()
                if not read:
                    raise EOFError
                self._buffer += read
            elif self._process.poll() is not None:
                raise EOFError
        line, _, self._buffer = self._buffer.partition("\n")
        return line

    def _kill(self) -> None:
        """End the shell and what it runs, politely first."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        self._process.wait()


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Look again and again. Return whether it became true in time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _word(path: Path) -> str:
    return shlex.quote(str(path))
