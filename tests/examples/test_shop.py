"""The shop keeps its books correct although it is killed again and again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.examples.test_clients import EXAMPLES, PYTHON, needs_python_tools, output_of, variables_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.runs import Run

CUSTOMERS = 30
KILLS = 5

BOOKS = """
import json
from qbxml_queue import Client
with Client.from_environment() as books:
    def all_of(query, name):
        return [item for page in books.iterate(query) for item in page[name]]
    print(json.dumps([
        [customer["FullName"] for customer in all_of({"CustomerQueryRq": {}}, "CustomerRet")],
        [
            [invoice.get("RefNumber"), str(invoice["BalanceRemaining"])]
            for invoice in all_of({"InvoiceQueryRq": {}}, "InvoiceRet")
        ],
        [payment.get("RefNumber") for payment in all_of({"ReceivePaymentQueryRq": {}}, "ReceivePaymentRet")],
    ]))
"""


@pytest.mark.nightly
@needs_python_tools
def test_a_shop_that_is_killed_five_times_writes_everything_once(run: Run, typed_client: Path, tmp_path: Path) -> None:
    variables = {**variables_of(run), "PYTHONPATH": str(typed_client)}
    command: list[Any] = [PYTHON, EXAMPLES / "shop" / "shop.py", tmp_path, str(CUSTOMERS)]

    kills = sum(was_killed(command, run, variables, more_lines=6 + 16 * number) for number in range(KILLS))
    report = output_of(command, tmp_path, **variables)
    again = output_of(command, tmp_path, **variables)

    assert kills > KILLS // 2  # the last starts may have nothing left to do
    customers, invoices, payments = json.loads(output_of([PYTHON, "-c", BOOKS], tmp_path, **variables))
    written = [invoice for invoice in invoices if (invoice[0] or "").startswith("S")]
    assert sorted(name for name in customers if name.startswith("Shop")) == names(CUSTOMERS, "Shop customer ")
    assert sorted(number for number, _ in written) == names(20, "S")
    assert sorted(number for number in payments if (number or "").startswith("S")) == names(10, "S")
    assert sorted(number for number, balance in written if balance != "0.00") == sorted(f"S{n}" for n in range(11, 21))
    assert "Shop customer 20\t" in report
    assert "Shop customer 5\t" not in report
    assert again == report
    with sqlite3.connect(next(tmp_path.glob("shop-*.db"))) as shop:
        [copied] = shop.execute("SELECT count(*) FROM customers WHERE name LIKE 'Shop customer %'").fetchone()
    assert copied == CUSTOMERS


def names(count: int, prefix: str) -> list[str]:
    return sorted(f"{prefix}{number}" for number in range(1, count + 1))


def was_killed(command: list[Any], run: Run, variables: dict[str, str], more_lines: int) -> bool:
    """Start the shop and kill it when the service has reported more calls. Return false if it has ended before."""
    target = len(run.lines) + more_lines
    shop = subprocess.Popen([str(part) for part in command], env={**os.environ, **variables}, stdout=subprocess.DEVNULL)  # noqa: S603
    while shop.poll() is None and len(run.lines) < target:
        time.sleep(0.01)
    was_running = shop.poll() is None
    shop.kill()
    shop.wait()
    return was_running
