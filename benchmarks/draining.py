"""Measure how many requests per minute one Web Connector session sends, compared with a floor without the service.

Run `python -m benchmarks.draining [REQUESTS]` (default 300). The floor replays the replies of the service from memory,
without a service or a database. Its time is that of the simulated Web Connector and QuickBooks. The service then runs
in the same process without HTTP: over the fakes of the tests, over DynamoDB emulated as for `make run`, and over
DynamoDB Local if it runs: `python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.draining`.
The variants alternate for ROUNDS rounds, and the best time of each counts. A time is from the first sendRequestXML to
the last reply. Every three writes are followed by a read.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
import uuid
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from benchmarks.listing_data import APP_ID, a_connection, connect
from domain import qbxml
from domain.connections import passwords
from domain.requests.service import RequestService
from domain.storage.changes import AddConnection
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.protocol import qwc
from local.emulated_dynamodb import quick_moto
from local.tables import drop_tables, make_tables
from simulator import Company, Simulator
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from simulator import Transport

REQUESTS = 300
ROUNDS = 5
PASSWORD = "correct horse battery"  # noqa: S105 - the connection exists for only a second
ENDPOINT = os.environ.get("DYNAMODB_ENDPOINT")
CUSTOMERS = 20


def now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


def new_id() -> str:
    """Return an identifier."""
    return str(uuid.uuid4())


def random_bytes(size: int) -> bytes:
    """Return random bytes."""
    return secrets.token_bytes(size)


def a_request(number: int) -> qbxml.Request:
    """Return a write or, every fourth time, a query for the customer of the previous write."""
    element = f"<CustomerAddRq><CustomerAdd><Name>Customer {number}</Name></CustomerAdd></CustomerAddRq>"
    if number % 4 == 3:
        element = f"<CustomerQueryRq><FullName>Customer {number - 1}</FullName></CustomerQueryRq>"
    return qbxml.parse_request_xml(f'<QBXML><QBXMLMsgsRq onError="stopOnError">{element}</QBXMLMsgsRq></QBXML>')


class Service:
    """A transport to the service in this process. It keeps the replies."""

    def __init__(self, store: Any) -> None:
        self._endpoint = WebConnector(store, now, new_id, random_bytes)
        self.answers: list[bytes] = []

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Answer a call."""
        answer = self._endpoint.answer(body)
        self.answers.append(answer.body.encode())
        return answer.status, self.answers[-1]


class Replay:
    """A transport that replays stored replies."""

    def __init__(self, answers: list[bytes]) -> None:
        self._answers = iter(answers)

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], _body: bytes) -> tuple[int, bytes]:
        """Answer a call."""
        return 200, next(self._answers)


class Timed:
    """A transport that measures the seconds from the first request to the last reply."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.get = transport.get
        self._began: float | None = None
        self.seconds = 0.0

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Pass a call on."""
        if "sendRequestXML" in headers["SOAPAction"] and self._began is None:
            self._began = time.perf_counter()
        answer = self._transport.post(url, headers, body)
        if "receiveResponseXML" in headers["SOAPAction"] and self._began is not None:
            self.seconds = time.perf_counter() - self._began
        return answer


def drain(qwc_text: str, transport: Transport, requests: int) -> float:
    """Run a session that takes all requests. Return its duration in seconds."""
    timed = Timed(transport)
    result = Simulator(qwc_text, PASSWORD, Company.generated(customers=CUSTOMERS), transport=timed).run_once()
    assert (result.error, result.requests) == (None, requests), result
    return timed.seconds


def through_the_service(store: Any, requests: int) -> tuple[str, float, list[bytes]]:
    """Queue requests on a new connection and drain it. Return its `.qwc` text, the seconds and the replies."""
    connection = replace(
        a_connection(),
        owner_id=new_id().upper(),
        file_id=new_id().upper(),
        password_hash=passwords.hash_password(PASSWORD, random_bytes(passwords.SALT_BYTES)),
    )
    store.commit(AddConnection(connection))
    queueing = RequestService(store, now, new_id)
    for number in range(requests):
        queueing.queue(APP_ID, connection.id, a_request(number), None)
    text = qwc.render(connection, base_url="https://queue.example.com")
    service = Service(store)
    return text, drain(text, service, requests), service.answers


@contextmanager
def emulated() -> Iterator[DynamoDBStore]:
    """Yield a store on DynamoDB, which is emulated in this process."""
    with quick_moto(), mock_aws():
        client = connect("https://dynamodb.us-east-1.amazonaws.com")
        yield DynamoDBStore(client, make_tables(client, ""))


@contextmanager
def dynamodb_local(url: str) -> Iterator[DynamoDBStore]:
    """Yield a store on the endpoint."""
    client = connect(url)
    prefix = f"draining{uuid.uuid4().hex[:8]}-"
    try:
        yield DynamoDBStore(client, make_tables(client, prefix))
    finally:
        drop_tables(client, prefix)


def main(requests: int = REQUESTS) -> None:
    """Drain the variants alternately and print the rates."""
    stores: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "fakes": lambda: nullcontext(FakeStore()),
        "DynamoDB emulated": emulated,
    }
    if ENDPOINT:
        stores["DynamoDB Local"] = partial(dynamodb_local, ENDPOINT)
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, new_store in stores.items():
            with new_store() as store:
                text, seconds, answers = through_the_service(store, requests)
            best[name] = min(best.get(name) or seconds, seconds)
            if name == "fakes":
                seconds = drain(text, Replay(answers), requests)
                best["floor"] = min(best.get("floor") or seconds, seconds)
    print(f"{'':20} {'ms/request':>11} {'requests/min':>13} {'x floor':>8}")
    for name in ("floor", *stores):
        each = best[name] / requests
        print(f"{name:20} {1000 * each:11.2f} {60 / each:13,.0f} {best[name] / best['floor']:8.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
