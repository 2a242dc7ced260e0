"""Counters of the calls of apps."""

from __future__ import annotations

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database
from domain.storage.ports import Usage

USAGES = Codec(Usage)


class Usages(Database):
    """Adds to counters. A counter is not an entity: no transaction changes it."""

    def add_usage(self, app_id: str, counter: str, number: int, expires_at: int | None = None) -> Usage:
        """Add to a counter with one call, and return it."""
        expiry = keys.expiry(expires_at)
        item = self._client.update_item(
            TableName=self._tables.usages,
            Key=keys.usage_key(app_id, counter),
            UpdateExpression="ADD #total :number" + (f" SET {keys.EXPIRES_AT} = :{keys.EXPIRES_AT}" if expiry else ""),
            ExpressionAttributeNames={"#total": "total"},
            ExpressionAttributeValues={":number": {"N": str(number)}}
            | {f":{name}": value for name, value in expiry.items()},
            ReturnValues="ALL_NEW",
        )["Attributes"]
        return USAGES.entity(item)

    def set_usage(self, app_id: str, counter: str, usage: Usage) -> None:
        """Replace a counter with one call."""
        self._client.put_item(TableName=self._tables.usages, Item=USAGES.item(usage) | keys.usage_key(app_id, counter))
