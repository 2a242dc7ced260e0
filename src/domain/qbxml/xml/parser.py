"""XML parsers for QBXML. They reject DTDs, entities, namespaces and documents with too many elements.

No parser here processes namespaces, because expat writes the URI of a namespace again for every prefixed name: a
document of 300 KB takes gigabytes. QBXML does not use namespaces (docs/decisions/0043-xml-without-namespaces.md).

defusedxml parses every text that may contain a declaration. Its parsers call handlers in Python, so we attach
our own handlers to its expat parser instead. `parse_tree` uses the standard parser for a text that is plain
(docs/decisions/0013-text-without-declarations.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, TreeBuilder, XMLParser
from xml.parsers.expat import ErrorString, ExpatError, errors
from xml.sax.handler import feature_string_interning

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element as Node

    StartHandler = Callable[[str, dict[str, str]], object]

MAX_ELEMENTS = 250_000
MAX_ATTRIBUTES = 500_000
"""The maximum number of elements and attributes of a document. A response of 6 MB, the most that fits into a call of
the Web Connector, has up to 200,000 elements, or half as many rows of a report with four attributes each."""


MAX_ATTRIBUTES_OF_ELEMENT = 5_000
"""The maximum number of attributes of an element. expat takes 100 MB for a tag of 6 MB, so they are counted before they
are parsed, by the equals signs between two tags. The longest text of QuickBooks has 4,095 characters."""


class TooComplex(ValueError):
    """The XML declares a namespace, or has too many elements or attributes."""


XML_ERRORS = (ExpatError, DefusedXmlException, TooComplex, UnicodeEncodeError)
"""The errors that the parsers raise for malformed XML, a DTD, a document that is too complex, or half of a surrogate
pair."""

_crowded_tag = re.compile(f"<(?:[^<=]*+=){{{MAX_ATTRIBUTES_OF_ELEMENT + 1}}}").search
_declaration_after_space = re.compile(r"\s+<\?xml\s[^<>]*\?>").match
_not_a_line_end = re.compile(r"[^\r\n]")


def defused_parser() -> Any:
    """Return an expat parser that has no handlers and raises DefusedXmlException if the text has a DTD.

    Entities are declared in a DTD, so none can occur. Namespaces are not processed: a prefix is a part of the name, and
    `xmlns` is an attribute. The encoding that a `str` declares is ignored.
    """
    reader = DefusedExpatParser(forbid_dtd=True)
    reader.setFeature(feature_string_interning, True)
    reader.reset()
    parser: Any = reader._parser  # type: ignore[attr-defined]  # noqa: SLF001 - its own handlers are slow
    parser.StartElementHandler = None
    parser.EndElementHandler = None
    parser.CharacterDataHandler = None
    parser.ProcessingInstructionHandler = None
    parser.StartNamespaceDeclHandler = None
    parser.EndNamespaceDeclHandler = None
    parser.SkippedEntityHandler = None
    parser.buffer_text = True
    return parser


def parse_tree(text: str) -> Node:
    """Return the root node of `text`, without comments and processing instructions. Raises XML_ERRORS."""
    # DOCTYPE and ENTITY start with `<!`. The encoding of a `str` is fixed, so nothing can hide `<!`.
    _check_attributes(text)
    if not contains(text, "<!") and _is_plain(text):
        try:
            return _plain_tree(text)
        except ParseError as error:
            # Without namespaces, a prefix without a declaration is a part of the name.
            if ErrorString(error.code) != errors.XML_ERROR_UNBOUND_PREFIX:
                raise _as_expat_error(error) from None
    return defused_tree(text)


def _plain_tree(text: str) -> Node:
    """Return the result of `parse_tree` for a text without declarations and namespaces. Raises ParseError."""
    parser = XMLParser()  # noqa: S314 - a text without declarations is safe
    parser.feed(normalize_prologue(text))
    return parser.close()


def _as_expat_error(error: ParseError) -> ExpatError:
    """Return the error of expat for the error of the standard parser."""
    converted = ExpatError(str(error))
    converted.code = error.code
    converted.lineno, converted.offset = error.position
    return converted


def defused_tree(text: str) -> Node:
    """Return the result of `parse_tree`, but always use defusedxml."""
    builder = TreeBuilder()
    # These handlers are written in C, so expat never calls into Python.
    parse_events(text, builder.start, builder.end, builder.data)
    return builder.close()


def parse_events(text: str, start: StartHandler, end: Any = None, characters: Any = None) -> None:
    """Parse `text` with handlers for expat's events. Raises XML_ERRORS."""
    _check_attributes(text)
    parser = defused_parser()
    parser.StartElementHandler = start if _is_plain(text) else _bounded(start)
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(normalize_prologue(text), True)


@dataclass(frozen=True, slots=True)
class Span:
    """An element and its place in the text: the bytes of UTF-8 from `start` up to `end`."""

    name: str
    attributes: dict[str, str]
    start: int
    end: int


def spans(text: str, depth: int) -> tuple[bytes, list[Span]]:
    """Return `text` in UTF-8 and its elements at a depth, where the root has 0. Raises XML_ERRORS."""
    _check_attributes(text)
    text = normalize_prologue(text)
    data, parser, found = text.encode(), defused_parser(), list[Span]()
    opened: list[tuple[str, dict[str, str], int]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        opened.append((name, attributes, parser.CurrentByteIndex))

    def end(name: str) -> None:
        _, attributes, start = opened.pop()
        if len(opened) == depth:
            # The position is at the end tag, or behind an element that consists of one tag.
            end = parser.CurrentByteIndex
            if data.startswith(f"</{name}".encode(), end):
                end = data.index(b">", end) + 1
            found.append(Span(name, attributes, start, end))

    parser.StartElementHandler = start if _is_plain(text) else _bounded(start)
    parser.EndElementHandler = end
    parser.Parse(text, True)
    return data, found


def declares_namespace(attribute: str) -> bool:
    """Return whether the attribute with this name declares a namespace."""
    return attribute == "xmlns" or attribute.startswith("xmlns:")


def _check_attributes(text: str) -> None:
    """Raise TooComplex if an element has too many attributes."""
    if text.count("=") > MAX_ATTRIBUTES_OF_ELEMENT and _crowded_tag(text):
        raise TooComplex(f"An element has more than {MAX_ATTRIBUTES_OF_ELEMENT:,} attributes.")


def _is_plain(text: str) -> bool:
    """Return whether `text` certainly has no namespace and not too many elements and attributes."""
    return (
        "xmlns" not in text
        and "xml:" not in text
        and text.count("=") <= MAX_ATTRIBUTES
        and ((tags := text.count("<")) <= MAX_ELEMENTS or tags - text.count("</") <= MAX_ELEMENTS)
    )


def _bounded(start: StartHandler) -> StartHandler:
    """Return `start` with the checks that a text needs if it is not plain. They raise TooComplex."""
    elements = attributes = 0

    def checked(name: str, attributes_of_element: dict[str, str]) -> None:
        nonlocal elements, attributes
        elements += 1
        attributes += len(attributes_of_element)
        if elements > MAX_ELEMENTS:
            raise TooComplex(f"It has more than {MAX_ELEMENTS:,} elements.")
        if attributes > MAX_ATTRIBUTES:
            raise TooComplex(f"It has more than {MAX_ATTRIBUTES:,} attributes.")
        if any(map(declares_namespace, attributes_of_element)):
            raise TooComplex("It declares an XML namespace.")
        start(name, attributes_of_element)

    return checked


def contains(text: str, pair: str) -> bool:
    """Return whether `text` contains a pair of characters, such as `<!`."""
    # Searching for one rare character is many times faster than searching for a pair that starts with a common one.
    return pair[1] in text and pair in text


def normalize_prologue(text: str) -> str:
    """Return `text` without a byte order mark and without white space before the XML declaration.

    Pasted requests often start with white space, which XML forbids before `<?xml?>`. The declaration is replaced by
    spaces, which keeps line and column numbers the same.
    """
    text = text.removeprefix("\N{BOM}")
    if text[:1].isspace() and (declaration := _declaration_after_space(text)):
        return _not_a_line_end.sub(" ", declaration.group()) + text[declaration.end() :]
    return text


def error_text(error: ExpatError) -> str:
    """Return expat's description of an error."""
    return str(ErrorString(error.code))
