"""Search texts packed: those of many records, in order of insertion, compressed into one item.

The leaves of a connection lie in `Payloads` under its id. A leaf holds the records from the moment
in its key up to that of the next leaf; the first one begins before every moment. A leaf that grows
over `LEAF_BYTES` is split, and none is ever merged: a record stays where it is or moves to a new
leaf in the transaction that takes it out of the old one.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from adapters.dynamodb.items import Item, item_of, number, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEAF_BYTES = 48 * 1024
"""Compressed. Larger ones compress hardly better, and one more text costs the write of a whole leaf."""

LEAVES = "texts#"
"""What the sort keys of leaves begin with; alone it is the key of the first leaf."""

Place: TypeAlias = tuple[str, str]
"""Where a record stands: (inserted_at, id)."""

_BETWEEN_ENTRIES = "\0"
_BETWEEN_FIELDS = " "


@dataclass(frozen=True, slots=True)
class Leaf:
    """The texts of a range of records. `version` is 0 for a leaf that is not stored yet."""

    part: str
    texts: Mapping[Place, str] = field(default_factory=dict)
    version: int = 0


def part_of(moment: str, record_id: str = "") -> str:
    """Return the sort key of a leaf that begins with this record."""
    return f"{LEAVES}{moment}#{record_id}"


def storable(search_text: str) -> str:
    """Return a text as a leaf holds it: without the sign that parts its entries, which no XML can hold."""
    return search_text.replace(_BETWEEN_ENTRIES, " ")


def leaf_item(connection_id: str, leaf: Leaf) -> Item:
    """Return the item of the next version of a leaf."""
    entries = (_BETWEEN_FIELDS.join([*place, found]) for place, found in sorted(leaf.texts.items()))
    packed = zlib.compress(_BETWEEN_ENTRIES.join(entries).encode(), 9)
    return item_of({"request_id": connection_id, "part": leaf.part, "data": packed, "version": leaf.version + 1})


def leaf_from_item(item: Item) -> Leaf:
    """Return the leaf of an item."""
    return Leaf(text(item, "part") or "", dict(_entries(item)), number(item, "version"))


def leaf_hits(item: Item, needle: str) -> list[Place]:
    """Return the records of a leaf whose text holds the needle. Most leaves are passed over by one look."""
    unpacked = _unpacked(item)
    if needle not in unpacked:
        return []
    return [place for place, found in _entries(item) if needle in found]


def fitting_items(connection_id: str, leaf: Leaf, largest: int = LEAF_BYTES) -> list[Item]:
    """Return the items of the next version of a leaf and of those that it is split into, as far as they are too large.

    The first one keeps the leaf's key and version, the others are new.
    """
    item = leaf_item(connection_id, leaf)
    if len(item["data"]["B"]) <= largest or len(leaf.texts) <= 1:
        return [item]
    return [part for half in halves(leaf) for part in fitting_items(connection_id, half, largest)]


def halves(leaf: Leaf) -> tuple[Leaf, Leaf]:
    """Return a leaf of two records or more as two, the second of them new."""
    places = sorted(leaf.texts)
    middle = len(places) // 2
    return (
        Leaf(leaf.part, {place: leaf.texts[place] for place in places[:middle]}, leaf.version),
        Leaf(part_of(*places[middle]), {place: leaf.texts[place] for place in places[middle:]}),
    )


def _entries(item: Item) -> Iterator[tuple[Place, str]]:
    for entry in filter(None, _unpacked(item).split(_BETWEEN_ENTRIES)):
        moment, record_id, found = entry.split(_BETWEEN_FIELDS, 2)
        yield (moment, record_id), found


def _unpacked(item: Item) -> str:
    return zlib.decompress(bytes(item["data"]["B"])).decode()
