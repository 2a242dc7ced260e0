"""Who did what, in a real browser: the audit log of the app and of a connection."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.support import HOSTILE, query
from tests.browser.test_exports import rows_of, text_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.support import Console


def rows(console: Console) -> Locator:
    """Return the rows of the log."""
    return console.page.locator("table.audit tbody tr")


def test_the_log_of_the_app_names_connections_links_requests_and_shows_counts(console: Console) -> None:
    service = console.service
    connection = service.connection()
    service.call("PATCH", connection.path, {"name": HOSTILE})
    request_id = query(connection)
    query(connection)
    service.call("POST", f"/api/v1/queued_requests/{request_id}/discard")
    body = {"filter": {"request_name": "CustomerQueryRq"}}
    service.call("POST", f"{connection.path}/queued_requests/discard", body)

    console.sign_in()
    console.page.get_by_role("navigation", name="Main").get_by_role("link", name="Audit log").click()

    expect(rows(console).first).to_contain_text("Discarded many requests")
    expect(rows(console).first).to_contain_text("1 discarded")
    expect(rows(console).first).to_contain_text(HOSTILE)
    rows(console).nth(1).get_by_role("link", name=request_id[:8]).click()
    console.sees_heading("Customer query")


def test_connections_that_the_first_page_of_the_list_lacks_have_names_too(console: Console) -> None:
    """An app has more connections than a page of their list. A deleted one is shown by its id."""
    service = console.service
    connections = [service.connection() for _ in range(8)]
    for number, connection in enumerate(connections):
        service.call("PATCH", connection.path, {"name": f"Late {number}"})
    service.call("DELETE", connections[7].path)
    console.page.route(
        re.compile(r"/api/v1/connections\?"),
        lambda route: route.fulfill(json={"data": [], "page": 1, "total_pages": 2, "total": 101}),
    )

    console.sign_in("/app/audit_log?action=connection_changed")

    newest = rows(console).first
    expect(newest).to_contain_text(connections[7].id[:8])
    for number in range(7):
        expect(rows(console).filter(has_text=f"Late {number}")).to_have_count(1)
    expect(newest.get_by_role("link")).to_have_count(0)


def test_older_entries_are_loaded_behind_the_newest_ones(console: Console) -> None:
    service = console.service
    connection = service.connection()
    for number in range(60):
        service.call("PATCH", connection.path, {"name": f"Name {number}"})

    console.sign_in(f"/app/connections/{connection.id}/audit_log")

    expect(rows(console)).to_have_count(50)
    console.button("Show older").click()
    console.sees("This is all of them")
    assert rows(console).count() > 60
    expect(rows(console).last).to_contain_text("Created the connection")
    assert console.button("Show older").count() == 0


def test_the_log_is_filtered_and_exported_with_all_pages_that_match(console: Console) -> None:
    service = console.service
    connection = service.connection()
    for number in range(105):
        service.call("PATCH", connection.path, {"name": f"=Name {number}"})
    service.call("POST", f"{connection.path}/pause")
    console.sign_in(f"/app/connections/{connection.id}/audit_log")

    console.page.get_by_label("Action", exact=True).select_option("Paused sending")
    expect(rows(console)).to_have_count(1)
    expect(rows(console)).to_contain_text("Paused sending")
    console.page.get_by_label("Time", exact=True).select_option("Yesterday")
    console.sees("No entry matches")
    console.page.get_by_label("Time", exact=True).select_option("Today")
    expect(rows(console)).to_have_count(1)
    console.page.get_by_label("Action", exact=True).select_option("Changed settings")
    expect(rows(console)).to_have_count(50)
    with console.page.expect_download() as download:
        console.button("CSV").click()

    header, *lines = rows_of(text_of(download.value))
    entries = [dict(zip(header, line, strict=True)) for line in lines]
    assert download.value.suggested_filename == "audit-log.csv"
    assert len(entries) == 105
    assert {(entry["action"], entry["settings"], entry["actor"]) for entry in entries} == {
        ("connection_changed", "name", "api_key")
    }
    assert [entry["at_utc"] for entry in entries] == sorted((entry["at_utc"] for entry in entries), reverse=True)


def test_a_search_for_an_action_says_how_far_it_has_looked(console: Console) -> None:
    service = console.service
    connection = service.connection()
    next_position = f"2026-03-14T12:00:00.000000Z~{connection.id}~4"
    console.page.route(
        "**/audit_log?action=*limit=50",
        lambda route: route.fulfill(json={"data": [], "next": next_position}),
    )
    console.sign_in(f"/app/connections/{connection.id}/audit_log?action=connection_created")

    console.sees("No entry found yet")
    console.sees("Searched back to Mar 14, 2026, 8:00:00 AM EDT")
    console.page.unroute_all()
    console.button("Show older").click()
    console.sees("No entry matches")


def test_a_read_only_key_reads_the_log(console: Console) -> None:
    service = console.service
    key = service.operate("create_key", app_id=service.app_id, scope="read_only")["api_key"]

    console.sign_in("/app/audit_log", key=key)

    expect(rows(console).first).to_contain_text("Created an API key")
    expect(rows(console).first).to_contain_text("Operator")


def test_what_a_named_key_did_and_a_deleted_connection_show_their_names(console: Console) -> None:
    service = console.service
    connection = service.connection()
    service.call("PATCH", connection.path, {"name": "Harbor Street Bakery"})
    request_id = query(connection)
    key = service.operate("create_key", app_id=service.app_id, name=HOSTILE[:50])
    renamed = service.operate("rename_key", key_hash=key["key_hash"], name="Nightly sync")
    deleted = service.connection()
    service.call("PATCH", deleted.path, {"name": "Old Mill"})
    service.call("DELETE", deleted.path)
    console.sign_in("/app/audit_log", key=key["api_key"])

    expect(rows(console).nth(0)).to_contain_text("Old Mill")
    expect(rows(console).filter(has_text="Renamed an API key").first).to_contain_text("Nightly sync")
    expect(rows(console).filter(has_text="Created an API key").first).to_contain_text(HOSTILE[:50])
    assert renamed["name"] == "Nightly sync"
    console.open(f"/app/queued_requests/{request_id}")
    expect(console.page.locator("dl.facts")).to_contain_text("Queued by")
