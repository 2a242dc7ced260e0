"""Numbers of transactions continue from the last one that was used, for each kind and for the checks of an account."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from simulator import Company
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.support import ask

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@pytest.fixture
def keeper() -> Bookkeeper:
    return Bookkeeper()


def number(record: Element) -> str | None:
    return record.findtext("RefNumber")


def check(keeper: Bookkeeper, account: str = "Checking", **fields: object) -> Element:
    line = {"AccountRef": "Rent", "Amount": "1.00"}
    return keeper.add("Check", AccountRef=account, ExpenseLineAdd=[line], **fields)


def bill_payment(keeper: Bookkeeper, **fields: object) -> Element:
    bill = keeper.add("Bill", VendorRef="Supplier", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "1.00"}])
    applied = [{"TxnID": bill.findtext("TxnID"), "PaymentAmount": "1.00"}]
    payee = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Checking"}
    return keeper.add("BillPaymentCheck", **payee, AppliedToTxnAdd=applied, **fields)


def test_each_kind_counts_by_itself(keeper: Bookkeeper) -> None:
    assert [number(keeper.invoice()) for _ in range(3)] == ["1001", "1002", "1003"]
    line = {"ItemRef": "Work", "Rate": "1"}
    assert number(keeper.add("CreditMemo", CustomerRef="Ada", CreditMemoLineAdd=[line])) == "1001"


def test_a_number_that_a_request_sets_is_the_last_one_used(keeper: Bookkeeper) -> None:
    keeper.invoice(RefNumber="5529")

    assert [number(keeper.invoice()) for _ in range(2)] == ["5530", "5531"]


@pytest.mark.parametrize(
    ("last", "following"),
    [("INV-009", "INV-010"), ("0099", "0100"), ("2026-7", "2026-8"), ("A1B2", "A1B3"), ("99999999999", None)],
)
def test_the_last_digits_of_a_number_are_counted(keeper: Bookkeeper, last: str, following: str | None) -> None:
    keeper.invoice(RefNumber=last)

    assert number(keeper.invoice()) == following


def test_a_number_without_digits_is_not_counted(keeper: Bookkeeper) -> None:
    keeper.invoice()
    keeper.invoice(RefNumber="draft")

    assert number(keeper.invoice()) == "1002"


def test_a_deletion_does_not_free_a_number(keeper: Bookkeeper) -> None:
    first = keeper.invoice()
    keeper.invoice()
    keeper.delete(first)

    assert number(keeper.invoice()) == "1003"


def test_a_number_that_is_in_use_is_passed_over(keeper: Bookkeeper) -> None:
    keeper.invoice(RefNumber="8")
    keeper.invoice(RefNumber="7")

    assert number(keeper.invoice()) == "9"


def test_a_number_that_a_mod_sets_counts_too(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()
    identity = {"TxnID": invoice.findtext("TxnID"), "EditSequence": invoice.findtext("EditSequence")}
    keeper.ask("InvoiceModRq", {"InvoiceMod": {**identity, "RefNumber": "70"}})

    assert number(keeper.invoice()) == "71"


def test_a_refused_request_uses_no_number(keeper: Bookkeeper) -> None:
    keeper.invoice()
    line = {"ItemRef": "Work", "Quantity": 2, "Rate": "9999999999.00"}
    assert keeper.refusal("Invoice", CustomerRef="Ada", InvoiceLineAdd=[line])[0] == "3210"

    assert number(keeper.invoice()) == "1002"


def test_the_checks_of_an_account_share_their_numbers_with_its_bill_payments(keeper: Bookkeeper) -> None:
    keeper.add("Account", Name="Savings", AccountType="Bank")

    assert number(check(keeper, RefNumber="500")) == "500"
    assert number(bill_payment(keeper, IsToBePrinted=False)) == "501"
    assert number(check(keeper)) == "502"
    assert number(check(keeper, "Savings")) == "1"
    assert number(bill_payment(keeper, RefNumber="600")) == "600"
    assert number(check(keeper)) == "601"


def test_a_check_that_is_to_be_printed_has_no_number(keeper: Bookkeeper) -> None:
    assert number(check(keeper, IsToBePrinted=True)) is None
    assert number(bill_payment(keeper, IsToBePrinted=True)) is None
    assert number(check(keeper)) == "1"


def test_the_shipped_company_continues_after_its_highest_invoice() -> None:
    company = Company.generated()
    highest = max(int(record.fields["RefNumber"]) for record in company.books["Invoice"])
    customer = next(record for record in company.books["Customer"] if record.is_active)
    line = "<InvoiceLineAdd><Desc>One more</Desc><Amount>1.00</Amount></InvoiceLineAdd>"
    reference = f"<CustomerRef><ListID>{customer.id}</ListID></CustomerRef>"

    added = ask(company, f"<InvoiceAddRq><InvoiceAdd>{reference}{line}</InvoiceAdd></InvoiceAddRq>")[0][0]

    assert number(added) == str(highest + 1)


@pytest.mark.parametrize("seed", range(6))
def test_no_number_appears_twice_in_a_random_history(seed: int) -> None:
    chance = random.Random(seed)
    keeper = Bookkeeper()
    alive: list[Element] = []
    for _ in range(80):
        action = chance.choice(("invoice", "invoice", "check", "payment", "given", "delete"))
        if action == "delete" and alive:
            keeper.delete(alive.pop(chance.randrange(len(alive))))
        elif action == "given":
            # A free number, in the style of people: a jump ahead, a gap below, letters.
            text = chance.choice(("{}", "A-{}", "0{}")).format(chance.randint(1, 3000))
            if not keeper.books.numbered(text, ("Invoice",)):
                alive.append(keeper.invoice(RefNumber=text))
        elif action == "check":
            alive.append(check(keeper))
        elif action == "payment":
            alive.append(bill_payment(keeper, IsToBePrinted=False))
        else:
            alive.append(keeper.invoice())

        books = keeper.books
        invoices = Counter(record.fields["RefNumber"] for record in books["Invoice"])
        checks = Counter(record.fields["RefNumber"] for kind in ("Check", "BillPaymentCheck") for record in books[kind])
        assert max([*invoices.values(), *checks.values()], default=1) == 1
