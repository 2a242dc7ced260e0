"""The totals of the months of a connection, in the table `Counts` under a key that no list reads.

They are the statistics of past days, without hours. A day is moved in one transaction of its rows and the row of the
month. It requires that the rows still have their statistics, so a day is moved once, whatever is repeated. The row of
the month names the days that it has, so a reader counts each day once, also if it is moved meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import key_query, unless_overtaken
from adapters.dynamodb.counts import CHANGED, DAY, PACK, day_key, has_statistics, is_empty, row_key
from adapters.dynamodb.statistics import STATISTIC_ATTRIBUTES, statistics_of
from domain.storage.statistics import SLOTS, MonthTotals, Series, Slot, month_of, totals_of
from domain.timestamps import AFTER_ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item

MOVED_DAYS = "days"
"""The days of the month that were moved to it: `14`."""

_LETTERS = {
    Series.QUEUED: "q",
    Series.RESPONSE_RECEIVED: "r",
    Series.ERROR: "e",
    Series.WRITE: "n",
    Series.WAITING_TIME: "w",
    Series.EXECUTING_TIME: "x",
}
_SLOTS = totals_of({Slot(series, position): 0 for series, number in SLOTS.items() for position in range(number)})
_ATTRIBUTES = {slot: f"{_LETTERS[slot.series]}{slot.position:02}" for slot in _SLOTS}


def months_of(connection_id: str) -> str:
    """Return the key of the partition with the months of a connection."""
    return f"months#{connection_id}"


class Months:
    """Moves statistics to the totals of their month, and reads these."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def month_totals(self, connection_id: str, first_month: str) -> Sequence[MonthTotals]:
        """Return the totals of a connection with one query, about 400 bytes a month."""
        query = key_query(
            self._dynamodb.tables.counts,
            {keys.CONNECTION_ID: months_of(connection_id)},
            between=(DAY, first_month, AFTER_ALL),
            consistent=True,
        )
        return [_totals(row) for row in self._dynamodb.query(query)]

    def move_statistics(self, connection_id: str, day: str) -> None:
        """Move the statistics of a day, whose rows no longer change: a commit adds to those of its own day.

        If all counts are zero, the packer looks at the day again and deletes its rows. After a restore, the month may
        have the day although its rows still have statistics. These are then removed without being added again.
        """
        query = key_query(
            self._dynamodb.tables.counts,
            {keys.CONNECTION_ID: connection_id},
            between=(DAY, day, day + AFTER_ALL),
            consistent=True,
        )
        rows = list(self._dynamodb.query(query))
        moved = list(filter(has_statistics, rows))
        if not moved:
            return
        mark = is_empty(rows)
        entries = [self._removal(row, mark=mark) for row in moved]
        known = {one.month: one.days for one in self.month_totals(connection_id, month_of(day))}
        if day not in known.get(month_of(day), ()):
            entries.append(self._addition(connection_id, day, moved))
        with unless_overtaken():
            self._dynamodb.client.transact_write_items(TransactItems=entries)

    def _removal(self, row: Item, *, mark: bool) -> dict[str, Any]:
        """Return the entry that removes the statistics of a row, which must be as they were read."""
        names = [name for name in STATISTIC_ATTRIBUTES if name in row]
        values = {f":s{name}": row[name] for name in names} | ({":pack": {"S": CHANGED}} if mark else {})
        return {
            "Update": {
                "TableName": self._dynamodb.tables.counts,
                "Key": row_key(row),
                "UpdateExpression": "REMOVE "
                + ", ".join(f"#s{name}" for name in names)
                + (f" SET {PACK} = :pack" if mark else ""),
                # The connection may be removed meanwhile.
                "ConditionExpression": " AND ".join(f"#s{name} = :s{name}" for name in names),
                "ExpressionAttributeNames": {f"#s{name}": name for name in names},
                "ExpressionAttributeValues": values,
            }
        }

    def _addition(self, connection_id: str, day: str, rows: Sequence[Item]) -> dict[str, Any]:
        """Return the entry that adds the statistics of rows to their month."""
        numbers: dict[str, int] = {}
        for row in rows:
            for slot, number in totals_of(statistics_of(row)).items():
                numbers[_ATTRIBUTES[slot]] = numbers.get(_ATTRIBUTES[slot], 0) + number
        names = [*numbers, MOVED_DAYS]
        return {
            "Update": {
                "TableName": self._dynamodb.tables.counts,
                "Key": day_key(months_of(connection_id), month_of(day)),
                "UpdateExpression": "ADD " + ", ".join(f"#{name} :{name}" for name in names),
                "ExpressionAttributeNames": {f"#{name}": name for name in names},
                "ExpressionAttributeValues": {f":{name}": {"N": str(number)} for name, number in numbers.items()}
                | {f":{MOVED_DAYS}": {"SS": [day[-2:]]}},
            }
        }


def _totals(row: Item) -> MonthTotals:
    month = row[DAY]["S"]
    return MonthTotals(
        month,
        {slot: int(row[name]["N"]) for slot, name in _ATTRIBUTES.items() if name in row},
        frozenset(f"{month}-{day}" for day in row[MOVED_DAYS]["SS"]),
    )
