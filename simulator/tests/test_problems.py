"""The inspection API reports violated rules of the books. Company files that were edited by hand can violate them."""

from __future__ import annotations

import pytest

from simulator import Company
from simulator.rules.problems import book_problems
from simulator.tests.bookkeeping import Bookkeeper


@pytest.fixture
def keeper() -> Bookkeeper:
    keeper = Bookkeeper()
    keeper.add("Bill", VendorRef="Supplier", ItemLineAdd=[{"ItemRef": "Hinge", "Quantity": 10, "Cost": "2"}])
    invoice = keeper.invoice()
    row = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": "60"}
    payment = keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="60", AppliedToTxnAdd=[row])
    line = {"PaymentTxnID": payment.findtext("TxnID")}
    keeper.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[line])
    assert book_problems(keeper.books) == []
    return keeper


def edit(keeper: Bookkeeper, kind: str, **fields: object) -> None:
    """Change a transaction as no request can."""
    record = next(iter(keeper.books[kind]))
    keeper.books.change(record, {**record.fields, **fields})


def test_the_shipped_company_has_no_problems() -> None:
    assert book_problems(Company.generated(customers=60).books) == []


def test_an_invoice_that_is_paid_by_more_than_its_amount_is_a_problem(keeper: Bookkeeper) -> None:
    line = {"TxnLineID": "1", "Amount": "50.00", "AccountRef": keeper.books.named("Sales", ("Account",)).reference()}  # type: ignore[union-attr]
    edit(keeper, "Invoice", TotalAmount="50.00", **{"InvoiceLineRet|InvoiceLineGroupRet": [["InvoiceLineRet", line]]})

    assert any("linked to others with 60.00" in problem for problem in book_problems(keeper.books))


def test_a_payment_for_an_invoice_of_another_customer_is_a_problem(keeper: Bookkeeper) -> None:
    bruno = keeper.books.named("Bruno", ("Customer",))
    assert bruno is not None
    edit(keeper, "Invoice", CustomerRef=bruno.reference())

    assert any("another customer" in problem for problem in book_problems(keeper.books))


def test_a_balance_of_receivables_without_a_customer_is_a_problem(keeper: Bookkeeper) -> None:
    keeper.add("Transfer", TransferFromAccountRef="Checking", TransferToAccountRef="Card", Amount="5.00")
    account = keeper.books.named("Accounts Receivable", ("Account",))
    assert account is not None
    edit(keeper, "Transfer", TransferToAccountRef=account.reference())

    assert book_problems(keeper.books) == [
        "The balance of Accounts Receivable is 45.00, but the balances of its customers add up to 40.00."
    ]


@pytest.mark.parametrize(
    ("line_ids", "problem"),
    [(("1", "1"), "fulfils the line 1 of an order 2 times."), (("2",), "which SalesOrder 1001 does not have.")],
)
def test_an_order_line_that_is_fulfilled_twice_or_unknown_is_a_problem(
    keeper: Bookkeeper, line_ids: tuple[str, ...], problem: str
) -> None:
    order = keeper.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=[{"ItemRef": "Work", "Quantity": 5}])
    txn_id = order.findtext("TxnID", "")
    key = "SalesOrderLineRet|SalesOrderLineGroupRet"
    line = {**next(iter(keeper.books["SalesOrder"])).fields[key][0][1], "TxnLineID": "1"}
    edit(keeper, "SalesOrder", **{key: [["SalesOrderLineRet", line]]})
    lines = [
        ["InvoiceLineRet", {"TxnLineID": str(place), "LinkToTxn": {"TxnID": txn_id, "TxnLineID": line_id}}]
        for place, line_id in enumerate(line_ids)
    ]
    invoice = next(iter(keeper.books["Invoice"]))
    before = invoice.fields["InvoiceLineRet|InvoiceLineGroupRet"]
    edit(keeper, "Invoice", **{"InvoiceLineRet|InvoiceLineGroupRet": [*before, *lines]})

    assert [message for message in book_problems(keeper.books) if problem in message]


def test_a_number_that_two_invoices_have_is_a_problem(keeper: Bookkeeper) -> None:
    keeper.invoice(RefNumber="1001")

    assert book_problems(keeper.books) == ["2 transactions have the number 1001 of the series Invoice."]


def test_a_check_number_that_a_bill_payment_has_too_is_a_problem(keeper: Bookkeeper) -> None:
    line = {"AccountRef": "Rent", "Amount": "1.00"}
    for _ in range(2):
        keeper.add("Check", AccountRef="Checking", RefNumber="77", ExpenseLineAdd=[line])

    assert book_problems(keeper.books) == ["2 transactions have the number 77 of the series Check of Checking."]


def test_a_journal_entry_to_the_asset_account_of_stock_is_a_problem(keeper: Bookkeeper) -> None:
    debit, credit = ({"AccountRef": account, "Amount": "5.00"} for account in ("Inventory Asset", "Rent"))
    keeper.add("JournalEntry", JournalDebitLine=debit, JournalCreditLine=credit)

    assert book_problems(keeper.books) == [
        "The balance of Inventory Asset is 25.00, but the stock in it is worth 20.00."
    ]
