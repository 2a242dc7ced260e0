"""The tests of a mutant: those that execute the changed lines, the most specific ones first."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

from tools.mutants.tracing import FOLDER, MODULES, ROOT, Trace, record_of, source_of, stored_traces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tools.mutants.operators import Mutant

TEST_FOLDERS = ("tests/unit", "tests/contract", "tests/integration")
LEFT_OUT = {
    "tests/unit/test_growth.py",  # measures memory
    "tests/unit/web_connector/test_proofs_find_faults.py",  # tests the tests
    "tests/integration/api/test_openapi.py",  # compares documents
}
MORE_FILES = {"tests/infrastructure/test_limits_page.py"}
"""Compares the documented limits with those of the code."""
UNRELATED = "tests/unit/qbxml/"
"""The language imports nothing of the core."""

FIRST_SECONDS = 3.0
FIRST_FILES = 3
"""The first tests of a mutant: a second process runs the others, because each file costs time to import."""


class Selection:
    """The traces of all tests, which are recorded unless they are stored."""

    def __init__(self, modules: Sequence[Path], folder: Path, test_files: Sequence[str] = ()) -> None:
        paths = [path.relative_to(ROOT).as_posix() for path in modules]
        files = test_files or _all_files()
        folder.mkdir(parents=True, exist_ok=True)
        _record([file for file in files if not record_of(file, folder).exists()], paths, folder)
        records = [record for file in files if (record := record_of(file, folder)).exists()]
        self._traces = [trace for record in records for trace in stored_traces(record)]
        self._folder = folder

    def tests_of(self, mutant: Mutant, max_seconds: float) -> list[Trace]:
        """Return the tests that can find a mutant, and would take `max_seconds` at most; 0 returns all of them."""
        path = mutant.path.relative_to(ROOT).as_posix()
        found = sorted((trace for trace in self._traces if self._executes(trace, mutant, path)), key=_rank)
        seconds = 0.0
        chosen: list[Trace] = []
        for trace in found:
            seconds += trace.seconds
            if max_seconds and seconds > max_seconds and chosen:
                break
            chosen.append(trace)
        return chosen

    def _executes(self, trace: Trace, mutant: Mutant, path: str) -> bool:
        if mutant.lines is None or path not in trace.sources:
            return trace.executes(path, None)
        copy = _text(source_of(trace.sources[path], self._folder))
        return trace.executes(path, lines_before(copy, _text(mutant.path), mutant.lines))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def lines_before(copy: str, now: str, lines: range) -> Sequence[int]:
    """Return the lines of an earlier copy of a module that these lines were, or those around a change."""
    matcher = difflib.SequenceMatcher(None, copy.splitlines(), now.splitlines(), autojunk=False)
    found: set[int] = set()
    for _, first, last, first_now, last_now in matcher.get_opcodes():
        touched = range(max(lines.start - 1, first_now), min(lines.stop - 1, last_now))
        if not touched:
            continue
        if last - first == last_now - first_now:
            found.update(first + number - first_now + 1 for number in touched)
        else:
            found.update(range(first, last + 2))
    return sorted(found)


def stages(traces: Sequence[Trace]) -> list[list[Trace]]:
    """Divide tests into the first ones, of a few files, and the rest."""
    first: list[Trace] = []
    files: set[str] = set()
    seconds = 0.0
    for trace in traces:
        file = trace.test.partition("::")[0]
        if seconds + trace.seconds <= FIRST_SECONDS and (file in files or len(files) < FIRST_FILES):
            files.add(file)
            first.append(trace)
            seconds += trace.seconds
    taken = {trace.test for trace in first}
    return [stage for stage in (first, [trace for trace in traces if trace.test not in taken]) if stage]


def _rank(trace: Trace) -> float:
    """Return a number that is low for a short test of few lines."""
    return (0.05 + trace.seconds) * sum(lines.bit_count() for lines in trace.lines.values())


def _all_files() -> list[str]:
    """Return the files of the tests that run in one process. Of most, the record is empty, and costs nothing."""
    paths = [path for folder in TEST_FOLDERS for path in (ROOT / folder).rglob("test_*.py")]
    files = ({path.relative_to(ROOT).as_posix() for path in paths} | MORE_FILES) - LEFT_OUT
    return sorted(file for file in files if not file.startswith(UNRELATED))


def _record(files: Sequence[str], modules: Sequence[str], folder: Path) -> None:
    """Run test files and store what each of their tests executes."""
    if not files:
        return
    sys.stderr.write(f"Recording what the tests of {len(files)} files execute …\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tools.mutants.tracing"]
    command += [f"{FOLDER}={folder}", f"{MODULES}={os.pathsep.join(modules)}"]
    command += ["--numprocesses", "auto", "--dist", "loadfile", "--no-loadscope-reorder", *files]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:  # noqa: S603 - our own command
        sys.exit("The tests fail without a mutant.")
