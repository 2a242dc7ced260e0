"""Every view of a waiting request says why it waits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.storage.changes import Put
from domain.storage.ports import RequestDetail
from handlers.views.webhook_event import event_body
from tests.support.builders import CONNECTION_ID

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

TREE = {
    "version": "13.0",
    "request": {
        "name": "CustomerQueryRq",
        "attributes": {"request_id": "1"},
        "children": [{"name": "MaxReturned", "text": "10"}],
    },
}
HOOK = "https://shop.example/hook"


def change_connection(deployment: Deployment, **fields: Any) -> None:
    """Change the connection behind the API's back."""
    before = deployment.store.connection(CONNECTION_ID)
    assert before
    deployment.store.commit(Put(before, replace(before, **fields).changed(before.updated_at)))


def test_a_waiting_request_has_its_reason_in_every_view(deployment: Deployment) -> None:
    request = deployment.queue()
    url = request["links"]["self"]

    assert request["waiting_reason"]["code"] == "never_connected"
    assert deployment.api.call("GET", url).json["data"]["waiting_reason"]["code"] == "never_connected"
    (item,) = deployment.api.call("GET", deployment.requests_url).json["data"]
    assert item["waiting_reason"]["code"] == "never_connected"
    change_connection(deployment, paused_at="2026-03-14T11:00:00.000000Z")
    reason = deployment.api.call("GET", url).json["data"]["waiting_reason"]
    assert reason == {
        "code": "paused",
        "message": "The connection was paused at 2026-03-14T11:00:00.000000Z.",
        "hint": f"To resume it: POST /api/v1/connections/{CONNECTION_ID}/resume.",
    }
    (item,) = deployment.api.call("GET", deployment.requests_url).json["data"]
    assert item["waiting_reason"] == reason
    assert deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}").json["data"]["waiting_reason"] == reason
    (connection,) = deployment.api.call("GET", "/api/v1/connections").json["data"]
    assert connection["waiting_reason"] == reason


def test_the_waiting_reason_of_a_new_request_is_at_most_a_minute_old(deployment: Deployment) -> None:
    """Within a minute, queueing costs one database call and does not read the connection."""
    assert deployment.queue()["waiting_reason"]["code"] == "never_connected"
    change_connection(deployment, last_connected_at="2026-03-14T11:59:00.000000Z")
    deployment.clock.advance(seconds=60)
    assert deployment.queue()["waiting_reason"]["code"] == "never_connected"

    deployment.clock.advance(seconds=1)

    assert deployment.queue()["waiting_reason"]["code"] == "next_session"


def test_a_record_says_how_many_requests_are_ahead(deployment: Deployment) -> None:
    change_connection(deployment, last_connected_at="2026-03-14T11:59:00.000000Z")
    records = []
    for _ in range(3):
        deployment.clock.advance(seconds=1)
        records.append(deployment.queue())

    reasons = [deployment.api.call("GET", record["links"]["self"]).json["data"]["waiting_reason"] for record in records]

    assert [reason["code"] for reason in reasons] == ["next_session", "requests_ahead", "requests_ahead"]
    assert reasons[2]["message"] == "2 requests are sent before it."


def test_a_list_a_connection_and_the_statistics_count_missed_calls_from_the_request_that_has_waited_longest(
    deployment: Deployment,
) -> None:
    """Calls without work are recorded every ten minutes. So only a request that waits shows that calls are missed."""
    called_at = "2026-03-14T12:00:00.000000Z"
    change_connection(deployment, last_connected_at=called_at)
    deployment.queue()
    deployment.clock.advance(seconds=300)
    deployment.queue()

    listed = deployment.api.call("GET", deployment.requests_url).json["data"]
    (health,) = deployment.api.call("GET", "/api/v1/statistics").json["data"]["connections"]
    connection = deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}").json["data"]

    assert [one["waiting_reason"]["code"] for one in listed] == ["not_seen", "not_seen"]
    assert (health["waiting_reason"]["code"], health["silent_since"]) == ("not_seen", called_at)
    assert connection["waiting_reason"] == health["waiting_reason"] == listed[0]["waiting_reason"]
    assert connection["next_session_at"] is None


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "", {"name": "Shop"}),
        ("POST", "/pause", None),
        ("POST", "/resume", None),
        ("POST", "/accept_company_file", None),
        ("POST", "/reset_company_file", None),
        ("POST", "/onboarding_url", {}),
    ],
)
@pytest.mark.parametrize("waits_for", [0, 60, 400])
def test_the_answer_to_a_change_of_a_connection_is_what_the_next_get_returns(
    deployment: Deployment, method: str, path: str, body: Any, waits_for: int
) -> None:
    """The console shows it until its next poll."""
    moved = {"code": "company_file_moved", "path": "C:\\new.qbw", "message": "It was moved."}
    fields = {"last_error": moved} if path == "/accept_company_file" else {}
    change_connection(deployment, last_connected_at="2026-03-14T12:00:00.000000Z", **fields)
    deployment.queue()
    deployment.clock.advance(seconds=waits_for)
    url = f"/api/v1/connections/{CONNECTION_ID}"

    answer = deployment.api.call(method, url + path, body).json["data"]

    then = deployment.api.call("GET", url).json["data"]
    assert {**answer, "links": None} == {**then, "links": None}
    missed = waits_for > 60 * 4 and path != "/pause"
    assert ((answer["waiting_reason"] or {}).get("code") == "not_seen") == missed


def test_an_ended_request_has_no_waiting_reason(deployment: Deployment) -> None:
    executed_request, discarded_request = deployment.queue(), deployment.queue()
    deployment.end(executed_request["id"])
    response = deployment.api.call("POST", f"/api/v1/queued_requests/{discarded_request['id']}/discard").json["data"]

    assert response["waiting_reason"] is None
    assert deployment.api.call("GET", executed_request["links"]["self"]).json["data"]["waiting_reason"] is None
    assert [item["waiting_reason"] for item in deployment.api.call("GET", deployment.requests_url).json["data"]] == [
        None,
        None,
    ]


def test_a_webhook_event_has_no_waiting_reason(deployment: Deployment) -> None:
    request = deployment.queue()
    deployment.end(request["id"])
    detail = deployment.store.request_detail(request["id"])
    assert isinstance(detail, RequestDetail)

    assert b"waiting_reason" not in event_body(detail.stored, "2026-03-14T12:00:00.000000Z")
