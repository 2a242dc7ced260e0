"""The rows of `counts`: one for each day of a connection, and more when its transactions meet.

DynamoDB cancels a transaction that names an item while another one is changing it. Every change of a
connection's records names the day's row; so the first try adds to that row, and a try after a
conflict to one of `OVERFLOW_ROWS` beside it, chosen by chance. Readers sum (decision 0007).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import items
from domain.ownership import not_found

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adapters.dynamodb.items import Item
    from domain.storage.counts import CountKey, DayCounts

OVERFLOW_ROWS = 4
"""By `benchmarks/count_contention.py`: a connection sustains 100 changes a second instead of 40."""

SEPARATOR = "#"
"""Between the day and an overflow row's number in the sort key: `2026-03-14#2`."""

DELETED = "deleted"
"""In place of the day: the row that says that the connection was deleted. A list reads it with the counts."""

CHANGED = "changed"
QUIET = "quiet"
"""A row's mark, `pack`, until the search texts of its day are packed: what changes a record's text, or
removes it, changes a row of the day it was inserted, which sets the first one (`search_texts.py`)."""

_DAY_LENGTH = len("2026-03-14")


def overflow_row(attempt: int, chance: float) -> int | None:
    """Return which overflow row a try adds to, None for the day's own; `chance` is from 0 up to 1."""
    return int(chance * OVERFLOW_ROWS) if attempt else None


def count_updates(table: str, changes: Mapping[CountKey, int], row: int | None) -> list[dict[str, Any]]:
    """Return a transaction's entries that add `changes` to the days' rows or to their overflow row `row`."""
    days: dict[tuple[str, str], dict[str, int]] = {}
    for key, change in changes.items():
        days.setdefault((key.connection_id, key.day), {})[items.count_attribute(key)] = change
    suffix = "" if row is None else f"{SEPARATOR}{row}"
    return [
        {
            "Update": {
                "TableName": table,
                "Key": {"connection_id": {"S": connection_id}, "day": {"S": day + suffix}},
                "UpdateExpression": "SET pack = :pack ADD " + ", ".join(f"#{name} :{name}" for name in numbers),
                "ExpressionAttributeNames": {f"#{name}": name for name in numbers},
                "ExpressionAttributeValues": {":pack": {"S": CHANGED}}
                | {f":{name}": {"N": str(change)} for name, change in numbers.items()},
            }
        }
        for (connection_id, day), numbers in days.items()
    ]


def deletions_of_empty_day(table: str, rows: Sequence[Item]) -> list[dict[str, Any]]:
    """Return a transaction's entries that delete a day's rows if their sums are zero; none if they are not.

    It holds while none of these rows has changed: whatever is added to a row beside them stays true.
    None are to be deleted while one is marked `CHANGED`: the mark is what the packer finds the day by.
    """
    counted = any(sum(items.number(row, name) for row in rows) for name in items.COUNT_ATTRIBUTES)
    if counted or any(items.text(row, "pack") == CHANGED for row in rows):
        return []
    known = (*items.COUNT_ATTRIBUTES, "pack")
    return [
        {
            "Delete": {
                "TableName": table,
                "Key": {"connection_id": row["connection_id"], "day": row["day"]},
                "ConditionExpression": " AND ".join(
                    f"#{name} = :{name}" if name in row else f"attribute_not_exists(#{name})" for name in known
                ),
                "ExpressionAttributeNames": {f"#{name}": name for name in known},
                "ExpressionAttributeValues": {f":{name}": row[name] for name in known if name in row},
            }
        }
        for row in rows
    ]


def day_counts(rows: Iterable[Item]) -> list[DayCounts]:
    """Return the counts of each day: the sums over its rows, which come in order of their key.

    Raises NotFound when one of them says that the connection was deleted.
    """
    days: dict[str, Counter[str]] = {}
    for row in rows:
        if row["day"]["S"] == DELETED:
            raise not_found("connection")
        numbers = days.setdefault(row["day"]["S"][:_DAY_LENGTH], Counter())
        numbers.update({name: int(value["N"]) for name, value in row.items() if "N" in value})
    return items.day_counts_from_items(items.item_of({"day": day, **numbers}) for day, numbers in days.items())
