"""The units of a query are those of what it reads of an index, whatever it returns of that."""

from __future__ import annotations

from typing import Any

import pytest

from local.capacity import read_units
from local.emulated_dynamodb.operations import EmulatedDynamoDB

TABLE = {
    "TableName": "notes",
    "KeySchema": [{"AttributeName": "whose", "KeyType": "HASH"}, {"AttributeName": "id", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": "whose", "AttributeType": "S"},
        {"AttributeName": "id", "AttributeType": "S"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize(
    ("options", "units"),
    [
        ({}, 5),  # 10 items of about 2,000 bytes
        ({"ConsistentRead": False}, 2.5),
        ({"Select": "COUNT"}, 5),
        ({"ProjectionExpression": "id"}, 5),
        ({"FilterExpression": "attribute_not_exists(id)"}, 5),
        ({"Limit": 2}, 1),
        ({"ExpressionAttributeValues": {":owner": {"S": "nobody"}}}, 1),
        ({"ExpressionAttributeValues": {":owner": {"S": "nobody"}}, "ConsistentRead": False}, 0.5),
    ],
)
def test_a_query_uses_the_units_of_what_it_reads(options: dict[str, Any], units: float) -> None:
    database = EmulatedDynamoDB()
    database.create_table(TABLE)
    for number in range(10):
        item = {"whose": {"S": "me"}, "id": {"S": str(number)}, "text": {"S": "x" * 1_980}}
        database.put_item({"TableName": "notes", "Item": item})
    query = {
        "TableName": "notes",
        "KeyConditionExpression": "whose = :owner",
        "ExpressionAttributeValues": {":owner": {"S": "me"}},
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "TOTAL",
    } | options

    assert read_units("Query", query, database.query(query)) == units
