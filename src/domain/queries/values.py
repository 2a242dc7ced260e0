"""How a query parameter's text becomes the text of a QBXML element. Every reader raises ValueError in words."""

from __future__ import annotations

import re
from datetime import date, time
from typing import TYPE_CHECKING, Any

from domain.qbxml.request import limits
from domain.qbxml.request.characters import is_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_whole_number = re.compile(r"[0-9]{1,9}\Z").match

# A plus sign that was not encoded arrives as a space.
_moment = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?(?:([Zz])|([+\- ])(\d{2}):?(\d{2}))?)?\Z", re.ASCII
).match

_MAX_ID = 36
"""Characters of a ListID (`qbxml.md` §3, IDTYPE)."""


def text(value: str) -> str:
    """Return any text that QuickBooks can keep."""
    if (message := limits.bad_character(value)) is not None:
        raise ValueError(message)
    if not is_kept(value):
        raise ValueError("QuickBooks cannot keep every character of it: it knows those of Windows-1252.")
    return value


def label(value: str) -> str:
    """Return a `requestID`: QuickBooks takes at most 50 characters (`qbxml.md` §2)."""
    if len(value) > limits.MAX_REQUEST_ID:
        raise ValueError(f"It has at most {limits.MAX_REQUEST_ID} characters.")
    return text(value)


def list_id(value: str) -> str:
    """Return an id of QuickBooks."""
    if len(value) > _MAX_ID:
        raise ValueError(f"An id of QuickBooks has at most {_MAX_ID} characters.")
    return text(value)


def boolean(value: str) -> str:
    """Return `true` or `false`."""
    meaning = {"true": "true", "1": "true", "false": "false", "0": "false"}.get(value.lower())
    if meaning is None:
        raise ValueError("Write true or false.")
    return meaning


def count(value: str) -> str:
    """Return a whole number from 1."""
    if not _whole_number(value) or int(value) < 1:
        raise ValueError("Write a whole number from 1.")
    return str(int(value))


def day(value: str) -> str:
    """Return a date."""
    found = _moment(value)
    if not found or found[2]:
        raise ValueError("Write a date: 2026-01-31.")
    return _existing_day(found[1])


def moment(value: str) -> str:
    """Return a date or a date-time as QBXML writes it: no fraction, `+00:00` for `Z` (contract §7)."""
    found = _moment(value)
    if not found:
        raise ValueError("Write a date-time: 2026-01-31T13:30:00Z, or a date: 2026-01-31.")
    written_day, hours_minutes, seconds, zulu, sign, hours, minutes = found.groups()
    _existing_day(written_day)
    if hours_minutes is None:
        return written_day
    clock = f"{hours_minutes}{seconds or ':00'}"
    try:
        time.fromisoformat(clock)
        time.fromisoformat(f"{hours or '00'}:{minutes or '00'}")
    except ValueError:
        raise ValueError(f"There is no such time: {value}.") from None
    offset = "+00:00" if zulu else f"{sign.replace(' ', '+')}{hours}:{minutes}" if sign else ""
    return f"{written_day}T{clock}{offset}"


def _existing_day(value: str) -> str:
    try:
        date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"There is no such day: {value}.") from None
    return value


SCHEMAS: Mapping[Callable[[str], str], dict[str, Any]] = {
    text: {"type": "string"},
    label: {"type": "string", "maxLength": limits.MAX_REQUEST_ID},
    list_id: {"type": "string", "maxLength": _MAX_ID},
    boolean: {"type": "boolean"},
    count: {"type": "integer", "minimum": 1},
    day: {"type": "string", "format": "date"},
    moment: {"type": "string", "format": "date-time"},
}
"""What OpenAPI says of the values that each reader takes."""
