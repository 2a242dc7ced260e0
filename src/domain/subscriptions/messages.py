"""The messages of a run: queries, and nothing else.

A run must never write, because its messages are repeated without any of the care that writes need. So a message is made
only of `Read`, and a `Read` is refused unless QuickBooks executes it without a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

from domain import qbxml
from domain.records.subscription import BooksRange, CopyPhase
from domain.subscriptions.objects import INCLUDES, Kind, deletion_query

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from domain.subscriptions.objects import BooksObject

EVERYONE = "0"
"""The OwnerID of the custom fields that people see."""


@dataclass(frozen=True, slots=True)
class Read:
    """One query of a message. `label` is its request label, by which its answer is found.

    Raises ValueError for a request that is not a query.
    """

    label: str
    element: Element

    def __post_init__(self) -> None:
        if not self.element.tag.endswith("QueryRq"):
            raise ValueError(f"A run sends queries only, not {self.element.tag}.")


def message_text(reads: Sequence[Read], version: str) -> str:
    """Return the QBXML of a message. An error in one query does not stop the others.

    It has no message set ID, so QuickBooks keeps the stored responses of writes.
    """
    return qbxml.message_set_to_wire([qbxml.Request(version, "continueOnError", read.element) for read in reads])


def object_query(
    books_object: BooksObject,
    phase: CopyPhase,
    part: BooksRange,
    *,
    label: str,
    version: str,
    include: Collection[str] = (),
    limit: int | None = None,
    iterator: Mapping[str, str] | None = None,
) -> Read:
    """Return the query for the records of a range: of names or dates in a snapshot, otherwise of times of change.

    A snapshot of an object without such a range is divided by times as well. `limit` is `MaxReturned`. `iterator` are
    the attributes of an iterator.
    """
    query = Element(books_object.request, {"requestID": label, **(iterator or {})})
    if limit and books_object.has_limit:
        SubElement(query, "MaxReturned").text = str(limit)
    if books_object.has_active_status:
        SubElement(query, "ActiveStatus").text = "All"
    if phase is CopyPhase.SNAPSHOT and books_object.has_range:
        kind = ("NameRangeFilter", "Name") if books_object.is_list else ("TxnDateRangeFilter", "TxnDate")
        _add_range(query, *kind, part)
    elif books_object.is_list:
        _add_bounds(query, "ModifiedDate", part)
    else:
        _add_range(query, "ModifiedDateRangeFilter", "ModifiedDate", part)
    _add_includes(query, books_object, version, include)
    return Read(label, query)


def count_query(books_object: BooksObject, *, label: str) -> Read:
    """Return the query for how many records an object has. Assumed: as many as the query without `metaData` returns."""
    query = Element(books_object.request, {"requestID": label, "metaData": "MetaDataOnly"})
    if books_object.has_active_status:
        SubElement(query, "ActiveStatus").text = "All"
    return Read(label, query)


def deletions_query(kind: Kind, names: Collection[str], since: str | None, *, label: str) -> Read:
    """Return the query for the deletions of these objects of a kind since a time of the books, or for all."""
    request, element = deletion_query(kind)
    query = Element(request, {"requestID": label})
    for name in sorted(names):
        SubElement(query, element).text = name
    if since:
        _add_range(query, "DeletedDateRangeFilter", "DeletedDate", BooksRange(since))
    return Read(label, query)


def activity_query(since: str | None, *, label: str, limit: int) -> Read:
    """Return the query for all transactions that have changed since a time of the books: id, time and amount."""
    query = Element("TransactionQueryRq", {"requestID": label})
    SubElement(query, "MaxReturned").text = str(limit)
    if since:
        _add_range(query, "TransactionModifiedDateRangeFilter", "ModifiedDate", BooksRange(since))
    _add_elements(query, ("TxnID", "TimeModified", "Amount"))
    return Read(label, query)


def open_query(books_object: BooksObject, fields: Sequence[str], *, label: str, limit: int) -> Read:
    """Return the query for these fields of the transactions of an object that are not paid."""
    query = Element(books_object.request, {"requestID": label})
    SubElement(query, "MaxReturned").text = str(limit)
    SubElement(query, "PaidStatus").text = "NotPaidOnly"
    _add_elements(query, (books_object.id_field, *fields))
    return Read(label, query)


def query_by_id(
    books_object: BooksObject, ids: Sequence[str], *, label: str, version: str, include: Collection[str] = ()
) -> Read:
    """Return the query for the records of an object with these ids."""
    query = Element(books_object.request, {"requestID": label})
    for id_ in ids:
        SubElement(query, books_object.id_field).text = id_
    _add_includes(query, books_object, version, include)
    return Read(label, query)


def derived_query(
    books_object: BooksObject,
    fields: Sequence[str],
    *,
    label: str,
    limit: int,
    iterator: Mapping[str, str] | None = None,
) -> Read:
    """Return the query for these fields of all entries of a list. `limit` is that of a page, if it has an iterator."""
    query = Element(books_object.request, {"requestID": label, **(iterator or {})})
    if books_object.has_iterator:
        SubElement(query, "MaxReturned").text = str(limit)
    if books_object.has_active_status:
        SubElement(query, "ActiveStatus").text = "All"
    _add_elements(query, (books_object.id_field, *fields))
    return Read(label, query)


def _add_includes(query: Element, books_object: BooksObject, version: str, include: Collection[str]) -> None:
    for name in books_object.includes_in(version, include):
        SubElement(query, INCLUDES[name]).text = EVERYONE if name == "custom_fields" else "true"


def _add_elements(query: Element, names: Sequence[str]) -> None:
    for name in names:
        SubElement(query, "IncludeRetElement").text = name


def _add_range(query: Element, name: str, of: str, part: BooksRange) -> None:
    if part != BooksRange():
        _add_bounds(SubElement(query, name), of, part)


def _add_bounds(parent: Element, of: str, part: BooksRange) -> None:
    for name, bound in ((f"From{of}", part.first), (f"To{of}", part.last)):
        if bound is not None:
            SubElement(parent, name).text = bound
