"""QuickBooks' DateMacro values as ranges of days, both ends inclusive. Weeks begin on Sunday, as in its reports."""

from __future__ import annotations

import re
from datetime import date, timedelta

_TO_DATE = [
    "Week",
    "Month",
    "CalendarQuarter",
    "FiscalQuarter",
    "CalendarYear",
    "FiscalYear",
]

DATE_MACROS = frozenset(
    ["All", "Today", "Yesterday", "NextFourWeeks"]
    + [f"{when}{unit}{end}" for when in ("This", "Last") for unit in _TO_DATE for end in ("", "ToDate")]
    + [f"Next{unit}" for unit in _TO_DATE]
)
"""The 34 values of qbXML 13.0."""

_MONTHS = {"Month": 1, "Quarter": 3, "Year": 12}


def date_range(macro: str, today: date, first_fiscal_month: int = 1) -> tuple[date, date]:
    """Return the first and the last day that `macro` (one of `DATE_MACROS`) means on `today`."""
    if macro == "All":
        return date.min, date.max
    if macro in {"Today", "Yesterday"}:
        day = today if macro == "Today" else today - timedelta(days=1)
        return day, day
    if macro == "NextFourWeeks":
        start = _shifted("Week", today, 1, first_fiscal_month)
        return start, start + timedelta(days=27)
    matched = re.fullmatch(r"(This|Last|Next)(\w+?)(ToDate)?", macro)
    if matched is None:
        raise ValueError(f"not a DateMacro: {macro}")
    when, unit, to_date = matched.groups()
    shift = {"This": 0, "Last": -1, "Next": 1}[when]
    start = _shifted(unit, today, shift, first_fiscal_month)
    end = _shifted(unit, today, shift + 1, first_fiscal_month) - timedelta(days=1)
    if to_date:
        elapsed = today - _shifted(unit, today, 0, first_fiscal_month)
        end = min(end, start + elapsed)
    return start, end


def _shifted(unit: str, today: date, shift: int, first_fiscal_month: int) -> date:
    """Return the first day of the period `shift` periods after the one that holds `today`."""
    if unit == "Week":
        return today - timedelta(days=(today.weekday() + 1) % 7) + timedelta(weeks=shift)
    months = _MONTHS[unit.removeprefix("Calendar").removeprefix("Fiscal")]
    anchor = first_fiscal_month - 1 if unit.startswith("Fiscal") else 0
    period = (today.year * 12 + today.month - 1 - anchor) // months + shift
    year, month = divmod(period * months + anchor, 12)
    return date(year, month + 1, 1)
