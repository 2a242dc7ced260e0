"""What failed in all connections: groups by cause and by receiver, as CSV, and the bulk actions on them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

from playwright.sync_api import expect

from domain.timestamps import timestamp
from tests.browser.support import query, unsettled
from tests.browser.test_exports import rows_of, text_of
from tests.browser.test_time_ranges import NEW_YORK
from tests.e2e.support import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

    from tests.browser.support import Console
    from tests.e2e.support import Connection

RECEIVER = "http://localhost:9"
"""No other test sends webhooks there."""

UNKNOWN = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ines Failing"}}}

INVALID = {"CustomerModRq": {"CustomerMod": {"ListID": "80000009-1234567890", "EditSequence": "1", "Phone": "1"}}}


def with_refusals(console: Console, number: int) -> list[Connection]:
    """Return connections with a change of a customer that does not exist."""
    connections = [console.service.connection() for _ in range(number)]
    for connection in connections:
        connection.queue({"request_json": INVALID})
        connection.run_session()
    return connections


def failed_in(connection: Connection) -> str:
    """Return the id of the only request of a connection that failed."""
    [record] = connection.service.call("GET", f"{connection.path}/queued_requests?state=error").json["data"]
    return str(record["id"])


def attempts_at(connection: Connection, request_id: str, number: int) -> set[int | None]:
    """Wait for so many webhook attempts of a request, and return the status codes of the answers."""
    made = eventually(lambda: connection.record(request_id)["webhook_attempts"], lambda made: len(made) >= number)
    return {attempt["status_code"] for attempt in made}


def group(console: Console, title: str) -> Locator:
    """Return the group that begins with a text."""
    return console.page.locator("li.failure-group").filter(has_text=title).first


def test_the_requests_of_a_cause_are_listed_saved_and_queued_again_in_all_connections(console: Console) -> None:
    now = quote(timestamp(datetime.now(UTC)))  # other tests refuse the same change before
    connections = with_refusals(console, 2)
    console.sign_in(f"/app/failures?range=custom&from={now}")
    failed = group(console, "3120 ·")

    expect(failed).to_contain_text("2 connections")
    with console.page.expect_download() as saved:
        console.page.get_by_role("region", name="By cause").get_by_role("button", name="CSV of groups").click()
    rows = rows_of(text_of(saved.value))
    days = datetime.now(NEW_YORK).date().isoformat()
    assert saved.value.suggested_filename == f"failures-by-cause-{days}.csv"
    console.sees(f"{len(rows) - 1} row{'s' * (len(rows) > 2)} saved.")
    assert rows[0][:5] == ["cause", "code", "message", "connection_id", "connection"]
    assert {row[3] for row in rows if row[0] == "3120"} == {one.id for one in connections}
    failed.get_by_text("By connection").click()
    address = failed.get_by_role("table").get_by_role("link").first.get_attribute("href")
    assert address
    assert "to=" not in address.partition("?")[2]
    failed.get_by_role("button", name="Queue again").click()
    console.sees_heading("Queue 2 requests again?")
    console.sees("The requests are sent as they are.")
    console.sees("Remove the cause first: ")
    console.confirm("Queue again")
    console.sees("2 requests queued again.")
    console.sees("Those whose cause is still there fail again.")
    console.confirm("Close")

    for connection in connections:
        counts = console.service.call("GET", f"{connection.path}/queued_requests?page_size=1").json["counts"]
        assert counts["waiting"] == 1
    console.open(address)
    console.sees("1 request matches")


def saved_requests(console: Console, where: Locator) -> tuple[str, list[dict[str, str]]]:
    """Save requests as CSV, and return the name of the file and its rows."""
    with console.page.expect_download() as saved:
        where.get_by_role("button", name="CSV of requests").click()
    header, *rows = rows_of(text_of(saved.value))
    return saved.value.suggested_filename, [dict(zip(header, row, strict=True)) for row in rows]


def test_the_failed_requests_are_saved_with_what_was_queued_again(console: Console) -> None:
    now = quote(timestamp(datetime.now(UTC)))
    connections = with_refusals(console, 2)
    failed = {one.id: failed_in(one) for one in connections}
    again = connections[0].service.call("POST", f"/api/v1/queued_requests/{failed[connections[0].id]}/queue_again").json
    console.sign_in(f"/app/failures?range=custom&from={now}")

    of_all = saved_requests(console, console.page.get_by_role("region", name="By cause").locator("header"))
    of_group = saved_requests(console, group(console, "3120 ·"))

    days = datetime.now(NEW_YORK).date().isoformat()
    assert (of_all[0], of_group[0]) == (f"failed-requests-{days}.csv", f"failed-requests-3120-{days}.csv")
    console.sees(f"{len(of_group[1])} rows saved.")
    for _, rows in (of_all, of_group):
        own = {row["connection_id"]: row for row in rows if row["connection_id"] in failed}
        assert {one: row["request_id"] for one, row in own.items()} == failed
        assert {row["status_code"] for row in own.values()} == {"3120"}
        queued, open_ = (own[one.id] for one in connections)
        assert queued["queued_again_as"] == again["data"]["id"]
        assert queued["queued_again_link"].endswith(f"/app/queued_requests/{again['data']['id']}")
        assert (open_["queued_again_as"], open_["sent_at_utc"] > "2") == ("", True)


def test_requests_that_were_queued_again_are_not_counted_among_the_failures(console: Console) -> None:
    now = quote(timestamp(datetime.now(UTC)))
    one, other = with_refusals(console, 2)
    console.sign_in(f"/app/failures?range=custom&from={now}")
    expect(group(console, "3120 ·")).to_contain_text("2 requests")

    one.service.call("POST", f"/api/v1/queued_requests/{failed_in(one)}/queue_again")
    console.open(f"/app/failures?range=custom&from={now}")
    expect(group(console, "3120 ·")).to_contain_text("1 request + 1 queued again")

    other.service.call("POST", f"/api/v1/queued_requests/{failed_in(other)}/queue_again")
    console.open(f"/app/failures?range=custom&from={now}")
    console.page.set_viewport_size({"width": 390, "height": 900})
    expect(console.button("Show 1 cause with all queued again")).to_be_visible()
    assert console.page.evaluate("document.documentElement.scrollWidth") == 390
    console.button("Show 1 cause with all queued again").click()
    expect(group(console, "3120 ·")).to_contain_text("2 queued again")
    expect(group(console, "3120 ·").get_by_role("button", name="Queue again")).to_have_count(0)


def test_a_group_says_that_what_was_queued_again_failed_again_and_its_list_what_was_queued_again(
    console: Console,
) -> None:
    now = quote(timestamp(datetime.now(UTC)))
    [connection] = with_refusals(console, 1)
    first = failed_in(connection)
    copy = connection.service.call("POST", f"/api/v1/queued_requests/{first}/queue_again").json["data"]["id"]
    connection.run_session()
    console.sign_in(f"/app/failures?range=custom&from={now}")

    failed = group(console, "3120 ·")
    expect(failed).to_contain_text("1 request + 1 queued again")
    expect(failed).to_contain_text("It was queued again before, and failed again.")
    failed.locator("a.break").first.click()
    rows = console.page.locator("table.requests tbody tr")
    expect(rows).to_have_count(2)
    [mark] = rows.get_by_role("link", name="Queued again").all()
    assert str(mark.get_attribute("href")).endswith(copy)


def test_a_kept_address_keeps_its_bounds_and_shows_them_as_dates(console: Console) -> None:
    """Under the name of its range, an address of March would seem to mean the last 7 days."""
    connection = console.service.connection()
    console.keep_signed_in()
    march = "range=week&from=2026-03-01T00%3A00%3A00.000Z"
    for address, what in (
        (f"/app/failures?{march}", "Last change"),
        (f"/app/connections/{connection.id}?{march}", "Queued"),
        (f"/app/connections/{connection.id}/audit_log?{march}", "Time"),
    ):
        console.open(address)
        expect(console.page.get_by_label("Time", exact=True)).to_have_value("custom")
        expect(console.page.get_by_label(f"{what} from", exact=True)).to_have_value("2026-02-28")
        console.page.get_by_label("Time", exact=True).select_option("Last 7 days")
        expect(console.page.get_by_label(f"{what} from", exact=True)).to_have_count(0)
        console.page.reload()
        expect(console.page.get_by_label("Time", exact=True)).to_have_value("week")


def test_a_group_that_cannot_be_queued_again_says_why(console: Console) -> None:
    now = quote(timestamp(datetime.now(UTC)))
    connection = console.service.connection()
    unsettled(connection, UNKNOWN)
    console.sign_in(f"/app/failures?range=custom&from={now}")

    unknown = group(console, "outcome_unknown ·")
    expect(unknown).to_contain_text("QuickBooks may have executed one of these")
    expect(unknown.get_by_role("button", name="Queue again")).to_have_count(0)


def test_the_list_of_a_group_has_the_end_that_the_reader_chose(console: Console) -> None:
    with_refusals(console, 1)
    end = "&to=2999-01-01T00%3A00%3A00.000Z"
    console.sign_in(f"/app/failures?range=custom&from=2026-03-01T00%3A00%3A00.000Z{end}")

    link = group(console, "3120 ·").locator("a[href*='/connections/']").first
    expect(link).to_have_attribute("href", re.compile(re.escape(end)))


def test_an_empty_period_leads_to_the_next_longer_one(console: Console) -> None:
    calls: list[str] = []
    nothing = {"causes": [], "receivers": [], "incomplete_connections": [], "omitted_connections": 0}

    def answer(route: Route) -> None:
        calls.append(parse_qs(urlsplit(route.request.url).query)["since"][0])
        period = {"since": calls[-1], "until": timestamp(datetime.now(UTC))}
        route.fulfill(json={"data": {**nothing, **period, "omitted_groups": 0}})

    console.page.route("**/api/v1/failures?*", answer)
    console.sign_in("/app/failures")
    causes = console.page.get_by_role("region", name="By cause")
    expect(causes).to_contain_text("No request failed in the last 7 days.")
    expect(console.page.get_by_label("Time", exact=True)).to_have_value("week")
    causes.get_by_role("button", name="Look at the last 30 days").click()
    expect(causes).to_contain_text("No request failed in the last 30 days.")
    expect(causes.get_by_role("button")).to_have_count(0)

    age = [datetime.now(UTC) - datetime.fromisoformat(since) for since in (calls[0], calls[-1])]
    assert [round(one / timedelta(days=7)) for one in age] == [1, 4]
    console.open("/app/failures?range=hour&from=2026-03-01T00%3A00%3A00.000Z")
    expect(causes).to_contain_text("No request failed in this period.")
    expect(console.page.get_by_label("Time", exact=True)).to_have_value("custom")


def test_a_period_says_above_its_groups_that_it_leaves_out_what_failed_before(console: Console) -> None:
    with_refusals(console, 1)
    console.sign_in("/app/failures")
    note = console.page.locator("p", has_text="Failures and webhooks before this period are not counted")
    expect(note).to_be_visible()

    tops = [one.evaluate("one => one.getBoundingClientRect().top") for one in (note, group(console, "3120 ·"))]
    assert tops == sorted(tops)
    note.get_by_role("button", name="Look at the last 30 days").click()
    expect(console.page.get_by_label("Time", exact=True)).to_have_value("month")
    expect(note).to_be_visible()
    expect(note.get_by_role("button")).to_have_count(0)


def test_the_webhooks_that_are_not_delivered_lead_from_the_overview_to_the_failures(console: Console) -> None:
    def answer(route: Route) -> None:
        body = route.fetch().json()
        body["data"]["webhooks"] = {"pending": 0, "retrying": 2, "succeeded": 5, "failed": 1}
        route.fulfill(json=body)

    console.page.route("**/statistics?*", answer)
    console.sign_in("/app/overview")
    console.page.get_by_role("region", name="Figures").get_by_role("link", name="2 retrying, 1 failed").click()
    console.sees_heading("Failures")
    expect(console.page.get_by_label("Time", exact=True)).to_have_value("custom")

    connection = console.service.connection()
    console.open(f"/app/connections/{connection.id}/overview")
    link = console.page.get_by_role("region", name="Figures").get_by_role("link", name="2 retrying, 1 failed")
    expect(link).to_have_attribute("href", re.compile(f"/connections/{connection.id}.*webhook_state=failing"))


def test_the_webhooks_of_a_receiver_are_sent_again_in_all_connections(console: Console) -> None:
    connections = [console.service.connection() for _ in range(2)]
    ids = [query(one, webhook_url=f"{RECEIVER}/refused/{one.id}") for one in connections]
    for connection, request_id in zip(connections, ids, strict=True):
        connection.run_session()
        attempts_at(connection, request_id, 1)
    console.sign_in("/app/failures")

    group(console, RECEIVER).get_by_role("button", name="Redeliver webhooks").click()
    console.sees_heading("Send 2 webhooks again?")
    console.sees(f"whose webhook goes to {RECEIVER}")
    console.confirm("Redeliver webhooks")
    console.sees("2 webhooks are being sent again.")
    console.confirm("Close")

    for connection, request_id in zip(connections, ids, strict=True):
        assert attempts_at(connection, request_id, 2) == {None}
