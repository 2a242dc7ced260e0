"""Rules of all transactions: numbers, dates, templates, accounts, links, and the closing date."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books.kinds import KINDS
from simulator.books.ledger import DEPOSITED, ZERO
from simulator.books.records import reference_id
from simulator.books.store import Rules
from simulator.rules.currency import complete_rate
from simulator.rules.lists import opening_equity
from simulator.rules.preferences import CLOSING_DATE, OFF, value_of
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from simulator.books.kinds import Kind
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

CENT = Decimal("0.01")
HUNDRED = Decimal(100)

OPEN_TYPES = {"AccountsReceivable", "AccountsPayable"}
"""The account types with postings that stay open until they are settled."""

_SPECIAL_ACCOUNTS = {
    "AccountsReceivable": ("Accounts Receivable", "AccountsReceivable"),
    "AccountsPayable": ("Accounts Payable", "AccountsPayable"),
    "UndepositedFunds": ("Undeposited Funds", "OtherCurrentAsset"),
    "InventoryAssets": ("Inventory Asset", "OtherCurrentAsset"),
    "CostOfGoodsSold": ("Cost of Goods Sold", "CostOfGoodsSold"),
    "SalesTaxPayable": ("Sales Tax Payable", "OtherCurrentLiability"),
    "UncategorizedIncome": ("Uncategorized Income", "Income"),
    "UncategorizedExpenses": ("Uncategorized Expenses", "Expense"),
}
"""The accounts that QuickBooks makes when it needs them: name and type by SpecialAccountType."""
CHECKS = "Check"
"""The series of check numbers, followed by the bank account: checks, bill payments and sales tax payments share it."""
_TEMPLATES = {
    "CreditMemo": "Custom Credit Memo",
    "Estimate": "Retail Estimate",
    "Invoice": "Intuit Product Invoice",
    "PurchaseOrder": "Custom Purchase Order",
    "SalesOrder": "Custom Sales Order",
    "SalesReceipt": "Custom Sales Receipt",
}
"""The templates that every company file has: names by TemplateType."""
FIRST_NUMBER = "1001"
"""The RefNumber of the first transaction of a kind."""
CHANGE_CLOSED, DELETION_CLOSED = 3171, 3161
"""The statuses of a change and of a deletion on or before the closing date."""
_UNIQUE_TYPES = OPEN_TYPES | {"CostOfGoodsSold"}
"""The types of special accounts that any account of the type can serve as, whatever its name."""


def decimal(fields: Fields, name: str) -> Decimal:
    """Return a number of a record, 0 without one."""
    return Decimal(fields.get(name) or "0")


def rounded(amount: Decimal) -> Decimal:
    """Round to cents, half up, as QuickBooks does."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def percent_of(amount: Decimal, percent: Decimal) -> Decimal:
    """Return a percentage of an amount, in cents."""
    return rounded(amount * percent / HUNDRED)


def special_account(books: Books, special: str) -> Fields:
    """Return a reference to a special account. If the company file does not have it, QuickBooks makes it."""
    if special == "OpeningBalanceEquity":
        return opening_equity(books)
    name, account_type = _SPECIAL_ACCOUNTS[special]
    named = books.named(name, ("Account",))
    if named is not None and named.fields.get("SpecialAccountType") == special:
        return named.reference()
    of_type = None
    for account in books["Account"]:
        if account.fields.get("SpecialAccountType") == special or account.full_name == name:
            return account.reference()
        if of_type is None and account_type in _UNIQUE_TYPES and account.fields.get("AccountType") == account_type:
            of_type = account
    if of_type is None:
        fields = {"Name": name, "IsActive": "true", "AccountType": account_type, "SpecialAccountType": special}
        of_type = books.add(KINDS["Account"], fields)
    return of_type.reference()


def built_in_template(books: Books, kind_name: str) -> Fields:
    """Return a reference to the form on which QuickBooks prints transactions of a kind."""
    name = _TEMPLATES[kind_name]
    template = books.named(name, ("Template",))
    if template is None:
        template = books.add(KINDS["Template"], {"Name": name, "IsActive": "true", "TemplateType": kind_name})
    return template.reference()


def account_type(books: Books, account_id: str) -> str:
    """Return the AccountType of an account, '' without one."""
    account = books.lists.get(account_id)
    return str(account.fields.get("AccountType", "")) if account is not None else ""


def check_account_type(books: Books, fields: Fields, name: str, types: Collection[str]) -> None:
    """Check that a reference points to an account of these types. Raises `RequestError` 3210."""
    account = books.lists.get(reference_id(fields, name))
    if account is not None and str(account.fields.get("AccountType")) not in types:
        raise refused(name, account.full_name, f"The account must be of type {' or '.join(sorted(types))}.")


def refused(field: str, value: object, reason: str) -> RequestError:
    """Return the error for a value that QuickBooks refuses."""
    return RequestError(
        3210, f'The "{field}" field has an invalid value "{value}".  QuickBooks error message: {reason}'
    )


def no_transaction(txn_id: str) -> RequestError:
    """Return the error for a transaction that does not exist or is of the wrong kind."""
    return RequestError(
        3120,
        f'Object "{txn_id}" specified in the request cannot be found.  '
        "QuickBooks error message: Invalid argument.  The specified record does not exist in the list.",
    )


def find_transaction(books: Books, txn_id: str, kinds: tuple[str, ...]) -> Record:
    """Return a transaction of one of these kinds. Raises `RequestError` 3120."""
    record = books.transaction(txn_id, kinds)
    if record is None:
        raise no_transaction(txn_id)
    return record


def flat_lines(holder: Draft | Record) -> Iterator[Fields]:
    """Yield the lines in their order. A group line is replaced by the lines within the group."""
    for name, line in holder.lines():
        if name in _INNER_LINES:
            yield from line.setdefault(_INNER_LINES[name], [])
        else:
            yield line


def group_lines(name: str, line: Fields) -> list[Fields] | None:
    """Return the lines within a group line, None for a line that is not a group."""
    inner_name = _INNER_LINES.get(name)
    return None if inner_name is None else line.setdefault(inner_name, [])


def inner_line_name(name: str) -> str:
    """Return the element name of the lines within a group line."""
    return _INNER_LINES[name]


_INNER_LINES = {
    name: name.replace("Group", "") for kind in KINDS.values() for name in kind.line_names if "Group" in name
}


def due_date(books: Books, terms: str, day: str) -> str:
    """Return the due date of a transaction of this day under these terms. Without terms, it is the same day."""
    record = books.lists.get(terms)
    if record is None:
        return day
    start, fields = date.fromisoformat(day), record.fields
    if record.kind.name == "StandardTerms":
        return (start + timedelta(days=int(fields.get("StdDueDays") or 0))).isoformat()
    due = int(fields.get("DayOfMonthDue") or 1)
    ahead = int(fields.get("DueNextMonthDays") or 0)
    month = _day_in_month(start.year, start.month, due)
    if (month - start).days < max(ahead, 0) or month < start:
        month = _day_in_month(start.year + start.month // 12, start.month % 12 + 1, due)
    return month.isoformat()


def early_payment(books: Books, terms: str, day: str) -> tuple[str, Decimal]:
    """Return the last day of an early-payment discount, and its percentage. They are '' and 0 without a discount."""
    record = books.lists.get(terms)
    if record is None or not decimal(record.fields, "DiscountPct"):
        return "", ZERO
    start = date.fromisoformat(day)
    if record.kind.name == "StandardTerms":
        last = start + timedelta(days=int(record.fields.get("StdDiscountDays") or 0))
    else:
        last = _day_in_month(start.year, start.month, int(record.fields.get("DiscountDayOfMonth") or 1))
    return last.isoformat(), decimal(record.fields, "DiscountPct")


def _day_in_month(year: int, month: int, number: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1)
    return min(date(year, month, min(number, 28)) + timedelta(days=max(number - 28, 0)), following - timedelta(days=1))


class TransactionRules(Rules):
    """Rules of all transactions."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Date the transaction today, number it and its lines."""
        fields, model = draft.fields, draft.kind.fields
        if "TxnDate" not in fields and "TxnDate" in model:
            fields["TxnDate"] = books.clock.today().isoformat()
        self.check_closing_date(books, draft)
        complete_rate(books, draft)
        if "RefNumber" not in fields and "RefNumber" in model and draft.before is None:
            fields["RefNumber"] = self.next_ref_number(books, draft)
        if "TemplateRef" not in fields and draft.kind.name in _TEMPLATES and draft.before is None:
            fields["TemplateRef"] = built_in_template(books, draft.kind.name)
        if fields.get("ExternalGUID") == "0":
            del fields["ExternalGUID"]
        for name, line in draft.lines():
            line.setdefault("TxnLineID", books.new_line_id())
            for inner in group_lines(name, line) or ():
                inner.setdefault("TxnLineID", books.new_line_id())

    def next_ref_number(self, books: Books, draft: Draft) -> str:
        """Return the number after the last one of the kind."""
        return books.next_number(self.number_series(draft.kind, draft.fields), FIRST_NUMBER)

    def number_series(self, kind: Kind, fields: Fields) -> str:  # noqa: ARG002 - checks have one for each account
        """Return the name of the kind."""
        return kind.name

    def complete_due_date(self, books: Books, draft: Draft) -> None:
        """Compute the due date from the terms unless the request names one."""
        fields = draft.fields
        changed = draft.before is None or not draft.fields_set.isdisjoint({"TermsRef", "TxnDate"})
        if "DueDate" not in fields or (changed and draft.before is not None and "DueDate" not in draft.fields_set):
            fields["DueDate"] = due_date(books, draft.reference("TermsRef"), fields["TxnDate"])

    def check_closing_date(self, books: Books, draft: Draft) -> None:
        """Check the date, and the former one, against the closing date. Raises `RequestError` 3171."""
        self._check_open(books, draft.fields.get("TxnDate", ""))
        if draft.before is not None:
            self._check_open(books, draft.before.fields.get("TxnDate", ""))

    def check_delete(self, books: Books, record: Record) -> None:
        """Refuse to delete a transaction of a closed period, or one that is deposited. Raises 3160 or 3161."""
        self._check_open(books, record.fields.get("TxnDate", ""), DELETION_CLOSED, "delete")
        if is_deposited(books, record):
            message = f'Cannot delete the object specified by the id = "{record.id}".  It has been deposited.'
            raise RequestError(3160, message)

    def check_void(self, books: Books, record: Record) -> None:
        """Refuse to void a transaction of a closed period, or one that is deposited. Raises 3171 or 3185."""
        self._check_open(books, record.fields.get("TxnDate", ""))
        if is_deposited(books, record):
            message = (
                f"There was an error when voiding a {record.kind.name}.  QuickBooks error message: It is deposited."
            )
            raise RequestError(3185, message)

    def _check_open(self, books: Books, day: str, code: int = CHANGE_CLOSED, verb: str = "modify") -> None:
        closed = value_of(books, CLOSING_DATE)
        if day and closed != OFF and day <= closed:
            raise RequestError(
                code,
                f"An attempt was made to {verb} a transaction with a date that is on or before the closing date of "
                "the company.",
            )

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the links to other transactions."""
        return {"LinkedTxn": linked_transactions(books, record)} if "LinkedTxn" in record.kind.fields else {}


def is_deposited(books: Books, record: Record) -> bool:
    """Return whether a deposit contains a payment."""
    return any(link.kind == DEPOSITED and link.target == record.id for link in books.ledger.links(record.id))


def check_series(fields: Fields, account: str) -> str:
    """Return the series of check numbers of the bank account in a field."""
    return f"{CHECKS} {reference_id(fields, account)}"


def next_check_number(books: Books, series: str, draft: Draft) -> str:
    """Return the number after the last check of an account. A check that is to be printed gets it from the printer."""
    return "" if draft.fields.get("IsToBePrinted") == "true" else books.next_number(series, "1")


def linked_transactions(books: Books, record: Record) -> list[Fields]:
    """Return the LinkedTxn elements of a transaction, oldest first."""
    linked = []
    for link in books.ledger.links(record.id):
        other = books.transaction(link.target if link.source == record.id else link.source)
        if other is not None and link.kind != DEPOSITED:
            linked.append({
                "TxnID": other.id,
                "TxnType": other.kind.name,
                "TxnDate": other.fields.get("TxnDate", ""),
                "RefNumber": other.fields.get("RefNumber", ""),
                "LinkType": link.kind,
                "Amount": money(-link.amount),
            })  # fmt: skip
    return linked
