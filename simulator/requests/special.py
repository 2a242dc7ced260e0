"""SpecialAccountAdd and SpecialItemAdd: accounts and items that QuickBooks itself needs, with their usual names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books import KINDS, Draft
from simulator.requests.add import record_response
from simulator.requests.reading import Reader
from simulator.rules.entry import prepare

if TYPE_CHECKING:
    from simulator.books import Fields
    from simulator.requests.context import Context
    from simulator.requests.responses import Response

_ACCOUNTS = {
    "AccountsPayable": ("Accounts Payable", "AccountsPayable"),
    "AccountsReceivable": ("Accounts Receivable", "AccountsReceivable"),
    "CondenseItemAdjustmentExpenses": ("Inventory Adjustment", "CostOfGoodsSold"),
    "CostOfGoodsSold": ("Cost of Goods Sold", "CostOfGoodsSold"),
    "DirectDepositLiabilities": ("Direct Deposit Liabilities", "OtherCurrentLiability"),
    "Estimates": ("Estimates", "NonPosting"),
    "ExchangeGainLoss": ("Exchange Gain or Loss", "OtherExpense"),
    "InventoryAssets": ("Inventory Asset", "OtherCurrentAsset"),
    "ItemReceiptAccount": ("Item Receipts", "OtherCurrentLiability"),
    "OpeningBalanceEquity": ("Opening Balance Equity", "Equity"),
    "PayrollExpenses": ("Payroll Expenses", "Expense"),
    "PayrollLiabilities": ("Payroll Liabilities", "OtherCurrentLiability"),
    "PettyCash": ("Petty Cash", "Bank"),
    "PurchaseOrders": ("Purchase Orders", "NonPosting"),
    "ReconciliationDifferences": ("Reconciliation Discrepancies", "Expense"),
    "RetainedEarnings": ("Retained Earnings", "Equity"),
    "SalesOrders": ("Sales Orders", "NonPosting"),
    "SalesTaxPayable": ("Sales Tax Payable", "OtherCurrentLiability"),
    "UncategorizedExpenses": ("Uncategorized Expenses", "Expense"),
    "UncategorizedIncome": ("Uncategorized Income", "Income"),
    "UndepositedFunds": ("Undeposited Funds", "OtherCurrentAsset"),
}
_ITEMS = {
    "FinanceCharge": ("ItemOtherCharge", "Fin Chg"),
    "ReimbursableExpenseGroup": ("ItemGroup", "Reimb Group"),
    "ReimbursableExpenseSubtotal": ("ItemSubtotal", "Reimb Subt"),
}


def add_account(context: Context) -> Response:
    """Answer SpecialAccountAddRq. Raises `RequestError` 3100 when the company has the account already."""
    special = context.node[0].findtext("SpecialAccountType", "")
    name, account_type = _ACCOUNTS[special]
    return _add(context, "Account", special, {"Name": name, "AccountType": account_type})


def add_item(context: Context) -> Response:
    """Answer SpecialItemAddRq. Raises `RequestError` 3100 when the company has the item already."""
    special = context.node[0].findtext("SpecialItemType", "")
    kind, name = _ITEMS[special]
    return _add(context, kind, special, {"Name": name})


def _add(context: Context, kind_name: str, special: str, fields: Fields) -> Response:
    books, kind, content = context.books, KINDS[kind_name], context.node[0]
    type_field = "SpecialAccountType" if kind_name == "Account" else "SpecialItemType"
    if any(record.fields.get(type_field) == special for record in books[kind_name]):
        raise RequestError(3100, f'The name "{fields["Name"]}" of the list element is already in use.')
    draft = Reader(books, kind).draft(content, context.model.content[content.tag].content)
    draft = Draft(kind, {**draft.fields, **fields, type_field: special}, draft.extra)
    prepare(books, draft)
    return record_response(context, books.add(kind, draft.fields))
