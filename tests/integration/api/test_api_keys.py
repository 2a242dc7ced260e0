"""The API keys of an app over HTTP: for people who are admins, compared with a model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.apps import api_keys
from domain.records.app import Scope
from domain.records.permissions import Role
from domain.records.person import Membership
from domain.storage.changes import Put
from domain.timestamps import timestamp
from handlers.common.bootstrap import services
from tests.integration.api.conftest import Deployment, make_deployment
from tests.support.api_client import ApiClient, api_event, load, routes
from tests.support.builders import NOON
from tests.support.fake_store import FakeStore
from tests.support.openapi import check_response
from tests.support.services import using

if TYPE_CHECKING:
    from datetime import datetime

KEYS = "/api/v1/api_keys"
PERSON_ID = "d0000000-0000-4000-8000-000000000001"
NOBODYS_ID = "key_ffffffffffffffff"
CALLS = [
    ("GET", KEYS, None),
    ("POST", KEYS, {"name": "Sync", "scope": "full"}),
    ("PATCH", f"{KEYS}/{NOBODYS_ID}", {"name": "Sync"}),
    ("POST", f"{KEYS}/{NOBODYS_ID}/rotate", {}),
    ("DELETE", f"{KEYS}/{NOBODYS_ID}", None),
]


def call(app_id: str, method: str, path: str, body: Any = None, role: Role = Role.ADMIN) -> tuple[int, Any]:
    """Make a call as a person. Return the status and the JSON."""
    route = next(one for one in routes() if one.method == method and one.parameters(path) is not None)
    caller = {"app_id": app_id, "role": role, "person_id": PERSON_ID}
    store = services().store
    if not store.membership(PERSON_ID, app_id):
        store.commit(Put(None, Membership(PERSON_ID, app_id, Role.ADMIN, timestamp(NOON))))
    headers = {"content-type": "application/json"} if body is not None else {}
    text = None if body is None else json.dumps(body)
    response = load(route.handler)(api_event(method, path, body=text, headers=headers, authorizer=caller), None)
    check_response(method, route.path, response["statusCode"], "application/json", response["body"])
    return response["statusCode"], json.loads(response["body"])


def test_no_key_of_any_scope_and_no_other_role_manages_keys(deployment: Deployment) -> None:
    before = deployment.administration.keys(deployment.app_id)
    clients = [ApiClient(deployment.administration.create_key(deployment.app_id, scope).text) for scope in Scope]
    for method, path, body in CALLS:
        for client in clients:
            assert client.call(method, path, body).status == 403
        for role in set(Role) - {Role.ADMIN}:
            assert call(deployment.app_id, method, path, body, role)[0] == 403
    assert len(deployment.administration.keys(deployment.app_id)) == len(before) + len(clients)


@dataclass
class Known:
    """What the model knows of a key."""

    key_id: str
    text: str
    name: str
    scope: str
    family: str
    expires_at: datetime | None
    is_revoked: bool = False

    def is_active(self, now: datetime) -> bool:
        """Whether the key works."""
        return not self.is_revoked and (self.expires_at is None or now < self.expires_at)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "rename", "rotate", "rotate", "revoke", "wait"]),
        st.integers(0, 20),
        st.sampled_from([None, 1, 3]),
        st.sampled_from([*Scope]),
    ),
    max_size=25,
)
"""What is done, to which key, the hours after which a new key expires, and its scope."""


class Model:
    """The keys of an app, as the calls should leave them."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self.app_id = deployment.administration.create_app("Warehouse").id
        self.keys: list[Known] = []

    @property
    def now(self) -> datetime:
        """The time of the service."""
        return self._deployment.clock()

    def do(self, step: str, place: int, hours: int | None, scope: Scope) -> None:
        """Make a call, and do the same to the model."""
        key = self.keys[place % len(self.keys)] if self.keys else None
        expires_at = None if hours is None else self.now + timedelta(hours=hours)
        end = {} if expires_at is None else {"expires_at": timestamp(expires_at)}
        if step == "wait":
            self._deployment.clock.advance(hours=1)
        elif step == "create":
            name = f"Key {len(self.keys)}"
            status, answer = call(self.app_id, "POST", KEYS, {"name": name, "scope": scope, **end})
            assert status == 201
            self._add(answer["data"], name, scope, answer["data"]["id"], expires_at)
        elif key and step == "rename":
            key.name = f"Renamed {place}"
            assert call(self.app_id, "PATCH", f"{KEYS}/{key.key_id}", {"name": key.name})[0] == 200
        elif key and step == "revoke":
            key.is_revoked = True
            answers = [call(self.app_id, "DELETE", f"{KEYS}/{key.key_id}") for _ in range(2)]
            assert [status for status, _ in answers] == [200, 200]
            assert answers[0] == answers[1]
        elif key and step == "rotate":
            active = sum(other.is_active(self.now) for other in self.keys if other.family == key.family)
            status, answer = call(self.app_id, "POST", f"{KEYS}/{key.key_id}/rotate", end)
            assert status == (201 if key.is_active(self.now) and active == 1 else 409)
            if status == 201:
                self._add(answer["data"], key.name, key.scope, key.family, expires_at)

    def _add(self, data: dict[str, Any], name: str, scope: str, family: str, expires_at: datetime | None) -> None:
        self.keys.append(Known(data["id"], data["key"], name, scope, family, expires_at))

    def check(self) -> None:
        """Compare the list, the keys themselves and the text of the list with the model."""
        listed = call(self.app_id, "GET", KEYS)[1]["data"]
        assert {key["id"]: (key["name"], key["scope"], key["first_key_id"] or key["id"]) for key in listed} == {
            key.key_id: (key.name, key.scope, key.family) for key in self.keys
        }
        assert {key["id"] for key in listed if key["revoked_at"]} == {key.key_id for key in self.keys if key.is_revoked}
        for key in self.keys:
            assert key.text not in str(listed)
            assert ApiClient(key.text).call("GET", "/api/v1/api_key").status == (
                200 if key.is_active(self.now) else 401
            )


@settings(max_examples=25)
@given(steps=STEPS)
def test_calls_do_what_a_model_does(steps: list[tuple[str, int, int | None, Scope]]) -> None:
    with using((deployment := make_deployment(FakeStore())).services):
        model = Model(deployment)
        for step in steps:
            model.do(*step)
        model.check()


def test_a_person_reaches_no_key_of_another_app(deployment: Deployment) -> None:
    (key,) = [key for key in deployment.administration.keys(deployment.app_id) if key.scope is Scope.FULL]
    other_id = deployment.administration.create_app("Warehouse").id

    for method, path, body in CALLS[2:]:
        assert call(other_id, method, path.replace(NOBODYS_ID, key.id), body)[0] == 404

    assert deployment.store.api_key(key.hash) == key


@pytest.mark.parametrize("key_id", ["sk_abc", "key_1", "KEY_ffffffffffffffff", PERSON_ID])
def test_an_id_of_another_form_is_not_found(deployment: Deployment, key_id: str) -> None:
    assert call(deployment.app_id, "DELETE", f"{KEYS}/{key_id}")[0] == 404


def test_the_newest_rotation_counts_although_the_index_does_not_show_it(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = deployment.administration.create_key(deployment.app_id, name="Sync").key
    before = list(deployment.store.api_keys_of(deployment.app_id))
    assert call(deployment.app_id, "POST", f"{KEYS}/{key.id}/rotate", {})[0] == 201
    monkeypatch.setattr(deployment.store, "api_keys_of", lambda _: before)

    status, answer = call(deployment.app_id, "POST", f"{KEYS}/{key.id}/rotate", {})

    assert (status, answer["error"]["code"]) == (409, "too_many_keys")


def test_an_app_has_a_limited_number_of_active_keys(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    app_id = deployment.administration.create_app("Warehouse").id
    monkeypatch.setattr(api_keys, "MAX_ACTIVE_KEYS", 2)
    new = {"name": "Sync", "scope": "full"}
    first = call(app_id, "POST", KEYS, new)[1]["data"]

    assert [call(app_id, "POST", KEYS, new)[0] for _ in range(2)] == [201, 409]
    assert call(app_id, "DELETE", f"{KEYS}/{first['id']}")[0] == 200
    assert call(app_id, "POST", KEYS, new)[0] == 201


def test_the_newest_inactive_keys_are_listed(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    app_id = deployment.administration.create_app("Warehouse").id
    monkeypatch.setattr(api_keys, "MAX_LISTED_INACTIVE", 2)
    ids = []
    for _ in range(4):
        ids.append(call(app_id, "POST", KEYS, {"name": "Sync", "scope": "full"})[1]["data"]["id"])
        deployment.clock.advance(seconds=1)
    for key_id in ids[:3]:
        call(app_id, "DELETE", f"{KEYS}/{key_id}")

    assert [key["id"] for key in call(app_id, "GET", KEYS)[1]["data"]] == ids[1:]
