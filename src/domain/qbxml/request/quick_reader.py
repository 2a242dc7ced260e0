"""Reads a request's XML quickly, without places; what is not quite plain it leaves to `placed_reader`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, overload

from domain.qbxml.request import limits
from domain.qbxml.request.document import ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.request.envelope import ENVELOPE_DEPTH
from domain.qbxml.request.placed_reader import version_in
from domain.qbxml.request.quick_check import is_blank, node_fits
from domain.qbxml.schema.models import request_model, version_number
from domain.qbxml.xml_parser import DefusedXmlException, ExpatError, has_references, readable, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element as Node

_prologue = re.compile(r"\s*(?:<\?xml\s[^<>]*\?>\s*)?(?:<\?qbxml\s([^<>]*)\?>\s*)?(?=<[A-Z])").match


class _Odd(Exception):
    """Something that only the other reader can judge."""


def read_quickly(text: str) -> tuple[Element, str | None] | None:
    """Return what `read_with_places` returns, without places; None for what that has to look at."""
    try:
        root, version = _read(text)
        if not all(map(limits.is_name, set(_names(root)))):
            return None
        return _element(root, 1), version
    except _Odd:
        return None


def read_fitting(text: str, default_version: str) -> tuple[Element, str | None] | None:
    """Return the same when the text holds one request with which the schema finds nothing wrong, else None.

    The verdict needs no tree of ours: what the request holds becomes elements when somebody asks.
    """
    try:
        root, version = _read(text)
    except _Odd:
        return None
    message_set = _only_child(root, ENVELOPE)
    request = None if message_set is None else _only_child(message_set, MESSAGE_SET)
    if message_set is None or request is None:
        return None
    model = request_model(request.tag)
    if model is None or not node_fits(request, model, version_number(version or default_version)):
        return None
    element = Element(request.tag, request.attrib, _Unread(request), None if len(request) else request.text)
    return _around(root, (_around(message_set, (element,)),)), version


def _only_child(node: Node, name: str) -> Node | None:
    """Return the one child of a node that has this name and is plain besides."""
    if node.tag != name or len(node) != 1 or not is_blank(node.text) or not all(map(limits.is_name, node.keys())):
        return None
    return node[0]


def _read(text: str) -> tuple[Node, str | None]:
    """Return the root and the version of `<?qbxml version?>`. No text follows any element."""
    if has_references(text) or "\x7f" in text or not (text.isascii() or not limits.find_bad_character(text)):
        raise _Odd
    text = readable(text)
    prologue = _prologue(text)
    if prologue is None or text.find("<?", prologue.end()) >= 0:
        raise _Odd
    instruction = prologue[1]
    version = None if instruction is None else version_in(instruction)
    if instruction is not None and version is None:
        raise _Odd
    try:
        root = tree(text)
    except (ExpatError, DefusedXmlException):
        raise _Odd from None
    if not all(map(is_blank, set(map(_tail_of, root.iter())))):
        raise _Odd
    return root, version


_tail_of = attrgetter("tail")


def _names(root: Node) -> Iterator[str]:
    for node in root.iter():
        yield node.tag
        yield from node.keys()


class _Unread(Sequence[Element]):  # noqa: PLW1641 - nothing hashes children
    """The children of a node that fits the schema, made into elements when they are first looked at."""

    def __init__(self, node: Node) -> None:
        self._node: Node | None = node
        self._made: tuple[Element, ...] = ()

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
        return self._elements() == (other._elements() if isinstance(other, _Unread) else other)

    def _elements(self) -> tuple[Element, ...]:
        if self._node is not None:
            self._made = tuple(_element(self._node, 1).children)
            self._node = None
        return self._made


def _around(node: Node, children: Sequence[Element]) -> Element:
    return Element(node.tag, node.attrib, children)


def _element(node: Node, depth: int) -> Element:
    """Return an element with children; `depth` counts from 1 at the root."""
    if depth >= limits.MAX_DEPTH + ENVELOPE_DEPTH or not is_blank(node.text):
        raise _Odd
    children = []
    for child in node:
        if len(child):
            children.append(_element(child, depth + 1))
        else:
            # What Element(…) does, without its Python frame.
            attributes = child.attrib if child.keys() else _NONE
            children.append(_make(Element, (child.tag, attributes, (), child.text, None)))
    return _make(Element, (node.tag, node.attrib if node.keys() else _NONE, tuple(children), None, None))


_make = tuple.__new__
_NONE: dict[str, str] = {}
