"""The matrix and the state machine can fail: what they are to find is broken on purpose, and they find it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.requests.record import QueuedRequest, Recovery, State
from domain.storage.changes import Change, ChangeRequest, ChangeSession
from domain.storage.counts import count_changes
from simulator.message_sets import Keeping, MessageSets
from tests.proofs import interleavings
from tests.support.builders import FixedClock
from tests.support.web_connector.interleavings import Interleavings
from tests.support.web_connector.matrix import one_cut, two_writes
from tests.support.web_connector.runs import Run
from tests.support.web_connector.witness import WitnessedStore
from tests.support.web_connector.world import World

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

    from tests.support.web_connector.cuts import Cut


class Miscounting(WitnessedStore):
    """Forgets to count what becomes `sent`."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*changes)
        self.counts.subtract(count_changes([change for change in changes if _becomes(change, State.SENT)]))


class Careless(WitnessedStore):
    """Takes a change whatever was changed meanwhile."""

    def _check(self, change: Change) -> None:
        if not isinstance(change, ChangeRequest | ChangeSession):
            super()._check(change)


class HalfHearted(WitnessedStore):
    """Changes the session, and the record in a transaction of its own that never comes when it was answered."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        kept = [change for change in changes if not _becomes(change, State.RESPONSE_RECEIVED)]
        super().commit(*kept or changes)


class Forgetful(WitnessedStore):
    """Does not keep in mind that a write must be asked for before it goes out again."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*changes)
        for record in self.records.values():
            if isinstance(record, QueuedRequest) and record.state is State.RETRYABLE and record.recovering:
                self.records[record.id] = replace(record, recovery=Recovery())


class NewestFirst(WitnessedStore):
    """Has the queue begin at its end."""

    def queue_front(self, connection_id: str, limit: int) -> list[QueuedRequest]:
        """Return what is sent next."""
        return super().queue_front(connection_id, limit)[::-1]


class MixedUp(WitnessedStore):
    """Stores with each answer the one before."""

    former: str | None = None

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(self._mixed_up(change) for change in changes))

    def _mixed_up(self, change: Change) -> Change:
        if not isinstance(change, ChangeRequest) or change.response_xml is None:
            return change
        mixed_up = replace(change, response_xml=self.former or change.response_xml)
        self.former = change.response_xml
        return mixed_up


def _becomes(change: Change, state: State) -> bool:
    return isinstance(change, ChangeRequest) and change.after.state is state


BROKEN = (Miscounting, Careless, HalfHearted, NewestFirst, MixedUp)


ENOUGH_RUNS = 1_000
"""It ends with the first that fails: for the hardest that is after 45 on the average, 116 in the worst of eight tries.
The steps differ from process to process, whatever the chance: hypothesis tries constants of all that is loaded."""


class KeepsNothing(MessageSets):
    """A QuickBooks that keeps no answers."""

    def process(
        self, application: str, message_set: Element, execute: Callable[[], list[str]], _keeping: Any = None
    ) -> tuple[str | None, int, list[str]]:
        """Execute without keeping, and without saying so."""
        done = super().process(application, message_set, execute, Keeping(readable=True))
        self.stored.clear()
        return done


class NoKept(dict[str, tuple[str, str]]):
    """The same for the state machine's."""

    def __setitem__(self, _message_set: str, _answer: tuple[str, str]) -> None:
        """Keep nothing."""


def check_every_cut(run: Callable[[Cut], Run]) -> None:
    """Raise what does not hold after a cut."""
    for cut in one_cut(two_writes):
        run(cut).to_the_end().check()


@pytest.mark.parametrize("broken", BROKEN)
def test_the_matrix_finds_a_store_that_is_broken(broken: type[WitnessedStore]) -> None:
    with pytest.raises(AssertionError):
        check_every_cut(lambda cut: Run(two_writes, cut, store=broken()))


def test_the_matrix_finds_a_write_that_is_done_twice() -> None:
    def without_message_sets(cut: Cut) -> Run:
        run = Run(two_writes, cut)
        run.company.message_sets = KeepsNothing()
        return run

    with pytest.raises(AssertionError):
        check_every_cut(without_message_sets)


def in_a_world_of(store: type[WitnessedStore]) -> type[Interleavings]:
    """Return the state machine over a store without lag."""

    class Broken(Interleavings):
        def make_world(self, seed: int) -> World:  # noqa: ARG002 - nothing is late here
            return World(store(), FixedClock())

    return Broken


@pytest.mark.parametrize("broken", [*BROKEN, Forgetful])
def test_the_state_machine_finds_a_store_that_is_broken(broken: type[WitnessedStore]) -> None:
    with pytest.raises(AssertionError):
        interleavings.run(in_a_world_of(broken), runs=ENOUGH_RUNS, steps=40, chance=1, shrinks=False)


def test_the_state_machine_finds_a_write_that_is_done_twice() -> None:
    class Broken(Interleavings):
        def make_world(self, seed: int) -> World:
            world = super().make_world(seed)
            for books in world.books.values():
                books.kept = NoKept()
            return world

    with pytest.raises(AssertionError):
        interleavings.run(Broken, runs=ENOUGH_RUNS, steps=40, chance=1, shrinks=False)


def test_the_state_machine_holds_where_nothing_is_broken() -> None:
    interleavings.run(in_a_world_of(WitnessedStore), runs=5, steps=40, chance=1)
