"""The …Query requests of all kinds of records: by id, name or number, by filters, as pages of an iterator.

Statuses: 0, 1 (nothing matched, Info), 500 (an id, name or number was not found, Warn).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from simulator.books import GROUPS, KINDS
from simulator.errors import RequestError
from simulator.requests.answers import Answer
from simulator.requests.context import OpenIterator
from simulator.requests.filters import UnknownReference, tests
from simulator.requests.shown import shown, shown_fields

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Fields, Record
    from simulator.requests.context import Context
    from simulator.requests.filters import Test

NO_MATCH = "A query request did not find a matching object in QuickBooks"

_LISTED = {"ListID", "FullName", "TxnID", "RefNumber", "RefNumberCaseSensitive"}


def query(context: Context) -> Answer:
    """Answer a query on a kind or a group of kinds. Raises `RequestError` for what QuickBooks refuses."""
    request, books = context.node, context.books
    step = request.get("iterator")
    if step in {"Continue", "Stop"}:
        return _next_page(context, step)
    group = context.name.removesuffix("QueryRq")
    listed = [child for child in request if child.tag in _LISTED]
    if step and listed:
        raise RequestError(3250, "This feature is not enabled or not available: an iterator over a list of objects.")
    missing: list[str] = []
    counted = request.get("metaData", "NoMetaData") != "NoMetaData"
    if listed:
        records, missing = _listed_records(books, group, listed)
    else:
        try:
            conditions = tests(context, group)
        except UnknownReference as unknown:
            return _not_found([str(unknown)], [])
        records = _matching(books.of(group), conditions, _limit(request, counted=counted))
    count = {"retCount": str(len(records))} if counted else {}
    if request.get("metaData") == "MetaDataOnly":
        return Answer(attributes=count)
    if not records and not missing:
        return Answer(1, message=NO_MATCH, attributes=count)
    if step == "Start":
        return _first_page(context, records, count)
    maximum = request.findtext("MaxReturned")
    rows = _rows(context, records[: int(maximum)] if maximum else records)
    return _not_found(missing, rows, count) if missing else Answer(attributes=count, rows=rows)


def _first_page(context: Context, records: list[Record], count: dict[str, str]) -> Answer:
    if context.node.find("MaxReturned") is None:
        raise RequestError(3150, 'There is a missing element: "MaxReturned".')
    iterator_id = context.new_guid()
    context.iterators[iterator_id] = OpenIterator(context.name, records)
    return _page(context, iterator_id, count)


def _next_page(context: Context, step: str) -> Answer:
    iterator_id = context.node.get("iteratorID", "")
    iterator = context.iterators.get(iterator_id)
    if iterator is None or iterator.request_name != context.name:
        raise RequestError(3000, f'The given object ID "{iterator_id}" in the field "iteratorID" is invalid.')
    if step == "Stop":
        del context.iterators[iterator_id]
        return Answer()
    if context.node.find("MaxReturned") is None:
        raise RequestError(3150, 'There is a missing element: "MaxReturned".')
    return _page(context, iterator_id, {})


def _page(context: Context, iterator_id: str, count: dict[str, str]) -> Answer:
    iterator = context.iterators[iterator_id]
    records = iterator.page(int(context.node.findtext("MaxReturned", "1")))
    if not iterator.remaining:
        del context.iterators[iterator_id]
    attributes = {**count, "iteratorRemainingCount": str(iterator.remaining), "iteratorID": iterator_id}
    return Answer(attributes=attributes, rows=_rows(context, records))


def _rows(context: Context, records: Iterable[Record]) -> list[tuple[str, Fields]]:
    return [
        (record.kind.record.name, shown_fields(record.kind, shown(context.books, record), context.node))
        for record in records
    ]


def _limit(request: Node, *, counted: bool) -> int | None:
    """Return after how many records a query can stop: None to see all, for an iterator and for a count."""
    maximum = request.findtext("MaxReturned")
    return int(maximum) if maximum and not counted and request.get("iterator") is None else None


def _matching(records: Iterable[Record], conditions: list[Test], limit: int | None) -> list[Record]:
    for condition in conditions:
        records = filter(condition, records)
    return list(islice(records, limit))


def _listed_records(books: Books, group: str, listed: list[Node]) -> tuple[list[Record], list[str]]:
    """Return the records that the request names, and the names of those that do not exist."""
    kinds = GROUPS[group]
    records: list[Record] = []
    missing: list[str] = []
    for child in listed:
        text = child.text or ""
        if child.tag == "ListID":
            hits = [books.list_object(text, kinds)]
        elif child.tag == "TxnID":
            hits = [books.transaction(text, kinds)]
        elif child.tag == "FullName":
            hits = [books.named(text, kinds)]
        else:
            hits = list(_numbered(books, group, text, case_matters=child.tag != "RefNumber"))
        matches = [record for record in hits if record is not None]
        records += matches
        if not matches:
            missing.append(text)
    return records, missing


def _numbered(books: Books, group: str, number: str, *, case_matters: bool) -> Iterable[Record]:
    if case_matters:
        return (record for record in books.of(group) if record.fields.get("RefNumber", "") == number)
    lower = number.lower()
    return (record for record in books.of(group) if record.fields.get("RefNumber", "").lower() == lower)


def _not_found(missing: list[str], rows: list[tuple[str, Fields]], count: dict[str, str] | None = None) -> Answer:
    message = (
        "The query request has not been fully completed. "
        f'There was a required element ("{missing[0]}") that could not be found in QuickBooks.'
    )
    return Answer(500, "Warn", message, count or {}, rows)


QUERIES = frozenset(f"{group}QueryRq" for group in GROUPS if group in KINDS or len(GROUPS[group]) > 1)
"""The requests that this module answers."""
