"""A query becomes an iterated one where QBXML allows it."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import pytest

from domain.qbxml import Request, iterated, parse_request_xml
from domain.qbxml.schema import facts
from tests.support.cases import for_each
from tests.support.qbxml_samples import request_xml


def query(body: str, version: str = "13.0") -> Request:
    return parse_request_xml(request_xml(body), version)


def test_an_iterated_query_keeps_its_label_and_filters() -> None:
    request = query('<CustomerQueryRq requestID="1"><ActiveStatus>All</ActiveStatus></CustomerQueryRq>')

    paged = iterated(request, 100)

    assert paged is not None
    assert paged.to_xml() == request_xml(
        '<CustomerQueryRq requestID="1" iterator="Start"><MaxReturned>100</MaxReturned>'
        "<ActiveStatus>All</ActiveStatus></CustomerQueryRq>"
    )


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ("<AccountQueryRq/>", "13.0"),
        ("<CustomerQueryRq/>", "4.0"),
        ("<CustomerQueryRq><ListID>8-1</ListID></CustomerQueryRq>", "13.0"),
        ("<InvoiceQueryRq><RefNumber>17</RefNumber></InvoiceQueryRq>", "13.0"),
        ("<CustomerQueryRq><MaxReturned>5</MaxReturned></CustomerQueryRq>", "13.0"),
        ('<CustomerQueryRq iterator="Start"><MaxReturned>5</MaxReturned></CustomerQueryRq>', "13.0"),
        ("<CustomerAddRq><CustomerAdd><Name>a</Name></CustomerAdd></CustomerAddRq>", "13.0"),
        ("<NewQueryRq/>", "17.0"),
    ],
)
def test_a_request_that_cannot_iterate_does_not_change(body: str, version: str) -> None:
    assert iterated(query(body, version), 100) is None


@for_each("name", sorted(facts.request_names()))
def test_every_query_with_the_iterator_attribute_can_iterate(name: str) -> None:
    request = Request("13.0", "stopOnError", Element(name))
    attributes = (facts.request_facts(name) or {})["attributes"]

    # BarCodeQueryRq has the attribute, but no MaxReturned.
    assert (iterated(request, 100) is not None) == ("iterator" in attributes and name != "BarCodeQueryRq")
