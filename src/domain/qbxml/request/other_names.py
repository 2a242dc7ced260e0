"""The names that other APIs have for the elements of QBXML, and the names that do not belong in a request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.suggestions import letters

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "Qty": ("Quantity",),
    "Count": ("Quantity",),
    "Price": ("Rate", "SalesPrice", "Cost"),
    "UnitPrice": ("Rate", "SalesPrice"),
    "Cost": ("Rate", "PurchaseCost"),
    "Total": ("Amount", "TotalAmount"),
    "TotalAmt": ("Amount", "TotalAmount"),
    "Product": ("ItemRef",),
    "ItemName": ("ItemRef",),
    "SalesItem": ("ItemRef",),
    "Description": ("Desc", "SalesDesc"),
    "UOM": ("UnitOfMeasure", "UnitOfMeasureSetRef"),
    "Unit": ("UnitOfMeasure",),
    "TaxCode": ("SalesTaxCodeRef",),
    "TaxCodeRef": ("SalesTaxCodeRef",),
    "Date": ("TxnDate",),
    "InvoiceDate": ("TxnDate",),
    "Number": ("RefNumber",),
    "InvoiceNumber": ("RefNumber",),
    "DocNumber": ("RefNumber",),
    "Notes": ("Memo",),
    "Note": ("Memo", "Notes"),
    "PrivateNote": ("Memo", "Notes"),
    "Comment": ("Memo", "Notes"),
    "CustomerMemo": ("CustomerMsgRef",),
    "CustomerName": ("CustomerRef",),
    "Client": ("CustomerRef",),
    "Supplier": ("VendorRef",),
    "VendorName": ("VendorRef",),
    "Payee": ("PayeeEntityRef",),
    "SalesTerm": ("TermsRef",),
    "Department": ("ClassRef",),
    "DisplayName": ("Name",),
    "GivenName": ("FirstName",),
    "FamilyName": ("LastName",),
    "Surname": ("LastName",),
    "PrimaryPhone": ("Phone",),
    "PhoneNumber": ("Phone",),
    "Telephone": ("Phone",),
    "Mobile": ("AltPhone",),
    "PrimaryEmail": ("Email",),
    "PrimaryEmailAddr": ("Email",),
    "EmailAddress": ("Email",),
    "Address": ("BillAddress", "VendorAddress"),
    "BillAddr": ("BillAddress",),
    "ShipAddr": ("ShipAddress",),
    "Street": ("Addr1",),
    "Address1": ("Addr1",),
    "Address2": ("Addr2",),
    "Line1": ("Addr1",),
    "Line2": ("Addr2",),
    "Zip": ("PostalCode",),
    "ZipCode": ("PostalCode",),
    "Postcode": ("PostalCode",),
    "Region": ("State",),
    "CountrySubDivisionCode": ("State",),
    "Active": ("IsActive",),
    "Limit": ("MaxReturned",),
    "PageSize": ("MaxReturned",),
    "UpdatedAfter": ("FromModifiedDate",),
    "ModifiedSince": ("FromModifiedDate",),
    "SyncToken": ("EditSequence",),
    "Fields": ("IncludeRetElement",),
    "Include": ("IncludeRetElement",),
}
"""The elements that may be meant. The first one that an element can contain is suggested.

Most of the names are those of the API of QuickBooks Online."""

_BY_LETTERS = {letters(name): meant for name, meant in _OTHER_NAMES.items()}

_LINES = frozenset({"line", "lines", "lineitem", "lineitems", "items", "invoicelines", "itemlines"})
"""The names that other APIs have for the lines of a transaction, such as `InvoiceLineAdd`."""

_MAX_LINES = 3
_line = re.compile(r"(?!Discount|SalesTax|Shipping)\w+Line(?:Add|Mod)?").fullmatch

BESIDE_THE_REQUEST = frozenset(
    {
        "webhook_url",
        "label",
        "metadata",
        "iterate",
        "ref",
        "depends_on",
        "send_by",
        "send_within",
        "if_exists",
        "approval",
    }
)
"""The fields of a queued request that are not part of its QBXML."""


def meant_elements(name: str, names: Collection[str]) -> list[str]:
    """Return the elements out of `names` that another API calls `name`."""
    own = letters(name)
    if own in _LINES:
        return [candidate for candidate in names if _line(candidate)][:_MAX_LINES]
    return [meant for meant in _BY_LETTERS.get(own, ()) if meant in names][:1]
