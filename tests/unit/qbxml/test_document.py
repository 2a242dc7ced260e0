"""The forms in which a request is written, and the pages of an iterator."""

from __future__ import annotations

from functools import partial

from hypothesis import given

from domain import qbxml
from domain.qbxml import Request, stored_request
from tests.support.qbxml_samples import content_of, kept_texts, parts_of, request_xml, requests, requests_with

# The names in these requests are invented, and QuickBooks cannot store all their characters.
parse_request_xml = partial(stored_request, version="13.0")


@given(requests)
def test_a_request_round_trips_through_xml(request: Request) -> None:
    assert parts_of(stored_request(request.to_xml(), request.version)) == parts_of(request)


@given(requests)
def test_a_request_round_trips_through_its_wire_form(request: Request) -> None:
    assert parts_of(stored_request(request.to_wire(), request.version)) == parts_of(request)


@given(requests_with(kept_texts))
def test_a_request_round_trips_through_json_except_on_error(request: Request) -> None:
    tree = request.to_json()

    again = qbxml.parse_request_json(tree, validate=False)

    assert content_of(again.element) == content_of(request.element)
    assert again.version == request.version
    assert stored_request(again.to_xml(), again.version).to_json() == tree


@given(requests)
def test_the_wire_form_is_ascii_with_a_prologue(request: Request) -> None:
    text = request.to_wire()

    assert text.isascii()
    prologue = f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{request.version}"?>\n<QBXML>'
    assert text.startswith(prologue)


def test_the_wire_form_writes_decimal_references() -> None:
    request = parse_request_xml(request_xml("<ThingAddRq><Name>Zoë €</Name></ThingAddRq>"))

    assert "<Name>Zo&#235; &#8364;</Name>" in request.to_wire()


def test_the_message_set_id_is_an_attribute_of_the_message_set() -> None:
    request = parse_request_xml(request_xml("<ThingAddRq/>"))

    assert '<QBXMLMsgsRq onError="stopOnError" newMessageSetID="0123456789ab">' in request.to_wire("0123456789ab")
    assert "newMessageSetID" not in request.to_xml()


def test_response_data_is_kept() -> None:
    text = request_xml("<ThingAddRq></ThingAddRq>", ' onError="stopOnError" responseData="includeNone"')

    assert parse_request_xml(text).to_xml() == text


def test_a_label_is_the_first_attribute() -> None:
    request = parse_request_xml(request_xml('<CustomerQueryRq iterator="Start"></CustomerQueryRq>'))

    assert request.with_request_label("a&b").to_xml() == request_xml(
        '<CustomerQueryRq requestID="a&amp;b" iterator="Start"></CustomerQueryRq>'
    )
    assert request.request_label is None


def test_an_empty_label_is_like_no_label() -> None:
    assert parse_request_xml(request_xml('<HostQueryRq requestID=""/>')).request_label is None


def test_only_queries_are_reads() -> None:
    assert parse_request_xml(request_xml("<CustomerQueryRq/>")).is_read
    assert not parse_request_xml(request_xml("<CustomerAddRq/>")).is_read


def test_the_next_page_has_the_same_filters() -> None:
    first = parse_request_xml(
        request_xml('<CustomerQueryRq requestID="1" iterator="Start"><MaxReturned>5</MaxReturned></CustomerQueryRq>')
    )

    second = first.next_page("{abc}", "2")

    assert first.iterator == "Start"
    assert second.iterator == "Continue"
    assert second.to_xml() == request_xml(
        '<CustomerQueryRq requestID="2" iterator="Continue" iteratorID="{abc}">'
        "<MaxReturned>5</MaxReturned></CustomerQueryRq>"
    )
    assert parse_request_xml(request_xml("<HostQueryRq/>")).iterator is None
