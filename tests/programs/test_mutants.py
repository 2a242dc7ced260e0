"""The command that makes mutants: what it changes, which tests it runs, and that it tells killed from surviving."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutants import equivalent, named
from tools.mutants.operators import mutants_of

ROOT = Path(__file__).parents[2]
SOURCE = '''"""A module."""
LIMIT = 10
Either: TypeAlias = int | str

def first(items: list[int], *, strict: bool = True) -> int | None:
    """Return an item."""
    found = [item for item in items if item < LIMIT and not item == 3]
    if found:
        return max(found[1:], key=abs)
    raise ValueError("Nothing was found.")
'''


def changes_of(path: Path, *, only_conditions: bool = False) -> set[str]:
    """Return the changed lines of all mutants of a module."""
    source = path.read_bytes()
    mutants = mutants_of(path, only_conditions=only_conditions)
    return {mutant.diff(source).splitlines()[-1][1:].strip() for mutant in mutants}


def test_each_expression_and_statement_is_changed_alone(tmp_path: Path) -> None:
    (module := tmp_path / "module.py").write_text(SOURCE, encoding="utf-8")

    assert changes_of(module) == {
        "LIMIT = 11",
        "def first(items: list[int], *, strict: bool = False) -> int | None:",
        "found = [item for item in items]",
        "found = [item for item in items if (item < LIMIT or not item == 3)]",
        "found = [item for item in items if (item < LIMIT)]",
        "found = [item for item in items if (not item == 3)]",
        "found = [item for item in items if item <= LIMIT and not item == 3]",
        "found = [item for item in items if item < LIMIT and item == 3]",
        "found = [item for item in items if item < LIMIT and not item != 3]",
        "found = [item for item in items if item < LIMIT and not item == 4]",
        "if not found:",
        "return min(found[1:], key=abs)",
        "return max(found[:], key=abs)",
        "return max(found[2:], key=abs)",
        "pass",
    }


def test_of_an_adapter_only_the_conditions_are_changed(tmp_path: Path) -> None:
    text = 'def f(key, n):\n    put(key, n + 1, ConditionExpression=f"attribute_not_exists({key}) OR #n = :n")\n'
    (module := tmp_path / "module.py").write_text(text, encoding="utf-8")

    assert changes_of(module, only_conditions=True) == {
        "put(key, n + 1)",
        'put(key, n + 1, ConditionExpression=f"attribute_exists({key}) OR #n = :n")',
        'put(key, n + 1, ConditionExpression=f"attribute_not_exists({key}) AND #n = :n")',
        'put(key, n + 1, ConditionExpression=f"attribute_not_exists({key}) OR #n <> :n")',
    }


def test_every_named_mutant_still_applies_and_compiles() -> None:
    assert len(named.NAMED) > 20
    for mutant in named.mutants():
        source = mutant.path.read_bytes()
        assert compile(mutant.applied(source), mutant.name, "exec")
        assert mutant.diff(source)


def test_every_equivalent_mutant_is_still_made_once() -> None:
    paths = {path for path, _ in equivalent.REASONS}
    found = [equivalent.key_of(mutant) for path in paths for mutant in mutants_of(ROOT / "src" / path)]

    assert {key: found.count(key) for key in equivalent.REASONS} == dict.fromkeys(equivalent.REASONS, 1)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for what the tests of one file execute, which is recorded once."""
    return tmp_path_factory.mktemp("traces")


def mutants(traces: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the tests of one file."""
    command = [sys.executable, "-m", "tools.mutants", "--traces", str(traces), "--jobs", "1", *arguments]
    command += ["--tests", "tests/unit/queueing/test_order.py"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own


def test_the_command_kills_a_mutant_and_reports_one_that_no_test_executes(traces: Path) -> None:
    killed = mutants(traces, "--at", "src/domain/queueing/insertion_times.py")

    assert f": {TEST}" in killed.stdout
    assert re.search(
        r"Seed 1: 1 of 1 mutants in \d+ s: 1 killed, 0 survived, 0 equivalent. Score: 100.0%", killed.stdout
    )
    assert killed.returncode == 0, killed.stderr

    survived = mutants(traces, "--at", "src/domain/queueing/audited_call.py")

    assert "survived src/domain/queueing/audited_call.py" in survived.stdout
    assert "no test executes it" in survived.stdout
    assert survived.returncode == 1


TEST = "tests/unit/queueing/test_order.py::test_requests_of_one_process_keep_their_order"
