"""Polling of a connection: its settings, pauses, sync window, lingering, and waiting reasons."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.e2e.support import QUERY

if TYPE_CHECKING:
    from tests.e2e.support import Connection, Service


def reason(connection: Connection, request_id: str) -> Any:
    return connection.record(request_id)["waiting_reason"]


def test_settings_can_be_changed_one_by_one(service: Service) -> None:
    connection = service.connection()
    window = {"from": "22:00", "to": "06:00", "time_zone": "America/New_York"}

    first = service.call("PATCH", connection.path, {"sync_window": window, "linger_seconds": 30})
    second = service.call("PATCH", connection.path, {"name": "Head office", "sync_window": None})

    assert first.status == second.status == 200
    assert first.json["data"]["sync_window"] == window
    connection_after = service.call("GET", connection.path).json["data"]
    assert connection_after == second.json["data"]
    assert (connection_after["name"], connection_after["sync_window"], connection_after["linger_seconds"]) == (
        "Head office",
        None,
        30,
    )


def test_a_wrong_setting_is_refused_with_a_remedy(service: Service) -> None:
    connection = service.connection()
    window = {"from": "22:00", "to": "06:00", "time_zone": "New York"}

    response = service.call("PATCH", connection.path, {"sync_window": window})

    assert (response.status, response.code) == (400, "invalid_request")
    (problem,) = response.json["error"]["details"]["problems"]
    assert (problem["field"], problem["suggestion"]) == ("sync_window.time_zone", "Did you mean America/New_York?")
    assert service.call("PATCH", connection.path, {"lingerseconds": 1}).status == 400


def test_a_paused_connection_does_not_wake_quickbooks_until_it_is_resumed(service: Service) -> None:
    connection = service.connection()
    response = service.call("POST", f"{connection.path}/pause")
    request = connection.queue({"request_json": QUERY})

    session = connection.run_session()

    assert response.status == 200
    assert (session.status, session.requests) == ("No Data Exchange", 0)
    assert reason(connection, request["id"])["code"] == "paused"
    data = service.call("POST", f"{connection.path}/resume").json["data"]
    assert data["paused_at"] is None
    assert connection.run_session().requests == 1
    assert reason(connection, request["id"]) is None


def test_outside_its_sync_window_a_connection_waits(service: Service) -> None:
    connection = service.connection()
    connection.run_session()
    later = [(datetime.now(UTC) + timedelta(hours=hours)).strftime("%H:%M") for hours in (2, 3)]
    window = {"from": later[0], "to": later[1], "time_zone": "Etc/UTC"}
    service.call("PATCH", connection.path, {"sync_window": window})
    request = connection.queue({"request_json": QUERY})

    assert connection.run_session().requests == 0
    why = reason(connection, request["id"])
    assert why["code"] == "outside_sync_window"
    assert later[0] in why["message"]
    service.call("PATCH", connection.path, {"sync_window": None})
    assert connection.run_session().requests == 1


def test_a_lingering_session_sends_requests_that_are_queued_meanwhile(service: Service) -> None:
    connection = service.connection()
    service.call("PATCH", connection.path, {"linger_seconds": 3})
    connection.queue({"request_json": QUERY})
    ids: list[str] = []

    def queue_once(_seconds: float) -> None:
        if not ids:
            ids.append(connection.queue({"request_json": QUERY})["id"])

    result = connection.run_session(queue_once)

    assert (result.requests, result.error) == (2, None)
    assert result.status == "Done: nothing more was queued for 3 seconds."
    assert connection.record(ids[0])["state"] == "response_received"


def test_a_new_request_has_a_waiting_reason(service: Service) -> None:
    connection = service.connection()
    first = connection.queue({"request_json": QUERY})
    second = connection.queue({"request_json": QUERY})

    assert first["waiting_reason"]
    assert reason(connection, first["id"])["code"] == "never_connected"
    service.call("POST", f"{connection.path}/pause")
    connection.run_session()
    service.call("POST", f"{connection.path}/resume")
    assert reason(connection, first["id"])["code"] == "next_session"
    assert reason(connection, second["id"])["message"] == "1 request is sent before it."
    records = service.call("GET", f"{connection.path}/queued_requests").json["data"]
    assert [item["waiting_reason"]["code"] for item in records] == ["next_session"] * 2
    assert service.call("GET", connection.path).json["data"]["waiting_reason"] is None


def test_calls_that_wait_are_answered_when_a_session_has_ended_their_request(service: Service) -> None:
    """Other calls are answered meanwhile, those of the Web Connector too."""
    connection = service.connection()
    first, second = (connection.queue({"request_json": QUERY}) for _ in range(2))

    with ThreadPoolExecutor(2) as threads:
        calls = [
            threads.submit(service.call, "GET", f"{record['links']['self']}?wait=20") for record in (first, second)
        ]
        result = connection.run_session()
        answers = [call.result().json["data"] for call in calls]

    assert (result.requests, result.error) == (2, None)
    assert [answer["state"] for answer in answers] == ["response_received"] * 2
