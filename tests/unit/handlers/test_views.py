"""The JSON forms of what is stored."""

from __future__ import annotations

from domain.requests.record import State, StoredRequest
from handlers.views.requests import listed_request, queued_request
from tests.support.builders import REQUEST_XML, RESPONSE_XML, a_record


def test_a_response_that_is_no_qbxml_is_shown_as_it_came() -> None:
    stored = StoredRequest(a_record(state=State.ERROR, response_size=9), REQUEST_XML, "<not xml")

    view = queued_request(stored)

    assert (view["response_xml"], view["response_json"]) == ("<not xml", None)


def test_a_list_item_says_when_its_response_was_too_large_to_be_read() -> None:
    large = StoredRequest(a_record(state=State.RESPONSE_RECEIVED, response_size=300_000), REQUEST_XML)
    small = StoredRequest(a_record(state=State.RESPONSE_RECEIVED, response_size=200), REQUEST_XML, RESPONSE_XML)

    assert listed_request(large)["response_omitted"] is True
    assert "response_omitted" not in listed_request(small)
