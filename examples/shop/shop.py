"""A shop that keeps its books in QuickBooks.

It writes customers, invoices and payments, copies what changed to its own database, and prints who owes what. It can be
killed at any moment and started again: nothing is written twice. Its database is FOLDER/shop-<connection id>.db.

python3 shop.py FOLDER 300
"""

from __future__ import annotations

import os
import sqlite3
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from qbxml_queue import Batch, Client

if TYPE_CHECKING:
    from qbxml_queue.schema.requests import AppliedToTxnAdd, InvoiceLineAdd

OVERLAP = timedelta(minutes=70)  # an older QuickBooks is an hour off in summer, and clocks differ a little

TABLES = """
CREATE TABLE IF NOT EXISTS orders (number TEXT PRIMARY KEY, customer TEXT, price TEXT, is_paid INTEGER, list_id TEXT);
CREATE TABLE IF NOT EXISTS customers (list_id TEXT PRIMARY KEY, name TEXT, balance TEXT);
CREATE TABLE IF NOT EXISTS invoices (txn_id TEXT PRIMARY KEY, number TEXT, open TEXT);
CREATE TABLE IF NOT EXISTS syncs (since TEXT);
"""


def opened(path: Path, customers: int) -> sqlite3.Connection:
    """Return the database of the shop. Two thirds of its customers have bought, and one third has paid."""
    shop = sqlite3.connect(path)
    shop.executescript(TABLES)
    for n in range(1, customers + 1):
        price = f"{n}.50" if n * 3 <= customers * 2 else None
        order = (f"S{n}", f"Shop customer {n}", price, n * 3 <= customers)
        shop.execute("INSERT OR IGNORE INTO orders VALUES (?, ?, ?, ?, NULL)", order)
    shop.commit()
    return shop


def batch_of(books: Client, item: str, order: tuple[str, str, str | None, int]) -> Batch:
    """Return a customer, an invoice and a payment that refer to each other. The key names the order."""
    number, name, price, is_paid = order
    batch = books.batch(f"order-{number}")
    buyer = batch.customers.create(Name=name, if_exists="return")
    if price:
        line: InvoiceLineAdd = {"ItemRef": {"ListID": item}, "Quantity": 1, "Rate": Decimal(price)}
        invoice = batch.invoices.create(CustomerRef=buyer, RefNumber=number, lines=[line], if_exists="return")
    if price and is_paid:
        paid: AppliedToTxnAdd = {"TxnID": invoice.ref("InvoiceRet/TxnID"), "PaymentAmount": Decimal(price)}
        batch.receive_payments.create(
            CustomerRef=buyer, RefNumber=number, TotalAmount=Decimal(price), AppliedToTxnAdd=[paid], if_exists="return"
        )
    return batch


def write(books: Client, shop: sqlite3.Connection) -> None:
    """Write the orders that are not in QuickBooks yet: queue all, then wait for each."""
    [item] = books.execute({"ItemServiceQueryRq": {"MaxReturned": 1}})["ItemServiceRet"]
    new = shop.execute("SELECT number, customer, price, is_paid FROM orders WHERE list_id IS NULL").fetchall()
    batches = [batch_of(books, item["ListID"], order) for order in new]
    for batch in batches:
        batch.queue()
    for (number, *_), batch in zip(new, batches, strict=True):
        batch.execute(timeout=3600)
        with shop:
            list_id = batch.entries[0].result["CustomerRet"]["ListID"]
            shop.execute("UPDATE orders SET list_id = ? WHERE number = ?", (list_id, number))


def sync(books: Client, shop: sqlite3.Connection) -> None:
    """Copy the customers and invoices that changed since the former sync began."""
    [since] = shop.execute("SELECT coalesce(max(since), '1980-01-01') FROM syncs").fetchone()
    began, zone = datetime.now(UTC), None
    with shop:  # one transaction: a sync that is killed starts again
        for customer in books.customers.list(ActiveStatus="All", modified_since=since):
            row = (customer["ListID"], customer["FullName"], str(customer["Balance"]))
            shop.execute("INSERT OR REPLACE INTO customers VALUES (?, ?, ?)", row)
            zone = customer["TimeModified"].tzinfo
        for invoice in books.invoices.list(modified_since=since):
            row = (invoice["TxnID"], invoice["RefNumber"], str(invoice["BalanceRemaining"]))
            shop.execute("INSERT OR REPLACE INTO invoices VALUES (?, ?, ?)", row)
        if zone:  # QuickBooks reads a time without an offset as its local time
            shop.execute("INSERT INTO syncs VALUES (?)", [f"{began.astimezone(zone) - OVERLAP:%Y-%m-%dT%H:%M:%S}"])


def ageing(books: Client) -> list[list[str]]:
    """Return the rows of the ageing report: each customer and the amounts that are due."""
    report = books.execute({"AgingReportQueryRq": {"AgingReportType": "ARAgingSummary"}})["ReportRet"]
    return [[cell.get("@value", "") for cell in row["ColData"]] for row in report["ReportData"].get("DataRow", [])]


def main() -> None:
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        sys.exit("Usage: python3 shop.py FOLDER NUMBER_OF_CUSTOMERS")
    if missing := [name for name in ("BASE_URL", "API_KEY", "CONNECTION_ID") if not os.environ.get(name)]:
        sys.exit(f"{missing[0]} is not set. In the folder of the project, run: set -a; . .local/env; set +a")
    shop = opened(Path(sys.argv[1]) / f"shop-{os.environ['CONNECTION_ID']}.db", customers=int(sys.argv[2]))
    with Client.from_environment() as books:
        write(books, shop)
        sync(books, shop)
        for row in ageing(books):
            print(*row, sep="\t")


if __name__ == "__main__":
    main()
