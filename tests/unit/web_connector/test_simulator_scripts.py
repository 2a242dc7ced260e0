"""The simulator's scripts meet their expectations when they run against our service."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simulator
from simulator import Script
from simulator.faults import Fault
from simulator.faults.forms import FORMS
from simulator.runs.scenario import repeated_writes
from tests.support.web_connector.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.web_connector.connector import Connector

SCRIPTS = Path(simulator.__file__ or "").parent / "scripts"


def three_writes(qbwc: Connector) -> None:
    for name in ("Ann", "Bob", "Cid"):
        qbwc.write(name)


def ten_writes(qbwc: Connector) -> None:
    for number in range(10):
        qbwc.write(f"Customer {number}")


def a_day(qbwc: Connector) -> None:
    qbwc.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')
    three_writes(qbwc)
    qbwc.write("Dan")
    qbwc.write("Eve")
    qbwc.queue("CustomerQueryRq", "<FullName>Ann</FullName>")


QUEUES: dict[str, Callable[[Connector], None]] = {
    "bad-day": a_day,
    "lost-answer": three_writes,
    "restored-backup": three_writes,
    "slow-write": three_writes,
    "two-machines": three_writes,
    "wrong-file": three_writes,
}


@pytest.mark.parametrize("name", QUEUES)
def test_our_service_passes_the_script(name: str) -> None:
    service = Service()

    run = service.play(Script.load(SCRIPTS / f"{name}.json"), QUEUES[name])

    assert run.problems() == []
    assert service.open_requests == []
    assert service.qbwc.store.counts == service.qbwc.store.recount()


def test_every_script_runs_and_documents_its_requests_and_expectations() -> None:
    assert {path.stem for path in SCRIPTS.iterdir()} == set(QUEUES)
    for path in SCRIPTS.iterdir():
        script = Script.load(path)
        assert script.about.startswith("Queue ")
        assert script.sessions
        assert script.expect.faults_happened == "all"
        assert script.expect.repeated_writes == 0


CASES = [
    (place, action)
    for kind, forms in FORMS.items()
    for place in (("authenticate", "sendRequestXML", "receiveResponseXML") if kind == "call" else (kind,))
    for action in forms
    if (place, action) != ("authenticate", "stale-ticket")  # a login has no ticket
]


@pytest.mark.parametrize("batch_size", [1, 2, 5])
@pytest.mark.parametrize(("place", "action"), CASES)
def test_our_service_recovers_from_every_fault(place: str, action: str, batch_size: int) -> None:
    """Each fault happens at a possible time. No request stays open, no write is repeated, and the counts are exact."""
    service = Service(batch_size)
    step = {"on": place, "nth": 1 if place == "session" and action != "copied-file" else 2, "do": action}
    if action == "stale-ticket":
        step["nth"] = 5  # in the second session: the first one has no session before
    if place == "process" and action != "expire-iterator":
        step |= {"request": "writes"}
    another = {"on": "receiveResponseXML", "call": 4, "do": "lose-response", "name": "a second session is needed"}

    run = service.play(Script.of({"sessions": 6, "steps": [another, step]}), a_day)

    assert run.plan.never_happened == []
    assert service.open_requests == []
    assert repeated_writes(service.company.executed) == []
    assert service.qbwc.store.counts == service.qbwc.store.recount()


@pytest.mark.parametrize("executed", range(4))
def test_writes_of_a_set_in_which_quickbooks_dies_are_left_to_a_person(executed: int) -> None:
    """The third set has four writes."""
    step = {"on": "process", "request": "writes", "nth": 3, "do": "die-within", "executed": executed}
    service = Service(batch_size=20)

    run = service.play(Script.of({"sessions": 6, "steps": [step]}), ten_writes)

    assert run.plan.never_happened == []
    assert service.open_requests == []
    assert repeated_writes(service.company.executed) == []
    codes = [record.error and record.error.code for record in service.qbwc.records]
    assert codes == [*[None] * 3, *["outcome_unknown"] * 4, *[None] * 3]
    assert len(service.company.writes) == 6 + executed


def test_expectations_fail_if_quickbooks_forgets_a_write() -> None:
    """A write that QuickBooks has forgotten is sent and executed again. No service can tell the difference."""
    lost = Script.load(SCRIPTS / "lost-answer.json")
    forgets = Fault.of({"on": "process", "request": "checks", "do": "forget"})

    run = Service().play(replace(lost, faults=(*lost.faults, forgets)), three_writes)

    assert [problem for problem in run.problems() if problem.startswith("1 writes were repeated")]
