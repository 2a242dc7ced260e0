"""DynamoDB's operations on tables in memory. Each method of `EmulatedDynamoDB` is the operation of that name.

Source of limits, messages and results: the DynamoDB API reference. An operation checks everything before it changes
anything, and a lock runs operations one at a time, so each is atomic.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import threading
import zlib
from typing import TYPE_CHECKING, Any, TypeAlias

from local.emulated_dynamodb.expressions import Placeholders, condition, project, projection, update
from local.emulated_dynamodb.partiql import UpdateStatement
from local.emulated_dynamodb.tables import SHARD_ID, Table
from local.emulated_dynamodb.values import DynamoDBError, copy_of, invalid, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from local.emulated_dynamodb.expressions import Condition, Projection
    from local.emulated_dynamodb.tables import Key, Stream
    from local.emulated_dynamodb.values import Item

Request: TypeAlias = "Mapping[str, Any]"
Response: TypeAlias = dict[str, Any]

MAX_PAGE_BYTES = 1024 * 1024
READ_BLOCK_BYTES = 4096
MAX_BATCH_BYTES = 16 * 1024 * 1024
MAX_BATCH_KEYS = 100
MAX_BATCH_WRITES = 25
"""The writes or the statements of a batch."""
MAX_TRANSACTION_ITEMS = 100
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
MAX_TOKENS = 10_000
"""DynamoDB keeps the token of a transaction for ten minutes. The emulation keeps the latest ones."""


class EmulatedDynamoDB:
    """The tables of one account and region."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._tokens: dict[str, bytes] = {}
        self._lock = threading.RLock()
        self._operations: dict[str, Callable[[Request], Response]] = {
            "BatchExecuteStatement": self.batch_execute_statement,
            "BatchGetItem": self.batch_get_item,
            "BatchWriteItem": self.batch_write_item,
            "CreateTable": self.create_table,
            "DeleteItem": self.delete_item,
            "DeleteTable": self.delete_table,
            "DescribeStream": self.describe_stream,
            "DescribeTable": self.describe_table,
            "GetItem": self.get_item,
            "GetRecords": self.get_records,
            "GetShardIterator": self.get_shard_iterator,
            "ListTables": self.list_tables,
            "PutItem": self.put_item,
            "Query": self.query,
            "Scan": self.scan,
            "TransactWriteItems": self.transact_write_items,
            "UpdateItem": self.update_item,
            "UpdateTimeToLive": self.update_time_to_live,
        }

    def call(self, operation: str, request: Request) -> Response:
        """Carry out an operation and return its response, which the caller may change. Raises DynamoDBError."""
        if operation not in self._operations:
            raise DynamoDBError("UnknownOperationException", f"The emulation of DynamoDB does not support {operation}.")
        with self._lock:
            response: Response = copy_of(self._operations[operation](request))
            return response

    def remove_expired(self, now: float) -> None:
        """Remove items that expired before `now` (Unix seconds) from tables with time to live."""
        with self._lock:
            for table in self._tables.values():
                table.remove_expired(now)

    # --- Tables

    def create_table(self, request: Request) -> Response:
        """Create a table."""
        if request["TableName"] in self._tables:
            raise DynamoDBError("ResourceInUseException", f"Table already exists: {request['TableName']}")
        table = self._tables[request["TableName"]] = Table(copy_of(dict(request)))
        return {"TableDescription": table.describe()}

    def describe_table(self, request: Request) -> Response:
        """Describe a table."""
        return {"Table": self._table(request).describe()}

    def delete_table(self, request: Request) -> Response:
        """Delete a table with everything in it."""
        return {"TableDescription": self._tables.pop(self._table(request).name).describe()}

    def list_tables(self, _: Request) -> Response:
        """List all tables."""
        return {"TableNames": sorted(self._tables)}

    def update_time_to_live(self, request: Request) -> Response:
        """Set the attribute that holds the expiry time of items."""
        specification = request["TimeToLiveSpecification"]
        attribute = specification["AttributeName"] if specification["Enabled"] else None
        self._table(request).expire_by(attribute)
        return {"TimeToLiveSpecification": specification}

    def _table(self, request: Request) -> Table:
        name = request["TableName"].rpartition("/")[2]  # a name or an ARN
        if name not in self._tables:
            raise DynamoDBError("ResourceNotFoundException", "Requested resource not found")
        return self._tables[name]

    # --- Reads

    def get_item(self, request: Request) -> Response:
        """Return an item."""
        table = self._table(request)
        item = table.get(table.key(request["Key"]))
        items = _projected(request, [item] if item else [])
        return {"Item": items[0]} if items else {}

    def batch_get_item(self, request: Request) -> Response:
        """Return items of several tables, up to 16 MB."""
        requests = request["RequestItems"]
        if sum(len(selection["Keys"]) for selection in requests.values()) > MAX_BATCH_KEYS:
            raise invalid("Too many items requested for the BatchGetItem call")
        responses: dict[str, list[Item]] = {}
        unprocessed: dict[str, Any] = {}
        size = 0
        for name, selection in requests.items():
            table = self._table({"TableName": name})
            keys = [table.key(key) for key in selection["Keys"]]
            if len(set(keys)) < len(keys):
                raise invalid("Provided list of item keys contains duplicates")
            items = []
            for key, attributes in zip(keys, selection["Keys"], strict=True):
                item = table.get(key)
                size += size_of(item) if item else 0
                if size > MAX_BATCH_BYTES:
                    unprocessed.setdefault(name, {**selection, "Keys": []})["Keys"].append(attributes)
                elif item:
                    items.append(item)
            responses[name] = _projected(selection, items)
        return {"Responses": responses, "UnprocessedKeys": unprocessed}

    def query(self, request: Request) -> Response:
        """Return a page of the items of one partition, in key order."""
        table = self._table(request)
        index = table.index(request.get("IndexName"))
        if request.get("IndexName") and request.get("ConsistentRead"):
            raise invalid("Consistent reads are not supported on global secondary indexes")
        placeholders = Placeholders.of(request)
        key_condition = condition(request["KeyConditionExpression"])
        if not key_condition.key_tests:
            raise invalid("Query key condition not supported")
        selection, fields = _filter(request), _projection(request)
        placeholders.check(key_condition, selection, fields)
        table.check_operands(placeholders, key_condition.key_tests)
        keys = index.select(
            key_condition.key_tests,
            placeholders,
            request.get("ExclusiveStartKey"),
            forward=request.get("ScanIndexForward", True),
        )
        items = (index.project(item) for key in keys if (item := table.get(key)) is not None)
        page, last = _page(items, request.get("Limit"))
        response = _response(page, selection, placeholders)
        if request.get("Select") == "COUNT":
            del response["Items"]
        else:
            response["Items"] = project(response["Items"], fields, placeholders)
        if request.get("ReturnConsumedCapacity") == "TOTAL":
            # Charged is what was read of the index, regardless of filter, projection and count.
            blocks = math.ceil(sum(map(size_of, page)) / READ_BLOCK_BYTES)
            units = blocks if request.get("ConsistentRead") else blocks / 2
            response["ConsumedCapacity"] = {"TableName": request["TableName"], "CapacityUnits": units}
        if last is not None:
            # DynamoDB stops at a limit without checking whether anything follows.
            response["LastEvaluatedKey"] = {name: last[name] for name in index.key_names}
        return response

    def scan(self, request: Request) -> Response:
        """Return all items of a table or of a segment of it, for tests and `local/parts.py`. It has no pages."""
        table = self._table(request)
        placeholders = Placeholders.of(request)
        selection, fields = _filter(request), _projection(request)
        placeholders.check(selection, fields)
        segment, segments = request.get("Segment", 0), request.get("TotalSegments", 1)
        items = [item for item in table if _segment_of(item, table, segments) == segment]
        response = _response(items, selection, placeholders)
        response["Items"] = project(response["Items"], fields, placeholders)
        return response

    # --- Writes

    def put_item(self, request: Request) -> Response:
        """Store an item."""
        return self._write("Put", request)

    def update_item(self, request: Request) -> Response:
        """Change attributes of an item; create it if there is none."""
        return self._write("Update", request)

    def delete_item(self, request: Request) -> Response:
        """Delete an item."""
        return self._write("Delete", request)

    def batch_write_item(self, request: Request) -> Response:
        """Store and delete items, without conditions."""
        writes = [
            _Write.of(kind.removesuffix("Request"), self._table({"TableName": name}), entry)
            for name, entries in request["RequestItems"].items()
            for entry_by_kind in entries
            for kind, entry in entry_by_kind.items()
        ]
        if len(writes) > MAX_BATCH_WRITES:
            raise invalid("Too many items requested for the BatchWriteItem call")
        if len({write.target for write in writes}) < len(writes):
            raise invalid("Provided list of item keys contains duplicates")
        for write in writes:
            write.apply()
        return {"UnprocessedItems": {}}

    def batch_execute_statement(self, request: Request) -> Response:
        """Carry out updates of existing items, each on its own condition."""
        statements = [UpdateStatement.of(entry) for entry in request["Statements"]]
        if len(statements) > MAX_BATCH_WRITES:
            raise invalid("BatchWriteItem cannot write more than 25 items")
        updates = [(self._table({"TableName": statement.table}), statement) for statement in statements]
        if len({(table.name, table.key_in(dict(statement.equal))) for table, statement in updates}) < len(updates):
            raise invalid("Provided list of item keys contains duplicates")
        return {"Responses": [_executed(table, statement) for table, statement in updates]}

    def transact_write_items(self, request: Request) -> Response:
        """Carry out all writes if all conditions hold, else none. A repeated token changes nothing."""
        token = request.get("ClientRequestToken")
        digest = hashlib.blake2b(repr(request["TransactItems"]).encode(), digest_size=16).digest() if token else b""
        if token in self._tokens:
            if self._tokens[token] != digest:
                raise DynamoDBError(
                    "IdempotentParameterMismatchException",
                    "The request uses the same client token as a previous, but non-identical request.",
                )
            return {}
        self._transact(request)
        if token:
            self._tokens[token] = digest
            if len(self._tokens) > MAX_TOKENS:
                del self._tokens[next(iter(self._tokens))]
        return {}

    def _transact(self, request: Request) -> None:
        entries = [(kind, entry) for entry_by_kind in request["TransactItems"] for kind, entry in entry_by_kind.items()]
        if len(entries) > MAX_TRANSACTION_ITEMS:
            raise invalid("Member must have length less than or equal to 100")
        writes: list[_Write] = []
        reasons: list[dict[str, Any]] = []
        for kind, entry in entries:
            try:
                writes.append(_Write.of(kind, self._table(entry), entry))
                reasons.append({"Code": "None"})
            except DynamoDBError as error:
                if error.code != "ConditionalCheckFailedException":
                    raise
                reasons.append({"Code": "ConditionalCheckFailed", "Message": str(error), **error.members})
        targets = [(entry["TableName"], _key_of(self._table(entry), entry)) for _, entry in entries]
        if len(set(targets)) < len(targets):
            raise invalid("Transaction request cannot include multiple operations on one item")
        if sum(size_of(write.new) for write in writes if write.new) > MAX_TRANSACTION_BYTES:
            raise invalid("Collection size of items in transaction exceeds the limit of 4 MB")
        if len(writes) < len(entries):
            codes = ", ".join(reason["Code"] for reason in reasons)
            raise DynamoDBError(
                "TransactionCanceledException",
                f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
                CancellationReasons=reasons,
            )
        for write in writes:
            write.apply()

    def _write(self, kind: str, request: Request) -> Response:
        write = _Write.of(kind, self._table(request), request)
        write.apply()
        attributes = {"ALL_OLD": write.old, "ALL_NEW": write.new}.get(request.get("ReturnValues", "NONE"))
        return {} if attributes is None else {"Attributes": copy_of(attributes)}

    # --- Streams

    def describe_stream(self, request: Request) -> Response:
        """Describe a stream. It has one shard, which stays open."""
        stream = self._stream(request["StreamArn"])
        shard = {"ShardId": SHARD_ID, "SequenceNumberRange": {"StartingSequenceNumber": str(stream.first).zfill(21)}}
        return {"StreamDescription": {"StreamArn": stream.arn, "StreamStatus": "ENABLED", "Shards": [shard]}}

    def get_shard_iterator(self, request: Request) -> Response:
        """Return an iterator: the stream and the next sequence number, in base64."""
        stream = self._stream(request["StreamArn"])
        match request["ShardIteratorType"]:
            case "TRIM_HORIZON":
                position = stream.first
            case "LATEST":
                position = stream.first + len(stream.records)
            case "AT_SEQUENCE_NUMBER":
                position = int(request["SequenceNumber"])
            case _:
                position = int(request["SequenceNumber"]) + 1
        return {"ShardIterator": _iterator(stream, position)}

    def get_records(self, request: Request) -> Response:
        """Return the records that follow an iterator."""
        arn, position = json.loads(base64.b64decode(request["ShardIterator"]))
        stream = self._stream(arn)
        start = max(0, position - stream.first)  # older records are gone
        records = stream.records[start : start + request.get("Limit", 1000)]
        return {"Records": records, "NextShardIterator": _iterator(stream, stream.first + start + len(records))}

    def _stream(self, arn: str) -> Stream:
        for table in self._tables.values():
            if table.stream is not None and table.stream.arn == arn:
                return table.stream
        raise DynamoDBError("ResourceNotFoundException", f"Requested resource not found: Stream: {arn} not found")


class _Write:
    """A write that has passed its checks: the old and the new item of a key."""

    def __init__(self, table: Table, key: Key, new: Item | None) -> None:
        self._table = table
        self._key = key
        self.old = table.get(key)
        self.new = new

    @classmethod
    def of(cls, kind: str, table: Table, request: Request) -> _Write:
        """Check a Put, Update, Delete or ConditionCheck. Raises DynamoDBError."""
        key = _key_of(table, request)
        old = table.get(key)
        placeholders = Placeholders.of(request)
        required = condition(request["ConditionExpression"]) if "ConditionExpression" in request else None
        change = update(request["UpdateExpression"]) if kind == "Update" else None
        placeholders.check(required, change)
        if required is not None and not required.holds(placeholders, old):
            returns_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and old is not None
            raise DynamoDBError(
                "ConditionalCheckFailedException",
                "The conditional request failed",
                **({"Item": copy_of(old)} if returns_item else {}),
            )
        new = old
        if kind == "Delete":
            new = None
        elif kind == "Put":
            new = copy_of(request["Item"])
        elif change is not None:
            of_key = sorted(set(change.attributes(placeholders)) & set(table.key_names))
            if of_key:
                raise invalid(
                    f"One or more parameter values were invalid: Cannot update attribute {of_key[0]}. "
                    "This attribute is part of the key"
                )
            new = copy_of(change.apply(placeholders, old or copy_of(request["Key"])))
        if new is not None and new is not old:
            table.check(new)
        return cls(table, key, new)

    @property
    def target(self) -> tuple[str, Key]:
        """The table and the key."""
        return self._table.name, self._key

    def apply(self) -> None:
        """Carry out the write."""
        self._table.replace(self._key, self.new)


def _executed(table: Table, statement: UpdateStatement) -> Response:
    """Carry out a statement, and return its response. An error of one statement concerns no other."""
    key = {name: statement.equal[name] for name in table.key_names}
    try:
        _Write.of("Update", table, {**statement.parameters, "Key": key}).apply()
    except DynamoDBError as error:
        code = error.code.removesuffix("Exception").replace("Validation", "ValidationError")
        return {"TableName": table.name, "Error": {"Code": code, "Message": str(error)}}
    return {"TableName": table.name}


def _key_of(table: Table, request: Request) -> Key:
    return table.key(request["Key"]) if "Key" in request else table.key_in(request["Item"])


def _segment_of(item: Item, table: Table, segments: int) -> int:
    """Return the segment of a scan that has an item. Items of a partition are in the same one."""
    return zlib.crc32(repr(item[table.key_names[0]]).encode()) % segments


def _projected(request: Request, items: list[Item]) -> list[Item]:
    placeholders, fields = Placeholders.of(request), _projection(request)
    placeholders.check(fields)
    return project(items, fields, placeholders)


def _projection(request: Request) -> Projection | None:
    return projection(request["ProjectionExpression"]) if "ProjectionExpression" in request else None


def _filter(request: Request) -> Condition | None:
    return condition(request["FilterExpression"]) if "FilterExpression" in request else None


def _page(items: Iterable[Item], limit: int | None) -> tuple[list[Item], Item | None]:
    """Return the items of a page, and its last item if DynamoDB stopped there because of the limit or 1 MB."""
    page: list[Item] = []
    size = 0
    for item in items:
        page.append(item)
        size += size_of(item)
        if len(page) == limit or size > MAX_PAGE_BYTES:
            return page, item
    return page, None


def _response(page: list[Item], selection: Condition | None, placeholders: Placeholders) -> Response:
    items = [item for item in page if selection is None or selection.holds(placeholders, item)]
    return {"Items": items, "Count": len(items), "ScannedCount": len(page)}


def _iterator(stream: Stream, position: int) -> str:
    return base64.b64encode(json.dumps([stream.arn, position]).encode()).decode()
