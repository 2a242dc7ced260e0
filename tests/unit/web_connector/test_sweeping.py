"""The sweeper."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from domain.changes import ChangeConnection, ChangeSession
from domain.errors import TooManyRequests
from domain.queued_request import State, timestamp
from domain.session import SILENCE_SECONDS, ticket_hash
from domain.sweeping import Sweeper, Swept
from tests.builders import CONNECTION_ID, a_connection
from tests.unit.web_connector.driver import CountingStore, Desk, answer

LONG = timedelta(hours=1)


@pytest.fixture
def desk() -> Desk:
    """Return a desk with a connection and an empty queue."""
    desk = Desk()
    desk.connect()
    return desk


def sweep(desk: Desk, time_left: timedelta = LONG) -> Swept:
    """Sweep with that much time."""
    return Sweeper(desk.store, desk.store, desk.store, desk.clock).sweep(desk.clock() + time_left)


def fall_silent(desk: Desk) -> None:
    """Let so much time pass that the session counts as silent."""
    desk.clock.advance(seconds=SILENCE_SECONDS + 1)


def test_a_silent_session_gives_back_what_it_had_claimed(desk: Desk) -> None:
    request_id = desk.queue()
    desk.authenticate()
    fall_silent(desk)

    assert sweep(desk) == Swept(sessions_released=1, connections_purged=0, finished=True)

    assert desk.record(request_id).state is State.WAITING
    assert desk.session.ended
    assert desk.connection.session_ticket is None
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
    desk.store.commit(ChangeSession(stale, stale.changed(timestamp(desk.clock.now))))
    desk.store.silent_sessions = lambda _before, _limit: [stale]  # type: ignore[method-assign]

    assert sweep(desk) == Swept(sessions_released=0, connections_purged=0, finished=True)

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
    swept = Sweeper(contended, contended, contended, desk.clock).sweep(desk.clock() + LONG)

    assert swept == Swept(sessions_released=0, connections_purged=0, finished=True)


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

    assert all(desk.store.sessions[ticket_hash(ticket)].ended for ticket in tickets)


def test_nothing_is_begun_when_the_time_is_over(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    fall_silent(desk)

    assert sweep(desk, timedelta()) == Swept(sessions_released=0, connections_purged=0, finished=False)

    assert not desk.session.ended


def deleted(desk: Desk, records: int) -> None:
    """Queue records and delete their connection."""
    for _ in range(records):
        desk.queue()
    before = desk.connection
    desk.store.commit(ChangeConnection(before, before.changed("x", deleted_at=timestamp(desk.clock.now))))


def test_the_records_of_a_deleted_connection_are_removed(desk: Desk) -> None:
    deleted(desk, 120)

    assert sweep(desk) == Swept(sessions_released=0, connections_purged=1, finished=True)

    assert desk.store.records == {}
    assert not desk.store.counts
    assert sweep(desk).connections_purged == 0


def test_removing_stops_in_time_and_goes_on_in_the_next_sweep(desk: Desk) -> None:
    deleted(desk, 120)
    real = desk.store.purge

    def slow(*arguments: Any) -> bool:
        desk.clock.advance(minutes=40)
        return real(*arguments)

    desk.store.purge = slow  # type: ignore[method-assign]

    assert sweep(desk) == Swept(sessions_released=0, connections_purged=0, finished=False)
    assert len(desk.store.records) == 20
    assert sweep(desk).connections_purged == 1


def test_a_connection_that_lives_keeps_its_records(desk: Desk) -> None:
    desk.store.connections["other"] = a_connection(id="other")
    desk.queue()

    sweep(desk)

    assert desk.states() == ["waiting"]
    assert desk.store.connections[CONNECTION_ID].deleted_at is None
