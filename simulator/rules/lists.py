"""Rules of list objects: names, parents, and the balances of customers, vendors and accounts."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books.kinds import KINDS
from simulator.books.ledger import ZERO
from simulator.books.records import Draft, reference_id
from simulator.books.store import Rules
from simulator.rules.preferences import is_on
from simulator.schema.values import money

if TYPE_CHECKING:
    from simulator.books.records import Fields, Record
    from simulator.books.store import Books

_NUMBERED_ROWS = {"AdditionalNotesRet": "NoteID", "LocationsRet": "LocationID", "LeadContactsRet": "LeadContactID"}
"""The repeated elements with a number that counts within their record."""

TAX_LINES = {
    1: "Balance sheet: cash",
    2: "Balance sheet: accounts receivable",
    3: "Balance sheet: inventory",
    4: "Balance sheet: accounts payable",
    5: "Income: gross receipts or sales",
    6: "Cost of goods sold: purchases",
    7: "Deductions: salaries and wages",
    8: "Deductions: other deductions",
}
"""The lines of the income tax form that an account can name, by TaxLineID."""

MAX_SUBLEVEL = 4
"""A list has five levels at most."""


class ListRules(Rules):
    """Rules of all lists."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Make a new object active unless the request says otherwise, number its rows and record its bar code."""
        fields = draft.fields
        for name, value in (("IsActive", "true"), ("IsPrintItemsInGroup", "false")):
            if name in draft.kind.fields:
                fields.setdefault(name, value)
        for contact in fields.get("ContactsRet", ()):
            if "ListID" not in contact:
                now = books.clock.text(books.clock.seconds())
                contact |= {"ListID": books.new_list_id(), "TimeCreated": now, "TimeModified": now}
                contact["EditSequence"] = str(books.clock.seconds())
        for name, number_field in _NUMBERED_ROWS.items():
            numbers = [int(row[number_field]) for row in fields.get(name, ()) if number_field in row]
            for row in fields.get(name, ()):
                if number_field not in row:
                    numbers.append(max(numbers, default=0) + 1)
                    row[number_field] = str(numbers[-1])
        for note in fields.get("AdditionalNotesRet", ()):
            note.setdefault("Date", books.clock.today().isoformat())
        for location in fields.get("LocationsRet", ()):
            location.setdefault("MainAddress", location.get("Location", ""))
        self._set_bar_code(books, draft)

    def _set_bar_code(self, books: Books, draft: Draft) -> None:
        request = draft.extra.get("BarCode")
        if not request:
            return
        value = request.get("BarCodeValue", "")
        is_in_use = value and any(
            item.fields.get("BarCodeValue") == value for item in books.of("Item") if item is not draft.before
        )
        if is_in_use and request.get("AssignEvenIfUsed") != "true":
            raise RequestError(3210, f'The "BarCodeValue" field has an invalid value "{value}": it is in use.')
        draft.fields["BarCodeValue"] = value

    def check(self, books: Books, draft: Draft) -> None:
        """Check the name. Raises `RequestError` 3100, 3130 or 3210."""
        field = draft.kind.name_field
        if field is None:
            return
        name = draft.fields.get(field, "")
        if not name or (":" in name and field != "FullName"):
            raise RequestError(
                3210,
                f'The "{field}" field has an invalid value "{name}".'
                "  QuickBooks error message: A name cannot be empty or hold a colon.",
            )
        if draft.before is not None:
            _check_parent(books, draft.before, draft.reference("ParentRef"))
        full_name = books.full_name_of(draft.kind, draft.fields)
        if full_name.count(":") > MAX_SUBLEVEL:
            raise RequestError(
                3210, f'The "ParentRef" field has an invalid value: "{full_name}" has more than five levels.'
            )
        owner = books.owner_of_name(draft.kind, full_name)
        if owner is not None and owner is not draft.before:
            raise RequestError(3100, f'The name "{full_name}" of the list element is already in use.')


def _check_parent(books: Books, record: Record, parent_id: str) -> None:
    """Refuse a parent that is the record itself or below it."""
    while parent_id:
        if parent_id == record.id:
            raise RequestError(
                3130,
                f'There is an invalid reference to a parent "{record.full_name}" in the {record.kind.name}s list.'
                "  QuickBooks error message: A list element cannot be below itself.",
            )
        parent = books.lists.get(parent_id)
        parent_id = reference_id(parent.fields, "ParentRef") if parent is not None else ""


def default_tax_codes(books: Books) -> tuple[Fields, Fields]:
    """Return references to the oldest taxable and the oldest non-taxable code, empty ones if there are none."""
    codes = sorted(books["SalesTaxCode"], key=lambda code: int(code.id.partition("-")[0], 16))
    taxable, exempt = (
        next((code.reference() for code in codes if code.fields.get("IsTaxable") == value), {})
        for value in ("true", "false")
    )
    return taxable, exempt


class SalesTaxCodeRules(ListRules):
    """Sales tax codes, each taxable or not."""

    def check(self, books: Books, draft: Draft) -> None:
        """Keep what a code means once transactions have it, and what the two first codes mean.

        "You can't change the taxable status of a sales tax code if you have already used it in a transaction" (Intuit,
        "Change sales tax code information"); the codes that a file begins with keep theirs (Conductor). Raises
        `RequestError` 3210.
        """
        super().check(books, draft)
        code, is_taxable = draft.before, draft.fields.get("IsTaxable")
        if code is None or code.fields.get("IsTaxable") == is_taxable:
            return
        is_used = any(user in books.transactions for user in books.users(code.id))
        if is_used or code.reference() in default_tax_codes(books):
            raise RequestError(
                3210,
                f'The "IsTaxable" field has an invalid value "{is_taxable}".'
                "  QuickBooks error message: The code is in use.",
            )


class CustomerRules(ListRules):
    """Customers and jobs."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Fill in the statuses that every customer has. A new one gets the tax code of its parent or of the company."""
        super().complete(books, draft)
        fields = draft.fields
        if draft.before is None and "SalesTaxCodeRef" not in fields and is_on(books, "sales_tax"):
            parent = books.lists.get(draft.reference("ParentRef"))
            code = parent.fields.get("SalesTaxCodeRef") if parent is not None else None
            fields["SalesTaxCodeRef"] = code or default_tax_codes(books)[0]
        fields.setdefault("JobStatus", "None")
        fields.setdefault("PreferredDeliveryMethod", "None")

    def after_add(self, books: Books, record: Record, draft: Draft) -> None:
        """Make the invoice of an opening balance."""
        balance = Decimal(draft.extra.get("OpenBalance") or "0")
        if not balance:
            return
        fields = {
            "CustomerRef": record.reference(),
            "Memo": "Opening balance",
            "InvoiceLineRet|InvoiceLineGroupRet": [
                ["InvoiceLineRet", {"Desc": "Opening balance", "Amount": money(balance)}]
            ],
        }
        if draft.extra.get("OpenBalanceDate"):
            fields["TxnDate"] = draft.extra["OpenBalanceDate"]
        add_transaction(books, "Invoice", fields, record.created)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the balance of the customer itself, and the one with its jobs."""
        own = entity_balance(books, record.id)
        total = own
        pending = books.children(record)
        while pending:
            child = pending.pop()
            total += entity_balance(books, child.id)
            pending += books.children(child)
        return {"Balance": money(own), "TotalBalance": money(total)}


class VendorRules(ListRules):
    """Vendors."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Make the vendor ineligible for form 1099 unless the request says otherwise."""
        super().complete(books, draft)
        draft.fields.setdefault("IsVendorEligibleFor1099", "false")

    def after_add(self, books: Books, record: Record, draft: Draft) -> None:
        """Make the bill of an opening balance."""
        balance = Decimal(draft.extra.get("OpenBalance") or "0")
        if balance:
            line = {"Memo": "Opening balance", "Amount": money(balance)}
            fields = {"VendorRef": record.reference(), "Memo": "Opening balance", "ExpenseLineRet": [line]}
            if draft.extra.get("OpenBalanceDate"):
                fields["TxnDate"] = draft.extra["OpenBalanceDate"]
            add_transaction(books, "Bill", fields, record.created)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the amount that the company owes to the vendor."""
        return {"Balance": money(-entity_balance(books, record.id))}


_NAME_PARTS = ("FirstName", "MiddleName", "LastName")
MAX_NAME = 41


class EmployeeRules(ListRules):
    """Employees."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Build the name from its parts, because no edition takes it from the request."""
        super().complete(books, draft)
        if "Name" not in draft.fields or draft.fields_set & set(_NAME_PARTS):
            parts = (draft.fields.get(part, "") for part in _NAME_PARTS)
            draft.fields["Name"] = " ".join(filter(None, parts))[:MAX_NAME]

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the payroll information with the switch of qbXML 16.0 for time data."""
        info = record.fields.get("EmployeePayrollInfo")
        if not info:
            return super().derived(books, record)
        uses_time = info.get("UseTimeDataToCreatePaychecks") == "UseTimeData"
        return {
            **super().derived(books, record),
            "EmployeePayrollInfo": {**info, "IsUsingTimeDataToCreatePaychecks": "true" if uses_time else "false"},
        }


def add_transaction(books: Books, kind_name: str, fields: Fields, at: int) -> Record:
    """Complete a transaction that QuickBooks makes by itself, and store it."""
    kind = KINDS[kind_name]
    draft = Draft(kind, fields)
    books.rules_of(kind).complete(books, draft)
    return books.add(kind, draft.fields, at=at)


def opening_equity(books: Books) -> Fields:
    """Return a reference to the account for opening balances. If there is none, QuickBooks makes it."""
    name = "Opening Balance Equity"
    account = books.named(name, ("Account",))
    if account is None:
        fields = {
            "Name": name,
            "IsActive": "true",
            "AccountType": "Equity",
            "SpecialAccountType": "OpeningBalanceEquity",
        }
        account = books.add(KINDS["Account"], fields)
    return account.reference()


def entity_balance(books: Books, entity: str) -> Decimal:
    """Return the amount that an entity owes: the sum of its postings to accounts receivable and payable."""
    return sum((books.ledger.entities.get((entity, account), ZERO) for account in open_accounts(books)), ZERO)


def open_accounts(books: Books) -> list[str]:
    """Return the ids of the accounts that hold open balances of customers and vendors."""
    return [
        account.id
        for account in books["Account"]
        if account.fields.get("AccountType") in {"AccountsReceivable", "AccountsPayable"}
    ]


_CREDIT_TYPES = {
    "AccountsPayable",
    "CreditCard",
    "OtherCurrentLiability",
    "LongTermLiability",
    "Equity",
    "Income",
    "OtherIncome",
}
"""Account types with a credit balance: QuickBooks shows it as a positive number."""


_CASH_FLOWS = {
    "AccountsPayable": "Operating",
    "AccountsReceivable": "Operating",
    "Bank": "NotApplicable",
    "CreditCard": "Operating",
    "Equity": "Financing",
    "FixedAsset": "Investing",
    "LongTermLiability": "Financing",
    "NonPosting": "NotApplicable",
    "OtherAsset": "Investing",
    "OtherCurrentAsset": "Operating",
    "OtherCurrentLiability": "Operating",
}
"""The part of the cash flow statement by account type, from captured responses. Income and expenses are in none.

Undeposited funds are money, as in a bank.
"""


RETAINED_EARNINGS = "RetainedEarnings"
"""The SpecialAccountType of the account that shows the earnings of former years. Its name can be another one."""


class AccountRules(ListRules):
    """Accounts."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Name the tax line."""
        super().complete(books, draft)
        fields, line = draft.fields, draft.extra.get("TaxLineID")
        if line:
            if int(line) not in TAX_LINES:
                raise RequestError(3210, f'The "TaxLineID" field has an invalid value "{line}".')
            fields["TaxLineInfoRet"] = {"TaxLineID": line, "TaxLineName": TAX_LINES[int(line)]}

    def check(self, books: Books, draft: Draft) -> None:
        """Check that the account has the type of the account above it. Raises `RequestError` 3130."""
        super().check(books, draft)
        parent = books.lists.get(draft.reference("ParentRef"))
        if parent is not None and parent.fields.get("AccountType") != draft.fields.get("AccountType"):
            raise RequestError(
                3130,
                f'There is an invalid reference to a parent "{parent.full_name}" in the Accounts list.'
                "  QuickBooks error message: A subaccount must be of the same type as its parent.",
            )

    def check_delete(self, books: Books, record: Record) -> None:  # noqa: ARG002
        """Refuse to delete the account that every file has. Raises `RequestError` 3160."""
        if record.fields.get("SpecialAccountType") == RETAINED_EARNINGS:
            message = f'Cannot delete the object specified by the id = "{record.id}".  The file needs the account.'
            raise RequestError(3160, message)

    def after_add(self, books: Books, record: Record, draft: Draft) -> None:
        """Make the journal entry of an opening balance."""
        balance = Decimal(draft.extra.get("OpenBalance") or "0")
        if not balance:
            return
        own, other = {"AccountRef": record.reference()}, {"AccountRef": opening_equity(books)}
        amount = money(abs(balance))
        rises_by_debit = record.fields.get("AccountType") not in _CREDIT_TYPES
        debit, credit = (own, other) if rises_by_debit == (balance > 0) else (other, own)
        fields = {
            "Memo": "Opening balance",
            "JournalDebitLine|JournalCreditLine": [
                ["JournalDebitLine", {**debit, "Amount": amount}],
                ["JournalCreditLine", {**credit, "Amount": amount}],
            ],
        }
        if draft.extra.get("OpenBalanceDate"):
            fields["TxnDate"] = draft.extra["OpenBalanceDate"]
        add_transaction(books, "JournalEntry", fields, record.created)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the balances with and without subaccounts, and the part of the cash flow statement."""
        kind = record.fields.get("AccountType", "")
        sign = -1 if kind in _CREDIT_TYPES else 1
        own = books.ledger.accounts.get(record.id, ZERO)
        total = own
        pending = books.children(record)
        while pending:
            child = pending.pop()
            total += books.ledger.accounts.get(child.id, ZERO)
            pending += books.children(child)
        is_money = record.fields.get("SpecialAccountType") == "UndepositedFunds"
        return {
            "Balance": money(sign * own),
            "TotalBalance": money(sign * total),
            "CashFlowClassification": _CASH_FLOWS["Bank"] if is_money else _CASH_FLOWS.get(kind, "None"),
        }
