"""Detail reports: one row for each posting, transaction or open item, in groups with subtotals."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from simulator.books.accounts import INCOME_TYPES, chart_of_accounts
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.reports.columns import key_of
from simulator.reports.selection import (
    ALL_DAYS,
    Period,
    Selection,
    transaction_entity,
)
from simulator.reports.summary import PURCHASE_KINDS, percentage
from simulator.reports.table import LABEL, Column, Table
from simulator.rules.common import flat_lines, rounded
from simulator.rules.orders import open_lines
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simulator.books import Books, Fields, Record
    from simulator.books.costing import Stock
    from simulator.books.ledger import Posting
    from simulator.reports.table import Cell

_AMOUNTS = ("Amount", "Debit", "Credit", "OpenBalance", "RunningBalance", "OriginalAmount", "PaidAmount")
_TYPES = {
    **dict.fromkeys(_AMOUNTS, "AMTTYPE"),
    "ProgressAmount": "AMTTYPE",
    "ProgressPercent": "PERCENTTYPE",
    "Quantity": "QUANTYPE",
    "Invoiced": "QUANTYPE",
    "ReceivedQuantity": "QUANTYPE",
    "UnitPrice": "PRICETYPE",
    "Date": "DATETYPE",
    "DueDate": "DATETYPE",
    "ShipDate": "DATETYPE",
    "DeliveryDate": "DATETYPE",
    "Aging": "INTTYPE",
    "TxnID": "IDTYPE",
    "TxnNumber": "INTTYPE",
    "ModifiedTime": "DATETIMETYPE",
    "CostPrice": "AMTTYPE",
    "QuantityOnHand": "QUANTYPE",
    "AverageCost": "PRICETYPE",
    "ValueOnHand": "AMTTYPE",
}
_TITLES = {
    "TxnType": "Type",
    "RefNumber": "Num",
    "SplitAccount": "Split",
    "RunningBalance": "Balance",
    "OpenBalance": "Open Balance",
    "TxnNumber": "Trans #",
    "Quantity": "Qty",
    "UnitPrice": "Sales Price",
    "DueDate": "Due Date",
    "ItemDesc": "Item Description",
    "ReceivedQuantity": "Received",
    "DeliveryDate": "Deliv Date",
    "EstimateActive": "Active",
    "ProgressAmount": "Progress Invoice",
    "ProgressPercent": "% Progress",
    "PONumber": "P. O. #",
    "SalesRep": "Rep",
    "ModifiedTime": "Entered/Last Modified",
    "CostPrice": "Cost",
    "QuantityOnHand": "On Hand",
    "AverageCost": "Avg Cost",
    "ValueOnHand": "Asset Value",
}
_SUMMED = {"ProgressAmount", "Amount", "Debit", "Credit", "OpenBalance", "Quantity", "OriginalAmount", "PaidAmount"}
_CLOSING = {"QuantityOnHand", "ValueOnHand"}
"""The columns whose subtotal is the last value of the group."""


@dataclass(slots=True)
class Entry:
    """One row of a detail report: a posting, a line of an order, or a whole transaction."""

    record: Record
    amount: Decimal
    posting: Posting | None = None
    line: Fields = field(default_factory=dict)
    quantity: Decimal = ZERO
    balance: Decimal = ZERO
    open_amount: Decimal | None = None
    stock: Stock | None = None
    """The stock of the item after this movement of it."""
    cost: Decimal | None = None
    """The cost that the transaction sets for the movement."""

    @property
    def day(self) -> str:
        """The date of the transaction."""
        return str(self.record.fields.get("TxnDate", ""))


class _Cells:
    """Finds the values of the columns that a request can choose."""

    def __init__(self, selection: Selection) -> None:
        self.books: Books = selection.books
        self.until = selection.period.last
        self._splits: dict[tuple[str, bool], str] = {}

    def finder(self, kind: str) -> Callable[[Entry], Cell]:
        """Return the function that finds the value of a column: None if the books do not record it."""
        finder: Callable[[Entry], Cell] | None = getattr(self, f"_{kind}", None)
        if finder is not None:
            return finder
        if kind in _ON_FORM:
            field = _ON_FORM[kind]
            return lambda entry: str(entry.record.fields.get(field, ""))
        if kind in _NAMED:
            reference = _NAMED[kind]
            return lambda entry: self._name(reference_id(entry.record.fields, reference))
        return lambda _entry: None

    def _name(self, list_id: str) -> str:
        record = self.books.lists.get(list_id)
        return record.full_name if record is not None else ""

    def _TxnType(self, entry: Entry) -> Cell:  # noqa: N802 - named as the column
        return entry.record.kind.name

    def _TxnID(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.record.id

    def _TxnNumber(self, entry: Entry) -> Cell:  # noqa: N802
        return str(entry.record.number)

    def _ModifiedTime(self, entry: Entry) -> Cell:  # noqa: N802
        return self.books.clock.text(entry.record.modified)

    def _Name(self, entry: Entry) -> Cell:  # noqa: N802
        own = entry.posting.entity if entry.posting is not None else ""
        return self._name(own or transaction_entity(entry.record))

    def _SourceName(self, entry: Entry) -> Cell:  # noqa: N802
        return self._name(transaction_entity(entry.record))

    def _Account(self, entry: Entry) -> Cell:  # noqa: N802
        return self._name(entry.posting.account) if entry.posting is not None else ""

    def _SplitAccount(self, entry: Entry) -> Cell:  # noqa: N802
        if entry.posting is None:
            return ""
        key = entry.record.id, entry.amount > 0
        if key not in self._splits:
            postings = self.books.ledger.postings(entry.record.id)
            others = {posting.account for posting in postings if (posting.amount > 0) != (entry.amount > 0)}
            self._splits[key] = self._name(others.pop()) if len(others) == 1 else "-SPLIT-"
        return self._splits[key]

    def _Class(self, entry: Entry) -> Cell:  # noqa: N802
        class_id = entry.posting.class_id if entry.posting is not None else reference_id(entry.line, "ClassRef")
        return self._name(class_id)

    def _Item(self, entry: Entry) -> Cell:  # noqa: N802
        return self._name(entry.posting.item if entry.posting is not None else reference_id(entry.line, "ItemRef"))

    def _Memo(self, entry: Entry) -> Cell:  # noqa: N802
        own = entry.posting.memo if entry.posting is not None else entry.line.get("Desc", "")
        return str(own or entry.record.fields.get("Memo", ""))

    def _ItemDesc(self, entry: Entry) -> Cell:  # noqa: N802
        return self._Memo(entry)

    def _Amount(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.amount

    def _OriginalAmount(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.amount

    def _Debit(self, entry: Entry) -> Cell:  # noqa: N802
        return max(entry.amount, ZERO) or None

    def _Credit(self, entry: Entry) -> Cell:  # noqa: N802
        return max(-entry.amount, ZERO) or None

    def _RunningBalance(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.balance

    def _OpenBalance(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.open_amount

    def _ProgressAmount(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.open_amount

    def _ProgressPercent(self, entry: Entry) -> Cell:  # noqa: N802
        return percentage(entry.open_amount or ZERO, entry.amount)

    def _PaidAmount(self, entry: Entry) -> Cell:  # noqa: N802
        return self.books.ledger.settled(entry.record.id)

    def _PaidStatus(self, entry: Entry) -> Cell:  # noqa: N802
        return "Unpaid" if self.books.ledger.open_amount(entry.record.id) > 0 else "Paid"

    def _Quantity(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.quantity or None

    def _CostPrice(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.cost

    def _QuantityOnHand(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.stock.quantity if entry.stock is not None else None

    def _AverageCost(self, entry: Entry) -> Cell:  # noqa: N802
        average = entry.stock.average if entry.stock is not None else None
        return rounded(average) if average is not None else None

    def _ValueOnHand(self, entry: Entry) -> Cell:  # noqa: N802
        return entry.stock.value if entry.stock is not None else None

    def _UnitPrice(self, entry: Entry) -> Cell:  # noqa: N802
        if entry.line.get("Rate"):
            return Decimal(entry.line["Rate"])
        return (entry.amount / entry.quantity).quantize(Decimal("0.00001")) if entry.quantity else None

    def _Aging(self, entry: Entry) -> Cell:  # noqa: N802
        due = str(entry.record.fields.get("DueDate", ""))
        today = self.until if self.until < "9999" else self.books.clock.today().isoformat()
        days = (date.fromisoformat(today) - date.fromisoformat(due)).days if due else 0
        return str(days) if days > 0 else ""


_ON_FORM = {
    "Date": "TxnDate",
    "RefNumber": "RefNumber",
    "DueDate": "DueDate",
    "ShipDate": "ShipDate",
    "DeliveryDate": "ExpectedDate",
    "PONumber": "PONumber",
    "FOB": "FOB",
    "EstimateActive": "IsActive",
}
_NAMED = {
    "SalesRep": "SalesRepRef",
    "Terms": "TermsRef",
    "PaymentMethod": "PaymentMethodRef",
    "ShipMethod": "ShipMethodRef",
    "SalesTaxCode": "CustomerSalesTaxCodeRef",
}


@cache
def _column_kinds() -> frozenset[str]:
    """Return the columns that a response can describe: IncludeColumn has a few more."""
    report = schema().responses["GeneralDetailReportQueryRs"].content["ReportRet"].content
    return frozenset(report["ColDesc"].content["ColType"].values)


def write(
    selection: Selection,
    title: str,
    entries: Iterable[Entry],
    columns: tuple[str, ...],
    group_of: Callable[[Entry], str] | None,
    *,
    subtitle: str = "",
    opening: dict[str, Decimal] | None = None,
    order: Sequence[str] = (),
) -> Table:
    """Write entries in groups: `group_of` returns the name of an entry's group. The request can choose the columns.

    `opening` holds the balance of each group before the period. Groups that `order` names come first, in its order. The
    others follow by name.
    """
    requested = (child.text or "" for child in selection.request.findall("IncludeColumn"))
    kinds = tuple(kind for kind in requested if kind in _column_kinds()) or columns
    table = Table(
        title,
        subtitle or selection.period.title(),
        [LABEL, *(Column(_TITLES.get(kind, kind), kind, _TYPES.get(kind, "STRTYPE")) for kind in kinds)],
    )
    cells = _Cells(selection)
    finders = [cells.finder(kind) for kind in kinds]
    groups: dict[str, list[Entry]] = defaultdict(list)
    for name, amount in (opening or {}).items():
        if amount:
            groups[name] = []
    for entry in entries:
        groups[group_of(entry) if group_of is not None else ""].append(entry)
    sums = _Sums(kinds)
    ranks = {name: rank for rank, name in enumerate(order)}
    for name in sorted(groups, key=lambda group: (not group, ranks.get(group, len(ranks)), group.lower())):
        balance = (opening or {}).get(name, ZERO)
        if group_of is not None:
            table.text(name or "No name")
        for entry in groups[name]:
            balance += entry.amount
            entry.balance = balance
            row = [find(entry) for find in finders]
            sums.count(row)
            table.data([None, *row])
        group_sums = sums.of_group(balance)
        if group_of is not None:
            table.subtotal([f"Total {name or 'No name'}", *group_sums])
    table.total(["TOTAL", *sums.of_all()])
    return table


class _Sums:
    """Adds up the columns of a detail report, by group and in all."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self._kinds = kinds
        self._summed = [index for index, kind in enumerate(kinds) if kind in _SUMMED]
        self._closing = [index for index, kind in enumerate(kinds) if kind in _CLOSING]
        self._group = [ZERO] * len(kinds)
        self._total = [ZERO] * len(kinds)

    def count(self, row: list[Cell]) -> None:
        """Count a row of the current group."""
        for index in self._summed:
            cell = row[index]
            if isinstance(cell, Decimal):
                self._group[index] += cell
        for index in self._closing:
            cell = row[index]
            if isinstance(cell, Decimal):
                self._group[index] = cell

    def of_group(self, balance: Decimal) -> list[Cell]:
        """Return the cells of the group's subtotal, and begin the next group."""
        sums, self._group = self._group, [ZERO] * len(self._kinds)
        self._total = [total + amount for total, amount in zip(self._total, sums, strict=True)]
        return self._cells(sums, balance)

    def of_all(self) -> list[Cell]:
        """Return the cells of the total."""
        return self._cells(self._total, None)

    def _cells(self, sums: list[Decimal], balance: Decimal | None) -> list[Cell]:
        return [
            balance if kind == "RunningBalance" else amount if kind in _SUMMED | _CLOSING else None
            for kind, amount in zip(self._kinds, sums, strict=True)
        ]


def posting_entries(
    selection: Selection, keep: Callable[[Record, Posting], bool], sign: int = 1, period: Period | None = None
) -> list[Entry]:
    """Return an entry for each posting that passes `keep`. `sign` is -1 if credits count as positive."""
    return [
        Entry(
            record,
            sign * posting.amount,
            posting,
            quantity=abs(posting.quantity) * (1 if sign * posting.amount >= 0 else -1),
        )
        for record, posting in selection.postings(period)
        if keep(record, posting)
    ]


def _account_types(selection: Selection) -> dict[str, str]:
    return {account.id: str(account.fields.get("AccountType")) for account in selection.books["Account"]}


def _account_names(selection: Selection) -> list[str]:
    return [account.full_name for account in chart_of_accounts(selection.books)]


def _named(selection: Selection, find: Callable[[Entry], str]) -> Callable[[Entry], str]:
    lists = selection.books.lists

    def name(entry: Entry) -> str:
        record = lists.get(find(entry))
        return record.full_name if record is not None else ""

    return name


def _by_posting(selection: Selection, by: str) -> Callable[[Entry], str]:
    find = key_of(by, selection.books)
    return _named(selection, lambda entry: find(entry.record, entry.posting) if entry.posting is not None else "")


_LEDGER = ("TxnType", "Date", "RefNumber", "Name", "Memo", "SplitAccount", "Amount", "RunningBalance")
_LIST = ("TxnType", "Date", "RefNumber", "Name", "Memo", "Account", "Amount")


def general_ledger(selection: Selection, title: str, types: tuple[str, ...] = (), *, opening: bool = True) -> Table:
    """Return all postings by account, with the balance before the period."""
    account_types = _account_types(selection)

    def keep(_record: Record, posting: Posting) -> bool:
        return not types or account_types.get(posting.account) in types

    name = _by_posting(selection, "Account")
    before: dict[str, Decimal] = defaultdict(Decimal)
    if opening and selection.period.first > ALL_DAYS.first:
        day_before = date.fromordinal(date.fromisoformat(selection.period.first).toordinal() - 1).isoformat()
        for account_id, amount in selection.sums(Period(ALL_DAYS.first, day_before)).items():
            account = selection.books.lists[account_id]
            kind = account_types[account_id]
            if kind not in INCOME_TYPES and (not types or kind in types):
                before[account.full_name] = amount
    entries, order = posting_entries(selection, keep), _account_names(selection)
    return write(selection, title, entries, _LEDGER, name, opening=before, order=order)


def journal(selection: Selection) -> Table:
    """Return all postings by transaction."""
    columns = ("TxnNumber", "TxnType", "Date", "RefNumber", "Name", "Memo", "Account", "Debit", "Credit")
    entries = posting_entries(selection, lambda _record, posting: bool(posting.amount))
    return write(selection, "Journal", entries, columns, lambda entry: f"{entry.record.number:09d}")


def transactions(selection: Selection, title: str, kind: str = "", kinds: set[str] | None = None) -> Table:
    """Return the transactions themselves, by customer, by vendor or in the order of dates."""
    lists = selection.books.lists
    entries = []
    for record in selection.records():
        entity = lists.get(transaction_entity(record))
        if (kind and (entity is None or entity.kind.name != kind)) or (kinds and record.kind.name not in kinds):
            continue
        if selection.entities is not None and (entity is None or entity.id not in selection.entities):
            continue
        postings = selection.books.ledger.postings(record.id)
        first = postings[0] if postings else None
        entries.append(Entry(record, first.amount if first is not None else ZERO, first))
    group = _named(selection, lambda entry: transaction_entity(entry.record)) if kind else None
    return write(selection, title, entries, _LIST, group)


def open_balance_detail(selection: Selection, title: str, account_type: str, sign: int) -> Table:
    """Return the changes of the open balances of customers or vendors, with a running balance."""
    types = _account_types(selection)
    entries = posting_entries(selection, lambda _record, posting: types.get(posting.account) == account_type, sign)
    columns = ("TxnType", "Date", "RefNumber", "Account", "Amount", "RunningBalance")
    return write(selection, title, entries, columns, _by_posting(selection, "Payee"))


def open_items(selection: Selection, title: str, sign: int) -> Table:
    """Return the open items: invoices and unused payments, or bills and credits."""
    books, entries = selection.books, list[Entry]()
    account_type = "AccountsReceivable" if sign > 0 else "AccountsPayable"
    types = _account_types(selection)
    for record, posting in selection.accrual_postings(Period(ALL_DAYS.first, selection.period.last)):
        if posting.is_open and types.get(posting.account) == account_type:
            left = books.ledger.open_amount(record.id)
            if left and not (entries and entries[-1].record is record):
                due = sign * books.ledger.due(record.id)
                entries.append(Entry(record, due, posting, open_amount=left if due > 0 else -left))
    columns = ("TxnType", "Date", "RefNumber", "PONumber", "Terms", "DueDate", "Aging", "OpenBalance")
    return write(selection, title, entries, columns, _by_posting(selection, "Payee"), subtitle=selection.period.as_of())


def by_key(
    selection: Selection, title: str, by: str, *, types: set[str], sign: int, forms: set[str] | None = None
) -> Table:
    """Return income or expense, posting by posting, by customer, vendor, item or sales rep."""
    account_types = _account_types(selection)

    def keep(record: Record, posting: Posting) -> bool:
        if forms is not None and record.kind.name not in forms:
            return False
        return account_types.get(posting.account) in types and (by != "ItemDetail" or bool(posting.item))

    columns = (
        "TxnType",
        "Date",
        "RefNumber",
        "Memo",
        "Name",
        "Item",
        "Quantity",
        "UnitPrice",
        "Amount",
        "RunningBalance",
    )
    return write(selection, title, posting_entries(selection, keep, sign), columns, _by_posting(selection, by))


def purchases(selection: Selection, title: str, by: str) -> Table:
    """Return the lines of purchases, by item or by vendor."""
    entries = posting_entries(
        selection, lambda record, posting: bool(posting.item) and record.kind.name in PURCHASE_KINDS
    )
    columns = ("TxnType", "Date", "RefNumber", "Memo", "SourceName", "Item", "Quantity", "UnitPrice", "Amount")
    group = (
        _by_posting(selection, by)
        if by == "ItemDetail"
        else _named(selection, lambda entry: transaction_entity(entry.record))
    )
    return write(selection, title, entries, columns, group)


def forms(selection: Selection, title: str, kinds: set[str], *, pending: bool = False) -> Table:
    """Return the lines of forms of some kinds with the postings: checks, deposits, pending sales."""
    if pending:
        entries = [
            Entry(record, Decimal(record.fields.get("TotalAmount") or "0"))
            for record in selection.records()
            if record.kind.name in kinds and record.fields.get("IsPending") == "true"
        ]
        return write(selection, title, entries, _LIST, None)
    entries = posting_entries(selection, lambda record, _posting: record.kind.name in kinds)
    columns = ("TxnType", "RefNumber", "Date", "Name", "Memo", "Account", "Amount")
    return write(selection, title, entries, columns, lambda entry: f"{entry.record.number:09d}")


def orders(selection: Selection, title: str, kind: str, by: str) -> Table:
    """Return the open lines of sales orders, purchase orders or estimates: by customer, by item or in order."""
    books = selection.books
    entries = []
    for record in selection.records():
        if record.kind.name != kind:
            continue
        for line, left in open_lines(books, record):
            amount = Decimal(line.get("Amount") or "0")
            ordered = Decimal(line.get("Quantity") or "1")
            entry = Entry(record, amount, line=line, quantity=ordered)
            entry.open_amount = (amount * left / ordered).quantize(Decimal("0.01")) if ordered else ZERO
            entries.append(entry)
    columns = (
        "TxnType",
        "Date",
        "RefNumber",
        "SourceName",
        "Item",
        "DeliveryDate",
        "Quantity",
        "Amount",
        "OpenBalance",
    )
    finders: dict[str, Callable[[Entry], str]] = {
        "Customer": lambda entry: reference_id(entry.line, "CustomerRef") or transaction_entity(entry.record),
        "Item": lambda entry: reference_id(entry.line, "ItemRef"),
    }
    group = _named(selection, finders[by]) if by in finders else None
    return write(selection, title, entries, columns, group)


def progress_invoices(selection: Selection) -> Table:
    """Return the invoiced part of each estimate."""
    books, entries = selection.books, list[Entry]()
    for record in selection.records():
        if record.kind.name == "Estimate":
            invoices = {link.source for link in books.ledger.links(record.id) if link.target == record.id}
            lines = [line for invoice_id in invoices for line in flat_lines(books.transactions[invoice_id])]
            own = [line for line in lines if line.get("LinkToTxn", {}).get("TxnID") == record.id]
            entry = Entry(record, Decimal(record.fields.get("TotalAmount") or "0"))
            entry.open_amount = sum((Decimal(line.get("Amount") or "0") for line in own), ZERO)
            entries.append(entry)
    columns = ("TxnType", "Date", "RefNumber", "EstimateActive", "Amount", "ProgressAmount", "ProgressPercent")
    group = _named(selection, lambda entry: transaction_entity(entry.record))
    return write(selection, "Job Progress Invoices vs. Estimates", entries, columns, group)


def stock_movements(selection: Selection) -> Table:
    """Return the stock moves of each item, with its quantity, average cost and value after each of them."""
    ledger = selection.books.ledger
    entries = []
    for record in selection.records():
        for (move, valued), stock in zip(ledger.moves(record.id), ledger.stocks_after(record.id), strict=True):
            if selection.items is None or move.item in selection.items:
                line = {"ItemRef": {"ListID": move.item}}
                entry = Entry(record, valued.value, line=line, quantity=move.quantity)
                entry.stock, entry.cost = stock, move.amount
                entries.append(entry)
    columns = (
        "TxnType",
        "Date",
        "SourceName",
        "RefNumber",
        "Quantity",
        "CostPrice",
        "QuantityOnHand",
        "AverageCost",
        "ValueOnHand",
    )
    group = _named(selection, lambda entry: reference_id(entry.line, "ItemRef"))
    return write(selection, "Inventory Valuation Detail", entries, columns, group)


def missing_checks(selection: Selection) -> Table:
    """Return the checks in the order of their numbers. A gap in the numbers gets a row of text."""
    checks = [record for record in selection.records() if record.kind.name in {"Check", "BillPaymentCheck"}]
    numbered = sorted(
        (check for check in checks if check.fields.get("RefNumber", "").isdigit()),
        key=lambda check: int(check.fields["RefNumber"]),
    )
    columns = [LABEL, *(Column(_TITLES.get(kind, kind), kind, _TYPES.get(kind, "STRTYPE")) for kind in _LIST)]
    table = Table("Missing Checks", selection.period.title(), columns)
    cells, last = _Cells(selection), None
    for record in numbered:
        number = int(record.fields["RefNumber"])
        if last is not None and number > last + 1:
            table.text(f"*** Missing numbers {last + 1} to {number - 1} ***")
        postings = selection.books.ledger.postings(record.id)
        entry = Entry(record, postings[0].amount if postings else ZERO, postings[0] if postings else None)
        table.data([None, *(cells.finder(kind)(entry) for kind in _LIST)])
        last = number
    return table


def unbilled_costs(selection: Selection) -> Table:
    """Return the lines of purchases that are to be billed to a customer."""
    entries = []
    for record in selection.records():
        if record.kind.name in PURCHASE_KINDS:
            entries += [
                Entry(record, Decimal(line.get("Amount") or "0"), line=line)
                for line in flat_lines(record)
                if line.get("BillableStatus") == "Billable"
            ]
    columns = ("TxnType", "Date", "SourceName", "RefNumber", "Memo", "Amount")
    group = _named(selection, lambda entry: reference_id(entry.line, "CustomerRef"))
    return write(selection, "Unbilled Costs by Job", entries, columns, group)


def custom(selection: Selection) -> Table:
    """Return all postings in the groups that the request chooses."""
    by = selection.request.findtext("SummarizeRowsBy") or "TotalOnly"
    entries = posting_entries(selection, lambda _record, posting: bool(posting.amount))
    group = None if by == "TotalOnly" else _by_posting(selection, by)
    order = _account_names(selection) if by == "Account" else ()
    return write(selection, "Custom Transaction Detail Report", entries, _LEDGER, group, order=order)
