"""What a company file holds: rows in list order, found by id and by name, and their text form.

A row's fields are in QuickBooks' element order: text, an aggregate (a dict), or a list of either for what repeats.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Fields = dict[str, Any]
"""`{"Name": "A", "BillAddress": {"City": "B"}, "SalesOrderLineRet": [{…}, …]}`"""


@dataclass(frozen=True, slots=True)
class Row:
    """One object of the company file. `element` is its name in responses: "CustomerRet"."""

    element: str
    fields: Fields

    @property
    def id(self) -> str:
        """The ListID or TxnID."""
        return str(self.fields.get("ListID") or self.fields["TxnID"])

    @property
    def name(self) -> str:
        """The full name of a list object (the name where its kind has no hierarchy), '' for transactions."""
        return str(self.fields.get("FullName") or self.fields.get("Name", ""))

    @property
    def modified_at(self) -> int:
        """Unix seconds of the last change: in this company the EditSequence is just that."""
        return int(self.fields["EditSequence"])

    def reference(self) -> Fields:
        """Return the aggregate that refers to this row from others."""
        return {"ListID": self.id, "FullName": self.name}


class Table:
    """The rows of one kind, in the order that queries answer them: lists by name, transactions by number."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._sorted = sorted((_order(row), row.id, row) for row in rows)
        self._by_id = {row.id: row for _, _, row in self._sorted}
        self._by_name = {row.name.lower(): row for _, _, row in self._sorted}

    def __iter__(self) -> Iterator[Row]:
        return (row for _, _, row in self._sorted)

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, row: Row) -> None:
        """Put a new row in its place."""
        insort(self._sorted, (_order(row), row.id, row))
        self._by_id[row.id] = row
        self._by_name[row.name.lower()] = row

    def by_id(self, row_id: str) -> Row | None:
        """Find by ListID or TxnID."""
        return self._by_id.get(row_id)

    def by_name(self, full_name: str) -> Row | None:
        """Find by full name, upper and lower case alike."""
        return self._by_name.get(full_name.lower())


def _order(row: Row) -> str:
    """Sort key: lists by name, a child between its parent and the parent's next sibling; transactions by number."""
    return row.name.lower().replace(":", "\x00") or row.fields["TxnNumber"].zfill(12)


def render(name: str, value: Any, lines: list[str]) -> None:
    """Append an element in QuickBooks' form to `lines`: one tag per line, no indentation, empty ones left out."""
    if isinstance(value, str):
        if value:
            lines.append(f"<{name}>{escape(value)}</{name}>")
    elif isinstance(value, dict):
        lines.append(f"<{name}>")
        for child, content in value.items():
            render(child, content, lines)
        lines.append(f"</{name}>")
    else:
        for item in value:
            render(name, item, lines)


def opening_tag(name: str, attributes: Mapping[str, str]) -> str:
    """Return `<name a="…"` without its end, for the caller to close."""
    return f"<{name}" + "".join(
        f' {key}="{escape(value).replace(chr(34), "&quot;")}"' for key, value in attributes.items()
    )


def escape(text: str) -> str:
    """Escape `&`, `<` and `>`; other characters stand for themselves in responses."""
    if "&" in text or "<" in text or ">" in text:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text
