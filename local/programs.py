"""Programs of others that are run here for a while: on loopback, and without what could lead to a real AWS account."""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
"""Where the repository is."""

ARM = platform.machine() in {"arm64", "aarch64"}
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
BUILT_FOR_HERE = (f"PythonRuntime={RUNTIME}", f"Architecture={'arm64' if ARM else 'x86_64'}")
"""The template's parameters for the Python and the processor at hand."""

STOP_SECONDS = 30
LOOKS_A_SECOND = 20


class WillNotStart(Exception):
    """A program that still runs will never be up."""


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
    """Run a program while the block runs; what it prints goes to `log`.

    It does not see Ctrl-C, which is for us; we stop it. `is_up` may raise WillNotStart. Raises RuntimeError
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
    """Let SIGTERM end this program like Ctrl-C: what it runs is ended with it.

    Left to itself the signal ends Python at once, and programs that do not see Ctrl-C go on alone.
    """
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


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


def sam(environment: Path, folder: Path, variables: Mapping[str, str], *arguments: str) -> None:
    """Run the SAM CLI of a virtual environment; its output goes to a log in the folder. Raises RuntimeError."""
    print(f"sam {arguments[0]} …", flush=True)
    path = folder / f"sam-{arguments[0]}.log"
    with path.open("w", encoding="utf-8") as log:
        done = subprocess.run(  # noqa: S603 - our own arguments
            [environment / "bin" / "sam", *arguments],
            cwd=ROOT,
            env={**variables, "SAM_CLI_TELEMETRY": "0"},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"sam {arguments[0]} failed: {path.read_text(encoding='utf-8')[-4000:]}")


def free_ports(count: int) -> list[int]:
    """Return ports of loopback on which nothing listens."""
    with ExitStack() as open_until_all_are_found:
        found = [open_until_all_are_found.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in found]


def without_aws() -> dict[str, str]:
    """Return our environment without what could lead to a real account."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
