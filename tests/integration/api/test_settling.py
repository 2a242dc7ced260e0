"""`POST /queued_requests/{id}/settle`, and the answer that the stream brings."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from adapters.dynamodb.records import event_mark, record_item
from domain.errors import TooManyRequests
from domain.records.webhook import Webhook, WebhookState
from local.event_filters import passes, patterns_of
from local.template import Template
from tests.integration.api.test_permissions import LongRun
from tests.support.api_client import load
from tests.support.builders import CONNECTION_ID, NOON
from tests.support.unknown_writes import add_unknown_write, end_query
from tests.support.webhooks import PlannedAttempts, stream_image

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest
    from domain.webhooks.ports import Planned
    from tests.integration.api.conftest import Deployment

WEBHOOK = Webhook(WebhookState.SUCCEEDED, "https://a.example/hook")
NO_FAILURES: dict[str, Any] = {"batchItemFailures": []}
SENT = {"state": {"S": "sent"}}
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


def test_a_write_that_ends_as_unknown_is_asked_about_by_the_service(deployment: Deployment) -> None:
    write_id = unknown_write(deployment)

    assert logged(deployment.stored_record(write_id)) == NO_FAILURES
    assert logged(deployment.stored_record(write_id)) == NO_FAILURES, "the stream repeats changes"

    record = deployment.api.call("GET", f"/api/v1/queued_requests/{write_id}").json["data"]
    assert record["settling"]["answered"] is False
    queries = deployment.api.call("GET", deployment.requests_url).json["data"]
    assert [one["id"] for one in queries if one["settles"] == write_id] == [record["settling"]["query_id"]]
    logged(end_query(deployment.store, record["settling"]["query_id"], NOON, VENDOR))
    assert deployment.stored_record(write_id).executed == "no"


def test_a_connection_can_switch_that_off(deployment: Deployment) -> None:
    deployment.api.call("PATCH", f"/api/v1/connections/{CONNECTION_ID}", {"settle": False})
    write_id = unknown_write(deployment)

    logged(deployment.stored_record(write_id))

    record = deployment.api.call("GET", f"/api/v1/queued_requests/{write_id}").json["data"]
    assert (record["executed"], record["settling"]) == ("unknown", None)
    asked = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/settle").json["data"]
    assert asked["settling"]["answered"] is False


def test_a_failure_to_ask_holds_up_no_event_and_the_sweep_asks(deployment: Deployment) -> None:
    """The stream would repeat the batch, and everything behind it would wait."""
    write_id = unknown_write(deployment)
    proceed = deployment.services.settling.proceed
    for error in (ConnectionError, TooManyRequests("many wait")):

        def fails(_: str, error: Exception | type[Exception] = error) -> None:
            raise error

        deployment.services.settling.proceed = fails  # type: ignore[method-assign,assignment]
        assert logged(deployment.stored_record(write_id)) == NO_FAILURES
    deployment.services.settling.proceed = proceed  # type: ignore[method-assign]
    feed = deployment.api.call("GET", "/api/v1/events")
    assert write_id in {event["id"] for event in feed.json["data"]}

    deployment.services.retry_queue = PlannedAttempts([])
    load("handlers.sweep.handler")({}, LongRun())

    assert deployment.stored_record(write_id).settling_query_id


def test_a_call_does_not_settle_writes_for_long(deployment: Deployment) -> None:
    """The events behind it would wait, and Lambda would end the call after a minute."""
    writes = [add_unknown_write(deployment.store, app_id=deployment.app_id) for _ in range(3)]
    asked: list[str] = []

    def proceed(write_id: str) -> None:
        asked.append(write_id)
        deployment.clock.advance(seconds=10)

    deployment.services.settling.proceed = proceed  # type: ignore[method-assign]
    changes = [{"SequenceNumber": str(n), "NewImage": stream_image(record_item(one))} for n, one in enumerate(writes)]
    answer = load("handlers.log_and_forget.handler")({"Records": [{"dynamodb": one} for one in changes]}, None)

    assert (answer, asked) == (NO_FAILURES, [write.id for write in writes[:2]])


def settled(deployment: Deployment, webhook: Webhook = WEBHOOK) -> list[dict[str, Any]]:
    """Let an answer settle a write, and return the stream records of that change."""
    write_id = add_unknown_write(deployment.store, app_id=deployment.app_id, webhook=webhook).id
    answer = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/settle").json["data"]
    before = deployment.stored_record(write_id)
    logged(end_query(deployment.store, answer["settling"]["query_id"], NOON, VENDOR))
    images = change_images(before, deployment.stored_record(write_id))
    (function,) = (one for one in Template.load().functions() if one.handler == "handlers.log_and_forget.handler")
    patterns = patterns_of(function.properties["Events"]["EndedOrExpired"]["Properties"])
    changes = [{"eventName": "MODIFY", "dynamodb": {"SequenceNumber": "7", **images}}]
    return [change for change in changes if passes(change, patterns)]


def change_images(before: QueuedRequest, after: QueuedRequest) -> dict[str, Any]:
    """Return the images of a change in the stream."""
    item = record_item(after) | event_mark(before, after)
    return {"OldImage": stream_image(record_item(before)), "NewImage": stream_image(item)}


def of_type_resolved(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the events of settled writes in the feed."""
    events = deployment.api.call("GET", "/api/v1/events").json["data"]
    return [event for event in events if event["type"] == "queued_request.resolved"]


def consume(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Pass records of the stream to its consumer."""
    answer: dict[str, Any] = load("handlers.log_and_forget.handler")({"Records": records}, None)
    return answer


def test_a_settled_write_is_in_the_feed_once_and_its_webhook_is_planned(deployment: Deployment) -> None:
    deployment.services.retry_queue = queue = PlannedAttempts([])
    changes = settled(deployment)

    assert (consume(changes), consume(changes)) == (NO_FAILURES, NO_FAILURES)

    (event,) = of_type_resolved(deployment)
    assert (event["state"], event["executed"]) == ("failed", "no")
    first, second = queue.resolutions
    assert (first.request_id, first.id) == (second.request_id, second.id)
    assert first.request_id == event["page_request_id"]


def test_a_settled_write_without_a_webhook_is_only_in_the_feed(deployment: Deployment) -> None:
    deployment.services.retry_queue = queue = PlannedAttempts([])
    consume(settled(deployment, Webhook()))

    assert len(of_type_resolved(deployment)) == 1
    assert queue.resolutions == []


def test_a_webhook_that_cannot_be_planned_is_planned_later_and_no_event_is_repeated(deployment: Deployment) -> None:
    """Lambda repeats the batch from the failure on."""

    class NoSqs(PlannedAttempts):
        def plan(self, attempt: Planned) -> None:
            raise ConnectionError(f"SQS does not respond: {attempt}")

    deployment.services.retry_queue = NoSqs([])
    changes = settled(deployment)
    request = deployment.queue()
    deployment.end(request["id"])
    after = stream_image(record_item(deployment.stored_record(request["id"])))
    earlier, later = (
        {"eventName": "MODIFY", "dynamodb": {"SequenceNumber": number, "NewImage": after, "OldImage": SENT}}
        for number in ("6", "8")
    )

    failed = [consume([earlier, *changes, later]) for _ in range(3)]

    assert failed == [{"batchItemFailures": [{"itemIdentifier": "7"}]}] * 3
    assert of_type_resolved(deployment) == []
    deployment.services.retry_queue = queue = PlannedAttempts([])
    assert consume([*changes, later]) == NO_FAILURES
    assert (len(of_type_resolved(deployment)), len(queue.resolutions)) == (1, 1)


def test_a_failure_to_settle_a_write_holds_up_no_event(deployment: Deployment) -> None:
    write_id = unknown_write(deployment)
    answer = deployment.api.call("POST", f"/api/v1/queued_requests/{write_id}/settle").json["data"]
    ended = end_query(deployment.store, answer["settling"]["query_id"], NOON, VENDOR)

    def fails(*_: object) -> None:
        raise ConnectionError

    deployment.services.settling.proceed = fails  # type: ignore[method-assign,assignment]

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
