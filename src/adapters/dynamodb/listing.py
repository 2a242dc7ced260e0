"""Entries of the listing indexes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import Index, key_query
from domain.storage.ports import IndexDays, IndexEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item

LISTING_INDEXES = {
    ("connection", "inserted_at"): Index("by_inserted"),
    ("connection", "updated_at"): Index("by_updated"),
    ("state", "inserted_at"): Index("by_state_inserted"),
    ("state", "updated_at"): Index("by_state_updated"),
    ("webhook_state", "inserted_at"): Index("by_webhook_state_inserted"),
    ("webhook_state", "updated_at"): Index("by_webhook_state_updated"),
}
"""The indexes of records by (`IndexDays.index`, `IndexDays.sort`)."""

AFTER_ALL = "~"
"""Sorts after every timestamp and every id. A day or a timestamp followed by it sorts after every text that begins with
that day or timestamp."""

MAX_SKIP_READ = 1_500
"""To skip more entries than this (150 bytes each), DynamoDB counts them in one extra call. Sending fewer entries is as
fast. At most half of a day's entries are skipped, so 2,740 records a day (a million a year) stay below this number."""


class Listing:
    """Reads the listing indexes."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def index_entries(self, days: IndexDays, *, descending: bool, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return entries with one query. Without a filter, it reads at most `skip + limit` entries."""
        query = self._index_query(days, days.first_day, days.last_day + AFTER_ALL)
        query["ScanIndexForward"] = not descending
        if "FilterExpression" not in query:
            if skip > MAX_SKIP_READ:
                start = self._dynamodb.key_after(skip, query)
                if start is None:
                    return []
                query["ExclusiveStartKey"], skip = start, 0
            query["Limit"] = skip + limit
        return [_entry(item, days.sort) for item in islice(self._dynamodb.query(query), skip, skip + limit)]

    def all_index_entries(
        self, days: IndexDays, split_points: Sequence[str], check_deadline: Callable[[], None] = lambda: None
    ) -> Iterable[IndexEntry]:
        """Return every entry of these days, with one query at a time for each part."""
        parts = list(pairwise([days.first_day, *split_points, days.last_day + AFTER_ALL]))

        def read(part: tuple[str, str]) -> list[IndexEntry]:
            return [
                _entry(item, days.sort) for item in self._dynamodb.query(self._index_query(days, *part), check_deadline)
            ]

        with ThreadPoolExecutor(len(parts)) as readers:
            return list(chain.from_iterable(readers.map(read, parts)))

    def _index_query(self, days: IndexDays, first: str, last: str) -> dict[str, Any]:
        """Return the query for the entries from `first` to `last`."""
        equal = {keys.CONNECTION_ID: days.connection_id}
        filters: dict[str, str] = {}
        for name, value in ((keys.STATE, days.state), (keys.WEBHOOK_STATE, days.webhook_state)):
            if value is not None:
                (equal if days.index == name else filters)[name] = value.value
        query = key_query(
            self._dynamodb.tables.queued_requests,
            equal,
            index=LISTING_INDEXES[days.index, days.sort],
            between=(days.sort, first, last),
        )
        if filters:
            query["FilterExpression"] = " AND ".join(f"#{name} = :{name}" for name in filters)
            query["ExpressionAttributeNames"] |= {f"#{name}": name for name in filters}
            query["ExpressionAttributeValues"] |= {f":{name}": {"S": value} for name, value in filters.items()}
        return query


def _entry(item: Item, sort: str) -> IndexEntry:
    return IndexEntry(item[keys.ID]["S"], item[sort]["S"])
