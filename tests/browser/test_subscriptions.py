"""Subscriptions in the console: created, read, paused, read again, edited and deleted, by those who may."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.support import Console
    from tests.e2e.support import Connection


def rows(console: Console) -> Locator:
    """Return the rows of the objects."""
    return console.page.get_by_role("region", name="Objects of Web shop").locator("tbody tr")


def stored(console: Console, connection: Connection) -> Any:
    """Return the subscription of a connection, as the API has it."""
    return console.service.call("GET", f"{connection.path}/subscriptions").json["data"][0]


def create(console: Console, connection: Connection) -> None:
    """Create a subscription in the console."""
    page = console.page
    console.sign_in(f"/app/connections/{connection.id}")
    page.get_by_role("navigation", name="Connection").get_by_role("link", name="Subscriptions").click()
    console.sees_heading("No subscriptions")
    console.button("New subscription").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("Name", exact=True).fill("Web shop")
    for phrase, name in (("invo", "Invoice"), ("ItemInv", "Inventory item")):
        dialog.get_by_label("Search objects").fill(phrase)
        dialog.get_by_role("checkbox", name=name, exact=True).check()
    dialog.get_by_label("Read every (minutes)").fill("4")
    console.confirm("Create")
    expect(dialog).to_contain_text("Enter a whole number from 5 to 1,440.")
    dialog.get_by_label("Read every (minutes)").fill("60")
    console.confirm("Create")
    console.sees("The first run begins when the Web Connector has been set up and calls.")
    expect(rows(console)).to_contain_text(["Waits to be read", "Waits to be read"])


def test_a_subscription_is_created_and_read(console: Console) -> None:
    page, connection = console.page, console.service.connection()
    create(console, connection)
    made = stored(console, connection)
    assert [one["object"] for one in made["objects"]] == ["Invoice", "ItemInventory"]
    assert (made["every_minutes"], made["start"], made["include"]) == (60, "all", {"Invoice": ["lines"]})

    connection.run_session()
    page.reload()

    expect(rows(console)).to_contain_text(["Up to date", "Up to date"])
    console.sees("Copy as of")
    read = stored(console, connection)
    expect(rows(console).first.locator("td").nth(4)).to_have_text(f"{read['objects'][0]['records']:,}")
    assert read["copied_at"] == console.service.call("GET", connection.path).json["data"]["copied_at"]

    console.button("Changes of Inventory item").click()
    dialog = page.get_by_role("dialog")
    changes = dialog.get_by_role("list", name="Changes, newest first").get_by_role("listitem")
    expect(changes.first).to_contain_text("First read")
    expect(changes.first).to_contain_text(re.compile("Changed .* · found "))
    name = str(changes.first.locator(".strong").text_content())
    changes.first.get_by_title("Only this record").click()
    expect(changes).to_have_count(1)
    console.sees("1 change in the last seven days.")
    of_record = dialog.get_by_label("Name, number, ListID or TxnID of a record")
    for text, found in (("no such record", 0), (name.upper(), 1), (name[:-1], 0), ("FFFFFFFF-1", 0)):
        of_record.fill(text)
        dialog.get_by_role("button", name="Show").click()
        expect(changes).to_have_count(found)
        console.sees(f"{found or 'No'} change in the last seven days.")


def test_a_subscription_is_run_paused_read_again_edited_and_deleted(console: Console) -> None:
    page, connection = console.page, console.service.connection()
    settings = {"objects": ["Invoice", "ItemInventory"], "name": "Web shop", "include": {"Invoice": ["lines"]}}
    console.service.call("POST", f"{connection.path}/subscriptions", settings)
    connection.run_session()
    console.sign_in(f"/app/connections/{connection.id}/subscriptions")
    expect(rows(console)).to_contain_text(["Up to date", "Up to date"])
    card, dialog = page.get_by_role("region", name="Web shop", exact=True), page.get_by_role("dialog")

    card.get_by_role("button", name="Run now").click()
    console.sees("The next run begins at the next call of the Web Connector")
    card.get_by_role("button", name="Resync").click()
    expect(dialog).to_contain_text("Programs get each record again")
    console.confirm("Resync")
    expect(rows(console)).to_contain_text(["Waits to be read", "Waits to be read"])
    card.get_by_role("button", name="Pause").click()
    console.confirm("Pause")
    console.sees("Its objects are not read until you choose Resume.")
    card.get_by_role("button", name="Resume").click()
    card.get_by_role("button", name="Edit").click()
    dialog.get_by_label("Read every (minutes)").fill("30")
    dialog.get_by_role("checkbox", name="Inventory item", exact=True).uncheck()
    dialog.get_by_label("Webhook URL").fill("ftp://hooks.example")
    console.confirm("Save")
    expect(dialog).to_contain_text("must be an absolute URL")
    dialog.get_by_label("Webhook URL").fill("http://127.0.0.1:9/changes")
    dialog.get_by_label("Balances and quantities of lists").select_option("daily")
    console.confirm("Save")
    console.sees("Balances and quantities daily")
    console.sees("Webhook to http://127.0.0.1:9")
    console.sees("Read every 30 minutes")
    expect(rows(console)).to_have_count(1)
    assert stored(console, connection)["include"] == {"Invoice": ["lines"]}
    assert stored(console, connection)["derived"] == "daily"
    card.get_by_role("button", name="Delete").click()
    console.confirm("Delete")
    console.sees_heading("No subscriptions")


def test_a_read_only_key_sees_subscriptions_and_no_action(console: Console) -> None:
    service, connection = console.service, console.service.connection()
    service.call("POST", f"{connection.path}/subscriptions", {"objects": ["Vendor"]})
    key = service.operate("create_key", app_id=service.app_id, scope="read_only")["api_key"]

    console.sign_in(f"/app/connections/{connection.id}/subscriptions", key=key)

    card = console.page.get_by_role("region", name="Vendor", exact=True)
    expect(card).to_contain_text("Waits to be read")
    expect(card.get_by_role("button")).to_have_text(["Changes"])
    expect(console.button("New subscription")).to_have_count(0)
