"""Reads the XML of a request fast, without locations. `xml_reader` handles every unusual text."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING

from domain.qbxml.request import limits
from domain.qbxml.request.document import ENVELOPE, MESSAGE_SET
from domain.qbxml.request.envelope import ENVELOPE_DEPTH
from domain.qbxml.request.fast_schema_check import is_blank, is_valid
from domain.qbxml.request.xml_reader import version_in_instruction
from domain.qbxml.xml_parser import XML_ERRORS, has_character_references, normalize_prologue, parse_tree

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_prologue = re.compile(r"\s*(?:<\?xml\s[^<>]*\?>\s*)?(?:<\?qbxml\s([^<>]*)\?>\s*)?(?=<[A-Z])").match
_tail_of = attrgetter("tail")


def read_xml_fast(text: str) -> tuple[Element, str | None] | None:
    """Return the result of `read_xml` without locations, or None if the text needs `read_xml`."""
    result = _read(text)
    return result if result is not None and _is_regular(result[0]) else None


def read_valid_xml_fast(text: str, default_version: str) -> tuple[Element, str | None] | None:
    """Return the result of `read_xml_fast` if the text contains one request that matches the schema, otherwise None."""
    result = _read(text)
    if result is None:
        return None
    node, version = result
    for name in (ENVELOPE, MESSAGE_SET):
        if node.tag != name or len(node) != 1 or not is_blank(node.text) or not all(map(limits.is_name, node.keys())):
            return None
        node = node[0]
    return result if is_valid(node, version or default_version) else None


def _read(text: str) -> tuple[Element, str | None] | None:
    """Return the root node and the version of `<?qbxml version?>`. No text follows any element."""
    if has_character_references(text) or "\x7f" in text:
        return None
    if not text.isascii() and limits.find_bad_character(text):
        return None
    text = normalize_prologue(text)
    prologue = _prologue(text)
    if prologue is None or text.find("<?", prologue.end()) >= 0:
        return None
    version = None if prologue[1] is None else version_in_instruction(prologue[1])
    if version is None and prologue[1] is not None:
        return None
    try:
        root = parse_tree(text)
    except XML_ERRORS:
        return None
    return (root, version) if all(map(is_blank, set(map(_tail_of, root.iter())))) else None


def _is_regular(root: Element) -> bool:
    """Return whether all names are legal, no element has both elements and text, and none is nested too deeply."""
    names = {name for node in root.iter() for name in (node.tag, *node.keys())}
    level = [root]
    for _ in range(limits.MAX_DEPTH + ENVELOPE_DEPTH):
        if not all(is_blank(node.text) for node in level if len(node)):
            return False
        level = [child for node in level for child in node]
    return not level and all(map(limits.is_name, names))
