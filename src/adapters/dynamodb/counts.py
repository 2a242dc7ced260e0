"""The rows of `Counts`: one for each day of a connection, and more when transactions conflict.

DynamoDB cancels a transaction that names an item while another transaction changes it. Every change of a connection's
records names the row of its day. The first try therefore adds to that row. After a conflict, the next try adds to one
of `OVERFLOW_ROWS` overflow rows, chosen at random. Readers add up the rows (decision 0007).

The rows of the last days also have statistics (`statistics.py`), which are then moved to months (`months.py`).
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import key_query
from adapters.dynamodb.listing import LISTING_INDEXES, partition_key
from adapters.dynamodb.operations import Operation
from adapters.dynamodb.records import STATE_CODES, WEBHOOK_STATE_CODES
from adapters.dynamodb.statistics import STATISTIC_ATTRIBUTES, statistic_additions, statistics_of
from adapters.dynamodb.transactions import Transaction, new_commit_id
from domain.records.ownership import not_found
from domain.records.request import LISTED_PAIRS, Pair
from domain.storage.counts import INSERTED, UPDATED, CountKey, DayCounts
from domain.timestamps import AFTER_ALL, day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.transactions import Transactions
    from domain.storage.statistics import Day, Slot

OVERFLOW_ROWS = 4
"""With these rows, a connection sustains 150 transactions a second instead of 40, as simulated (decision 0007)."""

DAY = "day"
DELETED_CONNECTION = "deleted"
"""Replaces the day in the row of a deleted connection. A list reads this row with the counts."""

PACK = "pack"
CHANGED = "changed"
QUIET = "quiet"
"""Values of the mark `pack`, which a row has until the search texts of its day are packed. A transaction that changes
or removes a search text changes a row of the day of insertion and sets the mark to CHANGED (`packing.py`)."""

MARK = "mark"
"""What the first row of a day tells about its connection (`settings_marks.py`)."""

_PAIRS: dict[str, Pair] = {
    STATE_CODES[state] + WEBHOOK_STATE_CODES[webhook_state]: (state, webhook_state)
    for state, webhook_state in LISTED_PAIRS
}

_SORT_CODES = {INSERTED: "i", UPDATED: "u"}

COUNT_ATTRIBUTES = tuple(sort + code for sort in _SORT_CODES.values() for code in _PAIRS)
"""Every count that a row may hold."""

_DAY_LENGTH = len("2026-03-14")


def count_attribute(key: CountKey) -> str:
    """Return the name of the attribute that holds a count."""
    return _SORT_CODES[key.sort] + STATE_CODES[key.state] + WEBHOOK_STATE_CODES[key.webhook_state]


def count_updates(
    table: str,
    changes: Mapping[CountKey, int],
    row: int | None,
    statistics: Mapping[Day, Mapping[Slot, int]] = MappingProxyType({}),
    marks: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """Return the entries of a transaction that add `changes` and `statistics` to the rows of the days.

    With `row`, they add to overflow rows of this number, such as `2026-03-14#2`. `marks` are for the first rows
    (`settings_marks.py`), by connection and day.
    """
    rows: dict[tuple[str, str], dict[str, int]] = {day: {} for day in marks}
    suffix = "" if row is None else f"#{row}"
    for key, change in changes.items():
        rows.setdefault((key.connection_id, key.day + suffix), {})[count_attribute(key)] = change
    for (connection_id, day), slots in statistics.items():
        rows.setdefault((connection_id, day + suffix), {}).update(statistic_additions(slots))
    return [_row_update(table, row_id, counts, marks.get(row_id)) for row_id, counts in rows.items()]


def _row_update(table: str, row_id: tuple[str, str], counts: Mapping[str, int], mark: str | None) -> dict[str, Any]:
    """Return the entry of a transaction that adds to a row and sets its mark, if there is one."""
    sets, values = [f"{PACK} = :pack"], {":pack": {"S": CHANGED}}
    if mark is not None:
        sets.append(f"{MARK} = :{MARK}")
        values[f":{MARK}"] = {"S": mark}
    additions = ", ".join(f"#{name} :{name}" for name in counts)
    update = {
        "TableName": table,
        "Key": day_key(*row_id),
        "UpdateExpression": "SET " + ", ".join(sets) + (f" ADD {additions}" if counts else ""),
        "ExpressionAttributeValues": values | {f":{name}": {"N": str(change)} for name, change in counts.items()},
    }
    return {"Update": update | ({"ExpressionAttributeNames": {f"#{name}": name for name in counts}} if counts else {})}


def count_addition(table: str, changes: Mapping[CountKey, int], commit_id: str) -> Operation:
    """Return the operation that adds `changes`, which are of one day, to the row of the day, once for a commit.

    The row gets the commit's id, on condition that it does not have it yet. No overflow row is used, so a repetition
    under another token finds the id.
    """
    (entry,) = count_updates(table, changes, None)
    addition = entry["Update"]
    addition["UpdateExpression"] = addition["UpdateExpression"].replace(
        " ADD ", f", {keys.COMMIT_ID} = :{keys.COMMIT_ID} ADD ", 1
    )
    addition["ExpressionAttributeValues"][f":{keys.COMMIT_ID}"] = {"S": commit_id}
    addition["ConditionExpression"] = f"attribute_not_exists({keys.COMMIT_ID}) OR {keys.COMMIT_ID} <> :{keys.COMMIT_ID}"
    addition["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return Operation(entry)


def deletions_of_empty_day(table: str, rows: Sequence[Item]) -> list[dict[str, Any]]:
    """Return transaction entries that delete the rows of a day. There are none unless all counts add up to zero.

    The transaction fails if one of these rows has changed. A row that is added meanwhile stays and counts correctly.
    All rows stay while one is marked CHANGED, because the mark leads to the day's search texts.
    """
    if not is_empty(rows) or any(row.get(PACK) == {"S": CHANGED} for row in rows):
        return []
    names = (*COUNT_ATTRIBUTES, PACK)
    return [
        {
            "Delete": {
                "TableName": table,
                "Key": row_key(row),
                "ConditionExpression": " AND ".join(
                    f"#{name} = :{name}" if name in row else f"attribute_not_exists(#{name})" for name in names
                ),
                "ExpressionAttributeNames": {f"#{name}": name for name in names},
                "ExpressionAttributeValues": {f":{name}": row[name] for name in names if name in row},
            }
        }
        for row in rows
    ]


def is_empty(rows: Iterable[Item]) -> bool:
    """Return whether all counts in the rows of a day add up to zero."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update({name: int(row[name]["N"]) for name in COUNT_ATTRIBUTES if name in row})
    return not any(counts.values())


def has_statistics(row: Item) -> bool:
    """Return whether a row has statistics."""
    return any(name in row for name in STATISTIC_ATTRIBUTES)


def day_key(connection_id: str, day: str) -> Item:
    """Return the key of a row."""
    return {keys.CONNECTION_ID: {"S": connection_id}, DAY: {"S": day}}


def mark_of_deleted_connection(connection_id: str) -> Item:
    """Return the row that marks a deleted connection."""
    return day_key(connection_id, DELETED_CONNECTION)


def row_key(row: Item) -> Item:
    """Return the key of a stored row."""
    return {name: row[name] for name in (keys.CONNECTION_ID, DAY)}


def day_of_row(row: Item) -> str:
    """Return the day whose counts a row holds."""
    return str(row[DAY]["S"])[:_DAY_LENGTH]


class Counts:
    """Reads and repairs counts. A commit adds to them (`commits.py`)."""

    def __init__(self, dynamodb: DynamoDB, transactions: Transactions) -> None:
        self._dynamodb = dynamodb
        self._transactions = transactions

    def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
        """Return the counts of a connection with one query, about 200 bytes a day. Raises NotFound if it is deleted.

        The last days have statistics too, and up to 1 KB.
        """
        names = [name for name in COUNT_ATTRIBUTES if sort and name.startswith(_SORT_CODES[sort])]
        query = key_query(
            self._dynamodb.tables.counts,
            {keys.CONNECTION_ID: connection_id},
            # The row of a deleted connection sorts after all days.
            between=(DAY, first_day, AFTER_ALL) if first_day else None,
            attributes=[DAY, *names] if names else (),
            consistent=True,
        )
        days: dict[str, Counter[str]] = {}
        statistics: dict[str, Counter[Slot]] = {}
        for row in self._dynamodb.query(query):
            if row[DAY] == {"S": DELETED_CONNECTION}:
                raise not_found("connection")
            counts = days.setdefault(day_of_row(row), Counter())
            counts.update({name: int(row[name]["N"]) for name in COUNT_ATTRIBUTES if name in row})
            if not sort:
                statistics.setdefault(day_of_row(row), Counter()).update(statistics_of(row))
        return [
            DayCounts(day, _pairs(counts, INSERTED), _pairs(counts, UPDATED), statistics.get(day, {}))
            for day, counts in days.items()
        ]

    def recount(self, connection_id: str) -> Mapping[CountKey, int]:
        """Return the counts, computed from the entries of the listing indexes."""
        counts: Counter[CountKey] = Counter()
        for sort, (index, time) in LISTING_INDEXES.items():
            for pair in LISTED_PAIRS:
                query = key_query(
                    self._dynamodb.tables.queued_requests,
                    partition_key(connection_id, pair),
                    index=index,
                    attributes=(time,),
                )
                for entry in self._dynamodb.query(query):
                    counts[CountKey(connection_id, day_of(entry[time]["S"]), sort, *pair)] += 1
        return counts

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts with one transaction for each day of a connection. Each adds once, whatever is repeated."""
        for connection_id, day in sorted({(key.connection_id, key.day) for key in changes}):
            of_day = {
                key: change for key, change in changes.items() if (key.connection_id, key.day) == (connection_id, day)
            }
            commit_id = new_commit_id()
            addition = count_addition(self._dynamodb.tables.counts, of_day, commit_id)
            self._transactions.write(Transaction(commit_id, [addition]))


def _pairs(counts: Mapping[str, int], sort: str) -> dict[Pair, int]:
    """Return the counts of a sort that are not zero."""
    code = _SORT_CODES[sort]
    return {pair: counts[code + name] for name, pair in _PAIRS.items() if counts.get(code + name)}
