"""Break the core one rule at a time: `python -m tools.mutants --seed 1 --count 300` (`make mutants`).

It draws mutants of the modules that decide and of the conditions of the writes, adds the named ones, runs the tests
that execute the changed lines, and prints the score and the survivors. Equivalent mutants are not run, and count
neither way. The exit code is 1 below 95 %. Ctrl-C prints the score so far.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter, deque
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutants import named, runs
from tools.mutants.equivalent import reason_of
from tools.mutants.operators import Mutant, mutants_of
from tools.mutants.runs import EQUIVALENT, KILLED, SURVIVED, Result, Run
from tools.mutants.selection import Selection, stages
from tools.mutants.tracing import ROOT

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from tools.mutants.tracing import Trace

WHOLE = (
    "domain/web_connector/session",
    "domain/web_connector/outcomes",
    "domain/queueing",
    "domain/events",
    "adapters/dynamodb/operations.py",
    "adapters/dynamodb/request_changes.py",
    "adapters/dynamodb/transactions.py",
)
"""Every expression of these modules is changed."""
CONDITIONS = ("adapters/dynamodb",)
"""Only the conditions of these modules are changed."""

MIN_SCORE = 0.95


def all_mutants() -> list[Mutant]:
    """Return every mutant of the syntax trees."""
    whole = _modules(WHOLE)
    conditions = [path for path in _modules(CONDITIONS) if path not in whole]
    found = [mutant for path in whole for mutant in mutants_of(path)]
    return found + [mutant for path in conditions for mutant in mutants_of(path, only_conditions=True)]


def _modules(names: Sequence[str]) -> list[Path]:
    paths = [ROOT / "src" / name for name in names]
    return [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """Return the mutants to run: a sample, the named ones, or those of a place."""
    mutants = all_mutants()
    if arguments.at:
        path, _, line = arguments.at.partition(":")
        mine = [mutant for mutant in [*mutants, *named.mutants()] if mutant.path == (ROOT / path).resolve()]
        return [mutant for mutant in mine if not line or mutant.line == int(line)]
    count = min(arguments.count, len(mutants))
    return [*named.mutants(), *random.Random(arguments.seed).sample(mutants, count)]  # noqa: S311 - not a secret


def results_of(
    mutants: Sequence[Mutant], selection: Selection, max_seconds: float, jobs: int
) -> Generator[tuple[Mutant, Result], None, None]:
    """Run the tests of each mutant, `jobs` at a time. Yield each mutant as it ends."""
    waiting = deque((mutant, stages(selection.tests_of(mutant, max_seconds))) for mutant in mutants)
    running: list[tuple[Run, list[list[Trace]]]] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                mutant, rest = waiting.popleft()
                if reason := reason_of(mutant):
                    yield mutant, Result(EQUIVALENT, reason, 0.0, 0)
                elif rest:
                    tests = rest[0]
                    seconds = sum(trace.seconds for trace in tests)
                    running.append((Run(mutant, [trace.test for trace in tests], seconds), rest[1:]))
                else:
                    yield mutant, Result(SURVIVED, "no test executes it", 0.0, 0)
            time.sleep(0.02)
            for run, rest in [pair for pair in running if pair[0].is_over]:
                running.remove((run, rest))
                result = run.result()
                if result.status == SURVIVED and rest:
                    waiting.appendleft((run.mutant, rest))
                else:
                    yield run.mutant, result
    finally:
        for run, _ in running:
            run.stop()


def place_of(mutant: Mutant) -> str:
    """Return where a mutant is."""
    name = f" ({mutant.name})" if mutant.name else ""
    return f"{mutant.path.relative_to(ROOT).as_posix()}:{mutant.line}{name}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="draws the mutants (1)")
    parser.add_argument("--count", type=int, default=300, help="how many are drawn, beside the named ones (300)")
    parser.add_argument("--seconds", type=float, default=120, help="of tests for each mutant; 0 runs all (120)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at a time")
    parser.add_argument("--at", help="all mutants of a module or a line instead: src/…/claims.py:83")
    parser.add_argument("--tests", nargs="*", default=[], help="test files to use instead of all")
    parser.add_argument(
        "--traces", type=Path, default=ROOT / ".local" / "mutants", help="where it stores what tests execute"
    )
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background, where a shell ignores it
    mutants = chosen(arguments)
    modules = list(dict.fromkeys([*_modules(WHOLE), *_modules(CONDITIONS), *(mutant.path for mutant in mutants)]))
    selection = Selection(modules, arguments.traces, arguments.tests)
    runs.prepare()
    start = time.monotonic()
    results = _reported(results_of(mutants, selection, arguments.seconds, arguments.jobs), len(mutants))
    numbers = Counter(result.status for _, result in results)
    score = numbers[KILLED] / max(1, numbers[KILLED] + numbers[SURVIVED])
    sys.stdout.write(
        f"\nSeed {arguments.seed}: {len(results)} of {len(mutants)} mutants in {time.monotonic() - start:.0f} s: "
        f"{numbers[KILLED]} killed, {numbers[SURVIVED]} survived, {numbers[EQUIVALENT]} equivalent. "
        f"Score: {score:.1%}\n"
    )
    return 0 if score >= MIN_SCORE and len(results) == len(mutants) else 1


def _reported(results: Generator[tuple[Mutant, Result], None, None], count: int) -> list[tuple[Mutant, Result]]:
    """Print each result as it comes, and the survivors at the end or after Ctrl-C. Return the results."""
    done: list[tuple[Mutant, Result]] = []
    with suppress(KeyboardInterrupt), closing(results):
        for mutant, result in results:
            done.append((mutant, result))
            sys.stdout.write(
                f"{len(done)}/{count} {result.status} {place_of(mutant)} {result.seconds:.1f} s, "
                f"{result.tests} tests{f': {result.by}' if result.by else ''}\n"
            )
            sys.stdout.flush()
    for mutant, result in done:
        if result.status == SURVIVED:
            diff = mutant.diff(mutant.path.read_bytes())
            sys.stdout.write(f"\nSurvived {result.tests} tests: {place_of(mutant)} {result.by}\n{diff}\n")
    return done


if __name__ == "__main__":
    sys.exit(main())
