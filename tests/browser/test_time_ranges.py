"""Every control of a range of time: a date alone means its whole day, and half a date is said and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.browser.screenshots import with_failures
from tests.browser.support import query
from tests.browser.test_many import bodies_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.support import Console
    from tests.e2e.support import Connection


@dataclass(frozen=True)
class Control:
    """A control: the address of its view, the names of its two dates, and the call that loads its range."""

    address: str
    what: str
    call: str
    since: str
    before: str
    usual: frozenset[str] = frozenset()
    """The parameters of the range without one of the reader."""


LIST = "/app/connections/{connection}"
CONTROLS = (
    Control(f"{LIST}?", "Queued", "/queued_requests", "from", "to"),
    Control(f"{LIST}?sort=updated_at&", "Last change", "/queued_requests", "updated_since", "updated_before"),
    Control(f"{LIST}?time=sent&", "Sent", "/queued_requests", "sent_since", "sent_before"),
    Control(f"{LIST}/audit_log?", "Time", "/audit_log", "from", "to"),
    Control("/app/audit_log?", "Time", "/audit_log", "from", "to"),
    Control("/app/failures?", "Last change", "/failures", "since", "until", usual=frozenset({"since"})),
)
EVERY = pytest.mark.parametrize("control", CONTROLS, ids=lambda one: f"{one.address} {one.what}")

NEW_YORK = ZoneInfo("America/New_York")
"""The time zone of the browser."""

HALVES = {
    "date": ("1130", "Not used: Enter the whole date."),
    "year": ("11302", "Not used: Enter the whole date."),
    "time": ("08", "Not used: Enter the whole time, or none."),
}


@pytest.fixture
def connection(console: Console) -> Connection:
    """Return a connection with a request. The window is signed in."""
    connection = console.service.connection()
    query(connection)
    console.keep_signed_in()
    return connection


def opened(console: Console, connection: Connection, control: Control) -> list[dict[str, list[str]]]:
    """Open a view with a range that begins on March 1. Return the parameters of the calls that load it."""
    calls: list[dict[str, list[str]]] = []

    def note(url: str) -> None:
        if urlsplit(url).path.endswith(control.call):
            calls.append(parse_qs(urlsplit(url).query))

    console.page.on("request", lambda request: note(request.url))
    address = control.address.format(connection=connection.id)
    console.open(f"{address}range=custom&from={moment(2026, 3, 1)}")
    expect(date(console.page, control, "from")).to_have_value("2026-03-01")
    return calls


def date(page: Page, control: Control, end: str) -> Locator:
    """Return the date of an end of a range."""
    return page.get_by_label(f"{control.what} {end}", exact=True)


def time(page: Page, control: Control, end: str) -> Locator:
    """Return the time of an end of a range."""
    return page.get_by_label(f"{control.what} {end}, time (optional)", exact=True)


def moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> str:
    """Return a moment of the browser's time zone as the console sends it."""
    return datetime(year, month, day, hour, minute, tzinfo=NEW_YORK).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@EVERY
def test_a_date_alone_means_its_whole_day(console: Console, connection: Connection, control: Control) -> None:
    calls = opened(console, connection, control)
    assert calls[-1][control.since] == [moment(2026, 3, 1)]
    assert control.before not in calls[-1]

    date(console.page, control, "to").press_sequentially("03052026")
    console.sees("to before Mar 6, 2026, 12:00:00 AM EST")
    assert calls[-1][control.before] == [moment(2026, 3, 6)]
    expect(date(console.page, control, "to")).to_have_value("2026-03-05")
    expect(time(console.page, control, "to")).to_have_value("")

    time(console.page, control, "to").press_sequentially("0230PM")
    console.sees("to before Mar 5, 2026, 2:30:00 PM EST")
    time(console.page, control, "from").press_sequentially("0815AM")
    console.sees("from Mar 1, 2026, 8:15:00 AM EST")
    assert calls[-1][control.since] == [moment(2026, 3, 1, 8, 15)]
    assert calls[-1][control.before] == [moment(2026, 3, 5, 14, 30)]


@pytest.mark.parametrize("half", HALVES)
@EVERY
def test_half_a_date_or_time_is_said_and_loads_nothing(
    console: Console, connection: Connection, control: Control, half: str
) -> None:
    keys, says = HALVES[half]
    calls = opened(console, connection, control)
    page, known = console.page, page_state(console.page, calls)

    for end in ("from", "to"):
        field = (time if half == "time" else date)(page, control, end)
        if half == "time" and end == "to":
            date(page, control, end).press_sequentially("03052026")
            console.sees("to before Mar 6")
            known = page_state(page, calls)
        elif end == "from" and half != "time":
            field.press("Backspace")  # the month of the date that is used
        if not (end == "from" and half != "time"):
            field.press_sequentially(keys)
        page.get_by_role("heading").first.click()

        expect(page.get_by_text(says)).to_have_count(1 if end == "from" else 2)

    assert page_state(page, calls) == known


def page_state(page: Page, calls: list[dict[str, list[str]]]) -> tuple[str, set[tuple[str, ...]]]:
    """Return the address and the ranges that were loaded: a list that polls loads the same one again."""
    return page.url, {tuple(f"{name}={value}" for name, value in sorted(one.items())) for one in calls}


@EVERY
def test_a_time_without_a_date_is_said_and_an_emptied_end_is_no_end(
    console: Console, connection: Connection, control: Control
) -> None:
    calls = opened(console, connection, control)
    time(console.page, control, "to").press_sequentially("0230PM")
    date(console.page, control, "from").focus()
    console.sees("Not used: Enter the date too.")
    assert control.before not in calls[-1]

    date(console.page, control, "to").press_sequentially("03052026")
    console.sees("to before Mar 5, 2026, 2:30:00 PM EST")
    expect(console.page.get_by_text("Not used")).to_have_count(0)
    time(console.page, control, "to").fill("")
    console.sees("to before Mar 6")
    date(console.page, control, "to").fill("")

    expect(console.page.get_by_text("to before")).to_have_count(0)
    assert control.before not in calls[-1]
    assert calls[-1][control.since] == [moment(2026, 3, 1)]


@EVERY
def test_emptying_the_only_end_removes_the_range(console: Console, connection: Connection, control: Control) -> None:
    calls = opened(console, connection, control)
    field = date(console.page, control, "from")
    field.focus()
    with console.page.expect_request(lambda one: urlsplit(one.url).path.endswith(control.call)):
        field.fill("")

    expect(field).to_have_count(0)
    assert {control.since, control.before} & set(calls[-1]) == control.usual


@pytest.mark.parametrize("button", ["Bulk actions", "Discard", "CSV"])
def test_nothing_works_on_many_requests_while_a_bound_is_half_a_date(
    console: Console, connection: Connection, button: str
) -> None:
    control = CONTROLS[0]
    opened(console, connection, control)
    field = date(console.page, control, "to")
    field.press_sequentially("0305")

    console.button(button, exact=True).first.click()

    expect(field).to_be_focused()
    expect(console.page.get_by_role("dialog")).to_have_count(0)
    field.fill("2026-03-05")
    console.sees("to before Mar 6")


@pytest.mark.parametrize("button", ["Queue again", "Redeliver webhooks", "CSV of groups", "CSV of requests"])
def test_nothing_works_on_failures_while_a_bound_is_half_a_date(
    console: Console, connection: Connection, button: str
) -> None:
    with_failures(console.page)
    control = CONTROLS[-1]
    opened(console, connection, control)
    field = date(console.page, control, "to")
    field.press_sequentially("0305")

    console.button(button, exact=True).first.click()

    expect(field).to_be_focused()
    expect(console.page.get_by_role("dialog")).to_have_count(0)


def test_a_bulk_action_since_a_date_means_from_its_beginning(console: Console, connection: Connection) -> None:
    console.open(f"/app/connections/{connection.id}")
    bodies = bodies_of(console, "/redeliver")
    console.button("Bulk actions").click()
    console.page.get_by_label("Redeliver webhooks").check()
    since = console.page.get_by_label("Failed since (optional)", exact=True)
    console.page.get_by_label("Failed since (optional), time (optional)").fill("")
    since.fill("2026-01-31")

    console.button("Count").click()

    console.sees_heading("Nothing to do")
    assert [one["failed_since"] for one in bodies] == [moment(2026, 1, 31)]
