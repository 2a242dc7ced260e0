"""Payments, credits and refunds, and the transactions that they settle."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.tests.bookkeeping import Bookkeeper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@pytest.fixture
def keeper() -> Bookkeeper:
    return Bookkeeper()


def pay(keeper: Bookkeeper, invoice: Element, amount: str, *, customer: str = "Ada", **more: Any) -> Element:
    application = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": amount, **more}
    return keeper.add("ReceivePayment", CustomerRef=customer, TotalAmount=amount, AppliedToTxnAdd=[application])


def state(keeper: Bookkeeper, invoice: Element) -> tuple[str | None, ...]:
    now = keeper.get(invoice)
    return now.findtext("AppliedAmount"), now.findtext("BalanceRemaining"), now.findtext("IsPaid")


def test_an_invoice_is_paid_when_payments_settle_all_of_it(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    assert state(keeper, invoice) == ("0.00", "100.00", "false")

    payment = pay(keeper, invoice, "60.00")
    assert state(keeper, invoice) == ("-60.00", "40.00", "false")
    application = payment.find("AppliedToTxnRet")
    assert application is not None
    assert (
        application.findtext("TxnType"),
        application.findtext("Amount"),
        application.findtext("BalanceRemaining"),
    ) == (
        "Invoice",
        "60.00",
        "40.00",
    )

    pay(keeper, invoice, "40.00")
    assert state(keeper, invoice) == ("-100.00", "0.00", "true")
    assert keeper.balance_of("Ada") == 0
    assert keeper.balance("Undeposited Funds") == Decimal(100)


def test_payments_are_linked_from_the_invoice(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    payment = pay(keeper, invoice, "60.00")

    query = f"<TxnID>{invoice.findtext('TxnID')}</TxnID><IncludeLinkedTxns>true</IncludeLinkedTxns>"
    linked = keeper.ask("InvoiceQueryRq", query)[0].find("LinkedTxn")

    assert linked is not None
    assert linked.findtext("TxnID") == payment.findtext("TxnID")
    assert (linked.findtext("TxnType"), linked.findtext("LinkType"), linked.findtext("Amount")) == (
        "ReceivePayment",
        "AMTTYPE",
        "-60.00",
    )


def test_more_than_the_amount_due_cannot_be_paid(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    pay(keeper, invoice, "60.00")

    application = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": "40.01"}
    code, message = keeper.refusal(
        "ReceivePayment", CustomerRef="Ada", TotalAmount="40.01", AppliedToTxnAdd=[application]
    )  # fmt: skip

    assert code == "3210"
    assert message == (
        'The "AppliedToTxnAdd payment amount" field has an invalid value "40.01".  '
        "QuickBooks error message: You cannot pay more than the amount due."
    )


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"TotalAmount": "10.00", "AppliedToTxnAdd": [{"TxnID": "1-1", "PaymentAmount": "10.00"}]}, "3120"),
        ({"TotalAmount": "10.00", "AppliedToTxnAdd": [{"TxnID": "{id}", "PaymentAmount": "20.00"}]}, "3210"),
        ({"TotalAmount": "-10.00", "IsAutoApply": True}, "3210"),
        ({"CustomerRef": "Bruno", "AppliedToTxnAdd": [{"TxnID": "{id}", "PaymentAmount": "20.00"}]}, "3210"),
        ({"AppliedToTxnAdd": [{"TxnID": "{id}", "PaymentAmount": "1.00"}] * 2}, "3210"),
        ({"ARAccountRef": "Sales", "TotalAmount": "1.00", "IsAutoApply": False}, "3210"),
    ],
)
def test_payments_that_quickbooks_refuses(keeper: Bookkeeper, fields: dict[str, Any], code: str) -> None:
    invoice = keeper.invoice()
    for application in fields.get("AppliedToTxnAdd", ()):
        application["TxnID"] = application["TxnID"].replace("{id}", invoice.findtext("TxnID") or "")

    assert keeper.refusal("ReceivePayment", **{"CustomerRef": "Ada", **fields})[0] == code


def test_a_payment_is_applied_to_the_oldest_invoices(keeper: Bookkeeper) -> None:
    newer, older = keeper.invoice(TxnDate="2026-05-02"), keeper.invoice(TxnDate="2026-05-01")

    payment = keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="150.00", IsAutoApply=True)

    assert state(keeper, older)[1:] == ("0.00", "true")
    assert state(keeper, newer)[1:] == ("50.00", "false")
    assert payment.findtext("UnusedPayment") == "0.00"
    exact = keeper.invoice(TxnDate="2026-06-01", InvoiceLineAdd=[{"ItemRef": "Work", "Rate": "33.33"}])
    keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="33.33", IsAutoApply=True)
    assert state(keeper, exact)[2] == "true"


def test_an_unapplied_amount_stays_with_the_customer_and_can_settle_a_later_invoice(keeper: Bookkeeper) -> None:
    payment = keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="130.00", IsAutoApply=True)
    assert (payment.findtext("UnusedPayment"), keeper.balance_of("Ada")) == ("130.00", Decimal(-130))

    credit = {"CreditTxnID": payment.findtext("TxnID"), "AppliedAmount": "100.00"}
    invoice = keeper.invoice(SetCredit=[credit])

    assert state(keeper, invoice)[1:] == ("0.00", "true")
    assert keeper.get(payment).findtext("UnusedPayment") == "30.00"
    code, _ = keeper.refusal(
        "Invoice", CustomerRef="Ada", SetCredit=[credit], InvoiceLineAdd=[{"ItemRef": "Work", "Rate": "500"}]
    )
    assert code == "3210"


def test_discounts_and_credits_settle_together_with_the_payment(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    memo = keeper.add("CreditMemo", CustomerRef="Ada", CreditMemoLineAdd=[{"ItemRef": "Work", "Rate": "25"}])
    credit = {"CreditTxnID": memo.findtext("TxnID"), "AppliedAmount": "20.00"}

    payment = pay(
        keeper, invoice, "78.00", SetCredit=[credit], DiscountAmount="2.00", DiscountAccountRef="Discounts"
    )  # fmt: skip

    assert state(keeper, invoice) == ("-100.00", "0.00", "true")
    assert keeper.get(memo).findtext("CreditRemaining") == "5.00"
    assert payment.findtext("UnusedCredits") == "5.00"
    assert payment.findtext("AppliedToTxnRet/DiscountAmount") == "2.00"
    assert payment.findtext("AppliedToTxnRet/LinkedTxn/TxnType") == "CreditMemo"
    assert keeper.balance_of("Ada") == Decimal(-5)
    assert keeper.balance("Discounts") == Decimal(-2)
    application = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": "0.01"}
    assert keeper.refusal("ReceivePayment", CustomerRef="Ada", AppliedToTxnAdd=[application])[0] == "3120"


def test_a_customer_pays_for_its_jobs(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice("Ada:Kitchen")
    customer = keeper.get("Ada", "Customer")
    assert (customer.findtext("Balance"), customer.findtext("TotalBalance")) == ("0.00", "100.00")

    pay(keeper, invoice, "100.00")

    assert (keeper.balance_of("Ada"), keeper.balance_of("Ada:Kitchen")) == (Decimal(0), Decimal(0))


def test_a_deleted_payment_opens_the_invoice_again_and_a_deleted_invoice_frees_the_payment(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    keeper.delete(pay(keeper, invoice, "100.00"))
    assert state(keeper, invoice) == ("0.00", "100.00", "false")

    payment = pay(keeper, invoice, "100.00")
    keeper.delete(invoice)

    now = keeper.get(payment)
    assert (now.findtext("UnusedPayment"), now.find("AppliedToTxnRet")) == ("100.00", None)
    assert keeper.balance_of("Ada") == Decimal(-100)


def test_a_refund_uses_up_a_credit(keeper: Bookkeeper) -> None:
    memo = keeper.add("CreditMemo", CustomerRef="Ada", CreditMemoLineAdd=[{"ItemRef": "Work", "Rate": "25"}])
    application = {"TxnID": memo.findtext("TxnID"), "RefundAmount": "25.00"}

    refund = keeper.add(
        "ARRefundCreditCard", CustomerRef="Ada", RefundFromAccountRef="Checking", RefundAppliedToTxnAdd=[application]
    )

    assert refund.findtext("TotalAmount") == "25.00"
    assert refund.findtext("RefundAppliedToTxnRet/CreditRemaining") == "0.00"
    assert keeper.balance_of("Ada") == 0
    assert keeper.balance("Checking") == Decimal(-25)
    assert keeper.refusal("ARRefundCreditCard", CustomerRef="Ada", RefundAppliedToTxnAdd=[application])[0] == "3210"


def test_a_voided_invoice_frees_its_payment(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    payment = pay(keeper, invoice, "100.00")

    keeper.ask("TxnVoidRq", {"TxnVoidType": "Invoice", "TxnID": invoice.findtext("TxnID")})

    assert state(keeper, invoice)[1:] == ("0.00", "true")
    assert keeper.get(payment).findtext("UnusedPayment") == "100.00"
    assert keeper.balance_of("Ada") == Decimal(-100)
