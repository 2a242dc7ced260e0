"""Any sequence of calls, in any order: what must be so whatever the Web Connector does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from domain.changes import ChangeConnection
from domain.queued_request import ENDED, IN_FLIGHT, TRANSITIONS, QueuedRequest, State
from domain.session import SILENCE_SECONDS, ticket_hash
from domain.sweeping import Sweeper
from tests.unit.web_connector.driver import CountingStore, Desk, answer, hcp, page_of


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


class Conversations(RuleBasedStateMachine):
    """One connection, several Web Connectors that use its password, QuickBooks and the sweeper."""

    tickets = Bundle("tickets")
    handed_out = Bundle("handed_out")

    def __init__(self) -> None:
        super().__init__()
        self.store = WatchedStore()
        self.desk = Desk(store=self.store)
        self.desk.connect()
        self.writes_out: dict[str, int] = {}

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
        if not request:
            return multiple()
        if "newMessageSetID" in request:
            self.writes_out[request] = self.writes_out.get(request, 0) + 1
        return request

    @rule(ticket=tickets, request=handed_out, remaining=st.sampled_from([0, 2]), failed=st.booleans())
    def answer(self, ticket: str, request: str, remaining: int, failed: bool) -> None:
        self.desk.ticket = ticket
        text = answer(request, code=3100, severity="Error") if failed else page_of(request, remaining)
        self.check_progress(self.desk.receive(text))

    @rule(ticket=tickets, hresult=st.sampled_from(["0x80040400", "0x8004041B", "0x800706BE"]))
    def fail(self, ticket: str, hresult: str) -> None:
        self.desk.ticket = ticket
        self.check_progress(self.desk.receive(hresult=hresult))

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
    def states_follow_the_table(self) -> None:
        for seen in self.store.history.values():
            for before, after in pairwise(seen):
                assert after.revision == before.revision + 1
                if before.state is after.state is State.TICKETED or (before.state, after.state) == (
                    State.SENT,
                    State.TICKETED,
                ):
                    continue  # given back by the former session and claimed by the next in one commit
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
        for _ in range(5):
            if self.desk.drain() == []:
                break
        assert not any(getattr(record, "state", None) in IN_FLIGHT for record in self.store.records.values())


TestConversations = Conversations.TestCase
TestConversations.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
