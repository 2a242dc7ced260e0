"""The state machine: consumers, Web Connectors, QuickBooks and sweeps in any order, with interruptions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, initialize, invariant, multiple, rule

from domain.errors import Gone, HasDependants, InvalidState, MayBeExecuted, NotFound
from domain.records.connection import COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED
from domain.records.request import ENDED, TRANSITIONS, State
from domain.records.session import MAX_EXECUTION_SECONDS, SILENCE_SECONDS, session_id
from domain.records.sync_window import SyncWindow
from domain.send_by import ANY_TIME, SendBy
from domain.web_connector.session.lingering import NO_OP
from tests.support.builders import AN_ACTOR, APP_ID, OTHER_APP_ID, FixedClock, a_link
from tests.support.index_lag import IndexLag
from tests.support.web_connector.draws import CONNECTIONS, TROUBLE
from tests.support.web_connector.functions import ConcurrentCall
from tests.support.web_connector.observed_store import ObservedStore
from tests.support.web_connector.quickbooks import labels_in
from tests.support.web_connector.stream_rules import StreamRules
from tests.support.web_connector.system import OWNERS, Execution, File, System

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from tests.support.web_connector.functions import Trouble

TWO_TRANSITIONS = {
    # Put back by the former session and claimed by the next.
    (State.TICKETED, State.TICKETED),
    (State.SENT, State.TICKETED),
    # Claimed and sent by a lingering session.
    (State.WAITING, State.SENT),
    (State.RETRYABLE, State.SENT),
}

SEND_BY = st.sampled_from([ANY_TIME, ANY_TIME, SendBy(within=60), SendBy(within=400)])
FORMER = st.sampled_from([0, 0, 0, 1, 2])
"""The number of later sessions of the connection."""
WINDOW = SyncWindow("22:00", "04:00", "America/New_York")
SETTINGS: dict[str, dict[str, Any]] = {
    "linger": {"linger_seconds": 20},
    "one at a time": {"batch_size": 1, "read_batch_size": 1},
    "sets": {"batch_size": 5, "read_batch_size": 5},
    "large sets": {"batch_size": 20, "read_batch_size": 20},
    "window": {"sync_window": WINDOW},
    "no window": {"sync_window": None},
}
"""The changes of settings by name."""

DEATHS = {"dies within a set": False, "dies within a set after storing": True}
"""QuickBooks dies within a message set, without or with a stored response to its first request."""

UNREPORTED = "a failed call whose report is lost"
"""The Web Connector then closes its session."""

OVER = -1
"""The reply of `receiveResponseXML` after the end of a session."""


def only_webhook_differs(before: QueuedRequest, after: QueuedRequest) -> bool:
    """Return whether two versions of a record have the same content but for the webhook."""
    return replace(after, webhook=before.webhook, revision=before.revision, updated_at=before.updated_at) == before


class Interleavings(StreamRules):
    """Two apps, three connections, several Web Connectors for each."""

    steps = 0
    """Steps of all machines so far."""
    batch_size = 1
    """The setting of the connections."""
    max_sessions: int | None = None
    """How many sessions may run at once."""
    first_requests: Sequence[str] = ("write", "iterate", "write")
    first_batches: Sequence[str] = ()
    """The kinds of the requests of each connection, and of the batches of the first one, at the beginning."""

    fetched = Bundle("fetched")
    answers = Bundle("answers")

    def make_system(self, seed: int) -> System:
        """Return a new system; `seed` determines the lag of its indexes."""
        clock = FixedClock()
        store = ObservedStore(IndexLag(clock, seed=seed))
        return System(store, clock, batch_size=self.batch_size, max_sessions=self.max_sessions, seed=seed)

    def __init__(self) -> None:
        super().__init__()
        self.on_their_way: list[tuple[str, int, str]] = []
        self.fetched_at: dict[tuple[str, int, str], datetime] = {}

    @initialize(seed=st.integers(0, 999))
    def begin(self, seed: int) -> None:
        self.system = self.make_system(seed)
        for number, _ in enumerate(OWNERS):
            for kind in self.first_requests:
                self.system.queue(number, kind, "")
        for kind in self.first_batches:
            self.system.queue_batch(0, kind)

    # --- Consumers

    @rule(
        number=CONNECTIONS,
        kind=st.sampled_from(["write", "write", "read", "iterate", "look", "look"]),
        label=st.sampled_from(["", "", "same"]),
        key=st.sampled_from([None, "key"]),
        send_by=SEND_BY,
        is_low=st.booleans(),
        trouble=TROUBLE,
    )
    def queue(  # noqa: PLR0917 - drawn by name
        self, number: int, kind: str, label: str, key: str | None, send_by: SendBy, is_low: bool, trouble: Trouble
    ) -> None:
        self.system.queue(number, kind, label, key, trouble, send_by=send_by, is_low=is_low)

    @rule(
        number=CONNECTIONS,
        kind=st.sampled_from(["chain", "fan", "wrong value", "look"]),
        send_by=st.lists(SEND_BY, min_size=1, max_size=3),
        is_low=st.booleans(),
        trouble=TROUBLE,
    )
    def queue_batch(self, number: int, kind: str, send_by: list[SendBy], is_low: bool, trouble: Trouble) -> None:
        self.system.queue_batch(number, kind, trouble, send_by=send_by, is_low=is_low)

    @rule(
        which=st.integers(0, 60),
        how=st.sampled_from(["discard", "discard all", "delete", "force", "force all", "redeliver", "get"]),
        mine=st.booleans(),
        trouble=TROUBLE,
    )
    def ask_for(self, which: int, how: str, mine: bool, trouble: Trouble) -> None:
        """Discard, delete, redeliver or read a request. Requests of other apps do not exist for the caller."""
        records = self.system.records()
        if not records:
            return
        record = records[which % len(records)]
        app_id = record.app_id if mine else ({APP_ID, OTHER_APP_ID} - {record.app_id}).pop()
        use = self.system.requests
        action = {
            "discard": lambda: use.discard(app_id, record.id, actor=AN_ACTOR),
            "discard all": lambda: use.discard(app_id, record.id, dependants=True, actor=AN_ACTOR),
            "delete": lambda: use.delete(app_id, record.id, actor=AN_ACTOR),
            "force": lambda: use.delete(app_id, record.id, force=True, actor=AN_ACTOR),
            "force all": lambda: use.delete(app_id, record.id, force=True, dependants=True, actor=AN_ACTOR),
            "redeliver": lambda: use.redeliver(app_id, record.id, actor=AN_ACTOR),
            "get": lambda: use.get(app_id, record.id),
        }[how]
        try:
            self.system.in_function(action, trouble if mine else None)
        except HasDependants:
            assert mine
            assert how in {"discard", "force"}
            assert record.dependants
        except (MayBeExecuted, InvalidState, Gone):
            assert mine
        except NotFound:
            assert not mine
        else:
            assert mine

    @rule(
        number=CONNECTIONS,
        what=st.sampled_from(["pause", "resume", "rename", "reset", "onboard", *SETTINGS]),
        trouble=TROUBLE,
    )
    def manage(self, number: int, what: str, trouble: Trouble) -> None:
        connection, use = self.system.connections[number], self.system.connection_service
        mine = connection.app_id, connection.id
        action = {
            "pause": lambda: use.pause(*mine, actor=AN_ACTOR),
            "resume": lambda: use.resume(*mine, actor=AN_ACTOR),
            "rename": lambda: use.update(*mine, name=str(len(self.system.new_id.ids)), actor=AN_ACTOR),
            "reset": lambda: use.reset_company_file(*mine, actor=AN_ACTOR),
            "onboard": lambda: use.update(*mine, onboarding=a_link(self.system.clock.now), actor=AN_ACTOR),
        }.get(what, lambda: use.update(*mine, **SETTINGS[what], actor=AN_ACTOR))
        self.system.in_function(action, trouble)

    @rule(
        number=CONNECTIONS,
        what=st.sampled_from(["discard", "queue again", "queue each again", "replace", "continue"]),
        trouble=TROUBLE,
    )
    def change_many(self, number: int, what: str, trouble: Trouble) -> None:
        """Discard or queue again all requests of a connection with one call, or each, or a batch, with its own."""
        system = self.system
        action = {
            "discard": system.discard_many,
            "queue again": system.queue_again,
            "queue each again": system.copy_each,
            "replace": system.replace_each,
            "continue": system.continue_batches,
        }
        action[what](number, trouble)

    # --- Web Connectors and QuickBooks

    def ticket(self, number: int, former: int = 0) -> str:
        """Return a connection's latest ticket or a former one, or '' if there is none."""
        tickets = [ticket for ticket, other in reversed(self.system.tickets) if other == number]
        return tickets[former] if former < len(tickets) else ""

    def live_ticket(self, number: int) -> str:
        """Return the ticket of the connection's live session. Log in if there is no live session."""
        ticket = self.ticket(number)
        session = self.session(ticket)
        if session is None or session.ended:
            ticket, _ = self.system.log_in(number) or ("", "")
        return ticket

    @rule(number=CONNECTIONS, trouble=TROUBLE)
    def log_in(self, number: int, trouble: Trouble) -> None:
        self.system.log_in(number, trouble)

    @rule(number=CONNECTIONS)
    def take_over(self, number: int) -> None:
        """Log in from a second machine. The first machine's session ends, and its user can read the reason."""
        ticket = self.ticket(number)
        session = self.session(ticket)
        if session is None or session.ended:
            return
        _, status = self.system.log_in(number) or ("", "")
        if status == "busy":
            assert self.session(ticket) == session
            return
        assert self.system.send(ticket, number) == ""
        assert self.system.soap("receiveResponseXML", ticket, "<QBXML/>", "", "") == OVER
        assert self.system.soap("getLastError", ticket) == "Another session of this user has begun."

    @rule(number=CONNECTIONS, file=st.sampled_from([File.OTHERS, File.UNMARKED, File.COPY]), trouble=TROUBLE)
    def open_a_wrong_file(self, number: int, file: File, trouble: Trouble) -> None:
        """Open a wrong company file. No request is sent to it, and the connection reports it."""
        connection = self.system.store.connection(self.system.connections[number].id)
        if not connection.file_pinned or (file is not File.OTHERS and not connection.company_file_paths):
            return
        code = COMPANY_FILE_MOVED if file is File.COPY else COMPANY_FILE_MISMATCH
        ticket, status = self.system.log_in(number) or ("", "")
        if status in {"none", "busy"}:
            return
        assert self.system.send(ticket, number, file, trouble) == ""
        if trouble is None:
            assert self.session(ticket).ended
            assert self.system.store.connection(connection.id).last_error["code"] == code

    @rule(
        target=fetched,
        number=CONNECTIONS,
        former=FORMER,
        file=st.sampled_from([File.OWN, File.OWN, File.OWN_WITHOUT_FACTS, File.OWN_WITHOUT_MARK]),
        trouble=TROUBLE,
    )
    def send(self, number: int, former: int, file: File, trouble: Trouble) -> Any:
        ticket = self.ticket(number, former) if former else self.live_ticket(number)
        request = self.system.send(ticket, number, file, trouble)
        if "<QBXML" not in request:
            return multiple()
        self.on_their_way.append((ticket, number, request))
        self.fetched_at[ticket, number, request] = self.system.clock.now
        return ticket, number, request

    @rule(
        target=answers,
        copy=consumes(fetched),
        objects=st.sampled_from([0, 2, 4]),
        failed=st.booleans(),
        at_once=st.booleans(),
        trouble=TROUBLE,
    )
    def work(self, copy: tuple[str, int, str], objects: int, failed: bool, at_once: bool, trouble: Trouble) -> Any:
        """Let QuickBooks execute a request, whether or not its session is over."""
        self.on_their_way.remove(copy)
        ticket, number, request = copy
        books = self.system.books[self.system.connections[number].id]
        books.late += self._is_late(copy)
        response = ticket, books.response_to(request, objects, failed=failed)
        if at_once:
            self.system.receive(*response, trouble=trouble)
        return response

    def _is_late(self, copy: tuple[str, int, str]) -> bool:
        """Whether a Web Connector has hung for longer than QuickBooks may take, with an addition that looks first."""
        until = self.fetched_at[copy] + timedelta(seconds=MAX_EXECUTION_SECONDS)
        return until <= self.system.clock.now and "<InvoiceAddRq" in copy[2]

    @rule(
        copy=consumes(fetched),
        seconds=st.integers(1, MAX_EXECUTION_SECONDS - 60),
        hresult=st.sampled_from(["", "", "0x800706BE", "0x80010105", UNREPORTED]),
        trouble=TROUBLE,
    )
    def work_for_long(self, copy: tuple[str, int, str], seconds: int, hresult: str, trouble: Trouble) -> None:
        """Let QuickBooks execute a request for some time. The call to QuickBooks may fail meanwhile."""
        system, (ticket, number, request) = self.system, copy
        ends_at = self.fetched_at[copy] + timedelta(seconds=MAX_EXECUTION_SECONDS - 30)
        if ends_at <= system.clock.now or ticket in system.closed:
            return  # a Web Connector that hung for so long, or executes a request of a closed session: see `work`
        self.on_their_way.remove(copy)
        ends_at = min(ends_at, system.clock.now + timedelta(seconds=seconds))
        end = system.books[system.connections[number].id].begin(request)
        system.executions.append(Execution(ticket, request, ends_at, end, is_waiting=not hresult))
        if hresult == UNREPORTED:
            system.soap("closeConnection", ticket, trouble=trouble)
            return
        session = self.session(ticket)
        is_in_flight = session is not None and any(request_id in request for request_id in session.ids_in_flight)
        if hresult and is_in_flight:
            system.receive(ticket, "", hresult, trouble)

    @rule(
        number=CONNECTIONS,
        waits=st.lists(st.integers(1, 900), min_size=1, max_size=4),
        is_closed=st.booleans(),
        trouble=TROUBLE,
    )
    def work_while_others_log_in(self, number: int, waits: list[int], is_closed: bool, trouble: Trouble) -> None:
        """Let another machine log in again and again while QuickBooks executes a request. Then deliver the response."""
        system = self.system
        ticket = self.live_ticket(number)
        request = system.send(ticket, number)
        if "<QBXML" not in request:
            return
        books = system.books[system.connections[number].id]
        ends_at = system.clock.now + timedelta(seconds=min(sum(waits) + 60, MAX_EXECUTION_SECONDS - 30))
        execution = Execution(ticket, request, ends_at, books.begin(request), is_waiting=True)
        system.executions.append(execution)
        for seconds in waits:
            system.clock.advance(seconds=seconds)
            other, status = system.log_in(number) or ("", "")
            while not status and "<QBXML" in (copy := system.send(other, number)):
                system.receive(other, books.response_to(copy, 4))
            if is_closed:
                system.soap("closeConnection", other)
        for _, response in system.end_executions(lambda running: running is execution):
            system.receive(ticket, response, trouble=trouble)

    @rule(target=answers, number=CONNECTIONS)
    def finish(self, number: int) -> Any:
        """Let QuickBooks finish the executions of the latest sessions of a connection."""
        mine = {ticket for ticket, other in self.system.tickets if other == number}
        return multiple(
            *self.system.end_executions(lambda execution: execution.is_waiting and execution.ticket in mine)
        )

    @rule(response=answers, trouble=TROUBLE)
    def deliver(self, response: tuple[str, str], trouble: Trouble) -> None:
        """Deliver a response: late, twice, or in order."""
        self.system.receive(*response, trouble=trouble)

    @rule(which=st.integers(0, 30), trouble=TROUBLE)
    def deliver_copy(self, which: int, trouble: Trouble) -> None:
        """Deliver a copy of an earlier call of any Web Connector, seconds or days later."""
        if self.system.calls:
            self.system.deliver_copy(which, trouble)

    @rule(
        copy=consumes(fetched),
        hresult=st.sampled_from(["0x80040400", "0x8004041B", "0x800706BE", *DEATHS]),
        trouble=TROUBLE,
    )
    def fail(self, copy: tuple[str, int, str], hresult: str, trouble: Trouble) -> None:
        """Let QuickBooks fail, in one case after it executed the request."""
        ticket, number, request = copy
        if ticket in self.system.closed:
            return  # the subject of `work`
        self.on_their_way.remove(copy)
        is_set = len(labels_in(request)) > 1 and "<CustomerAddRq" in request
        if hresult in DEATHS:
            if is_set:
                self.system.books[self.system.connections[number].id].die_within(request, stored=DEATHS[hresult])
            hresult = "0x80010105"
        elif hresult == "0x800706BE":
            self.system.books[self.system.connections[number].id].response_to(request)
        elif any(other[0] == ticket and other[2] != request for other in self.on_their_way):
            return  # an HRESULT does not name a request, and this one means that nothing was executed
        session = self.session(ticket)
        if session is not None and any(request_id not in request for request_id in session.ids_in_flight):
            return
        self.system.receive(ticket, "", hresult, trouble)

    def session(self, ticket: str) -> Any:
        """Return the session of a ticket."""
        return self.system.store.session(session_id(ticket))

    @rule(
        number=CONNECTIONS,
        former=FORMER,
        method=st.sampled_from(["connectionError", "closeConnection", "getLastError"]),
        trouble=TROUBLE,
    )
    def call(self, number: int, former: int, method: str, trouble: Trouble) -> None:
        texts = ("0x80040408", "Could not start QuickBooks.") if method == "connectionError" else ()
        assert self.system.soap(method, self.ticket(number, former), *texts, trouble=trouble) != ""

    @rule(
        number=CONNECTIONS,
        requests=st.integers(1, 6),
        objects=st.sampled_from([4, 8, 0]),
        end=st.sampled_from(["well", "failed", "lost"]),
        calls=st.sampled_from([None, None, 1, 2, 3, 4]),
        trouble=TROUBLE,
    )
    def converse(  # noqa: PLR0917 - drawn by name
        self, number: int, requests: int, objects: int, end: str, calls: int | None, trouble: Trouble
    ) -> None:
        """Continue the latest session or log in. Send several requests. The last response may be interrupted.

        Two functions may answer each `sendRequestXML`: a copy of it arrives after `calls` calls of the store.
        """
        system = self.system
        copy = None if calls is None else ConcurrentCall(calls, "copy", number)
        ticket = self.live_ticket(number)
        for requests_after in reversed(range(requests)):
            request = system.send(ticket, number, trouble=copy)
            if request == NO_OP:
                system.clock.advance(seconds=5)
                continue
            if not request:
                return
            now = "well" if requests_after else end
            text = system.books[system.connections[number].id].response_to(request, objects, failed=now == "failed")
            if now != "lost":
                system.receive(ticket, text, trouble=None if requests_after else trouble)

    # --- Time

    @rule(silence=st.sampled_from([60, SILENCE_SECONDS + 60]), trouble=TROUBLE)
    def sweep(self, silence: int, trouble: Trouble) -> None:
        self.system.sweep(silence, trouble)

    @rule(seconds=st.sampled_from([-1, 0.1, 5, 150, 400, 1_200, 3_600, 90_000]))
    def jump(self, seconds: float) -> None:
        """Move the clock. Hosts differ slightly, and a day may pass without a call of a Web Connector."""
        self.system.clock.advance(seconds=seconds)

    @rule(is_quiet=st.booleans())
    def pass_forty_days(self, is_quiet: bool) -> None:
        """Let 40 days pass, with records that expire. The retry queue makes all attempts or none.

        Sweeps run meanwhile. They look at the webhooks of 35 days.
        """
        system = self.system
        system.sweep(86_400)
        if is_quiet and system.webhooks:
            system.webhooks.to_quiet()
        system.clock.advance(days=33)
        system.expire()
        system.sweep(60)
        system.clock.advance(days=7)

    @rule()
    def lose_sessions(self) -> None:
        """Let a day pass without a sweep, remove all sessions, and log in again."""
        self.system.lose_sessions()

    # --- Rules

    @invariant()
    def all_rules_hold(self) -> None:
        Interleavings.steps += 1
        if hasattr(self, "system"):
            self.system.check()

    @invariant()
    def states_follow_the_table(self) -> None:
        system = getattr(self, "system", None)
        for versions in getattr(system and system.store, "history", {}).values():
            for before, after in pairwise(versions):
                assert after.revision == before.revision + 1
                is_first_sending = before.sent_at is None and after.sent_at is not None
                assert not is_first_sending or after.send_by_time is None or after.sent_at < after.send_by_time
                steps = (before.state, after.state)
                assert (
                    steps in TWO_TRANSITIONS
                    or after.state in TRANSITIONS[before.state]
                    or (before.state in ENDED and only_webhook_differs(before, after))
                    or (before.state is after.state and set(after.dependencies) < set(before.dependencies))
                ), steps

    def teardown(self) -> None:
        """Send everything that is queued. Finally, QuickBooks executes the requests that hung in a Web Connector."""
        if not hasattr(self, "system"):
            return
        self.system.to_quiet()
        assert not self.system.executions
        for ticket, number, request in self.on_their_way:
            books = self.system.books[self.system.connections[number].id]
            books.late += self._is_late((ticket, number, request))
            books.response_to(request)
        self.system.check_end()


class InterleavingsOfLooking(Interleavings):
    """Each connection has additions of one invoice that look first, and a batch that fails and can be continued."""

    first_requests = ("look", "write", "look")
    first_batches = ("wrong value", "look")
