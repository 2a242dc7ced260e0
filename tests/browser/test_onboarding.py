"""The onboarding page and the console show the progress of the setup of a Web Connector live."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

from domain.connections.onboarding import MAX_PASSWORDS
from simulator.basics.errors import TransportError
from simulator.runs.scheduler import Simulator
from simulator.web_connector.transport import HttpTransport
from tests.browser.support import onboarding_link, query
from tests.e2e.support import generated_company
from tests.support.web_connector.connector import soap_call

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.support import Console
    from tests.e2e.support import Connection


FOCUS = """() => {
    const one = document.activeElement;
    const { left, top, bottom, width } = one.getBoundingClientRect();
    const at = (y) => document.elementFromPoint(left + width / 2, y);
    const isCovered = ![top + 3, bottom - 3].every((y) => one.contains(at(y)));
    return [`${one.tagName} ${one.textContent.trim().slice(0, 60)} ${one.id}`, isCovered];
}"""
"""Returns what has the focus, and whether something else is at its upper or lower edge."""


def is_uncovered_after_scrolling(page: Page) -> bool:
    """Wait until nothing covers what has the focus. The page may scroll for seconds on a busy machine."""
    try:
        page.wait_for_function(f"!({FOCUS})()[1]", timeout=10_000)
    except PlaywrightTimeoutError:
        return False
    return True


def web_connector(connection: Connection, password: str | None = None) -> Simulator:
    """Return a Web Connector that has opened the connection's .qwc file."""
    qwc = connection.service.call("POST", f"{connection.path}/qwc").json["qwc"]
    return Simulator(qwc, password or connection.password, connection.company)


def test_a_customer_is_led_from_the_link_to_connected(console: Console) -> None:
    connection = console.service.connection()
    console.open(onboarding_link(console, connection.path, redirect_url=f"{console.service.base_url}/support"))
    console.sees_heading("Connect QuickBooks for Test")
    with console.page.expect_download() as download:
        console.button("Download the file").click()
    qwc = download.value.path().read_text(encoding="utf-8")
    console.button("Show the password").click()
    password = console.page.locator(".secret code").inner_text()
    console.sees("Waiting for QuickBooks")

    Simulator(qwc, password, generated_company()).run_once()
    come_back(console)

    console.sees_heading("Connected to ")
    console.page.wait_for_url("**/support?state=connected")


def come_back(console: Console) -> None:
    """Return to the page from another window, which makes it look at once."""
    console.page.evaluate("dispatchEvent(new Event('focus'))")


def no_api_words(console: Console) -> None:
    """Check that the page names nothing that only a developer knows."""
    text = console.page.locator("main").inner_text()
    assert not re.search(r"POST|PATCH|GET /|/api/|reset_company_file|accept_company_file|last_error", text)


def happened(console: Console) -> list[int]:
    """Return the numbers of the steps that are ticked."""
    titles = console.page.locator(".step.done").evaluate_all("steps => steps.map(step => step.ariaLabel)")
    return [int(title.removeprefix("Step ").partition(":")[0]) for title in titles]


LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="teal"/></svg>'


def test_a_right_password_is_not_connected_before_quickbooks_answers(console: Console) -> None:
    connection = console.service.connection()
    connector = web_connector(connection)
    console.open(onboarding_link(console, connection.path))
    console.sees("Waiting for QuickBooks")
    assert happened(console) == []

    (url,) = re.findall("<AppURL>([^<]+)", console.service.call("POST", f"{connection.path}/qwc").json["qwc"])
    body = soap_call("authenticate", connection.id, connection.password)
    status, _ = HttpTransport().post(url, {"Content-Type": "text/xml"}, body)
    assert status == 200
    come_back(console)

    console.sees("The password is right. Testing QuickBooks …")
    assert happened(console) == [1, 2, 3, 4, 5]
    assert console.service.call("GET", connection.path).json["data"]["quickbooks_status"] == "testing"
    connector.run_once()
    come_back(console)
    console.sees_heading("Connected to ")
    data = console.service.call("GET", connection.path).json["data"]
    assert data["quickbooks_status"] == "connected"
    assert data["company_name"]


@pytest.mark.parametrize(
    ("hresult", "says", "step"),
    [
        ("0x80040414", "A dialog is open in QuickBooks", 1),
        ("0x80040403", "QuickBooks cannot open", 1),
        ("0x8004041A", "The application may not use this company file", 3),
        ("0x80040418", "The application has no access to this company file yet", 3),
        ("0x80040408", "The Web Connector cannot start QuickBooks", 1),
        ("0x8FFFFFFF", "QuickBooks reported an error", 1),
    ],
)
def test_a_file_that_cannot_be_opened_shows_the_next_step_until_it_opens(
    console: Console, hresult: str, says: str, step: int
) -> None:
    connection = console.service.connection()
    connection.company.open_error = hresult
    connector = web_connector(connection)
    console.open(onboarding_link(console, connection.path))

    connector.run_once()
    come_back(console)

    console.sees(says)
    expect(console.page.get_by_label(f"Step {step}:")).to_contain_text("to do again")
    expect(console.page.locator(".live ol li").last).to_be_visible()
    no_api_words(console)
    connection.company.open_error = None
    connector.run_once()
    come_back(console)
    console.sees_heading("Connected to ")


def test_the_page_says_who_asks_and_whom_to_phone(console: Console) -> None:
    console.service.operate(
        "set_contact",
        app_id=console.service.app_id,
        name="Bluewater Books",
        phone="+1 555 010 0199",
        email="help@bluewater.example",
        logo_url="https://bluewater.example/logo.png",
    )
    connection = console.service.connection()

    console.page.route(
        "https://bluewater.example/logo.png", lambda route: route.fulfill(body=LOGO, content_type="image/svg+xml")
    )
    console.open(onboarding_link(console, connection.path))

    who = console.page.get_by_label("Request for access")
    expect(who).to_contain_text("Bluewater Books asks for access")
    expect(who.get_by_role("link", name="Phone +1 555 010 0199")).to_have_attribute("href", "tel:+15550100199")
    assert who.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 64


def test_a_phone_offers_to_send_the_link_to_the_computer(console: Console, browser: Browser) -> None:
    connection = console.service.connection()
    path = onboarding_link(console, connection.path)
    context = browser.new_context(user_agent="Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148")
    page = context.new_page()
    page.goto(console.service.base_url + path)

    mail = page.get_by_role("link", name="Email the link").get_attribute("href") or ""

    assert quote(console.service.base_url + path, safe="") in mail
    context.close()


def test_the_drawings_stay_inside_their_windows(console: Console) -> None:
    connection = console.service.connection()
    console.open(onboarding_link(console, connection.path))
    console.sees_heading("Choose Update Selected")

    outside = console.page.locator("figure svg").evaluate_all(OUTSIDE)

    assert outside == []


OUTSIDE = """(drawings) => drawings.flatMap((drawing) => {
  const frame = drawing.querySelector("rect").getBoundingClientRect();
  return [...drawing.querySelectorAll("text, rect, path")].filter((part) => {
    const box = part.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
  }).map((part) => part.textContent || part.outerHTML);
})"""
"""Returns the parts of drawings that reach beyond their first rectangle, which is the window."""


@pytest.mark.parametrize(("width", "height"), [(390, 560), (1280, 620)])
def test_no_part_of_the_page_covers_what_has_the_focus(console: Console, width: int, height: int) -> None:
    console.page.set_viewport_size({"width": width, "height": height})
    console.open(onboarding_link(console, console.service.connection().path))
    console.sees("Waiting for QuickBooks")

    covered, seen = [], set()
    for _ in range(60):
        console.page.keyboard.press("Tab")
        name, is_covered = console.page.evaluate(FOCUS)
        if name in seen or name.startswith("BODY"):
            break
        seen.add(name)
        if is_covered and not is_uncovered_after_scrolling(console.page):
            covered.append(name)

    assert len(seen) > 3
    assert covered == []


def test_a_replaced_link_explains_that_it_was_replaced(console: Console) -> None:
    connection = console.service.connection()
    former = onboarding_link(console, connection.path)
    onboarding_link(console, connection.path)

    console.open(former)

    console.sees("This link is not valid")


def test_an_expired_link_leads_back(console: Console) -> None:
    body = {
        "error": {
            "code": "not_found",
            "message": "expired",
            "details": {"redirect_url": "https://shop.example/back?a=1"},
        }
    }
    console.page.route("**/onboarding/connection", lambda route: route.fulfill(status=410, json=body))
    connection = console.service.connection()

    console.open(onboarding_link(console, connection.path))

    console.sees("This link has expired")
    expect(console.link("Go back")).to_have_attribute("href", "https://shop.example/back?a=1&state=expired")


# --- What went wrong ---------------------------------------------------------------------------------------------


def test_a_wrong_password_is_reported_live_until_it_is_right(console: Console) -> None:
    connection = console.service.connection()
    console.open(onboarding_link(console, connection.path))
    console.sees("Waiting for QuickBooks")

    web_connector(connection, "not the password").run_once()
    come_back(console)

    console.sees("The Web Connector called with a wrong password")
    assert happened(console) == [1, 2, 3]
    expect(console.page.get_by_label("Step 4:")).to_contain_text("to do again")
    console.button("Show a new password").click()
    password = console.page.locator(".secret code").inner_text()
    come_back(console)
    console.sees("Waiting for QuickBooks")
    web_connector(connection, password).run_once()
    come_back(console)
    console.sees_heading("Connected to ")


class UnknownCertificate(HttpTransport):
    """A Windows that does not know who signed the certificate of the service."""

    def get(self, url: str) -> int:
        """Refuse the connection."""
        message = f"The remote certificate of {url} is invalid according to the validation procedure."
        raise TransportError(message)


def test_an_unknown_certificate_leads_to_its_remedy_and_then_to_connected(console: Console) -> None:
    connection = console.service.connection()
    qwc = console.service.call("POST", f"{connection.path}/qwc").json["qwc"]
    console.open(onboarding_link(console, connection.path))

    refused = Simulator(qwc, connection.password, connection.company, transport=UnknownCertificate()).run_once()
    come_back(console)

    assert refused.error == 1048
    console.button("The Web Connector shows an error").click()
    console.button("QBWC1048").click()
    expect(console.page.get_by_text("Open this page in Edge")).to_be_in_viewport()
    web_connector(connection).run_once()
    come_back(console)
    console.sees_heading("Connected to ")


def test_the_console_reports_a_wrong_password(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    web_connector(connection, "not the password").run_once()

    console.sign_in(f"/app/connections/{connection.id}")

    expect(console.page.locator(".page-head .badge")).to_have_text("Wrong password")
    console.sees("The Web Connector called with a wrong password")
    connection.run_session()
    console.page.reload()
    expect(console.page.locator(".page-head .badge")).to_have_text("Connected")


def test_another_company_file_is_reported_with_a_remedy(console: Console) -> None:
    connection = console.service.connection()
    connector = web_connector(connection)
    query(connection)
    connector.run_once()
    console.open(onboarding_link(console, connection.path))
    console.sees("Waiting for QuickBooks")
    for fields in connection.company.private_fields.values():
        fields["FileID"] = "{0F2A9C11-5D3E-4B7A-8C61-2E9D4A7B1C30}"
    query(connection)

    connector.run_once()
    come_back(console)

    console.sees("Open the file Simulated Company")
    console.sees("Open or Restore Company")
    expect(console.page.get_by_label("Step 1")).to_contain_text("to do again")
    no_api_words(console)


def test_a_link_that_has_set_all_its_passwords_says_so_beside_the_button(console: Console) -> None:
    connection = console.service.connection()
    console.open(onboarding_link(console, connection.path))
    for _ in range(MAX_PASSWORDS):
        console.button("Show the password").click()
        expect(console.page.locator(".secret code")).to_be_visible()
        console.page.reload()

    console.button("Show the password").click()

    expect(console.page.locator("#password").get_by_role("alert")).to_be_in_viewport()
    expect(console.page.locator("#password").get_by_role("alert")).to_contain_text("Ask whoever sent you the link")


def test_the_path_of_a_moved_company_file_is_accepted_in_the_console(console: Console) -> None:
    connection = console.service.connection()
    connector = web_connector(connection)
    query(connection)
    connector.run_once()
    connection.company.path = "D:\\Moved\\Company.qbw"
    query(connection)
    console.open(onboarding_link(console, connection.path))
    console.sees("Waiting for QuickBooks")
    connector.run_once()
    come_back(console)
    console.sees("The file Company.qbw is open in another location")

    console.sign_in(f"/app/connections/{connection.id}")
    console.button("Accept this path").click()
    expect(console.page.get_by_role("dialog").locator("code")).to_have_text(connection.company.path)
    console.confirm("Accept")

    expect(console.button("Accept this path")).to_have_count(0)
    connector.run_once()
    expect(console.page.locator(".page-head .badge")).to_have_text("Connected")


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("QBWC1039", "choose Remove"),
        ("Another message", "write down its number"),
        ("No message", "Tick the application"),
    ],
)
def test_after_two_minutes_without_a_call_the_page_asks_for_the_message_in_windows(
    console: Console, message: str, says: str
) -> None:
    connection = console.service.connection()
    console.page.clock.install()
    console.open(onboarding_link(console, connection.path))
    console.sees("Waiting for QuickBooks")

    console.page.clock.fast_forward("02:05")

    console.sees("The Web Connector has not called yet")
    console.button(message).click()
    expect(console.page.locator("details[open]")).to_contain_text(says)
