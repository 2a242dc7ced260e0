"""The questions that a support person asks, each with the way to its answer from the first view of the console.

`test_support_questions.py` checks the answers and the number of clicks. `python -m tests.browser.support_questions`
starts a stack of its own and also prints the seconds from the first view to the answer. They do not include the time
that a person needs to read and to decide. It fails if a question takes more than the limits below.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import CHROMIUM
from tests.browser.support import query, seed_session, unsettled
from tests.e2e.conftest import serving
from tests.e2e.runs import running
from tests.e2e.support import eventually
from tests.support.webhook_servers import Exchange, Receiver

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page, Route

    from tests.e2e.support import Connection, Service

MAX_CLICKS = 4
MAX_SECONDS = 15
ZONE = "America/New_York"
ANSWER_MILLISECONDS = 30_000
REFUSED = "http://127.0.0.1:9/refused"
"""A webhook URL at which nothing listens."""


@dataclass(frozen=True, slots=True)
class World:
    """An app with the connections that the questions are about. `key_id` set the last password of `paused`."""

    service: Service
    key_id: str
    dental: Connection
    bakery: Connection
    paused: Connection
    unsettled_id: str


@dataclass
class Walk:
    """A person at the console. Typing into a field and choosing from a list count as a click."""

    page: Page
    world: World
    clicks: int = 0
    path: list[str] = field(default_factory=list)

    def click(self, what: str, target: Locator) -> None:
        """Click something."""
        self._note(what)
        target.click()

    def type(self, what: str, target: Locator, text: str) -> None:
        """Fill in a field."""
        self._note(what)
        target.fill(text)

    def choose(self, what: str, target: Locator, option: str) -> None:
        """Choose an option of a list."""
        self._note(what)
        target.select_option(option)

    def open(self, name: str) -> None:
        """Click a link of the navigation, or the name of a connection."""
        self.click(name, self.page.get_by_role("link", name=name, exact=True).first)

    def row(self, text: str) -> Locator:
        """Return the first request of the list whose row has the text."""
        return self.page.locator("tbody tr.clickable", has_text=text).first

    def open_row(self, text: str) -> None:
        """Click the row of a request."""
        self.click(text, self.row(text).locator("a.title"))

    def sees(self, text: str) -> None:
        """Wait until a text is visible."""
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=ANSWER_MILLISECONDS)

    def _note(self, what: str) -> None:
        self.clicks += 1
        self.path.append(what)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the way to its answer, and what to prepare before the console is opened."""

    text: str
    walk: Callable[[Walk], object]
    before: Callable[[Page], object] = lambda _: None


def gone(exchange: Exchange) -> None:
    """Answer a webhook as a receiver that never wants one again. The service gives up at once."""
    exchange.read_request()
    exchange.send(b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone")


def build_world(service: Service, gone_url: str) -> World:
    """Create an app of its own, so that the first view lists only its connections, and what the questions are about."""
    app_id = service.operate("create_app", name="Support")["app_id"]
    own = replace(service, app_id=app_id, api_key=service.operate("create_key", app_id=app_id)["api_key"])

    def connection(name: str) -> Connection:
        made = own.connection()
        own.call("PATCH", made.path, {"name": name})
        return made

    def invoice(number: str) -> dict[str, Any]:
        customer = {"CustomerRef": {"FullName": "Nobody of this name"}, "RefNumber": number}
        return {"request_json": {"InvoiceAddRq": {"InvoiceAdd": customer}}}

    dental, bakery = connection("Bluewater Dental"), connection("Harbor Street Bakery")
    dental.queue(invoice("1042"))
    query(dental, webhook_url=REFUSED, name="VendorQueryRq")
    query(dental, webhook_url=gone_url, name="AccountQueryRq")
    dental.run_session()
    dental.queue(invoice("1043"))
    query(bakery, webhook_url=REFUSED)
    unsettled_id = unsettled(bakery, {"CustomerAddRq": {"CustomerAdd": {"Name": "Zoe Nightingale"}}})
    paused = connection("Grünwald Fabrics")
    query(paused)
    own.call("POST", f"{paused.path}/pause")
    own.call("POST", f"{paused.path}/password")
    key_id = str(own.call("GET", "/api/v1/api_key").json["data"]["key_id"])
    return World(own, key_id, dental, bakery, paused, unsettled_id)


def why_an_invoice_has_not_arrived(walk: Walk) -> None:
    """Search for its number. The row says that it failed, and its page why and what to do."""
    walk.open("Bluewater Dental")
    walk.type("search 1042", walk.page.get_by_label("Search requests"), "1042")
    expect(walk.page.locator("tbody tr.clickable")).to_have_count(1)
    walk.open_row("1042")
    walk.sees("Nobody of this name")
    expect(walk.page.locator(".note.red")).to_contain_text("3140")


def a_day_later(page: Page) -> None:
    """Let the page's clock be a day ahead, so that what the service has now is of yesterday."""
    page.clock.set_fixed_time(datetime.now(tz=ZoneInfo(ZONE)) + timedelta(days=1))


def what_was_sent_in_an_hour_of_yesterday(walk: Walk) -> None:
    """Choose a range of time. What was only queued in it is not listed."""
    record = walk.world.service.call("GET", f"{walk.world.dental.path}/queued_requests?bodies=false").json["data"][-1]
    moment = datetime.fromisoformat(record["sent_at"]).astimezone(ZoneInfo(ZONE))
    hour = moment.replace(minute=0)
    walk.open("Bluewater Dental")
    walk.choose("time: sent from … to …", walk.page.get_by_label("Time", exact=True), "Sent from … to …")
    walk.type("from", walk.page.get_by_label("Sent from"), f"{hour:%Y-%m-%dT%H:%M}")
    walk.type("to", walk.page.get_by_label("Sent to before"), f"{hour + timedelta(hours=1):%Y-%m-%dT%H:%M}")
    expect(walk.page.locator("tbody tr.clickable")).to_have_count(3)
    expect(walk.row("1042")).to_contain_text(f"{moment:%b %-d, %-I:%M %p %Z}")


def yesterday_evening() -> datetime:
    """Return 18:00 of yesterday, when people go home."""
    return datetime.now(tz=ZoneInfo(ZONE)).replace(hour=18, minute=0, second=0, microsecond=0) - timedelta(days=1)


def with_a_silent_machine(page: Page) -> None:
    """Let one machine be off since yesterday evening: the service's own clock cannot be changed."""

    def change(route: Route) -> None:
        response = route.fetch().json()
        for one in response["data"]["connections"]:
            assert one["silent_since"] is None
            if one["name"] == "Harbor Street Bakery":
                one["silent_since"] = yesterday_evening().astimezone(UTC).isoformat()
        route.fulfill(json=response)

    page.route("**/api/v1/statistics?*", change)


def which_machines_are_offline(walk: Walk) -> None:
    """Read the list in the overview."""
    walk.open("Overview")
    silent = walk.page.get_by_role("region", name="Silent machines")
    expect(silent.get_by_role("listitem")).to_have_count(1)
    expect(silent).to_contain_text("Harbor Street Bakery")
    expect(silent).to_contain_text(f"Silent since {yesterday_evening():%a, %b %-d, %I:%M %p %Z}")


def note_copies(page: Page) -> None:
    """Keep what the page copies."""
    page.add_init_script("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };")


def the_exact_xml(walk: Walk) -> None:
    """Copy the document as it was sent."""
    walk.open("Bluewater Dental")
    walk.open_row("1042")
    request = walk.page.get_by_role("region", name="Request", exact=True)
    walk.click("Copy", request.get_by_role("button", name="Copy"))
    walk.sees("Copied")
    copied = walk.page.evaluate("globalThis.copied")
    assert copied.startswith("<?xml")
    assert "newMessageSetID=" in copied
    assert "<RefNumber>1042</RefNumber>" in copied


def who_changed_the_password(walk: Walk) -> None:
    """Read the newest entry about it in the audit log, which names the key."""
    walk.open("Audit log")
    passwords = walk.page.locator("table.audit tbody tr").filter(has_text="Set a new Web Connector password")
    expect(passwords.filter(has_text="Grünwald Fabrics").first).to_contain_text(walk.world.key_id)


def cancel_what_was_queued_by_mistake(walk: Walk) -> None:
    """Discard it on its page."""
    walk.open("Bluewater Dental")
    walk.open_row("1043")
    walk.click("Discard", walk.page.get_by_role("button", name="Discard"))
    walk.click("Discard", walk.page.get_by_role("dialog").get_by_role("button", name="Discard"))
    expect(walk.page.locator(".page-head .badge")).to_have_text("Discarded")


def how_long_a_request_takes(walk: Walk) -> None:
    """Read the median and the 95th percentile in the overview."""
    walk.open("Overview")
    times = walk.page.get_by_role("region", name="Executing time")
    expect(times.locator("dt")).to_have_text(["Median", "95th percentile"])
    expect(times.locator("dd")).to_have_text([re.compile("^about [0-9.]+ (ms|s)$")] * 2)


def whether_quickbooks_or_the_receiver_is_at_fault(walk: Walk) -> None:
    """Read the timeline of a request, which has both."""
    walk.open("Bluewater Dental")
    walk.open_row("Vendor query")
    timeline = walk.page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("QuickBooks responded")
    expect(timeline).to_contain_text("Webhook attempt 1 failed")
    expect(timeline).to_contain_text("refused the connection")


def why_a_company_is_waiting(walk: Walk) -> None:
    """Read the row of the company."""
    row = walk.page.get_by_role("row").filter(has_text="Grünwald Fabrics")
    expect(row).to_contain_text("Paused")
    expect(row).to_contain_text("The connection was paused at")


def whether_a_write_may_be_sent_again(walk: Walk) -> None:
    """Let a query find out whether the books have it."""
    walk.open("Harbor Street Bakery")
    walk.open_row("Zoe Nightingale")
    check = walk.page.get_by_role("region", name="Check", exact=True)
    walk.click("Check in QuickBooks", check.get_by_role("button", name="Check in QuickBooks"))
    expect(check).to_contain_text("The check is queued")
    walk.world.bakery.run_session()
    expect(check).to_contain_text("Do not queue it again", timeout=ANSWER_MILLISECONDS)


def send_failed_webhooks_again(walk: Walk) -> None:
    """Choose them in the list, and send all that match: one that the service gave up, and one that it tries again."""
    service, dental = walk.world.service, walk.world.dental

    def given_up() -> list[dict[str, Any]]:
        path = f"{dental.path}/queued_requests?webhook_state=failed&bodies=false"
        found: list[dict[str, Any]] = service.call("GET", path).json["data"]
        return found

    (before,) = eventually(given_up, bool)
    walk.open("Bluewater Dental")
    webhooks = walk.page.get_by_label("Webhook", exact=True)
    walk.choose("webhook: failed since last night", webhooks, "Failed since last night")
    expect(webhooks).to_have_value("failing")
    expect(walk.page.get_by_label("Time", exact=True)).to_have_value("evening")
    assert f"from={yesterday_evening().astimezone(UTC):%Y-%m-%dT%H:%M}" in unquote(walk.page.url)
    badges = walk.page.locator("tbody tr.clickable td.webhook .badge")
    expect(badges).to_have_count(2)
    assert set(badges.all_inner_texts()) == {"Failed", "Retrying"}
    redeliver = walk.page.get_by_role("group", name="Many requests").get_by_role("button", name="Redeliver webhooks")
    walk.click("Redeliver webhooks", redeliver)
    walk.sees("Send 2 webhooks again?")
    walk.click("Redeliver webhooks", walk.page.get_by_role("dialog").get_by_role("button", name="Redeliver webhooks"))
    walk.sees("2 webhooks sent again.")
    number = len(before["webhook_attempts"])
    eventually(given_up, lambda found: [len(one["webhook_attempts"]) for one in found] == [number + 1])


def all_failures_as_a_file(walk: Walk) -> None:
    """Export the list of failed requests of this week."""
    walk.open("Bluewater Dental")
    walk.click("Failed", walk.page.get_by_role("link", name="Failed"))
    walk.choose("time: since Monday", walk.page.get_by_label("Time", exact=True), "Since Monday")
    expect(walk.row("1042")).to_be_visible()
    with walk.page.expect_download() as download:
        walk.click("CSV", walk.page.get_by_role("button", name="CSV"))
    assert "1042" in download.value.path().read_text(encoding="utf-8")


QUESTIONS = (
    Question("Why has invoice 1042 not arrived?", why_an_invoice_has_not_arrived),
    Question("What was sent yesterday at 14:00?", what_was_sent_in_an_hour_of_yesterday, a_day_later),
    Question("Which machines are offline since yesterday?", which_machines_are_offline, with_a_silent_machine),
    Question("Send again all webhooks that failed last night", send_failed_webhooks_again),
    Question("The exact XML for Intuit", the_exact_xml, note_copies),
    Question("Who changed the password?", who_changed_the_password),
    Question("Cancel what was queued by mistake", cancel_what_was_queued_by_mistake),
    Question("How long does a request take?", how_long_a_request_takes),
    Question("Is QuickBooks or the receiver at fault?", whether_quickbooks_or_the_receiver_is_at_fault),
    Question("Why is this company waiting?", why_a_company_is_waiting),
    Question("May I send this write again?", whether_a_write_may_be_sent_again),
    Question("All failures since Monday as CSV", all_failures_as_a_file),
)


def answer(page: Page, world: World, question: Question) -> tuple[Walk, float]:
    """Open the first view and walk to the answer. Returns the walk and its seconds from the first view on."""
    seed_session(page, world.service.api_key)
    question.before(page)
    page.goto(f"{world.service.base_url}/app")
    expect(page.locator("tbody tr.clickable")).to_have_count(3)
    walk = Walk(page, world)
    began = time.perf_counter()
    question.walk(walk)
    return walk, time.perf_counter() - began


def new_page(browser: Browser) -> Page:
    """Return a window in the zone of the questions."""
    return browser.new_context(locale="en-US", timezone_id=ZONE, accept_downloads=True).new_page()


def main() -> int:
    """Print the clicks and seconds of each question."""
    if CHROMIUM is None:
        print("Chromium is needed: apt-get install chromium", file=sys.stderr)  # noqa: T201 - a program's output
        return 1
    with (
        tempfile.TemporaryDirectory() as state,
        running(Path(state), QUICKBOOKS="off") as run,
        serving(run.credentials) as service,
        Receiver(gone) as receiver,
        sync_playwright() as playwright,
    ):
        world = build_world(service, f"http://127.0.0.1:{receiver.port}/")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        missed = False
        for question in QUESTIONS:
            page = new_page(browser)
            walk, seconds = answer(page, world, question)
            page.context.close()
            path = " → ".join(walk.path) or "on the first view"
            print(f"{question.text:<46}{walk.clicks:>2} clicks{seconds:6.1f} s  {path}")  # noqa: T201 - see above
            missed |= walk.clicks > MAX_CLICKS or seconds > MAX_SECONDS
        browser.close()
    limits = f"{MAX_CLICKS} clicks and {MAX_SECONDS} seconds"
    print(f"A question takes more than {limits}." if missed else f"No question takes more than {limits}.")  # noqa: T201 - see above
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
