"""What the console says about the computer of a connection: its last session, what a session did, and a move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.screenshots import with_sessions
from tests.browser.support import library, query, seed_session

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.support import Console
    from tests.e2e.support import Connection

REMOVE_FIRST = "On the old computer, select the application in the Web Connector and choose Remove."


def settings(console: Console, connection: Connection, query: str = "") -> Locator:
    """Open the settings of a connection and return the card of its Web Connector."""
    console.keep_signed_in()
    console.open(f"/app/connections/{connection.id}/settings{query}")
    return console.page.get_by_role("region", name="Web Connector")


def test_settings_show_the_last_session_and_lead_to_all(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    connection.run_session()
    (session,) = connection.service.call("GET", f"/api/v1/connections/{connection.id}/sessions").json["data"]

    card = settings(console, connection)

    for name in ("address", "quickbooks_product_name", "company_file_path"):
        expect(card).to_contain_text(str(session[name]))
    expect(card).to_contain_text("Last session")
    card.get_by_role("link", name="All sessions").click()
    expect(console.page.get_by_role("region", name="Sessions")).to_contain_text("1 request answered")


def test_what_the_newest_session_does_not_know_is_from_an_older_one_and_says_so(console: Console) -> None:
    connection = console.service.connection()
    with_sessions(console.page)

    card = settings(console, connection)

    # The newest session has an address and no version.
    expect(card).to_contain_text("2.3.0.215 (session of")
    expect(card.get_by_text("203.0.113.7", exact=True)).to_be_visible()


def test_settings_say_that_there_was_no_session_or_that_they_could_not_be_read(console: Console) -> None:
    connection = console.service.connection()
    card = settings(console, connection)
    expect(card).to_contain_text("None in the last 30 days")

    problem = {"error": {"code": "internal_error", "message": "Something went wrong."}}
    console.page.route("**/api/v1/connections/*/sessions", lambda route: route.fulfill(status=500, json=problem))
    console.page.reload()

    expect(card).to_contain_text("Something went wrong.", timeout=20_000)
    expect(console.button("Move to a new computer")).to_be_visible()


def test_a_move_names_the_steps_of_both_computers_and_gives_a_link_or_a_password(console: Console) -> None:
    connection = console.service.connection()
    card = settings(console, connection)
    card.get_by_role("button", name="Move to a new computer").click()
    dialog = console.page.get_by_role("dialog", name="Move to a new computer")
    steps = dialog.get_by_role("list").first.locator("> li")
    expect(steps.first).to_contain_text("Install QuickBooks and the Web Connector on the new computer first.")
    expect(steps.nth(1)).to_contain_text(REMOVE_FIRST)
    expect(steps.nth(2)).to_contain_text("make it on the day of the move")

    dialog.get_by_role("button", name="Create onboarding link").click()
    expect(dialog.locator(".secret code")).to_contain_text("/onboarding#")
    dialog.get_by_role("button", name="New password").click()
    console.page.get_by_role("dialog", name="Set a new password?").get_by_role("button", name="New password").click()
    expect(dialog.locator(".secret")).to_have_count(2)
    dialog.get_by_role("button", name="Done").click()

    expect(dialog).to_be_hidden()
    assert console.page.url.endswith("/settings")


def test_a_viewer_reads_the_steps_of_a_move_and_who_can_do_them(console: Console) -> None:
    connection = console.service.connection()
    seed_session(console.page, console.service.app_id, console.service.api_key, "read_only")
    console.open(f"/app/connections/{connection.id}/settings?open=move")

    dialog = console.page.get_by_role("dialog", name="Move to a new computer")
    expect(dialog).to_contain_text(REMOVE_FIRST)
    expect(dialog).to_contain_text("Ask somebody who may change this connection.")
    expect(dialog.get_by_role("button", name="New password")).to_have_count(0)


def session_of(**fields: Any) -> dict[str, Any]:
    """Return a session with these fields."""
    nothing = dict.fromkeys(
        ("message", "address", "web_connector_version", "quickbooks_product_name", "quickbooks_version")
    )
    times = {"began_at": "2026-03-01T12:00:00.000000Z", "last_call_at": "2026-03-01T12:01:24.000000Z"}
    ended = {"ended_at": "2026-03-01T12:01:24.000000Z", "result": "completed", "company_file_path": None}
    return {**nothing, **times, **ended, "requests": 0, "subscription_messages": 0, **fields}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"requests": 3}, "3 requests answered"),
        ({"subscription_messages": 1}, "Subscriptions read in 1 message"),
        ({"requests": 1, "subscription_messages": 14}, "1 request answered. Subscriptions read in 14 messages"),
        ({}, "No request answered"),
        ({"result": "running", "ended_at": None}, "No request answered yet"),
    ],
)
def test_a_session_says_what_it_did_and_how_long_it_was_open(
    console: Console, fields: dict[str, Any], says: str
) -> None:
    connection = console.service.connection()
    answer = {"data": [session_of(**fields)]}
    console.page.route("**/api/v1/connections/*/sessions", lambda route: route.fulfill(json=answer))
    console.keep_signed_in()
    console.open(f"/app/connections/{connection.id}/sessions")

    row = console.page.get_by_role("region", name="Sessions").locator("tbody tr")
    expect(row.get_by_text(says, exact=True)).to_be_visible()
    expect(row).to_contain_text("Still open, began" if fields.get("ended_at", "") is None else "open for 1 min 24 s")


def test_the_onboarding_page_has_the_same_step_at_the_old_computer(console: Console) -> None:
    words = library(
        console,
        """async (load) => {
          const { RemoveFromOld } = await load("new_computer.js");
          const { render, html } = await load("../vendor/preact.js");
          const place = document.createElement("div");
          render(html`<${RemoveFromOld} />`, place);
          return place.textContent;
        }""",
    )

    assert " ".join(words.split()).startswith(REMOVE_FIRST)
