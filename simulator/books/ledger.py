"""The ledger: the postings, links and stock moves of each transaction.

The rules of the transaction's kind compute the effects, which never change. A Mod removes the former effects and adds
new ones. Balances are sums that are kept up to date, so reading one is a lookup.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ZERO = Decimal()


@dataclass(frozen=True, slots=True)
class Posting:
    """One line of the ledger. `amount` is positive for a debit, negative for a credit. An id that does not apply is ''.

    The postings of a transaction add up to zero. `is_open` marks postings to accounts receivable and payable: they stay
    open until links settle them.
    """

    account: str
    amount: Decimal
    entity: str = ""
    item: str = ""
    quantity: Decimal = ZERO
    class_id: str = ""
    memo: str = ""
    line_id: str = ""
    is_open: bool = False


SETTLES = "AMTTYPE"
BY_QUANTITY = "QUANTYPE"
DEPOSITED = "DEPOSIT"


@dataclass(frozen=True, slots=True)
class Link:
    """A connection from one transaction to another: a payment to an invoice, an invoice to its sales order.

    `kind` is `SETTLES`, `BY_QUANTITY` (an order and a transaction that fulfils it) or `DEPOSITED` (a deposit and a
    payment). A link that settles takes `amount` and `discount` off the open amounts of both transactions.
    """

    source: str
    target: str
    kind: str = SETTLES
    amount: Decimal = ZERO
    discount: Decimal = ZERO
    owner: str = ""
    """The transaction that records the link, when it is neither of the two: a payment that applies a credit."""


@dataclass(frozen=True, slots=True)
class StockMove:
    """A change of an inventory item's quantity on hand and of its value."""

    item: str
    quantity: Decimal
    value: Decimal


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a transaction on the books."""

    postings: tuple[Posting, ...] = ()
    links: tuple[Link, ...] = ()
    stock: tuple[StockMove, ...] = ()


NOTHING = Effects()


class Ledger:
    """The effects of all transactions, with balances by account, entity and item, and links by transaction."""

    def __init__(self) -> None:
        self.effects: dict[str, Effects] = {}
        self.accounts: defaultdict[str, Decimal] = defaultdict(Decimal)
        self.entities: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
        self.on_hand: defaultdict[str, Decimal] = defaultdict(Decimal)
        self.stock_value: defaultdict[str, Decimal] = defaultdict(Decimal)
        self._due: dict[str, Decimal] = {}
        self._links: defaultdict[str, list[Link]] = defaultdict(list)

    def put(self, txn_id: str, effects: Effects) -> None:
        """Replace the effects of a transaction. Raises `ValueError` for postings that do not balance."""
        total = sum((posting.amount for posting in effects.postings), ZERO)
        if total:
            raise ValueError(f"the postings of {txn_id} do not balance: {total}")
        self.remove(txn_id)
        self.effects[txn_id] = effects
        self._add(effects.postings, effects.stock, 1)
        self._due[txn_id] = sum((posting.amount for posting in effects.postings if posting.is_open), ZERO)
        for link in effects.links:
            self._links[link.source].append(link)
            self._links[link.target].append(link)

    def remove(self, txn_id: str) -> None:
        """Remove the effects of a transaction."""
        former = self.effects.pop(txn_id, NOTHING)
        self._add(former.postings, former.stock, -1)
        self._due.pop(txn_id, None)
        for link in former.links:
            self._links[link.source].remove(link)
            self._links[link.target].remove(link)

    def postings(self, txn_id: str) -> tuple[Posting, ...]:
        """Return the postings of a transaction."""
        return self.effects.get(txn_id, NOTHING).postings

    def moves(self, txn_id: str) -> tuple[StockMove, ...]:
        """Return the stock moves of a transaction."""
        return self.effects.get(txn_id, NOTHING).stock

    def links(self, txn_id: str) -> list[Link]:
        """Return the links from and to a transaction, oldest first."""
        return self._links.get(txn_id, [])

    def due(self, txn_id: str) -> Decimal:
        """Return the amount in receivables and payables: positive for an invoice, negative for a bill."""
        return self._due.get(txn_id, ZERO)

    def settled(self, txn_id: str, *, without: str = "") -> Decimal:
        """Return the amount that is settled between this transaction and others, never negative.

        Links of the transaction `without` do not count, nor do links to transactions that were deleted or voided.
        """
        total = ZERO
        if not self._due.get(txn_id):
            return total
        for link in self._links.get(txn_id, ()):
            other = link.target if link.source == txn_id else link.source
            if link.kind == SETTLES and self._due.get(other) and without not in (link.owner, other):
                total += link.amount + link.discount
        return total

    def open_amount(self, txn_id: str, *, without: str = "") -> Decimal:
        """Return the unpaid amount of an invoice or bill, or the unused amount of a payment or credit."""
        return abs(self.due(txn_id)) - self.settled(txn_id, without=without)

    def _add(self, postings: Iterable[Posting], stock: Iterable[StockMove], sign: int) -> None:
        for posting in postings:
            self.accounts[posting.account] += sign * posting.amount
            if posting.entity:
                self.entities[posting.entity, posting.account] += sign * posting.amount
        for move in stock:
            self.on_hand[move.item] += sign * move.quantity
            self.stock_value[move.item] += sign * move.value
