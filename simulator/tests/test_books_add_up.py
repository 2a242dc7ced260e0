"""The books as a whole: after any sequence of requests debits equal credits, and every sum agrees with the others."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.books.ledger import ZERO
from simulator.company_files.storage import read_books, write_books
from simulator.requests.shown import shown
from simulator.rules.items import STOCK_KINDS
from simulator.rules.problems import book_problems
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.support import contents_of
from simulator.tests.test_reports import ALL, report, rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

    from simulator.books import Books

STEPS = 120
ITEMS = ("Work", "Paint", "Hinge", "Door", "Ten off", "Subtotal")
CUSTOMERS = ("Ada", "Ada:Kitchen", "Bruno")
MONEY = ("Checking", "Checking", "Card", "Card", "Accounts Payable")


class RandomClerk:
    """Sends requests that are mostly right and sometimes wrong."""

    def __init__(self, seed: int) -> None:
        self.keeper = Bookkeeper()
        self.keeper.add("Account", Name="Accounts Payable", AccountType="AccountsPayable")
        self.chance = random.Random(seed)
        self.records: list[Element] = []
        self.statuses: set[str] = set()

    def work(self) -> None:
        """Send one random request."""
        actions: list[Callable[[], None]] = [
            *[self.sell] * 4,
            *[self.buy] * 2,
            *[self.receive] * 3,
            self.pay_bill,
            self.journal,
            self.deposit,
            self.transfer,
            self.adjust,
            self.order,
            self.fulfil,
            *[self.change] * 2,
            self.delete,
            self.void,
        ]
        self.chance.choice(actions)()

    def amount(self, most: int = 300) -> str:
        return f"{Decimal(self.chance.randint(1, most * 100)) / 100:.2f}"

    def add(self, kind: str, **fields: Any) -> None:
        fields.setdefault("TxnDate", f"2026-0{self.chance.randint(1, 8)}-15")
        response = self.keeper.try_to_add(kind, **fields)
        self.statuses.add(response.get("statusCode", ""))
        assert response.get("statusCode") in {"0", "570", "3120", "3150", "3180", "3210"}, response.get("statusMessage")
        if len(response):
            self.records.append(response[0])

    def any_of(self, *kinds: str) -> str:
        records = [record for record in self.records if record.tag in {f"{kind}Ret" for kind in kinds}]
        return (self.chance.choice(records).findtext("TxnID") or "") if records else "1-1"

    def lines(self) -> list[dict[str, Any]]:
        lines = []
        for _ in range(self.chance.randint(1, 5)):
            line: dict[str, Any] = {"ItemRef": self.chance.choice(ITEMS)}
            if line["ItemRef"] not in {"Ten off", "Subtotal"}:
                line["Quantity"] = self.chance.choice(("1", "2", "7", "1.5", "0.333"))
                if self.chance.random() < 0.3:
                    line["Rate"] = self.chance.choice(("9.99", "0.33333", "120"))
            lines.append(line)
        return lines

    def sell(self) -> None:
        kind = self.chance.choice(("Invoice", "Invoice", "SalesReceipt", "CreditMemo"))
        tax = {"ItemSalesTaxRef": self.chance.choice(("State", "Both"))} if self.chance.random() < 0.7 else {}
        self.add(kind, CustomerRef=self.chance.choice(CUSTOMERS), **tax, **{f"{kind}LineAdd": self.lines()})

    def buy(self) -> None:
        kind = self.chance.choice(("Bill", "Bill", "VendorCredit", "Check", "CreditCardCharge", "ItemReceipt"))
        account = {"Check": {"AccountRef": "Checking"}, "CreditCardCharge": {"AccountRef": "Card"}}
        item = {"ItemRef": self.chance.choice(("Hinge", "Door")), "Quantity": "3", "Cost": self.amount(9)}
        self.add(
            kind,
            **account.get(kind, {"VendorRef": "Supplier"}),
            ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": self.amount()}],
            ItemLineAdd=[item],
        )

    def receive(self) -> None:
        customer, amount = self.chance.choice(CUSTOMERS), self.amount()
        if self.chance.random() < 0.5:
            self.add("ReceivePayment", CustomerRef=customer, TotalAmount=amount, IsAutoApply=True)
            return
        application: dict[str, Any] = {"TxnID": self.any_of("Invoice"), "PaymentAmount": amount}
        if self.chance.random() < 0.4:
            credit = self.any_of("CreditMemo", "ReceivePayment")
            application["SetCredit"] = [{"CreditTxnID": credit, "AppliedAmount": self.amount(20)}]
        if self.chance.random() < 0.4:
            application |= {"DiscountAmount": "1.00", "DiscountAccountRef": "Discounts"}
        self.add("ReceivePayment", CustomerRef=customer, TotalAmount=amount, AppliedToTxnAdd=[application])

    def pay_bill(self) -> None:
        application = {"TxnID": self.any_of("Bill"), "PaymentAmount": self.amount()}
        self.add(
            "BillPaymentCheck",
            PayeeEntityRef="Supplier",
            BankAccountRef="Checking",
            IsToBePrinted=True,
            AppliedToTxnAdd=[application],
        )

    def journal(self) -> None:
        amount = self.amount()
        other = amount if self.chance.random() < 0.8 else self.amount()
        debit = {"AccountRef": "Accounts Receivable", "Amount": amount, "EntityRef": "Bruno"}
        if self.keeper.books.named("Accounts Receivable", ("Account",)) is None:
            debit = {"AccountRef": "Rent", "Amount": amount}
        credit = {"AccountRef": "Accounts Payable", "Amount": other, "EntityRef": "Supplier"}
        self.add("JournalEntry", JournalDebitLine=[debit], JournalCreditLine=[credit])

    def deposit(self) -> None:
        payment = self.any_of("ReceivePayment", "SalesReceipt")
        line = {"PaymentTxnID": payment, "PaymentTxnLineID": "1"}
        self.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[line])

    def transfer(self) -> None:
        accounts = {f"Transfer{end}AccountRef": self.chance.choice(MONEY) for end in ("From", "To")}
        self.add("Transfer", **accounts, Amount=self.amount())

    def adjust(self) -> None:
        line = {"ItemRef": "Hinge", "QuantityAdjustment": {"NewQuantity": self.chance.randint(0, 20)}}
        self.add("InventoryAdjustment", AccountRef="Shrinkage", InventoryAdjustmentLineAdd=[line])

    def order(self) -> None:
        self.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=self.lines())

    def fulfil(self) -> None:
        """Invoice an order by its id, by a line of it, or by both, which is refused."""
        txn_id = self.any_of("SalesOrder")
        order = self.keeper.books.transaction(txn_id)
        line_id = next(order.lines())[1]["TxnLineID"] if order is not None else "1-1"
        line = {"Quantity": self.chance.choice(("1", "2")), "LinkToTxn": {"TxnID": txn_id, "TxnLineID": line_id}}
        links = {"LinkToTxnID": [txn_id], "InvoiceLineAdd": [line]}
        chosen = self.chance.choice((["LinkToTxnID"], ["InvoiceLineAdd"], list(links)))
        self.add("Invoice", CustomerRef="Ada", **{name: links[name] for name in chosen})

    def change(self) -> None:
        """Change the quantity of an invoice's first line, or the memo of a payment."""
        txn_id = self.any_of("Invoice")
        invoice = self.keeper.books.transaction(txn_id)
        if invoice is None:
            return
        line = next(line for _, line in invoice.lines())
        quantity = {"Quantity": "4"} if self.chance.random() < 0.7 else {}
        other_lines = [{"TxnLineID": other["TxnLineID"]} for _, other in invoice.lines() if other is not line]
        lines = [{"TxnLineID": line["TxnLineID"], **quantity}, *other_lines]
        content = {
            "TxnID": txn_id,
            "EditSequence": str(invoice.edit_sequence),
            "Memo": "Changed",
            "InvoiceLineMod": lines,
        }
        response = self.keeper.ask("InvoiceModRq", {"InvoiceMod": content})
        self.statuses.add(response.get("statusCode", ""))
        assert response.get("statusCode") in {"0", "3210"}, response.get("statusMessage")

    def delete(self) -> None:
        records = [record for record in self.records if record.tag != "TransferRet"]
        if records:
            record = self.chance.choice(records)
            response = self.keeper.delete(record)
            assert response.get("statusCode") in {"0", "3120", "3160"}, response.get("statusMessage")
            if response.get("statusCode") == "0":
                self.records.remove(record)

    def void(self) -> None:
        kinds = ("Invoice", "CreditMemo", "SalesReceipt", "Bill", "Check", "JournalEntry")
        records = [record for record in self.records if record.tag.removesuffix("Ret") in kinds]
        if records:
            record = self.chance.choice(records)
            content = {"TxnVoidType": record.tag.removesuffix("Ret"), "TxnID": record.findtext("TxnID")}
            response = self.keeper.ask("TxnVoidRq", content)
            assert response.get("statusCode") in {"0", "3185"}, response.get("statusMessage")


def check(books: Books) -> None:
    """Compare every sum of the books with the others."""
    assert book_problems(books) == []
    ledger = books.ledger
    postings = [posting for txn_id in books.transactions for posting in ledger.postings(txn_id)]
    assert sum((posting.amount for posting in postings), ZERO) == 0
    for account in books["Account"]:
        total = sum((posting.amount for posting in postings if posting.account == account.id), ZERO)
        assert ledger.accounts.get(account.id, ZERO) == total
    for kind, account_type, sign in (("Customer", "AccountsReceivable", 1), ("Vendor", "AccountsPayable", -1)):
        accounts = {account.id for account in books["Account"] if account.fields["AccountType"] == account_type}
        in_account = sum((ledger.accounts.get(account_id, ZERO) for account_id in accounts), ZERO)
        by_entity = sum((Decimal(shown(books, entity)["Balance"]) for entity in books[kind]), ZERO)
        assert by_entity == sign * in_account, kind
    still_open = ZERO
    for record in books.transactions.values():
        due, open_amount = ledger.due(record.id), ledger.open_amount(record.id)
        still_open += open_amount if due > 0 else -open_amount
    assert still_open == sum((posting.amount for posting in postings if posting.is_open), ZERO)
    assets = {account.id for account in books["Account"] if account.full_name == "Inventory Asset"}
    stock_value = sum((ledger.stock(item.id).value for kind in STOCK_KINDS for item in books[kind]), ZERO)
    assert stock_value == sum((ledger.accounts.get(account_id, ZERO) for account_id in assets), ZERO)


@pytest.mark.parametrize("seed", range(8))
def test_the_books_add_up_after_any_sequence_of_requests(seed: int) -> None:
    clerk = RandomClerk(seed)
    for step in range(STEPS):
        clerk.work()
        if step % 10 == 0:
            check(clerk.keeper.books)
    check(clerk.keeper.books)

    for basis in ("Accrual", "Cash"):
        for period in (ALL, "<ReportPeriod><ToReportDate>2026-05-01</ToReportDate></ReportPeriod>"):
            more = f"{period}<ReportBasis>{basis}</ReportBasis>"
            trial = rows(report(clerk.keeper, "GeneralSummaryReport", "TrialBalance", more))["TOTAL"]
            sheet = rows(report(clerk.keeper, "GeneralSummaryReport", "BalanceSheetStandard", more))
            assert trial[0] == trial[1]
            assert sheet["TOTAL ASSETS"] == sheet["TOTAL LIABILITIES & EQUITY"]
    assert {"0", "3210"} <= clerk.statuses


def test_books_and_their_copy_do_not_reach_each_other() -> None:
    clerk = RandomClerk(98)
    for _ in range(STEPS):
        clerk.work()
    books, copy, records = clerk.keeper.books, clerk.keeper.books.copy(), clerk.records

    for changed, other in ((books, copy), (copy, books)):
        contents = contents_of(other)
        clerk.keeper.books = clerk.keeper.company.books = changed
        clerk.records = records.copy()
        for _ in range(STEPS):
            clerk.work()
        check(changed)
        assert contents_of(other) == contents != contents_of(changed)


def test_books_that_are_loaded_from_a_file_have_the_same_sums() -> None:
    clerk = RandomClerk(99)
    for _ in range(STEPS):
        clerk.work()
    books = clerk.keeper.books

    second = read_books(json.loads(json.dumps(write_books(books))), books.clock)

    check(second)
    assert {key: value for key, value in second.ledger.accounts.items() if value} == {
        key: value for key, value in books.ledger.accounts.items() if value
    }
    for record in books.transactions.values():
        assert second.ledger.open_amount(record.id) == books.ledger.open_amount(record.id)
