"""The proofs can fail: they find a store or a QuickBooks that is broken on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.queueing import new_request
from domain.records.approval import Approval
from domain.records.lookup import ObjectLookup
from domain.records.request import IN_FLIGHT, QueuedRequest, Recovery, State
from domain.records.session import Session
from domain.storage.changes import BeginLog, Change, ChangeRequest, ForgetRequest, Put
from domain.storage.counts import count_changes
from domain.web_connector.outcomes import looking, outcome
from domain.web_connector.session import sets
from domain.web_connector.session.company_file_check import CompanyFileCheck
from simulator.company.message_sets import Keeping, MessageSets
from tests.proofs import interleavings
from tests.support.builders import FixedClock
from tests.support.web_connector import existing
from tests.support.web_connector.drain import Drain
from tests.support.web_connector.interleavings import Interleavings, InterleavingsOfLooking
from tests.support.web_connector.matrix import interruptions_of, two_writes
from tests.support.web_connector.observed_store import ObservedStore
from tests.support.web_connector.system import System

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from xml.etree.ElementTree import Element

    from simulator.company.message_sets import Answer
    from tests.support.web_connector.interruptions import Interruption


pytestmark = pytest.mark.nightly  # they test the tests


class Miscounting(ObservedStore):
    """Does not count requests that become `response_received`."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*changes)
        self.counts.subtract(count_changes([change for change in changes if _becomes(change, State.RESPONSE_RECEIVED)]))


class WithoutConditions(ObservedStore):
    """Commits changes of outdated records and sessions."""

    def _check(self, change: Change) -> None:
        match change:
            case ChangeRequest() | Put(before=Session()):
                pass
            case _:
                super()._check(change)


class WithoutTransactions(ObservedStore):
    """Loses the change of a completed record, but stores the other changes of the commit."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        rest = [change for change in changes if not _becomes(change, State.RESPONSE_RECEIVED)]
        super().commit(*rest or changes)


class WithoutRecovery(ObservedStore):
    """Forgets that a write recovers."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*changes)
        for record in self.records.values():
            if isinstance(record, QueuedRequest) and record.state is State.RETRYABLE and record.recovering:
                self.records[record.id] = replace(record, recovery=Recovery())


class WithoutExecutionTime(ObservedStore):
    """Forgets that QuickBooks may still be executing a write."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(self._finished(change) for change in changes))

    @staticmethod
    def _finished(change: Change) -> Change:
        if not isinstance(change, ChangeRequest):
            return change
        recovery = replace(change.after.recovery, running_until=None)
        return replace(change, after=replace(change.after, recovery=recovery))


class NewestFirst(ObservedStore):
    """Returns the queue in reverse order."""

    def queue_front(self, connection_id: str, limit: int, *, low_lane: bool = False) -> list[QueuedRequest]:
        """Return the wrong end of the queue."""
        return super().queue_front(connection_id, limit, low_lane=low_lane)[::-1]


class SwappedResponses(ObservedStore):
    """Stores each response with the next request."""

    former: str | None = None

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(self._swapped(change) for change in changes))

    def _swapped(self, change: Change) -> Change:
        if not isinstance(change, ChangeRequest) or change.response_xml is None:
            return change
        swapped = replace(change, response_xml=self.former or change.response_xml)
        self.former = change.response_xml
        return swapped


class TwoBeginnings(ObservedStore):
    """Lets a log begin twice."""

    def _check(self, change: Change) -> None:
        if not isinstance(change, BeginLog):
            super()._check(change)


class LeavesBodies(ObservedStore):
    """Does not clean up after expired records."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(change for change in changes if not isinstance(change, ForgetRequest)))


class WithoutAttempts(ObservedStore):
    """Loses the results of webhook attempts."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(change for change in changes if not self._is_attempt(change)))

    @staticmethod
    def _is_attempt(change: Change) -> bool:
        return isinstance(change, ChangeRequest) and change.before.webhook.attempts != change.after.webhook.attempts


def _becomes(change: Change, state: State) -> bool:
    return isinstance(change, ChangeRequest) and change.after.state is state


FAULTY_STORES = (
    WithoutExecutionTime,
    Miscounting,
    WithoutConditions,
    WithoutTransactions,
    NewestFirst,
    SwappedResponses,
)


OF_THE_MACHINE = (WithoutRecovery, TwoBeginnings, LeavesBodies, WithoutAttempts)
"""Stores whose faults only the state machine finds."""

MAX_RUNS = 300
"""Maximum number of runs. The first failure ends them: in the hardest case after 25 runs on average, and after 65 in
the worst of eight seeds. The steps differ between processes, because hypothesis tries constants of the loaded
modules."""


class StoresNothing(MessageSets):
    """A QuickBooks that stores no responses."""

    def end(self, application: str, message_set: Element, lines: list[str], _keeping: Any = None) -> Answer:
        """Do not store the response, and do not report it."""
        answer = super().end(application, message_set, lines, Keeping(readable=True))
        self.stored.clear()
        return answer


class NothingStored(dict[str, tuple[str, str]]):
    """The same for the QuickBooks of the state machine."""

    def __setitem__(self, _message_set: str, _answer: tuple[str, str]) -> None:
        """Store nothing."""


def check_every_interruption(run: Callable[[Interruption], Drain]) -> None:
    """Raise the rule that does not hold after an interruption."""
    for interruption in interruptions_of(two_writes):
        run(interruption).to_the_end().check()


@pytest.mark.parametrize("faulty_store", FAULTY_STORES)
def test_the_interruption_matrix_finds_a_broken_store(faulty_store: type[ObservedStore]) -> None:
    with pytest.raises(AssertionError):
        check_every_interruption(lambda interruption: Drain(two_writes, interruption, store=faulty_store()))


def test_the_interruption_matrix_finds_a_write_that_is_executed_twice() -> None:
    def without_message_sets(interruption: Interruption) -> Drain:
        run = Drain(two_writes, interruption)
        run.company.message_sets = StoresNothing()
        return run

    with pytest.raises(AssertionError):
        check_every_interruption(without_message_sets)


def with_store(store: type[ObservedStore]) -> type[Interleavings]:
    """Return the state machine over a store without lag."""

    class FaultyMachine(Interleavings):
        def make_system(self, seed: int) -> System:  # noqa: ARG002 - nothing is late here
            return System(store(), FixedClock())

    return FaultyMachine


@pytest.mark.parametrize("faulty_store", [*FAULTY_STORES, *OF_THE_MACHINE])
def test_the_state_machine_finds_a_broken_store(faulty_store: type[ObservedStore]) -> None:
    with pytest.raises(AssertionError):
        interleavings.run(with_store(faulty_store), runs=MAX_RUNS, steps=40, chance=1, shrinks=False)


def test_the_state_machine_finds_a_write_that_is_executed_twice() -> None:
    class FaultyMachine(Interleavings):
        def make_system(self, seed: int) -> System:
            system = super().make_system(seed)
            for books in system.books.values():
                books.responses_by_id = NothingStored()
            return system

    with pytest.raises(AssertionError):
        interleavings.run(FaultyMachine, runs=MAX_RUNS, steps=40, chance=1, shrinks=False)


def test_the_state_machine_finds_a_webhook_whose_message_was_lost() -> None:
    class FaultyMachine(Interleavings):
        def make_system(self, seed: int) -> System:
            system = super().make_system(seed)
            assert system.webhooks
            system.webhooks.plan_overdue = lambda: None  # type: ignore[method-assign]
            return system

    with pytest.raises(AssertionError):
        interleavings.run(FaultyMachine, runs=MAX_RUNS, steps=40, chance=1, shrinks=False)


def test_the_state_machine_finds_an_object_that_is_added_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "with_identity", lambda *_: ())

    with pytest.raises(AssertionError, match="two invoices"):
        interleavings.run(InterleavingsOfLooking, runs=MAX_RUNS, steps=40, chance=1, shrinks=False)


def test_the_state_machine_accepts_a_correct_service() -> None:
    interleavings.run(with_store(ObservedStore), runs=5, steps=40, chance=1)


def _sent_again(record: QueuedRequest, now: datetime, **_: object) -> QueuedRequest:
    return record.requeued(now) if record.state in IN_FLIGHT else record


BROKEN_RULES: list[tuple[tuple[Any, str, Any], tuple[str, dict[int, str], dict[int, str]]]] = [
    ((outcome, "asked_too_early", lambda _: False), ("Invoice", {1: "runs on"}, {})),
    ((CompanyFileCheck, "key", property(lambda _: "any")), ("Invoice", {1: "response lost"}, {0: "use a copy"})),
    ((CompanyFileCheck, "key", property(lambda _: "any")), ("update", {1: "response lost"}, {0: "use another mark"})),
    ((existing, "continued", _sent_again), ("Invoice", {}, {1: "restore a little"})),
    ((sets, "until_repeated", lambda queries: queries), ("set", {}, {})),
    ((looking, "given_back", lambda *_: []), ("set", {1: "exception after"}, {})),
    ((new_request, "ObjectLookup", lambda _: None), ("batch", {}, {})),
    ((ObjectLookup, "claimed", lambda lookup, **_: lookup), ("Invoice", {0: "closed"}, {1: "add"})),
    ((QueuedRequest, "may_write", lambda *_: True), ("approved batch", {}, {8: "delete"})),
    ((Approval, "is_by_its_author", lambda *_: False), ("approved", {}, {1: "approve as the author"})),
]
"""Rules of the service that are broken, each with a run of requests with `if_exists` that shows it."""


@pytest.mark.parametrize(("rule", "run"), BROKEN_RULES)
def test_the_world_of_if_exists_finds_a_broken_rule(
    monkeypatch: pytest.MonkeyPatch, rule: tuple[Any, str, Any], run: tuple[str, dict[int, str], dict[int, str]]
) -> None:
    existing.played(*run)
    monkeypatch.setattr(*rule)

    with pytest.raises(AssertionError):
        existing.played(*run)
