"""The webhook of a subscription: set, shown, changed, removed and refused, through the functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.subscription import SubscriptionWebhook
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

URL = f"/api/v1/connections/{CONNECTION_ID}/subscriptions"
HOOK = "https://hooks.example.com/qb"
NOW = timestamp(NOON)


def webhook_of(view: dict[str, Any]) -> tuple[str | None, ...]:
    """Return what a subscription shows of its webhook."""
    return tuple(view[f"webhook_{name}"] for name in ("url", "error", "failed_at", "gave_up_at"))


def subscribe(deployment: Deployment, **settings: Any) -> dict[str, Any]:
    """Create a subscription."""
    view: dict[str, Any] = deployment.api.call("POST", URL, {"objects": ["Customer"], **settings}).json["data"]
    return view


def fail(deployment: Deployment, subscription_id: str) -> None:
    """Note that the service gave up a page."""
    before = deployment.store.subscription(CONNECTION_ID, subscription_id)
    assert before
    webhook = before.webhook.failed("The receiver returned HTTP 500.", NOW, gave_up=True)
    deployment.store.commit(Put(before, replace(before, webhook=webhook, revision=before.revision + 1)))


def test_a_subscription_shows_its_webhook_and_what_failed_there(deployment: Deployment) -> None:
    created = subscribe(deployment, webhook_url=HOOK)
    assert webhook_of(created) == (HOOK, None, None, None)

    fail(deployment, created["id"])

    shown = deployment.api.call("GET", f"{URL}/{created['id']}").json["data"]
    assert webhook_of(shown) == (HOOK, "The receiver returned HTTP 500.", NOW, NOW)
    assert shown["updated_at"] == created["updated_at"], "nobody has changed it"


@pytest.mark.parametrize("url", [HOOK, "https://other.example.com/", None])
def test_a_url_that_is_set_begins_without_failures(deployment: Deployment, url: str | None) -> None:
    created = subscribe(deployment, webhook_url=HOOK)
    fail(deployment, created["id"])

    changed = deployment.api.call("PATCH", f"{URL}/{created['id']}", {"webhook_url": url}).json["data"]

    assert webhook_of(changed) == (url, None, None, None)


def test_another_change_keeps_the_webhook_and_its_failures(deployment: Deployment) -> None:
    created = subscribe(deployment, webhook_url=HOOK)
    fail(deployment, created["id"])

    changed = deployment.api.call("PATCH", f"{URL}/{created['id']}", {"every_minutes": 30}).json["data"]

    assert webhook_of(changed)[:1] == (HOOK,)
    stored = deployment.store.subscription(CONNECTION_ID, created["id"])
    assert stored
    assert stored.webhook == SubscriptionWebhook(HOOK, "The receiver returned HTTP 500.", NOW, NOW)


@pytest.mark.parametrize(
    "url", ["http://hooks.example.com/", "https://127.0.0.1/", "https://10.0.0.1/", "https://a:81/"]
)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_url_that_is_not_allowed_is_refused(deployment: Deployment, method: str, url: str) -> None:
    path = URL if method == "POST" else f"{URL}/{subscribe(deployment)['id']}"

    response = deployment.api.call(method, path, {"objects": ["Customer"], "webhook_url": url})

    assert (response.status, response.json["error"]["code"]) == (400, "invalid_request")
    assert "webhook_url" in response.json["error"]["message"]
