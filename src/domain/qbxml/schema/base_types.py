"""QBXML's base types: what their text may be (`qbxml.md` §3), and how other notations become that.

The rules are those of the XSD, white space included. A type whose values QuickBooks reads more
strictly (an hour 99 in a date-time) is not second-guessed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SPACE = "[ \t\n\r]*"


@dataclass(frozen=True, slots=True)
class BaseType:
    """A base type: `accepts` its text, `expected` says what that is, `rewrite` knows other notations.

    `accepts` is None where any text will do.
    """

    expected: str
    accepts: Callable[[str], object] | None = None
    rewrite: Callable[[str], str | None] = lambda _text: None

    def converted(self, text: str) -> str | None:
        """Return another notation of this type in QBXML's; None when it cannot be converted."""
        rewritten = self.rewrite(text)
        return rewritten if rewritten is not None and (self.accepts is None or self.accepts(rewritten)) else None


_plain_date = re.compile(rf"{_SPACE}(-?)(\d{{4,}})-(\d\d)-(\d\d)(Z|[+-]\d\d:\d\d)?{_SPACE}\Z", re.ASCII).match
_zone = re.compile(r"[+-](?:0\d|1[0-3]):[0-5]\d\Z|[+-]14:00\Z|Z\Z").match
_date_time = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2})(?:[Tt ](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.\d+)?)?)?"
    r"(?:([Zz])|([+-]\d{1,2}):?(\d{2}))?)?\Z",
    re.ASCII,
).match
_number = re.compile(r"([+-]?)0*(\d+)(?:\.(\d*))?\Z", re.ASCII).match
_clock = re.compile(r"(\d{1,4}):([0-5]\d)(?::([0-5]\d))?\Z", re.ASCII).match
_guid = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z").match


def _is_date(text: str) -> bool:
    if not text.strip(" \t\n\r"):
        return True
    found = _plain_date(text)
    if not found:
        return False
    _, year, month, day, zone = found.groups()
    if (len(year) > len("9999") and year[0] == "0") or not year.strip("0") or (zone and not _zone(zone)):
        return False
    try:
        # Leap years repeat every 400 years, and so every 10,000; a date of Python ends in 9999.
        date(2000 + int(year[-4:]) % 400, int(month), int(day))
    except ValueError:
        return False
    return True


def _decimal(places: int, *, pad: int = 0) -> Callable[[str], str | None]:
    """Return a conversion of numbers to at most `places` decimals, at least `pad` where there are any."""

    def converted(text: str) -> str | None:
        found = _number(text.strip())
        if not found:
            return None
        sign, whole, fraction = found.groups()
        digits = (fraction or "").rstrip("0")
        if len(digits) > places:
            return None
        digits = digits.ljust(pad, "0") if digits or fraction else ""
        return f"{sign}{whole}.{digits}" if digits else f"{sign}{whole}"

    return converted


def _as_boolean(text: str) -> str | None:
    return {"true": "true", "false": "false", "1": "true", "0": "false"}.get(text.strip().lower())


def _as_date(text: str) -> str | None:
    found = _date_time(text.strip())
    if not found:
        return None
    written, *clock = found.groups()
    if any(part and int(part) for part in clock[:3]):
        return None
    year, month, day = written.split("-")
    padded = f"{year}-{month:0>2}-{day:0>2}"
    return padded if _is_date(padded) else None


def _as_date_time(text: str) -> str | None:
    found = _date_time(text.strip())
    if not found:
        return None
    written, hour, minute, second, zulu, offset, offset_minute = found.groups()
    year, month, day = written.split("-")
    if not _is_date(f"{year}-{month:0>2}-{day:0>2}"):
        return None
    if hour is None:
        return written
    zone = "+00:00" if zulu else f"{offset}:{offset_minute}" if offset else ""
    return f"{written}T{hour}:{minute or '00'}:{second or '00'}{zone}"


def _as_guid(text: str) -> str | None:
    bare = text.strip().strip("{}")
    return f"{{{bare}}}" if _guid(bare) else None


def _as_interval(text: str) -> str | None:
    found = _clock(text.strip())
    if not found:
        return None
    hours, minutes, seconds = found.groups()
    return f"PT{int(hours)}H{int(minutes)}M{int(seconds or 0)}S"


def _pattern(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern, re.ASCII).fullmatch


_ANY = BaseType("text")
_QUANTITY_PATTERN = r"(?:[+\-]?[0-9]{1,10}(?:\.[0-9]{1,5})?)?"

BASE_TYPES: Mapping[str, BaseType] = {
    "STRTYPE": _ANY,
    "MACROTYPE": _ANY,
    "UUIDTYPE": _ANY,
    "IDTYPE": BaseType("an id of at most 36 characters", _pattern(r"(?s:.{0,36})")),
    "BOOLTYPE": BaseType("true or false", _pattern(rf"{_SPACE}(?:true|false|1|0)?{_SPACE}"), _as_boolean),
    "INTTYPE": BaseType("a whole number", _pattern(rf"{_SPACE}[+\-]?[0-9]+{_SPACE}"), _decimal(0)),
    "AMTTYPE": BaseType(
        "an amount with two decimals or none, like 97.50",
        _pattern(r"(?:[+\-]?[0-9]{1,13}(?:\.[0-9]{2})?)?"),
        _decimal(2, pad=2),
    ),
    "PRICETYPE": BaseType("a price with at most 5 decimals", _pattern(_QUANTITY_PATTERN), _decimal(5)),
    "QUANTYPE": BaseType("a quantity with at most 5 decimals", _pattern(_QUANTITY_PATTERN), _decimal(5)),
    "PERCENTTYPE": BaseType("a percentage with at most 5 decimals", _pattern(_QUANTITY_PATTERN), _decimal(5)),
    "FLOATTYPE": BaseType(
        "a number", _pattern(rf"{_SPACE}(?:[+\-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))?{_SPACE}"), _decimal(20)
    ),
    "DATETYPE": BaseType("a date, like 2026-01-31", _is_date, _as_date),
    "DATETIMETYPE": BaseType(
        "a date-time, like 2026-01-31T13:30:00-08:00, without Z and without a fraction",
        _pattern(
            rf"{_SPACE}|[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}"
            r"(?:T[0-9]{1,2}(?::[0-9]{1,2}(?::[0-9]{1,2}(?:[+\-][0-9]{1,2}:[0-9]{1,2})?)?)?)?"
        ),
        _as_date_time,
    ),
    "TIMEINTERVALTYPE": BaseType(
        "a time interval, like PT8H30M0S",
        _pattern(rf"{_SPACE}(?:-?PT(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?{_SPACE}"),
        _as_interval,
    ),
    "GUIDTYPE": BaseType(
        "0 or a GUID in braces",
        _pattern(r"0|\{[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}"),
        _as_guid,
    ),
}
"""Every base type by its name in the facts of the schema."""
