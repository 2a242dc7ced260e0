"""axe-core finds no violation in any view: light, dark, forced colours, more contrast, wide and narrow.

Every view fits its window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.screenshots import VIEWS
from tests.browser.support import Console, query, seed_session, unsettled
from tests.browser.writes import WRITES, propose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.e2e.support import Service

SETTLE_MILLISECONDS = 600
WIDTHS = (390, 768, 1440, 2560)
ALL_RULES: Mapping[str, Any] = {}
RULES_OF_COLOURS: Mapping[str, Any] = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
SCHEMES: Sequence[tuple[int, Mapping[str, Any], Mapping[str, Any]]] = (
    (390, {"color_scheme": "dark"}, ALL_RULES),
    (1440, {"color_scheme": "light"}, ALL_RULES),
    (1440, {"color_scheme": "dark", "forced_colors": "active"}, RULES_OF_COLOURS),
    (1440, {"color_scheme": "light", "contrast": "more"}, RULES_OF_COLOURS),
    (1440, {"color_scheme": "dark", "contrast": "more"}, RULES_OF_COLOURS),
)
"""All rules in dark and light, and those of colours in one of the others, in turns: a check takes seconds."""
USUAL: Mapping[str, Any] = {
    "color_scheme": "light",
    "forced_colors": "none",
    "contrast": "no-preference",
    "reduced_motion": "reduce",
}

CHECKED = (
    "sign-in",
    "sign-in-problem",
    "account",
    "people-invite",
    "api-keys",
    "connections",
    "connections-none",
    "new-connection",
    "new-connection-reloaded",
    "requests",
    "requests-none",
    "requests-no-match",
    "requests-yesterday",
    "requests-many",
    "keyboard",
    "search",
    "search-part",
    "approvals-compared",
    "approvals-none",
    "settings",
    "settings-dialog",
    "settings-move",
    "list-range",
    "palette-connection",
    "sessions-of-two-machines",
    "subscriptions",
    "subscriptions-create",
    "subscriptions-changes",
    "failures-own",
    "usage-own",
    "overview-two-days",
    "overview-connection",
    "contact-none",
    "audit-log",
    "audit-log-connection",
    "request",
    "request-code",
    "request-page-of-iteration",
    "request-waiting",
    "request-unknown",
    "request-not-found",
    "compose",
    "compose-all-fields",
    "compose-change",
    "compose-change-confirm",
    "compose-change-customer",
    "compose-change-invoice",
    "compose-confirm",
    "compose-edit",
    "compose-metadata",
    "compose-payment",
    "compose-pick",
    "compose-query",
    "compose-type",
    "compose-query-date",
    "compose-query-name",
    "reference",
    "reference-field",
    "request-to-approve",
    "compose-change-unread",
    "overview-to-approve",
    "type",
    "type-response",
    "docs",
    "docs-operation",
    "support",
    "onboarding",
    "onboarding-invalid",
    "onboarding-testing",
    "onboarding-wrong-file",
    "onboarding-connected",
    "error-500",
    "not-found",
)
"""One of each kind of the views that `screenshots.py` shows; the others differ in their data."""

SHOWN = {
    "approvals-compared": "text=In the books",
    "requests-many": "dialog[open]",
    "keyboard": "dialog[open]",
    "settings-dialog": "dialog[open]",
    "settings-move": "dialog[open]",
    "list-range": "text=Not used: Enter the whole date.",
    "palette-connection": "dialog[open]",
    "subscriptions-create": "dialog[open]",
    "subscriptions-changes": "text=There may be older ones.",
    "compose-change-confirm": "dialog[open]",
    "compose-confirm": "dialog[open]",
    "onboarding-testing": "text=The password is right.",
    "onboarding-wrong-file": "text=You have Harbor Street Bakery",
    "onboarding-connected": "text=You are done.",
}
"""What a view shows that its address alone does not."""


@pytest.fixture(scope="module")
def facts(service: Service) -> dict[str, str]:
    """Return the ids of connections and requests and the path of an onboarding link, for the addresses of views."""
    connection = service.connection()
    request_id = query(connection, count=3)
    items = query(connection, count=30, name="ItemQueryRq")
    connection.run_session()
    waiting = query(connection)
    unknown = unsettled(service.connection(), {"CustomerAddRq": {"CustomerAdd": {"Name": "Zoe Nightingale"}}})
    empty = service.connection()
    propose(connection, *WRITES)
    link = service.call("POST", f"{connection.path}/onboarding_url", {}).json["data"]["links"]["onboarding"]
    return {
        "connection": connection.id,
        "paused": connection.id,
        "empty": empty.id,
        "approvals": connection.id,
        "invoices": request_id,
        "iterated": items,
        "waiting": waiting,
        "failed": unknown,
        "unknown": unknown,
        "onboarding": "/onboarding#" + link.partition("#")[2],
    }


@pytest.mark.parametrize("name", CHECKED)
def test_a_view_is_accessible_and_fits_every_window(console: Console, facts: dict[str, str], name: str) -> None:
    view = VIEWS[name]
    if view.scope:
        seed_session(console.page, console.service.app_id, console.service.api_key, view.scope)
    view.before(console.page)
    console.page.emulate_media(**USUAL)
    console.open(view.address.format(**facts))
    console.page.get_by_role("heading").first.wait_for()
    console.page.wait_for_timeout(SETTLE_MILLISECONDS)
    view.act(console.page)
    if name in SHOWN:
        console.page.locator(SHOWN[name]).first.wait_for()

    problems = set()
    for width in WIDTHS:
        console.page.set_viewport_size({"width": width, "height": 900})
        if console.page.evaluate("document.documentElement.scrollWidth") > width:
            problems.add(f"wider than {width} pixels")
    console.page.evaluate(AXE_SCRIPT)
    of_colours = SCHEMES[2 + CHECKED.index(name) % 3]
    for width, colours, rules in (*SCHEMES[:2], of_colours):
        console.page.set_viewport_size({"width": width, "height": 900})
        console.page.emulate_media(**{**USUAL, **colours})
        problems |= {f"{width} pixels, {colours}: {problem}" for problem in lasting_violations(console, rules)}

    assert problems == set()


def lasting_violations(console: Console, rules: Mapping[str, Any] = ALL_RULES) -> set[str]:
    """Return the violated ones of these rules, each with the first elements that violate it.

    It looks again after a while before it believes in a violation: scripts and transitions take part in a change of
    colours.
    """
    if not violations(console, rules):
        return set()
    console.page.wait_for_timeout(SETTLE_MILLISECONDS)
    return violations(console, rules)


def violations(console: Console, rules: Mapping[str, Any]) -> set[str]:
    """Return the violations of the page as it is."""
    options = {"resultTypes": ["violations"], **rules}
    found = console.page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return {f"{violation['id']}: {[node['target'] for node in violation['nodes']][:4]}" for violation in found}
