"""What a list shows belongs to its filters, search, range and order, also while it loads and after it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.support import query
from tests.browser.test_many import bar, queued
from tests.browser.test_search import a_connection, with_connections

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

    from tests.browser.support import Console

REVERSED_RANGE = "range=custom&from=2026-03-15T00:00:00.000Z&to=2026-03-14T00:00:00.000Z"


def ask(console: Console, path: str) -> None:
    """Follow a link of the console: other filters of the same list."""
    console.page.evaluate("(path) => history.pushState(null, '', path)", path)
    console.page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")


def rows(console: Console) -> Locator:
    """Return the rows of a list, without those that stand for rows that load."""
    return console.page.locator("tbody tr:not([aria-hidden])")


def never_answered(route: Route) -> None:
    """Leave a call without an answer."""


QUESTIONS = [
    "state=waiting&search=nobody",
    "state=discarded",
    "webhook_state=failed",
    "state=waiting&range=custom&from=2026-03-14T00:00:00.000Z",
    "state=waiting&sort=updated_at",
    "state=waiting&sort_direction=asc",
    "state=waiting&page=2",
]


def test_rows_counts_and_actions_of_another_question_are_not_shown(console: Console) -> None:
    connection = console.service.connection()
    queued(connection, 3, "import")
    path = f"/app/connections/{connection.id}"

    for question in QUESTIONS:
        console.page.unroute_all()
        if question == QUESTIONS[0]:
            console.sign_in(f"{path}?state=waiting")
        else:
            ask(console, f"{path}?state=waiting")
        expect(bar(console)).to_contain_text("All 3 requests that match")
        console.page.route("**/queued_requests?*", never_answered)
        ask(console, f"{path}?{question}")

        expect(rows(console)).to_have_count(0)
        expect(console.page.locator("tbody tr[aria-hidden]")).to_have_count(3)
        expect(bar(console)).to_have_count(0)
        expect(console.page.get_by_text("requests with “")).to_have_count(0)
        assert console.button("CSV").count() == 0
        expect(console.page.get_by_role("navigation", name="Pages")).not_to_contain_text(" of ")


@pytest.mark.parametrize("view", ["", "/audit_log"])
def test_a_refusal_is_explained_in_the_place_of_the_rows_and_can_be_mended(console: Console, view: str) -> None:
    connection = console.service.connection()
    query(connection)
    path = f"/app/connections/{connection.id}{view}"
    console.sign_in(path)
    expect(rows(console).first).to_be_visible()

    ask(console, f"{path}?{REVERSED_RANGE}")

    console.sees("is before from. Exchange the two times")
    expect(rows(console)).to_have_count(0)
    assert console.page.get_by_text("This is all of them").count() == 0
    expect(console.page.get_by_text("Not updated since")).to_have_count(0)
    console.button("Clear").click()
    expect(rows(console).first).to_be_visible()


def test_a_search_that_is_refused_does_not_show_the_former_rows_and_their_number(console: Console) -> None:
    connection = console.service.connection()
    queued(connection, 3, "import")
    message = "The search took longer than 20 seconds."
    error = {"code": "invalid_request", "message": message, "details": {}}
    console.page.route(
        "**/queued_requests?*search_phrase=*", lambda route: route.fulfill(status=400, json={"error": error})
    )
    console.sign_in(f"/app/connections/{connection.id}")
    expect(rows(console)).to_have_count(3)

    console.page.get_by_label("Search requests").fill("1042")

    console.sees(message)
    expect(rows(console)).to_have_count(0)
    assert bar(console).count() == 0
    assert console.page.get_by_text("with “1042”").count() == 0


def test_older_entries_of_another_question_do_not_join_the_log(console: Console) -> None:
    connection = console.service.connection()
    for number in range(60):
        console.service.call("PATCH", connection.path, {"name": f"Name {number}"})
    path = f"/app/connections/{connection.id}/audit_log"
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.page.route("**/audit_log?*cursor=*", hold)
    console.sign_in(path)
    expect(rows(console)).to_have_count(50)
    console.button("Show older").click()
    expect(console.button("Show older")).to_be_disabled()

    ask(console, f"{path}?action=connection_created")
    expect(rows(console)).to_have_count(1)
    held[0].continue_()

    console.sees("1 entry. This is all of them that match.")
    expect(console.page.get_by_role("region", name="Audit log")).to_have_attribute("aria-busy", "false")
    expect(rows(console)).to_have_count(1)


COUNTS = {"waiting": 3, "retryable": 2, "response_received": 7, "error": 0}


def test_the_number_of_requests_is_that_of_the_list_that_it_links_to(console: Console) -> None:
    connection = console.service.connection()

    def answer(route: Route) -> None:
        fetched = route.fetch()
        route.fulfill(response=fetched, json=fetched.json() | {"counts": COUNTS})

    console.page.route("**/queued_requests?*", answer)
    console.sign_in(f"/app/connections/{connection.id}")
    cards = console.page.get_by_role("navigation", name="Requests by state").get_by_role("link")
    expect(cards).to_have_text(["Waiting3", "Waiting to retry2", "Completed7", "Failed0"])
    for index, state in enumerate(COUNTS):
        assert f"state={state}" in (cards.nth(index).get_attribute("href") or "")

    with_connections(console, [a_connection(1, counts=COUNTS)])
    console.open("/app")
    expect(rows(console).locator("td[data-label=Waiting] a")).to_have_text(["3", "2 to retry"])
    for index, state in enumerate(["waiting", "retryable"]):
        link = rows(console).locator("td[data-label=Waiting] a").nth(index)
        assert (link.get_attribute("href") or "").endswith(f"?state={state}")


LABELS = ("order-77", "import 2026-03 of the shop in Millbrook order-1042", "W" * 50)


@pytest.mark.parametrize("width", [390, 800, 1280])
@pytest.mark.parametrize("dense", [False, True])
def test_a_label_is_shown_whole_beside_a_long_subject(console: Console, width: int, *, dense: bool) -> None:
    connection = console.service.connection()
    for label in LABELS:
        customer = {"CustomerAdd": {"Name": "Harbor Street Bakery, Northern Bran"}}
        connection.queue({"request_json": {"CustomerAddRq": customer}, "label": label})
    console.page.set_viewport_size({"width": width, "height": 900})
    console.keep_signed_in()
    if dense:
        console.page.add_init_script("localStorage.setItem('qbxml-queue.dense', 'true')")
    console.open(f"/app/connections/{connection.id}")

    for label in LABELS:
        tag = console.page.locator("table.requests").get_by_text(label, exact=True)
        expect(tag).to_be_visible()
        is_whole = """(tag) => {
          const text = document.createRange();
          text.selectNodeContents(tag);
          const [inner, cell] = [text.getBoundingClientRect(), tag.closest("td").getBoundingClientRect()];
          return inner.right <= cell.right && inner.left >= cell.left && inner.bottom <= cell.bottom;
        }"""
        assert tag.evaluate(is_whole)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"paused_at": "2026-03-01T12:00:00Z"}, "no session until it is resumed"),
        ({"next_session_at": "2999-01-01T12:00:00Z"}, "Not paused, next session expected by Jan 1"),
        (
            {
                "next_session_at": "2999-01-01T12:00:00Z",
                "sync_window": {"from": "11:30", "to": "12:30", "time_zone": "UTC"},
                "waiting_reason": {"code": "company_file_mismatch", "message": "Another file is open.", "hint": None},
            },
            "Not paused, next session not before Jan 1",
        ),
        ({}, "Not paused. The time of the next session is not known."),
    ],
)
def test_the_head_of_a_connection_says_whether_it_is_paused_and_when_it_calls_next(
    console: Console, fields: dict[str, str], says: str
) -> None:
    connection = console.service.connection()
    unknown = {"last_connected_at": "2026-03-01T12:00:00Z", "next_session_at": None, "paused_at": None}

    def answer(route: Route) -> None:
        body = route.fetch().json()
        body["data"] |= unknown | fields
        route.fulfill(json=body)

    console.page.route(f"**/api/v1/connections/{connection.id}", answer)
    console.keep_signed_in()
    console.open(f"/app/connections/{connection.id}/sessions")

    expect(console.page.locator(".page-head")).to_contain_text(says)
