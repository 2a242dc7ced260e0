"""What the feed has said of the records of an object, by id, in parts that are small enough to be stored often.

A part has the ids from its first one on. QuickBooks numbers records in the order of their creation, so those that are
read together are mostly in one part, and one change stores one part.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.records.subscription import RememberedPart
from domain.storage.changes import Put

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

MAX_PART = 500
"""How many records a part has at most. A part of invoices has about 6 KB, compressed."""

_DIGEST_BYTES = 6

_DIGITS = 10
"""The digits to which the number in an id is filled up, so that texts sort like numbers."""


def place_of(id_: str) -> str:
    """Return a text that sorts ids (`1A2F-1234567890`) in the order of their creation."""
    number, _, rest = id_.partition("-")
    return f"{number.rjust(_DIGITS, '0')}-{rest}"


def digest(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return a text that differs if one of these fields does."""
    text = json.dumps([fields.get(name) for name in names], sort_keys=True)
    return urlsafe_b64encode(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:_DIGEST_BYTES]).decode()


class Remembered:
    """What the feed has said of the records of an object. The text that stands for it is that of the caller."""

    def __init__(self, connection_id: str, name: str, stored: Collection[RememberedPart]) -> None:
        """Begin with what is stored: all parts of this object."""
        self._connection_id, self._name = connection_id, name
        self._before = {part.first: part for part in stored}
        self._parts = {first: dict(self._before[first].entries) for first in sorted(self._before)} or {"": {}}
        self._firsts = list(self._parts)

    def __len__(self) -> int:
        """Return the number of records."""
        return sum(map(len, self._parts.values()))

    def get(self, id_: str) -> str | None:
        """Return the text of a record, or None if nothing was said of it."""
        return self._part(id_).get(id_)

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield the records with their texts."""
        for part in self._parts.values():
            yield from part.items()

    def put(self, id_: str, text: str) -> None:
        """Remember the text of a record. A part that becomes too large is divided."""
        part = self._part(id_)
        part[id_] = text
        if len(part) <= MAX_PART:
            return
        ids = sorted(part, key=place_of)
        moved = ids[len(ids) // 2 :]
        self._parts[place_of(moved[0])] = {other: part.pop(other) for other in moved}
        self._firsts = sorted(self._parts)

    def remove(self, id_: str) -> None:
        """Forget a record."""
        self._part(id_).pop(id_, None)

    def become(self, entries: Mapping[str, str]) -> None:
        """Remember these records, and no others."""
        for id_, _ in [*self.items()]:
            if id_ not in entries:
                self.remove(id_)
        for id_, text in entries.items():
            self.put(id_, text)

    def number_of_parts(self, ids: Iterable[str]) -> int:
        """Return how many parts have these records."""
        return len({self._first(id_) for id_ in ids})

    def changes(self) -> list[Put[RememberedPart]]:
        """Return the changes to commit."""
        changes = []
        for first, entries in self._parts.items():
            before = self._before.get(first)
            if before is None and entries:
                changes.append(Put(None, RememberedPart(self._connection_id, self._name, first, entries)))
            elif before and before.entries != entries:
                changes.append(Put(before, replace(before, entries=entries, revision=before.revision + 1)))
        return changes

    def _part(self, id_: str) -> dict[str, str]:
        return self._parts[self._first(id_)]

    def _first(self, id_: str) -> str:
        return self._firsts[max(bisect_right(self._firsts, place_of(id_)) - 1, 0)]
