"""Measure the simulator: companies, queries of 50,000 transactions, invoices, and an item with a long history.

Run `python -m benchmarks.simulated_books [companies] [invoices] [history]`. Without an argument all parts run. Times
are wall-clock time with the CPU time of the process beside it, because other work on the machine slows only the former.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from local import first_steps, stack
from simulator.company import Company
from simulator.runs.scheduler import Simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

INVOICES, LINES = 1_000, 10
MAX_INVOICE_SECONDS = 10
MAX_QUERY_SECONDS = 1
MAX_LARGE_SECONDS = 5
MOVEMENTS, REPEATS = 5_000, 10
MAX_TODAY_SECONDS, MAX_DATED_BACK_SECONDS = 0.02, 0.2
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
    """Measure the companies; return whether the large one and its queries take less than their limits of CPU time."""
    start = megabytes()
    measured("build the wholesale company", Company.generated)
    measured("build an empty company", Company.empty)
    large, seconds = measured("build the large company", Company.large)
    print(f"{len(large.books.transactions)} transactions, {megabytes() - start:.0f} MB")
    before = megabytes()
    snapshot, _ = measured("take a snapshot of the large company", large.snapshot)
    measured("restore it", lambda: large.restore(snapshot))
    print(f"{megabytes() - before:.0f} MB more")
    is_fast = seconds < MAX_LARGE_SECONDS
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
    return is_fast and slowest < MAX_QUERY_SECONDS


def invoices() -> bool:
    """Measure 1,000 invoices with 10 lines, alone and through the stack; return whether they are fast enough alone."""
    company = Company.generated()
    company.process_request(document(CUSTOMER))
    texts = [document(invoice(number)) for number in range(INVOICES)]
    responses, seconds = measured(
        f"{INVOICES} invoices in the simulator alone", lambda: [company.process_request(text) for text in texts]
    )
    assert all('statusCode="0"' in response for response in responses)
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


ITEM = "Bolt"
FIRST_DAY = date(2020, 1, 1)


def movement(number: int, day: str) -> str:
    """Write a bill for every tenth movement of an item, else an invoice."""
    if number % 10:
        line = f"<ItemRef><FullName>{ITEM}</FullName></ItemRef><Quantity>3</Quantity><Rate>9.00</Rate>"
        content = f"<TxnDate>{day}</TxnDate><InvoiceLineAdd>{line}</InvoiceLineAdd>"
        customer = "<CustomerRef><FullName>Benchmark</FullName></CustomerRef>"
        return f"<InvoiceAddRq><InvoiceAdd>{customer}{content}</InvoiceAdd></InvoiceAddRq>"
    cost = f"{2 + number % 7}.{number % 100:02}"
    line = f"<ItemRef><FullName>{ITEM}</FullName></ItemRef><Quantity>30</Quantity><Cost>{cost}</Cost>"
    vendor = "<VendorRef><FullName>Bolt maker</FullName></VendorRef>"
    content = f"<TxnDate>{day}</TxnDate><ItemLineAdd>{line}</ItemLineAdd>"
    return f"<BillAddRq><BillAdd>{vendor}{content}</BillAdd></BillAddRq>"


def history() -> bool:
    """Measure an item with 5,000 movements: an invoice dated today, and an invoice and a bill before all others."""
    company = Company.empty()
    accounts = "".join(
        f"<AccountAddRq><AccountAdd><Name>{name}</Name><AccountType>{kind}</AccountType></AccountAdd></AccountAddRq>"
        for name, kind in (("Bolts sold", "Income"), ("Bolts used", "CostOfGoodsSold"), ("Bolts", "OtherCurrentAsset"))
    )
    references = "".join(
        f"<{field}><FullName>{name}</FullName></{field}>"
        for field, name in (("IncomeAccountRef", "Bolts sold"), ("COGSAccountRef", "Bolts used"))
    )
    item = (
        f"<ItemInventoryAddRq><ItemInventoryAdd><Name>{ITEM}</Name>{references}<AssetAccountRef><FullName>Bolts"
        "</FullName></AssetAccountRef></ItemInventoryAdd></ItemInventoryAddRq>"
    )
    vendor = "<VendorAddRq><VendorAdd><Name>Bolt maker</Name></VendorAdd></VendorAddRq>"

    def send_all(requests: Iterable[str]) -> None:
        for request in requests:
            response = company.process_request(document(request))
            assert 'statusCode="0"' in response, response[:500]

    send_all([CUSTOMER, vendor, accounts, item])
    days = [(FIRST_DAY + timedelta(days=number // 3)).isoformat() for number in range(MOVEMENTS)]
    measured(f"{MOVEMENTS} movements of an item", lambda: send_all(map(movement, range(MOVEMENTS), days)))
    today = date.fromisoformat(days[-1]) + timedelta(days=30)
    limits = {
        "invoice dated today": (1, today, MAX_TODAY_SECONDS),
        "invoice dated back before all": (1, FIRST_DAY - timedelta(days=1), MAX_DATED_BACK_SECONDS),
        "bill dated back before all": (0, FIRST_DAY - timedelta(days=1), MAX_DATED_BACK_SECONDS),
    }
    is_fast = True
    for name, (number, day, limit) in limits.items():
        texts = [movement(number, day.isoformat())] * REPEATS
        _, seconds = measured(f"{REPEATS} times: {name}", partial(send_all, texts))
        print(f"{'':45} {seconds / REPEATS * 1000:8.1f} ms each")
        is_fast = is_fast and seconds / REPEATS <= limit
    return is_fast


PARTS = {"companies": companies, "invoices": invoices, "history": history}


def main() -> int:
    """Run the named parts; return 1 if one is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; without one, all")
    names = parser.parse_args().parts
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"{unknown[0]} is not a part. The parts are {', '.join(PARTS)}.")
    return int({PARTS[name]() for name in names or PARTS} != {True})


if __name__ == "__main__":
    sys.exit(main())
