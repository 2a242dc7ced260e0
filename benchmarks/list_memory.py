"""Measure the memory and the size of one list page with large bodies.

Run it on DynamoDB Local, which `make .tools/dynamodb-local/.installed` downloads:
`python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.list_memory`. A process of its own
calls the function of each list. Its peak of resident memory is compared with the peak after a list of small bodies. The
exit status is 1 if a peak exceeds half of the memory that the template gives the function.
"""

from __future__ import annotations

import base64
import json
import logging
import multiprocessing
import random
import resource
import sys
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore, TableNames
from benchmarks.listing_data import APP_ID, connect, endpoint
from domain.records.connection import Connection
from domain.records.request import QueuedRequest, State
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from handlers import list_queued_requests
from local.tables import drop_tables, make_tables, table_names
from local.template import Template
from tests.support.api_client import api_event
from tests.support.services import services_with, using

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "list-memory-"
NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
MIB = 1024 * 1024
MAX_SHARE = 0.5

QUERY = "<QBXML><QBXMLMsgsRq><CustomerQueryRq><FullName>{}</FullName></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
ANSWER = '<QBXML><QBXMLMsgsRs><CustomerQueryRs statusCode="0">{}</CustomerQueryRs></QBXMLMsgsRs></QBXML>'
CUSTOMER = "<CustomerRet><ListID>80000001-1</ListID><Name>Müller &amp; Søn</Name></CustomerRet>\n"


def of_size(text: str, size: int) -> str:
    """Return `text` repeated to about `size` bytes."""
    return text * (size // len(text.encode()))


def noise(size: int) -> str:
    """Return text of `size` bytes that compresses to three quarters."""
    return base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()  # noqa: S311 - not a secret


CASES: Mapping[str, tuple[int, str, str]] = {
    "20 small records": (20, "Ann", CUSTOMER),
    "40 responses of 3 MB": (40, "Ann", of_size(CUSTOMER, 3 * MIB)),
    "100 responses of 250 KB": (100, "Ann", of_size(CUSTOMER, 250_000)),
    "100 responses of noise": (100, "Ann", noise(250_000)),
    "40 requests of 0.95 MB": (40, of_size("Ann and Bob, ", 950_000), CUSTOMER),
    "40 requests of emoji": (40, of_size("Ann and Bob, ", 950_000) + "\N{GRINNING FACE}", CUSTOMER),
    "100 requests of quotes, emoji": (
        100,
        of_size('"', 950_000) + "\N{GRINNING FACE}",
        of_size('"', 250_000) + "\U0001f600",
    ),
    "100 requests of noise": (100, noise(950_000), noise(250_000)),
}
"""The number of records, the text of a request and the content of a response."""


AUTHORIZER = {"app_id": APP_ID, "scope": "full", "reads_per_second": "1000000"}
"""The clock stands still, so all reads are in the same second."""


def load(store: DynamoDBStore, count: int, text: str, content: str) -> str:
    """Store a connection with requests that have ended. Return its id."""
    connection = Connection(str(uuid.uuid4()), APP_ID, "", "", timestamp(NOW), timestamp(NOW))
    store.commit(Put(None, connection))
    request_xml, response_xml = QUERY.format(text), ANSWER.format(content)
    for _ in range(count):
        record = QueuedRequest(
            id=str(uuid.uuid4()),
            connection_id=connection.id,
            app_id=APP_ID,
            request_name="CustomerQueryRq",
            request_label="1",
            qbxml_version="16.0",
            inserted_at=timestamp(NOW),
            updated_at=timestamp(NOW),
            state=State.SENT,
        )
        store.commit(AddRequest(record, request_xml, ""))
        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOW), response_xml=response_xml))
    return connection.id


def measure(connection_id: str, accept_gzip: bool, results: Any) -> None:
    """Call the list's function twice and report (peak in MB, seconds, size of the HTTP response)."""
    logging.disable()
    headers = {"Accept": "application/json", **({"Accept-Encoding": "gzip"} if accept_gzip else {})}
    url = f"/api/v1/connections/{connection_id}/queued_requests?page_size=100"
    event = api_event("GET", url, headers=headers, authorizer=AUTHORIZER)
    store = DynamoDBStore(connect(endpoint()), table_names(PREFIX))
    with using(services_with(store, lambda: NOW)):
        for _ in range(2):
            start = time.perf_counter()
            response = list_queued_requests.handler(event, None)
            seconds = time.perf_counter() - start
    assert response["statusCode"] == 200, response["body"][:500]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put((peak, seconds, len(json.dumps(response, ensure_ascii=False).encode())))


def main(part_of_name: str = "") -> int:
    """Load and measure every case with this part in its name."""
    memory = Template.load().document["Globals"]["Function"]["MemorySize"]
    client = connect(endpoint())
    tables: TableNames = make_tables(client, PREFIX)
    store = DynamoDBStore(client, tables)
    processes = multiprocessing.get_context("spawn")
    highest = 0.0
    print(f"{'list':32} {'gzip':>5} {'peak MB':>8} {'seconds':>8} {'response MB':>12}")
    try:
        for name, case in ((name, case) for name, case in CASES.items() if part_of_name in name):
            connection_id = load(store, *case)
            for accept_gzip in (False, True):
                results = processes.Queue()
                process = processes.Process(target=measure, args=(connection_id, accept_gzip, results))
                process.start()
                process.join()
                peak, seconds, size = results.get(timeout=1)
                highest = max(highest, peak)
                print(f"{name:32} {'yes' if accept_gzip else 'no':>5} {peak:8.0f} {seconds:8.2f} {size / MIB:12.2f}")
    finally:
        drop_tables(client, PREFIX)
    print(f"highest {highest:.0f} MB of the function's {memory} MB")
    return 1 if highest > memory * MAX_SHARE else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
