"""What failed in all connections, through the functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.records.app import AppLimits
from domain.records.request import ErrorCode
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, OTHER_APP_ID, REQUEST_XML, a_connection, a_record

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

PATH = "/api/v1/failures"
OTHER = "c0000000-0000-4000-8000-0000000000ff"


def fail(deployment: Deployment, app_id: str, connection_id: str, status: int, message: str = "It failed.") -> str:
    """Store a request that QuickBooks refused, and return its id."""
    record = a_record(app_id=app_id, connection_id=connection_id)
    sent = record.claimed("", NOON).sent(NOON).as_change_of(record)
    details = {"status_code": status, "hint": "Correct it."}
    deployment.store.commit(AddRequest(record, REQUEST_XML, ""))
    deployment.store.commit(ChangeRequest(record, sent))
    failed = sent.failed(NOON, ErrorCode.QUICKBOOKS_ERROR, message, details)
    deployment.store.commit(ChangeRequest(sent, failed))
    return record.id


def failures(deployment: Deployment, query: str = "") -> dict[str, Any]:
    """Return the data of the answer."""
    response = deployment.api.call("GET", PATH + query)
    assert response.status == 200, response.json
    data: dict[str, Any] = response.json["data"]
    return data


def test_an_app_sees_its_failures_by_cause_and_no_others(deployment: Deployment) -> None:
    deployment.store.commit(Put(None, a_connection(id=OTHER, app_id=OTHER_APP_ID)))
    ids = [fail(deployment, deployment.app_id, CONNECTION_ID, status) for status in (3170, 3140, 3170)]
    fail(deployment, OTHER_APP_ID, OTHER, 3170)

    data = failures(deployment)

    assert [(one["cause"], one["connection_id"], one["requests"]) for one in data["causes"]] == [
        ("3170", CONNECTION_ID, 2),
        ("3140", CONNECTION_ID, 1),
    ]
    assert data["causes"][0] | {"newest_request_id": ""} == {
        "cause": "3170",
        "code": "quickbooks_error",
        "message": "It failed.",
        "messages": 1,
        "meaning": None,
        "hint": "Correct it.",
        "queued_again": 0,
        "failed_again": 0,
        "repeatable": 2,
        "unknown": 0,
        "connection_id": CONNECTION_ID,
        "connection_name": data["causes"][0]["connection_name"],
        "requests": 2,
        "first_at": timestamp(NOON),
        "last_at": timestamp(NOON),
        "newest_request_id": "",
    }
    assert data["causes"][0]["newest_request_id"] in {ids[0], ids[2]}
    assert (data["receivers"], data["incomplete_connections"], data["omitted_connections"]) == ([], [], 0)
    assert failures(deployment, "?since=2026-03-01T00:00:00Z&until=2026-03-02T00:00:00Z")["causes"] == []


def test_a_cause_says_how_many_messages_it_has_and_what_it_means(deployment: Deployment) -> None:
    messages = ["No customer Ann.", "No customer Bob.", "No customer Ann."]
    ids = [fail(deployment, deployment.app_id, CONNECTION_ID, 3140, message) for message in messages]

    [cause] = failures(deployment)["causes"]

    assert (cause["requests"], cause["messages"]) == (3, 2)
    assert cause["message"] == messages[ids.index(cause["newest_request_id"])]
    assert cause["meaning"] == "The request refers to an object that does not exist in this company file."


def test_a_cause_says_how_many_of_its_requests_were_queued_again(deployment: Deployment) -> None:
    ids = [fail(deployment, deployment.app_id, CONNECTION_ID, 3170) for _ in range(3)]
    for request_id in ids[:2]:
        assert deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/queue_again").status == 201

    [cause] = failures(deployment)["causes"]

    assert (cause["requests"], cause["queued_again"], cause["repeatable"]) == (3, 2, 1)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?since=yesterday", "since"),
        ("?until=2026-03-02", "until"),
        ("?since=2026-03-03T00:00:00Z&until=2026-03-02T00:00:00Z", "until"),
    ],
)
def test_a_range_of_time_that_is_none_is_refused(deployment: Deployment, query: str, field: str) -> None:
    response = deployment.api.call("GET", PATH + query)

    assert response.status == 400
    assert response.json["error"]["details"]["problems"][0]["field"] == field


def test_failures_count_as_a_search(deployment: Deployment) -> None:
    """They read every connection, so an app may not ask for them as often as for a record."""
    statuses = {deployment.api.call("GET", PATH).status for _ in range(AppLimits().searches_per_minute + 1)}

    assert statuses == {200, 429}
