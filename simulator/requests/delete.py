"""ListDel, TxnDel, TxnVoid, ListMerge, and the queries for deleted objects."""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from simulator.basics.errors import RequestError
from simulator.books import GROUPS
from simulator.books.records import VOID
from simulator.requests.filters import times_of
from simulator.requests.mod import current
from simulator.requests.query import included, rows_response
from simulator.requests.reading import not_found
from simulator.requests.responses import Response
from simulator.rules.settling import release_links
from simulator.schema import Aggregate
from simulator.schema.model import mixed_key

if TYPE_CHECKING:
    from simulator.books import Books, Fields, Record
    from simulator.books.store import Deletion
    from simulator.requests.context import Context

_MAX_MEMO = 4095
_DAYS_KEPT = 90
"""The number of days for which QuickBooks reports deletions."""


def delete_list_object(context: Context) -> Response:
    """Answer ListDelRq. Raises `RequestError` 3120, or 3160 for an object that is in use."""
    kind, list_id = context.node.findtext("ListDelType", ""), context.node.findtext("ListID", "")
    record = context.books.list_object(list_id, GROUPS.get(kind, ()))
    if record is None:
        raise not_found(list_id)
    if context.books.is_used(list_id):
        raise RequestError(
            3160,
            f'There was an error when deleting the {kind} list element "{list_id}".'
            "  QuickBooks error message: The list element is in use.",
        )
    context.books.rules_of(record.kind).check_delete(context.books, record)
    context.books.remove(record)
    return Response(
        rows=[
            ("ListDelType", kind),
            ("ListID", list_id),
            ("TimeDeleted", _now(context.books)),
            ("FullName", record.full_name),
        ]
    )


def delete_transaction(context: Context) -> Response:
    """Answer TxnDelRq. Raises `RequestError` 3120."""
    kind, record = context.node.findtext("TxnDelType", ""), _transaction(context, "TxnDelType")
    context.books.rules_of(record.kind).check_delete(context.books, record)
    release_links(context.books, record)
    context.books.remove(record)
    return Response(
        rows=[
            ("TxnDelType", kind),
            ("TxnID", record.id),
            ("TimeDeleted", _now(context.books)),
            ("RefNumber", record.fields.get("RefNumber", "")),
        ]
    )


def void(context: Context) -> Response:
    """Answer TxnVoidRq: the transaction stays, its amounts become zero. Raises `RequestError` 3120."""
    kind, record, books = context.node.findtext("TxnVoidType", ""), _transaction(context, "TxnVoidType"), context.books
    books.rules_of(record.kind).check_void(books, record)
    if not record.is_void:
        release_links(books, record)
        fields = deepcopy(record.fields)
        _set_to_zero(fields, record.kind.fields)
        memo = f"VOID: {fields.get('Memo', '')}".strip()[:_MAX_MEMO]
        books.change(record, {**fields, VOID: "true", "Memo": memo})
    return Response(
        rows=[
            ("TxnVoidType", kind),
            ("TxnID", record.id),
            ("TimeCreated", books.clock.text(record.created)),
            ("TimeModified", books.clock.text(record.modified)),
            ("RefNumber", record.fields.get("RefNumber", "")),
        ]
    )


def merge(context: Context) -> Response:
    """Answer ListMergeRq: references to one list object become references to the other, and the first is deleted."""
    request, books = context.node, context.books
    kind = request.findtext("ListMergeType", "")
    source, target = (
        current(books, kind, request.findtext(f"{name}/ListID", ""), request.findtext(f"{name}/EditSequence", ""))
        for name in ("MergeFrom", "MergeTo")
    )
    if source is target:
        raise RequestError(3210, f'The "MergeTo" field has an invalid value "{target.id}": it is the object to merge.')
    if source.fields.get("AccountType") != target.fields.get("AccountType"):
        raise RequestError(3210, 'The "MergeTo" field has an invalid value: the accounts are not of the same type.')
    books.rules_of(source.kind).check_delete(books, source)
    for user_id in books.users(source.id):
        user = books.lists.get(user_id) or books.transactions[user_id]
        if user is target:
            raise RequestError(3210, 'The "MergeFrom" field has an invalid value: the other object is below it.')
        redirect = books.change if books.does("merge_touches_referrers") else books.rewrite
        redirect(user, _redirected(user.fields, source.id, target.id))
    books.remove(source, is_listed=books.does("merge_lists_source"))
    books.change(target, target.fields)
    return Response(
        rows=[
            ("ListMergeType", kind),
            ("MergedFrom", {"ListID": source.id, "TimeDeleted": _now(books), "FullName": source.full_name}),
            (
                "MergedTo",
                {
                    "ListID": target.id,
                    "TimeCreated": books.clock.text(target.created),
                    "TimeModified": books.clock.text(target.modified),
                    "EditSequence": str(target.edit_sequence),
                    "FullName": target.full_name,
                },
            ),
        ]
    )


def deleted(context: Context) -> Response:
    """Answer ListDeletedQueryRq and TxnDeletedQueryRq: the deletions of the last 90 days, oldest first."""
    request, books = context.node, context.books
    part = context.name.removesuffix("DeletedQueryRq")
    kinds = {child.text for child in request.findall(f"{part}DelType")}
    earliest = books.clock.seconds() - timedelta(days=_DAYS_KEPT).total_seconds()
    first, last = times_of(request.find("DeletedDateRangeFilter"), "DeletedDate", books.clock.zone)
    matching = [
        deletion
        for deletion in books.deletions
        if deletion.kind in kinds and max(first, earliest) <= deletion.deleted <= last
    ]

    def row(deletion: Deletion) -> tuple[str, Fields]:
        fields = {
            f"{part}DelType": deletion.kind,
            f"{part}ID": deletion.id,
            "TimeCreated": books.clock.text(deletion.created),
            "TimeDeleted": books.clock.text(deletion.deleted),
            "FullName" if part == "List" else "RefNumber": deletion.name,
        }
        return f"{part}DeletedRet", included(request, fields)

    return rows_response(context, matching, row)


def _transaction(context: Context, type_name: str) -> Record:
    txn_id = context.node.findtext("TxnID", "")
    record = context.books.transaction(txn_id)
    if record is None or record.kind.name != context.node.findtext(type_name):
        raise not_found(txn_id)
    return record


def _now(books: Books) -> str:
    return books.clock.text(books.clock.seconds())


def _set_to_zero(fields: Fields, model: Aggregate) -> None:
    """Set all amounts and quantities to zero, including those of lines and the totals that responses do not show."""
    mixed = {mixed_key(names) for names in model.mixed}
    for name, value in fields.items():
        if name in mixed:
            for line_name, line in value:
                _set_to_zero(line, model[line_name].content)
        elif name not in model and name.endswith("Amount"):
            fields[name] = "0.00"
        elif name in model:
            kind = model[name].type
            if not isinstance(kind, Aggregate):
                fields[name] = {"AMTTYPE": "0.00", "QUANTYPE": "0"}.get(kind.base, value)
            else:
                for member in value if isinstance(value, list) else [value]:
                    _set_to_zero(member, kind)


def _redirected(value: Any, source: str, target: str) -> Any:
    """Return fields in which references to one list object point to another."""
    if isinstance(value, dict):
        if value == {"ListID": source}:
            return {"ListID": target}
        return {key: _redirected(member, source, target) for key, member in value.items()}
    return [_redirected(member, source, target) for member in value] if isinstance(value, list) else value
