"""The line between a simulated QuickBooks and the service, which can be cut at any place.

The simulator shares no code with the service and keeps message sets exactly as `qbxml.md` §4 has it.
"""

from __future__ import annotations

import random
import re
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.queued_request import ENDED, QueuedRequest, State
from domain.session import SILENCE_SECONDS
from domain.sweeping import Sweeper
from domain.web_connector import qwc
from simulator import Company, Simulator
from simulator.errors import HresultError, TransportError
from simulator.soap import NAMESPACE
from tests.unit.web_connector.driver import PASSWORD, CountingStore, Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.changes import Change
    from simulator.company import CompanySession
    from simulator.web_connector import SessionResult

SESSIONS = 8
"""More than enough: what is not done by then is stuck."""

BUDGETS = {"authenticate": 4, "sendRequestXML": 3, "receiveResponseXML": 3, "closeConnection": 3}
"""Round trips of a call; one more for a login that takes over."""


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """What happens at the `number`th time (from 1) of a SOAP method, of `commit` or of `ProcessRequest`."""

    place: str
    number: int
    kind: str

    def __str__(self) -> str:
        """Return the name of the case."""
        return f"{self.place}-{self.number}-{self.kind}"


CALLS = ("request-lost", "response-lost", "duplicated", "delayed-past-takeover")
COMMITS = ("dies-before", "dies-after")
QUICKBOOKS = ("fails-before", "fails-after")


def kinds_of(place: str) -> tuple[str, ...]:
    """Return what can happen at a place."""
    return {"commit": COMMITS, "ProcessRequest": QUICKBOOKS}.get(place, CALLS)


class FunctionDied(Exception):
    """The function was stopped where it stood: no answer comes."""


@dataclass
class Places:
    """Counts the places that are passed, and tells which cut is due."""

    cuts: frozenset[Cut]
    passed: list[tuple[str, int]] = field(default_factory=list)
    happened: list[Cut] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def passing(self, place: str) -> str | None:
        """Count a place; return the kind of the cut that happens there."""
        self.counts[place] += 1
        self.passed.append((place, self.counts[place]))
        cut = next((cut for cut in self.cuts if (cut.place, cut.number) == self.passed[-1]), None)
        if cut is None:
            return None
        self.happened.append(cut)
        return cut.kind


class MortalStore(CountingStore):
    """A store whose caller dies before or after a commit."""

    def __init__(self) -> None:
        super().__init__()
        self.places: Places | None = None

    def commit(self, *changes: Change) -> None:
        """Commit, or not."""
        kind = self.places.passing("commit") if self.places else None
        if kind == "dies-before":
            raise FunctionDied
        super().commit(*changes)
        if kind == "dies-after":
            raise FunctionDied


@dataclass
class RandomIds:
    """Identifiers like those of `uuid4`, whose first 24 digits differ; the same in each run."""

    random: random.Random = field(default_factory=lambda: random.Random(7))

    def __call__(self) -> str:
        """Return the next."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))


class Line:
    """The transport: calls the endpoint in the process, and cuts."""

    def __init__(self, desk: Desk, places: Places) -> None:
        self._desk = desk
        self._places = places
        self._late: list[bytes] = []

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call, or cut it."""
        method = headers["SOAPAction"].strip('"').removeprefix(NAMESPACE)
        kind = self._places.passing(method)
        if kind == "delayed-past-takeover":
            self._late.append(body)
        if kind in {"request-lost", "delayed-past-takeover"}:
            raise TransportError(kind)
        if kind == "duplicated":
            self._deliver(method, body)
        answer = self._deliver(method, body)
        if method == "authenticate":
            late, self._late = self._late, []
            for former in late:
                self._deliver("late", former)
        if kind == "response-lost":
            raise TransportError(kind)
        return answer

    def _deliver(self, method: str, body: bytes) -> tuple[int, bytes]:
        store = self._desk.store
        self._desk.clock.advance(seconds=1)
        store.calls.clear()
        try:
            answer = self._desk.connector.answer(body)
        except FunctionDied:
            raise TransportError("the function died") from None
        assert answer.status == 200, answer.body
        assert store.calls.total() <= BUDGETS.get(method, 5), (method, store.calls)
        return answer.status, answer.body.encode()


class FragileCompany:
    """A company file whose QuickBooks falls over before or after it did what it was asked."""

    def __init__(self, company: Company, places: Places) -> None:
        self._company = company
        self._places = places

    def __getattr__(self, name: str) -> Any:
        """Return what the company has."""
        return getattr(self._company, name)

    def begin_session(self, application: str, path: str = "") -> FragileSession:
        """Open the company."""
        return FragileSession(self._company.begin_session(application, path), self._places)


class FragileSession:
    """A session with it."""

    def __init__(self, session: CompanySession, places: Places) -> None:
        self._session = session
        self._places = places
        self._greeted = False

    def end(self) -> None:
        """End it."""
        self._session.end()

    def process_request(self, text: str) -> str:
        """Answer, or fall over. The Web Connector's own questions always work."""
        kind = self._places.passing("ProcessRequest") if self._greeted else None
        self._greeted = True
        if kind == "fails-before":
            raise HresultError("0x800706BE")
        answer = self._session.process_request(text)
        if kind == "fails-after":
            raise HresultError("0x800706BE")
        return answer


class Run:
    """A queue, drained by session after session through a line that is cut, until nothing is left."""

    def __init__(self, fill: Callable[[Desk], object], *cuts: Cut) -> None:
        self.places = Places(frozenset(cuts))
        self.store = MortalStore()
        self.desk = Desk(store=self.store, new_id=RandomIds())  # type: ignore[arg-type] - ids all the same
        connection = self.desk.connect(name="Acme")
        self.company = Company.generated(customers=5, now=self._unix_seconds)
        fill(self.desk)
        self.store.places = self.places
        self.simulator = Simulator(
            qwc.render(connection, base_url="https://queue.example.com", app_name="Queue"),
            PASSWORD,
            FragileCompany(self.company, self.places),  # type: ignore[arg-type] - what the connector uses of it
            transport=Line(self.desk, self.places),
            sleep=lambda _seconds: None,
        )
        self.results: list[SessionResult] = []

    def to_the_end(self) -> Run:
        """Run sessions until nothing is queued, then release what the last one left."""
        while len(self.results) < SESSIONS:
            self.results.append(self.simulator.run_once())
            if self.results[-1].status == "No Data Exchange":
                break
        self.store.places = None
        self.desk.clock.advance(seconds=SILENCE_SECONDS + 1)
        store = self.store
        Sweeper(store, store, store, self.desk.clock).sweep(self.desk.clock.advance(seconds=1))
        return self

    def _unix_seconds(self) -> float:
        return self.desk.clock.now.timestamp()

    @property
    def records(self) -> list[QueuedRequest]:
        """Return all records."""
        return [record for record in self.store.records.values() if isinstance(record, QueuedRequest)]

    def executions(self, record: QueuedRequest) -> int:
        """Return how often QuickBooks executed a write."""
        return sum(done.message_set_id == record.message_set_id for done in self.company.writes)

    def check(self) -> None:
        """Check all that must be so after any cuts."""
        assert self.store.counts == self.store.recount()
        assert not [session for session in self.store.sessions.values() if not session.ended]
        assert self.desk.connection.session_ticket is None
        for record in self.records:
            assert record.state in ENDED, record
            if not record.is_read:
                self._check_write(record)
            elif record.state is not State.RESPONSE_RECEIVED:
                assert record.error is not None
                assert record.error.code == "iteration_interrupted"
                assert record.page > 1

    def _check_write(self, record: QueuedRequest) -> None:
        assert self.executions(record) == 1, record
        response = self.desk.response(record.id)
        assert response is not None
        assert f'requestID="{record.request_label}"' in response
        if record.state is State.ERROR:
            assert record.error is not None
            assert record.error.code == "quickbooks_error"
        else:
            kept = re.search(r"<ListID>([^<]+)</ListID>", response)
            assert kept
            assert kept[1] in {str(row.fields["ListID"]) for row in self.company.tables.customers}
