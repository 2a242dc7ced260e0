"""QBXML as trees: the texts of responses, and places in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_reference = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
_declarations = ("<!DOCTYPE", "<!ENTITY")
_CHARACTERS = ((9, 10, 13), range(0x20, 0xD800), range(0xE000, 0xFFFE), range(0x10000, 0x110000))
"""The characters of XML 1.0."""

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def parse(text: str) -> ET.Element:
    """Return the root of a QBXML document. Raises ValueError for a text that is not XML, or has a DTD.

    References to characters that XML forbids, which QuickBooks can send, are read as `?`.
    """
    if any(declaration in text for declaration in _declarations):
        raise ValueError("The document has a DTD.")
    try:
        return ET.fromstring(_reference.sub(_allowed, text))  # noqa: S314 - without a DTD there are no entities
    except ET.ParseError as error:
        raise ValueError(f"The document is not XML: {error}") from error


def _allowed(reference: re.Match[str]) -> str:
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    return reference[0] if any(code in allowed for allowed in _CHARACTERS) else "?"


def elements_of(document: str | None) -> list[ET.Element]:
    """Return the requests or responses in a document, which has one message set. Raises ValueError."""
    return [element for message_set in parse(document) for element in message_set] if document else []


def filled(template: str, facts: Mapping[str, str]) -> str:
    """Return a request with the values of its places, such as `{customer}`. Raises KeyError for an unknown one."""
    return template.format_map({name: escaped(value) for name, value in facts.items()})


def places(template: str) -> list[str]:
    """Return the names of the places of a request."""
    return re.findall(r"\{(\w+)\}", template)


def escaped(text: str) -> str:
    """Return a text as QBXML."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def literals(template: str) -> Iterator[str]:
    """Yield the values that a template has itself."""
    blank = template.format_map(dict.fromkeys(places(template), ""))
    for element in parse(f"<All>{blank}</All>").iter():
        yield from filter(None, ((element.text or "").strip(), *element.attrib.values()))
