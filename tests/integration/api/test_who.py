"""Names of API keys: who queued a request, and who did what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.labels import MAX_LABEL_CHARACTERS
from domain.records.app import Scope
from domain.records.request import State
from handlers import operate
from tests.integration.api.conftest import make_deployment
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID, REQUEST_XML
from tests.support.fake_store import FakeStore
from tests.support.services import using

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

CONNECTION = f"/api/v1/connections/{CONNECTION_ID}"
REQUEST = {"request_xml": REQUEST_XML}

NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=MAX_LABEL_CHARACTERS)


def do(operation: str, **arguments: Any) -> dict[str, Any]:
    """Call the operator's function."""
    return operate.handler({"operation": operation, **arguments}, None)


def key_of(deployment: Deployment, name: str | None = None, rotates: str | None = None) -> tuple[ApiClient, str, str]:
    """Create an API key. Return a client with it, its id and its hash."""
    key = deployment.administration.create_key(deployment.app_id, Scope.FULL, name=name, rotates=rotates)
    return ApiClient(key.text), key.key.id, key.key.hash


def queued_by(api: ApiClient, request_id: str) -> Any:
    """Return who queued a request, as its record shows it."""
    return api.call("GET", f"/api/v1/queued_requests/{request_id}").json["data"]["queued_by"]


def entries(api: ApiClient, action: str) -> list[dict[str, Any]]:
    """Return the entries of an action in the audit log."""
    data: list[dict[str, Any]] = api.call("GET", f"/api/v1/audit_log?action={action}").json["data"]
    return data


@settings(max_examples=10)
@given(first=NAMES, second=NAMES)
def test_what_a_key_does_has_the_name_that_the_key_had_then(first: str, second: str) -> None:
    with using((deployment := make_deployment(FakeStore())).services):
        api, key_id, key_hash = key_of(deployment, first)
        request_id = api.call("POST", deployment.requests_url, REQUEST).json["data"]["id"]
        api.call("POST", f"{CONNECTION}/pause")

        renamed = do("rename_key", key_hash=key_hash, name=second)
        api.call("POST", f"{CONNECTION}/resume")
        other_id = api.call("POST", deployment.requests_url, REQUEST).json["data"]["id"]

        before, after = ({"type": "api_key", "id": key_id, "name": name} for name in (first, second))
        assert (queued_by(api, request_id), queued_by(api, other_id)) == (before, after)
        assert [entry["actor"] for entry in entries(api, "connection_paused")] == [before]
        assert [entry["actor"] for entry in entries(api, "connection_resumed")] == [after]
        assert renamed["name"] == second
        assert api.call("GET", "/api/v1/api_key").json["data"]["name"] == second
        renamings = [(entry["credential_id"], entry["name"]) for entry in entries(api, "api_key_renamed")]
        assert renamings == [(key_id, second)] * (first != second)


def test_each_route_that_queues_tells_who_did(deployment: Deployment) -> None:
    author, author_id, _ = key_of(deployment, "Shop")
    other, other_id, _ = key_of(deployment)
    by_author = {"type": "api_key", "id": author_id, "name": "Shop"}
    by_other = {"type": "api_key", "id": other_id, "name": None}

    alone = author.call("POST", deployment.requests_url, REQUEST).json["data"]
    batch = author.call("POST", f"{deployment.requests_url}/batch", {"requests": [REQUEST, REQUEST]}).json["data"]
    query = author.call("POST", f"{CONNECTION}/customers").json["data"]
    for record in (alone, *batch, query):
        assert record["queued_by"] == queued_by(other, record["id"]) == by_author

    for request_id in (alone["id"], query["id"]):
        deployment.end(request_id, State.ERROR)
    again = other.call("POST", f"/api/v1/queued_requests/{alone['id']}/queue_again?force=true").json["data"]
    many = other.call("POST", f"{CONNECTION}/queued_requests/queue_again", {"filter": {"ids": [query["id"]]}})
    assert many.json["data"]["queued"] == 1
    copy_of_query = author.call("GET", f"/api/v1/queued_requests/{query['id']}").json["data"]["replaced_by"]

    assert again["queued_by"] == queued_by(author, copy_of_query) == by_other
    assert queued_by(other, alone["id"]) == by_author


def test_a_key_keeps_the_name_of_the_one_that_it_rotates_unless_it_gets_its_own(deployment: Deployment) -> None:
    _, _, key_hash = key_of(deployment, "Nightly sync")

    heir, _, heir_hash = key_of(deployment, rotates=key_hash)
    renamed, _, _ = key_of(deployment, "Daily sync", rotates=heir_hash)

    names = [api.call("GET", "/api/v1/api_key").json["data"]["name"] for api in (heir, renamed)]
    assert names == ["Nightly sync", "Daily sync"]


@pytest.mark.parametrize("name", ["x" * (MAX_LABEL_CHARACTERS + 1), "two\nlines", "\x7f", "half \ud800"])
def test_a_name_that_is_not_a_line_of_text_is_refused_and_nothing_is_stored(deployment: Deployment, name: str) -> None:
    _, _, key_hash = key_of(deployment, "Shop")
    before = do("list_keys", app_id=deployment.app_id)

    for refused in (
        do("create_key", app_id=deployment.app_id, name=name),
        do("rename_key", key_hash=key_hash, name=name),
    ):
        (problem,) = refused["error"]["details"]["problems"]
        assert problem == {"field": "name", "message": "must be one line of 1 to 50 characters"}

    assert do("list_keys", app_id=deployment.app_id) == before
    assert do("rename_key", key_hash="ab" * 32, name="Shop")["error"]["code"] == "not_found"


def test_the_log_keeps_the_name_of_a_deleted_connection(deployment: Deployment) -> None:
    deployment.api.call("PATCH", CONNECTION, {"name": "Harbor Street Bakery"})

    deployment.api.call("DELETE", CONNECTION)

    assert [entry["name"] for entry in entries(deployment.api, "connection_deleted")] == ["Harbor Street Bakery"]
    assert [entry["name"] for entry in entries(deployment.api, "connection_changed")] == [None]
