"""Prices, costs, accounts, units and stock of items for transactions, and the rules of stock items."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulator.basics.errors import RequestError
from simulator.books.costing import StockMove
from simulator.books.kinds import KINDS
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.rules.common import HUNDRED, decimal, rounded, special_account
from simulator.rules.lists import ListRules, default_tax_codes
from simulator.rules.orders import open_lines
from simulator.rules.preferences import is_on
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books.costing import Role
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

STOCK_KINDS = ("ItemInventory", "ItemInventoryAssembly")
UNIT_PRICE = Decimal("0.00001")


def item_of(books: Books, line: Fields) -> Record | None:
    """Return the item of a line."""
    return books.lists.get(reference_id(line, "ItemRef"))


def is_stock(item: Record) -> bool:
    """Return whether the company keeps a quantity on hand of an item."""
    return item.kind.name in STOCK_KINDS


def sales_facts(item: Record) -> Fields:
    """Return the Desc, Price, PricePercent and AccountRef with which an item is sold."""
    fields = item.fields
    if "SalesOrPurchase" in fields:
        return dict(fields["SalesOrPurchase"])
    holder = fields.get("SalesAndPurchase", fields)
    return {
        "Desc": holder.get("SalesDesc") or fields.get("ItemDesc") or "",
        "Price": holder.get("SalesPrice") or fields.get("DiscountRate") or "",
        "PricePercent": fields.get("DiscountRatePercent") or "",
        "AccountRef": holder.get("IncomeAccountRef")
        or fields.get("AccountRef")
        or fields.get("DepositToAccountRef")
        or {},
    }


def purchase_facts(item: Record) -> Fields:
    """Return the Desc, Price and AccountRef with which an item is bought: the asset account of a stock item."""
    fields = item.fields
    if "SalesOrPurchase" in fields:
        return dict(fields["SalesOrPurchase"])
    holder = fields.get("SalesAndPurchase", fields)
    facts = {
        "Desc": holder.get("PurchaseDesc") or fields.get("ItemDesc") or "",
        "Price": holder.get("PurchaseCost") or "",
        "AccountRef": fields.get("AssetAccountRef")
        or holder.get("ExpenseAccountRef")
        or fields.get("COGSAccountRef")
        or fields.get("AccountRef")
        or {},
    }
    return {name: value for name, value in facts.items() if value}


def purchase_price(item: Record) -> Decimal:
    """Return the Price of `purchase_facts`."""
    fields = item.fields
    if "SalesOrPurchase" in fields:
        return decimal(fields["SalesOrPurchase"], "Price")
    return decimal(fields.get("SalesAndPurchase", fields), "PurchaseCost")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measure: its name, and how many base units it is."""

    name: str = ""
    ratio: Decimal = Decimal(1)


BASE_UNIT = Unit()


def unit_of(books: Books, item: Record, line: Fields, used_for: str) -> Unit:
    """Return the unit of a line: the one it names, else the default for `Sales` or `Purchase`.

    Raises `RequestError` 3140 for a unit that the item's set does not have.
    """
    units = books.lists.get(reference_id(item.fields, "UnitOfMeasureSetRef"))
    name = line.get("UnitOfMeasure", "")
    if units is None:
        if name:
            raise RequestError(3140, f'There is an invalid reference to QuickBooks UnitOfMeasure "{name}".')
        return BASE_UNIT
    base = units.fields.get("BaseUnit", {})
    ratios = {base.get("Name", ""): Unit(base.get("Name", ""))}
    for related in units.fields.get("RelatedUnit", ()):
        ratios[related["Name"]] = Unit(related["Name"], decimal(related, "ConversionRatio"))
    if not name:
        defaults = units.fields.get("DefaultUnit", ())
        name = next(
            (default["Unit"] for default in defaults if default.get("UnitUsedFor") == used_for), base.get("Name", "")
        )
    if name not in ratios:
        raise RequestError(3140, f'There is an invalid reference to QuickBooks UnitOfMeasure "{name}".')
    return ratios[name]


def group_members(group: Record, quantity: Decimal) -> list[Fields]:
    """Return the lines that an item group expands to."""
    members = []
    for member in group.fields.get("ItemGroupLine", ()):
        if "ItemRef" not in member:
            continue
        line = {"ItemRef": member["ItemRef"]}
        if "Quantity" in member:
            line["Quantity"] = number_text(decimal(member, "Quantity") * quantity, 0)
        if "UnitOfMeasure" in member:
            line["UnitOfMeasure"] = member["UnitOfMeasure"]
        members.append(line)
    return members


_COMPUTED = ("Desc", "UnitOfMeasure", "Rate", "RatePercent", "Cost", "Amount", "SalesTaxCodeRef")


def note_computed(line: Fields, former: set[str]) -> None:
    """Record the values that come from a line's item: those of fields that are not in `former`, the earlier fields."""
    computed = {name: line[name] for name in _COMPUTED if name in line and name not in former}
    computed["ItemRef"] = line["ItemRef"]
    line["Computed"] = computed


def forget_computed(line: Fields) -> None:
    """Remove the computed values of a line, unless a Mod replaced them.

    The amount is always computed again, the price after a change of the amount, and all values after a change of the
    item.
    """
    if "Computed" not in line:
        return
    computed = line.pop("Computed")
    same_item = computed.get("ItemRef") == line.get("ItemRef")
    amount_was_set = "Amount" in line and line["Amount"] != computed.get("Amount")
    for name, value in computed.items():
        stale = name == "Amount" or not same_item or (name in {"Rate", "Cost"} and amount_was_set)
        if name != "ItemRef" and stale and line.get(name) == value:
            del line[name]


def price_with_level(books: Books, item: Record, price: Decimal, level_id: str) -> Decimal:
    """Return an item's price on a price level."""
    level = books.lists.get(level_id)
    if level is None:
        return price
    for item_price in level.fields.get("PriceLevelPerItemRet", ()):
        if reference_id(item_price, "ItemRef") == item.id:
            if "CustomPrice" in item_price:
                return decimal(item_price, "CustomPrice")
            return rounded(price * (HUNDRED + decimal(item_price, "CustomPricePercent")) / HUNDRED)
    percent = decimal(level.fields, "PriceLevelFixedPercentage")
    return rounded(price * (HUNDRED + percent) / HUNDRED) if percent else price


def average_cost(books: Books, item: Record) -> Decimal:
    """Return the average cost of one base unit, or the purchase cost of an item without movements."""
    average = books.ledger.stock(item.id).average
    return purchase_price(item) if average is None else average.quantize(UNIT_PRICE)


def stock_of(books: Books, item: Record, quantity: str) -> Fields:
    """Return the quantity of a line in base units, with the accounts and the cost that its movement needs.

    The line keeps them: a later change of the item does not change the books.
    """
    return {
        "ItemRef": item.reference(),
        "Quantity": quantity,
        "PurchaseCost": number_text(purchase_price(item), 2),
        "AssetAccountRef": asset_account(books, item),
        "COGSAccountRef": cost_account(books, item),
    }


def stock_move(role: Role, stock: Fields, quantity: Decimal, **facts: Any) -> StockMove:
    """Return the movement of a quantity with the facts of `stock_of`. `facts` are the other fields of `StockMove`."""
    return StockMove(
        role,
        reference_id(stock, "ItemRef"),
        quantity,
        reference_id(stock, "AssetAccountRef"),
        reference_id(stock, "COGSAccountRef"),
        decimal(stock, "PurchaseCost"),
        **facts,
    )


def complete_site(books: Books, fields: Fields) -> None:
    """Put stock at the default site if the company uses sites and the request names none."""
    if is_on(books, "sites") and "InventorySiteRef" not in fields:
        sites = list(books["InventorySite"])
        default = next((site for site in sites if site.fields.get("IsDefaultSite") == "true"), None)
        if default is not None:
            fields["InventorySiteRef"] = default.reference()


def asset_account(books: Books, item: Record) -> Fields:
    """Return the account that holds the value of a stock item."""
    return item.fields.get("AssetAccountRef") or special_account(books, "InventoryAssets")


def cost_account(books: Books, item: Record) -> Fields:
    """Return the account for the cost of the goods sold of a stock item."""
    return item.fields.get("COGSAccountRef") or special_account(books, "CostOfGoodsSold")


class StockItemRules(ListRules):
    """Inventory parts and assemblies: quantities come from transactions."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Move the opening quantity to `extra`, because it becomes an inventory adjustment."""
        super().complete(books, draft)
        opening = draft.fields.pop("QuantityOnHand", "")
        for name in ("AverageCost", "QuantityOnOrder", "QuantityOnSalesOrder"):
            draft.fields.pop(name, None)
        if "TotalValue" in draft.extra and not opening:
            raise RequestError(3150, 'There is a missing element: "QuantityOnHand".')
        if opening and draft.before is None:
            draft.extra.setdefault("QuantityOnHand", opening)
        draft.fields.setdefault("PurchaseCost", "0.00")
        if draft.before is None and "SalesTaxCodeRef" not in draft.fields and is_on(books, "sales_tax"):
            draft.fields["SalesTaxCodeRef"] = default_tax_codes(books)[0]

    def after_add(self, books: Books, record: Record, draft: Draft) -> None:
        """Make the inventory adjustment of an opening quantity."""
        quantity = Decimal(draft.extra.get("QuantityOnHand") or "0")
        if not quantity:
            return
        value = Decimal(draft.extra.get("TotalValue") or rounded(quantity * decimal(record.fields, "PurchaseCost")))
        line = {
            "TxnLineID": books.new_line_id(),
            "ItemRef": record.reference(),
            "QuantityDifference": number_text(quantity, 0),
            "ValueDifference": money(value),
            "Stock": stock_of(books, record, number_text(quantity, 0)),
        }
        fields = {
            "AccountRef": special_account(books, "OpeningBalanceEquity"),
            "TxnDate": draft.extra.get("InventoryDate") or books.clock.today().isoformat(),
            "Memo": "Opening balance",
            "InventoryAdjustmentLineRet": [line],
        }
        books.add(KINDS["InventoryAdjustment"], fields, at=record.created)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the quantities on hand, on order and on sales orders, and the average cost."""
        return {
            "QuantityOnHand": number_text(books.ledger.stock(record.id).quantity, 0),
            "AverageCost": number_text(average_cost(books, record), 2),
            "QuantityOnOrder": number_text(open_order_quantity(books, record, "PurchaseOrder"), 0),
            "QuantityOnSalesOrder": number_text(open_order_quantity(books, record, "SalesOrder"), 0),
        }


def open_order_quantity(books: Books, item: Record, kind: str) -> Decimal:
    """Return the quantity of an item on open orders: sales orders or purchase orders."""
    total = ZERO
    for record_id in books.users(item.id):
        order = books.transactions.get(record_id)
        if order is not None and order.kind.name == kind:
            total += sum((quantity for line, quantity in open_lines(books, order) if _is_of(line, item)), ZERO)
    return total


def _is_of(line: Fields, item: Record) -> bool:
    return reference_id(line, "ItemRef") == item.id
