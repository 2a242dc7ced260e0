"""Interruptions: a transport, a function and a QuickBooks that fail at the points that a test chooses.

The points that can be interrupted are not listed anywhere: a run records the points that it passes.
"""

from __future__ import annotations

import random
import re
import uuid
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from domain.records.session import MAX_EXECUTION_SECONDS
from domain.storage.ports import Database
from domain.web_connector.session.claims import FRONTS
from simulator import Company
from simulator.basics.errors import ConnectorClosed, HresultError, RequestError, TransportError
from simulator.company.message_sets import Keeping
from simulator.web_connector.soap import NAMESPACE, envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from simulator.company import CompanySession
    from tests.support.builders import FixedClock
    from tests.support.web_connector.connector import Connector

PORT_METHODS = frozenset(name for name in dir(Database) if name[0] != "_")
"""Every method of the store."""

BUDGETS = {"authenticate": 5, "sendRequestXML": 6, "receiveResponseXML": 4, "closeConnection": 5}
"""Calls of the store. `authenticate` makes five if it takes over a session with a request. `sendRequestXML` makes five
if it claims while lingering, takes a portion for a page or sends a set, and six if it sends a set again.
`closeConnection` makes four if a request is in flight, and one more after an exception that did not tell whether a
write was executed."""
OTHER_BUDGET = 5

SENDING_SECONDS = 5
"""The time between the sending of a request and the beginning of its execution, at most."""

QUICKBOOKS = "ProcessRequest"
QUICKBOOKS_WITH_SET = "ProcessRequest with a set of "
"""The second is a message set of several requests. Their number follows."""

LOCKED = 3175
"""The status of an object that another user has open: the request was not executed."""

SESSIONS_LOST = "sessions-lost"
"""After the call, a day passes without a sweep, and the stored sessions disappear."""
IN_TRANSPORT = ("request-lost", "response-lost", "duplicated", "repeated-later", "delayed-past-takeover", SESSIONS_LOST)
CONCURRENT_COPY = "concurrent-copy"
"""A copy of the call is answered before this call of the store: two functions run concurrently."""
TERMINATIONS = ("terminated-before", "terminated-after")
IN_A_READ = ("terminated-before", CONCURRENT_COPY)
"""Termination after a read equals termination before the next call of the store, or a lost response."""
IN_A_COMMIT = (*TERMINATIONS, CONCURRENT_COPY)
RUNS_ON_UNREPORTED = "runs-on-unreported"
STILL_EXECUTING = ("runs-on", "fails-and-runs-on", RUNS_ON_UNREPORTED, "runs-during-logins")
"""QuickBooks executes the request for a random time. Meanwhile, the Web Connector is ended, or the call to QuickBooks
fails, or it fails, the call that reports it is lost and the Web Connector closes the session, or another machine logs
in again and again."""
COPY_OPENED = "copy-opened"
"""QuickBooks executes the request, and its response is lost. Then a copy is open that was made before."""
COPY_PATH = "D:\\Backup\\Simulated Company.QBW"
SESSIONS_IN_THE_COPY = 3
IN_QUICKBOOKS = (
    *("fails-before", "fails-after", "locked", "late-by-one", "late-by-two", "last-of-all"),
    *STILL_EXECUTING,
    COPY_OPENED,
)
"""The request processor crashes before or after execution, the object is locked, or the request is executed only after
one or two other requests, or after all sessions, or for a long time."""
IN_QUICKBOOKS_WITH_SET = ("dies-within", "dies-within-stored")
"""QuickBooks dies after it executed a part of a message set, without or with their stored responses."""
DIES_UNREPORTED_AFTER = "dies-unreported-after-"
"""QuickBooks dies after it executed a number of the requests of a message set. The call that reports it is lost, and
then the Web Connector closes the session."""


class Point(NamedTuple):
    """A point that can be interrupted: the `number`th time (from 1) that something happens."""

    what: str
    number: int


class Interruption(NamedTuple):
    """A failure at a point."""

    point: Point
    kind: str

    def __str__(self) -> str:
        """Return the name of the case."""
        return f"{self.point.what}-{self.point.number}-{self.kind}"


def kinds_at(point: Point) -> tuple[str, ...]:
    """Return the failures that are possible at a point."""
    if point.what == QUICKBOOKS:
        return IN_QUICKBOOKS
    if point.what.startswith(QUICKBOOKS_WITH_SET):
        size = int(point.what.removeprefix(QUICKBOOKS_WITH_SET))
        unreported = (f"{DIES_UNREPORTED_AFTER}{executed}" for executed in range(size + 1))
        return (*IN_QUICKBOOKS, *IN_QUICKBOOKS_WITH_SET, *unreported)
    cause, is_store, port_method = point.what.partition("/")
    if not is_store:
        return IN_TRANSPORT
    kinds = IN_A_COMMIT if port_method == "commit" else IN_A_READ
    return kinds if cause in BUDGETS else tuple(kind for kind in kinds if kind != CONCURRENT_COPY)


class FunctionTerminated(BaseException):
    """The function was stopped and does not send a reply. `except Exception` does not catch it."""


class ReadFailed(Exception):
    """A query or another read of the database failed, after all repetitions of the client."""


@dataclass
class Interruptions:
    """Counts the points that are passed and determines the interruption that is due.

    `passed` contains each point with the call that it belongs to. `concurrently` answers a copy of the current call.
    If `closes_next` is true, the next result of QuickBooks is lost, and the session is closed.
    """

    planned: frozenset[Interruption]
    passed: list[tuple[Point, Point | None]] = field(default_factory=list)
    happened: list[Interruption] = field(default_factory=list)
    open: bool = False
    current: Point | None = None
    calls: int = 0
    concurrently: Callable[[], object] | None = None
    closes_next: bool = False
    _counts: Counter[str] = field(default_factory=Counter)

    def passing(self, what: str) -> str | None:
        """Count a point and return the kind of the interruption that is due."""
        if not self.open:
            return None
        self._counts[what] += 1
        point = Point(what, self._counts[what])
        self.passed.append((point, self.current))
        due = next((interruption for interruption in self.planned if interruption.point == point), None)
        if due is None:
            return None
        self.happened.append(due)
        return due.kind

    def after(self, first: Interruption | None = None) -> Iterator[Interruption]:
        """Yield every interruption of the points that were passed, all or those after the point of `first`."""
        start = 0
        if first:
            start = 1 + next(number for number, (point, _) in enumerate(self.passed) if point == first.point)
        for point, _ in self.passed[start:]:
            for kind in kinds_at(point):
                yield Interruption(point, kind)

    def within(self, call: Point) -> Iterator[Interruption]:
        """Yield every interruption of the points that belong to a call."""
        for point, cause in self.passed:
            if cause == call:
                for kind in kinds_at(point):
                    yield Interruption(point, kind)


class Interrupter(Protocol):
    """Decides whether to interrupt a function."""

    current: Point | None
    calls: int
    concurrently: Callable[[], object] | None

    def passing(self, what: str) -> str | None:
        """Return the kind of the interruption that is due."""


class InterruptibleStore:
    """A store that can terminate its caller before or after each call."""

    def __init__(self, store: Any, interrupter: Interrupter) -> None:
        self._store = store
        self._interrupter = interrupter

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the store; a method of a port can be interrupted."""
        attribute = getattr(self._store, name)
        return partial(self._call, name, attribute) if name in PORT_METHODS else attribute

    def _call(self, name: str, method: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        interrupter = self._interrupter
        interrupter.calls += 1
        kind = interrupter.passing(f"{interrupter.current.what if interrupter.current else '?'}/{name}")
        if kind == "terminated-before":
            raise FunctionTerminated
        if kind == "read-failed":
            raise ReadFailed
        if kind == CONCURRENT_COPY and interrupter.concurrently:
            interrupter.concurrently()
        result = method(*arguments, **keywords)
        if kind == "terminated-after":
            raise FunctionTerminated
        return result


@dataclass
class RandomIds:
    """Identifiers like those of `uuid4` that are the same in each run. Their first 20 digits differ."""

    random: random.Random = field(default_factory=lambda: random.Random(7))

    def __call__(self) -> str:
        """Return the next identifier."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))


class InterruptedTransport:
    """A transport that calls the endpoint in this process and can be interrupted."""

    def __init__(self, qbwc: Connector, points: Interruptions, *, lingers: bool = False, batch_size: int = 1) -> None:
        self._qbwc = qbwc
        self._points = points
        self._budgets = BUDGETS | ({"sendRequestXML": 6} if lingers else {})
        if batch_size > FRONTS[0]:
            # A session that released a set of so many requests looks behind them.
            self._budgets["receiveResponseXML"] += 1
        self._past_takeover: list[tuple[Point, bytes]] = []
        self._again: list[tuple[Point, bytes]] = []

    def get(self, url: str) -> int:
        """Answer the check of the certificate."""
        return self._qbwc.get(url)

    def post(self, _url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call, or interrupt it."""
        method = headers["SOAPAction"].strip('"').removeprefix(NAMESPACE)
        again, self._again = self._again, []
        self._points.current = None
        kind = self._points.passing(method)
        call = self._points.passed[-1][0] if self._points.open else Point(method, 0)
        if method == "receiveResponseXML" and self._points.closes_next:
            self._points.closes_next = False
            (ticket,) = re.findall(r"<ticket>([^<]*)</ticket>", body.decode())
            self._deliver(Point("closeConnection", 0), envelope("closeConnection", {"ticket": ticket}))
            raise TransportError("the result was lost, and the session was closed")
        if kind == "delayed-past-takeover":
            self._past_takeover.append((call, body))
        if kind in {"request-lost", "delayed-past-takeover"}:
            raise TransportError(kind)
        try:
            if kind == "duplicated":
                self._deliver(call, body)
            reply = self._deliver(call, body)
        finally:
            self._deliver_late(again)
            if method == "authenticate":
                late, self._past_takeover = self._past_takeover, []
                self._deliver_late(late)
        if kind == "repeated-later":
            self._again.append((call, body))
        if kind == SESSIONS_LOST:
            self._qbwc.clock.advance(days=1)
            self._qbwc.store.lose_sessions()
            # The next login searches for the requests of the session: two reads of an index and one of each record.
            self._budgets["authenticate"] = BUDGETS["authenticate"] + 2 + len(self._qbwc.records)
        if kind in {"response-lost", SESSIONS_LOST}:
            raise TransportError(kind)
        return reply

    def deliver_the_rest(self) -> bool:
        """Deliver all calls that are still in transit, and return whether there were any."""
        late = self._past_takeover + self._again
        self._past_takeover, self._again = [], []
        self._deliver_late(late)
        return bool(late)

    def _deliver_late(self, late: list[tuple[Point, bytes]]) -> None:
        for call, body in late:
            try:
                self._deliver(call, body)
            except TransportError:
                continue  # no caller waits for the reply

    def _deliver(self, call: Point, body: bytes) -> tuple[int, bytes]:
        points = self._points
        self._qbwc.clock.advance(seconds=1)
        points.current, points.calls = call, 0
        copies = 0

        def call_concurrently() -> None:
            nonlocal copies
            copies, calls = copies + 1, points.calls
            self._qbwc.post("", {}, body)
            points.calls = calls

        points.concurrently = call_concurrently
        try:
            reply = self._qbwc.post("", {}, body)
        except FunctionTerminated:
            raise TransportError("the function was terminated") from None
        finally:
            points.current = points.concurrently = None
        # A function that conflicts with another starts again.
        # The end of a request with dependants reads them.
        more = any(record.dependants for record in self._qbwc.records)
        budget = self._budgets.get(call.what, OTHER_BUDGET) + more
        assert points.calls <= budget * (1 + copies), (call, points.calls)
        return reply


class InterruptedCompany:
    """A company file in which QuickBooks can fail before or after it executes a request, or executes it late."""

    def __init__(
        self,
        company: Company,
        points: Interruptions,
        clock: FixedClock,
        *,
        marked: bool = True,
        log_in: Callable[[], object] = lambda: None,
    ) -> None:
        self._company = company
        self._clock = clock
        self._log_in = log_in
        self._running: list[tuple[datetime, Callable[[], str]]] = []
        self.points = points
        self.marked = marked
        self._late: list[list[Any]] = []
        self.executed_late = False
        self.executed_last = False
        self.copy: Company | None = None
        self._sessions_in_copy = 0
        self._random = random.Random(",".join(map(str, sorted(points.planned))))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the company."""
        return getattr(self._company, name)

    def begin_session(self, application: str, path: str = "") -> InterruptedCompanySession:
        """Open the company file, without its FileID mark unless it is `marked`."""
        if not self.marked:
            self._company.private_fields.clear()
        self._sessions_in_copy = max(0, self._sessions_in_copy - 1)
        return InterruptedCompanySession(self, self._open_company.begin_session(application, path), application)

    @property
    def _open_company(self) -> Company:
        return self.copy if self.copy and self._sessions_in_copy else self._company

    @property
    def path(self) -> str:
        """The path of the company file that is open."""
        return self._open_company.path

    def open_copy(self) -> None:
        """Open a copy in the next sessions. It has the same mark and knows no message set."""
        self.copy = Company.empty(path=COPY_PATH)
        self.copy.restore(replace(self._company.snapshot(), message_sets={}, executed=()))
        self.copy.private_fields = self._company.private_fields
        self._sessions_in_copy = SESSIONS_IN_THE_COPY + 1

    def run_on(self, end: Callable[[], str]) -> None:
        """Let QuickBooks end an execution after a random time."""
        self._running.append((self._clock.now + self._duration(), end))

    def run_during_logins(self, end: Callable[[], str]) -> str:
        """Let another machine log in while QuickBooks executes a request. Return the response."""
        ends_at = self._clock.now + self._duration()
        while self._clock.now < ends_at:
            self._clock.advance(seconds=self._random.uniform(20, 120))
            if self._clock.now < ends_at:
                self._log_in()
        return end()

    def _duration(self) -> timedelta:
        return timedelta(seconds=self._random.uniform(1, MAX_EXECUTION_SECONDS - SENDING_SECONDS))

    def end_executions(self) -> None:
        """End the executions whose time is over."""
        over = [running for running in self._running if running[0] <= self._clock.now]
        self._running = [running for running in self._running if running not in over]
        for _, end in over:
            end()

    def execute_later(self, application: str, text: str, when: float) -> None:
        """Execute a request after `when` other requests."""
        self._late.append([application, text, when])

    def executed_one(self) -> None:
        """Execute the late requests that are due."""
        for late in self._late:
            late[2] -= 1
        self._execute([late for late in self._late if late[2] <= 0])

    def execute_the_rest(self) -> None:
        """Execute all late requests."""
        self.executed_last = bool(self._late)
        self._execute(list(self._late))

    def _execute(self, due: list[list[Any]]) -> None:
        self.executed_late |= bool(due)
        for late in due:
            self._late.remove(late)
            application, text, _ = late
            session = self._company.begin_session(application)
            session.process_request(text)
            session.end()


class InterruptedCompanySession:
    """A session with an interrupted company file."""

    def __init__(self, company: InterruptedCompany, session: CompanySession, application: str) -> None:
        self._company = company
        self._session = session
        self._application = application
        self._facts_read = False

    def end(self) -> None:
        """End the session."""
        self._session.end()

    def process_request(self, text: str) -> str:
        """Execute a request, or fail. The Web Connector's own queries at the beginning always work."""
        if not self._facts_read:
            self._facts_read = True
            return self._session.process_request(text)
        self._company.end_executions()
        size = len(re.findall("<[A-Za-z]+Rq requestID", text))
        kind = self._company.points.passing(f"{QUICKBOOKS_WITH_SET}{size}" if size > 1 else QUICKBOOKS)
        if kind in STILL_EXECUTING:
            return self._execute_for_long(kind, self._session.begin_request(text))
        when = {"late-by-one": 1, "late-by-two": 2, "last-of-all": float("inf")}.get(kind or "")
        if when:
            self._company.execute_later(self._application, text, when)
            raise ConnectorClosed
        if kind == "fails-before":
            raise HresultError("0x800706BE")
        if kind and kind.startswith("dies-"):
            self._die_within(kind, text)
        if kind == COPY_OPENED:
            if self._company.marked:
                self._company.open_copy()
            self._session.process_request(text)
            raise HresultError("0x80040402")
        locked = RequestError(LOCKED, "It is in use.") if kind == "locked" else None
        response = self._session.process_request(text, refusal=locked)
        self._company.executed_one()
        if kind == "fails-after":
            raise HresultError("0x800706BE")
        return response

    def _die_within(self, kind: str, text: str) -> NoReturn:
        """Execute the first requests of a message set, and die."""
        executed = 1
        if kind.startswith(DIES_UNREPORTED_AFTER):
            executed = int(kind.removeprefix(DIES_UNREPORTED_AFTER))
            self._company.points.closes_next = True
        if executed:
            keeping = Keeping(possible=kind == "dies-within-stored")
            self._session.process_request(text, keeping=keeping, executes=executed)
        raise HresultError("0x800706BE")

    def _execute_for_long(self, kind: str, end: Callable[[], str]) -> str:
        if kind == "runs-during-logins":
            return self._company.run_during_logins(end)
        self._company.run_on(end)
        if kind == "runs-on":
            raise ConnectorClosed
        self._company.points.closes_next = kind == RUNS_ON_UNREPORTED
        raise HresultError("0x800706BE")
