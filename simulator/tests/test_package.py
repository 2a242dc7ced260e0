"""`pip install ./simulator` gives a command with everything that it needs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import simulator

FOLDER = Path(simulator.__file__ or "").parent
BUILD = FOLDER / "build"
"""The files that `pip install ./simulator` creates in the source folder."""
TESTS = FOLDER / "tests"
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))


def sources(pattern: str) -> list[Path]:
    """Return the files of the simulator with such a name, without its tests."""
    return [path for path in sorted(FOLDER.rglob(pattern)) if not {BUILD, TESTS} & set(path.parents)]


def built_wheel(target: Path) -> Path:
    """Build the wheel without a network: setuptools of this environment builds it."""
    source = target / "source"
    process = subprocess.run([sys.executable, "-c", "import setuptools.build_meta"], check=False, capture_output=True)
    if process.returncode:
        pytest.skip("needs setuptools")
    # A copy: setuptools writes its build folder beside the sources.
    for path in sources("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            copy = source / path.relative_to(FOLDER)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    subprocess.run(
        [sys.executable, "-c", "import setuptools.build_meta as build; build.build_wheel('.')"],
        cwd=source,
        check=True,
        capture_output=True,
    )
    return next(source.glob("*.whl"))


def test_every_package_of_the_folder_is_named() -> None:
    packages = {".".join(("simulator", *path.parent.relative_to(FOLDER).parts)) for path in sources("__init__.py")}

    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages


def test_the_wheel_holds_every_module_and_data_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(built_wheel(tmp_path)) as wheel:
        names = set(wheel.namelist())

    expected = {
        f"simulator/{path.relative_to(FOLDER)}"
        for pattern in ("*.py", "*.json", "*.html", "*.css", "*.js", "*.svg", "*.xml")
        for path in sources(pattern)
    }
    assert expected <= names
    assert [name for name in names if "tests" in name] == []


def test_an_installation_enables_the_pytest_plugin(tmp_path: Path) -> None:
    with zipfile.ZipFile(built_wheel(tmp_path)) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        text = wheel.read(name).decode()

    assert "[pytest11]\nqbxml-simulator = simulator.pytest_plugin\n" in text


def test_the_installed_command_runs_outside_the_repository(tmp_path: Path) -> None:
    wheel = built_wheel(tmp_path)
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    site = next(environment.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # The two libraries that it depends on are those of this environment.
    for name in PROJECT["project"]["dependencies"]:
        module = __import__(name.partition(">")[0])
        (site / f"{module.__name__}.pth").write_text(str(Path(module.__file__ or "").parents[1]), encoding="utf-8")

    output = subprocess.run(  # noqa: S603 - the Python of the new environment
        [environment / "bin" / "python", "-m", "simulator", "--help"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert PROJECT["project"]["scripts"] == {"qbxml-simulator": "simulator.__main__:main"}
    assert output.startswith("usage: qbxml-simulator")
