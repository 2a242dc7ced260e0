"""What captured responses and Intuit's reference say about single requests."""

from __future__ import annotations

import pytest

from simulator.basics.errors import HresultError
from simulator.requests.shown import address_block
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.support import ask


@pytest.mark.parametrize(
    ("request_text", "message"),
    [
        ("<CustomerQueryRq><ListID>1</ListID></CustomerQueryRq>", 'ID "1" in the field "list id" is invalid. '),
        ("<InvoiceQueryRq><TxnID>x-1</TxnID></InvoiceQueryRq>", 'ID "x-1" in the field "txn id" is invalid. '),
    ],
)
def test_an_id_in_another_form_is_3000(request_text: str, message: str) -> None:
    response = ask(Bookkeeper().company, request_text)[0]

    assert response.get("statusCode") == "3000"
    assert (response.get("statusMessage") or "").endswith(message)


def test_accounts_are_in_the_order_of_the_chart() -> None:
    keeper = Bookkeeper()
    keeper.add("Account", Name="A loan", AccountType="LongTermLiability")
    keeper.add("Account", Name="Zeta", AccountType="Bank")

    accounts = [(account.findtext("AccountType"), account.findtext("Name")) for account in keeper.ask("AccountQueryRq")]

    assert accounts[:2] == [("Bank", "Checking"), ("Bank", "Zeta")]
    assert accounts.index(("LongTermLiability", "A loan")) < accounts.index(("Income", "Sales"))


@pytest.mark.parametrize(
    ("address", "lines"),
    [
        ({"Addr1": "Ada", "State": "Cap", "Note": "39 Street"}, ["Ada", "39 Street"]),
        ({"Addr1": "Ada", "City": "Town", "State": "CT", "Note": "Ring"}, ["Ada", "Town, CT", "Ring"]),
    ],
)
def test_a_note_is_a_line_of_the_printed_address(address: dict[str, str], lines: list[str]) -> None:
    assert list(address_block(address).values()) == lines


def test_an_allocation_without_an_amount_is_refused() -> None:
    keeper = Bookkeeper()
    invoice = keeper.invoice()
    bill = keeper.add("Bill", VendorRef="Supplier", ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": "5.00"}])
    bank = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Checking", "IsToBePrinted": True}

    for kind, fields, target in (
        ("ReceivePayment", {"CustomerRef": "Ada", "TotalAmount": "5.00"}, invoice),
        ("BillPaymentCheck", bank, bill),
    ):
        applied = [{"TxnID": target.findtext("TxnID")}]
        assert keeper.refusal(kind, AppliedToTxnAdd=applied, **fields)[0] == "3180"


def test_a_value_of_stock_needs_a_quantity() -> None:
    accounts = {"COGSAccountRef": "Cost of Goods Sold", "AssetAccountRef": "Inventory Asset"}

    code, message = Bookkeeper().refusal(
        "ItemInventory", Name="New", TotalValue="5.00", IncomeAccountRef="Sales", **accounts
    )

    assert (code, message) == ("3150", 'There is a missing element: "QuantityOnHand".')


@pytest.mark.parametrize(("version", "on_error"), [("4.0", "stopOnError"), ("13.0", "rollbackOnError")])
def test_iterators_before_5_and_rollback_cannot_be_parsed(version: str, on_error: str) -> None:
    query = '<CustomerQueryRq iterator="Start"><MaxReturned>1</MaxReturned></CustomerQueryRq>'
    company = Bookkeeper().company

    with pytest.raises(HresultError, match="0x80040400"):
        ask(company, query, version=version, on_error=on_error)
    ask(company, query, version="5.0", on_error="stopOnError")
