"""Quantities and values of stock: purchases, sales, adjustments, assemblies, orders."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.test_books_add_up import check

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@pytest.fixture
def keeper() -> Bookkeeper:
    return Bookkeeper()


def buy(keeper: Bookkeeper, item: str, quantity: int, cost: str, **fields: Any) -> Element:
    line = {"ItemRef": item, "Quantity": quantity, "Cost": cost}
    return keeper.add("Bill", VendorRef="Supplier", ItemLineAdd=[line], **fields)


def stock(keeper: Bookkeeper, item: str, kind: str = "ItemInventory") -> tuple[str | None, str | None]:
    record = keeper.get(item, kind)
    return record.findtext("QuantityOnHand"), record.findtext("AverageCost")


def adjust(keeper: Bookkeeper, item: str, **adjustment: Any) -> Any:
    line = {"ItemRef": item, **adjustment}
    return keeper.add("InventoryAdjustment", AccountRef="Shrinkage", InventoryAdjustmentLineAdd=[line])


def test_the_cost_of_an_item_is_the_average_of_its_purchases(keeper: Bookkeeper) -> None:
    buy(keeper, "Hinge", 10, "2.00")
    buy(keeper, "Hinge", 30, "4.00")
    assert stock(keeper, "Hinge") == ("40", "3.50")

    invoice = keeper.invoice(InvoiceLineAdd=[{"ItemRef": "Hinge", "Quantity": 4}])
    assert stock(keeper, "Hinge") == ("36", "3.50")
    assert keeper.balance("Cost of Goods Sold") == Decimal(14)
    assert keeper.balance("Inventory Asset") == Decimal(126)

    keeper.delete(invoice)
    assert (stock(keeper, "Hinge")[0], keeper.balance("Cost of Goods Sold")) == ("40", Decimal(0))


def test_more_can_be_sold_than_there_is(keeper: Bookkeeper) -> None:
    keeper.invoice(InvoiceLineAdd=[{"ItemRef": "Door", "Quantity": 2}])

    assert stock(keeper, "Door") == ("-2", "40.00")
    assert keeper.balance("Inventory Asset") == Decimal(-80)


def test_the_last_piece_takes_the_rest_of_the_value(keeper: Bookkeeper) -> None:
    buy(keeper, "Hinge", 3, "3.33333")
    for _ in range(3):
        keeper.invoice(InvoiceLineAdd=[{"ItemRef": "Hinge", "Quantity": 1}])

    assert (stock(keeper, "Hinge")[0], keeper.balance("Inventory Asset")) == ("0", Decimal(0))


def test_a_credit_memo_puts_items_back(keeper: Bookkeeper) -> None:
    buy(keeper, "Hinge", 10, "2.00")

    keeper.add("CreditMemo", CustomerRef="Ada", CreditMemoLineAdd=[{"ItemRef": "Hinge", "Quantity": 2}])

    assert stock(keeper, "Hinge") == ("12", "2.00")


@pytest.mark.parametrize(
    ("adjustment", "expected", "value"),
    [
        ({"QuantityAdjustment": {"NewQuantity": 7}}, ("7", "2.00"), "14.00"),
        ({"QuantityAdjustment": {"QuantityDifference": -10}}, ("0", "2.00"), "0.00"),
        ({"ValueAdjustment": {"NewQuantity": 5, "NewValue": "20.00"}}, ("5", "4.00"), "20.00"),
        ({"ValueAdjustment": {"ValueDifference": "5.00"}}, ("10", "2.50"), "25.00"),
    ],
)
def test_adjustments_change_quantity_and_value(
    keeper: Bookkeeper, adjustment: dict[str, Any], expected: tuple[str, str], value: str
) -> None:
    buy(keeper, "Hinge", 10, "2.00")

    adjust(keeper, "Hinge", **adjustment)

    assert stock(keeper, "Hinge") == expected
    assert keeper.balance("Inventory Asset") == Decimal(value)
    assert keeper.balance("Shrinkage") == Decimal(20) - Decimal(value)


def test_only_stock_can_be_adjusted(keeper: Bookkeeper) -> None:
    line = {"ItemRef": "Work", "QuantityAdjustment": {"NewQuantity": 1}}
    serial = {"ItemRef": "Hinge", "SerialNumberAdjustment": {"AddSerialNumber": "1"}}

    for content, code in ((line, "3210"), (serial, "3250")):
        fields = {"AccountRef": "Shrinkage", "InventoryAdjustmentLineAdd": [content]}
        assert keeper.refusal("InventoryAdjustment", **fields)[0] == code


def test_an_opening_quantity_is_an_adjustment(keeper: Bookkeeper) -> None:
    keeper.add(
        "ItemInventory",
        Name="Lock",
        IncomeAccountRef="Sales",
        COGSAccountRef="Cost of Goods Sold",
        AssetAccountRef="Inventory Asset",
        QuantityOnHand=6,
        TotalValue="45.00",
    )

    assert stock(keeper, "Lock") == ("6", "7.50")
    assert keeper.balance("Opening Balance Equity") == Decimal(45)
    assert len(keeper.books["InventoryAdjustment"]) == 1


def test_an_assembly_is_built_from_its_components(keeper: Bookkeeper) -> None:
    keeper.add(
        "ItemInventoryAssembly",
        Name="Gate",
        IncomeAccountRef="Sales",
        COGSAccountRef="Cost of Goods Sold",
        AssetAccountRef="Inventory Asset",
        ItemInventoryAssemblyLine=[
            {"ItemInventoryRef": "Door", "Quantity": 1},
            {"ItemInventoryRef": "Hinge", "Quantity": 3},
        ],
    )
    buy(keeper, "Door", 4, "40.00")
    buy(keeper, "Hinge", 7, "2.00")

    build = keeper.add("BuildAssembly", ItemInventoryAssemblyRef="Gate", QuantityToBuild=2)

    assert (build.findtext("IsPending"), build.findtext("QuantityOnHand"), build.findtext("QuantityCanBuild")) == (
        "false",
        "2",
        "0",
    )
    assert [line.findtext("QuantityNeeded") for line in build.iter("ComponentItemLineRet")] == ["2", "6"]
    assert stock(keeper, "Gate", "ItemInventoryAssembly") == ("2", "46.00")
    assert stock(keeper, "Hinge") == ("1", "2.00")
    code, message = keeper.refusal("BuildAssembly", ItemInventoryAssemblyRef="Gate", QuantityToBuild=1)
    assert (code, message) == ("3180", "You do not have sufficient quantities to build this assembly.")
    pending = keeper.add(
        "BuildAssembly", ItemInventoryAssemblyRef="Gate", QuantityToBuild=1, MarkPendingIfRequired=True
    )
    assert pending.findtext("IsPending") == "true"
    assert stock(keeper, "Gate", "ItemInventoryAssembly")[0] == "2"


GATE = {
    "Name": "Gate",
    "IncomeAccountRef": "Sales",
    "COGSAccountRef": "Cost of Goods Sold",
    "AssetAccountRef": "Inventory Asset",
    "ItemInventoryAssemblyLine": [{"ItemInventoryRef": "Hinge", "Quantity": 3}],
}


def build(keeper: Bookkeeper, quantity: int, day: int, **fields: Any) -> Element:
    """Build gates on a day of July, and return the Rs element."""
    date = f"2026-07-{day:02}"
    return keeper.try_to_add(
        "BuildAssembly", ItemInventoryAssemblyRef="Gate", TxnDate=date, QuantityToBuild=quantity, **fields
    )


def change_build(keeper: Bookkeeper, record: Element, **content: Any) -> Element:
    now = keeper.ask("BuildAssemblyQueryRq", f"<TxnID>{record.findtext('TxnID')}</TxnID>")[0]
    identity = {"TxnID": now.findtext("TxnID"), "EditSequence": now.findtext("EditSequence")}
    return keeper.ask("BuildAssemblyModRq", {"BuildAssemblyMod": {**identity, **content}})


def pending(keeper: Bookkeeper) -> tuple[int, int]:
    """Return the numbers of builds that are pending and of those that are not, as queries find them."""
    counts = [
        len(keeper.ask("BuildAssemblyQueryRq", f"<PendingStatus>{status}</PendingStatus>"))
        for status in ("PendingOnly", "NotPendingOnly")
    ]
    return counts[0], counts[1]


def test_a_build_takes_the_stock_of_its_date(keeper: Bookkeeper) -> None:
    keeper.add("ItemInventoryAssembly", **GATE)
    buy(keeper, "Hinge", 6, "2.00", TxnDate="2026-07-10")

    assert build(keeper, 1, 9).get("statusMessage") == "You do not have sufficient quantities to build this assembly."
    assert build(keeper, 2, 10)[0].findtext("QuantityCanBuild") == "0"
    possible = [
        keeper.ask("ItemAssembliesCanBuildQueryRq", {"ItemInventoryAssemblyRef": "Gate", "TxnDate": f"2026-07-{day}"})
        for day in ("09", "10")
    ]
    assert [answer[0].findtext("QuantityCanBuild") for answer in possible] == ["0", "0"]


def test_a_pending_build_is_built_when_its_components_have_arrived(keeper: Bookkeeper) -> None:
    keeper.add("ItemInventoryAssembly", **GATE)
    record = build(keeper, 2, 10, MarkPendingIfRequired=True)[0]

    assert change_build(keeper, record, RemovePending=True).get("statusCode") == "3180"
    buy(keeper, "Hinge", 6, "2.00", TxnDate="2026-07-10")
    assert change_build(keeper, record, Memo="Waits")[0].findtext("IsPending") == "true"
    assert pending(keeper) == (1, 0)

    built = change_build(keeper, record, RemovePending=True)

    assert built[0].findtext("IsPending") == "false"
    assert pending(keeper) == (0, 1)
    assert (stock(keeper, "Hinge")[0], stock(keeper, "Gate", "ItemInventoryAssembly")) == ("0", ("2", "6.00"))


def test_a_build_becomes_larger_only_with_enough_components(keeper: Bookkeeper) -> None:
    keeper.add("ItemInventoryAssembly", **GATE)
    buy(keeper, "Hinge", 9, "2.00", TxnDate="2026-07-01")
    record = build(keeper, 1, 10)[0]

    assert change_build(keeper, record, QuantityToBuild=4).get("statusCode") == "3180"
    assert change_build(keeper, record, QuantityToBuild=3).get("statusCode") == "0"
    assert stock(keeper, "Hinge")[0] == "0"
    assert change_build(keeper, record, QuantityToBuild=1).get("statusCode") == "0"
    assert (stock(keeper, "Hinge")[0], stock(keeper, "Gate", "ItemInventoryAssembly")[0]) == ("6", "1")
    moved = change_build(keeper, record, QuantityToBuild=4, MarkPendingIfRequired=True)
    assert (moved[0].findtext("IsPending"), stock(keeper, "Hinge")[0]) == ("true", "9")


@pytest.mark.parametrize("way", ["sell", "delete", "move", "count"])
def test_a_build_whose_components_go_missing_becomes_pending(keeper: Bookkeeper, way: str) -> None:
    keeper.add("ItemInventoryAssembly", **GATE)
    bill = buy(keeper, "Hinge", 6, "2.00", TxnDate="2026-07-01")
    build(keeper, 1, 10)
    build(keeper, 1, 12)
    keeper.company.strict = True
    if way == "sell":
        line = {"ItemRef": "Hinge", "Quantity": 2}
        keeper.invoice(TxnDate="2026-07-11", InvoiceLineAdd=[line])
    elif way == "delete":
        keeper.delete(bill)
    elif way == "move":
        identity = {"TxnID": bill.findtext("TxnID"), "EditSequence": bill.findtext("EditSequence")}
        keeper.ask("BillModRq", {"BillMod": {**identity, "TxnDate": "2026-07-11"}})
    else:
        count = {"ItemRef": "Hinge", "QuantityAdjustment": {"QuantityDifference": -1}}
        keeper.add(
            "InventoryAdjustment",
            AccountRef="Shrinkage",
            TxnDate="2026-07-05",
            InventoryAdjustmentLineAdd=[count],
        )

    # the build of the 10th keeps its hinges as long as there are three on that day
    missing = {"sell": (1, 1), "delete": (2, 0), "move": (1, 1), "count": (1, 1)}
    assert pending(keeper) == missing[way]
    assert keeper.company.simplifications["several_short_builds"]
    on_hand = {"sell": "1", "delete": "0", "move": "3", "count": "2"}
    assert stock(keeper, "Hinge")[0] == on_hand[way]


@pytest.mark.parametrize("seed", range(3))
def test_no_final_build_lacks_components_on_its_date_after_any_sequence_of_requests(
    keeper: Bookkeeper, seed: int
) -> None:
    chance = random.Random(seed)
    keeper.add("ItemInventoryAssembly", **GATE)
    parts = [{"ItemInventoryRef": "Gate", "Quantity": 1}, {"ItemInventoryRef": "Hinge", "Quantity": 1}]
    keeper.add("ItemInventoryAssembly", **{**GATE, "Name": "Fence", "ItemInventoryAssemblyLine": parts})
    records: list[Element] = []
    seen = set()
    for _ in range(60):
        day = f"2026-07-{chance.randint(1, 28):02}"
        action = chance.choice(("buy", "build", "build", "sell", "delete"))
        if action == "buy":
            records.append(buy(keeper, "Hinge", chance.randint(1, 20), "2.00", TxnDate=day))
        elif action == "build":
            built = {"ItemInventoryAssemblyRef": chance.choice(("Gate", "Fence")), "TxnDate": day}
            mark = chance.random() < 0.3
            answer = keeper.try_to_add("BuildAssembly", **built, QuantityToBuild=1, MarkPendingIfRequired=mark)
            records += list(answer)
        elif action == "sell":
            line = {"ItemRef": chance.choice(("Hinge", "Gate")), "Quantity": 2}
            records.append(keeper.invoice(TxnDate=day, InvoiceLineAdd=[line]))
        elif records:
            keeper.delete(records.pop(chance.randrange(len(records))))
        seen.add(pending(keeper))
        ledger = keeper.books.ledger
        for record in keeper.books["BuildAssembly"]:
            if record.fields["IsPending"] == "false":
                for line in record.fields["ComponentItemLineRet"]:
                    assert ledger.stock_on(line["ItemRef"]["ListID"], record.fields["TxnDate"]).quantity >= 0
    assert {waiting > 0 for waiting, _ in seen} == {True, False} == {final > 0 for _, final in seen}
    check(keeper.books)


def test_a_purchase_order_is_received_by_receipts_and_bills(keeper: Bookkeeper) -> None:
    order = keeper.add(
        "PurchaseOrder", VendorRef="Supplier", PurchaseOrderLineAdd=[{"ItemRef": "Hinge", "Quantity": 10, "Rate": "2"}]
    )
    assert keeper.get("Hinge", "ItemInventory").findtext("QuantityOnOrder") == "10"
    line = {"TxnID": order.findtext("TxnID"), "TxnLineID": order.findtext("PurchaseOrderLineRet/TxnLineID")}

    keeper.add("ItemReceipt", VendorRef="Supplier", ItemLineAdd=[{"Quantity": 4, "LinkToTxn": line}])
    partly = keeper.get(order)
    bill = keeper.add("Bill", VendorRef="Supplier", LinkToTxnID=[order.findtext("TxnID")])
    wholly = keeper.get(order)

    assert (partly.findtext(".//ReceivedQuantity"), partly.findtext("IsFullyReceived")) == ("4", "false")
    assert (bill.findtext("ItemLineRet/Quantity"), bill.findtext("AmountDue")) == ("6", "12.00")
    assert (wholly.findtext(".//ReceivedQuantity"), wholly.findtext("IsFullyReceived")) == ("10", "true")
    assert keeper.get("Hinge", "ItemInventory").findtext("QuantityOnOrder") == "0"
    assert stock(keeper, "Hinge")[0] == "10"
