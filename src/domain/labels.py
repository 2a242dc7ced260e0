"""The rules of labels and metadata, which callers give to their requests. QuickBooks sees neither."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from domain.errors import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LABEL_CHARACTERS = 50
MAX_METADATA_PAIRS = 20
MAX_METADATA_BYTES = 2 * 1024
"""The maximum size of all names and values together, in UTF-8."""

MAX_METADATA_TEXT = 6 * MAX_METADATA_BYTES + 1024
"""The maximum characters of metadata as JSON. A character can be an escape of six, and each pair takes six more."""

_MAX_QUOTED = 60
"""The maximum characters of a name that a message repeats."""

AN_OBJECT = 'an object with names and strings, such as {"order": "1007"}'

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def checked_label(label: str) -> str:
    """Return a label. Raises ValueError if it is empty, too long or not a line of text."""
    if not 0 < len(label) <= MAX_LABEL_CHARACTERS:
        raise ValueError(f"has {len(label):,} characters. A label has 1 to {MAX_LABEL_CHARACTERS}")
    if _UNPRINTABLE.search(label):
        raise ValueError("must be one line without control characters")
    return label


def checked_metadata(value: Any) -> Mapping[str, str]:
    """Return metadata. Raises ValueError if it is not an object of strings, or too large."""
    if problem := _problem(value):
        raise ValueError(problem)
    metadata: Mapping[str, str] = value
    return metadata


def _problem(value: Any) -> str | None:
    """Return what is wrong with metadata, or None."""
    if not isinstance(value, dict):
        return f"must be {AN_OBJECT}"
    if len(value) > MAX_METADATA_PAIRS:
        return f"has {len(value):,} members. At most {MAX_METADATA_PAIRS} are allowed"
    others = [name for name, text in value.items() if not name or not isinstance(text, str)]
    if others:
        what = "which is not a string" if others[0] else "which is not a name"
        return f"must be {AN_OBJECT}. It has the member {shortened(others[0], _MAX_QUOTED)!r}, {what}"
    try:
        size = sum(len(text.encode()) for text in (*value, *value.values()))
    except UnicodeEncodeError:
        return "has half of a surrogate pair (\\ud800 to \\udfff), which is not a character"
    if size > MAX_METADATA_BYTES:
        return f"has {size:,} bytes of names and values. At most {MAX_METADATA_BYTES:,} are allowed"
    return None


def metadata_from_json(text: str) -> Mapping[str, str]:
    """Return the metadata in a JSON text. Raises ValueError."""
    if len(text) > MAX_METADATA_TEXT:
        raise ValueError(f"has {len(text):,} characters. At most {MAX_METADATA_BYTES:,} bytes are allowed")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=float)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"must be JSON: {AN_OBJECT}") from None
    return checked_metadata(value)


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(members)
    if len(value) < len(members):
        raise ValueError("has a member twice")
    return value
