"""The filters of queries, as tests of records."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from simulator.books import GROUPS
from simulator.books.kinds import ITEMS
from simulator.books.records import reference_id
from simulator.date_macros import date_range
from simulator.errors import RequestError
from simulator.requests.shown import shown
from simulator.schema import values

if TYPE_CHECKING:
    from datetime import tzinfo
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.requests.context import Context

Test: TypeAlias = Callable[["Record"], bool]

_LARGEST_NUMBER = 2_147_483_647
"""A RefNumber range compares numbers up to this one, text beyond."""
_ENTITY_FIELDS = ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef", "EmployeeRef")


class UnknownReference(Exception):
    """A filter names something that is not in the company file."""


def tests(context: Context, group: str) -> list[Test]:
    """Return what a record must fulfil: one test or several for each filter of the request."""
    request, books = context.node, context.books
    result: list[Test] = []
    if "ActiveStatus" in context.model.content:
        status = request.findtext("ActiveStatus", "ActiveOnly")
        if status != "All":
            active = status == "ActiveOnly"
            result.append(lambda record: record.is_active == active)
    paid = request.findtext("PaidStatus", "All")
    if paid != "All":
        result.append(lambda record: (shown(books, record).get("IsPaid") == "true") == (paid == "PaidOnly"))
    result += _modified(request, books.clock.zone)
    for child in request:
        if child.tag == "TxnDateRangeFilter":
            result += _txn_dates(context, child)
        elif child.tag in _FILTERS:
            result += _FILTERS[child.tag](books, child)
        elif child.tag.endswith("Filter") and child.tag != "ModifiedDateRangeFilter":
            raise RequestError(3250, f"The simulated QuickBooks does not filter by {child.tag} in {group}Query.")
    return result


def _txn_dates(context: Context, node: Node) -> list[Test]:
    macro = node.findtext("DateMacro")
    if macro:
        first, last = date_range(macro, context.books.clock.today(), context.facts.first_fiscal_month)
    else:
        first = values.day("FromTxnDate", node.findtext("FromTxnDate", "")) or date.min
        last = values.day("ToTxnDate", node.findtext("ToTxnDate", "")) or date.max
        if first > last:
            raise RequestError(3030, 'Invalid date range: the "From" date is greater than the "To" date.')
    return [lambda record: first.isoformat() <= record.fields.get("TxnDate", "") <= last.isoformat()]


def _modified(request: Node, zone: tzinfo) -> list[Test]:
    wrapper = request.find("ModifiedDateRangeFilter")
    holder = request if wrapper is None else wrapper
    first = values.moment("FromModifiedDate", holder.findtext("FromModifiedDate", ""), zone)
    last = values.moment("ToModifiedDate", holder.findtext("ToModifiedDate", ""), zone)
    if first is not None and last is not None and first > last:
        raise RequestError(3030, 'Invalid date range: the "From" date is greater than the "To" date.')
    result: list[Test] = []
    if first is not None:
        earliest = first.timestamp()
        result.append(lambda record: record.modified >= earliest)
    if last is not None:
        latest = last.timestamp()
        result.append(lambda record: record.modified <= latest)
    return result


def _matches(criterion: str, text: str) -> Callable[[str], bool]:
    lower = text.lower()
    if criterion == "StartsWith":
        return lambda value: value.lower().startswith(lower)
    if criterion == "EndsWith":
        return lambda value: value.lower().endswith(lower)
    return lambda value: lower in value.lower()


def _name(record: Record) -> str:
    return str(record.fields.get(record.kind.name_field or "", ""))


def _name_filter(_books: Books, node: Node) -> list[Test]:
    matches = _matches(node.findtext("MatchCriterion", ""), node.findtext("Name", ""))
    return [lambda record: matches(_name(record))]


def _ref_number_filter(_books: Books, node: Node) -> list[Test]:
    matches = _matches(node.findtext("MatchCriterion", ""), node.findtext("RefNumber", ""))
    return [lambda record: matches(record.fields.get("RefNumber", ""))]


def _name_range(_books: Books, node: Node) -> list[Test]:
    first, last = node.findtext("FromName", "").lower(), node.findtext("ToName", "").lower()
    if last and first > last:
        raise RequestError(3031, 'Invalid string range: the "From" value is greater than the "To" value.')
    return [lambda record: first <= _name(record).lower() and (not last or _name(record).lower() <= last)]


def _ref_number_range(_books: Books, node: Node) -> list[Test]:
    """Compare as numbers when both ends are digits, else as text; an end that is left out is open."""
    first, last = node.findtext("FromRefNumber", ""), node.findtext("ToRefNumber", "")
    if all(re.fullmatch(r"\d+", end) and int(end) <= _LARGEST_NUMBER for end in (first, last)):

        def numeric(record: Record) -> bool:
            number = record.fields.get("RefNumber", "")
            return number.isdigit() and int(first) <= int(number) <= int(last)

        return [numeric]

    def textual(record: Record) -> bool:
        number = record.fields.get("RefNumber", "")
        return first <= number and (not last or number <= last)

    return [textual]


def _balance(books: Books, node: Node) -> list[Test]:
    amount, operator = Decimal(node.findtext("Amount") or "0"), node.findtext("Operator", "")

    def fulfils(record: Record) -> bool:
        fields = shown(books, record)
        balance = Decimal(fields.get("TotalBalance") or fields.get("Balance") or "0")
        return {
            "LessThan": balance < amount,
            "LessThanEqual": balance <= amount,
            "Equal": balance == amount,
            "GreaterThan": balance > amount,
            "GreaterThanEqual": balance >= amount,
        }[operator]

    return [fulfils]


def _currency(_books: Books, _node: Node) -> list[Test]:
    raise RequestError(3250, "This feature is not enabled or not available in this version of QuickBooks.")


def _ids(books: Books, node: Node, kinds: tuple[str, ...]) -> set[str]:
    """Return the ids that a filter by reference names, with children where it asks for them."""
    ids: set[str] = set()
    for child in node:
        text = child.text or ""
        record = books.list_object(text, kinds) if "ListID" in child.tag else books.named(text, kinds)
        if record is None:
            raise UnknownReference(text)
        ids.add(record.id)
        if child.tag.endswith("WithChildren"):
            pending = [record]
            while pending:
                below = books.children(pending.pop())
                ids |= {each.id for each in below}
                pending += below
    return ids


def _entity(books: Books, node: Node) -> list[Test]:
    ids = _ids(books, node, GROUPS["Entity"])
    return [lambda record: any(reference_id(record.fields, name) in ids for name in _ENTITY_FIELDS)]


def _class(books: Books, node: Node) -> list[Test]:
    ids = _ids(books, node, ("Class",))
    return [lambda record: reference_id(record.fields, "ClassRef") in ids]


def _account(books: Books, node: Node) -> list[Test]:
    """Find transactions by the accounts that they post to."""
    ids = _ids(books, node, ("Account",))
    return [lambda record: any(each.account in ids for each in books.ledger.postings(record.id))]


def _item(books: Books, node: Node) -> list[Test]:
    ids = _ids(books, node, ITEMS)
    return [lambda record: any(reference_id(line, "ItemRef") in ids for _, line in record.lines())]


_FILTERS: dict[str, Callable[[Books, Node], list[Test]]] = {
    "NameFilter": _name_filter,
    "NameRangeFilter": _name_range,
    "TotalBalanceFilter": _balance,
    "CurrencyFilter": _currency,
    "ClassFilter": _class,
    "AccountFilter": _account,
    "EntityFilter": _entity,
    "ItemFilter": _item,
    "RefNumberFilter": _ref_number_filter,
    "RefNumberRangeFilter": _ref_number_range,
}
