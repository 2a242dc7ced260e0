"""Orders: invoices fulfil estimates and sales orders, receipts and bills fulfil purchase orders."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import LINK_CLOSED
from simulator.books.ledger import BY_QUANTITY, ZERO, Link
from simulator.rules.common import decimal, find_transaction, flat_lines, no_transaction, refused
from simulator.schema.values import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books
    from simulator.schema import Aggregate

COPIED = tuple(
    "ItemRef Desc Quantity UnitOfMeasure Rate RatePercent Amount ClassRef SalesTaxCodeRef CustomerRef Other1 Other2 "  # noqa: SIM905
    "InventorySiteRef InventorySiteLocationRef ManufacturerPartNumber".split()
)
"""The fields that a line copies from the line of an order that it fulfils."""


def fulfilled(books: Books, order: Record, *, without: str = "") -> dict[str, Decimal]:
    """Return the invoiced or received quantity of each line of an order, by TxnLineID."""
    quantities: dict[str, Decimal] = defaultdict(lambda: ZERO)
    seen = set()
    for link in books.ledger.links(order.id):
        if link.kind != BY_QUANTITY or link.target != order.id or link.source in seen or link.source == without:
            continue
        seen.add(link.source)
        other = books.transactions.get(link.source)
        for line in flat_lines(other) if other is not None else ():
            origin = line.get("LinkToTxn")
            if origin and origin["TxnID"] == order.id:
                quantities[origin["TxnLineID"]] += decimal(line, "Quantity") if "Quantity" in line else 1
    return quantities


def is_closed_by_hand(holder: Fields) -> bool:
    """Return whether somebody closed an order or a line of it."""
    return bool(holder.get("IsManuallyClosed") == "true")


def open_lines(books: Books, order: Record, *, without: str = "") -> list[tuple[Fields, Decimal]]:
    """Return the lines of an order that are not closed, with their remaining quantities."""
    if is_closed_by_hand(order.fields):
        return []
    quantities = fulfilled(books, order, without=without)
    rest = []
    for line in flat_lines(order):
        if "ItemRef" in line and not is_closed_by_hand(line):
            total = decimal(line, "Quantity") if "Quantity" in line else 1
            quantity = total - quantities.get(line["TxnLineID"], ZERO)
            if quantity > 0:
                rest.append((line, quantity))
    return rest


def is_fulfilled(books: Books, order: Record) -> bool:
    """Return whether all of an order was invoiced or received."""
    return not is_closed_by_hand(order.fields) and not open_lines(books, order)


def copy_line(line: Fields, origin: Fields, order: Record, quantity: Decimal, model: Aggregate) -> None:
    """Fill in a line from the line of an order that it fulfils, and link the two."""
    line["LinkToTxn"] = {"TxnID": order.id, "TxnLineID": origin["TxnLineID"]}
    whole = "Quantity" not in origin or decimal(origin, "Quantity") == decimal(line, "Quantity") or not quantity
    if "Quantity" in origin and "Quantity" not in line:
        line["Quantity"] = number_text(quantity, 0)
        whole = decimal(origin, "Quantity") == quantity
    for name in COPIED:
        target = "Cost" if name == "Rate" and "Cost" in model else name
        if name == "Quantity" or name not in origin or target not in model:
            continue
        if name == "Amount" and ("Rate" in line or not whole):
            continue
        if name in {"Rate", "RatePercent"} and not {"Rate", "RatePercent", "Amount", "Cost"}.isdisjoint(line):
            continue
        line.setdefault(target, origin[name])


def link_lines(books: Books, draft: Draft, kinds: tuple[str, ...], line_name: str) -> None:
    """Copy the orders that the request links to into lines, and complete the lines that link by themselves.

    A line links to a sales order or a purchase order, and LinkToTxnID also to an estimate. "You can use both as long
    as they do not link to the same transaction", and an order that is empty or closed is an error (Intuit's API
    Reference, as Conductor's restates it). That an order or a line of it is not linked twice follows.

    Raises `RequestError` 3120 for an order or a line that does not exist, 3210 for an order of another customer or
    vendor, for one that is linked twice and for an item beside a link, and 570 for an order or a line that is closed.
    """
    model = draft.kind.fields[line_name].content
    linked: set[str] = set()
    lines: set[tuple[str, str]] = set()
    for line in flat_lines(draft):
        link = line.get("LinkToTxn")
        if not link:
            continue
        place = link["TxnID"], link["TxnLineID"]
        if place in lines:
            raise refused("LinkToTxn", place[1], "Another line links to the same line of the order.")
        lines.add(place)
        linked.add(place[0])
        _complete_linked(books, draft, line, tuple(kind for kind in kinds if kind != "Estimate"), model)
    orders = draft.extra.get("LinkToTxnID")
    if not orders:
        return
    key = next(("|".join(names) for names in draft.kind.fields.mixed if line_name in names), line_name)
    for txn_id in orders:
        if txn_id in linked:
            raise refused("LinkToTxnID", txn_id, "The request links to the same transaction twice.")
        linked.add(txn_id)
        order = find_transaction(books, txn_id, kinds)
        _check_party(draft, order)
        open_ = open_lines(books, order)
        if not open_:
            raise _closed(order)
        for origin, quantity in open_:
            copied: Fields = {}
            copy_line(copied, origin, order, quantity, model)
            draft.fields.setdefault(key, []).append([line_name, copied])
    draft.fields["LinkToTxnID"] = list(orders)


def _complete_linked(books: Books, draft: Draft, line: Fields, kinds: tuple[str, ...], model: Aggregate) -> None:
    """Fill in a line from the order line that it names. A line that a Mod keeps has its values already."""
    txn_id, line_id = line["LinkToTxn"]["TxnID"], line["LinkToTxn"]["TxnLineID"]
    if draft.before is not None and "ItemRef" in line:
        kept = books.transactions.get(txn_id)
        if kept is not None:
            _check_party(draft, kept)
            _note_more(books, draft, kept, line)
        return
    order = find_transaction(books, txn_id, kinds)
    _check_party(draft, order)
    if "ItemRef" in line:
        raise refused("LinkToTxn", order.id, "The line has an item already, and the link would set it.")
    origin = next((order_line for order_line in flat_lines(order) if order_line["TxnLineID"] == line_id), None)
    if origin is None:
        raise no_transaction(line_id)
    rest = next((left for order_line, left in open_lines(books, order) if order_line is origin), None)
    if rest is None and "ItemRef" in origin:
        raise _closed(order)
    copy_line(line, origin, order, rest or ZERO, model)
    _note_more(books, draft, order, line)


def _note_more(books: Books, draft: Draft, order: Record, line: Fields) -> None:
    """Note a linked line with a larger quantity than is open. It is kept, but no document says what the order shows."""
    without = draft.before.id if draft.before is not None else ""
    line_id = line["LinkToTxn"]["TxnLineID"]
    rests = (left for origin, left in open_lines(books, order, without=without) if origin["TxnLineID"] == line_id)
    if decimal(line, "Quantity") > next(rests, ZERO):
        books.assume("more_than_ordered")


_PARTIES = ("CustomerRef", "VendorRef", "PayeeEntityRef")


def _check_party(draft: Draft, order: Record) -> None:
    """Check that an order is of the same customer or vendor as the transaction that fulfils it."""
    parties, own = (
        {fields[name]["ListID"] for name in _PARTIES if fields.get(name)} for fields in (order.fields, draft.fields)
    )
    if parties and own and not parties & own:
        raise refused("LinkToTxn", order.id, "The order is of another customer or vendor.")


def _closed(order: Record) -> RequestError:
    return RequestError(LINK_CLOSED, f'Unable to link to transaction "{order.id}" because it has already been closed.')


def order_links(record: Record, lines: Iterable[Fields]) -> tuple[Link, ...]:
    """Return a link to each order that a transaction with these lines fulfils."""
    amounts: dict[str, Decimal] = dict.fromkeys(record.fields.get("LinkToTxnID", ()), ZERO)
    for line in lines:
        if "LinkToTxn" in line:
            order = line["LinkToTxn"]["TxnID"]
            amounts[order] = amounts.get(order, ZERO) + decimal(line, "Amount")
    return tuple(Link(record.id, order, BY_QUANTITY, amount) for order, amount in amounts.items())
