"""The one way into expat: a parser that defusedxml has armed, with handlers of our own.

defusedxml's `ElementTree` parser is the pure Python one; its expat parser is reachable, keeps the
refusal of DTDs and entities, and calls our handlers directly. That is the fastest way through it.
"""

from __future__ import annotations

import re
from typing import Any
from xml.parsers.expat import ErrorString, ExpatError, errors

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

__all__ = ["DefusedXmlException", "ExpatError", "armed_parser", "explain", "is_character_error", "readable"]


_declaration = re.compile(r"\s+<\?xml\s[^<>]*\?>").match
_not_a_line_end = re.compile(r"[^\r\n]")


def armed_parser() -> Any:
    """Return an expat parser without handlers that raises DefusedXmlException at a DTD.

    A DTD is where entities come from, so that none can be declared. Names in a namespace come as
    `uri}name`. A `str` is parsed whatever encoding it declares.
    """
    parser = DefusedXMLParser(target=object(), forbid_dtd=True).parser
    parser.DefaultHandlerExpand = None
    parser.ordered_attributes = False
    parser.buffer_text = True
    return parser


def readable(text: str) -> str:
    """Return a text that XML allows to begin so, every character in its place.

    A byte order mark is no content. White space before `<?xml?>` is malformed, but usual where
    requests are pasted together; the declaration says nothing that a `str` needs, so it is blanked out.
    """
    text = text.removeprefix("\N{BOM}")
    if text[:1].isspace() and (declaration := _declaration(text)):
        return _not_a_line_end.sub(" ", declaration.group()) + text[declaration.end() :]
    return text


def explain(error: ExpatError) -> str:
    """Return what expat says is wrong."""
    return str(ErrorString(error.code))


def is_character_error(error: ExpatError) -> bool:
    """Whether a character or a reference to one that XML 1.0 forbids may be the reason."""
    return explain(error) in {errors.XML_ERROR_BAD_CHAR_REF, errors.XML_ERROR_INVALID_TOKEN}
