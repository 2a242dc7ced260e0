"""Queries on the company's tables: by id, name or number, by filters, as pages of an iterator.

Statuses: 0, 1 (nothing matched, Info), 500 (an id, name or number was not found, Warn).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

from simulator import values
from simulator.date_macros import date_range
from simulator.generator import REFERENCES, reference_id
from simulator.values import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo
    from xml.etree.ElementTree import Element

    from simulator.clock import MachineClock
    from simulator.rows import Fields, Row, Table

Test = Callable[["Row"], bool]

NO_MATCH = "A query request did not find a matching object in QuickBooks"
_LARGEST_NUMBER = 2_147_483_647
"""A RefNumber range compares numbers up to here, text beyond."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request gives: a status, more attributes of its Rs element, and rows as (element, fields)."""

    code: int
    severity: str
    message: str
    attributes: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[str, Fields]] = field(default_factory=list)


@dataclass(slots=True)
class OpenIterator:
    """The rest of a query: the rows that matched when it started, and how many were given already."""

    request_name: str
    rows: list[Row]
    given: int = 0

    def page(self, size: int) -> list[Row]:
        """Take the next rows."""
        rows = self.rows[self.given : self.given + size]
        self.given += len(rows)
        return rows

    @property
    def remaining(self) -> int:
        """How many rows are still to come."""
        return len(self.rows) - self.given


@dataclass(slots=True)
class Queries:
    """Answers the queries of one session; `iterators` die with it."""

    clock: MachineClock
    customers: Table
    new_guid: Callable[[], str]
    first_fiscal_month: int = 1
    iterators: dict[str, OpenIterator] = field(default_factory=dict)

    def answer(self, request: Element, table: Table) -> Answer:
        """Answer a query on one table. Raises `RequestError` for what QuickBooks refuses with a status."""
        step = request.get("iterator")
        if step in {"Continue", "Stop"}:
            return self._next_page(request, step)
        listed = [child for child in request if child.tag in _LISTED]
        if step and listed:
            raise RequestError(
                3250, "This feature is not enabled or not available: an iterator over a list of objects."
            )
        missing: list[str] = []
        counted = request.get("metaData", "NoMetaData") != "NoMetaData"
        if listed:
            rows, missing = _listed_rows(table, listed)
        else:
            try:
                tests = self._tests(request)
            except _UnknownReference as unknown:
                return _not_found([str(unknown)], [])
            rows = _found(table, tests, _enough(request, counted=counted))
        count = {"retCount": str(len(rows))} if counted else {}
        if request.get("metaData") == "MetaDataOnly":
            return Answer(0, "Info", "Status OK", count)
        if not rows and not missing:
            return Answer(1, "Info", NO_MATCH, count)
        if step == "Start":
            return self._first_page(request, rows, count)
        most = request.findtext("MaxReturned")
        shown = [_shown(row, request) for row in (rows[: int(most)] if most else rows)]
        return _not_found(missing, shown, count) if missing else Answer(0, "Info", "Status OK", count, shown)

    def _first_page(self, request: Element, rows: list[Row], count: dict[str, str]) -> Answer:
        if request.find("MaxReturned") is None:
            raise RequestError(3150, 'There is a missing element: "MaxReturned".')
        iterator_id = self.new_guid()
        self.iterators[iterator_id] = OpenIterator(request.tag, rows)
        return self._page(request, iterator_id, count)

    def _next_page(self, request: Element, step: str) -> Answer:
        iterator_id = request.get("iteratorID", "")
        found = self.iterators.get(iterator_id)
        if found is None or found.request_name != request.tag:
            raise RequestError(3000, f'The given object ID "{iterator_id}" in the field "iteratorID" is invalid.')
        if step == "Stop":
            del self.iterators[iterator_id]
            return Answer(0, "Info", "Status OK")
        if request.find("MaxReturned") is None:
            raise RequestError(3150, 'There is a missing element: "MaxReturned".')
        return self._page(request, iterator_id, {})

    def _page(self, request: Element, iterator_id: str, count: dict[str, str]) -> Answer:
        iterator = self.iterators[iterator_id]
        rows = iterator.page(int(request.findtext("MaxReturned", "1")))
        if not iterator.remaining:
            del self.iterators[iterator_id]
        attributes = {**count, "iteratorRemainingCount": str(iterator.remaining), "iteratorID": iterator_id}
        return Answer(0, "Info", "Status OK", attributes, [_shown(row, request) for row in rows])

    def _tests(self, request: Element) -> list[Test]:
        """Return what a row must fulfil: one test for each filter of the request."""
        is_list = request.tag in {"CustomerQueryRq", "VendorQueryRq", "ItemQueryRq"}
        tests: list[Test] = []
        status = request.findtext("ActiveStatus", "ActiveOnly")
        if is_list and status != "All":
            wanted = "true" if status == "ActiveOnly" else "false"
            tests.append(lambda row: row.fields["IsActive"] == wanted)
        paid = request.findtext("PaidStatus", "All")
        if paid != "All":
            tests.append(lambda row: (row.fields["IsPaid"] == "true") == (paid == "PaidOnly"))
        tests += _modified(request, self.clock.zone)
        for child in request:
            if child.tag == "TxnDateRangeFilter":
                tests += self._txn_dates(child)
            elif child.tag == "EntityFilter":
                tests.append(self._entity(child))
            elif child.tag in _FILTERS:
                tests += _FILTERS[child.tag](child)
        return tests

    def _txn_dates(self, filter_: Element) -> list[Test]:
        macro = filter_.findtext("DateMacro")
        if macro:
            first, last = date_range(macro, self.clock.today(), self.first_fiscal_month)
        else:
            first = values.day("FromTxnDate", filter_.findtext("FromTxnDate", "")) or date.min
            last = values.day("ToTxnDate", filter_.findtext("ToTxnDate", "")) or date.max
            if first > last:
                raise RequestError(3030, 'Invalid date range: the "From" date is greater than the "To" date.')
        return [lambda row: first.isoformat() <= row.fields["TxnDate"] <= last.isoformat()]

    def _entity(self, filter_: Element) -> Test:
        ids: set[str] = set()
        for child in filter_:
            text = child.text or ""
            found = self.customers.by_id(text) if "ListID" in child.tag else self.customers.by_name(text)
            if found is None:
                raise _UnknownReference(text)
            ids.add(found.id)
            if child.tag.endswith("WithChildren"):
                below = f"{found.name}:".lower()
                ids |= {row.id for row in self.customers if row.name.lower().startswith(below)}
        return lambda row: row.fields["CustomerRef"]["ListID"] in ids


def _enough(request: Element, *, counted: bool) -> int | None:
    """Return after how many rows a query may stop looking: None to see all, for an iterator and for a count."""
    most = request.findtext("MaxReturned")
    return int(most) if most and not counted and request.get("iterator") is None else None


def _found(table: Table, tests: list[Test], enough: int | None) -> list[Row]:
    """Return the rows that fulfil all tests, no more than are `enough`."""
    rows: Iterable[Row] = table
    for test in tests:
        rows = filter(test, rows)
    return list(islice(rows, enough))


class _UnknownReference(Exception):
    """A filter names something that is not in the company file."""


_LISTED = {"ListID", "FullName", "TxnID", "RefNumber", "RefNumberCaseSensitive"}


def _listed_rows(table: Table, listed: list[Element]) -> tuple[list[Row], list[str]]:
    """Return the rows that are named, and the names of those that are not there."""
    rows: list[Row] = []
    missing: list[str] = []
    for child in listed:
        text = child.text or ""
        found: list[Row]
        if child.tag in {"ListID", "TxnID"}:
            by_id = table.by_id(text)
            found = [by_id] if by_id else []
        elif child.tag == "FullName":
            by_name = table.by_name(text)
            found = [by_name] if by_name else []
        elif child.tag == "RefNumber":
            found = [row for row in table if row.fields["RefNumber"].lower() == text.lower()]
        else:
            found = [row for row in table if row.fields["RefNumber"] == text]
        rows += found
        if not found:
            missing.append(text)
    return rows, missing


def _not_found(missing: list[str], rows: list[tuple[str, Fields]], count: dict[str, str] | None = None) -> Answer:
    message = (
        "The query request has not been fully completed. "
        f'There was a required element ("{missing[0]}") that could not be found in QuickBooks.'
    )
    return Answer(500, "Warn", message, count or {}, rows)


def _modified(request: Element, zone: tzinfo) -> list[Test]:
    wrapper = request.find("ModifiedDateRangeFilter")
    holder = request if wrapper is None else wrapper
    first = values.moment("FromModifiedDate", holder.findtext("FromModifiedDate", ""), zone)
    last = values.moment("ToModifiedDate", holder.findtext("ToModifiedDate", ""), zone)
    if first is not None and last is not None and first > last:
        raise RequestError(3030, 'Invalid date range: the "From" date is greater than the "To" date.')
    tests: list[Test] = []
    if first is not None:
        earliest = first.timestamp()
        tests.append(lambda row: row.modified_at >= earliest)
    if last is not None:
        latest = last.timestamp()
        tests.append(lambda row: row.modified_at <= latest)
    return tests


def _matches(criterion: str, text: str) -> Callable[[str], bool]:
    wanted = text.lower()
    if criterion == "StartsWith":
        return lambda value: value.lower().startswith(wanted)
    if criterion == "EndsWith":
        return lambda value: value.lower().endswith(wanted)
    return lambda value: wanted in value.lower()


def _name_filter(filter_: Element) -> list[Test]:
    matches = _matches(filter_.findtext("MatchCriterion", ""), filter_.findtext("Name", ""))
    return [lambda row: matches(row.fields["Name"])]


def _ref_number_filter(filter_: Element) -> list[Test]:
    matches = _matches(filter_.findtext("MatchCriterion", ""), filter_.findtext("RefNumber", ""))
    return [lambda row: matches(row.fields["RefNumber"])]


def _name_range(filter_: Element) -> list[Test]:
    first, last = filter_.findtext("FromName", "").lower(), filter_.findtext("ToName", "").lower()
    if last and first > last:
        raise RequestError(3031, 'Invalid string range: the "From" value is greater than the "To" value.')
    return [lambda row: first <= row.fields["Name"].lower() and (not last or row.fields["Name"].lower() <= last)]


def _ref_number_range(filter_: Element) -> list[Test]:
    """Compare as numbers when both ends are digits, else as text; an end that is left out is open."""
    first, last = filter_.findtext("FromRefNumber", ""), filter_.findtext("ToRefNumber", "")
    if all(re.fullmatch(r"\d+", end) and int(end) <= _LARGEST_NUMBER for end in (first, last)):

        def numeric(row: Row) -> bool:
            number = row.fields["RefNumber"]
            return number.isdigit() and int(first) <= int(number) <= int(last)

        return [numeric]
    return [lambda row: first <= row.fields["RefNumber"] and (not last or row.fields["RefNumber"] <= last)]


def _balance(filter_: Element) -> list[Test]:
    amount, operator = Decimal(filter_.findtext("Amount", "0")), filter_.findtext("Operator", "")

    def fulfils(row: Row) -> bool:
        balance = Decimal(row.fields.get("TotalBalance") or row.fields.get("Balance", "0"))
        return {
            "LessThan": balance < amount,
            "LessThanEqual": balance <= amount,
            "Equal": balance == amount,
            "GreaterThan": balance > amount,
            "GreaterThanEqual": balance >= amount,
        }[operator]

    return [fulfils]


def _currency(_filter: Element) -> list[Test]:
    raise RequestError(3250, "This feature is not enabled or not available in this version of QuickBooks.")


def _by_reference(name: str) -> Callable[[Element], list[Test]]:
    """Return the filter on a small list that rows refer to as `name`."""

    def tests(filter_: Element) -> list[Test]:
        names: set[str] = set()
        known = REFERENCES[name]
        for child in filter_:
            text = child.text or ""
            found = [
                entry
                for entry in known
                if text == reference_id(name, entry) or ("Name" in child.tag and entry.lower() == text.lower())
            ]
            if not found:
                raise _UnknownReference(text)
            names.add(found[0])
            if child.tag.endswith("WithChildren"):
                names |= {entry for entry in known if entry.startswith(f"{found[0]}:")}
        return [lambda row: row.fields.get(name, {}).get("FullName") in names]

    return tests


_FILTERS: dict[str, Callable[[Element], list[Test]]] = {
    "NameFilter": _name_filter,
    "NameRangeFilter": _name_range,
    "TotalBalanceFilter": _balance,
    "CurrencyFilter": _currency,
    "ClassFilter": _by_reference("ClassRef"),
    "AccountFilter": _by_reference("ARAccountRef"),
    "RefNumberFilter": _ref_number_filter,
    "RefNumberRangeFilter": _ref_number_range,
}


def _shown(row: Row, request: Element) -> tuple[str, Fields]:
    """Return what a query shows of a row: lines, links, custom fields and elements only as far as asked for."""
    return row.element, shown_fields(row.fields, request)


def shown_fields(fields: Fields, request: Element, *, with_lines: bool | None = None) -> Fields:
    """Return the fields that `request` asks for; `with_lines` overrules IncludeLineItems."""
    lines = values.is_true(request.findtext("IncludeLineItems")) if with_lines is None else with_lines
    links = values.is_true(request.findtext("IncludeLinkedTxns"))
    owners = {child.text for child in request.findall("OwnerID")}
    included = {child.text for child in request.findall("IncludeRetElement")}
    shown: Fields = {}
    for name, value in fields.items():
        if (included and name not in included) or (name == "LinkedTxn" and not links):
            continue
        if name.endswith("LineRet") and not lines:
            continue
        if name == "DataExtRet":
            shown[name] = _visible(value, owners)
        elif name.endswith("LineRet"):
            shown[name] = [
                {key: _visible(entry, owners) if key == "DataExtRet" else entry for key, entry in line.items()}
                for line in value
            ]
        else:
            shown[name] = value
    return shown


def _visible(custom_fields: list[Fields], owners: set[str | None]) -> list[Fields]:
    """Return the custom fields of the owners that a query names; an empty list is written as nothing."""
    return [entry for entry in custom_fields if entry["OwnerID"] in owners]
