"""The ledger: what each transaction posts to accounts, links to other transactions, and moves in stock.

Effects are computed by the rules of the transaction's kind and never change: a Mod takes the former ones back and adds
the new ones. Balances are sums that are kept up to date, so that reading one is a lookup.
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
    """One line of the ledger. `amount` is positive for a debit, negative for a credit; ids are '' where none applies.

    The postings of a transaction add up to zero.
    """

    account: str
    amount: Decimal
    entity: str = ""
    item: str = ""
    quantity: Decimal = ZERO
    class_id: str = ""
    memo: str = ""
    line_id: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A connection from one transaction to another: a payment to an invoice, an invoice to its sales order.

    `amount` is what it settles of the other transaction (type AMTTYPE); a link by quantity (QUANTYPE) settles nothing.
    """

    source: str
    target: str
    kind: str = "AMTTYPE"
    amount: Decimal = ZERO
    discount: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class StockMove:
    """A change of an inventory item's quantity on hand and of its value."""

    item: str
    quantity: Decimal
    value: Decimal


@dataclass(frozen=True, slots=True)
class Effects:
    """What a transaction does to the books."""

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
        self._links: defaultdict[str, list[Link]] = defaultdict(list)

    def put(self, txn_id: str, effects: Effects) -> None:
        """Replace the effects of a transaction. Raises `ValueError` for postings that do not balance."""
        total = sum((posting.amount for posting in effects.postings), ZERO)
        if total:
            raise ValueError(f"the postings of {txn_id} do not balance: {total}")
        self.remove(txn_id)
        self.effects[txn_id] = effects
        self._add(effects.postings, effects.stock, 1)
        for link in effects.links:
            self._links[link.source].append(link)
            self._links[link.target].append(link)

    def remove(self, txn_id: str) -> None:
        """Take the effects of a transaction back."""
        former = self.effects.pop(txn_id, NOTHING)
        self._add(former.postings, former.stock, -1)
        for link in former.links:
            self._links[link.source].remove(link)
            self._links[link.target].remove(link)

    def postings(self, txn_id: str) -> tuple[Posting, ...]:
        """Return what a transaction posts."""
        return self.effects.get(txn_id, NOTHING).postings

    def links(self, txn_id: str) -> list[Link]:
        """Return the links from and to a transaction, oldest first."""
        return self._links.get(txn_id, [])

    def settled(self, txn_id: str) -> Decimal:
        """Return how much other transactions settle of this one: payments, credits and discounts."""
        links = (link for link in self.links(txn_id) if link.target == txn_id and link.kind == "AMTTYPE")
        return sum((link.amount + link.discount for link in links), ZERO)

    def applied(self, txn_id: str) -> Decimal:
        """Return how much this transaction settles of others."""
        links = (link for link in self.links(txn_id) if link.source == txn_id and link.kind == "AMTTYPE")
        return sum((link.amount for link in links), ZERO)

    def _add(self, postings: Iterable[Posting], stock: Iterable[StockMove], sign: int) -> None:
        for posting in postings:
            self.accounts[posting.account] += sign * posting.amount
            if posting.entity:
                self.entities[posting.entity, posting.account] += sign * posting.amount
        for move in stock:
            self.on_hand[move.item] += sign * move.quantity
            self.stock_value[move.item] += sign * move.value
