"""Violated rules of the books: unbalanced accounts, a wrong value of the stock, impossible links, numbers used twice.

No request leads to a link that is impossible. A journal entry to an asset account of stock leads to a wrong value, and
QuickBooks accepts a number that is in use if a request sets it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books.kinds import TRANSACTIONS
from simulator.books.ledger import ZERO
from simulator.rules.items import STOCK_KINDS
from simulator.rules.settling import check_link, check_settled
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.books.store import Books


def book_problems(books: Books) -> list[str]:
    """Return a sentence for each violated rule."""
    return [*_unbalanced(books), *_wrong_stock(books), *_impossible_links(books), *_repeated_numbers(books)]


def _unbalanced(books: Books) -> Iterator[str]:
    total = sum(books.ledger.accounts.values(), ZERO)
    if total:
        yield f"The books do not balance: debits exceed credits by {money(total)}."


def _wrong_stock(books: Books) -> Iterator[str]:
    """Compare the balance of each asset account of stock with the value of the movements that it posts."""
    values: defaultdict[str, Decimal] = defaultdict(Decimal)
    for txn_id in books.transactions:
        for move, valued in books.ledger.moves(txn_id):
            values[move.asset] += valued.value
    for account, value in values.items():
        balance = books.ledger.accounts.get(account, ZERO)
        if balance != value:
            name = books.lists[account].full_name
            yield f"The balance of {name} is {money(balance)}, but the stock in it is worth {money(value)}."
    total = sum((books.ledger.stock(item.id).value for kind in STOCK_KINDS for item in books[kind]), ZERO)
    if total != sum(values.values(), ZERO):
        yield f"The stock is worth {money(total)}, but its movements add up to {money(sum(values.values(), ZERO))}."


def _impossible_links(books: Books) -> Iterator[str]:
    for txn_id, effects in books.ledger.effects.items():
        record = books.transactions[txn_id]
        try:
            for link in effects.links:
                check_link(books, link)
            if books.ledger.links(txn_id):
                check_settled(books, txn_id)
        except RequestError as error:
            yield f"{record.kind.name} {record.fields.get('RefNumber') or record.id}: {error.message}"


def _repeated_numbers(books: Books) -> Iterator[str]:
    """Find the numbers that two transactions of a series have. A vendor numbers bills, a customer payments."""
    counts = Counter(
        (books.rules_of(record.kind).number_series(record.kind, record.fields), record.fields["RefNumber"])
        for kind in TRANSACTIONS
        for record in books[kind]
        if kind not in _NUMBERED_BY_OTHERS and record.fields.get("RefNumber")
    )
    for (series, number), count in counts.items():
        if count > 1:
            name, _, account = series.partition(" ")
            place = f" of {books.lists[account].full_name}" if account else ""
            yield f"{count} transactions have the number {number} of the series {name}{place}."


_NUMBERED_BY_OTHERS = {"Bill", "CreditCardCharge", "CreditCardCredit", "ItemReceipt", "ReceivePayment", "VendorCredit"}
"""The kinds whose numbers vendors, customers and banks choose."""
