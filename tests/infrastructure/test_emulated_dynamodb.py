"""The embedded database answers as plain moto does, and takes concurrent callers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from local.emulated_dynamodb import emulated_dynamodb
from tests.support import clients
from tests.support.cases import for_each

METRICS = {"ResponseMetadata", "ConsumedCapacity", "ItemCollectionMetrics"}
"""Metrics that moto reports without a request for them."""

TABLE: dict[str, Any] = {
    "TableName": "things",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "owner", "AttributeType": "S"},
        {"AttributeName": "part", "AttributeType": "S"},
        {"AttributeName": "state", "AttributeType": "S"},
        {"AttributeName": "at", "AttributeType": "S"},
        {"AttributeName": "rank", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "part", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_state",
            "KeySchema": [
                {"AttributeName": "owner", "KeyType": "HASH"},
                {"AttributeName": "state", "KeyType": "HASH"},
                {"AttributeName": "at", "KeyType": "RANGE"},
                {"AttributeName": "part", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]},
        },
        {
            "IndexName": "by_rank",
            "KeySchema": [
                {"AttributeName": "owner", "KeyType": "HASH"},
                {"AttributeName": "rank", "KeyType": "RANGE"},
                {"AttributeName": "at", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}

owners = st.sampled_from(["ann", "bob"])
parts = st.sampled_from(["1", "2", "3", "11"])
moments = st.sampled_from(["01", "02", "021", "03"])
states = st.sampled_from(["new", "done"])
ranks = st.sampled_from(["-1", "2", "10", "10.5"])
keys = st.fixed_dictionaries({"owner": owners.map(lambda v: {"S": v}), "part": parts.map(lambda v: {"S": v})})
optional = {
    "state": states.map(lambda v: {"S": v}),
    "at": moments.map(lambda v: {"S": v}),
    "rank": ranks.map(lambda v: {"N": v}),
    "note": st.just({"S": "hello"}),
    "blob": st.just({"B": b"\x00\xff"}),
    "facts": st.just({"M": {"a": {"L": [{"N": "1"}, {"NULL": True}]}}}),
}
items = st.builds(lambda key, rest: {**key, **rest}, keys, st.fixed_dictionaries({}, optional=optional))


def condition(expression: str) -> dict[str, Any]:
    return {"ConditionExpression": expression} if expression else {}


conditions = st.sampled_from(["", "attribute_exists(part)", "attribute_not_exists(part)"]).map(condition)
updates = st.sampled_from(
    [
        {
            "UpdateExpression": "SET #s = :s, note = :s REMOVE #r",
            "ExpressionAttributeNames": {"#s": "state", "#r": "rank"},
            "ExpressionAttributeValues": {":s": {"S": "done"}},
        },
        {
            "UpdateExpression": "ADD #r :one",
            "ExpressionAttributeNames": {"#r": "rank"},
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        },
        {
            "UpdateExpression": "SET #a = :a",
            "ExpressionAttributeNames": {"#a": "at"},
            "ExpressionAttributeValues": {":a": {"S": "02"}},
        },
    ]
)
puts = st.builds(lambda item, when: {"Item": item, **when}, items, conditions)
deletes = st.builds(lambda key, when: {"Key": key, **when}, keys, conditions)
changes = st.builds(lambda key, update, when: {"Key": key, **update, **when}, keys, updates, conditions)
checks = st.builds(
    lambda key, expression: {"Key": key, "ConditionExpression": expression},
    keys,
    st.sampled_from(["attribute_exists(part)", "attribute_not_exists(part)"]),
)
steps = st.one_of(
    puts.map(lambda p: ("put_item", p)),
    deletes.map(lambda p: ("delete_item", p)),
    changes.map(lambda p: ("update_item", p)),
    st.lists(
        st.one_of(
            puts.map(lambda p: {"Put": p}),
            deletes.map(lambda p: {"Delete": p}),
            changes.map(lambda p: {"Update": p}),
            checks.map(lambda p: {"ConditionCheck": p}),
        ),
        min_size=1,
        max_size=4,
    ).map(lambda writes: ("transact_write_items", {"TransactItems": writes})),
)


def comparisons(name: str, kind: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    one = st.tuples(st.sampled_from(["=", "<", "<=", ">", ">="]), values).map(
        lambda both: (f"#{name} {both[0]} :{name}", {f":{name}": {kind: both[1]}})
    )
    two = st.tuples(values, values).map(
        lambda both: (f"#{name} BETWEEN :low AND :high", {":low": {kind: both[0]}, ":high": {kind: both[1]}})
    )
    begins = values.map(lambda value: (f"begins_with(#{name}, :{name})", {f":{name}": {kind: value}}))
    return st.one_of(one, two, *([begins] if kind == "S" else []))


def query(
    index: str | None, equal: list[tuple[str, dict[str, Any]]], last: tuple[str, dict[str, Any]] | None, **rest: Any
) -> dict[str, Any]:
    expressions = [f"#{name} = :is_{name}" for name, _ in equal]
    values = {f":is_{name}": value for name, value in equal}
    if last:
        expressions.append(last[0])
        values.update(last[1])
    expression = " AND ".join(expressions)
    names = {f"#{name}": name for name in ("owner", "state", "at", "part", "rank") if f"#{name} " in expression}
    names.update({f"#{name}": name for name in ("at", "part") if f"#{name}," in expression})
    return {
        **({"IndexName": index} if index else {}),
        "KeyConditionExpression": expression,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
        **rest,
    }


def text(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return values.map(lambda value: (name, {"S": value}))


pages = {"Limit": st.integers(1, 5), "ScanIndexForward": st.booleans()}
queries = st.one_of(
    st.builds(query, st.none(), st.tuples(text("owner", owners)), st.none() | comparisons("part", "S", parts), **pages),
    st.builds(
        query,
        st.just("by_state"),
        st.tuples(text("owner", owners), text("state", states)),
        st.none() | comparisons("at", "S", moments),
        **pages,
    ),
    st.builds(
        query,
        st.just("by_state"),
        st.tuples(text("owner", owners), text("state", states), text("at", moments)),
        comparisons("part", "S", parts),
        **pages,
    ),
    st.builds(
        query,
        st.just("by_rank"),
        st.tuples(text("owner", owners)),
        st.none() | comparisons("rank", "N", ranks),
        **pages,
    ),
)


@cache
def client(service: str) -> Any:
    # One client for all examples (making one takes longer than an example); moto knows no account-based endpoints.
    return clients.client(
        service,
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(account_id_endpoint_mode="disabled"),
    )


def result_of(database: Any, operation: str, parameters: dict[str, Any]) -> Any:
    if operation == "transact_write_items":
        writes = [
            {kind: {"TableName": "things", **write}}
            for write_by_kind in parameters["TransactItems"]
            for kind, write in write_by_kind.items()
        ]
        parameters = {"TransactItems": writes}
    else:
        parameters = {"TableName": "things", **parameters}
    try:
        result = getattr(database, operation)(**parameters)
    except ClientError as error:
        return error.response["Error"], error.response.get("CancellationReasons")
    return {name: value for name, value in result.items() if name not in METRICS}


def all_items(database: Any, parameters: dict[str, Any]) -> list[Any]:
    # The ends of pages are not compared, because plain moto checks whether anything follows, and DynamoDB does not.
    items = []
    page = result_of(database, "query", parameters)
    while True:
        assert page["Count"] <= parameters["Limit"]
        items.extend(page["Items"])
        if "LastEvaluatedKey" not in page:
            return items
        page = result_of(database, "query", {**parameters, "ExclusiveStartKey": page["LastEvaluatedKey"]})


def stream(database: Any) -> list[Any]:
    arn = database.describe_table(TableName="things")["Table"]["LatestStreamArn"]
    streams = client("dynamodbstreams")
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    records: list[Any] = streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
    changes: list[Any] = []
    for record in records:
        change = record["dynamodb"]
        for changing in ("ApproximateCreationDateTime", "SizeBytes", "SequenceNumber"):
            del change[changing]
        # moto records a write that changes nothing, and inserts an item twice if an update creates it.
        if change.get("OldImage") == change.get("NewImage"):
            continue
        new = {"eventName": record["eventName"], "dynamodb": change}
        if changes and new["eventName"] == "INSERT" == changes[-1]["eventName"]:
            twice = changes[-1]["dynamodb"]["Keys"] == change["Keys"]
            changes[-1:] = [new] if twice else [changes[-1], new]
        else:
            changes.append(new)
    return changes


def run(
    script: list[tuple[str, dict[str, Any]]], list_of_queries: list[dict[str, Any]], *, emulated: bool
) -> list[Any]:
    with ExitStack() as stack:
        stack.enter_context(mock_aws())
        if emulated:
            stack.enter_context(emulated_dynamodb())
        database = client("dynamodb")
        database.create_table(**TABLE)
        for parameters in list_of_queries:
            all_items(database, parameters)  # so that the indexes exist and follow every change
        responses = [result_of(database, *step) for step in script]
        responses.extend(all_items(database, parameters) for parameters in list_of_queries)
        responses.append(
            sorted(database.scan(TableName="things")["Items"], key=lambda item: (item["owner"]["S"], item["part"]["S"]))
        )
        responses.append(stream(database))
        return responses


@settings(max_examples=25, deadline=None)
@given(st.lists(steps, min_size=1, max_size=12), st.lists(queries, min_size=1, max_size=6))
def test_answers_of_any_operations_are_plain_motos(
    script: list[tuple[str, dict[str, Any]]], list_of_queries: list[dict[str, Any]]
) -> None:
    plain = run(script, list_of_queries, emulated=False)

    ours = run(script, list_of_queries, emulated=True)

    assert ours == plain


def test_concurrent_transactions_are_atomic() -> None:
    """Eight threads claim the same ten items. Each is claimed once, and the count is correct."""
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)

        def claim(number: int) -> bool:
            thing = {"owner": {"S": "ann"}, "part": {"S": str(number % 10)}}
            write = {"Item": thing, "ConditionExpression": "attribute_not_exists(part)"}
            total = {"owner": {"S": "total"}, "part": {"S": "0"}}
            count = {"Key": total, "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
            result = result_of(database, "transact_write_items", {"TransactItems": [{"Update": count}, {"Put": write}]})
            return not isinstance(result, tuple)

        with ThreadPoolExecutor(8) as pool:
            claimed = list(pool.map(claim, range(80)))

        key = {"owner": {"S": "total"}, "part": {"S": "0"}}
        assert sum(claimed) == 10
        assert database.get_item(TableName="things", Key=key)["Item"]["n"] == {"N": "10"}
        assert len(stream(database)) == 20


def test_a_query_that_stops_at_its_limit_returns_its_position_even_at_the_end() -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)
        key = {"owner": {"S": "ann"}, "part": {"S": "1"}}
        database.put_item(TableName="things", Item=key)

        page = database.query(**query(None, [("owner", {"S": "ann"})], None, Limit=1), TableName="things")

        assert page["LastEvaluatedKey"] == key


KEY: dict[str, Any] = {"owner": {"S": "ann"}, "part": {"S": "1"}}
OF_ANN = {
    "KeyConditionExpression": "#o = :o",
    "ExpressionAttributeNames": {"#o": "owner"},
    "ExpressionAttributeValues": {":o": {"S": "ann"}},
}


@for_each(
    ("operation", "parameters", "message"),
    [
        (
            "query",
            {**OF_ANN, "ExpressionAttributeValues": {":o": {"N": "1"}}},
            "Condition parameter type does not match schema type",
        ),
        (
            "query",
            query(None, [("owner", {"S": "ann"})], ("#part > :low", {":low": {"S": ""}})),
            "cannot contain an empty string value. Key: part",
        ),
        ("query", {**OF_ANN, "ExclusiveStartKey": {"owner": {"S": "ann"}}}, "The provided starting key is invalid"),
        ("query", {**OF_ANN, "IndexName": "by_state"}, "Query condition missed key schema element"),
        ("query", {**OF_ANN, "IndexName": "missing"}, "does not have the specified index"),
        ("query", {**OF_ANN, "IndexName": "by_rank", "ConsistentRead": True}, "Consistent reads are not supported"),
        ("query", {**OF_ANN, "FilterExpression": "a OR b"}, "not supported by the emulation: 'OR'"),
        (
            "query",
            {**OF_ANN, "KeyConditionExpression": "#o = :o AND note = :o"},
            "Query key condition not supported",
        ),
        ("get_item", {"Key": {"owner": {"S": "ann"}}}, "The provided key element does not match the schema"),
        ("get_item", {"Key": {**KEY, "part": {"N": "1"}}}, "Type mismatch for key part expected: S actual: N"),
        ("get_item", {"Key": {**KEY, "part": {"S": ""}}}, "cannot contain an empty string value. Key: part"),
        ("get_item", {"Key": KEY, "ProjectionExpression": "owner"}, "reserved keyword: owner"),
        ("put_item", {"Item": {"owner": {"S": "ann"}}}, "Missing the key part in the item"),
        ("put_item", {"Item": {**KEY, "state": {"S": ""}}}, "IndexName: by_state, IndexKey: state"),
        ("put_item", {"Item": {**KEY, "note": {"S": "x" * 409_600}}}, "Item size has exceeded"),
        (
            "put_item",
            {"Item": KEY, "ConditionExpression": "note = :a"},
            "attribute value used in the document path is not defined; attribute value: :a",
        ),
        (
            "put_item",
            {
                "Item": KEY,
                "ConditionExpression": "attribute_exists(part)",
                "ExpressionAttributeValues": {":a": {"S": "1"}},
            },
            "unused in expressions: keys: {:a}",
        ),
        (
            "update_item",
            {"Key": KEY, "UpdateExpression": "SET part = :a", "ExpressionAttributeValues": {":a": {"S": "2"}}},
            "This attribute is part of the key",
        ),
        (
            "update_item",
            {"Key": KEY, "UpdateExpression": "SET a.b = :a", "ExpressionAttributeValues": {":a": {"S": "2"}}},
            "not supported by the emulation",
        ),
        ("describe_continuous_backups", {}, "The emulation of DynamoDB does not support DescribeContinuousBackups"),
    ],
)
def test_a_call_that_dynamodb_refuses_or_the_emulation_does_not_support_is_refused(
    operation: str, parameters: dict[str, Any], message: str
) -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)

        with pytest.raises(ClientError, match=message):
            getattr(database, operation)(TableName="things", **parameters)


@pytest.mark.parametrize(
    ("writes", "message"),
    [
        (
            [{"Put": {"Item": KEY}}, {"Delete": {"Key": KEY}}],
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            [
                {"Put": {"Item": {**KEY, "part": {"S": str(number)}, "note": {"S": "x" * 400_000}}}}
                for number in range(11)
            ],
            "exceeds the limit of 4 MB",
        ),
    ],
)
def test_a_transaction_that_dynamodb_refuses_changes_nothing(writes: list[dict[str, Any]], message: str) -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)

        error, _ = result_of(database, "transact_write_items", {"TransactItems": writes})

        assert message in error["Message"]
        assert database.scan(TableName="things")["Items"] == []


OF_KEY = 'WHERE "owner" = ? AND "part" = ?'


def statement(text: str, *parameters: str, where: str = OF_KEY) -> dict[str, Any]:
    """Return a statement of a batch."""
    return {"Statement": f"{text} {where}", "Parameters": [{"S": parameter} for parameter in parameters]}


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ([statement('UPDATE "things" SET "note" = ?', "n", "ann", "1")] * 2, "contains duplicates"),
        (
            [statement('UPDATE "things" SET "note" = ?', "n", "ann", str(number)) for number in range(26)],
            "cannot write more than 25 items",
        ),
        ([statement('UPDATE "others" SET "note" = ?', "n", "ann", "1")], "resource not found"),
        ([statement('UPDATE "things" SET "note" = ?', "n", "ann", where='WHERE "owner" = ?')], "Missing the key part"),
        ([statement('UPDATE "things" SET "note" = ?', "n", "ann")], "not supported by the emulation"),
        ([statement('UPDATE "things" REMOVE "note"', "ann", "1")], "not supported by the emulation"),
        ([statement('DELETE FROM "things"', "ann", "1")], "not supported by the emulation"),
        (
            [statement('UPDATE "things" SET "note" = ?', "n", "ann", "1", "2", where=f'{OF_KEY} AND size("note") = ?')],
            "not supported by the emulation",
        ),
    ],
)
def test_a_batch_of_statements_that_dynamodb_refuses_or_the_emulation_does_not_support_is_refused(
    statements: list[dict[str, Any]], message: str
) -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)

        with pytest.raises(ClientError, match=message):
            database.batch_execute_statement(Statements=statements)


def test_each_statement_of_a_batch_succeeds_or_fails_alone() -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)
        for number in "123":
            database.put_item(TableName="things", Item={"owner": {"S": "ann"}, "part": {"S": number}})
        text = 'UPDATE "things" SET "note" = ? SET "at" = ?'
        notes = {"1": "n", "2": "x" * 409_600, "3": "n", "missing": "n"}

        response = database.batch_execute_statement(
            Statements=[statement(text, note, "now", "ann", number) for number, note in notes.items()]
        )

        codes = [result.get("Error", {}).get("Code") for result in response["Responses"]]
        assert codes == [None, "ValidationError", None, "ConditionalCheckFailed"]
        stored = {
            item["part"]["S"]: item.get("note", {}).get("S") for item in database.scan(TableName="things")["Items"]
        }
        assert stored == {"1": "n", "2": None, "3": "n"}


def test_callers_and_the_database_share_no_objects() -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)
        item = {**KEY, "facts": {"M": {"a": {"L": [{"N": "1"}]}}}}
        unchanged = {**KEY, "facts": {"M": {"a": {"L": [{"N": "1"}]}}}}

        database.put_item(TableName="things", Item=item)
        item["facts"]["M"]["a"]["L"].clear()
        first = database.get_item(TableName="things", Key=KEY)["Item"]
        first["facts"]["M"]["a"]["L"].clear()

        assert database.get_item(TableName="things", Key=KEY)["Item"] == unchanged


def test_a_key_attribute_of_another_type_than_declared_is_refused() -> None:
    with emulated_dynamodb():
        database = client("dynamodb")
        database.create_table(**TABLE)
        item = {"owner": {"S": "ann"}, "part": {"S": "1"}, "rank": {"S": "high"}}

        with pytest.raises(ClientError, match="Type mismatch for Index Key rank Expected: N Actual: S"):
            database.put_item(TableName="things", Item=item)
