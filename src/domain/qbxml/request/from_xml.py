"""Reads a request from XML. It corrects nothing: it reports every error as a problem with its location."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidRequest
from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET
from domain.qbxml.request.envelope import request_in_envelope
from domain.qbxml.request.fast_xml_reader import read_valid_xml_fast, read_xml_fast
from domain.qbxml.request.problems import Source
from domain.qbxml.request.validation import validated
from domain.qbxml.request.xml_reader import read_xml
from domain.qbxml.xml_parser import has_character_references

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from domain.errors import Problem
    from domain.qbxml.request.document import Request

FIELD = "request_xml"


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

    def request_in(root: Element, version: str | None, *, is_valid: bool = False) -> Request:
        return validated(
            request_in_envelope(root, version or default_version, source),
            validate=validate,
            transliterate=transliterate,
            country=country,
            is_valid=is_valid,
            is_ascii=text.isascii() and not has_character_references(text),
            problems=_missing_on_error(root, source) if validate else (),
        )

    # Each element ends with one of these.
    if text.count("</") + text.count("/>") > limits.MAX_ELEMENTS:
        source.refuse(limits.TOO_MANY_ELEMENTS, suggestion=limits.FEWER_ELEMENTS)
    fast = read_valid_xml_fast(text, default_version) if validate else read_xml_fast(text)
    if fast is not None:
        try:
            return request_in(*fast, is_valid=validate)
        except InvalidRequest:
            pass  # Read it again with locations, which are slow to collect and rarely needed.
    return request_in(*read_xml(text, source))


def stored_request(text: str, version: str) -> Request:
    """Return a stored request from its `to_xml` text. It is not checked again: the checks ran before it was stored."""
    source = Source(FIELD)
    root, _ = read_xml_fast(text) or read_xml(text, source)
    return request_in_envelope(root, version, source)


def _missing_on_error(root: Element, source: Source) -> Iterable[Problem]:
    """Yield a problem if the message set lacks `onError`, which QuickBooks requires."""
    message_set = root[0]
    if "onError" not in message_set.keys():  # noqa: SIM118 - `in` searches the children of a node
        suggestion = f'Write <{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}">.'
        path = f"{ENVELOPE}/{MESSAGE_SET}"
        yield source.problem("onError is missing.", message_set, path, suggestion)
