"""The Makefile's installations: an interrupted one is repaired, and a machine without a network is named as such."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from local.install import InstallError, fault, install
from local.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REQUIREMENTS = """\
idna==3.20 --hash=sha256:ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
"""


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment without packages that was installed completely. Do not change it."""
    folder = tmp_path_factory.mktemp("complete") / ".venv"
    install(folder, nothing(folder.parent), "nothing")
    (folder / ".run").touch()
    return folder


def nothing(folder: Path) -> Path:
    """Return a file without requirements."""
    path = folder / "requirements.txt"
    path.write_text("", encoding="utf-8")
    return path


def copy_of(complete: Path, folder: Path) -> Path:
    shutil.copytree(complete, folder / ".venv", symlinks=True)
    return folder / ".venv"


def site_packages(folder: Path) -> Path:
    [packages] = (folder / "lib").glob("python*/site-packages")
    return packages


def works(folder: Path) -> bool:
    command = [str(folder / "bin" / "python"), "-m", "pip", "--version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own program


def no_environment(folder: Path) -> None:
    shutil.rmtree(folder)


def an_empty_folder(folder: Path) -> None:
    no_environment(folder)
    folder.mkdir()


def no_python(folder: Path) -> None:
    shutil.rmtree(folder / "bin")
    (folder / ".run").unlink()


def no_pip(folder: Path) -> None:
    shutil.rmtree(site_packages(folder) / "pip")
    (folder / ".run").unlink()


def half_of_a_package(folder: Path) -> None:
    (site_packages(folder) / "half").mkdir()
    (folder / ".run").unlink()


def a_python_that_is_gone(folder: Path) -> None:
    for python in (folder / "bin").glob("python*"):
        python.unlink()
        python.symlink_to("/nowhere/python3.10")


def pip_removed_from_a_complete_one(folder: Path) -> None:
    shutil.rmtree(site_packages(folder) / "pip")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (no_environment, ""),
        (an_empty_folder, ""),
        (no_python, ""),
        (no_pip, "its first installation was interrupted"),
        (half_of_a_package, "its first installation was interrupted"),
        (a_python_that_is_gone, "its Python, /nowhere/python3.10, is gone"),
        (pip_removed_from_a_complete_one, "it has no pip"),
    ],
)
def test_an_environment_that_cannot_be_used_is_recognised(
    complete: Path, tmp_path: Path, broken: Callable[[Path], None], reason: str
) -> None:
    folder = copy_of(complete, tmp_path)
    assert fault(folder) is None

    broken(folder)

    assert fault(folder) == reason


@pytest.mark.system
def test_an_environment_that_cannot_be_used_is_built_again(
    complete: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(complete, tmp_path)
    half_of_a_package(folder)
    a_python_that_is_gone(folder)

    install(folder, nothing(tmp_path), "the packages")

    assert works(folder)
    assert not (site_packages(folder) / "half").exists()
    assert f"{folder} is built again: its Python, /nowhere/python3.10, is gone.\n" in capsys.readouterr().out


def test_an_environment_that_can_be_used_is_kept_and_loses_its_stamps_while_packages_change(
    complete: Path, tmp_path: Path
) -> None:
    folder = copy_of(complete, tmp_path)
    (site_packages(folder) / "of_earlier").mkdir()

    install(folder, nothing(tmp_path), "the packages")

    assert (site_packages(folder) / "of_earlier").exists()
    assert not (folder / ".run").exists()


def test_without_a_network_the_message_says_so_and_the_environment_stays_in_use(
    complete: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_of(complete, tmp_path)
    before = (folder / ".run").stat().st_mtime_ns
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(REQUIREMENTS, encoding="utf-8")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")

    with pytest.raises(InstallError, match=r"no package index can be reached\. Connect this machine to the network"):
        install(folder, requirements, "the packages")

    assert (folder / ".run").stat().st_mtime_ns == before


def test_another_failure_of_pip_shows_what_pip_says(complete: Path, tmp_path: Path) -> None:
    folder = copy_of(complete, tmp_path)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("not a requirement at all\n", encoding="utf-8")

    with pytest.raises(InstallError, match=r"the packages cannot be installed\. pip says:\n.*Invalid requirement"):
        install(folder, requirements, "the packages")

    assert not (folder / ".run").exists()


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make with a copy of the Makefile, in a folder without environments."""
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements", dirs_exist_ok=True)
    return subprocess.run(  # noqa: S603 - our own arguments
        ["make", *arguments],  # noqa: S607 - as a person types it
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.system
@pytest.mark.parametrize("target", ["run", "wait", "test"])
@pytest.mark.parametrize("says", ["Python 3.9.2", None])
def test_an_old_or_missing_python_is_named_before_anything_else(tmp_path: Path, target: str, says: str | None) -> None:
    python = tmp_path / "python3.9"
    if says:
        python.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo {says} || exit 1\n', encoding="utf-8")
        python.chmod(0o755)

    result = make(tmp_path, target, f"PYTHON={python if says else ''}")

    assert result.returncode == 2
    expected = f"{python} is {says}" if says else f"make PYTHON=/path/to/python {target}"
    assert "Python 3.11 or newer is needed" in result.stderr
    assert expected in result.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.system
def test_a_stamp_does_not_count_if_the_python_of_its_environment_is_gone(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.symlink_to("/nowhere/python3.10")
    stamp = tmp_path / ".venv" / ".run"
    stamp.touch()
    os.utime(stamp, (2**31, 2**31))  # newer than the copies that make() writes

    gone = make(tmp_path, "-n", ".venv/.run")
    python.unlink()
    python.symlink_to("/bin/sh")
    there = make(tmp_path, "-n", ".venv/.run")

    assert "local.install .venv requirements/run.txt" in gone.stdout
    assert "is up to date" in there.stdout
