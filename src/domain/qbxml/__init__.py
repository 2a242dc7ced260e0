"""QBXML: the request as a tree, its XML, JSON and wire forms, and what QuickBooks answers.

Everything here is a pure function of text and values; the facts of the schema are data files
beside the code.
"""

from domain.qbxml.codes import hresults, statuses
from domain.qbxml.codes.hresults import HresultFacts
from domain.qbxml.request.acceptance import check_version
from domain.qbxml.request.document import Element, Request, iteration, next_page, wire
from domain.qbxml.request.from_json import parse_request_json
from domain.qbxml.request.from_xml import parse_request_xml, stored_request
from domain.qbxml.response.host import HostFacts, host_facts
from domain.qbxml.response.reader import Response, ResponseStatus, UnreadableResponse, parse_response
from domain.qbxml.response.to_json import response_to_json
from domain.qbxml.search_text import search_text

__all__ = [
    "Element",
    "HostFacts",
    "HresultFacts",
    "Request",
    "Response",
    "ResponseStatus",
    "UnreadableResponse",
    "check_version",
    "host_facts",
    "hresults",
    "iteration",
    "next_page",
    "parse_request_json",
    "parse_request_xml",
    "parse_response",
    "response_to_json",
    "search_text",
    "statuses",
    "stored_request",
    "wire",
]
