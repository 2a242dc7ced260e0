"""Sends a sample's requests to a company and describes the records that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import defusedxml.ElementTree

from simulator.basics.errors import RequestError
from simulator.tests.samples import PREPARATION
from simulator.tests.support import a_company, ask, document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from simulator.tests.samples import Sample

_REFERENCE = ["ListID", "FullName"]


def run(sample: Sample) -> Element:
    """Prepare a company, send the sample's requests and return QBXMLMsgsRs."""
    company = a_company(customers=2, sales_orders=1, **sample.company)
    # The company of the samples charges no sales tax.
    company.set_preference("sales_tax", "off")
    steps = (sample.before,) if isinstance(sample.before, str) else sample.before
    record = ask(company, PREPARATION)[-1][0]
    for step in filter(None, steps):
        responses = ask(company, _filled(step, record))
        failures = [response.get("statusMessage") for response in responses if response.get("statusCode") != "0"]
        assert not failures, failures
        record = responses[-1][0]
    refusal = RequestError(*sample.refusal) if sample.refusal else None
    request = document(
        _filled(sample.request, record), version=sample.version, on_error="stopOnError", sets=sample.message_set
    )
    text = company.begin_session("Sample").process_request(request, refusal=refusal)
    message_set: Element = defusedxml.ElementTree.fromstring(text.encode())[0]
    return message_set


def _filled(text: str, record: Element) -> str:
    """Fill in the values that a request takes from the previous record, in ASCII."""
    record_id = record.findtext("ListID") or record.findtext("TxnID") or ""
    text = text.replace("{id}", record_id).replace("{sequence}", record.findtext("EditSequence") or "")
    return text.encode("ascii", "xmlcharrefreplace").decode()


def shape(element: Element) -> str:
    """Describe an element by the names in it: `Name(First Second)`. Equal elements in a row are named once."""
    if element.tag == "ColDesc":
        title = element.find("ColTitle")
        facts = (
            element.get("dataType"),
            title.get("value") if title is not None else None,
            element.findtext("ColType"),
        )
        return f"ColDesc[{' '.join(filter(None, facts))}]"
    if not len(element) or [child.tag for child in element] == _REFERENCE:
        return element.tag
    shapes: list[str] = []
    for child in element:
        text = shape(child)
        if shapes[-1:] != [text]:
            shapes.append(text)
    return f"{element.tag}({' '.join(shapes)})"


def records(response: Element) -> Iterator[str]:
    """Yield the shape of each record of a response. For a report, yield its head and each of its rows."""
    if response.tag in {"ListDelRs", "TxnDelRs"}:
        if len(response):
            yield shape(response)
        return
    for record in response:
        rows = record.find("ReportData")
        if rows is not None:
            record.remove(rows)
            yield from (f"ReportData({shape(row)})" for row in rows)
        yield shape(record)
