"""The account types, parties and signs that the fields of each kind of record take, as tables to review.

QuickBooks offers only these accounts and names in its forms. Where its documentation is silent, a rule follows from
double entry: a transfer moves money between accounts of the balance sheet, and a total below zero belongs on a credit.
Status 3210 refuses a field. 3180 refuses to save a new transaction, 3170 a changed one. 3270 refuses an amount without
an account. The wording after "QuickBooks error message:" is our own.

One table, because checks in ten rule classes hid which were missing, and the schema has no account types. What the
table does not list is accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import STATUSES
from simulator.books.ledger import NOTHING, ZERO
from simulator.books.records import reference_id
from simulator.rules.common import OPEN_TYPES, check_account_type, decimal, refused
from simulator.rules.settling import top_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.books.kinds import Kind
    from simulator.books.records import Draft, Record
    from simulator.books.store import Books

BANK = ("Bank",)
CARD = ("CreditCard",)
RECEIVABLE = ("AccountsReceivable",)
PAYABLE = ("AccountsPayable",)
MONEY = ("Bank", "CreditCard", "OtherCurrentAsset", "OtherCurrentLiability")
"""The accounts that money can be received in or refunded from. Undeposited funds are an other current asset."""
BALANCE_SHEET = (
    "AccountsPayable",
    "AccountsReceivable",
    "Bank",
    "CreditCard",
    "Equity",
    "FixedAsset",
    "LongTermLiability",
    "OtherAsset",
    "OtherCurrentAsset",
    "OtherCurrentLiability",
)
INCOME = ("Income", "OtherIncome")
COST = ("CostOfGoodsSold", "Expense", "OtherExpense")
ASSET = ("FixedAsset", "OtherAsset", "OtherCurrentAsset")
POSTING = tuple(sorted((*BALANCE_SHEET, *INCOME, *COST)))
"""All types but NonPosting."""

_EXPENSES = {"ExpenseLineRet/AccountRef": POSTING}
_STOCK = {"IncomeAccountRef": INCOME, "COGSAccountRef": COST, "AssetAccountRef": ASSET}

ACCOUNT_TYPES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ARRefundCreditCard": {"ARAccountRef": RECEIVABLE, "RefundFromAccountRef": MONEY},
    "Bill": {"APAccountRef": PAYABLE, **_EXPENSES},
    "BillPaymentCheck": {"APAccountRef": PAYABLE, "BankAccountRef": BANK},
    "BillPaymentCreditCard": {"APAccountRef": PAYABLE, "CreditCardAccountRef": CARD},
    "Charge": {"ARAccountRef": RECEIVABLE},
    "Check": {"AccountRef": BANK, **_EXPENSES},
    "CreditCardCharge": {"AccountRef": CARD, **_EXPENSES},
    "CreditCardCredit": {"AccountRef": CARD, **_EXPENSES},
    "CreditMemo": {"ARAccountRef": RECEIVABLE},
    "Deposit": {
        "DepositToAccountRef": ("Bank", "OtherCurrentAsset", "OtherCurrentLiability"),
        "DepositLineRet/AccountRef": POSTING,
        "CashBackInfoRet/AccountRef": POSTING,
    },
    "InventoryAdjustment": {"AccountRef": tuple(kind for kind in POSTING if kind not in OPEN_TYPES)},
    "Invoice": {"ARAccountRef": RECEIVABLE},
    "ItemInventory": _STOCK,
    "ItemInventoryAssembly": _STOCK,
    "ItemReceipt": {"APAccountRef": PAYABLE, **_EXPENSES},
    "JournalEntry": {"JournalDebitLine/AccountRef": POSTING, "JournalCreditLine/AccountRef": POSTING},
    "ReceivePayment": {"ARAccountRef": RECEIVABLE, "DepositToAccountRef": MONEY},
    "SalesReceipt": {"DepositToAccountRef": MONEY},
    "SalesTaxPaymentCheck": {"BankAccountRef": BANK},
    "Transfer": {"TransferFromAccountRef": BALANCE_SHEET, "TransferToAccountRef": BALANCE_SHEET},
    "VendorCredit": {"APAccountRef": PAYABLE, **_EXPENSES},
}
"""The account types of each field by kind. `ExpenseLineRet/AccountRef` is a field of a line."""

REQUIRED_ACCOUNTS: Mapping[str, tuple[str, ...]] = {
    "ItemInventory": tuple(_STOCK),
    "ItemInventoryAssembly": tuple(_STOCK),
}
"""The accounts without which a record cannot be saved, by kind."""

PARTIES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "BillPaymentCheck": ("PayeeEntityRef", ("Vendor",)),
    "BillPaymentCreditCard": ("PayeeEntityRef", ("Vendor",)),
    "SalesTaxPaymentCheck": ("PayeeEntityRef", ("Vendor",)),
    "TimeTracking": ("EntityRef", ("Employee", "OtherName", "Vendor")),
}
"""The fields that could name any customer, vendor, employee or other name, and the kinds that they take.

"You can add time-tracking information to any vendor, employee, or person on the Other Names list" (Intuit's API
Reference, TimeTrackingAdd).
"""

OWNERS: Mapping[str, str] = {"AccountsReceivable": "Customer", "AccountsPayable": "Vendor"}
"""The kind of the name on an amount in an open account, by account type."""

_NEEDS_ACCOUNT = {
    "CashBackInfoRet",
    "DepositLineRet",
    "ExpenseLineRet",
    "JournalCreditLine",
    "JournalDebitLine",
}
"""The lines that name their account, unless they stand for a payment."""

NOT_NEGATIVE: Mapping[str, str] = {
    "Bill": "AmountDue",
    "Check": "Amount",
    "CreditCardCharge": "Amount",
    "CreditCardCredit": "Amount",
    "CreditMemo": "TotalAmount",
    "Invoice": "TotalAmount",
    "ItemReceipt": "TotalAmount",
    "SalesReceipt": "TotalAmount",
    "Transfer": "Amount",
    "VendorCredit": "CreditAmount",
}
"""The total that cannot be below zero, by kind."""


_WITHOUT_OPENING = (*RECEIVABLE, *PAYABLE, *INCOME, *COST, "NonPosting")
"""The types whose accounts open without a balance: it belongs to customers and vendors, or to a year's result."""

FIXED_TYPES = (*RECEIVABLE, *PAYABLE, "NonPosting")
"""The types that no account changes to or from. NonPosting accounts are made by QuickBooks alone."""


def check_fields(books: Books, draft: Draft) -> None:
    """Check the accounts and the party of a record, and that billable lines have a customer.

    Raises `RequestError` 3150, 3180 or 3210.
    """
    kind = draft.kind.name
    types = ACCOUNT_TYPES.get(kind, {})
    for field, allowed in types.items():
        if "/" not in field:
            check_account_type(books, draft.fields, field, allowed)
    for field in REQUIRED_ACCOUNTS.get(kind, ()):
        if field not in draft.fields:
            raise RequestError(3150, f'There is a missing element: "{field}".')
    if kind in PARTIES:
        field, parties = PARTIES[kind]
        entity = books.lists.get(reference_id(draft.fields, field))
        if entity is not None and entity.kind.name not in parties:
            raise refused(field, entity.full_name, f"The name must be of the type {' or '.join(parties)}.")
    if kind == "Account":
        _check_account(books, draft)
    if not draft.kind.is_list:
        _check_lines(books, draft, types)


def _check_account(books: Books, draft: Draft) -> None:
    """Check the type and the opening balance of an account. Raises `RequestError` 3210.

    A request adds no NonPosting account (Conductor). The balance of receivables and payables belongs to customers and
    vendors, and that of income and expenses to a year.
    """
    kind, account = str(draft.fields.get("AccountType")), draft.before
    if decimal(draft.extra, "OpenBalance") and kind in _WITHOUT_OPENING:
        raise refused("OpenBalance", draft.extra["OpenBalance"], f"An account of type {kind} opens without a balance.")
    if account is None and kind == "NonPosting" and "SpecialAccountType" not in draft.fields:
        raise refused("AccountType", kind, "QuickBooks makes these accounts itself.")
    if account is not None and "OpenBalance" in draft.extra:
        books.assume("changed_opening_balance")
    if account is not None and account.fields.get("AccountType") != kind:
        _check_type_change(books, account, kind)


def _check_type_change(books: Books, account: Record, new: str) -> None:
    """Check that an account can change its type. Raises `RequestError` 3210.

    QuickBooks changes no type to or from A/R or A/P, none of an account that it made itself or that has subaccounts
    (Intuit, "Change an account type"), and none from Bank to Expense, but Cost of Goods Sold to Expense (Solarsys,
    "Change of account type in QuickBooks Desktop"). That an account keeps the type which its transactions and items
    need follows from `ACCOUNT_TYPES`.
    """
    former = str(account.fields.get("AccountType"))
    fixed = next((kind for kind in (former, new) if kind in FIXED_TYPES), "")
    if fixed:
        raise refused("AccountType", new, f"No account can change to or from the type {fixed}.")
    if account.fields.get("SpecialAccountType"):
        raise refused("AccountType", new, "The type of an account that QuickBooks made cannot be changed.")
    if books.children(account):
        raise refused("AccountType", new, "The type of an account with subaccounts cannot be changed.")
    users = [books.lists.get(user) or books.transactions[user] for user in books.users(account.id)]
    other = next((user for user in users if not _takes(user, account, new)), None)
    is_used = any(not user.kind.is_list for user in users)
    if other is not None or (is_used and former in (*BANK, *CARD) and new not in BALANCE_SHEET):
        kind = other.kind.name if other is not None else "transaction"
        raise refused("AccountType", new, f"A {kind} needs an account of its present type, {former}.")
    if is_used and not {former, new} <= {*INCOME, *COST}:
        books.assume("used_account_of_another_type")


def _takes(user: Record, account: Record, account_type: str) -> bool:
    """Return whether a record that refers to an account could do so if the account were of a type."""
    holders = [("", user.fields), *((f"{name}/", line) for name, line in user.lines())]
    return not any(
        field.startswith(prefix)
        and reference_id(holder, field.removeprefix(prefix)) == account.id
        and account_type not in allowed
        for field, allowed in ACCOUNT_TYPES.get(user.kind.name, {}).items()
        for prefix, holder in holders
        if ("/" in field) == bool(prefix)
    )


def _check_lines(books: Books, draft: Draft, types: Mapping[str, tuple[str, ...]]) -> None:
    for name, line in draft.lines():
        for field, value in line.items():
            if f"{name}/{field}" in types:
                check_account_type(books, line, field, types[f"{name}/{field}"])
            elif field == "Amount" and name in _NEEDS_ACCOUNT and decimal(line, field) and "AccountRef" not in line:
                if not line.get("PaymentTxnID") and "TxnID" not in line:
                    raise no_account()
            elif field == "BillableStatus" and value == "Billable" and not line.get("CustomerRef"):
                raise not_saved(draft, "A billable line needs a customer.")


def check_signs(draft: Draft) -> None:
    """Check that the total of a complete transaction is not negative. Raises `RequestError` 3180."""
    field = NOT_NEGATIVE.get(draft.kind.name)
    if field and decimal(draft.fields, field) < ZERO:
        raise not_saved(draft, "The total of the transaction cannot be negative.")


def check_open_postings(books: Books, record: Record, *, is_new: bool) -> None:
    """Check what a transaction of any kind posts to receivables and payables. Raises `RequestError` 3170 or 3180.

    Each amount belongs to a customer or to a vendor, and stays open until it is settled: so the balances of customers
    add up to accounts receivable. A transaction posts to one such account, because its amount could not be settled
    otherwise. QuickBooks demands both of journal entries (QBGarage, "Journal entries to A/R and A/P accounts").
    """
    effects = books.ledger.effects.get(record.id, NOTHING)
    open_accounts, parties = set(), set()
    for posting in effects.postings:
        account = books.lists[posting.account]
        owner = OWNERS.get(account.fields["AccountType"])
        if owner is None:
            continue
        entity = books.lists.get(posting.entity)
        if entity is None or entity.kind.name != owner:
            raise _not_saved(record.kind, f"An amount in {account.full_name} needs a {owner.lower()}.", is_new=is_new)
        if not posting.is_open:
            raise _not_saved(record.kind, f"An item cannot post to {account.full_name}.", is_new=is_new)
        open_accounts.add(account.id)
        parties.add(top_of(books, entity.id))
    if len(open_accounts) > 1:
        raise _not_saved(record.kind, "It can have only one account for receivables or payables.", is_new=is_new)
    if len(parties) > 1:
        books.assume("open_lines_of_several_names")


def not_saved(draft: Draft, reason: str) -> RequestError:
    """Return the error for a transaction that QuickBooks refuses to save."""
    return _not_saved(draft.kind, reason, is_new=draft.before is None)


def _not_saved(kind: Kind, reason: str, *, is_new: bool) -> RequestError:
    code, verb = (3180, "saving") if is_new else (3170, "modifying")
    return RequestError(code, f"There was an error when {verb} a {kind.name}.  QuickBooks error message: {reason}")


def no_account() -> RequestError:
    """Return the error for an amount that does not say to which account it posts."""
    return RequestError(3270, STATUSES[3270].text)
