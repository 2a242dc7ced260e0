"""XML parsers for QBXML. They reject DTDs, entities, namespaces and documents with too many elements.

No parser here processes namespaces, because expat writes the URI of a namespace again for every prefixed name: a
document of 300 KB takes gigabytes. QBXML does not use namespaces (docs/decisions/0043-xml-without-namespaces.md).

defusedxml parses every text that may contain a declaration. Its parsers call handlers in Python, so we attach
our own handlers to its expat parser instead. `parse_tree` uses the standard parser for a text that is plain
(docs/decisions/0043-xml-without-namespaces.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, TreeBuilder, XMLParser
from xml.parsers.expat import ErrorString, ExpatError, errors
from xml.sax.handler import feature_string_interning

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from xml.etree.ElementTree import Element as Node

    StartHandler = Callable[[str, dict[str, str]], object]

MAX_ELEMENTS = 250_000
MAX_ATTRIBUTES = 500_000
"""The maximum number of elements and attributes of a document. A response of 6 MB, the most that fits into a call of
the Web Connector, has up to 200,000 elements, or half as many rows of a report with four attributes each."""


MAX_ATTRIBUTES_OF_ELEMENT = 5_000
"""The maximum number of attributes of an element. expat takes 100 MB for a tag of 6 MB, so they are counted before they
are parsed, by the equals signs between two tags. The longest text of QuickBooks has 4,095 characters."""

FEW_ATTRIBUTES = 200
"""The attributes of a message set of 20 responses, of which each has up to six. A report has thousands."""


class TooComplex(ValueError):
    """The XML declares a namespace, or has too many elements or attributes."""


XML_ERRORS = (ExpatError, DefusedXmlException, TooComplex, UnicodeEncodeError)
"""The errors that the parsers raise for malformed XML, a DTD, a document that is too complex, or half of a surrogate
pair."""

_crowded_tag = re.compile(f"<(?:[^<=]*+=){{{MAX_ATTRIBUTES_OF_ELEMENT + 1}}}").search
_declaration_after_space = re.compile(r"\s+<\?xml\s[^<>]*\?>").match
_tag = re.compile(rb"""<[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>""").match
_end_tag = re.compile(r"</([^\s<>/]+)\s*>").match
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


@dataclass(slots=True)
class Span:
    """An element and its place in the text: the bytes of UTF-8 from `start` up to `end`.

    Before the end of the element was read, `end` is that of its first tag. `within` is the name of the innermost
    element around it that was looked for too, or ''.
    """

    name: str
    attributes: dict[str, str]
    within: str
    start: int
    end: int


MAX_TAGS = 1_000
"""The maximum number of tags for which `find_elements` divides a text. A document of QuickBooks has about 50. A comment
could contain a million, and expat might read it again for each."""


def find_elements(text: str, ending: str, add: Callable[[Span], object]) -> bytes:
    """Call `add` at the start of each element whose name has this ending. Return the text in UTF-8.

    Most of the time would be that of calls for the other elements. So expat calls us only where a tag with this ending
    may be. Raises XML_ERRORS.
    """
    is_plain = _has_few_attributes(text) and _has_few_elements(text)
    if not is_plain:
        _check_attributes(text)
        is_plain = _is_plain(text)
    text = normalize_prologue(text)
    finder = _Finder(text.encode(), ending, add)
    places = list(islice(_places(text, ending), MAX_TAGS + 1))
    if is_plain and len(places) <= MAX_TAGS:
        finder.parse_divided(text, places)
    else:
        finder.parse(text)
    return finder.data


def _places(text: str, ending: str) -> Iterator[int]:
    """Yield the places of all tags whose names have this ending, and maybe others."""
    # A search that begins with letters is ten times faster than one that looks at each tag.
    behind = 0
    for name_end in re.finditer(f"{ending}[ \t\r\n/>]", text):
        place = text.rfind("<", behind, name_end.start())
        behind = name_end.end()
        if place >= 0:
            yield place


def _last_end_tags(text: str, ending: str, places: Sequence[int]) -> Sequence[int]:
    """Return those of the last places that certainly have end tags with this ending if the text is well-formed."""
    behind_declaration = text.find("?>") + 1 if text.startswith("<?") else 0
    if contains(text, "<!") or contains(text[behind_declaration:], "<?"):
        return ()  # A place may be in a comment.
    first = len(places)
    while first and (tag := _end_tag(text, places[first - 1])) and tag[1].endswith(ending):
        first -= 1
    return places[first:]


class _Finder:
    """Parses a text and finds elements in it."""

    def __init__(self, data: bytes, ending: str, add: Callable[[Span], object]) -> None:
        self.data = data
        self._ending = ending
        self._add = add
        self._parser = defused_parser()
        self._open: list[Span] = []
        self._ahead = 0
        self._was_whole = False

    def parse(self, text: str) -> None:
        """Parse a text with a call for each element."""
        self._parser.StartElementHandler, self._parser.EndElementHandler = _bounded(self._start), self._end
        self._ahead = len(text)
        self._parser.Parse(text, True)

    def parse_divided(self, text: str, places: Sequence[int]) -> None:
        """Parse a text with calls only while a tag that begins at one of these places is ahead.

        There may be no tag at a place, because it is in a comment. Then the calls go on.
        """
        closing = _last_end_tags(text, self._ending, places)
        begin = 0
        for place in places[: len(places) - len(closing)]:
            self._parser.Parse(text[begin:place], False)
            self._ahead += 1
            self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
            begin = place
        # expat counts the lines of each part but the last, so the longest part is parsed as the last one.
        self._parser.Parse(text[begin:], True)
        self._close(text, closing)

    def _close(self, text: str, closing: Sequence[int]) -> None:
        """Set the ends of the elements whose end tags expat has read without a call, to the last of these end tags."""
        at, behind = len(self.data), len(text)
        for span, place in zip(self._open, reversed(closing), strict=False):
            at -= len(text[place:behind].encode())
            behind = place
            span.end = self.data.index(b">", at) + 1

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not name.endswith(self._ending):
            return
        start = self._parser.CurrentByteIndex
        end = _tag_end(self.data, start)
        self._add(span := Span(name, attributes, self._open[-1].name if self._open else "", start, end))
        is_whole = self.data.endswith(b"/>", start, end)
        if not is_whole:
            self._open.append(span)
        # If expat goes on calling us, the next end is that of this element.
        self._was_whole = self._goes_on() and is_whole

    def _end(self, name: str) -> None:
        if self._was_whole:
            self._was_whole = False
        elif name.endswith(self._ending):
            self._open.pop().end = self.data.index(b">", self._parser.CurrentByteIndex) + 1
            self._goes_on()

    def _goes_on(self) -> bool:
        """Count a tag, and return whether others are ahead. If there are none, let expat parse without calls."""
        self._ahead -= 1
        if not self._ahead:
            self._parser.StartElementHandler = self._parser.EndElementHandler = None
        return bool(self._ahead)


def _tag_end(data: bytes, start: int) -> int:
    """Return the place behind the start tag at `start`, which expat has read."""
    tag = _tag(data, start)
    return tag.end() if tag else len(data)


def declares_namespace(attribute: str) -> bool:
    """Return whether the attribute with this name declares a namespace."""
    return attribute == "xmlns" or attribute.startswith("xmlns:")


def _has_few_attributes(text: str) -> bool:
    """Return whether `text` certainly has few attributes, none of which declares a namespace."""
    # Each has an equals sign. Python finds the next one many times faster than it counts them.
    behind = 0
    for _ in range(FEW_ATTRIBUTES):
        place = text.find("=", behind)
        if place < 0:
            return text.find("xmlns", 0, behind) < 0
        behind = place + 1
    return False


def _check_attributes(text: str) -> None:
    """Raise TooComplex if an element has too many attributes."""
    if text.count("=") > MAX_ATTRIBUTES_OF_ELEMENT and _crowded_tag(text):
        raise TooComplex(f"An element has more than {MAX_ATTRIBUTES_OF_ELEMENT:,} attributes.")


def _is_plain(text: str) -> bool:
    """Return whether `text` certainly has no namespace and not too many elements and attributes."""
    # Nearly always the last `xml` is that of the declaration, and the searches for a namespace end behind it.
    last = max(text.rfind("xml"), 0)
    return (
        text.find("xmlns", 0, last + len("xmlns")) < 0
        and text.find("xml:", 0, last + len("xml:")) < 0
        and _has_few_elements(text)
        and (len(text) <= len(' a=""') * MAX_ATTRIBUTES or text.count("=") <= MAX_ATTRIBUTES)
    )


def _has_few_elements(text: str) -> bool:
    """Return whether `text` has not too many elements."""
    # What is not counted has as many as fit. Nearly always this shows that there are few, as QuickBooks' tags are long.
    counted = min(max(2 * (len(text) - len("<A>") * MAX_ELEMENTS), 0), len(text))
    if text.count("<", 0, counted) + (len(text) - counted) // len("<A>") <= MAX_ELEMENTS:
        return True
    return (tags := text.count("<")) <= MAX_ELEMENTS or tags - text.count("</") <= MAX_ELEMENTS


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
