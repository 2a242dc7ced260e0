"""What the client knows of a resource, and what became of an addition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

Outcome = TypedDict("Outcome", {"@outcome": Literal["created", "found", "updated", "unchanged"]})
"""What became of an addition."""


class CustomFields(TypedDict):
    """What an object has if its custom fields were asked for, or written. Otherwise it has no such member."""

    custom_fields: dict[str, str]
    """The custom fields that have a value, by their names."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource. `qbxml_queue.schema.kinds` has all of them, as `generate_resources.py` derives them."""

    name: str
    """The object in QBXML, such as `Invoice`."""
    returns: tuple[str, ...]
    """The elements of the result of its query."""
    methods: tuple[str, ...]
    key: str
    """The element that is its id: `ListID` or `TxnID`."""
    sought: str | None
    """The element by which `find` looks for it: `FullName`, `RefNumber` or `Name`."""
    modified: tuple[str, ...]
    """Where its query has the time of the last change."""
    has_lines: bool
    """Whether its query leaves lines out unless it asks for them."""
    added_line: str | None
    """The element that `lines` stands for in an addition."""
    changed_lines: tuple[str, ...]
    """The lines in its Mod. QuickBooks deletes those that a Mod with lines does not list."""
    if_exists: Literal["return", "update"]
    """What `ensure` does with an object that exists."""
    custom_fields: str | None
    """The name of its type in requests for custom fields, or None if it cannot have any."""
