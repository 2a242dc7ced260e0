"""ListDel, TxnDel, TxnVoid and the queries for what was deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books import GROUPS, rules
from simulator.errors import RequestError
from simulator.requests.answers import Answer

if TYPE_CHECKING:
    from simulator.books import Record
    from simulator.requests.context import Context

_NOT_FOUND = (
    'Object "{}" specified in the request cannot be found.  '
    "QuickBooks error message: Invalid argument.  The specified record does not exist in the list."
)


def delete_list_object(context: Context) -> Answer:
    """Answer ListDelRq. Raises `RequestError` 3120, or 3260 for an object that is in use."""
    kind, list_id = context.node.findtext("ListDelType", ""), context.node.findtext("ListID", "")
    record = context.books.list_object(list_id, GROUPS.get(kind, ()))
    if record is None:
        raise RequestError(3120, _NOT_FOUND.format(list_id))
    if context.books.is_used(list_id):
        raise RequestError(
            3260, f'There was an error when deleting the {kind} list element "{list_id}".  It is in use.'
        )  # fmt: skip
    _delete(context, record)
    return Answer(
        rows=[
            ("ListDelType", kind),
            ("ListID", list_id),
            ("TimeDeleted", context.books.clock.text(context.books.clock.seconds())),
            ("FullName", record.full_name),
        ]
    )


def delete_transaction(context: Context) -> Answer:
    """Answer TxnDelRq. Raises `RequestError` 3120."""
    kind, txn_id = context.node.findtext("TxnDelType", ""), context.node.findtext("TxnID", "")
    record = context.books.transaction(txn_id, GROUPS.get(kind, ()))
    if record is None:
        raise RequestError(3120, _NOT_FOUND.format(txn_id))
    _delete(context, record)
    return Answer(
        rows=[
            ("TxnDelType", kind),
            ("TxnID", txn_id),
            ("TimeDeleted", context.books.clock.text(context.books.clock.seconds())),
            ("RefNumber", record.fields.get("RefNumber", "")),
        ]
    )


def _delete(context: Context, record: Record) -> None:
    rules.of(record.kind).check_delete(context.books, record)
    context.books.remove(record)
