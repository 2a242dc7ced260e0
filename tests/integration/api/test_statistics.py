"""Statistics of a connection and of all connections, through the functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.app import AppLimits
from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.statistics import KEPT_DAYS
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, OTHER_APP_ID, REQUEST_XML, a_connection, a_record

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

OF_CONNECTION = f"/api/v1/connections/{CONNECTION_ID}/statistics"
OF_APP = "/api/v1/statistics"


def statistics(deployment: Deployment, path: str) -> dict[str, Any]:
    """Return the data of the answer."""
    response = deployment.api.call("GET", path)
    assert response.status == 200, response.json
    data: dict[str, Any] = response.json["data"]
    return data


def test_a_connection_has_its_activity_its_times_and_its_oldest_waiting_request(deployment: Deployment) -> None:
    store = deployment.store
    record = a_record(app_id=deployment.app_id)
    waiting = a_record(app_id=deployment.app_id)
    sent = record.claimed("", NOON.replace(second=6)).sent(NOON.replace(second=6)).as_change_of(record)
    store.commit(AddRequest(record, REQUEST_XML, ""))
    store.commit(AddRequest(waiting, REQUEST_XML, ""))
    store.commit(ChangeRequest(record, sent))
    store.commit(ChangeRequest(sent, sent.moved(State.ERROR, NOON.replace(second=7))))

    data = statistics(deployment, f"{OF_CONNECTION}?days=1")

    assert data["since"] == timestamp(NOON.replace(hour=0))
    assert data["hours"][-1] == {"hour": timestamp(NOON), "queued": 2, "response_received": 0, "error": 1}
    assert len(data["hours"]) == NOON.hour + 1
    assert data["waiting_time"] == {
        "number": 1,
        "median_seconds": 5.7,
        "p95_seconds": 5.7,
        "buckets": [{"from_seconds": 4.0, "to_seconds": 8.0, "number": 1}],
    }
    assert data["executing_time"] == {"number": 0, "median_seconds": None, "p95_seconds": None, "buckets": []}
    assert data["oldest_waiting_request"]["id"] == waiting.id


def test_an_app_sees_its_connections_and_no_others(deployment: Deployment) -> None:
    other = a_connection(id="c0000000-0000-4000-8000-0000000000ff", app_id=OTHER_APP_ID)
    deployment.store.commit(Put(None, other))

    data = statistics(deployment, OF_APP)

    assert [connection["id"] for connection in data["connections"]] == [CONNECTION_ID]
    assert data["connections"][0]["waiting_reason"]["code"] == "never_connected"
    assert data["omitted_connections"] == 0


def test_the_health_of_a_connection_has_the_answer_of_quickbooks_and_the_silence_of_its_machine(
    deployment: Deployment,
) -> None:
    stored = deployment.store.connection(CONNECTION_ID)
    assert stored
    calls = replace(stored, last_connected_at=timestamp(NOON)).changed(timestamp(NOON))
    deployment.store.commit(Put(stored, calls))

    (testing,) = statistics(deployment, OF_APP)["connections"]

    assert (testing["status"], testing["quickbooks_status"], testing["silent_since"]) == ("connected", "testing", None)
    answered = replace(calls, quickbooks_answered_at=timestamp(NOON)).changed(timestamp(NOON))
    deployment.store.commit(Put(calls, answered))
    deployment.clock.advance(hours=14)
    (silent,) = statistics(deployment, OF_APP)["connections"]
    assert (silent["quickbooks_status"], silent["silent_since"]) == ("connected", timestamp(NOON))
    assert silent["stopped_calling"] is False


@pytest.mark.parametrize("path", [OF_CONNECTION, OF_APP])
@pytest.mark.parametrize("days", ["0", str(KEPT_DAYS + 1), "-1", "1.5", "x", ""])
def test_another_number_of_days_is_refused(deployment: Deployment, path: str, days: str) -> None:
    response = deployment.api.call("GET", f"{path}?days={days}")

    assert response.status == 400
    assert response.json["error"]["details"]["problems"][0]["field"] == "days"


def test_the_statistics_of_an_app_count_as_a_search(deployment: Deployment) -> None:
    """They read every connection, so an app may not ask for them as often as for a record."""
    statuses = {deployment.api.call("GET", OF_APP).status for _ in range(AppLimits().searches_per_minute + 1)}

    assert statuses == {200, 429}
