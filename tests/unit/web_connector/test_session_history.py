"""The history of a connection: each session with work is in it once, and a call without work leaves no trace."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.connections.sessions import MAX_SESSIONS, SessionResult, result_of, sessions_of
from domain.errors import NotFound
from domain.records.session import KEPT_SECONDS, CallingWebConnector, Session
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.session import runs
from domain.web_connector.session.end import NOT_FETCHED, NOT_RETURNED
from domain.web_connector.session.polling import PAUSED
from domain.web_connector.session.said_versions import BEFORE_LOGIN, MAX_ADDRESSES, SaidVersions
from handlers.views.sessions import session_view
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, OTHER_APP_ID, a_session
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, response_to
from tests.unit.web_connector.test_onboarding_check import a_connector as a_new_connector
from tests.unit.web_connector.test_subscription_runs import PARSE_ERROR, subscribed, unsubscribes, update

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.books import Books

PATH = "C:\\Books\\acme.qbw"
ADDRESSES = ("203.0.113.7", "203.0.113.8", None)
VERSIONS = ("2.3.0.215", "2.3.0.36", None)


def pause(qbwc: Connector) -> None:
    """Pause the session, as a pause of its connection does."""
    session = qbwc.session
    qbwc.store.commit(Put(session, session.with_pause(paused=True)))


def history(qbwc: Connector) -> Sequence[Session]:
    """Return the sessions of the connection, newest first."""
    return sessions_of(qbwc.store, APP_ID, CONNECTION_ID, qbwc.clock.now)


@dataclass
class Expected:
    """What a session must look like in the history."""

    address: str | None
    version: str | None
    began_at: str
    requests: int = 0
    path: str | None = None
    result: SessionResult = SessionResult.RUNNING
    message: str | None = None

    def stopped(self, message: str | None) -> None:
        """Note that the session was stopped, and why."""
        self.result, self.message = SessionResult.STOPPED, message


@dataclass
class Machine:
    """Makes random sessions, and notes what it did in each of them."""

    qbwc: Connector
    chance: random.Random
    expected: list[Expected] = field(default_factory=list)

    def poll(self) -> None:
        """Call without work."""
        self._log_in()
        assert self.qbwc.ticket.strip("0") == ""

    def session(self) -> None:
        """Make a session with up to three requests, which ends in one of several ways."""
        for _ in range(self.chance.randint(1, 3)):
            self.qbwc.queue()
        address, version = self._log_in()
        now = Expected(address, version, timestamp(self.qbwc.clock.now))
        self.expected.insert(0, now)
        ends = self._all, self._not_returned, self._not_fetched, self._paused, self._failed
        end = self.chance.choice((*ends, self._unreachable, self._other_file))
        end(now)
        self.qbwc.clock.advance(seconds=self.chance.randint(1, 40) * 60)

    def _log_in(self) -> tuple[str | None, str | None]:
        address, version = self.chance.choice(ADDRESSES), self.chance.choice(VERSIONS)
        self.qbwc.clock.advance(seconds=BEFORE_LOGIN.seconds + 1)
        if version:
            self.qbwc.call("clientVersion", version, address=address)
        self.qbwc.authenticate(address=address)
        return address, version if address else None

    def _send(self, now: Expected) -> str:
        request = self.qbwc.send(hcp() if now.path is None else "", PATH)
        now.path = PATH
        return request

    def _answer(self, now: Expected) -> int:
        request = self._send(now)
        now.requests += request.count("<CustomerQueryRq")
        return self.qbwc.receive(response_to(request))

    def _all(self, now: Expected) -> None:
        while self._answer(now) < 100:
            pass
        self.qbwc.close()
        now.result = SessionResult.COMPLETED

    def _not_returned(self, now: Expected) -> None:
        self._send(now)
        self.qbwc.close()
        now.stopped(NOT_RETURNED)
        self.qbwc.clock.advance(seconds=3600)

    def _not_fetched(self, now: Expected) -> None:
        self.qbwc.queue()  # a request that waits behind another one
        if self.chance.random() < 0.5:
            assert self._answer(now) < 100
        self.qbwc.close()
        now.stopped(NOT_FETCHED)

    def _paused(self, now: Expected) -> None:
        request = self._send(now)
        pause(self.qbwc)
        assert self.qbwc.receive(response_to(request)) == 100
        now.requests += request.count("<CustomerQueryRq")
        now.stopped(self.qbwc.last_error())
        assert now.message == PAUSED

    def _failed(self, now: Expected) -> None:
        self._send(now)
        self.qbwc.receive("", "0x80040408", "Could not start QuickBooks.")
        now.stopped(self.qbwc.session.last_error)
        self.qbwc.close()

    def _unreachable(self, now: Expected) -> None:
        self.qbwc.call("connectionError", self.qbwc.ticket, "0x80040401", "Could not access QuickBooks.")
        now.stopped(self.qbwc.last_error())

    def _other_file(self, now: Expected) -> None:
        now.path = "C:\\Books\\other.qbw"
        assert self.qbwc.send(hcp("{11111111-2222-3333-4444-555555555555}"), now.path) == ""
        now.stopped(self.qbwc.last_error())


@pytest.mark.parametrize("seed", range(10))
def test_the_history_has_each_session_with_work_once_as_it_was(seed: int) -> None:
    qbwc = Connector()
    qbwc.connect()
    machine = Machine(qbwc, random.Random(seed))
    for _ in range(12):
        machine.session()
        while qbwc.connection.backoff and qbwc.connection.backoff.until > timestamp(qbwc.clock.now):
            qbwc.clock.advance(seconds=600)

        found = history(qbwc)

        assert [
            Expected(
                one.web_connector.address,
                one.web_connector.version,
                one.began_at,
                session_view(one)["requests"],
                one.company_file.path,
                result_of(one),
                one.last_error,
            )
            for one in found
        ] == machine.expected
        quickbooks = {(one.company_file.path is None, one.company_file.product_name) for one in found}
        assert quickbooks <= {(True, None), (False, "QuickBooks Enterprise 24")}


@pytest.mark.parametrize("seed", range(5))
def test_a_call_without_work_is_not_in_the_history_and_writes_no_session(seed: int) -> None:
    qbwc = Connector()
    qbwc.connect()
    machine = Machine(qbwc, random.Random(seed))
    machine.poll()
    revision, minutes = qbwc.connection.revision, 0

    for _ in range(60):
        machine.poll()
        qbwc.clock.advance(seconds=60 - BEFORE_LOGIN.seconds)
        minutes += 1

    assert not qbwc.store.sessions
    assert history(qbwc) == []
    # The write every ten minutes that exists.
    assert qbwc.connection.revision - revision <= minutes // 10 + 1


def test_a_running_session_is_first(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.drain()
    qbwc.clock.advance(seconds=60)
    qbwc.queue()
    qbwc.begin()

    assert [result_of(one) for one in history(qbwc)] == [SessionResult.RUNNING, SessionResult.COMPLETED]


def test_the_history_ends_after_30_days_and_after_100_sessions(qbwc: Connector) -> None:
    for number in range(MAX_SESSIONS + 20):
        began = timestamp(NOON - timedelta(hours=7 * number))
        session_id = f"{number:064x}"
        qbwc.store.sessions[session_id] = a_session(id=session_id, ended=True, began_at=began, last_call_at=began)

    found = history(qbwc)

    earliest = timestamp(qbwc.clock.now - timedelta(seconds=KEPT_SECONDS))
    assert [one.id for one in found] == [f"{number:064x}" for number in range(MAX_SESSIONS)]
    qbwc.clock.advance(seconds=20 * 24 * 3600)
    later = history(qbwc)
    assert 0 < len(later) < MAX_SESSIONS
    earliest = timestamp(qbwc.clock.now - timedelta(seconds=KEPT_SECONDS))
    assert all(one.began_at >= earliest for one in later)


def test_another_app_does_not_find_the_history(qbwc: Connector) -> None:
    with pytest.raises(NotFound):
        sessions_of(qbwc.store, OTHER_APP_ID, CONNECTION_ID, qbwc.clock.now)


# --- Sessions without requests, and the open file


def last(qbwc: Connector) -> tuple[SessionResult, str | None]:
    """Return the result and the reason of the newest session."""
    newest = history(qbwc)[0]
    return result_of(newest), newest.last_error


def with_run(**fields: Any) -> Connector:
    """Return a Web Connector whose connection has a run of subscriptions to make."""
    return subscribed(**fields)[0]


def with_request(**fields: Any) -> Connector:
    """Return a Web Connector whose connection has a request to send."""
    qbwc = Connector()
    qbwc.connect(**fields)
    qbwc.queue()
    return qbwc


with_check = a_new_connector
WORK = pytest.mark.parametrize("connector", [with_request, with_run, with_check])


@WORK
def test_a_session_that_is_closed_before_everything_was_fetched_or_answered_was_stopped(
    connector: Callable[..., Connector],
) -> None:
    qbwc = connector()
    qbwc.authenticate()
    qbwc.close()
    assert last(qbwc) == (SessionResult.STOPPED, NOT_FETCHED)

    qbwc = connector()
    qbwc.authenticate()
    assert qbwc.send(hcp())
    qbwc.close()
    assert last(qbwc) == (SessionResult.STOPPED, NOT_RETURNED)


@WORK
def test_a_session_that_closes_while_it_is_paused_tells_of_the_pause(connector: Callable[..., Connector]) -> None:
    qbwc = connector()
    qbwc.authenticate()
    pause(qbwc)
    qbwc.close()

    assert last(qbwc) == (SessionResult.STOPPED, PAUSED)


def answered(qbwc: Connector, books: Books | None) -> None:
    """Answer the messages of a session until it is over, and close it."""
    message, progress = qbwc.send(hcp(), "D:\\acme.qbw"), 0
    while message and progress not in {100, -1}:
        progress = qbwc.receive(books.answer(message) if books else response_to(message))
        message = "" if progress in {100, -1} else qbwc.send("", "D:\\acme.qbw")
    qbwc.close()


def test_a_session_that_used_the_open_file_and_did_everything_was_completed() -> None:
    with_books, books = subscribed(company_file=PATH)
    connectors = ((with_request(company_file=PATH), None), (with_books, books), (with_check(company_file=PATH), None))
    for qbwc, answers in connectors:
        assert qbwc.authenticate() == PATH
        qbwc.call("connectionError", qbwc.ticket, "0x80040403", "no file")
        assert qbwc.session.last_error

        if qbwc.session.onboarding_check:
            qbwc.send(hcp(), "D:\\acme.qbw")
            qbwc.receive(hcp())
            qbwc.close()
        else:
            answered(qbwc, answers)

        assert last(qbwc) == (SessionResult.COMPLETED, None)
        assert history(qbwc)[0].company_file.path == "D:\\acme.qbw"


@WORK
def test_a_session_that_used_the_open_file_and_was_closed_early_does_not_name_the_other_file(
    connector: Callable[..., Connector],
) -> None:
    qbwc = connector(company_file=PATH)
    qbwc.authenticate()
    qbwc.call("connectionError", qbwc.ticket, "0x80040403", "no file")

    assert qbwc.send(hcp(), "D:\\acme.qbw")
    qbwc.close()

    assert last(qbwc) == (SessionResult.STOPPED, NOT_RETURNED)


def test_a_session_that_used_the_open_file_and_found_nothing_to_read_was_completed() -> None:
    qbwc, _ = subscribed(company_file=PATH)
    qbwc.authenticate()
    qbwc.call("connectionError", qbwc.ticket, "0x80040403", "no file")
    unsubscribes(qbwc)

    assert qbwc.send(hcp(), "D:\\acme.qbw") == ""

    assert last(qbwc) == (SessionResult.COMPLETED, None)


@pytest.mark.parametrize(("bound", "value"), [("MAX_SECONDS", 0), ("MAX_RECEIVED_BYTES", 1_000)])
def test_the_sessions_of_a_long_run_were_stopped_except_the_last(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(runs, bound, value)
    qbwc, books = subscribed(size=30)

    while update(qbwc, books):
        qbwc.clock.advance(seconds=1)

    newest, *others = [(result_of(one), one.last_error) for one in history(qbwc)]
    assert newest == (SessionResult.COMPLETED, None)
    assert set(others) == {(SessionResult.STOPPED, runs.GOES_ON)}


def test_a_pause_in_a_run_is_the_reason_of_its_session() -> None:
    qbwc, books = subscribed(size=30)
    qbwc.authenticate()
    message = qbwc.send(hcp())
    pause(qbwc)

    assert qbwc.receive(books.answer(message)) == 100

    assert last(qbwc) == (SessionResult.STOPPED, PAUSED)


def test_a_parse_error_in_a_run_is_the_reason_of_its_session() -> None:
    qbwc, _ = subscribed()
    qbwc.authenticate()
    qbwc.send(hcp())

    assert qbwc.receive("", PARSE_ERROR, "QuickBooks found an error") == 100

    result, reason = last(qbwc)
    assert result is SessionResult.STOPPED
    assert PARSE_ERROR in (reason or "")


# --- The number of requests


def test_a_request_counts_once_when_it_has_its_answer_however_often_it_was_sent(qbwc: Connector) -> None:
    qbwc.iterate()
    request = qbwc.begin()
    qbwc.receive_oversized(response_to(request).replace("</", "{padding}</", 1))
    assert (qbwc.session.responses, qbwc.session.answered) == (1, 0)

    while qbwc.receive(response_to(qbwc.send())) < 100:
        pass

    assert history(qbwc)[0].responses == 2
    assert session_view(history(qbwc)[0])["requests"] == 1


# --- The number of messages for subscriptions


@pytest.mark.parametrize("size", [3, 30])
def test_a_session_counts_the_messages_that_it_sent_for_subscriptions(size: int) -> None:
    qbwc, books = subscribed(size=size)
    counts: list[int] = []
    while sent := update(qbwc, books):
        counts.insert(0, len(sent))
        qbwc.clock.advance(seconds=1)

    found = [session_view(one) for one in history(qbwc)]

    assert [one["subscription_messages"] for one in found] == counts
    assert sum(counts) > 0
    assert {one["requests"] for one in found} == {0}


def test_messages_of_a_run_that_a_pause_ended_or_that_got_no_answer_are_counted() -> None:
    qbwc, books = subscribed(size=30)
    qbwc.authenticate()
    assert history(qbwc)[0].subscription_messages == 0
    qbwc.receive(books.answer(qbwc.send(hcp())))
    assert qbwc.send()
    assert history(qbwc)[0].subscription_messages == 2
    pause(qbwc)
    qbwc.close()

    assert history(qbwc)[0].subscription_messages == 2


def test_a_session_that_only_sent_requests_counts_no_message_for_subscriptions(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.drain()

    assert session_view(history(qbwc)[0])["subscription_messages"] == 0


# --- The version of the Web Connector


def said(*calls: tuple[str | None, str, float], address: str, after: float) -> str | None:
    """Return the version that is known after these calls (address, version, seconds)."""
    versions = SaidVersions()
    for caller, version, seconds in calls:
        versions.note(caller, version, NOON + timedelta(seconds=seconds))
    return versions.said_at(address, NOON + timedelta(seconds=after))


def test_a_version_is_known_exactly_if_its_address_said_no_other_one_at_that_time() -> None:
    chance, address = random.Random(41), "203.0.113.7"
    for _ in range(500):
        calls, seconds = [], 0.0
        for _ in range(chance.randint(0, 12)):
            seconds += chance.choice((0.5, 3, 12))
            calls.append((chance.choice(ADDRESSES), chance.choice(("2.3.0.215", "2.3.0.36")), seconds))
        at = seconds + chance.choice((0.1, 5, 11))
        # The calls of the address back from the login, as long as each follows the one before it within the time.
        row, until = [], at
        for caller, version, moment in reversed(calls):
            if caller == address:
                if until - moment >= BEFORE_LOGIN.seconds:
                    break
                row.append(version)
                until = moment

        assert said(*calls, address=address, after=at) == (row[0] if len(set(row)) == 1 else None), calls


@pytest.mark.parametrize("text", ["", "x", "2", "2.3.0.215\n", "2." * 50, "<b>2.3</b>", "2.3.0.215.7"])
def test_a_text_that_is_no_version_is_ignored(text: str) -> None:
    assert said(("203.0.113.7", text, 0), address="203.0.113.7", after=1) is None


def test_a_process_remembers_a_bounded_number_of_addresses() -> None:
    calls = [(f"10.0.{number // 250}.{number % 250}", "2.3.0.215", 0.0) for number in range(MAX_ADDRESSES + 1)]

    assert said(*calls, address=calls[0][0], after=1) is None
    assert said(*calls, address=calls[1][0], after=1) == "2.3.0.215"


def test_a_session_of_an_older_release_has_an_unknown_web_connector() -> None:
    assert a_session().web_connector == CallingWebConnector(None, None)
