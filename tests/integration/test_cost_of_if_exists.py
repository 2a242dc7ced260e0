"""What `if_exists` costs: a query if nothing is written, and otherwise less than a third more than the write alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.costs_page import UNITS
from benchmarks.looking_costs import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    Counted = Mapping[str, Mapping[str, float]]

QUERY, ADDITION, MOD = "a query", "a plain addition", "a plain Mod"
APPROVED = "`update`, `updated` after an approval"


@pytest.fixture(scope="module")
def units() -> Counted:
    """Return what each kind of request uses."""
    return counted()


def test_the_page_has_the_units_of_each_outcome(units: Counted) -> None:
    assert units == json.loads(UNITS.read_text(encoding="utf-8"))["calls"]["looking"], "run python -m benchmarks.costs"


@pytest.mark.parametrize("outcome", ["`return`, `found`", "`update`, `unchanged`"])
def test_a_request_that_writes_nothing_costs_at_most_a_query(units: Counted, outcome: str) -> None:
    assert units[outcome]["writes"] <= units[QUERY]["writes"]
    assert units[outcome]["reads"] <= units[QUERY]["reads"]


@pytest.mark.parametrize(
    ("outcome", "plain"),
    [("`return`, `created`", ADDITION), ("`update`, `created`", ADDITION), ("`update`, `updated`", MOD)],
)
def test_a_request_that_writes_costs_less_than_a_third_more_than_the_write_alone(
    units: Counted, outcome: str, plain: str
) -> None:
    assert units[outcome]["writes"] <= 1.3 * units[plain]["writes"]


def test_a_request_costs_less_if_its_query_is_sent_with_others(units: Counted) -> None:
    """A read unit costs a fifth of a write unit."""
    prices = {name: counted["writes"] + counted["reads"] / 5 for name, counted in units.items()}
    assert prices["`update`, `unchanged`, in sets of 20"] <= 0.85 * prices["`update`, `unchanged`"]
    assert prices["`update`, `updated`, in sets of 20"] <= prices["`update`, `updated`"]


def test_an_approval_costs_less_than_the_update_once_more(units: Counted) -> None:
    """The object is asked for twice, and the request leaves the queue and enters it again."""
    assert units[APPROVED]["messages"] == units["`update`, `updated`"]["messages"] + 1
    assert units[APPROVED]["writes"] < 2 * units["`update`, `updated`"]["writes"]
    assert units[APPROVED]["reads"] < 2 * units["`update`, `updated`"]["reads"]
