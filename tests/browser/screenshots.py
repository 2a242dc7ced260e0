"""Screenshots of every view: `python -m tests.browser.screenshots [--pictures] FOLDER [VIEW…]`.

Starts a stack of its own with a simulated QuickBooks and writes each view in light, dark and forced colours, on a phone
and on a wide screen. With `--pictures`, it also replaces the two pictures of the README in `docs/images`.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import sync_playwright

from local.command import invoke, local_client, operator_of
from local.first_steps import Api
from simulator.company import Company
from simulator.faults import Fault
from simulator.runs.scheduler import Simulator
from tests.browser.conftest import CHROMIUM
from tests.browser.people import sign_in_as_admin, sign_in_is_on, sign_in_to_tests
from tests.browser.subscriptions import NEW, PAUSED, READING, WITH_PROBLEMS, with_history, with_subscriptions
from tests.browser.support import HOSTILE, large_response, seed_session
from tests.browser.writes import BATCH, WRITES
from tests.e2e.runs import running
from tests.e2e.support import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from playwright.sync_api import Browser, Page, Route

    from tests.e2e.runs import Run

ROOT = Path(__file__).resolve().parents[2]
SETTLE_MILLISECONDS = 1200
MAX_HEIGHT = 4000


@dataclass(frozen=True, slots=True)
class View:
    """An address, what to prepare before it is opened, what to do on it, and the scope of the key, if any."""

    address: str
    before: Callable[[Page], object] = lambda _: None
    act: Callable[[Page], object] = lambda _: None
    scope: str | None = "full"


def click(*names: str) -> Callable[[Page], object]:
    """Return an action that presses buttons one after the other."""

    def act(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name, exact=True).first.click()
            page.wait_for_timeout(SETTLE_MILLISECONDS // 3)

    return act


def open_first_request(page: Page) -> None:
    """Open the page of the first request of a list."""
    page.locator("table.requests a.title").first.click()
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)


def open_account(page: Page) -> None:
    """Open the menu of the person who has signed in."""
    page.get_by_role("button", name="Maria Fuentes", exact=True).click()


def create_connection(page: Page) -> None:
    """Fill in the first step of a new connection."""
    page.get_by_label("Name").fill("Harbor Street Bakery")
    click("Create connection")(page)
    page.locator(".secret code").wait_for()


def reload_wizard(page: Page) -> None:
    """Create a connection, load the page again, and make a link for the customer."""
    create_connection(page)
    page.reload()
    click("Create onboarding link")(page)


def add_metadata(page: Page) -> None:
    """Give a request a label and two entries of metadata."""
    page.get_by_label("Label (optional)").fill("night 1042")
    for number, (name, value) in enumerate((("order", "1042"), ("shop", HOSTILE * 3)), 1):
        click("Add metadata")(page)
        page.get_by_label(f"Name of entry {number}").fill(name)
        page.get_by_label(f"Value of entry {number}").fill(value)


def ask_by_date(page: Page) -> None:
    """Ask for the invoices of a customer in a month."""
    page.get_by_label("Which", exact=True).select_option("By date")
    page.get_by_label("From", exact=True).fill("2026-01-01")
    page.get_by_label("To, inclusive").fill("2026-01-31")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Customer", exact=True).fill("Harbor Street Bakery")


def ask_without_a_time(page: Page) -> None:
    """Ask for the invoices that have changed since half a date."""
    page.get_by_label("Which", exact=True).select_option("Changed since")
    page.get_by_label("Changed since", exact=True).last.press_sequentially("0131")
    page.get_by_label("Send by (optional)", exact=True).press_sequentially("0201")
    page.get_by_role("button", name="Queue invoice query").click()
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)


def ask_by_name(page: Page) -> None:
    """Ask for customers by a part of their names, without it."""
    page.get_by_label("Which", exact=True).select_option("By part of the name")
    page.get_by_role("button", name="Queue customer query").click()
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)


def wait_for_contact(page: Page) -> None:
    """Go to the last step of a new connection."""
    create_connection(page)
    click("Continue")(page)


WRONG_FILE = {
    "code": "company_file_mismatch",
    "reason": "company_file_mismatch",
    "message": "The open company file is not the file of this connection.",
    "path": "C:\\Users\\Public\\Documents\\Intuit\\QuickBooks\\Company Files\\Harbor Street Bakery.qbw",
    "company_name": "Harbor Street Bakery",
}
A_DIALOG = {
    "reason": "modal_dialog",
    "hresult": "0x80040414",
    "message": "A modal dialog box is showing in QuickBooks.",
}
NO_ACCESS = {"reason": "no_permission", "hresult": "0x8004041A", "message": "No permission to access this file."}


def progress_of(fields: dict[str, Any]) -> Callable[[Page], object]:
    """Return what shows the onboarding page at a point of the setup."""

    def answer(route: Route) -> None:
        data = route.fetch().json()["data"]
        called = {
            "has_called": True,
            "called_at": "2999-01-01T00:00:00.000000Z",
            "company_name": "Bluewater Dental LLC",
            "company_file": "C:\\Books\\Bluewater Dental.qbw",
            "company_file_paths": ["C:\\Books\\Bluewater Dental.qbw"],
            "quickbooks_product_name": "QuickBooks Desktop Enterprise Solutions: Professional Services 24.0",
            "contact": {"name": "Bluewater Books", "logo_url": None, "phone": "+1 555 010 0199", "email": None},
        }
        route.fulfill(json={"data": data | called | fields})

    return lambda page: page.route("**/onboarding/connection", answer)


def with_clock(page: Page) -> None:
    """Let the action move the clock of the page."""
    page.clock.install()


def after_two_minutes(page: Page) -> None:
    """Show the page when no Web Connector has called for a while."""
    page.clock.fast_forward("02:05")


def queue_wrong_request(page: Page) -> None:
    """Queue a request with two misspelt elements."""
    click("XML")(page)
    wrong = "<CustomerQueryRq>\n<MaxReturnd>2</MaxReturnd>\n<ActivStatus>All</ActivStatus>\n</CustomerQueryRq>"
    page.get_by_label("XML of the request").fill(
        f'<QBXML>\n<QBXMLMsgsRq onError="stopOnError">\n{wrong}\n</QBXMLMsgsRq>\n</QBXML>'
    )
    press_queue(page)


def select_rows(page: Page) -> None:
    """Select two rows of a list."""
    for number in (0, 2):
        page.locator("td.pick input").nth(number).check()


def press_queue(page: Page) -> None:
    """Press the button that queues the request."""
    page.get_by_role("region", name="Queue").get_by_role("button", name="Add").last.click()
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)


def press_without_connection(page: Page) -> None:
    """Fill in a name and forget the connection."""
    page.get_by_role("textbox", name="Name", exact=False).first.fill("Harbor Street Bakery")
    press_queue(page)


def ask_to_add(page: Page) -> None:
    """Fill in a customer up to the question."""
    page.get_by_role("textbox", name="Name", exact=False).first.fill("Harbor Street Bakery")
    press_queue(page)


def come_back(page: Page) -> None:
    """Return to a draft."""
    page.get_by_role("textbox", name="Name", exact=False).first.fill("Harbor Street Bakery")
    page.reload()
    page.wait_for_timeout(SETTLE_MILLISECONDS)


def list_drafts(page: Page) -> None:
    """Leave a draft for the page that lists drafts."""
    page.get_by_role("textbox", name="Name", exact=False).first.fill("Harbor Street Bakery")
    page.goto(page.url.partition("?")[0])
    page.wait_for_timeout(SETTLE_MILLISECONDS)


def fill_in_invoice(page: Page) -> None:
    """Fill in an invoice of three lines, of which one was cloned and one has a wrong quantity."""
    page.get_by_label("Customer", exact=False).first.fill("Abercrombie, Kristy")
    page.get_by_label("Item of line 1").fill("Consulting")
    page.get_by_label("Description of line 1").fill("Two hours on the phone, about the garage that leaks")
    page.get_by_label("Quantity of line 1").fill("2.5")
    page.get_by_label("Rate of line 1").fill("1097.5")
    page.get_by_role("button", name="Clone line 1").click()
    page.get_by_role("button", name="Add line").click()
    page.get_by_label("Item of line 3").fill("Nothing of the kind")
    page.get_by_label("Quantity of line 3").fill("two")
    page.get_by_label("Quantity of line 3").blur()
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)


def fill_in_payment(page: Page) -> None:
    """Apply more to two invoices than was received."""
    page.get_by_label("Amount received").fill("100")
    page.get_by_label("Apply the payment to").select_option("The invoices that I name")
    page.get_by_label("TxnID of the invoice of line 1").fill("1A2B-1700000000")
    page.get_by_label("Payment of line 1").fill("60")
    page.get_by_role("button", name="Add line").click()
    page.get_by_label("Payment of line 2").fill("60.5")
    page.get_by_label("Payment of line 2").blur()
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)


def create_subscription(page: Page) -> None:
    """Choose two objects of a new subscription."""
    click("New subscription")(page)
    for name in ("Customer", "Invoice"):
        page.get_by_role("checkbox", name=name, exact=True).check()


def select_writes(page: Page) -> None:
    """Select two writes that wait for approval."""
    for number in (0, 2):
        page.locator(".writes .pick input").nth(number).check()


def ask_to_reject(page: Page) -> None:
    """Select two writes, and press the button that rejects them."""
    select_writes(page)
    click("Reject…")(page)


def with_changed_write(page: Page) -> None:
    """Refuse each approval because the write has changed, and the rejections of others."""

    def refuse(route: Route) -> None:
        seen = json.loads(route.request.post_data or "{}")["requests"]
        error = {"code": "forbidden", "message": "The API key that queued a request cannot approve or reject it."}
        requests = [{"id": one["id"], "error": error} for one in seen]
        route.fulfill(json={"data": {"decided": 0, "refused": len(seen), "requests": requests}})

    page.route("**/queued_requests/approve", refuse)


QUERY_ID = "e0000000-0000-4000-8000-000000000001"


def compare(page: Page) -> None:
    """Compare a change with the object in the books."""
    customer = {
        "ListID": "80000001-1700000000",
        "EditSequence": "1699999999",
        "Name": "Harbor Street Bakery",
        "Phone": "555-0100",
        "Email": "books@example.com",
    }
    answer = [{"QBXMLMsgsRs": {"CustomerQueryRs": {"CustomerRet": [customer]}}}]
    record = {
        "id": QUERY_ID,
        "state": "response_received",
        "response_json": answer,
        "responded_at": timestamp(datetime.now(tz=UTC)),
    }
    page.route("**/api/v1/connections/*/queued_requests", lambda route: route.fulfill(json={"data": {"id": QUERY_ID}}))
    page.route(f"**/api/v1/queued_requests/{QUERY_ID}", lambda route: route.fulfill(json={"data": record}))
    click("Compare with the books")(page)


def answer_reading(page: Page, name: str, content: str) -> None:
    """Let QuickBooks answer the query of a change."""
    record = {
        "id": QUERY_ID,
        "state": "response_received",
        "response_xml": f"<QBXML><QBXMLMsgsRs><{name}Rs>{content}</{name}Rs></QBXMLMsgsRs></QBXML>",
        "responded_at": timestamp(datetime.now(tz=UTC)),
    }
    page.route("**/api/v1/connections/*/queued_requests", lambda route: route.fulfill(json={"data": {"id": QUERY_ID}}))
    page.route(f"**/api/v1/queued_requests/{QUERY_ID}", lambda route: route.fulfill(json={"data": record}))


def change_customer(page: Page) -> None:
    """Change the phone and the city of a customer, and clear the fax."""
    address = "<BillAddress><Addr1>1 Mill Lane</Addr1><City>Bath</City><PostalCode>01234</PostalCode></BillAddress>"
    content = (
        "<CustomerRet><ListID>80000001-1</ListID><EditSequence>1</EditSequence><Name>Harbor Street Bakery</Name>"
        "<FullName>Harbor Street Bakery</FullName><CompanyName>Harbor Street Bakery</CompanyName>"
        f"{address}<Phone>555-0100</Phone><Fax>555-0199</Fax><Email>books@example.com</Email></CustomerRet>"
    )
    answer_reading(page, "CustomerQuery", content)
    page.get_by_label("Full name of the customer").fill("Harbor Street Bakery")
    click("Read from QuickBooks")(page)
    page.get_by_label("Phone", exact=True).fill("555-0111")
    page.get_by_label("Fax", exact=True).fill("")
    page.get_by_label("City", exact=True).first.fill("Wells")


def change_invoice(page: Page) -> None:
    """Change one line of an invoice, add one and remove one."""
    lines = "".join(
        f"<InvoiceLineRet><TxnLineID>L{n}</TxnLineID><ItemRef><ListID>8-{n}</ListID><FullName>Consulting</FullName>"
        f"</ItemRef><Desc>{desc}</Desc><Quantity>{n}</Quantity><Rate>97.50</Rate><Amount>{n * 97.5:.2f}</Amount>"
        "</InvoiceLineRet>"
        for n, desc in enumerate(("Opening of the books", "Reconciliation", "Closing"), 1)
    )
    content = (
        "<InvoiceRet><TxnID>1A2B-1</TxnID><EditSequence>1</EditSequence><CustomerRef><ListID>80000001-1</ListID>"
        "<FullName>Harbor Street Bakery</FullName></CustomerRef><TxnDate>2026-01-31</TxnDate>"
        f"<RefNumber>1042</RefNumber><Memo>January</Memo><IsToBePrinted>true</IsToBePrinted>{lines}</InvoiceRet>"
    )
    answer_reading(page, "InvoiceQuery", content)
    page.get_by_label("Number of the invoice").fill("1042")
    click("Read from QuickBooks")(page)
    page.get_by_label("Quantity of line 2").fill("5")
    page.get_by_label("Description of line 2").fill("Reconciliation of two accounts")
    click("Remove line 3")(page)
    click("Clone line 1")(page)


def ask_to_change(page: Page) -> None:
    """Press the button that changes an invoice."""
    change_invoice(page)
    page.get_by_role("button", name="Change invoice in").click()


def failing(status: int, code: str, message: str) -> Callable[[Page], object]:
    """Return a preparation that makes every call of the API fail."""
    body = {"error": {"code": code, "message": message, "details": {"request_id": "3f6c8a52-1d7e-4b09-9a51"}}}
    return lambda page: page.route("**/api/v1/**", lambda route: route.fulfill(status=status, json=body))


def with_changes(**changes: Any) -> Callable[[Page], object]:
    """Return a preparation that changes the data of a request."""

    def change(route: Route) -> None:
        response = json.loads(route.fetch().text())
        response["data"].update(changes)
        route.fulfill(json=response)

    return lambda page: page.route("**/api/v1/queued_requests/*", change)


def timestamp(moment: datetime) -> str:
    """Return a time as the API has it."""
    return f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"


def with_usage(page: Page) -> None:
    """Show two years of an app with many connections, and connections that were not read."""
    chance = random.Random(3)
    months = [f"{2025 + number // 12}-{number % 12 + 1:02}" for number in range(24)]

    def month(name: str, size: int) -> dict[str, Any]:
        requests = chance.randrange(size)
        return {"month": name, "requests": requests, "writes": requests * 2 // 3, "failures": requests // 20}

    def connection(number: int) -> dict[str, Any]:
        times = {"number": 5, "median_seconds": 11.3 * number, "p95_seconds": 90.5 * number}
        none = {"number": 0, "median_seconds": None, "p95_seconds": None}
        return {
            "id": f"c0000000-0000-4000-8000-{number:012}",
            "name": NAMES[number % len(NAMES)],
            "months": [month(name, 10 ** (2 + number % 5)) for name in months],
            "waiting_time": times if number else none,
            "executing_time": {**times, "median_seconds": 0.088} if number else none,
        }

    data = {
        "first_month": months[0],
        "last_month": months[-1],
        "connections": [connection(number) for number in range(60)],
        "unread_connections": [{"id": "c0000000-0000-4000-8000-000000000001", "name": NAMES[0]}],
        "omitted_connections": 12,
    }
    page.route("**/api/v1/usage*", lambda route: route.fulfill(json={"data": data}))


def with_failures(page: Page) -> None:
    """Show failures of many connections, with long names and hostile texts, and connections that were not read."""
    noon = datetime(2026, 3, 14, 12, tzinfo=UTC)
    causes = [
        ("3170", "quickbooks_error", 'There was an error when modifying a Customers list, element "80000009".'),
        ("0x80040414", "quickbooks_connection_error", "A modal dialog box is showing in QuickBooks."),
        ("not_sent_in_time", "not_sent_in_time", "It was not sent by 2026-03-14T12:00:00Z."),
        ("3100", "quickbooks_error", HOSTILE * 4),
    ]

    def group(number: int, requests: int) -> dict[str, Any]:
        return {
            "connection_id": f"c0000000-0000-4000-8000-{number:012}",
            "connection_name": NAMES[number % len(NAMES)],
            "requests": requests,
            "first_at": timestamp(noon - timedelta(hours=5 * number)),
            "last_at": timestamp(noon + timedelta(minutes=number)),
            "newest_request_id": "00000000-0000-4000-8000-000000000001",
        }

    data = {
        "since": timestamp(noon - timedelta(days=1)),
        "until": timestamp(noon),
        "causes": [
            {"cause": cause, "code": code, "message": message, "messages": 1 + place % 2, "meaning": None}
            | {
                "hint": "Query the object and use its ListID.",
                "queued_again": 40 * (place % 2),
                "failed_again": 3 * (place % 2),
                "repeatable": place % 3,
                "unknown": 0,
            }
            | group(number, 400 // (number + place + 1))
            for place, (cause, code, message) in enumerate(causes)
            for number in range(5 - place)
        ],
        "receivers": [
            {"receiver": "https://hooks.example.com", "last_status_code": 503, "last_response": "overloaded"}
            | group(number, 17 - number)
            for number in range(3)
        ]
        + [
            {"receiver": "http://127.0.0.1:9", "last_status_code": None, "last_response": "Connection refused"}
            | group(7, 1)
        ],
        "incomplete_connections": [
            {"id": "c0000000-0000-4000-8000-000000000000", "name": NAMES[0], "complete_after": timestamp(noon)},
            {"id": "c0000000-0000-4000-8000-000000000001", "name": NAMES[1], "complete_after": None},
        ],
        "omitted_connections": 12,
        "omitted_groups": 230,
    }
    page.route("**/api/v1/failures*", lambda route: route.fulfill(json={"data": data}))


def with_hits(page: Page) -> None:
    """Let a search find requests in several connections, and leave out others."""
    noon = datetime.now(UTC)
    texts = [
        ("InvoiceAddRq", "response_received", "Harbor Street Bakery · 1042 · 1,248.50", ["number"], None, None),
        ("InvoiceModRq", "error", "Harbor Street Bakery · 1042", ["number"], "3170", "The object is in use."),
        ("ReceivePaymentAddRq", "waiting", "Kristy Abercrombie · 1042 · 80.00", ["label", "number"], None, None),
    ]
    hits = [
        {
            "id": f"d0000000-0000-4000-8000-{number:012}",
            "connection_id": f"c0000000-0000-4000-8000-{number:012}",
            "connection_name": NAMES[number],
            "matched": matched,
            "request_name": name,
            "subject": subject,
            "label": "nightly sync" if number else None,
            "state": state,
            "cause": cause,
            "message": message,
            "inserted_at": timestamp(noon - timedelta(hours=30 * number)),
        }
        for number, (name, state, subject, matched, cause, message) in enumerate(texts)
    ]
    unsearched = [
        {"id": hits[number]["connection_id"], "name": NAMES[number], "complete_after": after, "reason": reason}
        for number, after, reason in ((0, timestamp(noon - timedelta(days=90)), "time"), (1, None, "older_release"))
    ]
    data = {"hits": hits, "next": "next", "unsearched_connections": unsearched, "omitted_connections": 12}
    page.route("**/api/v1/search?*", lambda route: route.fulfill(json={"data": data}))


def go_to(text: str) -> Callable[[Page], object]:
    """Return an action that opens the palette and types a text."""

    def act(page: Page) -> None:
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Connection, request or action").fill(text)

    return act


def fetch_all(page: Page) -> None:
    """Let a query fetch all objects."""
    page.get_by_label("Fetch all, in pages of this number").check()


def with_labels(page: Page) -> None:
    """Give the requests of a list labels of all lengths."""

    def answer(route: Route) -> None:
        body = route.fetch().json()
        for number, one in enumerate(body["data"]):
            one |= {"label": ("order-77", "import 2026-03 of the shop in Millbrook, order-1042", "W" * 50)[number % 3]}
            one |= {"subject": "Harbor Street Bakery, Northern Branch" if number % 2 else None}
        route.fulfill(json=body)

    page.route("**/queued_requests?*", answer)


def half_a_date(page: Page) -> None:
    """Type the month and the day of the end of a range, and leave it."""
    page.locator(".moment input[type=date]").last.press_sequentially("1130")
    page.get_by_role("heading").first.click()


def open_first_details(page: Page) -> None:
    """Open the connections of the first group."""
    page.get_by_text("By connection").first.click()


def with_statistics(*, connections: int) -> Callable[[Page], object]:
    """Return a preparation that shows a week of an app with many connections, long names and hostile texts."""
    chance = random.Random(7)
    hour = datetime(2026, 3, 7, tzinfo=UTC)
    hours = [
        {
            "hour": timestamp(hour + timedelta(hours=number)),
            "queued": (busy := chance.randrange(20, 400) if 7 <= number % 24 <= 19 else chance.randrange(8)),
            "response_received": busy,
            "error": chance.randrange(max(busy // 8, 1)) if number % 24 != 15 else busy // 2,
        }
        for number in range(7 * 24 + 13)
    ]

    def durations(first: float, numbers: list[int]) -> dict[str, Any]:
        buckets = [
            {"from_seconds": first * 2**place, "to_seconds": first * 2 ** (place + 1), "number": number}
            for place, number in enumerate(numbers)
        ]
        return {"number": sum(numbers), "median_seconds": first * 11, "p95_seconds": first * 90, "buckets": buckets}

    def connection(number: int) -> dict[str, Any]:
        return {
            "id": f"c0000000-0000-4000-8000-{number:012}",
            "name": NAMES[number % len(NAMES)],
            "status": (status := "error" if number % 7 == 3 else "connected"),
            "quickbooks_status": "testing" if number % 13 == 1 else status,
            "paused_at": None,
            "last_connected_at": timestamp(hour + timedelta(hours=number)),
            "stopped_calling": number % 9 == 2,
            "silent_since": timestamp(hour + timedelta(hours=number)) if number % 9 == 2 else None,
            "waiting_reason": MISSED_CALLS if number % 9 == 2 else None,
            "warnings": [SECOND_MACHINE] if number % 17 == 5 else [],
            "oldest_waiting_at": timestamp(hour) if number % 4 == 0 else None,
            "queued": chance.randrange(3000),
            "response_received": 10,
            "error": chance.randrange(3) * chance.randrange(20),
            "webhooks_retrying": number % 11 == 4,
            "webhooks_failed": (number % 11 == 4) * 7,
        }

    attempt = {"requests": 10, "last_attempt_at": timestamp(hour), "last_status_code": 503}
    data = {
        "since": timestamp(hour),
        "until": timestamp(hour + timedelta(hours=len(hours) - 1, minutes=20)),
        "hours": hours,
        "waiting_time": durations(4, [3, 40, 210, 830, 1200, 640, 90, 12, 0, 3]),
        "executing_time": durations(1 / 16, [90, 800, 1500, 400, 120, 60, 30, 22, 4]),
        "webhooks": {"pending": 3, "retrying": 14, "succeeded": 20_541, "failed": 161},
        "oldest_waiting_request": {
            "id": "b0000000-0000-4000-8000-000000000001",
            "connection_id": "c0000000-0000-4000-8000-000000000000",
            "request_name": "InvoiceAddRq",
            "inserted_at": timestamp(hour),
        },
        "failing_receivers": [
            {"origin": "https://hooks.harbor-street-bakery.example", "last_response": "upstream timed out", **attempt},
            {"origin": "https://" + "long" * 30 + ".example", "last_response": HOSTILE * 3, **attempt},
        ],
        "connections": [connection(number) for number in range(connections)],
        "omitted_connections": 17,
    }
    return lambda page: page.route("**/api/v1/statistics?*", lambda route: route.fulfill(json={"data": data}))


NAMES = (
    "Harbor Street Bakery",
    None,
    "Böttcher & Söhne Großhandelsgesellschaft mbH",
    "株式会社東京青果",
    "شركة الأمل للتجارة",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    HOSTILE,
    "The Extraordinarily Long-Named Holding Company of Northern and Southern Millbrook, Incorporated, 2nd Branch",
)
"""Names as customers have them: missing, foreign, from right to left, long, and hostile."""

REQUESTS = ("InvoiceAddRq", "CustomerQueryRq", "ReceivePaymentAddRq", "ItemInventoryAssemblyAddRq", "BillModRq")
MANY_RECORDS = 10_000


def with_records(page: Page) -> None:
    """List 10,000 requests of many names in all states, as a connection with a long history has them."""

    def change(route: Route) -> None:
        body = route.fetch().json()
        example = body["data"][0]
        states = ("waiting", "response_received", "error", "discarded", "sent", "retryable")
        failed = {
            "code": "quickbooks_error",
            "message": f"{HOSTILE} The name of the list element is already in use. Status code 3100.",
            "details": {},
        }
        now = datetime.now(tz=UTC)
        rows = []
        for number in range(50):
            state = states[number % len(states)]
            sent = now - timedelta(minutes=7 * number)
            rows.append(
                example
                | {
                    "id": f"d0000000-0000-4000-8000-{number:012}",
                    "request_name": REQUESTS[number % len(REQUESTS)],
                    "page": 1,
                    "subject": f"{NAMES[number % len(NAMES)] or '#1042'} · 1,{number:03}.50",
                    "label": f"ORDER-{number}" if number % 3 == 0 else None,
                    "state": state,
                    "error": failed if state == "error" else None,
                    "waiting_reason": None,
                    "webhook_state": ("succeeded", "not_applicable", "failed", "pending")[number % 4],
                    "inserted_at": timestamp(sent - timedelta(seconds=number**3)),
                    "sent_at": timestamp(sent) if state in {"response_received", "error", "sent"} else None,
                    "responded_at": timestamp(sent + timedelta(seconds=1.7)) if state == "response_received" else None,
                    "updated_at": timestamp(sent + timedelta(seconds=2)),
                }
            )
        counts = {"waiting": 1_204, "response_received": 8_611, "error": 185}
        changed = {"data": rows, "total": MANY_RECORDS, "total_pages": MANY_RECORDS // 50}
        route.fulfill(json=body | changed | {"counts": body["counts"] | counts})

    page.route("**/api/v1/connections/*/queued_requests?*", change)


def with_names(page: Page) -> None:
    """Give the connections names as customers have them, and show the list of many pages."""

    def change(route: Route) -> None:
        body = route.fetch().json()
        example = body["data"][0]
        rows = [
            example
            | {
                "id": f"c0000000-0000-4000-8000-{number:012}",
                "name": name,
                "quickbooks_product_name": "QuickBooks Desktop Enterprise Solutions: Manufacturing & Wholesale 24.0",
                "counts": example["counts"] | {"waiting": 10 ** (number % 6), "error": number * 37 % 5},
            }
            for number, name in enumerate(NAMES * 2)
        ]
        route.fulfill(json=body | {"data": rows, "total_pages": 40})

    page.route("**/api/v1/connections?*", change)


HOSTILE_FIELDS = {"name": HOSTILE * 4, "webhook_url": "https://example.com/" + "x" * 300}
SENT_AGAIN = {
    "first_sent_at": "2026-03-14T12:00:00.000000Z",
    "sent_in_sessions": 2,
    "replaced_by": "00000000-0000-4000-8000-000000000001",
}
SECOND_MACHINE = {
    "code": "second_web_connector",
    "message": "A second Web Connector (address 203.0.113.9) still calls with another password, last at "
    "2026-03-14T12:05:00.000000Z. The current password works: it was last used at 2026-03-14T12:06:00.000000Z.",
    "hint": "Nothing waits because of this.",
}
MISSED_CALLS = {
    "code": "not_seen",
    "message": "At least 27 calls missed since 2026-03-14T12:01:00.000000Z, when the Web Connector was last seen.",
    "hint": "At the QuickBooks machine: switch it on.",
}


def with_connection(**fields: Any) -> Callable[[Page], object]:
    """Return a preparation that changes the connection that is shown."""

    def change(route: Route) -> None:
        body = route.fetch().json()
        body["data"].update(fields)
        route.fulfill(json=body)

    return lambda page: page.route(re.compile(r"/api/v1/connections/[0-9a-f-]{36}$"), change)


def with_sessions(page: Page) -> None:
    """Answer with sessions of two machines with all results, whose texts are long, foreign and hostile."""
    now = datetime.now(tz=UTC)
    product = "QuickBooks Desktop Enterprise Solutions: Manufacturing & Wholesale 24.0"
    path = "C:\\Users\\Public\\Documents\\Intuit\\QuickBooks\\Böttcher & Söhne.qbw"
    ends = (
        ("running", None, None, 12),
        ("completed", None, 84, 0),
        ("stopped", "The Web Connector closed this session before it returned the answer of QuickBooks.", 9, 0),
        ("stopped", f"The open company file is not the file of this connection: {HOSTILE * 2}", 3, 0),
        ("completed", None, 5_400, 1_204),
    )
    sessions = [
        {
            "began_at": timestamp(began := now - timedelta(minutes=1 + 47 * number)),
            "last_call_at": timestamp(began + timedelta(seconds=seconds or 20)),
            "ended_at": timestamp(began + timedelta(seconds=seconds)) if seconds else None,
            "result": result,
            "message": message,
            "requests": requests,
            "subscription_messages": (0, 14, 0, 0, 1)[number],
            "address": ("203.0.113.7", "2001:db8:85a3:8d3:1319:8a2e:370:7348", None)[number % 3],
            "web_connector_version": "2.3.0.215" if number % 2 else None,
            "quickbooks_product_name": product if result != "stopped" else None,
            "quickbooks_version": "34.0" if result != "stopped" else None,
            "company_file_path": path if result != "stopped" else None,
        }
        for number, (result, message, seconds, requests) in enumerate(ends)
    ]
    page.route("**/api/v1/connections/*/sessions", lambda route: route.fulfill(json={"data": sessions}))


def no_entries(page: Page) -> None:
    """Answer with an audit log that is empty."""
    page.route("**/api/v1/audit_log*", lambda route: route.fulfill(json={"data": [], "next": None}))


def with_contact(page: Page) -> None:
    """Answer with a contact whose texts are long, foreign and hostile."""
    contact = {
        "name": f"Böttcher & Söhne {HOSTILE} شركة الأمل",
        "logo_url": f"https://{'long-host-name-' * 4}example.com/logo.png",
        "phone": "+49 (30) 555 010 0199 x 1042",
        "email": f"{'quickbooks-help-' * 4}@example.com",
    }
    page.route("**/api/v1/contact", lambda route: route.fulfill(json={"data": contact}))


VIEWS: Mapping[str, View] = {
    "approvals": View("/app/approvals"),
    "approvals-selected": View("/app/approvals", act=select_writes),
    "approvals-compared": View("/app/approvals", act=compare),
    "approvals-refused": View(
        "/app/approvals", with_changed_write, act=lambda page: page.locator(".writes .approve").first.click()
    ),
    "approvals-reject": View("/app/approvals", act=ask_to_reject),
    "approvals-read-only": View("/app/approvals", scope="read_only"),
    "approvals-none": View("/app/approvals?connection={empty}"),
    "overview": View("/app/overview?days=7", with_statistics(connections=1_000)),
    "usage": View("/app/usage", with_usage),
    "usage-own": View("/app/usage"),
    "failures": View("/app/failures", with_failures),
    "failures-connections": View("/app/failures", with_failures, open_first_details),
    "failures-own": View("/app/failures"),
    "failures-list": View("/app/connections/{connection}?state=error&cause=3100&sort=updated_at"),
    "go-to": View("/app/connections/{connection}", act=go_to("b")),
    "go-to-id": View("/app", act=go_to("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")),
    "overview-two-days": View("/app/overview"),
    "overview-connection": View("/app/connections/{connection}/overview"),
    "overview-to-approve": View("/app/connections/{approvals}/overview"),
    "sign-in": View("/app", scope=None),
    "sign-in-people": View("/app", sign_in_is_on, scope=None),
    "sign-in-problem": View("/app/sign_in?problem=not_invited", sign_in_is_on, scope=None),
    "account": View("/app/people", sign_in_to_tests, act=open_account, scope=None),
    "people": View("/app/people", sign_in_as_admin, scope=None),
    "people-invite": View("/app/people", sign_in_as_admin, act=click("Invite"), scope=None),
    "api-keys": View("/app/api_keys", sign_in_to_tests, act=lambda page: page.locator("summary").click(), scope=None),
    "api-keys-create": View("/app/api_keys", sign_in_as_admin, act=click("Create key"), scope=None),
    "connections": View("/app"),
    "connections-names": View("/app", with_names),
    "connections-read-only": View("/app", scope="read_only"),
    "connections-none": View(
        "/app",
        lambda page: page.route(
            "**/api/v1/connections?*", lambda route: route.fulfill(json={"data": [], "page": 1, "total_pages": 0})
        ),
    ),
    "connections-filtered": View("/app?sort=failed"),
    "search": View("/app/search?search=1042", with_hits),
    "search-none": View("/app/search?search=customer"),
    "search-part": View("/app/search?search=customer&part=true"),
    "new-connection": View("/app/connections/new"),
    "new-connection-password": View("/app/connections/new", act=create_connection),
    "new-connection-reloaded": View("/app/connections/new", act=reload_wizard),
    "new-connection-wait": View("/app/connections/new", act=wait_for_contact),
    "requests": View("/app/connections/{connection}"),
    "requests-10000": View("/app/connections/{connection}?page_size=50", with_records),
    "requests-dense": View("/app/connections/{connection}?page_size=50", with_records, click("Dense")),
    "requests-search": View("/app/connections/{connection}?search=harbor"),
    "requests-yesterday": View(
        "/app/connections/{connection}?range=custom&from=2026-03-07T05:00:00.000Z&to=2999-01-01T00:00:00.000Z"
    ),
    "requests-hostile": View("/app/connections/{connection}", with_connection(**HOSTILE_FIELDS)),
    "requests-read-only": View("/app/connections/{connection}", scope="read_only"),
    "requests-none": View("/app/connections/{empty}"),
    "requests-many": View("/app/connections/{connection}?state=waiting", act=click("Bulk actions")),
    "requests-selected": View("/app/connections/{connection}", act=select_rows),
    "requests-retrying-webhooks": View(
        "/app/connections/{connection}?webhook_state=retrying&sort=updated_at&range=night&from=2020-01-01T00:00:00.000Z"
    ),
    "requests-many-asked": View("/app/connections/{connection}?state=error", act=click("Queue again")),
    "requests-no-match": View("/app/connections/{connection}?search=zebra&state=error"),
    "requests-paused": View("/app/connections/{paused}"),
    "requests-loading": View("/app/connections/{connection}", lambda page: page.route("**/api/v1/**", lambda _: None)),
    "wrong-password": View("/app/connections/{wrong_password}"),
    "second-machine": View("/app/connections/{connection}", with_connection(warnings=[SECOND_MACHINE])),
    "missed-calls": View("/app/connections/{connection}", with_connection(waiting_reason=MISSED_CALLS)),
    "keyboard": View("/app/connections/{connection}", act=lambda page: page.keyboard.press("?")),
    "settings": View("/app/connections/{connection}/settings"),
    "settings-hostile": View("/app/connections/{connection}/settings", with_connection(**HOSTILE_FIELDS)),
    "settings-read-only": View("/app/connections/{connection}/settings", scope="read_only"),
    "settings-dialog": View("/app/connections/{connection}/settings", act=click("New password")),
    "subscriptions": View(
        "/app/connections/{connection}/subscriptions", with_subscriptions(READING, WITH_PROBLEMS, PAUSED)
    ),
    "subscriptions-new": View("/app/connections/{connection}/subscriptions", with_subscriptions(NEW)),
    "subscriptions-none": View("/app/connections/{empty}/subscriptions"),
    "subscriptions-create": View("/app/connections/{empty}/subscriptions", act=create_subscription),
    "subscriptions-resync": View(
        "/app/connections/{connection}/subscriptions", with_subscriptions(READING), click("Resync")
    ),
    "subscriptions-changes": View(
        "/app/connections/{connection}/subscriptions", with_history, click("Changes of Customer")
    ),
    "subscriptions-read-only": View(
        "/app/connections/{connection}/subscriptions", with_subscriptions(READING), scope="read_only"
    ),
    "sessions": View("/app/connections/{connection}/sessions"),
    "settings-machine": View("/app/connections/{connection}/settings", with_sessions),
    "settings-move": View("/app/connections/{connection}/settings?open=move"),
    "settings-move-viewer": View("/app/connections/{connection}/settings?open=move", scope="read_only"),
    "sessions-of-two-machines": View("/app/connections/{connection}/sessions", with_sessions),
    "sessions-none": View("/app/connections/{empty}/sessions"),
    "list-range": View("/app/connections/{connection}?range=custom&from=2026-03-01T05:00:00.000Z", act=half_a_date),
    "failures-range": View("/app/failures?range=custom&from=2026-03-01T05:00:00.000Z", act=half_a_date),
    "compose-query-all": View("/app/compose?connection={connection}&type=InvoiceQueryRq", act=fetch_all),
    "connection-labels": View("/app/connections/{paused}", with_labels),
    "connection-labels-dense": View("/app/connections/{paused}", with_labels, click("Dense")),
    "palette-pause": View("/app/contact", act=go_to("pause")),
    "palette-connection": View("/app/contact", act=go_to("harbor")),
    "contact": View("/app/contact", with_contact),
    "contact-none": View("/app/contact"),
    "contact-read-only": View("/app/contact", with_contact, scope="read_only"),
    "audit-log": View("/app/audit_log"),
    "audit-log-connection": View("/app/connections/{paused}/audit_log"),
    "audit-log-filtered": View("/app/audit_log?action=connection_created&range=custom&from=2020-01-01T00:00:00.000Z"),
    "audit-log-none": View("/app/audit_log", no_entries),
    "request": View("/app/queued_requests/{invoices}"),
    "request-read-only": View("/app/queued_requests/{failed}", scope="read_only"),
    "request-failed": View("/app/queued_requests/{failed}"),
    "request-code": View("/app/queued_requests/{invoices}", act=click("TypeScript")),
    "request-to-approve": View("/app/connections/{approvals}", act=open_first_request),
    "request-waiting": View("/app/queued_requests/{waiting}"),
    "request-waiting-copied": View("/app/queued_requests/{waiting}", act=click("Queue again")),
    "request-sent-again": View("/app/queued_requests/{unknown}", with_changes(**SENT_AGAIN)),
    "request-batch": View("/app/queued_requests/{step}"),
    "request-webhook-retried": View("/app/queued_requests/{refused}"),
    "request-page-of-iteration": View("/app/queued_requests/{iterated}"),
    "request-large": View("/app/queued_requests/{invoices}", with_changes(**large_response())),
    "request-hostile": View(
        "/app/queued_requests/{failed}",
        with_changes(
            request_name=HOSTILE * 3,
            error={"code": "quickbooks_error", "message": HOSTILE * 8, "details": {"hint": HOSTILE}},
            webhook_url="https://example.com/" + "x" * 300,
        ),
    ),
    "compose-read-only": View("/app/compose", scope="read_only"),
    "compose-pick": View("/app/compose"),
    "compose": View("/app/compose?connection={connection}&type=InvoiceAddRq"),
    "compose-invoice": View("/app/compose?connection={connection}&type=InvoiceAddRq", act=fill_in_invoice),
    "compose-payment": View("/app/compose?connection={connection}&type=ReceivePaymentAddRq", act=fill_in_payment),
    "compose-customer": View("/app/compose?connection={connection}&type=CustomerAddRq"),
    "compose-query": View("/app/compose?connection={connection}&type=InvoiceQueryRq", act=ask_by_date),
    "compose-type": View(
        "/app/compose?connection={connection}",
        act=lambda page: page.get_by_role("combobox", name="Request type").fill("change"),
    ),
    "compose-query-date": View("/app/compose?connection={connection}&type=InvoiceQueryRq", act=ask_without_a_time),
    "compose-query-name": View("/app/compose?connection={connection}&type=CustomerQueryRq", act=ask_by_name),
    "compose-change": View("/app/compose?connection={connection}&type=CustomerModRq"),
    "compose-change-unread": View("/app/compose?connection={connection}&type=CustomerModRq&object=80000001-1700000000"),
    "compose-change-customer": View("/app/compose?connection={connection}&type=CustomerModRq", act=change_customer),
    "compose-change-invoice": View("/app/compose?connection={connection}&type=InvoiceModRq", act=change_invoice),
    "compose-change-confirm": View("/app/compose?connection={connection}&type=InvoiceModRq", act=ask_to_change),
    "compose-metadata": View("/app/compose?connection={connection}&type=CustomerQueryRq", act=add_metadata),
    "compose-all-fields": View("/app/compose?connection={connection}&type=InvoiceAddRq", act=click("All fields")),
    "compose-several": View("/app/compose?type=CustomerAddRq", act=press_without_connection),
    "compose-missing": View("/app/compose?connection={connection}&type=InvoiceAddRq", act=press_queue),
    "compose-confirm": View("/app/compose?connection={connection}&type=CustomerAddRq", act=ask_to_add),
    "compose-draft": View("/app/compose?connection={connection}&type=CustomerAddRq", act=come_back),
    "compose-drafts": View("/app/compose?connection={connection}&type=CustomerAddRq", act=list_drafts),
    "compose-edit": View("/app/compose?connection={connection}&type=CustomerAddRq&from={failed}"),
    "request-unknown": View("/app/queued_requests/{unknown}"),
    "request-unknown-found": View("/app/queued_requests/{found}"),
    "request-unknown-absent": View("/app/queued_requests/{absent}"),
    "compose-xml": View("/app/compose?connection={connection}&type=InvoiceAddRq", act=click("XML")),
    "compose-problems": View("/app/compose?connection={connection}&type=CustomerQueryRq", act=queue_wrong_request),
    "reference": View("/app/qbxml"),
    "reference-search": View(
        "/app/qbxml", act=lambda page: page.get_by_label("Search types and fields").fill("RefNumber")
    ),
    "reference-field": View("/app/qbxml?field=RefNumber"),
    "type": View("/app/qbxml/InvoiceAddRq"),
    "type-field": View("/app/qbxml/InvoiceAddRq?field=RefNumber"),
    "type-response": View("/app/qbxml/InvoiceQueryRs"),
    "docs": View("/docs"),
    "docs-operation": View("/docs#/Queued%20requests/create_queued_request", act=click("Try it out")),
    "support": View("/support", scope=None),
    "onboarding": View("{onboarding}", scope=None),
    "onboarding-wrong-password": View("{onboarding_wrong}", scope=None),
    "onboarding-message": View("{onboarding}", act=click("The Web Connector shows an error"), scope=None),
    "onboarding-invalid": View("/onboarding#nothing", scope=None),
    "onboarding-testing": View("{onboarding}", before=progress_of({"state": "testing"}), scope=None),
    "onboarding-wrong-file": View(
        "{onboarding}", before=progress_of({"state": "problem", "problem": WRONG_FILE}), scope=None
    ),
    "onboarding-closed-file": View(
        "{onboarding}", before=progress_of({"state": "problem", "problem": A_DIALOG}), scope=None
    ),
    "onboarding-no-access": View(
        "{onboarding}", before=progress_of({"state": "problem", "problem": NO_ACCESS}), scope=None
    ),
    "onboarding-connected": View("{onboarding}", before=progress_of({"state": "connected"}), scope=None),
    "onboarding-nothing-called": View("{onboarding}", before=with_clock, act=after_two_minutes, scope=None),
    "not-found": View("/app/nothing"),
    "request-not-found": View("/app/queued_requests/00000000-0000-4000-8000-000000000000"),
    "error-500": View(
        "/app/connections/{connection}", failing(500, "internal_error", "Something went wrong in the service.")
    ),
    "error-429": View(
        "/app/connections/{connection}", failing(429, "too_many_requests", "Too many calls. Try again in a moment.")
    ),
}

README = {"connections": "requests", "request": "request"}
"""The README's pictures by name, and the view that each shows."""


@dataclass(frozen=True, slots=True)
class Style:
    """One way of looking at the views."""

    name: str
    colours: str
    width: int
    height: int
    is_whole: bool = True


STYLES = (
    Style("light", "light", 1280, 860),
    Style("forced", "forced", 1280, 860),
    Style("dark", "dark", 1280, 860),
    Style("phone", "light", 390, 844),
    Style("wide", "light", 2560, 1200, is_whole=False),
)
README_STYLE = Style("readme", "light", 1160, 720, is_whole=False)


def main(arguments: list[str]) -> int:
    """Write the screenshots and return the exit status."""
    with_pictures = arguments[:1] == ["--pictures"]
    arguments = arguments[with_pictures:]
    if not arguments or arguments[0].startswith("-") or not set(arguments[1:]) <= set(VIEWS):
        print(__doc__, "The views are:", *VIEWS)  # noqa: T201 - a program's help
        return 2
    if CHROMIUM is None:
        print("Chromium is needed: apt-get install chromium", file=sys.stderr)  # noqa: T201 - see above
        return 1
    folder, names, failed = Path(arguments[0]), arguments[1:] or list(VIEWS), 0
    with (
        tempfile.TemporaryDirectory() as state,
        running(Path(state)) as run,
        sync_playwright() as playwright,
    ):
        facts = fill(run)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        # First, because some of the views add connections.
        if with_pictures:
            for name, view in README.items():
                page = open_view(browser, run, facts, view, README_STYLE)
                picture(page, README_STYLE, ROOT / "docs" / "images" / name)
                page.context.close()
        for name in names:
            failed += not pictures(browser, run, facts, name, folder)
        browser.close()
    print(f"The screenshots are in {folder}/.")  # noqa: T201 - see above
    return int(failed > 0)


def fill(run: Run) -> dict[str, str]:
    """Create connections and requests in many states, and return the ids and links for the addresses."""
    api, connection = run.api(), run.credentials["connection_id"]

    def text(name: str, value: str) -> dict[str, str]:
        return {"name": name, "text": value}

    def request(name: str, children: list[Any], attributes: dict[str, str] | None = None, **members: str) -> str:
        tree = {"name": name, "children": children, **({"attributes": attributes} if attributes else {})}
        return run.queue({"request_json": {"request": tree}, **members})

    def create_connection(name: str, **settings: str) -> str:
        return str(api.call("POST", "/api/v1/connections", {"name": name, **settings})["data"]["id"])

    def onboarding(of: str) -> str:
        response = api.call("POST", f"/api/v1/connections/{of}/onboarding_url", {})
        return "/onboarding#" + str(response["data"]["links"]["onboarding"]).partition("#")[2]

    webhook_url = run.credentials["webhook_url"]
    request("CompanyQueryRq", [])
    request("CustomerQueryRq", [text("MaxReturned", "25")], webhook_url=webhook_url)
    invoices = request(
        "InvoiceQueryRq", [text("MaxReturned", "40"), text("IncludeLineItems", "true")], webhook_url=webhook_url
    )
    refused = request("VendorQueryRq", [text("MaxReturned", "10")], webhook_url="http://127.0.0.1:9/refused")
    bakery = [{"name": "CustomerAdd", "children": [text("Name", "Harbor Street Bakery")]}]
    request("CustomerAddRq", bakery, webhook_url=webhook_url)
    failed = request("CustomerAddRq", bakery, webhook_url=webhook_url)
    iterated = request("ItemQueryRq", [text("MaxReturned", "30")], {"iterator": "Start"})
    stopped = [
        {"ref": "c", "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Harbor Street Bakery"}}}},
        BATCH[1],
    ]
    members = {"label": "night 1042", "metadata": {"order": "1042"}}
    batch = {"requests": [one | members for one in stopped]}
    steps = api.call("POST", f"/api/v1/connections/{connection}/queued_requests/batch", batch)["data"]
    last = request("AccountQueryRq", [])
    eventually(lambda: run.record(last)["state"], lambda state: state in {"response_received", "error"})

    empty = create_connection("Harbor Street Bakery", company_file=r"C:\Books\Harbor.qbw")
    paused = create_connection("Grünwald Fabrics")
    api.call("POST", f"/api/v1/connections/{paused}/pause", {})
    api.call("PATCH", f"/api/v1/connections/{paused}", {"linger_seconds": 60, "webhook_url": webhook_url})
    api.call("POST", f"/api/v1/connections/{paused}/password", {})
    create_connection(
        "The Extraordinarily Long-Named Holding Company of Northern and Southern Millbrook, Incorporated, 2nd Branch"
    )
    wrong = create_connection("Lakeside Carpentry")
    api.call("POST", f"/api/v1/connections/{wrong}/password", {})
    onboarding_wrong = onboarding(wrong)
    qwc = api.call("POST", f"/api/v1/connections/{wrong}/qwc", {})["qwc"]
    Simulator(qwc, "a wrong password", Company.generated()).run_once()
    body = {"request_json": {"request": {"name": "InvoiceQueryRq", "children": [text("MaxReturned", "5")]}}}
    for waits in (paused, paused, wrong):
        waiting = api.call("POST", f"/api/v1/connections/{waits}/queued_requests", body)["data"]["id"]
    many = {"filter": {"request_name": "InvoiceQueryRq"}}
    api.call("POST", f"/api/v1/connections/{paused}/queued_requests/discard", many)
    api.call("POST", f"/api/v1/queued_requests/{waiting}/discard", {})
    waiting = api.call("POST", f"/api/v1/connections/{wrong}/queued_requests", body)["data"]["id"]
    api.call("POST", f"/api/v1/connections/{paused}/queued_requests", body)
    return {
        "connection": connection,
        "empty": empty,
        "paused": paused,
        "wrong_password": wrong,
        "invoices": invoices,
        "failed": failed,
        "refused": refused,
        "iterated": iterated,
        "step": steps[0]["id"],
        "waiting": waiting,
        "unknown": unknown(api, check=False),
        "found": unknown(api, check=True),
        "absent": unknown(api, check=True, restore=True),
        "approvals": propose(run),
        "onboarding": onboarding(empty),
        "onboarding_wrong": onboarding_wrong,
    }


def propose(run: Run) -> str:
    """Queue writes that wait for approval, with a key that proposes, and return their connection."""
    api, operator = run.api(), operator_of(run.credentials)
    event = {"operation": "create_key", "app_id": run.credentials["app_id"], "scope": "propose"}
    key = invoke(local_client(operator), operator.function, event)["api_key"]
    author = Api(run.credentials["base_url"], key)
    of = str(api.call("POST", "/api/v1/connections", {"name": "Harbor Street Bakery, Books"})["data"]["id"])
    for write in WRITES:
        author.call("POST", f"/api/v1/connections/{of}/queued_requests", {"request_json": write, "label": "agent 7"})
    author.call("POST", f"/api/v1/connections/{of}/queued_requests/batch", {"requests": BATCH})
    own = {"request_json": WRITES[3], "approval": "required"}
    api.call("POST", f"/api/v1/connections/{of}/queued_requests", own)
    return of


def unknown(api: Api, *, check: bool, restore: bool = False) -> str:
    """Queue a write whose response cannot be read, and check it in the books or in a backup of them."""
    of = api.call("POST", "/api/v1/connections", {"name": "Bluewater Dental"})["data"]["id"]
    password = api.call("POST", f"/api/v1/connections/{of}/password", {})["data"]["password"]
    qwc, company = api.call("POST", f"/api/v1/connections/{of}/qwc", {})["qwc"], Company.generated()
    body = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Harbor Street Bakery"}}}}
    request_id = str(api.call("POST", f"/api/v1/connections/{of}/queued_requests", body)["data"]["id"])
    before = company.snapshot()
    unreadable = Fault.of({"on": "process", "request": "writes", "do": "unreadable"})
    Simulator(qwc, password, company, faults=[unreadable]).run_once()
    if restore:
        company.restore(before)
    if check:
        query = {
            "request_json": {"CustomerQueryRq": {"FullName": "Harbor Street Bakery"}},
            "label": f"check {request_id}",
        }
        api.call("POST", f"/api/v1/connections/{of}/queued_requests", query)
        Simulator(qwc, password, company).run_once()
    return request_id


def open_view(browser: Browser, run: Run, facts: Mapping[str, str], name: str, style: Style) -> Page:
    """Return a window with the view before it is acted on."""
    view = VIEWS[name]
    context = browser.new_context(
        viewport={"width": style.width, "height": style.height}, reduced_motion="reduce", locale="en-US"
    )
    page = context.new_page()
    if view.scope:
        seed_session(page, run.credentials["app_id"], run.credentials["api_key"], view.scope)
    view.before(page)
    page.goto(run.credentials["base_url"] + view.address.format(**facts))
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    return page


def pictures(browser: Browser, run: Run, facts: Mapping[str, str], name: str, folder: Path) -> bool:
    """Write a view in every style. Returns False if its action could not be done; the pictures then show why."""
    page = open_view(browser, run, facts, name, STYLES[0])
    is_done = True
    try:
        VIEWS[name].act(page)
    except PlaywrightTimeoutError as error:
        print(f"{name}: {error}", file=sys.stderr)  # noqa: T201 - see above
        is_done = False
    for style in STYLES:
        picture(page, style, folder / style.name / name)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()
    return is_done


def picture(page: Page, style: Style, target: Path) -> None:
    """Write the page in a style."""
    target.parent.mkdir(parents=True, exist_ok=True)
    page.emulate_media(
        color_scheme="dark" if style.colours == "dark" else "light",
        forced_colors="active" if style.colours == "forced" else "none",
        reduced_motion="reduce",
    )
    page.set_viewport_size({"width": style.width, "height": style.height})
    page.wait_for_timeout(SETTLE_MILLISECONDS // 3)
    if style.is_whole:
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": style.width, "height": min(max(height, style.height), MAX_HEIGHT)})
        page.wait_for_timeout(SETTLE_MILLISECONDS // 3)
    page.screenshot(path=target.with_suffix(".png"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
