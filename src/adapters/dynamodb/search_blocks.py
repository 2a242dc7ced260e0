"""Search blocks: the search texts of many records, in order of insertion, compressed into one item.

The search blocks of a connection are in `Payloads` under its id. The key of a block names its first record. The block
ends before the first record of the next block. The first block of a connection begins before all records. A block that
grows over `MAX_BLOCK_BYTES` is split. Blocks are never merged, so a record stays in its block, or one transaction moves
it to a new block.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from adapters.dynamodb import keys
from adapters.dynamodb.value_filters import filter_of
from domain.records.search_text import has_all
from domain.whole_values import has_marks, values_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adapters.dynamodb.keys import Item

MAX_BLOCK_BYTES = 48 * 1024
"""The compressed size. Larger blocks hardly compress better, and adding one text writes the whole block."""

RecordKey: TypeAlias = tuple[str, str]
"""The order of the records in search blocks and in the search index: (inserted_at, id)."""

VALUES = "whole_values"
"""The filter of the whole values in a block (`value_filters.py`)."""
VALUES_UNTIL = "until"
"""When the newest record of a block was inserted."""

_BETWEEN_ENTRIES = "\0"
_BETWEEN_FIELDS = " "


@dataclass(frozen=True, slots=True)
class SearchBlock:
    """The search texts of a range of records. `version` is 0 for a block that is not stored yet."""

    part: str = keys.SEARCH_BLOCKS
    texts: Mapping[RecordKey, str] = field(default_factory=dict)
    version: int = 0

    def items(self, connection_id: str, max_bytes: int = MAX_BLOCK_BYTES) -> list[Item]:
        """Return the items of the next version of the block and of the new blocks that it is split into.

        The first item keeps the block's key and version.
        """
        item = self._item(connection_id)
        records = sorted(self.texts)
        # Texts that come after those of an earlier release get a block of their own, which has a filter.
        at = next((at for at in range(len(records), 0, -1) if not has_marks(self.texts[records[at - 1]])), 0)
        if at in {0, len(records)}:
            if len(item[keys.DATA]["B"]) <= max_bytes or len(records) == 1:
                return [item]
            at = len(records) // 2
        return [part for half in self._split(records, at) for part in half.items(connection_id, max_bytes)]

    def _item(self, connection_id: str) -> Item:
        entries = (_BETWEEN_FIELDS.join([*record, text]) for record, text in sorted(self.texts.items()))
        packed = zlib.compress(_BETWEEN_ENTRIES.join(entries).encode(), 9)
        item = keys.payload_key(connection_id, self.part) | {
            keys.DATA: {"B": packed},
            keys.VERSION: {"N": str(self.version + 1)},
        }
        if not all(map(has_marks, self.texts.values())):
            return item  # without a filter, which would lack the values of these texts
        return item | {
            VALUES: {"B": filter_of(values_in(self.texts.values()))},
            VALUES_UNTIL: {"S": max(self.texts, default=("0", ""))[0]},
        }

    def _split(self, records: Sequence[RecordKey], at: int) -> tuple[SearchBlock, SearchBlock]:
        first, second = records[:at], records[at:]
        return (
            SearchBlock(self.part, {record: self.texts[record] for record in first}, self.version),
            SearchBlock(keys.search_block_part(*second[0]), {record: self.texts[record] for record in second}),
        )


def storable(search_text: str) -> str:
    """Return a text without the character that separates the entries of a block. XML cannot contain this character."""
    return search_text.replace(_BETWEEN_ENTRIES, " ")


def block_from_item(item: Item) -> SearchBlock:
    """Return the block of an item."""
    return SearchBlock(item[keys.PART]["S"], dict(_entries(_unpacked(item))), int(item[keys.VERSION]["N"]))


def matches_in_block(item: Item, texts: tuple[str, ...]) -> list[RecordKey]:
    """Return the records of a block whose text contains all of these (`has_all`)."""
    return [record for record, _ in texts_in_block(item, *texts)]


def texts_in_block(item: Item, *texts: str) -> list[tuple[RecordKey, str]]:
    """Return the search texts of a block that contain all of these (`has_all`).

    A test of the whole block rules out most.
    """
    unpacked = _unpacked(item)
    return [entry for entry in _entries(unpacked) if has_all(entry[1], texts)] if has_all(unpacked, texts) else []


def _entries(unpacked: str) -> Iterator[tuple[RecordKey, str]]:
    for entry in filter(None, unpacked.split(_BETWEEN_ENTRIES)):
        inserted_at, request_id, text = entry.split(_BETWEEN_FIELDS, 2)
        yield (inserted_at, request_id), text


def _unpacked(item: Item) -> str:
    return zlib.decompress(bytes(item[keys.DATA]["B"])).decode()
