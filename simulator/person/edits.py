"""The edits of a person: each chooses a record and writes the request that does what the person does.

`EDITS` is the table. An edit returns None if the company has nothing for it. One without a request has happened.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from simulator.books.custom_fields import definition_of
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from simulator.books import Books, Record
    from simulator.company import Company, Snapshot

_LOOKED_AT = 30
"""How many records the person looks at to find one that suits an edit."""
_BACKUPS = 3
_RECENT_DAYS, _OLD_DAYS = 60, 400
_WORDS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath", "Inlet", "Jade")
_OWNER, _FIELD = "{4D0F2A56-0C2C-4A3D-9B7E-2F1E6A5C8B90}", "Shelf"
_NAMES = ("Customer", "Vendor", "ItemService")
_ITEMS = ("ItemService", "ItemNonInventory", "ItemInventory")
_DEBTS = {"Invoice": "InvoiceRet", "Bill": "BillRet"}
_PAYMENTS = ("ReceivePayment", "BillPaymentCheck")
_PARTS = (2, 3, 4)


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit does: the record ('' for a new one or none), and the request ('' if it has happened)."""

    record_id: str
    request: str


@dataclass(slots=True)
class Desk:
    """What the person has at hand: the company, chance, and the last backups of the file."""

    company: Company
    chance: Random
    backups: deque[Snapshot] = field(default_factory=lambda: deque(maxlen=_BACKUPS))

    @property
    def books(self) -> Books:
        """The books as they are now. A restored backup replaces them."""
        return self.company.books

    def some(self, kinds: tuple[str, ...], suits: Callable[[Record], bool] = lambda _: True) -> Record | None:
        """Return a random record that suits, or None if the person finds none."""
        records = [record for kind in kinds for record in self.books[kind]]
        looked_at = self.chance.sample(records, min(_LOOKED_AT, len(records)))
        return next((record for record in looked_at if suits(record)), None)

    def new_name(self) -> str:
        """Return a name that is probably not in use."""
        return f"{self.chance.choice(_WORDS)} {self.chance.randrange(10**6)}"

    def day(self, days: int = _RECENT_DAYS) -> str:
        """Return a day in the last `days`."""
        return (self.books.clock.today() - timedelta(days=self.chance.randrange(days))).isoformat()

    def amount(self) -> str:
        """Return an amount."""
        return money(Decimal(self.chance.randint(100, 50_000)) / 100)

    def account(self, *types: str) -> Record | None:
        """Return an account of one of these types."""
        return self.some(("Account",), lambda account: account.fields.get("AccountType") in types and account.is_active)


def _reference(name: str, record: Record) -> str:
    return f"<{name}><ListID>{record.id}</ListID></{name}>"


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"


def _add(kind: str, content: str) -> Change:
    return Change("", f"<{kind}AddRq><{kind}Add>{content}</{kind}Add></{kind}AddRq>")


def _mod(record: Record, content: str) -> Change:
    kind = record.kind.name
    identity = _element(record.kind.id_field, record.id) + _element("EditSequence", str(record.edit_sequence))
    return Change(record.id, f"<{kind}ModRq><{kind}Mod>{identity}{content}</{kind}Mod></{kind}ModRq>")


def _add_customer(desk: Desk) -> Change:
    return _add("Customer", _element("Name", desk.new_name()))


def _add_job(desk: Desk) -> Change | None:
    parent = desk.some(("Customer",), lambda customer: customer.is_active and ":" not in customer.full_name)
    return (
        None
        if parent is None
        else _add("Customer", _element("Name", desk.new_name()) + _reference("ParentRef", parent))
    )


def _add_vendor(desk: Desk) -> Change:
    return _add("Vendor", _element("Name", desk.new_name()))


def _add_item(desk: Desk) -> Change | None:
    account = desk.account("Income")
    if account is None:
        return None
    price = _element("Price", desk.amount()) + _reference("AccountRef", account)
    return _add("ItemService", f"{_element('Name', desk.new_name())}<SalesOrPurchase>{price}</SalesOrPurchase>")


def _change_name(desk: Desk) -> Change | None:
    record = desk.some(("Customer", "Vendor"))
    return None if record is None else _mod(record, _element("Phone", f"555-{desk.chance.randrange(10**4):04}"))


def _change_item(desk: Desk) -> Change | None:
    item = desk.some(("ItemService",), lambda item: "SalesOrPurchase" in item.fields)
    return (
        None
        if item is None
        else _mod(item, f"<SalesOrPurchaseMod>{_element('Price', desk.amount())}</SalesOrPurchaseMod>")
    )


def _deactivate(desk: Desk) -> Change | None:
    record = desk.some(_NAMES)
    return None if record is None else _mod(record, _element("IsActive", "false" if record.is_active else "true"))


def _rename(desk: Desk) -> Change | None:
    record = desk.some(_NAMES)
    return None if record is None else _mod(record, _element("Name", desk.new_name()))


def _merge(desk: Desk) -> Change | None:
    kind = desk.chance.choice(_NAMES)
    source = desk.some((kind,))
    target = desk.some((kind,), lambda record: record is not source)
    if source is None or target is None:
        return None
    parts = "".join(
        f"<{part}>{_element('ListID', record.id)}{_element('EditSequence', str(record.edit_sequence))}</{part}>"
        for part, record in (("MergeFrom", source), ("MergeTo", target))
    )
    return Change(source.id, f"<ListMergeRq>{_element('ListMergeType', kind)}{parts}</ListMergeRq>")


def _sell(desk: Desk, kind: str) -> Change | None:
    customer = desk.some(("Customer",), lambda customer: customer.is_active)
    items = [item for _ in range(desk.chance.randint(1, 3)) if (item := desk.some(_ITEMS, lambda one: one.is_active))]
    if customer is None or not items:
        return None
    line = f"{kind}LineAdd"
    lines = "".join(
        f"<{line}>{_reference('ItemRef', item)}{_element('Quantity', str(desk.chance.randint(1, 9)))}"
        f"{_element('Rate', desk.amount())}</{line}>"
        for item in items
    )
    return _add(kind, _reference("CustomerRef", customer) + _element("TxnDate", desk.day()) + lines)


def _buy(desk: Desk) -> Change | None:
    vendor, account = desk.some(("Vendor",), lambda vendor: vendor.is_active), desk.account("Expense")
    if vendor is None or account is None:
        return None
    line = _reference("AccountRef", account) + _element("Amount", desk.amount())
    form = _reference("VendorRef", vendor) + _element("TxnDate", desk.day())
    return _add("Bill", f"{form}<ExpenseLineAdd>{line}</ExpenseLineAdd>")


def _transfer(desk: Desk) -> Change | None:
    source = desk.account("Bank", "Equity")
    target = desk.account("Bank", "Equity")
    if source is None or target is None or source is target:
        return None
    accounts = _reference("TransferFromAccountRef", source) + _reference("TransferToAccountRef", target)
    return _add("Transfer", f"{_element('TxnDate', desk.day())}{accounts}{_element('Amount', desk.amount())}")


def _change_debt(desk: Desk) -> Change | None:
    record = desk.some(tuple(_DEBTS))
    return None if record is None else _mod(record, _element("Memo", desk.new_name()))


def _change_quantity(desk: Desk) -> Change | None:
    """Change the quantity of the first line of an invoice, and remove none."""
    invoice = desk.some(("Invoice",), lambda one: all(name == "InvoiceLineRet" for name, _ in one.lines()))
    if invoice is None:
        return None
    quantity = _element("Quantity", str(desk.chance.randint(1, 9)))
    lines = [_element("TxnLineID", line["TxnLineID"]) for _, line in invoice.lines()]
    lines[:1] = [line + quantity for line in lines[:1]]
    return _mod(invoice, "".join(f"<InvoiceLineMod>{line}</InvoiceLineMod>" for line in lines))


def _date_back(desk: Desk) -> Change | None:
    record = desk.some(tuple(_DEBTS))
    return None if record is None else _mod(record, _element("TxnDate", desk.day(_OLD_DAYS)))


def _pay(desk: Desk, *, part: bool) -> Change | None:
    """Pay an open invoice or bill, or a part of it."""
    ledger = desk.books.ledger
    debt = desk.some(tuple(_DEBTS), lambda one: ledger.open_amount(one.id) > ZERO)
    if debt is None:
        return None
    due = ledger.open_amount(debt.id)
    paid = money(due / desk.chance.choice(_PARTS) if part else due)
    applied = f"<AppliedToTxnAdd>{_element('TxnID', debt.id)}{_element('PaymentAmount', paid)}</AppliedToTxnAdd>"
    if debt.kind.name == "Invoice":
        customer = desk.books.lists[reference_id(debt.fields, "CustomerRef")]
        total = _element("TxnDate", desk.day()) + _element("TotalAmount", paid)
        return _add("ReceivePayment", f"{_reference('CustomerRef', customer)}{total}{applied}")
    bank, vendor = desk.account("Bank"), desk.books.lists[reference_id(debt.fields, "VendorRef")]
    if bank is None:
        return None
    payee = _reference("PayeeEntityRef", vendor) + _element("TxnDate", desk.day()) + _reference("BankAccountRef", bank)
    return _add("BillPaymentCheck", f"{payee}{_element('IsToBePrinted', 'true')}{applied}")


def _void(desk: Desk) -> Change | None:
    record = desk.some(tuple(_DEBTS), lambda one: not one.is_void)
    if record is None:
        return None
    named = _element("TxnVoidType", record.kind.name) + _element("TxnID", record.id)
    return Change(record.id, f"<TxnVoidRq>{named}</TxnVoidRq>")


def _delete_transaction(desk: Desk, kinds: tuple[str, ...]) -> Change | None:
    record = desk.some(kinds)
    if record is None:
        return None
    named = _element("TxnDelType", record.kind.name) + _element("TxnID", record.id)
    return Change(record.id, f"<TxnDelRq>{named}</TxnDelRq>")


def _delete_name(desk: Desk) -> Change | None:
    record = desk.some(_NAMES, lambda one: not desk.books.is_used(one.id))
    if record is None:
        return None
    named = _element("ListDelType", record.kind.name) + _element("ListID", record.id)
    return Change(record.id, f"<ListDelRq>{named}</ListDelRq>")


def _delete_transfer(desk: Desk) -> Change | None:
    """Delete a transfer, which no request can, and which no query for deleted objects finds."""
    transfer = desk.some(("Transfer",))
    if transfer is None:
        return None
    desk.books.remove(transfer)
    return Change(transfer.id, "")


def _set_custom_field(desk: Desk) -> Change | None:
    customer = desk.some(("Customer",))
    if customer is None:
        return None
    named = _element("OwnerID", _OWNER) + _element("DataExtName", _FIELD)
    if definition_of(desk.books, _OWNER, _FIELD) is None:
        kind = _element("DataExtType", "STR255TYPE") + _element("AssignToObject", "Customer")
        return Change("", f"<DataExtDefAddRq><DataExtDefAdd>{named}{kind}</DataExtDefAdd></DataExtDefAddRq>")
    place = _element("ListDataExtType", "Customer") + _reference("ListObjRef", customer)
    value = _element("DataExtValue", desk.new_name())
    return Change(customer.id, f"<DataExtModRq><DataExtMod>{named}{place}{value}</DataExtMod></DataExtModRq>")


def _back_up(desk: Desk) -> Change:
    desk.backups.append(desk.company.snapshot())
    return Change("", "")


def _restore_backup(desk: Desk) -> Change | None:
    if not desk.backups:
        return None
    desk.company.restore_backup(desk.chance.choice(desk.backups))
    return Change("", "")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of edit. `weight` is how often it is made, compared with the others."""

    make: Callable[[Desk], Change | None]
    weight: int = 4


EDITS: Mapping[str, Kind] = {
    "add_customer": Kind(_add_customer),
    "add_job": Kind(_add_job),
    "add_vendor": Kind(_add_vendor),
    "add_item": Kind(_add_item),
    "sell": Kind(partial(_sell, kind="Invoice"), 12),
    "credit": Kind(partial(_sell, kind="CreditMemo"), 2),
    "buy": Kind(_buy, 8),
    "transfer": Kind(_transfer, 2),
    "change_name": Kind(_change_name),
    "change_item": Kind(_change_item),
    "deactivate": Kind(_deactivate, 2),
    "rename": Kind(_rename),
    "merge": Kind(_merge, 2),
    "change_debt": Kind(_change_debt),
    "change_quantity": Kind(_change_quantity),
    "date_back": Kind(_date_back),
    "pay": Kind(partial(_pay, part=False), 8),
    "part_pay": Kind(partial(_pay, part=True), 6),
    "delete_payment": Kind(partial(_delete_transaction, kinds=_PAYMENTS)),
    "void": Kind(_void, 2),
    "delete_debt": Kind(partial(_delete_transaction, kinds=tuple(_DEBTS)), 2),
    "delete_name": Kind(_delete_name, 2),
    "delete_transfer": Kind(_delete_transfer, 1),
    "set_custom_field": Kind(_set_custom_field, 2),
    "back_up": Kind(_back_up, 1),
    "restore_backup": Kind(_restore_backup, 1),
}
"""The edits by name."""
