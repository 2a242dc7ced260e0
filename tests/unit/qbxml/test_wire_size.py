"""A request that does not fit into the reply to the Web Connector is refused when it is queued."""

from __future__ import annotations

import json

import pytest

from domain.errors import RequestTooLarge
from domain.qbxml import Request, check_wire_size
from domain.qbxml.request.limits import MAX_WIRE_BYTES
from domain.web_connector.protocol.soap import escape
from tests.support.qbxml_samples import element


def request(text: str) -> Request:
    return Request("13.0", "stopOnError", element("NoteAddRq", {"requestID": "1"}, [element("Note", {}, text=text)]))


@pytest.mark.parametrize("character", ["&", "<", "é", "€", "😀", '"', "\\", "\n", "\t", "\r"])
def test_the_stated_size_is_that_of_the_reply(character: str) -> None:
    too_large = request(character * 50_000 + "x" * MAX_WIRE_BYTES)

    with pytest.raises(RequestTooLarge) as caught:
        check_wire_size(too_large.to_xml())

    prologue, _, body = too_large.to_wire().partition("?>\n<QBXML>")
    json_text = json.dumps(escape(f"<QBXML>{body}"), ensure_ascii=False)[1:-1]
    assert prologue
    assert caught.value.details == {"size_bytes": len(json_text.encode()), "limit_bytes": MAX_WIRE_BYTES}


def test_a_request_that_is_just_small_enough_passes() -> None:
    envelope = len(escape(request("").to_xml())) + 4

    check_wire_size(request("x" * (MAX_WIRE_BYTES - envelope - 4)).to_xml())
    with pytest.raises(RequestTooLarge, match="takes"):
        check_wire_size(request("x" * MAX_WIRE_BYTES).to_xml())
