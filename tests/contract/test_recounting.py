"""Counts that are wrong are found and mended, and only those."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from domain.errors import NotFound
from domain.maintenance.recount import count_differences, mend_counts
from domain.records.request import LISTED_PAIRS, State
from domain.storage.changes import AddRequest, Put
from domain.storage.counts import INSERTED, UPDATED, CountKey
from tests.contract.stores import add, counts_of, recount
from tests.support.builders import CONNECTION_ID, REQUEST_XML, a_connection, a_record
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

    assert mend_counts(store, CONNECTION_ID) == {}
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
    assert mend_counts(store, CONNECTION_ID) == differences
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


def test_a_missing_connection_is_not_found() -> None:
    store = FakeStore()

    with pytest.raises(NotFound):
        mend_counts(store, CONNECTION_ID)
