"""Reading takes time and memory in proportion to its input. Regular expressions are in `test_regular_expressions`.

Each case runs with an input and with one that is eight times as long. A quadratic reader takes 64 times as long, so a
factor of 24 tells them apart on a busy machine too. `tests/programs/test_memory.py` limits the memory.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from domain.errors import InvalidRequest
from domain.qbxml import parse_request_json, parse_request_xml, response_to_json, search_text, stored_request
from domain.qbxml.request.characters import transliterated_text
from domain.web_connector.protocol.methods import NAMESPACE
from domain.web_connector.protocol.soap import SOAP_11, read_call
from tests.support.qbxml_samples import request_xml, response_xml

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = 1_000
FACTOR = 8
MAX_GROWTH = 24
QUERY = stored_request(request_xml("<HostQueryRq/>"), "13.0")


def customers(children: str) -> str:
    return request_xml(f"<CustomerQueryRq>{children}</CustomerQueryRq>")


def response(content: str) -> str:
    return response_xml(f'<CustomerQueryRs statusCode="0"><New>{content}</New></CustomerQueryRs>')


def web_connector_call(response: str) -> bytes:
    call = f'<receiveResponseXML xmlns="{NAMESPACE}"><response>{response}</response></receiveResponseXML>'
    return f'<e:Envelope xmlns:e="{SOAP_11.namespace}"><e:Body>{call}</e:Body></e:Envelope>'.encode()


def json_text(text: str) -> object:
    child = {"name": "MaxReturned", "text": text}
    return {"request": {"name": "CustomerQueryRq", "children": [child]}}


CASES: dict[str, Callable[[int], object]] = {
    "transliterating combining marks": lambda n: transliterated_text("a" + "\u0301\u0316" * n * 8),
    "transliterating letters": lambda n: transliterated_text("\u0141" * n * 8),
    "a response with mixed content": lambda n: response_to_json(response("x<A/>" * n * 4)),
    "a response with references": lambda n: response_to_json(response("x&amp;" * n * 4)),
    "search text of mixed content": lambda n: search_text(QUERY, response("x<A/>" * n)),
    "search text of a long response": lambda n: search_text(QUERY, response("x<A/>" * n * 16)),
    "a Web Connector call with references": lambda n: read_call(web_connector_call("&lt;Name&gt;\n" * n * 8)),
    "text in pieces": lambda n: parse_request_xml(customers("<FullName>" + "&#65;" * n * 4 + "</FullName>")),
    "text between elements": lambda n: parse_request_xml(customers("x&amp;" * n * 4 + "<OwnerID/>")),
    "an integer with leading zeros": lambda n: parse_request_json(json_text("0" * n * 100 + "x")),
    "a boolean after blanks": lambda n: parse_request_xml(customers(f"<IncludeX>{' ' * n * 100}x</IncludeX>")),
    "unknown elements": lambda n: parse_request_xml(customers("".join(f"<U{i:05}/>" for i in range(n * 2)))),
    "unknown attributes": lambda n: parse_request_xml(
        request_xml("<CustomerQueryRq " + " ".join(f'a{i:05}=""' for i in range(n)) + "/>")
    ),
    "unknown elements of a newer version": lambda n: parse_request_xml(
        customers(("<ClassFilter>" + "".join(f"<Itm{i:03}Rf/>" for i in range(50)) + "</ClassFilter>") * (n // 4)),
        "17.0",
    ),
    "misplaced elements": lambda n: parse_request_xml(customers("<OwnerID>0</OwnerID><ListID>1</ListID>" * n)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_time_grows_with_the_length_of_the_input(case: Callable[[int], object]) -> None:
    assert duration(case, LENGTH * FACTOR) / duration(case, LENGTH) < MAX_GROWTH


def duration(case: Callable[[int], object], length: int) -> float:
    """Return the processor time of the fastest of three runs."""
    durations = []
    for _ in range(3):
        start = time.process_time()
        with suppress(InvalidRequest):
            case(length)
        durations.append(time.process_time() - start)
    return max(min(durations), 0.001)
