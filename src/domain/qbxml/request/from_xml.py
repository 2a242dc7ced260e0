"""Reads a request from XML. It corrects nothing: it reports every error as a problem with its location.

Nearly every request is valid, so it is first read without locations, which are slow to collect. If a text is unusual or
has a problem, `xml_reader` reads it with them.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING

from domain.errors import InvalidRequest
from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET
from domain.qbxml.request.envelope import ENVELOPE_DEPTH, request_in_envelope
from domain.qbxml.request.fast_schema_check import is_blank, is_valid
from domain.qbxml.request.problems import Source
from domain.qbxml.request.validation import validated
from domain.qbxml.request.xml_reader import read_xml, version_in_instruction
from domain.qbxml.xml.parser import XML_ERRORS, contains, normalize_prologue, parse_tree

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from domain.errors import Problem
    from domain.qbxml.request.document import Request

FIELD = "request_xml"

_prologue = re.compile(r"\s*(?:<\?xml\s[^<>]*\?>\s*)?(?:<\?qbxml\s([^<>]*)\?>\s*)?(?=<[A-Z])").match
_tail_of = attrgetter("tail")


def parse_request_xml(
    text: str,
    default_version: str = DEFAULT_VERSION,
    *,
    validate: bool = True,
    transliterate: bool = False,
    country: str | None = None,
) -> Request:
    """Return the request in `text`. `default_version` applies if the text has no `<?qbxml version?>`.

    Comments and white space between elements are dropped. Text is kept exactly. If `validate` is false, the schema
    is not checked. If `transliterate` is true, characters that QuickBooks cannot store are replaced. `country` is the
    country of the connection's QuickBooks. Raises InvalidRequest with the line, column and path of every problem.
    """
    source = Source(FIELD)

    def request_in(root: Element, version: str | None, *, matches_schema: bool = False) -> Request:
        return validated(
            request_in_envelope(root, version or default_version, source),
            validate=validate,
            transliterate=transliterate,
            country=country,
            is_valid=matches_schema,
            is_ascii=text.isascii() and not contains(text, "&#"),
            problems=_missing_on_error(root, source) if validate else (),
        )

    # Each element ends with `</` or `/>`. A shorter text cannot contain too many.
    if len(text) > 2 * limits.MAX_ELEMENTS and text.count("</") + text.count("/>") > limits.MAX_ELEMENTS:
        source.refuse(limits.TOO_MANY_ELEMENTS, suggestion=limits.FEWER_ELEMENTS)
    fast = read_valid_xml_fast(text, default_version) if validate else read_xml_fast(text)
    if fast is not None:
        try:
            return request_in(*fast, matches_schema=validate)
        except InvalidRequest:
            pass  # Read it again with locations.
    return request_in(*read_xml(text, source))


def stored_request(text: str, version: str) -> Request:
    """Return a stored request from its `to_xml` text. It is not checked again: the checks ran before it was stored."""
    source = Source(FIELD)
    root, _ = read_xml_fast(text) or read_xml(text, source)
    return request_in_envelope(root, version, source)


def _missing_on_error(root: Element, source: Source) -> Iterable[Problem]:
    """Yield a problem if the message set lacks `onError`, which QuickBooks requires.

    It has a default in JSON, which has no place for it. XML gets none: `request_xml` shows what was sent.
    """
    message_set = root[0]
    if "onError" not in message_set.keys():  # noqa: SIM118 - `in` searches the children of a node
        suggestion = f'Write <{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}">.'
        path = f"{ENVELOPE}/{MESSAGE_SET}"
        yield source.problem("onError is missing.", message_set, path, suggestion)


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
    if contains(text, "&#") or "\x7f" in text:
        return None
    if not text.isascii() and limits.find_bad_character(text):
        return None
    text = normalize_prologue(text)
    prologue = _prologue(text)
    if prologue is None or contains(text[prologue.end() :], "<?"):
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
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > limits.MAX_DEPTH + ENVELOPE_DEPTH or not all(is_blank(node.text) for node in level if len(node)):
            return False
        level = [child for node in level for child in node]
    return all(map(limits.is_name, names))
