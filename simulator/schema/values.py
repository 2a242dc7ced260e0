"""The form, length and meaning of values in requests. A wrong value gets a status, not an HRESULT.

Maximum lengths are those of the US edition. A time without an offset is local time of the QuickBooks machine. A "to"
date without a time means the end of that day.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.schema.checking import parse_error
from simulator.schema.model import Element, Simple

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

ID_LENGTH = 36

_FIVE_DECIMALS = re.compile(r"[+-]?\d{1,10}(\.\d{1,5})?|")
_FORMS: dict[str, tuple[re.Pattern[str], int, str]] = {
    "BOOLTYPE": (re.compile(r"true|false|1|0|"), 3010, "boolean value"),
    "TIMEINTERVALTYPE": (re.compile(r"-?PT(?=\d)(\d+H)?(\d+M)?(\d+S)?|"), 3035, "time interval"),
    "AMTTYPE": (re.compile(r"[+-]?\d{1,13}(\.\d{2})?|"), 3040, "amount"),
    "PRICETYPE": (_FIVE_DECIMALS, 3045, "price"),
    "PERCENTTYPE": (_FIVE_DECIMALS, 3050, "percentage"),
    "QUANTYPE": (_FIVE_DECIMALS, 3060, "quantity"),
    "FLOATTYPE": (re.compile(r"[+-]?(\d+\.?\d*|\.\d+)|"), 3085, "number"),
}
"""By base type: the form of its values, the status of a value in another form, and QuickBooks' word for it."""

_OBJECT_IDS = ("ListID", "TxnID")
_ID = re.compile(r"[0-9A-Fa-f]+-\d+|")
"""The id of an object: hexadecimal digits and the time of its creation."""
_INTEGER = re.compile(r"[+-]?\d{1,10}")
_GUID = re.compile(r"0|\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:T(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:([+-])(\d\d):(\d\d))?)?)?)?")
_LAST_MODIFIED_DATE = datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)
_DECIMALS = {"AMTTYPE": 2, "PRICETYPE": 2, "PERCENTTYPE": 2, "QUANTYPE": 0}
"""The minimum number of decimals that QuickBooks writes, by base type."""


def check_values(node: Node, model: Element) -> None:
    """Check every value below `node`. Raises `RequestError`, and `HresultError` for values that the parser refuses."""
    kind = model.type
    if isinstance(kind, Simple):
        check_value(node.tag, node.text or "", kind)
        return
    elements = kind.elements
    for child in node:
        check_values(child, elements[child.tag])


def check_value(name: str, text: str, kind: Simple) -> None:
    """Check one value. Raises `RequestError`, and `HresultError` for values that the parser refuses."""
    base = kind.base
    if base == "STRTYPE":
        if kind.length is not None and len(text) > kind.length:
            raise RequestError(3070, f'The string "{text}" in the field "{name}" is too long.')
    elif base in _FORMS:
        pattern, code, noun = _FORMS[base]
        if not pattern.fullmatch(text.strip()):
            raise RequestError(code, f'There was an error when converting the {noun} "{text}" in the field "{name}".')
    elif base == "DATETIMETYPE":
        moment(name, text, UTC)
    elif base == "DATETYPE":
        day(name, text)
    elif base == "IDTYPE" and (len(text) > ID_LENGTH or (name in _OBJECT_IDS and not _ID.fullmatch(text))):
        raise RequestError(3000, f'The given object ID "{text}" in the field "{_words(name)}" is invalid. ')
    elif base == "INTTYPE":
        _check_integer(name, text.strip(), kind)
    elif base == "GUIDTYPE" and not _GUID.fullmatch(text):
        raise parse_error(f"{name} must be 0 or a GUID in braces, not {text!r}")


def _words(name: str) -> str:
    """Return the name of an id as QuickBooks writes it in a message: `list id` for `ListID`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _check_integer(name: str, text: str, kind: Simple) -> None:
    if not _INTEGER.fullmatch(text):
        raise parse_error(f"{name} must be a whole number, not {text!r}")
    number = int(text)
    if (kind.least is not None and number < kind.least) or (kind.most is not None and number > kind.most):
        raise parse_error(f"{name} must be from {kind.least} to {kind.most or 'any number'}, not {text!r}")


def canonical(text: str, kind: Simple, zone: tzinfo) -> str:
    """Return a checked value as QuickBooks stores and writes it. '' stays ''."""
    base = kind.base
    if base == "STRTYPE":
        return stored_text(text)
    text = text.strip()
    if text and base == "BOOLTYPE":
        text = "true" if is_true(text) else "false"
    elif text and base in _DECIMALS:
        text = number_text(Decimal(text), _DECIMALS[base])
    elif text and base == "INTTYPE":
        text = str(int(text))
    elif base == "DATETIMETYPE":
        time = moment("", text, zone)
        text = "" if time is None else time.isoformat(timespec="seconds")
    return text


@lru_cache(maxsize=1 << 12)
def number_text(number: Decimal, decimals: int) -> str:
    """Write a number with at least so many decimals, and no more zeros at its end than that."""
    text = f"{number.normalize():f}"
    whole, _, fraction = text.partition(".")
    if len(fraction) < decimals:
        fraction = fraction.ljust(decimals, "0")
    if whole == "-0" and not fraction.strip("0"):
        whole = "0"
    return f"{whole}.{fraction}" if fraction else whole


def money(amount: Decimal) -> str:
    """Write an amount with two decimals. Zero has no sign."""
    return f"{amount or Decimal():.2f}"


def moment(name: str, text: str, zone: tzinfo) -> datetime | None:
    """Read a DATETIMETYPE. Without an offset it is local time in `zone`. Empty text is None.

    A `ToModifiedDate` without a time is 23:59:59 of its day. Raises `RequestError` 3020.
    """
    if not text:
        return None
    error = RequestError(3020, f'There was an error when converting the date value "{text}" in the field "{name}".')
    matched = _TIME.fullmatch(text)
    if matched is None:
        raise error
    year, month, number, hour, minute, second, sign, offset_hours, offset_minutes = matched.groups()
    if sign:
        offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
        zone = timezone(-offset if sign == "-" else offset)
    try:
        result = datetime(
            int(year), int(month), int(number), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=zone
        )
    except ValueError:
        raise error from None
    if hour is None and name.startswith("To"):
        result = result.replace(hour=23, minute=59, second=59)
    # A zone in which 1970-01-01 begins before the epoch still means the first day that QuickBooks knows.
    if result.year < 1970 or result > _LAST_MODIFIED_DATE:  # noqa: PLR2004 - the epoch
        raise error
    return result


def day(name: str, text: str) -> date | None:
    """Read a DATETYPE. Empty text is None. Raises `RequestError` 3020."""
    if not text:
        return None
    matched = _DAY.fullmatch(text)
    try:
        return date(*map(int, matched.groups())) if matched else _bad_day(name, text)
    except ValueError:
        return _bad_day(name, text)


def _bad_day(name: str, text: str) -> date:
    raise RequestError(3020, f'There was an error when converting the date value "{text}" in the field "{name}".')


def is_true(text: str | None) -> bool:
    """Read a BOOLTYPE that has been checked."""
    return text in {"true", "1"}


def stored_text(text: str) -> str:
    """Return a text as QuickBooks stores it: in Windows-1252, with "?" for any other character."""
    return text.encode("cp1252", "replace").decode("cp1252")
