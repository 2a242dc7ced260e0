"""Statements of accounts: profit and loss, balance sheet, trial balance and custom summary."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books.accounts import BALANCE_TYPES, INCOME_TYPES, chart_of_accounts
from simulator.books.ledger import ZERO
from simulator.reports.columns import IS_DATE, key_of
from simulator.reports.selection import Period, Selection
from simulator.reports.summary import (
    Division,
    Sums,
    Values,
    account_types,
    chosen_rows,
    divide,
    negated,
    plus,
    write_all,
    write_tree,
)
from simulator.reports.table import LABEL, Column, Table, amount_column
from simulator.rules.common import HUNDRED, rounded
from simulator.rules.lists import RETAINED_EARNINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.books import Books, Record
    from simulator.books.ledger import Posting
    from simulator.reports.table import Cell


def account_rows(selection: Selection, division: Division) -> Sums:
    """Return the rows of a statement. By default it shows an account with postings, even if they add up to nothing.

    "Comment exclure des comptes de bilans dans QuickBooks" (commentfran.com): Display Rows, Non-zero, hides them.
    """
    accounts, width = selection.books["Account"], len(division.titles)
    return chosen_rows(selection, division.sums, accounts, width, default="ActiveOnly")


class _Statement:
    """Writes sections of accounts with their totals."""

    def __init__(self, table: Table, selection: Selection, division: Division) -> None:
        self.table, self.books = table, selection.books
        self.width, self.is_summary = len(division.titles), division.is_summary
        self.sums = account_rows(selection, division)

    def has(self, *types: str) -> bool:
        """Return whether accounts of these types have rows."""
        return any(account.id in self.sums for account in chart_of_accounts(self.books, *types))

    def group(self, title: str, sections: tuple[tuple[str, str], ...], *, sign: int = 1) -> Values:
        """Write sections, each a title and an account type, below a title of their own. Returns their sum."""
        total = [ZERO] * self.width
        if not self.has(*(account_type for _, account_type in sections)):
            return total
        self.table.text(title)
        for section, account_type in sections:
            total = plus(total, self.section(section, f"Total {section}", account_type, sign=sign))
        self.table.subtotal([f"Total {title}", *total])
        return total

    def section(self, title: str, total_title: str, *types: str, sign: int = 1) -> Values:
        """Write the accounts of these types with their sum, which is returned."""
        accounts = chart_of_accounts(self.books, *types)
        sums = {
            account.id: [sign * value for value in self.sums[account.id]]
            for account in accounts
            if account.id in self.sums
        }
        if not sums:
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
    types = account_types(selection.books)

    def row_of(_record: Record, posting: Posting) -> str | None:
        return posting.account if types.get(posting.account) in INCOME_TYPES else None

    division = divide(selection, row_of, by=by)
    if division.titles == ["TOTAL"]:
        division.titles = [selection.period.column_title()]
    table = Table(title, selection.period.title(), division.columns())
    _write_profit_and_loss(table, selection, division)
    return table


def profit_and_loss_by_job(selection: Selection) -> Table:
    """Return the profit and loss with a column for each customer. What names no customer is not in it.

    Intuit, "Profit & loss by job report": it only includes what was assigned to a customer or job.
    """
    types, customer_of = account_types(selection.books), key_of("Customer", selection.books)

    def row_of(record: Record, posting: Posting) -> str | None:
        is_counted = types.get(posting.account) in INCOME_TYPES and customer_of(record, posting)
        return posting.account if is_counted else None

    division = divide(selection, row_of, by="Customer")
    table = Table("Profit & Loss by Job", selection.period.title(), division.columns())
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


def profit_and_loss_compared(selection: Selection, title: str, other: Period, *, changes: bool) -> Table:
    """Return the profit and loss of two periods, with the differences."""
    types = account_types(selection.books)

    def row_of(_record: Record, posting: Posting) -> str | None:
        return posting.account if types.get(posting.account) in INCOME_TYPES else None

    now = divide(selection, row_of, by="TotalOnly").sums
    then = divide(selection, row_of, by="TotalOnly", period=other).sums
    titles = selection.period.column_title(), other.column_title()
    heading = title, selection.period.title()
    return _compared(selection, heading, (now, then), titles, _write_profit_and_loss, changes=changes)


class _Comparison(Table):
    """A table whose last column is the change in percent. It follows from the others, and is not a sum."""

    def _add(self, name: str, cells: list[Cell], row_type: str, value: str) -> None:
        now, then = (cell if isinstance(cell, Decimal) else ZERO for cell in cells[1:3])
        change = rounded(HUNDRED * (now - then) / abs(then)) if then else HUNDRED if now else ZERO
        super()._add(name, [*cells, change], row_type, value)


def _compared(
    selection: Selection,
    heading: tuple[str, str],
    both: tuple[Sums, Sums],
    titles_of_periods: tuple[str, str],
    write: Callable[[Table, Selection, Division], None],
    *,
    changes: bool,
) -> Table:
    """Write two sets of sums in columns, with the differences."""
    (now, then), (own_title, other_title) = both, titles_of_periods
    sums = {key: [*now.get(key, [ZERO]), *then.get(key, [ZERO])] for key in {*now, *then}}
    titles = [own_title, other_title]
    columns = [LABEL, amount_column(own_title), amount_column(other_title)]
    if changes:
        sums = {key: [*values, values[0] - values[1]] for key, values in sums.items()}
        titles.append("$ Change")
        columns += [amount_column("$ Change", "AmountDifference"), Column("% Change", "PercentChange", "PERCENTTYPE")]
    table = (_Comparison if changes else Table)(*heading, columns)
    write(table, selection, Division(titles, sums))
    return table


def balance_sheet(
    selection: Selection, title: str = "Balance Sheet", by: str = "", *, is_summary: bool = False
) -> Table:
    """Return assets, liabilities and equity at the end of a period."""
    division = _balances(selection, by=by)
    division.is_summary = is_summary
    if division.titles == ["TOTAL"]:
        division.titles = [selection.period.end_title()]
    table = Table(title, selection.period.as_of(), division.columns())
    _write_balance_sheet(table, selection, division)
    return table


_EARNED = "earned"
_RETAINED = "retained"
_RETAINED_NAME = "Retained Earnings"


def _balances(selection: Selection, *, by: str = "", period: Period | None = None) -> Division:
    """Return the balances of all accounts. Income and expense become the earnings of this year and of former years."""
    types = account_types(selection.books)
    last = (period or selection.period).last
    year = Period(selection.fiscal_year().first if period is None else _year_before(selection), last)
    retained = _retained_earnings(selection)

    def row_of(record: Record, posting: Posting) -> str | None:
        if types.get(posting.account) in INCOME_TYPES:
            return _EARNED if record.fields["TxnDate"] >= year.first else retained
        return posting.account

    return divide(selection, row_of, by=by, period=period, is_cumulative=True)


def retained_earnings(books: Books) -> Record | None:
    """Return the account for the earnings of former years, by its SpecialAccountType or else by its name."""
    special = (account for account in books["Account"] if account.fields.get("SpecialAccountType") == RETAINED_EARNINGS)
    account = next(special, None) or books.named(_RETAINED_NAME, ("Account",))
    return account if account is not None and account.fields.get("AccountType") == "Equity" else None


def _retained_earnings(selection: Selection) -> str:
    """Return the id of the account for retained earnings, `_RETAINED` in books without it."""
    account = retained_earnings(selection.books)
    return account.id if account is not None else _RETAINED


def _year_before(selection: Selection) -> str:
    first = selection.fiscal_year().first
    return f"{int(first[:4]) - 1}{first[4:]}"


def balance_sheet_compared(selection: Selection) -> Table:
    """Return the balance sheet and that of a year before, with the differences."""
    before = year_before(selection.period)
    now, then = _balances(selection, by="TotalOnly").sums, _balances(selection, by="TotalOnly", period=before).sums
    titles = (selection.period.end_title(), before.end_title())
    heading = "Balance Sheet Prev Year Comparison", selection.period.as_of()
    return _compared(selection, heading, (now, then), titles, _write_balance_sheet, changes=True)


def year_before(period: Period) -> Period:
    """Return the same days one year before."""
    return Period(
        *(day if day.startswith(("0001", "9999")) else _a_year_before(day) for day in (period.first, period.last))
    )


def _a_year_before(day: str) -> str:
    text = f"{int(day[:4]) - 1}{day[4:]}"
    return text.replace("-02-29", "-02-28")


_CURRENT_ASSETS = (
    ("Checking/Savings", "Bank"),
    ("Accounts Receivable", "AccountsReceivable"),
    ("Other Current Assets", "OtherCurrentAsset"),
)
_CURRENT_LIABILITIES = (
    ("Accounts Payable", "AccountsPayable"),
    ("Credit Cards", "CreditCard"),
    ("Other Current Liabilities", "OtherCurrentLiability"),
)


def _write_balance_sheet(table: Table, selection: Selection, division: Division) -> None:
    statement = _Statement(table, selection, division)
    table.text("ASSETS")
    assets = statement.group("Current Assets", _CURRENT_ASSETS)
    for title, account_type in (("Fixed Assets", "FixedAsset"), ("Other Assets", "OtherAsset")):
        assets = plus(assets, statement.section(title, f"Total {title}", account_type))
    table.total(["TOTAL ASSETS", *assets])
    table.text("LIABILITIES & EQUITY")
    has_liabilities = statement.has(*(kind for _, kind in _CURRENT_LIABILITIES), "LongTermLiability")
    if has_liabilities:
        table.text("Liabilities")
    liabilities = statement.group("Current Liabilities", _CURRENT_LIABILITIES, sign=-1)
    long_term = statement.section("Long Term Liabilities", "Total Long Term Liabilities", "LongTermLiability", sign=-1)
    liabilities = plus(liabilities, long_term)
    if has_liabilities:
        table.subtotal(["Total Liabilities", *liabilities])
    equity = _write_equity(table, selection, division)
    table.total(["TOTAL LIABILITIES & EQUITY", *plus(liabilities, equity)])


def _write_equity(table: Table, selection: Selection, division: Division) -> Values:
    """Write the accounts of equity, the earnings of former years and those of this year. Returns their sum."""
    accounts, rows = chart_of_accounts(selection.books, "Equity"), account_rows(selection, division)
    before = [account for account in accounts if account.full_name.lower() < _RETAINED_NAME.lower()]
    sums = {account.id: negated(rows[account.id]) for account in accounts if account.id in rows}
    retained = negated(division.sums.get(_RETAINED, division.nothing()))
    earned = negated(division.sums.get(_EARNED, division.nothing()))
    if not sums and not any((*retained, *earned)):
        return division.nothing()
    table.text("Equity")
    equity = write_tree(table, before, sums, "account", len(division.titles))
    if any(retained):
        table.data([_RETAINED_NAME, *retained], "account", _RETAINED_NAME)
    equity = plus(equity, retained)
    equity = plus(equity, write_tree(table, accounts[len(before) :], sums, "account", len(division.titles)))
    if any(earned):
        table.data(["Net Income", *earned])
    equity = plus(equity, earned)
    table.subtotal(["Total Equity", *equity])
    return equity


def trial_balance(selection: Selection) -> Table:
    """Return the balance of each account as a debit or a credit."""
    types = account_types(selection.books)
    first = selection.fiscal_year().first
    retained = _retained_earnings(selection)

    def row_of(record: Record, posting: Posting) -> str | None:
        is_former = types.get(posting.account) in INCOME_TYPES and record.fields["TxnDate"] < first
        return retained if is_former else posting.account

    sums = account_rows(selection, divide(selection, row_of, by="TotalOnly", is_cumulative=True))
    columns = [LABEL, amount_column("Debit", "Debit"), amount_column("Credit", "Credit")]
    table = Table("Trial Balance", selection.period.as_of(), columns)
    debits = credits_ = ZERO
    accounts = [(account.id, account.full_name) for account in chart_of_accounts(selection.books)]
    if _RETAINED in sums:
        others = chart_of_accounts(selection.books, *BALANCE_TYPES)
        equity = [account for account in others if account.fields["AccountType"] == "Equity"]
        after = sum(account.full_name.lower() > _RETAINED_NAME.lower() for account in equity)
        accounts.insert(len(others) - after, (_RETAINED, _RETAINED_NAME))
    for account_id, name in accounts:
        if account_id in sums:
            balance = sums[account_id][0]
            table.data([name, balance if balance >= 0 else None, -balance if balance < 0 else None], "account", name)
            debits += max(balance, ZERO)
            credits_ += max(-balance, ZERO)
    table.total(["TOTAL", debits, credits_])
    return table


def custom(selection: Selection) -> Table:
    """Return sums in the rows and columns that the request chooses."""
    by = selection.request.findtext("SummarizeRowsBy", "")
    if by == "IncomeStatement":
        return profit_and_loss(selection, "Custom Summary Report")
    if by == "BalanceSheet":
        return balance_sheet(selection, "Custom Summary Report")
    if by in IS_DATE or by == "TotalOnly":
        raise RequestError(3250, f"{NOT_AVAILABLE}: the simulated QuickBooks does not summarize rows by {by}.")
    types, find = account_types(selection.books), key_of(by, selection.books)

    def row_of(record: Record, posting: Posting) -> str | None:
        return find(record, posting) if by == "Account" or types.get(posting.account) in INCOME_TYPES else None

    division = divide(selection, row_of)
    sums = division.sums if by == "Account" else {key: negated(values) for key, values in division.sums.items()}
    table = Table("Custom Summary Report", selection.period.title(), division.columns())
    kind = {"ItemDetail": "Item"}.get(by, by)
    if kind == "Payee":
        kind = "Entity"
    records = chart_of_accounts(selection.books) if kind == "Account" else list(selection.books.of(kind))
    row_type = {"Entity": "name"}.get(kind, kind[0].lower() + kind[1:])
    write_all(table, records, sums, row_type, len(division.titles), "Unclassified")
    return table
