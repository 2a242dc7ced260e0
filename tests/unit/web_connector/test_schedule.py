"""A Web Connector with Auto-Run ticked, hour after hour: when it comes, and that a pause does not slow it for ever."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from domain.connections.service import ConnectionService
from domain.connections.sync_window import SyncWindow
from domain.requests.record import State
from domain.web_connector.protocol import qwc
from domain.web_connector.session.polling import (
    IDLE_POSTPONEMENT_SECONDS,
    MAX_POSTPONEMENT_SECONDS,
    MIN_USER_INTERVAL_SECONDS,
)
from simulator import Company, Simulator
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, counting_bytes
from tests.support.web_connector.driver import PASSWORD, Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from simulator.web_connector.connector import SessionResult


class Machine:
    """A QuickBooks machine in simulated time: transport and stop event of its Web Connector."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.due: list[tuple[datetime, Callable[[], object]]] = []
        self.end = NOON
        self.visits: list[tuple[datetime, SessionResult]] = []
        self._simulator = Simulator(
            qwc.render(desk.connection, base_url="https://queue.example.com", app_name="Queue"),
            PASSWORD,
            Company.generated(customers=2),
            transport=self,
            on_session=lambda result: self.visits.append((self.desk.clock.now, result)),
        )

    def at(self, minutes: float, do: Callable[[], object]) -> None:
        """Have something done at noon and so many minutes."""
        self.due.append((NOON + timedelta(minutes=minutes), do))

    def run(self, minutes: float) -> list[float]:
        """Run for so long; return the minutes between visits."""
        self.end = NOON + timedelta(minutes=minutes)
        self._simulator.run(self)
        moments = [moment for moment, _ in self.visits]
        return [(after - before).total_seconds() / 60 for before, after in pairwise(moments)]

    # --- the stop event

    def is_set(self) -> bool:
        """Tell whether the time is over."""
        return self.desk.clock.now >= self.end

    def wait(self, timeout: float) -> bool:
        """Let the time pass, and with it what is due."""
        until = self.desk.clock.now + timedelta(seconds=timeout)
        while self.due and self.due[0][0] <= until:
            self.desk.clock.now, do = self.due.pop(0)
            do()
        self.desk.clock.now = until
        return self.is_set()

    # --- the transport

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call."""
        said = self.desk.connector.answer(body)
        return said.status, said.body.encode()


def a_machine(**fields: object) -> Machine:
    desk = Desk()
    desk.connect(**({"inserted_at": "2026-01-01T00:00:00.000000Z"} | fields))
    return Machine(desk)


def managed(machine: Machine) -> ConnectionService:
    store = machine.desk.store
    return ConnectionService(store, clock=machine.desk.clock, new_id=machine.desk.new_id, secrets=counting_bytes)


def test_an_idle_connection_is_visited_seldom_and_often_again_while_there_is_work() -> None:
    machine = a_machine()
    machine.at(12, machine.desk.queue)

    between = machine.run(50)

    idle, short = IDLE_POSTPONEMENT_SECONDS / 60, MIN_USER_INTERVAL_SECONDS / 60
    assert between[:3] == [idle, idle, idle]
    assert machine.visits[3][1].requests == 1
    assert {round(minutes, 1) for minutes in between[3:17]} == {short}
    assert between[-1] == idle


def test_a_resumed_connection_is_worked_after_the_longest_interval_at_most_and_at_full_pace_then() -> None:
    machine = a_machine()
    machine.at(0.5, lambda: managed(machine).pause(APP_ID, CONNECTION_ID))
    machine.at(1, machine.desk.queue)
    machine.at(70, lambda: managed(machine).resume(APP_ID, CONNECTION_ID))

    between = machine.run(90)

    worked = next(moment for moment, result in machine.visits if result.requests)
    assert worked - (NOON + timedelta(minutes=70)) <= timedelta(seconds=MAX_POSTPONEMENT_SECONDS)
    assert max(between) == MAX_POSTPONEMENT_SECONDS / 60
    assert round(between[-1], 1) == MIN_USER_INTERVAL_SECONDS / 60
    assert machine.desk.states() == [State.RESPONSE_RECEIVED.value]


def test_the_first_visit_in_a_sync_window_comes_when_it_opens() -> None:
    machine = a_machine(sync_window=SyncWindow("13:07", "14:00", "UTC"))
    machine.at(1, machine.desk.queue)

    machine.run(80)

    worked = next(moment for moment, result in machine.visits if result.requests)
    assert timedelta() <= worked - NOON.replace(hour=13, minute=7) < timedelta(seconds=MIN_USER_INTERVAL_SECONDS)
