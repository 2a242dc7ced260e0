"""Write an order to QuickBooks: the customer, if it is new, and an invoice.

python3 invoice.py ORDER_NUMBER CUSTOMER
"""

from __future__ import annotations

import argparse
from typing import Any
from uuid import uuid4

from qbxml_queue import Api, run


def find_or_add_customer(api: Api, name: str) -> dict[str, Any]:
    """Return the customer with this name. Add it if it does not exist."""
    request = {"CustomerAddRq": {"CustomerAdd": {"Name": name}}}
    response = api.execute(request, f"customer-{uuid4()}", if_exists="return")
    customer: dict[str, Any] = response["CustomerRet"]
    return customer


def invoice_by_number(api: Api, number: str) -> dict[str, Any] | None:
    """Return the invoice with this number."""
    query = {"InvoiceQueryRq": {"RefNumber": number, "IncludeLineItems": True}}
    invoices = api.execute(query, f"invoice-{uuid4()}").get("InvoiceRet", [])
    return invoices[0] if invoices else None


def add_invoice(api: Api, number: str, customer_list_id: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Add an invoice, once, and return it. Customer and items are named by their ListID, which never changes."""
    request = {
        "InvoiceAddRq": {
            "@requestID": f"order-{number}",
            "InvoiceAdd": {
                "CustomerRef": {"ListID": customer_list_id},
                "RefNumber": number,
                "InvoiceLineAdd": lines,
            },
        }
    }
    response = api.execute(request, f"invoice-{uuid4()}", if_exists="return")
    invoice: dict[str, Any] = response["InvoiceRet"]
    return invoice


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an order to QuickBooks.")
    parser.add_argument("number", help="the number of the order and of its invoice")
    parser.add_argument("customer", help="the customer's full name")
    arguments = parser.parse_args()
    number, name = arguments.number, arguments.customer
    api = Api.from_environment()
    customer = find_or_add_customer(api, name)
    [item, *_] = api.execute({"ItemServiceQueryRq": {"MaxReturned": 1}}, f"item-{uuid4()}")["ItemServiceRet"]
    line = {"ItemRef": {"ListID": item["ListID"]}, "Desc": f"Order {number}", "Quantity": 2, "Rate": "49.50"}
    invoice = add_invoice(api, number, customer["ListID"], [line])
    print(
        f"Invoice {invoice['RefNumber']} for {invoice['CustomerRef']['FullName']}: {invoice['BalanceRemaining']} open"
    )


if __name__ == "__main__":
    run(main)
