"""Reports: their sums are those of the books, and their layout is that of QuickBooks."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.reports import HANDLERS, REPORTS
from simulator.reports.selection import Period
from simulator.schema import schema
from simulator.schema.model import Simple
from simulator.tests.bookkeeping import Bookkeeper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ALL = "<ReportDateMacro>All</ReportDateMacro>"


@pytest.fixture
def keeper() -> Bookkeeper:
    """Return a company with sales, purchases, payments, stock, an estimate, an order and a journal entry."""
    keeper = Bookkeeper()
    keeper.add(
        "Bill",
        VendorRef="Supplier",
        TxnDate="2026-07-10",
        ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "300.00"}],
        ItemLineAdd=[{"ItemRef": "Hinge", "Quantity": 10}],
    )
    old = keeper.invoice(
        TxnDate="2026-07-15", ItemSalesTaxRef="State", InvoiceLineAdd=[{"ItemRef": "Paint", "Quantity": 8}]
    )
    keeper.invoice("Ada:Kitchen", TxnDate="2026-08-20", InvoiceLineAdd=[{"ItemRef": "Hinge", "Quantity": 4}])
    keeper.invoice("Bruno", TxnDate="2026-09-20")
    application = {"TxnID": old.findtext("TxnID"), "PaymentAmount": "50.00"}
    keeper.add("ReceivePayment", CustomerRef="Ada", TxnDate="2026-09-01", AppliedToTxnAdd=[application])
    keeper.add("Estimate", CustomerRef="Ada", EstimateLineAdd=[{"ItemRef": "Door", "Quantity": 2}])
    keeper.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=[{"ItemRef": "Door", "Quantity": 2}])
    keeper.add("PurchaseOrder", VendorRef="Supplier", PurchaseOrderLineAdd=[{"ItemRef": "Door", "Quantity": 5}])
    keeper.add(
        "JournalEntry",
        TxnDate="2025-12-31",
        JournalDebitLine=[{"AccountRef": "Checking", "Amount": "70.00"}],
        JournalCreditLine=[{"AccountRef": "Sales", "Amount": "70.00"}],
    )
    keeper.add("Check", AccountRef="Checking", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "1.00"}])
    keeper.add("TimeTracking", EntityRef="Supplier", CustomerRef="Ada", ItemServiceRef="Work", Duration="PT1H30M")
    return keeper


def report(keeper: Bookkeeper, request: str, kind: str, more: str = ALL) -> Element:
    response = keeper.ask(f"{request}QueryRq", f"<{request}Type>{kind}</{request}Type>{more}")
    assert response.get("statusCode") == "0", response.get("statusMessage")
    return response[0]


def rows(table: Element) -> dict[str, list[str]]:
    """Return the cells of each row by its label, without the label."""
    cells_by_label = {}
    for row in table.find("ReportData") or ():
        cells = {cell.get("colID"): cell.get("value", "") for cell in row.iter("ColData")}
        if cells:
            label = cells.pop("1", "")
            cells_by_label[label] = list(cells.values())
    return cells_by_label


def summary(keeper: Bookkeeper, kind: str, more: str = ALL) -> dict[str, list[str]]:
    return rows(report(keeper, "GeneralSummaryReport", kind, more))


def test_profit_and_loss_adds_up(keeper: Bookkeeper) -> None:
    table = summary(keeper, "ProfitAndLossStandard")

    assert table["Sales"] == ["290.00"]
    assert table["Total COGS"] == ["8.00"]
    assert table["Gross Profit"] == ["282.00"]
    assert table["Rent"] == ["301.00"]
    assert table["Net Income"] == ["-19.00"]


def test_columns_divide_a_summary_by_month_and_by_customer(keeper: Bookkeeper) -> None:
    days = "<FromReportDate>2026-07-01</FromReportDate><ToReportDate>2026-09-30</ToReportDate>"
    period = f"<ReportPeriod>{days}</ReportPeriod>"

    table = report(
        keeper,
        "GeneralSummaryReport",
        "ProfitAndLossStandard",
        f"{period}<SummarizeColumnsBy>Month</SummarizeColumnsBy>",
    )

    assert table.findtext("ReportSubtitle") == "July through September 2026"
    titles = [title.get("value") for title in table.iter("ColTitle")]
    assert titles == [None, "Jul 26", "Aug 26", "Sep 26", "TOTAL"]
    assert rows(table)["Sales"] == ["100.00", "20.00", "100.00", "220.00"]
    by_job = report(keeper, "GeneralSummaryReport", "ProfitAndLossByJob", period)
    assert rows(by_job)["Sales"] == ["100.00", "20.00", "100.00", "220.00"]


@pytest.mark.parametrize("more", [ALL, f"{ALL}<SummarizeColumnsBy>Quarter</SummarizeColumnsBy>"])
@pytest.mark.parametrize("kind", ["BalanceSheetStandard", "BalanceSheetSummary", "BalanceSheetByClass"])
def test_assets_equal_liabilities_and_equity(keeper: Bookkeeper, kind: str, more: str) -> None:
    table = summary(keeper, kind, more)

    assert table["TOTAL ASSETS"] == table["TOTAL LIABILITIES & EQUITY"]
    assert Decimal(table["TOTAL ASSETS"][-1]) == Decimal("307.00")


def test_former_years_are_retained_earnings(keeper: Bookkeeper) -> None:
    table = summary(keeper, "BalanceSheetStandard", "<ReportDateMacro>ThisYear</ReportDateMacro>")

    assert (table["Retained Earnings"], table["Net Income"]) == (["70.00"], ["-89.00"])


def test_the_trial_balance_balances(keeper: Bookkeeper) -> None:
    table = summary(keeper, "TrialBalance")

    assert table["TOTAL"][0] == table["TOTAL"][1]
    assert table["Inventory Asset"] == ["12.00"]


def test_balances_of_customers_and_vendors_are_those_of_the_lists(keeper: Bookkeeper) -> None:
    customers = summary(keeper, "CustomerBalanceSummary")

    assert customers["Ada - Other"] == ["56.00"]
    assert customers["Total Ada"] == ["76.00"]
    assert customers["TOTAL"] == ["176.00"]
    assert summary(keeper, "VendorBalanceSummary")["TOTAL"] == ["320.00"]


def test_ageing_sorts_open_amounts_by_days_overdue(keeper: Bookkeeper) -> None:
    table = rows(report(keeper, "AgingReport", "ARAgingSummary", "<ReportDateMacro>Today</ReportDateMacro>"))
    assert table["Ada - Other"] == ["0.00", "0.00", "56.00", "0.00", "0.00", "56.00"]
    assert table["TOTAL"] == ["0.00", "100.00", "76.00", "0.00", "0.00", "176.00"]

    before = "<ReportPeriod><ToReportDate>2026-08-31</ToReportDate></ReportPeriod>"
    assert rows(report(keeper, "AgingReport", "ARAgingSummary", before))["TOTAL"][-1] == "126.00"


def test_sales_and_purchases_by_item(keeper: Bookkeeper) -> None:
    sales = summary(keeper, "SalesByItemSummary")
    assert sales["Hinge"] == ["4", "20.00", "9.09", "5.00", "8.00", "2.00", "12.00", "60.00"]
    assert sales["TOTAL"][1] == "220.00"
    assert summary(keeper, "PurchaseByItemSummary")["Hinge"] == ["10", "20.00"]
    assert summary(keeper, "InventoryValuationSummary")["Hinge"][:3] == ["6", "2.00", "12.00"]


def test_the_stock_status_shows_quantities_on_hand_on_order_and_sold(keeper: Bookkeeper) -> None:
    keeper.add(
        "ItemInventory",
        Name="Brass",
        ParentRef="Hinge",
        IncomeAccountRef="Sales",
        COGSAccountRef="Cost of Goods Sold",
        AssetAccountRef="Inventory Asset",
        ReorderPoint=4,
        QuantityOnHand=3,
    )
    days = "<FromReportDate>2026-08-17</FromReportDate><ToReportDate>2026-08-30</ToReportDate>"

    table = report(
        keeper, "GeneralSummaryReport", "InventoryStockStatusByItem", f"<ReportPeriod>{days}</ReportPeriod>"
    )  # fmt: skip

    kinds = [column.text for column in table.iter("ColType")]
    assert kinds[4:] == ["QuantityOnHand", "SuggestedReorder", "QuantityOnOrder", "EarliestReceiptDate", "SalesPerWeek"]
    assert [(row.tag, row.get("value")) for row in table.iter("TextRow")] == [
        ("TextRow", "Inventory"),
        ("TextRow", "Hinge"),
    ]
    cells_by_label = rows(table)
    assert cells_by_label["Door"] == ["Door", "0", "false", "5", "2026-09-21", "0"]
    assert cells_by_label["Brass"] == ["4", "3", "true", "0", "0"]
    assert cells_by_label["Hinge - Other"] == ["Hinge", "6", "false", "0", "2"]
    assert cells_by_label["Total Hinge"] == ["9", "0", "2"]


def test_sales_tax_by_agency(keeper: Bookkeeper) -> None:
    assert summary(keeper, "SalesTaxLiability")["State"] == ["100.00", "6.00", "6.00", "6.00"]


def test_the_general_ledger_has_opening_and_closing_balances(keeper: Bookkeeper) -> None:
    year = "<ReportDateMacro>ThisYear</ReportDateMacro>"
    table = rows(report(keeper, "GeneralDetailReport", "GeneralLedger", year))

    assert table["Total Checking"][-1] == "69.00"


def test_filters_choose_postings(keeper: Bookkeeper) -> None:
    entity = f"{ALL}<ReportEntityFilter><FullNameWithChildren>Ada</FullNameWithChildren></ReportEntityFilter>"
    assert summary(keeper, "SalesByCustomerSummary", entity)["TOTAL"] == ["120.00"]
    item = f"{ALL}<ReportItemFilter><FullName>Paint</FullName></ReportItemFilter>"
    assert summary(keeper, "SalesByCustomerSummary", item)["TOTAL"] == ["100.00"]
    kinds = f"{ALL}<ReportTxnTypeFilter><TxnTypeFilter>JournalEntry</TxnTypeFilter></ReportTxnTypeFilter>"
    assert summary(keeper, "ProfitAndLossStandard", kinds)["Net Income"] == ["70.00"]
    account = f"{ALL}<ReportAccountFilter><AccountTypeFilter>OrdinaryExpense</AccountTypeFilter></ReportAccountFilter>"
    assert summary(keeper, "ProfitAndLossStandard", account)["Net Income"] == ["-301.00"]
    unknown = f"{ALL}<ReportItemFilter><FullName>Nothing</FullName></ReportItemFilter>"
    content = f"<GeneralSummaryReportType>TrialBalance</GeneralSummaryReportType>{unknown}"
    assert keeper.ask("GeneralSummaryReportQueryRq", content).get("statusCode") == "3140"


def test_the_request_chooses_the_columns_of_a_detail_report(keeper: Bookkeeper) -> None:
    columns = "".join(f"<IncludeColumn>{name}</IncludeColumn>" for name in ("TxnType", "Debit", "TxnID"))

    table = report(
        keeper, "CustomDetailReport", "CustomTxnDetail", f"{ALL}<SummarizeRowsBy>Account</SummarizeRowsBy>{columns}"
    )

    assert [element.text for element in table.iter("ColType")] == ["Label", "TxnType", "Debit", "TxnID"]


def test_estimates_are_compared_with_actuals(keeper: Bookkeeper) -> None:
    table = rows(report(keeper, "JobReport", "JobEstimatesVsActualsSummary"))

    assert table["Ada"] == ["80.00", "0.00", "-80.00", "200.00", "100.00", "-100.00"]
    assert rows(report(keeper, "JobReport", "JobProfitabilitySummary"))["Ada:Kitchen"] == ["8.00", "20.00", "12.00"]


def test_time_is_added_up_by_job(keeper: Bookkeeper) -> None:
    assert rows(report(keeper, "TimeReport", "TimeByJobSummary"))["Total Ada"] == ["PT1H30M0S"]


def _every_type() -> list[Any]:
    every = []
    for request in HANDLERS:
        name = request.removesuffix("QueryRq")
        kind = schema().requests[request].content[f"{name}Type"].type
        assert isinstance(kind, Simple)
        every += [pytest.param(name, value, id=value) for value in kind.values if value]
    return every


@pytest.mark.parametrize(("request_name", "kind"), _every_type())
def test_every_type_is_computed_or_refused(keeper: Bookkeeper, request_name: str, kind: str) -> None:
    more = "<FiscalYear>2026</FiscalYear>" if request_name.startswith("Budget") else ""
    if request_name == "CustomSummaryReport":
        more = "<SummarizeColumnsBy>Month</SummarizeColumnsBy><SummarizeRowsBy>Customer</SummarizeRowsBy>"
    if request_name == "CustomDetailReport":
        more = "<SummarizeRowsBy>Customer</SummarizeRowsBy><IncludeColumn>Amount</IncludeColumn>"

    response = keeper.ask(f"{request_name}QueryRq", f"<{request_name}Type>{kind}</{request_name}Type>{more}")

    if kind not in REPORTS:
        assert (response.get("statusCode"), len(response)) == ("3250", 0)
        return
    table = response[0]
    assert response.get("statusCode") == "0"
    data = table.find("ReportData")
    assert table.findtext("NumRows") == str(0 if data is None else len(data))
    assert table.findtext("NumColumns") == str(len(table.findall("ColDesc")))
    order = list(schema().responses[f"{request_name}QueryRs"].content["ReportRet"].content.elements)
    assert [order.index(child.tag) for child in table] == sorted(order.index(child.tag) for child in table)


def cash(keeper: Bookkeeper, kind: str, until: str = "") -> dict[str, list[str]]:
    """Return the rows of a summary report on a cash basis, until a day or for all dates."""
    period = f"<ReportPeriod><ToReportDate>{until}</ToReportDate></ReportPeriod>" if until else ALL
    table = report(keeper, "GeneralSummaryReport", kind, f"{period}<ReportBasis>Cash</ReportBasis>")
    assert table.findtext("ReportBasis") == "Cash"
    return rows(table)


def test_on_a_cash_basis_income_counts_on_the_day_of_its_payment() -> None:
    keeper = Bookkeeper()
    invoice = keeper.invoice(TxnDate="2026-03-01")
    for day, amount in (("2026-04-10", "30.00"), ("2026-05-10", "70.00")):
        application = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": amount}
        keeper.add("ReceivePayment", CustomerRef="Ada", TxnDate=day, TotalAmount=amount, AppliedToTxnAdd=[application])

    assert cash(keeper, "ProfitAndLossStandard", "2026-03-31")["Net Income"] == ["0.00"]
    assert cash(keeper, "ProfitAndLossStandard", "2026-04-30")["Net Income"] == ["30.00"]
    assert cash(keeper, "ProfitAndLossStandard", "2026-05-31")["Net Income"] == ["100.00"]


def test_on_a_cash_basis_an_expense_counts_when_its_bill_is_paid() -> None:
    keeper = Bookkeeper()
    bill = keeper.add(
        "Bill", VendorRef="Supplier", TxnDate="2026-03-01", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "90.00"}]
    )
    keeper.add(
        "BillPaymentCheck",
        PayeeEntityRef="Supplier",
        TxnDate="2026-04-01",
        BankAccountRef="Checking",
        IsToBePrinted=True,
        AppliedToTxnAdd=[{"TxnID": bill.findtext("TxnID"), "PaymentAmount": "30.00"}],
    )

    assert cash(keeper, "ProfitAndLossStandard", "2026-03-31")["Net Income"] == ["0.00"]
    assert cash(keeper, "ProfitAndLossStandard")["Net Income"] == ["-30.00"]


def test_on_a_cash_basis_a_credit_memo_reverses_only_the_settled_amount() -> None:
    keeper = Bookkeeper()
    invoice = keeper.invoice(TxnDate="2026-03-01")
    credit = keeper.add(
        "CreditMemo", CustomerRef="Ada", TxnDate="2026-03-02", CreditMemoLineAdd=[{"ItemRef": "Work", "Rate": "40"}]
    )
    setting = {"CreditTxnID": credit.findtext("TxnID"), "AppliedAmount": "25.00"}
    application = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": "10.00", "SetCredit": [setting]}
    keeper.add(
        "ReceivePayment", CustomerRef="Ada", TxnDate="2026-04-01", TotalAmount="10.00", AppliedToTxnAdd=[application]
    )

    assert cash(keeper, "ProfitAndLossStandard")["Net Income"] == ["10.00"]


def test_on_a_cash_basis_stock_and_tax_keep_their_dates(keeper: Bookkeeper) -> None:
    accrual = rows(report(keeper, "GeneralSummaryReport", "BalanceSheetStandard"))
    sheet = cash(keeper, "BalanceSheetStandard")

    assert sheet["Inventory Asset"] == accrual["Inventory Asset"]
    assert sheet["TOTAL ASSETS"] == sheet["TOTAL LIABILITIES & EQUITY"] != accrual["TOTAL ASSETS"]


def test_a_report_of_open_amounts_is_the_same_on_a_cash_basis(keeper: Bookkeeper) -> None:
    accrual = report(keeper, "GeneralDetailReport", "OpenInvoices")
    table = report(keeper, "GeneralDetailReport", "OpenInvoices", f"{ALL}<ReportBasis>Cash</ReportBasis>")

    assert table.findtext("ReportBasis") == "Accrual"
    assert rows(table) == rows(accrual)


def test_the_income_tax_reports_add_up_by_tax_line(keeper: Bookkeeper) -> None:
    keeper.add("Account", Name="Fuel", AccountType="Expense", TaxLineID="8")
    keeper.add("Check", AccountRef="Checking", ExpenseLineAdd=[{"AccountRef": "Fuel", "Amount": "12.00"}])
    line = keeper.get("Fuel", "Account").findtext("TaxLineInfoRet/TaxLineName") or ""

    summary = rows(report(keeper, "GeneralSummaryReport", "IncomeTaxSummary"))
    detail = rows(report(keeper, "GeneralDetailReport", "IncomeTaxDetail"))

    assert summary[line] == ["12.00"]
    assert detail[f"Total {line}"][-1] == "12.00"
    assert "Tax Line Unassigned (income/expense)" in summary


def test_the_1099_report_shows_payments_to_vendors_from_the_accounts_of_its_boxes(keeper: Bookkeeper) -> None:
    keeper.add("Vendor", Name="Builder", IsVendorEligibleFor1099=True)
    box = {"MappingCategory": "BOX1", "MappingAccount": [{"AccountRef": "Rent"}]}
    content = {"Form1099CategoryAccountMappingMod": {"CategoryAccountMappingMod": [box]}}
    assert keeper.ask("Form1099CategoryAccountMappingModRq", content).get("statusCode") == "0"
    line = {"AccountRef": "Rent", "Amount": "80.00"}
    keeper.add("Bill", VendorRef="Builder", ExpenseLineAdd=[line])
    keeper.add("Check", AccountRef="Checking", PayeeEntityRef="Builder", ExpenseLineAdd=[line | {"Amount": "30.00"}])

    table = report(keeper, "GeneralDetailReport", "1099Detail")

    assert table.findtext("ReportBasis") == "Cash"
    assert rows(table)["Total Builder"][-1] == "30.00"


def test_progress_invoices_are_compared_with_their_estimate() -> None:
    keeper = Bookkeeper()
    lines = [{"ItemRef": "Work", "Quantity": "4", "Rate": "50"}]
    estimate = keeper.add("Estimate", CustomerRef="Ada", EstimateLineAdd=lines)
    invoice = keeper.add("Invoice", CustomerRef="Ada", LinkToTxnID=[estimate.findtext("TxnID")])
    identity = {name: invoice.findtext(name) for name in ("TxnID", "EditSequence")}
    line = {"TxnLineID": invoice.findtext("InvoiceLineRet/TxnLineID"), "Quantity": "1"}
    keeper.ask("InvoiceModRq", {"InvoiceMod": {**identity, "InvoiceLineMod": [line]}})

    table = rows(report(keeper, "GeneralDetailReport", "JobProgressInvoicesVsEstimates"))

    assert table["Total Ada"] == ["200.00", "50.00"]


CHART = ["Checking", "Accounts Receivable", "Inventory Asset", "Accounts Payable", "Sales Tax Payable", "Sales", "Rent"]
"""Accounts of the fixture in the order of types: assets, liabilities, income, expenses."""


def headings(table: Element) -> list[str]:
    """Return the rows of text."""
    return [row.get("value", "") for row in table.iter("TextRow")]


def test_accounts_are_in_the_order_of_the_chart_of_accounts(keeper: Bookkeeper) -> None:
    trial_balance = list(summary(keeper, "TrialBalance"))
    ledger = headings(report(keeper, "GeneralDetailReport", "GeneralLedger"))
    by_account = report(
        keeper,
        "CustomDetailReport",
        "CustomTxnDetail",
        f"{ALL}<SummarizeRowsBy>Account</SummarizeRowsBy><IncludeColumn>Amount</IncludeColumn>",
    )

    for names in (trial_balance, ledger, headings(by_account)):
        assert [name for name in names if name in CHART] == CHART


def test_retained_earnings_stand_among_equity_once_with_and_without_an_account_for_them(keeper: Bookkeeper) -> None:
    this_year = "<ReportDateMacro>ThisYear</ReportDateMacro>"
    keeper.add("Account", Name="Capital", AccountType="Equity")
    keeper.add("Account", Name="Shares", AccountType="Equity")
    for credit in ("Capital", "Shares"):
        keeper.add(
            "JournalEntry",
            JournalDebitLine=[{"AccountRef": "Checking", "Amount": "5.00"}],
            JournalCreditLine=[{"AccountRef": credit, "Amount": "5.00"}],
        )

    for _ in range(2):
        names = list(summary(keeper, "TrialBalance", this_year))
        start = names.index("Capital")
        assert names[start : start + 4] == ["Capital", "Retained Earnings", "Shares", "Sales"]
        assert summary(keeper, "TrialBalance", this_year)["Retained Earnings"] == ["70.00"]
        sheet = report(keeper, "GeneralSummaryReport", "BalanceSheetStandard", this_year)
        assert [cell.get("value") for cell in sheet.iter("ColData")].count("Retained Earnings") == 1
        assert rows(sheet)["TOTAL ASSETS"] == rows(sheet)["TOTAL LIABILITIES & EQUITY"]
        keeper.ask(
            "SpecialAccountAddRq",
            "<SpecialAccountAdd><SpecialAccountType>RetainedEarnings</SpecialAccountType></SpecialAccountAdd>",
        )


def test_sales_tax_and_payments_are_not_sales_of_an_item(keeper: Bookkeeper) -> None:
    sales = summary(keeper, "SalesByItemSummary")

    assert set(sales) == {"Hinge", "Paint", "Work", "TOTAL"}
    assert sales["Paint"][:3] == ["8", "100.00", "45.45"]


def test_ageing_details_are_in_the_order_of_days(keeper: Bookkeeper) -> None:
    table = report(keeper, "AgingReport", "ARAgingDetail", "<ReportDateMacro>Today</ReportDateMacro>")

    assert headings(table) == ["1 - 30", "31 - 60"]
    due_later = keeper.invoice("Bruno", TxnDate="2026-09-20", TermsRef="Net 30")
    assert due_later.findtext("DueDate") == "2026-10-20"
    table = report(keeper, "AgingReport", "ARAgingDetail", "<ReportDateMacro>Today</ReportDateMacro>")
    assert headings(table) == ["Current", "1 - 30", "31 - 60"]


def titles(table: Element) -> list[str]:
    return [title.get("value", "") for title in table.iter("ColTitle")]


def test_the_valuation_of_the_stock_has_asset_and_retail_value_with_their_shares(keeper: Bookkeeper) -> None:
    keeper.add("Bill", VendorRef="Supplier", TxnDate="2026-09-01", ItemLineAdd=[{"ItemRef": "Door", "Quantity": 1}])

    table = report(keeper, "GeneralSummaryReport", "InventoryValuationSummary")

    assert titles(table)[1:] == [
        "Item Description",
        "On Hand",
        "Avg Cost",
        "Asset Value",
        "% of Tot Asset",
        "Sales Price",
        "Retail Value",
        "% of Tot Retail",
    ]
    # 6 hinges at 2.00 and 1 door at 40.00; sold at 5.00 and 100.00
    assert rows(table)["Hinge"] == ["6", "2.00", "12.00", "23.08", "5.00", "30.00", "23.08"]
    assert rows(table)["Door"] == ["1", "40.00", "40.00", "76.92", "100.00", "100.00", "76.92"]
    assert rows(table)["TOTAL"] == ["7", "52.00", "100.00", "130.00", "100.00"]
    before = "<ReportPeriod><ToReportDate>2026-08-01</ToReportDate></ReportPeriod>"
    assert summary(keeper, "InventoryValuationSummary", before)["Hinge"][:3] == ["10", "2.00", "20.00"]


def test_the_details_of_the_valuation_show_the_stock_after_each_movement(keeper: Bookkeeper) -> None:
    keeper.add(
        "Bill",
        VendorRef="Supplier",
        TxnDate="2026-08-25",
        ItemLineAdd=[{"ItemRef": "Hinge", "Quantity": 6, "Cost": "4"}],
    )

    table = report(keeper, "GeneralDetailReport", "InventoryValuationDetail")

    assert titles(table)[5:] == ["Qty", "Cost", "On Hand", "Avg Cost", "Asset Value"]
    found = [[cell.get("value") for cell in row.iter("ColData")][-5:] for row in table.iter("DataRow")]
    assert found == [
        ["10", "20.00", "10", "2.00", "20.00"],
        ["1002", "-4", "6", "2.00", "12.00"],
        ["6", "24.00", "12", "3.00", "36.00"],
    ]
    assert rows(table)["Total Hinge"] == ["12", "12", "36.00"]
    since = "<ReportPeriod><FromReportDate>2026-08-21</FromReportDate></ReportPeriod>"
    later = report(keeper, "GeneralDetailReport", "InventoryValuationDetail", since)
    assert [cell.get("value") for cell in next(later.iter("DataRow"))][-3:] == ["12", "3.00", "36.00"]


def test_every_percentage_has_decimals(keeper: Bookkeeper) -> None:
    for kind in ("SalesByItemSummary", "InventoryValuationSummary", "SalesTaxLiability"):
        table = report(keeper, "GeneralSummaryReport", kind)
        columns = {column.get("colID") for column in table.iter("ColDesc") if column.get("dataType") == "PERCENTTYPE"}
        values = [cell.get("value", "") for cell in table.iter("ColData") if cell.get("colID") in columns]
        assert values
        assert all(len(value.partition(".")[2]) == 2 for value in values), (kind, values)


@pytest.mark.parametrize(
    ("first", "last", "subtitle", "column"),
    [
        ("2026-01-01", "2026-01-01", "January 1, 2026", "Jan 1, 26"),
        ("2026-01-01", "2026-01-31", "January 2026", "Jan 26"),
        ("2026-01-01", "2026-01-15", "January 1 - 15, 2026", "Jan 1 - 15, 26"),
        ("2026-01-01", "2026-12-31", "January through December 2026", "Jan - Dec 26"),
        ("2026-01-01", "2026-03-15", "January 1 through March 15, 2026", "Jan 1 - Mar 15, 26"),
        ("2025-12-01", "2026-01-31", "December 2025 through January 2026", "Dec 25 - Jan 26"),
        ("2025-12-02", "2026-01-15", "December 2, 2025 through January 15, 2026", "Dec 2, 25 - Jan 15, 26"),
        ("2026-02-01", "9999-12-31", "February 1, 2026 through December 31, 9999", "TOTAL"),
    ],
)
def test_the_titles_of_a_period(first: str, last: str, subtitle: str, column: str) -> None:
    period = Period(first, last)

    assert (period.title(), period.column_title()) == (subtitle, column)


def test_an_empty_period_is_the_fiscal_year_to_date(keeper: Bookkeeper) -> None:
    table = report(keeper, "GeneralSummaryReport", "ProfitAndLossStandard", "<ReportPeriod></ReportPeriod>")

    assert table.findtext("ReportSubtitle") == "January 1 through September 21, 2026"


def test_a_comparison_has_the_change_in_percent(keeper: Bookkeeper) -> None:
    for day, rate in (("2025-03-01", "40"), ("2026-03-01", "50")):
        keeper.invoice(TxnDate=day, InvoiceLineAdd=[{"ItemRef": "Work", "Rate": rate}])
    keeper.add(
        "Check", AccountRef="Checking", TxnDate="2026-03-02", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "5.00"}]
    )
    dates = "<FromReportDate>2026-03-01</FromReportDate><ToReportDate>2026-03-31</ToReportDate>"
    period = f"<ReportPeriod>{dates}</ReportPeriod>"

    table = report(keeper, "GeneralSummaryReport", "ProfitAndLossPrevYearComp", period)

    kinds = [column.findtext("ColType") for column in table.findall("ColDesc")]
    titles = [column.find("ColTitle").get("value") for column in table.findall("ColDesc")]  # type: ignore[union-attr]
    assert (kinds[-2:], titles[1:]) == (
        ["AmountDifference", "PercentChange"],
        ["Mar 26", "Mar 25", "$ Change", "% Change"],
    )
    assert rows(table)["Total Income"] == ["50.00", "40.00", "10.00", "25.00"]
    assert rows(table)["Rent"] == ["5.00", "0.00", "5.00", "100.00"]


CHOICES = ("NonZero", "ActiveOnly", "All")
"""Each shows what the ones before show, and more."""


def _chosen(keeper: Bookkeeper, kind: str, by: str, option: str) -> list[Element]:
    """Return a report of two years with each choice of rows or columns."""
    days = "<FromReportDate>2025-01-01</FromReportDate><ToReportDate>2026-12-31</ToReportDate>"
    start = f"<ReportPeriod>{days}</ReportPeriod><SummarizeColumnsBy>{by}</SummarizeColumnsBy>"
    return [report(keeper, "GeneralSummaryReport", kind, f"{start}<{option}>{choice}</{option}>") for choice in CHOICES]


@pytest.fixture
def idle_keeper(keeper: Bookkeeper) -> Bookkeeper:
    """Return a company with a customer and an account whose amounts add up to nothing, and others without any."""
    keeper.add("Customer", Name="Cleo")
    keeper.invoice("Cleo", TxnDate="2026-02-01", InvoiceLineAdd=[{"ItemRef": "Work", "Rate": "5"}])
    keeper.add(
        "CreditMemo", CustomerRef="Cleo", TxnDate="2026-02-01", CreditMemoLineAdd=[{"ItemRef": "Work", "Rate": "5"}]
    )
    for line in ("JournalDebitLine", "JournalCreditLine"):
        other = "JournalCreditLine" if line == "JournalDebitLine" else "JournalDebitLine"
        sides = {
            line: [{"AccountRef": "Shrinkage", "Amount": "3.00"}],
            other: [{"AccountRef": "Rent", "Amount": "3.00"}],
        }
        keeper.add("JournalEntry", TxnDate="2026-02-01", **sides)
    return keeper


@pytest.mark.parametrize("by", ["TotalOnly", "Month", "Customer"])
@pytest.mark.parametrize(
    ("kind", "idle"),
    [
        ("ProfitAndLossStandard", ("Shrinkage", "Discounts")),
        ("BalanceSheetStandard", ("", "Card")),
        ("SalesByCustomerSummary", ("Cleo", "")),
        ("TrialBalance", ("Shrinkage", "Card")),
    ],
)
def test_return_rows_chooses_rows_and_changes_no_sum(
    idle_keeper: Bookkeeper, kind: str, idle: tuple[str, str], by: str
) -> None:
    tables = [rows(table) for table in _chosen(idle_keeper, kind, by, "ReturnRows")]

    for fewer, more in itertools.pairwise(tables):
        assert fewer.items() <= more.items()
    settled, unused = idle
    assert not settled or [settled in table for table in tables] == [False, True, True]
    assert not unused or [unused in table for table in tables] == [False, False, True]


@pytest.mark.parametrize("kind", ["ProfitAndLossStandard", "BalanceSheetStandard", "SalesByCustomerSummary"])
@pytest.mark.parametrize(("by", "idle"), [("Month", "Jan 25"), ("Customer", "Ada:Bath"), ("Vendor", "Idle")])
def test_return_columns_chooses_columns_and_changes_no_sum(
    idle_keeper: Bookkeeper, kind: str, by: str, idle: str
) -> None:
    idle_keeper.add("Customer", Name="Bath", ParentRef="Ada")
    idle_keeper.add("Vendor", Name="Idle")
    tables = _chosen(idle_keeper, kind, by, "ReturnColumns")
    columns = [{title.get("value") for title in table.iter("ColTitle")} for table in tables]

    assert columns[0] <= columns[1] <= columns[2]
    is_balance = kind == "BalanceSheetStandard" and by == "Month"  # These columns have the days of balances as titles.
    assert is_balance or [idle in titles for titles in columns] == [False, False, True]
    last = [{label: cells[-1] for label, cells in rows(table).items()} for table in tables]
    assert last[0] == last[1] == last[2]


def test_a_column_covers_a_period_without_transactions(keeper: Bookkeeper) -> None:
    days = "<FromReportDate>2026-10-15</FromReportDate><ToReportDate>2027-03-31</ToReportDate>"
    period = f"<ReportPeriod>{days}</ReportPeriod><SummarizeColumnsBy>Quarter</SummarizeColumnsBy>"

    flow = report(keeper, "GeneralSummaryReport", "ProfitAndLossStandard", period)
    balances = report(keeper, "GeneralSummaryReport", "BalanceSheetStandard", period)

    titles = [[title.get("value") for title in table.iter("ColTitle")] for table in (flow, balances)]
    assert titles == [[None, "Oct 15 - Dec 31, 26", "Jan - Mar 27", "TOTAL"], [None, "Dec 31, 26", "Mar 31, 27"]]


def test_a_purchase_has_an_item(keeper: Bookkeeper) -> None:
    assert summary(keeper, "PurchaseByVendorSummary")["Supplier"] == ["20.00"]
