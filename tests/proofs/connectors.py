"""Many Web Connectors at once, each with its connection and QuickBooks, over one store.

Each Web Connector drains its queue while a consumer queues requests: with threads and a real clock. Every response
contains the name that its request asked for.
"""

from __future__ import annotations

import re
import secrets
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from domain import qbxml
from domain.errors import TooManyRequests
from domain.queueing.new_request import Idempotency, Queued, Queueing
from domain.records.request import QueuedRequest, State
from domain.storage.changes import AddRequest, Put
from domain.storage.counts import CountKey, count_changes
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.protocol import qwc
from simulator import Company, Simulator
from simulator.basics.errors import TransportError
from tests.proofs import output
from tests.support.builders import a_connection
from tests.support.queueing import command, queueing_without_quotas
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.records.connection import Connection

MAX_SESSIONS = 1_000
"""A queue that needs more sessions is stuck."""
MAX_BYTES = 1_000_000
MAX_ATTEMPTS = 20


def now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


def new_id() -> str:
    """Return an identifier."""
    return str(uuid.uuid4())


def new_secret(size: int) -> bytes:
    """Return random bytes."""
    return secrets.token_bytes(size)


class Transport:
    """Calls an endpoint in this process, like one function of many."""

    def __init__(self, store: Any) -> None:
        self._endpoint = WebConnector(store, now, new_id, new_secret)

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call."""
        try:
            response = self._endpoint.reply(body)
        except ClientError as error:
            # Under load, DynamoDB Local gives up waiting for a lock. The gateway would return 502.
            raise TransportError(str(error)) from None
        return response.status, response.body.encode()


@dataclass
class Tenant:
    """A connection, its consumer and its Web Connector."""

    store: Any
    connection: Connection
    requests: list[tuple[str, str]] = field(default_factory=list)
    """The id and the name in each queued request, in order."""
    done_queueing: bool = False

    def __post_init__(self) -> None:
        """Add the connection."""
        self.store.commit(Put(None, self.connection))
        self.company = Company.generated(customers=3, sales_orders=0)
        text = qwc.render(self.connection, base_url="https://queue.example.com")
        self.simulator = Simulator(text, PASSWORD, self.company, transport=Transport(self.store))

    def queue(self, requests: int) -> None:
        """Queue requests: three writes, a read of the last of them, and so on."""
        queueing = queueing_without_quotas(self.store, now, new_id)
        name = ""
        for number in range(requests):
            if number % 4 < 3:
                name = f"{self.connection.id[:8]}-{number}"
                element = f"<CustomerAddRq><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>"
            else:
                element = f"<CustomerQueryRq><FullName>{name}</FullName></CustomerQueryRq>"
            request = qbxml.parse_request_xml(
                f'<QBXML><QBXMLMsgsRq onError="stopOnError">{element}</QBXMLMsgsRq></QBXML>'
            )
            result = self._persistently(queueing, request, Idempotency(str(number), name))
            self.requests.append((result.stored.record.id, name))
        self.done_queueing = True

    def _persistently(self, queueing: Queueing, request: qbxml.Request, key: Idempotency) -> Queued:
        """Queue a request; repeat the call with the same key if there is no reply."""
        for _ in range(MAX_ATTEMPTS):
            with suppress(ClientError, TooManyRequests):
                return queueing.queue(command(self.connection.app_id, self.connection.id, request, idempotency=key))
        raise AssertionError("The request cannot be queued.")

    def drain(self) -> int:
        """Run sessions until nothing more is queued; return their number."""
        for number in range(1, MAX_SESSIONS):
            last = self.done_queueing
            if self.simulator.run_once().status == "No Data Exchange" and last:
                return number
        raise AssertionError("The queue never gets empty.")

    def check(self) -> None:
        """Check that each request has its response, that QuickBooks executed all once in order, and exact counts."""
        records: list[QueuedRequest] = []
        for start in range(0, len(self.requests), 50):
            part = self.requests[start : start + 50]
            batch = self.store.request_batch([request_id for request_id, _ in part])
            items = batch.with_bodies(list(batch.records), max_response_bytes=MAX_BYTES, max_total_bytes=50 * MAX_BYTES)
            by_id = {item.record.id: item for item in items}
            for request_id, name in part:
                item = by_id[request_id]
                assert item.record.state is State.RESPONSE_RECEIVED, item.record
                assert f'requestID="{request_id}"' in item.response_xml
                assert re.findall("<Name>([^<]*)</Name>", item.response_xml) == [name]
                records.append(item.record)
        ids = {request_id for request_id, _ in self.requests}
        assert [execution.message_set_id for execution in self.company.writes] == [
            record.message_set_id for record in records if not record.is_read
        ]
        # A read may be sent twice if our reply to its response was lost.
        order = list(
            dict.fromkeys(execution.request_id for execution in self.company.executed if execution.request_id in ids)
        )
        assert order == [request_id for request_id, _ in self.requests]
        counts = {
            CountKey(self.connection.id, day.day, sort, *pair): number
            for day in self.store.day_counts(self.connection.id)
            for sort in ("inserted_at", "updated_at")
            for pair, number in day.of(sort).items()
            if number
        }
        assert counts == count_changes([AddRequest(record, "", "") for record in records])


def at_once(store: Any, connectors: int, requests: int) -> int:
    """Let `connectors` Web Connectors drain `requests` requests each, at once; return the number of sessions."""
    tenants = [
        Tenant(store, a_connection(id=new_id(), app_id=new_id(), file_id=new_id().upper(), password_hash=PASSWORD_HASH))
        for _ in range(connectors)
    ]
    with ThreadPoolExecutor(2 * connectors) as threads:
        queueing = [threads.submit(tenant.queue, requests) for tenant in tenants]
        draining = [threads.submit(tenant.drain) for tenant in tenants]
        for consumer in queueing:
            consumer.result()
        sessions = sum(connector.result() for connector in draining)
    for tenant in tenants:
        tenant.check()
    return sessions


def prove(store: Any, connectors: int, requests: int) -> bool:
    """Drain and print the result. Raises the rule that does not hold."""
    start = time.monotonic()
    sessions = at_once(store, connectors, requests)
    seconds = time.monotonic() - start
    output.result(
        f"connectors: {connectors} at once, {requests} requests each, {sessions} sessions, {seconds:.0f} s: "
        f"{60 * connectors * requests / seconds:.0f} requests a minute, nothing failed"
    )
    return True
