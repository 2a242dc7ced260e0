"""What a search finds: without regard to case and white space, and what the list shows of a request."""

from __future__ import annotations

import pytest

from domain import qbxml
from domain.qbxml.subject import BETWEEN_PARTS
from domain.records.request import RequestError
from domain.records.search_text import MAX_TEXT_BYTES, normalized_phrase, searchable_text
from tests.support.builders import a_record
from tests.support.cases import for_each
from tests.support.qbxml_samples import request_xml

REQUEST = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq>'
    "<FullName>Müller  &amp;\n Söhne</FullName></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)


@pytest.mark.parametrize("phrase", ["müller & söhne", "MÜLLER  & Söhne", " Müller\t&\nSöhne ", "customerqueryRQ"])
def test_a_search_ignores_case_and_white_space(phrase: str) -> None:
    record = a_record()

    assert normalized_phrase(phrase) in searchable_text(record, REQUEST)
    assert normalized_phrase(record.id.upper()) in searchable_text(record, REQUEST)


def an_invoice(lines: int, amount: str, customer: str, memo: str) -> qbxml.Request:
    """Return an invoice with lines of this amount."""
    line = f"<InvoiceLineAdd><Desc>{memo}</Desc><Amount>{amount}</Amount></InvoiceLineAdd>"
    head = f"<CustomerRef><FullName>{customer}</FullName></CustomerRef><RefNumber>1042</RefNumber>"
    body = f"<InvoiceAddRq><InvoiceAdd>{head}{line * lines}</InvoiceAdd></InvoiceAddRq>"
    return qbxml.parse_request_xml(request_xml(body))


@for_each("lines", [1, 2, 40])
@for_each("memo", ["Repair", "x" * 4000])
@for_each("customer", ["Kristy Abercrombie", "STRAßE " * 29])
@for_each("message", ["", "m" * MAX_TEXT_BYTES])
def test_a_search_finds_each_part_of_the_subject(lines: int, memo: str, customer: str, message: str) -> None:
    request = an_invoice(lines, "124.25", customer, memo)
    subject = qbxml.subject(request) or ""
    error = RequestError("outcome_unknown", message) if message else None
    record = a_record(subject=subject, error=error)

    text = searchable_text(record, request)

    assert f"{lines * 124.25:.2f}" in subject
    assert all(normalized_phrase(part) in text for part in subject.split(BETWEEN_PARTS))
    assert len(text) <= MAX_TEXT_BYTES


def test_a_subject_takes_space_only_for_what_the_request_does_not_say() -> None:
    one, two = an_invoice(1, "248.50", "Ann", "Repair"), an_invoice(2, "124.25", "Ann", "Repair")
    record = a_record()

    for request, derived in ((one, ""), (two, "248.50\n")):
        named = a_record(id=record.id, subject=qbxml.subject(request))
        assert searchable_text(named, request) == derived + searchable_text(record, request)
