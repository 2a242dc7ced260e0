"""Summary reports: sums of postings in rows by account, entity or item, and in columns by period or by a list."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.books.rules.common import HUNDRED, rounded
from simulator.books.rules.items import STOCK_KINDS, average_cost, open_order_quantity
from simulator.books.rules.orders import open_lines
from simulator.books.rules.tax import tax_rate
from simulator.errors import RequestError
from simulator.reports.columns import IS_DATE, date_columns, key_of
from simulator.reports.selection import ALL_DAYS, INCOME_TYPES, Period, Selection
from simulator.reports.table import LABEL, Column, Table, amount_column, quantity_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulator.books import Books, Record
    from simulator.books.ledger import Posting
    from simulator.reports.table import Cell

Values: TypeAlias = list[Decimal]
Sums: TypeAlias = dict[str, Values]

SALES_KINDS = {"Invoice", "SalesReceipt", "CreditMemo", "Charge"}
PURCHASE_KINDS = {"Bill", "ItemReceipt", "VendorCredit", "Check", "CreditCardCharge", "CreditCardCredit"}
_DEBIT_TYPES = {"CostOfGoodsSold", "Expense", "OtherExpense"}
SALES_TYPES = {"Income", "OtherIncome"}


@dataclass(slots=True)
class Division:
    """The columns of a summary: their titles, and the sums of each row in them. The last one is the total."""

    titles: list[str]
    sums: Sums
    is_summary: bool = False
    """Tell whether only the sums of sections are shown, not the accounts."""

    def columns(self) -> list[Column]:
        """Return the columns, the label first."""
        return [LABEL, *(amount_column(title, "Total" if title == "TOTAL" else "Amount") for title in self.titles)]

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
    chosen = period or selection.period
    counted = Period(ALL_DAYS.first, chosen.last) if is_cumulative else chosen
    if by in IS_DATE:
        return _by_date(selection, row_of, by, chosen, counted, is_cumulative=is_cumulative)
    cells: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    column_of = (lambda _record, _posting: "") if by == "TotalOnly" else key_of(by, selection.books)
    for record, posting in selection.postings(counted):
        row = row_of(record, posting)
        if row is not None:
            cells[row][column_of(record, posting)] += posting.amount
    if by == "TotalOnly":
        return Division(["TOTAL"], {row: [columns[""]] for row, columns in cells.items()})
    keys = sorted({key for columns in cells.values() for key in columns}, key=lambda key: _name_order(selection, key))
    titles = [selection.books.lists[key].full_name if key else "Unclassified" for key in keys]
    sums = {row: [columns.get(key, ZERO) for key in keys] for row, columns in cells.items()}
    return Division([*titles, "TOTAL"], {row: [*values, sum(values, ZERO)] for row, values in sums.items()})


def _by_date(
    selection: Selection,
    row_of: Callable[[Record, Posting], str | None],
    by: str,
    chosen: Period,
    counted: Period,
    *,
    is_cumulative: bool,
) -> Division:
    days = {each.fields.get("TxnDate", "") for each in selection.books.transactions.values()} - {""}
    today = selection.books.clock.today().isoformat()
    last = max(min(chosen.last, max(days, default=today)), chosen.first)
    columns = date_columns(by, Period(chosen.first, last), min(days, default=today))
    ends = [end for _, _, end in columns]
    sums: Sums = {}
    for record, posting in selection.postings(counted):
        row = row_of(record, posting)
        if row is None:
            continue
        values = sums.setdefault(row, [ZERO] * len(ends))
        index = bisect_left(ends, record.fields["TxnDate"])
        if index < len(ends):
            values[index] += posting.amount
    titles = [title for title, _, _ in columns]
    if is_cumulative:
        for values in sums.values():
            for index in range(1, len(values)):
                values[index] += values[index - 1]
        return Division(titles, sums)
    return Division([*titles, "TOTAL"], {row: [*values, sum(values, ZERO)] for row, values in sums.items()})


def _name_order(selection: Selection, key: str) -> tuple[bool, str]:
    """Sort by name; what belongs to nothing comes last."""
    return not key, selection.books.lists[key].full_name.lower() if key else ""


def plus(left: Values, right: Values) -> Values:
    """Add two rows."""
    return [one + other for one, other in zip(left, right, strict=True)]


def negated(values: Values) -> Values:
    """Return a row with the other sign."""
    return [-value for value in values]


def write_tree(table: Table, records: Iterable[Record], sums: Sums, row_type: str, width: int) -> Values:
    """Write a row for each record with a sum, children below their parents with a subtotal. Returns the sum of all."""
    records = list(records)
    ids = {record.id for record in records}
    below: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        parent = reference_id(record.fields, "ParentRef")
        below[parent if parent in ids else ""].append(record)
    filled = {record.id for record in records if any(sums.get(record.id, ()))}

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
        if any(own):
            table.data([f"{label} - Other", *own], row_type, record.full_name)
        table.subtotal([f"Total {label}", *total], row_type, record.full_name)
        return total

    total = [ZERO] * width
    for record in below[""]:
        if has_rows(record):
            total = plus(total, write(record))
    return total


def accounts_of(books: Books, *types: str) -> list[Record]:
    """Return the accounts of these types, in the order of names."""
    return [account for account in books["Account"] if account.fields.get("AccountType") in types]


def _types(books: Books) -> dict[str, str]:
    return {account.id: account.fields.get("AccountType", "") for account in books["Account"]}


class _Statement:
    """Writes sections of accounts with their totals."""

    def __init__(self, table: Table, selection: Selection, division: Division) -> None:
        self.table, self.books, self.sums = table, selection.books, division.sums
        self.width, self.is_summary = len(division.titles), division.is_summary

    def section(self, title: str, total_title: str, *types: str, sign: int = 1) -> Values:
        """Write the accounts of these types with their sum, which is returned."""
        accounts = accounts_of(self.books, *types)
        sums = {
            account.id: [sign * value for value in self.sums[account.id]]
            for account in accounts
            if account.id in self.sums
        }
        if not any(any(values) for values in sums.values()):
            return [ZERO] * self.width
        if self.is_summary:
            total = [sum(column, ZERO) for column in zip(*sums.values(), strict=True)]
            self.table.data([title, *total])
            return total
        self.table.text(title)
        total = write_tree(self.table, accounts, sums, "account", self.width)
        self.table.subtotal([total_title, *total])
        return total


def profit_and_loss(selection: Selection, title: str = "Profit & Loss", by: str = "") -> Table:
    """Return income, costs and expenses of a period."""
    types = _types(selection.books)

    def row_of(_record: Record, posting: Posting) -> str | None:
        return posting.account if types.get(posting.account) in INCOME_TYPES else None

    division = divide(selection, row_of, by=by)
    table = Table(title, selection.period.title(), division.columns())
    _write_profit_and_loss(table, selection, division)
    return table


def _write_profit_and_loss(table: Table, selection: Selection, division: Division) -> None:
    statement = _Statement(table, selection, division)
    table.text("Ordinary Income/Expense")
    income = statement.section("Income", "Total Income", "Income", sign=-1)
    cost = statement.section("Cost of Goods Sold", "Total COGS", "CostOfGoodsSold")
    gross = plus(income, negated(cost))
    table.subtotal(["Gross Profit", *gross])
    expense = statement.section("Expense", "Total Expense", "Expense")
    ordinary = plus(gross, negated(expense))
    table.subtotal(["Net Ordinary Income", *ordinary])
    other_income = statement.section("Other Income", "Total Other Income", "OtherIncome", sign=-1)
    other_expense = statement.section("Other Expense", "Total Other Expense", "OtherExpense")
    other = plus(other_income, negated(other_expense))
    if any(other):
        table.subtotal(["Net Other Income", *other])
    table.total(["Net Income", *plus(ordinary, other)])


def profit_and_loss_compared(
    selection: Selection, title: str, other: Period, other_title: str, *, changes: bool
) -> Table:
    """Return the profit and loss of a period beside that of another one."""
    types = _types(selection.books)

    def row_of(_record: Record, posting: Posting) -> str | None:
        return posting.account if types.get(posting.account) in INCOME_TYPES else None

    now = divide(selection, row_of, by="TotalOnly").sums
    then = divide(selection, row_of, by="TotalOnly", period=other).sums
    return _compared(selection, title, (now, then), other_title, _write_profit_and_loss, changes=changes)


def _compared(
    selection: Selection,
    title: str,
    both: tuple[Sums, Sums],
    other_title: str,
    write: Callable[[Table, Selection, Division], None],
    *,
    changes: bool,
) -> Table:
    """Write two sets of sums beside each other, with the change between them."""
    now, then = both
    sums = {key: [*now.get(key, [ZERO]), *then.get(key, [ZERO])] for key in {*now, *then}}
    titles = ["TOTAL", other_title]
    columns = [LABEL, amount_column(selection.period.title()), amount_column(other_title)]
    if changes:
        sums = {key: [*values, values[0] - values[1]] for key, values in sums.items()}
        titles.append("$ Change")
        columns.append(amount_column("$ Change", "AmountDifference"))
    table = Table(title, selection.period.title(), columns)
    write(table, selection, Division(titles, sums))
    return table


def balance_sheet(
    selection: Selection, title: str = "Balance Sheet", by: str = "", *, is_summary: bool = False
) -> Table:
    """Return what the company has and owes at the end of a period."""
    division = _balances(selection, by=by)
    division.is_summary = is_summary
    table = Table(title, selection.period.as_of(), division.columns())
    _write_balance_sheet(table, selection, division)
    return table


_EARNED = "earned"
_RETAINED = "retained"


def _balances(selection: Selection, *, by: str = "", period: Period | None = None) -> Division:
    """Return the balances of all accounts; income and expense become earnings of this year and of former ones."""
    types = _types(selection.books)
    last = (period or selection.period).last
    year = Period(selection.fiscal_year().first if period is None else _year_before(selection), last)

    def row_of(record: Record, posting: Posting) -> str | None:
        if types.get(posting.account) in INCOME_TYPES:
            return _EARNED if record.fields["TxnDate"] >= year.first else _RETAINED
        return posting.account

    return divide(selection, row_of, by=by, period=period, is_cumulative=True)


def _year_before(selection: Selection) -> str:
    first = selection.fiscal_year().first
    return f"{int(first[:4]) - 1}{first[4:]}"


def balance_sheet_compared(selection: Selection) -> Table:
    """Return the balance sheet beside that of a year before."""
    before = year_before(selection.period)
    now, then = _balances(selection, by="TotalOnly").sums, _balances(selection, by="TotalOnly", period=before).sums
    title = "Balance Sheet Prev Year Comparison"
    return _compared(selection, title, (now, then), before.as_of(), _write_balance_sheet, changes=True)


def year_before(period: Period) -> Period:
    """Return the same days one year before."""
    return Period(
        *(day if day.startswith(("0001", "9999")) else _a_year_before(day) for day in (period.first, period.last))
    )


def _a_year_before(day: str) -> str:
    text = f"{int(day[:4]) - 1}{day[4:]}"
    return text.replace("-02-29", "-02-28")


def _write_balance_sheet(table: Table, selection: Selection, division: Division) -> None:
    statement = _Statement(table, selection, division)
    table.text("ASSETS")
    current = division.nothing()
    for title, account_type in (
        ("Checking/Savings", "Bank"),
        ("Accounts Receivable", "AccountsReceivable"),
        ("Other Current Assets", "OtherCurrentAsset"),
    ):
        current = plus(current, statement.section(title, f"Total {title}", account_type))
    table.subtotal(["Total Current Assets", *current])
    fixed = statement.section("Fixed Assets", "Total Fixed Assets", "FixedAsset")
    other = statement.section("Other Assets", "Total Other Assets", "OtherAsset")
    table.total(["TOTAL ASSETS", *plus(plus(current, fixed), other)])
    table.text("LIABILITIES & EQUITY")
    liabilities = division.nothing()
    for title, account_type in (
        ("Accounts Payable", "AccountsPayable"),
        ("Credit Cards", "CreditCard"),
        ("Other Current Liabilities", "OtherCurrentLiability"),
        ("Long Term Liabilities", "LongTermLiability"),
    ):
        liabilities = plus(liabilities, statement.section(title, f"Total {title}", account_type, sign=-1))
    table.subtotal(["Total Liabilities", *liabilities])
    equity = statement.section("Equity", "Total Equity Accounts", "Equity", sign=-1)
    for title, key in (("Retained Earnings", _RETAINED), ("Net Income", _EARNED)):
        earnings = negated(division.sums.get(key, division.nothing()))
        if any(earnings):
            table.data([title, *earnings], "account", title)
        equity = plus(equity, earnings)
    table.subtotal(["Total Equity", *equity])
    table.total(["TOTAL LIABILITIES & EQUITY", *plus(liabilities, equity)])


def trial_balance(selection: Selection) -> Table:
    """Return the balance of each account as a debit or a credit."""
    types = _types(selection.books)
    first = selection.fiscal_year().first

    def row_of(record: Record, posting: Posting) -> str | None:
        is_former = types.get(posting.account) in INCOME_TYPES and record.fields["TxnDate"] < first
        return _RETAINED if is_former else posting.account

    sums = divide(selection, row_of, by="TotalOnly", is_cumulative=True).sums
    columns = [LABEL, amount_column("Debit", "Debit"), amount_column("Credit", "Credit")]
    table = Table("Trial Balance", selection.period.as_of(), columns)
    debits = credits_ = ZERO
    rows = [(account.full_name, sums.get(account.id, [ZERO])[0]) for account in selection.books["Account"]]
    rows.append(("Retained Earnings", sums.get(_RETAINED, [ZERO])[0]))
    for name, balance in rows:
        if balance:
            table.data([name, max(balance, ZERO) or None, max(-balance, ZERO) or None], "account", name)
            debits += max(balance, ZERO)
            credits_ += max(-balance, ZERO)
    table.total(["TOTAL", debits, credits_])
    return table


def entity_balances(selection: Selection, title: str, kind: str, account_type: str, sign: int) -> Table:
    """Return what is open with each customer or vendor."""
    accounts = {account.id for account in accounts_of(selection.books, account_type)}
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
    records = list(selection.books[kind]) if kind != "Item" else list(selection.books.of("Item"))
    total = write_tree(table, records, sums, row_type, width)
    ids = {record.id for record in records}
    rest = [ZERO] * width
    for key, values in sums.items():
        if key not in ids:
            rest = plus(rest, values)
    if any(rest):
        table.data(["No name", *rest])
    table.total(["TOTAL", *plus(total, rest)])


def by_entity(
    selection: Selection,
    title: str,
    kind: str,
    *,
    types: Iterable[str],
    sign: int,
    forms: set[str] | None = None,
    key: Callable[[Record, Posting], str] | None = None,
    basis: str = "Accrual",
) -> Table:
    """Return sums of income or expense by customer, vendor or sales rep."""
    account_types, wanted = _types(selection.books), set(types)
    find = key or key_of(kind, selection.books)

    def row_of(record: Record, posting: Posting) -> str | None:
        if forms is not None and record.kind.name not in forms:
            return None
        return find(record, posting) if account_types.get(posting.account) in wanted else None

    division = divide(selection, row_of)
    sums = {row: [sign * value for value in values] for row, values in division.sums.items()}
    table = Table(title, selection.period.title(), division.columns(), basis)
    _write_by(table, selection, kind, sums, len(division.titles))
    return table


def sales_by_item(selection: Selection) -> Table:
    """Return quantity, amount and margin by item."""
    types = _types(selection.books)
    rows: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO, ZERO])
    for record, posting in selection.postings():
        if posting.item and record.kind.name in SALES_KINDS:
            row, account_type = rows[posting.item], types.get(posting.account)
            if account_type == "CostOfGoodsSold":
                row[2] += posting.amount
            elif account_type in SALES_TYPES:
                row[0] += posting.quantity
                row[1] -= posting.amount
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
    """Return a percentage, None of nothing."""
    return rounded(part * HUNDRED / whole) if whole else None


def purchases_by_item(selection: Selection) -> Table:
    """Return quantity and amount of what was bought, by item."""
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


def stock_items(selection: Selection) -> list[Record]:
    """Return the items with a quantity on hand that pass the filter on items."""
    items = (item for kind in STOCK_KINDS for item in selection.books[kind])
    return [item for item in items if selection.items is None or item.id in selection.items]


def inventory_valuation(selection: Selection) -> Table:
    """Return quantity, average cost and value of the stock at the end of a period."""
    books = selection.books
    quantities: dict[str, Decimal] = defaultdict(Decimal)
    values: dict[str, Decimal] = defaultdict(Decimal)
    for record in selection.records(Period(ALL_DAYS.first, selection.period.last)):
        for move in books.ledger.moves(record.id):
            quantities[move.item] += move.quantity
            values[move.item] += move.value
    items = stock_items(selection)
    total = sum((values[item.id] for item in items), ZERO)
    columns = [
        LABEL,
        quantity_column("On Hand", "QuantityOnHand"),
        Column("Avg Cost", "AverageCost", "PRICETYPE"),
        amount_column("Asset Value", "ValueOnHand"),
        Column("% of Tot Asset", "PercentOfTotalValue", "PERCENTTYPE"),
        Column("Sales Price", "UnitPrice", "PRICETYPE"),
    ]
    table = Table("Inventory Valuation Summary", selection.period.as_of(), columns)
    for item in items:
        quantity, value = quantities[item.id], values[item.id]
        cost = rounded(value / quantity) if quantity > 0 else average_cost(books, item)
        price = Decimal(item.fields.get("SalesPrice") or "0")
        table.data(
            [item.full_name, quantity, cost, value, percentage(value, total), price], "item", item.full_name
        )  # fmt: skip
    table.total(["TOTAL", sum((quantities[item.id] for item in items), ZERO), None, total, None, None])
    return table


def stock_status(selection: Selection, *, by_vendor: bool) -> Table:
    """Return what is on hand and on order of each item, when more comes in, and how much is sold in a week."""
    books = selection.books
    columns = [
        Column("", "Blank"),
        Column("Item Description", "ItemDesc"),
        Column("Pref Vendor", "ItemVendor"),
        quantity_column("Reorder Pt", "ReorderPoint"),
        quantity_column("On Hand", "QuantityOnHand"),
        Column("Order", "SuggestedReorder", "BOOLTYPE"),
        quantity_column("On PO", "QuantityOnOrder"),
        Column("Next Deliv", "EarliestReceiptDate", "DATETYPE"),
        quantity_column("Sales/Week", "SalesPerWeek"),
    ]
    table = Table(f"Inventory Stock Status by {'Vendor' if by_vendor else 'Item'}", selection.period.title(), columns)
    sold: dict[str, Decimal] = defaultdict(Decimal)
    for record, posting in selection.postings():
        if posting.quantity and record.kind.name in SALES_KINDS:
            sold[posting.item] += posting.quantity
    items = stock_items(selection)
    groups: dict[str, list[Record]] = defaultdict(list)
    for item in items:
        vendor = books.lists.get(reference_id(item.fields, "PrefVendorRef"))
        groups[(vendor.full_name if vendor else "No vendor") if by_vendor else "Inventory"].append(item)
    weeks = _weeks(selection)
    parents = {reference_id(item.fields, "ParentRef") for item in items} - {""}
    for name in sorted(groups, key=str.lower):
        table.text(name)
        _write_stock(
            table,
            selection,
            groups[name],
            set() if by_vendor else parents,
            {item.id: rounded(sold[item.id] / weeks) if weeks else ZERO for item in groups[name]},
        )
    return table


def _write_stock(
    table: Table, selection: Selection, items: list[Record], parents: set[str], per_week: dict[str, Decimal]
) -> None:
    """Write the items of a group; an item with items below it gets a heading and a subtotal."""
    below: dict[str, list[Record]] = defaultdict(list)
    for item in items:
        parent = reference_id(item.fields, "ParentRef")
        below[parent if parents and any(each.id == parent for each in items) else ""].append(item)

    def write(item: Record) -> list[Decimal]:
        label = item.full_name.rpartition(":")[2] if parents else item.full_name
        children = below[item.id]
        cells = _stock_cells(selection.books, item, per_week[item.id])
        sums = [cell if isinstance(cell, Decimal) else ZERO for cell in (cells[3], cells[5], cells[7])]
        if not children:
            table.data([label, *cells], "item", item.full_name)
            return sums
        table.text(label)
        for child in children:
            sums = plus(sums, write(child))
        table.data([f"{label} - Other", *cells], "item", item.full_name)
        totals = [None, None, None, sums[0], None, sums[1], None, sums[2]]
        table.subtotal([f"Total {label}", *totals], "item", item.full_name)
        return sums

    for item in below[""]:
        write(item)


def _weeks(selection: Selection) -> Decimal:
    """Return how many weeks the period has; one that is open at an end is bounded by the transactions in it."""
    days = [record.fields["TxnDate"] for record in selection.records()]
    if not days:
        return ZERO
    first = selection.period.first if selection.period.first > ALL_DAYS.first else days[0]
    last = selection.period.last if selection.period.last < ALL_DAYS.last else days[-1]
    return Decimal((date.fromisoformat(last) - date.fromisoformat(first)).days + 1) / 7


def _stock_cells(books: Books, item: Record, per_week: Decimal) -> list[Cell]:
    vendor = books.lists.get(reference_id(item.fields, "PrefVendorRef"))
    point, on_hand = item.fields.get("ReorderPoint", ""), books.ledger.on_hand.get(item.id, ZERO)
    on_order = open_order_quantity(books, item, "PurchaseOrder")
    return [
        item.fields.get("SalesDesc", ""),
        vendor.full_name if vendor else None,
        Decimal(point) if point else None,
        on_hand,
        "true" if point and on_hand + on_order <= Decimal(point) else "false",
        on_order,
        _next_delivery(books, item) if on_order else None,
        per_week,
    ]


def _next_delivery(books: Books, item: Record) -> str:
    """Return the earliest day on which an open purchase order brings the item."""
    orders = (books.transactions.get(each) for each in books.users(item.id))
    days = [
        str(order.fields.get("ExpectedDate", ""))
        for order in orders
        if order is not None
        and order.kind.name == "PurchaseOrder"
        and any(reference_id(line, "ItemRef") == item.id for line, _ in open_lines(books, order))
    ]
    return min(days, default="")


def physical_inventory(selection: Selection) -> Table:
    """Return the sheet for counting the stock."""
    columns = [
        LABEL,
        Column("Preferred Vendor", "ItemVendor"),
        quantity_column("Quantity On Hand", "QuantityOnHand"),
        quantity_column("Physical Count", "PhysicalCount"),
    ]
    table = Table("Physical Inventory Worksheet", selection.period.as_of(), columns, "None")
    for item in stock_items(selection):
        vendor = selection.books.lists.get(reference_id(item.fields, "PrefVendorRef"))
        on_hand = selection.books.ledger.on_hand.get(item.id, ZERO)
        table.data([item.full_name, vendor.full_name if vendor else None, on_hand, None], "item", item.full_name)
    return table


def sales_tax(selection: Selection, title: str) -> Table:
    """Return taxable sales and the tax on them by tax item, and what is payable."""
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
    liabilities = {account.id for account in accounts_of(books, "OtherCurrentLiability")}
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


def custom(selection: Selection) -> Table:
    """Return sums by any two things: rows and columns that the request chooses."""
    by = selection.request.findtext("SummarizeRowsBy", "")
    if by == "IncomeStatement":
        return profit_and_loss(selection, "Custom Summary Report")
    if by == "BalanceSheet":
        return balance_sheet(selection, "Custom Summary Report")
    if by in IS_DATE or by == "TotalOnly":
        raise RequestError(3250, f"The simulated QuickBooks does not summarize rows by {by}.")
    types, find = _types(selection.books), key_of(by, selection.books)

    def row_of(record: Record, posting: Posting) -> str | None:
        return find(record, posting) if by == "Account" or types.get(posting.account) in INCOME_TYPES else None

    division = divide(selection, row_of)
    sums = division.sums if by == "Account" else {key: negated(values) for key, values in division.sums.items()}
    table = Table("Custom Summary Report", selection.period.title(), division.columns())
    kind = {"ItemDetail": "Item"}.get(by, by)
    if kind == "Payee":
        kind = "Entity"
    records = list(selection.books.of(kind))
    row_type = {"Entity": "name"}.get(kind, kind[0].lower() + kind[1:])
    width = len(division.titles)
    total = write_tree(table, records, sums, row_type, width)
    ids = {record.id for record in records}
    rest = [ZERO] * width
    for key, values in sums.items():
        if key not in ids:
            rest = plus(rest, values)
    if any(rest):
        table.data(["Unclassified", *rest])
    table.total(["TOTAL", *plus(total, rest)])
    return table
