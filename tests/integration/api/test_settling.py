"""`POST /queued_requests/{id}/settle`, and the answer that the stream brings."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from adapters.dynamodb.records import record_item
from tests.support.api_client import load
from tests.support.builders import NOON
from tests.support.unknown_writes import add_unknown_write, end_query
from tests.support.webhooks import stream_image

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest
    from tests.integration.api.conftest import Deployment

VENDOR = "<VendorRet><ListID>8-1</ListID></VendorRet>"


def unknown_write(deployment: Deployment) -> str:
    return add_unknown_write(deployment.store, app_id=deployment.app_id).id


def logged(record: QueuedRequest) -> dict[str, Any]:
    """Let the stream bring a record that has ended. Return the answer of its consumer."""
    change = {
        "SequenceNumber": "1",
        "NewImage": stream_image(record_item(record)),
        "OldImage": {"state": {"S": "sent"}},
    }
    answer: dict[str, Any] = load("handlers.log_and_forget.handler")({"Records": [{"dynamodb": change}]}, None)
    return answer


def test_a_write_is_settled_by_the_answer_to_its_query(deployment: Deployment) -> None:
    write_id = unknown_write(deployment)

    first = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/settle")
    second = deployment.api.call("POST", f"{deployment.requests_url}/{write_id}/settle")

    assert (first.status, second.status) == (200, 200), first
    assert first.json["data"]["settling"] == second.json["data"]["settling"]
    query_id = first.json["data"]["settling"]["query_id"]
    assert first.json["data"]["settling"]["answered"] is False
    query = deployment.api.call("GET", f"/api/v1/queued_requests/{query_id}").json["data"]
    assert (query["request_name"], query["settles"]) == ("VendorQueryRq", write_id)

    assert logged(end_query(deployment.store, query_id, NOON + timedelta(hours=1), VENDOR)) == {"batchItemFailures": []}

    data = deployment.api.call("GET", f"/api/v1/queued_requests/{write_id}").json["data"]
    assert (data["state"], data["executed"]) == ("error", "no")
    assert data["settling"] == {"query_id": query_id, "answered": True}
    again = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/queue_again")
    assert again.status == 201


def test_a_failure_to_settle_a_write_holds_up_no_event(deployment: Deployment) -> None:
    write_id = unknown_write(deployment)
    answer = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/settle").json["data"]
    ended = end_query(deployment.store, answer["settling"]["query_id"], NOON, VENDOR)

    def fails(*_: object) -> None:
        raise ConnectionError

    deployment.services.settling.answered = fails  # type: ignore[method-assign,assignment]

    assert logged(ended) == {"batchItemFailures": []}
    feed = deployment.api.call("GET", "/api/v1/events")
    assert answer["settling"]["query_id"] in {event["id"] for event in feed.json["data"]}
    assert deployment.stored_record(write_id).settling.executed is None


def test_a_bulk_action_leaves_a_write_out_that_was_unknown_and_is_settled(deployment: Deployment) -> None:
    write_id = unknown_write(deployment)
    answer = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/settle").json["data"]
    logged(end_query(deployment.store, answer["settling"]["query_id"], NOON, VENDOR))
    assert deployment.stored_record(write_id).executed == "no"

    which = {"filter": {"state": "error"}}
    result = deployment.api.call("POST", f"{deployment.requests_url}/queue_again", which)

    assert result.json["data"] == {"queued": 0, "queued_before": 0, "left_out": 1}


def test_a_write_that_cannot_be_settled_is_refused(deployment: Deployment) -> None:
    request_id = deployment.queue()["id"]
    refused = deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/settle")
    assert (refused.status, refused.json["error"]["code"]) == (400, "invalid_state")

    of_stranger = deployment.stranger.call("POST", f"/api/v1/queued_requests/{unknown_write(deployment)}/settle")
    read_only = deployment.readonly.call("POST", f"/api/v1/queued_requests/{unknown_write(deployment)}/settle")
    assert (of_stranger.status, read_only.status) == (404, 403)
