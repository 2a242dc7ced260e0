"""Tasks of an integrator with the Python client of qbxml-queue. `theirs.py` has the same tasks with Conductor's."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from qbxml_queue import Client, Event, QuickBooksError, StillQueued, line, verify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qbxml_queue.reports import Cell
    from qbxml_queue.schema.requests import AppliedToTxnAdd
    from qbxml_queue.schema.responses import CustomerRet, InvoiceRet


def list_changed_customers(books: Client, since: str) -> list[str]:
    found = books.customers.list(modified_since=since, ActiveStatus="All")
    return [customer["FullName"] for customer in found]


def find_customer(books: Client, name: str) -> CustomerRet | None:
    return books.customers.find(name)


def ensure_customer(books: Client, name: str, email: str) -> str:
    return books.customers.ensure(Name=name, Email=email)["ListID"]


def create_invoice(books: Client, customer: str, number: str) -> str:
    lines = [line("Bread", Quantity=2), line("Delivery", Quantity=1, Rate=Decimal("5.00"))]
    invoice = books.invoices.create(CustomerRef=customer, RefNumber=number, lines=lines, if_exists="return")
    return invoice["TxnID"]


def change_memo(books: Client, invoice: str, memo: str) -> None:
    books.invoices.update(invoice, Memo=memo)


def change_first_line(books: Client, invoice: str, quantity: int) -> None:
    [first, *_] = books.invoices.get(invoice)["InvoiceLineRet"]
    books.invoices.update(invoice, lines=[{"TxnLineID": first["TxnLineID"], "Quantity": quantity}])


def void_invoice(books: Client, invoice: str) -> None:
    books.invoices.void(invoice)


def delete_invoice(books: Client, invoice: str) -> None:
    books.invoices.delete(invoice)


def receive_payment(books: Client, customer: str, invoice: str, amount: Decimal) -> str:
    applied: list[AppliedToTxnAdd] = [{"TxnID": invoice, "PaymentAmount": amount}]
    payment = books.receive_payments.create(CustomerRef=customer, TotalAmount=amount, AppliedToTxnAdd=applied)
    return payment["TxnID"]


def read_sales_order(books: Client, number: str) -> list[str]:
    order = books.sales_orders.find(number)
    return [one["ItemRef"]["FullName"] for one in order["SalesOrderLineRet"]] if order else []


def read_stock(books: Client, item: str) -> Decimal | None:
    found = books.item_inventories.find(item)
    return found["QuantityOnHand"] if found else None


def profit_of(books: Client, year: int) -> Cell:
    report = books.reports.profit_and_loss(FromReportDate=date(year, 1, 1), ToReportDate=date(year, 12, 31))
    return report.total.values[-1] if report.total else None


def write_custom_field(books: Client, customer: str, region: str) -> None:
    books.customers.update(customer, custom_fields={"Region": region})


def pass_through(books: Client, number: str) -> str:
    found = books.execute({"InvoiceQueryRq": {"RefNumber": [number]}})
    return found["InvoiceRet"][0]["TxnID"]


def create_after_timeouts(books: Client, customer: str, number: str) -> InvoiceRet | str:
    while True:
        try:
            return books.invoices.create(
                CustomerRef=customer, RefNumber=number, idempotency_key=f"invoice-{number}", if_exists="return"
            )
        except StillQueued:
            continue
        except QuickBooksError as error:
            return str(error)


def receive_event(secret: str, headers: Mapping[str, str], body: bytes) -> Event:
    return verify(secret, headers, body)
