"""What identifies the object of an addition: its full name, or its number with its customer, vendor or account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidRequest
from domain.existing.queries import Write, by_identity, fields_of, query_name, query_named
from domain.existing.values import is_same_reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

    from domain import qbxml

PARTIES: Mapping[str, str] = {
    "ARRefundCreditCard": "CustomerRef",
    "Bill": "VendorRef",
    "BillPaymentCheck": "BankAccountRef",
    "BillPaymentCreditCard": "CreditCardAccountRef",
    "Charge": "CustomerRef",
    "Check": "AccountRef",
    "CreditCardCharge": "AccountRef",
    "CreditCardCredit": "AccountRef",
    "CreditMemo": "CustomerRef",
    "Estimate": "CustomerRef",
    "InventoryAdjustment": "AccountRef",
    "Invoice": "CustomerRef",
    "ItemReceipt": "VendorRef",
    "PurchaseOrder": "VendorRef",
    "ReceivePayment": "CustomerRef",
    "SalesOrder": "CustomerRef",
    "SalesReceipt": "CustomerRef",
    "SalesTaxPaymentCheck": "BankAccountRef",
    "VendorCredit": "VendorRef",
}
"""For each type of transaction that can be found, the element that tells whose number it is. Checks and card payments
are numbered for each account."""

SHARED_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("Customer", "Vendor", "Employee", "OtherName"), "EntityQueryRq"),
    **dict.fromkeys(("StandardTerms", "DateDrivenTerms"), "TermsQueryRq"),
}
_ITEM = "Item"
_ITEMS = "ItemQueryRq"
"""The queries that look through all lists that share their names. All items are one of these groups."""


def identity_query(request: qbxml.Request) -> qbxml.Request:
    """Return the query that finds the object of an addition. Raises InvalidRequest, which names what is missing."""
    write = Write.of(request)
    name, subject, fields = request.name, write.subject, fields_of(write)
    party = PARTIES.get(subject)
    is_list = "FullName" in fields and "ListID" in fields
    if write.verb != "Add":
        raise _refused(f"{name} is not an addition. Leave if_exists out")
    if party is None and not is_list:
        raise _refused(f"QuickBooks cannot tell what {name} would add by a name, or by a number and its owner")
    if party and not _names_object(write.content.find(party)):
        raise _refused(f"{name} must have {party}, with a ListID or FullName")
    if party is None and _has_nameless_parent(write.content):
        raise _refused(f"{name} must have ParentRef/FullName in place of ParentRef/ListID")
    query = by_identity(write)
    if query is None:
        raise _refused(f"{name} must have {'RefNumber' if party else 'Name'}")
    return query


def asked_for(query: qbxml.Request) -> str:
    """Return what the query for an object asks for. It is the same for the same name or number, ignoring case.

    Numbers of all customers, vendors or accounts count as one, because the query returns all of them.
    """
    texts = (query.element.findtext(field, "") for field in ("FullName", "RefNumber"))
    return " ".join([query.name, *map(_folded, texts)])


def holder_query(request: qbxml.Request) -> qbxml.Request | None:
    """Return the query for the object that holds the name of an addition, in any list that shares its names."""
    write = Write.of(request)
    name = holder_query_name(write.subject)
    found = by_identity(write)
    full_name = found.element.findtext("FullName") if found else None
    return query_named(write, name, [("FullName", full_name)]) if name and full_name else None


def holder_query_name(subject: str) -> str | None:
    """Return the name of the query for all lists that share the names of a type, or None if no others do."""
    return SHARED_NAMES.get(subject, _ITEMS if subject.startswith(_ITEM) and query_name(subject) != _ITEMS else None)


def has_name(subject: str) -> bool:
    """Return whether a name identifies the objects of a type."""
    return subject not in PARTIES


def with_identity(request: qbxml.Request, rows: Sequence[Element]) -> list[Element]:
    """Return the objects in an answer that have the identity of an addition.

    QuickBooks has looked for the name. Numbers are compared here, because those of other customers are found too.
    """
    write = Write.of(request)
    own = [row for row in rows if row.tag == f"{write.subject}Ret"]
    party = PARTIES.get(write.subject)
    if party is None:
        return own
    number, owner = write.content.findtext("RefNumber", ""), write.content.find(party)
    return [
        row
        for row in own
        if _folded(row.findtext("RefNumber", "")) == _folded(number)
        and owner is not None
        and (returned := row.find(party)) is not None
        and is_same_reference(owner, returned, is_strict=True)
    ]


def object_id(row: Element) -> str | None:
    """Return the id of an object."""
    return row.findtext("ListID") or row.findtext("TxnID")


def _folded(number: str) -> str:
    return number.strip().casefold()


def _names_object(reference: Element | None) -> bool:
    return reference is not None and bool(reference.findtext("ListID") or reference.findtext("FullName"))


def _has_nameless_parent(content: Element) -> bool:
    parent = content.find("ParentRef")
    return parent is not None and not parent.findtext("FullName")


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest.of("if_exists", message)
