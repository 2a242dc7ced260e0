"""People sign in at a provider, see what their role allows, and manage access: the whole path in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from local.provider import PEOPLE
from tests.browser.support import Console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Route

    from tests.e2e.support import Service

ADA, SAM, VIC = (person.email for person in PEOPLE)


@pytest.fixture
def consoles(browser: Browser, service: Service) -> Iterator[list[Console]]:
    """Yield the windows of two browsers, as two people have them."""
    contexts = [browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US") for _ in range(2)]
    windows = [Console(service, context.new_page()) for context in contexts]
    yield windows
    for context in contexts:
        context.close()
    assert [problem for window in windows for problem in window.problems] == []


def sign_in(console: Console, email: str, path: str = "/app") -> None:
    """Open a view and sign in as a person on the way."""
    console.open(path)
    press_sign_in(console, email)


def press_sign_in(console: Console, email: str) -> None:
    """Sign in as a person from the sign-in page."""
    console.page.get_by_role("link", name="Sign in", exact=True).click()
    console.button(email).click()
    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()


def choose(console: Console, person: str, item: str) -> None:
    """Choose an item of the person's menu."""
    console.button(person).click()
    console.button(item, exact=True).click()


def open_beside(console: Console, path: str) -> Console:
    """Open an address in another tab of the same browser, at the host to which the sign-in has led."""
    tab = Console(console.service, console.page.context.new_page())
    address = urlsplit(console.page.url)
    tab.page.goto(f"{address.scheme}://{address.netloc}{path}")
    return tab


def kept(console: Console) -> str:
    """Return all that the page can read of what the tab and the browser keep."""
    return str(console.page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie])"))


def row(console: Console, name: str) -> Locator:
    """Return the row of a table with a text."""
    return console.page.get_by_role("row").filter(has_text=name)


def test_a_person_comes_back_to_the_page_and_needs_no_sign_in_in_another_tab(console: Console) -> None:
    connection = console.service.connection()
    path = f"/app/connections/{connection.id}"

    sign_in(console, SAM, f"{path}?state=error")

    assert console.page.url.endswith(f"{path}?state=error")
    expect(console.page.get_by_label("State", exact=True)).to_have_value("error")
    assert console.page.get_by_role("link", name="Compose").count() == 0
    assert "st_" not in kept(console)
    tab = open_beside(console, path)
    tab.button("Pause").click()
    tab.confirm("Pause")
    tab.sees("The connection is paused.")
    tab.link("Audit log").click()
    expect(row(tab, "Paused sending").filter(has_text="Sam Support you")).to_have_count(1)
    assert tab.problems == []


def test_a_sign_out_everywhere_ends_the_sign_in_of_other_browsers(consoles: list[Console]) -> None:
    here, there = consoles
    for console in consoles:
        sign_in(console, SAM)

    choose(here, "Sam Support", "Sign out everywhere")

    expect(here.page.get_by_label("API key")).to_be_visible()
    assert "qbxml-queue" not in kept(here)
    there.page.reload()
    expect(there.page.get_by_label("API key")).to_be_visible()


def test_a_refused_sign_in_is_explained_and_another_attempt_leads_to_the_same_page(console: Console) -> None:
    console.open("/app/overview")
    console.page.get_by_role("link", name="Sign in", exact=True).click()
    console.page.get_by_placeholder("sub").fill("stranger")
    console.button("Authorize").click()
    console.sees("You are not invited yet")

    press_sign_in(console, SAM)

    console.sees_heading("Overview")


def test_a_token_that_the_service_refuses_is_renewed_once_for_all_calls(console: Console) -> None:
    sign_in(console, SAM)
    refused: list[str] = []
    renewals: list[str] = []

    def refuse_until_renewed(route: Route) -> None:
        if renewals:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=401, json={"error": {"code": "unauthorized", "message": "no"}})

    # Two tokens of one second are equal, so the token does not tell whether it was renewed.
    console.page.on("request", lambda one: renewals.append(one.url) if one.url.endswith("/session") else None)
    console.page.route("**/api/v1/**", refuse_until_renewed)
    console.link("Audit log").click()

    console.sees_heading("Audit log")
    expect(console.page.get_by_role("row").nth(1)).to_be_visible()
    assert refused
    assert len(renewals) == 1


def test_an_admin_removes_a_person_and_invites_the_person_again_with_another_role(consoles: list[Console]) -> None:
    ada, vic = consoles
    sign_in(vic, VIC)
    assert vic.page.get_by_role("link", name="People").count() == 0
    sign_in(ada, ADA, "/app/people")
    row(ada, VIC).get_by_role("button", name="Remove").click()
    ada.confirm("Remove")
    expect(row(ada, VIC)).to_have_count(0)

    vic.page.reload()

    vic.sees_heading("You belong to no app")
    ada.button("Invite").click()
    ada.page.get_by_label("Email").fill(VIC)
    ada.page.get_by_role("radio", name="Editor").check()
    ada.confirm("Invite")
    expect(row(ada, VIC)).to_contain_text("Editor")
    vic.link("Sign in again").click()
    vic.button(VIC).click()
    expect(vic.link("Compose")).to_be_visible()
    ada.page.reload()
    ada.button("Change the role of Vic Viewer").click()
    ada.page.get_by_role("radio", name="Viewer").check()
    ada.confirm("Change")
    expect(row(ada, VIC)).to_contain_text("Viewer")


def test_an_admin_creates_rotates_and_revokes_a_key_whose_text_is_shown_once(console: Console) -> None:
    service, page = console.service, console.page
    sign_in(console, ADA, "/app/api_keys")
    console.button("Create key").click()
    page.get_by_label("Name", exact=True).fill("Nightly import")
    page.get_by_role("radio", name="Read only").check()
    console.confirm("Create")
    first = page.locator(".secret code").inner_text()
    console.confirm("Done")
    about = service.call("GET", "/api/v1/api_key", key=first).json["data"]
    assert (about["name"], about["scope"]) == ("Nightly import", "read_only")
    assert first not in page.content()

    console.button("Rotate Nightly import").click()
    console.confirm("Rotate")
    second = page.locator(".secret code").inner_text()
    console.confirm("Done")
    expect(row(console, "Nightly import")).to_have_count(2)
    row(console, "Nightly import").filter(has_text="replaced").get_by_role("button", name="Revoke").click()
    console.confirm("Revoke")
    expect(row(console, "Nightly import")).to_have_count(1)

    assert service.call("GET", "/api/v1/api_key", key=second).status == 200
