"""Measure the first view of a connection with many records in Chromium: bytes, time until rows show, work of the page.

Run `python -m benchmarks.console [RECORDS]` (default 10,000). The design rules allow 150 KB compressed and 200 ms of
work, which is script, layout and style. The rest of the time is the browser's startup and the wait for the service.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from local import first_steps, stack
from local.run import OPERATE_FUNCTION

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RECORDS = 10_000
ROUNDS = 9
MAX_KILOBYTES = 150
MAX_OWN_MILLISECONDS = 200
OWN = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
"""Chromium's measures of a page's work. The rest of its main thread starts the renderer and paints."""

REQUEST = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 5}]}}}


def main(records: int = RECORDS) -> int:
    """Fill a connection, measure the view and print the results. Return 1 if a design rule is broken."""
    path = shutil.which("chromium")
    if path is None:
        print("Chromium is needed: apt-get install chromium")
        return 2
    with tempfile.TemporaryDirectory() as folder, stack.running() as service, sync_playwright() as playwright:
        who = first_steps.prepare(service.base_url, OPERATE_FUNCTION, service.base_url, Path(folder))
        api = first_steps.Api(who.base_url, who.api_key)
        for _ in range(records):
            api.call("POST", f"/api/v1/connections/{who.connection_id}/queued_requests", REQUEST)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        views = [first_view(browser, who.base_url, who.api_key, who.connection_id) for _ in range(ROUNDS)]
        browser.close()
    kilobytes = views[0]["bytes"] / 1024
    own = statistics.median(view["own_ms"] for view in views)
    print(f"a connection with {records} records, medians of {ROUNDS} first visits with an empty cache")
    print(f"assets and page, as transferred    {kilobytes:7.1f} KB in {views[0]['files']} files")
    print(f"until the rows show                {statistics.median(view['rows_ms'] for view in views):7.0f} ms")
    print(f"script, layout and style           {own:7.0f} ms")
    return int(kilobytes > MAX_KILOBYTES or own > MAX_OWN_MILLISECONDS)


def first_view(browser: Browser, base_url: str, key: str, connection_id: str) -> dict[str, Any]:
    """Open the connection in a new profile and return the measurements."""
    context = browser.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable")
    page.add_init_script(
        f"sessionStorage.setItem('qbxml-queue.key', '{key}'); sessionStorage.setItem('qbxml-queue.scope', 'full');"
    )
    page.add_init_script(
        """new MutationObserver(() => {
            if (document.querySelector("tbody tr.clickable")) globalThis.rowsAt ??= performance.now();
        }).observe(document, { childList: true, subtree: true });"""
    )
    page.goto(f"{base_url}/app/connections/{connection_id}", wait_until="commit")
    page.locator("tbody tr.clickable").first.wait_for()
    rows_ms = page.evaluate("globalThis.rowsAt")
    metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    files = page.evaluate(
        """performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
            .filter(({ name }) => !name.includes("/api/")).map(({ transferSize }) => transferSize)"""
    )
    context.close()
    return {
        "rows_ms": rows_ms,
        "own_ms": sum(metrics[name] for name in OWN) * 1000,
        "bytes": sum(files),
        "files": len(files),
    }


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
