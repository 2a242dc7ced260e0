"""The state machine of the test suite, with any number of runs, in memory or on DynamoDB."""

from __future__ import annotations

import time
from contextlib import ExitStack

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.proofs import output
from tests.proofs.databases import new_dynamodb_store
from tests.support.web_connector.interleavings import Interleavings
from tests.support.web_connector.system import System


class InMemory(Interleavings):
    """Shows its progress."""

    runs = 0

    def teardown(self) -> None:
        """End a run."""
        super().teardown()
        type(self).runs += 1
        output.progress(f"{self.runs} runs, {Interleavings.steps} steps")


class OnDynamoDB(InMemory):
    """Each system has new tables, so that the same steps give the same system."""

    def make_system(self, seed: int) -> System:
        """Return an empty system."""
        self._tables = ExitStack()
        store = self._tables.enter_context(new_dynamodb_store())
        return System(store, batch_size=self.batch_size, max_sessions=self.max_sessions, seed=seed)

    def teardown(self) -> None:
        """End a run."""
        with getattr(self, "_tables", ExitStack()):
            super().teardown()


def run(
    machine: type[Interleavings], runs: int, steps: int, chance: int | None = None, *, shrinks: bool = True
) -> None:
    """Take up to `steps` steps `runs` times, the same steps for the same `chance`. Raises the rule that does not hold.

    With `shrinks`, it searches for the shortest case, which is only fast in memory.
    """
    profile = settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if shrinks else [Phase.generate],
        report_multiple_bugs=False,
    )
    machine._hypothesis_internal_use_seed = chance  # noqa: SLF001 - what `hypothesis.seed` does
    run_state_machine_as_test(machine, settings=profile)


def prove(machine: type[InMemory], runs: int, steps: int, chance: int) -> bool:
    """Run the state machine and print the result."""
    start, runs_before, steps_before = time.monotonic(), machine.runs, machine.steps
    run(machine, runs, steps, chance, shrinks=machine is InMemory)
    seconds = time.monotonic() - start
    size = f"{machine.runs - runs_before} runs, {machine.steps - steps_before} steps"
    output.result(f"interleavings: {machine.__name__}, {size}, {seconds:.0f} s, nothing failed")
    return True
