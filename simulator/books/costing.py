"""Inventory at average cost: replays the movements of an item by date, so that its costs follow its history.

QuickBooks values stock at its average cost. A transaction that is added, changed, voided, deleted or dated back
changes the average of its day and the cost of every later sale. These rules apply:

* Movements are in the order of their dates. Within a date they are in the order of entry (TxnNumber): QuickBooks "uses
  the order entered within a transaction date" [1].
* A receipt adds its cost to the value of the stock. The average is value divided by quantity [2].
* A sale, a return of a customer and an adjustment of the quantity are valued at the average. The last unit takes the
  rest of the value, and the average stays for the time without stock.
* Units that are sold before they are received cost the last average [3], or the purchase cost of the item if there was
  no movement yet. The next receipt corrects the cost of goods sold [3], and the average becomes the cost of that
  receipt. Simplified: this holds for a receipt that does not cover all sold units, too.
* A return to the vendor takes units out at the average. The difference from the amount of the credit goes to the cost
  of goods sold. Simplified: no public source says what QuickBooks does.
* A product that is built costs what its components cost.

[1] Insightful Accountant, What if a vendor sells you inventory at an incorrect cost. [2] J. Woodard, AccountingWEB,
Inventory workarounds and troubleshooting in QuickBooks. [3] Insightful Accountant, on selling negative.

A transaction stores what it moves, and no cost. A cost that is fixed at entry is right only while nobody changes the
past, and corrections in each rule class would leave wrong books behind the first one that is forgotten. The replay
begins at the first changed movement, when a balance or a posting is read, and not for each report: a balance stays a
lookup.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

ZERO = Decimal()
CENT = Decimal("0.01")

Position: TypeAlias = tuple[str, int, str, int]
"""The place of a movement in the history of its item: date, TxnNumber, TxnID, index within the transaction."""


class Role(Enum):
    """The part of a movement in its transaction, which decides about its postings."""

    PURCHASE = auto()
    """The postings of the transaction itself debit the asset account with `amount`. A return has a negative one."""
    SALE = auto()
    """The cost goes from the asset account to the account for the cost of goods sold. A return is the opposite."""
    ADJUSTMENT = auto()
    """The value goes to the asset account from the account of the adjustment. Its `amount` can set the value."""
    COMPONENT = auto()
    """The value goes to the product of the same transaction."""
    PRODUCT = auto()
    """The value is that of the components."""


class StockMove(NamedTuple):
    """A change of an inventory item's quantity on hand.

    `amount` is the value if the transaction sets it, and None if the average cost does. `purchase_cost` values units
    that are sold before the first receipt. `asset`, `cost_of_goods` and `adjusted` are the ids of accounts.
    """

    role: Role
    item: str
    quantity: Decimal
    asset: str
    cost_of_goods: str
    purchase_cost: Decimal = ZERO
    amount: Decimal | None = None
    adjusted: str = ""
    entity: str = ""
    class_id: str = ""
    memo: str = ""


class Stock(NamedTuple):
    """The stock of an item. `average` is the cost of a unit, None before the first movement."""

    quantity: Decimal = ZERO
    value: Decimal = ZERO
    average: Decimal | None = None


NO_STOCK = Stock()


class Valued(NamedTuple):
    """The value that a movement adds to the stock, and the amount that its transaction sets for it."""

    value: Decimal
    amount: Decimal


def after(stock: Stock, move: StockMove, amount: Decimal | None) -> Stock:
    """Return the stock after a movement. `amount` is the value that the transaction sets, None for the average."""
    quantity = stock.quantity + move.quantity
    average = move.purchase_cost if stock.average is None else stock.average
    if amount is not None and (move.quantity >= 0 or move.role is Role.ADJUSTMENT):
        return _received(stock, move.quantity, quantity, amount, average)
    if not quantity:
        return Stock(ZERO, ZERO, average)
    if stock.quantity > 0 and quantity > 0:
        value = stock.value + _cents(stock.value * move.quantity / stock.quantity)
        return Stock(quantity, value, value / quantity)
    return Stock(quantity, _cents(average * quantity), average)


def _received(stock: Stock, received: Decimal, quantity: Decimal, amount: Decimal, average: Decimal) -> Stock:
    """Return the stock after a receipt, or after a change of its value alone."""
    if stock.quantity >= 0 and quantity > 0:
        value = stock.value + amount
        return Stock(quantity, value, value / quantity)
    if received > 0:
        average = amount / received
    return Stock(quantity, _cents(average * quantity), average)


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


class History:
    """The movements of one item in their order, and the stock after each of them."""

    __slots__ = ("positions", "stocks")

    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.stocks: list[Stock | None] = []

    def copy(self) -> History:
        """Return an equal history."""
        history = History()
        history.positions, history.stocks = self.positions.copy(), self.stocks.copy()
        return history


class Costing:
    """The stock of all items over time.

    Changes are collected. `replay` works them off, so a company that is loaded is replayed once.
    """

    def __init__(self) -> None:
        self._histories: defaultdict[str, History] = defaultdict(History)
        self._moves: dict[str, Sequence[StockMove]] = {}
        self._positions: dict[str, list[Position]] = {}
        self._valued: dict[str, list[Valued | None]] = {}
        self._changed: dict[str, tuple[Position, Position]] = {}
        """The first and the last changed position by item."""
        self._builds: defaultdict[str, set[str]] = defaultdict(set)
        """The transactions that take an item as a component."""
        self.moved: set[str] = set()
        """The components whose quantity changed since somebody emptied the set."""

    def copy(self) -> Costing:
        """Return equal stock. It shares the movements, which never change."""
        costing = Costing()
        costing._histories.update({item: history.copy() for item, history in self._histories.items()})
        costing._moves = self._moves.copy()
        costing._positions = self._positions.copy()
        costing._valued = {txn_id: valued.copy() for txn_id, valued in self._valued.items()}
        costing._changed = self._changed.copy()
        costing._builds.update({item: builds.copy() for item, builds in self._builds.items()})
        return costing

    @property
    def is_current(self) -> bool:
        """Return whether there is nothing to replay."""
        return not self._changed

    def enter(self, txn_id: str, moves: Sequence[StockMove], date: str, number: int) -> None:
        """Enter the movements of a transaction."""
        if not moves:
            return
        self._moves[txn_id] = moves
        self._valued[txn_id] = [None] * len(moves)
        self._positions[txn_id] = [(date, number, txn_id, index) for index in range(len(moves))]
        for move, position in zip(moves, self._positions[txn_id], strict=True):
            history = self._histories[move.item]
            positions = history.positions
            index = len(positions) if not positions or position > positions[-1] else bisect_left(positions, position)
            positions.insert(index, position)
            history.stocks.insert(index, None)
            self._mark(move.item, position)
            if move.role is Role.COMPONENT:
                self._builds[move.item].add(txn_id)
            if move.item in self._builds:
                self.moved.add(move.item)

    def leave(self, txn_id: str) -> list[tuple[StockMove, Valued]]:
        """Remove the movements of a transaction. Return those that had a value."""
        moves = self._moves.pop(txn_id, ())
        valued = self._valued.pop(txn_id, [])
        for move, position in zip(moves, self._positions.pop(txn_id, ()), strict=True):
            history = self._histories[move.item]
            index = bisect_left(history.positions, position)
            del history.positions[index]
            del history.stocks[index]
            self._mark(move.item, position)
            if move.item in self._builds:
                self.moved.add(move.item)
                self._builds[move.item].discard(txn_id)
                if not self._builds[move.item]:
                    del self._builds[move.item]
        return [(move, value) for move, value in zip(moves, valued, strict=True) if value is not None]

    def builds(self, item: str) -> set[str]:
        """Return the transactions that take an item as a component."""
        return self._builds.get(item, set())

    def moves(self, txn_id: str) -> list[tuple[StockMove, Valued]]:
        """Return the movements of a transaction with their values."""
        pairs = zip(self._moves.get(txn_id, ()), self._valued.get(txn_id, ()), strict=True)
        return [(move, valued) for move, valued in pairs if valued is not None]

    def stocks_after(self, txn_id: str) -> list[Stock]:
        """Return the stock of the item after each movement of a transaction."""
        stocks = []
        for move, position in zip(self._moves.get(txn_id, ()), self._positions.get(txn_id, ()), strict=True):
            history = self._histories[move.item]
            stocks.append(history.stocks[bisect_left(history.positions, position)] or NO_STOCK)
        return stocks

    def stock(self, item: str) -> Stock:
        """Return the stock of an item after all its movements."""
        history = self._histories.get(item)
        return (history.stocks[-1] or NO_STOCK) if history is not None and history.stocks else NO_STOCK

    def stock_on(self, item: str, day: str) -> Stock:
        """Return the stock of an item at the end of a day."""
        history = self._histories.get(item)
        index = bisect_right(history.positions, (day, _LAST_NUMBER, "", 0)) if history is not None else 0
        return (history.stocks[index - 1] or NO_STOCK) if history is not None and index else NO_STOCK

    def replay(self) -> Iterator[tuple[str, StockMove, Valued | None, Valued]]:
        """Bring all stocks up to date. Yield transaction, movement, former value and new value of each change.

        The item with the earliest change comes first. A build whose components changed changes its product.
        """
        while self._changed:
            for item in sorted(self._changed, key=lambda name: self._changed[name][0]):
                first, last = self._changed.pop(item)
                changes_products = yield from self._replay_item(item, first, last)
                if changes_products:
                    break

    def _replay_item(
        self, item: str, first: Position, last: Position
    ) -> Generator[tuple[str, StockMove, Valued | None, Valued], None, bool]:
        """Replay the movements of an item. Return whether the history of a product changed."""
        changes_products = False
        history = self._histories[item]
        positions, stocks = history.positions, history.stocks
        start = bisect_left(positions, first)
        stock = (stocks[start - 1] or NO_STOCK) if start else NO_STOCK
        for index in range(start, len(positions)):
            position = positions[index]
            txn_id, number = position[2], position[3]
            move = self._moves[txn_id][number]
            amount = self._cost_of_components(txn_id) if move.role is Role.PRODUCT else move.amount
            before, stock = stock, after(stock, move, amount)
            value = stock.value - before.value
            valued = Valued(value, value if amount is None else amount)
            former = self._valued[txn_id][number]
            if valued != former:
                self._valued[txn_id][number] = valued
                if move.role is Role.COMPONENT:
                    self._mark_product(txn_id)
                    changes_products = True
                yield txn_id, move, former, valued
            if stock == stocks[index] and position > last:
                break  # from here on nothing changes
            stocks[index] = stock
        return changes_products

    def _cost_of_components(self, txn_id: str) -> Decimal:
        pairs = zip(self._moves[txn_id], self._valued[txn_id], strict=True)
        return -sum((valued.value for move, valued in pairs if move.role is Role.COMPONENT and valued), ZERO)

    def _mark_product(self, txn_id: str) -> None:
        for move, position in zip(self._moves[txn_id], self._positions[txn_id], strict=True):
            if move.role is Role.PRODUCT:
                self._mark(move.item, position)

    def _mark(self, item: str, position: Position) -> None:
        if item in self._changed:
            first, last = self._changed[item]
            self._changed[item] = (min(first, position), max(last, position))
        else:
            self._changed[item] = (position, position)


_LAST_NUMBER = 10**18
"""A number above every TxnNumber."""


def postings_of(move: StockMove, valued: Valued) -> list[tuple[str, Decimal]]:
    """Return the accounts and amounts that a movement posts besides the postings of its transaction."""
    value, amount = valued.value, valued.amount
    correction = [(move.cost_of_goods, amount - value)] if amount != value else []
    if move.role is Role.SALE:
        return [(move.cost_of_goods, -value), (move.asset, value)]
    if move.role is Role.ADJUSTMENT:
        return [(move.asset, value), (move.adjusted, -amount), *correction]
    if move.role is Role.PURCHASE:
        return [*correction, (move.asset, value - amount)] if correction else []
    return [(move.asset, value), *correction]
