"""A Web Connector with Auto-Run polls for hours, and a pause slows it down only for a while."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from domain.connections.service import ConnectionService
from domain.connections.turns import MAX_POSTPONEMENT_SECONDS, MIN_USER_INTERVAL_SECONDS, SPREAD, place
from domain.records.request import State
from domain.records.sync_window import SyncWindow
from domain.web_connector.session.polling import IDLE_POSTPONEMENT_SECONDS
from simulator import Company
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, counting_bytes
from tests.support.web_connector.connector import Connector

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from simulator.web_connector.connector import SessionResult


SHARE = 1 - SPREAD * place(CONNECTION_ID)
"""The share of a postponement that this connection waits."""


class Machine:
    """A QuickBooks machine in simulated time: the stop event of its Web Connector."""

    def __init__(self, qbwc: Connector) -> None:
        self.qbwc = qbwc
        self.due: list[tuple[datetime, Callable[[], object]]] = []
        self.end = NOON
        self.logins: list[tuple[datetime, SessionResult]] = []
        self._simulator = qbwc.simulator(
            Company.generated(customers=2, sales_orders=0),
            on_session=lambda result: self.logins.append((self.qbwc.clock.now, result)),
        )

    def at(self, minutes: float, do: Callable[[], object]) -> None:
        """Do something `minutes` after noon."""
        self.due.append((NOON + timedelta(minutes=minutes), do))

    def run(self, minutes: float) -> list[float]:
        """Run; return the minutes between logins."""
        self.end = NOON + timedelta(minutes=minutes)
        self._simulator.run(self)
        moments = [moment for moment, _ in self.logins]
        return [(after - before).total_seconds() / 60 for before, after in pairwise(moments)]

    # --- The stop event

    def is_set(self) -> bool:
        """Return whether the time is over."""
        return self.qbwc.clock.now >= self.end

    def wait(self, timeout: float) -> bool:
        """Let time pass, and run the steps that are due."""
        until = self.qbwc.clock.now + timedelta(seconds=timeout)
        while self.due and self.due[0][0] <= until:
            self.qbwc.clock.now, do = self.due.pop(0)
            do()
        self.qbwc.clock.now = until
        return self.is_set()


def a_machine(**fields: object) -> Machine:
    qbwc = Connector(call_milliseconds=0)
    qbwc.connect(**({"inserted_at": "2026-01-01T00:00:00.000000Z"} | fields))
    return Machine(qbwc)


def connection_service(machine: Machine) -> ConnectionService:
    store = machine.qbwc.store
    return ConnectionService(store, clock=machine.qbwc.clock, new_id=machine.qbwc.new_id, secrets=counting_bytes)


def test_an_idle_connection_is_polled_rarely_and_often_while_there_is_work() -> None:
    machine = a_machine(inserted_at="2026-03-14T01:00:00.000000Z")
    machine.at(12, machine.qbwc.queue)

    between = machine.run(50)

    idle, short = int(IDLE_POSTPONEMENT_SECONDS * SHARE) / 60, MIN_USER_INTERVAL_SECONDS / 60
    assert between[:3] == [idle, idle, idle]
    assert machine.logins[3][1].requests == 1
    assert {round(minutes, 1) for minutes in between[3:17]} == {short}
    assert between[-1] == idle


def test_a_resumed_connection_is_polled_within_the_longest_postponement_and_then_often() -> None:
    machine = a_machine()
    machine.at(0.5, lambda: connection_service(machine).pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR))
    machine.at(1, machine.qbwc.queue)
    machine.at(70, lambda: connection_service(machine).resume(APP_ID, CONNECTION_ID, actor=AN_ACTOR))

    between = machine.run(90)

    first_work = next(moment for moment, result in machine.logins if result.requests)
    assert first_work - (NOON + timedelta(minutes=70)) <= timedelta(seconds=MAX_POSTPONEMENT_SECONDS)
    assert max(between) == int(MAX_POSTPONEMENT_SECONDS * SHARE) / 60
    assert round(between[-1], 1) == MIN_USER_INTERVAL_SECONDS / 60
    assert machine.qbwc.states() == [State.RESPONSE_RECEIVED.value]


@pytest.mark.parametrize(("closes", "most"), [("14:00", timedelta(minutes=10)), ("13:17", timedelta(minutes=2))])
def test_the_first_session_in_a_sync_window_is_at_the_turn_of_the_connection(closes: str, most: timedelta) -> None:
    machine = a_machine(sync_window=SyncWindow("13:07", closes, "UTC"))
    machine.at(1, machine.qbwc.queue)

    machine.run(80)

    first_work = next(moment for moment, result in machine.logins if result.requests)
    turn = NOON.replace(hour=13, minute=7) + int(most.total_seconds() * place(CONNECTION_ID)) * timedelta(seconds=1)
    assert timedelta() <= first_work - turn < timedelta(seconds=MIN_USER_INTERVAL_SECONDS)


def test_a_request_of_a_connection_without_work_for_a_day_waits_for_one_polling_interval() -> None:
    machine = a_machine(inserted_at="2026-01-01T00:00:00.000000Z")
    machine.at(20, machine.qbwc.queue)

    machine.run(60)

    first_work = next(moment for moment, result in machine.logins if result.requests)
    assert first_work - (NOON + timedelta(minutes=20)) <= timedelta(seconds=MAX_POSTPONEMENT_SECONDS)
