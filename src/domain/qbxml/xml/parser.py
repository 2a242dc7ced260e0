"""XML parsers that reject DTDs and entities.

defusedxml parses every text that may contain a declaration. Its `ElementTree` parser is pure Python, so we attach
handlers to its expat parser instead. `parse_tree` uses the standard parser for a text that cannot contain one
(docs/decisions/0013-text-without-declarations.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, TreeBuilder, XMLParser
from xml.parsers.expat import ErrorString, ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

XML_ERRORS = (ExpatError, DefusedXmlException, UnicodeEncodeError)
"""The errors that the parsers raise for malformed XML, a DTD or half of a surrogate pair."""

_declaration_after_space = re.compile(r"\s+<\?xml\s[^<>]*\?>").match
_not_a_line_end = re.compile(r"[^\r\n]")


def defused_parser() -> Any:
    """Return an expat parser that has no handlers and raises DefusedXmlException if the text has a DTD.

    Entities are declared in a DTD, so none can occur. A namespaced name is reported as `uri}name`. The encoding that
    a `str` declares is ignored.
    """
    parser = DefusedXMLParser(target=object(), forbid_dtd=True).parser
    parser.DefaultHandlerExpand = None
    parser.ordered_attributes = False
    parser.buffer_text = True
    return parser


def parse_tree(text: str) -> Node:
    """Return the root node of `text`, without comments and processing instructions. Raises XML_ERRORS."""
    # DOCTYPE and ENTITY start with `<!`. The encoding of a `str` is fixed, so nothing can hide `<!`.
    if not contains(text, "<!"):
        parser = XMLParser()  # noqa: S314 - a text without declarations is safe
        try:
            parser.feed(normalize_prologue(text))
            return parser.close()
        except (ParseError, UnicodeEncodeError):
            pass  # The parser below raises the precise error.
    return defused_tree(text)


def defused_tree(text: str) -> Node:
    """Return the result of `parse_tree`, but always use defusedxml."""
    builder = TreeBuilder()
    # These handlers are written in C, so expat never calls into Python.
    parse_events(text, builder.start, builder.end, builder.data)
    return builder.close()


def parse_events(text: str, start: Any, end: Any = None, characters: Any = None) -> None:
    """Parse `text` with handlers for expat's events. Raises XML_ERRORS."""
    parser = defused_parser()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(normalize_prologue(text), True)


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
