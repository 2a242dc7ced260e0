"""The one way into expat: a parser that defusedxml has armed, with handlers of our own.

defusedxml's `ElementTree` parser is the pure Python one; its expat parser is reachable, keeps the
refusal of DTDs and entities, and calls our handlers directly. That is the fastest way through it.
"""

from __future__ import annotations

from typing import Any
from xml.parsers.expat import ErrorString, ExpatError, errors

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

__all__ = ["DefusedXmlException", "ExpatError", "armed_parser", "explain", "is_character_error"]


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


def explain(error: ExpatError) -> str:
    """Return what expat says is wrong."""
    return str(ErrorString(error.code))


def is_character_error(error: ExpatError) -> bool:
    """Whether a character or a reference to one that XML 1.0 forbids may be the reason."""
    return explain(error) in {errors.XML_ERROR_BAD_CHAR_REF, errors.XML_ERROR_INVALID_TOKEN}
