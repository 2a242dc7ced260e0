"""A QuickBooks that fails for certain requests, and a Web Connector that works for days of simulated time."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from domain.records.request import ENDED
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

UNKNOWN_CAUSE = "0x80040402"
POLL_SECONDS = 60
MAX_SESSIONS = 20_000


class Bad(Enum):
    """A kind of request for which QuickBooks always fails."""

    READ = "read"
    ITERATED_READ = "iterated read"
    WRITE = "write that QuickBooks says it never executed"
    WRITE_AND_CHECK = "write whose status check fails too"


@dataclass
class FailingBooks:
    """A connection, its Web Connector and its QuickBooks. It counts the calls in which QuickBooks failed.

    While it `is_down`, QuickBooks fails for every request with this HRESULT.
    """

    qbwc: Connector = field(default_factory=lambda: Connector(new_id=RandomIds()))
    bad: dict[str, Bad] = field(default_factory=dict)
    is_down: str = ""
    failing_calls: int = 0
    sessions: int = 0
    sent: list[str] = field(default_factory=list)
    """The ids of the requests in the order in which they were sent. A status check counts too."""

    def __post_init__(self) -> None:
        """Add the connection."""
        self.qbwc.connect()

    def queue_bad(self, kind: Bad) -> str:
        """Queue a request for which QuickBooks always fails."""
        match kind:
            case Bad.READ:
                request_id = self.qbwc.queue()
            case Bad.ITERATED_READ:
                request_id = self.qbwc.iterate()
            case _:
                request_id = self.qbwc.write()
        self.bad[request_id] = kind
        return request_id

    def run_session(self) -> None:
        """Log in, work until the session ends, and let the time until the next call pass."""
        qbwc = self.qbwc
        status = qbwc.authenticate()
        wait = int(qbwc.schedule[0] or 0)
        if status == "":
            self.sessions += 1
            facts = hcp()
            while request := qbwc.send(facts):
                facts = ""
                self._process(request)
                if not 0 <= self.last_progress < 100:
                    break
            qbwc.close()
        qbwc.clock.advance(seconds=max(wait, POLL_SECONDS))

    def _process(self, request: str) -> None:
        qbwc = self.qbwc
        (record,) = qbwc.in_flight
        self.sent.append(record.id)
        bad, is_check = self.bad.get(record.id), "oldMessageSetID" in request and "<CustomerAdd" not in request
        if self.is_down or (bad and not (is_check and bad is Bad.WRITE)):
            self.failing_calls += 1
            self.last_progress = qbwc.receive(hresult=self.is_down or UNKNOWN_CAUSE, message="It failed.")
        else:
            self.last_progress = qbwc.receive(nothing_stored(request) if is_check else response_to(request))

    def run_until(self, done: Callable[[], bool]) -> timedelta:
        """Run sessions until `done`. Return the time that it took."""
        start = self.qbwc.clock.now
        for _ in range(MAX_SESSIONS):
            if done():
                return self.qbwc.clock.now - start
            self.run_session()
        raise AssertionError("The queue is stuck.")

    def run_for(self, time: timedelta) -> None:
        """Run sessions for this long."""
        end = self.qbwc.clock.now + time
        self.run_until(lambda: self.qbwc.clock.now >= end)

    def has_ended(self, request_id: str) -> bool:
        """Whether a request has ended."""
        return self.qbwc.record(request_id).state in ENDED
