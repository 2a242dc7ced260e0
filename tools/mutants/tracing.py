"""A plugin of pytest that records which lines of the mutated modules each test executes, and for how long it runs.

They are stored for each test file, under a hash of the file, with a copy of the modules. After a change of a module,
its lines are found in the copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType, FrameType

ROOT = Path(__file__).parents[2]
FOLDER, MODULES = "--mutants-traces", "--mutants-modules"
"""The options of pytest: the folder of the records, and the paths of the mutated modules."""

MAX_CALLS = 100
"""A function is traced no longer after so many calls of one test that executed no further line of it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a test executes: the lines of each module, as bits of a number. `sources` are the hashes of the modules."""

    test: str
    seconds: float
    lines: dict[str, int]
    sources: dict[str, str]

    def executes(self, path: str, lines: Iterable[int] | None) -> bool:
        """Whether the test executes one of these lines of a module, or any line if they are None."""
        executed = self.lines.get(path, 0)
        return executed > 0 if lines is None else any(executed >> line & 1 for line in lines)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def record_of(test_file: str, folder: Path) -> Path:
    """Return the path of the record of a test file."""
    return folder / f"{_digest(test_file.encode() + (ROOT / test_file).read_bytes())}.json"


def source_of(digest: str, folder: Path) -> Path:
    """Return the path of the copy of a module."""
    return folder / f"{digest}.txt"


def stored_traces(record: Path) -> Sequence[Trace]:
    """Return the traces of a record."""
    stored = json.loads(record.read_text(encoding="utf-8"))
    return [
        Trace(test, seconds, {path: int(bits, 16) for path, bits in lines.items()}, stored["sources"])
        for test, (seconds, lines) in stored["traces"].items()
    ]


@dataclass
class _Tracer:
    """Notes the lines of the modules below `paths` that are executed."""

    paths: dict[str, str]
    """The paths of modules relative to the root, by file name of their code."""
    lines: dict[str, set[int]] = field(default_factory=dict)
    _known: Counter[CodeType] = field(default_factory=Counter)

    def __call__(self, frame: FrameType, event: str, _argument: object) -> Any:
        """Trace a call of a function of these modules."""
        code = frame.f_code
        path = self.paths.get(code.co_filename)
        if event != "call" or path is None or self._known[code] > MAX_CALLS:
            return None
        lines = self.lines.setdefault(path, set())
        before = len(lines)

        def trace_line(frame: FrameType, event: str, _argument: object) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            elif event == "return":
                self._known[code] = 0 if len(lines) > before else self._known[code] + 1
            return trace_line

        return trace_line


class Recorder:
    """Traces every test, and stores the traces of each file whose tests pass."""

    def __init__(self, folder: Path, modules: Sequence[str]) -> None:
        self._folder = folder
        self._paths = {str(ROOT / module): module for module in modules}
        self._sources = {}
        for module in modules:
            content = (ROOT / module).read_bytes()
            self._sources[module] = _digest(content)
            source_of(self._sources[module], folder).write_bytes(content)
        self._traces: dict[str, Any] = {}
        self._failed = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Trace a test with its fixtures."""
        tracer = _Tracer(self._paths)
        start = time.process_time()
        threading.settrace(tracer)
        sys.settrace(tracer)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            bits = {path: hex(sum(1 << line for line in lines)) for path, lines in tracer.lines.items() if lines}
            self._traces[item.nodeid] = round(time.process_time() - start, 3), bits
            if nextitem is None or nextitem.path != item.path:
                self._store(item.path.relative_to(ROOT).as_posix())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure in the file."""
        self._failed |= report.failed

    def _store(self, test_file: str) -> None:
        if not self._failed:
            stored = json.dumps({"sources": self._sources, "traces": self._traces})
            record_of(test_file, self._folder).write_text(stored, encoding="utf-8")
        self._traces, self._failed = {}, False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption(FOLDER)
    parser.addoption(MODULES, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Record if there is a folder for it."""
    if folder := config.getoption(FOLDER):
        config.pluginmanager.register(Recorder(Path(folder), config.getoption(MODULES).split(os.pathsep)))
