"""Writes that wait for approval, for the tests and the screenshots of the page Approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser.support import HOSTILE

if TYPE_CHECKING:
    from tests.e2e.support import Connection, Service


def author_of(service: Service) -> str:
    """Return a new key that proposes writes."""
    return str(service.operate("create_key", app_id=service.app_id, scope="propose")["api_key"])


def propose(connection: Connection, *writes: dict[str, Any], key: str | None = None) -> list[str]:
    """Queue writes with a key that proposes, and return their ids."""
    key = key or author_of(connection.service)
    ids = []
    for write in writes:
        path = f"{connection.path}/queued_requests"
        answer = connection.service.call("POST", path, {"request_json": write}, key=key)
        assert answer.status == 201, answer.text
        ids.append(str(answer.json["data"]["id"]))
    return ids


def invoice(number: str, lines: list[dict[str, Any]], customer: str = "Abercrombie, Kristy") -> dict[str, Any]:
    """Return the addition of an invoice."""
    fields = {"CustomerRef": {"FullName": customer}, "TxnDate": "2026-11-28", "RefNumber": number}
    return {"InvoiceAddRq": {"InvoiceAdd": {**fields, "InvoiceLineAdd": lines}}}


def line(item: str, quantity: str, rate: str, text: str) -> dict[str, Any]:
    """Return a line of an invoice."""
    return {"ItemRef": {"FullName": item}, "Desc": text, "Quantity": quantity, "Rate": rate}


def customer_change(list_id: str, edit_sequence: str, **fields: str) -> dict[str, Any]:
    """Return the change of a customer."""
    return {"CustomerModRq": {"CustomerMod": {"ListID": list_id, "EditSequence": edit_sequence, **fields}}}


TWO_LINES = [line("Consulting", "2", "97.50", "Advice"), line("Travel", "1", "53.50", "The way there")]

HOURS = [line("Consulting", "2.5", "97.50", "Hours on site"), line("Consulting", "1", "97.50", f"Report {HOSTILE}")]

WRITES: list[dict[str, Any]] = [
    invoice("1042", [*HOURS, line("Travel", "40", "0.67", "Miles to the customer and back")]),
    customer_change("80000001-1700000000", "1700000000", Phone="555-0199", Email="", Notes=HOSTILE),
    {"TxnDelRq": {"TxnDelType": "Invoice", "TxnID": "1A2B-1700000000"}},
    {
        "VendorAddRq": {
            "VendorAdd": {
                "Name": "Donaudampfschifffahrtselektrizitätenwerk",
                "CompanyName": "Böttcher & Söhne",
                "VendorAddress": {"Addr1": "12 Harbor Street", "City": "Middletown", "State": "CA"},
                "Email": "books@example.com",
            }
        }
    },
]
"""One write of each kind: lines, a change, a deletion, and a long name."""

BATCH: list[dict[str, Any]] = [
    {"ref": "c", "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Grünwald Fabrics"}}}},
    {
        "request_json": {
            "InvoiceAddRq": {
                "InvoiceAdd": {
                    "CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}},
                    "InvoiceLineAdd": [line("Consulting", "1", "97.50", "First hour")],
                }
            }
        }
    },
]
"""A customer, and an invoice for it."""
