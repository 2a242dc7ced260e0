"""The kinds of values that query parameters accept. Each has a reader and a JSON schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, time
from typing import TYPE_CHECKING, Any

from domain.dates import how_to_write_date
from domain.errors import shortened
from domain.labels import MAX_LABEL_CHARACTERS, checked_label, metadata_from_json
from domain.qbxml.request import limits
from domain.qbxml.request.characters import is_storable
from domain.send_by import MAX_SECONDS, MIN_SECONDS
from domain.timestamps import timestamp_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_whole_number = re.compile(r"[0-9]{1,9}").fullmatch

# A plus sign that is not encoded arrives as a space.
_date_time = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2})?(?:\.\d{1,30})?(?:([Zz])|([+\- ])(\d{2}):?(\d{2}))?)?", re.ASCII
).fullmatch

_MAX_ID = 36
_MAX_QUOTED = 60
"""The maximum characters of a value that a message repeats."""

_MEANT_BY = {"yes": "true", "y": "true", "on": "true", "no": "false", "n": "false", "off": "false"}


class BadValue(ValueError):
    """A value that a parameter does not accept. `suggestion` says how to write it, if that is known."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.suggestion = suggestion


def _bad(expected: str, value: str, suggestion: str | None = None) -> BadValue:
    """Return the error for a value that is not what is expected."""
    return BadValue(f"must be {expected}, not {shortened(value, _MAX_QUOTED)!r}", suggestion)


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of value. `read` returns the text for QBXML, or raises BadValue."""

    read: Callable[[str], str]
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


def _text(value: str) -> str:
    if (message := limits.bad_character_message(value)) is not None:
        raise BadValue(message)
    if not is_storable(value):
        raise BadValue("QuickBooks can store only the characters of Windows-1252; replace the others.")
    return value


def _name(value: str) -> str:
    if any(character in value for character in "\t\n\r"):
        raise _bad("a name, which has no line break and no tab", value)
    return _text(value)


def _limited(max_length: int) -> ValueKind:
    def read(value: str) -> str:
        if len(value) > max_length:
            message = f"has {len(value):,} characters; at most {max_length} are allowed"
            raise BadValue(message, f"Shorten it by {len(value) - max_length:,}.")
        return _text(value)

    return ValueKind(read, {"type": "string", "maxLength": max_length})


def _boolean(value: str) -> str:
    text = {"true": "true", "1": "true", "false": "false", "0": "false"}.get(value.lower())
    if text is None:
        meant = _MEANT_BY.get(value.lower())
        raise _bad("true or false", value, meant and f"Write {meant}.")
    return text


def _iteration(value: str) -> str:
    text = {"auto": "auto", "never": "false"}.get(value.lower())
    try:
        return text or _boolean(value)
    except BadValue:
        meant = {"yes": "true", "on": "true", "no": "never", "off": "never", "always": "true"}.get(value.lower())
        raise _bad("auto, true or never", value, meant and f"Write {meant}.") from None


def _count(value: str) -> str:
    if not _whole_number(value) or int(value) < 1:
        raise _bad("a whole number of at least 1, with up to 9 digits", value)
    return str(int(value))


def _day(value: str) -> str:
    match = _date_time(value)
    if not match or match[2]:
        raise _bad("a date, such as 2026-01-31", value, how_to_write_date(value))
    return _existing_day(match[1])


def _moment(value: str) -> str:
    match = _date_time(value)
    if not match:
        expected = "a date or a date-time, such as 2026-01-31 or 2026-01-31T13:30:00Z"
        raise _bad(expected, value, how_to_write_date(value))
    day, hours_minutes, seconds, zulu, sign, offset_hours, offset_minutes = match.groups()
    _existing_day(day)
    if hours_minutes is None:
        return day
    clock = f"{hours_minutes}{seconds or ':00'}"
    try:
        time.fromisoformat(clock)
        time.fromisoformat(f"{offset_hours or '00'}:{offset_minutes or '00'}")
    except ValueError:
        raise _bad("a time that exists, from 00:00 to 23:59:59", value) from None
    offset = "+00:00" if zulu else f"{sign.replace(' ', '+')}{offset_hours}:{offset_minutes}" if sign else ""
    return f"{day}T{clock}{offset}"


def _existing_day(value: str) -> str:
    try:
        date.fromisoformat(value)
    except ValueError:
        raise _bad("a day that exists", value, how_to_write_date(value)) from None
    return value


def _version(value: str) -> str:
    if not limits.is_version(value) or not limits.version_exists(value):
        whole = f"{value}.0"
        suggestion = f"Write {whole}." if limits.is_version(whole) and limits.version_exists(whole) else None
        raise _bad("a QBXML version from 1.0 to 17.0, such as 13.0", value, suggestion)
    return value


def _own_label(value: str) -> str:
    try:
        return checked_label(value)
    except ValueError as error:
        raise BadValue(str(error)) from None


def _metadata(value: str) -> str:
    try:
        metadata_from_json(value)
    except ValueError as error:
        raise BadValue(str(error)) from None
    return value


def _time(value: str) -> str:
    try:
        # A plus sign that is not encoded arrives as a space.
        return timestamp_from(re.sub(r" (?=\d\d:?\d\d$)", "+", value))
    except ValueError as error:
        raise BadValue(str(error)) from None


def _send_within(value: str) -> str:
    if not _whole_number(value) or not MIN_SECONDS <= int(value) <= MAX_SECONDS:
        raise _bad(f"a whole number of seconds from {MIN_SECONDS} to {MAX_SECONDS:,}", value)
    return value


TEXT = ValueKind(_text)
NAME = ValueKind(_name)
VERSION = ValueKind(_version)
REQUEST_LABEL = _limited(limits.MAX_REQUEST_LABEL_CHARACTERS)
LABEL = ValueKind(_own_label, {"type": "string", "minLength": 1, "maxLength": MAX_LABEL_CHARACTERS})
METADATA = ValueKind(_metadata)
"""An object of strings as JSON."""
LIST_ID = _limited(_MAX_ID)
BOOLEAN = ValueKind(_boolean, {"type": "boolean"})
ITERATION = ValueKind(_iteration, {"type": "string", "enum": ["auto", "true", "1", "never", "false", "0"]})
"""`auto`, `true` or `false`, which `never` also means."""
COUNT = ValueKind(_count, {"type": "integer", "minimum": 1})
SEND_BY = ValueKind(_time, {"type": "string", "format": "date-time"})
SEND_WITHIN = ValueKind(_send_within, {"type": "integer", "minimum": MIN_SECONDS, "maximum": MAX_SECONDS})
DAY = ValueKind(_day, {"type": "string", "format": "date"})
MOMENT = ValueKind(_moment, {"type": "string", "format": "date-time"})
"""A date-time, or a date. QBXML has no fraction of a second and writes `+00:00` for `Z`."""
