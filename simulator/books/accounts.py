"""The types of accounts in the order of the chart of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.books.records import Record
    from simulator.books.store import Books

BALANCE_TYPES = (
    "Bank",
    "AccountsReceivable",
    "OtherCurrentAsset",
    "FixedAsset",
    "OtherAsset",
    "AccountsPayable",
    "CreditCard",
    "OtherCurrentLiability",
    "LongTermLiability",
    "Equity",
)
INCOME_TYPES = ("Income", "CostOfGoodsSold", "Expense", "OtherIncome", "OtherExpense")


def chart_of_accounts(books: Books, *types: str) -> list[Record]:
    """Return the accounts of these types, or all, in the order of the chart of accounts: by type, then by name."""
    return in_chart_order(
        account for account in books["Account"] if not types or account.fields.get("AccountType") in types
    )


def in_chart_order(accounts: Iterable[Record]) -> list[Record]:
    """Return accounts, which are in the order of names, in that of the chart of accounts."""
    order = {name: rank for rank, name in enumerate((*BALANCE_TYPES, *INCOME_TYPES))}
    # The sort is stable, and children are below their parents.
    return sorted(accounts, key=lambda account: order.get(account.fields.get("AccountType", ""), len(order)))
