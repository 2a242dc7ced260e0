"""The tables of the template in another database, for tests and benchmarks."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from adapters.dynamodb import TableNames
from adapters.dynamodb.batch_deletes import BatchDeletes
from adapters.dynamodb.client import DynamoDB, projection
from local.template import Template


def make_tables(client: Any, prefix: str, *, with_stream: bool = True) -> TableNames:
    """Create the tables of the template, each named `prefix` plus its logical ID.

    A stream slows DynamoDB Local down with every write, so benchmarks omit it.
    """
    for definition in _definitions():
        table = {**definition, "TableName": prefix + definition["TableName"]}
        if not with_stream:
            table.pop("StreamSpecification", None)
        client.create_table(**table)
    return table_names(prefix)


@cache
def _definitions() -> list[dict[str, Any]]:
    """Return the tables of the template. Tests make them thousands of times."""
    return Template.load().table_definitions()


def table_names(prefix: str = "") -> TableNames:
    """Return the table names: `prefix` plus the logical ID of each table."""
    return TableNames(partial(_table_name, prefix))


def _table_name(prefix: str, name: str) -> str:
    return f"{prefix}{name.title().replace('_', '')}Table"


def drop_tables(client: Any, prefix: str) -> None:
    """Delete the tables of `make_tables`."""
    for definition in _definitions():
        client.delete_table(TableName=prefix + definition["TableName"])


def empty_tables(client: Any, prefix: str) -> None:
    """Delete every item of the tables of `make_tables`. If there are thousands, new tables take less time."""
    deletes = BatchDeletes(DynamoDB(client, table_names(prefix)))
    for definition in _definitions():
        table = prefix + definition["TableName"]
        selection = projection([key["AttributeName"] for key in definition["KeySchema"]])
        for page in client.get_paginator("scan").paginate(TableName=table, **selection):
            deletes.delete(table, page["Items"])
