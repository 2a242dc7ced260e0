"""Drains a queue in several sessions with interruptions, then checks the result."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from domain.connections.onboarding import is_connected
from domain.maintenance.sweep import sweep
from domain.records.request import ENDED, QueuedRequest, State, message_set_id
from domain.records.session import SILENCE_SECONDS
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from simulator import Company
from simulator.basics.clock import MachineClock, zone_named
from tests.support.index_lag import IndexLag
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import (
    LOCKED,
    FunctionTerminated,
    InterruptedCompany,
    InterruptedTransport,
    InterruptibleStore,
    Interruption,
    Interruptions,
    Point,
    RandomIds,
)
from tests.support.web_connector.observed_store import ObservedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.storage.changes import Change
    from simulator import Simulator
    from simulator.books import Books
    from simulator.web_connector.connector import SessionResult

MAX_SESSIONS = 40
"""A queue that needs more is stuck."""

LAG_SECONDS = 3.0
SESSIONS_WITHOUT_WORK = 2
"""The number of sessions without work that prove an empty queue if the queue lags. The first one may be wrong."""


class StoreWithWebhooks(ObservedStore):
    """A store in which every queued request has a webhook."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(_with_webhook(change) if isinstance(change, AddRequest) else change for change in changes))


def _with_webhook(change: AddRequest) -> AddRequest:
    record = replace(change.record, webhook=Webhook.to("https://example.com/hook"))
    return replace(change, record=record)


@cache
def _books(second: float) -> Books:
    """Return the books of a small company that was made in this second. Making them takes longer than a copy."""
    return Company.generated(customers=5, sales_orders=0, now=lambda: second).snapshot().books


def a_company(now: Callable[[], float]) -> Company:
    """Return a small company with this clock."""
    clock = MachineClock(now, zone_named("-05:00"))
    return Company(replace(_books(now()).copy(), clock=clock), clock)


class Drain:
    """One connection's queue and its Web Connector.

    `fill` queues requests at the beginning, and each function of `arriving` queues requests while a session lingers.
    `batch_size` is the setting of the connection. `lag` is '', 'indexes' (indexes lag, as deployed) or 'queue' (the
    queue lags too, which never happens when deployed; the order cannot be kept then, but all other rules must hold). If
    the company file is not `marked`, it is not recognised as the connection's.
    """

    def __init__(
        self,
        fill: Callable[[Connector], object],
        *interruptions: Interruption,
        arriving: Sequence[Callable[[Connector], object]] = (),
        linger_seconds: int = 0,
        batch_size: int = 1,
        lag: str = "",
        marked: bool = True,
        store: ObservedStore | None = None,
    ) -> None:
        self.points = Interruptions(frozenset(interruptions))
        self._queue_lags = lag == "queue"
        self.store = store or StoreWithWebhooks()
        self._interruptible = InterruptibleStore(self.store, self.points)
        self.qbwc = Connector(store=self.store, new_id=RandomIds(), store_of_endpoint=self._interruptible)
        if lag:
            self.store.lag = IndexLag(self.qbwc.clock, max_seconds=LAG_SECONDS, queue=self._queue_lags)
        self.qbwc.connect(name="Acme", linger_seconds=linger_seconds, batch_size=batch_size)
        self.company = a_company(self.qbwc.clock.now.timestamp)
        self._arriving = list(arriving)
        fill(self.qbwc)
        self.points.open = True
        self.marked = marked
        self.transport = InterruptedTransport(
            self.qbwc, self.points, lingers=bool(linger_seconds), batch_size=batch_size
        )
        other_machine = self.qbwc.simulator(self.company)
        self.interrupted_company = InterruptedCompany(
            self.company, self.points, self.qbwc.clock, marked=marked, log_in=lambda: self._log_in(other_machine)
        )
        self.simulator = self.qbwc.simulator(self.interrupted_company, transport=self.transport, sleep=self._wait)
        self.results: list[SessionResult] = []

    def _log_in(self, other_machine: Simulator) -> None:
        """Run a session on another machine, without interruptions."""
        self.points.open = False
        other_machine.run_once()
        self.points.open = True

    def _wait(self, seconds: float) -> None:
        """Let time pass, and let a request arrive."""
        self.qbwc.clock.advance(seconds=seconds)
        if self._arriving:
            self._arriving.pop(0)(self.qbwc)

    def to_the_end(self) -> Drain:
        """Run sessions until nothing is queued or in transit, then release the request of the last session."""
        self._until_quiet()
        if self._arriving:
            while self._arriving:
                self._wait(0)
            self._until_quiet()
        if self.transport.deliver_the_rest():
            self._until_quiet()
        self.interrupted_company.execute_the_rest()
        self._sweep()
        self.points.open = False
        self._until_quiet()
        self._sweep()
        return self

    def _until_quiet(self) -> None:
        without_work = 0
        while without_work < (SESSIONS_WITHOUT_WORK if self._queue_lags else 1) and len(self.results) < MAX_SESSIONS:
            # After a lost response the next login is refused for a while, and then a write may be held.
            was_held = bool(self.results) and self.results[-1].status not in {"Finished", "No Data Exchange"}
            self.qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE if was_held else LAG_SECONDS)
            self.interrupted_company.end_executions()
            self.results.append(self.simulator.run_once())
            without_work = without_work + 1 if self.results[-1].status == "No Data Exchange" else 0

    def _sweep(self) -> None:
        self.qbwc.clock.advance(seconds=SILENCE_SECONDS + LAG_SECONDS)
        self.points.current = Point("sweep", 0)
        with suppress(FunctionTerminated):  # the schedule starts it again
            sweep(self._interruptible, self.qbwc.clock, self.qbwc.clock.now + timedelta(minutes=1))
        self.points.current = None

    @property
    def records(self) -> list[QueuedRequest]:
        """All records."""
        return self.qbwc.records

    def executions(self, record: QueuedRequest) -> int:
        """Return how often QuickBooks executed a write, alone or in a set. A locked object prevents the execution.

        A write that is sent alone has a message set of its own. In a set, its label is its id.
        """
        copy = self.interrupted_company.copy
        return sum(
            (execution.message_set_id == message_set_id(record.id) or execution.request_id == record.id)
            and execution.status_code != LOCKED
            for execution in self.company.writes + (copy.writes if copy else [])
        )

    def check(self) -> None:
        """Check the rules that hold after any interruptions."""
        assert self.store.counts == self.store.exact_counts()
        assert not [session for session in self.store.sessions.values() if not session.ended]
        assert self.qbwc.connection.session_id is None
        assert self.qbwc.connection.onboarding is None or is_connected(self.qbwc.connection)
        self.store.check_webhooks()
        assert self._queue_lags or not self.store.out_of_turn
        for record in self.records:
            assert record.state in ENDED, record
            if not record.is_read:
                self._check_write(record)
            elif record.state is not State.RESPONSE_RECEIVED:
                self._check_error(record)

    def _check_error(self, record: QueuedRequest) -> None:
        assert record.error
        if record.error.code == "dependency_failed":
            dependency = self.qbwc.record(record.error.details["dependency_id"])
            assert dependency.state is State.ERROR, record
            assert not self.executions(record), record
        elif record.error.code == "quickbooks_error":
            # An iterator is used while it exists, and never twice for one page.
            assert record.error.details["status_code"] == LOCKED or not record.is_read, record
        elif not record.is_read:
            assert record.error.code == "outcome_unknown", record
            # QuickBooks had stored no response: it had not executed the write, or executed it much later.
            company = self.interrupted_company
            is_late = company.executed_late if record.message_set else company.executed_last
            assert is_late or not self._has_response(record), record
            # QuickBooks or the machine may have failed within a message set of several requests.
            assert record.message_set or not self.marked
        else:
            assert record.error.code == "iteration_interrupted", record
            assert record.paging.page > 1

    def _has_response(self, record: QueuedRequest) -> bool:
        """Whether QuickBooks has stored a response to a write, alone or in a set."""
        stored = [
            "\n".join(lines or [])
            for message_sets in self.company.message_sets.stored.values()
            for stored_id, (_, lines) in message_sets.items()
            if stored_id == record.message_set_id
        ]
        return any(record.message_set is None or f'requestID="{record.id}"' in text for text in stored)

    def _check_write(self, record: QueuedRequest) -> None:
        response = self.qbwc.response(record.id)
        if record.state is State.ERROR:
            self._check_error(record)
            assert record.error
            if record.error.code == "dependency_failed":
                return
            if record.error.code == "outcome_unknown" and record.message_set:
                assert self.executions(record) <= 1, record
            elif record.error.code == "outcome_unknown":
                assert self.executions(record) == self.interrupted_company.executed_last, record
            else:
                assert self.executions(record) == (record.error.details["status_code"] != LOCKED), record
            return
        assert self.executions(record) == 1, record
        assert response is not None
        assert f'requestID="{record.request_label}"' in response
        customer = re.search(r"<ListID>([^<]+)</ListID>", response)
        assert customer
        assert customer[1] in {customer.id for customer in self.company.books["Customer"]}
        for reference in self.store.bodies[record.id].references:
            # QuickBooks executed the request with the value of the response to the other one.
            assert reference.value
            assert f"<ListID>{reference.value}</ListID>" in (self.qbwc.response(reference.source) or "")
            assert f"<ParentRef>\n<ListID>{reference.value}</ListID>" in response
