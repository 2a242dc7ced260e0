"""The pace: how soon a Web Connector is asked to come again, pauses, sync windows."""

from __future__ import annotations

from typing import Any

import pytest

from domain.connections.service import ConnectionService
from domain.connections.sync_window import SyncWindow
from domain.requests.record import Recovery, State, timestamp
from domain.web_connector.session import polling
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, counting_bytes
from tests.support.web_connector.driver import Desk, answer, hcp, kept, not_kept, page_of

CLOSED = SyncWindow("13:00", "14:00", "UTC")
"""At noon it opens in an hour."""
OPEN = SyncWindow("11:00", "13:00", "UTC")


def a_desk(**fields: Any) -> Desk:
    desk = Desk()
    desk.connect(**fields)
    return desk


@pytest.fixture
def desk() -> Desk:
    return a_desk()


def managed(desk: Desk) -> ConnectionService:
    store = desk.store
    return ConnectionService(store, clock=desk.clock, new_id=desk.new_id, secrets=counting_bytes)


def pause(desk: Desk) -> None:
    managed(desk).pause(APP_ID, CONNECTION_ID)


def resume(desk: Desk) -> None:
    managed(desk).resume(APP_ID, CONNECTION_ID)


# --- how soon to come again


def test_with_work_the_interval_is_short_and_nothing_is_postponed(desk: Desk) -> None:
    desk.queue()

    assert desk.authenticate() == ""

    assert desk.schedule == ["", "15"]


@pytest.mark.parametrize(
    ("fields", "schedule"),
    [
        ({"inserted_at": "2026-03-14T11:50:00.000000Z"}, ["", "15"]),
        ({"inserted_at": "2026-03-14T11:40:00.000000Z"}, ["300", "15"]),
        ({"inserted_at": "2026-01", "last_worked_at": "2026-03-14T11:50:00.000000Z"}, ["", "15"]),
        ({"inserted_at": "2026-01", "last_worked_at": "2026-03-14T11:40:00.000000Z"}, ["300", "15"]),
        ({"sync_window": CLOSED}, ["900", "15"]),
        ({"sync_window": SyncWindow("12:10", "14:00", "UTC")}, ["599", "15"]),
        ({"sync_window": SyncWindow("12:01", "14:00", "UTC")}, ["60", "15"]),
        ({"sync_window": OPEN}, ["", "15"]),
        ({"paused_at": timestamp(NOON)}, ["900", "15"]),
        ({"paused_at": timestamp(NOON), "sync_window": SyncWindow("12:10", "14:00", "UTC")}, ["900", "15"]),
    ],
)
def test_without_work_the_next_visit_is_put_off_by_need(fields: dict[str, Any], schedule: list[str]) -> None:
    desk = a_desk(**fields)

    assert desk.authenticate() == "none"

    assert desk.schedule == schedule


def test_the_minimum_interval_never_grows(desk: Desk) -> None:
    """The Web Connector raises the user's interval to it and never lowers it again."""
    desk.queue()
    desk.authenticate()
    busy = desk.schedule
    desk.close()
    pause(desk)
    desk.authenticate()

    assert desk.schedule[1] == busy[1] == str(polling.MIN_INTERVAL_SECONDS)


def test_a_refused_login_changes_no_interval(desk: Desk) -> None:
    assert desk.authenticate("wrong") == "nvu"
    assert desk.schedule == []


def test_when_a_session_last_worked_is_noted_when_it_begins_and_when_it_ends(desk: Desk) -> None:
    desk.queue()
    request = desk.begin()
    begun = desk.connection.last_worked_at
    desk.clock.advance(minutes=20)
    desk.receive(answer(request))
    answered = timestamp(desk.clock.now)
    desk.clock.advance(minutes=1)
    desk.close()

    assert begun == "2026-03-14T12:00:02.000000Z"
    assert desk.connection.last_worked_at == answered


def test_a_visit_without_work_is_no_work(desk: Desk) -> None:
    desk.authenticate()

    assert desk.connection.last_worked_at is None


# --- paused or outside the window


@pytest.mark.parametrize("fields", [{"paused_at": timestamp(NOON)}, {"sync_window": CLOSED}])
def test_a_held_queue_does_not_wake_quickbooks_and_costs_two_calls(fields: dict[str, Any]) -> None:
    desk = a_desk(**fields)
    desk.queue()
    desk.write(recovery=Recovery(response_lost=True, active=True), state=State.RETRYABLE)

    assert desk.authenticate() == "none"

    assert desk.store.calls.total() == 2
    assert desk.states() == ["waiting", "retryable"]
    assert desk.connection.last_connected_at == timestamp(desk.clock.now)


def test_a_login_while_paused_ends_a_former_session_and_gives_back_what_it_held(desk: Desk) -> None:
    request_id = desk.queue()
    desk.begin()
    pause(desk)

    assert desk.authenticate() == "none"

    assert desk.record(request_id).state is State.RETRYABLE
    assert desk.connection.session_id is None


def test_a_resumed_connection_is_worked_by_the_next_session(desk: Desk) -> None:
    desk.queue()
    pause(desk)
    assert desk.authenticate() == "none"
    resume(desk)

    assert desk.drain() == [100]


def test_a_pause_that_meets_a_login_holds(desk: Desk) -> None:
    desk.queue()
    plain = desk.store.commit

    def paused_meanwhile(*changes: Any) -> None:
        desk.store.commit = plain  # type: ignore[method-assign]
        pause(desk)
        plain(*changes)

    desk.store.commit = paused_meanwhile  # type: ignore[method-assign]

    assert desk.authenticate() == "none"
    assert desk.states() == ["waiting"]


def hold(desk: Desk, how: str) -> None:
    """Pause the connection, or let its window close."""
    if how == "paused":
        pause(desk)
    else:
        desk.clock.now = NOON.replace(hour=13)


@pytest.fixture(params=["paused", "window"])
def held(request: pytest.FixtureRequest) -> tuple[Desk, str]:
    """Return a desk whose window closes at one, and how it is to be held."""
    return a_desk(sync_window=OPEN), request.param


def test_the_request_in_flight_is_the_last_one(held: tuple[Desk, str]) -> None:
    desk, how = held
    desk.queue()
    desk.queue()
    request = desk.begin()

    hold(desk, how)

    assert desk.receive(answer(request)) == 100
    assert desk.store.calls.total() == 2
    assert desk.states() == ["response_received", "waiting"]
    desk.close()
    assert desk.authenticate() == "none"


def test_what_was_claimed_and_not_handed_out_is_given_back(held: tuple[Desk, str]) -> None:
    desk, how = held
    desk.queue()
    desk.authenticate()

    hold(desk, how)

    assert desk.send(hcp()) == ""
    assert desk.store.calls.total() == 2
    assert desk.states() == ["waiting"]
    assert desk.last_error() == (polling.PAUSED if how == "paused" else polling.WINDOW_CLOSED)
    desk.close()
    assert desk.connection.session_id is None


def test_the_pages_of_an_open_iteration_are_finished(held: tuple[Desk, str]) -> None:
    desk, how = held
    desk.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')
    desk.queue()
    first = desk.begin()

    hold(desk, how)

    assert 1 <= desk.receive(page_of(first, 2)) <= 99
    second = desk.send()
    assert 'iterator="Continue"' in second
    assert desk.receive(page_of(second, 0)) == 100
    assert sorted(desk.states()) == ["response_received", "response_received", "waiting"]


def test_a_lost_write_is_asked_for_when_work_is_allowed_again(held: tuple[Desk, str]) -> None:
    desk, how = held
    write = desk.write()
    request = desk.begin()
    desk.close()
    assert desk.record(write).recovering

    hold(desk, how)
    assert desk.authenticate() == "none"
    assert desk.record(write).recovering
    resume(desk)
    desk.clock.now = NOON.replace(hour=12, minute=30)

    check = desk.begin()
    assert "CustomerAdd" not in check
    desk.receive(kept(request))
    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_a_write_that_was_never_executed_does_not_go_out_then(held: tuple[Desk, str]) -> None:
    """It was claimed again by the answer to the question, and is asked for once more."""
    desk, how = held
    write = desk.write()
    desk.begin()
    desk.close()
    check = desk.begin()

    hold(desk, how)

    assert 1 <= desk.receive(not_kept(check)) <= 99
    assert desk.send() == ""
    assert (desk.record(write).state, desk.record(write).recovering) == (State.RETRYABLE, True)


def test_a_pause_that_is_over_before_the_session_noticed_changes_nothing(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    pause(desk)
    resume(desk)

    request = desk.send(hcp())

    assert desk.receive(answer(request)) == 100
    assert desk.connection.quickbooks_product_name == "QuickBooks Enterprise 24"


def test_pausing_a_session_leaves_counts_exact(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    pause(desk)
    desk.send(hcp())
    desk.close()

    assert desk.store.counts == desk.store.recount()
