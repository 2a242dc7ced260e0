"""The expectations in `expected/*.txt` agree, or strict mode names the rule that they depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.expectations import Run, Scenario, scenarios

if TYPE_CHECKING:
    from simulator import Snapshot

SCENARIOS = list(scenarios())


@pytest.fixture(scope="module")
def keeper() -> Bookkeeper:
    return Bookkeeper()


@pytest.fixture(scope="module")
def start(keeper: Bookkeeper) -> Snapshot:
    """Return the company as each scenario finds it."""
    return keeper.company.snapshot()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[f"{one.room}: {one.title}" for one in SCENARIOS])
def test_what_is_expected(keeper: Bookkeeper, start: Snapshot, scenario: Scenario) -> None:
    keeper.company.restore(start)
    run = Run(keeper)
    agrees, found = {}, {}
    for line in scenario.lines:
        if isinstance(line, str):
            run.step(line)
            continue
        for fact in line:
            value = run.value(fact.target, fact.path)
            agrees[str(fact), fact.value] = value == fact.value
            found[str(fact), fact.value] = value

    wrong = {key: value for key, value in found.items() if not agrees[key]}

    assert not wrong
