"""The image of a minimal Debian: what it contains, and which failures to build it are failures of `make test-fresh`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from local import debian
from tests.fresh import __main__ as fresh

if TYPE_CHECKING:
    from pathlib import Path


def result(status: int, output: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], status, output, "")


def test_debootstrap_gets_the_provider_of_a_virtual_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's python3.11-venv depends on python3.11-distutils, which only python3-distutils provides."""
    commands: list[tuple[str, ...]] = []

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return result(0, "http://deb bookworm")

    monkeypatch.setattr("local.debian.os.geteuid", lambda: 0)
    monkeypatch.setattr("local.debian.shutil.which", lambda name: name)
    monkeypatch.setattr(debian, "run", run)

    debian.bootstrap("bookworm", ["git", "python3.11-venv"], tmp_path)
    debian.bootstrap("trixie", ["git", "python3.13-venv"], tmp_path)

    included = [part for command in commands for part in command if part.startswith("--include=")]
    assert included == ["--include=git,python3.11-venv,python3-distutils", "--include=git,python3.13-venv"]


@pytest.mark.parametrize(
    ("has_registry", "is_root", "expected"),
    [(True, False, "failed"), (False, True, "failed"), (False, False, "skipped")],
)
def test_an_image_that_does_not_build_is_a_failure_where_it_could_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_registry: bool, is_root: bool, expected: str
) -> None:
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        if command[0] == "apt-get":
            return result(0, "http://deb bookworm")
        return result(0 if has_registry and command[:2] == ("docker", "pull") else 1)

    monkeypatch.setattr("local.debian.os.geteuid", lambda: 0 if is_root else 1000)
    monkeypatch.setattr("local.debian.shutil.which", lambda name: name)
    monkeypatch.setattr(debian, "run", run)
    monkeypatch.setattr(fresh, "run", run)

    assert fresh.try_version("3.11", tmp_path, system=True) == expected
