"""Entering a record: the steps of every Add, checked for requests, unchecked for companies made from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.rules.requirements import check_fields, check_open_postings, check_signs
from simulator.rules.settling import check_links

if TYPE_CHECKING:
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books


def enter_unchecked(books: Books, draft: Draft) -> Record:
    """Complete and store a draft that is known to be right, with the further records that it creates."""
    rules = books.rules_of(draft.kind)
    rules.complete(books, draft)
    record = rules.add(books, draft)
    rules.after_add(books, record, draft)
    return record


def enter(books: Books, draft: Draft) -> Record:
    """Complete, check and store a draft, with the further records that it creates. Raises `RequestError`."""
    rules = books.rules_of(draft.kind)
    prepare(books, draft)
    record = rules.add(books, draft)
    check_stored(books, record)
    rules.after_add(books, record, draft)
    return record


def check_stored(books: Books, record: Record, former: Fields | None = None) -> None:
    """Check the postings and the links of a transaction that was added or changed. `former` are the fields before.

    Raises `RequestError`.
    """
    if not record.kind.is_list:
        check_open_postings(books, record, is_new=former is None)
        check_links(books, record, former)


def prepare(books: Books, draft: Draft) -> None:
    """Complete and check a draft: a new record, or a record with the changes of a Mod. Raises `RequestError`."""
    rules = books.rules_of(draft.kind)
    check_fields(books, draft)
    rules.complete(books, draft)
    rules.check(books, draft)
    check_signs(draft)
