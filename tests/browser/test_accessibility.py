"""axe-core finds no serious violation in any view: light, dark, forced colours, more contrast, wide and narrow.

Every view fits its window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.support import Console, query, unsettled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.e2e.support import Service

SERIOUS = {"serious", "critical"}
SETTLE_MILLISECONDS = 600
WIDTHS = (390, 768, 1440, 2560)
CHECKED: Sequence[tuple[int, Literal["light", "dark"]]] = (
    (390, "light"),
    (390, "dark"),
    (1440, "light"),
    (1440, "dark"),
)

VIEWS: Mapping[str, str] = {
    "sign in": "/app",
    "connections": "/app",
    "no connections": "/app",
    "new connection": "/app/connections/new",
    "requests": "/app/connections/{connection}",
    "no requests": "/app/connections/{empty}",
    "no match": "/app/connections/{connection}?search=zebra",
    "requests that match": "/app/connections/{connection}?state=waiting&range=custom&from=2020-01-01T00:00:00.000Z",
    "search": "/app/search?search=customer",
    "settings": "/app/connections/{connection}/settings",
    "overview": "/app/overview?days=8",
    "overview of a connection": "/app/connections/{connection}/overview",
    "contact": "/app/contact",
    "audit log": "/app/audit_log",
    "audit log of a connection": "/app/connections/{connection}/audit_log",
    "request": "/app/queued_requests/{request}",
    "results of many kinds": "/app/queued_requests/{items}",
    "waiting request": "/app/queued_requests/{waiting}",
    "unknown write": "/app/queued_requests/{unknown}",
    "copy of a request": "/app/compose?connection={connection}&type=CustomerAddRq&from={unknown}",
    "no such request": "/app/queued_requests/00000000-0000-4000-8000-000000000000",
    "compose": "/app/compose?connection={connection}&type=InvoiceAddRq",
    "compose a payment": "/app/compose?connection={connection}&type=ReceivePaymentAddRq",
    "compose from the schema": "/app/compose?connection={connection}&type=EstimateAddRq",
    "compose without a type": "/app/compose",
    "reference": "/app/qbxml",
    "type": "/app/qbxml/InvoiceAddRq",
    "response type": "/app/qbxml/InvoiceQueryRs",
    "field": "/app/qbxml?field=RefNumber",
    "API reference": "/docs",
    "support": "/support",
    "onboarding": "{onboarding}",
    "onboarding with a wrong link": "/onboarding#nothing",
    "service error": "/app/connections/{connection}",
    "not found": "/app/nothing",
}
ANSWERS: Mapping[str, tuple[int, Mapping[str, object]]] = {
    "no connections": (200, {"data": [], "page": 1, "total_pages": 0}),
    "service error": (500, {"error": {"code": "internal_error", "message": "no", "details": {"request_id": "abc"}}}),
}
"""Responses of the API for views that a working service with connections does not show."""


@pytest.fixture(scope="module")
def addresses(service: Service) -> dict[str, str]:
    """Return the ids of connections and requests, and the path of an onboarding link."""
    connection = service.connection()
    request_id = query(connection, count=3)
    items = query(connection, count=30, name="ItemQueryRq")
    connection.run_session()
    waiting = query(connection)
    unknown = unsettled(service.connection(), {"CustomerAddRq": {"CustomerAdd": {"Name": "Zoe Nightingale"}}})
    empty = service.connection()
    link = service.call("POST", f"{connection.path}/onboarding_url", {}).json["data"]["links"]["onboarding"]
    onboarding = "/onboarding#" + link.partition("#")[2]
    return {
        "connection": connection.id,
        "request": request_id,
        "items": items,
        "waiting": waiting,
        "unknown": unknown,
        "empty": empty.id,
        "onboarding": onboarding,
    }


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_accessible_in_light_and_dark_and_fits_every_window(
    console: Console, addresses: dict[str, str], view: str
) -> None:
    if view != "sign in":
        console.keep_signed_in()
    if view in ANSWERS:
        status, body = ANSWERS[view]
        console.page.route("**/api/v1/**", lambda route: route.fulfill(status=status, json=body))
    console.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    console.open(VIEWS[view].format(**addresses))
    console.page.get_by_role("heading").first.wait_for()
    console.page.wait_for_timeout(SETTLE_MILLISECONDS)

    problems = set()
    for width in WIDTHS:
        console.page.set_viewport_size({"width": width, "height": 900})
        if console.page.evaluate("document.documentElement.scrollWidth") > width:
            problems.add(f"wider than {width} pixels")
    colours: Literal["light", "dark"]
    for width, colours in CHECKED:
        console.page.set_viewport_size({"width": width, "height": 900})
        console.page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        problems |= serious_violations(console)
    console.page.emulate_media(color_scheme="dark", forced_colors="active", reduced_motion="reduce")
    problems |= {f"forced colours: {problem}" for problem in serious_violations(console)}
    for colours in ("light", "dark"):
        console.page.emulate_media(color_scheme=colours, contrast="more", forced_colors="none", reduced_motion="reduce")
        problems |= {f"more contrast, {colours}: {problem}" for problem in serious_violations(console)}

    assert problems == set()


def serious_violations(console: Console) -> set[str]:
    """Return the violated rules, each with the first elements that violate it."""
    violations = Axe().run(console.page).response["violations"]
    return {
        f"{violation['id']}: {[node['target'] for node in violation['nodes']][:4]}"
        for violation in violations
        if violation["impact"] in SERIOUS
    }
