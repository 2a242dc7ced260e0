"""axe-core finds no serious violation in any view, light and dark, and no view is wider than its window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.support import Console, query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.support import Service

SERIOUS = {"serious", "critical"}
SETTLE_MILLISECONDS = 600
WIDTHS = (390, 768, 1440, 2560)

VIEWS: Mapping[str, str] = {
    "sign in": "/app",
    "connections": "/app",
    "new connection": "/app/connections/new",
    "requests": "/app/connections/{connection}",
    "settings": "/app/connections/{connection}/settings",
    "request": "/app/queued_requests/{request}",
    "compose": "/app/compose?connection={connection}&type=InvoiceAddRq",
    "reference": "/app/qbxml",
    "type": "/app/qbxml/InvoiceAddRq",
    "support": "/support",
    "onboarding": "{onboarding}",
    "not found": "/app/nothing",
}


@pytest.fixture(scope="module")
def addresses(service: Service) -> dict[str, str]:
    """Return the ids of a connection and its completed request, and the path of an onboarding link."""
    connection = service.connection()
    request_id = query(connection, count=3)
    connection.run_session()
    query(connection)
    link = service.call("POST", f"{connection.path}/onboarding_url", {}).json["data"]["links"]["onboarding"]
    onboarding = "/onboarding#" + link.partition("#")[2]
    return {"connection": connection.id, "request": request_id, "onboarding": onboarding}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_accessible_in_light_and_dark_and_fits_every_window(
    console: Console, addresses: dict[str, str], view: str
) -> None:
    if view != "sign in":
        console.keep_signed_in()
    console.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    console.open(VIEWS[view].format(**addresses))
    console.page.get_by_role("heading").first.wait_for()
    console.page.wait_for_timeout(SETTLE_MILLISECONDS)

    found = serious_violations(console)
    console.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found |= serious_violations(console)
    for width in WIDTHS:
        console.page.set_viewport_size({"width": width, "height": 900})
        if console.page.evaluate("document.documentElement.scrollWidth") > width:
            found.add(f"wider than {width} pixels")

    assert found == set()


def serious_violations(console: Console) -> set[str]:
    """Return the rules that are broken, each with the first elements that break it."""
    violations = Axe().run(console.page).response["violations"]
    return {
        f"{one['id']}: {[node['target'] for node in one['nodes']][:4]}"
        for one in violations
        if one["impact"] in SERIOUS
    }
