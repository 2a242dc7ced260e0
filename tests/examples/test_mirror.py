"""The mirror keeps a copy of real books in both databases although it is killed again and again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.examples.test_clients import EXAMPLES, PYTHON, needs_python_tools, output_of, variables_of
from tests.support import postgresql

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.e2e.runs import Run

ROUNDS = 4
WAIT_SECONDS = 100

EDIT = """
import sys
from decimal import Decimal
from qbxml_queue import Client, line
number = int(sys.argv[1])
with Client.from_environment() as books:
    customer = books.customers.ensure(Name=f"Mirrored {number}", Email=f"{number}@example.com")
    lines = [line(item="Installation", Quantity=2, Rate=Decimal("42.50")), line(item="Installation", Quantity=1)]
    invoice = books.invoices.create(CustomerRef=customer, RefNumber=f"M{number}", lines=lines)
    books.receive_payments.create(CustomerRef=customer, RefNumber=f"P{number}", TotalAmount=Decimal("5.00"),
                                  AppliedToTxnAdd=[{"TxnID": invoice["TxnID"], "PaymentAmount": Decimal("5.00")}])
    if number:
        books.customers.update(customer["ListID"], Email="new@example.com")
        books.invoices.delete(books.invoices.create(CustomerRef=customer, RefNumber=f"D{number}", lines=lines)["TxnID"])
    for subscription in books.api.list_subscriptions():
        books.api.run_subscription(subscription["id"])
"""
"""What a person does to the books, and a run that reads it."""

BOOKS = """
import json
from qbxml_queue import Client
with Client.from_environment() as books:
    invoices = list(books.invoices.list(IncludeLineItems=True))
    print(json.dumps({
        "id, name, email FROM customers": [[one["ListID"], one["FullName"], one.get("Email")]
                                           for one in books.customers.list(ActiveStatus="All")],
        "id, number, is_paid FROM invoices": [
            [one["TxnID"], one.get("RefNumber"), one.get("IsPaid")] for one in invoices
        ],
        "id, description FROM invoice_lines": [
            [one["TxnID"], line.get("Desc")]
            for one in invoices
            for part in [one, *one.get("InvoiceLineGroupRet", [])] for line in part.get("InvoiceLineRet", [])
        ],
        "id, customer_id FROM payments": [[one["TxnID"], one["CustomerRef"]["ListID"]]
                                          for one in books.receive_payments.list()],
    }))
"""
"""What the copy must have, by the statement that reads it."""

COPY = """
import json, sys, psycopg
with psycopg.connect(sys.argv[1]) as database:
    print(json.dumps({text: database.execute(f"SELECT {text}").fetchall() for text in json.loads(sys.argv[2])}))
"""


def rows_of(url: str, statements: Mapping[str, Any]) -> dict[str, list[list[Any]]]:
    """Return what the statements find in a copy, in one order."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as database:
            found = {text: [list(row) for row in database.execute(f"SELECT {text}")] for text in statements}
    else:
        program = [str(PYTHON), "-c", COPY, url, json.dumps(list(statements))]
        found = json.loads(subprocess.run(program, capture_output=True, check=True).stdout)  # noqa: S603 - ours
    return {text: in_order(rows) for text, rows in found.items()}


def in_order(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=str)


@pytest.mark.nightly
@needs_python_tools
def test_a_mirror_that_is_killed_again_and_again_has_the_books(run: Run, typed_client: Path, tmp_path: Path) -> None:
    variables = {**variables_of(run), "PYTHONPATH": str(typed_client)}
    mirror = [str(PYTHON), str(EXAMPLES / "mirror" / "mirror.py")]
    with ExitStack() as stack:
        urls = [f"sqlite:{tmp_path / 'books.db'}"]
        if programs := postgresql.programs():
            urls.append(stack.enter_context(postgresql.running(programs)))
        for url in urls:
            output_of([*mirror, url, "--once"], tmp_path, **variables)
        for number in range(ROUNDS):
            started = [
                subprocess.Popen([*mirror, url], env={**os.environ, **variables})  # noqa: S603 - our own example
                for url in urls
            ]
            output_of([PYTHON, "-c", EDIT, str(number)], tmp_path, **variables)
            for program in started:
                program.kill()
                program.wait()

        books = json.loads(output_of([PYTHON, "-c", BOOKS], tmp_path, **variables))
        expected = {text: in_order(rows) for text, rows in books.items()}
        assert len(expected["id, number, is_paid FROM invoices"]) >= ROUNDS
        deadline = time.monotonic() + WAIT_SECONDS
        for url in urls:
            while (found := rows_of(url, books)) != expected and time.monotonic() < deadline:
                output_of([*mirror, url, "--once"], tmp_path, **variables)
            # pytest would compare all rows for minutes.
            differing = {
                text: [row for row in (*rows, *expected[text]) if (row in rows) != (row in expected[text])]
                for text, rows in found.items()
                if rows != expected[text]
            }
            assert not differing
