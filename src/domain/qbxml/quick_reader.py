"""Reads a request's XML quickly, without places; what is not quite plain it leaves to `placed_reader`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import TreeBuilder

from domain.qbxml import rules
from domain.qbxml.document import Element
from domain.qbxml.envelope import ENVELOPE_DEPTH
from domain.qbxml.placed_reader import version_in
from domain.qbxml.reading import DefusedXmlException, ExpatError, armed_parser, readable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node


_begins_plainly = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?<\?qbxml[^>]*\?>\s*<QBXML[\s>]").match


class _Odd(Exception):
    """Something that only the other reader can judge."""


def read_quickly(text: str) -> tuple[Element, str | None] | None:
    """Return what `read_with_places` returns, without places; None for what that has to look at."""
    if "&#" in text or "\x7f" in text or not (text.isascii() or not rules.find_bad_character(text)):
        return None
    text = readable(text)
    instructions: list[tuple[str, str]] = []
    parser = armed_parser()
    builder = TreeBuilder()
    # expat's calls to these enter no Python code: this is what makes it quick.
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.ProcessingInstructionHandler = lambda target, data: instructions.append((target, data))
    try:
        parser.Parse(text, True)
        version = _version(instructions, text)
        # expat keeps every name that it met.
        if not all(map(rules.is_name, parser.intern)):
            return None
        return _element(builder.close(), 1), version
    except (ExpatError, DefusedXmlException, _Odd):
        return None


def _version(instructions: list[tuple[str, str]], text: str) -> str | None:
    if not instructions:
        return None
    (target, data), *more = instructions
    version = version_in(data)
    if target != "qbxml" or more or version is None or not _begins_plainly(text):
        raise _Odd
    return version


def _element(node: Node, depth: int) -> Element:
    """Return an element with children; `depth` counts from 1 at the root."""
    if depth >= rules.MAX_DEPTH + ENVELOPE_DEPTH or (node.text and not node.text.isspace()):
        raise _Odd
    children = []
    for child in node:
        tail = child.tail
        if tail and not tail.isspace():
            raise _Odd
        if len(child):
            children.append(_element(child, depth + 1))
        else:
            # What Element(…) does, without its Python frame.
            attributes = child.attrib if child.keys() else _NONE
            children.append(_make(Element, (child.tag, attributes, (), child.text or None, None)))
    return _make(Element, (node.tag, node.attrib, tuple(children), None, None))


_make = tuple.__new__
_NONE: dict[str, str] = {}
