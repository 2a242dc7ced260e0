"""Requests are composed safely: nothing is invented, writes are asked for once, and work is kept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.support import Console

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

    from tests.e2e.support import Connection


def compose(console: Console, connection: Connection, type_name: str) -> None:
    """Sign in and open the form of a request type."""
    console.sign_in(f"/app/compose?connection={connection.id}&type={type_name}")
    expect(console.page.get_by_role("region", name="Queue")).to_be_visible()


def textbox(inside: Console | Locator, name: str) -> Locator:
    """Return the text boxes of an element. Their labels may end in tags such as `required`."""
    place = inside.page if isinstance(inside, Console) else inside
    return place.get_by_role("textbox", name=re.compile(rf"^{name}( ?(required|since .*))*$"))


def requests_of(connection: Connection) -> list[str]:
    """Return the names of the queued requests."""
    response = connection.service.call("GET", f"{connection.path}/queued_requests?bodies=false")
    return [record["request_name"] for record in response.json["data"]]


def test_a_type_is_found_by_the_words_of_people(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/compose?connection={connection.id}")
    picker = console.page.get_by_role("combobox", name="Request type")
    picker.fill("zebra")
    expect(picker).to_have_accessible_description("No type matches.")
    picker.fill("edit customer")
    expect(picker).to_have_accessible_description("")
    found = console.page.get_by_role("group", name="Types that match")
    found.get_by_role("button", name="Change a customer CustomerModRq").click()
    expect(picker).to_have_value("CustomerModRq")
    console.sees_heading("Customer change")
    expect(found).to_have_count(0)


# --- Nothing is invented -----------------------------------------------------------------------------------------


def test_an_empty_form_says_what_is_missing_at_the_field_and_queues_nothing(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerAddRq")
    expect(textbox(console, "Name")).to_have_value("")
    expect(textbox(console, "Name")).to_have_attribute("placeholder", re.compile("^for example "))

    console.button("Add customer in Test").click()

    expect(textbox(console, "Name")).to_be_focused()
    expect(textbox(console, "Name")).to_have_accessible_description("Name is required.")
    assert requests_of(connection) == []


def test_a_request_is_queued_with_the_label_and_the_metadata_that_its_page_shows(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "HostQueryRq")
    textbox(console, r"Label \(optional\)").fill("night 1042")
    for number, (name, value) in enumerate((("order", "1042"), ("order", "2"), ("", "")), 1):
        console.button("Add metadata").click()
        console.page.get_by_label(f"Name of entry {number}").fill(name)
        console.page.get_by_label(f"Value of entry {number}").fill(value)

    queue = console.page.get_by_role("region", name="Queue").get_by_role("button", name="Queue")
    queue.click()
    console.sees("the name “order” occurs twice")
    assert requests_of(connection) == []
    console.page.reload()
    console.page.get_by_label("Name of entry 2").fill("shop")
    queue.click()

    details = console.page.get_by_role("region", name="Details")
    for text in ("Label night 1042", "order: 1042", "shop: 2"):
        expect(details).to_contain_text(text, use_inner_text=True)


def test_with_several_connections_a_person_chooses_whose_books_are_meant(console: Console) -> None:
    first, second = console.service.connection(), console.service.connection()
    console.service.call("PATCH", second.path, {"name": "Bluewater Dental"})
    console.sign_in("/app/compose?type=CustomerAddRq")
    picker = console.page.get_by_label("Connection", exact=True)
    expect(picker).to_have_value("")
    textbox(console, "Name").fill("Ada Brandt")

    console.button("Add customer", exact=True).click()
    console.sees("Choose the company file that the request is for.")
    expect(picker).to_be_focused()
    picker.select_option(label="Bluewater Dental")

    console.button("Add customer in Bluewater Dental").click()
    console.confirm("Add customer")
    console.sees_heading("Customer add")
    assert requests_of(second) == ["CustomerAddRq"]
    assert requests_of(first) == []


# --- Writes are asked for once -----------------------------------------------------------------------------------


MERGE = (
    "<ListMergeType>Vendor</ListMergeType><MergeFrom><ListID>80000001-1</ListID><EditSequence>1</EditSequence>"
    "</MergeFrom><MergeTo><ListID>80000002-1</ListID><EditSequence>1</EditSequence></MergeTo>"
)


@pytest.mark.parametrize(
    ("name", "xml", "action"),
    [
        ("VendorAddRq", "<VendorAdd><Name>Millbrook Supplies</Name></VendorAdd>", "Add vendor"),
        (
            "CustomerModRq",
            "<CustomerMod><ListID>80000001-1</ListID><EditSequence>1</EditSequence><Name>Ada</Name></CustomerMod>",
            "Change customer",
        ),
        ("TxnDelRq", "<TxnDelType>Invoice</TxnDelType><TxnID>1A2B-1700000000</TxnID>", "Delete invoice"),
        ("TxnVoidRq", "<TxnVoidType>Check</TxnVoidType><TxnID>1A2B-1700000000</TxnID>", "Void check"),
        (
            "ListMergeRq",
            MERGE,
            "Merge vendor entries",
        ),
    ],
)
def test_every_kind_of_write_is_asked_for_once(console: Console, name: str, xml: str, action: str) -> None:
    connection = console.service.connection()
    compose(console, connection, name)
    console.button("XML", exact=True).first.click()
    console.page.get_by_label("XML of the request").fill(
        f'<QBXML><QBXMLMsgsRq onError="stopOnError"><{name}>{xml}</{name}></QBXMLMsgsRq></QBXML>'
    )

    console.button(f"{action} in Test").click()
    dialog = console.page.get_by_role("dialog", name=f"{action} in Test?")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert requests_of(connection) == []
    console.button(f"{action} in Test").click()
    console.confirm(action)

    console.page.wait_for_url("**/app/queued_requests/*")
    assert requests_of(connection) == [name]


def test_a_query_is_queued_without_a_question(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerQueryRq")
    console.button("Queue customer query in Test").click()
    console.page.wait_for_url("**/app/queued_requests/*")
    assert requests_of(connection) == ["CustomerQueryRq"]


def test_a_text_that_the_console_cannot_read_is_asked_for_like_a_write(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerQueryRq")
    console.button("JSON", exact=True).first.click()
    # The whole tree, as client libraries send it.
    customer = {"name": "CustomerAdd", "children": [{"name": "Name", "text": "Ada"}]}
    request = {"name": "CustomerAddRq", "children": [customer]}
    message_set = {"name": "QBXMLMsgsRq", "attributes": {"onError": "stopOnError"}, "children": [request]}
    tree = {"request": [{"name": "QBXML", "children": [message_set]}]}
    console.page.get_by_label("JSON of the request").fill(json.dumps(tree))

    console.button("Queue request in Test").click()
    console.confirm("Queue request")

    console.page.wait_for_url("**/app/queued_requests/*")
    assert requests_of(connection) == ["CustomerAddRq"]


def test_the_json_of_the_documents_is_read_and_a_query_in_it_is_queued_without_a_question(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerQueryRq")
    console.button("JSON", exact=True).first.click()
    editor = console.page.get_by_label("JSON of the request")
    expect(editor).to_contain_text(re.compile(r'^\s*{\s*"CustomerQueryRq":'))
    editor.fill('{"CustomerQueryRq": {"MaxReturned": 2}}')
    expect(console.page.get_by_label("Preview").last).to_contain_text("<MaxReturned>2</MaxReturned>")

    console.button("Queue customer query in Test").click()

    console.page.wait_for_url("**/app/queued_requests/*")
    assert requests_of(connection) == ["CustomerQueryRq"]


def test_an_invoice_is_composed_from_the_form_of_the_schema(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "InvoiceAddRq")
    console.button("All fields").click()

    textbox(console, "FullName").first.fill("Harbor Street Bakery")
    textbox(console, "RefNumber").fill("2001")
    invoice = console.page.get_by_role("group", name="InvoiceAdd", exact=True)
    invoice.get_by_label("Add a field").last.select_option("Memo")
    textbox(console, "Memo").fill("Thank you & see you")
    line = console.page.get_by_role("group", name="InvoiceLineAdd", exact=True)
    textbox(line, "Quantity").fill("2")
    expect(console.page.get_by_label("Preview").last).to_contain_text("<Memo>Thank you &amp; see you</Memo>")
    console.button("Add invoice in Test").click()
    dialog = console.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Harbor Street Bakery")
    expect(dialog).to_contain_text("2001")
    console.confirm("Add invoice")

    console.page.wait_for_url("**/app/queued_requests/*")
    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert "<RefNumber>2001</RefNumber>" in xml
    assert "for example" not in xml
    assert "Consulting" not in xml


# --- Forms -------------------------------------------------------------------------------------------------------


def test_a_new_line_opens_with_its_usual_fields(console: Console) -> None:
    compose(console, console.service.connection(), "InvoiceAddRq")
    console.button("All fields").click()
    console.button("InvoiceLineAdd", exact=True).click()
    line = console.page.get_by_role("group", name="InvoiceLineAdd", exact=True).last
    for name in ("FullName", "Desc", "Quantity", "Rate"):
        expect(textbox(line, name)).to_be_visible()
    console.sees("How the price of the line is set: a price for each unit, a percentage, or a price level.")
    console.sees("QuickBooks takes only one of these 3, or none.")


def test_a_problem_that_the_server_found_is_shown_at_its_field_until_the_field_changes(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "InvoiceAddRq")
    console.button("All fields").click()
    textbox(console, "FullName").first.fill("Ada Brandt")
    line = console.page.get_by_role("group", name="InvoiceLineAdd", exact=True)
    quantity = textbox(line, "Quantity")
    quantity.fill("two")

    console.button("Add invoice in Test").click()
    console.confirm("Add invoice")

    expect(quantity).to_be_focused()
    expect(quantity).to_have_accessible_description(
        "Quantity must be a quantity with up to 10 digits and at most 5 decimals, not 'two'."
    )
    quantity.fill("2")
    expect(console.page.get_by_role("alert")).to_have_count(0)
    assert requests_of(connection) == []


def test_problems_of_the_check_are_shown_at_their_line(console: Console) -> None:
    compose(console, console.service.connection(), "CustomerQueryRq")
    console.button("XML", exact=True).first.click()
    editor = console.page.get_by_label("XML of the request")
    wrong = "<CustomerQueryRq>\n<MaxReturnd>2</MaxReturnd>\n</CustomerQueryRq>"
    editor.fill(f'<QBXML>\n<QBXMLMsgsRq onError="stopOnError">\n{wrong}\n</QBXMLMsgsRq>\n</QBXML>')

    console.button("Queue customer query in Test").click()

    console.sees("Did you mean MaxReturned?")
    console.sees("line 4")
    expect(console.page.locator(".cm-lint-marker-error")).to_be_visible()


# --- Drafts ------------------------------------------------------------------------------------------------------


def drafts(console: Console) -> list[str]:
    """Return the names under which drafts are stored."""
    names = console.page.evaluate("Object.keys({...sessionStorage, ...localStorage})")
    return [name for name in names if "draft" in name]


def test_a_draft_survives_navigation_and_a_reload_until_it_is_queued(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerAddRq")
    textbox(console, "Name").fill("Ada Brandt")

    console.link("Connections").click()
    console.link("Compose").click()
    console.page.get_by_role("region", name="Drafts").get_by_role("link", name="Customer add").click()
    expect(textbox(console, "Name")).to_have_value("Ada Brandt")
    console.page.reload()
    expect(textbox(console, "Name")).to_have_value("Ada Brandt")
    console.sees("Your draft was restored")

    console.button("Add customer in Test").click()
    console.confirm("Add customer")
    console.page.wait_for_url("**/app/queued_requests/*")
    assert drafts(console) == []


def test_a_text_that_cannot_be_read_is_kept_too(console: Console) -> None:
    compose(console, console.service.connection(), "CustomerAddRq")
    console.button("XML", exact=True).first.click()
    console.page.get_by_label("XML of the request").fill("<QBXML><Customer")
    console.page.reload()
    expect(console.page.get_by_label("XML of the request")).to_contain_text("<QBXML><Customer")


def test_a_draft_belongs_to_its_connection_and_moves_with_a_new_choice(console: Console) -> None:
    first, second = console.service.connection(), console.service.connection()
    compose(console, first, "CustomerAddRq")
    textbox(console, "Name").fill("Ada Brandt")

    console.open(f"/app/compose?connection={second.id}&type=CustomerAddRq")
    expect(textbox(console, "Name")).to_have_value("")
    console.open(f"/app/compose?connection={first.id}&type=CustomerAddRq")
    expect(textbox(console, "Name")).to_have_value("Ada Brandt")
    console.page.get_by_label("Connection", exact=True).select_option(second.id)
    expect(textbox(console, "Name")).to_have_value("Ada Brandt")
    assert len(drafts(console)) == 1


def test_a_draft_survives_an_expired_key_and_is_cleared_by_signing_out(console: Console) -> None:
    service, connection = console.service, console.service.connection()
    compose(console, connection, "CustomerAddRq")
    textbox(console, "Name").fill("Ada Brandt")

    def expired(route: Route) -> None:
        route.fulfill(status=401, json={"error": {"code": "unauthorized", "message": "no"}})

    console.page.route("**/queued_requests", expired)
    console.button("Add customer in Test").click()
    console.confirm("Add customer")
    console.sees("Your drafts are kept in this tab.")
    console.page.unroute("**/queued_requests")
    console.page.get_by_label("API key").fill(service.api_key)
    console.button("Sign in").click()
    expect(textbox(console, "Name")).to_have_value("Ada Brandt")

    console.button("Sign out").click()
    expect(console.page.get_by_label("API key")).to_be_visible()
    assert drafts(console) == []


def test_another_app_never_sees_the_drafts_of_an_expired_key(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerAddRq")
    textbox(console, "Name").fill("Ada Brandt")
    console.page.evaluate("sessionStorage.removeItem('qbxml-queue.key')")
    console.page.reload()
    app_id = console.service.operate("create_app", name="Another app")["app_id"]
    key = console.service.operate("create_key", app_id=app_id)["api_key"]

    console.page.get_by_label("API key").fill(key)
    console.button("Sign in").click()

    console.sees("Compose a request")
    assert drafts(console) == []


def test_drafts_are_bounded_and_the_oldest_give_way(console: Console) -> None:
    console.sign_in()
    kept = console.page.evaluate(
        """async (address) => {
            const { draftKey, writeDraft, readDraft } = await import(address);
            const key = (n) => draftKey("app", { connection: `c${n}`, type: "CustomerAddRq" });
            const write = (n, size) => writeDraft(key(n), { text: "x".repeat(size) });
            const kept = () => [...Array(30).keys()].filter((n) => readDraft(key(n)));
            for (let n = 0; n < 30; n += 1) {
                write(n, 1);
                await new Promise((done) => setTimeout(done, 2));
            }
            const many = kept();
            write(40, 1_500_000);
            const large = kept().length;
            write(41, 1_500_000);
            const replaced = !readDraft(key(40)) && Boolean(readDraft(key(41)));
            return { many, large, replaced, tooLarge: write(42, 2_500_000) };
        }""",
        console.page.evaluate(
            "performance.getEntriesByType('resource').map(({ name }) => name).find((one) => /drafts.js$/.test(one))"
        ),
    )
    assert kept == {"many": list(range(10, 30)), "large": 19, "replaced": True, "tooLarge": False}


def test_a_write_whose_answer_was_lost_is_queued_once_also_after_a_reload(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "CustomerAddRq")
    textbox(console, "Name").fill("Ada Brandt")

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    console.page.route("**/queued_requests", lose)
    console.button("Add customer in Test").click()
    console.confirm("Add customer")
    console.sees("If the request was queued, it is not queued twice.")
    console.page.unroute("**/queued_requests")
    console.page.reload()
    console.sees("This draft may already be queued")
    console.button("Add customer in Test").click()
    console.sees("If it was queued, it is not queued twice.")
    console.confirm("Add customer")

    console.page.wait_for_url("**/app/queued_requests/*")
    assert requests_of(connection) == ["CustomerAddRq"]


# --- A failed request is edited and sent again -------------------------------------------------------------------


def test_a_failed_request_is_edited_and_sent_again(console: Console) -> None:
    connection = console.service.connection()
    body = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada", "ParentRef": {"FullName": "Nobody"}}}}}
    failed = connection.queue({**body, "label": "order 7", "metadata": {"order": "7"}})["id"]
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{failed}")

    console.link("Edit and queue again").click()
    expect(textbox(console, "Name")).to_have_value("Ada")
    console.sees("stays as it is")
    console.button("curl", exact=True).click()
    sample = console.page.get_by_label("Preview").last
    expect(sample).to_contain_text(re.compile(r'"label": "order 7",\s*"metadata": {\s*"order": "7"'))
    console.page.get_by_label("Job of").fill("")
    textbox(console, "Name").fill("Zoe Nightingale")
    console.page.reload()
    expect(textbox(console, "Name")).to_have_value("Zoe Nightingale")
    console.button("Add customer in Test").click()
    console.confirm("Add customer")

    console.page.wait_for_url("**/app/queued_requests/*")
    console.sees("Waiting to be sent")
    connection.run_session()
    record = connection.record(console.page.url.rpartition("/")[2])
    assert record["state"] == "response_received"
    assert (record["label"], record["metadata"]) == ("order 7", {"order": "7"})
    assert connection.record(failed)["state"] == "error"


def test_a_copy_of_a_change_keeps_the_empty_elements_that_clear_fields_and_its_on_error(console: Console) -> None:
    connection = console.service.connection()
    fields = "<ListID>80000001-1</ListID><EditSequence>1</EditSequence><Phone></Phone>"
    change = f"<CustomerModRq><CustomerMod>{fields}</CustomerMod></CustomerModRq>"
    xml = f'<QBXML><QBXMLMsgsRq onError="rollbackOnError">{change}</QBXMLMsgsRq></QBXML>'
    wrong = connection.queue({"request_xml": xml})["id"]
    connection.run_session()
    assert connection.record(wrong)["state"] == "error"
    console.sign_in(f"/app/queued_requests/{wrong}")

    console.link("Edit and queue again").click()

    expect(console.page.get_by_label("XML of the request")).to_contain_text(re.compile("<Phone"))
    console.page.get_by_role("group", name="Edit as").get_by_role("button", name="JSON").click()
    console.sees("Only XML can hold these attributes of QBXMLMsgsRq.")
    console.button("Change customer in Test").click()
    console.confirm("Change customer")
    console.page.wait_for_url("**/app/queued_requests/*")
    copy = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert re.sub(' requestID="[^"]*"', "", copy) == xml


def test_a_hostile_name_of_a_connection_is_text_in_the_button_and_the_question(console: Console) -> None:
    connection = console.service.connection()
    name = "<img src=x onerror=alert(1)> \u202egnirts"
    console.service.call("PATCH", connection.path, {"name": name})
    compose(console, connection, "VendorAddRq")
    textbox(console, "Name").fill(json.dumps("<b>"))

    console.page.get_by_role("region", name="Queue").get_by_role("button", name="Add").last.click()

    dialog = console.page.get_by_role("dialog")
    expect(dialog).to_contain_text("<img src=x onerror=alert(1)>")
    expect(dialog.locator("img")).to_have_count(0)


def test_what_changed_since_a_date_is_offered_where_a_request_begins_and_without_subscriptions(
    console: Console,
) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}/subscriptions")
    console.link("Customers changed since …").click()
    expect(console.page.get_by_label("Which")).to_have_value("changed")
    console.open(f"/app/compose?connection={connection.id}")
    console.button("Invoices changed since …").click()
    expect(console.page.get_by_label("Which")).to_have_value("changed")
    expect(console.page.get_by_label("Changed since", exact=True)).to_be_visible()

    console.page.get_by_label("Request type").fill("BillQueryRq")
    expect(console.page.get_by_label("Which")).to_have_value("all")
    console.open(f"/app/compose?connection={connection.id}&type=InvoiceQueryRq&which=unheard_of")
    expect(console.page.get_by_label("Which")).to_have_value("all")
