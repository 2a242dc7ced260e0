"""A search of several connections, and the list of connections: searched, sorted and filtered by health."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.support import HOSTILE, query
from tests.browser.test_exports import rows_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Route

    from tests.browser.support import Console

NOON = "2026-03-14T12:00:00.000000Z"


def a_connection(number: int, **fields: Any) -> dict[str, Any]:
    """Return the item of a connection."""
    return {
        "id": f"c0000000-0000-4000-8000-{number:012}",
        "name": f"Company {number:03}",
        "status": "connected",
        "waiting_reason": None,
        "last_error": None,
        "last_connected_at": NOON,
        "paused_at": None,
        "quickbooks_status": "connected",
        "counts": {"waiting": 0, "retryable": 0, "error": 0},
    } | fields


def with_connections(console: Console, connections: list[dict[str, Any]], readable: int | None = None) -> list[str]:
    """Let the list of connections have these, in pages. Return the addresses of its calls, as they are made.

    Only the first `readable` pages are answered.
    """
    calls: list[str] = []

    def answer(route: Route) -> None:
        calls.append(route.request.url)
        asked = dict(re.findall(r"\b(page|page_size)=(\d+)", route.request.url))
        page, size = int(asked.get("page", 1)), int(asked["page_size"])
        if readable is not None and page > readable:
            return
        data = connections[(page - 1) * size : page * size]
        route.fulfill(json={"data": data, "page": page, "total_pages": -(-len(connections) // size)})

    console.page.route(re.compile(r"/api/v1/connections\?"), answer)
    return calls


def a_list(total: int) -> dict[str, Any]:
    """Return a list of requests with this total and no items."""
    return {"data": [], "page": 1, "total_pages": 1, "total": total, "counts": {}}


def test_a_search_of_all_connections_says_where_the_requests_are(console: Console) -> None:
    service = console.service
    phrase = f"Zebra {service.connection().id[:8]}"
    connections = [service.connection() for _ in range(3)]
    service.call("PATCH", connections[0].path, {"name": HOSTILE})
    body = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 2}]}}}
    for connection, number in zip(connections, (7, 1, 0), strict=True):
        for _ in range(number):
            connection.queue(body | {"label": phrase})
        query(connection)
    console.sign_in("/app")

    console.link("Search requests").click()
    console.page.get_by_role("searchbox", name="Search the requests of all connections").fill(phrase.lower())
    console.page.keyboard.press("Enter")
    console.link("Search for a part of a text").click()

    # The stack has connections of other tests too, at most 20 of which are searched at once.
    results = console.page.get_by_role("region", name="Results")
    expect(results).to_have_attribute("aria-busy", "false")
    while console.button("Search the next").count():
        console.button("Search the next").click()
        expect(results).to_have_attribute("aria-busy", "false")
    expect(results.get_by_role("status")).to_contain_text("8 requests in 2 connections.")
    first = results.locator("section.card").filter(has_text=HOSTILE)
    expect(first.locator("li")).to_have_count(5)
    first.get_by_role("link", name="Show all 7").click()
    expect(console.page.locator("table.requests tbody tr")).to_have_count(7)


def test_a_search_ends_after_20_connections_and_continues_with_the_next(console: Console) -> None:
    console.sign_in("/app/audit_log")
    with_connections(console, [a_connection(number) for number in range(50)])
    running, most, searched = [0], [0], []

    def answer(route: Route) -> None:
        running[0] += 1
        most[0] = max(most[0], running[0])
        searched.append(route.request.url)
        running[0] -= 1
        route.fulfill(json=a_list(2 if "000000000007" in route.request.url else 0))

    console.page.route("**/queued_requests?*search_phrase=*", answer)
    console.open("/app/search?search=Ann&part=true")

    console.sees("2 requests in 1 connection.")
    expect(console.page.get_by_role("status").filter(has_text="Searched 20 of 50 connections")).to_be_visible()
    console.sees("Not searched yet: 30 connections.")
    assert len(searched) == len(set(searched)) == 20
    for _ in range(2):
        console.button("Search the next").click()
    console.sees("Searched 50 of 50 connections")
    assert len(searched) == len(set(searched)) == 50
    assert console.button("Search the next").count() == 0


def limited(route: Route) -> None:
    """Answer that a limit of the app is used up."""
    error = {"code": "quota_exceeded", "message": "This app may make 60 searches per minute.", "details": {}}
    route.fulfill(status=429, headers={"Retry-After": "30"}, json={"error": error})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (limited, "60 searches per minute. Try again in 30 seconds."),
        (lambda route: None, "The search took five seconds and was stopped."),  # noqa: ARG005 - it never answers
    ],
)
def test_a_search_that_is_slow_or_limited_stops_and_says_what_it_left_out(
    console: Console, answer: Callable[[Route], None], said: str
) -> None:
    console.sign_in("/app/audit_log")
    with_connections(console, [a_connection(number) for number in range(8)])
    calls: list[str] = []

    def handle(route: Route) -> None:
        calls.append(route.request.url)
        if len(calls) <= 4:
            route.fulfill(json=a_list(1))
        else:
            answer(route)

    console.page.route("**/queued_requests?*search_phrase=*", handle)
    console.open("/app/search?search=Ann&part=true")

    console.sees(said)
    console.sees("Searched 4 of 8 connections")
    console.sees("Not searched yet: 4 connections.")
    assert len(calls) <= 7, "no more calls than may run at once"


def test_the_five_seconds_include_the_reading_of_connections_and_the_next_run_reads_on(console: Console) -> None:
    console.sign_in("/app/audit_log")
    connections = [a_connection(number) for number in range(450)]
    console.page.route("**/queued_requests?*search_phrase=*", lambda route: route.fulfill(json=a_list(0)))

    with_connections(console, connections, readable=0)
    console.open("/app/search?search=Ann&part=true")
    console.sees("The search took five seconds and was stopped.")
    console.sees("No connection was searched.")
    with_connections(console, connections, readable=2)
    console.button("Continue").click()
    console.sees("Searched 20 of more than 200 connections")
    console.sees("The list of your connections was not read to its end.")
    with_connections(console, connections)
    console.button("Search the next 20").click()
    console.sees("Searched 40 of 450 connections")


def test_a_connection_that_cannot_be_searched_is_named_and_the_others_are_searched(console: Console) -> None:
    console.sign_in("/app/audit_log")
    with_connections(console, [a_connection(number) for number in range(3)])

    def answer(route: Route) -> None:
        if "000000000001" in route.request.url:
            error = {"code": "invalid_request", "message": "The search took longer than 20 seconds.", "details": {}}
            route.fulfill(status=400, json={"error": error})
        else:
            route.fulfill(json=a_list(1))

    console.page.route("**/queued_requests?*search_phrase=*", answer)
    console.open("/app/search?search=Ann&part=true")

    console.sees("2 requests in 2 connections.")
    console.sees("Company 001 was not searched.")
    console.sees("Searched 2 of 3 connections")


@pytest.mark.parametrize(
    ("number", "fails", "said"),
    [
        (3, False, "Nothing was found"),
        (3, True, "Nothing in the connections that were searched"),
        (25, False, "Nothing in the connections that were searched"),
    ],
)
def test_nothing_was_found_only_if_all_connections_were_searched(
    console: Console, number: int, fails: bool, said: str
) -> None:
    console.sign_in("/app/audit_log")
    with_connections(console, [a_connection(one) for one in range(number)])

    def answer(route: Route) -> None:
        if fails and "000000000001" in route.request.url:
            route.fulfill(
                status=400, json={"error": {"code": "invalid_request", "message": "Too long.", "details": {}}}
            )
        else:
            route.fulfill(json=a_list(0))

    console.page.route("**/queued_requests?*search_phrase=*", answer)
    console.open("/app/search?search=Ann&part=true")

    expect(console.page.get_by_role("heading", name=said, exact=True)).to_be_visible()


HIT = {
    "id": "d0000000-0000-4000-8000-000000000001",
    "connection_id": "c0000000-0000-4000-8000-000000000001",
    "connection_name": "Company 001",
    "matched": ["number", "name"],
    "request_name": "InvoiceAddRq",
    "subject": "Ann · 1042 · 248.50",
    "label": "nightly",
    "state": "error",
    "cause": "3170",
    "message": "The object is in use.",
    "inserted_at": NOON,
}
LATE = {"id": HIT["connection_id"], "name": "Company 001", "complete_after": NOON, "reason": "time"}


def test_a_whole_value_is_found_in_all_connections_with_one_call(console: Console) -> None:
    service = console.service
    connections = [service.connection() for _ in range(2)]
    label = f"Zebra {connections[0].id[:8]}"
    service.call("PATCH", connections[0].path, {"name": HOSTILE})
    body = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 2}]}}}
    for connection in connections:
        connection.queue(body | {"label": label})
        connection.queue(body | {"label": f"{label} 2"})
    console.sign_in("/app/search")

    console.page.get_by_role("searchbox", name="Search the requests of all connections").fill(label.upper())
    console.page.keyboard.press("Enter")

    results = console.page.get_by_role("region", name="Results")
    expect(results.get_by_role("status")).to_contain_text("2 requests with this value.")
    expect(results.locator("li")).to_have_count(2)
    expect(results.locator("li").filter(has_text=HOSTILE)).to_contain_text("found as label")
    results.get_by_role("link", name="Customer query").first.click()
    console.page.wait_for_url("**/queued_requests/*")


def test_an_id_finds_the_request_or_the_connection_that_has_it(console: Console) -> None:
    service = console.service
    connection = service.connection()
    service.call("PATCH", connection.path, {"name": HOSTILE})
    request_id = query(connection)
    labelled = connection.queue({"request_json": {"CompanyQueryRq": {}}, "label": request_id})["id"]
    results = console.page.get_by_role("region", name="Results")
    items = results.locator("li")
    console.sign_in("/app/audit_log")

    console.open(f"/app/search?search={request_id.upper()}")
    expect(results.get_by_role("status")).to_have_text("2 requests with this value.")
    expect(items.first).to_contain_text("found as ID")
    expect(items.first).to_contain_text(HOSTILE)
    assert str(items.first.get_by_role("link").first.get_attribute("href")).endswith(request_id)
    expect(items.nth(1)).to_contain_text("found as label")
    console.open(f"/app/search?search={connection.id}")
    expect(results.get_by_role("status")).to_have_text("A connection with this ID. 0 requests with this value.")
    expect(items).to_have_count(1)
    items.get_by_role("link", name=HOSTILE).click()
    console.page.wait_for_url(f"**/connections/{connection.id}")
    console.open(f"/app/search?search={labelled}&go=true")
    console.page.wait_for_url(f"**/queued_requests/{labelled}")
    console.open("/app/search?search=d0000000-0000-4000-8000-0000000000ff&go=true")
    console.sees("No request or connection has this ID")


def test_an_id_that_cannot_be_looked_up_is_not_said_to_be_absent(console: Console) -> None:
    console.sign_in("/app/audit_log")
    console.page.route(f"**/api/v1/queued_requests/{HIT['id']}", limited)
    console.open(f"/app/search?search={HIT['id']}")

    console.sees("The search was interrupted.")
    assert console.page.get_by_role("heading", name="Nothing was found").count() == 0


@pytest.mark.parametrize(
    ("unsearched", "omitted", "title", "said"),
    [
        ([], 0, "Nothing was found", []),
        ([LATE], 0, "Nothing in what was searched", ["Company 001", "requests queued up to", "took too long"]),
        ([LATE | {"complete_after": None}], 0, "Nothing in what was searched", ["all requests"]),
        ([LATE | {"reason": "older_release"}], 0, "Nothing in what was searched", ["an earlier release"]),
        ([LATE | {"id": str(one)} for one in range(7)], 0, "Nothing in what was searched", ["2 other connections"]),
        ([], 12, "Nothing in what was searched", ["12 connections beyond the oldest 1,000"]),
    ],
)
def test_nothing_was_found_only_if_nothing_was_left_out(
    console: Console, unsearched: list[dict[str, Any]], omitted: int, title: str, said: list[str]
) -> None:
    data = {"hits": [], "next": None, "unsearched_connections": unsearched, "omitted_connections": omitted}
    console.sign_in("/app/audit_log")
    console.page.route("**/api/v1/search?*", lambda route: route.fulfill(json={"data": data}))
    console.open("/app/search?search=Ann")

    expect(console.page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    for text in said:
        expect(console.page.get_by_role("alert")).to_contain_text(text)
    assert console.page.get_by_role("alert").count() == bool(said)
    expect(console.link("Search")).to_have_attribute("aria-current", "page")
    console.link("Search for a part of a text").click()
    console.page.wait_for_url("**/search?search=Ann&part=true")


def test_a_search_for_a_value_continues_and_says_what_a_request_is(console: Console) -> None:
    def answer(route: Route) -> None:
        older = "cursor=" in route.request.url
        hit = HIT | ({"id": "d0000000-0000-4000-8000-000000000002", "matched": ["error"]} if older else {})
        data = {
            "hits": [hit],
            "next": None if older else "next",
            "unsearched_connections": [],
            "omitted_connections": 0,
        }
        route.fulfill(json={"data": data})

    console.sign_in("/app/audit_log")
    console.page.route("**/api/v1/search?*", answer)
    console.open("/app/search?search=Ann&go=true")

    console.sees("The newest 1 request with this value.")
    for text in (
        "Ann · 1042 · 248.50",
        "nightly",
        "found as number, customer or vendor",
        "3170 · The object is in use.",
    ):
        console.sees(text)
    console.button("Show older requests").click()
    console.sees("2 requests with this value.")
    console.sees("found as error")
    assert console.button("Show older requests").count() == 0


def test_a_search_for_a_value_that_is_limited_can_be_repeated(console: Console) -> None:
    console.sign_in("/app/audit_log")
    console.page.route("**/api/v1/search?*", limited)
    console.open("/app/search?search=Ann")

    console.sees("60 searches per minute. Try again in 30 seconds.")
    assert console.page.get_by_role("heading", name="Nothing was found").count() == 0


def test_connections_are_searched_sorted_filtered_and_exported_as_they_are_shown(console: Console) -> None:
    console.sign_in("/app/audit_log")
    connections = [
        a_connection(number, counts={"waiting": number % 3, "retryable": 0, "error": number % 5})
        for number in range(120)
    ]
    connections[42] |= {"company_name": "Bluewater Dental LLC"}
    connections[7] |= {"status": "error"}
    calls = with_connections(console, connections)
    rows = console.page.locator("tbody tr")
    console.open("/app")
    expect(rows).to_have_count(20)

    console.page.get_by_label("Search connections").fill("bluewater")
    console.sees("1 of 120 connections.")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Company 042")
    console.button("Clear").click()
    console.page.get_by_label("Health", exact=True).select_option("QuickBooks or password")
    console.sees("1 of 120 connections.")
    expect(rows).to_contain_text("Company 007")
    console.page.get_by_label("Health", exact=True).select_option("With failed requests")
    console.page.get_by_label("Order", exact=True).select_option("Most failed first")
    console.sees("96 of 120 connections.")
    expect(rows.first).to_contain_text("Company 004")
    before = len(calls)
    with console.page.expect_download() as download:
        console.button("CSV").click()

    header, *lines = rows_of(text_of(download.value))
    failed = [int(dict(zip(header, line, strict=True))["failed"]) for line in lines]
    assert failed == sorted(failed, reverse=True)
    assert len(failed) == 96
    assert len(calls) == before


def test_a_webhook_is_subscribed_to_the_events_of_a_connection_with_one_click(console: Console) -> None:
    service = console.service
    connection = service.connection()
    console.sign_in(f"/app/connections/{connection.id}/overview")
    console.sees("This connection has no webhook URL.")
    assert console.button("Alert me").count() == 0
    service.call("PATCH", connection.path, {"webhook_url": "https://shop.example/hooks/secret"})
    console.page.reload()

    console.button("Alert me").click()
    console.sees("Every event of this connection is sent to https://shop.example.")
    events = service.call("GET", connection.path).json["data"]["webhook_events"]
    assert events == ["connection.*"]
    console.button("Stop the alerts").click()
    expect(console.button("Alert me")).to_be_visible()
    assert service.call("GET", connection.path).json["data"]["webhook_events"] == []


def test_failing_webhooks_are_counted_and_lead_to_their_requests(console: Console) -> None:
    connection = console.service.connection()
    query(connection, webhook_url="http://127.0.0.1:9/refused")
    connection.run_session()
    console.sign_in(f"/app/connections/{connection.id}/overview")
    console.sees("Of the 10 newest failing webhooks")

    console.page.get_by_role("link", name="Show all that are tried again (1)").click()
    expect(console.page.locator("table.requests tbody tr")).to_have_count(1)
    expect(console.page.get_by_label("Webhook", exact=True)).to_have_value("retrying")


def test_a_reader_who_chooses_search_can_type_at_once(console: Console) -> None:
    console.sign_in("/app")
    console.page.get_by_role("navigation").get_by_role("link", name="Search").click()
    field = console.page.get_by_label("Search the requests of all connections")
    expect(field).to_be_focused()
    console.page.keyboard.type("order-77")
    console.page.keyboard.press("Enter")

    console.page.wait_for_url("**/search?search=order-77&go=true")


def test_the_search_of_a_connection_says_its_limit_and_leads_to_the_same_search_of_all(console: Console) -> None:
    one, other = console.service.connection(), console.service.connection()
    label = f"night {one.id[:8]}"
    for connection in (one, other):
        connection.queue({"request_json": {"CustomerQueryRq": {}}, "label": label})
    console.sign_in(f"/app/connections/{one.id}?search={label}")

    expect(console.page.get_by_text(f"1 request with “{label}” in this connection.")).to_be_visible()
    console.link("Search all connections").click()
    console.page.wait_for_url("**/app/search?*part=true*")
    expect(console.page.get_by_role("searchbox")).to_have_value(label)


def test_the_first_letter_stays_however_early_it_is_typed(console: Console) -> None:
    console.sign_in("/app")
    console.page.evaluate(
        """() => new MutationObserver((_, observer) => {
            const field = document.querySelector("main form [type=search]");
            if (!field) return;
            observer.disconnect();
            field.value = "o";
            field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        }).observe(document.body, { childList: true, subtree: true })"""
    )
    console.page.get_by_role("navigation").get_by_role("link", name="Search").click()
    field = console.page.get_by_label("Search the requests of all connections")
    expect(console.button("Search", exact=True)).to_be_enabled()

    expect(field).to_have_value("o")


def test_a_pause_after_a_space_keeps_the_space(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}")
    field = console.page.get_by_label("Search requests")
    field.press_sequentially("invoice ")
    console.page.wait_for_url("**?search=invoice")
    field.press_sequentially("add")
    console.page.wait_for_url("**?search=invoice+add")

    expect(field).to_have_value("invoice add")


def test_another_address_brings_its_phrase_into_the_field(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}?search=vendor")
    field = console.page.get_by_label("Search requests")
    expect(field).to_have_value("vendor")
    field.fill("customer")
    console.page.wait_for_url("**?search=customer")
    console.page.evaluate("history.pushState(null, '', '?search=bill'); dispatchEvent(new PopStateEvent('popstate'))")

    expect(field).to_have_value("bill")


def test_the_only_hit_of_a_search_is_opened_and_back_leads_to_the_view_before(console: Console) -> None:
    connection = console.service.connection()
    label = f"only {connection.id[:8]}"
    connection.queue({"request_json": {"CustomerQueryRq": {}}, "label": label})
    console.sign_in("/app/overview")
    console.page.get_by_role("navigation").get_by_role("link", name="Search").click()
    console.page.get_by_role("searchbox").fill(label)
    console.page.keyboard.press("Enter")
    console.page.wait_for_url("**/app/queued_requests/*")
    console.page.go_back()

    console.page.wait_for_url("**/app/search")


def test_a_search_with_several_hits_or_for_a_part_of_a_text_shows_them(console: Console) -> None:
    connection = console.service.connection()
    label = f"two {connection.id[:8]}"
    for _ in range(2):
        connection.queue({"request_json": {"CustomerQueryRq": {}}, "label": label})
    connection.run_session()  # the search for a part begins with the latest contact
    console.sign_in("/app/search")
    for address in ("/app/search", "/app/search?part=true"):
        console.open(address)
        console.page.get_by_role("searchbox").fill(label)
        console.page.keyboard.press("Enter")

        expect(console.page.get_by_role("region", name="Results")).to_contain_text("2 requests")


def test_a_filter_that_is_chosen_while_a_phrase_is_typed_stays(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}")
    expect(console.page.get_by_label("Search requests")).to_be_visible()
    console.page.evaluate(
        """() => {
            const field = document.querySelector("main [type=search]");
            field.value = "invoice";
            field.dispatchEvent(new InputEvent("input", { bubbles: true }));
            setTimeout(() => {
                const webhook = document.querySelector("main select[aria-label=Webhook]");
                webhook.value = "failed";
                webhook.dispatchEvent(new Event("change", { bubbles: true }));
            }, 50);
        }"""
    )
    console.page.wait_for_url("**?*search=invoice*")

    assert "webhook_state=failed" in console.page.url
