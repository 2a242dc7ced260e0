"""The limits of a request that need no schema, for XML and JSON alike."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DEPTH = 20
"""How deep elements nest, the request element counted as 1 (contract §4)."""

MAX_REQUEST_ID = 50
"""Characters of a `requestID`; QuickBooks answers a longer one with status 1060 (`qbxml.md` §2)."""

ON_ERROR = ("stopOnError", "continueOnError", "rollbackOnError")
RESPONSE_DATA = ("includeAll", "includeNone")

MESSAGE_SET_IDS = ("newMessageSetID", "oldMessageSetID")
MESSAGE_SET_IDS_RESERVED = (
    "is set by this service, which asks QuickBooks for the stored answer when one got lost. Leave it out."
)

is_name = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}\Z").match
"""An XML name that plain ASCII can write, as every QBXML name is; the longest has half as many characters."""

MAX_PROBLEMS = 100
"""Problems of one request that are told; more would help nobody."""

_MAX_SHOWN = 60
"""Characters of a wrong text that a message repeats."""

is_version = re.compile(r"(?:[A-Z]{2})?[0-9]{1,2}\.[0-9]\Z").match
"""A QBXML version: `13.0`, or `CA3.0` with the edition before it (`qbxml.md` §1)."""

# XML 1.0 allows tab, line feed and carriage return; C1 controls are legal there but never meant.
find_bad_character = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]").search


def bad_character(text: str) -> str | None:
    """Return words for the first character that no request may hold, or None."""
    found = find_bad_character(text)
    if found is None:
        return None
    return f"Character U+{ord(found.group()):04X} is a control character or no character; remove it."


def shown(text: str) -> str:
    """Return a text in quotation marks as a message repeats it: cut when it is long."""
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…")


_ALIKE = 0.7
"""How much of two names is the same when one may be meant by the other, from 0 to 1."""


def nearest(name: str, names: Iterable[str], least: float = _ALIKE) -> str | None:
    """Return "Did you mean …?" with the names nearest to `name`, or None."""
    close = alike(name, names, least)
    return f"Did you mean {' or '.join(close)}?" if close else None


def alike(name: str, names: Iterable[str], least: float) -> list[str]:
    """Return the names that are most like `name`, three at most; one that differs in case only is alone."""
    if len(name) > _MAX_SHOWN:
        return []
    by_lower = {candidate.lower(): candidate for candidate in names}
    if name.lower() in by_lower:
        return [by_lower[name.lower()]]
    return [by_lower[found] for found in get_close_matches(name.lower(), by_lower, n=3, cutoff=least)]
