"""The text that a search covers."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from domain.qbxml import Request, parse_request_xml, search_text
from domain.qbxml.schema.facts import request_names
from tests.support.cases import for_each
from tests.support.qbxml_samples import STATUS_OK, request_xml, response_xml

REQUEST = parse_request_xml(
    request_xml('<CustomerQueryRq requestID="my label"><FullName>Ann &amp; Bob</FullName></CustomerQueryRq>')
)


def test_a_request_is_searched_by_name_label_and_texts() -> None:
    assert search_text(REQUEST).split("\n") == ["CustomerQueryRq", "Customer Query", "my label", "Ann & Bob"]


@for_each("name", sorted(request_names()))
def test_a_request_is_found_by_the_words_that_the_console_shows(name: str) -> None:
    """The console writes the words of the name without `Rq` and in lower case (`requestTitle` in `lib/text.js`)."""
    _, words, *_ = search_text(Request("16.0", "stopOnError", Element(name))).split("\n")

    assert words.replace(" ", "") == name.removesuffix("Rq")
    assert all(re.fullmatch("[A-Z0-9]+[a-z]*|[A-Z]*[A-Z][a-z]+[0-9]*", word) for word in words.split()), words


def test_a_response_is_searched_by_names_ids_and_messages() -> None:
    body = (
        "<CustomerRet>\n<ListID>8-1</ListID>\n<Name>Cy</Name>\n<Balance>1.00</Balance>\n"
        "<RefNumber>17</RefNumber>\n</CustomerRet>"
    )

    lines = search_text(REQUEST, response_xml(f"<CustomerQueryRs {STATUS_OK}>{body}</CustomerQueryRs>")).split("\n")

    assert lines[4:] == ["Status OK", "8-1", "Cy", "17"]


def test_each_text_occurs_once() -> None:
    body = "<CustomerRet><Name>Ann &amp; Bob</Name><FullName>Cy</FullName><Name>Cy</Name></CustomerRet>"

    text = search_text(REQUEST, response_xml(f"<CustomerQueryRs>{body}</CustomerQueryRs>"))

    assert text.count("Cy") == 1
    assert text.count("Ann") == 1


def test_two_kib_of_a_response_are_searched() -> None:
    body = "".join(f"<CustomerRet><Name>{number:0100}é</Name></CustomerRet>" for number in range(1000))

    text = search_text(REQUEST, response_xml(f"<CustomerQueryRs>{body}</CustomerQueryRs>"))

    response_part = text.removeprefix(search_text(REQUEST)).strip("\n")
    assert 2000 < len(response_part.encode()) <= 2048


def test_a_long_message_may_fill_the_limit() -> None:
    text = search_text(
        REQUEST, response_xml(f'<CustomerQueryRs statusMessage="{"x" * 5000}"><Name>Cy</Name></CustomerQueryRs>')
    )

    assert "x" * 2048 in text
    assert "Cy" not in text


def test_the_texts_of_nested_elements_are_searched() -> None:
    invoice = "<InvoiceAdd><CustomerRef><FullName>Cy</FullName></CustomerRef><Memo/></InvoiceAdd>"

    assert search_text(parse_request_xml(request_xml(f"<InvoiceAddRq>{invoice}</InvoiceAddRq>"))) == (
        "InvoiceAddRq\nInvoice Add\nCy"
    )


def test_a_malformed_response_is_searched_up_to_the_error() -> None:
    assert "Cy" in search_text(REQUEST, "<QBXML><QBXMLMsgsRs><Name>Cy</Name>")
