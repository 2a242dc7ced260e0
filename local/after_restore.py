"""Prepare restored tables for use, so that no write is executed twice. `make after-restore STACK=qbxml-queue`.

The tables describe an earlier time. QuickBooks may since have executed every write that had not ended then, and the
service may have told QuickBooks to forget the response. Therefore each of these writes is put into recovery without a
company file mark: it ends with the response that QuickBooks still stores, or as `outcome_unknown`, and is never sent
again (docs/decisions/0005-recovery-of-lost-responses.md). Reads are sent again. All sessions are removed.

Stop the functions first: docs/operations.md, Restore. Running the command again changes nothing more.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from adapters.dynamodb import DynamoDBStore, TableNames
from adapters.dynamodb.keys import ID, SESSION_ID, STATE
from domain.requests.record import FIRST_IN_LINE, IN_FLIGHT, QUEUED, QueuedRequest, Recovery, State, timestamp
from domain.storage.changes import ChangeConnection, ChangeRequest
from domain.web_connector.recovery.lost_response import after_session_end
from local import deploy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

UNFINISHED = sorted(QUEUED | IN_FLIGHT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the tables of a stack and print what was done; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        tables = _tables(deploy.client("cloudformation", options.region, options.profile), options.stack)
        counts = prepare(deploy.client("dynamodb", options.region, options.profile), tables, datetime.now(UTC))
    except (deploy.DeployError, BotoCoreError, ClientError) as error:
        print(f"make after-restore: {error}", file=sys.stderr)
        return 1
    for what, number in counts.items():
        print(f"{number:6} {what}")
    return 0


def prepare(client: Any, tables: TableNames, now: datetime) -> Mapping[str, int]:
    """Remove all sessions and release the requests that had not ended. Return what was done, with numbers."""
    store = DynamoDBStore(client, tables, retention_days=lambda: 0)
    counts = Counter({"sessions removed": 0, "connections freed": 0, "writes to ask QuickBooks about": 0})
    for session in _items(client, tables.sessions, [SESSION_ID]):
        client.delete_item(TableName=tables.sessions, Key=session)
        counts["sessions removed"] += 1
    for item in _items(client, tables.connections, [ID]):
        connection = store.connection(item[ID]["S"])
        if connection and connection.session_id:
            store.commit(ChangeConnection(connection, connection.changed(timestamp(now), session_id=None)))
            counts["connections freed"] += 1
    for item in _items(client, tables.queued_requests, [ID, STATE]):
        if item.get(STATE, {}).get("S") not in UNFINISHED:
            continue
        record = store.request(item[ID]["S"])
        if isinstance(record, QueuedRequest) and (after := released(record, now)) is not record:
            store.commit(ChangeRequest(record, after))
            counts["reads to send again" if record.is_read else "writes to ask QuickBooks about"] += 1
    return counts


def released(record: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return an unfinished request as it continues after a restore, or itself if nothing changes."""
    if record.is_read:
        return after_session_end(record, now) if record.state in IN_FLIGHT else record
    recovery = Recovery(response_lost=True, active=True, message_set_id=record.message_set_id)
    if record.state is State.RETRYABLE and record.recovery == recovery:
        return record
    # Not a transition of the table: what happened to the request since is not known here.
    sessions = max(record.sessions, 1)
    changed = record.changed(now, state=State.RETRYABLE, sessions=sessions, queue_priority=FIRST_IN_LINE)
    return replace(changed, recovery=recovery)


def _items(client: Any, table: str, attributes: Sequence[str]) -> Iterator[dict[str, Any]]:
    names = {f"#name{number}": name for number, name in enumerate(attributes)}
    pages = client.get_paginator("scan").paginate(
        TableName=table,
        ConsistentRead=True,
        ProjectionExpression=", ".join(names),
        ExpressionAttributeNames=names,
    )
    for page in pages:
        yield from page["Items"]


def _tables(cloudformation: Any, stack: str) -> TableNames:
    resources = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    names = {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}
    return TableNames(lambda name: names[f"{name.title().replace('_', '')}Table"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.after_restore", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", default=deploy.STACK_NAME, help="default: %(default)s")
    parser.add_argument("--region", default=os.environ.get("AWS_REGION"))
    parser.add_argument("--profile", default=os.environ.get("AWS_PROFILE"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
