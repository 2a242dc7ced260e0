"""The texts that searches look in: those of today in an index, older ones packed (decision 0023).

A body item with `connection_id` is in the sparse index `search`, and what the index says of a record
holds before what a leaf says. Packing (`domain.packing`) copies texts from the index into leaves; the
run after that takes them out of the index. Between the two a text stands in both, so that a search
that reads the one and then the other, as late as DynamoDB shows them, misses none.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import leaves
from adapters.dynamodb import tables as names
from adapters.dynamodb.count_rows import CHANGED, QUIET, SEPARATOR, deletions_of_empty_day
from adapters.dynamodb.leaves import LEAF_BYTES, LEAVES, Leaf, part_of, storable
from adapters.dynamodb.payloads import GONE, payload_key
from adapters.dynamodb.reading import query_all
from domain.storage.ports import unlimited

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from adapters.dynamodb.items import Item
    from adapters.dynamodb.leaves import Place
    from adapters.dynamodb.tables import TableNames

STEP = 1_000
"""How many texts one step of packing reads at most (and 1 MB, DynamoDB): each is taken out by a write of its own."""

WRITERS = 8
"""How many texts are taken out of the index at the same time."""

SEARCHED = "request_id, inserted_at, search_text, request_parts, response_parts"
"""To take thousands of answers apart is what a search spends its time on: other keys stay behind."""

OVERTAKEN = frozenset(
    {
        "ConditionalCheckFailedException",
        "ConditionalCheckFailed",
        "TransactionConflictException",
        "TransactionConflict",
    }
)
"""DynamoDB's codes for a write that came too late, alone and in a transaction."""

BEFORE_EVERYTHING = "0"
AFTER_EVERYTHING = "~"
"""The latter sorts after any moment and any id, and after every moment that begins with what it is appended to."""


class SearchTexts:
    """Searches the texts of connections and packs them."""

    def __init__(self, client: Any, tables: TableNames, *, leaf_bytes: int = LEAF_BYTES, step: int = STEP) -> None:
        self._client = client
        self._tables = tables
        self._step = step
        self._leaf_bytes = leaf_bytes

    # --- Search

    def hits(
        self, connection_id: str, needle: str, cuts: Sequence[str], in_time: Callable[[], None] = unlimited
    ) -> Collection[Place]:
        """Return the records whose text holds `needle`; the parts between the moments `cuts` are read side by side."""
        parts = list(pairwise([BEFORE_EVERYTHING, *cuts, AFTER_EVERYTHING]))
        known: dict[Place, bool] = {}
        packed: set[Place] = set()

        def read(part: tuple[str, str]) -> tuple[dict[Place, bool], list[Place]]:
            return self._range(connection_id, needle, part, in_time)

        with ThreadPoolExecutor(len(parts)) as readers:
            for in_index, in_leaves in readers.map(read, parts):
                known.update(in_index)
                packed.update(in_leaves)
        return {place for place, hit in known.items() if hit} | {place for place in packed if place not in known}

    def _range(
        self, connection_id: str, needle: str, part: tuple[str, str], in_time: Callable[[], None]
    ) -> tuple[dict[Place, bool], list[Place]]:
        """Return what the index says of each record in it, and the hits in the leaves. The index first: see above."""
        first, last = part
        entries = query_all(
            self._client,
            in_time,
            **self._index(connection_id, first, last),
            ProjectionExpression=SEARCHED,
        )
        in_index = {
            _place(entry): "search_text" in entry and needle in entry["search_text"]["S"]
            for entry in entries
            if "search_text" in entry or is_gone(entry)
        }
        rows = query_all(
            self._client,
            in_time,
            TableName=self._tables.payloads,
            KeyConditionExpression="request_id = :connection AND part BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":connection": {"S": connection_id},
                ":first": {"S": LEAVES if first == BEFORE_EVERYTHING else part_of(first)},
                ":last": {"S": part_of(last)},
            },
        )
        return in_index, [place for row in rows for place in leaves.leaf_hits(row, needle)]

    def _index(self, connection_id: str, first: str, last: str) -> dict[str, Any]:
        """Return the query of a part of the index."""
        return {
            "TableName": self._tables.payloads,
            "IndexName": names.SEARCH_INDEX,
            "KeyConditionExpression": "connection_id = :connection AND inserted_at BETWEEN :first AND :last",
            "ExpressionAttributeValues": {
                ":connection": {"S": connection_id},
                ":first": {"S": first},
                ":last": {"S": last},
            },
        }

    # --- Packing

    def quiet_days(self, before: str, limit: int) -> Sequence[tuple[str, str]]:
        """Return (connection, day) of up to `limit` days whose records changed, but not since this was asked last."""
        quiet = self._days(QUIET, before, limit)
        changed = self._days(CHANGED, before, limit)
        for key in changed:
            self._mark(key, CHANGED, "SET pack = :quiet", quiet=QUIET)
        restless = {_day(key) for key in changed}
        return [day for day in dict.fromkeys(map(_day, quiet)) if day not in restless]

    def pack(self, connection_id: str, day: str, after: Place | None) -> Place | None:
        """Do one step of a day's packing; return after which record to go on, None when the day is through."""
        rows = self._rows(connection_id, day)
        if not rows:  # the connection was removed
            return None
        entries, last = self._unpacked(connection_id, day, after)
        if entries:
            self._pack(rows[0], entries)
        elif after is None:
            self._finish_day(rows)
        return None if last is None else _place(last)

    def _unpacked(self, connection_id: str, day: str, after: Place | None) -> tuple[list[Item], Item | None]:
        """Return the next entries of a day that can be packed, and the key that the query goes on after."""
        query = {**self._index(connection_id, day, day + AFTER_EVERYTHING), "Limit": self._step}
        last = None if after is None else _index_key(connection_id, after)
        while True:
            page = self._client.query(**query, **({"ExclusiveStartKey": last} if last else {}))
            entries, last = [one for one in page["Items"] if not _has_chunks(one)], page.get("LastEvaluatedKey")
            if entries or last is None:
                return entries, last

    def _finish_day(self, rows: Sequence[Item]) -> None:
        """Take the marks off a day whose texts are packed; the rows too when they count nothing.

        A list would read the zeros of every day there ever was.
        """
        deletions = deletions_of_empty_day(self._tables.counts, rows)
        if deletions:
            with _unless_changed():
                self._client.transact_write_items(TransactItems=deletions)
            return
        for row in rows:
            self._mark(_row_key(row), QUIET, "REMOVE pack")

    def _pack(self, row: Item, entries: Iterable[Item]) -> None:
        """Put into the leaves what they lack; take out of the index what stood there already.

        `row` is one of the day's rows of counts.
        """
        connection_id = row["connection_id"]["S"]
        by_leaf: dict[str, list[Item]] = defaultdict(list)
        stored = self._leaves(connection_id, entries)
        parts = sorted(stored)
        for entry in entries:
            part = max((one for one in parts if one <= part_of(*_place(entry))), default=LEAVES)
            by_leaf[part].append(entry)
        settled: list[Item] = []
        for part, own in by_leaf.items():
            leaf = stored.get(part, Leaf(LEAVES))
            texts = dict(leaf.texts)
            for entry in own:
                place = _place(entry)
                new = None if is_gone(entry) else storable(entry["search_text"]["S"])
                if texts.get(place) == new:
                    settled.append(entry)
                elif new is None:
                    del texts[place]
                else:
                    texts[place] = new
            if texts != leaf.texts:
                self._put_leaf(row, replace(leaf, texts=texts))
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(self._take_out, settled))

    def _leaves(self, connection_id: str, entries: Iterable[Item]) -> Mapping[str, Leaf]:
        """Return the leaves that the entries belong to, by their keys."""
        places = sorted(map(_place, entries))
        query: dict[str, Any] = {"TableName": self._tables.payloads, "ConsistentRead": True}
        condition = "request_id = :connection AND part BETWEEN :first AND :last"
        values = {":connection": {"S": connection_id}, ":first": {"S": LEAVES}, ":last": {"S": part_of(*places[0])}}
        first = self._client.query(
            **query,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ScanIndexForward=False,
            Limit=1,
        )["Items"]
        later = query_all(
            self._client,
            **query,
            KeyConditionExpression=condition,
            ExpressionAttributeValues={**values, ":first": values[":last"], ":last": {"S": part_of(*places[-1])}},
        )
        found = [leaves.leaf_from_item(item) for item in (*first, *later)]
        return {leaf.part: leaf for leaf in found}

    def _put_leaf(self, row: Item, leaf: Leaf) -> None:
        """Store a leaf, together with those that it is split into; leave it when another run has changed it.

        Only while the connection has counts: those go before its leaves when it is removed.
        """
        connection_id = row["connection_id"]["S"]
        first, *new = (
            {"TableName": self._tables.payloads, "Item": item, "ConditionExpression": "attribute_not_exists(version)"}
            for item in leaves.fitting_items(connection_id, leaf, self._leaf_bytes)
        )
        if leaf.version:
            first["ConditionExpression"] = "version = :version"
            first["ExpressionAttributeValues"] = {":version": {"N": str(leaf.version)}}
        still_there = {
            "TableName": self._tables.counts,
            "Key": _row_key(row),
            "ConditionExpression": "attribute_exists(connection_id)",
        }
        with _unless_changed():
            self._client.transact_write_items(
                TransactItems=[{"ConditionCheck": still_there}, *({"Put": put} for put in (first, *new))]
            )

    def _take_out(self, entry: Item) -> None:
        """Take a settled text out of the index; a body that has changed since stays as it is."""
        key = {"TableName": self._tables.payloads, "Key": payload_key(entry["request_id"]["S"])}
        with _unless_changed():
            if is_gone(entry):
                self._client.delete_item(**key, ConditionExpression=f"attribute_exists({GONE})")
            else:
                self._client.update_item(
                    **key,
                    UpdateExpression="REMOVE connection_id, search_text",
                    # With chunks it stays, also when they were announced just now.
                    ConditionExpression="search_text = :seen AND attribute_not_exists(response_parts)",
                    ExpressionAttributeValues={":seen": entry["search_text"]},
                )

    # --- Which days are to be packed

    def _days(self, mark: str, before: str, limit: int) -> list[Item]:
        """Return the keys of rows of counts with this mark, the oldest day first."""
        answer = self._client.query(
            TableName=self._tables.counts,
            IndexName=names.DAYS_TO_PACK_INDEX,
            KeyConditionExpression="pack = :mark AND #day < :before",
            ExpressionAttributeNames={"#day": "day"},
            ExpressionAttributeValues={":mark": {"S": mark}, ":before": {"S": before}},
            Limit=limit,
        )
        return [_row_key(row) for row in answer["Items"]]

    def _rows(self, connection_id: str, day: str) -> list[Item]:
        """Return a day's rows of counts."""
        rows = query_all(
            self._client,
            TableName=self._tables.counts,
            KeyConditionExpression="connection_id = :connection AND begins_with(#day, :day)",
            ExpressionAttributeNames={"#day": "day"},
            ExpressionAttributeValues={":connection": {"S": connection_id}, ":day": {"S": day}},
            ConsistentRead=True,
        )
        return list(rows)

    def _mark(self, key: Item, mark: str, update: str, **values: str) -> None:
        """Change a row's mark, unless it is another one by now."""
        with _unless_changed():
            self._client.update_item(
                TableName=self._tables.counts,
                Key=key,
                UpdateExpression=update,
                ConditionExpression="pack = :mark",
                ExpressionAttributeValues={
                    f":{name}": {"S": value} for name, value in {"mark": mark, **values}.items()
                },
            )


@contextmanager
def _unless_changed() -> Iterator[None]:
    """Let a conditional write go by when its condition does not hold, or another one is just writing there."""
    try:
        yield
    except ClientError as error:
        reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", [])}
        if not ({error.response["Error"]["Code"]} | reasons) & OVERTAKEN:
            raise


def _place(entry: Item) -> Place:
    return entry["inserted_at"]["S"], entry["request_id"]["S"]


def _day(key: Item) -> tuple[str, str]:
    return key["connection_id"]["S"], key["day"]["S"].split(SEPARATOR)[0]


def _row_key(row: Item) -> Item:
    return {"connection_id": row["connection_id"], "day": row["day"]}


def _index_key(connection_id: str, place: Place) -> Item:
    moment, record_id = place
    return payload_key(record_id) | {"connection_id": {"S": connection_id}, "inserted_at": {"S": moment}}


def is_gone(entry: Item) -> bool:
    """Tell whether the record was removed: what stands for it has no text and no chunks."""
    return "search_text" not in entry and not _has_chunks(entry)


def _has_chunks(entry: Item) -> bool:
    """Tell whether a body has chunks. It stays in the index, where the removal of a connection finds how many."""
    return "request_parts" in entry or "response_parts" in entry
