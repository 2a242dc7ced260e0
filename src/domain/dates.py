"""How to write a date that a caller wrote in another form, or that does not exist."""

from __future__ import annotations

import re
from calendar import month_name, monthrange
from datetime import date

_MAX_LENGTH = 100
"""The maximum characters of a text that is read as a date. No date is longer in any notation."""

_MONTHS = 12

_year_first = re.compile(
    r"(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{4})([/. ])(\d{1,2})\5(\d{1,2})|(\d{4})(\d\d)(\d\d))(?!\d)[T ]?.{0,30}",
    re.ASCII,
).fullmatch
_year_last = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:[T ].{0,30})?", re.ASCII).fullmatch


def how_to_write_date(text: str, time: str = "") -> str | None:
    """Return a suggestion for a text that is meant as a date, or None if it does not look like one.

    `time` is added to a date that exists. A date with the year last is never converted, because 03/04/2026 is in March
    in the US and in April elsewhere.
    """
    if len(text) > _MAX_LENGTH:
        return None
    if match := _year_first(text.strip()):
        year, month, day = (part for part in match.groups() if part is not None and part.isdigit())
        days = [(year, month, day)]
    elif match := _year_last(text.strip()):
        first, second, year = match.groups()
        days = list(dict.fromkeys([(year, first.zfill(2), second.zfill(2)), (year, second.zfill(2), first.zfill(2))]))
    else:
        return None
    if existing := [day for day in days if reason_against_day(*day) is None]:
        return f"Write {' or '.join(f'{year}-{month:0>2}-{day:0>2}{time}' for year, month, day in existing)}."
    in_a_month = [day for day in days if 1 <= int(day[1]) <= _MONTHS]
    return f"{reason_against_day(*(in_a_month or days)[0])}."


def reason_against_day(year: str, month: str, day: str) -> str | None:
    """Return why a day does not exist, such as `February 2026 has 28 days`, or None if it exists."""
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        if not int(year):
            return "There is no year 0"
        if not 1 <= int(month) <= _MONTHS:
            return f"There is no month {month}"
        days = monthrange(int(year), int(month))[1]
        return f"{month_name[int(month)]} {year} has {days} days" if int(day) else "There is no day 0"
    return None
