"""Summary reports: sums of postings in rows by account, entity or item, and in columns by period or by a list."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from simulator.books.accounts import chart_of_accounts
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.reports.columns import IS_DATE, date_columns, key_of
from simulator.reports.selection import ALL_DAYS, Period, Selection
from simulator.reports.table import LABEL, Column, Table, amount_column, quantity_column
from simulator.rules.common import HUNDRED, rounded
from simulator.rules.tax import tax_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulator.books import Books, Record
    from simulator.books.ledger import Posting
    from simulator.reports.table import Cell

Values: TypeAlias = list[Decimal]
Sums: TypeAlias = dict[str, Values]

SALES_KINDS = {"Invoice", "SalesReceipt", "CreditMemo", "Charge"}
PURCHASE_KINDS = {"Bill", "ItemReceipt", "VendorCredit", "Check", "CreditCardCharge", "CreditCardCredit"}
SALES_TYPES = {"Income", "OtherIncome"}
PURCHASE_TYPES = {"CostOfGoodsSold", "Expense", "OtherExpense", "OtherCurrentAsset"}


@dataclass(slots=True)
class Division:
    """The columns of a summary: their titles, and the sums of each row in them. The last one is the total."""

    titles: list[str]
    sums: Sums
    is_summary: bool = False
    """Return whether only the sums of sections are shown, not the accounts."""

    def columns(self) -> list[Column]:
        """Return the columns, the label first."""
        return [LABEL, *(amount_column(title, "Total" if title == "TOTAL" else "Amount") for title in self.titles)]

    def with_total(self) -> Division:
        """Return these columns and one more with the sums of the rows."""
        sums = {row: [*values, sum(values, ZERO)] for row, values in self.sums.items()}
        return Division([*self.titles, "TOTAL"], sums)

    def nothing(self) -> Values:
        """Return a row of zeros."""
        return [ZERO] * len(self.titles)


def divide(
    selection: Selection,
    row_of: Callable[[Record, Posting], str | None],
    *,
    by: str = "",
    period: Period | None = None,
    is_cumulative: bool = False,
) -> Division:
    """Add up postings by row and column. `row_of` returns None for a posting that does not count.

    A report of balances is cumulative: each column has the balance at its end.
    """
    by = by or selection.request.findtext("SummarizeColumnsBy") or "TotalOnly"
    period = period or selection.period
    posting_period = Period(ALL_DAYS.first, period.last) if is_cumulative else period
    if by in IS_DATE:
        return _by_date(selection, row_of, by, period, posting_period, is_cumulative=is_cumulative)
    cells: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    column_of = (lambda _record, _posting: "") if by == "TotalOnly" else key_of(by, selection.books)
    for record, posting in selection.postings(posting_period):
        row = row_of(record, posting)
        if row is not None:
            cells[row][column_of(record, posting)] += posting.amount
    if by == "TotalOnly":
        return Division(["TOTAL"], {row: [columns[""]] for row, columns in cells.items()})
    chart = {account.id: rank for rank, account in enumerate(chart_of_accounts(selection.books))}
    active = {key for columns in cells.values() for key in columns}
    keys = sorted(
        active | _all_columns(selection, by), key=lambda key: (chart.get(key, 0), *_name_order(selection, key))
    )
    titles = [selection.books.lists[key].full_name if key else "Unclassified" for key in keys]
    sums = {row: [columns.get(key, ZERO) for key in keys] for row, columns in cells.items()}
    return _chosen(selection, titles, sums, {index for index, key in enumerate(keys) if key in active}).with_total()


def _all_columns(selection: Selection, by: str) -> set[str]:
    """Return the active list objects that have a column with ReturnColumns All."""
    if selection.request.findtext("ReturnColumns") != "All":
        return set()
    kind = {"ItemDetail": "Item", "Payee": "Entity"}.get(by, by)
    return {record.id for record in selection.books.of(kind) if record.is_active}


def _by_date(
    selection: Selection,
    row_of: Callable[[Record, Posting], str | None],
    by: str,
    period: Period,
    posting_period: Period,
    *,
    is_cumulative: bool,
) -> Division:
    columns = date_columns(by, _bounded(selection, period))
    ends = [column.last for column in columns]
    sums: Sums = {}
    active: set[int] = set()
    for record, posting in selection.postings(posting_period):
        row = row_of(record, posting)
        if row is None:
            continue
        values = sums.setdefault(row, [ZERO] * len(ends))
        index = bisect_left(ends, record.fields["TxnDate"])
        if index < len(ends):
            values[index] += posting.amount
            active.add(index)
    if not is_cumulative:
        return _chosen(selection, [column.column_title() for column in columns], sums, active).with_total()
    titles = [column.end_title() for column in columns]
    balances = {row: list(accumulate(values)) for row, values in sums.items()}
    return _chosen(selection, titles, balances, set(range(min(active, default=0), len(ends))))


def _bounded(selection: Selection, period: Period) -> Period:
    """Return a period with two ends: where it has none, it begins and ends with the transactions of the company."""
    days = {record.fields.get("TxnDate", "") for record in selection.books.transactions.values()} - {""}
    today = selection.books.clock.today().isoformat()
    first = min(days, default=today) if period.first == ALL_DAYS.first else period.first
    last = max(days, default=today) if period.last == ALL_DAYS.last else period.last
    return Period(first, max(first, last))


def _chosen(selection: Selection, titles: list[str], sums: Sums, active: set[int]) -> Division:
    """Return the columns that ReturnColumns chooses: those with postings, those with amounts, or all."""
    indexes: Iterable[int] = range(len(titles))
    match selection.request.findtext("ReturnColumns"):
        case "ActiveOnly":
            indexes = sorted(active)
        case "NonZero":
            indexes = [index for index in indexes if any(values[index] for values in sums.values())]
    chosen = list(indexes)
    return Division(
        [titles[index] for index in chosen],
        {row: [values[index] for index in chosen] for row, values in sums.items()},
    )


def _name_order(selection: Selection, key: str) -> tuple[bool, str]:
    """Sort by name. The row without an object comes last."""
    return not key, selection.books.lists[key].full_name.lower() if key else ""


def plus(left: Values, right: Values) -> Values:
    """Add two rows."""
    return [one + other for one, other in zip(left, right, strict=True)]


def negated(values: Values) -> Values:
    """Return a row with the other sign."""
    return [-value for value in values]


def chosen_rows(selection: Selection, sums: Sums, records: Iterable[Record], width: int, *, default: str) -> Sums:
    """Return the rows that ReturnRows chooses: those with postings, those with amounts, or those of all records."""
    match selection.request.findtext("ReturnRows") or default:
        case "NonZero":
            return {row: values for row, values in sums.items() if any(values)}
        case "All":
            return {**{record.id: [ZERO] * width for record in records if record.is_active}, **sums}
    return sums


def write_tree(table: Table, records: Iterable[Record], sums: Sums, row_type: str, width: int) -> Values:
    """Write a row for each record with a sum, children below their parents with a subtotal. Returns the sum of all."""
    records = list(records)
    ids = {record.id for record in records}
    below: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        parent = reference_id(record.fields, "ParentRef")
        below[parent if parent in ids else ""].append(record)
    filled = ids & sums.keys()

    def has_rows(record: Record) -> bool:
        return record.id in filled or any(has_rows(child) for child in below[record.id])

    def write(record: Record) -> Values:
        label = record.full_name.rpartition(":")[2]
        own = sums.get(record.id, [ZERO] * width)
        children = [child for child in below[record.id] if has_rows(child)]
        if not children:
            table.data([label, *own], row_type, record.full_name)
            return own
        table.text(label)
        total = own
        for child in children:
            total = plus(total, write(child))
        if record.id in filled:
            table.data([f"{label} - Other", *own], row_type, record.full_name)
        table.subtotal([f"Total {label}", *total], row_type, record.full_name)
        return total

    total = [ZERO] * width
    for record in below[""]:
        if has_rows(record):
            total = plus(total, write(record))
    return total


def account_types(books: Books) -> dict[str, str]:
    """Return the AccountType of each account by its id."""
    return {account.id: account.fields.get("AccountType", "") for account in books["Account"]}


def entity_balances(selection: Selection, title: str, kind: str, account_type: str, sign: int) -> Table:
    """Return the open balance of each customer or vendor."""
    accounts = {account.id for account in chart_of_accounts(selection.books, account_type)}
    division = divide(
        selection,
        lambda _record, posting: posting.entity if posting.account in accounts else None,
        is_cumulative=True,
    )
    sums = {key: [sign * value for value in values] for key, values in division.sums.items()}
    table = Table(title, selection.period.as_of(), division.columns())
    _write_by(table, selection, kind, sums, len(division.titles))
    return table


def _write_by(table: Table, selection: Selection, kind: str, sums: Sums, width: int) -> None:
    row_type = kind[0].lower() + kind[1:]
    records = list(selection.books.of(kind))
    rows = chosen_rows(selection, sums, records, width, default="NonZero")
    write_all(table, records, rows, row_type, width, "No name")


def write_all(table: Table, records: list[Record], sums: Sums, row_type: str, width: int, rest_label: str) -> None:  # noqa: PLR0917 - the parts of a table
    """Write a row for each record with a sum, one for the sums of no record, and the total."""
    total = write_tree(table, records, sums, row_type, width)
    ids = {record.id for record in records}
    rest = [ZERO] * width
    for key, values in sums.items():
        if key not in ids:
            rest = plus(rest, values)
    if any(rest):
        table.data([rest_label, *rest])
    table.total(["TOTAL", *plus(total, rest)])


def by_entity(
    selection: Selection,
    title: str,
    kind: str,
    *,
    types: Iterable[str],
    sign: int,
    forms: set[str] | None = None,
    key: Callable[[Record, Posting], str | None] | None = None,
    basis: str = "Accrual",
) -> Table:
    """Return sums of income or expense by customer, vendor or sales rep."""
    own_types, counted_types = account_types(selection.books), set(types)
    find = key or key_of(kind, selection.books)

    def row_of(record: Record, posting: Posting) -> str | None:
        if forms is not None and record.kind.name not in forms:
            return None
        return find(record, posting) if own_types.get(posting.account) in counted_types else None

    division = divide(selection, row_of)
    sums = {row: [sign * value for value in values] for row, values in division.sums.items()}
    table = Table(title, selection.period.title(), division.columns(), basis)
    _write_by(table, selection, kind, sums, len(division.titles))
    return table


def sales_by_item(selection: Selection) -> Table:
    """Return quantity, amount and margin by item."""
    types = account_types(selection.books)
    rows: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO, ZERO])
    for record, posting in selection.postings():
        account_type = types.get(posting.account)
        if not posting.item or record.kind.name not in SALES_KINDS:
            continue
        # Sales tax and payments on a form are posted to other accounts: they are not sales.
        if account_type == "CostOfGoodsSold":
            rows[posting.item][2] += posting.amount
        elif account_type in SALES_TYPES:
            rows[posting.item][0] += posting.quantity
            rows[posting.item][1] -= posting.amount
    total = sum((row[1] for row in rows.values()), ZERO)
    columns = [
        LABEL,
        quantity_column("Qty"),
        amount_column("Amount"),
        Column("% of Sales", "Percent", "PERCENTTYPE"),
        Column("Avg Price", "UnitPrice", "PRICETYPE"),
        amount_column("COGS", "CostPrice"),
        Column("Avg COGS", "AverageCost", "PRICETYPE"),
        amount_column("Gross Margin", "AmountDifference"),
        Column("Gross Margin %", "Percent", "PERCENTTYPE"),
    ]
    table = Table("Sales by Item Summary", selection.period.title(), columns)
    for item in selection.books.of("Item"):
        if item.id in rows:
            quantity, amount, cost = rows[item.id]
            table.data(_margin(item.full_name, quantity, amount, cost, total), "item", item.full_name)
    sums = [sum((row[index] for row in rows.values()), ZERO) for index in range(3)]
    table.total(_margin("TOTAL", sums[0], sums[1], sums[2], total))
    return table


def _margin(label: str, quantity: Decimal, amount: Decimal, cost: Decimal, total: Decimal) -> list[Cell]:
    return [
        label,
        quantity,
        amount,
        percentage(amount, total),
        rounded(amount / quantity) if quantity else None,
        cost,
        rounded(cost / quantity) if quantity and cost else None,
        amount - cost,
        percentage(amount - cost, amount),
    ]


def percentage(part: Decimal, whole: Decimal) -> Decimal | None:
    """Return a percentage, or None if the whole is zero."""
    return rounded(part * HUNDRED / whole) if whole else None


def purchases_by_vendor(selection: Selection) -> Table:
    """Return the purchases of items by vendor. An expense on a bill is not a purchase.

    Redmond Accounting, "Purchases v. expenses in QuickBooks": a purchase report has items, an expense report accounts.
    """
    vendor_of = key_of("Vendor", selection.books)
    return by_entity(
        selection,
        "Purchases by Vendor Summary",
        "Vendor",
        types=PURCHASE_TYPES,
        sign=1,
        forms=PURCHASE_KINDS,
        key=lambda record, posting: vendor_of(record, posting) if posting.item else None,
    )


def purchases_by_item(selection: Selection) -> Table:
    """Return the quantity and amount of purchases by item."""
    rows: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO])
    for record, posting in selection.postings():
        if posting.item and record.kind.name in PURCHASE_KINDS:
            rows[posting.item][0] += posting.quantity
            rows[posting.item][1] += posting.amount
    columns = [LABEL, quantity_column("Qty"), amount_column("Amount")]
    table = Table("Purchases by Item Summary", selection.period.title(), columns)
    for item in selection.books.of("Item"):
        if item.id in rows:
            table.data([item.full_name, *rows[item.id]], "item", item.full_name)
    table.total(["TOTAL", *(sum((row[index] for row in rows.values()), ZERO) for index in range(2))])
    return table


def sales_tax(selection: Selection, title: str) -> Table:
    """Return taxable sales, the tax on them and the payable amount, by tax item."""
    books = selection.books
    taxable: dict[str, Decimal] = defaultdict(Decimal)
    collected: dict[str, Decimal] = defaultdict(Decimal)
    for record in selection.records():
        sign = -1 if record.kind.name == "CreditMemo" else 1
        for tax in record.fields.get("Taxes", ()):
            item_id = reference_id(tax, "ItemSalesTaxRef")
            taxable[item_id] += sign * Decimal(tax["Taxable"])
            collected[item_id] += sign * Decimal(tax["Amount"])
    payable: dict[str, Decimal] = defaultdict(Decimal)
    until = Period(ALL_DAYS.first, selection.period.last)
    tax_ids = {item.id for item in books["ItemSalesTax"]}
    liabilities = {account.id for account in chart_of_accounts(books, "OtherCurrentLiability")}
    for _, posting in selection.postings(until):
        if posting.item in tax_ids and posting.account in liabilities:
            payable[posting.item] -= posting.amount
    columns = [
        LABEL,
        amount_column("Taxable Sales"),
        Column("Tax Rate", "Percent", "PERCENTTYPE"),
        amount_column("Tax Collected"),
        amount_column("Sales Tax Payable As of", "Total"),
    ]
    table = Table(title, selection.period.title(), columns)
    for item in books["ItemSalesTax"]:
        if taxable[item.id] or payable[item.id]:
            cells: list[Cell] = [
                item.full_name,
                taxable[item.id],
                tax_rate(books, item.id),
                collected[item.id],
                payable[item.id],
            ]
            table.data(cells, "item", item.full_name)
    table.total(["TOTAL", None, None, sum(collected.values(), ZERO), sum(payable.values(), ZERO)])
    return table
