"""How programs of others are started and ended here."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from local import programs

if TYPE_CHECKING:
    from pathlib import Path


def test_a_program_that_ends_before_it_is_up_is_told_with_what_it_printed(tmp_path: Path) -> None:
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


def test_a_program_runs_until_the_block_ends_and_its_exception_comes_through(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(1000)"]
    log = tmp_path / "log"

    with (
        pytest.raises(KeyError),
        programs.running("the thing", command, lambda: log.read_text().endswith("\n"), log=log, seconds=30),
    ):
        raise KeyError

    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_free_ports_differ() -> None:
    assert len(set(programs.free_ports(20))) == 20
