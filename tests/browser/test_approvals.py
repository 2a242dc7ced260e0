"""Writes that wait for approval: what is approved is what the page showed, one or several, with a mouse or without."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.writes import BATCH, TWO_LINES, author_of, customer_change, invoice, propose

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.support import Console
    from tests.e2e.support import Connection


def invoices(*numbers: str) -> list[dict[str, Any]]:
    return [invoice(number, TWO_LINES, "Acme") for number in numbers]


def row(console: Console, text: str) -> Locator:
    """Return the row of a write."""
    return console.page.locator(".writes > li").filter(has_text=text)


def decision(connection: Connection, request_id: str) -> Any:
    return connection.record(request_id)["approval"]["decision"]


def test_a_write_is_approved_as_it_is_shown_and_leaves_the_queue(console: Console) -> None:
    connection = console.service.connection()
    first, second = propose(connection, *invoices("7001", "7002"))
    console.sign_in(f"/app/approvals?connection={connection.id}")

    shown = row(console, "7001")
    expect(shown).to_contain_text("Adds the invoice 7001 for Acme, 2 lines, total 248.50")
    expect(shown.get_by_role("table")).to_contain_text("Consulting")
    shown.get_by_role("button", name="Approve").click()

    expect(row(console, "7001")).to_have_count(0)
    expect(row(console, "7002").get_by_role("link").first).to_be_focused()
    approval = connection.record(first)["approval"]
    assert (approval["decision"], approval["revision"]) == ("approved", 1)
    assert decision(connection, second) is None


def test_a_write_is_by_the_name_of_its_key(console: Console) -> None:
    connection = console.service.connection()
    created = console.service.operate(
        "create_key", app_id=console.service.app_id, scope="propose", name="Month-end import"
    )
    first, _ = propose(connection, *invoices("7003", "7004"), key=str(created["api_key"]))
    reads: list[str] = []
    console.page.on("request", lambda one: reads.append(one.url))
    console.sign_in(f"/app/approvals?connection={connection.id}")

    author = row(console, "7004").get_by_title(connection.record(first)["approval"]["queued_by"])
    expect(author).to_have_text("Month-end import")
    assert len([one for one in reads if re.search("/api/v1/queued_requests/[^/]+$", one)]) == 1


def test_a_write_that_has_changed_is_shown_again_before_it_can_be_approved(console: Console) -> None:
    connection = console.service.connection()
    key = author_of(console.service)
    answer = console.service.call("POST", f"{connection.path}/queued_requests/batch", {"requests": BATCH}, key=key)
    customer, dependent = (one["id"] for one in answer.json["data"])
    console.sign_in(f"/app/approvals?connection={connection.id}")
    shown = row(console, "Adds an invoice")
    expect(shown).to_contain_text("CustomerRet/ListID of another request")
    console.service.call("POST", f"/api/v1/queued_requests/{customer}/approve", {"revision": 1})
    connection.run_session()

    shown.get_by_role("button", name="Approve").click()
    console.page.get_by_label("Also with values of other requests").check()
    console.confirm("Approve")
    expect(shown).to_contain_text("It has changed since it was shown here.")
    assert shown.get_by_role("button", name="Approve").count() == 0
    assert decision(connection, dependent) is None
    shown.get_by_role("button", name="Show its new content").click()
    expect(shown).not_to_contain_text("CustomerRet/ListID of another request")
    shown.get_by_role("button", name="Approve").click()

    expect(shown).to_have_count(0)
    assert decision(connection, dependent) == "approved"


def test_a_batch_is_decided_about_as_a_whole(console: Console) -> None:
    connection = console.service.connection()
    key = author_of(console.service)
    path = f"{connection.path}/queued_requests/batch"
    answers = [
        console.service.call("POST", path, {"requests": [{**BATCH[0], "label": label}, *BATCH[1:]]}, key=key)
        for label in ("Order 1", "Order 2")
    ]
    first, second = ([one["id"] for one in answer.json["data"]] for answer in answers)
    console.sign_in(f"/app/approvals?connection={connection.id}")
    batches = console.page.get_by_role("region", name="Batch of 2 writes")
    expect(batches).to_have_count(2)
    for label in ("Order 1", "Order 2"):
        expect(console.page.get_by_role("region", name=f"Batch of 2 writes: {label}")).to_have_count(1)
    expect(batches.first).to_contain_text("Adds the customer Grünwald Fabrics")

    batches.first.get_by_role("button", name="Reject the batch").click()
    console.sees_heading("Reject this batch of 2 writes?")
    console.page.get_by_label("Reason").fill("Twice.")
    console.confirm("Reject")
    expect(batches).to_have_count(1)
    batches.get_by_role("button", name="Approve the batch").click()
    console.page.get_by_label("Also with values of other requests").check()
    console.confirm("Approve")

    console.sees_heading("Nothing waits for approval")
    assert [decision(connection, one) for one in (*first, *second)] == ["rejected"] * 2 + ["approved"] * 2


def test_several_are_decided_about_with_the_keyboard(console: Console) -> None:
    connection = console.service.connection()
    ids = propose(connection, *invoices("7011", "7012", "7013", "7014"))
    console.sign_in(f"/app/approvals?connection={connection.id}")
    expect(console.page.locator(".writes > li")).to_have_count(4)
    press = console.page.keyboard.press

    for key in ("j", "x", "j", "x", "r"):
        press(key)
    console.sees_heading("Reject 2 writes?")
    console.page.get_by_label("Reason").fill("They exist already.")
    press("Enter")
    console.sees("2 writes rejected.")
    expect(console.page.locator(".writes > li")).to_have_count(2)
    console.page.get_by_role("checkbox", name="Select all that are shown").check()
    press("a")
    console.sees_heading("Approve 2 writes?")
    assert [decision(connection, one) for one in ids] == ["rejected", "rejected", None, None]
    press("Enter")

    console.sees_heading("Nothing waits for approval")
    assert [decision(connection, one) for one in ids] == ["rejected", "rejected", "approved", "approved"]
    assert connection.record(ids[0])["approval"]["reason"] == "They exist already."


def test_who_queued_a_write_is_told_why_somebody_else_has_to_decide(console: Console) -> None:
    service, connection = console.service, console.service.connection()
    key = author_of(service)
    (proposed,) = propose(connection, *invoices("7021"), key=key)
    rotates = hashlib.sha256(key.encode()).hexdigest()
    rotated = service.operate("create_key", app_id=service.app_id, scope="full", rotates=rotates)["api_key"]
    own = {"request_json": invoices("7022")[0], "approval": "required"}
    assert service.call("POST", f"{connection.path}/queued_requests", own, key=rotated).status == 201
    console.sign_in(f"/app/approvals?connection={connection.id}", key=rotated)

    row(console, "7021").get_by_role("button", name="Approve").click()

    expect(row(console, "7021")).to_contain_text("The API key that queued a request cannot approve or reject it.")
    assert decision(connection, proposed) is None


def test_a_change_is_compared_with_the_books_when_the_reader_asks(console: Console) -> None:
    connection = console.service.connection()
    added = connection.queue({"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Zoe", "Phone": "555-01"}}}})
    connection.run_session()
    (message_set,) = connection.record(added["id"])["response_json"]
    customer = message_set["QBXMLMsgsRs"]["CustomerAddRs"]["CustomerRet"]
    change = customer_change(customer["ListID"], customer["EditSequence"], Name="Zoe", Phone="555-02")
    propose(connection, change)
    console.sign_in(f"/app/approvals?connection={connection.id}")
    shown = row(console, "Changes the customer")
    expect(shown).not_to_contain_text("555-01")

    shown.get_by_role("button", name="Compare with the books").click()
    expect(shown).to_contain_text("asks QuickBooks")
    connection.run_session()

    expect(shown.get_by_role("row", name="Phone")).to_have_text("Phone555-01555-02")
    expect(shown.get_by_role("row", name="Name")).to_contain_text("unchanged")


def test_an_update_shows_the_changes_that_are_approved(console: Console) -> None:
    connection = console.service.connection()
    path, key = f"{connection.path}/queued_requests", author_of(console.service)
    add = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada", "Phone": "1"}}}
    changed = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada", "BillAddress": {"City": "Bonn"}, "Phone": "2"}}}
    console.service.call("POST", path, {"request_json": add})
    answer = console.service.call("POST", path, {"request_json": changed, "if_exists": "update"}, key=key)
    connection.run_session()
    console.sign_in(f"/app/approvals?connection={connection.id}")

    shown = row(console, "Adds the customer Ada, or changes it if it exists")
    changes = shown.get_by_role("group", name="Changes")
    expect(changes.get_by_role("row")).to_have_count(3)
    expect(changes.get_by_role("row").filter(has_text="Phone")).to_have_text("Phone12")
    expect(changes).to_contain_text("Bill address, city")
    shown.get_by_role("button", name="Approve").click()
    expect(shown).to_have_count(0)
    connection.run_session()
    assert connection.record(answer.json["data"]["id"])["outcome"] == "updated"


def test_a_read_only_key_sees_the_writes_and_no_button(console: Console) -> None:
    connection = console.service.connection()
    propose(connection, *invoices("7031"))
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]
    console.sign_in("/app/approvals", key=key)

    expect(row(console, "7031")).to_contain_text("total 248.50")
    assert console.page.get_by_role("checkbox").count() == 0
    assert console.button("Approve").count() == 0
    expect(console.page.get_by_role("link", name="Approvals")).to_contain_text("waiting")


def test_the_page_of_a_write_has_the_reason_of_the_program_that_proposed_it(console: Console) -> None:
    connection = console.service.connection()
    reason = "The customer <b>agreed</b> by phone."
    body = {"request_json": invoice("7051", TWO_LINES), "label": "assistant", "metadata": {"reason": reason}}
    record = connection.queue({**body, "approval": "required"})
    console.sign_in(f"/app/queued_requests/{record['id']}")

    details = console.page.locator("dl.facts:not(.execution)")
    expect(details).to_contain_text("Label assistant", use_inner_text=True)
    expect(details).to_contain_text(f"reason: {reason}")


def test_a_write_that_waits_for_approval_says_why_it_needs_one_and_where_to_give_it(console: Console) -> None:
    connection = console.service.connection()
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="propose", name="Shop")["api_key"]
    (proposed,) = propose(connection, *invoices("7061"), key=str(key))
    console.sign_in(f"/app/queued_requests/{proposed}")

    page = console.page
    expect(page.locator(".page-head .badge")).to_have_text("Waiting for approval")
    note = page.locator(".note")
    expect(note).to_contain_text("Why: one of these is the case.")
    expect(note.get_by_role("listitem")).to_have_text(
        [
            "The API key Shop may only propose writes.",
            "The API key Shop asked for this approval.",
            "This connection needed approvals when it was queued, and does not need them now.",
        ]
    )
    connection.service.call("PATCH", connection.path, {"approval": "required"})
    page.reload()
    expect(note).to_contain_text("Why: all writes of this connection need approval (settings).")
    expect(note).to_contain_text("Somebody other than its author approves or rejects it under Approvals.")
    note.get_by_role("link", name="Approvals").click()
    page.wait_for_url(f"**/app/approvals?connection={connection.id}")
    expect(row(console, "7061")).to_be_visible()

    console.open(f"/app/connections/{connection.id}")
    expect(page.locator("table.requests .badge").first).to_have_text("Waiting for approval")


def test_the_overview_counts_the_writes_that_wait_for_approval(console: Console) -> None:
    connection = console.service.connection()
    propose(connection, *invoices("7071", "7072"))
    console.sign_in(f"/app/connections/{connection.id}/overview")
    console.sees("2 writes wait for approval.")

    console.open("/app/overview")
    number = console.page.locator(".note", has_text="for approval").get_by_text(re.compile(r"^\d+ writes? waits? "))
    expect(number).to_be_visible()  # other tests propose writes too
    assert int(re.findall(r"\d+", number.inner_text())[0]) >= 2
    console.page.get_by_role("link", name="Look at them under Approvals").click()
    console.sees_heading("Approvals")


def test_the_overview_says_that_the_writes_could_not_be_counted(console: Console) -> None:
    counting = "**/api/v1/connections?*counts=true*"
    failed = {"error": {"code": "internal_error", "message": "Failed."}}
    console.page.route(counting, lambda route: route.fulfill(status=500, json=failed))
    console.sign_in("/app/overview")
    problem = console.page.get_by_role("alert").filter(has_text="could not be counted")
    expect(problem).to_contain_text("The writes that wait for approval could not be counted.")

    console.page.unroute(counting)
    problem.get_by_role("button", name="Try again").click()
    expect(problem).to_have_count(0)


def test_the_page_of_a_write_names_the_key_that_decided(console: Console) -> None:
    connection = console.service.connection()
    (proposed,) = propose(connection, *invoices("7081"))
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="full", name="Night desk")[
        "api_key"
    ]
    url = f"/api/v1/queued_requests/{proposed}/approve"
    assert console.service.call("POST", url, {"revision": 1}, key=str(key)).status == 200
    console.sign_in(f"/app/queued_requests/{proposed}")

    decided_by = connection.record(proposed)["approval"]["decided_by"]
    expect(console.page.locator("dl.facts:not(.execution)")).to_contain_text(f"by Night desk {decided_by}")


def test_a_change_is_named_by_its_object_and_its_id(console: Console) -> None:
    connection = console.service.connection()
    connection.queue({"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Zoe", "Phone": "555-01"}}}})
    connection.run_session()
    [record] = connection.service.call("GET", f"{connection.path}/queued_requests").json["data"]
    (message_set,) = connection.record(record["id"])["response_json"]
    customer = message_set["QBXMLMsgsRs"]["CustomerAddRs"]["CustomerRet"]
    change = customer_change(customer["ListID"], customer["EditSequence"], Phone="555-02")
    changed = connection.queue({"request_json": change})["id"]
    console.sign_in(f"/app/queued_requests/{changed}")

    heading = console.page.get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Customer change {customer['ListID']}")
    connection.run_session()
    console.page.reload()
    expect(heading).to_have_text(f"Customer change Zoe {customer['ListID']}")
