"""Measure creates per second in one connection with one thread, then with fifty. Check the records and the counts.

Run `python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.creates_at_once [SECONDS]`
(default 10 for each). DynamoDB Local does not cancel transactions that conflict. `count_contention` simulates the rate
that DynamoDB itself sustains. The exit status is 1 if a record or a count is lost.
"""

from __future__ import annotations

import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from adapters.dynamodb import DynamoDBStore
from benchmarks.listing_data import APP_ID, a_connection, connect, endpoint
from domain import qbxml
from domain.errors import TooManyRequests
from domain.records.request import QueuedRequest
from domain.storage.changes import Put
from local.tables import drop_tables, make_tables
from tests.support.queueing import command, queueing_without_quotas

SECONDS = 10
THREADS = (1, 50)
REQUEST = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1">'
    "<MaxReturned>10</MaxReturned></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)


def main(seconds: int = SECONDS) -> int:
    """Create records, check them and print the rates. Return 1 if a record or a count was lost."""
    client = connect(endpoint(), connections=max(THREADS))
    prefix = "creates-"
    store = DynamoDBStore(client, make_tables(client, prefix))
    queueing = queueing_without_quotas(store, lambda: datetime.now(UTC), lambda: str(uuid.uuid4()))
    losses = 0
    for number in THREADS:
        connection = a_connection()
        store.commit(Put(None, connection))
        deadline = time.monotonic() + seconds

        def create(_: int, deadline: float = deadline, connection_id: str = connection.id) -> tuple[list[str], int]:
            ids, refusals = [], 0
            while time.monotonic() < deadline:
                try:
                    ids.append(queueing.queue(command(APP_ID, connection_id, REQUEST)).stored.record.id)
                except TooManyRequests:
                    refusals += 1
            return ids, refusals

        with ThreadPoolExecutor(number) as threads:
            results = list(threads.map(create, range(number)))
        ids = [request_id for some, _ in results for request_id in some]
        refusals = sum(some for _, some in results)
        stored_count = sum(isinstance(store.request(request_id), QueuedRequest) for request_id in ids)
        total_count = sum(sum(day.inserted.values()) for day in store.day_counts(connection.id))
        losses += (stored_count != len(ids)) + (total_count != len(ids))
        print(
            f"{number:3} threads: {len(ids) / seconds:6.0f} creates a second; {len(ids)} created, "
            f"{stored_count} stored, {total_count} counted, {refusals} refused",
            flush=True,
        )
    drop_tables(client, prefix)
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
