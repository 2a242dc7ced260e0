"""The units of DynamoDB that calls use, from their parameters, their results and the items before and after them.

The rules are those of "DynamoDB read and write operations" in the Amazon DynamoDB Developer Guide. DynamoDB Local
reports wrong figures for transactions, and the emulation reports only those of queries: their results do not tell them.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from local.emulated_dynamodb.partiql import UpdateStatement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WRITE_BLOCK, READ_BLOCK = 1024, 4096

Item = dict[str, Any]


class Target(NamedTuple):
    """An item that a call writes. `key` is JSON. A transaction writes each item twice, so its `factor` is 2."""

    table: str
    key: str
    factor: int


class Capacity:
    """Computes units for tables with these definitions, by their names."""

    def __init__(self, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self._tables = definitions

    def targets(self, operation: str, parameters: Mapping[str, Any]) -> Iterator[Target]:
        """Yield the items that a call writes."""
        match operation:
            case "TransactWriteItems":
                for entry in parameters["TransactItems"]:
                    ((_, action),) = entry.items()
                    yield self._target(action, 2)
            case "PutItem" | "UpdateItem" | "DeleteItem":
                yield self._target(parameters, 1)
            case "BatchExecuteStatement":
                for entry in parameters["Statements"]:
                    statement = UpdateStatement.of(entry)
                    yield self._target({"TableName": statement.table, "Key": statement.equal}, 1)
            case "BatchWriteItem":
                for table, requests in parameters["RequestItems"].items():
                    for request in requests:
                        ((_, action),) = request.items()
                        yield self._target({"TableName": table, **action}, 1)

    def _target(self, action: Mapping[str, Any], factor: int) -> Target:
        table = action["TableName"]
        names = [part["AttributeName"] for part in self._tables[table]["KeySchema"]]
        attributes = action.get("Key") or action["Item"]
        return Target(table, json.dumps({name: attributes[name] for name in names}, sort_keys=True), factor)

    def write_units(self, target: Target, before: Item | None, after: Item | None) -> float:
        """Return the units of one write: for the larger version of the item, and for each index entry that changed."""
        units = target.factor * max(1, _blocks(before, WRITE_BLOCK), _blocks(after, WRITE_BLOCK))
        for index in self._tables[target.table].get("GlobalSecondaryIndexes", []):
            units += self._index_units(target.table, index, before, after)
        return units

    def _index_units(self, table: str, index: Mapping[str, Any], before: Item | None, after: Item | None) -> int:
        old, new = (self.entry(table, index, item) for item in (before, after))
        if old == new:
            return 0
        keys = [part["AttributeName"] for part in index["KeySchema"]]
        moved = old is not None and new is not None and any(old.get(name) != new.get(name) for name in keys)
        sizes = [max(1, _blocks(entry, WRITE_BLOCK)) for entry in (old, new) if entry is not None]
        return sum(sizes) if moved else max(sizes)

    def entry(self, table: str, index: Mapping[str, Any], item: Item | None) -> Item | None:
        """Return the entry of an item in an index, or None if it lacks a key attribute."""
        keys = [part["AttributeName"] for part in index["KeySchema"]]
        if item is None or any(name not in item for name in keys):
            return None
        projection = index["Projection"]
        if projection["ProjectionType"] == "ALL":
            return item
        names = {*keys, *(part["AttributeName"] for part in self._tables[table]["KeySchema"])}
        names |= set(projection.get("NonKeyAttributes", []))
        return {name: value for name, value in item.items() if name in names}


def read_units(operation: str, parameters: Mapping[str, Any], result: Mapping[str, Any]) -> float:
    """Return the units of a read, or 0 for another call. A query is made with `ReturnConsumedCapacity`."""
    match operation:
        case "GetItem":
            return _item_units(result.get("Item"), consistent=bool(parameters.get("ConsistentRead")))
        case "TransactGetItems":
            return sum(2 * _item_units(entry.get("Item"), consistent=True) for entry in result["Responses"])
        case "BatchGetItem":
            units = 0.0
            for table, request in parameters["RequestItems"].items():
                items = result["Responses"].get(table, [])
                consistent = bool(request.get("ConsistentRead"))
                units += sum(_item_units(item, consistent=consistent) for item in items)
                units += (len(request["Keys"]) - len(items)) * _item_units(None, consistent=consistent)
            return units
        case "Query":
            # A query that finds nothing is charged, which no local database reports.
            found: float = result["ConsumedCapacity"]["CapacityUnits"]
            return max(found, 1.0 if parameters.get("ConsistentRead") else 0.5)
    return 0.0


def _item_units(item: Item | None, *, consistent: bool) -> float:
    return max(1, _blocks(item, READ_BLOCK)) * (1.0 if consistent else 0.5)


def _blocks(item: Item | None, block: int) -> int:
    return 0 if item is None else math.ceil(size(item) / block)


def size(item: Mapping[str, Any]) -> int:
    """Return the size of an item in bytes ("DynamoDB item sizes and formats" in the Developer Guide)."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return len(content.strip("-0.")) // 2 + 2
        case "B":
            return len(bytes(content))
        case "M":
            return 3 + sum(len(name.encode()) + 1 + _value_size(member) for name, member in content.items())
        case "L":
            return 3 + sum(1 + _value_size(member) for member in content)
        case _:
            return 1
