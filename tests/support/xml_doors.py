"""Every way into the service for XML, and what it costs in memory.

A door prepares the service in a new process and returns a function that passes one text through it. The text is already
in memory then, as the event of a Lambda function is.
"""

from __future__ import annotations

import json
import logging
import resource
import tempfile
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from adapters.dynamodb.compression import pack, unpack
from domain.records.request import State, StoredRequest
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.web_connector.protocol.methods import NAMESPACE
from domain.web_connector.protocol.soap import SOAP_11
from handlers import create_queued_request, get_queued_request
from handlers.views.webhook_event import event_body
from tests.support.api_client import api_event
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.hostile_xml import SHAPES
from tests.support.qbxml_samples import request_xml, response_xml
from tests.support.services import services_with, using
from tests.support.web_connector.connector import Connector

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_MEMORY_BYTES = 256 * 1024 * 1024
"""What one call or one stored document may use, in addition to the memory of the idle process."""

Reader = Callable[[str], object]

Door = Callable[[], Reader]
"""A function that opens a door."""


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


DOORS: Mapping[str, Door] = {
    "anonymous call": _anonymous_call,
    "facts about QuickBooks": _host_facts,
    "response of QuickBooks": _received,
    "request_xml": _created,
    "request_xml, not validated": partial(_created, "?validate=false"),
    "GET": _returned,
    "GET, gzip": partial(_returned, **{"Accept-Encoding": "gzip"}),
    "webhook": _delivered,
}
"""The doors by name. A list does not parse the bodies that it shows."""


def _call(method: str, ticket: str, *members: str) -> str:
    return (
        f'<soap:Envelope xmlns:soap="{SOAP_11.namespace}"><soap:Body><{method} xmlns="{NAMESPACE}">'
        f"<ticket>{ticket}</ticket>{''.join(members)}</{method}></soap:Body></soap:Envelope>"
    )


def _cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _response(text: str) -> str:
    return response_xml(f'<CustomerQueryRs requestID="1" statusCode="0" statusMessage="">{text}</CustomerQueryRs>')


def measured(door: Door, shape: str, size: int, seed: int, *, limit_bytes: int) -> int:
    """Return the bytes of memory that a text of this shape takes in a new process, above those of the idle process.

    Raises ProcessFailed if it needs more memory.

    `limit_bytes` is the address space that the process may use in addition to that of the idle process.
    """
    with tempfile.TemporaryDirectory() as folder:
        text, result = Path(folder) / "text", Path(folder) / "result"

        def generate() -> None:
            generated = SHAPES[shape](Random(seed), size)
            text.write_text(generated, encoding="utf-8", newline="")

        def measure() -> None:
            result.write_text(str(_peak(door, text, limit_bytes)))

        for step in (generate, measure):
            process = get_context("fork").Process(target=step)
            process.start()
            process.join()
            if process.exitcode:
                raise ProcessFailed(f"The process for {shape} of {size:,} bytes failed with {process.exitcode}.")
        return int(result.read_text())


def _peak(door: Door, path: Path, limit_bytes: int) -> int:
    logging.disable()
    read = door()
    idle = _status("VmRSS")
    text = path.read_bytes().decode("utf-8")
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak to the present
    limit = _status("VmSize") + limit_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    read(text)
    return _status("VmHWM") - idle


def _status(name: str) -> int:
    """Return a size of this process in bytes: VmRSS, VmHWM (its peak) or VmSize."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
