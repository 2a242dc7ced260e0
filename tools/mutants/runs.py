"""Runs of tests on a mutant, each in a process of its own that imports the changed module. No file is changed."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import resource
import sys
import time
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import TYPE_CHECKING, Any

import pytest

from tools.mutants.tracing import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from types import CodeType

    from tools.mutants.operators import Mutant

MAX_BYTES = 6 * 1024**3
"""A mutant may not take all memory of the machine."""
WALL_FACTOR = 30
"""The limit is one of processor time, so that a busy machine kills no mutant. One that waits for ever uses none."""
MIN_SECONDS = 20
SLOWER = 3
"""A mutant may take so many times as long as the tests took when they were recorded."""

OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "ignore::pytest.PytestAssertRewriteWarning")

KILLED, SURVIVED, EQUIVALENT = "killed", "survived", "equivalent"


@dataclass(frozen=True, slots=True)
class Result:
    """How a mutant ended, and `by` which test, or why there was none."""

    status: str
    by: str
    seconds: float
    tests: int


class _Loader(SourceFileLoader):
    """Loads a mutant in place of its module."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.path))
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the loader has one module
        """Return the code of the mutant."""
        source = self._mutant.applied(self._mutant.path.read_bytes())
        return compile(source, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds a mutant under the name of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = ".".join(mutant.path.relative_to(ROOT / "src").with_suffix("").parts)

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """Return the specification of the mutant."""
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self._mutant.path, loader=_Loader(fullname, self._mutant)
        )


class _Chosen:
    """Runs the chosen tests in their order, and notes the first one that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the other tests of the files."""
        items[:] = sorted((item for item in items if item.nodeid in self._places), key=self._place)

    def _place(self, item: pytest.Item) -> int:
        return self._places[item.nodeid]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a module that cannot be imported."""
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (import)"


def _child(mutant: Mutant, tests: Sequence[str], cpu_seconds: int, results: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.meta_path.insert(0, _Finder(mutant))
    chosen = _Chosen(tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    status = pytest.main([*OPTIONS, *files], plugins=[chosen])
    results.send((int(status), chosen.failed))
    results.close()
    os._exit(0)  # threads of a mutant may not end


def prepare() -> None:
    """Import what all tests use and no mutant changes, so that each process has it."""
    for name in ("boto3", "hypothesis.stateful", "moto.dynamodb", "pydantic", "aws_lambda_powertools"):
        importlib.import_module(name)


@dataclass
class Run:
    """A process that runs tests on a mutant."""

    mutant: Mutant
    tests: Sequence[str]
    seconds: float
    """How long the tests took when they were recorded."""
    begun_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Start the process."""
        context = multiprocessing.get_context("fork")
        self.results, sender = context.Pipe(duplex=False)
        self._cpu_seconds = int(MIN_SECONDS + SLOWER * self.seconds)
        self._process: Any = context.Process(target=_child, args=(self.mutant, self.tests, self._cpu_seconds, sender))
        self._process.start()
        sender.close()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended or takes too long."""
        late = time.monotonic() - self.begun_at > WALL_FACTOR * self._cpu_seconds
        return late or self.results.poll() or not self._process.is_alive()

    def result(self) -> Result:
        """Return the result of a run that is over."""
        try:
            status, failed = self.results.recv() if self.results.poll() else (None, "")
        except EOFError:
            status, failed = None, ""
        self.stop(patience=1)
        if status is None and self._process.exitcode >= 0:
            raise RuntimeError(f"The tests of {self.mutant} ended with the exit code {self._process.exitcode}.")
        seconds = time.monotonic() - self.begun_at
        if status is None:
            return Result(KILLED, "the time limit", seconds, len(self.tests))
        survived = status in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
        return Result(SURVIVED if survived else KILLED, failed, seconds, len(self.tests))

    def stop(self, patience: float = 0) -> None:
        """End the process after this many seconds at the latest."""
        self._process.join(patience)
        self._process.kill()
        self._process.join()
        self.results.close()
