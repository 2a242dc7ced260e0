"""The page of costs has what the counters count: of the calls of an app here, of all else by the program."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks.call_costs import SIZES, counted
from benchmarks.costs_page import (
    OVERVIEW_COUNTS,
    OVERVIEW_STATISTICS,
    PAGE,
    PRICES,
    UNITS,
    Bill,
    example_totals,
    page,
)
from local.programs import ROOT

COUNTED = json.loads(UNITS.read_text(encoding="utf-8"))


def test_the_tables_on_the_page_are_those_of_the_counted_units_and_prices() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text == page(text), "run python -m benchmarks.costs --write"


def test_the_calls_of_an_app_use_what_the_page_says() -> None:
    """A search reads blocks of texts, whose compressed size differs a little between versions of zlib."""
    again = counted(SIZES[:1])

    assert {group: rows.keys() for group, rows in again.items()} == {
        group: COUNTED["calls"][group].keys() for group in again
    }
    for group, rows in again.items():
        for name, used in rows.items():
            assert used == pytest.approx(COUNTED["calls"][group][name], rel=0.02, abs=0.5), name


def test_a_list_by_the_time_of_sending_and_a_page_of_others_take_at_most_200_units_and_30_calls() -> None:
    largest = COUNTED["calls"][f"lists of {SIZES[-1]}"]

    for name, used in largest.items():
        if "search_phrase" not in name and "request_name" not in name and "page_size" not in name:
            assert used["reads"] <= 200, name
            assert used["calls"] <= 30, name


@pytest.mark.parametrize(
    ("view", "polls"), [("overview.js", OVERVIEW_STATISTICS), ("overview_approvals.js", OVERVIEW_COUNTS)]
)
def test_the_overview_polls_as_often_as_its_price_assumes(view: str, polls: float) -> None:
    text = (ROOT / "src" / "console" / "views" / view).read_text(encoding="utf-8")
    (milliseconds,) = re.findall(r"^const REFRESH_MILLISECONDS = ([0-9_]+);", text, re.MULTILINE)

    assert polls == 60_000 / int(milliseconds)


def test_other_pages_cite_the_examples() -> None:
    shop, hundred, most = example_totals(Bill(COUNTED, json.loads(PRICES.read_text(encoding="utf-8"))))
    text = (ROOT / "docs" / "guides" / "hosted-services.md").read_text(encoding="utf-8")

    assert (
        f"{shop} USD for a shop with a nightly sync, {hundred} USD with 100 connections, {most} USD with 10,000" in text
    )


def test_a_run_without_changes_takes_six_write_units_more_than_its_session_and_eighteen_with_it() -> None:
    own, added, *_ = COUNTED["calls"]["subscriptions"].values()

    assert added["messages"] == own["messages"] == 1
    assert added["writes"] <= 6
    assert own["writes"] <= 18
