"""Looks up whole values in the search texts of a connection (decision 0130).

The texts that are not packed are read. Of the search blocks, the index `search_blocks` is read first. It has a filter
for each block, so only blocks that may have the value are read. DynamoDB keeps the index, so a filter changes and goes
with its block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import Index, key_query
from adapters.dynamodb.compression import text_of
from adapters.dynamodb.search import ENTRY_ATTRIBUTES, is_removed, record_key, search_index_query
from adapters.dynamodb.search_blocks import VALUES, VALUES_UNTIL, texts_in_block
from adapters.dynamodb.value_filters import hashes_of, may_have
from domain.storage.ports import BlockEntry, UnpackedText
from domain.timestamps import AFTER_ALL, BEFORE_ALL
from domain.whole_values import has_marks, kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from domain.storage.ports import TextWithValue

BLOCKS = Index("search_blocks")


class ValueSearch:
    """Looks up whole values."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def unpacked_values(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[UnpackedText]]:
        """Yield pages of the texts that are in the index, as the port describes."""
        query = search_index_query(self._dynamodb.tables.payloads, connection_id, BEFORE_ALL, until, ENTRY_ATTRIBUTES)
        for page in self._dynamodb.query_pages(query):
            texts = (
                (record_key(entry), text_of(entry.get(keys.SEARCH_TEXT, {"S": ""})))
                for entry in page
                if keys.SEARCH_TEXT in entry or is_removed(entry)
            )
            yield [UnpackedText(record, kinds_of(value, text), has_marks(text)) for record, text in texts]

    def block_entries(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[BlockEntry]]:
        """Yield pages of the entries of search blocks, as the port describes."""
        query = key_query(
            self._dynamodb.tables.payloads,
            {keys.REQUEST_ID: connection_id},
            index=BLOCKS,
            between=(keys.PART, keys.SEARCH_BLOCKS, keys.search_block_part(until, AFTER_ALL)),
            attributes=(keys.PART, VALUES, VALUES_UNTIL),
        )
        hashes = hashes_of(value)
        for page in self._dynamodb.query_pages(query | {"ScanIndexForward": False}):
            yield [_block_entry(item, hashes) for item in page]

    def values_in_block(self, connection_id: str, block: BlockEntry, value: str) -> Sequence[TextWithValue]:
        """Return the texts of a block that have the value.

        A block may have been split since its entry was read, and the index may lag. So all blocks are read that begin
        where the entry begins and ends.
        """
        query = key_query(
            self._dynamodb.tables.payloads,
            {keys.REQUEST_ID: connection_id},
            between=(keys.PART, block.part, keys.search_block_part(block.until, AFTER_ALL)),
            consistent=True,
        )
        return [
            (record, kinds)
            for item in self._dynamodb.query(query)
            for record, text in texts_in_block(item, value)
            if (kinds := kinds_of(value, text))
        ]


def _block_entry(item: Item, hashes: list[int]) -> BlockEntry:
    """Return the entry of a block. A block with texts of an older release has no filter."""
    part = item[keys.PART]["S"]
    since = part.removeprefix(keys.SEARCH_BLOCKS).partition("#")[0]
    if VALUES not in item:
        return BlockEntry(part, since, AFTER_ALL, may_match=False, is_readable=False)
    return BlockEntry(part, since, item[VALUES_UNTIL]["S"], may_match=may_have(bytes(item[VALUES]["B"]), hashes))
