"""A write whose outcome is unknown: QuickBooks is asked about it before anybody queues it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.support import unsettled

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from tests.browser.support import Console
    from tests.e2e.support import Connection

EXTENSION = {
    "OwnerID": "0",
    "DataExtName": "Birthday",
    "ListDataExtType": "Customer",
    "ListObjRef": {"FullName": "Ada"},
    "DataExtValue": "1 May",
}
CUSTOMER = {"CustomerAddRq": {"CustomerAdd": {"Name": "Zoe Nightingale"}}}


def requests_of(connection: Connection) -> list[str]:
    response = connection.service.call("GET", f"{connection.path}/queued_requests?bodies=false")
    return [record["request_name"] for record in response.json["data"]]


def test_queue_again_of_an_unknown_write_leads_to_the_check_that_asks_the_books(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, CUSTOMER)
    console.sign_in(f"/app/queued_requests/{request_id}")

    console.button("Queue again…").click()
    check = console.page.get_by_role("region", name="Check", exact=True)
    expect(check).to_be_focused()
    expect(check).to_contain_text("Is what it adds in the books?")
    check.get_by_role("button", name="Check in QuickBooks").click()
    expect(check).to_contain_text("The check is queued")
    connection.run_session()

    # No other write shows the clock of the books, so a person has to compare.
    expect(check).to_contain_text("Compare, then decide")
    expect(check.get_by_role("region", name="CustomerRet")).to_contain_text("Zoe Nightingale")
    console.page.reload()
    expect(check).to_contain_text("Compare, then decide")
    assert requests_of(connection) == [*["ListDeletedQueryRq", "CustomerQueryRq", "CustomerQueryRq"], "CustomerAddRq"]


def test_a_write_whose_outcome_is_unknown_is_nowhere_shown_as_failed(console: Console) -> None:
    connection = console.service.connection()
    name = f"Zoe {connection.id}"
    request_id = unsettled(connection, {"CustomerAddRq": {"CustomerAdd": {"Name": name}}})
    console.keep_signed_in()

    for address in (
        f"/app/queued_requests/{request_id}",
        f"/app/connections/{connection.id}",
        f"/app/search?search={name}",
    ):
        console.open(address)
        main = console.page.get_by_role("main")
        expect(main.locator(".badge.amber").get_by_text("Outcome unknown")).to_have_count(1)
        expect(main.locator(".badge").get_by_text("Failed")).to_have_count(0)
    console.open(f"/app/queued_requests/{request_id}")
    console.sees("Ended: outcome unknown")
    console.sees("Nobody knows yet whether it is in the books.")


def test_a_write_that_the_service_asks_about_by_itself_has_its_check_without_a_click(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, CUSTOMER, settle=True)
    console.sign_in(f"/app/queued_requests/{request_id}")
    check = console.page.get_by_role("region", name="Check", exact=True)

    expect(check).to_contain_text("The check is queued")
    expect(check.get_by_role("button", name="Check in QuickBooks")).to_have_count(0)
    connection.run_session()
    expect(check).to_contain_text("Compare, then decide")


def test_a_write_that_was_not_executed_is_queued_again_once_by_all_people_together(console: Console) -> None:
    connection = console.service.connection()
    added = connection.queue({"request_json": CUSTOMER})["id"]
    connection.run_session()
    (message_set,) = connection.record(added)["response_json"]
    list_id = message_set["QBXMLMsgsRs"]["CustomerAddRs"]["CustomerRet"]["ListID"]
    before = connection.company.snapshot()
    request_id = unsettled(connection, {"ListDelRq": {"ListDelType": "Customer", "ListID": list_id}})
    connection.company.restore(before)
    console.sign_in(f"/app/queued_requests/{request_id}")
    check = console.page.get_by_role("region", name="Check", exact=True)
    check.get_by_role("button", name="Check in QuickBooks").click()
    expect(check).to_contain_text("The check is queued")
    connection.run_session()

    expect(check).to_contain_text("You can queue it again")
    for _ in range(2):
        console.open(f"/app/queued_requests/{request_id}")
        check.get_by_role("button", name="Queue again", exact=True).click()
        console.confirm("Queue a copy")
        console.page.wait_for_url(lambda url: request_id not in url)

    assert requests_of(connection) == ["ListDelRq", "CustomerQueryRq", "ListDelRq", "CustomerAddRq"]


def test_a_batch_continues_without_a_write_that_quickbooks_has_executed(console: Console) -> None:
    connection = console.service.connection()
    first = unsettled(connection, CUSTOMER)
    connection.service.call("POST", f"/api/v1/queued_requests/{first}/settle")
    connection.run_session()
    other = connection.queue({"request_json": CUSTOMER})["id"]
    batch_id = "0b6d7a52-1f3c-8a11-9c55-6f2f0d1e0000"

    def executed(route: Route) -> None:
        """Show the write as one of a batch that was executed. Two hours must pass before the books can show it."""
        answer = route.fetch()
        record = answer.json()["data"] | {"executed": "yes", "batch_id": batch_id, "batch_position": 0}
        route.fulfill(response=answer, json={"data": record})

    calls: list[tuple[str, object]] = []

    def continued(route: Route) -> None:
        calls.append((route.request.url.partition("/batches/")[2], route.request.post_data_json))
        route.fulfill(status=201, json={"data": [{"id": other}]})

    console.page.route(f"**/api/v1/queued_requests/{first}*", executed)
    console.page.route("**/batches/*/continue*", continued)
    console.sign_in(f"/app/queued_requests/{first}")
    check = console.page.get_by_role("region", name="Check", exact=True)

    expect(check).to_contain_text("Do not queue it again")
    check.get_by_role("button", name="Continue without it").click()
    console.confirm("Continue the batch")
    console.page.wait_for_url(lambda url: other in url)

    assert calls == [(f"{batch_id}/continue", {"request_id": first})]


def test_a_person_who_has_looked_can_decide_without_the_query(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, {"DataExtAddRq": {"DataExtAdd": EXTENSION}})
    console.sign_in(f"/app/queued_requests/{request_id}")
    check = console.page.get_by_role("region", name="Check", exact=True)
    check.get_by_role("button", name="Check in QuickBooks").click()
    expect(check).to_contain_text("No query can tell whether QuickBooks executed DataExtAddRq")
    check.get_by_role("button", name="I have looked myself").click()
    console.confirm("Queue a copy")
    console.page.wait_for_url(lambda url: request_id not in url)
    assert requests_of(connection) == ["DataExtAddRq", "DataExtAddRq"]


def test_a_read_only_key_sees_the_question_and_no_button(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, CUSTOMER)
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]
    console.sign_in(f"/app/queued_requests/{request_id}", key=key)

    check = console.page.get_by_role("region", name="Check", exact=True)
    expect(check).to_contain_text("Is what it adds in the books?")
    expect(check.get_by_role("button", name="Check in QuickBooks")).to_have_count(0)
    expect(check.get_by_role("button", name="I have looked myself")).to_have_count(0)
