"""The limits of a request that do not depend on the schema, for XML and JSON alike."""

from __future__ import annotations

import re

MAX_DEPTH = 20
"""The maximum depth of nested elements. The request element is level 1."""

MAX_ELEMENTS = 50_000
"""The maximum number of elements. A mistake in each of them is found in less than a second."""

TOO_MANY_ELEMENTS = f"The request has more than {MAX_ELEMENTS:,} elements."
FEWER_ELEMENTS = "Split it into several requests."

MAX_REQUEST_LABEL_CHARACTERS = 50
"""The maximum characters in a `requestID`. QuickBooks returns status 1060 for a longer one."""

MAX_DIGITS = 18
"""The maximum digits of a whole number. A signed number of 64 bits always has as many."""

MAX_WIRE_BYTES = 5 * 1024 * 1024
"""The maximum bytes of a request in the reply to the Web Connector. A Lambda function returns at most 6 MB."""

MAX_BATCH_BYTES = 1_200_000
"""The maximum bytes of QBXML in a batch, whose body has at most 1 MiB. In the answer, a byte takes up to four, and
Lambda returns at most 6 MB."""

MAX_PROBLEMS = 100
"""The maximum number of problems that are reported for one request."""

ON_ERROR = ("stopOnError", "continueOnError", "rollbackOnError")
RESPONSE_DATA = ("includeAll", "includeNone")

is_name = re.compile(r"(?!xmlns\Z)[A-Za-z_][A-Za-z0-9_.-]{0,99}\Z").match
"""Match an XML name in ASCII without a namespace. All names in QBXML are ASCII, and the longest has about 50
characters."""

is_version = re.compile(r"(?:[A-Z]{2})?[0-9]{1,2}\.[0-9]\Z").match
"""Match a QBXML version such as `13.0`, or `CA3.0` with a prefix for the edition."""

_VERSIONS = frozenset({"1.0", "1.1", "2.0", "2.1", "3.0", "4.0", "4.1", *(f"{major}.0" for major in range(5, 18))})
_EDITIONS = ("CA", "UK")


def edition_of(version: str) -> str:
    """Return the prefix of an old Canadian or British version, or an empty string for any other version."""
    return version.rstrip("0123456789.")


def version_exists(version: str) -> bool:
    """Return whether any QuickBooks supports a version: 1.0 to 17.0, or an old one with a prefix such as `CA3.0`."""
    edition = edition_of(version)
    return version.removeprefix(edition) in _VERSIONS and edition in {"", *_EDITIONS}


# XML 1.0 allows tab, line feed and carriage return. It also allows C1 controls, but those are always mistakes.
find_bad_character = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]").search


def bad_character_message(text: str) -> str | None:
    """Return a message about the first control character or noncharacter in `text`, or None."""
    match = find_bad_character(text)
    if match is None:
        return None
    return f"QBXML does not allow the character U+{ord(match.group()):04X}; remove it."
