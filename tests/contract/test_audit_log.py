"""The audit log: stored with its change, newest first, of an app or a connection, and never overwritten."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import Conflict
from domain.maintenance.sweep import sweep
from domain.records.app import App
from domain.records.audit import KEPT, Action, AuditEntry, Subject, audit_entry, begun_entry
from domain.storage.changes import Put, RemoveApp
from domain.timestamps import ANY_TIME, TimeRange, timestamp
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, OTHER_APP_ID, FixedClock, a_connection

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore

_numbers = count()
OTHER_CONNECTION_ID = "c0000000-0000-4000-8000-000000000002"


def an_entry(
    number: int, connection_id: str | None = CONNECTION_ID, app_id: str = APP_ID, action: Action = Action.PASSWORD_SET
) -> AuditEntry:
    """Return the entry of a change that was made at noon and some seconds."""
    subject = Subject(app_id, connection_id or app_id, number + 2, connection_id)
    return audit_entry(action, AN_ACTOR, subject, timestamp(NOON + timedelta(seconds=number)))


def all_of(
    store: AnyStore,
    connection_id: str | None,
    limit: int,
    app_id: str = APP_ID,
    *,
    action: Action | None = None,
    within: TimeRange = ANY_TIME,
) -> list[AuditEntry]:
    """Read a log page by page."""
    entries, before = store.audit_entries(app_id, connection_id, None, limit, action=action, within=within)
    found = list(entries)
    while before:
        entries, before = store.audit_entries(app_id, connection_id, before, limit, action=action, within=within)
        assert len(entries) <= limit
        found += entries
    return found


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(
        st.tuples(st.sampled_from([APP_ID, OTHER_APP_ID]), st.sampled_from([CONNECTION_ID, OTHER_CONNECTION_ID, None])),
        max_size=25,
    ),
    limit=st.integers(min_value=1, max_value=10),
)
def test_a_log_is_read_newest_first_in_pages_of_any_size(
    store: AnyStore, places: list[tuple[str, str | None]], limit: int
) -> None:
    # The store is the same for all examples, so each has ids of its own.
    own = {value: f"{next(_numbers)}-{value}" for value in (APP_ID, OTHER_APP_ID, CONNECTION_ID, OTHER_CONNECTION_ID)}
    entries = [
        an_entry(number, own[connection_id] if connection_id else None, own[app_id])
        for number, (app_id, connection_id) in enumerate(places)
    ]
    for entry in entries:
        store.commit(Put(None, entry))

    for app_id in (APP_ID, OTHER_APP_ID):
        of_app = [entry for entry in reversed(entries) if entry.app_id == own[app_id]]
        assert all_of(store, None, limit, own[app_id]) == of_app
    of_connection = [entry for entry in entries if entry.connection_id == own[CONNECTION_ID]]
    assert all_of(store, own[CONNECTION_ID], limit, own[APP_ID]) == list(reversed(of_connection))


MOMENTS = st.none() | st.integers(min_value=-1, max_value=9).map(
    lambda number: timestamp(NOON + timedelta(seconds=number))
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    actions=st.lists(st.sampled_from([Action.PASSWORD_SET, Action.CONNECTION_PAUSED]), max_size=9),
    action=st.sampled_from([None, Action.PASSWORD_SET, Action.CONNECTION_PAUSED]),
    within=st.builds(TimeRange, MOMENTS, MOMENTS),
    limit=st.integers(min_value=1, max_value=10),
    of_connection=st.booleans(),
)
def test_a_log_is_read_by_action_and_in_a_half_open_range_of_time(
    store: AnyStore,
    actions: list[Action],
    action: Action | None,
    within: TimeRange,
    *,
    limit: int,
    of_connection: bool,
) -> None:
    app_id, connection_id = f"{next(_numbers)}-{APP_ID}", f"{next(_numbers)}-{CONNECTION_ID}"
    entries = [an_entry(number, connection_id, app_id, one) for number, one in enumerate(actions)]
    for entry in entries:
        store.commit(Put(None, entry))

    found = all_of(store, connection_id if of_connection else None, limit, app_id, action=action, within=within)

    assert found == [
        entry
        for entry in reversed(entries)
        if action in (None, entry.action) and (within.start or "") <= entry.at < (within.end or "~")
    ]


def test_an_entry_is_stored_only_with_its_change(store: AnyStore) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    changed = replace(connection, name="New").changed(timestamp(NOON))
    store.commit(Put(connection, changed), Put(None, an_entry(0)))

    with pytest.raises(Conflict):
        store.commit(Put(connection, changed), Put(None, an_entry(1)))

    assert all_of(store, CONNECTION_ID, 10) == [an_entry(0)]


def test_an_entry_is_not_overwritten(store: AnyStore) -> None:
    first = an_entry(0)
    store.commit(Put(None, first))

    with pytest.raises(Conflict):
        store.commit(Put(None, replace(first, action=Action.CONNECTION_PAUSED)))

    assert all_of(store, None, 10) == [first]


def test_the_entry_of_a_call_on_many_requests_is_completed_once(store: AnyStore) -> None:
    begun = begun_entry(Action.REQUESTS_DISCARDED, AN_ACTOR, Subject(APP_ID, "r", 2, CONNECTION_ID), timestamp(NOON))
    store.commit(Put(None, begun))
    assert all_of(store, CONNECTION_ID, 10) == [begun]
    assert begun.completed_at is None
    completed = begun.completed(timestamp(NOON), {"discarded": 3})

    store.commit(Put(begun, completed))
    with pytest.raises(Conflict):
        store.commit(Put(begun, begun.completed(timestamp(NOON), {"discarded": 4})))

    assert all_of(store, CONNECTION_ID, 10) == [completed]


def test_an_entry_expires_after_a_year() -> None:
    assert an_entry(0).expires_at == int((NOON + KEPT).timestamp())
    assert timedelta(days=365) == KEPT


def test_the_log_outlives_a_deleted_connection_and_a_deleted_app(store: AnyStore) -> None:
    app, connection = App(APP_ID, "Shop", timestamp(NOON)), a_connection()
    store.commit(Put(None, app), Put(None, connection), Put(None, an_entry(0)))
    deletion = an_entry(1, action=Action.CONNECTION_DELETED)
    store.commit(Put(connection, connection.removed(timestamp(NOON))), Put(None, deletion))
    clock = FixedClock(NOON + timedelta(hours=1))
    for _ in range(2):
        sweep(store, clock, clock() + timedelta(minutes=5))
    end = an_entry(2, connection_id=None, action=Action.APP_DELETED)

    store.commit(RemoveApp(app), Put(None, end))
    store.remove_app(APP_ID)

    assert store.connection(CONNECTION_ID) is None
    assert store.app(APP_ID) is None
    assert all_of(store, None, 2) == [end, deletion, an_entry(0)]


def test_an_app_is_removed_only_as_it_was_read(store: AnyStore) -> None:
    app = App(APP_ID, "Shop", timestamp(NOON))
    store.commit(Put(None, app))
    changed = replace(app, name="New", revision=2)
    store.commit(Put(app, changed))

    with pytest.raises(Conflict) as conflict:
        store.commit(RemoveApp(app), Put(None, an_entry(0)))

    assert conflict.value.current == changed
    assert store.app(APP_ID) == changed
    assert all_of(store, None, 5) == []
