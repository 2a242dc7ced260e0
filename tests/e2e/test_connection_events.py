"""Events of connections, from the change through the stream and the retry queue to the webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.support import PATIENCE_SECONDS, QUERY, Connection, eventually

if TYPE_CHECKING:
    from tests.e2e.support import Service


def feed_of(service: Service, connection_id: str) -> list[dict[str, Any]]:
    """Return the events of a connection in the feed."""
    data: list[dict[str, Any]] = service.call("GET", f"/api/v1/events?connection_id={connection_id}").json["data"]
    return data


def test_a_webhook_gets_the_events_of_the_connection_that_it_asks_for_and_those_of_requests(service: Service) -> None:
    settings = {"name": "Bakery", "webhook_url": service.webhook_url, "webhook_events": ["connection.connected"]}
    data = service.call("POST", "/api/v1/connections", settings).json["data"]
    password = service.call("POST", f"/api/v1/connections/{data['id']}/password").json["data"]["password"]
    connection = Connection(service, data["id"], password)
    request = connection.queue({"request_json": QUERY})

    connection.run_session()
    feed = eventually(lambda: feed_of(service, data["id"]), lambda events: len(events) == 3)
    by_type = {event["type"]: event for event in feed}
    connected = service.webhook_about(by_type["connection.connected"]["id"])

    assert set(by_type) == {"connection.password_changed", "connection.connected", "queued_request.completed"}
    assert connected.verified == {"standard", "qube"}
    assert (connected.body["type"], connected.body["name"]) == ("connection.connected", "Bakery")
    assert connected.body["id"] == connected.id
    completed = eventually(lambda: connection.record(request["id"]), lambda record: record["webhook_attempts"])
    assert completed["webhook_state"] == "succeeded"


def test_a_change_of_webhook_events_counts_from_the_next_event_on(service: Service) -> None:
    data = service.call("POST", "/api/v1/connections", {"webhook_url": service.webhook_url}).json["data"]
    path = f"/api/v1/connections/{data['id']}"
    service.call("POST", f"{path}/password")
    eventually(lambda: feed_of(service, data["id"]), lambda events: len(events) == 1)

    changed = service.call("PATCH", path, {"webhook_events": ["connection.*"]})
    service.call("POST", f"{path}/password")
    before, after = eventually(lambda: feed_of(service, data["id"]), lambda events: len(events) == 2)
    arrived = [service.webhooks.get(timeout=PATIENCE_SECONDS)]
    while arrived[-1].id != after["id"]:
        arrived.append(service.webhooks.get(timeout=PATIENCE_SECONDS))

    assert changed.json["data"]["webhook_events"] == ["connection.*"]
    assert before["id"] not in {webhook.id for webhook in arrived}
    assert arrived[-1].body["type"] == "connection.password_changed"
