"""What scopes and roles allow, by the table of the service contract."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.app import Environment, Scope
from domain.records.permissions import PERMISSIONS, Permission, Role
from domain.records.person import Membership
from domain.storage.changes import Put
from domain.timestamps import timestamp
from local.programs import ROOT
from tests.support.builders import CONNECTION_ID, NOON
from tools.openapi import endpoints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from handlers.rest.endpoint import Endpoint
    from tests.integration.api.conftest import Deployment

NOBODYS_ID = "00000000-0000-4000-8000-00000000000f"
PERSON_ID = "00000000-0000-4000-8000-0000000000aa"
ROW = re.compile(r"\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|")
ACCESSES = [*Scope, *Role]


def table() -> Mapping[str, tuple[set[str], set[str]]]:
    """Return the calls of each permission and the accesses that have it, as the contract says."""
    contract = (ROOT / "docs/reference/service-contract.md").read_text(encoding="utf-8")
    section = contract.partition("### Permissions\n")[2].partition("\n## ")[0]
    names = re.compile(r"`([^`]+)`").findall
    return {
        permission: (set(names(calls)), {*names(scopes), *names(roles)})
        for permission, calls, scopes, roles in ROW.findall(section)
    }


def operations() -> Iterator[tuple[Endpoint, str, str]]:
    """Yield each endpoint with its methods and paths."""
    for endpoint in endpoints():
        for operation in endpoint.operations:
            yield endpoint, operation.method, operation.path


def documented(method: str, path: str) -> str:
    """Return a call as the table names it: without the prefix, and a request without its connection."""
    short = path.removeprefix("/api/v1").replace("{connection_id}", "{id}")
    return (
        f"{method} {short.replace('/connections/{id}/queued_requests/{request_id}', '/queued_requests/{request_id}')}"
    )


def call(app_id: str, access: Scope | Role, method: str, path: str) -> dict[str, Any]:
    """Return the event of a call whose caller has this access."""
    who = (
        {"scope": access, "key_id": "key_1"} if isinstance(access, Scope) else {"role": access, "person_id": PERSON_ID}
    )
    ids = {"connection_id": CONNECTION_ID}
    names = re.findall(r"\{(\w+)\}", path)
    parameters = {name: ids.get(name, NOBODYS_ID) for name in names}
    return {
        "httpMethod": method,
        "path": path.format(**parameters),
        "resource": path,
        "headers": {},
        "multiValueHeaders": {},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": parameters or None,
        "body": "{}" if method in {"POST", "PATCH"} else None,
        "isBase64Encoded": False,
        "requestContext": {
            "requestId": "1",
            "path": path,
            "domainName": "queue.example.com",
            "authorizer": {"app_id": app_id, **who},
        },
    }


@pytest.mark.parametrize("access", ACCESSES)
def test_each_call_is_refused_exactly_if_the_table_gives_the_caller_none_of_its_permissions(
    deployment: Deployment, access: Scope | Role
) -> None:
    rows = table()
    deployment.store.commit(Put(None, Membership(PERSON_ID, deployment.app_id, Role.ADMIN, timestamp(NOON))))
    for endpoint, method, path in operations():
        name = documented(method, path)
        needed = {permission for permission, (calls, _) in rows.items() if name in calls}
        is_allowed = not needed or any(access in rows[permission][1] for permission in needed)

        response = endpoint(call(deployment.app_id, access, method, path), None)

        assert (response["statusCode"] == 403) == (not is_allowed), f"{access} {name}: {response['statusCode']}"
        if not is_allowed:
            assert json.loads(response["body"])["error"]["code"] == "forbidden"


def test_the_table_has_exactly_the_calls_and_the_permissions_of_the_code() -> None:
    rows = table()
    existing = {documented(method, path) for _, method, path in operations()}

    assert set(rows) == set(Permission) - {Permission.READ}
    for permission, (calls, accesses) in rows.items():
        assert calls <= existing
        assert accesses == {access for access, has in PERMISSIONS.items() if permission in has}


def test_a_person_is_shown_with_role_and_permissions_and_a_key_with_its_scope(deployment: Deployment) -> None:
    [endpoint] = {endpoint for endpoint, _, path in operations() if path.endswith("/api_key")}
    for access in ACCESSES:
        data = json.loads(endpoint(call(deployment.app_id, access, "GET", "/api/v1/api_key"), None)["body"])["data"]

        assert data["permissions"] == sorted(PERMISSIONS[access])
        assert (data["scope"], data["key_id"], data["role"], data["person_id"]) == (
            (access, "key_1", None, None) if isinstance(access, Scope) else (None, None, access, PERSON_ID)
        )


def test_no_key_manages_access_and_every_caller_reads() -> None:
    assert all(Permission.READ in permissions for permissions in PERMISSIONS.values())
    assert not any(Permission.MANAGE in PERMISSIONS[scope] for scope in Scope)


def test_the_environment_of_an_app_is_shown_to_its_keys(deployment: Deployment) -> None:
    deployment.administration.set_environment(deployment.app_id, Environment.TEST)

    assert deployment.api.call("GET", "/api/v1/api_key").json["data"]["environment"] == "test"
