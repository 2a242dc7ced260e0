"""Books as JSON, for `Company.save` and `Company.load`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simulator.books import KINDS, Books, Record
from simulator.books.store import Deletion
from simulator.rules.table import rules_of

if TYPE_CHECKING:
    from simulator.basics.clock import MachineClock

_COUNTERS = ("last_list_number", "last_txn_number", "last_line_number")


def write_books(books: Books) -> dict[str, Any]:
    """Return the books in the form of JSON. Effects are left out: they follow from the records."""
    return {
        **{counter: getattr(books, counter) for counter in _COUNTERS},
        "last_numbers": books.last_numbers,
        "preferences": books.preferences,
        "custom_fields": books.custom_fields,
        "behaviours": books.behaviours,
        "last_restore": books.last_restore,
        "deletions": [asdict(deletion) for deletion in books.deletions],
        "records": [
            [
                record.kind.name,
                record.id,
                record.created,
                record.modified,
                record.edit_sequence,
                record.number,
                record.fields,
            ]
            for records in (books.lists, books.transactions)
            for record in records.values()
        ],
    }


def read_books(document: dict[str, Any], clock: MachineClock) -> Books:
    """Return the books that `write_books` wrote."""
    books = Books(
        clock,
        rules_of,
        preferences=document["preferences"],
        last_numbers=document["last_numbers"],
        custom_fields=document["custom_fields"],
        behaviours=document.get("behaviours", {}),
        last_restore=document.get("last_restore", 0),
        deletions=[Deletion(**deletion) for deletion in document["deletions"]],
        **{counter: document[counter] for counter in _COUNTERS},
    )
    for kind, record_id, created, modified, edit_sequence, number, fields in document["records"]:
        books.insert(Record(KINDS[kind], record_id, fields, created, modified, edit_sequence, number))
    books.ledger.moved_components()
    return books
