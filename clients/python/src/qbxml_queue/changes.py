"""Changes of the books: what `changes` of a client yields, and the place of a program among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from qbxml_queue.values import from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

    from qbxml_queue.schema.changes import BooksChange

Name = TypeVar("Name", bound=str)
Content = TypeVar("Content")

TYPES = "record.*,subscription.*"
"""The types of events that are changes of the books, or tell what happened to their reading."""


@dataclass(frozen=True, slots=True)
class Changed(Generic[Name, Content]):
    """A record was added or has changed, or a snapshot has read it.

    Ignore it if you have this object and `id` with the same `sequence` or a higher one, also as a deletion.
    """

    object: Name
    id: str
    sequence: int
    generation: int
    record: Content


@dataclass(frozen=True, slots=True)
class RecordOmitted:
    """A record has changed and is too large for an event: an invoice with thousands of lines.

    Ignore it like a `Changed`. Otherwise read the record by its id, with `get` of its resource. If a webhook says it,
    the feed may have the record.
    """

    object: str
    id: str
    sequence: int
    generation: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """A record was deleted. Ignore it like a `Changed`, and remember its `sequence` until the next snapshot."""

    object: str
    id: str
    sequence: int
    generation: int


@dataclass(frozen=True, slots=True)
class Derived:
    """Fields of a list entry that QuickBooks computes, such as `Balance`, if a subscription asks for them.

    They are not in the record, and have a sequence of their own: ignore a lower one than you have for `values`. A
    snapshot does not replace them.
    """

    object: str
    id: str
    sequence: int
    as_of: datetime
    values: dict[str, Decimal]


@dataclass(frozen=True, slots=True)
class SnapshotStarted:
    """All records of an object are read. Their changes have this generation."""

    object: str
    generation: int


@dataclass(frozen=True, slots=True)
class SnapshotCompleted:
    """All records of an object were read, and `records` is their number.

    Remove those with a lower generation and a lower sequence, and forget deletions with such numbers.
    """

    object: str
    sequence: int
    generation: int
    records: int


@dataclass(frozen=True, slots=True)
class ResyncRequired:
    """Changes of an object may be missing, or of all objects if it is None. Resync the subscription.

    `reason` is for people.
    """

    object: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ReadingFailed:
    """Three runs have failed in a row. The copy is as old as the last run. `reason` is for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReadingRecovered:
    """A run has succeeded after `ReadingFailed`."""


def change_of(event: Mapping[str, Any]) -> BooksChange | None:
    """Return the change that an event of the feed or of a webhook tells.

    Returns None for another event. `changes` of a client also leaves out what a snapshot has replaced.
    """
    read = _READERS.get(event["type"])
    return read(event) if read else None


def _changed(event: Mapping[str, Any]) -> BooksChange:
    if event.get("record_omitted"):
        return RecordOmitted(**_version(event))
    return cast("BooksChange", Changed(**_version(event), record=from_json("", event["record"])))


def _derived(event: Mapping[str, Any]) -> Derived:
    as_of, values = datetime.fromisoformat(event["as_of"]), from_json("", event["derived"])
    return Derived(event["object"], event["id"], event["sequence"], as_of, values)


def _version(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in ("object", "id", "sequence", "generation")}


_READERS: Mapping[str, Callable[[Mapping[str, Any]], BooksChange]] = {
    "record.changed": _changed,
    "record.deleted": lambda event: Deleted(**_version(event)),
    "record.derived": _derived,
    "subscription.snapshot_started": lambda event: SnapshotStarted(event["object"], event["generation"]),
    "subscription.snapshot_completed": lambda event: SnapshotCompleted(
        event["object"], event["sequence"], event["generation"], event["records"]
    ),
    "subscription.resync_required": lambda event: ResyncRequired(event["object"], event["reason"]),
    "subscription.failed": lambda event: ReadingFailed(event["reason"]),
    "subscription.recovered": lambda _: ReadingRecovered(),
}
"""How each type of event is read. Types of later versions are ignored."""


_COMPLETED = "subscription.snapshot_completed"
_REPLACED = frozenset({"record.changed", "record.deleted", "subscription.resync_required", _COMPLETED})
"""The types of events that a later snapshot replaces."""


@dataclass(slots=True)
class Place:
    """A place among the changes: a cursor of the feed, and generation and sequence of the last snapshot of each object.

    It is stored as one text, such as `1773489600001 Customer=1773489500000/1773489500420`. A cursor of `events` is one.
    """

    after: str | None = None
    completed: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def parsed(cls, text: str | None) -> Self:
        """Return the place of a text, or the beginning of the feed for None."""
        if not text:
            return cls()
        after, *parts = text.split()
        completed = {}
        for part in parts:
            name, _, numbers = part.partition("=")
            generation, _, sequence = numbers.partition("/")
            completed[name] = (int(generation), int(sequence))
        return cls(after, completed)

    def __str__(self) -> str:
        """Return the text of the place."""
        parts = [f"{name}={generation}/{sequence}" for name, (generation, sequence) in self.completed.items()]
        return " ".join([self.after or "", *parts])

    def passes(self, event: Mapping[str, Any]) -> bool:
        """Return whether the last snapshot of an object has not replaced an event, and note a snapshot.

        What it has replaced is repeated or late, and the program has forgotten what was deleted before. After a restore
        of the service and for a new subscription, a generation may be lower, but then the sequence is higher.
        """
        name = event.get("object")
        if name is None or event["type"] not in _REPLACED:
            return True
        generation, sequence = self.completed.get(name, (0, 0))
        if event["generation"] < generation and event["sequence"] < sequence:
            return False
        if event["type"] == _COMPLETED:
            self.completed[name] = (event["generation"], event["sequence"])
        return True


@dataclass(frozen=True, slots=True)
class ChangesRead:
    """The changes of one call, and the text of the place behind them."""

    changes: list[BooksChange]
    place: str
    has_more: bool
