"""Keep a copy of customers, items, invoices with their lines, and payments in SQLite or PostgreSQL.

Usage:
    python3 mirror.py DATABASE [--once]

DATABASE is `sqlite:books.db`, or `postgresql://user@host/name` (`pip install psycopg`). Each connection needs its own.
The program creates the tables. It can be killed at any moment: rows and cursor are stored in one transaction. With
`--once` it ends behind the last change.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
from qbxml_queue import (
    ApiError,
    Changed,
    Client,
    Deleted,
    ReadingFailed,
    RecordOmitted,
    ResyncRequired,
    SnapshotCompleted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qbxml_queue.schema.changes import BooksChange

OBJECTS = {
    "Customer": "customers",
    "ItemService": "items",
    "ItemNonInventory": "items",
    "ItemInventory": "items",
    "ItemOtherCharge": "items",
    "Invoice": "invoices",
    "ReceivePayment": "payments",
}
"""The table of each object. A subscription can name 65 objects."""

TABLES = {
    "customers": {
        "name TEXT": "FullName",
        "email TEXT": "Email",
        "phone TEXT": "Phone",
        "is_active BOOLEAN": "IsActive",
    },
    "items": {"name TEXT": "FullName", "description TEXT": "SalesOrPurchase/Desc", "is_active BOOLEAN": "IsActive"},
    "invoices": {
        "customer_id TEXT": "CustomerRef/ListID",
        "number TEXT": "RefNumber",
        "date DATE": "TxnDate",
        "due_date DATE": "DueDate",
        "subtotal NUMERIC": "Subtotal",
        "tax NUMERIC": "SalesTaxTotal",
        "balance NUMERIC": "BalanceRemaining",
        "is_paid BOOLEAN": "IsPaid",
    },
    "payments": {"customer_id TEXT": "CustomerRef/ListID", "date DATE": "TxnDate", "amount NUMERIC": "TotalAmount"},
}
"""The columns of each table, and where their values are in a record."""

LINES = {
    "item_id TEXT": "ItemRef/ListID",
    "description TEXT": "Desc",
    "quantity NUMERIC": "Quantity",
    "amount NUMERIC": "Amount",
}
NAME = "mirror"
IDLE_SECONDS = 5

IS_NEWS = """
    INSERT INTO versions VALUES (?, ?, ?, ?) ON CONFLICT (object, id) DO UPDATE
    SET sequence = excluded.sequence, generation = excluded.generation WHERE excluded.sequence > versions.sequence
"""
"""Changes a row, unless the change is repeated or late. `versions` also remembers what was deleted."""

OLDER = "FROM versions WHERE object = ? AND generation < ? AND sequence < ?"


class Database:
    """A database by its URL, which also keeps the cursor of the changes. Statements have `?` for values."""

    def __init__(self, url: str) -> None:
        self._is_sqlite = url.startswith("sqlite:")
        if self._is_sqlite:
            self._connection: Any = sqlite3.connect(url.removeprefix("sqlite:"))
        else:
            import psycopg  # noqa: PLC0415 - SQLite needs no package

            self._connection = psycopg.connect(url)
        self.run("CREATE TABLE IF NOT EXISTS place (one INTEGER PRIMARY KEY, cursor TEXT)")
        versions = "object TEXT, id TEXT, sequence BIGINT, generation BIGINT, PRIMARY KEY (object, id)"
        self.run(f"CREATE TABLE IF NOT EXISTS versions ({versions})")
        for table, columns in TABLES.items():
            self.run(f"CREATE TABLE IF NOT EXISTS {table} (id TEXT PRIMARY KEY, {', '.join(columns)})")
        lines = f"id TEXT, position INTEGER, {', '.join(LINES)}, PRIMARY KEY (id, position)"
        self.run(f"CREATE TABLE IF NOT EXISTS invoice_lines ({lines})")
        self.commit()

    def run(self, statement: str, *values: object) -> Any:
        """Run a statement in the open transaction."""
        if self._is_sqlite:
            told = [str(value) if isinstance(value, Decimal | date | datetime) else value for value in values]
            return self._connection.execute(statement, told)
        return self._connection.execute(statement.replace("?", "%s"), values)

    def load(self) -> str | None:
        """Return the cursor."""
        row = self.run("SELECT cursor FROM place").fetchone()
        self.commit()  # while the program waits, no transaction is open
        return row[0] if row else None

    def store(self, cursor: str) -> None:
        """Store the cursor, and with it the rows before it. What is not stored is yielded again."""
        self.run("INSERT INTO place VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET cursor = excluded.cursor", cursor)
        self.commit()

    def commit(self) -> None:
        """End the transaction."""
        self._connection.commit()

    def close(self) -> None:
        """Close the database. What is not stored is lost."""
        self._connection.close()


def apply(database: Database, change: BooksChange) -> None:
    """Bring the copy up to date with a change."""
    if isinstance(change, Changed | Deleted) and change.object in OBJECTS:
        version = (change.object, change.id, change.sequence, change.generation)
        if database.run(IS_NEWS, *version).rowcount == 0:
            return
        remove(database, change.object, "= ?", change.id)
        if isinstance(change, Changed):
            insert(database, OBJECTS[change.object], [change.id], TABLES[OBJECTS[change.object]], change.record)
            for position, line in enumerate(lines_of(change.record)):
                insert(database, "invoice_lines", [change.id, position], LINES, line)
    elif isinstance(change, SnapshotCompleted) and change.object in OBJECTS:
        older = (change.object, change.generation, change.sequence)
        remove(database, change.object, f"IN (SELECT id {OLDER})", *older)
        database.run(f"DELETE {OLDER}", *older)


def remove(database: Database, name: str, condition: str, *values: object) -> None:
    """Remove the rows of records."""
    for table in (OBJECTS[name], *(["invoice_lines"] if name == "Invoice" else [])):
        database.run(f"DELETE FROM {table} WHERE id {condition}", *values)  # noqa: S608 - texts of this module


def insert(database: Database, table: str, key: list[Any], columns: Mapping[str, str], record: Any) -> None:
    """Insert a row."""
    values = [*key, *(value_at(record, path) for path in columns.values())]
    database.run(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in values)})", *values)  # noqa: S608


def value_at(record: Any, path: str) -> Any:
    """Return a value in a record, or None: `CustomerRef/ListID`."""
    for name in path.split("/"):
        record = (record or {}).get(name)
    return record


def lines_of(record: Any) -> Iterator[Any]:
    """Yield the lines of an invoice, also those in groups."""
    yield from record.get("InvoiceLineRet", ())
    for group in record.get("InvoiceLineGroupRet", ()):
        yield from group.get("InvoiceLineRet", ())


def subscribe(books: Client) -> str:
    """Return the id of the subscription of this program. It is made at the first start."""
    for subscription in books.api.list_subscriptions():
        if subscription["name"] == NAME:
            return subscription["id"]
    return books.api.create_subscription(
        {"name": NAME, "objects": list(OBJECTS), "every_minutes": 15, "include": {"Invoice": ["lines"]}}
    )["id"]


def with_record(books: Client, change: BooksChange) -> BooksChange:
    """Return a change with its record. An invoice with thousands of lines is not in its event."""
    if not isinstance(change, RecordOmitted) or change.object != "Invoice":
        return change
    return Changed("Invoice", change.id, change.sequence, change.generation, books.invoices.get(change.id))


def follow(books: Client, database: Database, *, once: bool) -> None:
    """Follow the changes until the program is stopped, or to the last one."""
    subscription_id = subscribe(books)
    while True:
        for change in books.changes(database, subscription_id=subscription_id):
            apply(database, with_record(books, change))
            if isinstance(change, ResyncRequired):
                print(f"All records are read again. {change.reason}")
                books.api.resync_subscription(subscription_id)
            elif isinstance(change, ReadingFailed):
                print(f"The copy is not up to date. {change.reason}")
        if once:
            return
        time.sleep(IDLE_SECONDS)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if missing := [name for name in ("BASE_URL", "API_KEY", "CONNECTION_ID") if not os.environ.get(name)]:
        sys.exit(f"{missing[0]} is not set. In the folder of the project, run: set -a; . .local/env; set +a")
    with Client.from_environment() as client, closing(Database(sys.argv[1])) as copy:
        try:
            follow(client, copy, once="--once" in sys.argv)
        except KeyboardInterrupt:
            print("Stopped. The next run continues here.")
        except (ApiError, httpx.TransportError) as error:
            sys.exit(f"{error} Start the program again: it continues here.")
