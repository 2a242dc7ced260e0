"""A window of the console with the actions of a user."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from domain.records.app import Scope
from domain.records.permissions import PERMISSIONS
from simulator.faults import Fault
from simulator.runs.scheduler import Simulator

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Error, Locator, Page

    from tests.e2e.support import Connection, Service

HOSTILE = "<img src=x onerror=alert(1)>"


@dataclass
class Console:
    """A browser window. `problems` are script errors and dialogs; the console opens no dialogs of the browser."""

    service: Service
    page: Page
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", self._note_error)
        self.page.on("dialog", self._note_dialog)

    def _note_error(self, error: Error) -> None:
        self.problems.append(f"script failed: {error}")

    def _note_dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, path: str) -> None:
        """Go to an address of the stack."""
        self.page.goto(self.service.base_url + path)

    def sign_in(self, path: str = "/app", key: str | None = None) -> None:
        """Open a view and sign in on the way."""
        self.open(path)
        self.page.get_by_label("API key").fill(key or self.service.api_key)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("navigation", name="Main")).to_be_visible()

    def keep_signed_in(self) -> None:
        """Store a key in the session storage of every page that is opened from now on."""
        seed_session(self.page, self.service.app_id, self.service.api_key)

    def button(self, name: str, *, exact: bool = False) -> Locator:
        """Return the button with this name."""
        return self.page.get_by_role("button", name=name, exact=exact)

    def link(self, name: str) -> Locator:
        """Return the first link with this name."""
        return self.page.get_by_role("link", name=name).first

    def confirm(self, name: str) -> None:
        """Press a button of the open dialog."""
        self.page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()

    def sees(self, text: str) -> None:
        """Wait until a text is visible."""
        expect(self.page.get_by_text(text).first).to_be_visible()

    def sees_heading(self, text: str) -> None:
        """Wait until a heading is visible."""
        expect(self.page.get_by_role("heading", name=text).first).to_be_visible()


def seed_session(page: Page, app_id: str, api_key: str, scope: str = "full") -> None:
    """Sign in with a key in every page that the window opens from now on, as if it had a scope."""
    about = {
        "app_id": app_id,
        "scope": scope,
        "key_id": None,
        "name": None,
        "person_id": None,
        "role": None,
        "permissions": sorted(PERMISSIONS[Scope(scope)]),
        "environment": "production",
    }
    page.add_init_script(
        f"sessionStorage.setItem('qbxml-queue.key', '{api_key}');"
        f"sessionStorage.setItem('qbxml-queue.about', '{json.dumps(about)}');"
    )


def library(console: Console, script: str, argument: object = None) -> Any:
    """Run a script in the page. It gets `load(name)`, which imports a module of the console, and the argument."""
    console.open("/app")
    address = console.page.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => name).find((one) => /lib\\/api.js$/.test(one))"
    )
    return console.page.evaluate(
        f"([address, argument]) => ({script})((name) => import(address.replace('api.js', name)), argument)",
        [address, argument],
    )


LARGE_BYTES = 5 * 1024 * 1024


def large_response() -> dict[str, object]:
    """Return the members of a request with a response of 5 MB."""
    one = "<CustomerRet><ListID>80000001-1</ListID><Name>Grünwald Fabrics</Name><Balance>97.50</Balance></CustomerRet>"
    count = LARGE_BYTES // len(one)
    customers = [{"ListID": "80000001-1", "Name": "Grünwald Fabrics", "Balance": "97.50"}] * count
    return {
        "state": "response_received",
        "response_xml": f"<QBXML><QBXMLMsgsRs><CustomerQueryRs>{one * count}</CustomerQueryRs></QBXMLMsgsRs></QBXML>",
        "response_json": [{"QBXMLMsgsRs": {"CustomerQueryRs": {"CustomerRet": customers}}}],
    }


def query(
    connection: Connection, *, count: int = 2, webhook_url: str | None = None, name: str = "CustomerQueryRq"
) -> str:
    """Queue a query and return its id."""
    body: dict[str, object] = {
        "request_json": {"request": {"name": name, "children": [{"name": "MaxReturned", "text": count}]}}
    }
    if webhook_url:
        body["webhook_url"] = webhook_url
    return str(connection.queue(body)["id"])


def unsettled(connection: Connection, request: dict[str, Any], *, settle: bool = False) -> str:
    """Queue a write whose response cannot be read, run the session, and return its id.

    With `settle`, the service asks QuickBooks about it by itself.
    """
    connection.service.call("PATCH", connection.path, {"settle": settle})
    request_id = str(connection.queue({"request_json": request})["id"])
    qwc = connection.service.call("POST", f"{connection.path}/qwc").json["qwc"]
    unreadable = Fault.of({"on": "process", "request": "writes", "do": "unreadable"})
    Simulator(qwc, connection.password, connection.company, faults=[unreadable]).run_once()
    assert connection.record(request_id)["error"]["code"] == "outcome_unknown"
    return request_id


def onboarding_link(console: Console, connection_path: str, **body: str) -> str:
    """Create a link and return its path."""
    link: str = console.service.call("POST", f"{connection_path}/onboarding_url", body).json["data"]["links"][
        "onboarding"
    ]
    return "/onboarding#" + link.partition("#")[2]
