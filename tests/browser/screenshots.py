"""Screenshots of every view: `python -m tests.browser.screenshots FOLDER` (light, dark, phone).

Starts a separate stack with a simulated QuickBooks. The two pictures of the README go to `docs/images`.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM
from tests.e2e.runs import running
from tests.e2e.support import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Browser

    from tests.e2e.runs import Run

ROOT = Path(__file__).resolve().parents[2]
SETTLE_MILLISECONDS = 1500

VIEWS: Mapping[str, str] = {
    "sign-in": "/app",
    "connections": "/app",
    "new-connection": "/app/connections/new",
    "requests": "/app/connections/{connection}",
    "settings": "/app/connections/{connection}/settings",
    "request": "/app/queued_requests/{invoices}",
    "failed-request": "/app/queued_requests/{failed}",
    "compose": "/app/compose?connection={connection}&type=InvoiceAddRq",
    "reference": "/app/qbxml",
    "type": "/app/qbxml/InvoiceAddRq",
    "docs": "/docs",
    "support": "/support",
    "onboarding": "{onboarding}",
}

README = {"connections": "requests", "request": "request"}
"""The README's pictures by name, and the view that each shows."""


@dataclass(frozen=True, slots=True)
class Style:
    """One way of looking at the views."""

    name: str
    colours: str
    width: int
    height: int


STYLES = (
    Style("light", "light", 1280, 860),
    Style("dark", "dark", 1280, 860),
    Style("phone", "light", 390, 844),
)
README_STYLE = Style("readme", "light", 1160, 720)


def main(arguments: list[str]) -> int:
    """Write the screenshots and return the exit status."""
    if len(arguments) != 1:
        print(__doc__)  # noqa: T201 - a program's help
        return 2
    if CHROMIUM is None:
        print("Chromium is needed: apt-get install chromium", file=sys.stderr)  # noqa: T201 - see above
        return 1
    folder = Path(arguments[0])
    with (
        tempfile.TemporaryDirectory() as state,
        running(Path(state)) as run,
        sync_playwright() as playwright,
    ):
        facts = fill(run)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for style in STYLES:
            for name, address in VIEWS.items():
                key = None if name in {"sign-in", "onboarding"} else run.credentials["api_key"]
                picture(
                    browser,
                    run.credentials["base_url"] + address.format(**facts),
                    style,
                    key,
                    folder / style.name / name,
                )
        for name, view in README.items():
            address = run.credentials["base_url"] + VIEWS[view].format(**facts)
            picture(browser, address, README_STYLE, run.credentials["api_key"], ROOT / "docs" / "images" / name)
        browser.close()
    print(f"The screenshots are in {folder}/.")  # noqa: T201 - see above
    return 0


def fill(run: Run) -> dict[str, str]:
    """Queue requests of several kinds, wait until they have ended, and return the ids that the addresses contain."""
    api, connection = run.api(), run.credentials["connection_id"]

    def request(name: str, children: list[dict[str, Any]], **members: str) -> str:
        return run.queue({"request_json": {"request": {"name": name, "children": children}}, **members})

    def text(name: str, value: str) -> dict[str, str]:
        return {"name": name, "text": value}

    webhook_url = run.credentials["webhook_url"]
    request("CompanyQueryRq", [])
    request("CustomerQueryRq", [text("MaxReturned", "25")], webhook_url=webhook_url)
    invoices = request(
        "InvoiceQueryRq", [text("MaxReturned", "40"), text("IncludeLineItems", "true")], webhook_url=webhook_url
    )
    request("VendorQueryRq", [text("MaxReturned", "10")], webhook_url="http://127.0.0.1:9/refused")
    bakery = [{"name": "CustomerAdd", "children": [text("Name", "Harbor Street Bakery")]}]
    request("CustomerAddRq", bakery, webhook_url=webhook_url)
    failed = request("CustomerAddRq", bakery, webhook_url=webhook_url)
    request("ItemQueryRq", [text("MaxReturned", "30")])
    last = request("AccountQueryRq", [])
    eventually(lambda: run.record(last)["state"], lambda state: state in {"response_received", "error"})
    api.call("POST", "/api/v1/connections", {"name": "Harbor Street Bakery", "company_file": r"C:\Books\Harbor.qbw"})
    paused = api.call("POST", "/api/v1/connections", {"name": "Grünwald Fabrics"})["data"]["id"]
    api.call("POST", f"/api/v1/connections/{paused}/pause", {})
    for name in ("InvoiceQueryRq", "CustomerQueryRq"):
        body = {"request_json": {"request": {"name": name, "children": [text("MaxReturned", "5")]}}}
        api.call("POST", f"/api/v1/connections/{paused}/queued_requests", body)
    link = api.call("POST", f"/api/v1/connections/{paused}/onboarding_url", {})["data"]["links"]["onboarding"]
    onboarding = "/onboarding#" + link.partition("#")[2]
    return {"connection": connection, "invoices": invoices, "failed": failed, "onboarding": onboarding}


def picture(browser: Browser, address: str, style: Style, key: str | None, target: Path) -> None:
    """Write one screenshot; with a key the window is signed in."""
    context = browser.new_context(
        viewport={"width": style.width, "height": style.height},
        color_scheme="dark" if style.colours == "dark" else "light",
        locale="en-US",
    )
    page = context.new_page()
    if key:
        page.add_init_script(
            f"sessionStorage.setItem('qbxml-queue.key', '{key}'); sessionStorage.setItem('qbxml-queue.scope', 'full');"
        )
    page.goto(address)
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    target.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=target.with_suffix(".png"))
    context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
