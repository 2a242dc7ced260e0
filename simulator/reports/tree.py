"""Rows of a report for records that have records below them: items with subitems."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books.records import reference_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from simulator.books import Record
    from simulator.reports.table import Cell, Table


def write_items(
    table: Table,
    items: Iterable[Record],
    cells: Callable[[Record], list[Cell] | None],
    *,
    label: Callable[[Record], str],
    summed: Collection[int],
) -> list[Cell]:
    """Write a row for each item. An item with items below it gets a heading and a subtotal.

    `cells` returns the row of an item without its label, None for an item without a row. `summed` are the indexes of
    the cells that subtotals add up. Returns the sums of all rows.
    """
    records = list(items)
    ids = {record.id for record in records}
    below: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        parent = reference_id(record.fields, "ParentRef")
        below[parent if parent in ids else ""].append(record)

    def write(record: Record) -> list[Cell]:
        own, children = cells(record), below[record.id]
        sums = _summed(own, summed)
        if not children:
            if own is not None:
                table.data([label(record), *own], "item", record.full_name)
            return sums
        table.text(label(record))
        for child in children:
            sums = add_cells(sums, write(child))
        if own is not None:
            table.data([f"{label(record)} - Other", *own], "item", record.full_name)
        table.subtotal([f"Total {label(record)}", *sums], "item", record.full_name)
        return sums

    total = _summed(None, summed)
    for record in below[""]:
        total = add_cells(total, write(record))
    return total


def _summed(cells: list[Cell] | None, summed: Collection[int]) -> list[Cell]:
    if cells is None:
        return [Decimal() if index in summed else None for index in range(max(summed) + 1)]
    return [cell if index in summed else None for index, cell in enumerate(cells)]


def add_cells(cells: list[Cell], others: list[Cell]) -> list[Cell]:
    """Add the numbers of two rows. A cell without a number counts as zero."""
    pairs = zip(cells, others, strict=True)
    return [one + other if isinstance(one, Decimal) and isinstance(other, Decimal) else one for one, other in pairs]
