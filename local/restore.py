"""Put restored tables into use, so that no write is executed twice. `make restore STACK=qbxml-queue`.

Point-in-time recovery restores a table under another name. This program copies the tables `restored-…` of one moment
into the tables of the stack, which keep their stream, time to live and own recovery. Each table is restored by itself,
so the copies can disagree. `local/rebuild.py` makes them agree with the records and prepares them:

QuickBooks may since have executed every write that had not ended at that moment, and the service may have told
QuickBooks to forget the response. Therefore each of these writes is put into recovery without a company file mark: it
ends with the response that QuickBooks still stores, or as `outcome_unknown`, and is never sent again
(docs/decisions/0005-recovery-of-lost-responses.md). Reads are sent again. All sessions are removed.

Stop the functions first: docs/operations.md, Restore. The program can be run again if it was interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from adapters.dynamodb import TableNames
from local import aws, deploy
from local.rebuild import Rebuild

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

RESTORED = "restored-"
"""Prefix of the names of restored tables."""

TABLES = ("queued_requests", "queue", "payloads", "counts", "connections", "apps")
"""The tables that are restored."""

EMPTIED = ("sessions", "events")
"""The tables that `local/rebuild.py` empties. The next login begins a session, and the next event a log."""

KEPT = ("idempotency_keys", "usages", "audit_log")
"""The tables that stay as they are. A call that is repeated with the idempotency key of a request that is gone returns
404 and queues nothing. What was done after the moment of the restore was done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the tables of a stack and print what was done; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        here = aws.resolved(options.region, options.profile)
        session = boto3.Session(region_name=here.region, profile_name=here.profile)
        deploy.outputs(here.client("cloudformation"), options.stack)  # says which stack or region is wrong
        resources = _resources(session.client("cloudformation"), options.stack)
        names = {logical: physical for logical, physical, _ in resources}
        tables = TableNames(lambda name: names[f"{name.title().replace('_', '')}Table"])
        functions = [physical for _, physical, kind in resources if kind == "AWS::Lambda::Function"]
        check(session.client("lambda"), functions, session.client("dynamodb"), tables)
        for name in TABLES:
            table = tables.name_of(name)
            put_count, deleted_count = copy_table(session.resource("dynamodb"), RESTORED + table, table)
            print(f"{table}: {put_count} items written, {deleted_count} deleted", flush=True)
        counts = prepare(session.client("dynamodb"), tables, datetime.now(UTC), partial(print, flush=True))
    except (aws.AwsError, deploy.DeployError) as error:
        print(f"make restore: {error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"make restore: {aws.explanation(error)}", file=sys.stderr)
        return 1
    for what, number in counts.items():
        print(f"{number:6} {what}")
    return 0


def check(functions_client: Any, functions: Sequence[str], dynamodb: Any, tables: TableNames) -> None:
    """Check that no function of the stack can run and that all restored tables are ready. Raises DeployError."""
    for function in functions:
        concurrency = functions_client.get_function_concurrency(FunctionName=function)
        if concurrency.get("ReservedConcurrentExecutions") != 0:
            raise deploy.DeployError(f"{function} can run. Stop all functions first: docs/operations.md, Restore")
    for name in map(tables.name_of, TABLES):
        try:
            status = dynamodb.describe_table(TableName=RESTORED + name)["Table"]["TableStatus"]
        except dynamodb.exceptions.ResourceNotFoundException as error:
            raise deploy.DeployError(
                f"{RESTORED}{name} does not exist. Restore {name} under this name first."
            ) from error
        if status != "ACTIVE":
            raise deploy.DeployError(f"{RESTORED}{name} is {status}. Wait until it is restored.")


def copy_table(dynamodb: Any, source: str, target: str) -> tuple[int, int]:
    """Make `target` equal to `source`. Return the numbers of written and deleted items.

    Equal items are not written, so the stream reports only changes.
    """
    schema = dynamodb.Table(target).key_schema
    if dynamodb.Table(source).key_schema != schema:
        raise deploy.DeployError(f"{source} has other keys than {target}")
    names = [key["AttributeName"] for key in schema]
    digests = {tuple(item[name] for name in names): _digest(item) for item in _scan(dynamodb.Table(target))}
    count = 0
    with dynamodb.Table(target).batch_writer() as writer:
        for item in _scan(dynamodb.Table(source)):
            if digests.pop(tuple(item[name] for name in names), None) != _digest(item):
                writer.put_item(Item=item)
                count += 1
        for key in digests:  # items that were stored since
            writer.delete_item(Key=dict(zip(names, key, strict=True)))
    return count, len(digests)


def _digest(item: dict[str, Any]) -> bytes:
    return hashlib.blake2b(repr(sorted(item.items())).encode(), digest_size=16).digest()


def _scan(table: Any) -> Iterator[dict[str, Any]]:
    page = table.scan(ConsistentRead=True)
    yield from page["Items"]
    while "LastEvaluatedKey" in page:
        page = table.scan(ConsistentRead=True, ExclusiveStartKey=page["LastEvaluatedKey"])
        yield from page["Items"]


def prepare(
    client: Any, tables: TableNames, now: datetime, report: Callable[[str], None] = lambda _: None
) -> Mapping[str, int]:
    """Make the copied tables agree with their records. Return the number of each action (`local/rebuild.py`)."""
    return Rebuild(client, tables, now, report).run()


def _resources(cloudformation: Any, stack: str) -> list[tuple[str, str, str]]:
    """Return the logical ID, the physical ID and the type of each resource of a stack."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    fields = ("LogicalResourceId", "PhysicalResourceId", "ResourceType")
    rows = [tuple(resource[field] for field in fields) for page in pages for resource in page["StackResourceSummaries"]]
    return [(logical, physical, kind) for logical, physical, kind in rows]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.restore", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", default=deploy.STACK_NAME, help="default: %(default)s")
    aws.add_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
