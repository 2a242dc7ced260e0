"""From the XML of a request to the request. Nothing is repaired: what is wrong is a problem with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidRequest
from domain.qbxml.request.acceptance import accepted
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET
from domain.qbxml.request.envelope import problem, request_of
from domain.qbxml.request.placed_reader import read_with_places
from domain.qbxml.request.quick_reader import read_fitting, read_quickly
from domain.qbxml.xml_parser import has_references

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.errors import Problem
    from domain.qbxml.request.document import Element, Request

FIELD = "request_xml"


def parse_request_xml(
    text: str,
    default_version: str = DEFAULT_VERSION,
    *,
    validate: bool = True,
    transliterate: bool = False,
    country: str | None = None,
) -> Request:
    """Return the request that `text` holds; `default_version` is for a text without `<?qbxml version?>`.

    Comments and the white space between elements are dropped; text is kept exactly. Without
    `validate` the schema is not asked; with `transliterate` characters that QuickBooks cannot keep
    are replaced; `country` is that of the connection's QuickBooks. Raises InvalidRequest with line,
    column and path of all that is wrong.
    """

    def request_in(root: Element, version: str | None, *, fits: bool = False) -> Request:
        return accepted(
            request_of(root, version or default_version, FIELD),
            FIELD,
            validate=validate,
            fits=fits,
            transliterate=transliterate,
            country=country,
            found=_missing_rule(root) if validate else (),
            is_ascii=text.isascii() and not has_references(text),
        )

    quick = read_fitting(text, default_version) if validate else read_quickly(text)
    if quick is not None:
        try:
            return request_in(*quick, fits=validate)
        except InvalidRequest:
            # Read once more, for the places: they cost most of the time, and few requests need any.
            pass
    return request_in(*read_with_places(text, FIELD))


def stored_request(text: str, version: str) -> Request:
    """Return a request that was accepted before from its `to_xml`: nothing is checked again."""
    root, _ = read_quickly(text) or read_with_places(text, FIELD)
    return request_of(root, version, FIELD)


def _missing_rule(root: Element) -> Iterable[Problem]:
    """Yield the problem of a message set that QuickBooks would refuse: its `onError` is required."""
    message_set = root.children[0]
    if "onError" not in message_set.attributes:
        suggestion = f'Write <{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}">.'
        yield problem(FIELD, "onError is missing.", message_set.place, f"{ENVELOPE}/{MESSAGE_SET}", suggestion)
