"""A shop whose books an accountant keeps, and tables of what he expects: a scenario, questions and answers.

A scenario is a function that enters documents into the books of a shop. Each answer is one expectation. A question is

* a balance (`Checking`), the balance of a name (`customer Ada`), or a fact about the stock (`on hand`, `average`);
* the open amount of a document (`open invoice`), its number, or a field of it (`invoice.SalesTaxTotal`);
* a field of a list object (`Account Rent.AccountType`), a row of the balance sheet (`sheet Retained Earnings`), or the
  number of records of a kind (`count Invoice`);
* whether the last entry was refused, its status, or whether strict mode named a rule or a fact for it (`named …`);
  the number of problems.

Amounts of liabilities, equity and income are positive as on their statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulator.rules.problems import book_problems
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.test_reports import report, rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

    Scenario = Callable[["Shop"], None]

_OPEN = ("BalanceRemaining", "OpenAmount", "UnusedPayment", "CreditRemaining")
SHEET = "<ReportPeriod><ToReportDate>2026-12-31</ToReportDate></ReportPeriod>"
STOCK = {"IncomeAccountRef": "Sales", "COGSAccountRef": "Cost of Goods Sold", "AssetAccountRef": "Inventory Asset"}


class Shop:
    """A shop with one part in stock that is bought for 5.00, unless a bill says otherwise, and sold for 20.00.

    Days are those of July 2026. An entry that is refused leaves no document, and later entries about it do nothing.
    """

    def __init__(self) -> None:
        self.keeper = Bookkeeper()
        self.keeper.add("ItemInventory", Name="Part", PurchaseCost="5", SalesPrice="20", **STOCK)
        self.keeper.add("Account", Name="Accounts Receivable", AccountType="AccountsReceivable")
        self.keeper.add("Account", Name="Accounts Payable", AccountType="AccountsPayable")
        self.keeper.ask("SpecialAccountAddRq", {"SpecialAccountAdd": {"SpecialAccountType": "UndepositedFunds"}})
        self.keeper.add("Account", Name="Savings", AccountType="Bank")
        self.keeper.ask("SpecialAccountAddRq", {"SpecialAccountAdd": {"SpecialAccountType": "Estimates"}})
        self.keeper.add("Account", Name="Second receivables", AccountType="AccountsReceivable")
        self.documents: dict[str, Element] = {}
        self.status = "0"
        self.named: set[str] = set()
        self.keeper.company.strict = True

    def enter(self, label: str, kind: str, day: int = 1, **fields: Any) -> None:
        """Enter a document under a label."""
        response = self.keeper.try_to_add(kind, TxnDate=f"2026-07-{day:02}", **fields)
        self.note(response)
        if self.status == "0":
            self.documents[label] = response[0]

    def list_object(self, kind: str, **fields: Any) -> None:
        self.note(self.keeper.try_to_add(kind, **fields))

    def buy(self, day: int, quantity: int, cost: str, label: str = "bill") -> None:
        line = {"ItemRef": "Part", "Quantity": quantity, "Cost": cost}
        self.enter(label, "Bill", day, VendorRef="Supplier", ItemLineAdd=[line])

    def sell(self, day: int, quantity: int, label: str = "sale") -> None:
        lines = [{"ItemRef": "Part", "Quantity": quantity}]
        self.enter(label, "Invoice", day, CustomerRef="Ada", InvoiceLineAdd=lines)

    def invoice(self, amount: str = "100", customer: str = "Ada", label: str = "invoice", **fields: Any) -> None:
        lines = [{"ItemRef": "Work", "Rate": amount}]
        self.enter(label, "Invoice", CustomerRef=customer, InvoiceLineAdd=lines, **fields)

    def credit(self, amount: str, customer: str = "Ada", label: str = "credit", **fields: Any) -> None:
        lines = [{"ItemRef": "Work", "Rate": amount}]
        self.enter(label, "CreditMemo", CustomerRef=customer, CreditMemoLineAdd=lines, **fields)

    def receive(self, amount: str, label: str = "payment", invoice: str = "invoice", customer: str = "Ada") -> None:
        rows = [{"TxnID": self.key(invoice), "PaymentAmount": amount}]
        self.enter(label, "ReceivePayment", 2, CustomerRef=customer, TotalAmount=amount, AppliedToTxnAdd=rows)

    def apply(self, credit: str, amount: str, invoice: str = "invoice", customer: str = "Ada") -> None:
        """Apply a credit to an invoice without a payment."""
        row = {"TxnID": self.key(invoice), "SetCredit": {"CreditTxnID": self.key(credit), "AppliedAmount": amount}}
        self.enter("application", "ReceivePayment", 3, CustomerRef=customer, TotalAmount="0.00", AppliedToTxnAdd=[row])

    def rent(self, amount: str, label: str = "bill", **fields: Any) -> None:
        lines = [{"AccountRef": "Rent", "Amount": amount}]
        self.enter(label, "Bill", VendorRef="Supplier", ExpenseLineAdd=lines, **fields)

    def pay_bill(self, amount: str, label: str = "check", **row: Any) -> None:
        rows = [{"TxnID": self.key("bill"), "PaymentAmount": amount, **row}]
        bank: dict[str, Any] = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Checking"}
        self.enter(label, "BillPaymentCheck", 2, **bank, IsToBePrinted=True, AppliedToTxnAdd=rows)

    def journal(self, debit: tuple[str, str, str], credit: tuple[str, str, str], label: str = "journal") -> None:
        """Enter a journal entry. A line is an account, an amount and a name or ''."""
        lines = [
            {"AccountRef": account, "Amount": amount, **({"EntityRef": name} if name else {})}
            for account, amount, name in (debit, credit)
        ]
        self.enter(label, "JournalEntry", JournalDebitLine=[lines[0]], JournalCreditLine=[lines[1]])

    def deposit(self, payment: str = "payment") -> None:
        lines = [{"PaymentTxnID": self.key(payment)}]
        self.enter("deposit", "Deposit", 4, DepositToAccountRef="Checking", DepositLineAdd=lines)

    def order(self, quantity: int, customer: str = "Ada", **fields: Any) -> None:
        lines = [{"ItemRef": "Part", "Quantity": quantity}]
        self.enter("order", "SalesOrder", CustomerRef=customer, SalesOrderLineAdd=lines, **fields)

    def fulfil(self, customer: str = "Ada", label: str = "fulfilment", **line: Any) -> None:
        """Invoice what is open of the order."""
        if line:
            link = {"TxnID": self.key("order"), "TxnLineID": self._line("order").findtext("TxnLineID")}
            self.enter(label, "Invoice", 5, CustomerRef=customer, InvoiceLineAdd=[{**line, "LinkToTxn": link}])
        else:
            self.enter(label, "Invoice", 5, CustomerRef=customer, LinkToTxnID=self.key("order"))

    def change(self, label: str, **content: Any) -> None:
        """Change a document."""
        if label in self.documents:
            now = self.keeper.get(self.documents[label])
            kind = now.tag.removesuffix("Ret")
            identity = {"TxnID": now.findtext("TxnID"), "EditSequence": now.findtext("EditSequence")}
            self.note(self.keeper.ask(f"{kind}ModRq", {f"{kind}Mod": {**identity, **content}}))

    def change_line(self, label: str, **content: Any) -> None:
        """Change the only line of a document."""
        line = self._line(label)
        name = line.tag.removesuffix("Ret") + "Mod"
        self.change(label, **{name: {"TxnLineID": line.findtext("TxnLineID"), **content}})

    def delete(self, label: str) -> None:
        if label in self.documents:
            self.note(self.keeper.delete(self.documents[label]))

    def void(self, label: str) -> None:
        if label in self.documents:
            kind = self.documents[label].tag.removesuffix("Ret")
            self.note(self.keeper.ask("TxnVoidRq", {"TxnVoidType": kind, "TxnID": self.key(label)}))

    def key(self, label: str) -> str:
        return self.documents[label].findtext("TxnID", "") if label in self.documents else "1-1"

    def _line(self, label: str) -> Element:
        return next(line for line in self.keeper.get(self.documents[label]).iter() if line.tag.endswith("LineRet"))

    def note(self, response: Element) -> None:
        self.status = response.get("statusCode", "")
        self.named = set(self.keeper.company.simplifications)
        self.keeper.company.simplifications.clear()

    def answer(self, question: str) -> str:
        """Answer a question about the books."""
        subject, _, label = question.partition(" ")
        questions: dict[str, Callable[[], str]] = {
            "refused": lambda: "no" if self.status == "0" else "yes",
            "status": lambda: self.status,
            "on": lambda: self._field("ItemInventory", "Part", "QuantityOnHand"),
            "average": lambda: f"{float(self._field('ItemInventory', 'Part', 'AverageCost')):.2f}",
            "open": lambda: _open_amount(self.keeper.get(self.documents[label])),
            "number": lambda: self.documents[label].findtext("RefNumber", ""),
            "count": lambda: str(len(self.keeper.ask(f"{label}QueryRq", ""))),
            "customer": lambda: self._field("Customer", label, "Balance"),
            "problems": lambda: str(len(book_problems(self.keeper.books))),
            "named": lambda: "yes" if label.replace(" ", "_") in self.named else "no",
            "sheet": lambda: self._row(label),
            "vendor": lambda: self._field("Vendor", label, "Balance"),
        }
        if "." in question:
            return self._field_of(question)
        return questions.get(subject, lambda: self._field("Account", question, "Balance"))()

    def _field_of(self, question: str) -> str:
        holder, _, path = question.partition(".")
        if holder in self.documents:
            return self.keeper.get(self.documents[holder]).findtext(path, "")
        kind, _, name = holder.partition(" ")
        return self._field(kind, name, path)

    def _row(self, title: str) -> str:
        """Return the last value of a row of the balance sheet."""
        return rows(report(self.keeper, "GeneralSummaryReport", "BalanceSheetStandard", SHEET))[title][-1]

    def _field(self, kind: str, name: str, field: str) -> str:
        return self.keeper.get(name, kind).findtext(field, "")


def _open_amount(record: Element) -> str:
    return next(text for name in _OPEN if (text := record.findtext(name)) is not None)


class Scenarios:
    """A table of scenarios with the answers that an accountant expects."""

    def __init__(self) -> None:
        self.rows: list[tuple[Scenario, dict[str, str]]] = []
        self._answers: dict[int, dict[str, str]] = {}

    def expect(self, expected: dict[str, str] | None = None, **answers: str) -> Callable[[Scenario], Scenario]:
        """Enter a scenario into the table. `open_invoice` stands for the question "open invoice"."""

        def enter(scenario: Scenario) -> Scenario:
            questions = {question.replace("_", " "): answer for question, answer in answers.items()}
            self.rows.append((scenario, {**(expected or {}), **questions}))
            return scenario

        return enter

    @property
    def cases(self) -> list[Any]:
        """A parameter for each expectation: place of the scenario, question, expected answer."""
        return [
            pytest.param(place, question, answer, id=f"{scenario.__name__}-{question}")
            for place, (scenario, questions) in enumerate(self.rows)
            for question, answer in questions.items()
        ]

    def answer(self, place: int, question: str) -> str:
        """Play a scenario once, and return an answer. An answer that the books cannot give is the exception."""
        if place not in self._answers:
            scenario, questions = self.rows[place]
            shop, answers = Shop(), {}
            scenario(shop)
            for asked in questions:
                try:
                    answers[asked] = shop.answer(asked)
                except (AttributeError, KeyError, IndexError, StopIteration) as error:
                    answers[asked] = repr(error)
            self._answers[place] = answers
        return self._answers[place][question]
