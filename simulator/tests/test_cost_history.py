"""Costs follow the history of an item: bills that are dated back, changed, voided or deleted change later costs.

The expected values of the scenarios were computed by hand.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.books.ledger import ZERO
from simulator.rules.items import STOCK_KINDS
from simulator.tests.bookkeeping import Bookkeeper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Step = tuple[Any, ...]

ACCOUNTS = {"IncomeAccountRef": "Sales", "COGSAccountRef": "Cost of Goods Sold", "AssetAccountRef": "Inventory Asset"}


class Storekeeper:
    """Buys and sells parts with a purchase cost of 5.00. Days count from 1."""

    def __init__(self) -> None:
        self.keeper = Bookkeeper()
        self.keeper.add("ItemInventory", Name="Part", PurchaseCost="5", SalesPrice="20", **ACCOUNTS)
        self.documents: list[Element] = []

    def do(self, steps: list[Step]) -> Storekeeper:
        for name, *arguments in steps:
            getattr(self, name)(*arguments)
        return self

    def buy(self, day: int, quantity: int, cost: str, item: str = "Part") -> None:
        line = {"ItemRef": item, "Quantity": quantity, "Cost": cost}
        self._add("Bill", day, VendorRef="Supplier", ItemLineAdd=[line])

    def give_back(self, day: int, quantity: int, cost: str) -> None:
        line = {"ItemRef": "Part", "Quantity": quantity, "Cost": cost}
        self._add("VendorCredit", day, VendorRef="Supplier", ItemLineAdd=[line])

    def sell(self, day: int, quantity: int, kind: str = "Invoice", item: str = "Part") -> None:
        line = {"ItemRef": item, "Quantity": quantity}
        self._add(kind, day, CustomerRef="Ada", **{f"{kind}LineAdd": [line]})

    def charge(self, day: int, quantity: int) -> None:
        self._add("Charge", day, CustomerRef="Ada", ItemRef="Part", Quantity=quantity)

    def take_back(self, day: int, quantity: int) -> None:
        self.sell(day, quantity, "CreditMemo")

    def adjust(self, day: int, **adjustment: Any) -> None:
        line = {"ItemRef": "Part", **adjustment}
        self._add("InventoryAdjustment", day, AccountRef="Shrinkage", InventoryAdjustmentLineAdd=[line])

    def lose(self, day: int, quantity: int) -> None:
        self.adjust(day, QuantityAdjustment={"QuantityDifference": -quantity})

    def count(self, day: int, quantity: int) -> None:
        self.adjust(day, QuantityAdjustment={"NewQuantity": quantity})

    def revalue(self, day: int, quantity: int, value: str) -> None:
        self.adjust(day, ValueAdjustment={"NewQuantity": quantity, "NewValue": value})

    def build(self, day: int, quantity: int) -> None:
        """Build gates. A build without enough parts is pending: it moves nothing."""
        fields = {"ItemInventoryAssemblyRef": "Gate", "QuantityToBuild": quantity, "MarkPendingIfRequired": True}
        self._add("BuildAssembly", day, **fields)

    def delete(self, number: int) -> None:
        self.keeper.delete(self.documents[number])

    def void(self, number: int) -> None:
        record = self.documents[number]
        content = {"TxnVoidType": record.tag.removesuffix("Ret"), "TxnID": record.findtext("TxnID")}
        assert self.keeper.ask("TxnVoidRq", content).get("statusCode") == "0"

    def change(self, number: int, quantity: int, cost: str = "") -> None:
        record = self.keeper.get(self.documents[number])
        line = next(element for element in record.iter() if element.tag in {"InvoiceLineRet", "ItemLineRet"})
        fields = {"TxnLineID": line.findtext("TxnLineID"), "Quantity": quantity, **({"Cost": cost} if cost else {})}
        self._change(record, {line.tag.removesuffix("Ret") + "Mod": fields})

    def date(self, number: int, day: int) -> None:
        self._change(self.keeper.get(self.documents[number]), {"TxnDate": _date(day)})

    def stock(self, item: str = "Part", kind: str = "ItemInventory") -> tuple[str, str]:
        record = self.keeper.get(item, kind)
        return record.findtext("QuantityOnHand", ""), record.findtext("AverageCost", "")

    def _add(self, kind: str, day: int, **fields: Any) -> None:
        self.documents.append(self.keeper.add(kind, TxnDate=_date(day), **fields))

    def _change(self, record: Element, content: dict[str, Any]) -> None:
        kind = record.tag.removesuffix("Ret")
        identity = {"TxnID": record.findtext("TxnID"), "EditSequence": record.findtext("EditSequence")}
        response = self.keeper.ask(f"{kind}ModRq", {f"{kind}Mod": {**identity, **content}})
        assert response.get("statusCode") == "0", response.get("statusMessage")


def _date(day: int) -> str:
    return f"2026-03-{day:02}"


SCENARIOS: dict[str, tuple[list[Step], str, str, str, str]] = {
    # name: steps, quantity on hand, average cost, inventory asset, cost of goods sold
    "nothing happened": ([], "0", "5.00", "0", "0"),
    "a receipt sets the average": ([("buy", 1, 10, "6")], "10", "6.00", "60", "0"),
    "two receipts are averaged": ([("buy", 1, 10, "6"), ("buy", 2, 30, "8")], "40", "7.50", "300", "0"),
    # 7.50 each: 10 sold cost 75
    "a sale costs the average": (
        [("buy", 1, 10, "6"), ("buy", 2, 30, "8"), ("sell", 3, 10)],
        "30",
        "7.50",
        "225",
        "75",
    ),
    "the average stays when the stock is sold": ([("buy", 1, 10, "6"), ("sell", 2, 10)], "0", "6.00", "0", "60"),
    # value 36 + 90 = 126 for 16
    "a receipt after a sale": (
        [("buy", 1, 10, "6"), ("sell", 2, 4), ("buy", 3, 10, "9")],
        "16",
        "7.875",
        "126",
        "24",
    ),
    "units without a receipt cost the purchase cost": ([("sell", 1, 4)], "-4", "5.00", "-20", "20"),
    # the five that are missing cost 6, too
    "sold units that are missing cost the last average": (
        [("buy", 1, 10, "6"), ("sell", 2, 15)],
        "-5",
        "6.00",
        "-30",
        "90",
    ),
    # the last five were worth 8: 10 more
    "a receipt corrects the cost of units sold before": (
        [("buy", 1, 10, "6"), ("sell", 2, 15), ("buy", 3, 10, "8")],
        "5",
        "8.00",
        "40",
        "100",
    ),
    "after a sale of all and more, the average is that of the receipt": (
        [("buy", 1, 10, "6"), ("sell", 2, 10), ("sell", 3, 5), ("buy", 4, 10, "8")],
        "5",
        "8.00",
        "40",
        "100",
    ),
    "a first receipt after the sale": ([("sell", 1, 4), ("buy", 2, 10, "7")], "6", "7.00", "42", "28"),
    "a receipt that covers exactly what was sold": ([("sell", 1, 5), ("buy", 2, 5, "6")], "0", "6.00", "0", "30"),
    # five sold for 25; two arrive at 6, three are still missing at 6
    "a receipt that covers a part of what was sold": (
        [("sell", 1, 3), ("sell", 2, 2), ("buy", 3, 2, "6")],
        "-3",
        "6.00",
        "-18",
        "30",
    ),
    # 2 x 6 + 3 x 7 = 33
    "two receipts cover what was sold": (
        [("sell", 1, 3), ("sell", 2, 2), ("buy", 3, 2, "6"), ("buy", 4, 10, "7")],
        "7",
        "7.00",
        "49",
        "33",
    ),
    "a bill dated before the sale without stock": ([("sell", 2, 4), ("buy", 1, 10, "7")], "6", "7.00", "42", "28"),
    # average (60 + 80) / 20 = 7
    "a bill dated between receipt and sale": (
        [("buy", 1, 10, "6"), ("sell", 3, 5), ("buy", 2, 10, "8")],
        "15",
        "7.00",
        "105",
        "35",
    ),
    # 5 x 6, then 10 x 6 + 10 x 9 = 150 for 15, less 5: the first sale keeps its cost
    "a bill dated between two sales changes the second": (
        [("buy", 1, 15, "6"), ("sell", 2, 5), ("sell", 4, 5), ("buy", 3, 10, "9")],
        "15",
        "7.50",
        "112.50",
        "67.50",
    ),
    "a sale dated back before the receipt": (
        # it costs 5 x 4 = 20 first; the receipt corrects to 4 x 6
        [("buy", 2, 10, "6"), ("sell", 3, 4), ("date", 1, 1)],
        "6",
        "6.00",
        "36",
        "24",
    ),
    "a changed cost on an earlier bill": (
        [("buy", 1, 10, "6"), ("sell", 2, 4), ("change", 0, 10, "7")],
        "6",
        "7.00",
        "42",
        "28",
    ),
    "a changed quantity on an earlier bill": (
        # 20 at 6 and 10 at 9: 210 for 30, 7 each
        [("buy", 1, 10, "6"), ("buy", 2, 10, "9"), ("sell", 3, 6), ("change", 0, 20, "6")],
        "24",
        "7.00",
        "168",
        "42",
    ),
    "a changed quantity on a sale": (
        [("buy", 1, 10, "6"), ("buy", 2, 10, "8"), ("sell", 3, 5), ("change", 2, 8)],
        "12",
        "7.00",
        "84",
        "56",
    ),
    "a deleted bill": (
        [("buy", 1, 10, "6"), ("buy", 2, 10, "8"), ("sell", 3, 5), ("delete", 1)],
        "5",
        "6.00",
        "30",
        "30",
    ),
    "a void bill": ([("buy", 1, 10, "6"), ("buy", 2, 10, "8"), ("sell", 3, 5), ("void", 0)], "5", "8.00", "40", "40"),
    "a deleted sale": ([("buy", 1, 10, "6"), ("sell", 2, 4), ("delete", 1)], "10", "6.00", "60", "0"),
    "a void sale": ([("buy", 1, 10, "6"), ("sell", 2, 4), ("void", 1)], "10", "6.00", "60", "0"),
    # 5 x 6 = 30 left, 60 more: 9 each; two come back at 9
    "a customer returns at the average": (
        [("buy", 1, 10, "6"), ("sell", 2, 5), ("buy", 3, 5, "12"), ("take_back", 4, 2)],
        "12",
        "9.00",
        "108",
        "12",
    ),
    # out at 7 = 35; the vendor credits 40
    "goods go back to the vendor at the average": (
        [("buy", 1, 10, "6"), ("buy", 2, 10, "8"), ("give_back", 3, 5, "8")],
        "15",
        "7.00",
        "105",
        "-5",
    ),
    "lost units are valued at the average": ([("buy", 1, 10, "6"), ("lose", 2, 3)], "7", "6.00", "42", "0"),
    "a bill dated back changes the value of lost units": (
        [("buy", 1, 10, "6"), ("lose", 3, 3), ("buy", 2, 10, "8")],
        "17",
        "7.00",
        "119",
        "0",
    ),
    # on day 2 there were 10, so the count of 8 means 2 lost; later 5 were sold
    "a count is compared with the stock on its day": (
        [("buy", 1, 10, "6"), ("sell", 3, 5), ("count", 2, 8)],
        "3",
        "6.00",
        "18",
        "30",
    ),
    "a new value changes the average": (
        [("buy", 1, 10, "6"), ("revalue", 2, 10, "80"), ("sell", 3, 5)],
        "5",
        "8.00",
        "40",
        "40",
    ),
    # 5 x 6, then 30 + 90 = 120 for 15
    "within a day the order of entry counts": (
        [("buy", 1, 10, "6"), ("sell", 1, 5), ("buy", 1, 10, "9")],
        "15",
        "8.00",
        "120",
        "30",
    ),
    # 10.00 for three: 3.33, then half of 6.67 is 3.34, then the rest
    "the last unit takes the rest of the value": (
        [("buy", 1, 3, "3.33333"), ("sell", 2, 1), ("sell", 3, 1), ("sell", 4, 1)],
        "0",
        "3.33",
        "0",
        "10",
    ),
    "a sales receipt costs the same": (
        [("buy", 1, 10, "6"), ("sell", 3, 5, "SalesReceipt"), ("buy", 2, 10, "8")],
        "15",
        "7.00",
        "105",
        "35",
    ),
    "a statement charge costs the same": (
        [("buy", 1, 10, "6"), ("charge", 3, 5), ("buy", 2, 10, "8")],
        "15",
        "7.00",
        "105",
        "35",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_stock_and_cost_of_goods_sold_are_as_computed_by_hand(name: str) -> None:
    steps, quantity, average, asset, cost_of_goods_sold = SCENARIOS[name]

    store = Storekeeper().do(steps)

    assert store.stock() == (quantity, average)
    assert store.keeper.balance("Inventory Asset") == Decimal(asset)
    assert store.keeper.balance("Cost of Goods Sold") == Decimal(cost_of_goods_sold)


def gate(store: Storekeeper) -> None:
    """Add an assembly of two parts."""
    line = {"ItemInventoryRef": "Part", "Quantity": 2}
    store.keeper.add(
        "ItemInventoryAssembly", Name="Gate", SalesPrice="90", ItemInventoryAssemblyLine=[line], **ACCOUNTS
    )


def test_a_bill_dated_back_changes_the_cost_of_builds_and_of_the_sales_of_their_products() -> None:
    store = Storekeeper()
    gate(store)
    store.buy(1, 10, "6")
    store.keeper.add("BuildAssembly", TxnDate=_date(3), ItemInventoryAssemblyRef="Gate", QuantityToBuild=2)
    store.sell(4, 1, item="Gate")
    assert store.stock("Gate", "ItemInventoryAssembly") == ("1", "12.00")
    assert store.keeper.balance("Cost of Goods Sold") == Decimal(12)

    store.buy(2, 10, "8")

    # 20 parts at 7: two gates cost 28, one of them is sold, 16 parts are left
    assert store.stock("Gate", "ItemInventoryAssembly") == ("1", "14.00")
    assert store.stock() == ("16", "7.00")
    assert store.keeper.balance("Cost of Goods Sold") == Decimal(14)
    assert store.keeper.balance("Inventory Asset") == Decimal(126)


def test_a_new_purchase_cost_of_the_item_does_not_change_earlier_sales() -> None:
    store = Storekeeper().do([("sell", 2, 4)])
    item = store.keeper.get("Part", "ItemInventory")
    identity = {"ListID": item.findtext("ListID"), "EditSequence": item.findtext("EditSequence")}
    store.keeper.ask("ItemInventoryModRq", {"ItemInventoryMod": {**identity, "PurchaseCost": "9"}})

    store.sell(3, 1)
    store.delete(1)

    assert store.keeper.balance("Cost of Goods Sold") == Decimal(20)


def test_an_opening_quantity_is_part_of_the_history() -> None:
    store = Storekeeper()
    opening = {"QuantityOnHand": 6, "TotalValue": "45", "InventoryDate": _date(2)}
    store.keeper.add("ItemInventory", Name="Lock", **opening, **ACCOUNTS)
    store.sell(3, 2, item="Lock")
    assert (store.stock("Lock"), store.keeper.balance("Cost of Goods Sold")) == (("4", "7.50"), Decimal(15))

    store.buy(1, 4, "10", item="Lock")

    # 40 + 45 = 85 for 10
    assert (store.stock("Lock"), store.keeper.balance("Cost of Goods Sold")) == (("8", "8.50"), Decimal(17))


class RandomHistory:
    """Enters, changes, dates back, voids and deletes documents of two items and of the product built from one.

    Builds are left out unless asked for, because the order of entry decides whether a build is pending.
    """

    ITEMS = ("Part", "Hinge")

    def __init__(self, seed: int, *, builds: bool = False) -> None:
        self.builds = builds
        self.random = random.Random(seed)
        self.store = Storekeeper()
        gate(self.store)
        self.alive: dict[int, Step] = {}
        """The step that enters each remaining document as it is now, by its number."""

    def step(self) -> None:
        choice = self.random.choice(("new", "new", "new", "change", "date", "end"))
        number = self.random.choice(list(self.alive)) if self.alive else None
        if choice == "new" or number is None:
            self._enter()
        elif choice == "date":
            self._date(number)
        elif choice == "change" and self.alive[number][0] == "buy":
            quantity, cost = self.random.randint(1, 30), f"{self.random.randint(100, 2000) / 100:.2f}"
            self.store.change(number, quantity, cost)
            self.alive[number] = (*self.alive[number][:2], quantity, cost, self.alive[number][4])
        elif choice == "end":
            is_void = self.random.random() < 0.5 and self.alive[number][0] != "build"
            self.store.void(number) if is_void else self.store.delete(number)
            del self.alive[number]

    def _enter(self) -> None:
        day, quantity, item = self.random.randint(1, 28), self.random.randint(1, 20), self.random.choice(self.ITEMS)
        cost = f"{self.random.randint(100, 2000) / 100:.2f}"
        step: Step = self.random.choice((
            ("buy", day, quantity, cost, item),
            ("buy", day, quantity, cost, item),
            ("sell", day, quantity, "Invoice", item),
            ("sell", day, quantity, "CreditMemo", item),
            ("sell", day, quantity, "SalesReceipt", "Gate"),
            ("lose", day, quantity),
            ("give_back", day, quantity, cost),
            *([("build", day, quantity)] if self.builds else []),
        ))  # fmt: skip
        self.alive[len(self.store.documents)] = step
        self.store.do([step])

    def _date(self, number: int) -> None:
        name, _, *arguments = self.alive[number]
        if name not in {"lose", "build"}:
            day = self.random.randint(1, 28)
            self.alive[number] = (name, day, *arguments)
            self.store.date(number, day)


def balances(store: Storekeeper) -> dict[str, Decimal]:
    ledger = store.keeper.books.ledger
    return {
        account.full_name: ledger.accounts[account.id]
        for account in store.keeper.books["Account"]
        if ledger.accounts.get(account.id)
    }


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_entry_gives_the_same_books_as_entry_by_date(seed: int) -> None:
    history = RandomHistory(seed)
    for _ in range(60):
        history.step()

    in_order = Storekeeper()
    gate(in_order)
    # Within a date the order of entry counts, which the numbers of the documents keep.
    in_order.do([step for _, step in sorted(history.alive.items(), key=lambda pair: (pair[1][1], pair[0]))])

    assert balances(history.store) == balances(in_order)
    for item in history.store.keeper.books.of("Item"):
        other = in_order.keeper.books.named(item.full_name, (item.kind.name,))
        assert other is not None
        assert history.store.keeper.books.ledger.stock(item.id) == in_order.keeper.books.ledger.stock(other.id)


@pytest.mark.parametrize("seed", range(12))
def test_the_value_of_the_stock_is_the_balance_of_the_asset_account_after_every_step(seed: int) -> None:
    history = RandomHistory(100 + seed, builds=True)
    books = history.store.keeper.books
    items = [item for kind in STOCK_KINDS for item in books[kind]]
    for _ in range(40):
        history.step()

        stocks = [books.ledger.stock(item.id) for item in items]
        assert sum((stock.value for stock in stocks), ZERO) == history.store.keeper.balance("Inventory Asset")
        for stock in stocks:
            assert abs(stock.quantity * (stock.average or ZERO) - stock.value) <= Decimal("0.01")
            assert stock.quantity or not stock.value
        assert sum(books.ledger.accounts.values(), ZERO) == 0
        for txn_id in books.transactions:
            assert sum((posting.amount for posting in books.ledger.postings(txn_id)), ZERO) == 0


@pytest.mark.parametrize("seed", range(12))
def test_without_value_adjustments_and_negative_stock_the_average_lies_between_the_costs_of_the_receipts(
    seed: int,
) -> None:
    chance = random.Random(seed)
    store = Storekeeper()
    costs: list[Decimal] = []
    on_hand = 0
    for day in range(1, 29):
        if on_hand < 5 or chance.random() < 0.4:
            quantity, cost = chance.randint(5, 40), f"{chance.randint(100, 2000) / 100:.2f}"
            store.buy(day, quantity, cost)
            costs.append(Decimal(cost))
            on_hand += quantity
        else:
            quantity = chance.randint(1, on_hand)
            name = chance.choice(("sell", "lose", "take_back", "give_back"))
            store.do([(name, day, quantity, *(("7",) if name == "give_back" else ()))])
            on_hand += quantity if name == "take_back" else -quantity

        stock = store.keeper.books.ledger.stock(store.keeper.get("Part", "ItemInventory").findtext("ListID", ""))
        # Each cost is rounded to a cent, which the units that are left bear.
        rounding = Decimal("0.005") * day / max(on_hand, 1)
        assert stock.quantity == on_hand
        assert stock.average is not None
        assert min(costs) - rounding <= stock.average <= max(costs) + rounding
