"""Pages of requests with large responses leave nothing in the memory of the tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.support import Console, large_response, query

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Route

PAGES = 10
MAX_LEFT_BYTES = 3_000_000
"""A page with a response of 5 MB takes about 30 MB."""


def heap_bytes(devtools: CDPSession) -> int:
    """Return the size of the objects of JavaScript that are in use."""
    for _ in range(2):  # the first collection can make more objects unreachable
        devtools.send("HeapProfiler.collectGarbage")
    metrics: list[dict[str, Any]] = devtools.send("Performance.getMetrics")["metrics"]
    return next(int(one["value"]) for one in metrics if one["name"] == "JSHeapUsedSize")


def test_ten_large_responses_leave_no_memory_in_use(console: Console) -> None:
    connection = console.service.connection()
    requests = [query(connection) for _ in range(PAGES)]
    page = console.page
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")

    def with_large_response(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        body["data"].update(large_response())
        route.fulfill(response=answer, json=body)

    def go(path: str, heading: str) -> None:
        page.evaluate("(path) => history.pushState(null, '', path)", path)
        page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        console.sees_heading(heading)

    page.route("**/api/v1/queued_requests/*", with_large_response)
    console.keep_signed_in()
    console.open("/app/contact")
    console.sees_heading("Your contact")
    before = heap_bytes(devtools)

    for request_id in requests:
        go(f"/app/queued_requests/{request_id}", "Customer query")
        response = page.get_by_role("region", name="Response as XML")
        expect(response.locator(".line").nth(20)).to_be_visible()
        go("/app/contact", "Your contact")

    assert heap_bytes(devtools) - before < MAX_LEFT_BYTES
