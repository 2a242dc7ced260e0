"""The console without a mouse: keys, the focus after a change of view, scroll positions, colours of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.support import Console, query, seed_session

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route, ViewportSize

    from tests.e2e.support import Connection


@pytest.fixture
def connection(console: Console) -> Connection:
    """Return a connection with 30 requests. The window is signed in."""
    connection = console.service.connection()
    for _ in range(30):
        query(connection)
    console.keep_signed_in()
    return connection


def test_single_keys_search_move_and_explain(console: Console, connection: Connection) -> None:
    console.open(f"/app/connections/{connection.id}")
    links = console.page.locator("tr.clickable a.title")
    expect(links).to_have_count(20)
    keyboard = console.page.keyboard

    keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    keyboard.press("j")
    keyboard.press("j")
    keyboard.press("k")
    expect(links.nth(1)).to_be_focused()
    for _ in range(25):
        keyboard.press("j")
    expect(links.nth(19)).to_be_focused()
    expect(links.nth(19)).to_be_in_viewport()
    keyboard.press("/")
    expect(console.page.get_by_label("Search requests")).to_be_focused()
    keyboard.type("j/k?")
    expect(console.page.get_by_label("Search requests")).to_have_value("j/k?")
    console.sees("No request matches")
    console.page.locator("main").focus()
    keyboard.press("?")
    expect(console.page.get_by_role("dialog", name="Keyboard")).to_be_visible()


def test_the_single_keys_can_be_switched_off(console: Console, connection: Connection) -> None:
    console.open(f"/app/connections/{connection.id}")
    links = console.page.locator("tr.clickable a.title")
    expect(links).to_have_count(20)
    console.button("Keyboard").click()
    console.page.get_by_label("Use these single keys").uncheck()
    console.confirm("Close")

    console.page.keyboard.press("j")

    expect(links.nth(0)).not_to_be_focused()
    console.page.reload()
    expect(links).to_have_count(20)
    console.page.keyboard.press("/")
    expect(console.page.get_by_label("Search requests")).not_to_be_focused()


PHONE: ViewportSize = {"width": 390, "height": 800}


@pytest.mark.parametrize("way", ["key", "button"])
def test_the_list_of_keys_fits_a_phone_whether_or_not_the_menu_is_open(
    console: Console, connection: Connection, way: str
) -> None:
    console.page.set_viewport_size(PHONE)
    console.open(f"/app/connections/{connection.id}")
    expect(console.page.locator("tr.clickable a.title").first).to_be_visible()
    if way == "button":
        console.button("Menu").click()
        console.button("Keyboard").click()
    else:
        console.page.keyboard.press("?")

    dialog = console.page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert box["height"] <= PHONE["height"]
    console.confirm("Close")
    expect(dialog).to_be_hidden()
    expect(console.button("Keyboard")).to_be_visible(visible=way == "button")


def test_the_heading_has_the_focus_after_a_change_of_view(console: Console, connection: Connection) -> None:
    console.open(f"/app/connections/{connection.id}")
    heading = console.page.locator("main h1")
    expect(heading).to_have_text("Test")
    expect(heading).not_to_be_focused()

    console.link("Customer query").click()
    expect(heading).to_have_text("Customer query")
    expect(heading).to_be_focused()
    for link in ("QBXML reference", "Connections", "New connection", "Compose"):
        console.link(link).click()
        expect(heading).to_be_focused()
    console.page.go_back()
    expect(heading).to_have_text("New connection")
    expect(heading).to_be_focused()


def test_typing_is_not_interrupted_by_the_focus_of_the_heading(console: Console, connection: Connection) -> None:
    console.open("/app")
    console.sees_heading("Connections")
    console.page.evaluate("(path) => history.pushState(null, '', path)", f"/app/connections/{connection.id}")
    console.page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    search = console.page.get_by_label("Search requests")
    search.click()
    search.press_sequentially("customer", delay=60)

    expect(search).to_be_focused()
    expect(search).to_have_value("customer")


def settled_position(console: Console, row: Locator) -> float:
    """Return the place of a row in the window as soon as it no longer changes."""
    positions = [-1.0, -2.0]
    while positions[-1] != positions[-2]:
        console.page.wait_for_timeout(400)
        positions.append(row.evaluate("row => row.getBoundingClientRect().top"))
    return positions[-1]


@pytest.mark.parametrize("way", ["back", "reload"])
def test_the_scroll_position_is_restored(console: Console, connection: Connection, way: str) -> None:
    """The rows are where they were. The page above them may have become longer since."""
    page = console.page
    rows = page.locator("tr.clickable")
    console.open(f"/app/connections/{connection.id}")
    expect(rows).to_have_count(20)
    page.mouse.wheel(0, 400)
    position = settled_position(console, rows.nth(12))
    assert page.evaluate("scrollY") > 200

    if way == "back":
        # A click with the mouse would first scroll to the row.
        rows.nth(12).locator("a.title").evaluate("link => link.click()")
        expect(page.locator("main h1")).to_have_text("Customer query")
        assert page.evaluate("scrollY") == 0
        page.go_back()
    else:
        page.reload()

    expect(rows).to_have_count(20)
    assert settled_position(console, rows.nth(12)) == pytest.approx(position, abs=3)


def test_states_differ_in_forced_colours_by_more_than_a_background(console: Console, connection: Connection) -> None:
    console.page.emulate_media(forced_colors="active")
    console.open(f"/app/connections/{connection.id}?state=waiting")
    badge = console.page.locator("tr.clickable .badge").first
    expect(badge).to_be_visible()

    assert badge.evaluate("one => getComputedStyle(one).borderTopStyle") == "solid"
    chosen = console.page.locator(".number-card[aria-current=true]")
    assert chosen.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_a_read_only_key_is_told_that_it_cannot_create_a_connection(console: Console) -> None:
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]

    console.sign_in("/app/connections/new", key=key)

    console.sees_heading("You cannot do this")
    console.sees("This key is read-only.")
    assert console.button("Create connection").count() == 0


def palette(console: Console) -> Locator:
    """Press Ctrl-K and return the field."""
    console.page.keyboard.press("Control+k")
    return console.page.get_by_role("combobox", name="Connection, request or action")


def test_ctrl_k_is_not_lost_while_the_page_is_loading(console: Console, connection: Connection) -> None:
    held: list[Route] = []
    console.page.route("**/main.js", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    with console.page.expect_request("**/main.js"):
        console.page.goto(f"{console.service.base_url}/app/connections/{connection.id}", wait_until="commit")
    console.sees("Loading…")

    field = palette(console)
    held[0].continue_()

    expect(field).to_be_focused()
    console.page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    console.link("Compose").click()
    console.sees_heading("Compose")
    expect(field).to_be_hidden()


def test_ctrl_k_opens_a_connection_a_request_and_an_action(console: Console, connection: Connection) -> None:
    name = f"Zebra {connection.id[:8]}"
    connection.service.call("PATCH", connection.path, {"name": name})
    request_id = query(connection)
    console.open("/app/contact")
    console.sees_heading("Your contact")
    keyboard, page = console.page.keyboard, console.page
    chosen = page.get_by_role("listbox").get_by_role("option", selected=True)

    palette(console).fill(name.lower().replace(" ", "  "))
    expect(chosen).to_contain_text(name)
    keyboard.press("Enter")
    console.sees_heading(name)
    palette(console).fill(f"see {request_id}, please")
    expect(chosen).to_contain_text(f"Look up {request_id}")
    keyboard.press("Enter")
    console.sees_heading("Customer query")
    assert page.url.endswith(request_id)
    palette(console).fill(connection.id)
    keyboard.press("Enter")
    console.sees_heading(name)
    palette(console).fill("audit")
    keyboard.press("ArrowUp")
    expect(chosen).to_contain_text("Search requests for “audit”")
    keyboard.press("ArrowDown")
    expect(chosen).to_contain_text(f"Audit log of {name}")
    keyboard.press("Enter")
    page.wait_for_url(f"**/connections/{connection.id}/audit_log")


def test_ctrl_k_works_in_a_field_searches_and_closes(console: Console, connection: Connection) -> None:
    console.open(f"/app/connections/{connection.id}")
    expect(console.page.locator("tr.clickable")).to_have_count(20)
    console.page.get_by_label("Search requests").focus()
    # A browser that fills in a form sends a `keydown` without a key. An error in a script fails the test.
    console.page.locator(":focus").dispatch_event("keydown")

    expect(palette(console)).to_be_focused()
    palette(console).press("Escape")
    expect(console.page.get_by_label("Search requests")).to_be_focused()
    palette(console).fill("INV 1042")
    console.page.get_by_role("option", name="Search requests for “INV 1042”").click()
    console.page.wait_for_url("**/search?search=INV+1042&go=true")
    palette(console).fill("no such thing at all")
    expect(console.page.get_by_role("listbox").get_by_role("option")).to_have_count(1)


def test_ctrl_k_finds_a_connection_that_was_renamed_here(console: Console, connection: Connection) -> None:
    name = f"Renamed {connection.id[:8]}"
    console.open(f"/app/connections/{connection.id}/settings")
    console.sees_heading("Web Connector")
    palette(console).fill(connection.id)
    expect(console.page.get_by_role("option", name="Test Connection")).to_be_visible()
    console.confirm("Close")
    console.page.get_by_label("Name", exact=True).fill(name)
    console.button("Save").click()
    console.sees("The settings are saved.")

    palette(console).fill(name)

    expect(console.page.get_by_role("option", name=f"{name} Connection")).to_be_visible()


PAGES = {
    "requests": "",
    "failures": "?state=error&sort=updated_at",
    "overview": "/overview",
    "subscriptions": "/subscriptions",
    "sessions": "/sessions",
    "settings": "/settings",
    "audit log": "/audit_log",
}


@pytest.mark.parametrize("start", ["/app/contact", "/app/connections/{id}/sessions"])
def test_ctrl_k_opens_each_page_and_action_of_a_connection_from_any_page(
    console: Console, connection: Connection, start: str
) -> None:
    name, page = f"Quartz {connection.id[:8]}", console.page
    connection.service.call("PATCH", connection.path, {"name": name})
    views = {verb: f"/app/connections/{connection.id}{rest}" for verb, rest in PAGES.items()}
    views["usage"] = f"/app/usage?search={connection.id}"
    views["new request"] = f"/app/compose?connection={connection.id}"
    console.open(start.format(id=connection.id))

    for verb, address in views.items():
        palette(console).fill(f"{verb} {name.lower()}")
        expect(page.get_by_role("listbox").get_by_role("option").first).to_contain_text(name)
        page.keyboard.press("Enter")
        page.wait_for_url(console.service.base_url + address)


def test_ctrl_k_pauses_and_resumes_a_connection_after_a_question(console: Console, connection: Connection) -> None:
    name, page = f"Onyx {connection.id[:8]}", console.page
    connection.service.call("PATCH", connection.path, {"name": name})

    def paused() -> bool:
        return bool(connection.service.call("GET", connection.path).json["data"]["paused_at"])

    for verb, other in (("Pause", "Resume"), ("Resume", "Pause")):
        console.open("/app/contact")
        console.sees_heading("Your contact")
        was = paused()
        palette(console).fill(f"{verb.lower()} {name}")
        expect(page.get_by_role("listbox").get_by_role("option").first).to_contain_text(f"{verb} {name}")
        page.keyboard.press("Enter")
        question = page.get_by_role("dialog", name=f"{verb} this connection?")
        question.get_by_role("button", name="Cancel").click()
        expect(question).to_be_hidden()
        assert "ask" not in page.url
        assert paused() is was
        palette(console).fill(f"{verb.lower()} {name}")
        page.keyboard.press("Enter")

        question.get_by_role("button", name=verb).click()

        expect(console.button(other, exact=True)).to_be_visible()
        assert paused() is not was


def test_ctrl_k_offers_what_fits_after_a_connection_was_paused_here(console: Console, connection: Connection) -> None:
    name, page = f"Heron {connection.id[:8]}", console.page
    connection.service.call("PATCH", connection.path, {"name": name})
    console.open(f"/app/connections/{connection.id}")
    console.sees_heading(name)
    palette(console).fill(f"pause {name}")
    expect(page.get_by_role("option", name=f"Pause {name} Action")).to_be_visible()
    console.confirm("Close")
    console.button("Pause", exact=True).click()
    console.confirm("Pause")
    expect(console.button("Resume", exact=True)).to_be_visible()
    console.link("Contact").click()
    console.sees_heading("Your contact")

    palette(console).fill(f"resume {name}")
    expect(page.get_by_role("option", name=f"Resume {name} Action")).to_be_visible()
    palette(console).fill(f"pause {name}")
    expect(page.get_by_role("option", name=f"Pause {name} Action")).to_have_count(0)


@pytest.mark.parametrize(("state", "ask"), [("paused", "pause"), ("running", "resume"), ("running", "anything")])
def test_a_question_that_does_not_fit_is_removed_and_asks_nothing_after_an_action(
    console: Console, connection: Connection, state: str, ask: str
) -> None:
    verb, other = ("Resume", "Pause") if state == "paused" else ("Pause", "Resume")
    if state == "paused":
        connection.service.call("POST", f"{connection.path}/pause")
    dialog = console.page.get_by_role("dialog")
    console.open(f"/app/connections/{connection.id}?state=error&ask={ask}")
    console.page.wait_for_url(f"**/connections/{connection.id}?state=error")
    expect(dialog).to_have_count(0)

    console.button(verb, exact=True).click()
    if verb == "Pause":
        console.confirm("Pause")

    expect(console.button(other, exact=True)).to_be_visible()
    # A question of the address would open with the second frame.
    console.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(dialog).to_have_count(0)


def test_the_dialog_of_an_address_keeps_its_name_when_the_address_changes(
    console: Console, connection: Connection
) -> None:
    connection.service.call("POST", f"{connection.path}/pause")
    console.open(f"/app/connections/{connection.id}")
    expect(console.button("Resume", exact=True)).to_be_visible()
    palette(console).fill("resume")
    console.page.keyboard.press("Enter")
    question = console.page.get_by_role("dialog", name="Resume this connection?")
    expect(question).to_be_visible()

    console.page.evaluate(
        "history.replaceState(null, '', location.pathname); dispatchEvent(new PopStateEvent('popstate'))"
    )

    expect(console.page.get_by_role("dialog")).to_have_count(1)
    expect(question).to_be_visible()


@pytest.mark.parametrize(
    ("verb", "title"), [("new password", "Set a new password?"), ("move to a new computer", "Move to a new computer")]
)
def test_ctrl_k_opens_a_dialog_of_the_settings_and_back_leaves_it(
    console: Console, connection: Connection, verb: str, title: str
) -> None:
    name, page = f"Topaz {connection.id[:8]}", console.page
    connection.service.call("PATCH", connection.path, {"name": name})
    console.open("/app/contact")
    console.sees_heading("Your contact")
    palette(console).fill(f"{verb} {name}")
    # Until the connections are read, only a search is offered.
    expect(page.get_by_role("listbox").get_by_role("option").first).not_to_contain_text("Search requests")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=title)
    expect(dialog).to_be_visible()

    page.go_back()

    console.sees_heading("Your contact")
    expect(dialog).to_be_hidden()
    page.wait_for_timeout(300)
    assert page.url.endswith("/app/contact")


def test_ctrl_k_offers_no_action_that_the_reader_may_not_do(console: Console, connection: Connection) -> None:
    seed_session(console.page, console.service.app_id, console.service.api_key, "read_only")
    name = f"Flint {connection.id[:8]}"
    connection.service.call("PATCH", connection.path, {"name": name})
    console.open("/app/contact")
    console.sees_heading("Your contact")

    palette(console).fill(name)

    options = console.page.get_by_role("option")
    expect(options.filter(has_text=f"Sessions of {name}")).to_be_visible()
    assert not [text for text in options.all_inner_texts() if text.startswith(("Pause", "New ", "Change"))]


def test_ctrl_k_opens_the_only_request_with_a_label(console: Console, connection: Connection) -> None:
    label = f"order-{connection.id[:8]}"
    body = {"request_json": {"CompanyQueryRq": {}}, "label": label}
    request_id = str(connection.queue(body)["id"])
    console.open("/app/contact")
    console.sees_heading("Your contact")
    palette(console).fill(label.upper())
    console.page.keyboard.press("Enter")
    console.page.wait_for_url(f"**/queued_requests/{request_id}")

    connection.queue(body)
    palette(console).fill(label)
    console.page.keyboard.press("Enter")

    console.sees("2 requests with this value.")
