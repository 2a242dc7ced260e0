"""The …Query requests of all kinds of records: by id, name or number, by filters, as pages of an iterator.

Statuses: 0, 1 (nothing matched, Info), 500 (an id, name or number was not found, Warn).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books import GROUPS, KINDS
from simulator.books.accounts import in_chart_order
from simulator.requests.context import OpenIterator
from simulator.requests.filters import UnknownReference, modified_times, tests
from simulator.requests.responses import Response
from simulator.requests.shown import shown, shown_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Fields, Record
    from simulator.requests.context import Context
    from simulator.requests.filters import Test

NO_MATCH = "A query request did not find a matching object in QuickBooks"

_LISTED = {"ListID", "FullName", "Name", "TxnID", "RefNumber", "RefNumberCaseSensitive"}


def query(context: Context) -> Response:
    """Answer a query on a kind or a group of kinds. Raises `RequestError` if QuickBooks would refuse it."""
    request, books = context.node, context.books
    group = context.name.removesuffix("QueryRq")
    listed = [child for child in request if child.tag in _LISTED]
    if request.get("iterator") and listed:
        raise RequestError(3250, f"{NOT_AVAILABLE}: an iterator over a list of objects.")
    missing: list[str] = []
    if listed:
        records, missing = listed_records(books, GROUPS[group], listed)
    else:
        try:
            conditions = tests(context, group)
        except UnknownReference as unknown:
            return not_found([str(unknown)], [])
        modified = books.modified(GROUPS[group], modified_times(context))
        records = _matching(in_chart_order(modified) if group == "Account" else modified, conditions, _limit(request))

    def row(record: Record) -> tuple[str, Fields]:
        return record.kind.record.name, shown_fields(record.kind, shown(books, record), request)

    return rows_response(context, records, row, missing)


def rows_response(
    context: Context, items: Sequence[Any], row: Callable[[Any], tuple[str, Fields]], missing: Sequence[str] = ()
) -> Response:
    """Answer a query with its result: all of it, its first MaxReturned rows, the first page of an iterator or a count.

    `row` turns an item into the name and the fields of an element. It is called only for the rows that are returned.
    `missing` lists the names in the request that QuickBooks does not have.
    """
    request = context.node
    counted = request.get("metaData", "NoMetaData") != "NoMetaData"
    count = {"retCount": str(len(items))} if counted else {}
    if request.get("metaData") == "MetaDataOnly":
        return Response(attributes=count)
    if not items and not missing:
        return Response(1, message=NO_MATCH, attributes=count)
    if request.get("iterator") == "Start":
        _require_max_returned(request)
        iterator_id = context.new_guid()
        context.iterators[iterator_id] = OpenIterator(context.name, items, row)
        return _page(context, iterator_id, count)
    maximum = request.findtext("MaxReturned")
    rows = [row(item) for item in (items[: int(maximum)] if maximum else items)]
    return not_found(missing, rows, count) if missing else Response(attributes=count, rows=rows)


def included(request: Node, fields: Fields) -> Fields:
    """Return the fields that IncludeRetElement names, all without one."""
    names = {child.text for child in request.findall("IncludeRetElement")}
    return {name: value for name, value in fields.items() if name in names} if names else fields


def not_found(missing: Sequence[str], rows: list[tuple[str, Fields]], count: dict[str, str] | None = None) -> Response:
    """Return the answer to a query for an object that QuickBooks does not have."""
    message = (
        "The query request has not been fully completed. "
        f'There was a required element ("{missing[0]}") that could not be found in QuickBooks.'
    )
    return Response(500, "Warn", message, count or {}, rows)


def next_page(context: Context) -> Response:
    """Answer iterator="Continue" and "Stop". Raises `RequestError` 3000 for an iterator that is not open."""
    iterator_id = context.node.get("iteratorID", "")
    iterator = context.iterators.get(iterator_id)
    if iterator is None or iterator.request_name != context.name:
        raise RequestError(3000, f'The given object ID "{iterator_id}" in the field "iteratorID" is invalid. ')
    if context.node.get("iterator") == "Stop":
        del context.iterators[iterator_id]
        return Response()
    _require_max_returned(context.node)
    return _page(context, iterator_id, {})


def _page(context: Context, iterator_id: str, count: dict[str, str]) -> Response:
    iterator = context.iterators[iterator_id]
    items = iterator.page(int(context.node.findtext("MaxReturned", "1")))
    if not iterator.remaining:
        del context.iterators[iterator_id]
    attributes = {**count, "iteratorRemainingCount": str(iterator.remaining), "iteratorID": iterator_id}
    return Response(attributes=attributes, rows=[iterator.row(item) for item in items])


def _require_max_returned(request: Node) -> None:
    if request.find("MaxReturned") is None:
        raise RequestError(3150, 'There is a missing element: "MaxReturned".')


def _limit(request: Node) -> int | None:
    """Return the number of records after which a query can stop, or None if it needs all of them."""
    maximum = request.findtext("MaxReturned")
    sees_all = request.get("iterator") or request.get("metaData", "NoMetaData") != "NoMetaData"
    return int(maximum) if maximum and not sees_all else None


def _matching(records: Iterable[Record], conditions: list[Test], limit: int | None) -> list[Record]:
    for condition in conditions:
        records = filter(condition, records)
    return list(islice(records, limit))


def listed_records(books: Books, kinds: tuple[str, ...], listed: list[Node]) -> tuple[list[Record], list[str]]:
    """Return the records of these kinds that a request names, and the names of those that do not exist."""
    records: list[Record] = []
    missing: list[str] = []
    for child in listed:
        text = child.text or ""
        if child.tag == "ListID":
            matches = [books.list_object(text, kinds)]
        elif child.tag == "TxnID":
            matches = [books.transaction(text, kinds)]
        elif child.tag in {"FullName", "Name"}:
            matches = [books.named(text, kinds)]
        else:
            case_matters = child.tag == "RefNumberCaseSensitive"
            numbered = books.numbered(text, kinds)
            matches = [record for record in numbered if not case_matters or record.fields["RefNumber"] == text]
        existing = [record for record in matches if record is not None]
        records += existing
        if not existing:
            missing.append(text)
    return records, missing


QUERIES = frozenset(f"{group}QueryRq" for group in GROUPS if group in KINDS or len(GROUPS[group]) > 1)
"""The requests that this module answers."""
