"""The onboarding page and the console show the progress of the setup of a Web Connector live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from domain.connections.onboarding import MAX_PASSWORDS
from simulator.company import Company
from simulator.runs.scheduler import Simulator
from tests.browser.support import query

if TYPE_CHECKING:
    from tests.browser.support import Console
    from tests.e2e.support import Connection


def web_connector(connection: Connection, password: str | None = None) -> Simulator:
    """Return a Web Connector that has opened the connection's .qwc file."""
    qwc = connection.service.call("POST", f"{connection.path}/qwc").json["qwc"]
    return Simulator(qwc, password or connection.password, connection.company)


def onboarding_link(console: Console, connection_path: str, **body: str) -> str:
    """Create a link and return its path."""
    link: str = console.service.call("POST", f"{connection_path}/onboarding_url", body).json["data"]["links"][
        "onboarding"
    ]
    return "/onboarding#" + link.partition("#")[2]


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

    Simulator(qwc, password, Company.generated()).run_once()

    console.sees("QuickBooks is connected")
    console.page.wait_for_url("**/support?state=connected")


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

    console.sees("The Web Connector called with a wrong password")
    console.button("Show a new password").click()
    password = console.page.locator(".secret code").inner_text()
    console.sees("Waiting for QuickBooks")
    web_connector(connection, password).run_once()
    console.sees("QuickBooks is connected")


def test_the_console_reports_a_wrong_password(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    web_connector(connection, "not the password").run_once()

    console.sign_in(f"/app/connections/{connection.id}")

    expect(console.page.locator(".page-head .badge")).to_have_text("Wrong password")
    console.sees("The Web Connector called with a wrong password")
    connection.run_session()
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

    console.sees("Another company file is open")
    console.button("What to click").click()
    expect(console.page.locator("details[open]")).to_contain_text("Open or Restore Company")


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
    console.sees("The company file is open at another place")

    console.sign_in(f"/app/connections/{connection.id}")
    console.button("Accept this path").click()
    expect(console.page.get_by_role("dialog").locator("code")).to_have_text(connection.company.path)
    console.confirm("Accept")

    expect(console.button("Accept this path")).to_have_count(0)
    connector.run_once()
    expect(console.page.locator(".page-head .badge")).to_have_text("Connected")


@pytest.mark.parametrize(
    ("message", "says"),
    [("QBWC1039", "choose Remove"), ("QBWC1048", "Open this page in Edge"), ("No message", "Tick the application")],
)
def test_after_two_minutes_without_a_call_the_page_asks_for_the_message_in_windows(
    console: Console, message: str, says: str
) -> None:
    connection = console.service.connection()
    console.page.clock.install()
    console.open(onboarding_link(console, connection.path))
    console.sees("Waiting for QuickBooks")

    console.page.clock.fast_forward("02:05")

    console.sees("Nothing has called yet")
    console.button(message).click()
    expect(console.page.locator("details[open]")).to_contain_text(says)
