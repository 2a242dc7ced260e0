"""Usage by month: on the screen, sorted, and as CSV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.support import query
from tests.browser.test_exports import rows_of, text_of

if TYPE_CHECKING:
    from tests.browser.support import Console


def test_the_requests_of_each_connection_are_shown_sorted_and_saved(console: Console) -> None:
    busy, quiet = (console.service.connection() for _ in range(2))
    for connection, number in ((busy, 3), (quiet, 1)):
        console.service.call("PATCH", connection.path, {"name": f"Usage {connection.id}"})
        for _ in range(number):
            query(connection)
        connection.run_session()
    console.sign_in("/app/usage")
    console.page.get_by_role("searchbox", name="Search connections").fill("usage ")
    rows = console.page.get_by_role("region", name="Table of connections").locator("tbody tr")

    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text(busy.id)
    expect(rows.nth(0).locator("td").nth(1)).to_have_text("3")
    expect(rows.nth(0).locator("td").nth(4)).to_have_text(re.compile(r"^about \d"))
    console.page.get_by_role("button", name="Requests").click()
    expect(rows.nth(0)).to_contain_text(quiet.id)
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.page.get_by_label("Order").select_option("Writes, largest first")
    console.page.get_by_label("Order").select_option("Requests, largest first")
    expect(rows.nth(0)).to_contain_text(busy.id)
    console.page.get_by_label("Period").select_option("This month")
    expect(rows).to_have_count(2)
    with console.page.expect_download() as saved:
        console.button("CSV by month").click()
    [row] = [row for row in rows_of(text_of(saved.value)) if row[0] == busy.id]
    assert row[3:6] == ["3", "0", "0"]
    assert float(row[6]) > 0


def test_connections_that_were_not_read_are_named_and_the_file_says_so(console: Console) -> None:
    data: dict[str, Any] = {
        "first_month": "2026-02",
        "last_month": "2026-03",
        "connections": [],
        "unread_connections": [{"id": "c0000000-0000-4000-8000-000000000001", "name": "Slow & Sons"}],
        "omitted_connections": 3,
    }
    console.page.route("**/api/v1/usage*", lambda route: route.fulfill(json={"data": data}))
    console.sign_in("/app/usage")

    console.sees("Not all connections are counted.")
    console.sees("Slow & Sons")
    console.sees("3 newer connections of this app are never read here.")
    with console.page.expect_download() as saved:
        console.button("CSV by month").click()
    assert saved.value.suggested_filename == "usage-2026-02-to-2026-03-incomplete.csv"
