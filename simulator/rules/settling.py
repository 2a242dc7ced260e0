"""Open amounts: the checks before a transaction settles others, and the amounts that are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.ledger import ZERO
from simulator.rules.common import decimal, find_transaction, refused
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

CREDITS = ("CreditMemo", "ReceivePayment")
"""The transactions with which an invoice can be settled."""

PAY_TOO_MUCH = "You cannot pay more than the amount due."


def open_state(books: Books, record: Record) -> Fields:
    """Return the paid and the open amount of an invoice or charge."""
    left = books.ledger.open_amount(record.id)
    return {
        "AppliedAmount": money(-books.ledger.settled(record.id)),
        "BalanceRemaining": money(left),
        "IsPaid": "true" if left <= 0 else "false",
    }


def check_credits(
    books: Books, applied: list[Fields], kinds: tuple[str, ...], limit: Decimal, draft: Draft | None
) -> Decimal:
    """Check the SetCredit elements of a request and return their sum. Raises `RequestError` 3120 or 3210.

    Each credit must have enough left, and their sum must not exceed `limit`, the amount to settle.
    """
    own = draft.before.id if draft is not None and draft.before is not None else ""
    total = ZERO
    used: dict[str, Decimal] = {}
    for each in applied:
        amount = decimal(each, "AppliedAmount")
        credit = find_transaction(books, each["CreditTxnID"], kinds)
        used[credit.id] = used.get(credit.id, ZERO) + amount
        if amount < 0 or used[credit.id] > books.ledger.open_amount(credit.id, without=own):
            raise refused("SetCredit AppliedAmount", money(amount), "You cannot apply more than the credit available.")
        total += amount
    if total > limit:
        raise refused("SetCredit AppliedAmount", money(total), "You cannot apply more credit than the amount due.")
    return total


def open_entity(books: Books, record: Record) -> str:
    """Return the customer or vendor of a transaction's open amount."""
    return next((posting.entity for posting in books.ledger.postings(record.id) if posting.is_open), "")


def open_transactions(books: Books, entity: str, kinds: tuple[str, ...], own: str = "") -> list[tuple[Record, Decimal]]:
    """Return the open transactions of a customer or vendor with their open amounts, oldest first."""
    records = [books.transactions[each] for each in books.users(entity) if each in books.transactions]
    records = [each for each in records if each.kind.name in kinds]
    rows = [(each, books.ledger.open_amount(each.id, without=own)) for each in records]
    return sorted(
        ((record, left) for record, left in rows if left > 0),
        key=lambda row: (row[0].fields.get("TxnDate", ""), row[0].number),
    )


def settle_any(books: Books, applied: Iterable[Fields], kinds: tuple[str, ...], own: str) -> Decimal:
    """Check that transactions have enough left for a check that is applied to them. Return the sum."""
    total = ZERO
    for each in applied:
        target = find_transaction(books, each["TxnID"], kinds)
        left = books.ledger.open_amount(target.id, without=own)
        each.setdefault("Amount", money(left))
        if decimal(each, "Amount") > left:
            raise refused("ApplyCheckToTxnAdd amount", each["Amount"], PAY_TOO_MUCH)
        total += decimal(each, "Amount")
    return total
