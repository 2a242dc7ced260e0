"""The two ways to read more than one item: all pages of a query, and all keys of a batch."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from domain.errors import TooManyRequests
from domain.storage.ports import unlimited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapters.dynamodb.items import Item

BATCH_KEYS = 100
"""DynamoDB: BatchGetItem takes at most 100 keys."""

UNPROCESSED_RETRIES = 8
"""How often keys that DynamoDB left out (over 16 MB, or throttled) are asked for again without progress."""


def query_all(client: Any, in_time: Callable[[], None] = unlimited, **query: Any) -> Iterator[Item]:
    """Yield the items of every page of a query; `in_time` is called before each, to end it by what it raises."""
    while True:
        in_time()
        page = client.query(**query)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def skip_entries(client: Any, number: int, **query: Any) -> Item | None:
    """Return the key after which a query goes on past its first `number` items, None when there are no more.

    They are counted where they lie: that reads as many but sends none of them.
    """
    while True:
        page = client.query(**query, Select="COUNT", Limit=number)
        number -= page["Count"]
        key: Item | None = page.get("LastEvaluatedKey")
        if key is None or number == 0:
            return key
        query["ExclusiveStartKey"] = key


def batch_get(
    client: Any,
    keys: Mapping[str, Sequence[Item]],
    *,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> dict[str, list[Item]]:
    """Return the items that exist, by table, read consistently; as many calls as 100 keys each need."""
    found: dict[str, list[Item]] = {table: [] for table in keys}
    wanted = [(table, key) for table, table_keys in keys.items() for key in table_keys]
    fruitless = 0
    while wanted:
        now, wanted = wanted[:BATCH_KEYS], wanted[BATCH_KEYS:]
        by_table: dict[str, dict[str, Any]] = {}
        for table, key in now:
            by_table.setdefault(table, {"Keys": [], "ConsistentRead": True})["Keys"].append(key)
        answer = client.batch_get_item(RequestItems=by_table)
        for table, items in answer["Responses"].items():
            found[table].extend(items)
        left = [(table, key) for table, rest in answer["UnprocessedKeys"].items() for key in rest["Keys"]]
        if len(left) == len(now):
            fruitless += 1
            if fruitless > UNPROCESSED_RETRIES:
                raise TooManyRequests("The database is busy. Try again in a moment.")
            sleep(chance() * min(1.0, 0.05 * 2.0**fruitless))
        wanted = left + wanted
    return found
