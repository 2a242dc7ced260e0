"""`POST /connections/{id}/test_webhook`: a signed event is sent once, and the receiver's answer is returned."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from adapters.webhook_http import WebhookHttp
from domain.storage.changes import Put
from domain.webhooks.addresses import UrlRules
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from local.gateway import Request
from local.receiver import verified_schemes
from tests.integration.api.test_limits import refusal, set_limits
from tests.support.builders import CONNECTION_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.api.conftest import Deployment

URL = f"/api/v1/connections/{CONNECTION_ID}/test_webhook"
HOOK = "https://shop.example/hooks"


@dataclass
class Receiver:
    """Answers every webhook in the same way."""

    answer: HttpResponse | DeliveryFailed
    received: list[tuple[str, Mapping[str, str], bytes, float]] = field(default_factory=list)

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Note the event and answer."""
        self.received.append((url, headers, body, timeout_seconds))
        if isinstance(self.answer, DeliveryFailed):
            raise self.answer
        return self.answer


def secrets_of(deployment: Deployment) -> tuple[str, ...]:
    """Return the webhook secrets of the app."""
    app = deployment.store.app(deployment.app_id)
    assert app
    return app.webhook_secrets


def test_a_test_event_is_signed_like_every_event(deployment: Deployment) -> None:
    deployment.services.webhook_sender = receiver = Receiver(HttpResponse(204, ""))

    response = deployment.api.call("POST", URL, {"webhook_url": HOOK})

    ((url, headers, body, seconds),) = receiver.received
    event = json.loads(body)
    assert response.status == 200
    assert (url, seconds, event["type"], event["connection_id"]) == (HOOK, 10.0, "webhook.test", CONNECTION_ID)
    assert headers["webhook-id"] == event["id"]
    request = Request("POST", "/hooks", list(headers.items()), body)
    assert verified_schemes(request, secrets_of(deployment)[0]) == {"standard", "qube"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (HttpResponse(200, "ok"), (True, 200, "ok", None)),
        (HttpResponse(500, "broken"), (False, 500, "broken", "The receiver returned HTTP 500.")),
        (
            HttpResponse(302, ""),
            (False, 302, "", "The receiver returned HTTP 302: redirects are not followed."),
        ),
        (
            DeliveryFailed("shop.example could not be reached."),
            (False, None, None, "shop.example could not be reached."),
        ),
    ],
)
def test_the_answer_of_the_receiver_is_returned(
    deployment: Deployment, answer: HttpResponse | DeliveryFailed, expected: tuple[Any, ...]
) -> None:
    deployment.services.webhook_sender = Receiver(answer)

    data = deployment.api.call("POST", URL, {"webhook_url": HOOK}).json["data"]

    assert (data["delivered"], data["status_code"], data["response"], data["error"]) == expected


def test_without_a_url_that_of_the_connection_is_tested(deployment: Deployment) -> None:
    deployment.services.webhook_sender = receiver = Receiver(HttpResponse(200, ""))

    missing = deployment.api.call("POST", URL, {})
    connection = deployment.store.connection(CONNECTION_ID)
    assert connection
    deployment.store.commit(Put(connection, replace(connection, webhook_url=HOOK).changed(connection.updated_at)))
    found = deployment.api.call("POST", URL, {})

    assert (missing.status, missing.problem["field"]) == (400, "webhook_url")
    assert found.json["data"]["delivered"]
    assert [url for url, *_ in receiver.received] == [HOOK]


@pytest.mark.parametrize("url", ["http://shop.example/", "https://10.0.0.1/", "https://169.254.169.254/", "x", ""])
def test_a_url_that_is_not_allowed_is_refused_and_nothing_is_sent(deployment: Deployment, url: str) -> None:
    deployment.services.webhook_sender = receiver = Receiver(HttpResponse(200, ""))

    response = deployment.api.call("POST", URL, {"webhook_url": url})

    assert (response.status, response.problem["field"]) == (400, "webhook_url")
    assert receiver.received == []


def test_a_name_that_resolves_to_a_private_address_gets_no_call(deployment: Deployment) -> None:
    deployment.services.webhook_sender = WebhookHttp(UrlRules(), resolve=lambda _host, _port: ["10.0.0.1"])

    data = deployment.api.call("POST", URL, {"webhook_url": HOOK}).json["data"]

    assert (data["delivered"], data["status_code"]) == (False, None)
    assert data["error"] == "shop.example resolves to 10.0.0.1, which is not public."


def test_tests_count_towards_the_redeliveries_of_the_app(deployment: Deployment) -> None:
    set_limits(deployment, redeliveries_per_minute=20)
    deployment.services.webhook_sender = receiver = Receiver(HttpResponse(200, ""))

    responses = [deployment.api.call("POST", URL, {"webhook_url": HOOK}) for _ in range(3)]

    assert [response.status for response in responses] == [200, 200, 429]
    assert refusal(responses[2])[1] == "quota_exceeded"
    assert len(receiver.received) == 2


def test_other_callers_cannot_test(deployment: Deployment) -> None:
    deployment.services.webhook_sender = receiver = Receiver(HttpResponse(200, ""))

    statuses = [
        client.call("POST", URL, {"webhook_url": HOOK}).status for client in (deployment.readonly, deployment.stranger)
    ]

    assert statuses == [403, 404]
    assert receiver.received == []


def test_an_app_without_a_secret_cannot_test(deployment: Deployment) -> None:
    app = deployment.store.app(deployment.app_id)
    assert app
    deployment.store.apps[app.id] = type(app)(app.id, app.name, app.inserted_at)

    response = deployment.api.call("POST", URL, {"webhook_url": HOOK})

    assert (response.status, response.code) == (400, "invalid_state")
