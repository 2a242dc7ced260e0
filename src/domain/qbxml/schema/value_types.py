"""The value types of QBXML: the texts that they accept and the conversions from other notations.

The forms of the base types are those of the schema, including white space. In addition, every length is bounded, so
checking a text of any size takes constant time. A day that does not exist is refused. Another value that only
QuickBooks rejects, such as hour 99, is accepted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from domain.dates import reason_against_day

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_MAX_CONVERTED = 100
"""The maximum characters of a text to convert. No value is longer in any notation."""

_MAX_LISTED_VALUES = 16
"""The maximum number of values of an enumeration that a message lists."""

_SPACE = "[ \t\n\r]{0,20}"


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a text or an attribute: a base type, or an enumeration of `values`.

    `expected` describes its form for messages. `accepts` checks a text, or is None if any text is allowed. `convert`
    converts a text from another notation or returns None. A decimal number has at most `whole_digits` before the point
    and `decimals` behind it.
    """

    expected: str
    accepts: Callable[[str], object] | None = None
    convert: Callable[[str], str | None] = lambda _text: None
    values: tuple[str, ...] = ()
    whole_digits: int | None = None
    decimals: int = 0

    def converted(self, text: str) -> str | None:
        """Return the text in QBXML's notation, or None if it cannot be converted."""
        converted = self.convert(text.strip()) if len(text) <= _MAX_CONVERTED else None
        return converted if converted is not None and (self.accepts is None or self.accepts(converted)) else None


def enumeration(values: Sequence[str]) -> ValueType:
    """Return the type of a text that must be one of `values`."""
    listed = ", ".join(values[:_MAX_LISTED_VALUES]) + (", …" if len(values) > _MAX_LISTED_VALUES else "")
    return ValueType(f"one of {listed}", frozenset(values).__contains__, values=tuple(values))


_plain_date = re.compile(
    rf"{_SPACE}-?(\d{{4,10}})-(\d\d)-(\d\d)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?{_SPACE}", re.ASCII
).fullmatch
_date_time = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2})(?:[Tt ](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.\d{1,30})?)?)?"
    r"(?:([Zz])|([+-]\d{1,2}):?(\d{2}))?)?",
    re.ASCII,
).fullmatch
_number = re.compile(r"([+-]?)(\d+)(?:\.(\d*))?", re.ASCII).fullmatch
_clock = re.compile(r"(\d{1,4}):([0-5]\d)(?::([0-5]\d))?", re.ASCII).fullmatch
_guid = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch


def _is_date(text: str) -> bool:
    match = _plain_date(text)
    if not match:
        return len(text) <= _MAX_CONVERTED and not text.strip(" \t\n\r")
    year, month, day = match.groups()
    if (len(year) > len("9999") and year[0] == "0") or not year.strip("0"):
        return False
    try:
        # Leap years repeat every 400 years; Python's dates end in the year 9999.
        date(2000 + int(year) % 400, int(month), int(day))
    except ValueError:
        return False
    return True


_date_time_form = re.compile(
    rf"{_SPACE}|([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})"
    r"(?:T[0-9]{1,2}(?::[0-9]{1,2}(?::[0-9]{1,2}(?:[+\-][0-9]{1,2}:[0-9]{1,2})?)?)?)?",
    re.ASCII,
).fullmatch


def _is_date_time(text: str) -> bool:
    match = _date_time_form(text)
    return match is not None and (match[1] is None or reason_against_day(*match.groups()) is None)


def _decimal(max_places: int, *, min_places: int = 0) -> Callable[[str], str | None]:
    """Return a converter of numbers to at most `max_places` decimals, and at least `min_places` if there are any."""

    def convert(text: str) -> str | None:
        match = _number(text)
        if not match:
            return None
        sign, whole, fraction = match.groups()
        decimals = (fraction or "").rstrip("0")
        if len(decimals) > max_places:
            return None
        number = sign + (whole.lstrip("0") or "0")
        return f"{number}.{decimals.ljust(min_places, '0')}" if decimals or (fraction and min_places) else number

    return convert


def _to_boolean(text: str) -> str | None:
    return {"true": "true", "false": "false", "1": "true", "0": "false"}.get(text.lower())


def _to_date(text: str) -> str | None:
    match = _date_time(text)
    # A date and time can become a date only at midnight.
    if not match or any(part and int(part) for part in match.groups()[1:4]):
        return None
    return _padded_date(match[1])


def _to_date_time(text: str) -> str | None:
    match = _date_time(text)
    if not match or _padded_date(match[1]) is None:
        return None
    day, hour, minute, second, zulu, offset_hour, offset_minute = match.groups()
    if hour is None:
        return day
    offset = "+00:00" if zulu else f"{offset_hour}:{offset_minute}" if offset_hour else ""
    return f"{day}T{hour}:{minute or '00'}:{second or '00'}{offset}"


def _padded_date(text: str) -> str | None:
    year, month, day = text.split("-")
    padded = f"{year}-{month:0>2}-{day:0>2}"
    return padded if _is_date(padded) else None


def _to_guid(text: str) -> str | None:
    bare = text.strip("{}")
    return f"{{{bare}}}" if _guid(bare) else None


def _to_interval(text: str) -> str | None:
    match = _clock(text)
    return f"PT{int(match[1])}H{int(match[2])}M{int(match[3] or 0)}S" if match else None


def _form(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern, re.ASCII).fullmatch


_TEXT = ValueType("text")


def _with_five_decimals(kind: str) -> ValueType:
    form = _form(r"(?:[+\-]?[0-9]{1,10}(?:\.[0-9]{1,5})?)?")
    expected = f"{kind} with up to 10 digits and at most 5 decimals"
    return ValueType(expected, form, _decimal(5), whole_digits=10, decimals=5)


BASE_TYPES: Mapping[str, ValueType] = {
    "STRTYPE": _TEXT,
    "MACROTYPE": _TEXT,
    "UUIDTYPE": _TEXT,
    "IDTYPE": ValueType("an ID of at most 36 characters", _form(r"(?s:.{0,36})")),
    "BOOLTYPE": ValueType("true or false", _form(rf"{_SPACE}(?:true|false|1|0)?{_SPACE}"), _to_boolean),
    "INTTYPE": ValueType(
        "a whole number of at most 18 digits",
        _form(rf"{_SPACE}[+\-]?[0-9]{{1,18}}{_SPACE}"),
        _decimal(0),
        whole_digits=18,
    ),
    "AMTTYPE": ValueType(
        "an amount with up to 13 digits, and two decimals or none, such as 97.50",
        _form(r"(?:[+\-]?[0-9]{1,13}(?:\.[0-9]{2})?)?"),
        _decimal(2, min_places=2),
        whole_digits=13,
        decimals=2,
    ),
    "PRICETYPE": _with_five_decimals("a price"),
    "QUANTYPE": _with_five_decimals("a quantity"),
    "PERCENTTYPE": _with_five_decimals("a percentage"),
    "FLOATTYPE": ValueType(
        "a number",
        _form(rf"{_SPACE}(?:[+\-]?(?:[0-9]{{1,40}}(?:\.[0-9]{{0,40}})?|\.[0-9]{{1,40}}))?{_SPACE}"),
        _decimal(20),
    ),
    "DATETYPE": ValueType("a date, such as 2026-01-31", _is_date, _to_date),
    "DATETIMETYPE": ValueType(
        "a date-time without Z and without a fraction, such as 2026-01-31T13:30:00-08:00",
        _is_date_time,
        _to_date_time,
    ),
    "TIMEINTERVALTYPE": ValueType(
        "a time interval, such as PT8H30M0S",
        _form(rf"{_SPACE}(?:-?PT(?=[0-9])(?:[0-9]{{1,18}}H)?(?:[0-9]{{1,18}}M)?(?:[0-9]{{1,18}}S)?)?{_SPACE}"),
        _to_interval,
    ),
    "GUIDTYPE": ValueType(
        "0 or a GUID in braces",
        _form(r"0|\{[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}"),
        _to_guid,
    ),
}
"""The base types by their names in the schema facts."""

DATE_TYPES = (BASE_TYPES["DATETYPE"], BASE_TYPES["DATETIMETYPE"])
