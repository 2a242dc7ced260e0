"""Subscriptions in every state, as the API returns them, for views whose states take days to come about."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, Route

HOSTILE = "<img src=x onerror=alert(1)>"
NOW = datetime.now(tz=UTC)


def moment(minutes: float) -> str:
    """Return the time so many minutes from now."""
    return f"{NOW + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S.%fZ}"


def an_object(name: str, state: str | None = "changes", **fields: Any) -> dict[str, Any]:
    """Return an object that is up to date."""
    return {
        "object": name,
        "state": state,
        "generation": 1_773_489_600_000,
        "read_at": moment(-4),
        "next_read_at": moment(11),
        "records": 1_284,
        "records_so_far": None,
        "changes": 0,
        "problem": None,
    } | fields


def a_subscription(number: int, *objects: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a subscription that is up to date."""
    return {
        "id": f"50000000-0000-4000-8000-{number:012}",
        "connection_id": "c0000000-0000-4000-8000-000000000001",
        "name": None,
        "objects": list(objects),
        "every_minutes": 15,
        "verify_days": 7,
        "start": "all",
        "include": {},
        "paused_at": None,
        "derived": None,
        "webhook_url": None,
        "webhook_error": None,
        "webhook_failed_at": None,
        "webhook_gave_up_at": None,
        "copied_at": moment(-4),
        "last_run_at": moment(-4),
        "next_run_at": moment(11),
        "failures": 0,
        "error": None,
        "inserted_at": moment(-9_000),
        "updated_at": moment(-9_000),
    } | fields


NEVER_READ = {"read_at": None, "next_read_at": moment(-1), "records": None, "generation": 0}
"""An object before its first run."""

NEW = a_subscription(
    1,
    an_object("Customer", None, **NEVER_READ),
    an_object("Invoice", None, **NEVER_READ),
    copied_at=None,
    last_run_at=None,
    next_run_at=moment(-1),
)
READING = a_subscription(
    2,
    an_object("Customer", changes=17),
    an_object("ItemInventory", records=96, changes=1_204),
    an_object("Invoice", "snapshot", **NEVER_READ | {"records_so_far": 18_200}),
    an_object("ReceivePayment", None, **NEVER_READ),
    an_object("Transfer", records=0),
    name="Data warehouse",
    copied_at=None,
    next_run_at=moment(-1),
)
WITH_PROBLEMS = a_subscription(
    3,
    an_object("Customer"),
    an_object(
        "InventorySite",
        "unsupported",
        records=None,
        problem="QuickBooks reports 3250: This feature is not enabled or not available in this version of QuickBooks.",
    ),
    an_object(
        "Invoice",
        "resync_required",
        next_read_at=None,
        problem="The record that changed last is neither in the books nor deleted. A backup may have been restored.",
    ),
    name=f"Web shop {HOSTILE}",
    copied_at=None,
    failures=4,
    webhook_url="https://hooks.harbor-street-bakery.example/" + "x" * 200,
    webhook_error=f"Status 503: {HOSTILE}",
    webhook_failed_at=moment(-12),
    webhook_gave_up_at=moment(-300),
    error=f"0x80040414: A modal dialog box is showing in the QuickBooks user interface. {HOSTILE}",
    next_run_at=moment(5),
)
PAUSED = a_subscription(
    4,
    an_object("Vendor", next_read_at=None),
    an_object("Bill", next_read_at=None, records=20_411),
    name="Accounts payable",
    paused_at=moment(-300),
    next_run_at=None,
    every_minutes=60,
    copied_at=moment(-3_000),
)


def with_subscriptions(*all_of_them: dict[str, Any]) -> Callable[[Page], object]:
    """Return a preparation that shows these subscriptions of a connection."""

    def answer(route: Route) -> None:
        route.fulfill(json={"data": list(all_of_them)})

    return lambda page: page.route(re.compile(r"/api/v1/connections/[0-9a-f-]{36}/subscriptions$"), answer)


def a_change(sequence: int, minutes: float, record: dict[str, Any] | None) -> dict[str, Any]:
    """Return a change of a customer, or its deletion."""
    change = {
        "type": "record.changed" if record else "record.deleted",
        "at": moment(minutes),
        "object": "Customer",
        "sequence": sequence,
        "generation": 1_773_489_600_000,
        "id": "80000042-1767225600",
    }
    found_in = "first_snapshot" if sequence == 1 else "changes"
    known = {"ListID": change["id"], "TimeModified": moment(minutes - 52)}
    return change | ({"record": known | record, "found_in": found_in} if record else {})


BAKERY = {"FullName": f"Harbor Street Bakery {HOSTILE}", "Phone": "555-0100", "IsActive": "true"}
HISTORY = [
    a_change(5, -30, None),
    a_change(4, -90, BAKERY | {"Phone": "555-0199", "BillAddress": {"Addr1": "12 Harbor Street", "City": "Millbrook"}}),
    a_change(3, -100, BAKERY),
    a_change(2, -3_000, BAKERY),
    a_change(1, -4_000, BAKERY | {"Email": "books@example.com" + "x" * 200, "Notes": HOSTILE}),
]


def with_history(page: Page) -> None:
    """Show a subscription and what happened to a record. Older pages have nothing of it."""
    with_subscriptions(READING)(page)

    def answer(route: Route) -> None:
        changes = [] if "before=" in route.request.url else HISTORY
        route.fulfill(json={"data": changes, "next": 1_773_489_600_000, "read_from": moment(-5_000)})

    page.route(re.compile(r"/api/v1/connections/[0-9a-f-]{36}/changes\?"), answer)
