"""A connection's records over a year on a DynamoDB endpoint, loaded quickly and exactly.

Items are made by the adapter's own functions and put by BatchWriteItem, as the last state of each
record; the rows of counts are computed from the same records, zeros that a record's earlier states
would have left behind included, so that a row has the size that it has in service. Of a million
records only those of the days around the first, the middle and the last page are stored (with the
counts of all): a page reads nothing of the other days, and loading them all takes an hour.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from adapters.dynamodb import DynamoDBStore, TableNames, items, payloads
from domain import qbxml
from domain.changes import AddConnection
from domain.connection import Connection
from domain.counts import INSERTED, UPDATED, CountKey
from domain.queued_request import QueuedRequest, State, WebhookState, day_of, timestamp
from domain.searching import searchable_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BEGAN = datetime(2025, 3, 1, tzinfo=UTC)
DAYS = 365
APP_ID = "a0000000-0000-4000-8000-000000000001"
BATCH = 25
LOADERS = 4
LARGEST_WHOLE = 200_000
"""More records than this are stored in part."""
STORED_DAYS = [*range(4), *range(DAYS // 2 - 5, DAYS // 2 + 6), *range(DAYS - 4, DAYS + 3)]
"""Which days of the year are stored then: a filter's middle page lies a day or two from the middle."""

LIVES: Sequence[tuple[float, State, WebhookState]] = (
    (0.80, State.RESPONSE_RECEIVED, WebhookState.SUCCEEDED),
    (0.06, State.RESPONSE_RECEIVED, WebhookState.NOT_APPLICABLE),
    (0.02, State.RESPONSE_RECEIVED, WebhookState.FAILED),
    (0.07, State.ERROR, WebhookState.SUCCEEDED),
    (0.02, State.ERROR, WebhookState.FAILED),
    (0.02, State.DISCARDED, WebhookState.SUCCEEDED),
    (0.01, State.WAITING, WebhookState.PENDING),
)
"""What became of a record: the share of each, an assumption."""

PASSED = [(state, WebhookState.PENDING) for state in State if state != State.DISCARDED]
"""What nearly every record was at some time of its day: a number in its row that is zero by now."""

NAMES = ("Abercrombie", "Baker", "Castillo", "Dubois", "Eriksen", "Fischer", "Garcia", "Hansen", "Ivanova", "Jones")
STREETS = ("Main Street", "Harbour Road", "Station Lane", "Mill Hill", "Church Row", "Bayshore Boulevard", "Oak Avenue")
TOWNS = ("Bayshore", "Middlefield", "San Mateo", "Millbrae", "East Bayshore", "Halfmoon Bay", "Brisbane")


class Meter:
    """Counts a client's calls and the read capacity that they consumed."""

    def __init__(self, client: Any) -> None:
        self.calls = 0
        self.capacity = 0.0
        self._lock = threading.Lock()
        client.meta.events.register("provide-client-params.dynamodb", self._ask)
        client.meta.events.register("after-call.dynamodb", self._add)

    def _ask(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _add(self, parsed: dict[str, Any], **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        with self._lock:
            self.calls += 1
            for one in consumed if isinstance(consumed, list) else [consumed]:
                self.capacity += one["CapacityUnits"]

    def taken(self) -> tuple[int, float]:
        """Return (calls, capacity units) since it was asked last."""
        taken = self.calls, self.capacity
        self.calls, self.capacity = 0, 0.0
        return taken


def endpoint() -> str:
    """Return the DynamoDB endpoint to measure on; say how to have one and exit when there is none."""
    found = os.environ.get("DYNAMODB_ENDPOINT")
    if not found:
        sys.exit(
            "make .tools/dynamodb-local/.installed, then: python -m local.dynamodb_local "
            ".tools/dynamodb-local 8127 python -m benchmarks.listing"
        )
    return found


def connect(url: str, connections: int = 16) -> Any:
    """Return a client of the endpoint."""
    config = Config(retries={"total_max_attempts": 3}, max_pool_connections=connections, read_timeout=300)
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - no secret: the endpoint is on this machine
        config=config,
    )


def a_connection() -> Connection:
    """Return a connection of the app with an id of its own."""
    began = timestamp(BEGAN)
    return Connection(str(uuid.uuid4()), APP_ID, "owner", "file", began, began)


def records_over_a_year(connection_id: str, number: int, seed: int = 5) -> Iterator[QueuedRequest]:
    """Yield records whose moments are spread evenly at random; answered within two days."""
    chance = random.Random(seed)  # noqa: S311 - the same records each time
    lives = [(state, webhook_state) for _, state, webhook_state in LIVES]
    shares = [share for share, _, _ in LIVES]
    for _ in range(number):
        inserted = BEGAN + timedelta(seconds=chance.random() * DAYS * 86_400)
        updated = inserted + timedelta(minutes=min(2880.0, chance.expovariate(1 / 30)))
        state, webhook_state = chance.choices(lives, shares)[0]
        yield QueuedRequest(
            id=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            connection_id=connection_id,
            app_id=APP_ID,
            request_name="CustomerAddRq",
            request_label=str(chance.randrange(10**6)),
            qbxml_version="13.0",
            inserted_at=timestamp(inserted),
            updated_at=timestamp(updated),
            state=state,
            webhook_state=webhook_state,
            webhook_url=None
            if webhook_state == WebhookState.NOT_APPLICABLE
            else "https://example.com/hooks/quickbooks",
            sessions=1,
            revision=4,
        )


def bodies(record: QueuedRequest, chance: random.Random) -> tuple[str, str, str]:
    """Return (request, response, search text) of a record: a customer that is added, and what QuickBooks says."""
    name = f"{chance.choice(NAMES)} {chance.randrange(10**5)}"
    address = f"<Addr1>{chance.randrange(9999)} {chance.choice(STREETS)}</Addr1><City>{chance.choice(TOWNS)}</City>"
    fields = f"<Name>{name}</Name><CompanyName>{name} Ltd.</CompanyName><BillAddress>{address}</BillAddress>"
    request = qbxml.parse_request_xml(
        '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerAddRq requestID="1">'
        f"<CustomerAdd>{fields}</CustomerAdd></CustomerAddRq></QBXMLMsgsRq></QBXML>"
    )
    response = (
        '<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><CustomerAddRs requestID="1" statusCode="0" statusSeverity="Info" '
        f'statusMessage="Status OK"><CustomerRet><ListID>{chance.getrandbits(64):X}</ListID>{fields}'
        "</CustomerRet></CustomerAddRs></QBXMLMsgsRs></QBXML>"
    )
    return request.to_xml(), response, searchable_text(record, request, response)


def load(client: Any, tables: TableNames, number: int, *, needle: str = "") -> tuple[str, list[QueuedRequest]]:
    """Store a connection with `number` records; return its id and them. Ten texts hold the `needle`."""
    connection = a_connection()
    DynamoDBStore(client, tables).commit(AddConnection(connection))
    chance = random.Random(6)  # noqa: S311 - the same bodies each time
    # A hundred bodies serve all records: they are as large as any, and making each would take longer than loading.
    templates = [bodies(record, chance) for record in records_over_a_year(connection.id, 100)]
    counts: Counter[CountKey] = Counter()
    records = list(records_over_a_year(connection.id, number))
    stored_days = {day_of(timestamp(BEGAN + timedelta(days=day))) for day in STORED_DAYS}
    marked = {record.id for record in chance.sample(records, min(10, number))}

    def puts() -> Iterator[tuple[str, items.Item]]:
        for index, record in enumerate(records):
            for sort, moment in ((INSERTED, record.inserted_at), (UPDATED, record.updated_at)):
                key = CountKey(connection.id, day_of(moment), sort, record.state, record.webhook_state)
                counts[key] += 1
                for state, webhook_state in PASSED:
                    counts[replace(key, state=state, webhook_state=webhook_state)] += 0
            if number > LARGEST_WHOLE and day_of(record.inserted_at) not in stored_days:
                continue
            request, response, text = templates[index % len(templates)]
            # Its own id is what makes a text unlike the others, as in service.
            text = record.id + text[36:] + (needle if record.id in marked else "")
            body = payloads.new_body_items(record, request, text)[0]
            stored = replace(record, response_size=len(response))
            yield tables.queued_requests, items.record_item(stored)
            yield tables.payloads, body | items.item_of({"response": payloads.pack(response)})

    write(client, puts())
    rows: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        rows.setdefault(key.day, {})[items.count_attribute(key)] = count
    write(
        client,
        (
            (tables.counts, items.item_of({"connection_id": connection.id, "day": day, **row}))
            for day, row in rows.items()
        ),
    )
    return connection.id, records


def write(client: Any, puts: Iterator[tuple[str, items.Item]]) -> None:
    """Put items by batches, several at the same time."""
    lock = threading.Lock()

    def loader() -> None:
        while True:
            with lock:
                batch = [put for _, put in zip(range(BATCH), puts, strict=False)]
            if not batch:
                return
            wanted: dict[str, Any] = {}
            for table, item in batch:
                wanted.setdefault(table, []).append({"PutRequest": {"Item": item}})
            while wanted:
                wanted = client.batch_write_item(RequestItems=wanted)["UnprocessedItems"]

    with ThreadPoolExecutor(LOADERS) as pool:
        for done in [pool.submit(loader) for _ in range(LOADERS)]:
            done.result()
