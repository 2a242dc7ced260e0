"""What a search finds: without regard to case and white space, and what the list shows of a request."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import pytest

from domain import qbxml
from domain.qbxml.schema.facts import request_names
from domain.qbxml.subject import BETWEEN_PARTS
from domain.records.request import RequestError
from domain.records.search_text import MAX_TEXT_BYTES, has_all, normalized_phrase, searchable_text
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


def text_of(request_name: str) -> str:
    """Return the search text of a request without values."""
    return searchable_text(a_record(), qbxml.Request("16.0", "stopOnError", Element(request_name)))


def console_title(request_name: str) -> str:
    """Return the title of a request in the console (`requestTitle` in `lib/text.js`)."""
    words = re.sub("ModRq$", "ChangeRq", request_name).removesuffix("Rq")
    return re.sub("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", words)


@for_each("name", sorted(request_names()))
def test_a_request_is_found_by_its_title_in_the_console(name: str) -> None:
    title = normalized_phrase(console_title(name))
    words = title.split()

    assert title.endswith(" change") == name.endswith("ModRq")
    for number in range(len(words)):
        assert has_all(text_of(name), [" ".join(words[number:])]), words[number:]


@for_each("name", sorted(request_names()))
@for_each("phrase", ["change", "customer change", "exchange", "x change", "changes", "customerchange", "hange"])
def test_only_the_last_word_of_a_phrase_means_mod(phrase: str, name: str) -> None:
    text = text_of(name)
    is_title = f" {normalized_phrase(console_title(name))}".endswith(f" {phrase}" if " " not in phrase else phrase)

    assert has_all(text, [phrase]) == (is_title or phrase in text)


def test_the_text_of_a_value_is_found_too() -> None:
    request = qbxml.parse_request_xml(request_xml("<CustomerQueryRq><FullName>Key change</FullName></CustomerQueryRq>"))

    text = searchable_text(a_record(), request)

    assert has_all(text, ["key change"])
    assert not has_all(text, ["key change", "lock change"])


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
