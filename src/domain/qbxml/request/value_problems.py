"""Explains why a text is not a value of its type, and how to write it."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from domain.dates import how_to_write_date
from domain.qbxml.request.problems import quoted
from domain.qbxml.schema.value_types import BASE_TYPES, DATE_TYPES
from domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.qbxml.schema.value_types import ValueType

_MAX_NUMBER = 50
"""The maximum characters of a text that is read as a number in another notation."""

_MAX_EXPONENT = 30

_plain_number = re.compile(r"[+-]?(\d+)(?:\.(\d*))?", re.ASCII).fullmatch
_around_a_number = re.compile(r"[$€£¥%\s\u00a0\u202f']|^[A-Z]{3}|[A-Z]{3}$")
_grouped = re.compile(r"[+-]?\d{1,3}(?:([,.])\d{3})+", re.ASCII).match

_BOOLEANS = {"yes": "true", "y": "true", "on": "true", "no": "false", "n": "false", "off": "false"}


def wrong_value(name: str, text: str, value_type: ValueType) -> tuple[str, str | None]:
    """Return the message about a text that its type does not accept, and a suggestion."""
    if value_type.whole_digits is not None and (too_long := _too_long(name, text.strip(), value_type)):
        return too_long
    message = f"{name} must be {value_type.expected}, not {quoted(text)}."
    if (converted := value_type.converted(text)) is not None:
        return message, f"Write {converted}."
    if value_type in DATE_TYPES:
        return message, how_to_write_date(text)
    if value_type is BASE_TYPES["BOOLTYPE"]:
        meant = _BOOLEANS.get(text.strip().lower())
        return message, meant and f"Write {meant}."
    if value_type.whole_digits is not None:
        written = dict.fromkeys(filter(None, map(value_type.converted, _numbers(text))))
        return message, f"Write {' or '.join(written)}." if written else None
    return message, did_you_mean(text, value_type.values)


def _too_long(name: str, text: str, value_type: ValueType) -> tuple[str, str | None] | None:
    """Return the problem of a number with too many digits or decimals, or None."""
    match = _plain_number(text)
    if not match or value_type.whole_digits is None:
        return None
    whole, decimals = len(match[1].lstrip("0")), len((match[2] or "").rstrip("0"))
    if whole > value_type.whole_digits:
        place = " before the point" if value_type.decimals else ""
        return f"{name} has {whole:,} digits{place}; at most {value_type.whole_digits} are allowed.", None
    if value_type.decimals and decimals > value_type.decimals:
        message = f"{name} has {decimals:,} decimals; at most {value_type.decimals} are allowed."
        return message, f"Round it to {value_type.decimals} decimals."
    return None


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers that a text can mean: `$1,234.50`, `1.234,50` and `1e3`. The comma of `1,234` is ambiguous."""
    bare = _around_a_number.sub("", text.strip()) if len(text) <= _MAX_NUMBER else ""
    if "e" in bare.lower():
        try:
            number = Decimal(bare)
        except InvalidOperation:
            return
        if number.is_finite() and abs(number.adjusted()) <= _MAX_EXPONENT:
            yield format(number, "f")
        return
    match = _grouped(bare)
    if match and match[1] not in bare[match.end() :]:
        yield bare.replace(match[1], "").replace(",", ".")
    if bare.count(",") == 1:
        yield bare.replace(",", ".")
    if bare != text:
        yield bare
