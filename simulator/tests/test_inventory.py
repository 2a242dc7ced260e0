"""Quantities and values of stock: purchases, sales, adjustments, assemblies, orders."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.tests.bookkeeping import Bookkeeper


@pytest.fixture
def keeper() -> Bookkeeper:
    return Bookkeeper()


def buy(keeper: Bookkeeper, item: str, quantity: int, cost: str) -> None:
    line = {"ItemRef": item, "Quantity": quantity, "Cost": cost}
    keeper.add("Check", AccountRef="Checking", ItemLineAdd=[line])


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
