"""The filters of single queries, and queries with computed rows."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.requests.facts import Product
from simulator.requests.shown import shown
from simulator.tests.support import a_company, ask


def query(company: Any, name: str, filters: str = "") -> Any:
    return ask(company, f"<{name}QueryRq>{filters}</{name}QueryRq>")[0]


def names(response: Any) -> list[str]:
    return [element.findtext("FullName") or element.findtext("Name", "") for element in response]


def add(company: Any, kind: str, content: str) -> Any:
    response = ask(company, f"<{kind}AddRq><{kind}Add>{content}</{kind}Add></{kind}AddRq>")[0]
    assert response.get("statusCode") == "0", response.get("statusMessage")
    return response[0]


def test_accounts_by_type() -> None:
    company = a_company()

    response = query(company, "Account", "<AccountType>Bank</AccountType><AccountType>Equity</AccountType>")

    assert {element.findtext("AccountType") for element in response} == {"Bank", "Equity"}


def test_a_query_returns_to_dos_that_are_not_done_by_default() -> None:
    company = a_company()
    for is_done in ("true", "false"):
        add(company, "ToDo", f"<Notes>{is_done}</Notes><IsDone>{is_done}</IsDone>")

    shown_notes = [
        [element.findtext("Notes") for element in query(company, "ToDo", filters)]
        for filters in (
            "",
            "<DoneStatus>NotDoneOnly</DoneStatus>",
            "<DoneStatus>DoneOnly</DoneStatus>",
            "<DoneStatus>All</DoneStatus>",
        )
    ]

    assert shown_notes == [["false"], ["false"], ["true"], ["true", "false"]]


def test_transactions_of_all_kinds_by_type_entity_account_and_date() -> None:
    company = a_company(customers=60)
    books = company.books
    invoice = next(iter(books["Invoice"]))
    customer = books.lists[invoice.fields["CustomerRef"]["ListID"]]

    def rows_of(filters: str) -> Any:
        return query(company, "Transaction", filters)

    types = "<TransactionTypeFilter><TxnTypeFilter>Invoice</TxnTypeFilter></TransactionTypeFilter>"
    entity = f"<TransactionEntityFilter><ListID>{customer.id}</ListID></TransactionEntityFilter>"
    day = invoice.fields["TxnDate"]
    dates = (
        f"<TransactionDateRangeFilter><FromTxnDate>{day}</FromTxnDate><ToTxnDate>{day}</ToTxnDate>"
        "</TransactionDateRangeFilter>"
    )
    assert len(rows_of("")) == len(books.transactions) - len(books["TimeTracking"]) - len(books["VehicleMileage"])
    assert {row.findtext("TxnType") for row in rows_of(types)} == {"Invoice"}
    assert {row.findtext("EntityRef/FullName") for row in rows_of(entity)} == {
        customer.full_name,
        None,  # a deposit: its lines name the customer
    }
    assert {row.findtext("TxnDate") for row in rows_of(dates)} == {day}
    assert {
        row.findtext("TxnType")
        for row in rows_of("<TransactionPostingStatusFilter>NonPosting</TransactionPostingStatusFilter>")
    } == {"Estimate", "PurchaseOrder", "SalesOrder"}
    receivable = (
        "<TransactionAccountFilter><AccountTypeFilter>AccountsReceivable</AccountTypeFilter></TransactionAccountFilter>"
    )
    assert {row.findtext("TxnType") for row in rows_of(receivable)} == {
        "Charge",
        "CreditMemo",
        "Invoice",
        "ReceivePayment",
    }
    assert [row.findtext("TxnID") for row in rows_of(f"<TxnID>{invoice.id}</TxnID>")] == [invoice.id]


def test_a_transaction_is_shown_as_a_summary_or_by_its_lines() -> None:
    company = a_company()
    invoice = next(iter(company.books["Invoice"]))
    number = f"<RefNumber>{invoice.fields['RefNumber']}</RefNumber>"
    lines = len(list(invoice.lines()))

    def rows(level: str) -> Any:
        return query(
            company, "Transaction", f"{number}<TransactionDetailLevelFilter>{level}</TransactionDetailLevelFilter>"
        )

    assert [row.findtext("TxnLineID") for row in rows("SummaryOnly")] == [None]
    assert all(row.findtext("TxnLineID") for row in rows("AllExceptSummary"))
    assert len(rows("AllExceptSummary")) >= lines
    assert len(rows("All")) == len(rows("AllExceptSummary")) + 1


def test_open_transactions_are_those_that_are_not_paid() -> None:
    company = a_company(customers=60)
    types = "<TransactionTypeFilter><TxnTypeFilter>Invoice</TxnTypeFilter></TransactionTypeFilter>"

    open_ids = {
        row.findtext("TxnID")
        for row in query(
            company, "Transaction", f"{types}<TransactionPaidStatusFilter>Open</TransactionPaidStatusFilter>"
        )
    }

    assert open_ids == {
        invoice.id for invoice in company.books["Invoice"] if shown(company.books, invoice)["IsPaid"] == "false"
    }


def test_an_iterator_of_a_computed_query_returns_its_pages() -> None:
    company = a_company(customers=60)
    first = ask(company, '<TransactionQueryRq iterator="Start"><MaxReturned>20</MaxReturned></TransactionQueryRq>')[0]

    second = ask(
        company,
        f'<TransactionQueryRq iterator="Continue" iteratorID="{first.get("iteratorID")}">'
        "<MaxReturned>20</MaxReturned></TransactionQueryRq>",
    )[0]

    ids = [row.findtext("TxnID") for row in [*first, *second]]
    assert len(set(ids)) == 40
    assert int(first.get("iteratorRemainingCount")) - 20 == int(second.get("iteratorRemainingCount"))


def test_the_open_bills_of_a_vendor_can_be_paid() -> None:
    company = a_company()
    vendor = add(company, "Vendor", "<Name>Maker</Name>").findtext("ListID")
    account = "<AccountRef><FullName>Office Supplies</FullName></AccountRef>"
    expense = f"<ExpenseLineAdd>{account}<Amount>{{}}</Amount></ExpenseLineAdd>"
    payee = f"<VendorRef><ListID>{vendor}</ListID></VendorRef>"
    add(company, "Bill", f"{payee}<RefNumber>B1</RefNumber>{expense.format('12.00')}")
    add(company, "VendorCredit", f"{payee}<RefNumber>C1</RefNumber>{expense.format('5.00')}")

    rows = query(company, "BillToPay", f"<PayeeEntityRef><ListID>{vendor}</ListID></PayeeEntityRef>")

    assert [row[0].findtext("RefNumber") for row in rows] == ["B1", "C1"]
    assert rows[0].findtext("BillToPay/AmountDue") == "12.00"
    assert rows[1].findtext("CreditToApply/CreditRemaining") == "5.00"


def test_payments_wait_in_undeposited_funds() -> None:
    company = a_company(customers=60)

    waiting = len(query(company, "ReceivePaymentToDeposit"))
    deposit = next(iter(company.books["Deposit"]))
    payments = {line["TxnID"] for _, line in deposit.lines()}

    ask(company, f"<TxnDelRq><TxnDelType>Deposit</TxnDelType><TxnID>{deposit.id}</TxnID></TxnDelRq>")
    rows = query(company, "ReceivePaymentToDeposit")

    assert len(rows) == waiting + len(payments)
    assert payments <= {row.findtext("TxnID") for row in rows}


def test_the_stock_of_each_item_is_shown() -> None:
    company = a_company()

    rows = query(company, "ItemSites", "<ItemTypeFilter>Inventory</ItemTypeFilter><ActiveStatus>All</ActiveStatus>")

    assert len(rows) == len(company.books["ItemInventory"])
    assert all(row.findtext("ItemInventoryRef/FullName") for row in rows)


@pytest.mark.parametrize(
    ("filters", "status"),
    [
        ("<TransactionEntityFilter><FullName>nobody</FullName></TransactionEntityFilter>", "500"),
        ("<CurrencyFilter><FullName>Euro</FullName></CurrencyFilter>", "3250"),
        (
            (
                "<TransactionDateRangeFilter><FromTxnDate>2026-02-01</FromTxnDate><ToTxnDate>2026-01-01</ToTxnDate>"
                "</TransactionDateRangeFilter>"
            ),
            "3030",
        ),
    ],
)
def test_an_impossible_filter_returns_its_status(filters: str, status: str) -> None:
    assert query(a_company(), "Transaction", filters).get("statusCode") == status


@pytest.mark.parametrize(
    ("country", "name", "status"),
    [
        ("US", "SalesTaxReturn", "3250"),
        ("CA", "SalesTaxReturn", "1"),
        ("US", "SalesTaxPayable", "1"),
        ("UK", "SalesTaxPayable", "3250"),
        ("CA", "WorkersCompCode", "3250"),
        ("US", "PayrollLastPeriod", "3250"),
    ],
)
def test_a_request_that_an_edition_does_not_have_is_refused(country: str, name: str, status: str) -> None:
    company = a_company(customers=5, sales_orders=0, product=Product(country=country))

    assert query(company, name).get("statusCode") == status
