"""What a search costs: time and read capacity, beside a sequential scan of the table of bodies.

`python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.listing_search [RECORDS]`
(100000). The scan is the naive way: read every item of the table, look into its text.
"""

from __future__ import annotations

import sys
import time

from adapters.dynamodb import DynamoDBStore
from benchmarks.listing_data import APP_ID, Meter, connect, endpoint, load
from domain.listing import ListQuery, Lists
from domain.queued_request import State
from local.tables import drop_tables, make_tables

RECORDS = 100_000
NEEDLE = "zq mercury"
SEARCHES = {
    "ten hits": ListQuery("", search_phrase=NEEDLE),
    "ten hits, state=error": ListQuery("", search_phrase=NEEDLE, state=State.ERROR),
    "many hits": ListQuery("", search_phrase="bayshore"),
    "no hit": ListQuery("", search_phrase="nowhere to be found"),
}


def main(records: int = RECORDS) -> None:
    """Load, search, scan, print."""
    client = connect(endpoint())
    prefix = "search-"
    tables = make_tables(client, prefix)
    connection_id, _ = load(client, tables, records, needle=NEEDLE)
    store = DynamoDBStore(client, tables)
    lists = Lists(store, store, store)
    meter = Meter(client)
    print(f"{'':24} {'pages':>6} {'calls':>6} {'RCU':>9} {'seconds':>8}")
    for name, search in SEARCHES.items():
        query = ListQuery(connection_id, search_phrase=search.search_phrase, state=search.state)
        meter.taken()
        began = time.perf_counter()
        page = lists.page(APP_ID, query)
        seconds = time.perf_counter() - began
        calls, capacity = meter.taken()
        print(f"{name:24} {page.total_pages:6} {calls:6} {capacity:9.1f} {seconds:8.2f}", flush=True)
    began = time.perf_counter()
    hits = 0
    for answer in client.get_paginator("scan").paginate(TableName=tables.payloads):
        hits += sum(NEEDLE in item["search_text"]["S"] for item in answer["Items"] if "search_text" in item)
    calls, capacity = meter.taken()
    print(f"{f'scan, {hits} hits':24} {'':6} {calls:6} {capacity:9.1f} {time.perf_counter() - began:8.2f}")
    drop_tables(client, prefix)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
