"""The wording for XML that is malformed: what is wrong at the place that expat names, and how to write it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError, errors

from domain.qbxml.request.problems import quoted
from domain.qbxml.xml.parser import error_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENVELOPE = '<QBXML><QBXMLMsgsRq onError="stopOnError">…</QBXMLMsgsRq></QBXML>'

_name = re.compile(r"[^\s<>/]+").match
_named_reference = re.compile(r"&[A-Za-z][A-Za-z0-9]*;").match
_line_end = re.compile(r"\r\n|\r|\n")
_bare_ampersand = re.compile(r"&(?!#)").match
_open_reference = re.compile(r"&(?!#)[^;<>&]*\Z").search


def explained(error: ExpatError, text: str, opened: Sequence[str], *, has_ended: bool) -> tuple[str, str | None]:
    """Return what is wrong with malformed XML, and how to write it if that is known.

    `text` is what expat has parsed, and `opened` has the names of the elements that are open at the error. `has_ended`
    says that the outermost element ends before it.
    """
    content = text.lstrip()
    if not content.startswith("<"):
        return _not_xml(content)
    found = error_text(error)
    if found == errors.XML_ERROR_NO_ELEMENTS:
        return _without_end(opened)
    line = _line_end.split(text, error.lineno)[error.lineno - 1]
    before, after = line[: error.offset], line[error.offset :]
    if has_ended:
        is_element = after.startswith("<")
        return f"{quoted(after)} follows the end of the first element", (
            f"Write one request inside {_ENVELOPE}. Queue others separately." if is_element else "Remove it."
        )
    return _within(found, before, after, opened)


def _not_xml(content: str) -> tuple[str, str]:
    """Return what is wrong with a text that does not begin like XML."""
    if not content:
        return "it is empty", f"Write {_ENVELOPE}."
    mend = "Send JSON as request_json." if content[0] in "{[" else f"Write {_ENVELOPE}."
    return f"it begins with {quoted(content[0])}, not with <", mend


def _without_end(opened: Sequence[str]) -> tuple[str, str | None]:
    """Return what is wrong with XML that ends too early."""
    if not opened:
        return "it has no element", f"Write {_ENVELOPE}."
    return f"{opened[-1]} is not closed", f"Close {opened[-1]} with </{opened[-1]}>."


def _within(found: str, before: str, after: str, opened: Sequence[str]) -> tuple[str, str | None]:
    """Return what is wrong between two parts of a line."""
    if found == errors.XML_ERROR_TAG_MISMATCH and opened and (name := _name(after)):
        return f"</{name[0]}> does not close {opened[-1]}", f"Close {opened[-1]} with </{opened[-1]}>."
    if found == errors.XML_ERROR_UNCLOSED_TOKEN:
        return f"{quoted(after)} has no end", None
    return _bad_character(found, before, after)


def _bad_character(found: str, before: str, after: str) -> tuple[str, str | None]:
    """Return what is wrong with the character between two parts of a line."""
    if entity := _named_reference(after):
        return found, f"XML has no entity {entity[0]}. Write the character itself."
    if before.endswith("<"):
        return "< does not begin a tag", "Write < as &lt;."
    if _bare_ampersand(after) or _open_reference(before):
        return "& does not begin a reference", "Write & as &amp;."
    if (attribute := _open_attribute(before)) and after[:1] not in {"", '"', "'"}:
        return f"the value of {attribute} is not in quotation marks", f'Write {attribute}="…".'
    if found == errors.XML_ERROR_INVALID_TOKEN and after:
        return f"{quoted(after[0])} is not allowed here", None
    return found, None


def _open_attribute(before: str) -> str | None:
    """Return the name of the attribute whose value follows a text, or None if the text does not end with its `=`."""
    _, begin, tag = before.rpartition("<")
    name, equals, _ = tag.rstrip().rpartition("=")
    if not begin or not equals or ">" in tag or not tag.rstrip().endswith("="):
        return None
    words = name.split()
    return words[-1].rpartition("=")[2] or None if words else None
