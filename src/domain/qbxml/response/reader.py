"""What QuickBooks answers: the statuses in a response.

Responses are read as they come: newer versions add elements, so that nothing is validated
(`qbxml.md` §1.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from domain.qbxml.xml_parser import (
    DefusedXmlException,
    ExpatError,
    armed_parser,
    explain,
    is_character_error,
    readable,
    tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element as Node

_Read = TypeVar("_Read")

MESSAGE_SET = "QBXMLMsgsRs"

ERROR = "Error"


class UnreadableResponse(Exception):
    """The text is no QBXML response; the message says why."""


@dataclass(frozen=True, slots=True)
class ResponseStatus:
    """The outcome of one request: `name` is the response element, `severity` Info, Warn or Error.

    `iterator_remaining` and `iterator_id` are there for a page of an iterated query.
    """

    name: str
    request_id: str | None
    code: int
    severity: str
    message: str
    iterator_remaining: int | None = None
    iterator_id: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether QuickBooks did not do it."""
        return self.severity == ERROR


@dataclass(frozen=True, slots=True)
class Response:
    """The statuses of a response, in the order of the requests.

    `message_set_status` is `messageSetStatusCode`, there only with error recovery (`qbxml.md` §4).
    """

    statuses: tuple[ResponseStatus, ...]
    message_set_status: int | None = None


def parse_response(text: str) -> Response:
    """Return the statuses in `text`.

    Raises UnreadableResponse when it is no well-formed XML, has no message set or a status
    without a number.
    """
    reader = _StatusReader()
    parse(text, reader.start)
    if not reader.message_sets:
        raise UnreadableResponse(f"There is no {MESSAGE_SET} in it.")
    codes = [_number(found, "messageSetStatusCode") for found in reader.message_sets]
    return Response(
        tuple(_status(name, attributes) for name, attributes in reader.statuses),
        next((code for code in codes if code is not None), None),
    )


class _StatusReader:
    """Collects the attributes of message sets and of the `…Rs` elements in them."""

    def __init__(self) -> None:
        self.message_sets: list[dict[str, str]] = []
        self.statuses: list[tuple[str, dict[str, str]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        # Only responses end so: what they return ends in Ret. This spares counting the depth.
        if not name.endswith("Rs"):
            return
        if name.endswith("MsgsRs"):
            self.message_sets.append(attributes)
        else:
            self.statuses.append((name, attributes))


def _status(name: str, attributes: dict[str, str]) -> ResponseStatus:
    code = _number(attributes, "statusCode")
    if code is None:
        raise UnreadableResponse(f"{name} has no statusCode.")
    return ResponseStatus(
        name,
        attributes.get("requestID"),
        code,
        attributes.get("statusSeverity", ""),
        attributes.get("statusMessage", ""),
        _number(attributes, "iteratorRemainingCount"),
        attributes.get("iteratorID"),
    )


def _number(attributes: dict[str, str], name: str) -> int | None:
    text = attributes.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise UnreadableResponse(f"{name} is no number: {text[:40]!r}.") from None


def parse(text: str, start: Any, end: Any = None, characters: Any = None) -> None:
    """Parse a response with expat handlers, past characters that XML 1.0 forbids.

    After such a character the handlers are called again from the beginning. Raises UnreadableResponse.
    """
    _past_forbidden(lambda given: _parse(given, start, end, characters), text)


def response_tree(text: str) -> Node:
    """Return the root of a response, past characters that XML 1.0 forbids. Raises UnreadableResponse."""
    return _past_forbidden(tree, text)


def _past_forbidden(read: Callable[[str], _Read], text: str) -> _Read:
    try:
        try:
            return read(text)
        except (ExpatError, UnicodeEncodeError) as error:
            if isinstance(error, ExpatError) and not is_character_error(error):
                raise
            return read(_repaired(text))
    except ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        raise UnreadableResponse(f"The response is malformed XML: {explain(error)} at {place}.") from None
    except DefusedXmlException:
        raise UnreadableResponse("The response declares a DOCTYPE.") from None


def _parse(text: str, start: Any, end: Any, characters: Any) -> None:
    parser = armed_parser()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(readable(text), True)


_forbidden = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_reference = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")


def _repaired(text: str) -> str:
    """Return the text with every forbidden character or reference as U+FFFD: QuickBooks writes them."""
    return _forbidden.sub("\N{REPLACEMENT CHARACTER}", _reference.sub(_allowed, text))


def _allowed(reference: re.Match[str]) -> str:
    hexadecimal, decimal = reference.groups()
    digits = (hexadecimal or decimal).lstrip("0") or "0"
    if len(digits) > len("1114111"):
        return "\N{REPLACEMENT CHARACTER}"
    code = int(digits, 16 if hexadecimal else 10)
    if code > 0x10FFFF or _forbidden.match(chr(code)):  # noqa: PLR2004 - the last character of Unicode
        return "\N{REPLACEMENT CHARACTER}"
    return reference.group()
