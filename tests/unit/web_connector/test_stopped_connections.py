"""The sweep counts connections whose Web Connector has stopped calling although requests wait."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.maintenance.overdue_webhooks import plan_overdue_webhooks
from domain.maintenance.stopped_connections import FORGOTTEN_AFTER, StoppedConnections, has_stopped
from domain.records.app import App
from domain.records.connection import STOPPED_AFTER
from domain.records.request import ENDED, State
from domain.storage.changes import AddRequest, Put
from domain.timestamps import timestamp
from handlers import sweep
from handlers.common.bootstrap import Services
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.metric_filters import counted
from tests.support.services import using
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from typing import Any

LAST_CALL = {"last_connected_at": timestamp(NOON)}


def a_store() -> FakeStore:
    """Return a store with the app of the connections."""
    store = FakeStore()
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), ("secret",))))
    return store


@given(silent=st.timedeltas(timedelta(0), timedelta(days=30)))
def test_a_connection_has_stopped_from_the_second_to_the_fourth_day_of_its_silence(silent: timedelta) -> None:
    stopped = has_stopped(a_connection(**LAST_CALL), NOON + silent)

    assert stopped is (STOPPED_AFTER < silent <= FORGOTTEN_AFTER)


@pytest.mark.parametrize(
    "fields",
    [
        {},  # no Web Connector has called yet
        LAST_CALL | {"paused_at": timestamp(NOON)},
        LAST_CALL | {"deleted_at": timestamp(NOON)},
        LAST_CALL | {"last_worked_at": timestamp(NOON + timedelta(hours=40))},  # a session is working
    ],
)
def test_a_connection_that_is_not_expected_to_call_has_not_stopped(fields: dict[str, Any]) -> None:
    assert not has_stopped(a_connection(**fields), NOON + timedelta(hours=50))


@pytest.mark.parametrize("state", State)
def test_only_a_connection_with_requests_that_have_not_ended_counts(state: State) -> None:
    """A request in flight is counted as waiting. Its silent session is released long before a day is over."""
    store, clock = a_store(), FixedClock(NOON + timedelta(days=2))
    store.commit(Put(None, a_connection(**LAST_CALL)))
    store.commit(AddRequest(a_record(state=state), REQUEST_XML, ""))
    stopped = StoppedConnections(store, clock)

    until = clock() + timedelta(hours=1)
    plan_overdue_webhooks(store, PlannedAttempts([]), clock, until, observers=[stopped.look_at])

    assert stopped.ids == ([] if state in ENDED else [CONNECTION_ID])


class Context:
    """Lambda's, with a minute left."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time left."""
        return 60_000


@pytest.mark.parametrize(("hours", "number"), [(23, 0), (25, 25), (97, 0)])
def test_the_sweep_logs_their_exact_number_and_some_ids(
    caplog: pytest.LogCaptureFixture, hours: int, number: int
) -> None:
    store = a_store()
    for index in range(25):
        connection_id = f"c0000000-0000-4000-8000-{index:012}"
        store.commit(Put(None, a_connection(id=connection_id, **LAST_CALL)))
        store.commit(AddRequest(a_record(connection_id=connection_id), REQUEST_XML, ""))

    with using(Services(clock=FixedClock(NOON + timedelta(hours=hours)))) as services:
        services.store, services.retry_queue = store, PlannedAttempts([])
        sweep.handler({}, Context())

    (line,) = (vars(record) for record in caplog.records)
    assert line["connections_stopped"] == counted("StoppedConnections", [line]) == number
    assert len(line["stopped_connections"]) == min(number, 20)
