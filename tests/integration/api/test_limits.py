"""The limits of an app, over HTTP: the response to a call over a limit, and that other apps are not affected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.queries import QUERIES
from domain.records.app import AppLimits
from handlers import operate
from tests.support.builders import CONNECTION_ID, REQUEST_XML

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment
    from tests.support.api_client import ApiClient
    from tests.support.api_response import ApiResponse


def set_limits(deployment: Deployment, **limits: int) -> None:
    """Change the limits of the first app as the operator does."""
    texts = {name: str(limit) for name, limit in limits.items()}
    result = operate.handler({"operation": "set_limits", "app_id": deployment.app_id, **texts}, None)
    assert limits.items() <= result["limits"].items()


def create(api: ApiClient, connection_id: str = CONNECTION_ID) -> ApiResponse:
    """Queue a request."""
    return api.call("POST", f"/api/v1/connections/{connection_id}/queued_requests", {"request_xml": REQUEST_XML})


def strangers_connection(deployment: Deployment) -> str:
    """Create a connection of the other app and return its id."""
    connection_id: str = deployment.stranger.call("POST", "/api/v1/connections").json["data"]["id"]
    return connection_id


def refusal(response: ApiResponse) -> tuple[int, str, Any, str]:
    """Return status, code, details and `Retry-After` of a refusal."""
    return response.status, response.code, response.json["error"]["details"], response.headers["Retry-After"]


def test_creates_over_the_rate_of_the_app_are_refused_until_the_next_second(deployment: Deployment) -> None:
    set_limits(deployment, creates_per_second=2)
    other = strangers_connection(deployment)

    statuses = [create(deployment.api).status for _ in range(2)]
    response = create(deployment.api)

    assert statuses == [201, 201]
    assert refusal(response) == (429, "quota_exceeded", {"limit": "creates_per_second", "value": 2}, "1")
    assert response.json["error"]["message"] == (
        "This app may queue 2 requests per second. The operator can change creates_per_second (set-limits)."
    )
    assert create(deployment.stranger, other).status == 201
    deployment.clock.advance(seconds=1)
    assert create(deployment.api).status == 201


@pytest.mark.parametrize("query", QUERIES)
def test_a_convenience_query_is_a_create(deployment: Deployment, query: str) -> None:
    set_limits(deployment, creates_per_second=1)
    url = f"/api/v1/connections/{CONNECTION_ID}/{query}"

    assert [deployment.api.call("GET", url).status for _ in range(2)] == [202, 429]


def test_an_app_cannot_queue_more_requests_than_may_wait(deployment: Deployment) -> None:
    set_limits(deployment, waiting=3)
    other = strangers_connection(deployment)
    ids = [create(deployment.api).json["data"]["id"] for _ in range(3)]

    response = create(deployment.api)

    assert refusal(response) == (429, "quota_exceeded", {"limit": "waiting", "value": 3}, "5")
    assert len(deployment.store.queue_front(CONNECTION_ID, 10)) == 3
    assert create(deployment.stranger, other).status == 201
    deployment.end(ids[0])
    deployment.clock.advance(seconds=5)
    assert [create(deployment.api).status for _ in range(2)] == [201, 429]


def test_an_app_cannot_create_more_connections_than_its_limit(deployment: Deployment) -> None:
    number = len(deployment.store.connection_ids_of(deployment.app_id))
    set_limits(deployment, connections=number + 1)

    first, second = (deployment.api.call("POST", "/api/v1/connections", {}) for _ in range(2))

    assert first.status == 201
    assert refusal(second) == (429, "quota_exceeded", {"limit": "connections", "value": number + 1}, "5")
    assert deployment.stranger.call("POST", "/api/v1/connections", {}).status == 201
    assert deployment.api.call("DELETE", f"/api/v1/connections/{first.json['data']['id']}").status == 204
    deployment.clock.advance(seconds=5)
    assert deployment.api.call("POST", "/api/v1/connections", {}).status == 201


def test_redeliveries_over_the_rate_of_the_app_are_refused_until_the_next_minute(deployment: Deployment) -> None:
    set_limits(deployment, redeliveries_per_minute=1)
    request_id = deployment.queue(webhook_url="https://example.com/hook")["id"]
    deployment.end(request_id)
    url = f"/api/v1/queued_requests/{request_id}/redeliver"

    first, second = (deployment.api.call("POST", url) for _ in range(2))
    deployment.clock.advance(minutes=1)

    assert first.status == 202
    assert refusal(second) == (429, "quota_exceeded", {"limit": "redeliveries_per_minute", "value": 1}, "60")
    assert deployment.api.call("POST", url).status == 202


def test_a_call_that_is_wrong_does_not_count(deployment: Deployment) -> None:
    set_limits(deployment, creates_per_second=1)

    wrong = [deployment.api.call("POST", deployment.requests_url, {"request_xml": "<QBXML/>"}) for _ in range(3)]

    assert {response.status for response in wrong} == {400}
    assert create(deployment.api).status == 201


def test_an_app_without_limits_of_its_own_has_the_defaults(deployment: Deployment) -> None:
    statuses = [create(deployment.api).status for _ in range(AppLimits().creates_per_second + 1)]

    assert (statuses.count(201), statuses.count(429)) == (AppLimits().creates_per_second, 1)


def test_limits_that_are_not_given_stay(deployment: Deployment) -> None:
    set_limits(deployment, waiting=3)
    set_limits(deployment, creates_per_second=7)

    app = deployment.store.app(deployment.app_id)
    assert app
    assert app.limits == AppLimits(creates_per_second=7, waiting=3)


@pytest.mark.parametrize("text", ["-1", "1.5", "many", "", "10000000001", "٣", "9" * 5000])
def test_a_limit_is_a_whole_number(deployment: Deployment, text: str) -> None:
    event = {"operation": "set_limits", "app_id": deployment.app_id, "waiting": text}

    message = operate.handler(event, None)["error"]["message"]

    assert message == "waiting: must be a whole number from 0 to 10,000,000,000"


LIST = f"/api/v1/connections/{CONNECTION_ID}/queued_requests"


@pytest.mark.parametrize("url", [LIST, f"/api/v1/connections/{CONNECTION_ID}", "/api/v1/connections", f"{LIST}?page=2"])
def test_reads_over_the_rate_of_the_app_are_refused_until_the_next_second(deployment: Deployment, url: str) -> None:
    set_limits(deployment, reads_per_second=2)

    statuses = [deployment.api.call("GET", url).status for _ in range(2)]
    response = deployment.api.call("GET", url)

    assert statuses == [200, 200]
    assert refusal(response) == (429, "quota_exceeded", {"limit": "reads_per_second", "value": 2}, "1")
    assert deployment.api.call("GET", "/api/v1/api_key").status == 200
    assert deployment.stranger.call("GET", "/api/v1/connections").status == 200
    deployment.clock.advance(seconds=1)
    assert deployment.api.call("GET", url).status == 200


@pytest.mark.parametrize(("limit", "value"), [("searches_per_minute", 0), ("search_seconds_per_minute", 19)])
@pytest.mark.parametrize("condition", ["search_phrase=ann", "sent_since=2026-03-14T00:00:00Z"])
def test_a_search_over_a_limit_is_refused_and_other_lists_are_not(
    deployment: Deployment, limit: str, value: int, condition: str
) -> None:
    set_limits(deployment, **{limit: value})

    response = deployment.api.call("GET", f"{LIST}?{condition}")

    assert refusal(response)[:3] == (429, "quota_exceeded", {"limit": limit, "value": value})
    assert deployment.api.call("GET", LIST).status == 200


def test_more_bytes_than_an_app_may_queue_are_refused_and_not_stored(deployment: Deployment) -> None:
    set_limits(deployment, written_bytes_per_minute=10)

    response = create(deployment.api)

    assert refusal(response)[:3] == (429, "quota_exceeded", {"limit": "written_bytes_per_minute", "value": 10})
    assert not deployment.store.queue_front(CONNECTION_ID, 10)
