"""Reads the XML of a request fast, without locations. `xml_reader` handles every unusual text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, overload

from domain.qbxml.request import limits
from domain.qbxml.request.document import ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.request.envelope import ENVELOPE_DEPTH
from domain.qbxml.request.fast_schema_check import is_blank, node_is_valid
from domain.qbxml.request.xml_reader import version_in_instruction
from domain.qbxml.schema.content_models import request_model, version_number
from domain.qbxml.xml_parser import XML_ERRORS, has_character_references, normalize_prologue, parse_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element as Node

_prologue = re.compile(r"\s*(?:<\?xml\s[^<>]*\?>\s*)?(?:<\?qbxml\s([^<>]*)\?>\s*)?(?=<[A-Z])").match


class _NeedsFullReader(Exception):
    """The text is unusual, so `xml_reader` must read it."""


def read_xml_fast(text: str) -> tuple[Element, str | None] | None:
    """Return the result of `read_xml` without locations, or None if the text needs `read_xml`."""
    try:
        root, version = _read(text)
        names = {name for node in root.iter() for name in (node.tag, *node.keys())}
        return (_element(root, 1), version) if all(map(limits.is_name, names)) else None
    except _NeedsFullReader:
        return None


def read_valid_xml_fast(text: str, default_version: str) -> tuple[Element, str | None] | None:
    """Return the result of `read_xml_fast` if the text contains one request that matches the schema, otherwise None.

    The check uses the parser's nodes. They are converted to elements only on first use.
    """
    try:
        root, version = _read(text)
    except _NeedsFullReader:
        return None
    message_set = _only_child(root, ENVELOPE)
    request = None if message_set is None else _only_child(message_set, MESSAGE_SET)
    if message_set is None or request is None:
        return None
    model = request_model(request.tag)
    if model is None or not node_is_valid(request, model, version_number(version or default_version)):
        return None
    text_only = None if len(request) else request.text
    element = Element(request.tag, request.attrib, _LazyChildren(request), text_only)
    envelope = Element(message_set.tag, message_set.attrib, (element,))
    return Element(root.tag, root.attrib, (envelope,)), version


def _only_child(node: Node, name: str) -> Node | None:
    """Return the only child of a node if the node has this name, no text and plain attributes."""
    if node.tag != name or len(node) != 1 or not is_blank(node.text) or not all(map(limits.is_name, node.keys())):
        return None
    return node[0]


def _read(text: str) -> tuple[Node, str | None]:
    """Return the root and the version of `<?qbxml version?>`. No text follows any element."""
    if has_character_references(text) or "\x7f" in text:
        raise _NeedsFullReader
    if not text.isascii() and limits.find_bad_character(text):
        raise _NeedsFullReader
    text = normalize_prologue(text)
    prologue = _prologue(text)
    if prologue is None or text.find("<?", prologue.end()) >= 0:
        raise _NeedsFullReader
    version = None if prologue[1] is None else version_in_instruction(prologue[1])
    if version is None and prologue[1] is not None:
        raise _NeedsFullReader
    try:
        root = parse_tree(text)
    except XML_ERRORS:
        raise _NeedsFullReader from None
    if not all(map(is_blank, set(map(_tail_of, root.iter())))):
        raise _NeedsFullReader
    return root, version


_tail_of = attrgetter("tail")


class _LazyChildren(Sequence[Element]):  # noqa: PLW1641 - children are never hashed
    """The children of a node that matches the schema. They are converted to elements on first use."""

    def __init__(self, node: Node) -> None:
        self._node: Node | None = node
        self._made: Sequence[Element] = ()

    def __len__(self) -> int:
        return len(self._elements())

    def __iter__(self) -> Iterator[Element]:
        return iter(self._elements())

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Element]: ...
    def __getitem__(self, index: int | slice) -> Element | Sequence[Element]:
        return self._elements()[index]

    def __eq__(self, other: object) -> bool:
        return self._elements() == (other._elements() if isinstance(other, _LazyChildren) else other)

    def _elements(self) -> Sequence[Element]:
        if self._node is not None:
            self._made, self._node = _element(self._node, 1).children, None
        return self._made


def _element(node: Node, depth: int) -> Element:
    """Return an element that has children. `depth` counts from 1 at the root."""
    if depth >= limits.MAX_DEPTH + ENVELOPE_DEPTH or not is_blank(node.text):
        raise _NeedsFullReader
    children = []
    for child in node:
        if len(child):
            children.append(_element(child, depth + 1))
        else:
            # `tuple.__new__` has the same effect as `Element(…)` but avoids a Python call.
            attributes = child.attrib if child.keys() else _NO_ATTRIBUTES
            children.append(_make(Element, (child.tag, attributes, (), child.text, None)))
    return _make(Element, (node.tag, node.attrib if node.keys() else _NO_ATTRIBUTES, tuple(children), None, None))


_make = tuple.__new__
_NO_ATTRIBUTES: dict[str, str] = {}
