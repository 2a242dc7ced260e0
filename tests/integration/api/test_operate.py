"""The operator's function, and the authorizer that accepts its keys."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import Unauthorized
from domain.records.app import AppLimits, api_key_hash
from domain.records.audit import public_id
from domain.records.request import State
from domain.records.webhook import ListedWebhookState
from domain.storage.changes import Put
from domain.storage.counts import INSERTED, CountKey
from handlers import authorizer, operate
from tests.support.api_client import ApiClient, basic
from tests.support.builders import CONNECTION_ID
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

ARN = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/live/GET/api/v1/connections"


def do(operation: str, **arguments: Any) -> dict[str, Any]:
    """Call the operator's function."""
    return operate.handler({"operation": operation, **arguments}, None)


def authorize(token: str) -> dict[str, Any]:
    """Ask the authorizer."""
    return authorizer.handler({"type": "TOKEN", "authorizationToken": token, "methodArn": ARN}, None)


@pytest.mark.usefixtures("deployment")
def test_an_app_and_its_keys_are_created_shown_once_and_revoked() -> None:
    app = do("create_app", name="Warehouse")
    key = do("create_key", app_id=app["app_id"])
    keys = do("list_keys", app_id=app["app_id"])
    first = ApiClient(key["api_key"]).call("GET", "/api/v1/connections")
    revoked_key = do("revoke_key", key_hash=key["key_hash"])
    second = ApiClient(key["api_key"]).call("GET", "/api/v1/connections")

    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", app["webhook_secret"])
    assert re.fullmatch(r"sk_[A-Za-z0-9_-]{43}", key["api_key"])
    assert keys["keys"] == [{name: value for name, value in key.items() if name != "api_key"}]
    assert (first.status, second.status) == (200, 401)
    assert revoked_key["revoked_at"]
    assert do("revoke_key", key_hash=key["key_hash"]) == revoked_key


def test_an_app_without_connections_is_deleted_with_its_keys(deployment: Deployment) -> None:
    app = do("create_app", name="Warehouse")
    key = do("create_key", app_id=app["app_id"])

    assert do("delete_app", app_id=app["app_id"]) == {"app_id": app["app_id"], "deleted": True}

    assert ApiClient(key["api_key"]).call("GET", "/api/v1/connections").status == 401
    assert deployment.store.api_key(key["key_hash"]) is None
    assert app["app_id"] not in [listed["app_id"] for listed in do("list_apps")["apps"]]
    assert do("delete_app", app_id=app["app_id"])["error"]["code"] == "not_found"


@pytest.mark.usefixtures("deployment")
def test_an_app_with_a_connection_is_kept_until_the_connection_is_deleted() -> None:
    app = do("create_app", name="Warehouse")
    client = ApiClient(do("create_key", app_id=app["app_id"])["api_key"])
    connection_id = client.call("POST", "/api/v1/connections", {"name": "Books"}).json["data"]["id"]

    error = do("delete_app", app_id=app["app_id"])["error"]

    assert error["code"] == "invalid_request"
    assert "has 1 connection" in error["message"]
    assert client.call("GET", "/api/v1/connections").status == 200
    assert client.call("DELETE", f"/api/v1/connections/{connection_id}").status == 204
    assert do("delete_app", app_id=app["app_id"])["deleted"]


def test_a_key_whose_app_was_deleted_is_refused(deployment: Deployment) -> None:
    """The index of keys lags: a key that was just created may outlive its app."""
    app = do("create_app", name="Warehouse")
    key = do("create_key", app_id=app["app_id"])
    stored_key = deployment.store.api_key(key["key_hash"])
    assert stored_key
    do("delete_app", app_id=app["app_id"])
    deployment.store.commit(Put(None, stored_key))

    assert ApiClient(key["api_key"]).call("GET", "/api/v1/connections").status == 401


def test_two_webhook_secrets_are_active_while_rotating(deployment: Deployment) -> None:
    app = do("create_app", name="Warehouse")
    second = do("rotate_webhook_secret", app_id=app["app_id"])["webhook_secret"]
    app_after_first = deployment.store.app(app["app_id"])
    third = do("rotate_webhook_secret", app_id=app["app_id"])["webhook_secret"]
    app_after_second = deployment.store.app(app["app_id"])
    do("retire_old_webhook_secrets", app_id=app["app_id"])
    app_after_retirement = deployment.store.app(app["app_id"])

    assert app_after_first
    assert app_after_second
    assert app_after_retirement
    assert app_after_first.webhook_secrets == (second, app["webhook_secret"])
    assert app_after_second.webhook_secrets == (third, second)
    assert app_after_retirement.webhook_secrets == (third,)


@pytest.mark.usefixtures("deployment")
@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({}, "operation"),
        ({"operation": "drop_tables"}, "operation"),
        ({"operation": ["create_app"]}, "operation"),
        ({"operation": "create_app"}, "name"),
        ({"operation": "create_app", "name": ""}, "name"),
        ({"operation": "create_app", "name": 5}, "name"),
        ({"operation": "create_app", "name": "x", "colour": "red"}, "colour"),
        ({"operation": "create_key", "app_id": "x", "scope": "admin"}, "scope"),
        ({"operation": "recount_connection", "connection_id": "x", "mend": "perhaps"}, "mend"),
        ({"operation": "overdue_webhooks", "send": "perhaps"}, "send"),
    ],
)
def test_a_wrong_command_is_refused_with_the_reason(event: dict[str, Any], field: str) -> None:
    error = operate.handler(event, None)["error"]

    assert error["code"] == "invalid_request"
    assert error["details"]["problems"][0]["field"] == field


@pytest.mark.usefixtures("deployment")
@pytest.mark.parametrize(
    "operation",
    [
        "create_key",
        "delete_app",
        "list_connections",
        "list_keys",
        "retire_old_webhook_secrets",
        "rotate_webhook_secret",
        "set_contact",
        "set_limits",
        "show_app",
    ],
)
def test_an_unknown_app_is_not_found(operation: str) -> None:
    assert do(operation, app_id="nobody")["error"]["code"] == "not_found"


@pytest.mark.usefixtures("deployment")
def test_an_unknown_key_is_not_found() -> None:
    assert do("revoke_key", key_hash="00")["error"]["code"] == "not_found"


def test_overdue_webhooks_are_listed_and_sent(deployment: Deployment) -> None:
    deployment.services.retry_queue = queue = PlannedAttempts([])
    ended = deployment.queue(webhook_url="https://shop.example/hook")
    deployment.end(ended["id"])
    assert do("overdue_webhooks") == {"webhooks": [], "complete": True}
    deployment.clock.advance(minutes=61)

    listed = do("overdue_webhooks")
    assert queue.attempts == []
    sent = do("overdue_webhooks", send="yes")

    (webhook,) = listed["webhooks"]
    assert (webhook["request_id"], webhook["connection_id"], webhook["attempts"]) == (ended["id"], CONNECTION_ID, 0)
    assert not webhook["planned"]
    assert [webhook["planned"] for webhook in sent["webhooks"]] == [True]
    assert [attempt.request_id for attempt in queue.attempts] == [ended["id"]]
    assert do("overdue_webhooks", send="yes") == {"webhooks": [], "complete": True}


def test_a_connection_is_recounted_and_mended(deployment: Deployment) -> None:
    connection_id = CONNECTION_ID
    wrong = CountKey(connection_id, "2026-03-14", INSERTED, State.ERROR, ListedWebhookState.FAILED)
    deployment.store.add_to_counts({wrong: 2})

    report = do("recount_connection", connection_id=connection_id)
    mended_report = do("recount_connection", connection_id=connection_id, mend="yes")

    differences = [
        {"day": "2026-03-14", "by": "inserted_at", "state": "error", "webhook_state": "failed", "short_by": -2}
    ]
    assert report == {"connection_id": connection_id, "differences": differences, "mended": False}
    assert mended_report == report | {"mended": True}
    assert do("recount_connection", connection_id=connection_id)["differences"] == []
    assert do("recount_connection", connection_id="nobody")["error"]["code"] == "not_found"


def test_the_policy_covers_every_path_so_that_it_can_be_cached(deployment: Deployment) -> None:
    response = authorize(basic(deployment.api.key or ""))

    key_id = public_id("key", api_key_hash(deployment.api.key or ""))
    assert response == {
        "principalId": deployment.app_id,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Action": "execute-api:Invoke",
                    "Effect": "Allow",
                    "Resource": "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/live/*",
                }
            ],
        },
        "context": {
            "app_id": deployment.app_id,
            "scope": "full",
            "key_id": key_id,
            "key_family": key_id,
            "environment": "production",
            **asdict(AppLimits()),
        },
    }


@pytest.mark.usefixtures("deployment")
def test_a_refusal_has_the_one_message_to_which_the_gateway_responds_with_401() -> None:
    with pytest.raises(Unauthorized, match=r"^Unauthorized$"):
        authorize("Basic nonsense")


def test_a_refused_key_is_logged_without_the_key(deployment: Deployment, caplog: pytest.LogCaptureFixture) -> None:
    key = do("create_key", app_id=deployment.app_id)
    do("revoke_key", key_hash=key["key_hash"])

    for credential in ("Basic nonsense", basic("sk_unknown"), basic(key["api_key"])):
        with pytest.raises(Unauthorized):
            authorize(credential)

    refusals = [vars(record) for record in caplog.records if record.message == "api_key.refused"]
    assert [refusal["reason"] for refusal in refusals] == ["malformed", "unknown", "revoked"]
    assert (refusals[2]["key_hash"], refusals[2]["app_id"]) == (key["key_hash"], deployment.app_id)
    assert key["api_key"] not in str(refusals)
    assert "sk_unknown" not in str(refusals)


@pytest.mark.usefixtures("deployment")
def test_every_command_is_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    app = do("create_app", name="Warehouse")
    key = do("create_key", app_id=app["app_id"])
    do("revoke_key", key_hash=key["api_key"])
    do("revoke_key", key_hash=key["key_hash"])
    do("set_limits", app_id=app["app_id"], waiting="10")
    do("unknown", app_id=app["app_id"])

    commands = [vars(record) for record in caplog.records if record.message == "operator.command"]
    assert [(command["command"], command["result"]) for command in commands] == [
        ("create_app", "done"),
        ("create_key", "done"),
        ("revoke_key", "not_found"),
        ("revoke_key", "done"),
        ("set_limits", "done"),
        ("unknown", "invalid_request"),
    ]
    assert commands[1]["app_id"] == app["app_id"]
    assert commands[3]["key_hash"] == key["key_hash"]
    assert commands[4]["waiting"] == "10"
    assert app["webhook_secret"] not in str(commands)
    assert key["api_key"] not in str(commands)


def test_apps_are_listed_with_their_limits_and_without_secrets(deployment: Deployment) -> None:
    apps = do("list_apps")["apps"]

    assert [app["name"] for app in apps] == ["Shop", "Somebody else"]
    assert apps[0] == {
        "app_id": deployment.app_id,
        "name": "Shop",
        "environment": "production",
        "inserted_at": "2026-03-14T12:00:00.000000Z",
        "limits": {
            "creates_per_second": 100,
            "waiting": 100_000,
            "redeliveries_per_minute": 300,
            "written_bytes_per_minute": 60_000_000,
            "reads_per_second": 50,
            "searches_per_minute": 60,
            "search_seconds_per_minute": 240,
            "connections": 10_000,
        },
        "contact": {"name": None, "logo_url": None, "phone": None, "email": None},
    }


def test_the_contact_of_an_app_is_changed_field_by_field(deployment: Deployment) -> None:
    do("set_contact", app_id=deployment.app_id, name="Bluewater Books", phone="+1 555 010 0199")
    changed = do("set_contact", app_id=deployment.app_id, phone="", email="help@bluewater.example")

    contact = {"name": "Bluewater Books", "logo_url": None, "phone": None, "email": "help@bluewater.example"}
    assert changed["contact"] == contact
    assert do("show_app", app_id=deployment.app_id)["contact"] == contact
    refused = do("set_contact", app_id=deployment.app_id, logo_url="http://bluewater.example/logo.png")
    assert refused["error"]["code"] == "invalid_request"
    assert do("show_app", app_id=deployment.app_id)["contact"] == contact


def test_an_app_is_shown_with_its_keys_and_the_number_of_its_connections(deployment: Deployment) -> None:
    do("rotate_webhook_secret", app_id=deployment.app_id)

    app = do("show_app", app_id=deployment.app_id)

    assert app == {
        **do("list_apps")["apps"][0],
        "active_webhook_secrets": 2,
        "connections": 1,
        "keys": do("list_keys", app_id=deployment.app_id)["keys"],
    }
    assert "whsec_" not in str(app)


def test_only_the_connections_of_the_app_are_listed(deployment: Deployment) -> None:
    deployment.stranger.call("POST", "/api/v1/connections")

    assert do("list_connections", app_id=deployment.app_id) == {
        "total": 1,
        "connections": [
            {
                "connection_id": CONNECTION_ID,
                "name": None,
                "status": "never_connected",
                "last_connected_at": None,
                "inserted_at": "2026-03-14T12:00:00.000000Z",
            }
        ],
    }
