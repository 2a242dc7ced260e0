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
from simulator.books.ledger import BY_QUANTITY, ZERO
from simulator.rules.common import account_type, flat_lines
from simulator.rules.items import STOCK_KINDS
from simulator.rules.requirements import OWNERS
from simulator.rules.settling import check_link, check_settled
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.books.records import Record
    from simulator.books.store import Books


def book_problems(books: Books) -> list[str]:
    """Return a sentence for each violated rule."""
    return [
        *_unbalanced(books),
        *_wrong_stock(books),
        *_nameless_balances(books),
        *_impossible_links(books),
        *_wrong_orders(books),
        *_repeated_numbers(books),
    ]


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


def _nameless_balances(books: Books) -> Iterator[str]:
    """Compare each account for receivables and payables with the balances of its customers or vendors."""
    theirs: defaultdict[str, Decimal] = defaultdict(Decimal)
    for (entity, account), balance in books.ledger.entities.items():
        # A name or an account that was deleted has a balance of zero left here.
        owner = OWNERS.get(account_type(books, account)) if balance else None
        if owner is not None and books.lists[entity].kind.name == owner:
            theirs[account] += balance
    for record in books["Account"]:
        owner = OWNERS.get(record.fields["AccountType"])
        total = books.ledger.accounts.get(record.id, ZERO)
        if owner is not None and theirs[record.id] != total:
            balances = f"the balances of its {owner.lower()}s add up to {money(theirs[record.id])}"
            yield f"The balance of {record.full_name} is {money(total)}, but {balances}."


def _wrong_orders(books: Books) -> Iterator[str]:
    """Find transactions that fulfil a line of an order twice, or one that the order does not have."""
    for txn_id, effects in books.ledger.effects.items():
        if not any(link.kind == BY_QUANTITY for link in effects.links):
            continue
        record = books.transactions[txn_id]
        links = [line["LinkToTxn"] for line in flat_lines(record) if line.get("LinkToTxn")]
        counts = Counter((link["TxnID"], link["TxnLineID"]) for link in links)
        for (order_id, line_id), count in counts.items():
            order = books.transactions.get(order_id)
            if count > 1:
                yield f"{_named(record)} fulfils the line {line_id} of an order {count} times."
            elif order is not None and not any(line["TxnLineID"] == line_id for line in flat_lines(order)):
                yield f"{_named(record)} fulfils the line {line_id}, which {_named(order)} does not have."


def _named(record: Record) -> str:
    return f"{record.kind.name} {record.fields.get('RefNumber') or record.id}"


def _impossible_links(books: Books) -> Iterator[str]:
    for txn_id, effects in books.ledger.effects.items():
        record = books.transactions[txn_id]
        try:
            for link in effects.links:
                check_link(books, link)
            if books.ledger.links(txn_id):
                check_settled(books, txn_id)
        except RequestError as error:
            yield f"{_named(record)}: {error.message}"


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
