"""Tables: rows by key, sorted indexes, and the stream of changes."""

from __future__ import annotations

import uuid
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from local.emulated_dynamodb.values import comparable, copy_of, invalid, kind_of, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from local.emulated_dynamodb.expressions import KeyTest, Placeholders
    from local.emulated_dynamodb.values import Item, Value

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/"

MAX_ITEM_BYTES = 400 * 1024

EMPTY_KEYS: tuple[Value, ...] = ({"S": ""}, {"B": b""})

EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string "
    "value. Key: "
)

STREAM_RECORDS_KEPT = 20_000
"""DynamoDB keeps stream records for a day; here the newest ones, so that memory is bounded."""

SHARD_ID = "shardId-00000000000000000000-00000000"

REMOVED_BY_TIME_TO_LIVE = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
"""The identity in the stream record of an item that time to live removed ("TTL and DynamoDB Streams")."""

Key: TypeAlias = tuple[Any, ...]
"""The comparable values of a table key."""


class SortedIndex:
    """The keys of a table or a secondary index, sorted within each partition.

    An entry is the sort key values of an item, followed by its table key, which makes it unique. An item without a key
    attribute is not in the index, because an index is sparse.
    """

    def __init__(self, table_key: Sequence[str], schema: list[dict[str, str]], projection: Mapping[str, Any]) -> None:
        self.hash_names = [key["AttributeName"] for key in schema if key["KeyType"] == "HASH"]
        self.range_names = [key["AttributeName"] for key in schema if key["KeyType"] == "RANGE"]
        self.key_names = list(dict.fromkeys([*self.hash_names, *self.range_names, *table_key]))
        self._sort_names = [*self.range_names, *(name for name in table_key if name not in self.range_names)]
        self._projected: list[str] | None = None
        if projection.get("ProjectionType", "ALL") != "ALL":
            self._projected = list(dict.fromkeys([*self.key_names, *projection.get("NonKeyAttributes", [])]))
        self._partitions: dict[Key, list[tuple[Key, Key]]] = {}

    def replace(self, key: Key, old: Item | None, new: Item | None) -> None:
        """Update the entry of the item with the table key `key`."""
        before, after = self._place(old), self._place(new)
        if before == after:
            return
        if before is not None:
            entries = self._partitions[before[0]]
            del entries[bisect_left(entries, (before[1], key))]
            if not entries:
                del self._partitions[before[0]]
        if after is not None:
            insort(self._partitions.setdefault(after[0], []), (after[1], key))

    def select(
        self, tests: Sequence[KeyTest], placeholders: Placeholders, start: Item | None, *, forward: bool
    ) -> Iterator[Key]:
        """Yield the table keys of the items that meet a key condition and follow the exclusive start key."""
        by_name = {placeholders.attribute(test.name): test for test in tests}
        if any(name not in by_name or by_name[name].comparison != "=" for name in self.hash_names):
            raise invalid(f"Query condition missed key schema element: {', '.join(self.hash_names)}")
        values = placeholders.values
        partition = tuple(comparable(values[by_name.pop(name).operands[0]]) for name in self.hash_names)
        entries = self._partitions.get(partition, [])
        low, high = self._bounds(entries, by_name, values)
        if start is not None:
            if set(start) != set(self.key_names):
                raise invalid("The provided starting key is invalid")
            place = tuple(comparable(start[name]) for name in self._sort_names)
            if forward:
                low = max(low, bisect_right(entries, place, key=lambda entry: entry[0]))
            else:
                high = min(high, bisect_left(entries, place, key=lambda entry: entry[0]))
        positions = range(low, high)
        for position in positions if forward else reversed(positions):
            yield entries[position][1]

    def project(self, item: Item) -> Item:
        """Return the attributes of an item that the index contains."""
        if self._projected is None:
            return item
        return {name: item[name] for name in self._projected if name in item}

    def _place(self, item: Item | None) -> tuple[Key, Key] | None:
        if item is None or not all(name in item for name in (*self.hash_names, *self.range_names)):
            return None
        return (
            tuple(comparable(item[name]) for name in self.hash_names),
            tuple(comparable(item[name]) for name in self._sort_names),
        )

    def _bounds(
        self, entries: list[tuple[Key, Key]], tests: dict[str, KeyTest], values: Mapping[str, Value]
    ) -> tuple[int, int]:
        """Return the range of positions whose sort keys meet the tests: equalities, and a last test of any kind."""
        same: Key = ()
        for name in self.range_names:
            if name not in tests or tests[name].comparison != "=":
                break
            same = (*same, comparable(values[tests.pop(name).operands[0]]))
        low, high = _before(entries, same), _after(entries, same)
        if not tests:
            return low, high
        name = self.range_names[len(same)] if len(same) < len(self.range_names) else ""
        if list(tests) != [name]:
            raise invalid("Query key condition not supported")
        first, last = (
            (*same, comparable(values[operand])) for operand in (tests[name].operands[0], tests[name].operands[-1])
        )
        match tests[name].comparison:
            case "BETWEEN":
                bounds = _before(entries, first), _after(entries, last)
            case "<":
                bounds = low, _before(entries, first)
            case "<=":
                bounds = low, _after(entries, first)
            case ">":
                bounds = _after(entries, first), high
            case ">=":
                bounds = _before(entries, first), high
            case _:
                depth, length = len(same), len(first[-1])
                end = bisect_right(entries, first, key=lambda entry: (*same, entry[0][depth][:length]), lo=low, hi=high)
                bounds = _before(entries, first), end
        return bounds


def _before(entries: list[tuple[Key, Key]], start: Key) -> int:
    """Return the position of the first entry that begins with `start` or follows it."""
    return bisect_left(entries, start, key=lambda entry: entry[0][: len(start)])


def _after(entries: list[tuple[Key, Key]], start: Key) -> int:
    """Return the position of the first entry after those that begin with `start`."""
    return bisect_right(entries, start, key=lambda entry: entry[0][: len(start)])


@dataclass(slots=True)
class Stream:
    """The newest changes of a table. The record at index 0 has the sequence number `first`."""

    arn: str
    view_type: str
    records: list[dict[str, Any]] = field(default_factory=list)
    first: int = 1

    def add(self, keys: Item, old: Item | None, new: Item | None, identity: Mapping[str, str] | None) -> None:
        """Append a record."""
        change: dict[str, Any] = {
            "ApproximateCreationDateTime": datetime.now(UTC),
            "Keys": keys,
            "SequenceNumber": str(self.first + len(self.records)).zfill(21),
            "SizeBytes": sum(size_of(item) for item in (keys, old, new) if item),
            "StreamViewType": self.view_type,
        }
        change |= {name: item for name, item in (("OldImage", old), ("NewImage", new)) if item is not None}
        record = {
            "eventID": uuid.uuid4().hex,
            "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "us-east-1",
            "dynamodb": change,
        }
        self.records.append(record if identity is None else {**record, "userIdentity": dict(identity)})
        surplus = len(self.records) - STREAM_RECORDS_KEPT
        if surplus > STREAM_RECORDS_KEPT // 10:  # in large steps: deleting from the front of a list is slow
            del self.records[:surplus]
            self.first += surplus


class Table:
    """A table. Items are never changed in place, so rows, stream records and transactions may share them."""

    def __init__(self, definition: Mapping[str, Any]) -> None:
        """Create an empty table from the parameters of CreateTable."""
        self.name: str = definition["TableName"]
        self.definition = definition
        self.arn = ARN + self.name
        self.created_at = datetime.now(UTC)
        schema = definition["KeySchema"]
        # The partition key comes first, as in CreateTable.
        self.key_names = [key["AttributeName"] for key in schema]
        self._types = {
            attribute["AttributeName"]: attribute["AttributeType"] for attribute in definition["AttributeDefinitions"]
        }
        self._rows: dict[Key, Item] = {}
        self._indexes: dict[str | None, SortedIndex] = {None: SortedIndex(self.key_names, schema, {})}
        for index_definition in definition.get("GlobalSecondaryIndexes") or []:
            index = SortedIndex(self.key_names, index_definition["KeySchema"], index_definition["Projection"])
            self._indexes[index_definition["IndexName"]] = index
        self._expiry_attribute: str | None = None
        self._expiring: set[Key] = set()
        streaming = definition.get("StreamSpecification") or {}
        self.stream: Stream | None = None
        if streaming.get("StreamEnabled"):
            self.stream = Stream(f"{self.arn}/stream/{self.created_at.isoformat()[:23]}", streaming["StreamViewType"])

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in the order in which their keys were first stored."""
        yield from self._rows.values()

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._rows)

    def index(self, name: str | None) -> SortedIndex:
        """Return a secondary index, or that of the table key."""
        if name not in self._indexes:
            raise invalid(f"The table does not have the specified index: {name}")
        return self._indexes[name]

    def get(self, key: Key) -> Item | None:
        """Return the item with a key."""
        return self._rows.get(key)

    def key(self, attributes: Item) -> Key:
        """Return the key in the `Key` of a request."""
        if set(attributes) != set(self.key_names):
            raise invalid("The provided key element does not match the schema")
        return self.key_in(attributes)

    def key_in(self, item: Item) -> Key:
        """Return the key of an item, checked as DynamoDB does."""
        for name in self.key_names:
            if name not in item:
                raise invalid(f"One or more parameter values were invalid: Missing the key {name} in the item")
            if kind_of(item[name]) != self._types[name]:
                raise invalid(
                    f"One or more parameter values were invalid: Type mismatch for key {name} "
                    f"expected: {self._types[name]} actual: {kind_of(item[name])}"
                )
            if item[name] in EMPTY_KEYS:
                raise invalid(EMPTY_KEY + name)
        return tuple(comparable(item[name]) for name in self.key_names)

    def check_operands(self, placeholders: Placeholders, tests: Sequence[KeyTest]) -> None:
        """Raise a ValidationException when a key condition compares a key with another type, or with an empty value."""
        for test in tests:
            name = placeholders.attribute(test.name)
            values = [placeholders.values[operand] for operand in test.operands]
            if name in self._types and any(kind_of(value) != self._types[name] for value in values):
                raise invalid(
                    "One or more parameter values were invalid: Condition parameter type does not match schema type"
                )
            if any(value in EMPTY_KEYS for value in values):
                raise invalid(EMPTY_KEY + name)

    def check(self, item: Item) -> None:
        """Raise a ValidationException when an item is too large or has index keys that cannot be indexed."""
        if size_of(item) > MAX_ITEM_BYTES:
            raise invalid("Item size has exceeded the maximum allowed size")
        for index_name, index in self._indexes.items():
            for name in (*index.hash_names, *index.range_names):
                if index_name is None or name not in item:
                    continue
                if kind_of(item[name]) != self._types[name]:
                    raise invalid(
                        f"One or more parameter values were invalid: Type mismatch for Index Key {name} "
                        f"Expected: {self._types[name]} Actual: {kind_of(item[name])} IndexName: {index_name}"
                    )
                if item[name] in EMPTY_KEYS:
                    raise invalid(
                        "One or more parameter values are not valid. A value specified for a secondary index key is "
                        "not supported. The AttributeValue for a key attribute cannot contain an empty string value. "
                        f"IndexName: {index_name}, IndexKey: {name}"
                    )

    def replace(self, key: Key, new: Item | None, identity: Mapping[str, str] | None = None) -> None:
        """Store or delete an item, update the indexes and write the stream record. `new` has passed `check`."""
        old = self._rows.get(key)
        if old == new:
            return  # DynamoDB writes no stream record for a write that changes nothing
        if new is None:
            del self._rows[key]
        else:
            self._rows[key] = new
        if new is not None and self._expiry_attribute in new:
            self._expiring.add(key)
        else:
            self._expiring.discard(key)
        for index in self._indexes.values():
            index.replace(key, old, new)
        if self.stream is not None:
            keys = {name: (old or new or {})[name] for name in self.key_names}
            self.stream.add(keys, old, new, identity)

    def expire_by(self, attribute: str | None) -> None:
        """Set the attribute that holds the expiry time of items (Unix seconds); None disables time to live."""
        self._expiry_attribute = attribute
        self._expiring = {key for key, item in self._rows.items() if attribute in item}

    def remove_expired(self, now: float) -> None:
        """Remove items that expired before `now`, as time to live does."""
        for key in list(self._expiring):
            expires_at = self._rows[key][self._expiry_attribute or ""]
            if "N" in expires_at and float(expires_at["N"]) < now:
                self.replace(key, None, REMOVED_BY_TIME_TO_LIVE)

    def describe(self) -> dict[str, Any]:
        """Return the table description of DescribeTable."""
        description = {
            **copy_of(dict(self.definition)),
            "TableArn": self.arn,
            "TableStatus": "ACTIVE",
            "CreationDateTime": self.created_at,
            "ItemCount": len(self._rows),
        }
        if self.stream is not None:
            description["LatestStreamArn"] = self.stream.arn
        return description
