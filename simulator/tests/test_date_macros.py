"""DateMacro values as ranges of days."""

from __future__ import annotations

from datetime import date

import pytest

from simulator.basics.date_macros import DATE_MACROS, date_range

TODAY = date(2026, 8, 19)
"""A Wednesday in the third quarter."""


@pytest.mark.parametrize(
    ("macro", "first", "last"),
    [
        ("Today", "2026-08-19", "2026-08-19"),
        ("Yesterday", "2026-08-18", "2026-08-18"),
        ("ThisWeek", "2026-08-16", "2026-08-22"),
        ("ThisWeekToDate", "2026-08-16", "2026-08-19"),
        ("LastWeek", "2026-08-09", "2026-08-15"),
        ("LastWeekToDate", "2026-08-09", "2026-08-12"),
        ("NextWeek", "2026-08-23", "2026-08-29"),
        ("NextFourWeeks", "2026-08-23", "2026-09-19"),
        ("ThisMonth", "2026-08-01", "2026-08-31"),
        ("ThisMonthToDate", "2026-08-01", "2026-08-19"),
        ("LastMonth", "2026-07-01", "2026-07-31"),
        ("NextMonth", "2026-09-01", "2026-09-30"),
        ("ThisCalendarQuarter", "2026-07-01", "2026-09-30"),
        ("LastCalendarQuarterToDate", "2026-04-01", "2026-05-20"),
        ("NextCalendarYear", "2027-01-01", "2027-12-31"),
        ("LastCalendarYear", "2025-01-01", "2025-12-31"),
        ("ThisFiscalYear", "2026-04-01", "2027-03-31"),
        ("LastFiscalYear", "2025-04-01", "2026-03-31"),
        ("ThisFiscalQuarter", "2026-07-01", "2026-09-30"),
        ("NextFiscalQuarter", "2026-10-01", "2026-12-31"),
    ],
)
def test_a_macro_is_a_range_of_days(macro: str, first: str, last: str) -> None:
    assert date_range(macro, TODAY, first_fiscal_month=4) == (date.fromisoformat(first), date.fromisoformat(last))


def test_there_are_34_macros_and_each_begins_before_it_ends() -> None:
    assert len(DATE_MACROS) == 34
    for macro in DATE_MACROS:
        first, last = date_range(macro, date(2024, 2, 29), first_fiscal_month=10)
        assert first <= last


def test_last_month_to_date_ends_with_a_shorter_month() -> None:
    assert date_range("LastMonthToDate", date(2026, 3, 31)) == (date(2026, 2, 1), date(2026, 2, 28))


def test_an_unknown_macro_is_refused() -> None:
    with pytest.raises(ValueError, match="not a DateMacro"):
        date_range("Someday", TODAY)
