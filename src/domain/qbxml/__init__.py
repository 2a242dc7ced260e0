"""QBXML: requests as a tree, in XML, JSON and wire form, and the responses of QuickBooks.

Every function here is pure. The schema is stored as data next to the code.
"""

from domain.qbxml.references import (
    BadReference,
    Reference,
    ResponseValues,
    filled,
    fitted,
    path_problem,
    placed,
    resolved,
    with_placeholders,
    without_references,
)
from domain.qbxml.request.document import ROLLBACK_ON_ERROR, Request, message_set_to_wire
from domain.qbxml.request.from_json import parse_request_json
from domain.qbxml.request.from_xml import parse_request_xml, stored_request
from domain.qbxml.request.iteration import PAGE_SIZE, iterated
from domain.qbxml.request.validation import check_batch_size, check_version, check_wire_size, default_version
from domain.qbxml.response.host_facts import HostFacts, host_facts
from domain.qbxml.response.reader import (
    Response,
    ResponseName,
    ResponsePart,
    ResponseStatus,
    UnreadableResponse,
    named_responses,
    parse_response,
)
from domain.qbxml.response.to_json import response_to_json
from domain.qbxml.search_text import search_text
from domain.qbxml.subject import BETWEEN_PARTS, subject

__all__ = [
    "BETWEEN_PARTS",
    "PAGE_SIZE",
    "ROLLBACK_ON_ERROR",
    "BadReference",
    "HostFacts",
    "Reference",
    "Request",
    "Response",
    "ResponseName",
    "ResponsePart",
    "ResponseStatus",
    "ResponseValues",
    "UnreadableResponse",
    "check_batch_size",
    "check_version",
    "check_wire_size",
    "default_version",
    "filled",
    "fitted",
    "host_facts",
    "iterated",
    "message_set_to_wire",
    "named_responses",
    "parse_request_json",
    "parse_request_xml",
    "parse_response",
    "path_problem",
    "placed",
    "resolved",
    "response_to_json",
    "search_text",
    "stored_request",
    "subject",
    "with_placeholders",
    "without_references",
]
