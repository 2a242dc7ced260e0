"""Counts that are wrong are found and mended, and only those."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.errors import InvalidState, NotFound
from domain.maintenance.recount import LEASE_SECONDS, count_differences
from domain.records.request import LISTED_PAIRS, State
from domain.storage.changes import AddRequest, Put
from domain.storage.counts import INSERTED, UPDATED, CountKey
from local.template import Template
from tests.contract.stores import add, counts_of, mended, recount
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.random_lists import a_history

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.contract.stores import AnyStore


def store_history(store: AnyStore) -> list[str]:
    """Store a connection with records of several days and another one's record; return the ids of the first."""
    store.commit(Put(None, a_connection()))
    add(store, a_record(connection_id="c0000000-0000-4000-8000-000000000099"))
    history = a_history(11, 30)
    for past in history:
        add(store, past.record)
    return [past.record.id for past in history]


def test_exact_counts_do_not_change(store: AnyStore) -> None:
    ids = store_history(store)

    assert mended(store) == {}
    assert counts_of(store) == recount(store, ids)


def test_wrong_counts_are_corrected(store: AnyStore) -> None:
    """Numbers that are too high, too low, and of days and states that no record has."""
    ids = store_history(store)
    chance = random.Random(12)
    wrong = {
        CountKey(CONNECTION_ID, day, sort, *chance.choice(LISTED_PAIRS)): chance.choice([-3, 1, 7])
        for day in ("2026-03-14", "2026-03-16", "2020-01-01")
        for sort in (INSERTED, UPDATED)
    }
    store.add_to_counts(wrong)

    differences = count_differences(store, CONNECTION_ID)

    assert differences == {key: -change for key, change in wrong.items()}
    assert mended(store) == differences
    assert count_differences(store, CONNECTION_ID) == {}
    assert counts_of(store) == recount(store, ids)


def test_a_change_during_a_recount_is_not_a_difference() -> None:
    class Busy(FakeStore):
        """A store whose records are changed between reading the counts and reading the index."""

        def recount(self, connection_id: str) -> Mapping[CountKey, int]:
            self.commit(AddRequest(a_record(state=self.states.pop()), REQUEST_XML, ""))
            return super().recount(connection_id)

        states = [State.WAITING, State.ERROR]  # noqa: RUF012 - of this one test

    store = Busy()
    store_history(store)

    assert count_differences(store, CONNECTION_ID) == {}


@pytest.mark.parametrize("repetitions", [1, 2])
def test_recounts_at_once_add_the_differences_once(repetitions: int) -> None:
    """Others begin while the first one reads. Each is refused, and the counts are right at the end."""

    class Watched(FakeStore):
        """A store in which others begin to mend whenever the index is counted."""

        refused = 0

        def recount(self, connection_id: str) -> Mapping[CountKey, int]:
            for _ in range(repetitions):
                with pytest.raises(InvalidState, match="is being recounted"):
                    mended(self)
                self.refused += 1
            return super().recount(connection_id)

    store = Watched()
    ids = store_history(store)
    wrong = {CountKey(CONNECTION_ID, "2026-03-14", INSERTED, *LISTED_PAIRS[0]): 5}
    store.add_to_counts(wrong)

    assert mended(store) == {key: -change for key, change in wrong.items()}
    assert counts_of(store) == recount(store, ids)
    assert store.refused == 2 * repetitions


def test_a_recount_that_was_terminated_holds_up_the_next_one_until_it_must_have_ended(store: AnyStore) -> None:
    class Terminated(BaseException):
        """The end of a function without its `finally`."""

    class Function:
        """The store as a function sees it that is terminated while it counts."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def recount(self, _: str) -> Mapping[CountKey, int]:
            raise Terminated

        def release_lease(self, _: object) -> None:
            """Nothing: it was terminated."""

    store_history(store)
    clock = FixedClock(NOON)
    with pytest.raises(Terminated):
        mended(Function(), clock)  # type: ignore[arg-type] # delegates the rest

    clock.now = NOON + timedelta(seconds=LEASE_SECONDS - 1)
    with pytest.raises(InvalidState):
        mended(store, clock)
    clock.now = NOON + timedelta(seconds=LEASE_SECONDS)

    assert mended(store, clock) == {}


def test_the_lease_lasts_longer_than_the_function() -> None:
    (function,) = (each for each in Template.load().functions() if each.handler == "handlers.operate.handler")

    assert function.timeout_seconds < LEASE_SECONDS


def test_a_missing_connection_is_not_found() -> None:
    store = FakeStore()

    with pytest.raises(NotFound):
        mended(store)
