"""moto's DynamoDB, made fast (docs/decisions/0003-embedded-database.md).

Plain moto copies every table that a transaction touches and reads the whole table for every query. Here a transaction
keeps only the items that it touches, and each index keeps its keys sorted. moto still parses requests, evaluates
conditions, and applies updates, projections and errors.

Where moto differs from DynamoDB in an area of this module, the module follows DynamoDB: it refuses a key attribute of
another type than declared, it measures a page of an index by the projected attributes, and a query that stops at its
limit returns LastEvaluatedKey even if nothing follows. Calls run one at a time, so they are atomic under threads.
"""

from __future__ import annotations

import base64
import copy
import json
import threading
from bisect import bisect_left, bisect_right, insort
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from moto.core.common_models import BaseModel
from moto.dynamodb import models
from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import RESULT_SIZE_LIMIT, StreamShard, Table
from moto.dynamodb.responses import DynamoHandler, DynamoResult
from moto.dynamodbstreams.models import DynamoDBStreamsBackend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from moto.core.responses import ActionContext

STREAM_RECORDS_KEPT = 20_000
"""DynamoDB keeps stream records for a day; here the newest ones, so that memory has a bound."""

STREAM_ITERATORS_KEPT = 1_000
"""moto keeps every iterator it ever gave out; a pump asks for one several times a second."""

REMOVED_BY_TIME_TO_LIVE = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
"""Who did it, in the stream's record of a removal by time to live (DynamoDB Developer Guide)."""

_one_at_a_time = threading.RLock()


@contextmanager
def quick_moto() -> Iterator[None]:
    """Make moto's DynamoDB fast while the block runs, for mocks and tables that are created inside it."""
    replaced: list[tuple[Any, str, Any]] = []
    for owner, name, quick in (
        (models, "Table", QuickTable),
        (BaseModel, "__new__", _new_and_not_tracked),
        (DynamoDBBackend, "update_item", _update_item),
        (DynamoDBBackend, "transact_write_items", _transact_write_items),
        (DynamoHandler, "call_action", _call_action),
        (DynamoResult, "execute_result", _execute_result),
        (DynamoDBStreamsBackend, "get_records", _get_records),
    ):
        replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, quick)
    try:
        yield
    finally:
        for owner, name, plain in replaced:
            setattr(owner, name, plain)


def remove_expired(now: float) -> None:
    """Remove items that expired before `now` (Unix seconds) from tables with time to live."""
    with _one_at_a_time:
        for regions in models.dynamodb_backends.values():
            for backend in regions.values():
                for table in backend.tables.values():
                    if isinstance(table, QuickTable):
                        table.remove_expired(now)


class SortedIndex:
    """The items of a table or a secondary index: sorted keys by partition.

    A position is the range key values of an item, followed by its table key, which makes it unique.
    """

    def __init__(self, table: QuickTable, schema: list[dict[str, str]], projection: Mapping[str, Any] | None) -> None:
        self.schema = schema
        self.hash_names = [key["AttributeName"] for key in schema if key["KeyType"] == "HASH"]
        range_names = [key["AttributeName"] for key in schema if key["KeyType"] == "RANGE"]
        self.place_names = [*range_names, *(name for name in table.table_key_attrs if name not in range_names)]
        self.types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in table.attr}
        self.projected: list[str] | None = None
        if projection and projection.get("ProjectionType") in {"KEYS_ONLY", "INCLUDE"}:
            keys = [*table.table_key_attrs, *self.hash_names, *range_names]
            self.projected = list(dict.fromkeys([*keys, *projection.get("NonKeyAttributes", [])]))
        self._partitions: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        self._items: dict[tuple[tuple[Any, ...], tuple[Any, ...]], Item] = {}
        self._seen: dict[tuple[tuple[Any, ...], tuple[Any, ...]], tuple[Item, int]] = {}
        self._where: dict[tuple[Any, ...], tuple[tuple[Any, ...], tuple[Any, ...]]] = {}
        for item in table.all_items():
            self.settle(table.key_of(item), item)

    def settle(self, key: tuple[Any, ...], item: Item | None) -> None:
        """Update the index entry of `key` to `item`, or remove it."""
        old = self._where.get(key)
        new = self._where_to(item)
        if old is not None:
            self._seen.pop(old, None)  # items are also changed in place
        if old is not None and old != new:
            partition, place = old
            places = self._partitions[partition]
            del places[bisect_left(places, place)]
            del self._items[old]
            del self._where[key]
        if new is not None and item is not None:
            if old != new:
                insort(self._partitions.setdefault(new[0], []), new[1])
                self._where[key] = new
            self._items[new] = item

    def select(
        self,
        partition: tuple[Any, ...],
        conditions: list[tuple[str, str, list[DynamoType]]],
        start: Mapping[str, Any] | None,
        *,
        descending: bool,
    ) -> Iterator[tuple[Item, int]]:
        """Yield the indexed items of a partition with their size in bytes.

        The items meet the range key conditions and follow the exclusive start key.

        `conditions` come from moto's parser, in schema order: equalities, and a last one of any kind.
        """
        places = self._partitions.get(partition, [])
        low, high = self._bounds(places, conditions)
        if start is not None:
            if any(name not in start for name in self.place_names):
                raise MockValidationException("The provided starting key is invalid")
            place = tuple(DynamoType(start[name]).cast_value for name in self.place_names)
            if descending:
                high = min(high, bisect_left(places, place))
            else:
                low = max(low, bisect_right(places, place))
        positions = range(low, high)
        for position in reversed(positions) if descending else positions:
            where = (partition, places[position])
            if where not in self._seen:
                result = self._project(self._items[where])
                self._seen[where] = (result, result.size())
            yield self._seen[where]

    def values_of(self, conditions: list[tuple[str, DynamoType]]) -> tuple[Any, ...]:
        """Return the partition of these equalities."""
        given = dict(conditions)
        return tuple(self._value(name, given[name]) for name in self.hash_names)

    def _project(self, item: Item) -> Item:
        # Values are shared with the item and must not be changed.
        if self.projected is None:
            return item
        seen: Item = object.__new__(Item)
        seen.hash_key, seen.range_key = item.hash_key, item.range_key
        # The item passed the size check when it was written (as in moto's own Item.__deepcopy__).
        seen.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
        dict.update(seen.attrs, {name: item.attrs[name] for name in self.projected if name in item.attrs})
        return seen

    def _bounds(
        self, places: list[tuple[Any, ...]], conditions: list[tuple[str, str, list[DynamoType]]]
    ) -> tuple[int, int]:
        same = tuple(self._value(name, values[0]) for name, _, values in conditions[:-1])
        if not conditions:
            return 0, len(places)
        name, comparison, values = conditions[-1]
        first, last = ((*same, self._value(name, value)) for value in (values[0], values[-1]))
        match comparison:
            case "=" | "BETWEEN":
                bounds = _before(places, first), _through(places, last)
            case "<":
                bounds = _before(places, same), _before(places, first)
            case "<=":
                bounds = _before(places, same), _through(places, first)
            case ">":
                bounds = _through(places, first), _through(places, same)
            case ">=":
                bounds = _before(places, first), _through(places, same)
            case "BEGINS_WITH":
                depth, length = len(same), len(first[-1])
                end = bisect_right(places, first, key=lambda place: (*place[:depth], place[depth][:length]))
                bounds = _before(places, first), end
            case _:
                raise MockValidationException("Query key condition not supported")
        return bounds

    def _value(self, name: str, value: DynamoType) -> Any:
        if value.type != self.types[name]:
            raise MockValidationException(
                "One or more parameter values were invalid: Condition parameter type does not match schema type"
            )
        return value.cast_value

    def _where_to(self, item: Item | None) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
        # An item without a key attribute is not in the index: the index is sparse.
        if item is None or any(key["AttributeName"] not in item.attrs for key in self.schema):
            return None
        partition = tuple(item.attrs[name].cast_value for name in self.hash_names)
        return partition, tuple(item.attrs[name].cast_value for name in self.place_names)


class QuickTable(Table):
    """A table with sorted keys for queries and an undo log for transactions."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._sorted: dict[str | None, SortedIndex] = {}
        self._before: dict[tuple[Any, ...], tuple[DynamoType, DynamoType | None, Item | None]] | None = None
        self._stream_before = 0
        super().__init__(*arguments, **named)

    def __deepcopy__(self, memo: dict[int, Any]) -> QuickTable:
        """Return a copy. During a transaction (`begin`), moto's backup copy is not needed."""
        if self._before is not None:
            return self
        twin: QuickTable = object.__new__(self.__class__)
        memo[id(self)] = twin
        twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return twin

    def set_stream_specification(self, streams: dict[str, Any] | None) -> None:
        """Enable or disable the stream."""
        super().set_stream_specification(streams)
        if self.stream_shard is not None:
            self.stream_shard = _QuickShard(self.account_id, self)

    def key_of(self, item: Item) -> tuple[Any, ...]:
        """Return the table key of an item in comparable form."""
        return _key(item.hash_key, item.range_key)

    # --- Changes -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start a transaction: keep the old version of every changed item."""
        self._before = {}
        self._stream_before = len(self.stream_shard.items) if self.stream_shard else 0

    def keep(self) -> None:
        """Commit the changes since `begin`."""
        self._before = None

    def take_back(self) -> None:
        """Undo the changes since `begin` and their stream records."""
        before, self._before = self._before or {}, None
        for hash_key, range_key, item in before.values():
            if item is not None and range_key is not None:
                self.items[hash_key][range_key] = item
            elif item is not None:
                self.items[hash_key] = item  # type: ignore[assignment] # moto's own shape of a table without range key
            elif range_key is not None:
                self.items[hash_key].pop(range_key, None)
            else:
                self.items.pop(hash_key, None)
            self._settle(hash_key, range_key)
        if self.stream_shard is not None:
            del self.stream_shard.items[self._stream_before :]

    @contextmanager
    def changing(self, hash_key: DynamoType, range_key: DynamoType | None) -> Iterator[None]:
        """Keep the old item, and update the indexes after the block."""
        key = _key(hash_key, range_key)
        if self._before is not None and key not in self._before:
            # A copy, because moto updates items in place.
            self._before[key] = (hash_key, range_key, copy.deepcopy(self.get_item(hash_key, range_key)))
        try:
            yield
        finally:
            self._settle(hash_key, range_key)

    def put_item(self, item_attrs: dict[str, Any], *arguments: Any, **named: Any) -> Item:
        """Put an item, as moto does."""
        if any(name not in item_attrs for name in self.table_key_attrs):
            return super().put_item(item_attrs, *arguments, **named)  # it raises
        self._refuse_mistyped_keys({name: DynamoType(value) for name, value in item_attrs.items()})
        hash_key, range_key = self.key_in(item_attrs)
        with self.changing(hash_key, range_key):
            return super().put_item(item_attrs, *arguments, **named)

    def delete_item(self, hash_key: DynamoType, range_key: DynamoType | None) -> Item | None:
        """Delete an item, as moto does."""
        with self.changing(hash_key, range_key):
            return super().delete_item(hash_key, range_key)

    def remove_expired(self, now: float) -> None:
        """Remove items that expired before `now`; the stream records name the time-to-live service."""
        if self.ttl["TimeToLiveStatus"] != "ENABLED":
            return
        name = self.ttl["AttributeName"]
        # moto's own shape: by range key where there is one.
        found: list[Any] = [*self.items.values()]
        items: list[Item] = [item for parts in found for item in parts.values()] if self.range_key_attr else found
        for item in items:
            if name in item.attrs and item.attrs[name].type == "N" and item.attrs[name].cast_value < now:
                self.delete_item(item.hash_key, item.range_key)
                if self.stream_shard is not None:
                    self.stream_shard.items[-1].record["userIdentity"] = REMOVED_BY_TIME_TO_LIVE

    def key_in(self, attributes: Mapping[str, Any]) -> tuple[DynamoType, DynamoType | None]:
        """Return the key in `attributes` (an item or a Key, in wire form)."""
        range_key = DynamoType(attributes[self.range_key_attr]) if self.range_key_attr else None
        return DynamoType(attributes[self.hash_key_attr]), range_key

    def _settle(self, hash_key: DynamoType, range_key: DynamoType | None) -> None:
        item = self.get_item(hash_key, range_key)
        for index in self._sorted.values():
            index.settle(_key(hash_key, range_key), item)

    def _refuse_mistyped_keys(self, attributes: Mapping[str, DynamoType]) -> None:
        types = {attribute["AttributeName"]: attribute["AttributeType"] for attribute in self.attr}
        for index in self.all_indexes():
            for name in index.schema_key_attrs:
                if name in attributes and attributes[name].type != types[name]:
                    raise MockValidationException(
                        f"One or more parameter values were invalid: Type mismatch for Index Key {name} "
                        f"Expected: {types[name]} Actual: {attributes[name].type} IndexName: {index.name}"
                    )

    # --- Queries -----------------------------------------------------------------------------------------------

    def query(  # noqa: PLR0917 - the signature is moto's
        self,
        hash_key: DynamoType | None,
        range_comparison: str | None,
        range_objs: list[DynamoType],
        limit: int,
        exclusive_start_key: dict[str, Any],
        scan_index_forward: bool,
        projection_expressions: list[list[str]] | None,
        index_name: str | None = None,
        consistent_read: bool = False,
        filter_expression: Any = None,
        hash_key_conditions: list[tuple[str, DynamoType]] | None = None,
        range_key_conditions: list[tuple[str, str, list[DynamoType]]] | None = None,
        **filter_kwargs: Any,
    ) -> tuple[list[Item], int, dict[str, Any] | None]:
        """Answer a query from the sorted keys. moto answers the forms that the service does not use."""
        if filter_kwargs or not hash_key_conditions or (index_name and consistent_read):
            return super().query(
                hash_key,
                range_comparison,
                range_objs,
                limit,
                exclusive_start_key,
                scan_index_forward,
                projection_expressions,
                index_name,
                consistent_read,
                filter_expression,
                hash_key_conditions,
                range_key_conditions,
                **filter_kwargs,
            )
        index = self._sorted_index(index_name)
        results: list[Item] = []
        size = 0
        last_evaluated_key = None
        for result, bytes_of_it in index.select(
            index.values_of(hash_key_conditions),
            range_key_conditions or [],
            exclusive_start_key,
            descending=not scan_index_forward,
        ):
            size += bytes_of_it
            results.append(result)
            # DynamoDB stops at a limit without checking whether anything follows.
            if len(results) == limit or size > RESULT_SIZE_LIMIT:
                last_evaluated_key = self._get_last_evaluated_key(result, index_name)
                break
        scanned_count = len(results)
        if filter_expression is not None:
            results = [result for result in results if filter_expression.expr(result)]
        if projection_expressions:
            results = [result.project(projection_expressions) for result in results]
        return results, scanned_count, last_evaluated_key

    def _sorted_index(self, name: str | None) -> SortedIndex:
        declared = None if name is None else self.get_index(name, error_if_not=True)
        schema = self.schema if declared is None else declared.schema
        index = self._sorted.get(name)
        # UpdateTable may have replaced the index by another one of the same name.
        if index is None or index.schema is not schema:
            index = SortedIndex(self, schema, None if declared is None else declared.projection)
            self._sorted[name] = index
        return index


class _QuickShard(StreamShard):
    """A stream that drops its oldest records."""

    def add(self, old: Item | None, new: Item | None) -> None:
        super().add(old, new)
        surplus = len(self.items) - STREAM_RECORDS_KEPT
        # In large steps, because deleting from the front of a list is slow; never records that a transaction may undo.
        if surplus > STREAM_RECORDS_KEPT // 10:
            del self.items[:surplus]
            self.starting_sequence_number += surplus

    def get(self, start: int, quantity: int) -> list[dict[str, Any]]:
        return super().get(max(start, self.starting_sequence_number), quantity)


def _new_and_not_tracked(cls: type[BaseModel], *_: Any, **__: Any) -> BaseModel:
    """Create an instance outside moto's list of all instances, which would keep every version of every item."""
    return object.__new__(cls)


def _before(places: list[tuple[Any, ...]], start: tuple[Any, ...]) -> int:
    """Return the index of the first position that begins with `start` or follows it."""
    return bisect_left(places, start, key=lambda place: place[: len(start)])


def _through(places: list[tuple[Any, ...]], start: tuple[Any, ...]) -> int:
    """Return the index of the first position after those that begin with `start`."""
    return bisect_right(places, start, key=lambda place: place[: len(start)])


def _key(hash_key: DynamoType, range_key: DynamoType | None) -> tuple[Any, ...]:
    return (hash_key.cast_value,) if range_key is None else (hash_key.cast_value, range_key.cast_value)


_plain_call_action = DynamoHandler.call_action
_plain_execute_result = DynamoResult.execute_result
_plain_update_item = DynamoDBBackend.update_item
_plain_transact_write_items = DynamoDBBackend.transact_write_items
_plain_get_records = DynamoDBStreamsBackend.get_records


def _call_action(self: DynamoHandler) -> Any:
    with _one_at_a_time:
        return _plain_call_action(self)


def _execute_result(self: DynamoResult, context: ActionContext) -> Any:
    # The results of these operations are in wire form already; moto would look up each value in botocore's model.
    if context.operation_model.name not in {"GetItem", "BatchGetItem", "TransactGetItems", "Query"}:
        return _plain_execute_result(self, context)
    body = json.dumps(self.result, default=lambda value: base64.b64encode(value).decode("ascii"))
    return 200, {"Content-Type": "application/x-amz-json-1.0"}, body


def _update_item(self: DynamoDBBackend, table_name: str, key: dict[str, Any], *arguments: Any, **named: Any) -> Item:
    table = self.get_table(table_name)
    if not isinstance(table, QuickTable) or any(name not in key for name in table.table_key_attrs):
        return _plain_update_item(self, table_name, key, *arguments, **named)
    with table.changing(*table.key_in(key)):
        return _plain_update_item(self, table_name, key, *arguments, **named)


def _transact_write_items(self: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    names = {next(iter(item.values())).get("TableName") for item in transact_items}
    tables = [table for name in names if isinstance(table := self.tables.get(name), QuickTable)]
    for table in tables:
        table.begin()
    try:
        _plain_transact_write_items(self, transact_items)
    except BaseException:
        for table in tables:
            table.take_back()
        raise
    for table in tables:
        table.keep()


def _get_records(self: DynamoDBStreamsBackend, iterator_arn: str, limit: int) -> dict[str, Any]:
    with _one_at_a_time:
        answer = _plain_get_records(self, iterator_arn, limit)
        while len(self.shard_iterators) > STREAM_ITERATORS_KEPT:
            del self.shard_iterators[next(iter(self.shard_iterators))]
        return answer
