"""Stock: adjustments, assemblies that are built, transfers between sites, and time and mileage, which post nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books.ledger import NOTHING, ZERO, Effects, Posting, StockMove
from simulator.books.records import reference_id
from simulator.rules.common import TransactionRules, decimal, refused, rounded
from simulator.rules.items import (
    asset_account,
    cost_of,
    is_stock,
    open_order_quantity,
    purchase_facts,
)
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books


class InventoryAdjustmentRules(TransactionRules):
    """Adjustments of quantities and values."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Compute the differences of quantity and value. Raises `RequestError` 3210 or 3250."""
        super().complete(books, draft)
        for line in draft.fields.get("InventoryAdjustmentLineRet", ()):
            item = books.lists.get(reference_id(line, "ItemRef"))
            if item is None or not is_stock(item):
                name = item.full_name if item is not None else ""
                raise refused("ItemRef", name, "The company keeps no quantity of this item.")
            if "SerialNumberAdjustment" in line or "LotNumberAdjustment" in line:
                raise RequestError(
                    3250, "This feature is not enabled or not available in this version of QuickBooks."
                )  # fmt: skip
            self._complete_line(books, draft, line, item)
            line["AssetAccountRef"] = asset_account(books, item)

    def _complete_line(self, books: Books, draft: Draft, line: Fields, item: Record) -> None:
        on_hand, value = self._before(books, draft, item)
        by_quantity, by_value = line.pop("QuantityAdjustment", {}), line.pop("ValueAdjustment", {})
        adjustment = by_quantity or by_value
        if "NewQuantity" in adjustment:
            line["QuantityDifference"] = number_text(decimal(adjustment, "NewQuantity") - on_hand, 0)
        elif "QuantityDifference" in adjustment:
            line["QuantityDifference"] = adjustment["QuantityDifference"]
        line.setdefault("QuantityDifference", "0")
        computed = line.pop("ComputedValue", None)
        if "NewValue" in by_value:
            line["ValueDifference"] = money(decimal(by_value, "NewValue") - value)
        elif "ValueDifference" in by_value:
            line["ValueDifference"] = by_value["ValueDifference"]
        elif "ValueDifference" not in line or line["ValueDifference"] == computed:
            difference = decimal(line, "QuantityDifference")
            if difference and on_hand + difference == 0:
                amount = -value
            else:
                cost = (value / on_hand) if on_hand > 0 and value > 0 else decimal(purchase_facts(item), "Price")
                amount = rounded(cost * difference)
            line["ValueDifference"] = line["ComputedValue"] = money(amount)

    def _before(self, books: Books, draft: Draft, item: Record) -> tuple[Decimal, Decimal]:
        """Return the quantity and the value without the adjustment that a Mod changes."""
        own = books.ledger.effects.get(draft.before.id, NOTHING).stock if draft.before is not None else ()
        moves = [move for move in own if move.item == item.id]
        return (
            books.ledger.on_hand.get(item.id, ZERO) - sum((move.quantity for move in moves), ZERO),
            books.ledger.stock_value.get(item.id, ZERO) - sum((move.value for move in moves), ZERO),
        )

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Debit the asset accounts with the differences of value, credit the adjustment account."""
        fields = record.fields
        customer, class_id = reference_id(fields, "CustomerRef"), reference_id(fields, "ClassRef")
        account, memo = reference_id(fields, "AccountRef"), fields.get("Memo", "")
        postings, moves = [], []
        for line in fields.get("InventoryAdjustmentLineRet", ()):
            item = reference_id(line, "ItemRef")
            quantity, value = decimal(line, "QuantityDifference"), decimal(line, "ValueDifference")
            asset = reference_id(line, "AssetAccountRef")
            postings.append(Posting(asset, value, customer, item, quantity, class_id, memo))
            postings.append(Posting(account, -value, customer, item, class_id=class_id, memo=memo))
            moves.append(StockMove(item, quantity, value))
        return Effects(tuple(postings), (), tuple(moves))


def components(assembly: Record) -> list[tuple[str, Decimal]]:
    """Return the items of an assembly with their quantities in one of it."""
    return [
        (reference_id(line, "ItemInventoryRef"), decimal(line, "Quantity") if "Quantity" in line else Decimal(1))
        for line in assembly.fields.get("ItemInventoryAssemblyLine", ())
    ]


def can_build(books: Books, assembly: Record) -> Decimal:
    """Return the number of assemblies that can be built from the components in stock."""
    counts = [
        books.ledger.on_hand.get(item, ZERO) // quantity for item, quantity in components(assembly) if quantity > 0
    ]  # fmt: skip
    return max(min(counts, default=ZERO), ZERO)


class BuildAssemblyRules(TransactionRules):
    """Builds turn components into assemblies."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Cost the components at their average cost. A build without enough of them is refused or pending.

        Raises `RequestError` 3180.
        """
        super().complete(books, draft)
        fields = draft.fields
        assembly = books.lists[draft.reference("ItemInventoryAssemblyRef")]
        quantity = decimal(fields, "QuantityToBuild")
        if quantity <= 0:
            raise refused("QuantityToBuild", fields.get("QuantityToBuild", ""), "The quantity must be above zero.")
        pending = False
        if draft.before is None and quantity > can_build(books, assembly):
            if draft.extra.get("MarkPendingIfRequired") != "true":
                raise RequestError(3180, "You do not have sufficient quantities to build this assembly.")
            pending = True
        fields.setdefault("IsPending", "true" if pending else "false")
        fields["AssetAccountRef"] = asset_account(books, assembly)
        if fields.get("BuiltQuantity") == fields["QuantityToBuild"]:
            return
        fields["BuiltQuantity"] = fields["QuantityToBuild"]
        lines = []
        for item_id, each in components(assembly):
            item = books.lists[item_id]
            lines.append({
                "ItemRef": item.reference(),
                "Desc": item.fields.get("PurchaseDesc") or item.fields.get("SalesDesc") or "",
                "QuantityNeeded": number_text(each * quantity, 0),
                "Cost": money(cost_of(books, item, each * quantity)),
                "AssetAccountRef": asset_account(books, item),
            })  # fmt: skip
        fields["ComponentItemLineRet"] = lines

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Move quantities and values from the components to the assembly."""
        fields = record.fields
        if fields.get("IsPending") == "true":
            return NOTHING
        assembly, memo = reference_id(fields, "ItemInventoryAssemblyRef"), fields.get("Memo", "")
        postings, moves = [], []
        total = ZERO
        for line in fields.get("ComponentItemLineRet", ()):
            item, cost = reference_id(line, "ItemRef"), decimal(line, "Cost")
            total += cost
            quantity = decimal(line, "QuantityNeeded")
            postings.append(Posting(reference_id(line, "AssetAccountRef"), -cost, "", item, -quantity, memo=memo))
            moves.append(StockMove(item, -quantity, -cost))
        quantity = decimal(fields, "QuantityToBuild")
        postings.append(Posting(reference_id(fields, "AssetAccountRef"), total, "", assembly, quantity, memo=memo))
        moves.append(StockMove(assembly, quantity, total))
        return Effects(tuple(postings), (), tuple(moves))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the quantities of the assembly and of its components now."""
        assembly = books.lists[reference_id(record.fields, "ItemInventoryAssemblyRef")]
        on_hand = books.ledger.on_hand
        return {
            "QuantityCanBuild": number_text(can_build(books, assembly), 0),
            "QuantityOnHand": number_text(on_hand.get(assembly.id, ZERO), 0),
            "QuantityOnSalesOrder": number_text(open_order_quantity(books, assembly, "SalesOrder"), 0),
            "ComponentItemLineRet": [
                {
                    **{name: value for name, value in line.items() if name != "Cost"},
                    "QuantityOnHand": number_text(on_hand.get(reference_id(line, "ItemRef"), ZERO), 0),
                }
                for line in record.fields.get("ComponentItemLineRet", ())
            ],
        }


class TransferInventoryRules(TransactionRules):
    """Transfers between sites do not change the company's total quantities."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Rename the quantities as responses name them. Raises `RequestError` 3210 for a transfer to the same site."""
        super().complete(books, draft)
        if draft.reference("FromInventorySiteRef") == draft.reference("ToInventorySiteRef"):
            name = books.lists[draft.reference("ToInventorySiteRef")].full_name
            raise refused("ToInventorySiteRef", name, "The two sites of a transfer must differ.")
        for line in draft.fields.get("TransferInventoryLineRet", ()):
            if "QuantityToTransfer" in line:
                line["QuantityTransferred"] = line.pop("QuantityToTransfer")


class VehicleMileageRules(TransactionRules):
    """Trips."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Compute the miles from the odometer. Raises `RequestError` 3210."""
        super().complete(books, draft)
        fields = draft.fields
        today = books.clock.today().isoformat()
        fields.setdefault("TripStartDate", today)
        fields.setdefault("TripEndDate", fields["TripStartDate"])
        if "OdometerEnd" in fields:
            miles = decimal(fields, "OdometerEnd") - decimal(fields, "OdometerStart")
            if miles < 0:
                raise refused("OdometerEnd", fields["OdometerEnd"], "It must not be less than OdometerStart.")
            fields["TotalMiles"] = number_text(miles, 0)
        fields.setdefault("BillableStatus", "NotBillable")


class TimeTrackingRules(TransactionRules):
    """Hours of work."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Make the hours not billable unless the request says otherwise."""
        super().complete(books, draft)
        draft.fields.setdefault("BillableStatus", "NotBillable")

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the status as the two switches of qbXML 16.0."""
        status = record.fields.get("BillableStatus")
        return {
            **super().derived(books, record),
            "IsBillable": "false" if status == "NotBillable" else "true",
            "IsBilled": "true" if status == "HasBeenBilled" else "false",
        }
