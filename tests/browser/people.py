"""People who have signed in, for pictures and accessibility: the routes of the sign-in, without a provider."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from domain.records.permissions import PERMISSIONS, Role

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

SIGN_IN_IS_ON = re.compile(r'(<meta name="sign-in" content=")[^"]*')

MARIA = {"id": "5a1c7e52-0b7e-4c9b-8a54-0d2f1c3b4a01", "name": "Maria Fuentes", "email": "maria@bluewater.example"}
SHOP = {"id": "7f0d3c11-4c60-4f6e-9f5b-6a1a2b3c4d02", "name": "Bluewater Books", "environment": "production"}
TEST_SHOP = {"id": "91b5d0aa-2f3e-4d6c-8b7a-5e4f3a2b1c03", "name": "Bluewater Books, tests", "environment": "test"}

MEMBERS = [
    {**MARIA, "role": "admin", "joined_at": "2026-03-02T09:15:00Z", "last_signed_in_at": "2026-11-29T08:02:00Z"},
    {
        "id": "5a1c7e52-0b7e-4c9b-8a54-0d2f1c3b4a04",
        "name": "Ben Okafor",
        "email": "ben.okafor@bluewater.example",
        "role": "support",
        "joined_at": "2026-04-11T12:00:00Z",
        "last_signed_in_at": "2026-11-27T16:40:00Z",
    },
    {
        "id": "5a1c7e52-0b7e-4c9b-8a54-0d2f1c3b4a05",
        "name": "Annegret von der Heydebrand-Lasa <img src=x onerror=alert(1)>",
        "email": "annegret.von.der.heydebrand-lasa@accounting.bluewater.example",
        "role": "approver",
        "joined_at": "2026-06-20T07:30:00Z",
        "last_signed_in_at": None,
    },
]
INVITATIONS = [
    {
        "id": "5a1c7e52-0b7e-4c9b-8a54-0d2f1c3b4a06",
        "email": "jun.takahashi@bluewater.example",
        "role": "editor",
        "invited_at": "2026-11-28T10:00:00Z",
        "invited_by": MARIA["id"],
        "expires_at": "2026-12-12T10:00:00Z",
    }
]


def key(number: int, name: str, scope: str, **members: object) -> dict[str, object]:
    """Return an API key as the API shows it."""
    key_id = f"key_831b0c4e{number:02}"
    return {
        "id": key_id,
        "name": name,
        "scope": scope,
        "label": "sk_…4f2a",
        "inserted_at": f"2026-0{number}-02T09:15:00Z",
        "expires_at": None,
        "revoked_at": None,
        "last_used_at": None,
        "first_key_id": None,
        **members,
    }


KEYS = [
    key(1, "Web shop", "full", last_used_at="2026-11-29T08:00:00Z"),
    key(2, "Nightly import", "full", last_used_at="2026-11-29T02:00:00Z"),
    key(3, "Nightly import", "full", first_key_id="key_831b0c4e02", expires_at="2027-11-01T00:00:00Z"),
    key(4, "Assistant of the bookkeepers", "propose", expires_at="2026-12-06T00:00:00Z"),
    key(5, "Dashboard", "read_only", revoked_at="2026-10-05T11:12:00Z"),
]


def sign_in_is_on(page: Page) -> None:
    """Make the pages believe that the deployment has a sign-in. Nobody has signed in."""

    def turn_on(route: Route) -> None:
        if route.request.resource_type != "document":
            route.fallback()
            return
        response = route.fetch()
        route.fulfill(response=response, body=SIGN_IN_IS_ON.sub(r"\1on", response.text()))

    page.route(re.compile(r"/(app|docs)(/(?!assets).*)?$"), turn_on)
    page.route("**/session", lambda route: route.fulfill(status=401, json={"error": {"code": "unauthorized"}}))


def sign_in_as_admin(page: Page, environment: str = "production") -> None:
    """Make the pages believe that Maria has signed in. Only the views People and API keys get answers."""
    sign_in_is_on(page)
    app = {**(TEST_SHOP if environment == "test" else SHOP), "role": Role.ADMIN}
    apps = [{**SHOP, "role": Role.EDITOR}, {**TEST_SHOP, "role": Role.ADMIN}]
    session = {"token": "st_maria", "expires_in": 600, "person": MARIA, "app": app, "apps": apps}
    about = {
        "app_id": app["id"],
        "scope": None,
        "key_id": None,
        "name": MARIA["name"],
        "person_id": MARIA["id"],
        "role": Role.ADMIN,
        "permissions": sorted(PERMISSIONS[Role.ADMIN]),
        "environment": environment,
    }

    def answer(body: dict[str, Any]) -> Any:
        return lambda route: route.fulfill(status=200, content_type="application/json", body=json.dumps(body))

    page.route("**/session", answer({"data": session}))
    page.route("**/api/v1/api_key", answer({"data": about}))
    page.route("**/api/v1/people", answer({"data": MEMBERS, "invitations": INVITATIONS}))
    page.route("**/api/v1/api_keys", answer({"data": KEYS}))


def sign_in_to_tests(page: Page) -> None:
    """Make the pages believe that Maria has signed in to an app for tests."""
    sign_in_as_admin(page, "test")
