"""The sweep: it releases silent sessions and removes the data of deleted connections."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import TooManyRequests
from domain.maintenance import sweep as sweeping
from domain.maintenance.sweep import SETTLED_AFTER, Swept
from domain.records.request import State
from domain.records.session import SILENCE_SECONDS, session_id
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, a_connection
from tests.support.web_connector.connector import Connector, CountingStore
from tests.support.web_connector.quickbooks import response_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.records.connection import Connection

LONG = timedelta(hours=1)


def sweep(qbwc: Connector, time_left: timedelta = LONG) -> Swept:
    """Sweep with this much time."""
    return sweeping.sweep(qbwc.store, qbwc.clock, qbwc.clock() + time_left)


def fall_silent(qbwc: Connector) -> None:
    """Let enough time pass for the session to count as silent."""
    qbwc.clock.advance(seconds=SILENCE_SECONDS + 1)


def test_the_claimed_request_of_a_silent_session_is_requeued(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.authenticate()
    fall_silent(qbwc)

    assert sweep(qbwc) == Swept(sessions_released=1, records_removed=0, connections_purged=0, finished=True)

    assert qbwc.record(request_id).state is State.WAITING
    assert qbwc.session.ended
    assert not qbwc.session.ids_in_flight
    assert qbwc.connection.session_id is None
    assert "silent" in qbwc.last_error()


def test_a_sent_read_becomes_retryable_and_a_sent_write_recovers(qbwc: Connector) -> None:
    read = qbwc.queue()
    qbwc.begin()
    fall_silent(qbwc)
    sweep(qbwc)
    assert qbwc.record(read).state is State.RETRYABLE

    request = qbwc.begin()
    write = qbwc.write()
    qbwc.receive(response_to(request))
    qbwc.send()
    fall_silent(qbwc)
    sweep(qbwc)

    assert (qbwc.record(write).state, qbwc.record(write).recovering) == (State.RETRYABLE, True)
    assert qbwc.store.counts == qbwc.store.recount()


def test_a_session_that_waits_for_quickbooks_is_not_swept(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    request = qbwc.begin()
    qbwc.clock.advance(seconds=SILENCE_SECONDS - 10)

    assert sweep(qbwc).sessions_released == 0

    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_response_after_the_sweep_is_treated_like_an_expired_ticket(qbwc: Connector) -> None:
    qbwc.queue()
    request = qbwc.begin()
    fall_silent(qbwc)
    sweep(qbwc)

    assert qbwc.receive(response_to(request)) == -1


def test_an_ended_session_is_not_swept(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.close()
    fall_silent(qbwc)

    assert sweep(qbwc).sessions_released == 0


def test_a_session_with_a_recent_call_waits_for_the_next_sweep(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.begin()
    stale = qbwc.session
    fall_silent(qbwc)
    qbwc.store.commit(Put(stale, stale.called(qbwc.clock.now)))
    qbwc.store.silent_sessions = lambda _before, _limit: [stale]  # type: ignore[assignment, method-assign]

    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=0, connections_purged=0, finished=True)

    assert not qbwc.session.ended


def test_contention_leaves_the_session_to_the_next_sweep(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.begin()
    fall_silent(qbwc)

    class Contended(CountingStore):
        def commit(self, *changes: object) -> None:  # noqa: ARG002 - nothing is stored
            raise TooManyRequests("busy")

    store = Contended()
    store.sessions.update(qbwc.store.sessions)
    result = sweeping.sweep(store, qbwc.clock, qbwc.clock() + LONG)

    assert result == Swept(sessions_released=0, records_removed=0, connections_purged=0, finished=True)


def test_many_silent_sessions_are_released_in_one_sweep() -> None:
    qbwc = Connector()
    ids = [f"c0000000-0000-4000-8000-{number:012}" for number in range(60)]
    tickets = []
    for connection_id in ids:
        qbwc.connect(id=connection_id)
        qbwc.queue(connection_id=connection_id)
        qbwc.authenticate(username=connection_id)
        tickets.append(qbwc.ticket)
    fall_silent(qbwc)

    assert sweep(qbwc).sessions_released == 60

    assert all(qbwc.store.sessions[session_id(ticket)].ended for ticket in tickets)


def test_a_sweep_without_time_does_nothing(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    fall_silent(qbwc)

    assert sweep(qbwc, timedelta()) == Swept(
        sessions_released=0, records_removed=0, connections_purged=0, finished=False
    )

    assert not qbwc.session.ended


def delete_connection(qbwc: Connector, records: int, connection_id: str = CONNECTION_ID) -> None:
    """Queue records and delete their connection."""
    for _ in range(records):
        qbwc.queue(connection_id=connection_id)
    before = qbwc.store.connections[connection_id]
    qbwc.store.commit(Put(before, before.removed(timestamp(qbwc.clock.now))))


def test_a_deleted_connection_is_removed_after_its_records(qbwc: Connector) -> None:
    delete_connection(qbwc, 120)

    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=120, connections_purged=0, finished=True)
    assert qbwc.store.records == {}
    assert CONNECTION_ID in qbwc.store.connections

    qbwc.clock.advance(seconds=SETTLED_AFTER.total_seconds())
    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=0, connections_purged=1, finished=True)
    assert CONNECTION_ID not in qbwc.store.connections
    assert not qbwc.store.counts
    assert sweep(qbwc).connections_purged == 0


def test_late_index_entries_are_removed_before_the_connection(qbwc: Connector) -> None:
    delete_connection(qbwc, 3)
    hidden = dict(qbwc.store.bodies)
    qbwc.store.bodies.clear()
    assert sweep(qbwc).records_removed == 0

    qbwc.store.bodies.update(hidden)
    qbwc.clock.advance(seconds=SETTLED_AFTER.total_seconds())

    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=3, connections_purged=1, finished=True)
    assert qbwc.store.records == {}


def slowly(qbwc: Connector, minutes: int) -> None:
    """Let every step take this long."""
    real = qbwc.store.remove_records

    def slow(connection: Connection) -> Iterator[int]:
        for count in real(connection):
            qbwc.clock.advance(minutes=minutes)
            yield count

    qbwc.store.remove_records = slow  # type: ignore[method-assign]


def test_a_removal_stops_in_time_and_continues_in_the_next_sweep(qbwc: Connector) -> None:
    delete_connection(qbwc, 120)
    slowly(qbwc, 40)

    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=100, connections_purged=0, finished=False)
    assert len(qbwc.store.records) == 20
    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=20, connections_purged=1, finished=True)


def test_a_small_connection_does_not_wait_for_a_large_one(qbwc: Connector) -> None:
    delete_connection(qbwc, 300)
    qbwc.connect(id="c0000000-0000-4000-8000-000000000002")
    delete_connection(qbwc, 1, "c0000000-0000-4000-8000-000000000002")
    slowly(qbwc, 15)

    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=151, connections_purged=1, finished=False)


def test_a_busy_database_leaves_the_connection_to_the_next_sweep(qbwc: Connector) -> None:
    delete_connection(qbwc, 3)
    real = qbwc.store.remove_records

    def busy(_connection: Connection) -> Iterator[int]:
        raise TooManyRequests("busy")
        yield 0

    qbwc.store.remove_records = busy  # type: ignore[assignment, method-assign]
    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=0, connections_purged=0, finished=False)

    qbwc.store.remove_records = real  # type: ignore[method-assign]
    assert sweep(qbwc).records_removed == 3


def test_two_concurrent_sweeps_do_no_harm(qbwc: Connector) -> None:
    delete_connection(qbwc, 120)
    qbwc.clock.advance(seconds=SETTLED_AFTER.total_seconds())
    real = qbwc.store.remove_records

    def overtaken(connection: Connection) -> Iterator[int]:
        for count in real(connection):
            qbwc.store.remove_records = real  # type: ignore[method-assign]
            assert sweep(qbwc).connections_purged == 1
            yield count

    qbwc.store.remove_records = overtaken  # type: ignore[method-assign]

    assert sweep(qbwc) == Swept(sessions_released=0, records_removed=50, connections_purged=1, finished=True)
    assert qbwc.store.records == {}
    assert CONNECTION_ID not in qbwc.store.connections


def test_a_connection_that_was_not_deleted_keeps_its_records(qbwc: Connector) -> None:
    qbwc.store.connections["other"] = a_connection(id="other")
    qbwc.queue()

    sweep(qbwc)

    assert qbwc.states() == ["waiting"]
    assert qbwc.store.connections[CONNECTION_ID].deleted_at is None
