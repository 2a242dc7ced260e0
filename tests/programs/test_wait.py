"""`make wait` ends when `make run` is ready, and with the reason when it is not."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from local import wait
from local.gateway import Response
from local.server import Server
from tests.e2e.runs import running

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.system

PORT_IN_USE = "Port 3000 is in use"
NO_PROCESS = 2**22 + 1
"""Linux: above the highest process ID."""


def no_pause(_: float) -> None:
    """Return at once."""


def stopped(folder: Path) -> None:
    """Leave the status of a run whose process is gone."""
    status = folder / wait.STATUS_FILE
    status.write_text(json.dumps(json.loads(status.read_text(encoding="utf-8")) | {"pid": NO_PROCESS}), "utf-8")


def test_a_run_that_failed_ends_the_wait_with_its_output(tmp_path: Path) -> None:
    with wait.starting(tmp_path):
        sys.stderr.write(PORT_IN_USE)
    stopped(tmp_path)

    with pytest.raises(RuntimeError, match=f"has ended. Its output was:\n\n{PORT_IN_USE}"):
        wait.wait(tmp_path, 60, no_pause)


def test_an_unexpected_error_of_a_run_is_part_of_its_output(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), wait.starting(tmp_path):
        1 / 0  # noqa: B018 - it fails
    stopped(tmp_path)

    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        wait.wait(tmp_path, 60, no_pause)


def test_a_run_that_is_not_ready_ends_the_wait_after_its_time(tmp_path: Path) -> None:
    with wait.starting(tmp_path):
        sys.stdout.write("Starting …\n")
        with pytest.raises(RuntimeError, match=r"not ready after 1 seconds\. Its output so far:\n\nStarting …"):
            wait.wait(tmp_path, 1, no_pause)


def test_without_a_run_the_wait_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="make run &"):
        wait.wait(tmp_path, 1, no_pause)


def test_only_the_owner_can_read_what_a_run_keeps_and_the_log_has_no_credentials(tmp_path: Path) -> None:
    folder = tmp_path / ".local"
    folder.mkdir(mode=0o755)
    (folder / wait.LOG_FILE).write_text("of an earlier version")
    (folder / wait.LOG_FILE).chmod(0o644)

    with running(tmp_path) as run:
        secrets = [run.credentials[name] for name in ("api_key", "webhook_secret", "qbwc_password", "operate_secret")]
        found = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert run.credentials["api_key"] in run.output, "the terminal shows the key"
    assert "Starting" in found[folder / wait.LOG_FILE]
    holders = {path for path, text in found.items() if any(secret in text for secret in secrets)}
    assert {path.name for path in holders} == {"credentials.json", "env"}
    private = {*holders, folder / wait.LOG_FILE, folder / "quickbooks.qwc"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


@pytest.mark.parametrize("first_status", [503, 200])
def test_a_run_is_ready_when_it_answers(tmp_path: Path, first_status: int) -> None:
    statuses = iter([first_status, 200])
    server = Server(0)
    server.start(lambda _: Response(next(statuses), [], b""))

    with wait.starting(tmp_path) as ready:
        ready(server.base_url)
        sys.stdout.write("Not a part of the start.")
        url = wait.wait(tmp_path, 60, no_pause)
    server.stop()

    assert url == server.base_url
    assert (tmp_path / wait.LOG_FILE).read_text(encoding="utf-8") == ""
    assert not (tmp_path / wait.STATUS_FILE).exists()


def test_everything_that_programs_need_is_in_the_files_when_a_run_is_ready(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        url = wait.wait(wait.state_folder({"STATE_DIR": str(tmp_path)}), 60)
        variables = dict(
            line.split("=", 1) for line in (tmp_path / ".local" / "env").read_text(encoding="utf-8").splitlines()
        )

    assert url == run.credentials["base_url"] == variables["BASE_URL"]
    assert run.credentials["books_url"] == variables["BOOKS_URL"]
    assert f"{url}/app    sign in as Ada, Sam or Vic, or with the API key" in run.output
    assert f"API key    {run.credentials['api_key']}" in run.output
    assert f"{url}/docs" in run.output


def test_a_process_that_runs_is_recognised() -> None:
    assert wait._is_running(os.getpid())  # noqa: SLF001 - a rule of its own
    assert not wait._is_running(NO_PROCESS)  # noqa: SLF001
