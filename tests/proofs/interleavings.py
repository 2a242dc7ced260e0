"""The state machine of the test suite for as long as one wants, in memory or on DynamoDB."""

from __future__ import annotations

import time
from contextlib import ExitStack

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.proofs import telling
from tests.proofs.databases import new_dynamodb_store
from tests.support.web_connector.interleavings import Interleavings
from tests.support.web_connector.world import World


class InMemory(Interleavings):
    """Tells how far it is."""

    runs = 0

    def teardown(self) -> None:
        """End a run."""
        super().teardown()
        type(self).runs += 1
        telling.progress(f"{self.runs} runs, {Interleavings.steps} steps")


class OnDynamoDB(InMemory):
    """Each world in tables of its own, so that the same steps are the same world again."""

    def make_world(self, seed: int) -> World:  # noqa: ARG002 - the database has no lag to choose
        """Return an empty world."""
        self._tables = ExitStack()
        return World(self._tables.enter_context(new_dynamodb_store()))

    def teardown(self) -> None:
        """End a run."""
        with getattr(self, "_tables", ExitStack()):
            super().teardown()


def run(
    machine: type[Interleavings], runs: int, steps: int, chance: int | None = None, *, shrinks: bool = True
) -> None:
    """Take `runs` times up to `steps` steps; the same ones for the same `chance`. Raises what does not hold.

    If it `shrinks`, the shortest case is looked for that does not: quick in memory alone.
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
    """Run it and tell."""
    began = time.monotonic()
    run(machine, runs, steps, chance, shrinks=machine is InMemory)
    seconds = time.monotonic() - began
    size = f"{machine.runs} runs, {machine.steps} steps"
    telling.result(f"interleavings: {machine.__name__}, {size}, {seconds:.0f} s, nothing failed")
    return True
