"""What a page of a list costs, with ever more records in one connection: calls, read capacity, time.

On DynamoDB Local (`make .tools/dynamodb-local/.installed` fetches it):
`python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.listing [RECORDS…]`
(1000 10000 100000; of a million the days that are asked for are stored, see `listing_data`, and the
naive way is left out). Capacity is what DynamoDB says it consumed, summed over every call. Beside
each page the naive way to it: walk the index from its begin, keep what lies on the page; it does
not know `total_pages`. Exit status 1 when a rule is broken.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore, TableNames
from adapters.dynamodb.reading import query_all
from adapters.dynamodb.tables import LISTING_INDEXES
from benchmarks.listing_data import APP_ID, LARGEST_WHOLE, Meter, connect, endpoint, load
from domain.listing import LARGEST_LISTED_RESPONSE, ListQuery, Lists
from domain.queued_request import State, WebhookState
from local.tables import drop_tables, make_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.queued_request import QueuedRequest

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 5
LAST_TO_FIRST = 1.5
LARGEST_TO_SMALLEST = 3.0

FILTERS: dict[str, dict[str, Any]] = {
    "no filter": {},
    "state=error": {"state": State.ERROR},
    "webhook_state=failed": {"webhook_state": WebhookState.FAILED},
    "error, failed": {"state": State.ERROR, "webhook_state": WebhookState.FAILED},
    "state=response_received": {"state": State.RESPONSE_RECEIVED},
    "webhook_state=succeeded": {"webhook_state": WebhookState.SUCCEEDED},
    "response_received, succeeded": {"state": State.RESPONSE_RECEIVED, "webhook_state": WebhookState.SUCCEEDED},
}
"""None, each and both: once for what few records are, once for what most are."""


def naive(client: Any, tables: TableNames, store: DynamoDBStore, query: ListQuery) -> list[str]:
    """Return the ids of the page, found by walking the index that fits best."""
    keys: dict[str, str] = {"connection_id": query.connection_id}
    filters: dict[str, str] = {}
    if query.state:
        keys["state"] = query.state.value
    if query.webhook_state:
        (filters if query.state else keys)["webhook_state"] = query.webhook_state.value
    use = "state" if query.state else "webhook_state" if query.webhook_state else "connection"
    names = {**keys, **filters}
    start = (query.page - 1) * query.page_size
    walk = query_all(
        client,
        TableName=tables.queued_requests,
        IndexName=LISTING_INDEXES[use, query.sort],
        KeyConditionExpression=" AND ".join(f"#{name} = :{name}" for name in keys),
        ExpressionAttributeNames={f"#{name}": name for name in names},
        ExpressionAttributeValues={f":{name}": {"S": value} for name, value in names.items()},
        ScanIndexForward=not query.descending,
        **({"FilterExpression": "#webhook_state = :webhook_state"} if filters else {"Limit": start + query.page_size}),
    )
    ids = [entry["id"]["S"] for entry in islice(walk, start, start + query.page_size)]
    store.stored_requests(ids, largest_response=LARGEST_LISTED_RESPONSE)
    return ids


def measured(meter: Meter, call: Callable[[], object], rounds: int = ROUNDS) -> tuple[int, float, float]:
    """Return (calls, capacity units, median milliseconds) of a call."""
    seconds = []
    for _ in range(rounds):
        meter.taken()
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    calls, capacity = meter.taken()
    return calls, capacity, statistics.median(seconds) * 1000


def expected(records: list[QueuedRequest], query: ListQuery) -> list[str]:
    """Return the ids of the page the plain way."""
    fitting = [
        (record.inserted_at, record.id)
        for record in records
        if query.state in (None, record.state) and query.webhook_state in (None, record.webhook_state)
    ]
    fitting.sort(reverse=True)
    start = (query.page - 1) * query.page_size
    return [one for _, one in fitting[start : start + query.page_size]]


def main(*sizes: int) -> int:
    """Load, measure, print; return 1 when calls grow or capacity grows more than it may."""
    client = connect(endpoint())
    broken: list[str] = []
    first_pages: dict[str, float] = {}
    print(f"{'records':>9} {'filter':28} {'page':>12} | calls    RCU      ms | naive: calls      RCU      ms")
    for size in sizes or SIZES:
        prefix = f"b{size}-"
        tables = make_tables(client, prefix)
        began = time.perf_counter()
        connection_id, records = load(client, tables, size)
        loaded = time.perf_counter() - began
        store = DynamoDBStore(client, tables)
        lists = Lists(store, store, store)
        meter = Meter(client)
        for name, filters in FILTERS.items():
            query = ListQuery(connection_id, **filters)
            pages = lists.page(APP_ID, query).total_pages
            capacities = []
            for label, number in (("1", 1), ("middle", (pages + 1) // 2), ("last", pages)):
                one = replace(query, page=number)
                found = lists.page(APP_ID, one)
                assert [item.record.id for item in found.items] == expected(records, one), (size, name, label)
                calls, capacity, ms = measured(meter, partial(lists.page, APP_ID, one))
                capacities.append(capacity)
                line = f"{size:9} {name:28} {label:>6} {number:5} | {calls:5} {capacity:6.1f} {ms:7.1f} |"
                if size <= LARGEST_WHOLE:
                    walked = measured(meter, partial(naive, client, tables, store, one), 1)
                    line += f" {walked[0]:12} {walked[1]:8.1f} {walked[2]:7.1f}"
                print(line, flush=True)
                if calls > 3:
                    broken.append(f"{size} {name} {label}: {calls} calls")
            if capacities[2] > LAST_TO_FIRST * capacities[0]:
                broken.append(f"{size} {name}: the last page is {capacities[2] / capacities[0]:.2f} times the first")
            first_pages.setdefault(name, capacities[0])
            if max(capacities) > LARGEST_TO_SMALLEST * first_pages[name]:
                broken.append(f"{size} {name}: {max(capacities) / first_pages[name]:.2f} times the smallest size")
        print(f"{size} records were loaded in {loaded:.0f} s")
        drop_tables(client, prefix)
    print("\n".join(broken) or "Every rule holds.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
