"""Measure how fast requests are checked and responses are read, compared with lxml and xmltodict in the same run.

    python benchmarks/qbxml_speed.py --xsd FOLDER

FOLDER contains the XSD files of QBXML 13.0, which Intuit publishes with its SDK. Figures are in milliseconds
and are the best of many runs. A cold start is the median of nine new processes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import xmltodict
from lxml import etree

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from domain.qbxml import parse_request_json, parse_request_xml, parse_response, response_to_json
from domain.qbxml.request.schema_check import schema_problems

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(__file__).parents[1] / "src"

LINES = 100
RESPONSE_BYTES = 3_000_000
COLD_RUNS = 9

LINE = """<InvoiceLineAdd>
<ItemRef>
<FullName>Lumber:Rough</FullName>
</ItemRef>
<Desc>Rough cut, batch {number}</Desc>
<Quantity>2</Quantity>
<Rate>14.55</Rate>
<ClassRef>
<FullName>Retail</FullName>
</ClassRef>
<Amount>29.10</Amount>
<SalesTaxCodeRef>
<FullName>Tax</FullName>
</SalesTaxCodeRef>
</InvoiceLineAdd>
"""

CUSTOMER = """<CustomerRet>
<ListID>8000{number:04}-1420000001</ListID>
<TimeCreated>2024-12-31T01:26:40-08:00</TimeCreated>
<TimeModified>2024-12-31T01:26:40-08:00</TimeModified>
<EditSequence>1420000001</EditSequence>
<Name>Customer {number}</Name>
<FullName>Customer {number}</FullName>
<IsActive>true</IsActive>
<Sublevel>0</Sublevel>
<BillAddress>
<Addr1>{number} Main Street</Addr1>
<City>Middlefield</City>
<State>CA</State>
<PostalCode>94471</PostalCode>
</BillAddress>
<Phone>415-555-{number:04}</Phone>
<TermsRef>
<ListID>10000-933272658</ListID>
<FullName>Net 30</FullName>
</TermsRef>
<Balance>0.00</Balance>
<TotalBalance>0.00</TotalBalance>
<JobStatus>None</JobStatus>
<PreferredDeliveryMethod>None</PreferredDeliveryMethod>
</CustomerRet>
"""

COLD = """
import sys, time
sys.path.insert(0, sys.argv[1])
text = sys.stdin.read()
start = time.perf_counter()
{code}
print((time.perf_counter() - start) * 1000)
"""

UNCHECKED = """
from types import ModuleType
nothing = lambda *_, **__: True
for name, functions in {
    "request.validation": {
        "validated": lambda request, *_, **__: request,
        "check_version": nothing,
        "check_wire_size": nothing,
        "default_version": nothing,
    },
    "request.normalization": {"normalize": nothing},
    "schema.content_models": {"request_model": nothing, "version_number": nothing},
    "request.fast_schema_check": {
        "is_valid": nothing,
        "is_blank": lambda text: not text or text.isspace(),
    },
}.items():
    module = sys.modules["domain.qbxml." + name] = ModuleType(name)
    vars(module).update(functions)
from domain.qbxml import parse_request_xml
parse_request_xml(text).to_xml()
"""

CHECKED = """
from domain.qbxml import parse_request_xml
parse_request_xml(text).to_xml()
"""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True)
    schema = etree.XMLSchema(etree.parse(parser.parse_args().xsd / "qbxmlops130.xsd"))

    text = invoice()
    data = text.encode()
    request = parse_request_xml(text)
    tree = request.to_json()
    document = etree.fromstring(data)
    assert schema.validate(document)
    print(f"An invoice with {LINES} lines, {len(text):,} characters, {sum(1 for _ in document.iter()):,} elements")
    theirs = show("lxml: validate a tree", lambda: schema.validate(document))
    ours = show("here: check a tree", lambda: schema_problems(request))
    print(f"{ours / theirs:10.2f}  times as long")
    theirs = show("lxml: text to verdict", lambda: schema.validate(etree.fromstring(data)))
    ours = show("here: text to verdict", lambda: parse_request_xml(text))
    print(f"{ours / theirs:10.2f}  times as long")
    show("here: text to verdict and XML", lambda: parse_request_xml(text).to_xml())
    show("here: JSON tree, order, convert, check, write XML", lambda: parse_request_json(tree).to_xml())

    response = customers()
    print(f"\nA response of customers, {len(response):,} characters")
    theirs = show("xmltodict: to a dictionary", lambda: xmltodict.parse(response), 7)
    ours = show("here: to JSON", lambda: response_to_json(response), 7)
    print(f"{ours / theirs:10.2f}  times as long")
    show("here: the status", lambda: parse_response(response), 5)

    print("\nA cold start: import and first request")
    print(f"{cold(UNCHECKED, text):10.2f}  read, without the check")
    print(f"{cold(CHECKED, text):10.2f}  read and checked")


def show(name: str, run: Callable[[], object], runs: int = 200) -> float:
    """Print the best time of several runs, and return it in seconds."""
    best = float("inf")
    for _ in range(runs):
        start = perf_counter()
        run()
        best = min(best, perf_counter() - start)
    print(f"{best * 1000:10.2f}  {name}")
    return best


def cold(code: str, text: str) -> float:
    """Return the median time of new processes in milliseconds."""
    command = [sys.executable, "-c", COLD.format(code=code), str(SOURCE)]
    return median(
        float(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout)  # noqa: S603 - our own code
        for _ in range(COLD_RUNS)
    )


def invoice() -> str:
    """Return an InvoiceAddRq with one tag per line, as integrations send it."""
    lines = "".join(LINE.format(number=number) for number in range(LINES))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="13.0"?>\n'
        '<QBXML>\n<QBXMLMsgsRq onError="stopOnError">\n'
        '<InvoiceAddRq requestID="1">\n<InvoiceAdd>\n<CustomerRef>\n<FullName>Ann</FullName>\n</CustomerRef>\n'
        f"<TxnDate>2026-01-31</TxnDate>\n<RefNumber>17</RefNumber>\n{lines}</InvoiceAdd>\n</InvoiceAddRq>\n"
        "</QBXMLMsgsRq>\n</QBXML>\n"
    )


def customers() -> str:
    """Return a response to a CustomerQueryRq."""
    count = RESPONSE_BYTES // len(CUSTOMER.format(number=1000))
    objects = "".join(CUSTOMER.format(number=number) for number in range(count))
    return (
        '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n<CustomerQueryRs requestID="1" statusCode="0" '
        f'statusSeverity="Info" statusMessage="Status OK">\n{objects}</CustomerQueryRs>\n</QBXMLMsgsRs>\n</QBXML>\n'
    )


if __name__ == "__main__":
    main()
