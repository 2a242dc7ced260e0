"""Measure how reports of the simulator grow: with 5,000 and with 50,000 transactions.

Run `python -m benchmarks.simulated_reports [CUSTOMERS [SHARE]]` (default 3000 1). Each report is computed twice,
and the second CPU time counts: the first one also loads its part of the schema. Prints the seconds of each report at
both sizes, the growth from one to the other beside that of its rows, and its time as a multiple of the profit and loss
at the larger size.
"""

from __future__ import annotations

import gc
import re
import sys
import time

from simulator.company import Company

CUSTOMERS = 3_000
SALES_ORDERS = {5_000: 1_030, 50_000: 10_400}
"""The number of sales orders that gives about so many transactions."""
BASE = "ProfitAndLossStandard"
REPORTS = (
    ("GeneralSummaryReport", BASE),
    ("GeneralSummaryReport", "TrialBalance"),
    ("GeneralSummaryReport", "InventoryValuationSummary"),
    ("GeneralDetailReport", "GeneralLedger"),
    ("GeneralDetailReport", "Journal"),
    ("GeneralDetailReport", "SalesByCustomerDetail"),
    ("GeneralDetailReport", "CustomerBalanceDetail"),
    ("GeneralDetailReport", "InventoryValuationDetail"),
    ("GeneralDetailReport", "TxnListByDate"),
)
MAX_GROWTH = 1.5
"""A report grows linearly if its time grows by at most this factor more than its rows."""

PROLOGUE = '<?xml version="1.0"?><?qbxml version="13.0"?>'
_ROWS = re.compile(r"<NumRows>(\d+)")


def measured(company: Company, request: str, kind: str) -> tuple[float, int]:
    """Return the CPU seconds of a report over all dates, and the number of its rows."""
    body = f"<{request}Type>{kind}</{request}Type><ReportDateMacro>All</ReportDateMacro>"
    text = (
        f'{PROLOGUE}<QBXML><QBXMLMsgsRq onError="stopOnError"><{request}QueryRq>{body}</{request}QueryRq>'
        "</QBXMLMsgsRq></QBXML>"
    )
    for _ in range(2):
        gc.collect()
        began = time.process_time()
        response = company.process_request(text)
        seconds = time.process_time() - began
    rows = _ROWS.search(response)
    assert rows is not None, response[:500]
    return seconds, int(rows[1])


def main(customers: int = CUSTOMERS, share: float = 1.0) -> int:
    """Print the table; return 1 if a detail report does not grow linearly. `share` is that of the transactions."""
    results: dict[str, list[tuple[float, int]]] = {kind: [] for _, kind in REPORTS}
    for size, sales_orders in SALES_ORDERS.items():
        company = Company.generated(customers=customers, sales_orders=round(share * sales_orders))
        print(f"{len(company.books.transactions)} transactions for {size}", flush=True)
        for request, kind in REPORTS:
            results[kind].append(measured(company, request, kind))
    print(f"{'report':28}{'5,000':>10}{'50,000':>10}{'growth':>9}{'of rows':>9}{'x P&L':>8}")
    is_linear = True
    for kind, ((small, few), (large, many)) in results.items():
        growth, growth_of_rows = large / small, many / few
        print(
            f"{kind:28}{small:8.3f} s{large:8.3f} s{growth:9.1f}{growth_of_rows:9.1f}{large / results[BASE][1][0]:8.1f}"
        )
        if growth_of_rows > MAX_GROWTH:  # a summary has as many rows as there are accounts or items
            is_linear = is_linear and growth <= MAX_GROWTH * growth_of_rows
    return int(not is_linear)


if __name__ == "__main__":
    sys.exit(main(*(type_(text) for type_, text in zip((int, float), sys.argv[1:], strict=False))))
