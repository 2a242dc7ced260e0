"""Packing: moves the search texts of past days from the search index into search blocks.

See `search.py` for the reason.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import Index, key_query, unless_overtaken
from adapters.dynamodb.compression import text_of
from adapters.dynamodb.counts import (
    CHANGED,
    DAY,
    PACK,
    QUIET,
    day_of_row,
    deletions_of_empty_day,
    has_statistics,
    row_key,
)
from adapters.dynamodb.search import has_chunks, is_removed, record_key, search_index_query
from adapters.dynamodb.search_blocks import MAX_BLOCK_BYTES, SearchBlock, block_from_item, storable
from domain.timestamps import AFTER_ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.search_blocks import RecordKey

DAYS_TO_PACK = Index("to_pack")

MAX_STEP_TEXTS = 1_000
"""The maximum number of texts that a step reads; DynamoDB also stops at 1 MB. Each is removed from the index by its own
write."""

MAX_PAGE_ROWS = 1_000
"""The maximum number of marked rows that a query reads. A run that has no time left stops between two pages."""

WRITERS = 8
"""The number of texts of a day, or of rows, that are changed in parallel."""


class Packing:
    """Packs search texts."""

    def __init__(
        self,
        dynamodb: DynamoDB,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        max_step_texts: int = MAX_STEP_TEXTS,
        max_page_rows: int = MAX_PAGE_ROWS,
    ) -> None:
        self._dynamodb = dynamodb
        self._max_block_bytes = max_block_bytes
        self._max_step_texts = max_step_texts
        self._max_page_rows = max_page_rows

    def days_to_pack(self, before: str) -> Iterator[tuple[str, str]]:
        """Yield (connection, day) for each row that has not changed since `settle_days`, the oldest day first."""
        return map(_day, chain.from_iterable(self._marked_rows(QUIET, before)))

    def settle_days(self, before: str, is_chosen: Callable[[str], bool]) -> Iterator[int]:
        """Mark the changed rows of the chosen connections as quiet, a page at a time. Yield the number of each page."""

        def settle(row: Item) -> None:
            self._mark(row, CHANGED, f"SET {PACK} = :quiet", quiet=QUIET)

        for rows in self._marked_rows(CHANGED, before):
            chosen_rows = [row for row in rows if is_chosen(row[keys.CONNECTION_ID]["S"])]
            with ThreadPoolExecutor(WRITERS) as writers:
                list(writers.map(settle, chosen_rows))
            yield len(chosen_rows)

    def pack(self, connection_id: str, day: str, after: RecordKey | None) -> RecordKey | None:
        """Do one step of a day's packing. Return the record to continue after, or None if the day is done."""
        rows = self._rows_of_day(connection_id, day)
        # Without rows the connection was removed. A day that changed waits for a run after `settle_days`.
        if not rows or any(row.get(PACK) == {"S": CHANGED} for row in rows):
            return None
        entries, last = self._next_entries(connection_id, day, after)
        if entries:
            self._pack_entries(rows[0], entries)
        elif after is None:
            self._finish_day(rows)
        return record_key(last) if last else None

    def _next_entries(self, connection_id: str, day: str, after: RecordKey | None) -> tuple[list[Item], Item | None]:
        """Return the next entries of a day that can be packed, and the key to continue the query after."""
        query = search_index_query(self._dynamodb.tables.payloads, connection_id, day, day + AFTER_ALL)
        query["Limit"] = self._max_step_texts
        last = keys.search_index_key(connection_id, *after) if after else None
        while True:
            response = self._dynamodb.client.query(**query, **({"ExclusiveStartKey": last} if last else {}))
            entries = [entry for entry in response["Items"] if not has_chunks(entry)]
            last = response.get("LastEvaluatedKey")
            if entries or last is None:
                return entries, last

    def _pack_entries(self, row: Item, entries: Sequence[Item]) -> None:
        """Add the missing texts to the blocks. Remove from the index the texts that were already in the blocks.

        `row` is one of the day's rows of counts.
        """
        connection_id = row[keys.CONNECTION_ID]["S"]
        blocks = self._blocks_of(connection_id, entries)
        parts = sorted(blocks)
        by_part: dict[str, list[Item]] = defaultdict(list)
        for entry in entries:
            own_part = keys.search_block_part(*record_key(entry))
            by_part[max((part for part in parts if part <= own_part), default=keys.SEARCH_BLOCKS)].append(entry)
        settled: list[Item] = []
        for part, part_entries in by_part.items():
            block = blocks.get(part, SearchBlock())
            texts = dict(block.texts)
            for entry in part_entries:
                record = record_key(entry)
                text = None if is_removed(entry) else storable(text_of(entry[keys.SEARCH_TEXT]))
                if texts.get(record) == text:
                    settled.append(entry)
                elif text is None:
                    del texts[record]
                else:
                    texts[record] = text
            if texts != block.texts:
                self._put_block(row, replace(block, texts=texts))
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(self._take_out, settled))

    def _blocks_of(self, connection_id: str, entries: Iterable[Item]) -> Mapping[str, SearchBlock]:
        """Return the blocks that the entries belong to, by their parts."""
        records = sorted(map(record_key, entries))
        first, last = (keys.search_block_part(*record) for record in (records[0], records[-1]))

        def blocks(from_part: str, to_part: str) -> dict[str, Any]:
            between = (keys.PART, from_part, to_part)
            return key_query(
                self._dynamodb.tables.payloads, {keys.REQUEST_ID: connection_id}, between=between, consistent=True
            )

        up_to_first = blocks(keys.SEARCH_BLOCKS, first) | {"ScanIndexForward": False, "Limit": 1}
        items = chain(self._dynamodb.client.query(**up_to_first)["Items"], self._dynamodb.query(blocks(first, last)))
        return {block.part: block for block in map(block_from_item, items)}

    def _put_block(self, row: Item, block: SearchBlock) -> None:
        """Store a block with the blocks that it is split into, unless another run has changed it.

        The transaction requires the counts of the connection, because removing a connection deletes them before its
        blocks.
        """
        first, *new = (
            {
                "TableName": self._dynamodb.tables.payloads,
                "Item": item,
                "ConditionExpression": f"attribute_not_exists({keys.VERSION})",
            }
            for item in block.items(row[keys.CONNECTION_ID]["S"], self._max_block_bytes)
        )
        if block.version:
            first["ConditionExpression"] = f"{keys.VERSION} = :version"
            first["ExpressionAttributeValues"] = {":version": {"N": str(block.version)}}
        counts_exist = {
            "TableName": self._dynamodb.tables.counts,
            "Key": row_key(row),
            "ConditionExpression": f"attribute_exists({keys.CONNECTION_ID})",
        }
        with unless_overtaken():
            self._dynamodb.client.transact_write_items(
                TransactItems=[{"ConditionCheck": counts_exist}, *({"Put": put} for put in (first, *new))]
            )

    def _take_out(self, entry: Item) -> None:
        """Remove a packed text from the index, unless its body has changed since."""
        key = {"TableName": self._dynamodb.tables.payloads, "Key": keys.payload_key(entry[keys.REQUEST_ID]["S"])}
        with unless_overtaken():
            if is_removed(entry):
                self._dynamodb.client.delete_item(**key, ConditionExpression=f"attribute_exists({keys.REMOVED})")
            else:
                self._dynamodb.client.update_item(
                    **key,
                    UpdateExpression=f"REMOVE {keys.CONNECTION_ID}, {keys.SEARCH_TEXT}",
                    # A body with chunks stays, even if its chunks were announced after the query.
                    ConditionExpression=f"{keys.SEARCH_TEXT} = :text AND attribute_not_exists({keys.RESPONSE_CHUNKS})",
                    ExpressionAttributeValues={":text": entry[keys.SEARCH_TEXT]},
                )

    def _finish_day(self, rows: Sequence[Item]) -> None:
        """Unmark a packed day. Delete its rows if all counts are zero, because every list would read them.

        Rows with statistics stay until these are removed.
        """
        deletions = deletions_of_empty_day(self._dynamodb.tables.counts, rows)
        if deletions and not any(map(has_statistics, rows)):
            with unless_overtaken():
                self._dynamodb.client.transact_write_items(TransactItems=deletions)
        else:
            for row in rows:
                self._mark(row, QUIET, f"REMOVE {PACK}")

    def _marked_rows(self, mark: str, before: str) -> Iterator[list[Item]]:
        """Yield the rows of counts with this mark in pages, the oldest day first."""
        query = key_query(self._dynamodb.tables.counts, {PACK: mark}, index=DAYS_TO_PACK, below=(DAY, before))
        query["Limit"] = self._max_page_rows
        return self._dynamodb.query_pages(query)

    def _rows_of_day(self, connection_id: str, day: str) -> list[Item]:
        query = key_query(
            self._dynamodb.tables.counts,
            {keys.CONNECTION_ID: connection_id},
            between=(DAY, day, day + AFTER_ALL),
            consistent=True,
        )
        return list(self._dynamodb.query(query))

    def _mark(self, row: Item, mark: str, update: str, **values: str) -> None:
        """Change the mark of a row, unless it is no longer `mark`."""
        values["mark"] = mark
        with unless_overtaken():
            self._dynamodb.client.update_item(
                TableName=self._dynamodb.tables.counts,
                Key=row_key(row),
                UpdateExpression=update,
                ConditionExpression=f"{PACK} = :mark",
                ExpressionAttributeValues={f":{name}": {"S": value} for name, value in values.items()},
            )


def _day(row: Item) -> tuple[str, str]:
    return row[keys.CONNECTION_ID]["S"], day_of_row(row)
