"""Time, sales tax administration, and the accounts and facts of every file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulator import Company
from simulator.rules.problems import book_problems
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.support import a_company, ask
from simulator.tests.test_reports import ALL, report, rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@pytest.fixture
def keeper() -> Bookkeeper:
    keeper = Bookkeeper()
    keeper.add("Employee", FirstName="Eve")
    keeper.add("OtherName", Name="Otto")
    return keeper


def change(keeper: Bookkeeper, kind: str, record: Element, **content: Any) -> Element:
    """Send a Mod and return its Rs element."""
    key = "ListID" if record.find("ListID") is not None else "TxnID"
    identity = {name: record.findtext(name) for name in (key, "EditSequence")}
    return keeper.ask(f"{kind}ModRq", {f"{kind}Mod": {**identity, **content}})


# Time


@pytest.mark.parametrize(
    ("name", "status"), [("Eve", "0"), ("Supplier", "0"), ("Otto", "0"), ("Ada", "3210"), ("Ada:Kitchen", "3210")]
)
def test_time_is_of_everybody_but_customers(keeper: Bookkeeper, name: str, status: str) -> None:
    answer = keeper.try_to_add("TimeTracking", EntityRef=name, Duration="PT1H", CustomerRef="Ada")

    assert answer.get("statusCode") == status


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"CustomerRef": "Ada", "ItemServiceRef": "Work"}, "0"),
        ({"CustomerRef": "Ada"}, "3180"),
        ({"ItemServiceRef": "Work"}, "3180"),
        ({}, "3180"),
    ],
)
def test_billable_time_needs_a_customer_and_a_service(keeper: Bookkeeper, fields: dict[str, Any], status: str) -> None:
    answer = keeper.try_to_add("TimeTracking", EntityRef="Eve", Duration="PT1H", BillableStatus="Billable", **fields)
    record = keeper.add("TimeTracking", EntityRef="Eve", Duration="PT1H", **fields)

    assert answer.get("statusCode") == status
    again = {**{name: {"FullName": text} for name, text in fields.items()}, "Duration": "PT1H"}
    mod = change(keeper, "TimeTracking", record, EntityRef="Eve", **again, BillableStatus="Billable")
    assert mod.get("statusCode") == {"0": "0", "3180": "3170"}[status]


@pytest.mark.parametrize(
    ("duration", "kept"),
    [("PT1H30M15S", "PT1H30M"), ("PT1H30M", "PT1H30M"), ("PT8H", "PT8H"), ("PT2H59S", "PT2H"), ("PT59S", "PT0M")],
)
def test_seconds_of_a_duration_are_not_kept(keeper: Bookkeeper, duration: str, kept: str) -> None:
    assert keeper.add("TimeTracking", EntityRef="Eve", Duration=duration).findtext("Duration") == kept


@pytest.mark.parametrize(("name", "status"), [("Eve", "0"), ("Supplier", "3210")])
def test_only_employees_have_a_payroll_item(keeper: Bookkeeper, name: str, status: str) -> None:
    keeper.add("PayrollItemWage", Name="Hourly", WageType="HourlyRegular", ExpenseAccountRef="Rent")

    answer = keeper.try_to_add("TimeTracking", EntityRef=name, Duration="PT1H", PayrollItemWageRef="Hourly")

    assert answer.get("statusCode") == status


# Accounts


@pytest.mark.parametrize(
    ("account_type", "status"),
    [("Bank", "0"), ("Equity", "0"), ("AccountsReceivable", "3210"), ("AccountsPayable", "3210"), ("Income", "3210")],
)
def test_an_account_whose_balance_belongs_to_others_opens_without_one(
    keeper: Bookkeeper, account_type: str, status: str
) -> None:
    answer = keeper.try_to_add("Account", Name="New", AccountType=account_type, OpenBalance="5.00")

    assert answer.get("statusCode") == status
    assert book_problems(keeper.books) == []


def test_an_opening_balance_of_a_changed_account_is_noted(keeper: Bookkeeper) -> None:
    keeper.company.strict = True

    change(keeper, "Account", keeper.get("Checking", "Account"), OpenBalance="5.00")

    assert "changed_opening_balance" in keeper.company.simplifications
    assert keeper.balance("Checking") == 0


# Sales tax


@pytest.mark.parametrize(("used_by", "status"), [("nobody", "0"), ("a customer", "0"), ("an invoice", "3210")])
def test_a_tax_code_that_a_transaction_has_stays_taxable(keeper: Bookkeeper, used_by: str, status: str) -> None:
    keeper.add("SalesTaxCode", Name="Res", IsTaxable=True)
    if used_by == "a customer":
        keeper.add("Customer", Name="Reseller", SalesTaxCodeRef="Res")
    elif used_by == "an invoice":
        keeper.invoice(InvoiceLineAdd=[{"ItemRef": "Paint", "SalesTaxCodeRef": "Res"}])
    code = keeper.get("Res", "SalesTaxCode")

    answer = change(keeper, "SalesTaxCode", code, IsTaxable=False)

    assert answer.get("statusCode") == status
    code = keeper.get("Res", "SalesTaxCode")
    assert change(keeper, "SalesTaxCode", code, Desc="Resale").get("statusCode") == "0"


@pytest.mark.parametrize(("name", "is_taxable"), [("Tax", False), ("Non", True)])
def test_the_tax_codes_that_a_file_begins_with_stay_as_they_are(
    keeper: Bookkeeper, name: str, is_taxable: bool
) -> None:
    code = keeper.get(name, "SalesTaxCode")

    assert change(keeper, "SalesTaxCode", code, IsTaxable=is_taxable).get("statusCode") == "3210"


@pytest.mark.parametrize(("agency", "status"), [("Tax Agency", "0"), ("Supplier", "3210")])
def test_a_tax_is_paid_to_its_own_agency(keeper: Bookkeeper, agency: str, status: str) -> None:
    keeper.invoice(ItemSalesTaxRef="State", InvoiceLineAdd=[{"ItemRef": "Paint", "Rate": "100"}])
    bank = {"BankAccountRef": "Checking", "TxnDate": "2026-09-21", "IsToBePrinted": True}
    lines = [{"ItemSalesTaxRef": "State", "Amount": "6.00"}]

    answer = keeper.try_to_add("SalesTaxPaymentCheck", PayeeEntityRef=agency, **bank, SalesTaxPaymentCheckLineAdd=lines)

    assert answer.get("statusCode") == status
    assert keeper.balance("Sales Tax Payable") == (0 if status == "0" else 6)


# New files


def test_retained_earnings_exist_in_every_new_file_and_stay() -> None:
    company = a_company()
    account = ask(company, "<AccountQueryRq><FullName>Retained Earnings</FullName></AccountQueryRq>")[0][0]

    assert account.findtext("SpecialAccountType") == "RetainedEarnings"
    deletion = f"<ListDelRq><ListDelType>Account</ListDelType><ListID>{account.findtext('ListID')}</ListID></ListDelRq>"
    assert ask(company, deletion)[0].get("statusCode") == "3160"
    other = ask(company, "<AccountQueryRq><FullName>Owner's Capital</FullName></AccountQueryRq>")[0][0]
    merged = "".join(
        f"<{end}><ListID>{record.findtext('ListID')}</ListID><EditSequence>{record.findtext('EditSequence')}"
        f"</EditSequence></{end}>"
        for end, record in (("MergeFrom", account), ("MergeTo", other))
    )
    merge = ask(company, f"<ListMergeRq><ListMergeType>Account</ListMergeType>{merged}</ListMergeRq>")[0]
    assert merge.get("statusCode") == "3160"


def test_retained_earnings_have_the_name_of_their_account_on_the_balance_sheet(keeper: Bookkeeper) -> None:
    keeper.ask("SpecialAccountAddRq", {"SpecialAccountAdd": {"SpecialAccountType": "RetainedEarnings"}})
    change(keeper, "Account", keeper.get("Retained Earnings", "Account"), Name="Owners Equity")
    keeper.invoice(TxnDate="2025-03-01", InvoiceLineAdd=[{"ItemRef": "Work", "Rate": "70"}])
    debit = {"AccountRef": "Checking", "Amount": "5.00"}
    keeper.add(
        "JournalEntry",
        TxnDate="2026-01-02",
        JournalDebitLine=debit,
        JournalCreditLine={"AccountRef": "Owners Equity", "Amount": "5.00"},
    )

    days = "<FromReportDate>2026-01-01</FromReportDate><ToReportDate>2026-12-31</ToReportDate>"
    this_year = f"<ReportPeriod>{days}</ReportPeriod>"
    for request in ("BalanceSheetStandard", "TrialBalance"):
        table = rows(report(keeper, "GeneralSummaryReport", request, this_year))
        assert "75.00" in table["Owners Equity"]
        assert "Retained Earnings" not in table
    assert "Owners Equity" in rows(report(keeper, "GeneralSummaryReport", "BalanceSheetStandard", ALL))


def test_a_new_file_has_the_services_and_addresses_of_a_captured_one() -> None:
    company = ask(Company.empty(), "<CompanyQueryRq/>")[0][0]

    services = company.findall("SubscribedServices/Service")
    assert len(services) == 16
    assert {service.findtext("ServiceStatus") for service in services} == {"Never"}
    assert company.findtext("LegalAddress/Country") == company.findtext("Address/Country") == "US"


def test_undeposited_funds_are_in_no_part_of_the_cash_flow() -> None:
    classes = {
        account.findtext("FullName"): account.findtext("CashFlowClassification")
        for account in ask(Company.empty(), "<AccountQueryRq/>")[0]
    }

    assert [classes[name] for name in ("Undeposited Funds", "Checking", "Inventory Asset", "Retained Earnings")] == [
        "NotApplicable",
        "NotApplicable",
        "Operating",
        "Financing",
    ]


def test_what_a_customer_owes_at_the_start_can_be_corrected(keeper: Bookkeeper) -> None:
    """Intuit, "Fix a customer's opening balance": on the invoice, change the amount."""
    keeper.company.strict = True
    keeper.add("Customer", Name="Olivia", OpenBalance="250.00", OpenBalanceDate="2026-01-01")
    invoice = keeper.ask("InvoiceQueryRq", "<IncludeLineItems>true</IncludeLineItems>")[0]

    line = {"TxnLineID": invoice.findtext("InvoiceLineRet/TxnLineID"), "Amount": "300.00"}
    change(keeper, "Invoice", invoice, InvoiceLineMod=line)

    assert keeper.balance_of("Olivia") == 300
    assert "opening_balance_forms" in keeper.company.simplifications
