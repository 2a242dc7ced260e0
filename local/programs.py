"""Other programs that run here for a while: on loopback, and without credentials for a real AWS account."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
"""The root folder of the repository."""


STOP_SECONDS = 30
LOOKS_A_SECOND = 20


class WillNotStart(Exception):
    """A program is running but will never accept calls."""


@contextmanager
def running(
    name: str,
    command: Sequence[str | Path],
    is_up: Callable[[], bool],
    *,
    log: Path,
    seconds: int,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[None]:
    """Run a program while the block runs. Its output goes to `log`.

    Ctrl-C does not reach it; this function stops it. `is_up` may raise WillNotStart. Raises RuntimeError
    with the log when the program ends, or is not up after so many seconds.
    """
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603 - our own arguments
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    with ExitStack() as at_the_end:
        at_the_end.callback(_stop, process)
        if not _comes_up(process, is_up, seconds):
            raise RuntimeError(f"{name} did not start: {log.read_text(encoding='utf-8')}")
        yield


def end_with_sigterm() -> None:
    """Let SIGTERM end this program like Ctrl-C, together with the programs that it runs.

    By default, the signal ends Python at once, and those programs continue to run.
    """
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def until_stopped(signals: Iterable[int] = (signal.SIGINT, signal.SIGTERM)) -> Callable[[], None]:
    """Let these signals stop this program in order. Return a function that waits for one of them.

    The signal is a byte in a socket, so none is missed. An event that a handler sets can block for ever, because the
    handler may run while the main thread holds the event's lock.
    """
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.fileno())
    for number in signals:
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        with reading, writing:
            reading.recv(1)
            signal.set_wakeup_fd(-1)

    return wait


def _comes_up(process: subprocess.Popen[bytes], is_up: Callable[[], bool], seconds: int) -> bool:
    pause = threading.Event()
    for _ in range(seconds * LOOKS_A_SECOND):
        if process.poll() is not None:
            return False
        try:
            if is_up():
                return True
        except WillNotStart:
            return False
        pause.wait(1 / LOOKS_A_SECOND)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_ports(count: int) -> list[int]:
    """Return ports of loopback on which nothing listens."""
    with ExitStack() as sockets:
        listeners = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]


def without_aws() -> dict[str, str]:
    """Return the environment without the variables that could lead to a real AWS account."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
