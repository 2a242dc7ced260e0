"""The …Add requests of all kinds of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books import KINDS
from simulator.requests import macros
from simulator.requests.reading import Reader
from simulator.requests.responses import Response
from simulator.requests.shown import shown, shown_fields
from simulator.rules.entry import enter

if TYPE_CHECKING:
    from simulator.books import Record
    from simulator.requests.context import Context


def add(context: Context) -> Response:
    """Add a record and return it. Raises `RequestError` and stores nothing if QuickBooks would refuse it."""
    content = context.node[0]
    macros.check_definitions(content, context.macros)
    record = add_record(context, context.name.removesuffix("AddRq"))
    macros.define(content, record, context.macros)
    return record_response(context, record)


def add_record(context: Context, kind_name: str) -> Record:
    """Store the record that a request describes in its first child."""
    kind, books = KINDS[kind_name], context.books
    content = context.node[0]
    return enter(books, Reader(books, kind).draft(content, context.model.content[content.tag].content))


def record_response(context: Context, record: Record) -> Response:
    """Return the response to an Add or Mod: the record with its lines, limited to IncludeRetElement."""
    fields = shown_fields(record.kind, shown(context.books, record), context.node, with_lines=True)
    return Response(rows=[(record.kind.record.name, fields)])
