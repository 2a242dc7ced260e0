"""Measure the simulator: companies, queries of 50,000 transactions, and 1,000 invoices alone and through the stack.

Run `python -m benchmarks.simulated_books [companies] [invoices]`; without an argument both run. Times are wall-clock
time with the CPU time of the process beside it, because other work on the machine slows only the former.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from local import first_steps, stack
from simulator.company import Company
from simulator.runs.scheduler import Simulator

if TYPE_CHECKING:
    from collections.abc import Callable

INVOICES, LINES = 1_000, 10
MAX_INVOICE_SECONDS = 10
MAX_QUERY_SECONDS = 1
PROLOGUE = '<?xml version="1.0"?><?qbxml version="13.0"?>'

QUERIES = {
    "customers, all": "<CustomerQueryRq><ActiveStatus>All</ActiveStatus></CustomerQueryRq>",
    "items, all": "<ItemQueryRq><ActiveStatus>All</ActiveStatus></ItemQueryRq>",
    "accounts, all": "<AccountQueryRq/>",
    "invoice by number": "<InvoiceQueryRq><RefNumber>17000</RefNumber></InvoiceQueryRq>",
    "invoices, first page of 100 with lines": (
        "<InvoiceQueryRq iterator='Start'><MaxReturned>100</MaxReturned><IncludeLineItems>true</IncludeLineItems>"
        "</InvoiceQueryRq>"
    ),
    "invoices of one week with lines": (
        "<InvoiceQueryRq><TxnDateRangeFilter><FromTxnDate>2025-06-02</FromTxnDate><ToTxnDate>2025-06-08</ToTxnDate>"
        "</TxnDateRangeFilter><IncludeLineItems>true</IncludeLineItems></InvoiceQueryRq>"
    ),
    "invoices modified since December": (
        "<InvoiceQueryRq><ModifiedDateRangeFilter><FromModifiedDate>2025-12-15</FromModifiedDate>"
        "</ModifiedDateRangeFilter></InvoiceQueryRq>"
    ),
    "open invoices, first 100": (
        "<InvoiceQueryRq><MaxReturned>100</MaxReturned><PaidStatus>NotPaidOnly</PaidStatus></InvoiceQueryRq>"
    ),
    "number of payments": "<ReceivePaymentQueryRq metaData='MetaDataOnly'/>",
    "sales orders that contain 9": (
        "<SalesOrderQueryRq><MaxReturned>100</MaxReturned><RefNumberFilter><MatchCriterion>Contains</MatchCriterion>"
        "<RefNumber>9</RefNumber></RefNumberFilter></SalesOrderQueryRq>"
    ),
    "report: trial balance": (
        "<GeneralSummaryReportQueryRq><GeneralSummaryReportType>TrialBalance</GeneralSummaryReportType>"
        "<ReportDateMacro>All</ReportDateMacro></GeneralSummaryReportQueryRq>"
    ),
    "report: A/R ageing": (
        "<AgingReportQueryRq><AgingReportType>ARAgingSummary</AgingReportType></AgingReportQueryRq>"
    ),
}

_T = TypeVar("_T")


def measured(what: str, action: Callable[[], _T]) -> tuple[_T, float]:
    """Run an action, print its duration, and return its result with its CPU seconds."""
    start, cpu_began = time.perf_counter(), time.process_time()
    result = action()
    cpu = time.process_time() - cpu_began
    print(f"{what:45} {time.perf_counter() - start:8.2f} s  {cpu:8.2f} s CPU")
    return result, cpu


def megabytes() -> float:
    """Return the largest size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def document(body: str, message_set: str = "") -> str:
    """Write a QBXML document around requests."""
    return f'{PROLOGUE}<QBXML><QBXMLMsgsRq onError="stopOnError"{message_set}>{body}</QBXMLMsgsRq></QBXML>'


def invoice(number: int) -> str:
    """Write an InvoiceAddRq with ten lines for a customer of the wholesale company."""
    line = (
        "<InvoiceLineAdd><ItemRef><FullName>Consulting</FullName></ItemRef><Quantity>2</Quantity><Rate>12.50</Rate>"
        "</InvoiceLineAdd>"
    )
    return (
        "<InvoiceAddRq><InvoiceAdd><CustomerRef><FullName>Benchmark</FullName></CustomerRef>"
        f"<RefNumber>B-{number}</RefNumber>{line * LINES}</InvoiceAdd></InvoiceAddRq>"
    )


CUSTOMER = "<CustomerAddRq><CustomerAdd><Name>Benchmark</Name></CustomerAdd></CustomerAddRq>"


def companies() -> bool:
    """Measure the companies; return whether every query of the large one takes less than a second of CPU time."""
    start = megabytes()
    company, _ = measured("build the wholesale company", Company.generated)
    measured("build an empty company", Company.empty)
    snapshot, _ = measured("take a snapshot", company.snapshot)
    measured("restore a snapshot", lambda: company.restore(snapshot))
    large, _ = measured("build the large company", Company.large)
    print(f"{len(large.books.transactions)} transactions, {megabytes() - start:.0f} MB")
    slowest = 0.0
    for name, query in QUERIES.items():
        text = document(query)
        large.process_request(text)  # the first answer of a type also loads its part of the schema
        response, seconds = measured(f"query: {name}", lambda text=text: large.process_request(text))  # type: ignore[misc]
        assert 'statusCode="0"' in response, response[:500]
        slowest = max(slowest, seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "company.json"
        measured("save", lambda: large.save(path))
        print(f"{path.stat().st_size / 1e6:.0f} MB on disk")
        measured("load", lambda: Company.load(path))
    return slowest < MAX_QUERY_SECONDS


def invoices() -> bool:
    """Measure 1,000 invoices with 10 lines, alone and through the stack; return whether they are fast enough alone."""
    company = Company.generated()
    company.process_request(document(CUSTOMER))
    texts = [document(invoice(number)) for number in range(INVOICES)]
    responses, seconds = measured(
        f"{INVOICES} invoices in the simulator alone", lambda: [company.process_request(text) for text in texts]
    )
    assert all('statusCode="0"' in each for each in responses)
    with tempfile.TemporaryDirectory() as folder, stack.running() as service:
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        api = first_steps.Api(who.base_url, who.api_key)
        requests = f"/api/v1/connections/{who.connection_id}/queued_requests"

        def queue() -> None:
            for text in texts:
                api.call("POST", requests, {"request_xml": text})

        measured(f"{INVOICES} invoices queued over REST", queue)
        simulator = Simulator(Path(who.qwc_path).read_text(encoding="utf-8"), who.qbwc_password, company)
        result, _ = measured(f"{INVOICES} invoices through the stack", simulator.run_once)
    assert result.requests == INVOICES, result
    return seconds < MAX_INVOICE_SECONDS


def main(names: list[str]) -> int:
    """Run the named parts; return 1 if one is too slow."""
    parts = {"companies": companies, "invoices": invoices}
    return int({parts[name]() for name in names or parts} != {True})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
