"""Every way into the service for XML, and what it costs in memory and processor time.

A door prepares the service in a new process and returns a function that passes one text through it. The text is already
in memory then, as the event of a Lambda function is.
"""

from __future__ import annotations

import json
import logging
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from threading import Barrier, BrokenBarrierError
from typing import TYPE_CHECKING

from adapters.dynamodb.bodies import pack, unpack
from domain.records.request import State, StoredRequest
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.ports import Delivery
from domain.web_connector.protocol.methods import NAMESPACE
from domain.web_connector.protocol.soap import SOAP_11
from domain.webhooks.defaults import MAX_BODY_BYTES as MAX_WEBHOOK_BYTES
from domain.webhooks.defaults import MAX_PARALLEL_ATTEMPTS
from domain.webhooks.delivery import Deliverer
from domain.webhooks.patience import Patience
from domain.webhooks.ports import HttpResponse
from handlers import create_queued_request, get_queued_request
from handlers.views.webhook_event import event_body
from tests.support.api_client import api_event
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.hostile_xml import SHAPES
from tests.support.qbxml_samples import request_xml, response_xml
from tests.support.services import services_with, using
from tests.support.web_connector.connector import Connector
from tests.support.webhooks import SECRET, PlannedAttempts, a_webhook, first_attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_MEMORY_BYTES = 256 * 1024 * 1024
MAX_CPU_SECONDS = 2.0
"""What one call or one stored document may use, in addition to the memory of the idle process."""

_ENVELOPE_BYTES = 1024
"""The bytes that a text leaves for the envelope around it."""

_MAX_CALL_BYTES = 6 * 1024 * 1024 - _ENVELOPE_BYTES
_MAX_REQUEST_BYTES = 1024 * 1024 - _ENVELOPE_BYTES

Reader = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Door:
    """A door: the size of the largest text that it accepts, and a function that opens it."""

    max_bytes: int
    open: Callable[[], Reader]


@dataclass(frozen=True, slots=True)
class Usage:
    """The peak of resident memory above that of the idle process, and the processor time."""

    bytes: int
    cpu_seconds: float


class ProcessFailed(Exception):
    """The process raised an error, such as MemoryError, or was ended."""


def _anonymous_call() -> Reader:
    """Return a reader of calls with an unknown ticket."""
    endpoint = Connector().endpoint
    return lambda text: endpoint.reply(_call("sendRequestXML", "nobody", "", text))


def _host_facts() -> Reader:
    """Return a reader of the facts about QuickBooks in the first call of a session."""
    connector = Connector()
    connector.connect()
    connector.queue()
    connector.authenticate()
    return lambda text: connector.endpoint.reply(
        _call("sendRequestXML", connector.ticket, f"<strHCPResponse>{_cdata(response_xml(text))}</strHCPResponse>")
    )


def _received() -> Reader:
    """Return a reader of the response to a request in flight."""
    connector = Connector()
    connector.connect()
    connector.queue(request_label="1")
    connector.begin()

    def receive(text: str) -> object:
        connector.endpoint.reply(
            _call("receiveResponseXML", connector.ticket, f"<response>{_cdata(_response(text))}</response>")
        )
        return pack(connector.response(connector.records[0].id) or "")

    return receive


def _created(query: str = "") -> Reader:
    """Return a reader of an API consumer's request in XML."""
    store = FakeStore()
    store.commit(Put(None, a_connection()))
    url = f"/api/v1/connections/{CONNECTION_ID}/queued_requests{query}"

    def create(text: str) -> object:
        # JSON would escape the other quotes, and the body would be too large.
        text = text.replace('"', "'")
        body = json.dumps({"request_xml": request_xml(f"<CustomerQueryRq>{text}</CustomerQueryRq>")})
        event = api_event("POST", url, body=body, authorizer={"app_id": APP_ID, "scope": "full"})
        with using(services_with(store, FixedClock())):
            return create_queued_request.handler(event, None)

    return create


def _returned(**headers: str) -> Reader:
    """Return a reader of a stored response that the API returns."""
    store = FakeStore()
    record = a_record(state=State.SENT)
    store.commit(Put(None, a_connection()), AddRequest(record, REQUEST_XML, ""))
    event = api_event(
        "GET",
        f"/api/v1/queued_requests/{record.id}",
        headers={"Accept": "application/json", **headers},
        authorizer={"app_id": APP_ID, "scope": "full"},
    )

    def get(text: str) -> object:
        text = unpack(pack(_response(text)))
        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), text))
        with using(services_with(store, FixedClock())):
            return get_queued_request.handler(event, None)

    return get


def _delivered() -> Reader:
    """Return a reader of a stored response in the event of a webhook."""
    record = a_record(state=State.RESPONSE_RECEIVED)
    return lambda text: event_body(StoredRequest(record, REQUEST_XML, unpack(pack(_response(text)))), "now")


class _Batch(FakeStore):
    """A store in which every record has the same response. The receiver of its webhooks waits for all of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.packed = pack(_response(text))
        self.all_posted = Barrier(MAX_PARALLEL_ATTEMPTS)

    def delivery(self, *_: object, **__: object) -> Delivery:
        """Return a record with a copy of the response."""
        return Delivery(StoredRequest(BATCH_RECORD, REQUEST_XML, unpack(self.packed)), (SECRET,))

    def post(self, _url: str, _headers: Mapping[str, str], _body: bytes, timeout_seconds: float) -> HttpResponse:
        """Respond when all attempts have posted, or when the time limit has passed."""
        with suppress(BrokenBarrierError):
            self.all_posted.wait(timeout_seconds)
        return HttpResponse(204, "")


BATCH_RECORD = a_record(state=State.RESPONSE_RECEIVED, webhook=a_webhook())


def _batch() -> Reader:
    """Return a reader of a stored response in the events of a whole batch of webhooks."""

    def deliver(text: str) -> object:
        clock, store = FixedClock(), _Batch(text)
        retries = PlannedAttempts([])
        deliverer = Deliverer(store, event_body, store, retries, clock, lambda: 0.5, Patience(clock))
        with ThreadPoolExecutor(MAX_PARALLEL_ATTEMPTS) as pool:
            return list(pool.map(deliverer.attempt, [first_attempt(BATCH_RECORD, NOON)] * MAX_PARALLEL_ATTEMPTS))

    return deliver


DOORS: Mapping[str, Door] = {
    "anonymous call": Door(_MAX_CALL_BYTES, _anonymous_call),
    "facts about QuickBooks": Door(_MAX_CALL_BYTES, _host_facts),
    "response of QuickBooks": Door(_MAX_CALL_BYTES, _received),
    "request_xml": Door(_MAX_REQUEST_BYTES, _created),
    "request_xml, not validated": Door(_MAX_REQUEST_BYTES, partial(_created, "?validate=false")),
    "GET": Door(_MAX_CALL_BYTES, _returned),
    "GET, gzip": Door(_MAX_CALL_BYTES, partial(_returned, **{"Accept-Encoding": "gzip"})),
    "webhook": Door(MAX_WEBHOOK_BYTES, _delivered),
}
"""The doors by name. A list does not parse the bodies that it shows: `benchmarks/list_memory.py` measures it."""

BATCH = Door(MAX_WEBHOOK_BYTES, _batch)
"""A whole batch of webhooks. It may take more than one document: half of the memory of a function."""


def _call(method: str, ticket: str, *members: str) -> str:
    return (
        f'<soap:Envelope xmlns:soap="{SOAP_11.namespace}"><soap:Body><{method} xmlns="{NAMESPACE}">'
        f"<ticket>{ticket}</ticket>{''.join(members)}</{method}></soap:Body></soap:Envelope>"
    )


def _cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _response(text: str) -> str:
    return response_xml(f'<CustomerQueryRs requestID="1" statusCode="0" statusMessage="">{text}</CustomerQueryRs>')


def measured(door: Door, shape: str, size: int, seed: int, *, limit_bytes: int | None = None) -> Usage:
    """Return the memory and the time that a text of this shape takes in a new process.

    Raises ProcessFailed if it needs more memory.

    `limit_bytes` is the address space that the process may use in addition to that of the idle process.
    """
    with tempfile.TemporaryDirectory() as folder:
        text, result = Path(folder) / "text", Path(folder) / "result"

        def generate() -> None:
            generated = SHAPES[shape](Random(seed), size)
            text.write_text(generated, encoding="utf-8", newline="")

        def measure() -> None:
            usage = _usage(door.open, text, limit_bytes)
            result.write_text(json.dumps([usage.bytes, usage.cpu_seconds]))

        for step in (generate, measure):
            process = get_context("fork").Process(target=step)
            process.start()
            process.join()
            if process.exitcode:
                raise ProcessFailed(f"The process for {shape} of {size:,} bytes failed with {process.exitcode}.")
        return Usage(*json.loads(result.read_text()))


def _usage(open_door: Callable[[], Reader], path: Path, limit_bytes: int | None) -> Usage:
    logging.disable()
    read = open_door()
    idle = _status("VmRSS")
    text = path.read_bytes().decode("utf-8")
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak to the present
    if limit_bytes is not None:
        limit = _status("VmSize") + limit_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    start = time.process_time()
    read(text)
    return Usage(_status("VmHWM") - idle, time.process_time() - start)


def _status(name: str) -> int:
    """Return a size of this process in bytes: VmRSS, VmHWM (its peak) or VmSize."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
