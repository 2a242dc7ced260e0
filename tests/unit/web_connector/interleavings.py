"""The state machine: consumers, Web Connectors, QuickBooks, sweeps, lag and death in any order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from domain.connection import COMPANY_FILE_MISMATCH
from domain.errors import Gone, InFlight, InvalidState, NotFound
from domain.queued_request import TRANSITIONS, State
from domain.session import SILENCE_SECONDS, ticket_hash
from domain.web_connector.lingering import NO_OP
from tests.builders import APP_ID, OTHER_APP_ID, FixedClock
from tests.fakes import IndexLag
from tests.unit.web_connector.witness import WitnessedStore
from tests.unit.web_connector.world import OWNERS, File, World

TWO_STEPS_IN_ONE_COMMIT = {
    # Given back by the former session and claimed by the next.
    (State.TICKETED, State.TICKETED),
    (State.SENT, State.TICKETED),
    # Claimed and handed out by a session that lingers.
    (State.WAITING, State.SENT),
    (State.RETRYABLE, State.SENT),
}

CONNECTIONS = st.integers(0, len(OWNERS) - 1)
DIES = st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 4), st.booleans()))
"""One function in three dies, before or after one of its calls of the database."""


OVER = -1
"""What `receiveResponseXML` answers to a session that is over."""


class Interleavings(RuleBasedStateMachine):
    """Two apps, three connections, several Web Connectors of each."""

    steps = 0
    """Of all machines so far."""

    tickets = Bundle("tickets")
    handed_out = Bundle("handed_out")
    answers = Bundle("answers")

    def make_world(self, seed: int) -> World:
        """Return a world of one's own; `seed` is for the lag of its indexes."""
        clock = FixedClock()
        return World(WitnessedStore(IndexLag(clock, seed=seed)), clock)

    def __init__(self) -> None:
        super().__init__()
        self.on_their_way: list[tuple[str, int, str]] = []

    @initialize(target=tickets, seed=st.integers(0, 999))
    def begin(self, seed: int) -> tuple[str, int]:
        self.world = self.make_world(seed)
        self.world.queue(0, "write", "")
        ticket, status = self.world.log_in(0) or ("", "nobody answered")
        assert status == ""
        return ticket, 0

    # --- consumers

    @rule(
        number=CONNECTIONS,
        kind=st.sampled_from(["read", "write", "iterate"]),
        label=st.sampled_from(["", "", "same"]),
        key=st.sampled_from([None, "key"]),
        dies=DIES,
    )
    def queue(self, number: int, kind: str, label: str, key: str | None, dies: tuple[int, bool] | None) -> None:
        self.world.queue(number, kind, label, key, dies)

    @rule(
        which=st.integers(0, 30),
        how=st.sampled_from(["discard", "delete", "force", "redeliver", "get"]),
        mine=st.booleans(),
        dies=DIES,
    )
    def ask_for(self, which: int, how: str, mine: bool, dies: tuple[int, bool] | None) -> None:
        """Discard, delete, redeliver or read somebody's request; a stranger's does not exist."""
        records = self.world.records()
        if not records:
            return
        record = records[which % len(records)]
        app_id = record.app_id if mine else ({APP_ID, OTHER_APP_ID} - {record.app_id}).pop()
        use = self.world.queueing
        action = {
            "discard": lambda: use.discard(app_id, record.id),
            "delete": lambda: use.delete(app_id, record.id),
            "force": lambda: use.delete(app_id, record.id, force=True),
            "redeliver": lambda: use.redeliver(app_id, record.id),
            "get": lambda: use.get(app_id, record.id),
        }[how]
        try:
            done = self.world.mortally(action, dies)
        except (InFlight, InvalidState, Gone):
            assert mine
        except NotFound:
            assert not mine
        else:
            assert mine or (dies and done is None)

    @rule(number=CONNECTIONS, what=st.sampled_from(["pause", "resume", "rename", "linger", "reset"]), dies=DIES)
    def manage(self, number: int, what: str, dies: tuple[int, bool] | None) -> None:
        connection, use = self.world.connections[number], self.world.managed
        mine = connection.app_id, connection.id
        action = {
            "pause": lambda: use.pause(*mine),
            "resume": lambda: use.resume(*mine),
            "rename": lambda: use.update(*mine, name=str(len(self.world.new_id.given))),
            "linger": lambda: use.update(*mine, linger_seconds=20),
            "reset": lambda: use.reset_company_file(*mine),
        }[what]
        self.world.mortally(action, dies)

    # --- Web Connectors and QuickBooks

    @rule(target=tickets, number=CONNECTIONS, dies=DIES)
    def log_in(self, number: int, dies: tuple[int, bool] | None) -> Any:
        answered = self.world.log_in(number, dies)
        return multiple() if answered is None else (answered[0], number)

    @rule(target=tickets, known=tickets)
    def take_over(self, known: tuple[str, int]) -> Any:
        """Come with the same .qwc file from a second machine: the first one's session is over, and it is told why."""
        ticket, number = known
        session = self.latest(ticket)
        if session is None or session.ended:
            return multiple()
        second, _ = self.world.log_in(number) or ("", "")
        assert self.world.send(ticket, number) == ""
        assert self.world.soap("receiveResponseXML", ticket, "<QBXML/>", "", "") == OVER
        assert self.world.soap("getLastError", ticket) == "Another session of this user has begun."
        return second, number

    @rule(target=tickets, number=CONNECTIONS, file=st.sampled_from([File.OTHERS, File.UNMARKED]), dies=DIES)
    def open_a_wrong_file(self, number: int, file: File, dies: tuple[int, bool] | None) -> Any:
        """Come from a wrong company file: nothing goes there, and the connection says so, once its own is known."""
        connection = self.world.store.connection(self.world.connections[number].id)
        if not connection.file_pinned or (file is File.UNMARKED and not connection.file_id_seen):
            return multiple()
        ticket, status = self.world.log_in(number) or ("", "")
        if status == "none":
            return multiple()
        assert self.world.send(ticket, number, file, dies) == ""
        if dies is None:
            assert self.latest(ticket).ended
            assert self.world.store.connection(connection.id).last_error["code"] == COMPANY_FILE_MISMATCH
        return ticket, number

    @rule(
        target=handed_out,
        known=tickets,
        file=st.sampled_from([File.OWN, File.OWN, File.OWN_WITHOUT_FACTS, File.OWN_WITHOUT_MARK]),
        dies=DIES,
    )
    def send(self, known: tuple[str, int], file: File, dies: tuple[int, bool] | None) -> Any:
        ticket, number = known
        request = self.world.send(ticket, number, file, dies)
        if "<QBXML" not in request:
            return multiple()
        self.on_their_way.append((ticket, number, request))
        return ticket, number, request

    @rule(
        target=answers,
        copy=consumes(handed_out),
        objects=st.sampled_from([0, 2, 4]),
        failed=st.booleans(),
        at_once=st.booleans(),
        dies=DIES,
    )
    def work(
        self, copy: tuple[str, int, str], objects: int, failed: bool, at_once: bool, dies: tuple[int, bool] | None
    ) -> Any:
        """QuickBooks does what a Web Connector brings it, be its session over or not."""
        self.on_their_way.remove(copy)
        ticket, number, request = copy
        books = self.world.books[self.world.connections[number].id]
        answered = ticket, books.answer(request, objects, failed=failed)
        if at_once:
            self.world.receive(*answered, dies=dies)
        return answered

    @rule(answered=answers, dies=DIES)
    def hand_in(self, answered: tuple[str, str], dies: tuple[int, bool] | None) -> None:
        """Bring an answer: late, twice, or in order."""
        self.world.receive(*answered, dies=dies)

    @rule(
        copy=consumes(handed_out),
        hresult=st.sampled_from(["0x80040400", "0x8004041B", "0x800706BE"]),
        dies=DIES,
    )
    def fail(self, copy: tuple[str, int, str], hresult: str, dies: tuple[int, bool] | None) -> None:
        """QuickBooks fails; in one case it did the work first."""
        ticket, number, request = copy
        self.on_their_way.remove(copy)
        if hresult == "0x800706BE":
            self.world.books[self.world.connections[number].id].answer(request)
        elif any(other[0] == ticket and other[2] != request for other in self.on_their_way):
            return  # an hresult names no request, and this one says that nothing was done
        session = self.latest(ticket)
        if session is not None and session.in_flight and session.in_flight.id not in request:
            return
        self.world.receive(ticket, "", hresult, dies)

    def latest(self, ticket: str) -> Any:
        """Return the session of a ticket."""
        return self.world.store.session(ticket_hash(ticket))

    @rule(known=tickets, method=st.sampled_from(["connectionError", "closeConnection", "getLastError"]), dies=DIES)
    def say(self, known: tuple[str, int], method: str, dies: tuple[int, bool] | None) -> None:
        texts = ("0x80040408", "Could not start QuickBooks.") if method == "connectionError" else ()
        assert self.world.soap(method, known[0], *texts, dies=dies) != ""

    @rule(
        number=CONNECTIONS,
        requests=st.integers(1, 6),
        objects=st.sampled_from([4, 8, 0]),
        failed=st.booleans(),
        dies=DIES,
    )
    def converse(self, number: int, requests: int, objects: int, failed: bool, dies: tuple[int, bool] | None) -> None:
        """Go on with the latest session, or begin one: some requests in a row, the last answer with trouble."""
        world = self.world
        ticket = next((ticket for ticket, other in reversed(world.tickets) if other == number), "")
        session = self.latest(ticket)
        if session is None or session.ended:
            ticket, status = world.log_in(number) or ("", "")
            if status == "none":
                return
        for left in reversed(range(requests)):
            request = world.send(ticket, number)
            if request == NO_OP:
                world.clock.advance(seconds=5)
                continue
            if not request:
                return
            text = world.books[world.connections[number].id].answer(request, objects, failed=failed and not left)
            world.receive(ticket, text, dies=None if left else dies)

    # --- time

    @rule(silence=st.sampled_from([60, SILENCE_SECONDS + 60]), dies=DIES)
    def sweep(self, silence: int, dies: tuple[int, bool] | None) -> None:
        self.world.sweep(silence, dies)

    @rule(seconds=st.sampled_from([-1, 0.1, 5, 3_600, 90_000]))
    def jump(self, seconds: float) -> None:
        """Let the clock jump: hosts differ by a little, and nobody may come for a day."""
        self.world.clock.advance(seconds=seconds)

    # --- what must be so

    @invariant()
    def all_is_as_it_must_be(self) -> None:
        Interleavings.steps += 1
        if hasattr(self, "world"):
            self.world.check()

    @invariant()
    def states_follow_the_table(self) -> None:
        world = getattr(self, "world", None)
        for seen in getattr(world and world.store, "history", {}).values():
            for before, after in pairwise(seen):
                assert after.revision == before.revision + 1
                steps = (before.state, after.state)
                assert (
                    steps in TWO_STEPS_IN_ONE_COMMIT
                    or after.state in TRANSITIONS[before.state]
                    or (before.state is after.state and after.webhook_round == before.webhook_round + 1)
                ), steps

    def teardown(self) -> None:
        """End in order: everything that can be sent is sent, and what hung in a Web Connector comes loose at last."""
        if not hasattr(self, "world"):
            return
        self.world.to_quiet()
        for _, number, request in self.on_their_way:
            self.world.books[self.world.connections[number].id].answer(request)
        self.world.check_end()
