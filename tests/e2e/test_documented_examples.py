"""The examples of docs/testing-your-integration.md run as they are printed, against `make run`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.runs import ROOT, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif("STACK" in os.environ, reason="it needs a stack with a simulated QuickBooks")

GUIDE = (ROOT / "docs" / "testing-your-integration.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the environment of a program that uses the stack."""
    with running(tmp_path_factory.mktemp("examples")) as run:
        yield {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "API_KEY": run.credentials["api_key"],
            "BASE_URL": run.credentials["base_url"],
            "BOOKS_URL": run.credentials["books_url"],
            "CONNECTION_ID": run.credentials["connection_id"],
        }


def examples(language: str) -> str:
    """Return the examples in a language, one after the other: a later one uses functions of those above it."""
    return "\n\n".join(re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE))


def run_example(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    process = subprocess.run(  # noqa: S603 - an example of ours
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=180
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_pytest_examples_pass(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "test_examples.py").write_text(examples("python"), encoding="utf-8")

    run_example([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."], tmp_path, environment)


def test_the_node_example_passes(tmp_path: Path, environment: dict[str, str]) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node 20 or newer")
    (tmp_path / "example.test.mjs").write_text(examples("js"), encoding="utf-8")

    run_example([node, "--test", "example.test.mjs"], tmp_path, environment)
