"""The contact of an app: read by each of its keys, changed by those with full scope, with the rules of the command."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from domain.apps.contacts import MAX_EMAIL_CHARACTERS, MAX_NAME_CHARACTERS, MAX_PHONE_CHARACTERS
from handlers.operate import handler as operate
from tests.integration.api.test_events import LambdaContext
from tests.support.api_client import api_event, load

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

PATH = "/api/v1/contact"
NOTHING = {"name": None, "logo_url": None, "phone": None, "email": None}
EVERYTHING = {
    "name": "Books & Söhne",
    "logo_url": "https://bluewater.example/logo.png",
    "phone": "+1 555 010 0199",
    "email": "help@bluewater.example",
}
WRONG = {"name": " ", "logo_url": "http://bluewater.example/logo.png", "phone": "call me", "email": "help"}
LONGEST = {
    "name": "x" * MAX_NAME_CHARACTERS,
    "phone": "5" * MAX_PHONE_CHARACTERS,
    "email": f"{'a' * 64}@{'b' * 186}.{'c' * 63}",
}


def contact_entries(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the entries of changes of the contact, newest first."""
    entries: list[dict[str, Any]] = deployment.readonly.call("GET", "/api/v1/audit_log").json["data"]
    return [entry for entry in entries if entry["action"] == "contact_changed"]


def test_a_contact_is_changed_field_by_field_and_customers_see_it(deployment: Deployment) -> None:
    assert deployment.readonly.call("GET", PATH).json == {"data": NOTHING}

    assert deployment.api.call("PATCH", PATH, EVERYTHING).json == {"data": EVERYTHING}
    assert deployment.api.call("PATCH", PATH, {"phone": None, "email": ""}).status == 200

    left = {**EVERYTHING, "phone": None, "email": None}
    assert deployment.readonly.call("GET", PATH).json == {"data": left}
    assert asdict(deployment.administration.app(deployment.app_id).contact) == left
    assert deployment.stranger.call("GET", PATH).json == {"data": NOTHING}


def test_a_change_is_in_the_audit_log_with_the_key_and_the_names_of_the_fields(deployment: Deployment) -> None:
    key_id = deployment.api.call("GET", "/api/v1/api_key").json["data"]["key_id"]
    deployment.api.call("PATCH", PATH, {"phone": "+1 555 010 0199", "name": "Bluewater Books"})

    (entry,) = contact_entries(deployment)

    assert entry["actor"] == {"type": "api_key", "id": key_id, "name": None}
    assert entry["settings"] == ["name", "phone"]
    assert "Bluewater" not in str(entry)


@pytest.mark.parametrize("body", [{}, {"name": None}, {"email": ""}])
def test_a_call_that_changes_nothing_has_no_entry(deployment: Deployment, body: dict[str, Any]) -> None:
    assert deployment.api.call("PATCH", PATH, body).json == {"data": NOTHING}

    assert contact_entries(deployment) == []


def test_each_wrong_field_is_named_and_nothing_is_changed(deployment: Deployment) -> None:
    response = deployment.api.call("PATCH", PATH, WRONG)

    assert response.status == 400
    assert [problem["field"] for problem in response.json["error"]["details"]["problems"]] == list(WRONG)
    right = deployment.api.call("PATCH", PATH, {**EVERYTHING, "phone": "call me"})
    assert [problem["field"] for problem in right.json["error"]["details"]["problems"]] == ["phone"]
    assert deployment.api.call("GET", PATH).json == {"data": NOTHING}
    assert contact_entries(deployment) == []


@pytest.mark.parametrize("field", WRONG)
def test_the_call_and_the_command_refuse_with_the_same_words(deployment: Deployment, field: str) -> None:
    call = deployment.api.call("PATCH", PATH, {field: WRONG[field]})
    command = operate({"operation": "set_contact", "app_id": deployment.app_id, field: WRONG[field]}, None)

    assert call.json["error"]["details"] == command["error"]["details"]


@pytest.mark.parametrize("field", LONGEST)
def test_the_documented_lengths_are_the_longest_that_are_accepted(deployment: Deployment, field: str) -> None:
    longest = LONGEST[field]
    assert len(LONGEST["email"]) == MAX_EMAIL_CHARACTERS

    assert deployment.api.call("PATCH", PATH, {field: longest}).json["data"][field] == longest
    assert deployment.api.call("PATCH", PATH, {field: longest[0] + longest}).status == 400


@pytest.mark.parametrize(
    ("body", "field"), [({"phone": 5550100199}, "phone"), ({"phon": "+1 555 010 0199"}, "phon"), ({"id": "x"}, "id")]
)
def test_a_wrong_type_and_an_unknown_field_are_refused(
    deployment: Deployment, body: dict[str, Any], field: str
) -> None:
    response = deployment.api.call("PATCH", PATH, body)

    assert response.status == 400
    assert response.json["error"]["details"]["problems"][0]["field"] == field


def test_a_read_only_key_cannot_change_the_contact(deployment: Deployment) -> None:
    response = deployment.readonly.call("PATCH", PATH, EVERYTHING)

    assert (response.status, response.json["error"]["code"]) == (403, "forbidden")
    assert deployment.readonly.call("GET", PATH).json == {"data": NOTHING}


def test_the_webhook_secrets_and_the_limits_of_the_app_stay(deployment: Deployment) -> None:
    before = deployment.administration.app(deployment.app_id)

    deployment.api.call("PATCH", PATH, EVERYTHING)

    after = deployment.administration.app(deployment.app_id)
    assert (after.webhook_secrets, after.limits, after.name) == (before.webhook_secrets, before.limits, before.name)
    assert after.revision == before.revision + 1


@pytest.mark.parametrize(("method", "function"), [("GET", "get_contact"), ("PATCH", "update_contact")])
def test_a_cached_key_of_a_deleted_app_gets_404(deployment: Deployment, method: str, function: str) -> None:
    caller = {"app_id": deployment.app_id, "scope": "full", "key_id": "key_0"}
    body = json.dumps(EVERYTHING) if method == "PATCH" else None
    event = api_event(method, PATH, body=body, headers={"Content-Type": "application/json"}, authorizer=caller)
    del deployment.store.apps[deployment.app_id]

    response = load(f"handlers.{function}.handler")(event, LambdaContext())

    assert (response["statusCode"], json.loads(response["body"])["error"]["code"]) == (404, "not_found")
