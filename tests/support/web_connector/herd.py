"""Many Web Connectors at once, in simulated time: whether a rate limit cuts a session.

Logins, polling, admission, sending and receiving are the code of the service; the database is in memory, and its index
lags half a second. Simulated are time, the Web Connectors, API Gateway's rate limit (a token bucket) and Lambda's
processes: each serves one call at a time and keeps its own count of sessions.

A session is *cut* if one of its calls after `authenticate` is refused, and a response is *lost* if that call carries
it. A refused login costs a minute and nothing else.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from domain.apps.quotas import Quotas
from domain.connections.turns import MAX_POSTPONEMENT_SECONDS, MIN_USER_INTERVAL_SECONDS
from domain.records.request import QUEUED, QueuedRequest
from domain.records.session import Session
from domain.records.sync_window import SyncWindow
from domain.storage.changes import AddRequest, Put
from domain.timestamps import minute_of, timestamp
from domain.web_connector.protocol.soap import Call
from domain.web_connector.session.admission import Admission, Budget, budget
from domain.web_connector.session.lingering import NO_OP
from domain.web_connector.session.login import Login
from domain.web_connector.session.pacing import WAIT
from domain.web_connector.session.service import SessionService
from tests.support.builders import a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from domain.storage.changes import Change

OPENING = datetime(2026, 3, 14, 22, tzinfo=UTC)
INDEX_LAG = timedelta(seconds=0.5)
FUNCTION_SECONDS = 0.03
START_OF_QUICKBOOKS_SECONDS = 1.0
ANOTHER_APP = "another-app"

XML = '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="{}"/></QBXMLMsgsRq></QBXML>'


@dataclass(frozen=True, slots=True)
class Herd:
    """The connections, and the limits that they meet.

    `sessions` is the number that may run at once; 0 derives it, and None admits every login. With `window_minutes` 0,
    all connections with work call in the same second, and there is no window. The last `of_another_app` of them belong
    to another app. `interval_seconds` is the interval that the users have set.
    """

    connections: int = 1_000
    requests: int = 20
    idle: int = 10_000
    window_minutes: int = 120
    calls_per_second: int = 1_000
    burst: int = 5_000
    concurrency: int = 1_000
    sessions: int | None = 0
    trip_ms: int = 100
    work_ms: int = 150
    idle_hours: int = 1
    of_another_app: int = 0
    interval_seconds: int = MIN_USER_INTERVAL_SECONDS
    seed: int = 1

    @property
    def budget(self) -> Budget | None:
        """The budget of sessions. `make deploy` sets ConcurrencyAlarmAt to four fifths of the concurrency."""
        if self.sessions is None:
            return None
        return budget(self.calls_per_second, max(1, self.concurrency * 4 // 5), self.sessions)


@dataclass
class Result:
    """What happened. Times are in seconds since the opening of the window."""

    cut: int = 0
    lost: int = 0
    refused_logins: int = 0
    turned_away: int = 0
    responses: int = 0
    drained_at: float | None = None
    peak_sessions: int = 0
    waits: dict[str, float] = field(default_factory=dict)
    """The longest time by app from the first login of a connection that was turned away to its next session."""


class HerdStore(FakeStore):
    """The store in memory, without counts, with a queue for each connection, and an index of sessions that lags."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._queues: dict[str, deque[str]] = defaultdict(deque)
        self._shown: dict[str, Session] = {}
        self._to_show: deque[tuple[datetime, Session]] = deque()

    def commit(self, *changes: Change) -> None:
        """Check every condition, then do every change."""
        for change in changes:
            self._check(change)
        for change in changes:
            self._do(change)
            match change:
                case AddRequest(record=record):
                    self._queues[record.connection_id].append(record.id)
                case Put(after=Session() as session):
                    self._to_show.append((self._clock() + INDEX_LAG, session))
                case _:
                    pass

    def queue_front(self, connection_id: str, limit: int, *, low_lane: bool = False) -> list[QueuedRequest]:
        """Return the next requests to send. None is of the low lane."""
        assert not low_lane
        queue, front = self._queues[connection_id], list[QueuedRequest]()
        while queue and not _may_be_sent(self.records[queue[0]]):
            queue.popleft()
        for request_id in queue:
            record = self.records[request_id]
            if isinstance(record, QueuedRequest) and record.state in QUEUED:
                front.append(record)
            if len(front) == limit:
                break
        return sorted(front, key=lambda record: record.place_in_queue)

    def live_sessions(self, shard: int, since: str) -> Counter[str]:
        """Count the sessions that the index shows by app."""
        while self._to_show and self._to_show[0][0] <= self._clock():
            _, session = self._to_show.popleft()
            if session.ended:
                self._shown.pop(session.id, None)
            else:
                self._shown[session.id] = session
        shown = (session for session in self._shown.values() if session.shard == shard)
        return Counter(session.app_id for session in shown if minute_of(session.last_call_at) >= minute_of(since))


def _may_be_sent(record: object) -> bool:
    return isinstance(record, QueuedRequest) and not record.state.value.startswith(("response", "error"))


@dataclass
class Clock:
    """The simulated time."""

    now: datetime = OPENING

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


class Process:
    """A process of the function: its own caches, and one call at a time."""

    def __init__(self, simulation: Simulation, number: int) -> None:
        herd, store, clock = simulation.herd, simulation.store, simulation.clock
        random = Random(f"{herd.seed}/{number}")
        admission = Admission(store, clock, herd.budget, random.randbytes) if herd.budget else None
        login = Login(
            store, store, clock, random.randbytes, dormant_seconds=MAX_POSTPONEMENT_SECONDS, admission=admission
        )
        session = SessionService(store, clock, lambda: "", Quotas(store, clock, lambda: 0.0), admission)
        self.methods: dict[str, Callable[[Call], Any]] = {
            "authenticate": login.authenticate,
            "sendRequestXML": session.send_request_xml,
            "receiveResponseXML": session.receive_response_xml,
            "getLastError": session.get_last_error,
            "closeConnection": session.close_connection,
        }
        self.free_at = clock.now


class Refused(Exception):
    """429: the rate limit, or no function is free."""


class Simulation:
    """Runs a herd."""

    def __init__(self, herd: Herd) -> None:
        self.herd = herd
        self.clock = Clock()
        self.store = HerdStore(self.clock)
        self.result = Result()
        self._random = Random(herd.seed)
        self._processes: list[Process] = []
        self._tokens = float(herd.burst)
        self._filled_at = OPENING
        self._events: list[tuple[datetime, int, Iterator[timedelta]]] = []
        self._number = 0
        self._calls: Counter[int] = Counter()
        self._live: set[str] = set()
        self._turned_away_since: dict[str, datetime] = {}
        self._to_receive = herd.connections * herd.requests

    # --- The service

    def call(self, method: str, **parameters: str) -> Any:
        """Make a call now. Raises Refused."""
        now = self.clock.now
        self._calls[int(now.timestamp())] += 1
        self._take_token(now)
        process = self._free_process(now)
        process.free_at = now + timedelta(seconds=FUNCTION_SECONDS)
        handler = process.methods.get(method)
        return handler(Call(method, parameters)).result if handler else ""

    def _take_token(self, now: datetime) -> None:
        filled = (now - self._filled_at).total_seconds() * self.herd.calls_per_second
        self._tokens, self._filled_at = min(float(self.herd.burst), self._tokens + filled), now
        if self._tokens < 1:
            raise Refused
        self._tokens -= 1

    def _free_process(self, now: datetime) -> Process:
        for process in self._processes:
            if process.free_at <= now:
                return process
        if len(self._processes) >= self.herd.concurrency:
            raise Refused
        self._processes.append(Process(self, len(self._processes)))
        return self._processes[-1]

    def calls_in_busiest(self, seconds: int, since: int) -> int:
        """Return the calls in the busiest time of this length that begins so many seconds after the opening."""
        first = int(OPENING.timestamp()) + since
        last = max(self._calls, default=first)
        return max(sum(self._calls[second] for second in range(start, start + seconds)) for start in range(first, last))

    # --- A Web Connector

    def machine(self, connection_id: str) -> Iterator[timedelta]:
        """Run updates forever. Yields the time until the next step."""
        while True:
            wait = yield from self._update(connection_id)
            yield timedelta(seconds=wait)

    def _update(self, connection_id: str) -> Any:
        """Run one update. Returns the seconds until the next one."""
        trip = timedelta(milliseconds=self.herd.trip_ms)
        try:
            for method in ("GET", "serverVersion", "clientVersion"):
                self.call(method)
                yield trip
            reply = self.call("authenticate", strUserName=connection_id, strPassword=PASSWORD)
            ticket, status, postpone = (*reply, "")[:3]
            yield trip
        except Refused:
            self.result.refused_logins += 1
            return self.herd.interval_seconds
        if status:
            with suppress(Refused):
                self.call("closeConnection", ticket=ticket)
            if status == "none" and self.store.connections[connection_id].turned_away > 0:
                self.result.turned_away += 1
                self._turned_away_since.setdefault(connection_id, self.clock.now)
            return max(int(postpone or 0), self.herd.interval_seconds)
        self._end_wait(connection_id)
        self._live.add(connection_id)
        self.result.peak_sessions = max(self.result.peak_sessions, len(self._live))
        try:
            yield from self._session(ticket, trip)
        except Refused:
            self.result.cut += 1
        finally:
            self._live.discard(connection_id)
        return self.herd.interval_seconds

    def _end_wait(self, connection_id: str) -> None:
        since, app_id = self._turned_away_since.pop(connection_id, None), self.store.connections[connection_id].app_id
        if since is not None:
            seconds = (self.clock.now - since).total_seconds()
            self.result.waits[app_id] = max(seconds, self.result.waits.get(app_id, 0.0))

    def _session(self, ticket: str, trip: timedelta) -> Iterator[timedelta]:
        yield timedelta(seconds=START_OF_QUICKBOOKS_SECONDS)
        facts, progress = hcp(), 0
        while progress < 100:
            request = self.call("sendRequestXML", ticket=ticket, strHCPResponse=facts)
            yield trip
            if request in {"", NO_OP}:
                error = self.call("getLastError", ticket=ticket)
                yield trip
                if error != NO_OP:
                    break
                yield WAIT
                continue
            facts = ""
            yield timedelta(milliseconds=self.herd.work_ms)
            try:
                progress = self.call("receiveResponseXML", ticket=ticket, response=response_to(request))
            except Refused:
                self.result.lost += 1
                raise
            yield trip
            if progress < 0:
                break
            self.result.responses += 1
            self.result.drained_at = (self.clock.now - OPENING).total_seconds()
        self.call("closeConnection", ticket=ticket)

    # --- The herd

    def run(self, max_minutes: int) -> Result:
        """Run until all work is done, and ten minutes longer. Ends `max_minutes` after the opening at the latest."""
        herd = self.herd
        first = OPENING if herd.window_minutes == 0 else OPENING - timedelta(minutes=16)
        self.clock.now = self._filled_at = first
        for connection_id in self._add_connections():
            connection = self.store.connections[connection_id]
            spread = 15 * 60 if herd.idle_hours >= 24 or connection.sync_window else 5 * 60
            at_once = herd.window_minutes == 0 and bool(self.store.queue_front(connection_id, 1))
            phase = timedelta() if at_once else timedelta(seconds=self._random.uniform(0, spread))
            self._add_event(first + phase, self.machine(connection_id))
        end = OPENING + timedelta(minutes=max_minutes)
        while self._events and self.clock.now < end:
            self.clock.now, _, machine = heapq.heappop(self._events)
            self._add_event(self.clock.now + next(machine), machine)
            if self.result.responses >= self._to_receive:
                end = min(end, OPENING + timedelta(seconds=self.result.drained_at or 0, minutes=10))
        for connection_id in list(self._turned_away_since):
            self._end_wait(connection_id)
        return self.result

    def _add_event(self, moment: datetime, machine: Iterator[timedelta]) -> None:
        self._number += 1
        heapq.heappush(self._events, (moment, self._number, machine))

    def _add_connections(self) -> Iterator[str]:
        herd = self.herd
        opens = OPENING.strftime("%H:%M")
        closes = (OPENING + timedelta(minutes=herd.window_minutes)).strftime("%H:%M")
        window = SyncWindow(opens, closes, "UTC") if herd.window_minutes else None
        worked = timestamp(OPENING - timedelta(hours=herd.idle_hours))
        known = {
            "inserted_at": "2026-01",
            "last_connected_at": worked,
            "last_worked_at": worked,
            "password_hash": PASSWORD_HASH,
        }
        facts = {"qbxml_version": "16.0", "country": "US", "quickbooks_product_name": "QuickBooks Enterprise 24"}
        for number in range(herd.connections + herd.idle):
            connection_id = self._new_id()
            has_work = number < herd.connections
            fields: dict[str, Any] = known | facts | ({"sync_window": window} if has_work else {})
            if herd.connections - herd.of_another_app <= number < herd.connections:
                fields["app_id"] = ANOTHER_APP
            self.store.commit(Put(None, a_connection(id=connection_id, **fields)))
            for request in range(herd.requests if has_work else 0):
                moment = timestamp(OPENING - timedelta(hours=2) + timedelta(seconds=request))
                label = f"{number}-{request}"
                record = a_record(
                    id=label, connection_id=connection_id, request_label=label, inserted_at=moment, updated_at=moment
                )
                self.store.commit(AddRequest(record, XML.format(label), ""))
            yield connection_id

    def _new_id(self) -> str:
        bits = f"{self._random.getrandbits(128):032x}"
        return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-8{bits[17:20]}-{bits[20:]}"
