"""How often a tab calls the service, and what it says when its data do not become newer. The clock is the test's."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.support import Console, onboarding_link, query

if TYPE_CHECKING:
    from playwright.sync_api import Route

MINUTE = 60
MAX_CALLS = 10
STEP_SECONDS = 0.5
CALL = re.compile(r"/api/v1/|/onboarding/connection$|/qbwc$")
"""The addresses of calls: those of the console, the onboarding page and the support page."""


def opened(console: Console, path: str) -> list[str]:
    """Open a view with a clock that stands still, and return the list to which its calls of the API are added."""
    calls: list[str] = []
    console.keep_signed_in()
    console.page.clock.install()
    console.page.on("request", lambda request: calls.append(request.url) if CALL.search(request.url) else None)
    console.open(path)
    console.page.wait_for_load_state("networkidle")
    stop_clock(console)
    return calls


def stop_clock(console: Console) -> None:
    """Let time pass only when the test says so."""
    now = console.page.evaluate("Date.now()") / 1000
    console.page.clock.pause_at(datetime.fromtimestamp(now + 1, UTC))


def wait(console: Console, seconds: float) -> None:
    """Let the time of the page pass in small steps, so that each call is answered before the next."""
    for _ in range(int(seconds / STEP_SECONDS)):
        console.page.clock.run_for(int(STEP_SECONDS * 1000))
    console.page.wait_for_load_state("networkidle")


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
        "onboarding": onboarding_link(console, connection.path),
        "support": "/support",
    }

    calls = opened(console, paths[view])
    counts = []
    for _ in range(3):
        wait(console, MINUTE)
        counts.append(len(calls))
        calls.clear()

    assert max(counts) <= MAX_CALLS, counts
    # How often it polls depends on the machine, because a call that is not answered holds up the next.
    assert min(counts) > 0, counts


def test_a_customer_who_changes_between_windows_does_not_exceed_the_budget(console: Console) -> None:
    connection = console.service.connection()
    calls = opened(console, onboarding_link(console, connection.path))

    counts = []
    for _ in range(2):
        for _ in range(12):
            console.page.evaluate("dispatchEvent(new Event('focus'))")
            wait(console, 5)
        counts.append(len(calls))
        calls.clear()

    assert max(counts) <= MAX_CALLS, counts


@pytest.mark.parametrize("view", ["requests", "onboarding"])
def test_a_tab_that_is_hidden_or_that_nobody_uses_does_not_call(console: Console, view: str) -> None:
    connection = console.service.connection()
    paths = {
        "requests": f"/app/connections/{connection.id}",
        "onboarding": onboarding_link(console, connection.path),
    }
    pause = {"requests": "Updates are paused", "onboarding": "This page has stopped looking"}
    calls = opened(console, paths[view])

    hide(console, hidden=True)
    wait(console, MINUTE)
    calls.clear()
    wait(console, 2 * MINUTE)
    assert calls == []
    hide(console, hidden=False)
    wait(console, 5)
    assert calls

    for _ in range(66):
        console.page.clock.run_for(10_000)
        console.page.wait_for_load_state("networkidle")
    calls.clear()
    wait(console, 2 * MINUTE)
    assert calls == []
    console.sees(pause[view])
    console.page.mouse.move(300, 300)
    wait(console, 15)
    assert calls


def test_the_age_of_the_data_is_shown_with_its_time_zone(console: Console) -> None:
    connection = console.service.connection()
    opened(console, f"/app/connections/{connection.id}")

    shown = console.page.locator(".as-of")

    expect(shown).to_contain_text("As of")
    expect(shown).to_contain_text("E")  # EST or EDT
    first = shown.inner_text()
    wait(console, 2 * MINUTE)
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
    calls = opened(console, f"/app/connections/{connection.id}")
    error = {"code": "quota_exceeded", "message": "The app may make 600 calls a minute.", "details": {}}

    def refuse(route: Route) -> None:
        route.fulfill(status=429, json={"error": error}, headers={"Retry-After": str(seconds)})

    console.page.route("**/api/v1/**", refuse)
    calls.clear()
    while not calls:
        wait(console, 1)
    wait(console, 1)
    console.sees("Not updated since")
    calls.clear()
    console.page.unroute("**/api/v1/**")
    wait(console, seconds - 4)
    assert calls == []

    wait(console, 25)

    assert calls
    expect(console.page.get_by_text("Not updated since")).to_have_count(0)
