"""The table of usages: counters of calls and of sessions that begin, leases of waiting calls, last uses of API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.client import key_query, unless_overtaken
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.transactions import LOST_ANSWERS, CallOutcome, outcome_of
from domain.errors import Conflict
from domain.storage.ports import Usage
from domain.timestamps import AFTER_ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.dynamodb.batch_deletes import BatchDeletes
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from domain.storage.changes import CountBeginning
    from domain.storage.ports import Lease

COUNTER = "counter"

SESSIONS = "sessions"
"""Begins the keys of the counters of sessions, which belong to no app."""

WAITING_CALLS = "waiting_calls"
"""The partition of the leases, which belong to no app. Most are of waiting calls."""

HOLDER = "holder"

USED = "used#"
"""Begins the keys of the last uses of an app's API keys. The id of the key follows."""

HOUR = "hour"

USAGES = Codec(Usage)


def usage_key(app_id: str, counter: str) -> Item:
    """Return the key of a counter of an app."""
    return {keys.APP_ID: {"S": app_id}, COUNTER: {"S": counter}}


def lease_key(lease: Lease) -> Item:
    """Return the key of the place of a lease."""
    return usage_key(WAITING_CALLS, str(lease.place))


class Usages:
    """Adds to counters, which are not entities, with plain writes."""

    def __init__(self, dynamodb: DynamoDB, deletes: BatchDeletes) -> None:
        self._dynamodb = dynamodb
        self._deletes = deletes

    def add_usage(self, app_id: str, counter: str, number: int, expires_at: int | None = None) -> Usage:
        """Add to a counter with one call, and return it."""
        expiry = keys.expiry(expires_at)
        item = self._dynamodb.client.update_item(
            TableName=self._dynamodb.tables.usages,
            Key=usage_key(app_id, counter),
            UpdateExpression="ADD #total :number" + (f" SET {keys.EXPIRES_AT} = :{keys.EXPIRES_AT}" if expiry else ""),
            ExpressionAttributeNames={"#total": "total"},
            ExpressionAttributeValues={":number": {"N": str(number)}}
            | {f":{name}": value for name, value in expiry.items()},
            ReturnValues="ALL_NEW",
        )["Attributes"]
        return USAGES.entity(item)

    def count_beginning(self, change: CountBeginning) -> None:
        """Count a session with one call. Raises Conflict if as many as one of the limits have begun.

        The counter has the number of all and, under the id of each app, the number of the app.

        If the database does not answer, the session may not be counted, and begins all the same.
        """
        update = {
            "TableName": self._dynamodb.tables.usages,
            "Key": usage_key(f"{SESSIONS}#{change.shard}", f"begun#{change.period}"),
            "ConditionExpression": (
                "(attribute_not_exists(#total) OR #total < :limit)"
                " AND (attribute_not_exists(#app) OR #app < :limit_of_app)"
            ),
            "UpdateExpression": f"ADD #total :one, #app :one SET {keys.EXPIRES_AT} = :expiry",
            "ExpressionAttributeNames": {"#total": "total", "#app": change.app_id},
            "ExpressionAttributeValues": {
                ":limit": {"N": str(change.limit)},
                ":limit_of_app": {"N": str(change.limit_of_app)},
                ":one": {"N": "1"},
                ":expiry": {"N": str(change.expires_at)},
            },
        }
        try:
            self._dynamodb.client.update_item(**update)
        except (ClientError, *LOST_ANSWERS) as error:
            if outcome_of(error) is CallOutcome.CANCELLED:
                raise Conflict(change, None) from None

    def last_use(self, app_id: str, key_id: str) -> str | None:
        """Return the last use of an API key with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.usages, usage_key(app_id, USED + key_id))
        return item[HOUR]["S"] if item else None

    def last_uses(self, app_id: str) -> Mapping[str, str]:
        """Return the last uses of an app's API keys with one query."""
        between = (COUNTER, USED, USED + AFTER_ALL)
        query = key_query(self._dynamodb.tables.usages, {keys.APP_ID: app_id}, between=between, consistent=True)
        return {item[COUNTER]["S"].removeprefix(USED): item[HOUR]["S"] for item in self._dynamodb.query(query)}

    def set_last_use(self, app_id: str, key_id: str, hour: str, expires_at: int) -> None:
        """Store the last use of an API key with one call."""
        with unless_overtaken():
            self._dynamodb.client.put_item(
                TableName=self._dynamodb.tables.usages,
                Item=usage_key(app_id, USED + key_id) | {HOUR: {"S": hour}} | keys.expiry(expires_at),
                ConditionExpression="attribute_not_exists(#hour) OR #hour < :hour",
                ExpressionAttributeNames={"#hour": HOUR},
                ExpressionAttributeValues={":hour": {"S": hour}},
            )

    def take_lease(self, lease: Lease, now: int) -> bool:
        """Store a lease with one call. DynamoDB also removes it some time after it has expired."""
        return self._succeeds(
            self._dynamodb.client.put_item,
            Item=lease_key(lease) | {HOLDER: {"S": lease.holder}} | keys.expiry(lease.expires_at),
            ConditionExpression="attribute_not_exists(#holder) OR #expiry <= :now OR #holder = :holder",
            ExpressionAttributeNames={"#holder": HOLDER, "#expiry": keys.EXPIRES_AT},
            ExpressionAttributeValues={":holder": {"S": lease.holder}, ":now": {"N": str(now)}},
        )

    def release_lease(self, lease: Lease) -> None:
        """Delete a lease with one call."""
        self._succeeds(
            self._dynamodb.client.delete_item,
            Key=lease_key(lease),
            ConditionExpression="#holder = :holder",
            ExpressionAttributeNames={"#holder": HOLDER},
            ExpressionAttributeValues={":holder": {"S": lease.holder}},
        )

    def _succeeds(self, write: Callable[..., object], **parameters: Any) -> bool:
        """Make a conditional write. Return whether its condition holds."""
        try:
            write(TableName=self._dynamodb.tables.usages, **parameters)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return False
        return True

    def remove_usages(self, app_id: str) -> None:
        """Delete the counters of an app and the uses of its keys in batches. Raises TooManyRequests."""
        table = self._dynamodb.tables.usages
        query = key_query(table, {keys.APP_ID: app_id}, attributes=(keys.APP_ID, COUNTER), consistent=True)
        self._deletes.delete(table, self._dynamodb.query(query))

    def set_usage(self, app_id: str, counter: str, usage: Usage) -> None:
        """Replace a counter with one call."""
        self._dynamodb.client.put_item(
            TableName=self._dynamodb.tables.usages, Item=USAGES.item(usage) | usage_key(app_id, counter)
        )
