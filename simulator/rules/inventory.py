"""Stock: adjustments, assemblies that are built, transfers between sites, and time and mileage, which post nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books.costing import Role, Stock
from simulator.books.ledger import NOTHING, ZERO, Effects
from simulator.books.records import reference_id
from simulator.rules.common import TransactionRules, decimal, refused
from simulator.rules.items import complete_site, is_stock, open_order_quantity, stock_move, stock_of
from simulator.rules.requirements import not_saved
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books


class InventoryAdjustmentRules(TransactionRules):
    """Adjustments of quantities and values."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Compute the differences of quantity and value. Raises `RequestError` 3210 or 3250."""
        super().complete(books, draft)
        complete_site(books, draft.fields)
        for line in draft.fields.get("InventoryAdjustmentLineRet", ()):
            item = books.lists.get(reference_id(line, "ItemRef"))
            if item is None or not is_stock(item):
                name = item.full_name if item is not None else ""
                raise refused("ItemRef", name, "The company keeps no quantity of this item.")
            if "SerialNumberAdjustment" in line or "LotNumberAdjustment" in line:
                raise RequestError(3250, f"{NOT_AVAILABLE}.")
            self._complete_line(books, draft, line, item)
            line["Stock"] = stock_of(books, item, line["QuantityDifference"])

    def _complete_line(self, books: Books, draft: Draft, line: Fields, item: Record) -> None:
        before = self._before(books, draft, item)
        by_quantity, by_value = line.pop("QuantityAdjustment", {}), line.pop("ValueAdjustment", {})
        adjustment = by_quantity or by_value
        if "NewQuantity" in adjustment:
            line["QuantityDifference"] = number_text(decimal(adjustment, "NewQuantity") - before.quantity, 0)
        elif "QuantityDifference" in adjustment:
            line["QuantityDifference"] = adjustment["QuantityDifference"]
        line.setdefault("QuantityDifference", "0")
        if by_quantity:
            line.pop("ValueDifference", None)
        if "NewValue" in by_value:
            line["ValueDifference"] = money(decimal(by_value, "NewValue") - before.value)
        elif "ValueDifference" in by_value:
            line["ValueDifference"] = by_value["ValueDifference"]

    def _before(self, books: Books, draft: Draft, item: Record) -> Stock:
        """Return the stock at the end of the day of the adjustment, without the adjustment that a Mod changes."""
        day = draft.fields["TxnDate"]
        stock = books.ledger.stock_on(item.id, day)
        if draft.before is None or draft.before.fields["TxnDate"] > day:
            return stock
        own = [(move, valued) for move, valued in books.ledger.moves(draft.before.id) if move.item == item.id]
        return Stock(
            stock.quantity - sum((move.quantity for move, _ in own), ZERO),
            stock.value - sum((valued.value for _, valued in own), ZERO),
        )

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Move the quantities. A line without a difference of value is valued at the average cost."""
        fields = record.fields
        customer, class_id = reference_id(fields, "CustomerRef"), reference_id(fields, "ClassRef")
        account, memo = reference_id(fields, "AccountRef"), fields.get("Memo", "")
        moves = (
            stock_move(
                Role.ADJUSTMENT,
                line["Stock"],
                decimal(line, "QuantityDifference"),
                amount=decimal(line, "ValueDifference") if "ValueDifference" in line else None,
                adjusted=account,
                entity=customer,
                class_id=class_id,
                memo=memo,
            )
            for line in fields.get("InventoryAdjustmentLineRet", ())
        )
        return Effects(stock=tuple(moves))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the difference of value of each line."""
        lines = record.fields.get("InventoryAdjustmentLineRet", ())
        values = [valued.amount for _, valued in books.ledger.moves(record.id)] or [ZERO] * len(lines)
        return {
            **super().derived(books, record),
            "InventoryAdjustmentLineRet": [
                {**line, "ValueDifference": money(value)} for line, value in zip(lines, values, strict=True)
            ],
        }


def components(assembly: Record) -> list[tuple[str, Decimal]]:
    """Return the items of an assembly with their quantities in one of it."""
    return [
        (reference_id(line, "ItemInventoryRef"), decimal(line, "Quantity") if "Quantity" in line else Decimal(1))
        for line in assembly.fields.get("ItemInventoryAssemblyLine", ())
    ]


def can_build(books: Books, assembly: Record, day: str) -> Decimal:
    """Return the number of assemblies that can be built from the components in stock at the end of a day.

    A build sees the stock of its date (C. Russell, QuickBooks and Beyond, "Why won't QuickBooks let me build this
    assembly?").
    """
    counts = [
        _available(books, item, day, None) // quantity for item, quantity in components(assembly) if quantity > 0
    ]  # fmt: skip
    return max(min(counts, default=ZERO), ZERO)


def _available(books: Books, item: str, day: str, own: Record | None) -> Decimal:
    """Return the stock of an item at the end of a day. What the build `own` took is there again."""
    quantity = books.ledger.stock_on(item, day).quantity
    if own is not None and own.fields["TxnDate"] <= day:
        quantity -= sum((move.quantity for move, _ in books.ledger.moves(own.id) if move.item == item), ZERO)
    return quantity


def hold_short_builds(books: Books) -> None:
    """Make builds pending whose components went missing.

    "Finalized builds change to pending when the quantity of at least one component drops below the quantity needed on
    the build transaction date" (Intuit, "Pending build"). No document says which one, if several take the component.
    Here it is the one that was entered last.
    """
    while moved := books.ledger.moved_components():
        for item, builds in moved.items():
            records = sorted((books.transactions[txn_id] for txn_id in builds), key=lambda record: -record.number)
            for record in records:
                if books.ledger.stock_on(item, record.fields["TxnDate"]).quantity < 0:
                    if len(records) > 1:
                        books.assume("several_short_builds")
                    books.change(record, {**record.fields, "IsPending": "true"})


class BuildAssemblyRules(TransactionRules):
    """Builds turn components into assemblies."""

    def complete(self, books: Books, draft: Draft) -> None:
        """List the components. A build without enough of them is refused or pending.

        A pending build stays pending until RemovePending, which fails as long as components are missing. Raises
        `RequestError` 3180.
        """
        super().complete(books, draft)
        fields, former = draft.fields, draft.before
        assembly = books.lists[draft.reference("ItemInventoryAssemblyRef")]
        quantity = decimal(fields, "QuantityToBuild")
        if quantity <= 0:
            raise refused("QuantityToBuild", fields.get("QuantityToBuild", ""), "The quantity must be above zero.")
        fields["Stock"] = stock_of(books, assembly, fields["QuantityToBuild"])
        if former is not None and not former.is_void and _definition(former.fields) != components(assembly):
            books.assume("build_of_a_changed_assembly")
        if former is None or former.is_void or fields["BuiltQuantity"] != fields["QuantityToBuild"]:
            fields["BuiltQuantity"] = fields["QuantityToBuild"]
            fields["ComponentItemLineRet"] = _component_lines(books, assembly, quantity)
        stays_pending = fields.get("IsPending") == "true" and draft.extra.get("RemovePending") != "true"
        fields["IsPending"] = "true" if stays_pending else "false"
        if not stays_pending and _is_short(books, fields, former):
            if draft.extra.get("MarkPendingIfRequired") != "true":
                raise RequestError(3180, "You do not have sufficient quantities to build this assembly.")
            fields["IsPending"] = "true"

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Move quantities and values from the components to the assembly."""
        fields = record.fields
        if fields.get("IsPending") == "true" or "Stock" not in fields:
            return NOTHING
        memo = fields.get("Memo", "")
        moves = [
            stock_move(Role.COMPONENT, line["Stock"], -decimal(line, "QuantityNeeded"), memo=memo)
            for line in fields.get("ComponentItemLineRet", ())
        ]
        moves.append(stock_move(Role.PRODUCT, fields["Stock"], decimal(fields, "QuantityToBuild"), memo=memo))
        return Effects(stock=tuple(moves))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the quantities of the assembly and of its components now."""
        assembly = books.lists[reference_id(record.fields, "ItemInventoryAssemblyRef")]

        def on_hand(item_id: str) -> str:
            return number_text(books.ledger.stock(item_id).quantity, 0)

        return {
            "QuantityCanBuild": number_text(can_build(books, assembly, record.fields["TxnDate"]), 0),
            "QuantityOnHand": on_hand(assembly.id),
            "QuantityOnSalesOrder": number_text(open_order_quantity(books, assembly, "SalesOrder"), 0),
            "ComponentItemLineRet": [
                {**line, "QuantityOnHand": on_hand(reference_id(line, "ItemRef"))}
                for line in record.fields.get("ComponentItemLineRet", ())
            ],
        }


def _component_lines(books: Books, assembly: Record, quantity: Decimal) -> list[Fields]:
    """Return the lines of a build of so many assemblies."""
    lines = []
    for item_id, per_assembly in components(assembly):
        item = books.lists[item_id]
        lines.append({
            "ItemRef": item.reference(),
            "Desc": item.fields.get("PurchaseDesc") or item.fields.get("SalesDesc") or "",
            "QuantityNeeded": number_text(per_assembly * quantity, 0),
            "Stock": stock_of(books, item, number_text(per_assembly * quantity, 0)),
        })  # fmt: skip
    return lines


def _is_short(books: Books, fields: Fields, former: Record | None) -> bool:
    """Return whether a build lacks components on its date. One without components has nothing to build from."""
    needed: defaultdict[str, Decimal] = defaultdict(Decimal)
    for line in fields["ComponentItemLineRet"]:
        needed[reference_id(line, "ItemRef")] += decimal(line, "QuantityNeeded")
    return not needed or any(
        quantity > _available(books, item, fields["TxnDate"], former) for item, quantity in needed.items()
    )


def _definition(former: Fields) -> list[tuple[str, Decimal]]:
    """Return the items of a build with their quantities in one assembly."""
    built = decimal(former, "BuiltQuantity")
    return [
        (reference_id(line, "ItemRef"), decimal(line, "QuantityNeeded") / built)
        for line in former.get("ComponentItemLineRet", ())
    ]


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


_SECONDS = re.compile(r"\d+S")


class TimeTrackingRules(TransactionRules):
    """Hours of work."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Make the hours not billable unless the request says otherwise. Raises `RequestError` 3180.

        Billable time needs a customer and a service item (Intuit's API Reference, TimeTrackingAdd). Seconds can be
        specified, and are not returned (Conductor).
        """
        super().complete(books, draft)
        fields = draft.fields
        fields.setdefault("BillableStatus", "NotBillable")
        if fields["BillableStatus"] == "Billable" and not (fields.get("CustomerRef") and fields.get("ItemServiceRef")):
            raise not_saved(draft, "Billable time needs a customer and a service item.")
        entity = books.lists.get(draft.reference("EntityRef"))
        if fields.get("PayrollItemWageRef") and entity is not None and entity.kind.name != "Employee":
            wage = books.lists[draft.reference("PayrollItemWageRef")].full_name
            raise refused("PayrollItemWageRef", wage, "Only the time of an employee has a payroll item.")
        duration = _SECONDS.sub("", fields.get("Duration", ""))
        fields["Duration"] = f"{duration}0M" if duration.endswith("T") else duration

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the status as the two switches of qbXML 16.0."""
        status = record.fields.get("BillableStatus")
        return {
            **super().derived(books, record),
            "IsBillable": "false" if status == "NotBillable" else "true",
            "IsBilled": "true" if status == "HasBeenBilled" else "false",
        }
