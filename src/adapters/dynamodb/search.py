"""Search: today's texts are in a sparse index, older texts in search blocks (decision 0023).

A body item with a `connection_id` is in the index `search`. The index entry of a record takes precedence over the
search blocks. Packing (`packing.py`) copies texts from the index into blocks, and the next run removes them from the
index. Between the two runs a text is in both. A search that reads the index first and the blocks second therefore finds
every text, even if DynamoDB updates either of them late.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import Index, key_query
from adapters.dynamodb.compression import text_of
from adapters.dynamodb.search_blocks import matches_in_block
from domain.records.search_text import has_all
from domain.timestamps import ANY_TIME, TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.search_blocks import RecordKey

SEARCH = Index("search")

ENTRY_ATTRIBUTES = (
    keys.REQUEST_ID,
    keys.INSERTED_AT,
    keys.SEARCH_TEXT,
    keys.REQUEST_CHUNKS,
    keys.RESPONSE_CHUNKS,
)
"""A search spends its time on parsing entries, so it reads only the attributes that it needs."""


class SearchTexts:
    """Searches the texts of connections."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def search_matches(
        self,
        connection_id: str,
        texts: tuple[str, ...],
        split_points: Sequence[str],
        check_deadline: Callable[[], None] = lambda: None,
        within: TimeRange = ANY_TIME,
    ) -> Collection[RecordKey]:
        """Return the records whose text contains all `texts` (`has_all`).

        The parts between the split points are read in parallel. A range of time takes one call more, to find the search
        block in which it begins.
        """
        if within.first > within.last:
            return []
        points = [point for point in split_points if within.first < point < within.last]
        parts = list(pairwise([within.first, *points, within.last]))
        in_index: dict[RecordKey, bool] = {}
        in_blocks: set[RecordKey] = set()
        first_block = self._block_at(connection_id, within.start) if within.start else keys.SEARCH_BLOCKS
        search = partial(self._search_part, connection_id, texts, check_deadline, {parts[0]: first_block})
        with ThreadPoolExecutor(len(parts)) as readers:
            for index_part, block_part in readers.map(search, parts):
                in_index |= index_part
                in_blocks.update(block_part)
        found = {record for record, matches in in_index.items() if matches} | (in_blocks - in_index.keys())
        return {record for record in found if record[0] in within} if within else found

    def _search_part(
        self,
        connection_id: str,
        texts: tuple[str, ...],
        check_deadline: Callable[[], None],
        first_blocks: Mapping[tuple[str, str], str],
        part: tuple[str, str],
    ) -> tuple[dict[RecordKey, bool], list[RecordKey]]:
        """Return whether each record in the index matches, then the matches in the blocks (see above for the order).

        A part has the blocks that begin in it. The first part also has the block that begins before it.
        """
        payloads, (first, last) = self._dynamodb.tables.payloads, part
        entries = self._dynamodb.query(
            search_index_query(payloads, connection_id, first, last, ENTRY_ATTRIBUTES), check_deadline
        )
        in_index = {
            record_key(entry): has_all(text_of(entry.get(keys.SEARCH_TEXT, {"S": ""})), texts)
            for entry in entries
            if keys.SEARCH_TEXT in entry or is_removed(entry)
        }
        first_block = first_blocks.get(part) or keys.search_block_part(first)
        query = key_query(
            payloads,
            {keys.REQUEST_ID: connection_id},
            between=(keys.PART, first_block, keys.search_block_part(last)),
        )
        blocks = self._dynamodb.query(query, check_deadline)
        return in_index, [record for block in blocks for record in matches_in_block(block, texts)]

    def _block_at(self, connection_id: str, moment: str) -> str:
        """Return the part of the last search block that begins before `moment`, which it may contain."""
        query = key_query(
            self._dynamodb.tables.payloads,
            {keys.REQUEST_ID: connection_id},
            between=(keys.PART, keys.SEARCH_BLOCKS, keys.search_block_part(moment)),
            attributes=(keys.PART,),
        )
        blocks = self._dynamodb.query(query | {"ScanIndexForward": False, "Limit": 1})
        return next((block[keys.PART]["S"] for block in blocks), keys.SEARCH_BLOCKS)


def search_index_query(
    table: str, connection_id: str, first: str, last: str, attributes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the query for the index entries between two timestamps."""
    return key_query(
        table,
        {keys.CONNECTION_ID: connection_id},
        index=SEARCH,
        between=(keys.INSERTED_AT, first, last),
        attributes=attributes,
    )


def record_key(entry: Item) -> RecordKey:
    """Return the record of an index entry."""
    return entry[keys.INSERTED_AT]["S"], entry[keys.REQUEST_ID]["S"]


def has_chunks(entry: Item) -> bool:
    """Return whether a body has chunks. It stays in the index, where removing the connection finds their number."""
    return keys.REQUEST_CHUNKS in entry or keys.RESPONSE_CHUNKS in entry


def is_removed(entry: Item) -> bool:
    """Return whether the record was removed. The marker that replaces its body has neither text nor chunks."""
    return keys.SEARCH_TEXT not in entry and not has_chunks(entry)
