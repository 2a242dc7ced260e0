"""Many requests of a list at once: rows that are selected, and all that match filters, a range of time or a search."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.support import query

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Request

    from tests.browser.support import Console
    from tests.e2e.support import Connection


def queued(connection: Connection, number: int, label: str) -> list[str]:
    """Queue queries with a label and return their ids."""
    body = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 2}]}}}
    ids: list[str] = []
    for start in range(0, number, 25):
        requests = [body | {"label": label}] * min(25, number - start)
        answer = connection.service.call("POST", f"{connection.path}/queued_requests/batch", {"requests": requests})
        assert answer.status == 201
        ids += [one["id"] for one in answer.json["data"]]
    return ids


def states_of(connection: Connection) -> dict[str, int]:
    """Return the states of a connection's requests that have any."""
    counts = connection.service.call("GET", f"{connection.path}/queued_requests?page_size=1").json["counts"]
    return {state: number for state, number in counts.items() if number}


def bar(console: Console) -> Locator:
    """Return what can be done with many requests."""
    return console.page.get_by_role("group", name="Many requests")


def bodies_of(console: Console, path: str) -> list[dict[str, Any]]:
    """Note the bodies of calls of an address from now on."""
    bodies: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.method == "POST" and request.url.endswith(path):
            bodies.append(json.loads(request.post_data or "{}"))

    console.page.on("request", note)
    return bodies


def test_only_the_rows_that_are_selected_are_discarded_and_queued_again(console: Console) -> None:
    connection = console.service.connection()
    ids = queued(connection, 5, "import")
    console.sign_in(f"/app/connections/{connection.id}")
    boxes = console.page.get_by_role("checkbox", name="Select Customer query")
    everything = console.page.get_by_role("checkbox", name="Select all on this page")

    boxes.nth(1).check()
    boxes.nth(3).check()
    expect(bar(console)).to_contain_text("2 selected")
    assert everything.evaluate("(box) => box.indeterminate")
    bar(console).get_by_role("button", name="Discard").click()
    console.sees_heading("Discard 2 requests?")
    assert states_of(connection) == {"waiting": 5}
    console.confirm("Discard")
    console.sees("2 requests discarded.")
    console.confirm("Close")

    newest_first = ids[::-1]
    discarded = {request_id for request_id in ids if connection.record(request_id)["state"] == "discarded"}
    assert discarded == {newest_first[1], newest_first[3]}
    expect(bar(console)).to_have_count(0)
    everything.check()
    bar(console).get_by_role("button", name="Queue again").click()
    console.sees_heading("Queue 2 requests again?")
    console.sees("Left out: 3.")
    console.confirm("Queue again")
    console.sees("2 requests queued again.")
    assert states_of(connection) == {"waiting": 5, "discarded": 2}


def test_a_selection_is_extended_to_all_that_match_and_ends_with_other_filters(console: Console) -> None:
    connection = console.service.connection()
    queued(connection, 30, "import")
    console.sign_in(f"/app/connections/{connection.id}")

    console.page.get_by_role("checkbox", name="Select Customer query").first.check()
    expect(bar(console)).to_contain_text("1 selected")
    bar(console).get_by_role("button", name="Select all 30").click()
    expect(bar(console)).to_contain_text("All 30 requests")
    console.page.get_by_label("State", exact=True).select_option("Waiting")
    expect(bar(console)).to_contain_text("All 30 requests that match")
    expect(console.page.get_by_role("checkbox", name="Select Customer query").first).not_to_be_checked()
    bar(console).get_by_role("button", name="Discard").click()
    console.confirm("Discard")
    console.sees("30 requests discarded.")
    console.confirm("Close")
    console.sees("No request matches")
    assert states_of(connection) == {"discarded": 30}


def test_a_bulk_discard_leads_to_the_requests_of_its_filters_that_quickbooks_has_answered(console: Console) -> None:
    connection = console.service.connection()
    queued(connection, 2, "import")
    connection.run_session()
    queued(connection, 3, "import")
    times = "range=custom&from=2020-01-01T00:00:00.000Z&to=2999-01-01T00:00:00.000Z"
    console.sign_in(f"/app/connections/{connection.id}?state=waiting&{times}")

    bar(console).get_by_role("button", name="Discard").click()
    console.confirm("Discard")
    console.sees("3 requests discarded.")
    console.page.get_by_role("link", name="those that it has answered").click()

    expect(console.page.get_by_role("dialog")).to_have_count(0)
    expect(console.page.locator("tbody tr.clickable")).to_have_count(2)
    query_of_page = parse_qs(urlsplit(console.page.url).query)
    assert query_of_page == parse_qs(f"state=response_received&{times}")


def test_webhooks_that_failed_in_a_range_of_time_are_sent_again_within_four_clicks(console: Console) -> None:
    connection = console.service.connection()
    query(connection, webhook_url="http://127.0.0.1:9/refused")
    connection.run_session()
    console.sign_in(f"/app/connections/{connection.id}")
    bodies = bodies_of(console, "/redeliver")

    console.page.get_by_label("Webhook", exact=True).select_option("Retrying")
    console.page.get_by_label("Time", exact=True).select_option("Today")
    expect(bar(console)).to_contain_text("1 request matches")
    expect(bar(console).get_by_role("button")).to_have_text(["Queue again", "Redeliver webhooks"])
    bar(console).get_by_role("button", name="Redeliver webhooks").click()
    console.sees_heading("Send 1 webhook again?")
    console.confirm("Redeliver webhooks")
    console.sees("1 webhook is being sent again.")

    midnight = re.compile(r"T0[45]:00:00\.000Z$")  # of New York
    for body in bodies:
        assert midnight.search(body["filter"].pop("updated_since"))
        assert (body["filter"], body["include_pending"]) == ({"webhook_retrying": True}, True)
    assert [body["dry_run"] for body in bodies] == [True, False]


def test_a_range_of_the_queueing_and_of_the_last_change_are_different_conditions(console: Console) -> None:
    connection = console.service.connection()
    queued(connection, 2, "import")
    bodies = bodies_of(console, "/discard")
    times = "from=2020-01-01T00:00:00.000Z&to=2999-01-01T00:00:00.000Z"

    console.sign_in(f"/app/connections/{connection.id}?state=waiting&{times}")
    bar(console).get_by_role("button", name="Discard").click()
    console.confirm("Cancel")
    console.page.get_by_role("group", name="Filter by time").get_by_role("button", name="Last change").click()
    expect(console.page.locator(".range")).to_contain_text("Last change")
    bar(console).get_by_role("button", name="Discard").click()
    console.sees_heading("Discard 2 requests?")

    first, second = (body["filter"] for body in bodies)
    span = ("2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z")
    assert first == {"state": "waiting", "from": span[0], "to": span[1]}
    assert second == {"state": "waiting", "updated_since": span[0], "updated_before": span[1]}


def test_the_results_of_a_search_are_discarded_in_parts_and_nothing_else(console: Console) -> None:
    connection = console.service.connection()
    mine, other = queued(connection, 130, "Grünwald"), queued(connection, 3, "kept")
    bodies = bodies_of(console, "/discard")
    console.sign_in(f"/app/connections/{connection.id}?search=gr%C3%BCnwald")

    bar(console).get_by_role("button", name="Discard").click()
    console.sees_heading("Discard 130 requests?")
    late = queued(connection, 1, "Grünwald")
    console.confirm("Discard")
    console.sees("130 requests discarded.")

    assert states_of(connection) == {"discarded": 130, "waiting": 4}
    assert {connection.record(request_id)["state"] for request_id in (*other, *late)} == {"waiting"}
    parts = [body["filter"]["ids"] for body in bodies if body["cursor"] is None]
    assert [len(ids) for ids in parts] == [100, 30, 100, 30]
    assert sorted(parts[0] + parts[1]) == sorted(mine)


def test_a_read_only_key_cannot_select(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]

    console.sign_in(f"/app/connections/{connection.id}?state=waiting", key=key)

    expect(console.page.locator("table.requests tbody tr")).to_have_count(1)
    assert console.page.get_by_role("checkbox").count() == 0
    assert bar(console).count() == 0


def test_webhooks_are_not_counted_while_a_bound_is_half_a_date(console: Console) -> None:
    """A browser gives such a date the text of an empty field, and without the bound more webhooks would be sent."""
    connection = console.service.connection()
    query(connection)
    console.sign_in(f"/app/connections/{connection.id}")
    console.button("Bulk actions").click()
    console.page.get_by_label("Redeliver webhooks").check()
    since = console.page.get_by_label("Failed since (optional)", exact=True)
    since.fill("")
    since.press_sequentially("0131")
    bodies = bodies_of(console, "/redeliver")

    console.button("Count").click()
    expect(since).to_be_focused()
    console.sees_heading("Bulk actions")
    assert bodies == []
