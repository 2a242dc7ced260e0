"""Deleting a connection with or without a session."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from domain.errors import ConnectionActive, NotFound
from domain.maintenance.connection_removal import remove_connection
from domain.maintenance.sweep import sweep
from domain.records.request import Claim, QueuedRequest, State
from domain.records.session import SILENCE_SECONDS, InFlight
from domain.storage.changes import AddRequest, Put
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    a_connection,
    a_record,
    a_session,
)
from tests.support.fake_store import FakeStore


class ConnectionInUse:
    """A connection with a session that has sent a request."""

    def __init__(self, state: State = State.SENT) -> None:
        self.store = FakeStore()
        self.clock = FixedClock()
        session = a_session()
        self.record = a_record(state=state, claim=Claim(session.id))
        session = replace(session, in_flight=InFlight((self.record.id,)))
        self.store.commit(
            Put(None, a_connection(session_id=session.id, password_hash="scrypt$…")),
            AddRequest(self.record, REQUEST_XML, ""),
            Put(None, session),
        )

    def delete(self, app_id: str = APP_ID) -> None:
        """Delete the connection."""
        remove_connection(self.store, self.clock, app_id, CONNECTION_ID, actor=AN_ACTOR)


def test_a_live_session_keeps_its_connection() -> None:
    in_use = ConnectionInUse()
    in_use.clock.advance(seconds=SILENCE_SECONDS - 1)

    with pytest.raises(ConnectionActive):
        in_use.delete()

    assert in_use.store.connections[CONNECTION_ID].deleted_at is None


def test_a_silent_session_ends_with_its_connection_and_returns_its_request() -> None:
    in_use = ConnectionInUse()
    in_use.clock.advance(seconds=SILENCE_SECONDS)

    in_use.delete()

    connection = in_use.store.connections[CONNECTION_ID]
    assert (connection.session_id, connection.password_hash) == (None, None)
    assert connection.deleted_at
    (session,) = in_use.store.sessions.values()
    assert (session.ended, session.in_flight) == (True, None)
    record = in_use.store.records[in_use.record.id]
    assert isinstance(record, QueuedRequest)
    assert record.state is State.RETRYABLE
    assert in_use.store.counts == in_use.store.recount(CONNECTION_ID)


def test_the_sweep_handles_sessions_of_a_deleted_connection() -> None:
    in_use = ConnectionInUse()
    in_use.clock.advance(seconds=SILENCE_SECONDS)
    in_use.delete()
    in_use.clock.advance(hours=1)

    counts = sweep(in_use.store, in_use.clock, in_use.clock() + timedelta(hours=1))

    assert (counts.sessions_released, counts.records_removed, counts.connections_purged) == (0, 1, 1)


def test_an_app_deletes_only_its_own_connections_and_each_only_once() -> None:
    in_use = ConnectionInUse()
    in_use.clock.advance(seconds=SILENCE_SECONDS)

    with pytest.raises(NotFound):
        in_use.delete(OTHER_APP_ID)
    in_use.delete()
    with pytest.raises(NotFound):
        in_use.delete()
