"""The …Mod requests of all kinds of records, and ClearedStatusMod."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books import KINDS
from simulator.books.records import lines_of
from simulator.requests.add import record_response
from simulator.requests.reading import Reader, not_found
from simulator.requests.responses import Response
from simulator.rules.entry import check_stored, prepare

if TYPE_CHECKING:
    from simulator.books import Books, Record
    from simulator.requests.context import Context


class OutOfDateError(RequestError):
    """Status 3200: the record has another EditSequence than the request."""

    def __init__(self, record: Record, edit_sequence: str) -> None:
        super().__init__(3200, f'The provided edit sequence "{edit_sequence}" is out-of-date. ')
        self.record = record


def mod(context: Context) -> Response:
    """Change a record and return it. If QuickBooks would refuse, raises `RequestError` and changes nothing.

    The response to an old EditSequence has status 3200 and the record as it is now.
    """
    kind, books, content = KINDS[context.name.removesuffix("ModRq")], context.books, context.node[0]
    try:
        record = current(books, kind.name, content.findtext(kind.id_field, ""), content.findtext("EditSequence", ""))
    except OutOfDateError as error:
        answer = record_response(context, error.record)
        return replace(answer, code=error.code, severity="Error", message=error.message)
    draft = Reader(books, kind).draft(content, context.model.content[content.tag].content, record)
    prepare(books, draft)
    former = record.fields
    books.change(record, draft.fields)
    check_stored(books, record, former)
    return record_response(context, record)


def current(books: Books, kind: str, record_id: str, edit_sequence: str) -> Record:
    """Return the record that a request changes. Raises `RequestError` 3120, and 3200 for an old EditSequence."""
    record = (books.list_object if KINDS[kind].is_list else books.transaction)(record_id, (kind,))
    if record is None:
        raise not_found(record_id)
    if edit_sequence != str(record.edit_sequence):
        raise OutOfDateError(record, edit_sequence)
    return record


def set_cleared_status(context: Context) -> Response:
    """Answer ClearedStatusModRq: set the ClearedStatus of a transaction, or of one of its lines."""
    content, books = context.node[0], context.books
    txn_id, line_id = content.findtext("TxnID", ""), content.findtext("TxnLineID")
    record = books.transaction(txn_id)
    if record is None:
        raise not_found(txn_id)
    fields = deepcopy(record.fields)
    holder = fields
    if line_id:
        line = next((line for _, line in lines_of(record.kind, fields) if line.get("TxnLineID") == line_id), None)
        if line is None:
            raise not_found(line_id)
        holder = line
    holder["ClearedStatus"] = content.findtext("ClearedStatus", "")
    books.change(record, fields)
    return Response()
