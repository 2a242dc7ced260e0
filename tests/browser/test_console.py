"""Integrators and support people use the console in a real browser."""

from __future__ import annotations

import json
import re
import unicodedata
import uuid
from typing import TYPE_CHECKING, Any, Literal

import pytest
from playwright.sync_api import expect

from tests.browser.support import HOSTILE, Console, large_response, query, seed_session

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

    from tests.e2e.support import Connection

MAX_BLOCKED_MILLISECONDS = 2000


# --- Sign in -----------------------------------------------------------------------------------------------------


def test_a_wrong_key_is_refused_without_a_dialog_of_the_browser(console: Console) -> None:
    console.open("/app")
    console.page.get_by_label("API key").fill("sk_wrong")
    console.button("Sign in").click()

    console.sees("This API key is not valid")


def test_the_key_is_in_the_session_storage_and_in_no_address(console: Console) -> None:
    console.sign_in()

    assert console.service.api_key not in console.page.url
    assert console.page.evaluate("Object.values(sessionStorage)").count(console.service.api_key) == 1
    assert console.service.api_key not in str(console.page.evaluate("Object.values(localStorage)"))
    console.button("Sign out").click()
    expect(console.page.get_by_label("API key")).to_be_visible()
    assert console.page.evaluate("sessionStorage.length") == 0


def test_a_read_only_key_gets_no_buttons_that_change_things(console: Console) -> None:
    connection = console.service.connection()
    request_id = query(connection)
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]

    console.sign_in(key=key)
    expect(console.button("Sign out (read-only key)")).to_be_visible()
    assert console.page.get_by_role("link", name="New connection").count() == 0
    assert console.page.get_by_role("link", name="Compose").count() == 0
    console.open(f"/app/queued_requests/{request_id}")
    console.sees_heading("Customer query")
    assert console.button("Discard").count() == 0
    console.open(f"/app/connections/{connection.id}/settings")
    console.sees_heading("Web Connector")
    for name in ("Save", "Pause", "New password", "Delete", "Create onboarding link"):
        assert console.button(name).count() == 0, name


def test_a_view_that_was_shared_opens_after_signing_in(console: Console) -> None:
    connection = console.service.connection()

    console.sign_in(f"/app/connections/{connection.id}?state=error")

    expect(console.page.get_by_label("State", exact=True)).to_have_value("error")
    console.sees("No request matches")


# --- Connections and requests ------------------------------------------------------------------------------------


def test_a_connection_is_created_in_three_steps_and_its_first_request_finishes_live(console: Console) -> None:
    console.sign_in("/app/connections/new")
    console.page.get_by_label("Name").fill("Harbor Street Bakery")
    console.button("Create connection").click()
    password = console.page.locator(".secret code").inner_text()
    with console.page.expect_download() as download:
        console.button("Download .qwc file").click()
    assert download.value.suggested_filename == "Harbor Street Bakery.qwc"
    qwc = download.value.path().read_text(encoding="utf-8")
    console.button("Continue").click()
    console.sees("Waiting for the Web Connector")

    from simulator.company import Company  # noqa: PLC0415 - only this test builds a Web Connector by hand
    from simulator.runs.scheduler import Simulator  # noqa: PLC0415 - see above

    connector = Simulator(qwc, password, Company.generated())
    connector.run_once()
    console.sees("The password is right")
    console.link("Send a first request").click()
    console.button("Queue company query in Harbor Street Bakery").click()
    console.sees("Waiting to be sent")
    connector.run_once()
    expect(console.page.locator(".page-head .badge")).to_have_text("Completed")
    console.sees("CompanyName")


def connection_names(console: Console) -> list[str]:
    """Return the names of all connections, of which other tests have made many."""
    names: list[str] = []
    page, pages = 1, 1
    while page <= pages:
        answer = console.service.call("GET", f"/api/v1/connections?page_size=100&page={page}").json
        names += [one["name"] or "" for one in answer["data"]]
        page, pages = page + 1, answer["total_pages"]
    return names


def test_the_wizard_goes_on_with_its_connection_after_a_reload_and_offers_a_link_for_the_customer(
    console: Console,
) -> None:
    before = len(connection_names(console))
    console.sign_in("/app/connections/new")
    console.page.get_by_label("Name").fill("Reloaded")
    console.button("Create connection").click()
    first = console.page.locator(".secret code").inner_text()

    console.page.reload()

    console.sees("A password is shown only once.")
    assert console.page.locator(".secret code").count() == 0
    console.button("New password").click()
    console.sees("The Web Connector cannot log in until somebody types the new password into it.")
    assert console.page.locator(".secret code").count() == 0
    console.confirm("New password")
    assert console.page.locator(".secret code").inner_text() != first
    console.button("Create onboarding link").click()
    expect(console.page.locator(".secret code").last).to_contain_text("/onboarding#")
    console.button("Continue").click()
    console.sees("Waiting for the Web Connector")

    def with_wrong_password(route: Route) -> None:
        answer = route.fetch()
        data = {**answer.json()["data"], "login_failed_at": "2026-03-07T12:00:00Z"}
        route.fulfill(response=answer, json={"data": data})

    console.page.route(re.compile(r"/connections/[0-9a-f-]{36}$"), with_wrong_password)
    console.page.reload()
    console.sees("Waiting for the Web Connector")
    console.sees("If you no longer have it, go back and set a new one.")
    console.page.unroute_all()
    assert len(connection_names(console)) == before + 1


@pytest.mark.parametrize("way", ["again", "reload", "other name"])
def test_the_wizard_makes_one_connection_if_an_answer_is_lost(console: Console, way: str) -> None:
    name = f"Lost {way}"

    def made() -> list[str]:
        return [one for one in connection_names(console) if one.startswith(name)]

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    console.sign_in("/app/connections/new")
    console.page.route("**/api/v1/connections", lose)
    console.page.get_by_label("Name").fill(name)
    console.button("Create connection").click()
    console.sees("The service cannot be reached.")
    console.page.unroute_all()
    if way == "reload":
        console.page.reload()
    suffix = " 2" if way == "other name" else ""
    console.page.get_by_label("Name").fill(name + suffix)
    console.button("Create connection").click()

    if way == "other name":
        console.sees("An earlier try has made a connection")
        assert made() == [name]
        console.button("Create another one").click()
    expect(console.page.locator(".secret code")).to_be_visible()
    assert sorted(made()) == sorted({name, name + suffix})


def test_the_wizard_shows_no_password_beside_another_connection_and_says_why_there_is_none(console: Console) -> None:
    secret = console.page.locator(".secret code")

    def create(name: str) -> None:
        console.button("Go to").click()
        field = console.page.get_by_role("combobox", name="Connection, request or action")
        field.fill("new connection")
        field.press("Enter")
        console.page.get_by_label("Name").fill(name)
        console.button("Create connection").click()

    console.sign_in()
    create("First of two")
    first = secret.inner_text()
    create("Second of two")
    expect(secret).not_to_have_text(first)
    second = secret.inner_text()

    console.page.go_back()
    expect(secret).to_have_text(first)
    console.page.go_forward()
    expect(secret).to_have_text(second)
    refused = {"error": {"code": "too_many_requests", "message": "Wait a minute."}}
    console.page.route("**/api/v1/connections/*/password", lambda route: route.fulfill(status=429, json=refused))
    create("Third")
    console.sees("Wait a minute. Set a new password.")
    assert secret.count() == 0
    console.button("Go to").click()
    console.page.get_by_role("combobox").fill("of two")
    expect(console.page.get_by_role("option", name=re.compile("of two Connection$"))).to_have_count(2)


def test_the_pages_of_a_test_connection_and_of_its_requests_say_so_and_others_do_not(console: Console) -> None:
    ribbon = console.page.get_by_text("Test connection: a simulated QuickBooks")
    body = {"name": "Tests", "simulated": {"company": "empty"}}
    test = console.service.call("POST", "/api/v1/connections", body).json["data"]["id"]
    console.keep_signed_in()

    for connection_id, number in ((test, 1), (console.service.connection().id, 0)):
        path = f"/api/v1/connections/{connection_id}/queued_requests"
        added = console.service.call("POST", path, {"request_json": {"HostQueryRq": {}}})
        request_id = added.json["data"]["id"]
        for address, heading in (
            (f"/app/connections/{connection_id}", "Test"),
            (f"/app/queued_requests/{request_id}", "Host query"),
        ):
            console.open(address)
            console.sees_heading(heading)
            expect(ribbon).to_have_count(number)


def test_requests_are_filtered_searched_sorted_and_paged_in_the_address(console: Console) -> None:
    connection = console.service.connection()
    for _ in range(25):
        query(connection)
    query(connection, name="VendorQueryRq")
    console.sign_in(f"/app/connections/{connection.id}")

    rows = console.page.locator("tbody tr.clickable")
    expect(rows).to_have_count(20)
    console.button("Next").click()
    expect(rows).to_have_count(6)
    assert "page=2" in console.page.url
    console.page.get_by_label("Search requests").fill("vendor")
    expect(rows).to_have_count(1)
    assert "search=vendor" in console.page.url
    console.button("Clear").click()
    expect(rows).to_have_count(20)
    console.button("Queued").click()
    expect(console.page.get_by_role("columnheader", name="Queued")).to_have_attribute("aria-sort", "ascending")
    console.page.get_by_label("State", exact=True).select_option("discarded")
    console.sees("No request matches")
    console.page.go_back()
    expect(rows).to_have_count(20)


def test_a_list_shows_what_requests_are_about_and_a_search_finds_it_and_says_what_it_covers(console: Console) -> None:
    connection = console.service.connection()
    lines = [{"Amount": "100.00"}, {"Amount": "148.50"}]
    for number in ("1041", "1042"):
        invoice = {"CustomerRef": {"FullName": f"Ann {HOSTILE}"}, "RefNumber": number, "InvoiceLineAdd": lines}
        connection.queue({"request_json": {"InvoiceAddRq": {"InvoiceAdd": invoice}}, "label": f"order {number}"})
    query(connection)
    console.sign_in(f"/app/connections/{connection.id}")
    rows = console.page.locator("tbody tr.clickable")
    expect(rows).to_have_count(3)

    for phrase, found, place in (
        ("Invoice add", 2, "in the name"),
        ("1042", 1, "in the subject"),
        ("oRdEr", 2, "label"),
    ):
        console.page.get_by_label("Search requests").fill(phrase)
        expect(rows).to_have_count(found)
        console.sees(f"{found} request{'s' if found > 1 else ''} with")
        console.sees("Not searched: states")
        expect(rows.first).to_contain_text("Ann <img")
        expect(rows.first).to_contain_text(" · 248.50")
        expect(rows.first).to_contain_text(place)


def test_the_time_of_a_list_is_chosen_kept_in_the_address_and_shown_with_its_zone(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    console.sign_in(f"/app/connections/{connection.id}")
    rows = console.page.locator("tbody tr.clickable")
    expect(rows).to_have_count(1)

    console.page.get_by_label("Time", exact=True).select_option("yesterday")
    console.sees("No request matches")
    assert "from=" in console.page.url
    assert "to=" in console.page.url
    expect(console.page.locator(".range")).to_contain_text(re.compile("E[SD]T"))
    console.page.get_by_label("Time", exact=True).select_option("hour")
    expect(rows).to_have_count(1)
    console.page.get_by_label("Time", exact=True).select_option("custom")
    console.sees("America/New_York")
    console.page.get_by_label("Queued from", exact=True).fill("2099-01-01")
    console.sees("No request matches")
    console.button("Clear", exact=True).click()
    expect(rows).to_have_count(1)
    expect(rows.locator("time").first).to_have_attribute("title", re.compile("E[SD]T"))


def test_twenty_dense_rows_fit_on_the_screen_of_a_laptop(console: Console) -> None:
    console.page.set_viewport_size({"width": 1366, "height": 768})
    connection = console.service.connection()
    for _ in range(20):
        query(connection)
    console.sign_in(f"/app/connections/{connection.id}")
    console.button("Dense").click()
    rows = console.page.locator("tbody tr.clickable")
    expect(rows).to_have_count(20)
    console.page.reload()
    expect(rows).to_have_count(20)

    box = rows.last.bounding_box()

    assert box is not None
    assert box["y"] + box["height"] <= 768
    heights = {round((row.bounding_box() or {"height": 0})["height"]) for row in rows.all()}
    assert len(heights) == 1  # each is one line


def test_a_reason_that_holds_every_request_is_shown_once(console: Console) -> None:
    connection = console.service.connection()
    for _ in range(3):
        query(connection)
    console.service.call("POST", f"/api/v1/connections/{connection.id}/pause")
    console.sign_in(f"/app/connections/{connection.id}")

    expect(console.page.locator("tbody tr.clickable")).to_have_count(3)
    expect(console.page.get_by_text("was paused at").filter(visible=True)).to_have_count(1)


def test_a_request_is_discarded_queued_again_and_its_webhook_redelivered(console: Console) -> None:
    connection = console.service.connection()
    request_id = query(connection, webhook_url=console.service.webhook_url)
    console.sign_in(f"/app/queued_requests/{request_id}")

    console.button("Discard").click()
    console.confirm("Discard")
    expect(console.page.locator(".page-head .badge")).to_have_text("Discarded")
    console.service.webhook_about(request_id)
    console.sees("Webhook delivered")
    console.button("Redeliver webhook").click()
    console.service.webhook_about(request_id)
    timeline = console.page.get_by_role("region", name="Timeline")
    expect(timeline.get_by_text("Webhook delivered")).to_have_count(2)
    assert "failed" not in timeline.inner_text()
    console.button("Queue again").click()
    console.confirm("Queue a copy")
    expect(console.page.locator(".page-head .badge")).to_have_text("Waiting")
    assert request_id not in console.page.url


def test_all_that_match_are_counted_discarded_and_queued_again(console: Console) -> None:
    """230 requests take more than one call to change. Nothing is changed before the number is confirmed."""
    connection = console.service.connection()
    number = 230
    body = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 2}]}}}
    for start in range(0, number, 25):
        requests = [body | {"label": "by mistake"}] * min(25, number - start)
        assert (
            console.service.call("POST", f"{connection.path}/queued_requests/batch", {"requests": requests}).status
            == 201
        )
    kept = query(connection)
    console.sign_in(f"/app/connections/{connection.id}?state=waiting")
    dialog = console.page.get_by_role("dialog")

    console.button("Bulk actions").click()
    dialog.get_by_label("Label begins with").fill("by mis")
    console.confirm("Count")
    expect(dialog.get_by_role("heading", name=f"Discard {number} requests?")).to_be_visible()
    assert connection.record(kept)["state"] == "waiting"
    assert counts_of(connection)["discarded"] == 0
    console.confirm("Discard")
    expect(dialog.get_by_text(f"{number} requests discarded.")).to_be_visible()
    console.confirm("Close")
    assert (counts_of(connection)["discarded"], counts_of(connection)["waiting"]) == (number, 1)

    console.open(f"/app/connections/{connection.id}?state=discarded")
    console.button("Bulk actions").click()
    console.confirm("Count")
    console.confirm("Queue again")
    expect(dialog.get_by_text(f"{number} requests queued again.")).to_be_visible()
    assert counts_of(connection)["waiting"] == number + 1
    console.confirm("Close")
    console.button("Bulk actions").click()
    console.confirm("Count")
    expect(dialog.get_by_text("They were queued again before.")).to_be_visible()
    assert dialog.get_by_role("button", name="Queue again").count() == 0


def test_an_interrupted_change_of_many_says_what_was_done_and_continues(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    parts = iter(
        [
            (200, {"data": {"discarded": 300, "in_flight": 1, "has_dependants": 0}, "next": "a"}),
            (200, {"data": {"discarded": 200, "in_flight": 0, "has_dependants": 0}, "next": "b"}),
            (503, {"error": {"code": "unavailable", "message": "Not now.", "details": {}}}),
            (200, {"data": {"discarded": 100, "in_flight": 1, "has_dependants": 0}, "next": None}),
        ]
    )
    bodies: list[Any] = []

    def answer(route: Route) -> None:
        bodies.append(route.request.post_data_json)
        if len(bodies) == 1:
            data = {"discarded": 300, "in_flight": 1, "has_dependants": 0}
            route.fulfill(status=200, json={"data": data, "next": None})
        else:
            status, body = next(parts)
            route.fulfill(status=status, json=body)

    next(parts)
    console.page.route("**/queued_requests/discard", answer)
    console.sign_in(f"/app/connections/{connection.id}")
    console.button("Bulk actions").click()
    console.confirm("Count")
    console.confirm("Discard")
    console.sees("The run was interrupted.")
    console.sees("200 requests discarded. These changes remain.")
    console.confirm("Continue")
    console.sees("300 requests discarded.")
    console.sees("Left out: 1.")

    assert [(body["dry_run"], body["cursor"]) for body in bodies] == [
        (True, None),
        (False, None),
        (False, "b"),
        (False, "b"),
    ]
    assert all(body["filter"] == bodies[0]["filter"] for body in bodies)


def test_a_webhook_that_is_tried_again_is_shown_as_retrying_and_redelivered_with_others(console: Console) -> None:
    connection = console.service.connection()
    request_id = query(connection, webhook_url="http://127.0.0.1:9/refused")
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{request_id}")
    console.sees("Webhook attempt 1 failed")
    expect(console.page.locator(".facts .badge")).to_have_text("Retrying")

    console.open(f"/app/connections/{connection.id}")
    console.page.get_by_label("Webhook", exact=True).select_option("Pending")
    console.sees("No request matches")
    console.page.get_by_label("Webhook", exact=True).select_option("Retrying")
    expect(console.page.locator("tbody .badge", has_text="Retrying")).to_be_visible()
    console.button("Bulk actions").click()
    expect(console.page.get_by_role("radio", name="Redeliver webhooks")).to_be_checked()
    console.confirm("Count")
    console.confirm("Redeliver webhooks")
    console.sees("1 webhook is being sent again.")


def counts_of(connection: Connection) -> dict[str, int]:
    """Return the number of requests in each state."""
    counts: dict[str, int] = connection.service.call("GET", f"{connection.path}/queued_requests?page_size=1").json[
        "counts"
    ]
    return counts


def test_the_next_webhook_attempt_is_shown_as_the_service_plans_it(console: Console) -> None:
    connection = console.service.connection()
    request_id = query(connection, webhook_url="http://127.0.0.1:9/refused")
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{request_id}")
    console.sees("Webhook attempt 1 failed")

    attempts = connection.record(request_id)["webhook_attempts"]
    step = console.page.locator(".timeline li", has_text="Next webhook attempt").locator("time")
    expect(step).to_have_attribute("datetime", attempts[-1]["next_attempt_at"])


def test_a_connection_is_paused_resumed_changed_and_deleted(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}/settings")

    console.button("Pause").click()
    console.confirm("Pause")
    expect(console.page.locator(".page-head .badge")).to_have_text("Paused")
    console.button("Resume").click()
    expect(console.button("Pause")).to_be_visible()
    console.page.get_by_label("Name", exact=True).fill("Renamed")
    console.page.get_by_label("Lingering (seconds)").fill("9999")
    console.button("Save").click()
    console.sees("Enter a whole number from 0 to 1,500.")
    console.page.get_by_label("Lingering (seconds)").fill("60")
    console.page.get_by_label("Batch size of writes").fill("21")
    console.button("Save").click()
    console.sees("Enter a whole number from 1 to 20.")
    console.page.get_by_label("Batch size of writes").fill("20")
    console.page.get_by_label("Batch size of reads").fill("1")
    console.page.get_by_label("Ask QuickBooks about writes whose outcome is unknown").uncheck()
    console.page.get_by_label("Webhook URL").fill(console.service.webhook_url)
    console.page.get_by_label("No call for a day while requests wait").check()
    console.button("Save").click()
    console.sees_heading("Renamed")
    changed = console.service.call("GET", connection.path).json["data"]
    assert (changed["batch_size"], changed["read_batch_size"], changed["settle"]) == (20, 1, False)
    assert changed["webhook_events"] == ["connection.stalled"]
    console.page.locator("section.danger").get_by_role("button", name="Delete").click()
    console.confirm("Delete")
    console.sees_heading("Connections")
    assert console.service.call("GET", connection.path).status == 404


# --- The reference -----------------------------------------------------------------------------------------------


def test_the_reference_is_open_searchable_and_linkable(console: Console) -> None:
    console.open("/app/qbxml")
    console.sees("232 request types")
    console.page.get_by_label("Search types and fields").fill("invoice query")
    console.page.get_by_role("link", name="InvoiceQueryRq").first.click()
    console.sees_heading("InvoiceQueryRq")
    console.sees("MaxReturned")
    console.link("Response").click()
    console.sees("InvoiceRet")
    assert console.page.url.endswith("/app/qbxml/InvoiceQueryRs")


def test_the_reference_is_searched_by_field_names_too(console: Console) -> None:
    console.open("/app/qbxml")
    console.page.get_by_label("Search types and fields").fill("ref number")
    console.page.get_by_role("link", name="RefNumberRangeFilter", exact=True).click()
    console.sees("A field of")
    assert console.page.url.endswith("/app/qbxml?field=RefNumberRangeFilter")

    console.page.get_by_role("region", name="In requests").get_by_role("link", name="InvoiceQueryRq").click()

    expect(console.page.locator("tr.hit")).to_contain_text("RefNumberRangeFilter")
    expect(console.page.locator("tr.hit")).to_be_in_viewport()


def test_every_example_of_the_reference_is_accepted_by_the_service(console: Console) -> None:
    """The browser creates the example of each type, and the service checks it. A failure names the types."""
    connection = console.service.connection()
    console.open("/app/qbxml")
    console.sees("232 request types")
    module = console.page.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => name).find((one) => /reference_data.js$/.test(one))"
    )
    examples: dict[str, Any] = console.page.evaluate(
        """async (address) => {
            const { referenceData, sampleTree } = await import(address);
            const { shortForm } = await import(address.replace("reference_data", "request_json"));
            const { requestNames, requestType } = await import(address.replace("reference_data", "schema"));
            const names = await requestNames();
            const { samples } = await referenceData();
            const example = async (name) => [name, shortForm(sampleTree(await requestType(name), samples))];
            return Object.fromEntries(await Promise.all(names.map(example)));
        }""",
        module,
    )
    assert len(examples) > 200
    problems = {}
    for name, sample in examples.items():
        response = console.service.call("POST", f"{connection.path}/queued_requests", {"request_json": sample})
        if response.status != 201:
            problems[name] = response.json["error"]["message"]
    assert problems == {}


# --- Trouble -----------------------------------------------------------------------------------------------------


def test_control_characters_of_a_webhook_response_are_visible_and_change_no_order(console: Console) -> None:
    """Every character that Unicode calls a control or format character, or that is invisible or changes directions."""
    characters = [
        chr(point)
        for point in (*range(0xD800), *range(0xE000, 0x110000))
        if unicodedata.category(chr(point)) in {"Cc", "Cf", "Zl", "Zp"}
        or unicodedata.bidirectional(chr(point))
        in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}
    ]
    shown = "".join("" if character in "\t\n\r" else f"U+{ord(character):04X}" for character in characters)
    record = query(console.service.connection(), webhook_url="https://hooks.example.com/")
    responses = ["paid: \u202e001 DSU\u202c of \u0645\u0631\u062d\u0628\u0627", *characters]

    def with_attempts(route: Route) -> None:
        response = json.loads(route.fetch().text())
        attempts = [{"attempted_at": "2026-03-14T12:00:00.000000Z", "response": text} for text in responses]
        response["data"].update(state="error", webhook_state="failed", webhook_attempts=attempts)
        route.fulfill(json=response)

    console.page.route(f"**/api/v1/queued_requests/{record}", with_attempts)
    console.sign_in(f"/app/queued_requests/{record}")

    texts = console.page.locator(".timeline p bdi")
    expect(texts.first).to_have_text("paid: U+202E001 DSUU+202C of \u0645\u0631\u062d\u0628\u0627")
    assert len(characters) > 200
    assert "".join(texts.all_text_contents()[1:]).replace("\t", "").replace("\n", "").replace("\r", "") == shown
    assert texts.first.evaluate("element => getComputedStyle(element).unicodeBidi") == "isolate"


def test_hostile_content_is_shown_and_never_runs(console: Console) -> None:
    service = console.service
    connection = service.call("POST", "/api/v1/connections", {"name": f"{HOSTILE}<script>alert(2)</script>"}).json[
        "data"
    ]
    customer = {"name": "CustomerAdd", "children": [{"name": "Name", "text": HOSTILE}]}
    body = {"request_json": {"request": {"name": "CustomerAddRq", "children": [customer]}}}
    record = service.call("POST", f"/api/v1/connections/{connection['id']}/queued_requests", body).json["data"]
    pages = service.call("GET", "/api/v1/connections?page_size=20").json["total_pages"]
    console.sign_in(f"/app?page={pages}")
    console.sees(HOSTILE)

    def hostile(route: Route) -> None:
        response = json.loads(route.fetch().text())
        response["data"].update(
            state="error",
            error={
                "code": "quickbooks_error",
                "message": HOSTILE,
                "details": {"hint": HOSTILE, "status_code": HOSTILE},
            },
            response_xml=f"<QBXML><a b='{HOSTILE}'><script>alert(3)</script>",
            response_json=[
                {
                    "QBXMLMsgsRs": {
                        "CustomerQueryRs": {"CustomerRet": [{HOSTILE: HOSTILE, "Name": "<svg onload=alert(4)>"}]}
                    }
                }
            ],
            webhook_url=f"javascript:alert(5)//{HOSTILE}",
            webhook_state="failed",
            webhook_attempts=[
                {"attempted_at": "2026-03-14T12:00:00.000000Z", "response": f"{HOSTILE}<script>alert(6)</script>"}
            ],
        )
        route.fulfill(json=response)

    console.page.route(f"**/api/v1/queued_requests/{record['id']}", hostile)
    console.open(f"/app/queued_requests/{record['id']}")
    console.sees("<svg onload=alert(4)>")
    console.sees("alert(6)")
    dangerous = ", ".join(
        f"main {selector}" for selector in ("img", "script", "[onload]", "[onerror]", "a[href^=javascript]")
    )
    assert console.page.locator(dangerous).count() == 0


def test_an_inline_script_would_be_stopped_by_the_policy(console: Console) -> None:
    console.open("/app")
    console.page.get_by_label("API key").wait_for()
    ran = console.page.evaluate(
        """() => {
            const script = document.createElement("script");
            try { script.textContent = "globalThis.ran = true"; } catch { return "refused"; }
            document.body.append(script);
            return String(globalThis.ran);
        }"""
    )
    assert ran in {"refused", "undefined"}


@pytest.mark.parametrize(
    ("path", "script", "loaded"),
    [
        ("/app", "lib/text.js", "Sign in"),
        ("/onboarding#x", "onboarding.js", "This link"),
        ("/support", "support.js", "The service is up"),
    ],
)
def test_a_page_whose_script_does_not_arrive_says_so_and_can_be_reloaded(
    console: Console, path: str, script: str, loaded: str
) -> None:
    console.page.route(f"**/{script}", lambda route: route.abort())
    console.open(path)
    expect(console.page.get_by_role("alert")).to_contain_text("could not be loaded")
    console.page.unroute(f"**/{script}")
    console.button("Reload").click()
    console.sees(loaded)


@pytest.mark.parametrize("trouble", ["status 500", "no answer"])
def test_trouble_of_the_service_offers_a_retry_that_works(console: Console, trouble: str) -> None:
    connection = console.service.connection()
    console.sign_in()
    pattern = re.compile(r"/api/v1/connections/[^/]+(/queued_requests)?(\?|$)")

    def fail(route: Route) -> None:
        if trouble == "no answer":
            route.abort()
        else:
            error: dict[str, Any] = {
                "code": "internal_error",
                "message": "Something went wrong.",
                "details": {"request_id": "abc-123"},
            }
            route.fulfill(status=500, json={"error": error})

    console.page.route(pattern, fail)
    console.open(f"/app/connections/{connection.id}")
    console.sees("could not be loaded")
    console.sees("abc-123" if trouble == "status 500" else "cannot be reached")
    console.page.unroute(pattern)
    console.button("Try again").first.click()
    console.sees_heading("Test")


def test_a_revoked_key_leads_back_to_the_sign_in(console: Console) -> None:
    console.sign_in()
    console.page.route(
        "**/api/v1/connections?*",
        lambda route: route.fulfill(status=401, json={"error": {"code": "unauthorized", "message": "no"}}),
    )
    console.page.reload()

    console.sees("Your API key is no longer valid")


def test_a_response_of_5_mb_does_not_freeze_the_tab(console: Console) -> None:
    connection = console.service.connection()
    request_id = query(connection)

    def large(route: Route) -> None:
        body = json.loads(route.fetch().text())
        body["data"].update(large_response())
        route.fulfill(json=body)

    console.sign_in()
    console.page.route(f"**/api/v1/queued_requests/{request_id}", large)
    console.page.add_init_script(
        """globalThis.blocked = 0;
        const note = (list) => list.getEntries().forEach(({ duration }) => { blocked = Math.max(blocked, duration); });
        new PerformanceObserver(note).observe({ type: "longtask", buffered: true });"""
    )
    console.open(f"/app/queued_requests/{request_id}")
    response = console.page.get_by_role("region", name="Response").last
    expect(response).to_contain_text("CustomerQueryRs")
    assert response.locator(".line").count() < 300
    response.evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
    expect(response).to_contain_text("</QBXML>")
    console.button("Fold all").last.click()
    expect(response).to_contain_text(" … ")
    assert console.page.evaluate("globalThis.blocked") < MAX_BLOCKED_MILLISECONDS


def test_too_many_calls_are_explained_and_can_be_repeated(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in()
    error = {"code": "quota_exceeded", "message": "The app may make 600 calls a minute.", "details": {"limit": "calls"}}
    console.page.route(
        "**/api/v1/connections/*",
        lambda route: route.fulfill(status=429, json={"error": error}, headers={"Retry-After": "40"}),
    )

    console.open(f"/app/connections/{connection.id}")

    console.sees("The app may make 600 calls a minute. Try again in 40 seconds.")
    console.page.unroute("**/api/v1/connections/*")
    console.button("Try again").first.click()
    console.sees_heading("Test")


# --- Keyboard and first view -------------------------------------------------------------------------------------


def test_the_first_view_of_a_connection_makes_two_calls_of_the_api(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    console.keep_signed_in()
    called: list[str] = []
    console.page.on("request", lambda request: called.append(request.url) if "/api/" in request.url else None)

    console.open(f"/app/connections/{connection.id}")
    expect(console.page.locator("tbody tr.clickable")).to_have_count(1)
    expect(console.page.locator(".number-card .value").first).to_have_text("1")

    assert len(called) == 2


def test_a_dialog_closes_on_escape_and_gives_the_focus_back(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}")
    console.button("Pause").focus()
    console.page.keyboard.press("Enter")
    expect(console.page.get_by_role("dialog", name="Pause this connection?")).to_be_visible()

    console.page.keyboard.press("Escape")

    expect(console.page.get_by_role("dialog")).to_have_count(0)
    expect(console.button("Pause")).to_be_focused()


def test_the_first_tab_stop_skips_the_navigation(console: Console) -> None:
    console.sign_in()
    console.page.reload()
    console.sees_heading("Connections")

    console.page.keyboard.press("Tab")
    expect(console.link("Skip to the content")).to_be_focused()
    console.page.keyboard.press("Enter")

    expect(console.page.locator("main")).to_be_focused()


# --- Pages without an account ------------------------------------------------------------------------------------


def test_the_support_page_says_that_the_service_is_up(console: Console) -> None:
    console.open("/support")
    console.sees("The service is up")


def test_the_api_reference_asks_no_other_server(console: Console) -> None:
    urls: list[str] = []
    console.page.on("request", lambda request: urls.append(request.url))

    console.open("/docs")
    console.sees("/api/v1/connections/{connection_id}/queued_requests")

    assert all(url.startswith((console.service.base_url, "data:", "blob:")) for url in urls)


@pytest.mark.parametrize(("colours", "lightness"), [("light", "light"), ("dark", "dark")])
def test_the_api_reference_follows_the_system_and_the_choice_in_the_console(
    console: Console, colours: Literal["light", "dark"], lightness: str
) -> None:
    other = "dark" if colours == "light" else "light"
    console.page.emulate_media(color_scheme=colours)
    console.open("/docs")
    console.sees("/api/v1/connections/{connection_id}/queued_requests")
    assert background(console) == lightness

    console.page.evaluate(f"localStorage.setItem('qbxml-queue.theme', '{other}')")
    console.page.reload()
    console.sees("/api/v1/connections/{connection_id}/queued_requests")
    assert background(console) == other


SWAGGER_MILLISECONDS = 90_000
"""Swagger UI renders all operations before it reacts to a click, which takes most of a minute on a busy machine."""


def open_in_api_reference(console: Console, operation: str) -> None:
    """Open an operation of /docs in a new document. Swagger UI can still write the address of the former one."""
    console.open(f"/docs?{operation}#/{operation}")


def test_a_signed_in_reader_tries_calls_without_entering_the_key_and_confirms_each_change(console: Console) -> None:
    console.keep_signed_in()
    sent: list[tuple[str, str | None]] = []
    console.page.on("request", lambda request: sent.append((request.method, request.headers.get("authorization"))))

    def open_operation(name: str) -> Locator:
        open_in_api_reference(console, name)
        operation = console.page.locator(".opblock.is-open")
        operation.get_by_role("button", name="Try it out").click(timeout=SWAGGER_MILLISECONDS)
        operation.get_by_role("button", name="Execute").click()
        return operation

    operation = open_operation("API%20keys/get_api_key")
    expect(operation.locator(".live-responses-table tbody .response-col_status")).to_contain_text("200")
    assert console.service.api_key not in operation.inner_text()
    assert console.button("Authorize").count() == 0

    sent.clear()
    operation = open_operation("Connections/create_connection")
    console.sees("Send this call?")
    console.confirm("Cancel")
    expect(operation.locator(".live-responses-table")).to_contain_text("The call was not sent.")
    assert not [method for method, _ in sent if method == "POST"]
    operation.get_by_role("button", name="Execute").click()
    console.confirm("Send")
    expect(operation.locator(".live-responses-table tbody .response-col_status")).to_contain_text("201")
    assert [bool(key) for method, key in sent if method == "POST"] == [True]


def test_the_api_reference_offers_queries_with_post_because_a_browser_queues_nothing_with_get(console: Console) -> None:
    connection = console.service.connection()
    console.keep_signed_in()
    open_in_api_reference(console, "Queries/query_customers")
    expect(console.page.locator(".opblock.is-open").get_by_role("heading", name="Responses")).to_be_visible()
    expect(console.button("Try it out")).to_have_count(0)

    open_in_api_reference(console, "Queries/post_query_customers")
    operation = console.page.locator(".opblock.is-open")
    operation.get_by_role("button", name="Try it out").click(timeout=SWAGGER_MILLISECONDS)
    operation.get_by_placeholder("connection_id").fill(connection.id)
    operation.get_by_role("button", name="Execute").click()
    console.confirm("Send")

    expect(operation.locator(".live-responses-table tbody .response-col_status")).to_contain_text("202")
    assert len(console.service.call("GET", f"{connection.path}/queued_requests").json["data"]) == 1


def test_the_api_reference_offers_a_read_only_key_the_calls_that_it_may_make(console: Console) -> None:
    seed_session(console.page, console.service.app_id, console.service.api_key, "read_only")
    console.open("/docs")
    console.sees("It is read-only: you cannot try calls that queue or change something.")

    for operation, is_offered in (("query_customers", False), ("post_connection_qwc", True)):
        block = console.page.locator(f".opblock[id$='-{operation}']")
        block.locator(".opblock-summary-control").click()
        expect(block.get_by_role("heading", name="Responses")).to_be_visible()
        assert block.get_by_role("button", name="Try it out").count() == is_offered, operation


def test_the_api_reference_is_in_the_shell_and_leaves_it_by_loading_a_page(console: Console) -> None:
    """The page /docs has a looser Content-Security-Policy, which no view of the console may share."""
    console.keep_signed_in()
    console.open("/docs")
    expect(console.page.get_by_role("navigation", name="Main").locator("[aria-current]")).to_have_text("API reference")
    console.page.evaluate("globalThis.isOldPage = true")

    console.link("Connections").click()

    console.sees_heading("Connections")
    assert console.page.evaluate("globalThis.isOldPage") is None


def background(console: Console) -> str:
    """Return whether the page is light or dark."""
    red = console.page.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
    return "dark" if red < 128 else "light"


def test_the_overview_finds_connections_by_name_and_health_and_keeps_the_choice_in_the_address(
    console: Console,
) -> None:
    service, name = console.service, f"Overview {uuid.uuid4()}"
    calling, new = service.connection(), service.connection()
    for number, connection in enumerate((calling, new)):
        service.call("PATCH", connection.path, {"name": f"{name} {number}"})
    calling.run_session()
    console.sign_in()
    console.page.get_by_role("link", name="Overview", exact=True).click()
    rows = console.page.locator("section[aria-labelledby=connections] tbody tr")

    console.page.get_by_label("Search connections").fill(name.upper())
    expect(rows).to_have_count(2)
    # The Web Connector has logged in, and QuickBooks has not been asked anything.
    expect(rows.first).to_contain_text("QuickBooks not tested")
    console.page.get_by_label("Any health").select_option("Never connected")

    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(f"{name} 1")
    console.page.reload()
    expect(rows).to_have_count(1)


def test_a_chart_has_a_table_with_the_same_numbers(console: Console) -> None:
    connection = console.service.connection()
    query(connection)
    connection.run_session()
    console.sign_in()
    console.open(f"/app/connections/{connection.id}/overview?days=1")
    card = console.page.locator("section[aria-labelledby=activity]")

    expect(card.get_by_role("img")).to_have_accessible_name(re.compile("^1 requests answered and 0 failed in 24 "))
    card.get_by_text("Show as a table").click()

    # The last cells: queued, answered, failed.
    expect(card.locator("tbody tr").first.locator("td")).to_have_text(["1", "1", "0"])
