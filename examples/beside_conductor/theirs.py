"""The tasks of `ours.py` with Conductor's Python client, conductor-py 1.92.3."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from conductor import APIStatusError, APITimeoutError, Conductor

if TYPE_CHECKING:
    from conductor.types.qbd import Customer
    from conductor.types.qbd.invoice_update_params import Line


def list_changed_customers(conductor: Conductor, user: str, since: str) -> list[str]:
    found = conductor.qbd.customers.list(conductor_end_user_id=user, updated_after=since, status="all")
    return [customer.full_name for customer in found]


def find_customer(conductor: Conductor, user: str, name: str) -> Customer | None:
    found = conductor.qbd.customers.list(conductor_end_user_id=user, name_from=name, name_to=name)
    return next((customer for customer in found if customer.full_name == name), None)


def ensure_customer(conductor: Conductor, user: str, name: str, email: str) -> str:
    found = conductor.qbd.customers.list(conductor_end_user_id=user, name_from=name, name_to=name)
    for customer in found:
        return customer.id
    return conductor.qbd.customers.create(conductor_end_user_id=user, name=name, email=email).id


def create_invoice(conductor: Conductor, user: str, customer: str, number: str, items: tuple[str, str]) -> str:
    invoice = conductor.qbd.invoices.create(
        conductor_end_user_id=user,
        customer_id=customer,
        transaction_date=date(2026, 11, 30),
        ref_number=number,
        lines=[{"item_id": items[0], "quantity": 2}, {"item_id": items[1], "quantity": 1, "rate": "5.00"}],
    )
    return invoice.id


def change_memo(conductor: Conductor, user: str, invoice: str, memo: str) -> None:
    current = conductor.qbd.invoices.retrieve(invoice, conductor_end_user_id=user)
    revision = current.revision_number
    conductor.qbd.invoices.update(invoice, conductor_end_user_id=user, revision_number=revision, memo=memo)


def change_first_line(conductor: Conductor, user: str, invoice: str, quantity: int) -> None:
    current = conductor.qbd.invoices.retrieve(invoice, conductor_end_user_id=user)
    lines: list[Line] = [{"id": line.id} for line in current.lines]  # a line that is left out is removed
    lines[0]["quantity"] = quantity
    revision = current.revision_number
    conductor.qbd.invoices.update(invoice, conductor_end_user_id=user, revision_number=revision, lines=lines)


def void_invoice(conductor: Conductor, user: str, invoice: str) -> None:
    conductor.qbd.invoices.void(invoice, conductor_end_user_id=user)


def delete_invoice(conductor: Conductor, user: str, invoice: str) -> None:
    conductor.qbd.invoices.delete(invoice, conductor_end_user_id=user)


def receive_payment(conductor: Conductor, user: str, customer: str, invoice: str, amount: str) -> str:
    payment = conductor.qbd.receive_payments.create(
        conductor_end_user_id=user,
        customer_id=customer,
        transaction_date=date(2026, 11, 30),
        total_amount=amount,
        apply_to_transactions=[{"transaction_id": invoice, "payment_amount": amount}],
    )
    return payment.id


def read_sales_order(conductor: Conductor, user: str, number: str) -> list[str | None]:
    found = conductor.qbd.sales_orders.list(
        conductor_end_user_id=user, ref_number_from=number, ref_number_to=number, include_line_items=True
    )
    return [line.item.full_name for order in found for line in order.lines if line.item]


def read_stock(conductor: Conductor, user: str, item: str) -> float | None:
    found = conductor.qbd.inventory_items.list(conductor_end_user_id=user, full_names=[item])
    return found.data[0].quantity_on_hand


def profit_of(conductor: Conductor, user: str, year: int) -> str | None:
    report = conductor.qbd.reports.general_summary(
        conductor_end_user_id=user,
        report_type="profit_and_loss_standard",
        report_date_from=date(year, 1, 1),
        report_date_to=date(year, 12, 31),
    )
    return [row for row in report.rows if row.kind == "total"][-1].cells[-1].value


def write_custom_field(conductor: Conductor, user: str, customer: str, region: str) -> None:
    value = {"OwnerID": "0", "DataExtName": "Region", "DataExtValue": region}
    target = {"ListDataExtType": "Customer", "ListObjRef": {"ListID": customer}}
    payload: dict[str, Any] = {"DataExtModRq": {"DataExtMod": {**value, **target}}}
    conductor.end_users.passthrough("quickbooks_desktop", id=user, qbd_payload=payload)


def pass_through(conductor: Conductor, user: str, number: str) -> Any:
    payload: dict[str, Any] = {"InvoiceQueryRq": {"RefNumber": [number]}}
    return conductor.end_users.passthrough("quickbooks_desktop", id=user, qbd_payload=payload)


def create_after_timeouts(conductor: Conductor, user: str, customer: str, number: str) -> Any:
    once = conductor.with_options(max_retries=0)  # a repeated call could write a second time
    while True:
        try:
            for invoice in once.qbd.invoices.list(
                conductor_end_user_id=user, ref_number_from=number, ref_number_to=number
            ):
                return invoice
            day = date(2026, 11, 30)
            return once.qbd.invoices.create(
                conductor_end_user_id=user, customer_id=customer, transaction_date=day, ref_number=number
            )
        except APITimeoutError:
            continue
        except APIStatusError as error:
            return error.message


def receive_event(conductor: Conductor, user: str, since: str) -> list[str]:
    found = conductor.qbd.invoices.list(conductor_end_user_id=user, updated_after=since)  # no webhooks: ask again
    return [invoice.id for invoice in found]
