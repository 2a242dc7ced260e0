"""Reports on the stock: its value, its status, and the sheet for counting it."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.reports.selection import ALL_DAYS, Selection
from simulator.reports.summary import SALES_KINDS, percentage
from simulator.reports.table import LABEL, Column, Table, amount_column, quantity_column
from simulator.reports.tree import write_items
from simulator.rules.common import decimal, rounded
from simulator.rules.items import STOCK_KINDS, open_order_quantity, purchase_facts
from simulator.rules.orders import open_lines

if TYPE_CHECKING:
    from simulator.books import Books, Record
    from simulator.reports.table import Cell


def stock_items(selection: Selection) -> list[Record]:
    """Return the items with a quantity on hand that pass the filter on items."""
    items = (item for kind in STOCK_KINDS for item in selection.books[kind])
    return [item for item in items if selection.items is None or item.id in selection.items]


def inventory_valuation(selection: Selection) -> Table:
    """Return quantity, average cost, value and retail value of the stock at the end of a period.

    The columns are those of "Inventory valuation summary report" (Intuit, INF13183), without the one for units.
    """
    books, items = selection.books, stock_items(selection)
    stocks = {item.id: books.ledger.stock_on(item.id, selection.period.last) for item in items}
    prices = {item.id: Decimal(item.fields.get("SalesPrice") or "0") for item in items}
    retail = {item.id: rounded(stocks[item.id].quantity * prices[item.id]) for item in items}
    total, total_retail = sum((stock.value for stock in stocks.values()), ZERO), sum(retail.values(), ZERO)
    columns = [
        LABEL,
        Column("Item Description", "ItemDesc"),
        quantity_column("On Hand", "QuantityOnHand"),
        Column("Avg Cost", "AverageCost", "PRICETYPE"),
        amount_column("Asset Value", "ValueOnHand"),
        Column("% of Tot Asset", "PercentOfTotalValue", "PERCENTTYPE"),
        Column("Sales Price", "UnitPrice", "PRICETYPE"),
        amount_column("Retail Value", "RetailValueOnHand"),
        Column("% of Tot Retail", "PercentOfTotalRetail", "PERCENTTYPE"),
    ]
    table = Table("Inventory Valuation Summary", selection.period.as_of(), columns)
    for item in items:
        stock = stocks[item.id]
        cells: list[Cell] = [
            item.fields.get("PurchaseDesc", ""),
            stock.quantity,
            rounded(decimal(purchase_facts(item), "Price") if stock.average is None else stock.average),
            stock.value,
            percentage(stock.value, total),
            prices[item.id],
            retail[item.id],
            percentage(retail[item.id], total_retail),
        ]
        table.data([item.full_name, *cells], "item", item.full_name)
    quantity = sum((stock.quantity for stock in stocks.values()), ZERO)
    shares = percentage(total, total), percentage(total_retail, total_retail)
    table.total(["TOTAL", None, quantity, None, total, shares[0], None, total_retail, shares[1]])
    return table


def stock_status(selection: Selection, *, by_vendor: bool) -> Table:
    """Return the quantities of each item on hand and on order, its next delivery, and its weekly sales."""
    books = selection.books
    columns = [
        Column("", "Blank"),
        Column("Item Description", "ItemDesc"),
        Column("Pref Vendor", "ItemVendor"),
        quantity_column("Reorder Pt", "ReorderPoint"),
        quantity_column("On Hand", "QuantityOnHand"),
        Column("Order", "SuggestedReorder", "BOOLTYPE"),
        quantity_column("On PO", "QuantityOnOrder"),
        Column("Next Deliv", "EarliestReceiptDate", "DATETYPE"),
        quantity_column("Sales/Week", "SalesPerWeek"),
    ]
    table = Table(f"Inventory Stock Status by {'Vendor' if by_vendor else 'Item'}", selection.period.title(), columns)
    sold: dict[str, Decimal] = defaultdict(Decimal)
    for record, posting in selection.postings():
        if posting.quantity and record.kind.name in SALES_KINDS:
            sold[posting.item] += posting.quantity
    items = stock_items(selection)
    groups: dict[str, list[Record]] = defaultdict(list)
    for item in items:
        vendor = books.lists.get(reference_id(item.fields, "PrefVendorRef"))
        groups[(vendor.full_name if vendor else "No vendor") if by_vendor else "Inventory"].append(item)
    weeks = _weeks(selection)

    def cells(item: Record) -> list[Cell]:
        return _stock_cells(books, item, rounded(sold[item.id] / weeks) if weeks else ZERO)

    for name in sorted(groups, key=str.lower):
        table.text(name)
        if by_vendor:
            for item in groups[name]:
                table.data([item.full_name, *cells(item)], "item", item.full_name)
        else:
            write_items(table, groups[name], cells, label=_name, summed=_SUMMED)
    return table


_SUMMED = (3, 5, 7)
"""The cells of a row that subtotals add up: on hand, on order, sales in a week."""


def _name(item: Record) -> str:
    return item.full_name.rpartition(":")[2]


def _weeks(selection: Selection) -> Decimal:
    """Return the number of weeks in the period. The transactions in it bound a period with an open end."""
    days = [record.fields["TxnDate"] for record in selection.records()]
    if not days:
        return ZERO
    first = selection.period.first if selection.period.first > ALL_DAYS.first else days[0]
    last = selection.period.last if selection.period.last < ALL_DAYS.last else days[-1]
    return Decimal((date.fromisoformat(last) - date.fromisoformat(first)).days + 1) / 7


def _stock_cells(books: Books, item: Record, per_week: Decimal) -> list[Cell]:
    vendor = books.lists.get(reference_id(item.fields, "PrefVendorRef"))
    point, on_hand = item.fields.get("ReorderPoint", ""), books.ledger.stock(item.id).quantity
    on_order = open_order_quantity(books, item, "PurchaseOrder")
    return [
        item.fields.get("SalesDesc", ""),
        vendor.full_name if vendor else None,
        Decimal(point) if point else None,
        on_hand,
        "true" if point and on_hand + on_order <= Decimal(point) else "false",
        on_order,
        _next_delivery(books, item) if on_order else None,
        per_week,
    ]


def _next_delivery(books: Books, item: Record) -> str:
    """Return the earliest day on which an open purchase order brings the item."""
    orders = (books.transactions.get(record_id) for record_id in books.users(item.id))
    days = [
        str(order.fields.get("ExpectedDate", ""))
        for order in orders
        if order is not None
        and order.kind.name == "PurchaseOrder"
        and any(reference_id(line, "ItemRef") == item.id for line, _ in open_lines(books, order))
    ]
    return min(days, default="")


def physical_inventory(selection: Selection) -> Table:
    """Return the sheet for counting the stock."""
    columns = [
        LABEL,
        Column("Preferred Vendor", "ItemVendor"),
        quantity_column("Quantity On Hand", "QuantityOnHand"),
        quantity_column("Physical Count", "PhysicalCount"),
    ]
    table = Table("Physical Inventory Worksheet", selection.period.as_of(), columns, "None")
    for item in stock_items(selection):
        vendor = selection.books.lists.get(reference_id(item.fields, "PrefVendorRef"))
        on_hand = selection.books.ledger.stock(item.id).quantity
        table.data([item.full_name, vendor.full_name if vendor else None, on_hand, None], "item", item.full_name)
    return table
