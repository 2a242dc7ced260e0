"""The tables of subscriptions and of change pages: keys, items, reads and changes.

Everything about the subscriptions of a connection is in one partition, and one query reads it. What the feed has said
of records is at the end of the partition, and is read only for the answer that it is compared with. A change page is in
a table of its own, because it has another lifetime and a stream.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.client import key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.compression import packed_text, unpack
from adapters.dynamodb.operations import Operation, put_entity, put_revision
from domain.records.subscription import BooksCopy, ChangePage, CopyState, ObjectCopy, RememberedPart, Subscription

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from adapters.dynamodb.batch_deletes import BatchDeletes
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put, RemoveCopy

ITEM = "item"
SEQUENCE = "sequence"
CHANGES = "changes"

COPY = "copy"
OBJECT = "object~"
SUBSCRIPTION = "subscription~"
"""The sort keys: of the copy, and the prefixes of those of objects and subscriptions."""

PAGES_A_QUERY = 25
"""How many pages a query returns. Together they are at most some MB."""

REMEMBERED = "~"
"""The prefix of the sort keys of parts of what the feed has said. It is behind all others, so they are read alone."""

ENTRIES = "entries"

CODECS: Mapping[type, Codec[Any]] = {
    BooksCopy: Codec(BooksCopy),
    ObjectCopy: Codec(ObjectCopy),
    Subscription: Codec(Subscription),
}
PAGES = Codec(ChangePage)
PARTS = Codec(RememberedPart)


def item_of(entity: BooksCopy | ObjectCopy | RememberedPart | Subscription) -> str:
    """Return the sort key of an entity."""
    match entity:
        case ObjectCopy(name=name):
            return f"{OBJECT}{name}"
        case RememberedPart(place=place):
            return f"{REMEMBERED}{place}"
        case Subscription(id=id_):
            return f"{SUBSCRIPTION}{id_}"
        case _:
            return COPY


def page_key(connection_id: str, sequence: int) -> Item:
    """Return the key of a page."""
    return {keys.CONNECTION_ID: {"S": connection_id}, SEQUENCE: {"N": str(sequence)}}


def page_entity(item: Item) -> ChangePage:
    """Return the page of an item. An image of a stream has compressed changes in base64."""
    stored = item[CHANGES]["B"]
    packed = base64.b64decode(stored) if isinstance(stored, str) else bytes(stored)
    return PAGES.entity(item | {CHANGES: {"S": unpack(packed)}})


def webhooks_of(item: Item) -> Sequence[str]:
    """Return the ids of the subscriptions whose webhook gets the page of an item. Its changes are not read."""
    return PAGES.entity(item | {CHANGES: {"S": ""}}).webhooks


def part_entity(item: Item) -> RememberedPart:
    """Return the part of an item."""
    return PARTS.entity(item | {ENTRIES: {"S": unpack(bytes(item[ENTRIES]["B"]))}})


class Subscriptions:
    """Reads subscriptions and pages, and converts their changes into operations."""

    def __init__(self, dynamodb: DynamoDB, deletes: BatchDeletes) -> None:
        self._dynamodb = dynamodb
        self._deletes = deletes

    def copy_state(self, connection_id: str, remembered: Iterable[str] = ()) -> CopyState:
        """Return what is stored about the subscriptions of a connection, with a query and one for each `remembered`."""
        partition, others = {keys.CONNECTION_ID: connection_id}, (ITEM, REMEMBERED)
        query = key_query(self._dynamodb.tables.subscriptions, partition, below=others, consistent=True)
        items = list(self._dynamodb.query(query))
        copies = [CODECS[BooksCopy].entity(item) for item in items if item[ITEM]["S"] == COPY]
        return CopyState(
            copies[0] if copies else None,
            tuple(CODECS[ObjectCopy].entity(item) for item in items if item[ITEM]["S"].startswith(OBJECT)),
            tuple(CODECS[Subscription].entity(item) for item in items if item[ITEM]["S"].startswith(SUBSCRIPTION)),
            tuple(self._remembered_parts(connection_id, remembered)),
        )

    def subscription(self, connection_id: str, subscription_id: str) -> Subscription | None:
        """Return a subscription, or None."""
        key = {keys.CONNECTION_ID: {"S": connection_id}, ITEM: {"S": f"{SUBSCRIPTION}{subscription_id}"}}
        item = self._dynamodb.get(self._dynamodb.tables.subscriptions, key)
        return CODECS[Subscription].entity(item) if item else None

    def _remembered_parts(self, connection_id: str, names: Iterable[str]) -> Sequence[RememberedPart]:
        table, partition = self._dynamodb.tables.subscriptions, {keys.CONNECTION_ID: connection_id}
        found: list[RememberedPart] = []
        for name in names:
            parts = (ITEM, f"{REMEMBERED}{name}~", f"{REMEMBERED}{name}~~")
            items = self._dynamodb.query(key_query(table, partition, between=parts, consistent=True))
            found += map(part_entity, items)
        return found

    def change_pages(self, places: Collection[tuple[str, int]]) -> Sequence[ChangePage]:
        """Return the pages at these places (connection, sequence) that exist, in batches."""
        table = self._dynamodb.tables.change_pages
        stored = self._dynamodb.batch_get({table: [page_key(*place) for place in places]})[table]
        return [page_entity(item) for item in stored]

    def change_pages_before(self, connection_id: str, sequence: int | None) -> Iterator[ChangePage]:
        """Yield the pages of a connection with a lower sequence, or all, newest first. Some are read at a time."""
        query = key_query(
            self._dynamodb.tables.change_pages,
            {keys.CONNECTION_ID: connection_id},
            below=None if sequence is None else (SEQUENCE, sequence),
        )
        yield from map(page_entity, self._dynamodb.query({**query, "ScanIndexForward": False, "Limit": PAGES_A_QUERY}))

    def put(self, change: Put[Any]) -> list[Operation]:
        """Return the operation that stores an entity of the table of subscriptions."""
        marks = {ITEM: {"S": item_of(change.after)}}
        codec = CODECS[type(change.after)]
        return [put_entity(self._dynamodb.tables.subscriptions, codec, change, marks, key=keys.CONNECTION_ID)]

    def put_part(self, change: Put[RememberedPart]) -> list[Operation]:
        """Return the operation that stores a part of what the feed has said."""
        text = json.dumps(dict(change.after.entries), separators=(",", ":"))
        marks = {ITEM: {"S": item_of(change.after)}, ENTRIES: packed_text(text)}
        table = self._dynamodb.tables.subscriptions
        revision = change.before.revision if change.before else None
        item = PARTS.item(change.after) | marks
        return [put_revision(table, item, revision, change, part_entity, key=keys.CONNECTION_ID)]

    def remove(self, change: RemoveCopy) -> list[Operation]:
        """Return the operation that removes an entity which is as it was read."""
        key = {keys.CONNECTION_ID: {"S": change.before.connection_id}, ITEM: {"S": item_of(change.before)}}
        entry: dict[str, Any] = {
            "TableName": self._dynamodb.tables.subscriptions,
            "Key": key,
            "ConditionExpression": f"{keys.REVISION} = :before",
            "ExpressionAttributeValues": {":before": {"N": str(change.before.revision)}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        is_part = isinstance(change.before, RememberedPart)
        return [Operation({"Delete": entry}, change, part_entity if is_part else CODECS[type(change.before)].entity)]

    def remove_copy(self, connection_id: str) -> None:
        """Delete everything about the subscriptions of a connection, and its pages. Raises TooManyRequests."""
        tables = self._dynamodb.tables
        for table, sort_key in ((tables.subscriptions, ITEM), (tables.change_pages, SEQUENCE)):
            query = key_query(table, {keys.CONNECTION_ID: connection_id}, attributes=(keys.CONNECTION_ID, sort_key))
            self._deletes.delete(table, self._dynamodb.query(query))

    def put_page(self, change: Put[ChangePage]) -> list[Operation]:
        """Return the operation that stores a page."""
        page = change.after
        marks = {CHANGES: packed_text(page.changes), **keys.expiry(page.expires_at)}
        return [put_entity(self._dynamodb.tables.change_pages, PAGES, change, marks, key=keys.CONNECTION_ID)]
