"""The part of the books that a report covers: its period, and the postings and transactions that pass its filters."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.basics.date_macros import date_range
from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE, STATUSES
from simulator.books.accounts import BALANCE_TYPES, INCOME_TYPES
from simulator.books.kinds import GROUPS, ITEMS
from simulator.books.records import reference_id
from simulator.reports.cash import cash_postings
from simulator.schema import values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.books.ledger import Posting
    from simulator.requests.context import Context

ACCRUAL = "Accrual"
_TYPE_GROUPS = {
    "APAndSalesTax": ("AccountsPayable",),
    "APOrCreditCard": ("AccountsPayable", "CreditCard"),
    "ARAndAP": ("AccountsReceivable", "AccountsPayable"),
    "Asset": ("Bank", "AccountsReceivable", "OtherCurrentAsset", "FixedAsset", "OtherAsset"),
    "BalanceSheet": BALANCE_TYPES,
    "BankAndARAndAPAndUF": ("Bank", "AccountsReceivable", "AccountsPayable"),
    "BankAndUF": ("Bank",),
    "CostOfSales": ("CostOfGoodsSold",),
    "CurrentAsset": ("Bank", "AccountsReceivable", "OtherCurrentAsset"),
    "CurrentAssetAndExpense": ("Bank", "AccountsReceivable", "OtherCurrentAsset", "Expense"),
    "CurrentLiability": ("AccountsPayable", "CreditCard", "OtherCurrentLiability"),
    "EquityAndIncomeAndExpense": ("Equity", *INCOME_TYPES),
    "ExpenseAndOtherExpense": ("Expense", "OtherExpense"),
    "IncomeAndExpense": INCOME_TYPES,
    "IncomeAndOtherIncome": ("Income", "OtherIncome"),
    "Liability": ("AccountsPayable", "CreditCard", "OtherCurrentLiability", "LongTermLiability"),
    "LiabilityAndEquity": ("AccountsPayable", "CreditCard", "OtherCurrentLiability", "LongTermLiability", "Equity"),
    "OrdinaryExpense": ("Expense",),
    "OrdinaryIncome": ("Income",),
    "OrdinaryIncomeAndCOGS": ("Income", "CostOfGoodsSold"),
    "OrdinaryIncomeAndExpense": ("Income", "CostOfGoodsSold", "Expense"),
    "OtherIncomeOrExpense": ("OtherIncome", "OtherExpense"),
}
"""The account types that each AccountTypeFilter means, besides those that are account types themselves.

A filter with UF in its name includes the account for undeposited funds.
"""

_ITEM_GROUPS = {
    "AllExceptFixedAsset": tuple(kind for kind in ITEMS if kind != "ItemFixedAsset"),
    "Assembly": ("ItemInventoryAssembly",),
    "InventoryAndAssembly": ("ItemInventory", "ItemInventoryAssembly"),
    "Sales": tuple(kind for kind in ITEMS if kind not in {"ItemFixedAsset", "ItemSalesTax", "ItemSalesTaxGroup"}),
}
"""The kinds of items that an ItemTypeFilter means, besides those that name one kind."""


@dataclass(frozen=True, slots=True)
class Period:
    """The first and the last day of a report, as text (`2026-01-31`)."""

    first: str
    last: str

    def __contains__(self, day: str) -> bool:
        return self.first <= day <= self.last

    def title(self) -> str:
        """Return the period as QuickBooks writes it below the title of a report."""
        if self.first == date.min.isoformat():
            return "All Transactions" if self.last == date.max.isoformat() else f"Through {_day(self.last)}"
        first, last = date.fromisoformat(self.first), date.fromisoformat(self.last)
        if first == last:
            return _day(self.first)
        is_one_month = (first.year, first.month) == (last.year, last.month)
        if self._is_of_months(first, last):
            begin = (
                "" if is_one_month else f"{first:%B} through " if first.year == last.year else f"{first:%B %Y} through "
            )
            return f"{begin}{last:%B} {last.year}"
        if is_one_month:
            return f"{first:%B} {first.day} - {last.day}, {first.year}"
        begin = f"{first:%B} {first.day}" if first.year == last.year else _day(self.first)
        return f"{begin} through {_day(self.last)}"

    def column_title(self) -> str:
        """Return the period as the title of a column: `Jan 26`, `Jan 1 - 15, 26`. It is TOTAL without both ends."""
        if self.first == date.min.isoformat() or self.last == date.max.isoformat():
            return "TOTAL"
        first, last = date.fromisoformat(self.first), date.fromisoformat(self.last)
        is_one_year = first.year == last.year
        is_one_month = is_one_year and first.month == last.month
        if self._is_of_months(first, last):
            begin = "" if is_one_month else f"{first:%b} - " if is_one_year else f"{first:%b %y} - "
            return f"{begin}{last:%b %y}"
        if first == last:
            return f"{last:%b} {last.day}, {last:%y}"
        if is_one_month:
            return f"{first:%b} {first.day} - {last.day}, {last:%y}"
        begin = f"{first:%b} {first.day}" if is_one_year else f"{first:%b} {first.day}, {first:%y}"
        return f"{begin} - {last:%b} {last.day}, {last:%y}"

    @staticmethod
    def _is_of_months(first: date, last: date) -> bool:
        return first.day == 1 and last != date.max and (last + timedelta(days=1)).day == 1

    def end_title(self) -> str:
        """Return the last day as the title of a column of balances: `Jan 31, 26`. It is TOTAL without an end."""
        return Period(self.last, self.last).column_title()

    def as_of(self) -> str:
        """Return the last day as QuickBooks writes it below the title of a report."""
        return "All Transactions" if self.last == date.max.isoformat() else f"As of {_day(self.last)}"


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day:%B} {day.day}, {day.year}"


ALL_DAYS = Period(date.min.isoformat(), date.max.isoformat())


class Selection:
    """The part of the books that one report request covers."""

    def __init__(self, context: Context, default_macro: str = "ThisMonthToDate") -> None:
        self.books: Books = context.books
        self.request: Node = context.node
        self._first_fiscal_month = context.facts.first_fiscal_month
        self.period = self._period(default_macro)
        self.accounts = self._accounts()
        self.entities = self._ids("ReportEntityFilter", GROUPS["Entity"], "EntityTypeFilter")
        self.items = self._ids("ReportItemFilter", ITEMS, "ItemTypeFilter")
        self.classes = self._ids("ReportClassFilter", ("Class",), "")
        self.kinds = {
            child.text for child in self.request.findall("ReportTxnTypeFilter/TxnTypeFilter") if child.text != "All"
        }
        self.modified = self._modified()
        self._is_cash = self.request.findtext("ReportBasis") == "Cash"
        self.basis = ACCRUAL

    def fiscal_year(self) -> Period:
        """Return the fiscal year up to the last day of the report."""
        last = date.fromisoformat(self.period.last) if self.period.last < "9999" else self.books.clock.today()
        first, _ = date_range("ThisFiscalYear", last, self._first_fiscal_month)
        return Period(first.isoformat(), self.period.last)

    def records(self, period: Period | None = None) -> Iterator[Record]:
        """Yield the transactions of a period that pass the filters on transactions, oldest first."""
        period = period or self.period
        rows = [
            record
            for record in self.books.transactions.values()
            if period.first <= record.fields.get("TxnDate", "") <= period.last and self._passes(record)
        ]
        rows.sort(key=lambda record: (record.fields.get("TxnDate", ""), record.number))
        return iter(rows)

    def use_cash_basis(self) -> None:
        """Count income and expenses when they are paid, even if the request names another basis."""
        self._is_cash = True

    def postings(self, period: Period | None = None) -> Iterator[tuple[Record, Posting]]:
        """Yield the postings of a period that pass all filters, on the basis of the report, oldest first.

        On a cash basis a record is a copy with the day on which the posting counts as its TxnDate.
        """
        if not self._is_cash:
            return self.accrual_postings(period)
        self.basis = "Cash"
        return self._filtered(self._cash_postings(period or self.period))

    def accrual_postings(self, period: Period | None = None) -> Iterator[tuple[Record, Posting]]:
        """Yield the postings of a period that pass all filters, on an accrual basis, oldest first."""
        postings_of = self.books.ledger.postings
        return self._filtered(
            (record, posting) for record in self.records(period) for posting in postings_of(record.id)
        )

    def _filtered(self, rows: Iterable[tuple[Record, Posting]]) -> Iterator[tuple[Record, Posting]]:
        if self.accounts is self.entities is self.items is self.classes is None:
            return iter(rows)
        return (row for row in rows if self._posting_passes(row[1]))

    def _cash_postings(self, period: Period) -> list[tuple[Record, Posting]]:
        types = {account.id: account.fields.get("AccountType") for account in self.books["Account"]}
        income_accounts = {account_id for account_id, kind in types.items() if kind in INCOME_TYPES}
        rows: list[tuple[Record, Posting]] = []
        for record in self.records(Period(ALL_DAYS.first, period.last)):
            copies = {record.fields.get("TxnDate", ""): record}
            for day, posting in cash_postings(self.books, record, income_accounts):
                if period.first <= day <= period.last:
                    if day not in copies:
                        copies[day] = replace(record, fields={**record.fields, "TxnDate": day})
                    rows.append((copies[day], posting))
        rows.sort(key=lambda row: (row[0].fields.get("TxnDate", ""), row[0].number))
        return rows

    def sums(self, period: Period | None = None) -> dict[str, Decimal]:
        """Return the sum of the postings to each account in a period."""
        totals: dict[str, Decimal] = defaultdict(Decimal)
        for _, posting in self.postings(period):
            totals[posting.account] += posting.amount
        return totals

    def _passes(self, record: Record) -> bool:
        if self.kinds and record.kind.name not in self.kinds:
            return False
        return self.modified is None or self.modified[0] <= record.modified <= self.modified[1]

    def _posting_passes(self, posting: Posting) -> bool:
        return (
            (self.accounts is None or posting.account in self.accounts)
            and (self.entities is None or posting.entity in self.entities)
            and (self.items is None or posting.item in self.items)
            and (self.classes is None or posting.class_id in self.classes)
        )

    def _period(self, default_macro: str) -> Period:
        macro, dates = self.request.findtext("ReportDateMacro"), self.request.find("ReportPeriod")
        if dates is None or not len(dates):
            # "If you omit both ToReportDate and FromReportDate, the report will cover the current fiscal year to date"
            # (Intuit's API Reference, ReportPeriod).
            macro = macro if dates is None else "ThisFiscalYearToDate"
            first, last = date_range(macro or default_macro, self.books.clock.today(), self._first_fiscal_month)
        else:
            first = values.day("FromReportDate", dates.findtext("FromReportDate", "")) or date.min
            last = values.day("ToReportDate", dates.findtext("ToReportDate", "")) or date.max
            if first > last:
                raise RequestError(3030, STATUSES[3030].text)
        return Period(first.isoformat(), last.isoformat())

    def _modified(self) -> tuple[float, float] | None:
        dates = self.request.find("ReportModifiedDateRangeFilter")
        macro = self.request.findtext("ReportModifiedDateRangeMacro")
        if dates is None and macro is None:
            return None
        zone = self.books.clock.zone
        if dates is not None:
            names = ("FromReportModifiedDate", "ToReportModifiedDate")
            first, last = (values.moment(name, dates.findtext(name, ""), zone) for name in names)
        else:
            days = date_range(macro or "All", self.books.clock.today(), self._first_fiscal_month)
            if days[0] == date.min:
                return None
            first, last = (
                values.moment(name, day.isoformat(), zone) for name, day in zip(("From", "To"), days, strict=True)
            )
        return (first.timestamp() if first else 0.0), (last.timestamp() if last else float("inf"))

    def _accounts(self) -> set[str] | None:
        node = self.request.find("ReportAccountFilter")
        if node is None:
            return None
        account_type = node.findtext("AccountTypeFilter")
        if account_type is None:
            return self._ids("ReportAccountFilter", ("Account",), "")
        if account_type == "AllowedFor1099":
            raise RequestError(3250, f"{NOT_AVAILABLE}: the simulated company has no accounts for forms 1099.")
        types = _TYPE_GROUPS.get(account_type, (account_type,))
        return {
            account.id
            for account in self.books["Account"]
            if account.fields.get("AccountType") in types
            or (account_type.endswith("UF") and account.full_name == "Undeposited Funds")
        }

    def _ids(self, name: str, kinds: tuple[str, ...], type_filter: str) -> set[str] | None:
        node = self.request.find(name)
        if node is None:
            return None
        ids: set[str] = set()
        for child in node:
            text = child.text or ""
            if child.tag == type_filter:
                item_types = _ITEM_GROUPS.get(text, (text, f"Item{text}"))
                ids |= {record.id for kind in kinds if kind in item_types for record in self.books[kind]}
                continue
            record = (
                self.books.list_object(text, kinds) if child.tag.startswith("ListID") else self.books.named(text, kinds)
            )
            if record is None:
                raise RequestError(3140, f'There is an invalid reference to QuickBooks {name} "{text}" in the report.')
            ids.add(record.id)
            if child.tag.endswith("WithChildren"):
                ids |= {descendant.id for descendant in descendants(self.books, record)}
        return ids


def descendants(books: Books, record: Record) -> Iterator[Record]:
    """Yield everything below a list object."""
    for child in books.children(record):
        yield child
        yield from descendants(books, child)


def transaction_entity(record: Record) -> str:
    """Return the ListID of the customer, vendor or employee of a transaction, '' without one."""
    for name in ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef"):
        entity = reference_id(record.fields, name)
        if entity:
            return entity
    return ""
