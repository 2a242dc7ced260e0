"""`make clean` leaves only what was there after the clone, and data. Tests run with what installations leave."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from local.programs import ROOT

if TYPE_CHECKING:
    from pathlib import Path

IGNORED = {
    ".venv*": [".venv/bin/python", ".venv.lock"],
    ".tools": [".tools/sam/bin/sam"],
    ".aws-sam/": [".aws-sam/build/code.zip"],
    ".local/": [".local/env", ".local/second/.local/env"],
    "__pycache__/": [
        f"{folder}/__pycache__/a.pyc" for folder in ("src/domain", "clients/python/tests", "examples", ".")
    ],
    "*.egg-info/": ["simulator/qbxml_simulator.egg-info/PKG-INFO", "clients/python/src/qbxml_queue.egg-info/PKG-INFO"],
    "/simulator/build/": ["simulator/build/lib/simulator/terminal.py"],
    ".mypy_cache/": [".mypy_cache/3.11"],
    ".ruff_cache/": [".ruff_cache/0"],
    ".pytest_cache/": [".pytest_cache/v", "simulator/.pytest_cache/v", "clients/python/.pytest_cache/v"],
    ".hypothesis/": [".hypothesis/examples/1"],
    ".coverage": [".coverage"],
    "htmlcov/": ["htmlcov/index.html"],
    ".schemathesis": [".schemathesis/1"],
    "/examples/first_sync/qbxml_queue_client/": ["examples/first_sync/qbxml_queue_client/client.py"],
    "/clients/python/src/qbxml_queue/schema/": ["clients/python/src/qbxml_queue/schema/types.py"],
    "/clients/python/build/": ["clients/python/build/lib/a.py"],
    "/clients/typescript/src/schema/": ["clients/typescript/src/schema/types.d.cts"],
    "/clients/typescript/commonjs/": ["clients/typescript/commonjs/index.js"],
    "/clients/typescript/node_modules/": ["clients/typescript/node_modules/a/package.json"],
}
"""Files that programs make, for each line of .gitignore."""

KEPT = {
    ".local/": [".local/dynamodb/data.db", ".local/kept/__pycache__/company.json"],
    "*.log": ["run.log"],
    "/*.db": ["events.db"],
    "/examples/**/*.db": ["examples/first_sync/customers.db"],
}
"""Data of `make dynamodb`, and of a person who follows the guides."""


@pytest.mark.system
def test_clean_removes_whatever_git_ignores_except_data(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    made = [path for paths in (*IGNORED.values(), *KEPT.values()) for path in paths]
    for name in [*made, "src/domain/errors.py", "simulator/pyproject.toml"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)  # noqa: S607 - as a person types it

    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    kept = {path for paths in KEPT.values() for path in paths}
    assert left == kept | {"Makefile", "src/domain/errors.py", "simulator/pyproject.toml"}


def test_every_line_of_gitignore_is_in_a_table() -> None:
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()

    assert {line.rstrip("/") for line in lines if line} == {line.rstrip("/") for line in IGNORED.keys() | KEPT.keys()}


@pytest.mark.system
def test_the_tests_of_the_simulator_run_beside_what_its_installation_leaves(tmp_path: Path) -> None:
    """Pytest takes the folder of the package's metadata for a second plugin if it is on the path."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    shutil.copytree(ROOT / "simulator", tmp_path / "simulator", ignore=shutil.ignore_patterns("__pycache__", "corpus"))
    (tmp_path / ".venv").symlink_to(sys.prefix)
    metadata = tmp_path / "simulator" / "qbxml_simulator.egg-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: qbxml-simulator\nVersion: 1\n", encoding="utf-8")
    (metadata / "SOURCES.txt").write_text("__init__.py\n__main__.py\npytest_plugin.py\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[pytest11]\nqbxml-simulator = simulator.pytest_plugin\n", "utf-8")
    module = tmp_path / "simulator" / "build" / "lib" / "simulator" / "tests" / "test_amounts.py"
    module.parent.mkdir(parents=True)
    shutil.copy(ROOT / "simulator" / "tests" / "test_amounts.py", module)

    process = subprocess.run(
        ["make", "-o", ".venv/.installed", "test-simulator", "ARGS=tests/test_amounts.py -n 0"],  # noqa: S607 - as typed
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert " passed" in process.stdout, process.stdout + process.stderr
