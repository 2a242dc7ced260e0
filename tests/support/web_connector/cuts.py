"""A line, a function and a QuickBooks that break where they are told to.

Where something can break is not listed anywhere: a run tells the places that it passed, and each can be cut.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from domain.storage import ports
from simulator.errors import ConnectorClosed, HresultError, RequestError, TransportError
from simulator.web_connector.soap import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simulator.company import Company, CompanySession
    from tests.support.web_connector.driver import Desk

PORTS = (
    ports.Store,
    ports.Requests,
    ports.Deliveries,
    ports.Connections,
    ports.Sessions,
    ports.Apps,
    ports.Listing,
    ports.Recounts,
)
PORT_METHODS = frozenset(name for port in PORTS for name in vars(port) if not name.startswith("_"))
"""Every call of the database that there is."""

BUDGETS = {"authenticate": 4, "sendRequestXML": 3, "receiveResponseXML": 3, "closeConnection": 3}
"""Round trips of a call; one more for a login that takes over."""
OTHER_BUDGET = 5

QUICKBOOKS = "ProcessRequest"

LOCKED = 3175
"""The status of an object that somebody else is working on: the request was not done."""

ON_THE_LINE = ("request-lost", "response-lost", "duplicated", "repeated-later", "delayed-past-takeover")
OVERTAKEN = "overtaken"
"""A copy of the call is answered whole before this call of the database: two functions meet."""
DEATHS = ("dies-before", "dies-after")
IN_A_READ = ("dies-before", OVERTAKEN)
"""To die after a read is to die before what follows, or to lose the response."""
IN_A_COMMIT = (*DEATHS, OVERTAKEN)
IN_QUICKBOOKS = ("fails-before", "fails-after", "locked", "late-by-one", "late-by-two", "last-of-all")
"""The connector falls over before or after the work is done, the object is in use, or the work is done only when
QuickBooks has answered one or two other requests, or when all is over."""


class Place(NamedTuple):
    """Where something can break: the `number`th time (from 1) that a thing is done."""

    what: str
    number: int


class Cut(NamedTuple):
    """What breaks at a place, and how."""

    place: Place
    kind: str

    def __str__(self) -> str:
        """Return the name of the case."""
        return f"{self.place.what}-{self.place.number}-{self.kind}"


def kinds_of(place: Place) -> tuple[str, ...]:
    """Return what can happen at a place."""
    if place.what == QUICKBOOKS:
        return IN_QUICKBOOKS
    cause, is_database, port_method = place.what.partition("/")
    if not is_database:
        return ON_THE_LINE
    kinds = IN_A_COMMIT if port_method == "commit" else IN_A_READ
    return kinds if cause in BUDGETS else tuple(kind for kind in kinds if kind != OVERTAKEN)


class FunctionDied(BaseException):
    """The function was stopped where it stood: no answer comes. Nobody can catch it as an Exception."""


@dataclass
class Places:
    """Counts the places that are passed, and tells which cut is due.

    `passed` names with each place the call on whose behalf it was passed.
    """

    cuts: frozenset[Cut]
    passed: list[tuple[Place, Place | None]] = field(default_factory=list)
    happened: list[Cut] = field(default_factory=list)
    open: bool = False
    doing: Place | None = None
    calls: int = 0
    overtake: Callable[[], object] | None = None
    """Answers a copy of the call that is being answered."""
    _counts: Counter[str] = field(default_factory=Counter)

    def passing(self, what: str) -> str | None:
        """Count a place; return the kind of the cut that happens there."""
        if not self.open:
            return None
        place = self._next(what)
        self.passed.append((place, self.doing))
        cut = next((cut for cut in self.cuts if cut.place == place), None)
        if cut is None:
            return None
        self.happened.append(cut)
        return cut.kind

    def _next(self, what: str) -> Place:
        self._counts[what] += 1
        return Place(what, self._counts[what])

    def cuts_after(self, first: Cut | None = None) -> Iterator[Cut]:
        """Yield every cut at a place that was passed, all or those after the first one's."""
        start = 0
        if first:
            start = 1 + next(number for number, (place, _) in enumerate(self.passed) if place == first.place)
        for place, _ in self.passed[start:]:
            for kind in kinds_of(place):
                yield Cut(place, kind)

    def cuts_within(self, call: Place) -> Iterator[Cut]:
        """Yield every cut at a place that was passed on behalf of a call."""
        for place, cause in self.passed:
            if cause == call:
                for kind in kinds_of(place):
                    yield Cut(place, kind)


class Fate(Protocol):
    """Tells what happens to a caller of the database."""

    doing: Place | None
    calls: int
    overtake: Callable[[], object] | None

    def passing(self, what: str) -> str | None:
        """Return the kind of the cut that happens here, None when nothing does."""


class MortalStore:
    """A store whose caller can die before or after each of its calls."""

    def __init__(self, store: Any, places: Fate) -> None:
        self._store = store
        self._places = places

    def __getattr__(self, name: str) -> Any:
        """Return what the store has; a port's method with death around it."""
        found = getattr(self._store, name)
        return partial(self._call, name, found) if name in PORT_METHODS else found

    def _call(self, name: str, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        places = self._places
        places.calls += 1
        kind = places.passing(f"{places.doing.what if places.doing else '?'}/{name}")
        if kind == "dies-before":
            raise FunctionDied
        if kind == OVERTAKEN and places.overtake:
            places.overtake()
        result = method(*arguments, **named)
        if kind == "dies-after":
            raise FunctionDied
        return result


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
        self._past_takeover: list[tuple[Place, bytes]] = []
        self._again: list[tuple[Place, bytes]] = []

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call, or cut it."""
        method = headers["SOAPAction"].strip('"').removeprefix(NAMESPACE)
        again, self._again = self._again, []
        self._places.doing = None
        kind = self._places.passing(method)
        call = self._places.passed[-1][0] if self._places.open else Place(method, 0)
        if kind == "delayed-past-takeover":
            self._past_takeover.append((call, body))
        if kind in {"request-lost", "delayed-past-takeover"}:
            raise TransportError(kind)
        try:
            if kind == "duplicated":
                self._deliver(call, body)
            answer = self._deliver(call, body)
        finally:
            self._deliver_late(again)
            if method == "authenticate":
                late, self._past_takeover = self._past_takeover, []
                self._deliver_late(late)
        if kind == "repeated-later":
            self._again.append((call, body))
        if kind == "response-lost":
            raise TransportError(kind)
        return answer

    def deliver_what_is_left(self) -> bool:
        """Deliver all that is still on its way; return whether there was anything."""
        late = self._past_takeover + self._again
        self._past_takeover, self._again = [], []
        self._deliver_late(late)
        return bool(late)

    def _deliver_late(self, late: list[tuple[Place, bytes]]) -> None:
        for call, body in late:
            try:
                self._deliver(call, body)
            except TransportError:
                continue  # nobody waits for the answer

    def _deliver(self, call: Place, body: bytes) -> tuple[int, bytes]:
        places = self._places
        self._desk.clock.advance(seconds=1)
        places.doing, places.calls = call, 0
        met = 0

        def overtake() -> None:
            nonlocal met
            met, calls = met + 1, places.calls
            answer = self._desk.connector.answer(body)
            assert answer.status == 200, answer.body
            places.calls = calls

        places.overtake = overtake
        try:
            answer = self._desk.connector.answer(body)
        except FunctionDied:
            raise TransportError("the function died") from None
        finally:
            places.doing = places.overtake = None
        assert answer.status == 200, answer.body
        # Whoever met somebody does all of it once more.
        assert places.calls <= BUDGETS.get(call.what, OTHER_BUDGET) * (1 + met), (call, places.calls)
        return answer.status, answer.body.encode()


class FragileCompany:
    """A company file whose QuickBooks falls over before or after it did what it was asked, or does it late."""

    def __init__(self, company: Company, places: Places, *, marked: bool = True) -> None:
        self._company = company
        self.places = places
        self.marked = marked
        self._late: list[list[Any]] = []
        self.done_last = False

    def __getattr__(self, name: str) -> Any:
        """Return what the company has."""
        return getattr(self._company, name)

    def begin_session(self, application: str, path: str = "") -> FragileSession:
        """Open the company; without its mark nobody can tell whose it is."""
        if not self.marked:
            self._company.private_fields.clear()
        return FragileSession(self, self._company.begin_session(application, path), application)

    def do_later(self, application: str, text: str, when: float) -> None:
        """Do what was asked after `when` other requests."""
        self._late.append([application, text, when])

    def answered_one(self) -> None:
        """Do what was left until now."""
        for late in self._late:
            late[2] -= 1
        self._do([late for late in self._late if late[2] <= 0])

    def do_what_is_left(self) -> None:
        """Do all that was asked and not done."""
        self.done_last = bool(self._late)
        self._do(list(self._late))

    def _do(self, due: list[list[Any]]) -> None:
        for late in due:
            self._late.remove(late)
            application, text, _ = late
            session = self._company.begin_session(application)
            session.process_request(text)
            session.end()


class FragileSession:
    """A session with it."""

    def __init__(self, company: FragileCompany, session: CompanySession, application: str) -> None:
        self._company = company
        self._session = session
        self._application = application
        self._greeted = False

    def end(self) -> None:
        """End it."""
        self._session.end()

    def process_request(self, text: str) -> str:
        """Answer, or fall over. The Web Connector's own questions always work."""
        if not self._greeted:
            self._greeted = True
            return self._session.process_request(text)
        kind = self._company.places.passing(QUICKBOOKS)
        when = {"late-by-one": 1, "late-by-two": 2, "last-of-all": float("inf")}.get(kind or "")
        if when:
            self._company.do_later(self._application, text, when)
            raise ConnectorClosed
        if kind == "fails-before":
            raise HresultError("0x800706BE")
        locked = RequestError(LOCKED, "It is in use.") if kind == "locked" else None
        answer = self._session.process_request(text, refusal=locked)
        self._company.answered_one()
        if kind == "fails-after":
            raise HresultError("0x800706BE")
        return answer
