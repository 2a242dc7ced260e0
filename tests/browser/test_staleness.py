"""How often a tab calls the service, and what it says when its data do not become newer. The clock is the test's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.support import Console, onboarding_link, query

if TYPE_CHECKING:
    from playwright.sync_api import Request, Route

MINUTE = 60
MAX_CALLS = 10
STEP_SECONDS = 0.5
LOOK_MILLISECONDS, MAX_LOOKS = 20, 1_500
CALL = re.compile(r"/api/v1/|/onboarding/connection$|/qbwc$")
"""The addresses of calls: those of the console, the onboarding page and the support page."""


@dataclass
class Tab:
    """An open view whose time passes only in `wait`. `calls` are the addresses that it has called."""

    console: Console
    calls: list[str] = field(default_factory=list)
    _unanswered: set[Request] = field(default_factory=set)

    def __post_init__(self) -> None:
        page = self.console.page
        page.on("request", self._note_call)
        page.on("requestfinished", self._note_end)
        page.on("requestfailed", self._note_end)

    def _note_call(self, request: Request) -> None:
        if CALL.search(request.url):
            self.calls.append(request.url)
            self._unanswered.add(request)

    def _note_end(self, request: Request) -> None:
        self._unanswered.discard(request)

    def wait(self, seconds: float, step: float = STEP_SECONDS) -> None:
        """Let the time of the page pass. It stands still while a call is not answered, so that none times out."""
        for _ in range(int(seconds / step)):
            self.console.page.clock.run_for(int(step * 1000))
            for _ in range(MAX_LOOKS):
                if not self._unanswered:
                    break
                self.console.page.wait_for_timeout(LOOK_MILLISECONDS)
            assert not self._unanswered, [request.url for request in self._unanswered]


def opened(console: Console, path: str) -> Tab:
    """Open a view with a clock that stands still."""
    tab = Tab(console)
    console.keep_signed_in()
    console.page.clock.install()
    console.open(path)
    console.page.wait_for_load_state("networkidle")
    stop_clock(console)
    return tab


def stop_clock(console: Console) -> None:
    """Let time pass only when the test says so."""
    now = console.page.evaluate("Date.now()") / 1000
    console.page.clock.pause_at(datetime.fromtimestamp(now + 1, UTC))


def hide(console: Console, *, hidden: bool) -> None:
    """Put the tab into the background, or back."""
    console.page.evaluate(
        """(state) => {
            Object.defineProperty(document, "visibilityState", { configurable: true, value: state });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        "hidden" if hidden else "visible",
    )


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        ("connections", 30),
        ("requests", 1),
        ("requests", 30),
        ("waiting request", 30),
        ("sessions", 1),
        ("last step of the wizard", 0),
        ("onboarding", 0),
        ("support", 0),
    ],
)
def test_a_tab_makes_at_most_ten_calls_a_minute_whatever_it_shows(console: Console, view: str, rows: int) -> None:
    connection = console.service.connection()
    requests = [query(connection) for _ in range(rows)]
    paths = {
        "connections": "/app",
        "requests": f"/app/connections/{connection.id}",
        "waiting request": f"/app/queued_requests/{requests[0] if requests else ''}",
        "sessions": f"/app/connections/{connection.id}/sessions",
        "last step of the wizard": f"/app/connections/new?connection={connection.id}&step=wait",
        "onboarding": onboarding_link(console, connection.path),
        "support": "/support",
    }

    tab = opened(console, paths[view])
    counts = []
    for _ in range(3):
        tab.wait(MINUTE)
        counts.append(len(tab.calls))
        tab.calls.clear()

    assert max(counts) <= MAX_CALLS, counts
    assert min(counts) > 0, counts


def test_the_card_of_a_batch_is_read_again_until_its_last_step_has_ended(console: Console) -> None:
    connection = console.service.connection()
    requests = [{"request_json": {name: {"MaxReturned": "1"}}} for name in ("CustomerQueryRq", "VendorQueryRq")]
    answer = console.service.call("POST", f"{connection.path}/queued_requests/batch", {"requests": requests})
    first, last = (step["id"] for step in answer.json["data"])

    def discard(request_id: str) -> None:
        assert console.service.call("POST", f"/api/v1/queued_requests/{request_id}/discard").status == 200

    discard(first)
    tab = opened(console, f"/app/queued_requests/{first}")
    card = console.page.get_by_role("region", name="Batch")
    expect(card.locator(".badge")).to_have_text(["Discarded", "Waiting"])

    discard(last)
    tab.wait(25)
    expect(card.locator(".badge")).to_have_text(["Discarded", "Discarded"])

    tab.calls.clear()
    tab.wait(MINUTE)
    assert [address for address in tab.calls if "batch" in address] == []


def test_a_customer_who_changes_between_windows_does_not_exceed_the_budget(console: Console) -> None:
    connection = console.service.connection()
    tab = opened(console, onboarding_link(console, connection.path))

    counts = []
    for _ in range(2):
        for _ in range(12):
            console.page.evaluate("dispatchEvent(new Event('focus'))")
            tab.wait(5)
        counts.append(len(tab.calls))
        tab.calls.clear()

    assert max(counts) <= MAX_CALLS, counts


@pytest.mark.parametrize("view", ["requests", "onboarding"])
def test_a_tab_that_is_hidden_or_that_nobody_uses_does_not_call(console: Console, view: str) -> None:
    connection = console.service.connection()
    paths = {
        "requests": f"/app/connections/{connection.id}",
        "onboarding": onboarding_link(console, connection.path),
    }
    pause = {"requests": "Updates are paused", "onboarding": "This page has stopped updating"}
    tab = opened(console, paths[view])

    hide(console, hidden=True)
    tab.wait(MINUTE)
    tab.calls.clear()
    tab.wait(2 * MINUTE)
    assert tab.calls == []
    hide(console, hidden=False)
    tab.wait(5)
    assert tab.calls

    tab.wait(11 * MINUTE, step=10)
    tab.calls.clear()
    tab.wait(2 * MINUTE)
    assert tab.calls == []
    console.sees(pause[view])
    console.page.mouse.move(300, 300)
    tab.wait(15)
    assert tab.calls


def test_the_age_of_the_data_is_shown_with_its_time_zone(console: Console) -> None:
    connection = console.service.connection()
    tab = opened(console, f"/app/connections/{connection.id}")

    shown = console.page.locator(".as-of")

    expect(shown).to_contain_text("As of")
    expect(shown).to_contain_text("E")  # EST or EDT
    first = shown.inner_text()
    tab.wait(2 * MINUTE)
    assert shown.inner_text() != first


def test_a_slow_service_is_noticed_after_three_seconds(console: Console) -> None:
    connection = console.service.connection()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.page.route("**/api/v1/connections/*/queued_requests*", hold)
    console.keep_signed_in()
    console.page.clock.install()
    console.open(f"/app/connections/{connection.id}")
    console.sees_heading("Test")
    stop_clock(console)
    notice = console.page.get_by_text("The service is slow to answer")
    expect(notice).to_have_count(0)

    console.page.clock.run_for(3_000)
    expect(notice).to_be_visible()

    held[0].continue_()
    expect(notice).to_have_count(0)


@pytest.mark.parametrize("seconds", [40, 90])
def test_no_call_is_made_before_the_time_that_the_service_asks_to_wait(console: Console, seconds: int) -> None:
    connection = console.service.connection()
    tab = opened(console, f"/app/connections/{connection.id}")
    error = {"code": "quota_exceeded", "message": "The app may make 600 calls a minute.", "details": {}}

    def refuse(route: Route) -> None:
        route.fulfill(status=429, json={"error": error}, headers={"Retry-After": str(seconds)})

    console.page.route("**/api/v1/**", refuse)
    tab.calls.clear()
    while not tab.calls:
        tab.wait(1)
    tab.wait(1)
    console.sees("Not updated since")
    tab.calls.clear()
    console.page.unroute("**/api/v1/**")
    tab.wait(seconds - 4)
    assert tab.calls == []

    tab.wait(25)

    assert tab.calls
    expect(console.page.get_by_text("Not updated since")).to_have_count(0)


@pytest.mark.parametrize(("view", "call"), [("?search=customer", "search_phrase"), ("/audit_log", "audit_log")])
def test_rows_that_do_not_poll_show_their_age_and_are_loaded_on_request(console: Console, view: str, call: str) -> None:
    connection = console.service.connection()
    query(connection)
    tab = opened(console, f"/app/connections/{connection.id}{view}")
    rows = console.page.locator("tbody tr")
    former_rows = rows.count()
    age = console.page.locator(".as-of time")
    former_age = age.inner_text()
    tab.calls.clear()

    tab.wait(2 * MINUTE)
    assert tab.calls, "the frame of the connection polls"
    assert not any(call in address for address in tab.calls)
    assert age.inner_text() == former_age
    query(connection)
    console.service.call("POST", f"{connection.path}/pause")
    console.button("Update", exact=True).click()
    tab.wait(1)

    expect(rows).to_have_count(former_rows + 1)
    expect(age).not_to_have_text(former_age)
