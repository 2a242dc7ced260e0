"""The template's tables on a database of one's own: for tests and benchmarks."""

from __future__ import annotations

from typing import Any

from adapters.dynamodb import TableNames
from local.template import Template


def make_tables(client: Any, prefix: str, *, with_stream: bool = True) -> TableNames:
    """Make the template's tables, each named `prefix` and its logical id.

    A stream slows DynamoDB Local down with every write that it holds: benchmarks do without.
    """
    for definition in Template.load().table_definitions():
        named = {**definition, "TableName": prefix + definition["TableName"]}
        if not with_stream:
            named.pop("StreamSpecification", None)
        client.create_table(**named)
    return table_names(prefix)


def table_names(prefix: str = "") -> TableNames:
    """Return the names of tables that are each named `prefix` and its logical id."""
    return TableNames(
        queued_requests=f"{prefix}QueuedRequestsTable",
        payloads=f"{prefix}PayloadsTable",
        counts=f"{prefix}CountsTable",
        connections=f"{prefix}ConnectionsTable",
        sessions=f"{prefix}SessionsTable",
        apps=f"{prefix}AppsTable",
        idempotency_keys=f"{prefix}IdempotencyKeysTable",
        queue=f"{prefix}QueueTable",
    )


def drop_tables(client: Any, prefix: str) -> None:
    """Delete what `make_tables` made."""
    for definition in Template.load().table_definitions():
        client.delete_table(TableName=prefix + definition["TableName"])
