"""Reads the statuses of a response.

Responses are not validated, because newer versions of QuickBooks add elements.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from xml.parsers.expat import ExpatError, errors
from xml.sax.saxutils import escape

from defusedxml.common import DefusedXmlException

from domain.qbxml.xml.parser import TooComplex, contains, error_text, find_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.qbxml.xml.parser import Span

_Read = TypeVar("_Read")

MESSAGE_SET = "QBXMLMsgsRs"
REQUEST_ID = "requestID"
_MESSAGE_SETS = "MsgsRs"
"""The end of the names of message sets."""

_MAX_RESPONSES = 100
"""The maximum number of message sets and responses in a document. The service sends up to 20 requests in a message set,
and three in the first call of a session."""


class UnreadableResponse(Exception):
    """The text is not a QBXML response. The message gives the reason."""


class ResponseName(NamedTuple):
    """What a response names: its element (`CustomerQueryRs`), and the label of its request if it has one."""

    element: str
    request_label: str | None


@dataclass(frozen=True, slots=True)
class ResponseStatus:
    """The result of one request. `name` is the response element. `severity` is Info, Warn or Error.

    `iterator_remaining` and `iterator_id` are set for a page of an iterated query.
    """

    name: str
    request_label: str | None
    code: int
    severity: str
    message: str
    iterator_remaining: int | None = None
    iterator_id: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether QuickBooks did not execute the request."""
        return self.severity == "Error"


@dataclass(frozen=True, slots=True)
class ResponsePart:
    """The response to one request in the response to a message set, as QuickBooks wrote it.

    `head` and `tail` are the text before the first and behind the last response of the message set. `statuses` has one
    status, unless responses are inside of each other. `is_apart` means that the message set has nothing else than its
    responses and white space.
    """

    name: str
    request_label: str | None
    text: str
    head: str
    tail: str
    statuses: tuple[ResponseStatus, ...]
    is_apart: bool = True

    def document(self, request_label: str) -> str:
        """Return a document with this response alone, as the response to a request with this label.

        Everything else is as QuickBooks wrote it. With a label that needs no escape, this is the text that QuickBooks
        returns if the request is sent alone.
        """
        return f"{self.head}{self._with_label(request_label)}{self.tail}"

    def _with_label(self, request_label: str) -> str:
        """Return the response with another `requestID`, between the same quotation marks."""
        place = len(f"<{self.name}")
        while attribute := _attribute(self.text, place):
            if attribute[1] == REQUEST_ID:
                start, end = attribute.span(2 if attribute[3] is None else 3)
                mark = self.text[start - 1]
                label = escape(request_label, {mark: _QUOTATION_MARKS[mark], **_WHITE_SPACE})
                return f"{self.text[:start]}{label}{self.text[end:]}"
            place = attribute.end()
        return self.text

    def response(self, request_label: str) -> Response:
        """Return what `parse_response` returns for this document, but for the status of the message set."""
        first, *others = self.statuses
        own = replace(first, request_label=request_label) if self.request_label else first
        return Response((own, *others))


_begins_message_set = re.compile(rf"<\w*{_MESSAGE_SETS}(?:\s[^<>]*)?>\s*\Z").search
_ends_message_set = re.compile(rf"\s*</\w*{_MESSAGE_SETS}\s*>").match
_attribute = re.compile(r"""\s+([^\s=/>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""").match
_QUOTATION_MARKS = {'"': "&quot;", "'": "&apos;"}
_WHITE_SPACE = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


@dataclass(frozen=True, slots=True)
class Response:
    """The statuses in a response, in the order of the requests.

    `message_set_status` is `messageSetStatusCode`, which is set only with error recovery. `_responses` are the elements
    with these statuses in `_read`, which is UTF-8. `_text` is what QuickBooks wrote, before it was repaired.
    """

    statuses: tuple[ResponseStatus, ...]
    message_set_status: int | None = None
    _responses: Sequence[Span] = field(default=(), repr=False, compare=False)
    _read: bytes = field(default=b"", repr=False, compare=False)
    _text: str = field(default="", repr=False, compare=False)

    def parts(self) -> list[ResponsePart]:
        """Return the responses of the message set, in its order."""
        found = [span for span in self._responses if span.within.endswith(_MESSAGE_SETS)]
        if not found:
            return []
        text = self._text.encode(errors="surrogatepass")
        places = [place for span in found for place in (span.start, span.end)]
        if text != self._read:
            places = _before_repair(self._read, places, text)

        def between(start: int, end: int) -> str:
            return text[start:end].decode(errors="surrogatepass")

        head, tail = between(0, places[0]), between(places[-1], len(text))
        gaps = [between(end, start) for end, start in zip(places[1:-1:2], places[2::2], strict=True)]
        is_apart = bool(_begins_message_set(head) and _ends_message_set(tail)) and not "".join(gaps).strip()
        parts = []
        for span, start, end in zip(found, places[::2], places[1::2], strict=True):
            own = [
                status
                for status, response in zip(self.statuses, self._responses, strict=True)
                if span.start <= response.start < span.end
            ]
            label = span.attributes.get(REQUEST_ID) or None
            parts.append(ResponsePart(span.name, label, between(start, end), head, tail, tuple(own), is_apart))
        return parts


def _before_repair(read: bytes, places: Sequence[int], text: bytes) -> list[int]:
    """Return places of tags in a text before it was read with repair.

    A repair adds and removes no angle bracket, except that it may blank out a declaration at the beginning.
    """
    brackets, original = ([match.start() for match in re.finditer(b"[<>]", data)] for data in (read, text))
    of_original = dict(zip(reversed(brackets), reversed(original), strict=False))
    # A tag begins with a bracket, and ends behind one.
    return [
        of_original[place] if number % 2 == 0 else of_original[place - 1] + 1 for number, place in enumerate(places)
    ]


def parse_response(text: str) -> Response:
    """Return the statuses in `text`.

    Raises UnreadableResponse if the XML is malformed, has no message set, or has a status without a number.
    """
    elements: list[Span] = []
    data = read_with_repair(partial(_read_elements, elements), text)
    message_sets = [element for element in elements if _is_message_set(element)]
    if not message_sets:
        raise UnreadableResponse(f"The response has no {MESSAGE_SET}.")
    codes = [_number(element.attributes, "messageSetStatusCode") for element in message_sets]
    responses = [element for element in elements if not _is_message_set(element)]
    statuses = tuple(_status(response.name, response.attributes) for response in responses)
    return Response(statuses, next((code for code in codes if code is not None), None), responses, data, text)


def named_responses(text: str) -> tuple[ResponseName, ...]:
    """Return the names of the responses in `text`, up to the place at which it is unreadable or cut off."""
    elements: list[Span] = []
    with suppress(UnreadableResponse):
        read_with_repair(partial(_read_elements, elements), text)
    return tuple(
        ResponseName(element.name, element.attributes.get(REQUEST_ID) or None)
        for element in elements
        if not _is_message_set(element)
    )


def _is_message_set(element: Span) -> bool:
    return element.name.endswith(_MESSAGE_SETS)


def _read_elements(elements: list[Span], text: str) -> bytes:
    """Set `elements` to the message sets and responses, as far as they are read. Return the text in UTF-8."""
    elements.clear()

    def add(element: Span) -> None:
        # The names of objects in a response end in Ret, so the depth does not matter here.
        if len(elements) >= _MAX_RESPONSES:
            raise UnreadableResponse(f"The document has more than {_MAX_RESPONSES} responses.")
        elements.append(element)

    return find_elements(text, "Rs", add)


def _status(name: str, attributes: dict[str, str]) -> ResponseStatus:
    code = _number(attributes, "statusCode")
    if code is None:
        raise UnreadableResponse(f"{name} has no statusCode.")
    return ResponseStatus(
        name,
        attributes.get("requestID") or None,
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
    if not _is_integer(text):
        raise UnreadableResponse(f"{name} is not a number: {text[:40]!r}.")
    return int(text)


_is_integer = re.compile(r"\s*[+-]?[0-9]{1,10}\s*").fullmatch
"""An integer of QBXML. It has 32 bits, so it has at most ten digits."""


_CHARACTER_ERRORS = {errors.XML_ERROR_BAD_CHAR_REF, errors.XML_ERROR_INVALID_TOKEN}
"""The errors for a character that XML 1.0 forbids or a reference to one."""


def read_with_repair(read: Callable[[str], _Read], text: str) -> _Read:
    """Return the result of `read` for a response. Characters that XML 1.0 forbids are replaced.

    References to C1 controls are read as Windows-1252, the code page of QuickBooks: `&#146;` is an apostrophe. Calls
    `read` again with the repaired text if the first call fails at a forbidden character. Raises UnreadableResponse.
    """
    if contains(text, "&#"):
        text = _c1_reference.sub(_windows_1252, text)
    try:
        try:
            return read(text)
        except (ExpatError, UnicodeEncodeError) as error:
            if isinstance(error, ExpatError) and error_text(error) not in _CHARACTER_ERRORS:
                raise
            return read(_repaired(text))
    except ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        raise UnreadableResponse(f"The response is malformed XML: {error_text(error)} at {place}.") from None
    except DefusedXmlException:
        raise UnreadableResponse("The response declares a DOCTYPE.") from None
    except TooComplex as error:
        raise UnreadableResponse(f"The response cannot be processed. {error}") from None


_c1_reference = re.compile(r"&#(?:x[89][0-9A-Fa-f]|1[2-5][0-9]);")
_C1_CHARACTERS = {
    reference: character
    for code in range(0x80, 0xA0)
    if (character := bytes([code]).decode("cp1252", "ignore"))
    for reference in (f"&#{code};", f"&#x{code:x};")
}


def _windows_1252(reference: re.Match[str]) -> str:
    return _C1_CHARACTERS.get(reference[0].lower(), reference[0])


_forbidden = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_reference = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")


def _repaired(text: str) -> str:
    """Return the text with U+FFFD for every forbidden character and reference. QuickBooks does write them."""
    return _forbidden.sub("\N{REPLACEMENT CHARACTER}", _reference.sub(_legal_reference, text))


def _legal_reference(reference: re.Match[str]) -> str:
    hexadecimal, decimal = reference.groups()
    digits = (hexadecimal or decimal).lstrip("0") or "0"
    code = int(digits, 16 if hexadecimal else 10) if len(digits) <= len("1114111") else -1
    if not 0 <= code <= 0x10FFFF or _forbidden.match(chr(code)):  # noqa: PLR2004 - the last character of Unicode
        return "\N{REPLACEMENT CHARACTER}"
    return reference.group()
