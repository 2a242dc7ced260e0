"""A Web Connector for tests: it sends SOAP calls to the endpoint, over a store in memory."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from domain.connections.turns import MAX_POSTPONEMENT_SECONDS
from domain.queueing.new_request import QueueBatch
from domain.records.approval import UNKNOWN_AUTHOR
from domain.records.connection import Connection
from domain.records.request import QueuedRequest
from domain.records.session import MAX_EXECUTION_SECONDS, Session, session_id
from domain.storage.changes import (
    AddRequest,
    ChangeRequest,
    ForgetRequest,
    Put,
    RemoveRequest,
    RequireConnection,
)
from domain.storage.counts import CountKey
from domain.web_connector.endpoint import SoapResponse, WebConnector
from domain.web_connector.protocol import qwc
from domain.web_connector.protocol.methods import METHODS, NAMESPACE
from domain.web_connector.protocol.soap import MAX_BODY_BYTES, escape
from domain.web_connector.session.admission import CALLS_OF_A_FAST_SESSION, Budget
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from simulator import Simulator
from tests.support.builders import CONNECTION_ID, FixedClock, SequentialIds, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.queueing import queueing_without_quotas
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.ports import IdSource
    from domain.queueing.new_request import NewRequest
    from domain.records.approval import Author
    from domain.records.audit import Actor
    from domain.records.session import RequestInFlight
    from domain.storage.changes import Change
    from tests.support.index_lag import IndexLag

PASSWORD = "open sesame"
_CHEAP = hashlib.scrypt(PASSWORD.encode(), salt=b"salt", n=2, r=1, p=1, dklen=32)
PASSWORD_HASH = f"scrypt$2$1$1${base64.b64encode(b'salt').decode()}${base64.b64encode(_CHEAP).decode()}"
"""A stored password that is cheap to check."""

PORTS = {
    "request",
    "with_request_xml",
    "requests_in_flight",
    "queue_front",
    "remove_from_queue",
    "records_by_id",
    "request_batch",
    "connection",
    "session",
    "commit",
}


class CountingStore(FakeStore):
    """Counts the calls that are round trips of a real store. A test can freeze the queue in `index`."""

    def __init__(self, lag: IndexLag | None = None) -> None:
        super().__init__(lag=lag)
        self.calls: Counter[str] = Counter()
        self.index: list[QueuedRequest] | None = None

    def commit(self, *changes: Change) -> None:
        """Commit, but refuse two changes of one item, as DynamoDB does."""
        items = [_item_of(change) for change in changes]
        assert len(items) == len(set(items)), items
        super().commit(*changes)

    def requests_in_flight(
        self, session: Session, front: int = 0
    ) -> tuple[Sequence[RequestInFlight], Sequence[QueuedRequest]]:
        """Return the requests of a session. The queue is read in the same round trip."""
        calls = self.calls.copy()
        result = super().requests_in_flight(session, front)
        self.calls = calls
        return result

    def queue_front(self, connection_id: str, limit: int, *, low_lane: bool = False) -> list[QueuedRequest]:
        """Return the stored queue, unless a test has frozen it."""
        if self.index is not None:
            return self.index[:limit]
        return list(super().queue_front(connection_id, limit, low_lane=low_lane))

    def recount(self, connection_id: str = CONNECTION_ID) -> Mapping[CountKey, int]:
        """Count the records of the connection."""
        return super().recount(connection_id)

    def exact_counts(self) -> Counter[CountKey]:
        """Return the correct counts of all connections."""
        counts: Counter[CountKey] = Counter()
        for record in self.records.values():
            if not isinstance(record, QueuedRequest):
                continue
            for sort, moment in (("inserted_at", record.inserted_at), ("updated_at", record.listed_updated_at)):
                counts[CountKey(record.connection_id, moment[:10], sort, *record.listed_pair)] += 1
        return counts


def _counted(name: str) -> Callable[..., Any]:
    """Return a method of the store that also counts its calls."""
    method = getattr(CountingStore, name)

    def call(store: CountingStore, *arguments: Any, **named: Any) -> Any:
        store.calls[name] += 1
        return method(store, *arguments, **named)

    return call


for _name in PORTS:
    setattr(CountingStore, _name, _counted(_name))


def _item_of(change: Change) -> tuple[str, str]:
    match change:
        case (
            AddRequest(record=record)
            | ChangeRequest(before=record)
            | RemoveRequest(before=record)
            | ForgetRequest(before=record)
        ):
            return "request", record.id
        case Put(after=Session() as session):
            return "session", session.id
        case RequireConnection(connection_id=connection_id):
            return "connection", connection_id
        case Put(after=Connection() as connection):
            return "connection", connection.id
        case _:
            return "other", repr(change)


@dataclass
class CountingSecrets:
    """Returns different bytes on each call, in the same sequence in each run."""

    last: int = 0

    def __call__(self, size: int) -> bytes:
        """Return the next bytes."""
        self.last += 1
        return self.last.to_bytes(16, "big")[-size:]


@dataclass
class Connector:
    """A connection, its store and its Web Connector. It is also a transport for the simulator in this process."""

    store: CountingStore = field(default_factory=CountingStore)
    clock: FixedClock = field(default_factory=FixedClock)
    new_id: IdSource = field(default_factory=SequentialIds)
    secrets: CountingSecrets = field(default_factory=CountingSecrets)
    ticket: str = ""
    schedule: list[str] = field(default_factory=list)
    call_milliseconds: int = 100
    execution_seconds: int = MAX_EXECUTION_SECONDS
    dormant_seconds: int = MAX_POSTPONEMENT_SECONDS
    max_sessions: int | None = None
    calls_per_second: float | None = None
    """The calls of all sessions; None means ten for each of `max_sessions`, so that no session is paced."""
    last: SoapResponse | None = None
    store_of_endpoint: Any = None
    """The endpoint's store, if it is not `store` itself."""

    def __post_init__(self) -> None:
        """Build the endpoint."""
        store = self.store_of_endpoint or self.store
        self.endpoint = WebConnector(
            store,
            self.clock,
            self.new_id,
            self.secrets,
            self.execution_seconds,
            dormant_seconds=self.dormant_seconds,
            budget=self.budget,
        )

    @property
    def budget(self) -> Budget | None:
        """The budget of sessions, or None for any number."""
        if self.max_sessions is None:
            return None
        calls = CALLS_OF_A_FAST_SESSION * self.max_sessions if self.calls_per_second is None else self.calls_per_second
        return Budget(self.max_sessions, calls)

    def connect(self, **fields: Any) -> Connection:
        """Add the connection."""
        connection = a_connection(**({"password_hash": PASSWORD_HASH} | fields))
        self.store.commit(Put(None, connection))
        return connection

    def queue(
        self,
        name: str = "CustomerQueryRq",
        content: str = "",
        attributes: str = "",
        *,
        metadata: Mapping[str, str] | None = None,
        queued_by: Actor | None = None,
        **fields: Any,
    ) -> str:
        """Queue a request a second after the one before, and return its id."""
        moment = self.clock.advance(seconds=1).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        values: dict[str, Any] = {"id": self.new_id(), "inserted_at": moment, "updated_at": moment} | fields
        label = values.setdefault("request_label", values["id"])
        record = a_record(request_name=name, **values)
        xml = (
            f'<QBXML><QBXMLMsgsRq onError="stopOnError"><{name} requestID="{label}"{attributes}>{content}'
            f"</{name}></QBXMLMsgsRq></QBXML>"
        )
        self.store.commit(AddRequest(record, xml, f"{name}\n{label}", metadata or {}, queued_by=queued_by))
        return record.id

    def write(self, customer: str = "Ann", **fields: Any) -> str:
        """Queue a write."""
        return self.queue("CustomerAddRq", f"<CustomerAdd><Name>{escape(customer)}</Name></CustomerAdd>", **fields)

    def batch(self, *requests: NewRequest, author: Author = UNKNOWN_AUTHOR) -> list[str]:
        """Queue a batch a second after the request before, and return its ids."""
        self.clock.advance(seconds=1)
        queueing = queueing_without_quotas(self.store, self.clock, self.new_id)
        connection = self.connection
        command = QueueBatch(connection.app_id, connection.id, lambda _: requests, author=author)
        return [queued.stored.record.id for queued in queueing.queue_batch(command).requests]

    def iterate(self, size: int = 2, **fields: Any) -> str:
        """Queue an iterated query with pages of `size` objects."""
        content = f"<MaxReturned>{size}</MaxReturned><ActiveStatus>All</ActiveStatus>"
        return self.queue("CustomerQueryRq", content, ' iterator="Start"', **fields)

    def record(self, request_id: str) -> QueuedRequest:
        """Return a record."""
        record = self.store.records[request_id]
        assert isinstance(record, QueuedRequest)
        return record

    @property
    def records(self) -> list[QueuedRequest]:
        """Return all records in order of insertion."""
        return [record for record in self.store.records.values() if isinstance(record, QueuedRequest)]

    def change(self, request_id: str, **fields: Any) -> None:
        """Change a record from outside the session."""
        before = self.record(request_id)
        self.store.commit(ChangeRequest(before, replace(before, **fields).changed(self.clock.now)))

    def response(self, request_id: str) -> str | None:
        """Return the stored response."""
        return self.store.bodies[request_id].response_xml

    @property
    def connection(self) -> Connection:
        """Return the stored connection."""
        return self.store.connections[CONNECTION_ID]

    @property
    def session(self) -> Session:
        """Return the session of the last ticket."""
        return self.store.sessions[session_id(self.ticket)]

    def states(self) -> list[str]:
        """Return the states of all records in order of insertion."""
        return [
            record.state.value
            for record in sorted(self.records, key=lambda record: (record.inserted_at, record.paging.page))
        ]

    @property
    def in_flight(self) -> list[QueuedRequest]:
        """Return the records in flight of the session of the last ticket."""
        return [self.record(request_id) for request_id in self.session.ids_in_flight]

    # --- Calls of the Web Connector

    def call(self, method: str, *texts: str, padding: int = 0, address: str | None = None) -> Any:
        """Make a call from an address and return its result. `{padding}` in a text becomes `padding` characters."""
        self.clock.advance(seconds=1)
        self.store.calls.clear()
        self.last = self.endpoint.reply(soap_call(method, *texts).replace(b"{padding}", b"x" * padding), address)
        assert self.last.status == 200, self.last.body
        return result_of(method, self.last.body)

    def authenticate(
        self, password: str = PASSWORD, username: str = CONNECTION_ID, *, address: str | None = None
    ) -> str:
        """Log in, keep the ticket and return the second value of the reply."""
        self.ticket, status, *self.schedule = self.call("authenticate", username, password, address=address)
        return str(status)

    def send(self, hcp: str = "", company_file: str = "C:\\Books\\acme.qbw") -> str:
        """Fetch a request."""
        return str(self.call("sendRequestXML", self.ticket, hcp, company_file, "US", "16", "0"))

    def receive(self, response: str = "", hresult: str = "", message: str = "") -> int:
        """Deliver a response or an exception of QuickBooks."""
        progress = self.call("receiveResponseXML", self.ticket, response, hresult, message)
        assert isinstance(progress, int)
        return progress

    def receive_oversized(self, response: str) -> int:
        """Deliver a response in which `{padding}` makes the call too large."""
        padding = MAX_BODY_BYTES
        progress = self.call("receiveResponseXML", self.ticket, response, "", "", padding=padding)
        assert isinstance(progress, int)
        return progress

    def close(self) -> str:
        """End the session."""
        return str(self.call("closeConnection", self.ticket))

    def close_and_wait(self) -> None:
        """End the session, and wait until QuickBooks cannot be executing its request any more."""
        self.close()
        self.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    def last_error(self) -> str:
        """Return the reply of getLastError."""
        return str(self.call("getLastError", self.ticket))

    def begin(self) -> str:
        """Log in and fetch the first request."""
        assert self.authenticate() == ""
        return self.send(hcp())

    def take_over(self) -> str:
        """Log in when the former session no longer counts as working, and fetch the first request."""
        self.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)
        return self.begin()

    def drain(self) -> list[int]:
        """Run a session in which QuickBooks answers each request, and return the progress after each."""
        steps: list[int] = []
        if self.authenticate() == "":
            first = hcp()
            while not steps or steps[-1] < 100:
                steps.append(self.receive(response_to(self.send(first))))
                first = ""
        self.close()
        return steps

    # --- A transport for the simulator

    def simulator(self, company: Any, *, transport: Any = None, **options: Any) -> Simulator:
        """Return a simulated Web Connector with the connection's .qwc file; waiting moves the clock."""
        text = qwc.render(self.connection, base_url="https://queue.example.com")
        options = {"sleep": lambda seconds: self.clock.advance(seconds=seconds)} | options
        return Simulator(text, PASSWORD, company, transport=transport or self, **options)

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call, which takes `call_milliseconds`."""
        self.clock.advance(milliseconds=self.call_milliseconds)
        reply = self.endpoint.reply(body)
        assert reply.status == 200, reply.body
        return reply.status, reply.body.encode()


def soap_call(method: str, *texts: str) -> bytes:
    """Return the envelope of a call."""
    members = "".join(
        f"<{name}>{escape(text)}</{name}>" for name, text in zip(METHODS[method].parameters, texts, strict=False)
    )
    body = (
        '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">'
        f'<soap:Body><{method} xmlns="{NAMESPACE}">{members}</{method}></soap:Body></soap:Envelope>'
    )
    return body.encode()


def result_of(method: str, body: str) -> Any:
    """Return the result in an envelope."""
    result = ET.fromstring(body.encode()).find(f".//{{{NAMESPACE}}}{method}Result")  # noqa: S314 - our own text
    assert result is not None
    kind = METHODS[method].result
    if kind == "ArrayOfString":
        return [item.text or "" for item in result]
    return int(result.text or "") if kind == "int" else result.text or ""
