"""The tables of the template in a database: created if missing, refused if different."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.template import Template


class DatabaseUnusable(Exception):
    """The database does not respond, or its tables differ from the template. The message says what to do."""


def create_tables(template: Template, dynamodb: Any, further: Iterable[Mapping[str, Any]] = ()) -> None:
    """Create the tables of the template and `further` ones; existing tables stay.

    Raises DatabaseUnusable with the differences before it creates anything.
    """
    definitions = [*template.table_definitions(), *further]
    current = {definition["TableName"]: _description(dynamodb, definition["TableName"]) for definition in definitions}
    changes = {
        definition["TableName"]: differences(definition, description)
        for definition in definitions
        if (description := current[definition["TableName"]]) is not None
    }
    if any(changes.values()):
        raise DatabaseUnusable(_refusal(dynamodb.meta.endpoint_url, changes))
    expiring = template.time_to_live_attributes()
    for definition in definitions:
        name = definition["TableName"]
        if current[name] is None:
            dynamodb.create_table(**definition)
            dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
            if name in expiring:
                expiry = {"Enabled": True, "AttributeName": expiring[name]}
                dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)


def differences(definition: Mapping[str, Any], description: Mapping[str, Any]) -> list[str]:
    """Return the differences between a table (from DescribeTable) and its definition, as text.

    Compares keys, indexes and the stream, but not the billing mode.
    """
    expected, current = _shape(definition), _shape(description)
    return [
        f"{part}: {_text(expected.get(part))} in template.yaml, {_text(current.get(part))} in the database"
        for part in dict.fromkeys([*expected, *current])
        if expected.get(part) != current.get(part)
    ]


def _description(dynamodb: Any, name: str) -> Mapping[str, Any] | None:
    try:
        table: Mapping[str, Any] = dynamodb.describe_table(TableName=name)["Table"]
    except dynamodb.exceptions.ResourceNotFoundException:
        return None
    except (BotoCoreError, ClientError) as error:
        # No server listens there, or it is not DynamoDB.
        raise DatabaseUnusable(_silence(dynamodb.meta.endpoint_url)) from error
    return table


def _silence(endpoint: str) -> str:
    return (
        f"no DynamoDB answers at {endpoint}. Start it (`make dynamodb` runs DynamoDB Local on port 8127), or leave "
        "DYNAMODB_ENDPOINT out."
    )


def answering_endpoint(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return DYNAMODB_ENDPOINT, or None without it. Ends the program with a sentence if no DynamoDB answers there."""
    endpoint = environment.get("DYNAMODB_ENDPOINT") or None
    if endpoint is None:
        return None
    config = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 1})
    try:
        client = boto3.client(
            "dynamodb",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 - it opens nothing
            config=config,
        )
        client.list_tables(Limit=1)
    except (BotoCoreError, ClientError, ValueError):
        sys.exit(f"DYNAMODB_ENDPOINT: {_silence(endpoint)}")
    return endpoint


def _shape(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts to compare, each as text."""
    types = {
        attribute["AttributeName"]: attribute["AttributeType"] for attribute in table.get("AttributeDefinitions", [])
    }
    shape = {"key": _keys(table["KeySchema"], types)}
    for index in [*(table.get("GlobalSecondaryIndexes") or []), *(table.get("LocalSecondaryIndexes") or [])]:
        projection = index["Projection"]
        others = ", ".join(sorted(projection.get("NonKeyAttributes") or []))
        holds = f"{projection['ProjectionType']} {others}".strip()
        shape[f"index {index['IndexName']}"] = f"{_keys(index['KeySchema'], types)}, holds {holds}"
    stream = table.get("StreamSpecification") or {}
    if stream.get("StreamEnabled"):
        shape["stream"] = stream["StreamViewType"]
    return shape


def _keys(schema: Iterable[Mapping[str, str]], types: Mapping[str, str]) -> str:
    names = {"HASH": "partition", "RANGE": "sort"}
    keys: dict[str, list[str]] = {}
    for key in schema:
        attribute = f"{key['AttributeName']} {types.get(key['AttributeName'], '')}".strip()
        keys.setdefault(names[key["KeyType"]], []).append(attribute)
    return ", ".join(f"{kind} ({', '.join(attributes)})" for kind, attributes in keys.items())


def _text(part: str | None) -> str:
    return part or "none"


def _refusal(endpoint: str, changes: Mapping[str, list[str]]) -> str:
    different = {name: lines for name, lines in changes.items() if lines}
    lines = [f"The database at {endpoint} has tables that are not those of template.yaml:"]
    for name, texts in different.items():
        lines += [f"  {name}", *(f"    {text}" for text in texts)]
    return "\n".join(
        [
            *lines,
            "Another version created them; nothing was changed. To keep the data, run that version. To start",
            "over, stop the database of `make dynamodb` and remove .local/dynamodb, or delete these tables in yours.",
        ]
    )
