"""The types of accounts in the order of the chart of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    order = {name: rank for rank, name in enumerate((*BALANCE_TYPES, *INCOME_TYPES))}
    accounts = (account for account in books["Account"] if not types or account.fields.get("AccountType") in types)
    # The sort is stable, and the table is in the order of names with children below their parents.
    return sorted(accounts, key=lambda account: order.get(account.fields.get("AccountType", ""), len(order)))
