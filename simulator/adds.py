"""CustomerAdd and SalesOrderAdd: what QuickBooks checks, fills in and stores.

Statuses: 3100 name in use, 3120 an object given by id is not there, 3130 no such parent, 3140 a reference by name
leads nowhere, 3210 a value that the field cannot have. Text is kept as Windows-1252.
"""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulator.generator import REFERENCES, item_price, order_line, reference
from simulator.rows import Fields, Row, Table
from simulator.values import RequestError, is_true, stored_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from simulator.clock import MachineClock

_NO_RECORD = "QuickBooks error message: Invalid argument.  The specified record does not exist in the list."
_REPEATED = {
    "ShipToAddress": "ShipToAddress",
    "AdditionalContactRef": "AdditionalContactRef",
    "Contacts": "ContactsRet",
    "AdditionalNotes": "AdditionalNotesRet",
    "DataExt": "DataExtRet",
}
"""What repeats in an Add, with its name in the Ret."""
_BOOLEANS = {"IsStatementWithParent", "IsManuallyClosed", "IsToBePrinted", "IsToBeEmailed", "IsTaxIncluded", "IsActive"}

_CUSTOMER_ORDER = (
    "ListID TimeCreated TimeModified EditSequence Name FullName IsActive ClassRef ParentRef Sublevel "
    "CompanyName Salutation FirstName MiddleName LastName Suffix JobTitle BillAddress BillAddressBlock "
    "ShipAddress ShipAddressBlock ShipToAddress PrintAs Phone Mobile Pager AltPhone Fax Email Cc Contact "
    "AltContact AdditionalContactRef ContactsRet CustomerTypeRef TermsRef SalesRepRef Balance "
    "TotalBalance SalesTaxCodeRef ItemSalesTaxRef SalesTaxCountry ResaleNumber AccountNumber CreditLimit "
    "PreferredPaymentMethodRef CreditCardInfo JobStatus JobStartDate JobProjectedEndDate JobEndDate "
    "JobDesc JobTypeRef Notes AdditionalNotesRet IsStatementWithParent DeliveryMethod "
    "PreferredDeliveryMethod PriceLevelRef ExternalGUID TaxRegistrationNumber CurrencyRef DataExtRet "
).split()

_SALES_ORDER_ORDER = (
    "TxnID TimeCreated TimeModified EditSequence TxnNumber CustomerRef ClassRef TemplateRef TxnDate "
    "RefNumber BillAddress BillAddressBlock ShipAddress ShipAddressBlock PONumber TermsRef DueDate "
    "SalesRepRef FOB ShipDate ShipMethodRef Subtotal ItemSalesTaxRef SalesTaxPercentage SalesTaxTotal "
    "TotalAmount CurrencyRef ExchangeRate TotalAmountInHomeCurrency IsManuallyClosed IsFullyInvoiced Memo "
    "CustomerMsgRef IsToBePrinted IsToBeEmailed IsTaxIncluded CustomerSalesTaxCodeRef Other ExternalGUID "
    "LinkedTxn SalesOrderLineRet SalesOrderLineGroupRet DataExtRet "
).split()

_LINE_ORDER = (
    "TxnLineID ItemRef Desc Quantity UnitOfMeasure Rate RatePercent ClassRef Amount TaxAmount InventorySiteRef "
    "InventorySiteLocationRef SerialNumber LotNumber SalesTaxCodeRef Invoiced IsManuallyClosed Other1 Other2 DataExtRet"
).split()
"""The order of elements in responses, these three; source: qbXML 13.0."""


def add_customer(request: Element, customers: Table, vendors: Table, clock: MachineClock) -> Row:
    """Add a customer or job and return its row. Raises `RequestError` 3100, 3120, 3130, 3140 or 3210."""
    given = request[0]
    name = stored_text(given.findtext("Name", ""))
    if not name or ":" in name:
        raise RequestError(
            3210,
            f'The "Name" field has an invalid value "{name}".'
            "  QuickBooks error message: A name cannot be empty or hold a colon.",
        )
    parent = _parent(given.find("ParentRef"), customers)
    full_name = f"{parent.name}:{name}" if parent else name
    # Customers, vendors and employees share one space of names at the top level.
    if customers.by_name(full_name) or (parent is None and vendors.by_name(full_name)):
        raise RequestError(3100, f'The name "{full_name}" of the list element is already in use.')
    now = clock.seconds()
    balance = f"{Decimal(given.findtext('OpenBalance') or '0'):.2f}"
    fields: Fields = {
        "ListID": f"{0x80000000 + len(customers) + 1:X}-{now}",
        **_times(clock, now),
        "FullName": full_name,
        "IsActive": "true",
        "Sublevel": str(full_name.count(":")),
        "Balance": balance,
        "TotalBalance": balance,
        "JobStatus": "None",
        "PreferredDeliveryMethod": "None",
        **_stored(given, "Customer", skip={"ParentRef", "OpenBalance", "OpenBalanceDate"}),
    }
    if parent:
        fields["ParentRef"] = parent.reference()
    for contact_at, contact in enumerate(fields.get("ContactsRet", ()), 1):
        fields["ContactsRet"][contact_at - 1] = {"ListID": f"{contact_at:X}-{now}", **_times(clock, now), **contact}
    for note_at, note in enumerate(fields.get("AdditionalNotesRet", ()), 1):
        fields["AdditionalNotesRet"][note_at - 1] = {"NoteID": str(note_at), "Date": clock.today().isoformat(), **note}
    row = Row("CustomerRet", _in_order(fields, _CUSTOMER_ORDER))
    customers.add(row)
    return row


def add_sales_order(request: Element, sales_orders: Table, customers: Table, items: Table, clock: MachineClock) -> Row:
    """Add a sales order and return its row. Raises `RequestError` 3120 or 3140."""
    given = request[0]
    now, number = clock.seconds(), len(sales_orders) + 1
    customer = _referred(given.find("CustomerRef"), customers, "Customer", "SalesOrder")
    lines = [
        _line(line, f"{number * 16 + at:X}-{now}", items) for at, line in enumerate(given.findall("SalesOrderLineAdd"))
    ]
    total = f"{sum((Decimal(line.get('Amount', '0')) for line in lines), Decimal()):.2f}"
    fields: Fields = {
        "TxnID": f"{number:X}-{now}",
        **_times(clock, now),
        "TxnNumber": str(number),
        "CustomerRef": customer.reference() if customer else {},
        "TemplateRef": reference("TemplateRef", "Custom Sales Order"),
        "TxnDate": clock.today().isoformat(),
        "RefNumber": str(1000 + number),
        "Subtotal": total,
        "SalesTaxPercentage": "0.00",
        "SalesTaxTotal": "0.00",
        "TotalAmount": total,
        "IsManuallyClosed": "false",
        "IsFullyInvoiced": "false",
        "IsToBePrinted": "true",
        "IsToBeEmailed": "false",
        "LinkedTxn": [],
        "SalesOrderLineRet": lines,
        **_stored(given, "SalesOrder", skip={"CustomerRef", "SalesOrderLineAdd", "ExchangeRate"}),
    }
    row = Row("SalesOrderRet", _in_order(fields, _SALES_ORDER_ORDER))
    sales_orders.add(row)
    return row


def _in_order(fields: Fields, order: list[str]) -> Fields:
    return {name: fields[name] for name in order if name in fields}


def _times(clock: MachineClock, now: int) -> Fields:
    return {"TimeCreated": clock.text(now), "TimeModified": clock.text(now), "EditSequence": str(now)}


def _parent(given: Element | None, customers: Table) -> Row | None:
    if given is None:
        return None
    list_id, full_name = given.findtext("ListID"), given.findtext("FullName")
    found = customers.by_id(list_id) if list_id else customers.by_name(full_name or "")
    if found is None:
        raise RequestError(
            3130, f'There is an invalid reference to a parent "{list_id or full_name}" in the Customers list.'
        )
    return found


def _referred(given: Element | None, table: Table, noun: str, document: str) -> Row | None:
    """Return the row that a reference leads to; None without a reference."""
    if given is None:
        return None
    list_id, full_name = given.findtext("ListID"), given.findtext("FullName")
    found = table.by_id(list_id) if list_id else table.by_name(full_name or "")
    if found is None:
        raise _dangling(list_id, full_name, noun, document)
    return found


def _dangling(list_id: str | None, full_name: str | None, noun: str, document: str) -> RequestError:
    if list_id:
        return RequestError(3120, f'Object "{list_id}" specified in the request cannot be found.  {_NO_RECORD}')
    return RequestError(
        3140, f'There is an invalid reference to QuickBooks {noun} "{full_name or ""}" in the {document}.  {_NO_RECORD}'
    )


def _stored(given: Element, document: str, skip: set[str]) -> Fields:
    """Return the values of an Add as they are kept, in their order; references are looked up."""
    kept: Fields = {}
    for child in given:
        if child.tag in skip:
            continue
        value = _value(child, document)
        if child.tag in _REPEATED:
            kept.setdefault(_REPEATED[child.tag], []).append(value)
        elif value:
            kept[child.tag] = value
    return kept


def _value(child: Element, document: str) -> Any:
    if child.tag.endswith("Ref") and child.tag != "AdditionalContactRef":
        list_id, full_name = child.findtext("ListID"), child.findtext("FullName")
        for name in REFERENCES.get(child.tag, ()):
            known = reference(child.tag, name)
            if list_id == known["ListID"] or (not list_id and (full_name or "").lower() == name.lower()):
                return known
        raise _dangling(list_id, full_name, child.tag.removesuffix("Ref"), document)
    if child.tag == "DataExt":
        owner, name, text = (stored_text(inner.text or "") for inner in child)
        return {"OwnerID": owner, "DataExtName": name, "DataExtType": "STR255TYPE", "DataExtValue": text}
    if len(child):
        return _stored(child, document, skip=set())
    text = child.text or ""
    if child.tag in _BOOLEANS:
        return "true" if is_true(text) else "false"
    return stored_text(text)


def _line(given: Element, line_id: str, items: Table) -> Fields:
    """Return a stored line: what is not given comes from the item, the amount from quantity and rate."""
    item = _referred(given.find("ItemRef"), items, "Item", "SalesOrder line")
    values = _stored(given, "SalesOrder line", skip={"ItemRef"})
    if item is None:
        return _in_order({"TxnLineID": line_id, **values}, _LINE_ORDER)
    quantity = Decimal(values.get("Quantity", "1"))
    rate = Decimal(values.get("Rate", item_price(item)))
    line = {**order_line(line_id, item, quantity), "Amount": f"{quantity * rate:.2f}", **values}
    return _in_order(line, _LINE_ORDER)
