"""The postings of a transaction on a cash basis: income and expenses count when they are paid.

An invoice or bill posts its income and expenses as payments and credits settle it: each settlement takes its share, on
the day of the later transaction of the two. Postings to balance sheet accounts, such as stock, keep their date and
amount. The posting to accounts receivable or payable balances what counts on each day, so debits equal credits on every
day.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from simulator.books.ledger import SETTLES, ZERO
from simulator.rules.common import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.books import Books, Record
    from simulator.books.ledger import Posting

_SETTLED_KINDS = {"Bill", "Charge", "CreditMemo", "Invoice", "ItemReceipt", "VendorCredit"}
"""The kinds of transactions that others settle. Payments, checks and journal entries count on their own day."""


def cash_postings(books: Books, record: Record, income_accounts: set[str]) -> Iterator[tuple[str, Posting]]:
    """Yield the postings of a transaction and the days on which they count: `income_accounts` when paid."""
    postings, day = books.ledger.postings(record.id), str(record.fields.get("TxnDate", ""))
    due = abs(books.ledger.due(record.id))
    if record.kind.name not in _SETTLED_KINDS or not due:
        yield from ((day, posting) for posting in postings)
        return
    balancing = next(posting for posting in postings if posting.is_open)
    waiting = []
    balance = ZERO
    for posting in postings:
        if posting is balancing:
            continue
        if posting.account in income_accounts:
            waiting.append(posting)
        else:
            balance += posting.amount
            yield day, posting
    if balance:
        yield day, balancing._replace(amount=-balance)
    totals = [ZERO] * len(waiting)
    paid = ZERO
    for when, amounts in groupby(_settlements(books, record, day), key=lambda settlement: settlement[0]):
        paid += sum((amount for _, amount in amounts), ZERO)
        share = min(paid / due, Decimal(1))
        recognized = ZERO
        for index, posting in enumerate(waiting):
            total = posting.amount if share == 1 else rounded(posting.amount * share)
            amount = total - totals[index]
            if amount:
                totals[index] = total
                recognized += amount
                quantity = posting.quantity and posting.quantity * amount / posting.amount
                is_whole = amount == posting.amount
                yield when, posting if is_whole else posting._replace(amount=amount, quantity=quantity)
        if recognized:
            yield when, balancing._replace(amount=-recognized)


def _settlements(books: Books, record: Record, day: str) -> list[tuple[str, Decimal]]:
    """Return the days and amounts with which a transaction was settled, oldest first."""
    settlements = []
    for link in books.ledger.links(record.id):
        other = link.target if link.source == record.id else link.source
        if link.kind == SETTLES and books.ledger.due(other):
            others = (books.transactions[transaction_id] for transaction_id in (other, link.owner) if transaction_id)
            latest = max([day, *(str(transaction.fields.get("TxnDate", "")) for transaction in others)])
            settlements.append((latest, link.amount + link.discount))
    return sorted(settlements)
