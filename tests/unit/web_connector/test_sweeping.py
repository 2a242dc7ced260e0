"""The sweeper."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.errors import TooManyRequests
from domain.maintenance.sweep import SETTLED_AFTER, Sweeper, Swept
from domain.requests.record import State, timestamp
from domain.storage.changes import ChangeSession, RemoveConnection
from domain.web_connector.session.record import SILENCE_SECONDS, session_id
from tests.support.builders import CONNECTION_ID, a_connection
from tests.support.web_connector.driver import CountingStore, Desk, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.connections.record import Connection

LONG = timedelta(hours=1)


@pytest.fixture
def desk() -> Desk:
    """Return a desk with a connection and an empty queue."""
    desk = Desk()
    desk.connect()
    return desk


def sweep(desk: Desk, time_left: timedelta = LONG) -> Swept:
    """Sweep with that much time."""
    return Sweeper(desk.store, desk.clock).sweep(desk.clock() + time_left)


def fall_silent(desk: Desk) -> None:
    """Let so much time pass that the session counts as silent."""
    desk.clock.advance(seconds=SILENCE_SECONDS + 1)


def test_a_silent_session_gives_back_what_it_had_claimed(desk: Desk) -> None:
    request_id = desk.queue()
    desk.authenticate()
    fall_silent(desk)

    assert sweep(desk) == Swept(sessions_released=1, records_removed=0, connections_purged=0, finished=True)

    assert desk.record(request_id).state is State.WAITING
    assert desk.session.ended
    assert desk.connection.session_id is None
    assert "silent" in desk.last_error()


def test_a_read_that_was_out_becomes_retryable_and_a_write_is_asked_for(desk: Desk) -> None:
    read = desk.queue()
    desk.begin()
    fall_silent(desk)
    sweep(desk)
    assert desk.record(read).state is State.RETRYABLE

    request = desk.begin()
    write = desk.write()
    desk.receive(answer(request))
    desk.send()
    fall_silent(desk)
    sweep(desk)

    assert (desk.record(write).state, desk.record(write).recovering) == (State.RETRYABLE, True)
    assert desk.store.counts == desk.store.recount()


def test_a_session_that_waits_for_quickbooks_is_left_alone(desk: Desk) -> None:
    request_id = desk.queue()
    request = desk.begin()
    desk.clock.advance(seconds=SILENCE_SECONDS - 10)

    assert sweep(desk).sessions_released == 0

    assert desk.receive(answer(request)) == 100
    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_response_that_comes_after_the_sweep_is_answered_like_any_dead_ticket(desk: Desk) -> None:
    desk.queue()
    request = desk.begin()
    fall_silent(desk)
    sweep(desk)

    assert desk.receive(answer(request)) == -1


def test_an_ended_session_is_not_swept(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.close()
    fall_silent(desk)

    assert sweep(desk).sessions_released == 0


def test_a_session_that_is_called_meanwhile_is_left_to_the_next_sweep(desk: Desk) -> None:
    desk.queue()
    desk.begin()
    stale = desk.session
    fall_silent(desk)
    desk.store.commit(ChangeSession(stale, stale.called(desk.clock.now)))
    desk.store.silent_sessions = lambda _before, _limit: [stale]  # type: ignore[assignment, method-assign]

    assert sweep(desk) == Swept(sessions_released=0, records_removed=0, connections_purged=0, finished=True)

    assert not desk.session.ended


def test_contention_leaves_the_session_to_the_next_sweep(desk: Desk) -> None:
    desk.queue()
    desk.begin()
    fall_silent(desk)

    class Contended(CountingStore):
        def commit(self, *changes: object) -> None:  # noqa: ARG002 - nothing is stored
            raise TooManyRequests("busy")

    contended = Contended()
    contended.sessions.update(desk.store.sessions)
    swept = Sweeper(contended, desk.clock).sweep(desk.clock() + LONG)

    assert swept == Swept(sessions_released=0, records_removed=0, connections_purged=0, finished=True)


def test_many_silent_sessions_are_released_in_one_sweep() -> None:
    desk = Desk()
    ids = [f"c0000000-0000-4000-8000-{number:012}" for number in range(60)]
    tickets = []
    for connection_id in ids:
        desk.connect(id=connection_id)
        desk.queue(connection_id=connection_id)
        desk.authenticate(username=connection_id)
        tickets.append(desk.ticket)
    fall_silent(desk)

    assert sweep(desk).sessions_released == 60

    assert all(desk.store.sessions[session_id(ticket)].ended for ticket in tickets)


def test_nothing_is_begun_when_the_time_is_over(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    fall_silent(desk)

    assert sweep(desk, timedelta()) == Swept(
        sessions_released=0, records_removed=0, connections_purged=0, finished=False
    )

    assert not desk.session.ended


def deleted(desk: Desk, records: int, connection_id: str = CONNECTION_ID) -> None:
    """Queue records and delete their connection."""
    for _ in range(records):
        desk.queue(connection_id=connection_id)
    before = desk.store.connections[connection_id]
    desk.store.commit(RemoveConnection(before, timestamp(desk.clock.now)))


def test_the_records_of_a_deleted_connection_are_removed_at_once_and_itself_when_all_is_settled(desk: Desk) -> None:
    deleted(desk, 120)

    assert sweep(desk) == Swept(sessions_released=0, records_removed=120, connections_purged=0, finished=True)
    assert desk.store.records == {}
    assert CONNECTION_ID in desk.store.connections

    desk.clock.advance(seconds=SETTLED_AFTER.total_seconds())
    assert sweep(desk) == Swept(sessions_released=0, records_removed=0, connections_purged=1, finished=True)
    assert CONNECTION_ID not in desk.store.connections
    assert not desk.store.counts
    assert sweep(desk).connections_purged == 0


def test_what_an_index_shows_late_is_removed_before_the_connection_is(desk: Desk) -> None:
    deleted(desk, 3)
    hidden = dict(desk.store.bodies)
    desk.store.bodies.clear()
    assert sweep(desk).records_removed == 0

    desk.store.bodies.update(hidden)
    desk.clock.advance(seconds=SETTLED_AFTER.total_seconds())

    assert sweep(desk) == Swept(sessions_released=0, records_removed=3, connections_purged=1, finished=True)
    assert desk.store.records == {}


def slowly(desk: Desk, minutes: int) -> None:
    """Have every step take so long."""
    real = desk.store.remove_records

    def slow(connection: Connection) -> Iterator[int]:
        for removed in real(connection):
            desk.clock.advance(minutes=minutes)
            yield removed

    desk.store.remove_records = slow  # type: ignore[method-assign]


def test_removing_stops_in_time_and_goes_on_in_the_next_sweep(desk: Desk) -> None:
    deleted(desk, 120)
    slowly(desk, 40)

    assert sweep(desk) == Swept(sessions_released=0, records_removed=100, connections_purged=0, finished=False)
    assert len(desk.store.records) == 20
    assert sweep(desk) == Swept(sessions_released=0, records_removed=20, connections_purged=1, finished=True)


def test_a_small_connection_does_not_wait_for_a_large_one(desk: Desk) -> None:
    deleted(desk, 300)
    desk.connect(id="c0000000-0000-4000-8000-000000000002")
    deleted(desk, 1, "c0000000-0000-4000-8000-000000000002")
    slowly(desk, 15)

    assert sweep(desk) == Swept(sessions_released=0, records_removed=151, connections_purged=1, finished=False)


def test_a_busy_database_leaves_the_connection_to_the_next_sweep(desk: Desk) -> None:
    deleted(desk, 3)
    real = desk.store.remove_records

    def busy(_connection: Connection) -> Iterator[int]:
        raise TooManyRequests("busy")
        yield 0

    desk.store.remove_records = busy  # type: ignore[assignment, method-assign]
    assert sweep(desk) == Swept(sessions_released=0, records_removed=0, connections_purged=0, finished=False)

    desk.store.remove_records = real  # type: ignore[method-assign]
    assert sweep(desk).records_removed == 3


def test_two_sweeps_at_once_do_no_harm(desk: Desk) -> None:
    deleted(desk, 120)
    desk.clock.advance(seconds=SETTLED_AFTER.total_seconds())
    real = desk.store.remove_records

    def overtaken(connection: Connection) -> Iterator[int]:
        for removed in real(connection):
            desk.store.remove_records = real  # type: ignore[method-assign]
            assert sweep(desk).connections_purged == 1
            yield removed

    desk.store.remove_records = overtaken  # type: ignore[method-assign]

    assert sweep(desk) == Swept(sessions_released=0, records_removed=50, connections_purged=1, finished=True)
    assert desk.store.records == {}
    assert CONNECTION_ID not in desk.store.connections


def test_a_connection_that_lives_keeps_its_records(desk: Desk) -> None:
    desk.store.connections["other"] = a_connection(id="other")
    desk.queue()

    sweep(desk)

    assert desk.states() == ["waiting"]
    assert desk.store.connections[CONNECTION_ID].deleted_at is None
