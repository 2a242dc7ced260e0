"""Measure how many connections the packer of search texts keeps up with.

Run `python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.packing [CONNECTIONS]` (default
100). Each connection has one past day, first with one text, then with 21. The packer visits each day until nothing is
left to do, as its schedules do. The difference is the processor time of a text, the rest that of a day. The database
runs in another process, so its time is not included. The share of a schedule has four minutes of one vCPU every
quarter of an hour.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore
from benchmarks.listing_data import APP_ID, FIRST_DAY, Meter, connect, endpoint
from domain.maintenance.search_packing import Share, pack_days
from domain.records.request import QueuedRequest
from domain.storage.changes import AddRequest
from domain.timestamps import timestamp
from local.tables import drop_tables, make_tables
from local.template import Template

if TYPE_CHECKING:
    from adapters.dynamodb import TableNames

CONNECTIONS = 100
TEXTS = (1, 21)
"""The texts of a day in the two loads."""
VISITS = 4
RUN_SECONDS = 240
"""The time of a run without its reserve (`handlers.pack_search_texts`)."""
RUNS_A_DAY = 24 * 4
LATER = FIRST_DAY + timedelta(days=30)
XML = "<?qbxml version='16.0'?><QBXML/>"


def shares() -> list[Share]:
    """Return the shares that the schedules of the template name."""
    (packer,) = [function for function in Template.load().functions() if "pack_search" in function.handler]
    inputs = [json.loads(event.properties["Input"]) for event in packer.events]
    return [Share(event["share"], event["shares"]) for event in inputs]


def measured(client: Any, tables: TableNames, connections: int, texts: int) -> tuple[float, float, float]:
    """Load and pack days. Return the seconds of the processor, calls and units for each day."""
    store = DynamoDBStore(client, tables)
    for _ in range(connections):
        connection_id, moment = str(uuid.uuid4()), timestamp(FIRST_DAY)
        for number in range(texts):
            record = QueuedRequest(
                str(uuid.uuid4()), connection_id, APP_ID, "CustomerQueryRq", "1", "13.0", moment, moment
            )
            store.commit(AddRequest(record, XML, f"invoice {number} of jones {uuid.uuid4()}"))
    meter = Meter(client)
    start = time.process_time()
    for _ in range(VISITS):
        for share in shares():
            packed = pack_days(store, lambda: LATER, LATER + timedelta(hours=1), share)
            assert packed.finished, packed
            assert not packed.failures, packed.failures
    seconds = time.process_time() - start
    calls, units = meter.take()
    assert not list(store.days_to_pack(timestamp(LATER)[:10]))
    return seconds / connections, calls / connections, units / connections


def main(connections: int = CONNECTIONS) -> None:
    """Measure both loads and print what follows from them."""
    client = connect(endpoint(), connections=50)
    prefix = f"packing{uuid.uuid4().hex[:8]}-"
    tables = make_tables(client, prefix)
    few, many = (measured(client, tables, connections, texts) for texts in TEXTS)
    drop_tables(client, prefix)
    a_text = [(more - less) / (TEXTS[1] - TEXTS[0]) for less, more in zip(few, many, strict=True)]
    a_day = [less - TEXTS[0] * text for less, text in zip(few, a_text, strict=True)]
    print(f"{'':22} {'CPU ms':>8} {'calls':>8} {'units':>8}")
    for name, (seconds, calls, units) in (("a day of a connection", a_day), ("a text", a_text)):
        print(f"{name:22} {seconds * 1000:8.2f} {calls:8.2f} {units:8.2f}")
    seconds = len(shares()) * RUNS_A_DAY * RUN_SECONDS
    print("\nA processor like this one packs")
    for texts in (10, 50, 500):
        in_a_day = seconds / (a_day[0] + texts * a_text[0])
        print(f"{in_a_day / 12:12,.0f} connections with {texts} texts a day within two hours,", end="")
        print(f" {in_a_day:,.0f} within a day")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
