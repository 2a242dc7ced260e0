"""Reads the answers to the queries of a run: the records, the deletions, and the times of the books in them."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.qbxml.codes.statuses import NO_MATCH
from domain.timestamps import books_time

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from domain.subscriptions.objects import BooksObject

_DIGEST_BYTES = 9
_TIME_DIGITS = 8


@dataclass(frozen=True)
class BooksChange:
    """A record that QuickBooks returned, or the deletion of one. `content` is what its event contains."""

    id: str
    at: datetime | None
    content: Mapping[str, Any]
    is_deletion: bool = False
    created_at: datetime | None = None

    @cached_property
    def token(self) -> str:
        """A text that tells this change from every other, and begins with its time."""
        text = json.dumps(self.content, sort_keys=True, ensure_ascii=False)
        digest = urlsafe_b64encode(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:_DIGEST_BYTES])
        return time_of_token(self.at) + digest.decode()


def time_of_token(at: datetime | None) -> str:
    """Return the beginning of the tokens of changes at this time. Texts sort like their times."""
    return f"{max(int(at.timestamp()), 0) if at else 0:0{_TIME_DIGITS}x}"


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to one query. `status` is that of QuickBooks."""

    status: qbxml.ResponseStatus
    members: Mapping[str, Any]

    def records(self, books_object: BooksObject) -> list[BooksChange]:
        """Return the records of a query for an object, without what QuickBooks changes without notice."""
        return [_record(row, books_object) for row in self.rows(books_object.returned, books_object.id_field)]

    @property
    def number(self) -> int | None:
        """The number of records in the answer to a query for it, or None if it tells none."""
        number = self.members.get("@retCount", 0 if self.status.code == NO_MATCH else None)
        return number if isinstance(number, int) and not self.status.is_error else None

    def rows(self, name: str, id_field: str) -> list[Mapping[str, Any]]:
        """Return the elements of a name that have an id."""
        return [row for row in _rows(self.members, name) if row.get(id_field)]

    def deletions(self, books_object: BooksObject) -> list[BooksChange]:
        """Return the deletions of an object in the answer to a query for deletions."""
        kind, element = ("List", "ListDelType") if books_object.is_list else ("Txn", "TxnDelType")
        rows = _rows(self.members, f"{kind}DeletedRet")
        own = [row for row in rows if row.get(element) == books_object.name and row.get(books_object.id_field)]
        return [
            BooksChange(
                row[books_object.id_field],
                books_time(row.get("TimeDeleted")),
                {"id": row[books_object.id_field], "time_deleted": row.get("TimeDeleted")},
                is_deletion=True,
                created_at=books_time(row.get("TimeCreated")),
            )
            for row in own
        ]


def answers_by_label(text: str) -> Mapping[str, QueryAnswer]:
    """Return the answers in a response by the labels of their queries. Raises UnreadableResponse."""
    statuses = {status.request_label: status for status in qbxml.parse_response(text).statuses}
    found: dict[str, QueryAnswer] = {}
    for document in qbxml.response_to_json(text):
        for members in _answers(document):
            label = members.get("@requestID")
            if label and (status := statuses.get(label)):
                found[label] = QueryAnswer(status, members)
    return found


def _answers(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the members of each answer, whatever their elements are called."""
    values = [
        value for message_set in document.values() if isinstance(message_set, dict) for value in message_set.values()
    ]
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, dict)]


def _rows(members: Mapping[str, Any], name: str) -> Collection[Mapping[str, Any]]:
    rows = members.get(name, [])
    return [row for row in (rows if isinstance(rows, list) else [rows]) if isinstance(row, dict)]


def _record(row: Mapping[str, Any], books_object: BooksObject) -> BooksChange:
    content = {
        "id": row[books_object.id_field],
        "edit_sequence": row.get("EditSequence"),
        "time_modified": row.get("TimeModified"),
        "record": _without(row, books_object.left_out),
    }
    created_at = books_time(row.get("TimeCreated"))
    return BooksChange(row[books_object.id_field], books_time(row.get("TimeModified")), content, created_at=created_at)


def _without(value: Any, names: Collection[str]) -> Any:
    """Return JSON without the members that have these names, at any depth."""
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: _without(member, names) for name, member in value.items() if name not in names}
