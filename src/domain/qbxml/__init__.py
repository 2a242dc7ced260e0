"""QBXML: the request as a tree, its XML, JSON and wire forms, and what QuickBooks answers.

Everything here is a pure function of text and values; the facts of the schema are data files
beside the code.
"""

from domain.qbxml.document import Element, Request, iteration, next_page, wire
from domain.qbxml.from_json import parse_request_json
from domain.qbxml.from_xml import parse_request_xml
from domain.qbxml.responses import Response, ResponseStatus, UnreadableResponse, parse_response

__all__ = [
    "Element",
    "Request",
    "Response",
    "ResponseStatus",
    "UnreadableResponse",
    "iteration",
    "next_page",
    "parse_request_json",
    "parse_request_xml",
    "parse_response",
    "wire",
]
