"""The page that states the highest cost of an hour agrees with the program that computes it."""

from __future__ import annotations

from tools.highest_costs import PAGE, page, rows


def test_the_highest_costs_on_the_page_are_those_of_the_limits_and_prices() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text == page(text), "run PYTHONPATH=src python -m tools.highest_costs"


def test_every_credential_has_a_highest_cost() -> None:
    totals = [row.name for row in rows() if row.name]

    assert totals == ["none", "a read-only key", "a full key", "a customer's machine"]
