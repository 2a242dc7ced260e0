"""Every benchmark runs, with a tiny size (`make test-benchmarks`). What it prints is not judged."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from local.programs import ROOT
from tests.documents.pages import groups_of, pages

SECONDS = 240
"""A benchmark of a tiny size takes a few seconds, the first one on a busy machine more."""

NOT_A_PROGRAM = {
    *("__init__", "call_costs", "costs_page", "listing_data", "looking_costs", "postgresql", "subscription_costs"),
}

TINY = {
    "cold_starts": ("--help",),  # it builds the artifact, as the tests of `make test-runtime` do
    "costs": ("--tiny",),
    "draining": ("20",),
    "growth": (),
    "line": ("--trips", "1", "--works", "1", "--sizes", "1", "2"),
    "qbxml_speed": ("--help",),  # it needs Intuit's schema, which is not in the repository
    "simulated_books": ("history",),
}
ON_DYNAMODB_LOCAL = {
    "listing_times": ("--rounds", "1", "100"),
    "restoring": ("50",),
}
# Chromium ends its calls when a container changes the networks of the machine, so this one runs with the browser tests.
IN_A_BROWSER = {"console": ("2",)}
PROGRAMS = TINY | ON_DYNAMODB_LOCAL


def test_every_benchmark_has_a_tiny_size_and_a_document_that_cites_it() -> None:
    programs = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - NOT_A_PROGRAM
    cited = {
        name
        for page in pages()
        if not page.startswith("docs/decisions/")
        for name in re.findall(r"benchmarks\.(\w+)", (ROOT / page).read_text(encoding="utf-8"))
    }

    assert programs == PROGRAMS.keys() | IN_A_BROWSER.keys()
    assert programs == cited
    assert len(programs) <= 10  # what proves a decision ends with it


DOCUMENTED = sorted(
    {
        (name, arguments)
        for page in pages()
        for group in groups_of(page, (ROOT / page).read_text(encoding="utf-8"))
        for command in group.commands
        for name, arguments in re.findall(r"\S*python -m benchmarks\.(\w+)(.*)", command.text)
    }
)


@pytest.mark.parametrize(("name", "arguments"), DOCUMENTED)
def test_a_benchmark_accepts_the_arguments_of_the_documents(name: str, arguments: str) -> None:
    """`make test-documents` does not run benchmarks. A parser reads the arguments before `--help` ends the program."""
    if "argparse" not in (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8"):
        assert all(argument.isdecimal() for argument in arguments.split())
        return
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments.split(), "--help"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif("DYNAMODB_ENDPOINT" not in os.environ, reason="make test-benchmarks runs them on DynamoDB Local")
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_benchmark_runs(name: str) -> None:
    run(name, *PROGRAMS[name])


def run(name: str, *arguments: str) -> str:
    """Run a benchmark and return its output. It must end without an error, but may miss a limit."""
    environment = {key: value for key, value in os.environ.items() if key != "DYNAMODB_ENDPOINT" or name not in TINY}
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    process = subprocess.run(  # noqa: S603 - our own program
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )

    # 1 means that a figure is beyond its limit, which a busy machine or a tiny size can cause.
    assert process.returncode in {0, 1}, process.stderr[-3000:]
    assert "Traceback" not in process.stderr, process.stderr[-3000:]
    assert process.stdout.strip()
    return process.stdout
