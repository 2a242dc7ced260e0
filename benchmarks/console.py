"""Measure the first view of a connection with many records in Chromium: bytes, files, calls and CPU time.

Run `python -m benchmarks.console [RECORDS]` (default 10,000). The design rules allow 150 KB compressed and 200 ms on
the main thread of the page. CPU time is measured, so other programs and the wait for the service do not count.
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

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RECORDS = 10_000
ROUNDS = 9
MAX_KILOBYTES = 150
MAX_MILLISECONDS = 200
MEASURES = {
    "main thread, all tasks": "TaskDuration",
    "  of these: script": "ScriptDuration",
    "  layout": "LayoutDuration",
    "  style": "RecalcStyleDuration",
}
"""Chromium's measures. The other tasks parse, compile and paint."""

REQUEST = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 5}]}}}


def main(records: int = RECORDS) -> int:
    """Fill a connection, measure the view and print the results. Return 1 if a design rule is broken."""
    path = shutil.which("chromium")
    if path is None:
        print("Chromium is needed: apt-get install chromium")
        return 2
    with tempfile.TemporaryDirectory() as folder, stack.running() as service, sync_playwright() as playwright:
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        api = first_steps.Api(who.base_url, who.api_key)
        for _ in range(records):
            api.call("POST", f"/api/v1/connections/{who.connection_id}/queued_requests", REQUEST)
        print(f"{records} records are queued", file=sys.stderr)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        views = [first_view(browser, who.base_url, who.api_key, who.connection_id) for _ in range(ROUNDS)]
        browser.close()
    kilobytes = views[0]["bytes"] / 1024
    milliseconds = {name: statistics.median(view[name] for view in views) for name in MEASURES}
    print(f"A connection with {records} records, medians of {ROUNDS} first visits with an empty cache")
    print(f"{'page and assets':<26}{kilobytes:7.1f} KB in {views[0]['files']} files")
    print(f"{'calls of the API':<26}{views[0]['calls']:7}")
    for name, value in milliseconds.items():
        print(f"{name:<26}{value:7.0f} ms of CPU time")
    return int(kilobytes > MAX_KILOBYTES or milliseconds["main thread, all tasks"] > MAX_MILLISECONDS)


def first_view(browser: Browser, base_url: str, key: str, connection_id: str) -> dict[str, Any]:
    """Open the connection in a new profile and return the measurements."""
    context = browser.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(
        f"sessionStorage.setItem('qbxml-queue.key', '{key}'); sessionStorage.setItem('qbxml-queue.scope', 'full');"
    )
    page.goto(f"{base_url}/app/connections/{connection_id}", wait_until="commit")
    page.locator("tbody tr.clickable").first.wait_for()
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    resources = page.evaluate(
        """performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
            .map(({ name, transferSize }) => [name, transferSize])"""
    )
    context.close()
    sizes = [size for name, size in resources if "/api/" not in name]
    times = {name: metrics[measure] * 1000 for name, measure in MEASURES.items()}
    return {**times, "bytes": sum(sizes), "files": len(sizes), "calls": len(resources) - len(sizes)}


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
