"""Test connections: the simulated QuickBooks of the stack itself executes what is queued, and nothing twice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.support import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.support import Service

LOST = {"on": "process", "request": "CustomerAddRq", "nth": 1, "do": "fail", "after_execution": True}
"""QuickBooks has executed a write, and throws an exception in place of the response."""


def add(name: str) -> dict[str, Any]:
    return {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": name}}}}


@pytest.fixture
def path(service: Service) -> Iterator[str]:
    """Yield the path of a test connection, and delete it."""
    response = service.call("POST", "/api/v1/connections", {"name": "Test", "simulated": {"company": "empty"}})
    assert response.status == 201, response
    path = f"/api/v1/connections/{response.json['data']['id']}"
    yield path
    service.call("DELETE", path)


def ended(service: Service, request_id: str) -> dict[str, Any]:
    """Wait until a request has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        record: dict[str, Any] = service.call("GET", f"/api/v1/queued_requests/{request_id}").json["data"]
        if record["state"] in {"response_received", "error"}:
            return record
        assert time.monotonic() < deadline, record["waiting_reason"]
        time.sleep(0.2)


def books(service: Service, path: str, where: str) -> Any:
    return service.call("GET", f"{path}/simulator/books?path={where}").json["data"]["shown"]


def test_a_request_goes_round_from_the_call_to_the_webhook_the_feed_and_the_books(service: Service, path: str) -> None:
    queued = service.call("POST", f"{path}/queued_requests", add("Ada") | {"webhook_url": service.webhook_url})

    request_id = queued.json["data"]["id"]
    assert service.webhook_about(request_id).verified
    assert ended(service, request_id)["state"] == "response_received"
    deadline = time.monotonic() + PATIENCE_SECONDS
    feed = f"/api/v1/events?connection_id={path.rpartition('/')[2]}"
    while request_id not in [event.get("id") for event in service.call("GET", feed).json["data"]]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert [customer["FullName"] for customer in books(service, path, "lists/Customer")["data"]] == ["Ada"]
    record = service.call("GET", path).json["data"]
    assert (record["simulated"], record["quickbooks_status"]) == (True, "connected")


def test_a_write_whose_response_is_lost_is_in_the_books_once(service: Service, path: str) -> None:
    """A second session asks for the stored response. It is another call of the function, or comes after a pause."""
    expect = {"executed": {"CustomerAddRq": 2}, "repeated_writes": 0, "faults_happened": "all"}
    state = service.call("POST", f"{path}/simulator/faults", {"steps": [LOST], "expect": expect}).json["data"]
    assert len(state["faults"]) == 1

    batch = {"requests": [add("Ada"), add("Bob")]}
    records = service.call("POST", f"{path}/queued_requests/batch", batch).json["data"]

    assert {ended(service, record["id"])["state"] for record in records} == {"response_received"}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (state := service.call("GET", f"{path}/simulator").json["data"])["problems"]:
        assert time.monotonic() < deadline, state
        time.sleep(0.2)
    assert state["faults_happened"] == state["faults"]
    executed = service.call("GET", f"{path}/simulator/books?path=executed&writes=true").json["data"]["shown"]
    assert [row["name"] for row in executed["data"]] == ["CustomerAddRq", "CustomerAddRq"]


def test_a_reset_and_days_that_pass(service: Service, path: str) -> None:
    request = service.call("POST", f"{path}/queued_requests", add("Ada")).json["data"]
    ended(service, request["id"])

    later = service.call("POST", f"{path}/simulator/advance", {"days": 40}).json["data"]
    again = service.call("POST", f"{path}/simulator/reset").json["data"]

    assert later["days_ahead"] == 40
    assert later["today"] > again["today"]
    assert books(service, path, "lists/Customer")["total"] == 0
