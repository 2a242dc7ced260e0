"""Sessions that disappear, and requests that disappear from their session: no request is stuck, and no caller."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.connections.service import ConnectionService
from domain.maintenance.connection_removal import remove_connection
from domain.maintenance.sweep import SESSIONS_A_READ, sweep
from domain.records.request import State
from domain.records.session import SILENCE_SECONDS
from domain.storage.changes import RemoveRequest
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, counting_bytes
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, stored_response


def lose_the_session(qbwc: Connector) -> None:
    """Remove the session. By then, the indexes show everything that it stored."""
    qbwc.clock.advance(days=1)
    qbwc.store.lose_sessions()


@pytest.mark.parametrize("sends", [False, True])
def test_the_next_login_takes_over_the_request_of_a_missing_session(qbwc: Connector, sends: bool) -> None:
    request_id = qbwc.queue()
    qbwc.authenticate()
    if sends:
        qbwc.send(hcp())
    lose_the_session(qbwc)

    request = qbwc.begin()
    qbwc.receive(response_to(request))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED
    assert qbwc.record(request_id).attempts.lost_responses == sends
    assert qbwc.store.counts == qbwc.store.recount()


def test_a_write_of_a_missing_session_is_recovered_before_it_is_sent(qbwc: Connector) -> None:
    write = qbwc.write()
    request = qbwc.begin()
    lose_the_session(qbwc)

    check = qbwc.begin()

    assert "oldMessageSetID" in check
    assert "CustomerAddRq" not in check
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_request_of_a_missing_session_that_has_ended_stays_as_it_is(qbwc: Connector) -> None:
    """The index of the requests in flight may show it for a while."""
    ended, sent = qbwc.queue(), qbwc.queue()
    qbwc.receive(response_to(qbwc.begin()))
    qbwc.send()
    before = qbwc.record(ended)
    qbwc.store.lose_sessions()
    qbwc.store.in_flight_ids = lambda _id: [ended, sent]  # type: ignore[method-assign, assignment]

    assert sent in qbwc.begin()

    assert qbwc.record(ended) == before


def test_a_write_of_a_missing_session_is_held_for_as_long_as_this_service_holds_writes() -> None:
    qbwc = Connector(execution_seconds=5)
    qbwc.connect()
    write = qbwc.write()
    qbwc.begin()
    qbwc.store.lose_sessions()

    qbwc.clock.advance(seconds=5)
    qbwc.receive(nothing_stored(qbwc.begin()))

    assert "CustomerAddRq" in qbwc.send()
    assert qbwc.record(write).state is State.SENT


def test_a_paused_connection_also_releases_the_request_of_a_missing_session(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.begin()
    lose_the_session(qbwc)
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    service.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    assert qbwc.authenticate() == "none"

    assert qbwc.record(request_id).state is State.RETRYABLE


def test_a_connection_with_a_missing_session_can_be_deleted(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.begin()
    lose_the_session(qbwc)

    remove_connection(qbwc.store, qbwc.clock, APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    sweep(qbwc.store, qbwc.clock, qbwc.clock.now + timedelta(hours=1))

    assert not qbwc.store.records


def remove_record(qbwc: Connector, request_id: str) -> None:
    """Remove a request that a session holds. The service itself never does this."""
    qbwc.store.commit(RemoveRequest(qbwc.record(request_id), "2026-03-14T12:00:00.000000Z"))


def test_a_login_ends_a_session_whose_request_is_gone(qbwc: Connector) -> None:
    gone, other = qbwc.queue(), qbwc.queue()
    qbwc.begin()
    remove_record(qbwc, gone)

    assert other in qbwc.take_over()


def test_a_login_releases_the_request_in_its_stored_form(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.begin()
    qbwc.change(request_id, request_label="changed from outside")

    qbwc.take_over()

    assert qbwc.record(request_id).request_label == "changed from outside"
    assert qbwc.record(request_id).attempts.sessions == 2


def test_the_sweep_ends_a_session_whose_request_is_gone(qbwc: Connector) -> None:
    gone = qbwc.queue()
    qbwc.begin()
    remove_record(qbwc, gone)
    qbwc.clock.advance(seconds=SILENCE_SECONDS + 1)

    assert sweep(qbwc.store, qbwc.clock, qbwc.clock.now + timedelta(hours=1)).sessions_released == 1

    assert qbwc.session.ended


def test_a_connection_can_be_deleted_although_the_request_of_its_session_is_gone(qbwc: Connector) -> None:
    gone = qbwc.queue()
    qbwc.begin()
    remove_record(qbwc, gone)
    qbwc.clock.advance(seconds=SILENCE_SECONDS + 1)

    remove_connection(qbwc.store, qbwc.clock, APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    assert qbwc.connection.deleted_at
    assert qbwc.session.ended


def test_sessions_that_cannot_be_released_do_not_hide_those_behind_them(qbwc: Connector) -> None:
    stuck = set()
    for number in range(SESSIONS_A_READ + 5):
        connection_id = f"c0000000-0000-4000-8000-{number + 10:012}"
        qbwc.connect(id=connection_id)
        qbwc.queue(connection_id=connection_id)
        qbwc.authenticate(username=connection_id)
        stuck.add(qbwc.session.id)
    request_id = qbwc.queue()
    qbwc.begin()
    qbwc.clock.advance(seconds=SILENCE_SECONDS + 1)
    real = qbwc.store.connection

    def outdated(connection_id: str) -> object:
        connection = real(connection_id)
        return connection if connection is None or connection_id == CONNECTION_ID else connection.changed("2026")

    qbwc.store.connection = outdated  # type: ignore[assignment, method-assign]

    swept = sweep(qbwc.store, qbwc.clock, qbwc.clock.now + timedelta(hours=1))

    assert swept.sessions_released == 1
    assert qbwc.record(request_id).state is State.RETRYABLE
    assert {session.id for session in qbwc.store.sessions.values() if not session.ended} == stuck
