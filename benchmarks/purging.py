"""Compare two ways to remove a deleted connection's records: batches in parallel, and one record after another.

Run `python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.purging [RECORDS]` (default 10000).
The baseline is the former method of the sweep. For each record it queries the bodies and deletes each item. It is
measured with a tenth of the records. DynamoDB Local does not throttle. In DynamoDB, an index accepts 1,000 deletions
of one connection per second.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore, TableNames
from adapters.dynamodb.batch_deletes import WRITERS
from benchmarks.listing_data import Meter, a_connection, connect, endpoint, load
from local.tables import drop_tables, make_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest

RECORDS = 10_000
BASELINE_SHARE = 10


def main(records: int = RECORDS) -> None:
    """Load records, remove them in both ways and print the times."""
    client = connect(endpoint(), connections=WRITERS)
    prefix = "purging-"
    tables = make_tables(client, prefix)
    meter = Meter(client)
    print(f"{'':20} {'records':>8} {'seconds':>8} {'records/s':>10} {'calls':>8} {'units':>9}")

    _, stored_records = load(client, tables, records // BASELINE_SHARE)
    meter.take()
    start = time.perf_counter()
    one_by_one(client, tables, stored_records)
    report("one by one", len(stored_records), time.perf_counter() - start, meter)

    connection_id, stored_records = load(client, tables, records)
    meter.take()
    store = DynamoDBStore(client, tables)
    connection = replace(a_connection(), id=connection_id)
    start = time.perf_counter()
    count = sum(store.remove_records(connection))
    seconds = time.perf_counter() - start
    report("batches", count, seconds, meter)
    start = time.perf_counter()
    store.remove_connection(connection)
    report("queue, counts", 0, time.perf_counter() - start, meter)
    assert count == len(stored_records)
    assert not any(store.request(record.id) for record in stored_records[::97])
    drop_tables(client, prefix)


def one_by_one(client: Any, tables: TableNames, records: Sequence[QueuedRequest]) -> None:
    """Remove records as the sweep formerly did."""
    for record in records:
        parts = client.query(
            TableName=tables.payloads,
            KeyConditionExpression="request_id = :request",
            ProjectionExpression="request_id, part",
            ExpressionAttributeValues={":request": {"S": record.id}},
        )
        for key in parts["Items"]:
            client.delete_item(TableName=tables.payloads, Key=key)
        client.delete_item(TableName=tables.queued_requests, Key={"id": {"S": record.id}})


def report(name: str, records: int, seconds: float, meter: Meter) -> None:
    """Print one line."""
    calls, units = meter.take()
    print(f"{name:20} {records:8} {seconds:8.1f} {records / seconds:10.0f} {calls:8} {units:9.0f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
