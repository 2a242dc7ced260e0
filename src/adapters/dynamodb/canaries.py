"""Canaries: one item in each table with a stream, and one item that says which consumers have not processed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.subscriptions import page_key
from adapters.dynamodb.usages import usage_key
from domain.storage.ports import Canaries

if TYPE_CHECKING:
    from collections.abc import Collection

    from adapters.dynamodb.client import DynamoDB

STATE_KEY = usage_key("canaries", "consumers")
"""The key of the item in the table of usages. Its attributes are consumers, with the time since when they miss one."""

SENT_AT = "sent_at"

CHANGE_PAGES = "change_pages"
"""The table whose key is not an id."""

CANARY_ID = "canary"
"""Ids of requests and connections are UUIDs, so no call finds the item."""


class CanaryItems:
    """Changes the canaries and the item about their consumers, with plain writes."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def canaries(self) -> Canaries:
        """Return what is known about the canaries, with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.usages, STATE_KEY) or {}
        times = {name: value["S"] for name, value in item.items() if name not in STATE_KEY}
        return Canaries(times.pop(SENT_AT, None), times)

    def send_canaries(self, streams: Collection[str], consumers: Collection[str], now: str) -> None:
        """Change the canary of each table, with one call for each and one for the consumers before."""
        names = {f"#n{number}": name for number, name in enumerate((SENT_AT, *consumers))}
        self._dynamodb.client.update_item(
            TableName=self._dynamodb.tables.usages,
            Key=STATE_KEY,
            UpdateExpression="SET " + ", ".join(f"{name} = :now" for name in names),
            ExpressionAttributeNames=names,
            ExpressionAttributeValues={":now": {"S": now}},
        )
        for stream in streams:
            key = page_key(CANARY_ID, 0) if stream == CHANGE_PAGES else keys.id_key(CANARY_ID)
            item = key | {keys.CANARY: {"S": stream}, SENT_AT: {"S": now}}
            self._dynamodb.client.put_item(TableName=self._dynamodb.tables.name_of(stream), Item=item)

    def note_canary(self, consumer: str) -> None:
        """Remove the time since when a consumer misses a canary, with one call."""
        self._dynamodb.client.update_item(
            TableName=self._dynamodb.tables.usages,
            Key=STATE_KEY,
            UpdateExpression="REMOVE #consumer",
            ExpressionAttributeNames={"#consumer": consumer},
        )
