"""A shop's nightly sync against the whole stack: the books agree with the shop, even if responses are lost."""

from __future__ import annotations

import json
import os
import queue
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from local.receiver import Webhook, receiving
from tests.e2e.nightly_sync import MISTAKE, Books, Shop
from tests.e2e.runs import running

if TYPE_CHECKING:
    from tests.e2e.runs import Run

pytestmark = pytest.mark.skipif("STACK" in os.environ, reason="it needs a stack with its own company and faults")

SCRIPTS = Path(__file__).resolve().parents[2] / "simulator" / "scripts"

CUSTOMERS = int(os.environ.get("NIGHTLY_CUSTOMERS", "100"))
"""The size of a night: two invoices for three customers, and payments for three quarters of the invoices."""


def books_of(run: Run) -> Books:
    """Return the inspection API of the run."""
    return Books(run.credentials["books_url"])


def sync(shop: Shop, customers: int) -> dict[str, Decimal]:
    """Play a night, and return the shop's rows of the ageing report."""
    shop.add_customers(customers)
    shop.add_invoices(customers * 2 // 3)
    shop.add_payments()
    name = next(iter(shop.list_ids))
    assert shop.change_customer(name, "555-0001") == 1
    assert shop.change_customer(name, "555-0002") == 2  # the first change gave it a new EditSequence
    names = shop.all_customers()
    assert len(names) == len(set(names))
    assert set(shop.list_ids) <= set(names)
    return shop.aging()


def check(books: Books, shop: Shop, aging: dict[str, Decimal]) -> None:
    """Compare the books with the shop's own sums: nothing is missing and nothing is duplicated."""
    invoices = {invoice["RefNumber"]: invoice for invoice in books.all("transactions/Invoice?search=INV-")}
    assert len(books.all("transactions/Invoice?search=INV-")) == len(invoices) == len(shop.orders)
    assert MISTAKE not in invoices
    for order in shop.orders:
        invoice = invoices[order.number]
        assert invoice["TxnID"] == order.txn_id
        assert invoice["CustomerRef"]["ListID"] == shop.list_ids[order.customer]
        assert Decimal(invoice["Subtotal"]) == order.total
        assert Decimal(invoice["BalanceRemaining"]) == order.open

    payments = books.all("transactions/ReceivePayment?search=PAY-")
    assert len(payments) == len({payment["RefNumber"] for payment in payments}) == shop.payments
    assert sum(Decimal(payment["TotalAmount"]) for payment in payments) == sum(order.paid for order in shop.orders)

    customers = {customer["FullName"]: customer for customer in books.all("lists/Customer?search=Nightly")}
    assert {name: customer["ListID"] for name, customer in customers.items()} == shop.list_ids
    balances = shop.balances()
    assert {
        name: Decimal(customer["Balance"]) for name, customer in customers.items() if customer["Balance"] != "0.00"
    } == balances
    assert customers[next(iter(shop.list_ids))]["Phone"] == "555-0002"
    assert sum(
        amount for title, amount in aging.items() if "Nightly" in title and not title.startswith("Total")
    ) == sum(balances.values())

    summary = books.get("books")
    assert summary["is_balanced"]
    assert books.get("problems")["data"] == []


def faults(name: str, folder: Path) -> str:
    """Write a script of the simulator without the expectations of its own queue, and return its path."""
    script = json.loads((SCRIPTS / f"{name}.json").read_text(encoding="utf-8"))
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"steps": script["steps"]}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("script", ["", "lost-answer", "bad-day"])
def test_after_a_night_the_books_agree_with_the_shop(script: str, tmp_path: Path) -> None:
    options = {"QUICKBOOKS_SCRIPT": faults(script, tmp_path)} if script else {}
    with running(tmp_path, **options) as run:
        webhooks: queue.Queue[Webhook] = queue.Queue()
        with receiving(run.credentials["webhook_secret"], webhooks.put) as url:
            shop = Shop(run.api(), run.credentials["connection_id"], url, webhooks)
            aging = sync(shop, CUSTOMERS)
            check(books_of(run), shop, aging)

    assert "has no step" not in run.output
    if script:
        assert run.output.count("Fault ") >= 2
