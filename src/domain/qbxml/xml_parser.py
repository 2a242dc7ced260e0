"""The ways into expat. defusedxml decides about every text that could declare something.

defusedxml's `ElementTree` parser is the pure Python one; its expat parser is reachable, keeps the
refusal of DTDs and entities, and calls our handlers directly. `tree` goes past it only with a text
in which nothing can be declared (decision 0013).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, TreeBuilder, XMLParser
from xml.parsers.expat import ErrorString, ExpatError, errors

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

__all__ = [
    "DefusedXmlException",
    "ExpatError",
    "armed_parser",
    "armed_tree",
    "explain",
    "has_references",
    "is_character_error",
    "is_tag_mismatch",
    "readable",
    "tree",
]


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


def tree(text: str) -> Node:
    """Return the root of the tree that a text holds, without comments and processing instructions.

    Text is in pieces, as `text` and `tail` of the nodes. Raises ExpatError, DefusedXmlException, and
    UnicodeEncodeError for half of a surrogate pair.
    """
    text = readable(text)
    # DOCTYPE and ENTITY begin with `<!`. A `str` is parsed as what it is, so that no encoding hides that.
    if not _holds(text, "<!"):
        parser = XMLParser()  # noqa: S314 - without a declaration there is nothing to defuse
        try:
            parser.feed(text)
            return parser.close()
        except (ParseError, UnicodeEncodeError):
            # The parser below says what is wrong.
            pass
    return armed_tree(text)


def has_references(text: str) -> bool:
    """Whether a text may hold numeric references to characters."""
    return _holds(text, "&#")


def _holds(text: str, pair: str) -> bool:
    # In XML, one character that is rare is found many times faster than two that begin with a frequent one.
    return pair[1] in text and pair in text


def armed_tree(text: str) -> Node:
    """Return the same for a readable text, whatever it holds, by way of defusedxml."""
    parser = armed_parser()
    builder = TreeBuilder()
    # expat's calls to these enter no Python code.
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(text, True)
    return builder.close()


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


def is_tag_mismatch(error: ExpatError) -> bool:
    """Whether an element is closed by the end of another."""
    return explain(error) == errors.XML_ERROR_TAG_MISMATCH
