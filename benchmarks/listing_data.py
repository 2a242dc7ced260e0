"""Load a connection's records over a year into a DynamoDB endpoint, quickly and exactly.

The adapter's own functions build the items, and several processes write them with BatchWriteItem. Each record is
written only in its last state. The rows of counts are computed from the same records. They include the zeros that the
earlier states of a record would have left, so a row has the same size as in production.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from adapters.dynamodb import DynamoDBStore, TableNames, compression, keys
from adapters.dynamodb import bodies as stored_bodies
from adapters.dynamodb.counts import count_attribute, day_key
from adapters.dynamodb.records import record_item
from adapters.dynamodb.search_blocks import SearchBlock
from domain import qbxml
from domain.records.connection import Connection
from domain.records.request import ENDED, Attempts, QueuedRequest, State
from domain.records.search_text import searchable_text
from domain.records.webhook import ListedWebhookState, Webhook, WebhookState
from domain.storage.changes import AddRequest, Put
from domain.storage.counts import INSERTED, UPDATED, CountKey
from domain.timestamps import day_of, timestamp
from local.database import answering_endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FIRST_DAY = datetime(2025, 3, 1, tzinfo=UTC)
DAYS = 365
APP_ID = "a0000000-0000-4000-8000-000000000001"
BATCH = 25
CHUNK = 5_000
LOADERS = 3

LIVES: Sequence[tuple[float, State, WebhookState]] = (
    (0.80, State.RESPONSE_RECEIVED, WebhookState.SUCCEEDED),
    (0.06, State.RESPONSE_RECEIVED, WebhookState.NOT_APPLICABLE),
    (0.02, State.RESPONSE_RECEIVED, WebhookState.FAILED),
    (0.07, State.ERROR, WebhookState.SUCCEEDED),
    (0.02, State.ERROR, WebhookState.FAILED),
    (0.02, State.DISCARDED, WebhookState.SUCCEEDED),
    (0.01, State.WAITING, WebhookState.PENDING),
)
"""The assumed share of each state among the loaded records."""

PASSED = [
    (state, ListedWebhookState.PENDING)
    for state in (State.WAITING, State.RETRYABLE, *ENDED)
    if state != State.DISCARDED
]
"""States that nearly every record had at some time of its day. Their counts in its row are now zero."""

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
        capacity = parsed.get("ConsumedCapacity", [])
        with self._lock:
            self.calls += 1
            for consumed in capacity if isinstance(capacity, list) else [capacity]:
                self.capacity += consumed["CapacityUnits"]

    def take(self) -> tuple[int, float]:
        """Return (calls, capacity units) since the last call."""
        measurement = self.calls, self.capacity
        self.calls, self.capacity = 0, 0.0
        return measurement


def endpoint() -> str:
    """Return the DynamoDB endpoint to measure. If there is none, print how to start one and exit."""
    url = answering_endpoint()
    if not url:
        sys.exit(
            "make .tools/dynamodb-local/.installed, then: python -m local.dynamodb_local "
            ".tools/dynamodb-local 8127 python -m benchmarks.listing_times"
        )
    return url


def fixed_time() -> datetime:
    """Return the same moment each time. With this clock a search never reaches its time limit."""
    return FIRST_DAY


def connect(url: str, connections: int = 16) -> Any:
    """Return a client of the endpoint."""
    config = Config(retries={"total_max_attempts": 3}, max_pool_connections=connections, read_timeout=300)
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - not a secret, because the endpoint is on this machine
        config=config,
    )


def a_connection(app_id: str = APP_ID) -> Connection:
    """Return a connection of the app with a new id."""
    start = timestamp(FIRST_DAY)
    return Connection(str(uuid.uuid4()), app_id, "owner", "file", start, start)


def records_over_a_year(connection_id: str, number: int, days: int = DAYS, seed: int = 5) -> Iterator[QueuedRequest]:
    """Yield records with times that are random and evenly distributed over `days`. Each ends within two days."""
    chance = random.Random(seed)  # noqa: S311 - the same records each time
    lives = [(state, webhook_state) for _, state, webhook_state in LIVES]
    shares = [share for share, _, _ in LIVES]
    for _ in range(number):
        inserted = FIRST_DAY + timedelta(seconds=chance.random() * days * 86_400)
        updated = inserted + timedelta(minutes=min(2880.0, chance.expovariate(1 / 30)))
        state, webhook_state = chance.choices(lives, shares)[0]
        was_sent = state in {State.RESPONSE_RECEIVED, State.ERROR}
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
            sent_at=timestamp(inserted + (updated - inserted) * chance.random()) if was_sent else None,
            webhook=Webhook(
                webhook_state, None if webhook_state == WebhookState.NOT_APPLICABLE else "https://example.com/hooks"
            ),
            attempts=Attempts(1),
            revision=4,
        )


class Bodies:
    """The request and response of each record: a customer is added, and QuickBooks responds.

    The domain parses them and builds their search text once, with placeholders for the parts that differ. Filling
    in the placeholders takes a tenth of the time.
    """

    def __init__(self) -> None:
        fields = (
            "<Name>@name@</Name><CompanyName>@name@ Ltd.</CompanyName>"
            "<BillAddress><Addr1>@street@</Addr1><City>@town@</City></BillAddress>"
        )
        request = qbxml.parse_request_xml(
            '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerAddRq requestID="@label@">'
            f"<CustomerAdd>{fields}</CustomerAdd></CustomerAddRq></QBXMLMsgsRq></QBXML>"
        )
        self._request = request.to_xml()
        self._response = (
            '<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><CustomerAddRs requestID="@label@" statusCode="0" '
            'statusSeverity="Info" statusMessage="Status OK"><CustomerRet><ListID>@list@</ListID>'
            f"{fields}</CustomerRet></CustomerAddRs></QBXMLMsgsRs></QBXML>"
        )
        record = replace(next(records_over_a_year("", 1)), id="@id@")
        self._text = searchable_text(record, request, self._response)

    def of(self, record: QueuedRequest) -> tuple[str, str, str]:
        """Return (request, response, search text) of a record, the same each time."""
        chance = random.Random(record.id)  # noqa: S311 - see above
        values = {
            "id": record.id,
            "label": record.request_label,
            "name": f"{chance.choice(NAMES)} {chance.randrange(10**5)}",
            "street": f"{chance.randrange(9999)} {chance.choice(STREETS)}",
            "town": chance.choice(TOWNS),
            "list": f"{chance.getrandbits(32):X}-{chance.getrandbits(32)}",
        }
        request, response, text = self._request, self._response, self._text
        for name, value in values.items():
            request, response = request.replace(f"@{name}@", value), response.replace(f"@{name}@", value)
            text = text.replace(f"@{name}@", value.casefold())
        return request, response, text


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a loading process: the destination, and the day before which search texts are packed."""

    url: str
    tables: TableNames
    connection_id: str
    packed_before: str


def load(client: Any, tables: TableNames, number: int, *, days: int = DAYS) -> tuple[str, list[QueuedRequest]]:
    """Store a connection with `number` records over `days`. Return its id and the records.

    The search texts are stored as in production: those of the last day are in the index, the others in search blocks.
    """
    connection = a_connection()
    DynamoDBStore(client, tables).commit(Put(None, connection))
    records = _in_order(records_over_a_year(connection.id, number, days))
    plan = Plan(client.meta.endpoint_url, tables, connection.id, day_of(records[-1].inserted_at))
    load_start = time.monotonic()
    chunks = [records[start : start + CHUNK] for start in range(0, number, CHUNK)]
    with multiprocessing.get_context("spawn").Pool(LOADERS, _begin, [plan]) as pool:
        for count, _ in enumerate(pool.imap_unordered(_store, enumerate(chunks)), 1):
            if count % 10 == 0:
                print(f"stored {count * CHUNK} of {number} in {time.monotonic() - load_start:.0f} s", file=sys.stderr)
    _store_counts(client, tables, connection.id, records)
    return connection.id, records


_loader: list[tuple[Any, Plan, Bodies]] = []


def load_here(database: Any, tables: TableNames, connection: Connection, number: int) -> None:
    """Store `number` records of a stored connection in a database that is in this process."""
    records = _in_order(
        replace(record, app_id=connection.app_id) for record in records_over_a_year(connection.id, number)
    )
    plan, bodies = Plan("", tables, connection.id, day_of(records[-1].inserted_at)), Bodies()
    for at in range(0, number, CHUNK):
        _store_chunk(database, plan, bodies, at // CHUNK, records[at : at + CHUNK])
    _store_counts(database, tables, connection.id, records)


def _in_order(records: Iterable[QueuedRequest]) -> list[QueuedRequest]:
    return sorted(records, key=lambda record: (record.inserted_at, record.id))


def _begin(plan: Plan) -> None:
    _loader.append((connect(plan.url), plan, Bodies()))


def _store(chunk: tuple[int, list[QueuedRequest]]) -> None:
    _store_chunk(*_loader[0], *chunk)


def _store_chunk(client: Any, plan: Plan, bodies: Bodies, number: int, records: Sequence[QueuedRequest]) -> None:
    """Store one chunk of the records, in order of insertion, with their bodies and search texts."""
    puts: list[tuple[str, keys.Item]] = []
    texts = {}
    for record in records:
        request, response, text = bodies.of(record)
        with_response = replace(record, response_size=len(response), response_attempt="a")
        puts.append((plan.tables.queued_requests, record_item(with_response)))
        body = stored_bodies.new_body_items(AddRequest(record, request, text))[0]
        body |= {keys.RESPONSE: {"B": compression.pack(response)}, keys.RESPONSE_ATTEMPT: {"S": "a"}}
        if day_of(record.inserted_at) < plan.packed_before:
            texts[record.inserted_at, record.id] = text
            del body["search_text"], body["connection_id"]
        puts.append((plan.tables.payloads, body))
    if texts:
        first = keys.search_block_part(*min(texts)) if number else keys.SEARCH_BLOCKS
        puts += [(plan.tables.payloads, item) for item in SearchBlock(first, texts).items(plan.connection_id)]
    write(client, puts)


def _store_counts(client: Any, tables: TableNames, connection_id: str, records: Sequence[QueuedRequest]) -> None:
    rows: dict[str, Counter[str]] = {}
    for record in records:
        for sort, moment in ((INSERTED, record.inserted_at), (UPDATED, record.updated_at)):
            key = CountKey(connection_id, day_of(moment), sort, *record.listed_pair)
            row = rows.setdefault(key.day, Counter())
            row[count_attribute(key)] += 1
            for state, webhook_state in PASSED:
                row[count_attribute(replace(key, state=state, webhook_state=webhook_state))] += 0
    for day, row in rows.items():
        counts = {name: {"N": str(count)} for name, count in row.items()}
        write(client, [(tables.counts, day_key(connection_id, day) | counts)])


def write(client: Any, puts: Sequence[tuple[str, keys.Item]]) -> None:
    """Write items in batches."""
    for start in range(0, len(puts), BATCH):
        requests: dict[str, Any] = {}
        for table, item in puts[start : start + BATCH]:
            requests.setdefault(table, []).append({"PutRequest": {"Item": item}})
        while requests:
            requests = client.batch_write_item(RequestItems=requests)["UnprocessedItems"]
