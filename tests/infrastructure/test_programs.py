"""Starting and ending other programs."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from local import programs
from tests.support.processes import has_ended

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.system


def test_a_program_that_ends_during_its_start_is_reported_with_its_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('no licence')"]

    with (
        pytest.raises(RuntimeError, match="the thing did not start: no licence"),
        programs.running("the thing", command, lambda: False, log=tmp_path / "log", seconds=30),
    ):
        pass


def test_a_program_that_will_never_be_up_is_ended(tmp_path: Path) -> None:
    def is_up() -> bool:
        raise programs.WillNotStart

    with (
        pytest.raises(RuntimeError, match="the thing did not start"),
        programs.running("the thing", ["sleep", "1000"], is_up, log=tmp_path / "log", seconds=30),
    ):
        pass


def test_a_program_runs_until_the_block_ends_and_an_exception_propagates(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(1000)"]
    log = tmp_path / "log"

    with (
        pytest.raises(KeyError),
        programs.running("the thing", command, lambda: log.read_text().endswith("\n"), log=log, seconds=30),
    ):
        raise KeyError

    assert has_ended(int(log.read_text()))


def test_sigterm_ends_started_programs_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    ours = f"""
import pathlib, time
from local import programs
programs.end_with_sigterm()
log = pathlib.Path({str(log)!r})
child = ["sh", "-c", "echo $$; exec sleep 1000"]
with programs.running("the thing", child, lambda: log.read_text().endswith("\\n"), log=log, seconds=30):
    print("up", flush=True)
    time.sleep(1000)
"""
    process = subprocess.Popen(  # noqa: S603 - our own arguments
        [sys.executable, "-c", ours], cwd=programs.ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"up\n"
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM

    assert has_ended(int(log.read_text()))


def test_free_ports_differ() -> None:
    assert len(set(programs.free_ports(20))) == 20


def test_a_signal_ends_the_wait_whenever_it_arrives() -> None:
    """It may arrive before the wait, while it begins, and during it."""
    code = """
import random, signal
from local.programs import until_stopped

for _ in range(5000):
    wait = until_stopped([signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 5e-5))
    wait()
"""

    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=programs.ROOT)  # noqa: S603 - our own code
