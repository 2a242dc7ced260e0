"""Measure the first view in Chromium: a connection with many records beside an empty one.

Run `python -m benchmarks.console [RECORDS]` (default 10,000). It prints each figure with its limit. Its last line names
every limit that a median exceeds, and it returns 1 if there is one:

* the page, scripts and styles are at most 150 KB compressed,
* the view is drawn within 200 ms after its last data have arrived,
* the connection with many records is drawn at most 150 ms later than the empty one,
* the main thread of the page uses at most 200 ms of CPU time, without other programs and the wait for the service.

Visits to the two connections alternate, each with an empty cache, so other programs slow both. With
`DYNAMODB_ENDPOINT`, the records are in that database; otherwise they are in a simulated one in this process, whose
lists of many records are slower than DynamoDB's.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from local import first_steps, stack
from tests.browser.support import seed_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from playwright.sync_api import Browser

    from local.first_steps import Credentials

RECORDS = 10_000
ROUNDS = 9
BATCH = 25
MAX_KILOBYTES = 150
MAX_DRAWN_MILLISECONDS = 200
MAX_LONGER_MILLISECONDS = 150
MAX_THREAD_MILLISECONDS = 200
WHOLE_THREAD = "main thread, all tasks"
MEASURES = {
    WHOLE_THREAD: "TaskDuration",
    "  of these: script": "ScriptDuration",
    "  layout": "LayoutDuration",
    "  style": "RecalcStyleDuration",
}
"""Chromium's measures. The other tasks parse, compile and paint."""

REQUEST = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 5}]}}}

NOTE_DRAWN = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("tbody tr.clickable, .request-list .empty")) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { globalThis.drawnAt = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
"""Notes when the frame with the list, or with the text of an empty one, has been drawn."""

DRAWN = """new Promise((resolve) => {
  const look = () => (globalThis.drawnAt ? resolve(globalThis.drawnAt) : setTimeout(look, 20));
  look();
})"""

RESOURCES = """performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
    .map(({ name, transferSize, responseEnd }) => [name, transferSize, responseEnd])"""


def main(records: int = RECORDS) -> int:
    """Fill a connection, measure the views and print the results. Return 1 if a limit is exceeded."""
    path = shutil.which("chromium")
    if path is None:
        print("Chromium is needed: apt-get install chromium")
        return 2
    endpoint = os.environ.get("DYNAMODB_ENDPOINT")
    with (
        tempfile.TemporaryDirectory() as folder,
        stack.running(dynamodb_endpoint=endpoint) as service,
        sync_playwright() as playwright,
    ):
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        api = first_steps.Api(who.base_url, who.api_key)
        empty = str(api.call("POST", "/api/v1/connections", {"name": "Empty"})["data"]["id"])
        for done in range(0, records, BATCH):
            batch = {"requests": [REQUEST] * min(BATCH, records - done)}
            api.call("POST", f"/api/v1/connections/{who.connection_id}/queued_requests/batch", batch)
        print(f"{records} records are queued", file=sys.stderr)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        full_views, empty_views = [], []
        for _ in range(ROUNDS):
            full_views.append(first_view(browser, who, who.connection_id))
            empty_views.append(first_view(browser, who, empty))
        browser.close()
    return report(records, full_views, empty_views)


@dataclass(frozen=True, slots=True)
class Limited:
    """A figure with its limit."""

    name: str
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        """Return the figure with its limit, as the verdict has it."""
        return f"{self.name}: {self.value:.1f} {self.unit}, at most {self.limit} {self.unit}"


def report(records: int, full: Sequence[Mapping[str, Any]], empty: Sequence[Mapping[str, Any]]) -> int:
    """Print the medians with their limits, and the verdict. Return 1 if a limit is exceeded."""
    print(f"Medians of {len(full)} first visits with an empty cache, with the minimum and maximum")
    print(f"{'':<38}{records:>9} records{'none':>22}")

    def median(views: Sequence[Mapping[str, Any]], name: str) -> float:
        return float(statistics.median(view[name] for view in views))

    def spread(views: Sequence[Mapping[str, Any]], name: str) -> str:
        values = [view[name] for view in views]
        return f"{median(views, name):.0f} ms ({min(values):.0f} to {max(values):.0f})"

    def row(label: str, name: str, limit: str = "") -> None:
        print(f"{label:<38}{spread(full, name):>24}{spread(empty, name):>24}  {limit}")

    kilobytes = full[0]["bytes"] / 1024
    print(f"{'page, scripts and styles':<38}{kilobytes:14.1f} KB, at most {MAX_KILOBYTES} KB, {full[0]['files']} files")
    print(f"{'calls of the API':<38}{full[0]['calls']:14}{empty[0]['calls']:11}")
    row("drawn after the last data", "drawn_after_data", f"at most {MAX_DRAWN_MILLISECONDS} ms")
    row("drawn after the visit began", "drawn", f"at most {MAX_LONGER_MILLISECONDS} ms more than without records")
    for name in MEASURES:
        is_limited = name == WHOLE_THREAD
        row(
            f"CPU time, {name}" if is_limited else name,
            name,
            f"at most {MAX_THREAD_MILLISECONDS} ms" if is_limited else "",
        )
    longer = median(full, "drawn") - median(empty, "drawn")
    figures = (
        Limited("page, scripts and styles", kilobytes, MAX_KILOBYTES, "KB"),
        Limited("drawn after the last data", median(full, "drawn_after_data"), MAX_DRAWN_MILLISECONDS, "ms"),
        Limited("drawn later than without records", longer, MAX_LONGER_MILLISECONDS, "ms"),
        Limited("CPU time of the main thread", median(full, WHOLE_THREAD), MAX_THREAD_MILLISECONDS, "ms"),
    )
    missed = [figure for figure in figures if figure.value > figure.limit]
    print(f"Missed: {'; '.join(map(str, missed))}" if missed else "All limits are met.")
    return int(bool(missed))


def first_view(browser: Browser, who: Credentials, connection_id: str) -> dict[str, Any]:
    """Open the connection in a new profile and return the measurements."""
    context = browser.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    seed_session(page, who.app_id, who.api_key)
    page.add_init_script(NOTE_DRAWN)
    page.goto(f"{who.base_url}/app/connections/{connection_id}")
    drawn = page.evaluate(DRAWN)
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    resources = page.evaluate(RESOURCES)
    context.close()
    calls = [end for name, _, end in resources if "/api/" in name]
    sizes = [size for name, size, _ in resources if "/api/" not in name]
    times = {name: metrics[measure] * 1000 for name, measure in MEASURES.items()}
    return {
        **times,
        "bytes": sum(sizes),
        "files": len(sizes),
        "calls": len(calls),
        "drawn": drawn,
        "drawn_after_data": drawn - max(end for end in calls if end <= drawn),
    }


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
