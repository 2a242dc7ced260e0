"""A write whose outcome is unknown: a query finds out whether QuickBooks executed it before anybody queues it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.support import unsettled

if TYPE_CHECKING:
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


def test_queue_again_of_an_unknown_write_leads_to_the_query_that_finds_it_in_the_books(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, CUSTOMER)
    console.sign_in(f"/app/queued_requests/{request_id}")

    console.button("Queue again…").click()
    check = console.page.get_by_role("region", name="Check", exact=True)
    expect(check).to_be_focused()
    expect(check).to_contain_text("Is there a customer with the name “Zoe Nightingale”?")
    check.get_by_role("button", name="Check in QuickBooks").click()
    expect(check).to_contain_text("The check is queued")
    connection.run_session()

    expect(check).to_contain_text("Do not queue it again")
    expect(check.get_by_role("region", name="CustomerRet")).to_contain_text("Zoe Nightingale")
    console.page.reload()
    expect(check).to_contain_text("Do not queue it again")
    assert requests_of(connection) == ["CustomerQueryRq", "CustomerAddRq"]


def test_a_write_that_is_not_in_the_books_is_queued_again_once_by_all_people_together(console: Console) -> None:
    connection = console.service.connection()
    before = connection.company.snapshot()
    request_id = unsettled(connection, CUSTOMER)
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

    assert requests_of(connection) == ["CustomerAddRq", "CustomerQueryRq", "CustomerAddRq"]


def test_a_person_who_has_looked_can_decide_without_the_query(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, {"DataExtAddRq": {"DataExtAdd": EXTENSION}})
    console.sign_in(f"/app/queued_requests/{request_id}")
    console.sees("No query can tell whether QuickBooks executed this request.")
    check = console.page.get_by_role("region", name="Check", exact=True)
    check.get_by_role("button", name="Queue again", exact=True).click()
    console.confirm("Queue a copy")
    console.page.wait_for_url(lambda url: request_id not in url)
    assert requests_of(connection) == ["DataExtAddRq", "DataExtAddRq"]


def test_a_read_only_key_sees_the_question_and_no_button(console: Console) -> None:
    connection = console.service.connection()
    request_id = unsettled(connection, CUSTOMER)
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]
    console.sign_in(f"/app/queued_requests/{request_id}", key=key)

    check = console.page.get_by_role("region", name="Check", exact=True)
    expect(check).to_contain_text("Is there a customer")
    expect(check.get_by_role("button", name="Check in QuickBooks")).to_have_count(0)
    expect(check.get_by_role("button", name="I have looked myself")).to_have_count(0)


# --- The queries -------------------------------------------------------------------------------------------------


def module(console: Console, name: str) -> str:
    """Return the address of a module of the console."""
    return str(
        console.page.evaluate(
            "(name) => performance.getEntriesByType('resource').map((one) => one.name)"
            ".find((one) => /lib.api.js$/.test(one)).replace('api.js', name)",
            name,
        )
    )


def test_the_query_of_every_write_is_one_that_the_service_accepts(console: Console) -> None:
    """The browser makes the check of the example of each write, and the service checks the query."""
    connection = console.service.connection()
    console.sign_in()
    queries: dict[str, str | None] = console.page.evaluate(
        """async ([schema, trees, xml, query]) => {
            const { requestNames, requestType } = await import(schema);
            const { exampleTree } = await import(trees);
            const { toXml } = await import(xml);
            const { outcomeQuery } = await import(query);
            const check = async (name) => {
                const request_xml = toXml(exampleTree(await requestType(name)));
                const plan = await outcomeQuery({ request_xml, inserted_at: "2026-03-14T12:00:00.123456Z" });
                return [name, plan?.xml ?? null];
            };
            const writes = (await requestNames()).filter((name) => !name.endsWith("QueryRq"));
            return Object.fromEntries(await Promise.all(writes.map(check)));
        }""",
        [module(console, f"{name}.js") for name in ("schema", "trees", "xml", "outcome_query")],
    )
    assert len(queries) > 100
    problems = {}
    for name, xml in queries.items():
        if xml:
            response = console.service.call("POST", f"{connection.path}/queued_requests", {"request_xml": xml})
            if response.status != 201:
                problems[name] = response.json["error"]["message"]
    assert problems == {}
    assert {name for name, xml in queries.items() if xml is None} == WITHOUT_QUERY


WITHOUT_QUERY = {
    "ClearedStatusModRq",
    "DataEventRecoveryInfoDelRq",
    "DataExtAddRq",
    "DataExtDefAddRq",
    "DataExtDefDelRq",
    "DataExtDefModRq",
    "DataExtDelRq",
    "DataExtModRq",
    "Form1099CategoryAccountMappingModRq",
    "ListDisplayAddRq",
    "ListDisplayModRq",
    "SpecialAccountAddRq",
    "SpecialItemAddRq",
    "TxnDisplayAddRq",
    "TxnDisplayModRq",
}
"""QuickBooks has no query for these, or none that tells one from another."""


NUMBERED = "<InvoiceAddRq><InvoiceAdd>{}<RefNumber>7</RefNumber></InvoiceAdd></InvoiceAddRq>"
BY_NAME = NUMBERED.format("<CustomerRef><FullName>Ada</FullName></CustomerRef>")
BY_ID = NUMBERED.format("<CustomerRef><ListID>8-1</ListID></CustomerRef>")
WITHOUT_NUMBER = BY_ID.replace("<RefNumber>7</RefNumber>", "")
CHANGE = "<CustomerModRq><CustomerMod><ListID>8-1</ListID><EditSequence>5</EditSequence></CustomerMod></CustomerModRq>"
DELETION = "<TxnDelRq><TxnDelType>Bill</TxnDelType><TxnID>1-1</TxnID></TxnDelRq>"
MERGE = (
    "<ListMergeRq><ListMergeType>Vendor</ListMergeType><MergeFrom><ListID>8-1</ListID></MergeFrom>"
    "<MergeTo><ListID>8-2</ListID></MergeTo></ListMergeRq>"
)


VERDICTS: list[tuple[str, list[dict[str, Any]], str]] = [
    (BY_NAME, [], "not_done"),
    (BY_NAME, [{"CustomerRef": {"FullName": "ada"}}], "done"),
    (BY_NAME, [{"CustomerRef": {"FullName": "Bo"}}], "look"),
    (BY_ID, [{"CustomerRef": {"ListID": "8-1"}}], "done"),
    (BY_ID, [{"CustomerRef": {"ListID": "8-2"}}], "look"),
    (WITHOUT_NUMBER, [{"TxnID": "1-1"}], "look"),
    (WITHOUT_NUMBER, [], "not_done"),
    (CHANGE, [{"EditSequence": "5"}], "not_done"),
    (CHANGE, [{"EditSequence": "6"}], "done"),
    (CHANGE, [], "look"),
    (DELETION, [{"TxnID": "1-1"}], "not_done"),
    (DELETION, [], "done"),
    ("<ListDelRq><ListDelType>Vendor</ListDelType><ListID>8-1</ListID></ListDelRq>", [], "done"),
    (MERGE, [{"ListID": "8-1"}], "not_done"),
    (MERGE, [], "done"),
    ("<TxnVoidRq><TxnVoidType>Check</TxnVoidType><TxnID>1-1</TxnID></TxnVoidRq>", [{"Amount": "0.00"}], "look"),
]
"""A write, the objects that its query found, and the verdict."""


def test_a_verdict_follows_from_what_the_query_found(console: Console) -> None:
    console.sign_in()
    found = console.page.evaluate(
        """async ([address, cases]) => {
            const { outcomeQuery } = await import(address);
            const verdict = async ([request_xml, rows]) => {
                const plan = await outcomeQuery({ request_xml, inserted_at: "2026-03-14T12:00:00Z" });
                return plan.judge(rows).verdict;
            };
            return Promise.all(cases.map(verdict));
        }""",
        [module(console, "outcome_query.js"), [[request_xml, rows] for request_xml, rows, _ in VERDICTS]],
    )
    assert found == [verdict for _, _, verdict in VERDICTS]
