"""The report requests: each report type is a function of the selected part of the books.

A type that the books cannot answer gets status 3250.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books.accounts import BALANCE_TYPES, INCOME_TYPES
from simulator.reports import aging, detail, jobs, statements, stock, summary, taxes
from simulator.reports.selection import ACCRUAL, Selection
from simulator.reports.table import LABEL, Table, amount_column
from simulator.requests.responses import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.requests.context import Context

    Report: TypeAlias = Callable[[Selection], Table]

_EXPENSES = {"CostOfGoodsSold", "Expense", "OtherExpense"}
_AR, _AP = "AccountsReceivable", "AccountsPayable"


def _previous_year(selection: Selection) -> Table:
    before = statements.year_before(selection.period)
    title = "Profit & Loss Prev Year Comparison"
    return statements.profit_and_loss_compared(selection, title, before, changes=True)


def _year_to_date(selection: Selection) -> Table:
    year = selection.fiscal_year()
    title = "Profit & Loss YTD Comparison"
    return statements.profit_and_loss_compared(selection, title, year, changes=False)


def _sales_by_rep(selection: Selection) -> Table:
    return summary.by_entity(
        selection, "Sales by Rep Summary", "SalesRep", types=summary.SALES_TYPES, sign=-1, forms=summary.SALES_KINDS
    )


def _payroll(title: str) -> Report:
    """Return a report on payroll: empty, because the company pays nobody with QuickBooks."""
    return lambda selection: Table(title, selection.period.title(), [LABEL, amount_column("TOTAL", "Total")], "None")


REPORTS: dict[str, Report] = {
    "APAgingDetail": partial(aging.detail, title="A/P Aging Detail", account_type=_AP, sign=-1),
    "APAgingSummary": partial(aging.summary, title="A/P Aging Summary", kind="Vendor", account_type=_AP, sign=-1),
    "ARAgingDetail": partial(aging.detail, title="A/R Aging Detail", account_type=_AR, sign=1),
    "ARAgingSummary": partial(aging.summary, title="A/R Aging Summary", kind="Customer", account_type=_AR, sign=1),
    "CollectionsReport": partial(aging.detail, title="Collections Report", account_type=_AR, sign=1, by_customer=True),
    "BalanceSheetByClass": partial(statements.balance_sheet, title="Balance Sheet by Class", by="Class"),
    "BalanceSheetPrevYearComp": statements.balance_sheet_compared,
    "BalanceSheetStandard": statements.balance_sheet,
    "BalanceSheetSummary": partial(statements.balance_sheet, title="Summary Balance Sheet", is_summary=True),
    "CustomerBalanceSummary": partial(
        summary.entity_balances, title="Customer Balance Summary", kind="Customer", account_type=_AR, sign=1
    ),
    "VendorBalanceSummary": partial(
        summary.entity_balances, title="Vendor Balance Summary", kind="Vendor", account_type=_AP, sign=-1
    ),
    "ExpenseByVendorSummary": partial(
        summary.by_entity, title="Expenses by Vendor Summary", kind="Vendor", types=_EXPENSES, sign=1
    ),
    "IncomeByCustomerSummary": partial(
        summary.by_entity, title="Income by Customer Summary", kind="Customer", types=INCOME_TYPES, sign=-1
    ),
    "SalesByCustomerSummary": partial(
        summary.by_entity,
        title="Sales by Customer Summary",
        kind="Customer",
        types=summary.SALES_TYPES,
        sign=-1,
        forms=summary.SALES_KINDS,
    ),
    "SalesByRepSummary": _sales_by_rep,
    "SalesByItemSummary": summary.sales_by_item,
    "PurchaseByItemSummary": summary.purchases_by_item,
    "PurchaseByVendorSummary": summary.purchases_by_vendor,
    "InventoryStockStatusByItem": partial(stock.stock_status, by_vendor=False),
    "InventoryStockStatusByVendor": partial(stock.stock_status, by_vendor=True),
    "InventoryValuationSummary": stock.inventory_valuation,
    "PhysicalInventoryWorksheet": stock.physical_inventory,
    "ProfitAndLossByClass": partial(statements.profit_and_loss, title="Profit & Loss by Class", by="Class"),
    "ProfitAndLossByJob": statements.profit_and_loss_by_job,
    "ProfitAndLossPrevYearComp": _previous_year,
    "ProfitAndLossStandard": statements.profit_and_loss,
    "ProfitAndLossYTDComp": _year_to_date,
    "SalesTaxLiability": partial(summary.sales_tax, title="Sales Tax Liability"),
    "SalesTaxRevenueSummary": partial(summary.sales_tax, title="Sales Tax Revenue Summary"),
    "TrialBalance": statements.trial_balance,
    "CustomSummary": statements.custom,
    "BalanceSheetDetail": partial(detail.general_ledger, title="Balance Sheet Detail", types=BALANCE_TYPES),
    "CheckDetail": partial(detail.forms, title="Check Detail", kinds={"Check", "BillPaymentCheck"}),
    "CustomerBalanceDetail": partial(
        detail.open_balance_detail, title="Customer Balance Detail", account_type=_AR, sign=1
    ),
    "VendorBalanceDetail": partial(
        detail.open_balance_detail, title="Vendor Balance Detail", account_type=_AP, sign=-1
    ),
    "DepositDetail": partial(detail.forms, title="Deposit Detail", kinds={"Deposit"}),
    "EstimatesByJob": partial(detail.orders, title="Estimates by Job", kind="Estimate", by="Customer"),
    "ExpenseByVendorDetail": partial(
        detail.by_key, title="Expenses by Vendor Detail", by="Vendor", types=_EXPENSES, sign=1
    ),
    "GeneralLedger": partial(detail.general_ledger, title="General Ledger"),
    "IncomeByCustomerDetail": partial(
        detail.by_key, title="Income by Customer Detail", by="Customer", types=set(INCOME_TYPES), sign=-1
    ),
    "InventoryValuationDetail": detail.stock_movements,
    "Journal": detail.journal,
    "MissingChecks": detail.missing_checks,
    "OpenInvoices": partial(detail.open_items, title="Open Invoices", sign=1),
    "OpenPOs": partial(detail.orders, title="Open Purchase Orders", kind="PurchaseOrder", by=""),
    "OpenPOsByJob": partial(detail.orders, title="Open Purchase Orders by Job", kind="PurchaseOrder", by="Customer"),
    "OpenSalesOrderByCustomer": partial(
        detail.orders, title="Open Sales Orders by Customer", kind="SalesOrder", by="Customer"
    ),
    "OpenSalesOrderByItem": partial(detail.orders, title="Open Sales Orders by Item", kind="SalesOrder", by="Item"),
    "PendingSales": partial(
        detail.forms, title="Pending Sales", kinds={"Invoice", "SalesReceipt", "CreditMemo"}, pending=True
    ),
    "ProfitAndLossDetail": partial(
        detail.general_ledger, title="Profit & Loss Detail", types=INCOME_TYPES, opening=False
    ),
    "PurchaseByItemDetail": partial(detail.purchases, title="Purchases by Item Detail", by="ItemDetail"),
    "PurchaseByVendorDetail": partial(detail.purchases, title="Purchases by Vendor Detail", by="Vendor"),
    "SalesByCustomerDetail": partial(
        detail.by_key,
        title="Sales by Customer Detail",
        by="Customer",
        types=summary.SALES_TYPES,
        sign=-1,
        forms=summary.SALES_KINDS,
    ),
    "SalesByItemDetail": partial(
        detail.by_key,
        title="Sales by Item Detail",
        by="ItemDetail",
        types=summary.SALES_TYPES,
        sign=-1,
        forms=summary.SALES_KINDS,
    ),
    "SalesByRepDetail": partial(
        detail.by_key,
        title="Sales by Rep Detail",
        by="SalesRep",
        types=summary.SALES_TYPES,
        sign=-1,
        forms=summary.SALES_KINDS,
    ),
    "TxnDetailByAccount": partial(detail.general_ledger, title="Transaction Detail by Account", opening=False),
    "TxnListByCustomer": partial(detail.transactions, title="Transaction List by Customer", kind="Customer"),
    "TxnListByDate": partial(detail.transactions, title="Transaction List by Date"),
    "TxnListByVendor": partial(detail.transactions, title="Transaction List by Vendor", kind="Vendor"),
    "UnbilledCostsByJob": detail.unbilled_costs,
    "UnpaidBillsDetail": partial(detail.open_items, title="Unpaid Bills Detail", sign=-1),
    "CustomTxnDetail": detail.custom,
    "1099Detail": taxes.form_1099_detail,
    "IncomeTaxDetail": taxes.income_tax_detail,
    "IncomeTaxSummary": taxes.income_tax_summary,
    "JobProgressInvoicesVsEstimates": detail.progress_invoices,
    "ItemEstimatesVsActuals": partial(jobs.estimates_and_actuals, title="Item Estimates vs. Actuals", by="ItemDetail"),
    "ItemProfitability": partial(jobs.profitability, title="Item Profitability", by="ItemDetail"),
    "JobEstimatesVsActualsDetail": partial(
        jobs.estimates_and_actuals, title="Job Estimates vs. Actuals Detail", by="ItemDetail"
    ),
    "JobEstimatesVsActualsSummary": partial(
        jobs.estimates_and_actuals, title="Job Estimates vs. Actuals Summary", by="Customer"
    ),
    "JobProfitabilityDetail": partial(jobs.profitability, title="Job Profitability Detail", by="ItemDetail"),
    "JobProfitabilitySummary": partial(jobs.profitability, title="Job Profitability Summary", by="Customer"),
    "TimeByItem": partial(jobs.hours, title="Time by Item", by=("ItemServiceRef", "CustomerRef")),
    "TimeByJobDetail": partial(jobs.hours, title="Time by Job Detail", by=("CustomerRef", "EntityRef")),
    "TimeByJobSummary": partial(jobs.hours, title="Time by Job Summary", by=("CustomerRef", "ItemServiceRef")),
    "TimeByName": partial(jobs.hours, title="Time by Name", by=("EntityRef", "CustomerRef")),
    "EmployeeEarningsSummary": _payroll("Employee Earnings Summary"),
    "EmployeeStateTaxesDetail": _payroll("Employee State Taxes Detail"),
    "PayrollItemDetail": _payroll("Payroll Item Detail"),
    "PayrollLiabilityBalances": _payroll("Payroll Liability Balances"),
    "PayrollReviewDetail": _payroll("Payroll Detail Review"),
    "PayrollSummary": _payroll("Payroll Summary"),
    "PayrollTransactionDetail": _payroll("Payroll Transaction Detail"),
    "PayrollTransactionsByPayee": _payroll("Payroll Transactions by Payee"),
}
"""The reports by type. The missing types need data that the simulated company does not have: budgets, several sites,
serial and lot numbers, an audit trail."""

_AS_OF = ("BalanceSheet", "TrialBalance", "CustomerBalance", "VendorBalance", "Open", "UnpaidBills")
"""The beginnings of the report types that show balances: without a date they include all transactions."""


def respond(context: Context) -> Response:
    """Answer a report request. Raises `RequestError` 3250 for a report that the simulated company cannot make."""
    name = context.name.replace("QueryRq", "Type")
    report_type = context.node.findtext(name, "")
    report = REPORTS.get(report_type)
    if report is None:
        raise RequestError(3250, f"{NOT_AVAILABLE}: the simulated QuickBooks has no report of the type {report_type}.")
    selection = Selection(context, _default_macro(context.name, report_type))
    table = report(selection)
    if table.basis == ACCRUAL:
        table.basis = selection.basis
    return Response(rows=[("ReportRet", table.fields())])


def _default_macro(request: str, report_type: str) -> str:
    if request == "AgingReportQueryRq":
        return "Today"
    return "All" if report_type.startswith(_AS_OF) else "ThisMonthToDate"


HANDLERS: dict[str, Callable[[Context], Response]] = dict.fromkeys(
    (
        "AgingReportQueryRq",
        "BudgetSummaryReportQueryRq",
        "CustomDetailReportQueryRq",
        "CustomSummaryReportQueryRq",
        "GeneralDetailReportQueryRq",
        "GeneralSummaryReportQueryRq",
        "JobReportQueryRq",
        "PayrollDetailReportQueryRq",
        "PayrollSummaryReportQueryRq",
        "TimeReportQueryRq",
    ),
    respond,
)
