"""The ledger: the postings, links and stock moves of each transaction.

The rules of the transaction's kind compute the effects, which never change. A Mod removes the former effects and adds
new ones. Costs of stock are the exception: `simulator.books.costing` computes them from the history of the item.
Balances are sums that are kept up to date, so reading one is a lookup.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from simulator.books.costing import Costing, Role, postings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.books.costing import Stock, StockMove, Valued

ZERO = Decimal()


class Posting(NamedTuple):
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


class Link(NamedTuple):
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


class Effects(NamedTuple):
    """The effects of a transaction on the books."""

    postings: tuple[Posting, ...] = ()
    links: tuple[Link, ...] = ()
    stock: tuple[StockMove, ...] = ()


NOTHING = Effects()


class Ledger:
    """The effects of all transactions, with balances by account, entity and item, and links by transaction.

    The costs of stock depend on the whole history of an item. They are brought up to date when a balance or a posting
    is read.
    """

    def __init__(self) -> None:
        self.effects: dict[str, Effects] = {}
        self._accounts: defaultdict[str, Decimal] = defaultdict(Decimal)
        self._entities: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
        self._costing = Costing()
        self._postings: dict[str, tuple[Posting, ...]] = {}
        """The postings of transactions that move stock, as far as they were read since they changed."""
        self._due: dict[str, Decimal] = {}
        self._links: defaultdict[str, list[Link]] = defaultdict(list)

    @property
    def accounts(self) -> defaultdict[str, Decimal]:
        """The balances of accounts by ListID."""
        self.bring_up_to_date()
        return self._accounts

    @property
    def entities(self) -> defaultdict[tuple[str, str], Decimal]:
        """The balances by ListIDs of entity and account."""
        self.bring_up_to_date()
        return self._entities

    def copy(self) -> Ledger:
        """Return an equal ledger. It shares the effects, which never change."""
        ledger = Ledger()
        ledger.effects = self.effects.copy()
        ledger._accounts = self._accounts.copy()
        ledger._entities = self._entities.copy()
        ledger._costing = self._costing.copy()
        ledger._postings = self._postings.copy()
        ledger._due = self._due.copy()
        ledger._links = defaultdict(list, {txn_id: links.copy() for txn_id, links in self._links.items()})
        return ledger

    def put(self, txn_id: str, effects: Effects, date: str = "", number: int = 0) -> None:
        """Replace the effects of a transaction. Raises `ValueError` for postings that do not balance."""
        total = due = ZERO
        for posting in effects.postings:
            total += posting.amount
            if posting.is_open:
                due += posting.amount
        if total:
            raise ValueError(f"the postings of {txn_id} do not balance: {total}")
        if txn_id in self.effects:
            self.remove(txn_id)
        self.effects[txn_id] = effects
        self._add(effects.postings, 1)
        self._costing.enter(txn_id, effects.stock, date, number)
        self._due[txn_id] = due
        for link in effects.links:
            self._links[link.source].append(link)
            self._links[link.target].append(link)

    def remove(self, txn_id: str) -> None:
        """Remove the effects of a transaction."""
        former = self.effects.pop(txn_id, NOTHING)
        self._postings.pop(txn_id, None)
        self._add(former.postings, -1)
        for move, valued in self._costing.leave(txn_id):
            self._add_cost(move, valued, -1)
        self._due.pop(txn_id, None)
        for link in former.links:
            self._links[link.source].remove(link)
            self._links[link.target].remove(link)

    def postings(self, txn_id: str) -> tuple[Posting, ...]:
        """Return the postings of a transaction, with those of the costs of stock."""
        effects = self.effects.get(txn_id, NOTHING)
        if not effects.stock:
            return effects.postings
        self.bring_up_to_date()
        postings = self._postings.get(txn_id)
        if postings is None:
            postings = self._postings[txn_id] = (*effects.postings, *_cost_postings(self._costing.moves(txn_id)))
        return postings

    def open_postings(self, txn_id: str) -> Iterator[Posting]:
        """Yield the postings of a transaction to accounts receivable and payable. Costs of stock are never open."""
        return (posting for posting in self.effects.get(txn_id, NOTHING).postings if posting.is_open)

    def moves(self, txn_id: str) -> list[tuple[StockMove, Valued]]:
        """Return the movements of stock of a transaction with their values."""
        self.bring_up_to_date()
        return self._costing.moves(txn_id)

    def stocks_after(self, txn_id: str) -> list[Stock]:
        """Return the stock of the item after each of these movements."""
        self.bring_up_to_date()
        return self._costing.stocks_after(txn_id)

    def stock(self, item: str) -> Stock:
        """Return the stock of an item: quantity on hand, value, average cost."""
        self.bring_up_to_date()
        return self._costing.stock(item)

    def stock_on(self, item: str, day: str) -> Stock:
        """Return the stock of an item at the end of a day."""
        self.bring_up_to_date()
        return self._costing.stock_on(item, day)

    def moved_components(self) -> dict[str, set[str]]:
        """Return the builds of each component whose quantity changed since the last call, by item."""
        moved = {item: self._costing.builds(item).copy() for item in self._costing.moved}
        self._costing.moved.clear()
        return moved

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

    def bring_up_to_date(self) -> None:
        """Compute the costs of stock that changed. After that, reading changes nothing until the next change."""
        if self._costing.is_current:
            return
        for txn_id, move, former, valued in self._costing.replay():
            self._postings.pop(txn_id, None)
            if former is not None:
                self._add_cost(move, former, -1)
            self._add_cost(move, valued, 1)

    def _add(self, postings: Iterable[Posting], sign: int) -> None:
        accounts, entities = self._accounts, self._entities
        for posting in postings:
            amount = posting.amount if sign > 0 else -posting.amount
            accounts[posting.account] += amount
            if posting.entity:
                entities[posting.entity, posting.account] += amount

    def _add_cost(self, move: StockMove, valued: Valued, sign: int) -> None:
        for account, amount in postings_of(move, valued):
            self._accounts[account] += sign * amount
            if move.entity:
                self._entities[move.entity, account] += sign * amount


_QUANTITY_ROLES = {Role.ADJUSTMENT, Role.COMPONENT, Role.PRODUCT}
"""The movements whose posting to the asset account carries the quantity. Sales and purchases post it themselves."""


def _cost_postings(moves: Iterable[tuple[StockMove, Valued]]) -> Iterator[Posting]:
    for move, valued in moves:
        for account, amount in postings_of(move, valued):
            quantity = move.quantity if account == move.asset and move.role in _QUANTITY_ROLES else ZERO
            yield Posting(account, amount, move.entity, move.item, quantity, move.class_id, move.memo)
