"""The state machine of the test suite for as long as one wants."""

# ruff: noqa: T201 - it talks to a person at a terminal
from __future__ import annotations

import time

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.unit.web_connector.interleavings import Interleavings


class Told(Interleavings):
    """Tells how far it is."""

    runs = 0

    def teardown(self) -> None:
        """End a run."""
        super().teardown()
        type(self).runs += 1
        print(f"\r{self.runs} runs, {Interleavings.steps} steps", end="", flush=True)


def prove(runs: int, steps: int, chance: int) -> bool:
    """Take `runs` times up to `steps` steps; the same ones for the same `chance`. Raises what does not hold."""
    began = time.monotonic()
    profile = settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(chance)(Told), settings=profile)
    print(f"\ninterleavings: {Told.runs} runs, {Told.steps} steps, {time.monotonic() - began:.0f} s, nothing failed")
    return True
