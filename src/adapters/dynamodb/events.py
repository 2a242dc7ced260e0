"""The table of events: the log of each app, in groups with consecutive positions (decision 0080).

A separate item has the position at which the log of an app began. It has its own partition, so no read of a log finds
it.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_if
from domain.records.event import EventGroup
from domain.storage.changes import AppendEvents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adapters.dynamodb.batch_deletes import BatchDeletes
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from domain.storage.changes import BeginLog

POSITION = "position"
EVENTS = "events"
BEGAN_AT = "began_at"
BEGINNINGS = "beginning#"
"""Prefix of the partitions of the items that have the beginning of a log."""

GROUPS_A_PAGE = 1_000
"""How many groups are read at a time to remove events. DynamoDB ends a page at 1 MB."""

EVENT_GROUPS = Codec(EventGroup)


def group_key(app_id: str, position: int) -> Item:
    """Return the key of a group."""
    return {keys.APP_ID: {"S": app_id}, POSITION: {"N": str(position)}}


def beginning_key(app_id: str) -> Item:
    """Return the key of the item that has the beginning of a log."""
    return group_key(BEGINNINGS + app_id, 0)


class Events:
    """Reads logs, and converts appended groups into operations."""

    def __init__(self, dynamodb: DynamoDB, deletes: BatchDeletes) -> None:
        self._dynamodb = dynamodb
        self._deletes = deletes

    def newest_event_groups(self, app_id: str, limit: int) -> Sequence[EventGroup]:
        """Return the newest groups of a log, newest first, with one query."""
        query = self._query(app_id, 0, limit) | {"ScanIndexForward": False}
        return list(map(EVENT_GROUPS.entity, islice(self._dynamodb.query(query), limit)))

    def log_beginning(self, app_id: str) -> int | None:
        """Return the position at which a log began, with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.events, beginning_key(app_id))
        return int(item[BEGAN_AT]["N"]) if item else None

    def event_groups_from(self, app_id: str, position: int, page_size: int) -> Iterator[EventGroup]:
        """Yield the groups of a log from a position on, with a query for each page."""
        yield from map(EVENT_GROUPS.entity, self._dynamodb.query(self._query(app_id, position, page_size)))

    def append(self, change: AppendEvents) -> list[Operation]:
        """Return the operation that stores a group at a free position."""
        item = EVENT_GROUPS.item(change.group)
        return [put_if(self._dynamodb.tables.events, item, f"attribute_not_exists({keys.APP_ID})", change)]

    def begin(self, change: BeginLog) -> list[Operation]:
        """Return the operations that store the first group of a log and its position, if no other log has begun."""
        item = beginning_key(change.group.app_id) | {BEGAN_AT: {"N": str(change.group.position)}}
        condition, values = f"attribute_not_exists({keys.APP_ID})", None
        if change.former is not None:
            condition, values = f"{BEGAN_AT} = :former", {":former": {"N": str(change.former)}}
        beginning = put_if(self._dynamodb.tables.events, item, condition, change, values=values)
        return [beginning, *self.append(AppendEvents(change.group))]

    def let_event_group_expire(self, group: EventGroup) -> None:
        """Store the time at which DynamoDB may remove a group, with one call."""
        self._update(group, keys.EXPIRES_AT)

    def remove_events_of(self, app_id: str, connection_id: str) -> None:
        """Remove the events of a connection from the log of its app, with one call for each group that has any."""
        for group in self.event_groups_from(app_id, 0, GROUPS_A_PAGE):
            if any(event.connection_id == connection_id for event in group.events):
                self._update(group.without(connection_id), EVENTS)

    def remove_log(self, app_id: str) -> None:
        """Delete the log of an app in batches, and where it began. Raises TooManyRequests."""
        names = {"ProjectionExpression": "#app, #position"}
        entries = self._dynamodb.query(self._query(app_id, 0, GROUPS_A_PAGE) | names)
        self._deletes.delete(self._dynamodb.tables.events, chain(entries, [beginning_key(app_id)]))

    def _query(self, app_id: str, position: int, page_size: int) -> dict[str, Any]:
        return {
            "TableName": self._dynamodb.tables.events,
            "KeyConditionExpression": "#app = :app AND #position >= :position",
            "ExpressionAttributeNames": {"#app": keys.APP_ID, "#position": POSITION},
            "ExpressionAttributeValues": {":app": {"S": app_id}, ":position": {"N": str(position)}},
            "ConsistentRead": True,
            "Limit": page_size,
        }

    def _update(self, group: EventGroup, attribute: str) -> None:
        """Store an attribute of a group, unless the group was deleted."""
        try:
            self._dynamodb.client.update_item(
                TableName=self._dynamodb.tables.events,
                Key=group_key(group.app_id, group.position),
                ConditionExpression=f"attribute_exists({keys.APP_ID})",
                UpdateExpression="SET #attribute = :value",
                ExpressionAttributeNames={"#attribute": attribute},
                ExpressionAttributeValues={":value": EVENT_GROUPS.item(group)[attribute]},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
