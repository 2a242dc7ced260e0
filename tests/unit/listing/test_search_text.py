"""A search ignores case and white space."""

from __future__ import annotations

import pytest

from domain import qbxml
from domain.records.search_text import normalized_phrase, searchable_text
from tests.support.builders import a_record

REQUEST = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq>'
    "<FullName>Müller  &amp;\n Söhne</FullName></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)


@pytest.mark.parametrize("phrase", ["müller & söhne", "MÜLLER  & Söhne", " Müller\t&\nSöhne ", "customerqueryRQ"])
def test_a_search_ignores_case_and_white_space(phrase: str) -> None:
    record = a_record()

    assert normalized_phrase(phrase) in searchable_text(record, REQUEST)
    assert normalized_phrase(record.id.upper()) in searchable_text(record, REQUEST)
