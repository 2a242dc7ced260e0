"""The forms for people: customers, invoices and payments with lines, totals, today's date and offered names."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from domain import qbxml
from tests.browser.support import HOSTILE, Console, library, query

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Request, Route

    from tests.e2e.support import Connection

FORMS = ("CustomerAddRq", "InvoiceAddRq", "ReceivePaymentAddRq")
SOME = 60


def compose(console: Console, connection: Connection, type_name: str) -> None:
    """Sign in and open the form of a request type."""
    console.sign_in(f"/app/compose?connection={connection.id}&type={type_name}")
    expect(console.page.get_by_role("region", name="Queue")).to_be_visible()


def control(console: Console, label: str) -> Locator:
    """Return the control with a label, which may end in the tag `required`."""
    return console.page.get_by_label(re.compile(rf"^{label}( required)?$"))


def time(console: Console, label: str) -> Locator:
    """Return the input of the time beside a date with a label."""
    return console.page.get_by_label(f"{label}, time (optional)")


def queue(console: Console, action: str) -> None:
    """Press the button, confirm, and wait for the page of the request."""
    console.button(f"{action} in Test").click()
    console.confirm(action)
    console.page.wait_for_url("**/app/queued_requests/*")


# --- From forms to requests --------------------------------------------------------------------------------------

RANDOM = """
    let state = seed;
    const chance = (n) => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return Math.floor(state / 65536) % n;
    };
    const one = (values) => values[chance(values.length)];
    const samples = {
        AMTTYPE: ["12.50", "-3", "1000000.01"], PRICETYPE: ["12.34567", "7"], QUANTYPE: ["2", "-1.5"],
        PERCENTTYPE: ["10"], FLOATTYPE: ["1.1"], DATETYPE: ["2026-02-28"], DATETIMETYPE: ["2026-02-28T10:00:00"],
        BOOLTYPE: ["true", "false"], IDTYPE: ["80000001-1"], INTTYPE: ["1"], GUIDTYPE: ["0"],
    };
    const textOf = (facts) => one(facts.values ?? samples[facts.base] ?? ["A & B <c>", "Zoë", "Søby", '"q"'])
        .slice(0, facts.length ?? 99);
"""
"""Chance from a seed, and a text for an element of the schema."""


def test_every_filled_form_is_a_request_that_the_service_accepts_without_empty_elements(console: Console) -> None:
    """Fields and lines are filled in at random, in a random order, with blank ones in between."""
    script = """async (load, [names, number]) => {
        const { clonedLine, factsOf, linesOf, newLine, nodesAt, openedTree, replaced, rootOf, withChildren } =
            await load("form_tree.js");
        const { toJson } = await load("request_json.js");
        const { requestType } = await load("schema.js");
        const { formTree, pruned } = await load("trees.js");
        const { toXml } = await load("xml.js");
        const { SIMPLE_FORMS, fieldsOf, lineFieldsOf } = await load("simple_forms.js");
        const fill = (name, type, seed) => {
            RANDOM
            const form = SIMPLE_FORMS[name];
            const { fields, columns } = factsOf(form, type);
            let tree = openedTree(form, type, formTree(type));
            const set = (at, path, text) => {
                const node = nodesAt(at, path).at(-1);
                tree = replaced(tree, node, { ...node, text });
            };
            const isFilled = (facts) => facts.required || chance(2);
            for (const { path } of [...fieldsOf(form)].sort(() => chance(3) - 1)) {
                if (isFilled(fields.get(path))) set(rootOf(form, tree), path, textOf(fields.get(path)));
            }
            const { lines } = form;
            if (lines?.instead && chance(2)) {
                set(rootOf(form, tree), lines.instead.path, "true");
            } else if (lines) {
                const made = [...Array(1 + chance(4))].map(() => newLine(form, type));
                const isOther = ({ name }) => name !== lines.instead?.path && name !== lines.element;
                tree = withChildren(form, type, tree, (children) => [...made, ...children.filter(isOther)]);
                for (const n of made.keys()) for (const { path } of lineFieldsOf(form)) {
                    if (isFilled(columns.get(path))) set(linesOf(form, tree)[n], path, textOf(columns.get(path)));
                }
                const copy = clonedLine(form, type, linesOf(form, tree)[0]);
                if (!lines.unique.includes("TxnID")) {
                    tree = withChildren(form, type, tree, (children) => [...children, copy]);
                }
            }
            return [toJson(pruned(tree)), toXml(pruned(tree), "16.0")];
        };
        const filled = [];
        for (const name of names) {
            const type = await requestType(name);
            for (let seed = 1; seed <= number; seed += 1) filled.push(fill(name, type, seed));
        }
        return filled;
    }"""
    filled: list[list[Any]] = library(console, script.replace("RANDOM", RANDOM), [FORMS, SOME])

    assert len(filled) == SOME * len(FORMS)
    for tree, xml in filled:
        assert qbxml.parse_request_json(tree).name in FORMS
        assert qbxml.parse_request_xml(xml).version == "16.0"
        assert re.search(r"<(\w+)></\1>|/>", xml) is None


def test_a_request_that_is_opened_in_a_form_is_sent_as_it_was(console: Console) -> None:
    """Requests are made at random from the schema, with elements that the forms do not show."""
    script = """async (load, [names, number]) => {
        const { openedTree, withoutUnused } = await load("form_tree.js");
        const { requestType } = await load("schema.js");
        const { pruned } = await load("trees.js");
        const { toXml } = await load("xml.js");
        const { SIMPLE_FORMS } = await load("simple_forms.js");
        const random = (type, seed) => {
            RANDOM
            const times = (number, make) => [...Array(number)].flatMap(make);
            const element = (part) => part.content ? { name: part.name, children: made(part.content) }
                : { name: part.name, text: textOf(part) };
            const isMade = (part) => part.required || !chance(3);
            const made = (part) => {
                if (part.kind === "element") return [element(part)];
                if (part.kind === "choice") return times(part.repeats ? chance(4) : 1, () => made(one(part.parts)));
                return part.parts.filter(isMade)
                    .flatMap((inner) => times(inner.repeats ? 1 + chance(3) : 1, () => made(inner)));
            };
            return { name: type.name, attributes: { request_id: "7" }, children: made(type.content) };
        };
        const differing = [];
        let hidden = 0;
        for (const name of names) for (let seed = 1; seed <= number; seed += 1) {
            const type = await requestType(name);
            const tree = random(type, seed);
            const before = toXml(pruned(tree));
            hidden += /ClassRef|LinkToTxn|RatePercent|ListID/.test(before);
            const opened = openedTree(SIMPLE_FORMS[name], type, tree);
            for (const next of [opened, withoutUnused(opened)]) {
                if (toXml(pruned(next)) !== before) differing.push([before, toXml(pruned(next))]);
            }
        }
        if (hidden < number) throw new Error("too few hidden elements");
        return differing;
    }"""
    differing: list[list[str]] = library(console, script.replace("RANDOM", RANDOM), [FORMS, SOME])
    assert differing == []


# --- An invoice --------------------------------------------------------------------------------------------------


def names_in(connection: Connection, request_id: str, kind: str) -> list[str]:
    """Return the full names of the objects in a response."""
    answer = connection.record(request_id)["response_json"][0]["QBXMLMsgsRs"]
    (response,) = (value for name, value in answer.items() if not name.startswith("@"))
    return [one["FullName"] if "FullName" in one else one["Name"] for one in response[kind]]


def test_an_invoice_of_three_lines_has_the_total_that_quickbooks_computes(console: Console) -> None:
    connection = console.service.connection()
    customers = query(connection, count=40)
    items = query(connection, count=40, name="ItemServiceQueryRq")
    connection.run_session()
    customer, item = names_in(connection, customers, "CustomerRet")[0], names_in(connection, items, "ItemServiceRet")[0]
    compose(console, connection, "InvoiceAddRq")
    console.sees("Offered:")

    control(console, "Customer").fill(customer[:3])
    expect(console.page.locator(f"datalist option[value={json.dumps(customer)}]")).to_have_count(1)
    control(console, "Customer").fill(customer)
    control(console, "Item of line 1").fill(item[:2])
    expect(console.page.locator(f"datalist option[value={json.dumps(item)}]")).to_have_count(1)
    control(console, "Item of line 1").fill(item)
    control(console, "Quantity of line 1").fill("3")
    control(console, "Rate of line 1").fill("0.335")
    expect(console.page.get_by_label("Amount of line 1")).to_have_text("1.01")
    console.button("Clone line 1").click()
    expect(control(console, "Item of line 2")).to_be_focused()
    console.button("Clone line 2").click()
    control(console, "Quantity of line 3").fill("-1.5")
    control(console, "Rate of line 2").fill("")
    control(console, "Amount of line 2").fill("1,250.5")
    control(console, "Amount of line 2").blur()
    expect(control(console, "Amount of line 2")).to_have_value("1250.50")
    expect(console.page.get_by_label("Totals")).to_contain_text("1,251.01")
    console.button("Add invoice in Test").click()
    expect(console.page.get_by_role("dialog")).to_contain_text("1,251.01")
    console.confirm("Add invoice")
    console.page.wait_for_url("**/app/queued_requests/*")

    connection.run_session()
    record = connection.record(console.page.url.rpartition("/")[2])
    assert record["state"] == "response_received", record["error"]
    assert record["response_json"][0]["QBXMLMsgsRs"]["InvoiceAddRs"]["InvoiceRet"]["Subtotal"] == "1251.01"
    assert record["request_xml"].count("<InvoiceLineAdd>") == 3


def test_lines_are_added_and_removed_and_an_empty_line_is_not_sent(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "InvoiceAddRq")
    control(console, "Customer").fill("Ada Brandt")
    for number in (1, 2, 3):
        control(console, f"Item of line {number}").fill(f"Item {number}")
        console.button("Add line").click()
        expect(control(console, f"Item of line {number + 1}")).to_be_focused()

    console.button("Remove line 2").click()
    expect(control(console, "Item of line 2")).to_have_value("Item 3")
    expect(control(console, "Item of line 2")).to_be_focused()
    console.sees("Without 2 lines whose amount QuickBooks computes.")
    queue(console, "Add invoice")

    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert re.findall(r"Item \d", xml) == ["Item 1", "Item 3"]
    assert xml.count("<InvoiceLineAdd>") == 2


def test_a_problem_of_a_line_that_the_server_found_is_shown_at_its_field_until_it_changes(console: Console) -> None:
    compose(console, console.service.connection(), "InvoiceAddRq")
    control(console, "Customer").fill("Ada Brandt")
    console.button("Add line").click()
    quantity = control(console, "Quantity of line 2")
    quantity.fill("two")

    console.button("Add invoice in Test").click()
    console.confirm("Add invoice")

    expect(quantity).to_be_focused()
    expect(quantity).to_have_accessible_description(
        "Quantity must be a quantity with up to 10 digits and at most 5 decimals, not 'two'."
    )
    quantity.fill("2")
    expect(console.page.get_by_role("alert")).to_have_count(0)
    expect(quantity).not_to_have_attribute("aria-invalid", "true")


def test_a_missing_customer_is_named_in_the_words_of_the_form(console: Console) -> None:
    compose(console, console.service.connection(), "InvoiceAddRq")
    console.button("Add invoice in Test").click()
    expect(control(console, "Customer")).to_be_focused()
    expect(control(console, "Customer")).to_have_accessible_description("Customer is required.")


# --- Dates, drafts, versions -------------------------------------------------------------------------------------


def test_a_new_invoice_has_the_date_of_the_readers_time_zone_and_an_old_date_can_become_today(console: Console) -> None:
    console.page.clock.set_fixed_time(datetime(2026, 2, 1, 3, 30, tzinfo=UTC))  # the evening before in New York
    compose(console, console.service.connection(), "InvoiceAddRq")
    expect(control(console, "Date")).to_have_value("2026-01-31")
    console.sees("Today in America/New_York")
    control(console, "Date").fill("2026-01-15")
    console.button("Today", exact=True).click()
    expect(control(console, "Date")).to_have_value("2026-01-31")


def test_a_draft_of_an_invoice_survives_a_reload_with_its_lines(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "InvoiceAddRq")
    control(console, "Item of line 1").fill("Consulting")
    control(console, "Rate of line 1").fill("97.5")
    console.button("Clone line 1").click()
    control(console, "Date").fill("2026-01-15")

    console.page.reload()

    console.sees("Your draft was restored")
    expect(control(console, "Item of line 2")).to_have_value("Consulting")
    expect(control(console, "Date")).to_have_value("2026-01-15")
    expect(console.page.get_by_label("Totals")).to_contain_text("195.00")
    console.button("All fields").click()
    expect(console.page.get_by_role("group", name="InvoiceLineAdd", exact=True)).to_have_count(2)
    console.button("Form", exact=True).click()
    expect(control(console, "Rate of line 2")).to_have_value("97.5")


def with_version(version: str | None) -> Callable[[Route], None]:
    """Return what gives every connection a version of QBXML."""

    def answer(route: Route) -> None:
        body = route.fetch().json()
        for connection in body["data"]:
            connection["qbxml_version"] = version
        route.fulfill(json=body)

    return answer


def test_fields_that_are_newer_than_quickbooks_of_the_connection_say_so(console: Console) -> None:
    console.page.route("**/api/v1/connections?*", with_version("8.0"))
    connection = console.service.connection()
    compose(console, connection, "CustomerAddRq")
    console.sees("supports QBXML up to 8.0")
    expect(console.page.get_by_role("combobox", name="QBXML")).to_have_value("8.0")
    title = control(console, "Job title")
    expect(title).to_be_disabled()
    expect(title).to_have_accessible_description("Needs QBXML 12.0. This connection's QuickBooks supports 8.0.")

    console.button("All fields").click()
    added = console.page.get_by_label("Add a field").get_by_role("option", name=re.compile("^JobTitle"))
    expect(added).to_be_disabled()
    expect(added).to_have_text(re.compile("Needs QBXML 12.0"))
    console.button("Form", exact=True).click()
    control(console, "Name").fill("Ada Brandt")
    queue(console, "Add customer")
    assert connection.record(console.page.url.rpartition("/")[2])["request_json"]["version"] == "8.0"


def test_a_version_that_quickbooks_cannot_read_is_said_before_the_request_is_queued(console: Console) -> None:
    compose(console, console.service.connection(), "InvoiceAddRq")
    console.sees("This connection's QuickBooks has not answered yet")
    console.page.get_by_role("combobox", name="QBXML").select_option("16.0")
    console.page.route("**/api/v1/connections?*", with_version("14.0"))
    console.page.reload()
    console.sees("QuickBooks cannot read QBXML 16.0")
    console.button("Use 14.0").click()
    expect(console.page.get_by_role("combobox", name="QBXML")).to_have_value("14.0")


# --- Offered names -----------------------------------------------------------------------------------------------

FOREIGN = [
    "Grünwald & Söhne",
    "株式会社東京青果",
    "مخبز الميناء",
    HOSTILE,
    'The "Old" Mill: Job <1>',
    "Ada \u202egnirts",
    "Closed Ltd",
]


def with_customers(names: list[str]) -> Callable[[Route], None]:
    """Return what replaces the customers of a response. The last one is inactive."""

    def answer(route: Route) -> None:
        body = route.fetch().json()
        if body["data"]["request_name"] == "CustomerQueryRq":
            customers = [{"FullName": name, "IsActive": name != names[-1], "CompanyName": HOSTILE} for name in names]
            body["data"]["result"] = {"CustomerRet": customers}
        route.fulfill(json=body)

    return answer


def test_foreign_and_hostile_names_are_offered_as_they_are_and_say_where_they_come_from(console: Console) -> None:
    connection = console.service.connection()
    source = query(connection)
    connection.run_session()
    console.page.route("**/api/v1/queued_requests/*", with_customers(FOREIGN))
    compose(console, connection, "InvoiceAddRq")

    console.sees("Offered: 6 customers, from earlier responses of this connection:")
    expect(console.page.get_by_role("link", name="Customer query")).to_have_attribute("href", re.compile(source))
    console.sees("None of the newest 100 responses of this connection lists items.")
    control(console, "Customer").focus()
    options = console.page.locator("datalist:not(#request-types) option")
    expect(options).to_have_count(6)
    offered = options.evaluate_all("(all) => all.map(({ value }) => value)")
    assert sorted(offered) == sorted(FOREIGN[:-1])
    expect(options.filter(has_text="Ada [U+202E]gnirts")).to_have_count(1)
    assert console.page.locator("main img").count() == 0
    control(console, "Customer").fill(FOREIGN[5])
    console.sees("It has characters that are invisible")
    control(console, "Customer").fill("Closed Ltd")
    console.sees("Inactive, closed or of another kind in QuickBooks.")
    control(console, "Customer").fill("Grunwald")
    console.sees("Not among the names that were read from QuickBooks.")
    control(console, "Customer").fill(FOREIGN[4])
    console.page.unroute_all(behavior="wait")
    queue(console, "Add invoice")
    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert "Old" in xml
    assert "Job &lt;1&gt;" in xml


def test_names_cost_a_few_calls_and_older_responses_are_searched_only_at_a_wish(console: Console) -> None:
    connection, other = console.service.connection(), console.service.connection()
    for _ in range(4):
        query(connection)
        query(connection, name="ItemQueryRq")
    connection.run_session()
    calls: list[str] = []

    def note(request: Request) -> None:
        if "queued_requests" in request.url:
            calls.append(request.url)

    console.page.on("request", note)
    compose(console, connection, "InvoiceAddRq")
    console.sees("Offered:")
    lists = [url for url in calls if "/connections/" in url]
    assert len(lists) == 1
    assert len(calls) == 1 + 4, "two responses with customers and two with items"
    assert not any("search_phrase" in url for url in calls)

    calls.clear()
    console.page.get_by_label("Connection", exact=True).select_option(other.id)
    console.button("Search older responses").click()
    console.sees("No response of this connection lists customers or items.")
    assert sum("search_phrase" in url for url in calls) == 2


def test_the_form_works_when_names_cannot_be_loaded(console: Console) -> None:
    connection = console.service.connection()
    failure = {"error": {"code": "internal_error", "message": "no", "details": {}}}

    def fail_lists(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(status=500, json=failure)
        else:
            route.continue_()

    console.page.route("**/connections/*/queued_requests?*", fail_lists)
    compose(console, connection, "CustomerAddRq")
    console.sees("Names of earlier responses could not be loaded")
    control(console, "Name").fill("Ada Brandt")
    queue(console, "Add customer")


# --- Payments and copies -----------------------------------------------------------------------------------------


def test_a_payment_says_what_it_is_applied_to_and_what_remains(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "ReceivePaymentAddRq")
    control(console, "Customer").fill("Ada Brandt")
    control(console, "Amount received").fill("100")
    console.button("Add payment in Test").click()
    choice = control(console, "Apply the payment to")
    expect(choice).to_be_focused()
    expect(choice).to_have_accessible_description("Choose what the payment is applied to.")

    choice.select_option("The invoices that I name")
    control(console, "TxnID of the invoice of line 1").fill("1A2B-1700000000")
    control(console, "Payment of line 1").fill("60")
    totals = console.page.get_by_label("Totals")
    expect(totals).to_contain_text("Not applied40.00")
    console.button("Add line").click()
    control(console, "TxnID of the invoice of line 2").fill("1A2C-1700000000")
    control(console, "Payment of line 2").fill("40.01")
    expect(totals).to_contain_text("Applied too much0.01")
    control(console, "Payment of line 2").fill("40")
    queue(console, "Add payment")

    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert xml.count("<AppliedToTxnAdd>") == 2
    assert "IsAutoApply" not in xml


def test_a_payment_for_the_oldest_invoices_has_no_lines(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "ReceivePaymentAddRq")
    control(console, "Customer").fill("Ada Brandt")
    control(console, "Amount received").fill("100.5")
    control(console, "Apply the payment to").select_option("The invoices that I name")
    control(console, "Apply the payment to").select_option("The oldest open invoices")
    queue(console, "Add payment")
    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert "<TotalAmount>100.50</TotalAmount><IsAutoApply>true</IsAutoApply>" in xml
    assert "AppliedToTxnAdd" not in xml


def test_a_failed_invoice_is_edited_in_the_form_and_keeps_what_the_form_does_not_show(console: Console) -> None:
    connection = console.service.connection()
    lines = [
        {"ItemRef": {"FullName": "Nothing"}, "RatePercent": "10", "ClassRef": {"FullName": "North"}},
        {"ItemRef": {"ListID": "80000009-1"}, "Quantity": "2", "Rate": "3"},
    ]
    invoice = {"CustomerRef": {"ListID": "80000001-7"}, "TxnDate": "2026-01-15", "FOB": "here", "InvoiceLineAdd": lines}
    failed = connection.queue({"request_json": {"InvoiceAddRq": {"InvoiceAdd": invoice}}})["id"]
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{failed}")
    console.link("Edit and queue again").click()

    console.sees("This request also has FOB. It stays as it is.")
    console.sees("Also has RatePercent, ClassRef. See All fields.")
    expect(control(console, "Date")).to_have_value("2026-01-15")
    expect(console.page.locator("code", has_text="80000001-7")).to_be_visible()
    console.button("Use a name").first.click()
    control(console, "Customer").fill("Ada Brandt")
    queue(console, "Add invoice")

    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert "<CustomerRef><FullName>Ada Brandt</FullName></CustomerRef>" in xml
    for kept in ("<FOB>here</FOB>", "<RatePercent>10</RatePercent>", "<FullName>North</FullName>", "80000009-1"):
        assert kept in xml


# --- Queries -----------------------------------------------------------------------------------------------------


def test_every_choice_of_every_query_is_a_request_that_the_service_accepts(console: Console) -> None:
    """Each form is filled in completely, and with the fields of the choice only."""
    script = """async (load) => {
        const { nodesAt, replaced } = await load("form_tree.js");
        const { choicesOf, queryForm, withChoice } = await load("query_forms.js");
        const { beginning } = await load("request_draft.js");
        const { toJson } = await load("request_json.js");
        const { requestNames, requestType } = await load("schema.js");
        const { fieldsOf } = await load("simple_forms.js");
        const { elementsIn, pruned } = await load("trees.js");
        const seed = 5;
        RANDOM
        samples.DATETIMETYPE = ["2026-01-31T13:30:00"];
        const facts = (type, path) =>
            path.split("/").reduce((at, name) => elementsIn(at.content).find((one) => one.name === name), type);
        const made = [];
        for (const name of (await requestNames()).filter((one) => one.endsWith("QueryRq"))) {
            const type = await requestType(name);
            for (const { key } of choicesOf(type)) {
                const form = queryForm(type, key);
                for (const fields of [form.sections[0].fields, fieldsOf(form)]) {
                    let tree = withChoice(type, beginning(type, null, "16.0").tree, key);
                    for (const { path } of fields) {
                        const node = nodesAt(tree, path).at(-1);
                        tree = replaced(tree, node, { ...node, text: textOf(facts(type, path)) });
                    }
                    made.push(toJson(pruned(tree), "16.0"));
                }
            }
        }
        return made;
    }"""
    made: list[dict[str, Any]] = library(console, script.replace("RANDOM", RANDOM))

    assert len(made) > 500
    for tree in made:
        qbxml.parse_request_json(tree)


def test_invoices_are_asked_for_by_number_by_date_and_since_a_time(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "InvoiceQueryRq")
    which = control(console, "Which")
    preview = console.page.get_by_label("Preview").last
    expect(which).to_have_value("all")
    expect(control(console, "At most")).to_have_value("100")

    which.select_option("By number")
    control(console, "Number").fill("1042")
    expect(control(console, "At most")).to_have_count(0)
    expect(preview).to_contain_text("<RefNumber>1042</RefNumber>")
    which.select_option("By date")
    control(console, "From").fill("2026-01-01")
    console.page.get_by_text("More", exact=True).click()
    control(console, "Customer").fill("Ada Brandt")
    control(console, "With lines").select_option("Yes")
    expect(preview).not_to_contain_text("RefNumber")
    expect(preview).to_contain_text("<FromTxnDate>2026-01-01</FromTxnDate>")
    console.button("All fields").click()
    console.button("Form", exact=True).click()
    expect(which).to_have_value("dates")
    expect(control(console, "Customer")).to_have_value("Ada Brandt")
    which.select_option("Changed since")
    control(console, "Changed since").fill("2026-01-31")
    expect(preview).to_contain_text("<FromModifiedDate>2026-01-31T00:00:00</FromModifiedDate>")
    time(console, "Changed since").fill("13:30")
    expect(preview).to_contain_text("<FromModifiedDate>2026-01-31T13:30:00</FromModifiedDate>")
    control(console, "Changed until").fill("2026-02-02")
    console.button("Queue invoice query in Test").click()
    console.page.wait_for_url("**/app/queued_requests/*")

    xml = connection.record(console.page.url.rpartition("/")[2])["request_xml"]
    assert "<FromModifiedDate>2026-01-31T13:30:00</FromModifiedDate>" in xml
    assert "<ToModifiedDate>2026-02-02T23:59:59</ToModifiedDate>" in xml
    assert "<FullName>Ada Brandt</FullName>" in xml
    assert "<IncludeLineItems>true</IncludeLineItems>" in xml
    assert "TxnDate" not in xml


def test_a_date_alone_is_enough_and_half_a_date_is_neither_dropped_nor_a_query_for_all(console: Console) -> None:
    connection = console.service.connection()
    compose(console, connection, "InvoiceQueryRq")
    queue_it = console.button("Queue invoice query in Test")
    since, limit = control(console, "Changed since"), control(console, r"Send by \(optional\)")
    control(console, "Which").select_option("Changed since")
    queue_it.click()
    expect(since).to_be_focused()
    expect(since).to_have_accessible_description("Enter “Changed since” or “Changed until”. To read all, choose “All”.")

    since.press_sequentially("0131")
    for press in (queue_it, console.button("XML", exact=True).first):
        press.click()
        expect(since).to_be_focused()
        expect(since).to_have_accessible_description("Enter the whole date.")
    since.fill("")
    time(console, "Changed since").fill("13:30")
    queue_it.click()
    expect(since).to_have_accessible_description("Enter the date too.")
    since.fill("2026-01-31")
    limit.press_sequentially("0131")
    queue_it.click()
    expect(limit).to_be_focused()
    expect(limit).to_have_accessible_description("Enter the whole date.")
    limit.fill("")  # the draft has no date, as before
    expect(console.page.get_by_text("Enter the whole date.")).to_have_count(0)
    day = datetime.now(UTC) + timedelta(days=2)
    limit.fill(f"{day:%Y-%m-%d}")
    expect(console.page.get_by_text("Enter the whole date.")).to_have_count(0)
    expect(limit).to_have_accessible_description(re.compile("A date alone means the end of this day"))

    control(console, "Which").select_option("By date")
    control(console, "From").press_sequentially("0131")
    queue_it.click()
    expect(control(console, "From")).to_have_accessible_description("Enter the whole date.")
    assert connection.service.call("GET", f"{connection.path}/queued_requests").json["data"] == []
    control(console, "From").fill("2026-01-31")
    queue_it.click()
    console.page.wait_for_url("**/app/queued_requests/*")
    send_by = connection.record(console.page.url.rpartition("/")[2])["send_by"]
    end = console.page.evaluate("([...day]) => new Date(...day).toJSON()", [day.year, day.month - 1, day.day + 1])
    assert datetime.fromisoformat(str(send_by)) == datetime.fromisoformat(end)


def test_the_result_of_a_query_for_changes_shows_when_they_were_made(console: Console) -> None:
    connection = console.service.connection()
    children = [{"name": "MaxReturned", "text": 3}]
    since = [{"name": "FromModifiedDate", "text": "2000-01-31T00:00:00"}]
    plain, changed = (
        str(connection.queue({"request_json": {"request": {"name": "CustomerQueryRq", "children": some}}})["id"])
        for some in (children, children + since)
    )
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{changed}")

    titles = console.page.get_by_role("region", name="Results").locator("th")
    expect(titles.nth(1)).to_have_text("TimeModified")
    expect(titles).to_have_count(8)
    console.open(f"/app/queued_requests/{plain}")
    expect(titles.nth(1)).not_to_have_text("TimeModified")


def test_the_lines_of_a_transaction_that_is_alone_are_shown(console: Console) -> None:
    connection = console.service.connection()
    customers = query(connection, count=2)
    items = query(connection, count=1, name="ItemServiceQueryRq")
    connection.run_session()
    lines = [
        {"ItemRef": {"FullName": names_in(connection, items, "ItemServiceRet")[0]}, "Desc": HOSTILE, "Quantity": "4"}
    ]
    customer = {"FullName": names_in(connection, customers, "CustomerRet")[0]}
    invoice = {"CustomerRef": customer, "InvoiceLineAdd": lines}
    added = connection.queue({"request_json": {"InvoiceAddRq": {"InvoiceAdd": invoice}}})["id"]
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{added}")

    shown = console.page.get_by_role("region", name="Lines of the result")
    expect(shown.locator("th")).to_have_text(["Item", "Description", "Quantity", "Rate", "Amount"])
    expect(shown.locator("tbody td").nth(1)).to_have_text(HOSTILE)
    expect(shown.locator("tbody td").nth(2)).to_have_text(re.compile("^4"))
    console.open(f"/app/queued_requests/{customers}")
    expect(console.page.get_by_role("region", name="Results")).to_be_visible()
    expect(shown).to_have_count(0)


def test_a_query_by_part_of_a_name_finds_these_customers_and_needs_the_name(console: Console) -> None:
    connection = console.service.connection()
    customers = query(connection, count=3)
    connection.run_session()
    start = names_in(connection, customers, "CustomerRet")[0][:2]
    compose(console, connection, "CustomerQueryRq")
    control(console, "Which").select_option("By part of the name")
    console.button("Queue customer query in Test").click()
    name = console.page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description("Name is required.")
    name.fill(start)
    control(console, "Match").select_option("Starts with")
    console.button("Queue customer query in Test").click()
    console.page.wait_for_url("**/app/queued_requests/*")

    request_id = console.page.url.rpartition("/")[2]
    connection.run_session()
    xml = connection.record(request_id)["request_xml"]
    assert f"<NameFilter><MatchCriterion>StartsWith</MatchCriterion><Name>{start}</Name></NameFilter>" in xml
    assert all(name.startswith(start) for name in names_in(connection, request_id, "CustomerRet"))
