"""What a search compares."""

from __future__ import annotations

import pytest

from domain import qbxml
from domain.requests.search_text import needle_of, searchable_text
from tests.support.builders import a_record

REQUEST = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq>'
    "<FullName>Müller  &amp;\n Söhne</FullName></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)


@pytest.mark.parametrize("phrase", ["müller & söhne", "MÜLLER  & Söhne", " Müller\t&\nSöhne ", "customerqueryRQ"])
def test_neither_case_nor_white_space_matters(phrase: str) -> None:
    record = a_record()

    assert needle_of(phrase) in searchable_text(record, REQUEST)
    assert needle_of(record.id.upper()) in searchable_text(record, REQUEST)
