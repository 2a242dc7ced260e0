"""A state folder has one `make run` at a time, and a second one changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from local import state_lock, wait
from local.programs import ROOT
from local.server import Server
from local.state_lock import FolderInUse, locked
from tests.e2e.runs import running

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.system


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file of a folder, with the time of its last change."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def second_run(folder: Path, *command: str, port: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "STATE_DIR": str(folder), "PORT": str(port), "COMPANY": "empty"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - our own programs


@pytest.mark.parametrize("program", ["local.run", "local.state_lock"])
@pytest.mark.parametrize("same_port", [False, True])
def test_a_second_run_in_a_folder_changes_nothing(tmp_path: Path, program: str, same_port: bool) -> None:
    with running(tmp_path) as first:
        before = contents(tmp_path)
        port = int(first.credentials["base_url"].rpartition(":")[2]) if same_port else 0

        second = second_run(tmp_path, sys.executable, "-m", program, port=port)

        assert contents(tmp_path) == before
        assert first.api().call("GET", "/api/v1/api_key")["data"]
    assert second.returncode == 1
    assert f"another make run at {first.credentials['base_url']} uses {tmp_path}/.local/" in second.stderr
    assert f"make run STATE_DIR={tmp_path}/.local/second PORT=0" in second.stderr


def test_the_recommended_second_run_starts_beside_the_first(tmp_path: Path) -> None:
    with running(tmp_path) as first, running(tmp_path / ".local" / "second") as second:
        assert first.credentials["base_url"] != second.credentials["base_url"]
        assert first.api().call("GET", "/api/v1/api_key")["data"]


@pytest.mark.parametrize("option", ["PORT", "BOOKS_PORT"])
def test_a_run_whose_port_is_in_use_leaves_the_credentials_of_the_last_run(tmp_path: Path, option: str) -> None:
    with running(tmp_path):
        pass
    written = {"credentials.json", "env", "quickbooks.qwc"}
    before = {name: entry for name, entry in contents(tmp_path / ".local").items() if name in written}
    server = Server(0)
    port = server.base_url.rpartition(":")[2]

    environment = {**os.environ, "STATE_DIR": str(tmp_path), "PORT": "0", option: port}
    command = [sys.executable, "-m", "local.run"]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    server.stop()

    assert (run.returncode, f"make run {option}={int(port) + 1}" in run.stderr) == (1, True)
    after = contents(tmp_path / ".local")
    assert {name: after[name] for name in before} == before
    assert set(before) == written
    with pytest.raises(RuntimeError, match=f"Port {port} is in use"):
        wait.wait(tmp_path / ".local", 60, lambda _: None)


def test_a_run_that_was_killed_does_not_keep_its_folder(tmp_path: Path) -> None:
    with running(tmp_path) as killed:
        killed.kill()

    with running(tmp_path) as run:
        assert run.api().call("GET", "/api/v1/api_key")["data"]


def test_the_status_of_the_last_run_is_forgotten_before_packages_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise `make wait` would take it for the new run, which has not begun."""
    monkeypatch.setenv("STATE_DIR", str(tmp_path))
    folder = tmp_path / ".local"
    with wait.starting(folder):
        pass
    assert (folder / wait.STATUS_FILE).exists()

    assert state_lock.main() == 0

    assert not (folder / wait.STATUS_FILE).exists()


def test_a_run_that_starts_is_named_without_its_address(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(FolderInUse, match="another make run uses"), locked(tmp_path):
        pass
