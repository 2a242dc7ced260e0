"""Two apps with three connections, their consumers and Web Connectors over any store, and the rules that must hold.

Everything uses the ports, so the same system runs on the fake store and on DynamoDB.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.sessions import SESSION_ID
from domain import qbxml
from domain.connections.service import ConnectionService
from domain.errors import (
    Gone,
    HasDependants,
    InvalidRequest,
    InvalidState,
    MayBeExecuted,
    NotFound,
    PossiblyExecuted,
)
from domain.listing.filters import RequestFilter
from domain.maintenance.late_requests import end_late_requests
from domain.maintenance.sweep import sweep
from domain.queueing.continuation import ContinueBatch, Continuing
from domain.queueing.many import ManyRequests
from domain.queueing.new_request import Idempotency, NewRequest, QueueBatch, QueueRequest, copy_of
from domain.queueing.queue_again import QueueAgain
from domain.queueing.service import RequestService
from domain.queueing.successor import Replaces
from domain.records.app import App
from domain.records.batch import batch_id, id_at, ids_of_batch, new_batch_id
from domain.records.lookup import IfExists
from domain.records.request import ENDED, IN_FLIGHT, QUEUED, QueuedRequest, State
from domain.records.session import SILENCE_SECONDS, Session, session_id
from domain.records.successor import id_again
from domain.records.webhook import WebhookState
from domain.send_by import ANY_TIME
from domain.storage.changes import AddRequest, Put
from domain.storage.counts import CountKey, count_changes
from domain.timestamps import timestamp
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.session.admission import Budget
from domain.web_connector.session.backoff import MAX_PAUSE
from domain.web_connector.session.lingering import NO_OP
from tests.support.builders import AN_ACTOR, APP_ID, OTHER_APP_ID, FixedClock, counting_bytes
from tests.support.queueing import command, new_request, queueing_without_quotas
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, CountingSecrets, result_of, soap_call
from tests.support.web_connector.functions import FAILED_READS, AtOnce, HostClock, PlannedTrouble, is_failed_read
from tests.support.web_connector.interruptions import FunctionTerminated, InterruptibleStore, RandomIds
from tests.support.web_connector.observed_store import RETENTION_DAYS
from tests.support.web_connector.quickbooks import ADDITION, Books, hcp, labels_in
from tests.support.web_connector.streams import BATCH, Streams, shard_of
from tests.support.web_connector.webhooks import Webhooks
from tests.support.webhooks import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.request import ListedRequest
    from domain.send_by import SendBy
    from tests.support.web_connector.functions import ConcurrentCall, Trouble

T = TypeVar("T")

OWNERS = (APP_ID, APP_ID, OTHER_APP_ID)
INVOICE = (
    "<InvoiceAdd><CustomerRef><FullName>Ann</FullName></CustomerRef><RefNumber>7</RefNumber>"
    "<InvoiceLineAdd><Desc>Work</Desc></InvoiceLineAdd></InvoiceAdd>"
)
"""All requests that look first are for one invoice in each company file."""
HOOK = "https://example.com/hook"
MAX_SESSIONS = 40
CALLS_A_SECOND = 1.0
"""The budget of all sessions, if their number is limited."""
MAX_BYTES = 100_000_000
MIN_SETTLED_SECONDS = 60
"""After this time without a change, the indexes show everything."""
SKEW = timedelta(seconds=5)
"""More than the clocks of two functions differ."""


class File(Enum):
    """The company file that is open."""

    OWN = "own"
    OWN_WITHOUT_FACTS = "own, with unreadable facts"
    OWN_WITHOUT_MARK = "own, its mark is late"
    OTHERS = "another connection's"
    COPY = "a copy of its own at another path"
    UNMARKED = "an unmarked one at another path"


@dataclass
class RecordedIds:
    """Identifiers that are recorded."""

    new: RandomIds = field(default_factory=RandomIds)
    ids: list[str] = field(default_factory=list)

    def __call__(self) -> str:
        """Return the next identifier."""
        self.ids.append(self.new())
        return self.ids[-1]


@dataclass(frozen=True)
class Execution:
    """A request that QuickBooks is executing for the session of `ticket`.

    `end` ends it and returns the response. If the Web Connector `is_waiting`, it makes no other call before the end.
    """

    ticket: str
    request: str
    ends_at: datetime
    end: Callable[[], str]
    is_waiting: bool


class System:
    """The use cases over one empty store.

    `batch_size` is the setting of the connections, `max_sessions` how many may run, and `seed` decides the clocks of
    the functions.
    """

    def __init__(
        self,
        store: Any,
        clock: FixedClock | None = None,
        *,
        batch_size: int = 1,
        max_sessions: int | None = None,
        seed: int = 0,
    ) -> None:
        self.store = store
        self.batch_size = batch_size
        self.clock = clock or FixedClock()
        self.host = HostClock(self.clock, random.Random(seed))
        self.new_id = RecordedIds()
        self.planned = PlannedTrouble()
        self.may_fail = False
        """Whether the function that runs may end with a failed read."""
        self.interruptible = InterruptibleStore(store, self.planned)
        secrets = CountingSecrets()
        budget = Budget(max_sessions, CALLS_A_SECOND) if max_sessions else None
        self.endpoint = WebConnector(
            self.interruptible, self.host, self.new_id, secrets, budget=budget, executor=AtOnce()
        )
        self.requests = RequestService(self.interruptible, self.host)
        self.many = ManyRequests(self.interruptible, self.host, lambda: None)
        self.again = QueueAgain(self.interruptible, self.host, lambda: None)
        self.queueing = queueing_without_quotas(self.interruptible, self.host, self.new_id)
        self.connection_service = ConnectionService(
            self.interruptible, clock=self.host, new_id=self.new_id, secrets=counting_bytes
        )
        for app_id in dict.fromkeys(OWNERS):
            store.commit(Put(None, App(app_id, "Shop", timestamp(self.clock()), (SECRET,))))
        self.connections = [self._connect(app_id) for app_id in OWNERS]
        self.books = {connection.id: Books(connection.id) for connection in self.connections}
        self.new_id.ids.clear()
        self.tickets: list[tuple[str, int]] = []
        self.sent: set[str] = set()
        self.executions: list[Execution] = []
        self.closed: set[str] = set()
        """The tickets of sessions that a Web Connector closed. QuickBooks begins nothing for them any more."""
        self.restored = False
        self.planned.run_other = self._run_other
        self.streams: Streams | None = None
        self.webhooks: Webhooks | None = None
        if observed(store):
            self.streams = Streams(store, self.interruptible, self.host, self.in_function)
            self.webhooks = Webhooks(store, self.interruptible, self.host, self.clock, self.in_function, self.planned)
        self._current_call = b""
        self.calls: list[bytes] = []
        """The calls of the Web Connectors, of which copies may arrive at any later time."""

    def _connect(self, app_id: str) -> Connection:
        connection = self.connection_service.create(
            app_id, webhook_url=HOOK, batch_size=self.batch_size, actor=AN_ACTOR
        )
        after = replace(connection, password_hash=PASSWORD_HASH).changed(timestamp(self.clock()))
        self.store.commit(Put(connection, after))
        return after

    # --- Actions

    def _run_other(self, call: ConcurrentCall) -> None:
        """Run a concurrent call, or let the database remove what has expired."""
        host = self.host.skew
        others: dict[str, Callable[[int, Trouble], object]] = {
            "copy": self._copy_current_call,
            "login": self.log_in,
            "pause": self._pause,
            "sweep": lambda _, trouble: self.sweep(1, trouble),
            "discard": self._discard_each,
            "bulk": self.discard_many,
            "consume": self._consume,
            "webhook": self._go_on_with_webhooks,
            "expire": lambda _number, _trouble: self.expire(),
        }
        others[call.what](call.number, call.trouble)
        self.host.skew = host

    def _copy_current_call(self, _number: int, trouble: Trouble) -> None:
        if copy := self._current_call:
            self.in_function(lambda: self.endpoint.reply(copy), trouble)

    def _consume(self, shard: int, trouble: Trouble) -> None:
        if self.streams:
            self.streams.consumer.consume(shard, BATCH, trouble)

    def _go_on_with_webhooks(self, which: int, trouble: Trouble) -> None:
        if self.webhooks:
            self.webhooks.go_on(which, trouble)

    def _pause(self, number: int, trouble: Trouble) -> None:
        connection, use = self.connections[number], self.connection_service
        self.in_function(lambda: use.pause(connection.app_id, connection.id, actor=AN_ACTOR), trouble)

    def _discard_each(self, number: int, _trouble: Trouble) -> None:
        for record in self.records():
            if record.connection_id == self.connections[number].id and record.state in QUEUED:
                # QuickBooks may have executed it, or others wait for it.
                with suppress(MayBeExecuted, HasDependants):
                    self.requests.discard(record.app_id, record.id, actor=AN_ACTOR)

    def in_function(self, action: Callable[[], T], trouble: Trouble) -> T | None:
        """Run a function that may be interrupted. Return its result, or None if it was terminated."""
        self.planned.begin(trouble)
        self.host.move()
        former, self.may_fail = self.may_fail, trouble is not None
        try:
            return action()
        except FunctionTerminated:
            return None
        except FAILED_READS as error:
            if not is_failed_read(error):
                raise
            return None
        finally:
            self.may_fail = former
            self.planned.begin(None)

    def soap(self, method: str, *texts: str, trouble: Trouble = None) -> Any:
        """Make a call of the Web Connector. Return its result, or None if the function was terminated."""
        self.clock.advance(seconds=1)
        self.end_executions(lambda running: running.ends_at <= self.clock.now)
        if method in {"sendRequestXML", "closeConnection"}:
            self.end_executions(lambda running: running.is_waiting and running.ticket == texts[0])
        if method == "closeConnection":
            self.closed.add(texts[0])
        call = self._current_call = soap_call(method, *texts)
        self.calls.append(call)
        reply = self.in_function(lambda: self.endpoint.reply(call), trouble)
        self._current_call = b""
        if reply is None:
            return None
        assert reply.status == 200, reply.body
        return result_of(method, reply.body)

    def deliver_copy(self, which: int, trouble: Trouble = None) -> None:
        """Deliver a copy of an earlier call. Nobody gets the reply."""
        copy = self.calls[-1 - which % len(self.calls)]
        self.in_function(lambda: self.endpoint.reply(copy), trouble)

    def end_executions(self, are_over: Callable[[Execution], bool]) -> list[tuple[str, str]]:
        """End executions. Return their tickets and responses."""
        over = [running for running in self.executions if are_over(running)]
        self.executions = [running for running in self.executions if running not in over]
        return [(running.ticket, running.end()) for running in over]

    def log_in(self, number: int, trouble: Trouble = None) -> tuple[str, str] | None:
        """Log in to a connection. Return the ticket and the status, or None if there was no reply."""
        connection = self.store.connection(self.connections[number].id)
        reply = self.soap("authenticate", connection.id, PASSWORD, trouble=trouble)
        if reply is None:
            return None
        assert reply[1] in {"", "none", "busy"}
        # A paused connection does not start QuickBooks.
        assert not (connection.paused_at and reply[1] == "")
        self.tickets.append((reply[0], number))
        return reply[0], reply[1]

    def send(self, ticket: str, number: int, file: File = File.OWN, trouble: Trouble = None) -> str:
        """Fetch a request, with a company file open."""
        connection, session = self.connections[number], self.store.session(session_id(ticket))
        paused = self.store.connection(connection.id).paused_at
        mark = f"{{{(self.other_than(number) if file is File.OTHERS else connection).file_id}}}"
        facts = {File.OWN_WITHOUT_FACTS: "", File.OWN_WITHOUT_MARK: hcp(None), File.UNMARKED: hcp(None)}
        path = "D:\\other.qbw" if file in {File.OTHERS, File.UNMARKED, File.COPY} else "C:\\Books\\acme.qbw"
        host_facts = facts.get(file, hcp(mark))
        request = self.soap("sendRequestXML", ticket, host_facts, path, "US", "16", "0", trouble=trouble) or ""
        if ADDITION.search(request):
            self._check_write_goes_out(request)
        if paused and "<QBXML" in request:
            # A session finishes only work that QuickBooks has begun: a lost response or the next page.
            records = [self.store.request(request_id) for request_id in session.ids_in_flight]
            assert all(record.state is State.SENT or record.paging.page > 1 for record in records)
        return request

    def other_than(self, number: int) -> Connection:
        """Return another connection."""
        return self.connections[(number + 1) % len(self.connections)]

    def _check_write_goes_out(self, request: str) -> None:
        """Check that a write is sent again only after a status check or if QuickBooks was unable to execute it."""
        message_set = re.findall(' newMessageSetID="([^"]*)"', request)[0]
        records = [record for record in self.records() if record.message_set_id == message_set]
        assert len(records) == len(labels_in(request))
        for record in records:
            assert message_set not in self.sent or record.recovery.sessions or not record.recovery.begun, record
            # A set that was sent before stays together.
            is_bound = message_set in self.sent and record.message_set is not None
            assert is_bound or record.send_by_time is None or (record.sent_at or "") < record.send_by_time, record
        # A status check of the same message set executes nothing.
        writes = [running.request for running in self.executions if ADDITION.search(running.request)]
        assert not [write for write in writes if f'newMessageSetID="{message_set}"' in write]
        self.sent.add(message_set)

    def receive(self, ticket: str, response: str, hresult: str = "", trouble: Trouble = None) -> None:
        """Deliver a response."""
        progress = self.soap("receiveResponseXML", ticket, response, hresult, "", trouble=trouble)
        session = self.store.session(session_id(ticket))
        # The progress is never 100 while a request is in flight.
        if progress is not None and session and not session.ended and session.in_flight:
            assert -1 <= progress < 100

    def queue(
        self,
        number: int,
        kind: str,
        label: str,
        key: str | None = None,
        trouble: Trouble = None,
        *,
        send_by: SendBy = ANY_TIME,
        is_low: bool = False,
    ) -> None:
        """Queue a request. With an idempotency key, repeating a call that got no reply creates one record."""
        self.clock.advance(milliseconds=1)
        connection = self.connections[number]
        request_id = f' requestID="{label}"' if label else ""
        name, attributes, content = {
            "write": ("CustomerAddRq", "", "<CustomerAdd><Name>Ann</Name></CustomerAdd>"),
            "read": ("CustomerQueryRq", "", "<MaxReturned>2</MaxReturned>"),
            "iterate": ("CustomerQueryRq", ' iterator="Start"', "<MaxReturned>2</MaxReturned>"),
            "look": ("InvoiceAddRq", "", INVOICE),
        }[kind]
        if_exists = IfExists.RETURN if kind == "look" else IfExists.FAIL
        element = f"<{name}{request_id}{attributes}>{content}</{name}>"
        text = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{element}</QBXMLMsgsRq></QBXML>'
        request = qbxml.parse_request_xml(text)
        low = is_low and kind != "iterate"
        idempotency = Idempotency(f"{key}-{len(self.new_id.ids)}", "h") if key else None

        def create() -> str:
            new = command(
                connection.app_id,
                connection.id,
                request,
                idempotency=idempotency,
                send_by=send_by,
                is_low=low,
                if_exists=if_exists,
            )
            return self.queueing.queue(new).stored.record.id

        before = len(self.records())
        if self.in_function(create, trouble) is None and key:
            create()
        if key:
            assert len(self.records()) == before + 1

    def queue_batch(
        self,
        number: int,
        kind: str,
        trouble: Trouble = None,
        *,
        send_by: Sequence[SendBy] = (ANY_TIME,),
        is_low: bool = False,
    ) -> None:
        """Queue a batch whose requests depend on each other. The last `send_by` is that of all further requests."""
        self.clock.advance(milliseconds=1)
        connection = self.connections[number]
        batches: dict[str, list[Any]] = {
            # The last request waits for both others, and one for the value of another.
            "chain": [_write("a"), _write("b", "a"), _write(None, "b", "a")],
            "fan": [_write("a"), _write(None, "a"), _read("a"), _write(None, "a"), _iterated("a")],
            "wrong value": [_write("a"), _write("b", "a", path="CustomerRet/ListID"), _read("b")],
            "look": [_write("a"), _look("b", "a"), _look("c"), _write(None, "c", path="InvoiceRet/RefNumber")],
        }
        times = chain(send_by, repeat(send_by[-1]))
        low = is_low and kind != "fan"
        batch = [replace(new, send_by=time, is_low=low) for new, time in zip(batches[kind], times, strict=False)]
        command = QueueBatch(connection.app_id, connection.id, lambda _: batch)
        ids, former = self.new_id.ids, len(self.new_id.ids)
        self.in_function(lambda: self.queueing.queue_batch(command), trouble)
        # The first new id is that of the batch; a concurrent call may have made others.
        for base in ids[former : former + 1]:
            ids[former : former + 1] = ids_of_batch(new_batch_id(base), len(batch))

    def end_some(self, number: int, requests: int = 3) -> list[int]:
        """Queue reads and discard them. Return the shards of the stream with their changes."""
        for _ in range(requests):
            self.queue(number, "read", "")
        ids, connection = self.new_id.ids[-requests:], self.connections[number]
        for request_id in ids:
            self.requests.discard(connection.app_id, request_id, actor=AN_ACTOR)
        return [shard_of(self.store.stream[-1 - index]) for index in range(requests)]

    def discard_many(self, number: int, trouble: Trouble = None) -> None:
        """Discard all queued requests of a connection with one call."""
        connection = self.connections[number]
        everything = RequestFilter(to=timestamp(self.clock() + timedelta(days=1)))
        self.in_function(
            lambda: self.many.discard(connection.app_id, connection.id, everything, actor=AN_ACTOR), trouble
        )

    def queue_again(self, number: int, trouble: Trouble = None) -> None:
        """Queue the ended requests of a connection again with one call. Each has one id, however often it is called."""
        connection = self.connections[number]
        everything = RequestFilter(to=timestamp(self.clock() + timedelta(days=1)))
        self.in_function(
            lambda: self.again.queue_again(
                connection.app_id, connection.id, everything, lambda _: None, actor=AN_ACTOR
            ),
            trouble,
        )
        self._know_successors()

    def replace_each(self, number: int, trouble: Trouble = None) -> None:
        """Queue a request in place of each ended one of a connection, if it certainly wrote nothing."""
        connection = self.connections[number]
        new = _write(None)
        for request_id in list(self.new_id.ids):
            record = self.store.request(request_id)
            if not isinstance(record, QueuedRequest) or record.connection_id != connection.id:
                continue
            replaces = Replaces(request_id)
            command = QueueRequest(connection.app_id, connection.id, lambda _: new, replaces=replaces)

            def work(command: QueueRequest = command) -> None:
                with suppress(InvalidState, PossiblyExecuted, Gone):
                    self.queueing.queue(command)

            self.in_function(work, trouble)
        self._know_successors()

    def continue_batches(self, number: int, trouble: Trouble = None) -> None:
        """Continue each batch of a connection in which a request failed, if it certainly wrote nothing."""
        connection = self.connections[number]
        use = Continuing(self.interruptible, self.queueing)
        for batch in dict.fromkeys(filter(None, map(batch_id, self.new_id.ids))):
            command = ContinueBatch(connection.app_id, connection.id, batch, AN_ACTOR)

            def work(command: ContinueBatch = command) -> None:
                # Others may have deleted a request of it, and it is of another connection, or nothing failed.
                with suppress(NotFound, InvalidState, PossiblyExecuted, Gone, InvalidRequest):
                    use.continue_batch(command)

            self.in_function(work, trouble)
        self._know_successors()

    def copy_each(self, number: int, trouble: Trouble = None) -> None:
        """Queue each ended request of a connection again with a call of its own, if it certainly wrote nothing."""
        connection = self.connections[number]
        for request_id in list(self.new_id.ids):

            def work(request_id: str = request_id) -> None:
                with suppress(NotFound, InvalidState, PossiblyExecuted, Gone):
                    copy = copy_of(self.requests.copied(connection.app_id, request_id))
                    replaces = Replaces(request_id)
                    self.queueing.queue(
                        QueueRequest(connection.app_id, connection.id, lambda _: copy, replaces=replaces)
                    )

            self.in_function(work, trouble)
        self._know_successors()

    def _know_successors(self) -> None:
        ids = self.new_id.ids
        again = [id_again(request_id) for request_id in ids]
        ids += [new for new in again if new not in ids and isinstance(self.store.request(new), QueuedRequest)]

    def sweep(self, silence_seconds: float, trouble: Trouble = None) -> None:
        """Let time pass and run the sweep."""
        self.clock.advance(seconds=silence_seconds)

        def work() -> bool:
            until = self.host() + timedelta(seconds=30)
            end_late_requests(self.interruptible, self.host, until)
            sweep(self.interruptible, self.host, until)
            if self.webhooks:
                self.webhooks.plan_overdue()
            return True

        began = self.clock()
        if self.in_function(work, trouble) and trouble is None and silence_seconds >= MIN_SETTLED_SECONDS:
            late = [record for record in self.records() if record.misses_send_by(began - SKEW)]
            assert all(record.state in IN_FLIGHT for record in late), late

    def expire(self) -> None:
        """Let the time to live remove records, which ended long ago and whose webhooks are not pending."""
        if not observed(self.store):
            return
        since = timestamp(self.clock() - timedelta(days=RETENTION_DAYS))
        for record in self.store.expire(int(self.clock().timestamp())):
            assert record.state in ENDED
            assert record.webhook_state is not WebhookState.PENDING
            assert record.updated_at <= since

    def lose_sessions(self) -> None:
        """Let a day pass without a sweep, remove all sessions as if their table were lost, and log in again."""
        self.clock.advance(days=1)
        if isinstance(self.store, DynamoDBStore):
            client, table = self.store.client, self.store.tables.sessions
            for item in client.scan(TableName=table)["Items"]:
                client.delete_item(TableName=table, Key={SESSION_ID: item[SESSION_ID]})
        else:
            self.store.lose_sessions()
        for number, _ in enumerate(self.connections):
            self.log_in(number)

    def to_quiet(self) -> None:
        """Resume all connections and drain their queues without interruptions, after the pauses of all backoffs.

        `resume` ends a pause too, but the backoff of a session begins only when the next login ends the session.
        """
        self.clock.advance(seconds=MAX_PAUSE.total_seconds())
        for connection in self.connections:
            if self.store.connection(connection.id):
                self.connection_service.update(connection.app_id, connection.id, sync_window=None, actor=AN_ACTOR)
                self.connection_service.resume(connection.app_id, connection.id, actor=AN_ACTOR)
        for number, _ in enumerate(self.connections):
            for _ in range(MAX_SESSIONS):
                if not self._drain(number):
                    break
            else:
                raise AssertionError("The queue never gets empty.")
        self.sweep(SILENCE_SECONDS + 60)
        if self.webhooks:
            self.webhooks.to_quiet()

    def _drain(self, number: int) -> bool:
        """Run a session without interruptions, and return whether there was work."""
        self.clock.advance(minutes=2)
        ticket, status = self.log_in(number) or ("", "")
        if status == "none":
            return False
        while request := self.send(ticket, number):
            if request == NO_OP:
                continue
            self.receive(ticket, self.books[self.connections[number].id].response_to(request, objects=4))
        self.soap("closeConnection", ticket)
        return True

    # --- Rules

    def records(self) -> list[QueuedRequest]:
        """Return all records."""
        ids = self.new_id.ids
        items: list[ListedRequest] = []
        for start in range(0, len(ids), 50):
            batch = self.store.request_batch(ids[start : start + 50])
            items += batch.with_bodies(list(batch.records), max_response_bytes=MAX_BYTES, max_total_bytes=MAX_BYTES)
        self.responses: Mapping[str, str | None] = {
            item.record.id: self._large_response(item) if item.record.response_chunks else item.response_xml
            for item in items
        }
        self.requests_xml = {item.record.id: item.request_xml for item in items}
        return [item.record for item in items]

    def _large_response(self, item: ListedRequest) -> str | None:
        detail = self.store.request_detail(item.record.id)
        response: str | None = detail.stored.response_xml
        return response

    def check(self) -> None:
        """Check the rules that hold at any time."""
        records = self.records()
        removed = self.store.not_forgotten if observed(self.store) else []
        for connection in self.connections:
            mine = [record for record in records if record.connection_id == connection.id]
            counted = [record for record in (*mine, *removed) if record.connection_id == connection.id]
            assert self._counted(connection.id) == count_changes([AddRequest(record, "", "") for record in counted])
            self._check_session(connection.id, mine)
        for record in records:
            self._check_record(record)
        for books in self.books.values():
            assert max(books.invoices.values(), default=0) <= 1 + books.late, "two invoices of one number by our doing"
        assert not getattr(self.store, "out_of_turn", [])
        if check_lanes := getattr(self.store, "check_lanes", None):
            check_lanes()
        if watch := getattr(self.store, "check_webhooks", None):
            watch()

    def _counted(self, connection_id: str) -> Mapping[CountKey, int]:
        return {
            CountKey(connection_id, day.day, sort, state, webhook_state): number
            for day in self.store.day_counts(connection_id)
            for sort in ("inserted_at", "updated_at")
            for (state, webhook_state), number in day.of(sort).items()
            if number
        }

    def _check_session(self, connection_id: str, records: list[QueuedRequest]) -> None:
        """Check that the request in flight belongs to the one live session."""
        sessions = [self.store.session(session_id(ticket)) for ticket, _ in self.tickets]
        live = [session for session in sessions if isinstance(session, Session) and not session.ended]
        mine = [session for session in live if session.connection_id == connection_id]
        connection = self.store.connection(connection_id)
        ticket = connection.session_id
        # A session is live even if its ticket was never returned, because the function was terminated.
        if ticket and ticket not in {session.id for session in mine}:
            mine.append(self.store.session(ticket))
        assert [session.id for session in mine] == ([ticket] if ticket else [])
        in_flight = [record for record in records if record.state in IN_FLIGHT]
        assert [record.id for record in in_flight] == [
            request_id for session in mine for request_id in session.ids_in_flight
        ]
        assert all(session.has_in_flight(record) for session in mine for record in in_flight)
        assert all(session.limits.paused == (connection.paused_at is not None) for session in mine)

    def _check_dependencies(self, record: QueuedRequest) -> None:
        """Check that a request was sent only after its dependencies, and with the value of the response."""
        for position in record.dependencies if record.state is State.WAITING else ():
            dependency = self.store.request(id_at(record.id, position))
            assert isinstance(dependency, QueuedRequest)
            assert dependency.state not in ENDED, (record, dependency)
        if record.error and record.error.code in {"dependency_failed", "reference_unresolved"} and not self.restored:
            dependency = self.store.request(record.error.details["dependency_id"])
            if isinstance(dependency, QueuedRequest):
                received = dependency.state is State.RESPONSE_RECEIVED
                assert received == (record.error.code == "reference_unresolved")
            assert not self.books[record.connection_id].executions_of(record.id)
        if record.state not in {State.WAITING, State.ERROR, State.DISCARDED} and not self.restored:
            assert "$from" not in (self.requests_xml[record.id] or "")

    def _check_record(self, record: QueuedRequest) -> None:
        self._check_dependencies(record)
        assert (record.error is not None) == (record.state is State.ERROR)
        response = self.responses[record.id]
        if record.state is State.RESPONSE_RECEIVED:
            assert response
            assert re.findall("<(?:Name|Memo)>([^<]*)</", response) == [record.connection_id]
            assert f'requestID="{record.request_label}"' in response
        if record.is_read:
            return
        executions = self.books[record.connection_id].executions_of(record.id)
        assert executions <= 1
        if record.error and record.error.code == "not_sent_in_time":
            # A Web Connector that hung may have handed over the first copy after QuickBooks denied it.
            assert not (executions and record.wrote_nothing)
            assert record.updated_at >= (record.send_by_time or "")
        if record.state in {State.WAITING, State.DISCARDED}:
            assert not executions
        if record.state is State.RETRYABLE:
            assert record.recovering or not executions
        has_response = record.error and record.error.code == "quickbooks_error"
        if (record.state is State.RESPONSE_RECEIVED or has_response) and not record.looks:
            assert executions == 1

    def check_end(self) -> None:
        """Check that all requests have ended."""
        self.check()
        assert all(record.state in ENDED for record in self.records())
        executions: Counter[str] = Counter()
        for books in self.books.values():
            executions.update(books.executions)
        assert not executions or max(executions.values()) == 1
        if self.webhooks:
            self.webhooks.check()
        if self.streams:
            self.streams.check()
            self.store.check_nothing_left()
            self._check_everything_expires(self.streams)

    def _check_everything_expires(self, streams: Streams) -> None:
        """Let all records expire, and check that nothing is left of them."""
        self.clock.advance(days=RETENTION_DAYS + 1)
        self.expire()
        streams.consumer.consume_everything()
        assert not self.records()
        self.store.check_nothing_left()


def observed(store: Any) -> bool:
    """Whether a store records its changes, from which its stream is made."""
    return hasattr(store, "stream")


def _write(ref: str | None, *depends_on: str, path: str = "CustomerRet/Name") -> NewRequest:
    """Return a write with a value of the response to the last request that it depends on."""
    fields: dict[str, Any] = {"Name": "Ann"}
    if depends_on:
        fields["CompanyName"] = {"$from": depends_on[-1], "path": path}
    return new_request({"CustomerAddRq": {"CustomerAdd": fields}}, ref, *depends_on)


def _look(ref: str, *depends_on: str) -> NewRequest:
    """Return an addition that looks first, with a value of the response to the request that it depends on."""
    memo = {"Memo": {"$from": depends_on[0], "path": "CustomerRet/Name"}} if depends_on else {}
    fields = {"CustomerRef": {"FullName": "Ann"}, "RefNumber": "7", **memo, "InvoiceLineAdd": [{"Desc": "Work"}]}
    tree = {"InvoiceAddRq": {"InvoiceAdd": fields}}
    return new_request(tree, ref, *depends_on, if_exists=IfExists.RETURN)


def _read(*depends_on: str) -> NewRequest:
    return new_request({"CustomerQueryRq": {}}, None, *depends_on)


def _iterated(*depends_on: str) -> NewRequest:
    return new_request({"CustomerQueryRq": {"@iterator": "Start", "MaxReturned": 2}}, None, *depends_on)
