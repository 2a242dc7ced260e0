"""The history of a connection: each session with work is in it once, and a call without work leaves no trace."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.connections.sessions import MAX_SESSIONS, SessionResult, result_of, sessions_of
from domain.errors import NotFound
from domain.records.session import KEPT_SECONDS, CallingWebConnector, Session
from domain.timestamps import timestamp
from domain.web_connector.session.said_versions import BEFORE_LOGIN, MAX_ADDRESSES, SaidVersions
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, OTHER_APP_ID, a_session
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from collections.abc import Sequence

ADDRESSES = ("203.0.113.7", "203.0.113.8", None)
VERSIONS = ("2.3.0.215", "2.3.0.36", None)


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
        end = self.chance.choice((self._all, self._closed_early, self._unreachable, self._other_file))
        end(now)
        self.qbwc.clock.advance(seconds=self.chance.randint(1, 40) * 60)

    def _log_in(self) -> tuple[str | None, str | None]:
        address, version = self.chance.choice(ADDRESSES), self.chance.choice(VERSIONS)
        self.qbwc.clock.advance(seconds=BEFORE_LOGIN.seconds + 1)
        if version:
            self.qbwc.call("clientVersion", version, address=address)
        self.qbwc.authenticate(address=address)
        return address, version if address else None

    def _answer(self, now: Expected, path: str) -> int:
        request = self.qbwc.send(hcp() if now.path is None else "", path)
        now.path = path
        progress = self.qbwc.receive(response_to(request))
        now.requests = self.qbwc.session.responses
        return progress

    def _all(self, now: Expected) -> None:
        path = "C:\\Books\\acme.qbw"
        while self._answer(now, path) < 100:
            pass
        self.qbwc.close()
        now.result = SessionResult.COMPLETED

    def _closed_early(self, now: Expected) -> None:
        now.path = "C:\\Books\\acme.qbw"
        self.qbwc.send(hcp(), now.path)
        self.qbwc.close()
        now.result = SessionResult.STOPPED
        self.qbwc.clock.advance(seconds=3600)

    def _unreachable(self, now: Expected) -> None:
        self.qbwc.call("connectionError", self.qbwc.ticket, "0x80040401", "Could not access QuickBooks.")
        now.result = SessionResult.STOPPED

    def _other_file(self, now: Expected) -> None:
        now.path = "C:\\Books\\other.qbw"
        assert self.qbwc.send(hcp("{11111111-2222-3333-4444-555555555555}"), now.path) == ""
        now.result = SessionResult.STOPPED


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
                one.responses,
                one.company_file.path,
                result_of(one),
            )
            for one in found
        ] == machine.expected
        assert all(bool(one.last_error) is (result_of(one) is SessionResult.STOPPED) for one in found)
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
