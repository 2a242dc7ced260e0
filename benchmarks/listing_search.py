"""Compare a search and a list with a sequential scan and with PostgreSQL (ILIKE and OFFSET) over the same records.

`python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.listing_search [RECORDS [packed|plain]]`
(default 100000 packed). `plain` leaves all search texts in the index, as on the day that they are stored. The scan is
the naive method: it reads every item of the table of bodies and searches its text. With `packed` most items have no
text, so the time is that of the reads alone. PostgreSQL returns a page and the number of records, as the API
requires. It is left out if its programs are not installed. All times come from the same run.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore
from benchmarks.listing_data import APP_ID, Bodies, Meter, connect, endpoint, fixed_time, load, marked_ids
from benchmarks.postgresql import postgresql
from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.records.request import State
from local.tables import drop_tables, make_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.postgresql import PostgreSQL
    from domain.records.request import QueuedRequest

RECORDS = 100_000
NEEDLE = "zq mercury"
QUERIES = {
    "search, ten hits": ListQuery("", search_phrase=NEEDLE),
    "search, ten hits, state=error": ListQuery("", search_phrase=NEEDLE, state=State.ERROR),
    "search, many hits": ListQuery("", search_phrase="bayshore"),
    "search, many hits, state=error": ListQuery("", search_phrase="bayshore", state=State.ERROR),
    "search, many hits, by updated_at": ListQuery("", search_phrase="bayshore", sort="updated_at"),
    "search, no hit": ListQuery("", search_phrase="nowhere to be found"),
    "list": ListQuery(""),
    "list, state=error": ListQuery("", state=State.ERROR),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a page."""

    pages: int
    calls: int
    capacity: float
    seconds: float


def measured(lists: Lists, meter: Meter, query: ListQuery) -> Cost:
    """Request a page and return its cost."""
    meter.take()
    start = time.perf_counter()
    page = lists.page(APP_ID, query)
    return Cost(page.total_pages, *meter.take(), time.perf_counter() - start)


def statements(query: ListQuery) -> str:
    """Return the SQL for a page and for the number of records."""
    conditions = [f"connection_id = '{query.connection_id}'"]
    if query.state:
        conditions.append(f"state = '{query.state}'")
    if query.search_phrase:
        conditions.append(f"search_text ILIKE '%{query.search_phrase}%'")
    where = " AND ".join(conditions)
    offset = (query.page - 1) * query.page_size
    return (
        f"SELECT * FROM queued_requests WHERE {where} ORDER BY {query.sort} DESC, id DESC "  # noqa: S608 - our own text
        f"LIMIT {query.page_size} OFFSET {offset};\nSELECT count(*) FROM queued_requests WHERE {where};"
    )


def scan(client: Any, table: str) -> int:
    """Read every item of the table of bodies. Return the number of texts that contain the needle."""
    return sum(
        NEEDLE in item["search_text"]["S"]
        for response in client.get_paginator("scan").paginate(TableName=table)
        for item in response["Items"]
        if "search_text" in item
    )


def compare(lists: Lists, meter: Meter, connection_id: str, server: PostgreSQL | None) -> None:
    """Print the cost of each page here and in PostgreSQL."""
    print(f"{'':33} {'page':>5} | {'calls':>5} {'RCU':>8} {'seconds':>8} | PostgreSQL: seconds  ratio")
    for name, base_query in QUERIES.items():
        query = replace(base_query, connection_id=connection_id)
        first = measured(lists, meter, query)
        costs = {1: first}
        if first.pages > 1:
            costs[first.pages] = measured(lists, meter, replace(query, page=first.pages))
        for page, cost in costs.items():
            line = f"{name:33} {page:5} | {cost.calls:5} {cost.capacity:8.1f} {cost.seconds:8.2f} |"
            if server:
                seconds = server.seconds(statements(replace(query, page=page)))
                line += f" {seconds:19.2f} {cost.seconds / seconds:6.1f}"
            print(line, flush=True)


def with_texts(records: list[QueuedRequest]) -> Iterator[tuple[QueuedRequest, str, str, str]]:
    """Yield each record with the bodies and the search text that were loaded with it."""
    bodies, has_needle = Bodies(), marked_ids(records)
    for record in records:
        yield record, *bodies.of(record, NEEDLE if record.id in has_needle else "")


def main(records: int = RECORDS, form: str = "packed") -> None:
    """Load and query both databases, run the scan and print the results."""
    client = connect(endpoint())
    prefix = "search-"
    tables = make_tables(client, prefix, with_stream=False)
    connection_id, records_in_memory = load(client, tables, records, packed=form == "packed", needle=NEEDLE)
    store = DynamoDBStore(client, tables)
    meter = Meter(client)
    with postgresql() as server:
        if server:
            server.load(with_texts(records_in_memory))
        else:
            print("PostgreSQL is not installed: its column stays empty.")
        compare(Lists(store, fixed_time), meter, connection_id, server)
    meter.take()
    start = time.perf_counter()
    hits = scan(client, tables.payloads)
    calls, capacity = meter.take()
    print(f"{f'scan, {hits} hits':33} {'':5} | {calls:5} {capacity:8.1f} {time.perf_counter() - start:8.2f} |")
    drop_tables(client, prefix)


if __name__ == "__main__":
    main(*(int(argument) if argument.isdigit() else argument for argument in sys.argv[1:]))  # type: ignore[arg-type]
