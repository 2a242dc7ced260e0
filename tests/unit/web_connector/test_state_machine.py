"""Any sequence of calls, in any order: what must be so whatever the Web Connector does."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from domain.changes import ChangeConnection
from domain.connections import ManagedConnections
from domain.errors import InFlight, InvalidState
from domain.queued_request import ENDED, IN_FLIGHT, TRANSITIONS, QueuedRequest, State
from domain.queueing import Queueing
from domain.session import SILENCE_SECONDS, ticket_hash
from domain.sweeping import Sweeper
from domain.web_connector.lingering import NO_OP
from tests.builders import APP_ID, CONNECTION_ID, counting_bytes
from tests.unit.web_connector.cuts import RandomIds
from tests.unit.web_connector.driver import CountingStore, Desk, answer, hcp, kept, not_kept, page_of

TWO_STEPS_IN_ONE_COMMIT = {
    # Given back by the former session and claimed by the next.
    (State.TICKETED, State.TICKETED),
    (State.SENT, State.TICKETED),
    # Claimed and handed out by a session that lingers.
    (State.WAITING, State.SENT),
    (State.RETRYABLE, State.SENT),
}


class WatchedStore(CountingStore):
    """Notes every state that a record has been through."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[QueuedRequest]] = {}

    def commit(self, *changes: Any) -> None:
        """Commit and note."""
        super().commit(*changes)
        for record in self.records.values():
            assert isinstance(record, QueuedRequest)
            seen = self.history.setdefault(record.id, [])
            if not seen or seen[-1] != record:
                seen.append(record)


class Books:
    """QuickBooks: it executes what it is handed, and keeps the answers of message sets."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}
        self.executions: Counter[str] = Counter()

    def answer(self, request: str, remaining: int = 0, *, failed: bool = False) -> str:
        """Answer as `qbxml.md` §4 has it."""
        new, old = (re.search(rf'{name}MessageSetID="([^"]*)"', request) for name in ("new", "old"))
        if new is None:
            return answer(request, code=500, severity="Error") if failed else page_of(request, remaining)
        content = request.partition("<CustomerAddRq")[2]
        if old and old[1] != new[1]:
            self.kept.pop(old[1], None)
        if new[1] in self.kept:
            known, text = self.kept[new[1]]
            return text if content in {known, ""} else not_kept(request, 9001)
        if not content:
            return not_kept(request)
        self.executions[new[1]] += 1
        text = kept(request, code=3100, severity="Error") if failed else kept(request)
        self.kept[new[1]] = content, text
        return text


class Conversations(RuleBasedStateMachine):
    """One connection, several Web Connectors that use its password, QuickBooks and the sweeper."""

    tickets = Bundle("tickets")
    handed_out = Bundle("handed_out")
    answers = Bundle("answers")

    def __init__(self) -> None:
        super().__init__()
        self.store = WatchedStore()
        self.desk = Desk(store=self.store, new_id=RandomIds())  # type: ignore[arg-type] - ids all the same
        self.desk.connect(linger_seconds=10)
        self.books = Books()
        self.writes_out: Counter[str] = Counter()
        self.latest: dict[str, str] = {}
        self.on_their_way: list[tuple[str, str]] = []

    @initialize(target=tickets)
    def log_in_first(self) -> str:
        self.desk.queue()
        self.desk.authenticate()
        return self.desk.ticket

    @rule(kind=st.sampled_from(["read", "write", "iterate"]))
    def queue(self, kind: str) -> None:
        match kind:
            case "read":
                self.desk.queue()
            case "write":
                self.desk.write()
            case _:
                self.desk.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')

    @rule(target=tickets)
    def log_in(self) -> str:
        assert self.desk.authenticate() in {"", "none"}
        return self.desk.ticket

    @rule(target=handed_out, ticket=tickets, facts=st.booleans())
    def send(self, ticket: str, facts: bool) -> Any:
        self.desk.ticket = ticket
        request = self.desk.send(hcp() if facts else "")
        if request in {"", NO_OP}:
            return multiple()
        if "CustomerAddRq" in request:
            self.writes_out[request] += 1
        self.latest[ticket] = request
        self.on_their_way.append((ticket, request))
        return ticket, request

    @rule(
        target=answers,
        copy=consumes(handed_out),
        remaining=st.sampled_from([0, 2]),
        failed=st.booleans(),
        at_once=st.booleans(),
    )
    def work(self, copy: tuple[str, str], remaining: int, failed: bool, at_once: bool) -> Any:
        """QuickBooks does what a Web Connector brings it, be its session over or not."""
        self.on_their_way.remove(copy)
        ticket, request = copy
        answered = ticket, self.books.answer(request, remaining, failed=failed)
        if at_once:
            self.hand_in(answered)
        return answered

    @rule(answered=answers)
    def hand_in(self, answered: tuple[str, str]) -> None:
        """Bring an answer: late, twice, or in order."""
        self.desk.ticket, text = answered
        self.check_progress(self.desk.receive(text))

    @rule(copy=consumes(handed_out), hresult=st.sampled_from(["0x80040400", "0x8004041B", "0x800706BE"]))
    def fail(self, copy: tuple[str, str], hresult: str) -> None:
        """QuickBooks fails; in one case it did the work first."""
        self.on_their_way.remove(copy)
        ticket, request = copy
        if self.latest[ticket] != request:
            return
        if hresult == "0x800706BE":
            self.books.answer(request)
        self.desk.ticket = ticket
        self.check_progress(self.desk.receive(hresult=hresult))

    @rule(which=st.integers(0, 5))
    def take_away(self, which: int) -> None:
        """Discard a write, when that is allowed."""
        writes = [record for record in self.store.records.values() if not getattr(record, "is_read", True)]
        if which >= len(writes):
            return
        try:
            Queueing(self.store, self.store, self.store, self.desk.clock, self.desk.new_id).discard(
                APP_ID, writes[which].id
            )
        except (InFlight, InvalidState):
            return

    def check_progress(self, progress: int) -> None:
        session = self.store.sessions.get(ticket_hash(self.desk.ticket))
        assert -1 <= progress <= 100
        # Never 100 while the session holds work (§2.8).
        if session and not session.ended and session.in_flight:
            assert progress < 100

    @rule(ticket=tickets)
    def cannot_connect(self, ticket: str) -> None:
        assert self.desk.call("connectionError", ticket, "0x80040408", "Could not start QuickBooks.") == "done"

    @rule(ticket=tickets)
    def close(self, ticket: str) -> None:
        self.desk.ticket = ticket
        assert self.desk.close() == "OK"

    @rule(ticket=tickets)
    def ask_why(self, ticket: str) -> None:
        self.desk.ticket = ticket
        assert self.desk.last_error()

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        store = self.store
        managed = ManagedConnections(
            store, store, store, clock=self.desk.clock, new_id=self.desk.new_id, secrets=counting_bytes
        )
        (managed.pause if paused else managed.resume)(APP_ID, CONNECTION_ID)

    @rule()
    def rename(self) -> None:
        before = self.desk.connection
        self.store.commit(ChangeConnection(before, before.changed("x", name=f"{before.name}x")))

    @rule(silence=st.sampled_from([60, SILENCE_SECONDS + 60]))
    def sweep(self, silence: int) -> None:
        self.desk.clock.advance(seconds=silence)
        store = self.store
        Sweeper(store, store, store, self.desk.clock).sweep(self.desk.clock.advance(seconds=1))

    @invariant()
    def counts_are_exact(self) -> None:
        assert self.store.counts == self.store.recount()

    @invariant()
    def a_write_is_executed_at_most_once_and_never_unknown_to_its_owner(self) -> None:
        for record in self.store.records.values():
            assert isinstance(record, QueuedRequest)
            if record.is_read:
                continue
            executions = self.books.executions[record.message_set_id]
            assert executions <= 1
            if record.state in {State.WAITING, State.DISCARDED}:
                assert not executions
            if record.state is State.RETRYABLE:
                assert record.recovering or not executions
            if record.state is State.RESPONSE_RECEIVED or (record.error and record.error.code == "quickbooks_error"):
                assert executions == 1

    @invariant()
    def a_write_goes_out_at_most_once(self) -> None:
        # A write may go out again only when QuickBooks surely did not execute it.
        for request, times in self.writes_out.items():
            if times > 1:
                (record,) = [record for record in self.store.history if f'requestID="{record}"' in request]
                assert State.RETRYABLE in {seen.state for seen in self.store.history[record]}

    @invariant()
    def what_is_in_flight_is_held_by_the_one_live_session(self) -> None:
        live = [session for session in self.store.sessions.values() if not session.ended]
        held = [session.in_flight for session in live if session.in_flight]
        in_flight = [record for record in self.store.records.values() if getattr(record, "state", None) in IN_FLIGHT]
        assert in_flight == held
        assert len(live) <= 1
        assert self.desk.connection.session_ticket == (live[0].ticket if live else None)

    @invariant()
    def a_session_knows_whether_its_connection_is_paused(self) -> None:
        for session in self.store.sessions.values():
            assert session.ended or session.paused is (self.desk.connection.paused_at is not None)

    @invariant()
    def states_follow_the_table(self) -> None:
        for seen in self.store.history.values():
            for before, after in pairwise(seen):
                assert after.revision == before.revision + 1
                if (before.state, after.state) in TWO_STEPS_IN_ONE_COMMIT:
                    continue
                assert after.state in TRANSITIONS[before.state]

    @invariant()
    def an_error_says_which(self) -> None:
        for record in self.store.records.values():
            assert isinstance(record, QueuedRequest)
            assert (record.error is not None) == (record.state is State.ERROR)
            if record.state in ENDED and record.state is State.RESPONSE_RECEIVED:
                assert self.store.bodies[record.id].response_xml

    def teardown(self) -> None:
        """End in order: everything that can be sent is sent, nothing stays in flight."""
        self.pause(False)
        for _ in range(12):
            if not self.drain():
                break
        assert all(getattr(record, "state", None) in ENDED for record in self.store.records.values())
        # What hung in a Web Connector comes loose at last.
        for _, request in self.on_their_way:
            self.books.answer(request)
        assert not self.books.executions or max(self.books.executions.values()) == 1
        assert self.store.counts == self.store.recount()

    def drain(self) -> bool:
        """Run a session without any trouble; return whether there was work."""
        if self.desk.authenticate() == "none":
            return False
        facts = hcp()
        while (request := self.desk.send(facts)) not in {"", NO_OP}:
            if self.desk.receive(self.books.answer(request)) in {-1, 100}:
                break
            facts = ""
        self.desk.close()
        return True


TestConversations = Conversations.TestCase
TestConversations.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
