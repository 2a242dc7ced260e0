"""The guide beside Conductor's client: our side runs, is no longer than theirs, and is what the guide shows."""

from __future__ import annotations

import ast
import json
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_types import mypy
from test_webhooks import SECRET, signed

if TYPE_CHECKING:
    from books import Books

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "beside_conductor"
GUIDE = ROOT / "docs" / "guides" / "beside-conductor.md"
sys.path.insert(0, str(EXAMPLES))


def tasks(name: str) -> dict[str, list[str]]:
    """Return the lines of each task, without those of its signature."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {
        function.name: [line for line in lines[function.body[0].lineno - 1 : function.end_lineno] if line.strip()]
        for function in functions
    }


def test_ours_needs_no_more_lines_in_any_task() -> None:
    ours, theirs = tasks("ours.py"), tasks("theirs.py")

    assert list(ours) == list(theirs)
    assert len(ours) >= 15
    assert {name for name in ours if len(ours[name]) > len(theirs[name])} == set()


def test_the_guide_counts_the_lines_of_the_programs_and_shows_all_of_them() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    ours, theirs = tasks("ours.py"), tasks("theirs.py")

    rows = [f"| `{name}` | {len(theirs[name])} | {len(ours[name])} |" for name in ours]
    rows.append(f"| all | {sum(map(len, theirs.values()))} | {sum(map(len, ours.values()))} |")
    assert "\n".join(rows) in guide, "\n".join(rows)
    for lines in (*ours.values(), *theirs.values()):
        assert "\n".join(lines) in guide


def test_our_tasks_do_what_they_say(books: Books, shop: Any) -> None:
    import ours  # noqa: PLC0415 - its folder is not a package

    if type(shop).__name__ != "Client":
        pytest.skip("The programs are synchronous.")
    sales = {"AccountRef": "Sales", "Price": Decimal("2.50")}
    for name in ("Bread", "Delivery"):
        shop.item_services.create(Name=name, SalesOrPurchase=sales)

    customer = ours.ensure_customer(shop, "Ada Ltd", "ada@example.com")
    assert ours.ensure_customer(shop, "Ada Ltd", "ada@example.com") == customer
    found = ours.find_customer(shop, "Ada Ltd")
    assert found
    assert found["ListID"] == customer
    assert ours.find_customer(shop, "Nobody") is None
    assert "Ada Ltd" in ours.list_changed_customers(shop, "2020-01-01")
    assert ours.list_changed_customers(shop, "2037-01-01") == []

    invoice = ours.create_invoice(shop, "Ada Ltd", "1042")
    assert ours.create_invoice(shop, "Ada Ltd", "1042") == invoice
    ours.change_memo(shop, invoice, "By card")
    ours.change_first_line(shop, invoice, 3)
    now = shop.invoices.get(invoice)
    assert (now["Memo"], [one["Quantity"] for one in now["InvoiceLineRet"]]) == ("By card", [3, 1])
    assert ours.pass_through(shop, "1042") == invoice

    payment = ours.receive_payment(shop, "Ada Ltd", invoice, Decimal("2.50"))
    assert shop.receive_payments.get(payment)["TotalAmount"] == Decimal("2.50")
    assert shop.invoices.get(invoice)["BalanceRemaining"] == Decimal("10.00")
    assert ours.profit_of(shop, int(now["TxnDate"].year)) is not None

    shop.sales_orders.create(CustomerRef="Ada Ltd", RefNumber="7", lines=[{"ItemRef": "Bread", "Quantity": 1}])
    assert ours.read_sales_order(shop, "7") == ["Bread"]
    assert ours.read_stock(shop, "Nothing") is None

    kept = ours.create_after_timeouts(shop, "Ada Ltd", "1043")["TxnID"]
    assert ours.create_after_timeouts(shop, "Ada Ltd", "1043")["TxnID"] == kept
    assert isinstance(ours.create_after_timeouts(shop, "Nobody", "1044"), str)
    ours.void_invoice(shop, kept)
    assert shop.invoices.get(kept)["Subtotal"] == 0
    ours.delete_invoice(shop, kept)
    assert shop.invoices.find("1043") is None
    assert len([one for one in books.executed if one.tag == "InvoiceAddRq"]) == 3


def test_a_write_that_times_out_is_resumed_and_not_written_twice(books: Books, shop: Any) -> None:
    import ours  # noqa: PLC0415

    if type(shop).__name__ != "Client":
        pytest.skip("The programs are synchronous.")
    ours.ensure_customer(shop, "Ada Ltd", "ada@example.com")
    books.is_closed = True
    calls = 0
    create = shop.invoices.create

    def impatient(**fields: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            books.open()
        return create(**fields, timeout=1)

    class Shop:
        class invoices:  # noqa: N801 - the name of a resource
            create = staticmethod(impatient)

    assert ours.create_after_timeouts(Shop(), "Ada Ltd", "1042")["RefNumber"] == "1042"
    assert calls == 3
    assert len([one for one in books.executed if one.tag == "InvoiceAddRq"]) == 1


def test_the_event_of_a_webhook_is_returned() -> None:
    import ours  # noqa: PLC0415

    body = json.dumps({"type": "queued_request.discarded"}).encode()

    event = ours.receive_event(SECRET, signed(body, timestamp=str(int(time.time()))), body)

    assert event["type"] == "queued_request.discarded"


def test_our_program_passes_mypy_strict() -> None:
    assert mypy(EXAMPLES, "ours.py") == "Success: no issues found in 1 source file\n"
