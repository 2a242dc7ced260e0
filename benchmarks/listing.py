"""Measure the cost of a list page in calls, read capacity and time, with more and more records in one connection.

Run it on DynamoDB Local, which `make .tools/dynamodb-local/.installed` downloads:
`python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.listing [RECORDS…] [one-day]`
(default 1000 10000 100000, over a year, or all in one day with `one-day`). Capacity is the sum of the capacity that
DynamoDB reports for each call. For up to 200,000 records, each page is compared with the naive method: read all index
entries that match, sort them and keep those of the page. The naive method does not compute `total_pages`. The exit
status is 1 if a rule is broken.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore, TableNames
from benchmarks.listing_data import APP_ID, DAYS, LIVES, MAX_WHOLE, Meter, connect, endpoint, fixed_time, load
from domain.listing.in_flight import in_order
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.records.request import State
from domain.records.webhook import WebhookState
from domain.storage.ports import IndexDays
from local.tables import drop_tables, make_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.records.request import Pair, QueuedRequest

SIZES = (1_000, 10_000, 100_000)
SIZE_OF_ORDERS = 10_000
ROUNDS = 5
LAST_TO_FIRST = 1.5
MAX_RATIO = 3.0
MAX_CALLS = 3 + 2 * len(LIVES)
"""The counts, the records in flight and a batch; for each pair one query to skip entries and one to read some."""

FILTERS: dict[str, dict[str, Any]] = {
    "no filter": {},
    "state=error": {"state": State.ERROR},
    "webhook_state=failed": {"webhook_state": WebhookState.FAILED},
    "error, failed": {"state": State.ERROR, "webhook_state": WebhookState.FAILED},
    "state=response_received": {"state": State.RESPONSE_RECEIVED},
    "webhook_state=succeeded": {"webhook_state": WebhookState.SUCCEEDED},
    "response_received, succeeded": {"state": State.RESPONSE_RECEIVED, "webhook_state": WebhookState.SUCCEEDED},
}
"""No filter, each filter and both filters, once for rare values and once for common ones."""

ORDERS: dict[str, dict[str, Any]] = {
    f"{name}, {sort} {'desc' if descending else 'asc'}": {**FILTERS[name], "sort": sort, "descending": descending}
    for name in ("no filter", "state=error", "webhook_state=failed", "error, failed")
    for sort in ("inserted_at", "updated_at")
    for descending in (True, False)
    if (sort, descending) != ("inserted_at", True)
}
"""The orders other than the one in which `FILTERS` are measured."""

HEADING = f"{'records':>9} {'filter':38} {'page':>13} | calls    RCU      ms | naive: calls      RCU      ms"


def naive(store: DynamoDBStore, counts: Mapping[Pair, int], query: ListQuery) -> list[str]:
    """Read every entry of the matching partitions, sort them and return the ids of the page."""
    everything = IndexDays(query.connection_id, query.sort, "0", "9", counts)
    entries = in_order(store.all_index_entries(everything, ()), query)
    start = (query.page - 1) * query.page_size
    ids = [entry.id for entry in entries[start : start + query.page_size]]
    store.request_batch(ids)
    return ids


def measured(meter: Meter, call: Callable[[], object], rounds: int = ROUNDS) -> tuple[int, float, float]:
    """Return (calls, capacity units, median milliseconds) of a call."""
    seconds = []
    for _ in range(rounds):
        meter.take()
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    calls, capacity = meter.take()
    return calls, capacity, statistics.median(seconds) * 1000


def matching_ids(records: Sequence[QueuedRequest], query: ListQuery) -> list[str]:
    """Filter and sort all records in memory and return the ids of the whole list."""
    keys = [
        (getattr(record, query.sort), record.id)
        for record in records
        if query.state in (None, record.state) and query.webhook_state in (None, record.webhook_state)
    ]
    keys.sort(reverse=query.descending)
    return [record_id for _, record_id in keys]


class Comparison:
    """Requests pages of one connection, compares each with the list sorted in memory, and prints its cost."""

    def __init__(self, client: Any, tables: TableNames, connection_id: str, records: Sequence[QueuedRequest]) -> None:
        self._connection_id = connection_id
        self._records = records
        self._store = DynamoDBStore(client, tables)
        self._lists = Lists(self._store, fixed_time)
        self._meter = Meter(client)

    def _counts(self, query: ListQuery) -> Mapping[Pair, int]:
        """Return the number of records of each pair that matches the filters."""
        return Counter(record.listed_pair for record in self._records if query.matches(record))

    def pages(self, name: str, parameters: dict[str, Any], *, with_naive: bool = True) -> tuple[int, list[float]]:
        """Measure the first, middle and last page. Return the largest number of calls and the capacity of each page."""
        query = ListQuery(self._connection_id, **parameters)
        everything = matching_ids(self._records, query)
        pages = self._lists.page(APP_ID, query).total_pages
        most_calls, capacities = 0, []
        for label, number in (("1", 1), ("middle", (pages + 1) // 2), ("last", pages)):
            one = replace(query, page=number)
            result = self._lists.page(APP_ID, one)
            start = (number - 1) * query.page_size
            right = everything[start : start + query.page_size]
            assert [item.record.id for item in result.items] == right, (name, label)
            calls, capacity, ms = measured(self._meter, partial(self._lists.page, APP_ID, one))
            most_calls = max(most_calls, calls)
            capacities.append(capacity)
            line = f"{len(self._records):9} {name:38} {label:>6} {number:6} | {calls:5} {capacity:6.1f} {ms:7.1f} |"
            if with_naive:
                walks: list[list[str]] = []  # only once, because it takes minutes for 100,000 records
                walk = partial(naive, self._store, self._counts(query), one)
                naive_cost = measured(self._meter, lambda: walks.append(walk()), 1)  # noqa: B023 - called in this iteration
                assert walks == [right], (name, label)
                line += f" {naive_cost[0]:12} {naive_cost[1]:8.1f} {naive_cost[2]:7.0f}"
            print(line, flush=True)
        return most_calls, capacities


def compare(comparison: Comparison, size: int, first_pages: dict[str, float]) -> list[str]:
    """Measure every filter, and for one size every order. Return the rules that are broken."""
    violations: list[str] = []
    cases = FILTERS if size != SIZE_OF_ORDERS else {**FILTERS, **ORDERS}
    for name, parameters in cases.items():
        most_calls, capacities = comparison.pages(name, parameters, with_naive=size <= MAX_WHOLE)
        if most_calls > MAX_CALLS:
            violations.append(f"{size} {name}: {most_calls} calls")
        if capacities[2] > LAST_TO_FIRST * capacities[0]:
            violations.append(f"{size} {name}: the last page is {capacities[2] / capacities[0]:.2f} times the first")
        smallest = first_pages.setdefault(name, capacities[0])
        if max(capacities) > MAX_RATIO * smallest:
            violations.append(f"{size} {name}: {max(capacities) / smallest:.2f} times the smallest size")
    return violations


def main(*arguments: str) -> int:
    """Load, measure and print. Return 1 if calls increase or capacity increases more than allowed."""
    days = 1 if "one-day" in arguments else DAYS
    sizes = [int(argument) for argument in arguments if argument.isdigit()] or SIZES
    client = connect(endpoint())
    violations: list[str] = []
    first_pages: dict[str, float] = {}
    print(HEADING)
    for size in sizes:
        prefix = f"b{size}-"
        tables = make_tables(client, prefix, with_stream=False)
        start = time.perf_counter()
        connection_id, records = load(client, tables, size, days=days)
        load_seconds = time.perf_counter() - start
        violations += compare(Comparison(client, tables, connection_id, records), size, first_pages)
        print(f"{size} records were loaded in {load_seconds:.0f} s")
        drop_tables(client, prefix)
    print("\n".join(violations) or "Every rule holds.")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
