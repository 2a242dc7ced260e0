"""Links stay possible: no change leaves a transaction that is settled by more than its amount or by a foreign credit.

The expected values were computed by hand.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.books.ledger import SETTLES, ZERO
from simulator.rules.problems import book_problems
from simulator.tests.bookkeeping import Bookkeeper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class Clerk(Bookkeeper):
    """A bookkeeper who invoices work, receives payments and changes both."""

    def bill(self, amount: str = "100", vendor: str = "Supplier") -> Element:
        return self.add("Bill", VendorRef=vendor, ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": amount}])

    def vendor_credit(self, amount: str, vendor: str = "Supplier") -> Element:
        return self.add("VendorCredit", VendorRef=vendor, ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": amount}])

    def credit(self, amount: str, customer: str = "Ada") -> Element:
        return self.add("CreditMemo", CustomerRef=customer, CreditMemoLineAdd=[{"ItemRef": "Work", "Rate": amount}])

    def pay(self, invoice: Element | None, total: str, applied: str = "", customer: str = "Ada") -> Element:
        rows = [] if invoice is None else [{"TxnID": key(invoice), "PaymentAmount": applied or total}]
        return self.add("ReceivePayment", CustomerRef=customer, TotalAmount=total, AppliedToTxnAdd=rows)

    def apply(self, credit: Element, invoice: Element, amount: str, customer: str = "Ada") -> Element:
        """Apply a credit to an invoice without a payment, and return the Rs element."""
        row = {"TxnID": key(invoice), "SetCredit": {"CreditTxnID": key(credit), "AppliedAmount": amount}}
        return self.try_to_add("ReceivePayment", CustomerRef=customer, TotalAmount="0.00", AppliedToTxnAdd=[row])

    def pay_bill(self, bill: Element, amount: str, **row: Any) -> Element:
        applied = {"TxnID": key(bill), "PaymentAmount": amount, **row}
        bank = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Checking", "IsToBePrinted": True}
        return self.add("BillPaymentCheck", **bank, AppliedToTxnAdd=[applied])

    def deposit(self, payment: Element) -> Element:
        return self.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[{"PaymentTxnID": key(payment)}])

    def journal(self, debit: dict[str, Any], credit: dict[str, Any], amount: str) -> Element:
        lines = {"JournalDebitLine": {**debit, "Amount": amount}, "JournalCreditLine": {**credit, "Amount": amount}}
        content = {
            name: {field: line[field] for field in ("AccountRef", "Amount", "EntityRef") if field in line}
            for name, line in lines.items()
        }
        return self.add("JournalEntry", **content)

    def change(self, record: Element, **content: Any) -> str | None:
        """Send a Mod and return its status."""
        now = self.get(record)
        kind = now.tag.removesuffix("Ret")
        identity = {"TxnID": key(now), "EditSequence": now.findtext("EditSequence")}
        return self.ask(f"{kind}ModRq", {f"{kind}Mod": {**identity, **content}}).get("statusCode")

    def change_rate(self, record: Element, rate: str) -> str | None:
        """Change the rate of the only line."""
        line = next(element for element in self.get(record) if element.tag.endswith("LineRet"))
        name = line.tag.removesuffix("Ret") + "Mod"
        field = "Rate" if line.find("Rate") is not None else "Amount"
        return self.change(record, **{name: {"TxnLineID": line.findtext("TxnLineID"), field: rate}})

    def void(self, record: Element) -> str | None:
        kind = record.tag.removesuffix("Ret")
        return self.ask("TxnVoidRq", {"TxnVoidType": kind, "TxnID": key(record)}).get("statusCode")

    def open_amount(self, record: Element) -> str | None:
        now = self.get(record)
        names = ("BalanceRemaining", "OpenAmount", "UnusedPayment", "CreditRemaining")
        return next((text for name in names if (text := now.findtext(name)) is not None), None)

    def applied(self, payment: Element) -> list[tuple[str | None, str | None]]:
        """Return the transaction and the amount of each application of a payment."""
        rows = self.get(payment).iter("AppliedToTxnRet")
        return [(row.findtext("TxnID"), row.findtext("Amount")) for row in rows]


def key(record: Element) -> str:
    return record.findtext("TxnID", "")


@pytest.fixture
def clerk() -> Clerk:
    return Clerk()


def check_laws(clerk: Clerk) -> None:
    """Check that no link is impossible: by amount, sign, party or account."""
    books, ledger = clerk.books, clerk.books.ledger
    for record in books.transactions.values():
        assert ledger.open_amount(record.id) >= 0, record
        applied = ZERO
        for link in ledger.links(record.id):
            source, target = books.transactions.get(link.source), books.transactions.get(link.target)
            if link.kind == SETTLES and not record.is_void:
                assert source is not None
                assert target is not None
                assert ledger.due(link.source) * ledger.due(link.target) < 0
                applied += link.amount + link.discount
        assert applied <= abs(ledger.due(record.id))


# Changes of settled transactions


def test_an_invoice_cannot_become_less_than_what_was_paid(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    payment = clerk.pay(invoice, "60")

    assert clerk.change_rate(invoice, "50") == "3210"
    assert (clerk.open_amount(invoice), clerk.applied(payment)) == ("40.00", [(key(invoice), "60.00")])
    assert clerk.change_rate(invoice, "60") == "0"
    assert clerk.open_amount(invoice) == "0.00"
    assert clerk.change_rate(invoice, "75") == "0"
    assert clerk.open_amount(invoice) == "15.00"


def test_a_bill_cannot_become_less_than_what_was_paid(clerk: Clerk) -> None:
    bill = clerk.bill("100")
    clerk.pay_bill(bill, "80")

    line = {"TxnLineID": bill.findtext("ExpenseLineRet/TxnLineID"), "Amount": "79.99"}
    assert clerk.change(bill, ExpenseLineMod=line) == "3210"
    assert clerk.open_amount(bill) == "20.00"


def test_a_credit_cannot_become_less_than_what_was_applied(clerk: Clerk) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30")
    assert clerk.apply(credit, invoice, "30").get("statusCode") == "0"

    assert clerk.change_rate(credit, "29") == "3210"
    assert clerk.change_rate(credit, "31") == "0"
    assert clerk.open_amount(credit) == "1.00"


def test_a_paid_invoice_cannot_move_to_another_customer(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    clerk.pay(invoice, "60")

    assert clerk.change(invoice, CustomerRef={"FullName": "Bruno"}) == "3210"
    assert clerk.get(invoice).findtext("CustomerRef/FullName") == "Ada"


def test_a_paid_invoice_can_move_to_a_job_of_its_customer(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    clerk.pay(invoice, "60")

    assert clerk.change(invoice, CustomerRef={"FullName": "Ada:Kitchen"}) == "0"


def test_an_unpaid_invoice_can_move_to_another_customer(clerk: Clerk) -> None:
    assert clerk.change(clerk.invoice(), CustomerRef={"FullName": "Bruno"}) == "0"


def test_a_paid_invoice_cannot_move_to_another_receivables_account(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    clerk.add("Account", Name="Other receivables", AccountType="AccountsReceivable")
    clerk.pay(invoice, "60")

    assert clerk.change(invoice, ARAccountRef={"FullName": "Other receivables"}) == "3210"


def test_a_payment_cannot_become_less_than_what_it_settles(clerk: Clerk) -> None:
    first, second = clerk.invoice(), clerk.invoice()
    payment = clerk.pay(first, "100", "40")
    assert clerk.apply(payment, second, "50").get("statusCode") == "0"

    assert clerk.change(payment, TotalAmount="89.99") == "3210"
    assert clerk.change(payment, TotalAmount="90.00") == "0"
    assert clerk.open_amount(payment) == "0.00"


def test_one_credit_cannot_be_used_twice_in_a_payment(clerk: Clerk) -> None:
    first, second, credit = clerk.invoice(), clerk.invoice(), clerk.credit("50")
    use = {"CreditTxnID": key(credit), "AppliedAmount": "30"}
    rows = [{"TxnID": key(invoice), "PaymentAmount": "10", "SetCredit": use} for invoice in (first, second)]

    assert clerk.refusal("ReceivePayment", CustomerRef="Ada", TotalAmount="20", AppliedToTxnAdd=rows)[0] == "3210"


def test_the_amount_of_a_deposited_payment_cannot_change(clerk: Clerk) -> None:
    payment = clerk.pay(clerk.invoice(), "60")
    deposit = clerk.deposit(payment)

    assert clerk.change(payment, TotalAmount="70") == "3210"
    assert clerk.change(payment, DepositToAccountRef={"FullName": "Checking"}) == "3210"
    assert clerk.change(payment, Memo="Thank you") == "0"
    clerk.delete(deposit)
    assert clerk.change(payment, TotalAmount="70") == "0"


def test_the_amount_of_a_deposited_sales_receipt_cannot_change(clerk: Clerk) -> None:
    receipt = clerk.add("SalesReceipt", CustomerRef="Ada", SalesReceiptLineAdd=[{"ItemRef": "Work", "Rate": "10"}])
    clerk.deposit(receipt)

    assert clerk.change_rate(receipt, "11") == "3210"


def test_a_sales_receipt_is_deposited_whole_even_if_stock_is_in_undeposited_funds(clerk: Clerk) -> None:
    clerk.pay(clerk.invoice(), "60")
    accounts = {"IncomeAccountRef": "Sales", "COGSAccountRef": "Cost of Goods Sold"}
    clerk.add("ItemInventory", Name="Coin", PurchaseCost="3", AssetAccountRef="Undeposited Funds", **accounts)
    line = {"ItemRef": "Coin", "Quantity": 1, "Rate": "10"}
    receipt = clerk.add("SalesReceipt", CustomerRef="Ada", SalesReceiptLineAdd=[line])

    deposit = clerk.deposit(receipt)

    assert deposit.findtext("DepositTotal") == "10.00"
    assert clerk.change(receipt, Memo="Paid in cash") == "0"


def test_a_deposited_payment_is_not_deleted(clerk: Clerk) -> None:
    payment = clerk.pay(clerk.invoice(), "60")
    clerk.deposit(payment)

    assert clerk.delete(payment).get("statusCode") == "3160"


# Voided and deleted transactions


@pytest.mark.parametrize("end", ["void", "delete"])
def test_a_part_paid_invoice_releases_its_payment(clerk: Clerk, end: str) -> None:
    first, second = clerk.invoice(), clerk.invoice()
    rows = [{"TxnID": key(first), "PaymentAmount": "60"}, {"TxnID": key(second), "PaymentAmount": "25"}]
    payment = clerk.add("ReceivePayment", CustomerRef="Ada", TotalAmount="100", AppliedToTxnAdd=rows)
    assert clerk.open_amount(payment) == "15.00"

    getattr(clerk, end)(first)

    assert clerk.applied(payment) == [(key(second), "25.00")]
    assert (clerk.open_amount(payment), clerk.open_amount(second)) == ("75.00", "75.00")
    assert clerk.balance_of("Ada") == 0
    check_laws(clerk)


def test_a_void_invoice_releases_a_discount(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    row = {"TxnID": key(invoice), "PaymentAmount": "90", "DiscountAmount": "10", "DiscountAccountRef": "Discounts"}
    payment = clerk.add("ReceivePayment", CustomerRef="Ada", TotalAmount="90", AppliedToTxnAdd=[row])
    assert clerk.open_amount(invoice) == "0.00"

    clerk.void(invoice)

    assert clerk.open_amount(payment) == "90.00"
    assert (clerk.balance("Discounts"), clerk.balance_of("Ada")) == (Decimal(0), Decimal(-90))


@pytest.mark.parametrize("end", ["void", "delete"])
def test_a_bill_releases_its_payment(clerk: Clerk, end: str) -> None:
    bill = clerk.bill("100")
    payment = clerk.pay_bill(bill, "80")

    getattr(clerk, end)(bill)

    assert clerk.applied(payment) == []
    assert clerk.get("Supplier", "Vendor").findtext("Balance") == "-80.00"
    check_laws(clerk)


@pytest.mark.parametrize("end", ["void", "delete"])
def test_a_credit_releases_the_invoice(clerk: Clerk, end: str) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30")
    clerk.apply(credit, invoice, "30")
    assert clerk.open_amount(invoice) == "70.00"

    getattr(clerk, end)(credit)

    assert clerk.open_amount(invoice) == "100.00"
    assert clerk.change_rate(invoice, "1") == "0"


def test_a_refunded_credit_that_is_deleted_leaves_a_refund_without_a_credit(clerk: Clerk) -> None:
    credit = clerk.credit("30")
    row = {"TxnID": key(credit), "RefundAmount": "20"}
    funds = {"CustomerRef": "Ada", "RefundFromAccountRef": "Checking"}
    clerk.add("ARRefundCreditCard", **funds, RefundAppliedToTxnAdd=[row])

    clerk.delete(credit)

    assert clerk.balance_of("Ada") == Decimal(20)
    check_laws(clerk)


# Credits without a payment


def test_a_credit_alone_settles_the_invoice_without_a_payment(clerk: Clerk) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30")

    response = clerk.apply(credit, invoice, "30")

    assert response.get("statusCode") == "0"
    assert response.findtext("ReceivePaymentRet/AppliedToTxnRet/BalanceRemaining") == "70.00"
    assert (clerk.open_amount(invoice), clerk.open_amount(credit)) == ("70.00", "0.00")
    assert clerk.ask("ReceivePaymentQueryRq").get("statusCode") == "1"
    assert clerk.balance_of("Ada") == Decimal(70)
    linked = clerk.ask("InvoiceQueryRq", f"<TxnID>{key(invoice)}</TxnID><IncludeLinkedTxns>true</IncludeLinkedTxns>")
    assert linked[0].findtext("LinkedTxn/TxnType") == "CreditMemo"


def test_two_credits_alone_settle_two_invoices(clerk: Clerk) -> None:
    invoices, credits_ = [clerk.invoice(), clerk.invoice()], [clerk.credit("30"), clerk.credit("45")]
    rows = [
        {"TxnID": key(invoice), "SetCredit": {"CreditTxnID": key(credit), "AppliedAmount": amount}}
        for invoice, credit, amount in zip(invoices, credits_, ("30", "40"), strict=True)
    ]
    clerk.add("ReceivePayment", CustomerRef="Ada", TotalAmount="0", AppliedToTxnAdd=rows)

    assert [clerk.open_amount(record) for record in (*invoices, *credits_)] == ["70.00", "60.00", "0.00", "5.00"]


def test_a_vendor_credit_alone_settles_the_bill_without_a_check(clerk: Clerk) -> None:
    bill, credit = clerk.bill("100"), clerk.vendor_credit("100")

    clerk.pay_bill(bill, "0", SetCredit={"CreditTxnID": key(credit), "AppliedAmount": "100"})

    assert (clerk.open_amount(bill), clerk.get(bill).findtext("IsPaid")) == ("0.00", "true")
    assert clerk.ask("BillPaymentCheckQueryRq").get("statusCode") == "1"
    assert clerk.balance("Checking") == 0


def test_an_invoice_keeps_a_credit_when_it_changes(clerk: Clerk) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30")
    clerk.apply(credit, invoice, "30")

    assert clerk.change(invoice, Memo="Second floor") == "0"
    assert clerk.open_amount(invoice) == "70.00"
    assert clerk.change_rate(invoice, "29") == "3210"


def test_a_payment_with_a_credit_stays_a_payment(clerk: Clerk) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30")
    use = {"CreditTxnID": key(credit), "AppliedAmount": "30"}
    row = {"TxnID": key(invoice), "PaymentAmount": "70", "SetCredit": use}
    clerk.add("ReceivePayment", CustomerRef="Ada", TotalAmount="70", AppliedToTxnAdd=[row])

    assert clerk.open_amount(invoice) == "0.00"
    assert clerk.ask("ReceivePaymentQueryRq").get("statusCode") == "0"


# Credits of other transactions


def test_a_journal_entry_that_credits_receivables_settles_an_invoice(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    receivable = {"AccountRef": "Accounts Receivable", "EntityRef": "Ada"}
    entry = clerk.journal({"AccountRef": "Rent"}, receivable, "25")

    assert clerk.apply(entry, invoice, "26").get("statusCode") == "3210"
    assert clerk.apply(entry, invoice, "25").get("statusCode") == "0"
    assert clerk.open_amount(invoice) == "75.00"
    assert clerk.balance_of("Ada") == Decimal(75)


def test_a_journal_entry_that_debits_receivables_is_not_a_credit(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    receivable = {"AccountRef": "Accounts Receivable", "EntityRef": "Ada"}
    entry = clerk.journal(receivable, {"AccountRef": "Sales"}, "25")

    assert clerk.apply(entry, invoice, "25").get("statusCode") == "3210"


def test_a_payment_settles_a_check_to_receivables(clerk: Clerk) -> None:
    clerk.invoice()
    line = {"AccountRef": "Accounts Receivable", "Amount": "40", "CustomerRef": "Ada"}
    check = clerk.add("Check", AccountRef="Checking", PayeeEntityRef="Ada", ExpenseLineAdd=[line])

    payment = clerk.pay(check, "40")

    assert clerk.applied(payment) == [(key(check), "40.00")]
    assert (clerk.open_amount(payment), clerk.balance_of("Ada")) == ("0.00", Decimal(100))


def test_a_credit_of_another_customer_is_refused(clerk: Clerk) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30", "Bruno")

    assert clerk.apply(credit, invoice, "30").get("statusCode") == "3210"
    assert clerk.open_amount(credit) == "30.00"


def test_a_credit_of_a_job_settles_an_invoice_of_its_customer(clerk: Clerk) -> None:
    invoice, credit = clerk.invoice(), clerk.credit("30", "Ada:Kitchen")

    assert clerk.apply(credit, invoice, "30").get("statusCode") == "0"


def test_a_credit_in_another_receivables_account_is_refused(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    clerk.add("Account", Name="Other receivables", AccountType="AccountsReceivable")
    line = {"ItemRef": "Work", "Rate": "30"}
    other = clerk.add("CreditMemo", CustomerRef="Ada", ARAccountRef="Other receivables", CreditMemoLineAdd=[line])

    assert clerk.apply(other, invoice, "30").get("statusCode") == "3210"


def test_a_payment_in_another_receivables_account_is_refused(clerk: Clerk) -> None:
    invoice = clerk.invoice()
    clerk.add("Account", Name="Other receivables", AccountType="AccountsReceivable")
    row = {"TxnID": key(invoice), "PaymentAmount": "10"}
    account = {"ARAccountRef": "Other receivables"}

    refusal = clerk.refusal("ReceivePayment", CustomerRef="Ada", **account, TotalAmount="10", AppliedToTxnAdd=[row])
    assert refusal[0] == "3210"


def test_a_vendor_credit_of_another_vendor_is_refused(clerk: Clerk) -> None:
    bill, credit = clerk.bill("100"), clerk.vendor_credit("10", "Tax Agency")
    use = {"CreditTxnID": key(credit), "AppliedAmount": "10"}
    row = {"TxnID": key(bill), "PaymentAmount": "5", "SetCredit": use}
    bank = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Checking", "IsToBePrinted": True}

    assert clerk.refusal("BillPaymentCheck", **bank, AppliedToTxnAdd=[row])[0] == "3210"


# Orders


def order(clerk: Clerk, customer: str = "Ada", quantity: int = 10) -> Element:
    line = {"ItemRef": "Work", "Quantity": quantity, "Rate": "5"}
    return clerk.add("SalesOrder", CustomerRef=customer, SalesOrderLineAdd=[line])


def invoice_line(order: Element, quantity: int | None = None) -> dict[str, Any]:
    link = {"TxnID": key(order), "TxnLineID": order.findtext("SalesOrderLineRet/TxnLineID")}
    return {**({} if quantity is None else {"Quantity": quantity}), "LinkToTxn": link}


def try_to_invoice(clerk: Clerk, customer: str = "Ada", **fields: Any) -> str | None:
    return clerk.try_to_add("Invoice", CustomerRef=customer, **fields).get("statusCode")


def test_a_fully_invoiced_order_refuses_another_invoice(clerk: Clerk) -> None:
    sales_order = order(clerk)
    assert try_to_invoice(clerk, LinkToTxnID=[key(sales_order)]) == "0"

    assert try_to_invoice(clerk, LinkToTxnID=[key(sales_order)]) == "570"
    assert try_to_invoice(clerk, InvoiceLineAdd=[invoice_line(sales_order, 1)]) == "570"
    assert len(clerk.books["Invoice"]) == 1


def test_an_order_is_invoiced_in_parts_until_it_is_closed(clerk: Clerk) -> None:
    sales_order = order(clerk)
    assert [try_to_invoice(clerk, InvoiceLineAdd=[invoice_line(sales_order, 4)]) for _ in range(2)] == ["0", "0"]

    rest = clerk.add("Invoice", CustomerRef="Ada", InvoiceLineAdd=[invoice_line(sales_order)])

    assert rest.findtext("InvoiceLineRet/Quantity") == "2"
    assert clerk.get(sales_order).findtext("IsFullyInvoiced") == "true"
    assert try_to_invoice(clerk, InvoiceLineAdd=[invoice_line(sales_order)]) == "570"


def test_an_order_that_somebody_closed_refuses_an_invoice(clerk: Clerk) -> None:
    sales_order = order(clerk)
    assert clerk.change(sales_order, IsManuallyClosed=True) == "0"

    assert try_to_invoice(clerk, LinkToTxnID=[key(sales_order)]) == "570"
    assert try_to_invoice(clerk, InvoiceLineAdd=[invoice_line(sales_order, 1)]) == "570"


def test_an_order_is_open_again_when_its_invoice_is_deleted(clerk: Clerk) -> None:
    sales_order = order(clerk)
    clerk.delete(clerk.add("Invoice", CustomerRef="Ada", LinkToTxnID=[key(sales_order)]))

    assert try_to_invoice(clerk, LinkToTxnID=[key(sales_order)]) == "0"


def test_an_invoice_that_fulfils_an_order_can_change(clerk: Clerk) -> None:
    sales_order = order(clerk)
    invoice = clerk.add("Invoice", CustomerRef="Ada", LinkToTxnID=[key(sales_order)])

    assert clerk.change(invoice, Memo="Delivered") == "0"
    assert clerk.change_rate(invoice, "6") == "0"


def test_an_order_of_another_customer_is_refused(clerk: Clerk) -> None:
    sales_order = order(clerk, "Bruno")

    assert try_to_invoice(clerk, LinkToTxnID=[key(sales_order)]) == "3210"
    assert try_to_invoice(clerk, InvoiceLineAdd=[invoice_line(sales_order, 1)]) == "3210"
    assert try_to_invoice(clerk, "Bruno", LinkToTxnID=[key(sales_order)]) == "0"


def test_an_order_that_is_invoiced_in_part_keeps_its_customer(clerk: Clerk) -> None:
    sales_order = order(clerk)
    try_to_invoice(clerk, InvoiceLineAdd=[invoice_line(sales_order, 1)])

    assert clerk.change(sales_order, CustomerRef={"FullName": "Bruno"}) == "3210"


def test_an_item_beside_a_link_is_refused(clerk: Clerk) -> None:
    sales_order = order(clerk)
    line = {"ItemRef": "Paint", **invoice_line(sales_order, 1)}

    assert try_to_invoice(clerk, InvoiceLineAdd=[line]) == "3210"


def test_a_purchase_order_of_another_vendor_or_that_is_received_is_refused(clerk: Clerk) -> None:
    line = {"ItemRef": "Hinge", "Quantity": 10, "Rate": "2"}
    purchase = clerk.add("PurchaseOrder", VendorRef="Supplier", PurchaseOrderLineAdd=[line])

    assert clerk.refusal("Bill", VendorRef="Tax Agency", LinkToTxnID=[key(purchase)])[0] == "3210"
    clerk.add("Bill", VendorRef="Supplier", LinkToTxnID=[key(purchase)])
    assert clerk.refusal("Bill", VendorRef="Supplier", LinkToTxnID=[key(purchase)])[0] == "570"


# No order line twice


def purchase_order(clerk: Clerk) -> Element:
    line = {"ItemRef": "Hinge", "Quantity": 5, "Rate": "10"}
    return clerk.add("PurchaseOrder", VendorRef="Supplier", PurchaseOrderLineAdd=[line])


def received_line(order: Element) -> dict[str, Any]:
    link = {"TxnID": key(order), "TxnLineID": order.findtext("PurchaseOrderLineRet/TxnLineID")}
    return {"Quantity": 1, "LinkToTxn": link}


@pytest.mark.parametrize("way", ["both", "order twice", "line twice"])
def test_no_request_links_to_an_order_twice(clerk: Clerk, way: str) -> None:
    sales_order, purchase = order(clerk), purchase_order(clerk)

    def fields(order: Element, name: str, line: dict[str, Any]) -> dict[str, Any]:
        both: dict[str, Any] = {"LinkToTxnID": [key(order)], name: [line]}
        return {"both": both, "order twice": {"LinkToTxnID": [key(order)] * 2}, "line twice": {name: [line, line]}}[way]

    invoiced = fields(sales_order, "InvoiceLineAdd", invoice_line(sales_order, 1))
    assert clerk.refusal("Invoice", CustomerRef="Ada", **invoiced)[0] == "3210"
    for kind in ("Bill", "ItemReceipt"):
        received = fields(purchase, "ItemLineAdd", received_line(purchase))
        assert clerk.refusal(kind, VendorRef="Supplier", **received)[0] == "3210"


def test_two_orders_are_invoiced_together_in_both_ways(clerk: Clerk) -> None:
    first, second = order(clerk), order(clerk)

    invoice = clerk.add(
        "Invoice", CustomerRef="Ada", LinkToTxnID=[key(first)], InvoiceLineAdd=[invoice_line(second, 2)]
    )

    assert invoice.findtext("Subtotal") == "60.00"


def test_an_order_without_lines_takes_no_invoice(clerk: Clerk) -> None:
    empty = clerk.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=[{"Desc": "To be agreed"}])

    assert try_to_invoice(clerk, LinkToTxnID=[key(empty)]) == "570"


def test_a_line_does_not_link_to_an_estimate(clerk: Clerk) -> None:
    estimate = clerk.add("Estimate", CustomerRef="Ada", EstimateLineAdd=[{"ItemRef": "Work"}])
    link = {"TxnID": key(estimate), "TxnLineID": estimate.findtext("EstimateLineRet/TxnLineID")}

    assert try_to_invoice(clerk, InvoiceLineAdd=[{"LinkToTxn": link}]) == "3120"
    assert try_to_invoice(clerk, LinkToTxnID=[key(estimate)]) == "0"


def test_a_larger_quantity_on_a_linked_line_is_kept_and_noted(clerk: Clerk) -> None:
    clerk.company.strict = True
    sales_order = order(clerk)

    clerk.add("Invoice", CustomerRef="Ada", InvoiceLineAdd=[invoice_line(sales_order, 10)])
    assert "more_than_ordered" not in clerk.company.simplifications
    other = order(clerk)
    invoice = clerk.add("Invoice", CustomerRef="Ada", InvoiceLineAdd=[invoice_line(other, 11)])

    assert invoice.findtext("InvoiceLineRet/Quantity") == "11"
    assert clerk.company.simplifications["more_than_ordered"] == 1


def test_an_order_keeps_the_lines_that_are_invoiced(clerk: Clerk) -> None:
    lines = [{"ItemRef": item, "Quantity": 2} for item in ("Work", "Paint")]
    sales_order = clerk.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=lines)
    first, second = (line.findtext("TxnLineID") for line in sales_order.iter("SalesOrderLineRet"))
    clerk.add("Invoice", CustomerRef="Ada", InvoiceLineAdd=[invoice_line(sales_order, 1)])

    assert clerk.change(sales_order, SalesOrderLineMod=[{"TxnLineID": second}]) == "3210"
    assert clerk.change(sales_order, SalesOrderLineMod=[{"TxnLineID": first}]) == "0"


def test_an_invoice_outlives_the_order_that_it_fulfils(clerk: Clerk) -> None:
    sales_order = order(clerk)
    invoice = clerk.add("Invoice", CustomerRef="Ada", LinkToTxnID=[key(sales_order)])
    clerk.delete(sales_order)

    assert clerk.change(invoice, Memo="Delivered") == "0"


class OrderClerk:
    """Orders and invoices at random, in every way that a request can link."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.clerk = Clerk()
        self.orders: list[Element] = []
        self.invoices: list[Element] = []
        self.statuses: set[str | None] = set()

    def step(self) -> None:
        chance = self.random
        action = chance.choice((self.order, self.invoice, self.invoice, self.invoice, self.change, self.remove))
        (self.order if not self.orders else action)()

    def order(self) -> None:
        lines = [
            {"ItemRef": chance, "Quantity": self.random.randint(1, 9)} for chance in self.random.choices(ITEMS, k=3)
        ]
        self.orders.append(self.clerk.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=lines))

    def invoice(self) -> None:
        chance = self.random
        orders = chance.choices(self.orders[-4:], k=2)
        fields: dict[str, Any] = {"LinkToTxnID": [key(order) for order in orders[: chance.randint(0, 2)]]}
        fields["InvoiceLineAdd"] = [
            {
                "Quantity": chance.randint(1, 5),
                "LinkToTxn": {"TxnID": key(order), "TxnLineID": chance.choice(order.findall(".//TxnLineID")).text},
            }
            for order in orders[: chance.randint(0, 2)]
        ]
        response = self.clerk.try_to_add("Invoice", CustomerRef="Ada", **fields)
        self.statuses.add(response.get("statusCode"))
        assert self.statuses <= {"0", "570", "3120", "3210"}, response.get("statusMessage")
        self.invoices += list(response)

    def change(self) -> None:
        record = self.random.choice([*self.orders, *self.invoices])
        lines = [line.findtext("TxnLineID") for line in record if line.tag.endswith("LineRet")]
        kept = [{"TxnLineID": line, "Quantity": self.random.randint(1, 9)} for line in lines]
        chosen = kept[self.random.randint(0, 1) :] or kept
        self.clerk.change(record, **{f"{record.tag.removesuffix('Ret')}LineMod": chosen} if chosen else {"Memo": "x"})

    def remove(self) -> None:
        if self.invoices:
            invoice = self.invoices.pop(self.random.randrange(len(self.invoices)))
            (self.clerk.delete if self.random.random() < 0.5 else self.clerk.void)(invoice)

    def check(self) -> None:
        """Compare what orders say is invoiced with what invoices say."""
        books = self.clerk.books
        invoiced: dict[str, Decimal] = {}
        for invoice in books["Invoice"]:
            lines = [line for _, line in invoice.lines() if "LinkToTxn" in line and not invoice.is_void]
            ids = [line["LinkToTxn"]["TxnLineID"] for line in lines]
            assert len(set(ids)) == len(ids)
            for line_id, line in zip(ids, lines, strict=True):
                invoiced[line_id] = invoiced.get(line_id, ZERO) + Decimal(line.get("Quantity", "1"))
        for order in books["SalesOrder"]:
            shown = books.rules_of(order.kind).derived(books, order)["SalesOrderLineRet|SalesOrderLineGroupRet"]
            for _, line in shown:
                assert Decimal(line["Invoiced"]) == invoiced.pop(line["TxnLineID"], ZERO)
        assert not invoiced
        assert book_problems(books) == []


ITEMS = ("Work", "Paint", "Hinge")


@pytest.mark.parametrize("seed", range(4))
def test_orders_and_invoices_say_the_same_after_any_sequence_of_requests(seed: int) -> None:
    clerk = OrderClerk(seed)
    for _ in range(40):
        clerk.step()
        clerk.check()

    assert {"0", "3210"} <= clerk.statuses


# Random histories


class RandomClerk:
    """Invoices, pays, credits, deposits, changes, voids and deletes at random. Refusals are part of it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.clerk = Clerk()
        self.records: list[Element] = []

    def step(self) -> None:
        chance, clerk = self.random, self.clerk
        amount, customer = str(chance.randint(1, 120)), chance.choice(("Ada", "Ada", "Ada:Kitchen", "Bruno"))
        action = chance.choice(("invoice", "credit", "pay", "pay", "apply", "deposit", "change", "move", "end", "bill"))
        other = chance.choice(self.records) if self.records else None
        if other is not None and action in {"pay", "apply"} and chance.random() < 0.8:
            # Most payments and credits are for an invoice of their own customer.
            other = chance.choice([record for record in self.records if record.tag == "InvoiceRet"] or self.records)
            customer = other.findtext("CustomerRef/FullName") or customer
        if action in {"invoice", "credit", "bill"} or other is None:
            line = {"ItemRef": "Work", "Rate": amount}
            if action == "credit":
                self.records.append(clerk.credit(amount, customer))
            elif action == "bill":
                self.records.append(clerk.bill(amount))
            else:
                self.records.append(clerk.invoice(customer, InvoiceLineAdd=[line]))
        elif action == "pay":
            row = {"TxnID": key(other), "PaymentAmount": str(chance.randint(1, 80))}
            self._try("ReceivePayment", CustomerRef=customer, TotalAmount=amount, AppliedToTxnAdd=[row])
        elif action == "apply":
            clerk.apply(chance.choice(self.records), other, str(chance.randint(1, 60)), customer)
        elif action == "deposit":
            line = {"PaymentTxnID": key(other)}
            self._try("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[line])
        elif action == "end":
            can_void = other.tag in {"InvoiceRet", "CreditMemoRet", "BillRet"}
            chance.choice((clerk.void, clerk.delete) if can_void else (clerk.delete,))(other)
        elif clerk.books.transaction(key(other)):
            self._change(other, action, amount, customer)

    def _change(self, record: Element, action: str, amount: str, customer: str) -> None:
        if record.tag == "ReceivePaymentRet":
            change = {"TotalAmount": amount} if action == "change" else {"CustomerRef": {"FullName": customer}}
            self.clerk.change(record, **change)
        elif record.tag in {"InvoiceRet", "CreditMemoRet"}:
            if action == "change":
                self.clerk.change_rate(record, amount)
            else:
                self.clerk.change(record, CustomerRef={"FullName": customer})

    def _try(self, kind: str, **fields: Any) -> None:
        response = self.clerk.try_to_add(kind, **fields)
        if response.get("statusCode") == "0":
            self.records.append(response[0])


@pytest.mark.parametrize("seed", range(12))
def test_no_random_history_leads_to_an_impossible_link(seed: int) -> None:
    history = RandomClerk(seed)
    ledger = history.clerk.books.ledger
    links = 0
    for _ in range(80):
        history.step()
        check_laws(history.clerk)
        links += sum(link.kind == SETTLES for record in history.records for link in ledger.links(key(record)))

    assert sum(ledger.accounts.values(), ZERO) == 0
    assert links > 0
