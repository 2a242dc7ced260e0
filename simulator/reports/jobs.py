"""Reports on jobs and on time: estimates against actuals, profitability, hours."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.reports.columns import key_of
from simulator.reports.summary import SALES_TYPES
from simulator.reports.table import LABEL, Column, Table, amount_column
from simulator.reports.tree import add_cells, write_items
from simulator.rules.common import decimal, flat_lines, rounded
from simulator.rules.items import item_of, purchase_facts, sales_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.books import Books, Record
    from simulator.reports.selection import Selection
    from simulator.reports.table import Cell

_COSTS = {"CostOfGoodsSold", "Expense", "OtherExpense"}
_DURATION = re.compile(r"-?PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
_UNITS = (3600, 60, 1)


def _actuals(selection: Selection, by: str) -> dict[str, list[Decimal]]:
    """Return cost and revenue by customer or by item."""
    types = {account.id: account.fields.get("AccountType") for account in selection.books["Account"]}
    find = key_of(by, selection.books)
    rows: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO])
    for record, posting in selection.postings():
        account_type = types.get(posting.account)
        if account_type in _COSTS:
            rows[find(record, posting)][0] += posting.amount
        elif account_type in SALES_TYPES:
            rows[find(record, posting)][1] -= posting.amount
    return rows


def _estimates(selection: Selection, by: str) -> dict[str, list[Decimal]]:
    """Return estimated cost and revenue by customer or by item."""
    rows: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO])
    for record in selection.records():
        if record.kind.name != "Estimate" or record.fields.get("IsActive") == "false":
            continue
        customer = reference_id(record.fields, "CustomerRef")
        if selection.entities is not None and customer not in selection.entities:
            continue
        for line in flat_lines(record):
            item = item_of(selection.books, line)
            if item is not None and "AccountRef" in line:
                row = rows[item.id if by == "ItemDetail" else customer]
                quantity = decimal(line, "Quantity") if "Quantity" in line else Decimal(1)
                row[0] += rounded(decimal(purchase_facts(item), "Price") * quantity)
                row[1] += decimal(line, "Amount")
    return rows


def _records(selection: Selection, by: str) -> list[Record]:
    return list(selection.books.of("Item" if by == "ItemDetail" else "Customer"))


def profitability(selection: Selection, title: str, by: str) -> Table:
    """Return cost, revenue and the difference."""
    columns = [
        LABEL,
        amount_column("Act. Cost"),
        amount_column("Act. Revenue"),
        amount_column("($) Diff.", "AmountDifference"),
    ]
    table = Table(title, selection.period.title(), columns)
    rows = _actuals(selection, by)
    totals = [ZERO, ZERO]
    for record in _records(selection, by):
        if record.id in rows:
            cost, revenue = rows[record.id]
            row_type = "item" if by == "ItemDetail" else "customer"
            table.data([record.full_name, cost, revenue, revenue - cost], row_type, record.full_name)
            totals = [totals[0] + cost, totals[1] + revenue]
    table.total(["TOTAL", *totals, totals[1] - totals[0]])
    return table


def estimates_and_actuals(selection: Selection, title: str, by: str) -> Table:
    """Return estimated and actual cost, estimated and actual revenue, and the differences."""
    columns = [LABEL]
    for side in ("Cost", "Revenue"):
        columns += [
            amount_column(f"Est. {side}"),
            amount_column(f"Act. {side}"),
            amount_column("($) Diff.", "AmountDifference"),
        ]
    names = [record.full_name for record in selection.books.of("Entity") if record.id in (selection.entities or ())]
    if len(names) == 1:
        title = f"{title} for {names[0]}"
    table = Table(title, selection.period.title(), columns)
    estimated, actual = _estimates(selection, by), _actuals(selection, by)

    def cells(record: Record) -> list[Cell] | None:
        if record.id not in estimated and record.id not in actual:
            return None
        plan, real = estimated[record.id], actual[record.id]
        return [plan[0], real[0], real[0] - plan[0], plan[1], real[1], real[1] - plan[1]]

    totals: list[Cell] = [ZERO] * 6
    if by == "ItemDetail":
        for heading, items in _by_type(selection.books, {*estimated, *actual}):
            table.text(heading)
            sums = write_items(table, items, cells, label=_name_and_description, summed=range(6))
            table.subtotal([f"Total {heading}", *sums])
            totals = add_cells(totals, sums)
    else:
        for record in selection.books["Customer"]:
            row = cells(record)
            if row is not None:
                table.data([record.full_name, *row], "customer", record.full_name)
                totals = add_cells(totals, row)
    table.total(["TOTAL", *totals])
    return table


_ITEM_TYPES = {
    "ItemService": "Service",
    "ItemInventory": "Inventory",
    "ItemInventoryAssembly": "Inventory Assembly",
    "ItemNonInventory": "Parts",
    "ItemFixedAsset": "Fixed Asset",
    "ItemOtherCharge": "Other Charges",
    "ItemDiscount": "Discounts",
}
"""The headings of items in reports on jobs, by kind."""


def _by_type(books: Books, ids: set[str]) -> Iterator[tuple[str, list[Record]]]:
    """Yield the items with these ids, and the items above them, with the heading of their type."""
    for kind, heading in _ITEM_TYPES.items():
        above = set[str]()
        for item in books[kind]:
            ancestor = item if item.id in ids else None
            while ancestor is not None:
                above.add(ancestor.id)
                ancestor = books.lists.get(reference_id(ancestor.fields, "ParentRef"))
        if above:
            yield heading, [item for item in books[kind] if item.id in above]


def _name_and_description(item: Record) -> str:
    name, description = item.full_name.rpartition(":")[2], sales_facts(item).get("Desc")
    return f"{name} ({description})" if description else name


def hours(selection: Selection, title: str, by: tuple[str, ...]) -> Table:
    """Return the hours of work by the references in `by`. The second of two is below the first."""
    column = Column("Duration", "Duration", "TIMEINTERVALTYPE")
    table = Table(title, selection.period.title(), [LABEL, column], "None")
    groups: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for record in selection.records():
        if record.kind.name != "TimeTracking":
            continue
        fields = record.fields
        if selection.entities is not None and not selection.entities & {
            reference_id(fields, "EntityRef"),
            reference_id(fields, "CustomerRef"),
        }:
            continue
        names = [_name(selection, reference_id(fields, field)) for field in by]
        matched = _DURATION.fullmatch(fields.get("Duration", ""))
        parts = matched.groups() if matched else ()
        seconds = sum(int(part or 0) * unit for part, unit in zip(parts, _UNITS, strict=False))
        groups[names[0]][names[-1] if len(names) > 1 else ""] += seconds
    for name in sorted(groups, key=str.lower):
        rows = groups[name]
        if len(by) > 1:
            table.text(name)
            for inner in sorted(rows, key=str.lower):
                table.data([inner, _duration(rows[inner])], "name", inner)
            table.subtotal([f"Total {name}", _duration(sum(rows.values()))])
        else:
            table.data([name, _duration(rows[""])], "name", name)
    table.total(["TOTAL", _duration(sum(sum(rows.values()) for rows in groups.values()))])
    return table


def _name(selection: Selection, list_id: str) -> str:
    record = selection.books.lists.get(list_id)
    return record.full_name if record is not None else "No name"


def _duration(seconds: int) -> Cell:
    return f"PT{seconds // 3600}H{seconds // 60 % 60}M{seconds % 60}S"
