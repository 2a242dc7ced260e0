"""The page of a request lists its messages that are known, each with its time and session, if there were several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from simulator.faults import Fault
from simulator.runs.scheduler import Simulator
from tests.browser.support import Console, query

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.e2e.support import Connection


def customer(connection: Connection) -> dict[str, Any]:
    """Return the addition of a customer that no other test adds."""
    return {"CustomerAddRq": {"CustomerAdd": {"Name": f"Ada {connection.id[:8]}"}}}


def rows(console: Console, request_id: str) -> Locator:
    """Open the page of a request and return the rows of its messages."""
    console.open(f"/app/queued_requests/{request_id}")
    console.sees_heading("Timeline")
    return console.page.get_by_role("region", name="Messages to QuickBooks").locator("tbody tr")


def test_a_request_that_looks_first_lists_its_query_and_its_addition(console: Console) -> None:
    connection = console.service.connection()
    request_id = str(connection.queue({"request_json": customer(connection), "if_exists": "return"})["id"])
    connection.run_session()
    console.keep_signed_in()

    messages = rows(console, request_id)

    expect(messages).to_contain_text(["Query for its object", "Addition"])
    expect(messages.get_by_role("link", name="Began")).to_have_count(2)
    console.sees("The text of a query is not kept.")


def test_a_write_whose_response_was_lost_lists_its_first_and_its_latest_message(console: Console) -> None:
    connection = console.service.connection()
    request_id = str(connection.queue({"request_json": customer(connection)})["id"])
    qwc = connection.service.call("POST", f"{connection.path}/qwc").json["qwc"]
    lost = Fault.of({"on": "process", "request": "CustomerAddRq", "nth": 1, "do": "fail", "after_execution": True})
    Simulator(qwc, connection.password, connection.company, faults=[lost]).run_once()
    first = connection.record(request_id)
    connection.run_session()
    console.keep_signed_in()

    messages = rows(console, request_id)

    question = "Question whether QuickBooks has executed the write"
    expect(messages).to_contain_text(["The write, whose response was lost", question])
    expect(messages.get_by_role("link", name="Began")).to_have_count(2)
    console.sees("The record keeps only the first and the latest message.")
    timeline = console.page.get_by_role("region", name="Timeline")
    expect(timeline.locator("li")).to_contain_text(
        ["Queued", "Sent to QuickBooks", "QuickBooks was asked for its response", "QuickBooks responded"]
    )
    expect(timeline.locator("dd")).to_contain_text(["Once", "Yes. QuickBooks executed this request once"])
    after = connection.record(request_id)
    assert after["state"] == "response_received"
    assert after["first_sent_at"] == first["sent_at"] < after["sent_at"]


def test_a_write_that_waits_after_a_lost_response_says_what_happens_next(console: Console) -> None:
    connection = console.service.connection()
    request_id = str(connection.queue({"request_json": customer(connection)})["id"])
    qwc = connection.service.call("POST", f"{connection.path}/qwc").json["qwc"]
    lost = Fault.of({"on": "process", "request": "CustomerAddRq", "nth": 1, "do": "fail"})
    Simulator(qwc, connection.password, connection.company, faults=[lost]).run_once()
    console.keep_signed_in()
    console.open(f"/app/queued_requests/{request_id}")

    timeline = console.page.get_by_role("region", name="Timeline")
    expect(timeline.locator("dd")).to_contain_text(["Once", "The response was lost. QuickBooks is asked for it."])
    console.button("Queue again").click()
    console.sees("it is sent too, so QuickBooks executes both")


def test_a_request_that_took_one_message_has_no_list(console: Console) -> None:
    connection = console.service.connection()
    request_id = query(connection)
    connection.run_session()
    console.keep_signed_in()

    expect(rows(console, request_id)).to_have_count(0)
