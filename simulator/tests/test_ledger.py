"""Postings of purchases, banking and journals, and the books as a whole after any sequence of requests."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.tests.bookkeeping import Bookkeeper, amounts

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@pytest.fixture
def keeper() -> Bookkeeper:
    return Bookkeeper()


def bill(keeper: Bookkeeper, **fields: Any) -> Element:
    return keeper.add(
        "Bill",
        VendorRef="Supplier",
        ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "300.00"}],
        ItemLineAdd=[{"ItemRef": "Hinge", "Quantity": 10}],
        **fields,
    )


def test_a_bill_is_open_until_it_is_paid(keeper: Bookkeeper) -> None:
    new_bill = bill(keeper, TxnDate="2026-05-01")
    assert (
        new_bill.findtext("AmountDue"),
        new_bill.findtext("OpenAmount"),
        new_bill.findtext("IsPaid"),
    ) == (
        "320.00",
        "320.00",
        "false",
    )
    assert new_bill.findtext("DueDate") == "2026-05-31"
    assert keeper.get("Supplier", "Vendor").findtext("Balance") == "320.00"
    assert keeper.balance("Inventory Asset") == Decimal(20)
    credit = keeper.add(
        "VendorCredit", VendorRef="Supplier", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "50.00"}]
    )

    application = {
        "TxnID": new_bill.findtext("TxnID"),
        "PaymentAmount": "260.00",
        "SetCredit": [{"CreditTxnID": credit.findtext("TxnID"), "AppliedAmount": "50.00"}],
        "DiscountAmount": "10.00",
        "DiscountAccountRef": "Discounts",
    }
    payment = keeper.add(
        "BillPaymentCheck",
        PayeeEntityRef="Supplier",
        BankAccountRef="Checking",
        IsToBePrinted=True,
        AppliedToTxnAdd=[application],
    )

    assert payment.findtext("Amount") == "260.00"
    assert (keeper.get(new_bill).findtext("IsPaid"), keeper.get(credit).findtext("OpenAmount")) == ("true", "0.00")
    assert keeper.get("Supplier", "Vendor").findtext("Balance") == "0.00"
    assert keeper.balance("Checking") == Decimal(-260)


def test_a_bill_cannot_be_paid_twice(keeper: Bookkeeper) -> None:
    application = {"TxnID": bill(keeper).findtext("TxnID")}
    content = {
        "PayeeEntityRef": "Supplier",
        "CreditCardAccountRef": "Card",
        "AppliedToTxnAdd": [{**application, "PaymentAmount": "320.00"}],
    }

    keeper.add("BillPaymentCreditCard", **content)

    assert keeper.refusal("BillPaymentCreditCard", **content)[0] == "3120"
    assert keeper.balance("Card") == Decimal(320)


def test_a_bill_without_terms_is_due_after_ten_days(keeper: Bookkeeper) -> None:
    bill_without_terms = keeper.add(
        "Bill", VendorRef="Tax Agency", TxnDate="2026-02-27", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "1.00"}]
    )

    assert bill_without_terms.findtext("DueDate") == "2026-03-09"


def test_checks_and_card_charges_credit_the_account_that_pays(keeper: Bookkeeper) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "12.00"}, {"AccountRef": "Shrinkage", "Amount": "3.00"}]

    check = keeper.add("Check", AccountRef="Checking", PayeeEntityRef="Supplier", ExpenseLineAdd=lines)
    keeper.add("CreditCardCharge", AccountRef="Card", ExpenseLineAdd=lines)
    keeper.add("CreditCardCredit", AccountRef="Card", ExpenseLineAdd=lines[:1])

    assert (check.findtext("Amount"), check.findtext("RefNumber")) == ("15.00", "1")
    assert amounts(check) == ["12.00", "3.00"]
    assert (keeper.balance("Checking"), keeper.balance("Card"), keeper.balance("Rent")) == (
        Decimal(-15),
        Decimal(3),
        Decimal(12),
    )
    assert keeper.refusal("Check", AccountRef="Card", ExpenseLineAdd=lines)[0] == "3210"


def test_a_check_refunds_the_credit_of_a_customer(keeper: Bookkeeper) -> None:
    payment = keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="40.00", IsAutoApply=True)
    application = [{"TxnID": payment.findtext("TxnID"), "Amount": "40.00"}]
    lines = [{"AccountRef": "Accounts Receivable", "Amount": "40.00", "CustomerRef": "Ada"}]

    keeper.add(
        "Check", AccountRef="Checking", PayeeEntityRef="Ada", ApplyCheckToTxnAdd=application, ExpenseLineAdd=lines
    )

    assert keeper.balance_of("Ada") == 0
    assert keeper.get(payment).findtext("UnusedPayment") == "0.00"


def test_a_journal_entry_must_balance(keeper: Bookkeeper) -> None:
    keeper.invoice()
    debit = {"AccountRef": "Rent", "Amount": "10.00"}

    entry = keeper.add(
        "JournalEntry",
        JournalDebitLine=[debit, {"AccountRef": "Accounts Receivable", "Amount": "5.00", "EntityRef": "Ada"}],
        JournalCreditLine=[{"AccountRef": "Checking", "Amount": "15.00"}],
    )

    assert len(entry.findall("JournalDebitLine")) == 2
    assert keeper.balance_of("Ada") == Decimal(105)
    code, message = keeper.refusal(
        "JournalEntry", JournalDebitLine=[debit], JournalCreditLine=[{"AccountRef": "Checking", "Amount": "9.99"}]
    )
    assert code == "3180"
    assert "its debits must equal its credits" in message
    nobody = [{"AccountRef": "Accounts Receivable", "Amount": "10.00"}]
    assert keeper.refusal("JournalEntry", JournalDebitLine=[debit], JournalCreditLine=nobody)[0] == "3180"


def test_a_journal_entry_to_receivables_can_be_paid(keeper: Bookkeeper) -> None:
    keeper.invoice()
    entry = keeper.add(
        "JournalEntry",
        JournalDebitLine=[{"AccountRef": "Accounts Receivable", "Amount": "5.00", "EntityRef": "Bruno"}],
        JournalCreditLine=[{"AccountRef": "Sales", "Amount": "5.00"}],
    )
    application = [{"TxnID": entry.findtext("TxnID"), "PaymentAmount": "5.00"}]

    keeper.add("ReceivePayment", CustomerRef="Bruno", TotalAmount="5.00", AppliedToTxnAdd=application)

    assert keeper.balance_of("Bruno") == 0


def test_a_deposit_takes_a_payment_out_of_undeposited_funds_once(keeper: Bookkeeper) -> None:
    payment = keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="40.00", IsAutoApply=True)
    line = {"PaymentTxnID": payment.findtext("TxnID"), "PaymentTxnLineID": "1"}
    sale = {"EntityRef": "Bruno", "AccountRef": "Sales", "Amount": "9.00"}

    deposit = keeper.add(
        "Deposit",
        DepositToAccountRef="Checking",
        CashBackInfoAdd={"AccountRef": "Shrinkage", "Amount": "4.00"},
        DepositLineAdd=[line, sale],
    )

    assert deposit.findtext("DepositTotal") == "45.00"
    assert deposit.findtext("DepositLineRet/TxnType") == "ReceivePayment"
    assert (keeper.balance("Undeposited Funds"), keeper.balance("Checking")) == (Decimal(0), Decimal(45))
    assert keeper.refusal("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[line])[0] == "3210"
    assert keeper.delete(payment).get("statusCode") == "3160"
    keeper.delete(deposit)
    assert keeper.delete(payment).get("statusCode") == "0"


def test_a_deposit_shows_the_first_eleven_characters_of_a_payments_number(keeper: Bookkeeper) -> None:
    payment = keeper.add(
        "ReceivePayment", CustomerRef="Ada", RefNumber="CHECK-2026-0001", TotalAmount="40.00", IsAutoApply=True
    )
    line = {"PaymentTxnID": payment.findtext("TxnID"), "PaymentTxnLineID": "1"}

    deposit = keeper.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[line])

    assert deposit.findtext("DepositLineRet/CheckNumber") == "CHECK-2026-"


def test_a_transfer_moves_money(keeper: Bookkeeper) -> None:
    transfer = keeper.add("Transfer", TransferFromAccountRef="Checking", TransferToAccountRef="Card", Amount="7.00")

    assert (transfer.findtext("FromAccountBalance"), transfer.findtext("ToAccountBalance")) == ("-7.00", "7.00")
    same = keeper.refusal("Transfer", TransferFromAccountRef="Card", TransferToAccountRef="Card", Amount="7.00")
    assert same[0] == "3210"
    assert "must differ" in same[1]
    assert keeper.refusal("Transfer", TransferFromAccountRef="Card", TransferToAccountRef="Checking")[0] == "3150"


def test_sales_tax_is_paid_to_its_agency(keeper: Bookkeeper) -> None:
    keeper.invoice(ItemSalesTaxRef="State", InvoiceLineAdd=[{"ItemRef": "Paint", "Quantity": 8}])
    assert keeper.balance("Sales Tax Payable") == Decimal(6)

    keeper.add(
        "SalesTaxPaymentCheck",
        PayeeEntityRef="Tax Agency",
        TxnDate="2026-05-01",
        BankAccountRef="Checking",
        IsToBePrinted=True,
        SalesTaxPaymentCheckLineAdd=[{"ItemSalesTaxRef": "State", "Amount": "6.00"}],
    )

    assert keeper.balance("Sales Tax Payable") == 0


def test_opening_balances_are_transactions(keeper: Bookkeeper) -> None:
    keeper.add("Account", Name="Savings", AccountType="Bank", OpenBalance="500.00", OpenBalanceDate="2026-01-01")
    keeper.add("Account", Name="Loan", AccountType="LongTermLiability", OpenBalance="200.00")
    keeper.add("Vendor", Name="Landlord", OpenBalance="80.00")
    keeper.add("Customer", Name="Carla", OpenBalance="30.00")

    assert (keeper.balance("Savings"), keeper.balance("Loan")) == (Decimal(500), Decimal(200))
    assert keeper.balance("Opening Balance Equity") == Decimal(300)
    assert keeper.get("Landlord", "Vendor").findtext("Balance") == "80.00"
    assert keeper.balance_of("Carla") == Decimal(30)


def test_a_company_without_accounts_gets_those_that_a_transaction_needs(keeper: Bookkeeper) -> None:
    assert keeper.books.named("Accounts Payable", ("Account",)) is None

    bill(keeper)

    assert keeper.get("Accounts Payable", "Account").findtext("SpecialAccountType") == "AccountsPayable"
