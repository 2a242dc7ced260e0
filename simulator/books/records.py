"""Records, and the drafts that an Add or Mod is about to store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.books.kinds import Kind

Fields: TypeAlias = dict[str, Any]
"""The content of a record in the form of JSON, in any order.

* text as QuickBooks writes it: `"Memo": "Call first"`, `"Amount": "12.50"`, `"IsActive": "true"`
* a reference as its id alone: `"CustomerRef": {"ListID": "80000001-1"}`. The name is looked up when it is shown.
* an aggregate as a dict, and repeated elements as a list
* lines that alternate with groups of lines, under both names:
  `"InvoiceLineRet|InvoiceLineGroupRet": [["InvoiceLineRet", {…}], …]`
"""


VOID = "IsVoided"
"""The field that marks a void transaction. Responses do not have it."""


@dataclass(slots=True)
class Record:
    """One list object or transaction. Times are in Unix seconds. `number` is the TxnNumber, and 0 for list objects."""

    kind: Kind
    id: str
    fields: Fields
    created: int
    modified: int
    edit_sequence: int
    number: int = 0
    full_name: str = ""
    _reference: Fields = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the reference to a list object once, because thousands of transactions can contain it."""
        self._reference = {"ListID": self.id} if self.kind.is_list else {}

    @property
    def is_active(self) -> bool:
        """Return whether it is active. A record of a kind without this field is always active."""
        return self.fields.get("IsActive") != "false"

    @property
    def is_void(self) -> bool:
        """Return whether this is a transaction that was voided: it stays on record without effects."""
        return self.fields.get(VOID) == "true"

    def copy(self) -> Record:
        """Return a copy that shares the fields. Changes replace the fields of a record, and never write into them."""
        times = self.created, self.modified, self.edit_sequence
        return Record(self.kind, self.id, self.fields, *times, self.number, self.full_name)

    def reference(self) -> Fields:
        """Return a reference to this list object. Records share it, and nobody writes into it."""
        return self._reference

    def lines(self) -> Iterator[tuple[str, Fields]]:
        """Yield the lines in their order on the form, with their element names."""
        return lines_of(self.kind, self.fields)


def lines_of(kind: Kind, fields: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield the lines of a record's fields, with their element names."""
    for key, alternates in kind.line_keys.items():
        value = fields.get(key)
        if value is None:
            continue
        if alternates:
            yield from value
        elif isinstance(value, list):
            for line in value:
                yield key, line
        else:
            yield key, value


@dataclass(slots=True)
class Draft:
    """The fields of an Add or Mod, for the rules to check and complete.

    `extra` holds the values that are not stored under their own name, by their name in the request (`OpenBalance`).
    `fields_set` are the names in `fields` that the request set. `before` is the record that a Mod changes.
    """

    kind: Kind
    fields: Fields
    extra: Fields = field(default_factory=dict)
    fields_set: set[str] = field(default_factory=set)
    before: Record | None = None

    def lines(self) -> Iterator[tuple[str, Fields]]:
        """Yield the lines in their order on the form, with their element names."""
        return lines_of(self.kind, self.fields)

    def reference(self, name: str) -> str:
        """Return the ListID in a reference field, '' without one."""
        return reference_id(self.fields, name)


def reference_id(fields: Fields, name: str) -> str:
    """Return the ListID in a reference field, '' without one."""
    reference = fields.get(name)
    list_id: str = reference.get("ListID", "") if reference else ""
    return list_id
