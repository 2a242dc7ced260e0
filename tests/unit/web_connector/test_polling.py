"""Polling: the interval until the next call, pauses and sync windows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from domain.connections import turns
from domain.connections.service import ConnectionService
from domain.records.request import Recovery, State
from domain.records.sync_window import SyncWindow
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.session import polling
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_READ
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, counting_bytes
from tests.support.cases import for_each
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import hcp, nothing_stored, page_of, response_to, stored_response

CLOSED = SyncWindow("13:00", "14:00", "UTC")
"""At noon it opens in an hour."""
OPEN = SyncWindow("11:00", "13:00", "UTC")
PLACE = turns.place(CONNECTION_ID)
IDLE, DORMANT = (str(int(seconds * (1 - PLACE / 5))) for seconds in (300, 900))
"""A fifth of a postponement depends on the place of the connection."""


def spread_over(minutes: float) -> int:
    """Return the seconds from the opening of a window of this length to the turn of the connection."""
    return int(PLACE * min(minutes * 60 / 5, 600))


def a_connector(**fields: Any) -> Connector:
    qbwc = Connector()
    qbwc.connect(**fields)
    return qbwc


@pytest.fixture
def qbwc() -> Connector:
    return a_connector()


def connection_service(qbwc: Connector) -> ConnectionService:
    store = qbwc.store
    return ConnectionService(store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)


def pause(qbwc: Connector) -> None:
    connection_service(qbwc).pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def resume(qbwc: Connector) -> None:
    connection_service(qbwc).resume(APP_ID, CONNECTION_ID, actor=AN_ACTOR)


# --- the interval until the next call


def test_with_work_the_interval_is_short_and_nothing_is_postponed(qbwc: Connector) -> None:
    qbwc.queue()

    assert qbwc.authenticate() == ""

    assert qbwc.schedule == ["", "15"]


@for_each(
    ("fields", "schedule"),
    [
        ({"inserted_at": "2026-03-14T11:50:00.000000Z"}, ["", "15"]),
        ({"inserted_at": "2026-03-14T11:40:00.000000Z"}, [IDLE, "15"]),
        ({"inserted_at": "2026-01", "last_worked_at": "2026-03-14T11:50:00.000000Z"}, ["", "15"]),
        ({"inserted_at": "2026-01", "last_worked_at": "2026-03-14T11:40:00.000000Z"}, [IDLE, "15"]),
        ({"inserted_at": "2026-01", "last_worked_at": "2026-03-13T12:00:02.000000Z"}, [IDLE, "15"]),
        ({"inserted_at": "2026-01", "last_worked_at": "2026-03-13T12:00:01.000000Z"}, [DORMANT, "15"]),
        ({"inserted_at": "2026-01"}, [DORMANT, "15"]),
        ({"sync_window": CLOSED}, [DORMANT, "15"]),
        ({"sync_window": SyncWindow("12:10", "14:00", "UTC")}, [str(599 + spread_over(110)), "15"]),
        ({"sync_window": SyncWindow("12:01", "14:00", "UTC")}, [str(59 + spread_over(119)), "15"]),
        ({"sync_window": SyncWindow("12:01", "12:02", "UTC")}, [str(59 + spread_over(1)), "15"]),
        ({"sync_window": SyncWindow("12:00", "14:00", "UTC")}, [str(spread_over(120) - 1), "15"]),
        ({"sync_window": OPEN}, ["", "15"]),
        ({"paused_at": timestamp(NOON)}, [DORMANT, "15"]),
        ({"paused_at": timestamp(NOON), "sync_window": SyncWindow("12:10", "14:00", "UTC")}, [DORMANT, "15"]),
    ],
)
def test_without_work_the_next_login_is_postponed_as_needed(fields: dict[str, Any], schedule: list[str]) -> None:
    qbwc = a_connector(**fields)

    assert qbwc.authenticate() == "none"

    assert qbwc.schedule == schedule


@pytest.mark.parametrize("dormant_seconds", [300, 450, 900])
def test_the_polling_interval_after_a_day_without_work_is_a_setting(dormant_seconds: int) -> None:
    qbwc = Connector(dormant_seconds=dormant_seconds)
    qbwc.connect(inserted_at="2026-01")

    qbwc.authenticate()

    assert qbwc.schedule == [str(int(dormant_seconds * (1 - PLACE / 5))), "15"]


def test_polls_without_work_are_recorded_every_ten_minutes() -> None:
    qbwc = a_connector(inserted_at="2026-03-14T01:00:00.000000Z")
    recorded = []
    for _ in range(60):
        qbwc.authenticate()
        recorded.append(qbwc.connection.last_connected_at)
        assert qbwc.store.calls["commit"] == (len(set(recorded)) > len(set(recorded[:-1])))
        assert timestamp(qbwc.clock.now - timedelta(minutes=11)) < (recorded[-1] or "")
        qbwc.clock.advance(minutes=1)

    assert len(set(recorded)) == 6


@pytest.mark.parametrize(
    "fields", [{"name": "Renamed"}, {"login_failed_at": timestamp(NOON)}, {"paused_at": timestamp(NOON)}]
)
def test_the_first_poll_after_a_change_of_the_connection_is_recorded(qbwc: Connector, fields: dict[str, Any]) -> None:
    qbwc.authenticate()
    before = qbwc.connection
    qbwc.store.commit(Put(before, replace(before, **fields).changed(timestamp(qbwc.clock.advance(seconds=1)))))

    qbwc.authenticate()

    assert qbwc.connection.last_connected_at == timestamp(qbwc.clock.now)


def test_the_minimum_interval_never_grows(qbwc: Connector) -> None:
    """The Web Connector raises the user's interval to it and never lowers it again."""
    qbwc.queue()
    qbwc.authenticate()
    busy = qbwc.schedule
    qbwc.close()
    pause(qbwc)
    qbwc.authenticate()

    assert qbwc.schedule[1] == busy[1] == str(polling.MIN_INTERVAL_SECONDS)


def test_a_refused_login_changes_no_interval(qbwc: Connector) -> None:
    assert qbwc.authenticate("wrong") == "nvu"
    assert qbwc.schedule == []


def test_the_time_of_the_last_work_is_set_at_begin_and_end_of_a_session(qbwc: Connector) -> None:
    qbwc.queue()
    request = qbwc.begin()
    worked_at_begin = qbwc.connection.last_worked_at
    qbwc.clock.advance(minutes=20)
    qbwc.receive(response_to(request))
    worked_at_end = timestamp(qbwc.clock.now)
    qbwc.clock.advance(minutes=1)
    qbwc.close()

    assert worked_at_begin == "2026-03-14T12:00:02.000000Z"
    assert qbwc.connection.last_worked_at == worked_at_end


def test_a_login_without_work_does_not_count_as_work(qbwc: Connector) -> None:
    qbwc.authenticate()

    assert qbwc.connection.last_worked_at is None


# --- paused or outside the window


@pytest.mark.parametrize("fields", [{"paused_at": timestamp(NOON)}, {"sync_window": CLOSED}])
def test_a_held_queue_does_not_start_quickbooks_and_costs_two_calls(fields: dict[str, Any]) -> None:
    qbwc = a_connector(**fields)
    qbwc.queue()
    qbwc.write(recovery=Recovery(begun=True, active=True), state=State.RETRYABLE)

    assert qbwc.authenticate() == "none"

    assert qbwc.store.calls.total() == 2
    assert qbwc.states() == ["waiting", "retryable"]
    assert qbwc.connection.last_connected_at == timestamp(qbwc.clock.now)


def test_a_login_while_paused_ends_the_former_session_and_requeues_its_request(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.begin()
    pause(qbwc)
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_READ)

    assert qbwc.authenticate() == "none"

    assert qbwc.record(request_id).state is State.RETRYABLE
    assert qbwc.connection.session_id is None


def test_the_next_session_of_a_resumed_connection_sends_requests(qbwc: Connector) -> None:
    qbwc.queue()
    pause(qbwc)
    assert qbwc.authenticate() == "none"
    resume(qbwc)

    assert qbwc.drain() == [100]


def test_a_pause_that_conflicts_with_a_login_holds(qbwc: Connector) -> None:
    qbwc.queue()
    plain = qbwc.store.commit

    def paused_meanwhile(*changes: Any) -> None:
        qbwc.store.commit = plain  # type: ignore[method-assign]
        pause(qbwc)
        plain(*changes)

    qbwc.store.commit = paused_meanwhile  # type: ignore[method-assign]

    assert qbwc.authenticate() == "none"
    assert qbwc.states() == ["waiting"]


def hold(qbwc: Connector, how: str) -> None:
    """Pause the connection, or let its window close."""
    if how == "paused":
        pause(qbwc)
    else:
        qbwc.clock.now = NOON.replace(hour=13)


@pytest.fixture(params=["paused", "window"])
def case(request: pytest.FixtureRequest) -> tuple[Connector, str]:
    """Return a Web Connector with a window that closes at one, and the step that holds it."""
    return a_connector(sync_window=OPEN), request.param


def test_a_held_session_finishes_the_request_in_flight(case: tuple[Connector, str]) -> None:
    qbwc, how = case
    qbwc.queue()
    qbwc.queue()
    request = qbwc.begin()

    hold(qbwc, how)

    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.store.calls.total() == 4
    assert qbwc.states() == ["response_received", "waiting"]
    qbwc.close()
    assert qbwc.authenticate() == "none"


def test_a_claimed_request_that_was_not_sent_is_put_back(case: tuple[Connector, str]) -> None:
    qbwc, how = case
    qbwc.queue()
    qbwc.authenticate()

    hold(qbwc, how)

    assert qbwc.send(hcp()) == ""
    assert qbwc.store.calls.total() == 3
    assert qbwc.states() == ["waiting"]
    assert qbwc.last_error() == (polling.PAUSED if how == "paused" else polling.WINDOW_CLOSED)
    qbwc.close()
    assert qbwc.connection.session_id is None


def test_a_held_session_finishes_an_open_iterator(case: tuple[Connector, str]) -> None:
    qbwc, how = case
    qbwc.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')
    qbwc.queue()
    first = qbwc.begin()

    hold(qbwc, how)

    assert 1 <= qbwc.receive(page_of(first, 2)) <= 99
    second = qbwc.send()
    assert 'iterator="Continue"' in second
    assert qbwc.receive(page_of(second, 0)) == 100
    assert sorted(qbwc.states()) == ["response_received", "response_received", "waiting"]


def test_a_lost_write_recovers_after_the_pause(case: tuple[Connector, str]) -> None:
    qbwc, how = case
    write = qbwc.write()
    request = qbwc.begin()
    qbwc.close()
    assert qbwc.record(write).recovering

    hold(qbwc, how)
    assert qbwc.authenticate() == "none"
    assert qbwc.record(write).recovering
    resume(qbwc)
    qbwc.clock.now = NOON.replace(hour=12, minute=30)

    check = qbwc.begin()
    assert "CustomerAdd" not in check
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_held_session_does_not_send_a_write_that_was_never_executed(case: tuple[Connector, str]) -> None:
    """The reply about the lost response claimed it again, so it is requested a second time."""
    qbwc, how = case
    write = qbwc.write()
    qbwc.begin()
    qbwc.close_and_wait()
    check = qbwc.begin()

    hold(qbwc, how)

    assert 1 <= qbwc.receive(nothing_stored(check)) <= 99
    assert qbwc.send() == ""
    assert (qbwc.record(write).state, qbwc.record(write).recovering) == (State.RETRYABLE, True)


def test_a_pause_that_ends_unnoticed_changes_nothing(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    pause(qbwc)
    resume(qbwc)

    request = qbwc.send(hcp())

    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.connection.quickbooks_product_name == "QuickBooks Enterprise 24"


def test_pausing_a_session_leaves_counts_exact(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    pause(qbwc)
    qbwc.send(hcp())
    qbwc.close()

    assert qbwc.store.counts == qbwc.store.recount()
