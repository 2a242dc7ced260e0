"""A session that lingers is cut at each of its calls and commits: what came meanwhile is executed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from domain.maintenance.sweep import Sweeper
from domain.requests.record import QueuedRequest, State
from domain.web_connector.protocol import qwc
from domain.web_connector.session.record import SILENCE_SECONDS
from simulator import Company, Simulator
from simulator.errors import TransportError
from simulator.web_connector.soap import NAMESPACE
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import PASSWORD, CountingStore, Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.storage.changes import Change

LINGER = 20
KINDS = ("request-lost", "answer-lost", "duplicated", "dies-before-commit", "dies-after-commit")


class FunctionDied(Exception):
    """The function was stopped where it stood: no answer comes."""


class MortalStore(CountingStore):
    """A store whose caller dies before or after a commit, when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.dies: str | None = None

    def commit(self, *changes: Change) -> None:
        """Commit, or not."""
        dies, self.dies = self.dies, None
        if dies == "dies-before-commit":
            raise FunctionDied
        super().commit(*changes)
        if dies == "dies-after-commit":
            raise FunctionDied


@dataclass
class Line:
    """The transport to the endpoint in this process; call number `at` (from 1) is cut in the way of `kind`."""

    desk: Desk
    store: MortalStore
    at: int = 0
    kind: str = ""
    calls: list[str] = field(default_factory=list)

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call, or cut it."""
        self.calls.append(headers["SOAPAction"].strip('"').removeprefix(NAMESPACE))
        kind = self.kind if len(self.calls) == self.at else ""
        if kind == "request-lost":
            raise TransportError(kind)
        if kind == "duplicated":
            self.deliver(body)
        self.store.dies = kind
        try:
            answer = self.deliver(body)
        except FunctionDied:
            raise TransportError(kind) from None
        finally:
            self.store.dies = None
        if kind == "answer-lost":
            raise TransportError(kind)
        return answer

    def deliver(self, body: bytes) -> tuple[int, bytes]:
        self.desk.clock.advance(milliseconds=100)
        said = self.desk.connector.answer(body)
        assert said.status == 200, said.body
        return said.status, said.body.encode()


class Run:
    """A session that lingers, while which a write, a read and a write come; then sessions until nothing is left."""

    def __init__(self, at: int = 0, kind: str = "") -> None:
        self.store = MortalStore()
        self.desk = Desk(store=self.store, new_id=RandomIds())
        connection = self.desk.connect(name="Acme", linger_seconds=LINGER)
        self.line = Line(self.desk, self.store, at, kind)
        self.company = Company.generated(customers=5)
        self.come: list[Callable[[], object]] = [
            lambda: self.desk.write("Ann"),
            self.desk.queue,
            lambda: self.desk.write("Bob"),
        ]
        simulator = Simulator(
            qwc.render(connection, base_url="https://queue.example.com", app_name="Queue"),
            PASSWORD,
            self.company,
            transport=self.line,
            sleep=self.wait,
        )
        self.desk.queue()
        for _ in range(8):
            if simulator.run_once().status == "No Data Exchange":
                break
        while self.come:
            self.come.pop(0)()
        for _ in range(8):
            if simulator.run_once().status == "No Data Exchange":
                break
        self.desk.clock.advance(seconds=SILENCE_SECONDS + 1)
        Sweeper(self.store, self.desk.clock).sweep(self.desk.clock.advance(seconds=1))

    def wait(self, seconds: float) -> None:
        """Wait as after NoOp; something is queued meanwhile."""
        self.desk.clock.advance(seconds=seconds)
        if self.come:
            self.come.pop(0)()

    def check(self) -> None:
        """Check all that must be so after any cut."""
        assert self.store.counts == self.store.recount()
        assert not [session for session in self.store.sessions.values() if not session.ended]
        records = [record for record in self.store.records.values() if isinstance(record, QueuedRequest)]
        assert [record.state for record in records] == [State.RESPONSE_RECEIVED] * 4, records
        written = sorted(done.message_set_id or "" for done in self.company.writes)
        assert written == sorted(record.message_set_id for record in records if not record.is_read)


CALLS = Run().line.calls


def test_a_run_without_cuts_takes_all_in_one_session() -> None:
    run = Run()

    run.check()
    assert run.line.calls.count("sendRequestXML") == 4 + 3 + LINGER // 5 + 1
    assert run.line.calls.count("authenticate") == 1 + 2  # and two visits that find nothing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", range(1, len(CALLS) + 1), ids=lambda at: f"{at}-{CALLS[at - 1]}")
def test_after_any_cut_each_request_is_executed_once(at: int, kind: str) -> None:
    Run(at, kind).check()
