"""A copy of a request is that request, and its JSON in the short form means the same as its XML."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from domain import qbxml
from domain.errors import InvalidRequest
from tests.browser.support import Console, library, seed_session

if TYPE_CHECKING:
    from tests.e2e.support import Connection

MANY = 500
OWN_HOOK = "http://127.0.0.1:9/own"
DEFAULT_HOOK = "http://127.0.0.1:9/production"
VERSIONS = ("8.0", "13.0", "16.0", "CA3.0")
TEXTS = ("", "A & B <c>", '"quoted"', "O'Brien", "Zoë", " padded ", "null", "x: null,", "97.50", "{}", "two\nlines")
ATTRIBUTES = TEXTS[:-1]
NAMES = ("Memo", "LineAdd", "GroupAdd", "Name")

# --- The short form ----------------------------------------------------------------------------------------------


def random_tree(chance: random.Random, depth: int = 4) -> dict[str, Any]:
    """Return an element of a request with repeated, mixed and empty elements."""
    node: dict[str, Any] = {"name": chance.choice(NAMES)}
    if not chance.randrange(4):
        node["attributes"] = {"request_id": "7", "useFor": chance.choice(ATTRIBUTES)}
    if depth and chance.randrange(3):
        node["children"] = [random_tree(chance, depth - 1) for _ in range(chance.randrange(4))]
    else:
        node["text"] = chance.choice(TEXTS)
    return node


def test_the_json_that_compose_prints_means_the_same_request_to_compose_and_to_the_service(console: Console) -> None:
    chance = random.Random(113)
    cases: list[tuple[dict[str, Any], str, str]] = []
    for _ in range(MANY):
        # No schema has this type, so the service changes neither values nor their order.
        root = {"name": "ExampleRq", "children": [random_tree(chance) for _ in range(chance.randrange(5))]}
        cases.append((root, chance.choice(VERSIONS), chance.choice(VERSIONS)))
    script = """async (load, cases) => {
        const { read, written } = await load("request_draft.js");
        return cases.map(([tree, version, assumed]) => {
            const json = written("json", { tree, version }, assumed);
            const xml = written("xml", { tree, version }, assumed);
            const again = ["json", "xml"].map((mode) => {
                const draft = read({ mode, text: mode === "json" ? json : xml }, assumed);
                return [draft.version, written("xml", draft, assumed)];
            });
            return [json, xml, again];
        });
    }"""

    answers: list[tuple[str, str, list[list[str]]]] = library(console, script, cases)

    shorts = 0
    for (_, version, assumed), (text, xml, again) in zip(cases, answers, strict=True):
        tree = json.loads(text)
        shorts += "ExampleRq" in tree
        from_json = qbxml.parse_request_json(tree, assumed, validate=False)
        from_xml = qbxml.parse_request_xml(xml, assumed, validate=False)
        assert from_json.to_json() == from_xml.to_json()
        assert from_json.version == version
        assert again == [[version, xml], [version, xml]]
    assert MANY // 10 < shorts < MANY, "some requests, and not all of them, keep their order only as nodes"


def random_member(chance: random.Random, depth: int = 3) -> Any:
    """Return a value of the short form as people write it."""
    if not depth or not chance.randrange(3):
        return chance.choice([*TEXTS, 7, -2, 97.5, 0.25, True, False])
    members: dict[str, Any] = {}
    if not chance.randrange(3):
        members["@useFor"] = chance.choice(["x", 5, True, None])
        members["@requestID"] = "7"
    if not chance.randrange(3):
        return {**members, "#text": chance.choice(["x", 5, ""])}
    for name in chance.sample(NAMES, chance.randrange(4)):
        inner = [random_member(chance, depth - 1) for _ in range(chance.randrange(4))]
        members[name] = inner if chance.randrange(2) else random_member(chance, depth - 1)
    return members


def test_compose_reads_the_json_that_people_write_as_the_service_does(console: Console) -> None:
    chance = random.Random(25)
    cases: list[dict[str, Any]] = [{"ExampleRq": None}, {"ExampleRq": ""}, {"ExampleRq": {}, "version": None}]
    for _ in range(MANY):
        root = {name: random_member(chance) for name in chance.sample(NAMES, 2)}
        version: dict[str, Any] = chance.choice(
            [{}, {"version": "16.0"}, {"version": 8}, {"version": 2.1}, {"version": "CA3.0"}]
        )
        cases.append({**version, "ExampleRq": {"@iterator": chance.choice(["Start", None]), **root}})
    cases += [qbxml.parse_request_json(case, validate=False).to_json() for case in cases]
    script = """async (load, texts) => {
        const { read } = await load("request_draft.js");
        const { toJson } = await load("request_json.js");
        return texts.map((text) => {
            const { tree, version } = read({ mode: "json", text }, "13.0");
            return toJson(tree, version);
        });
    }"""

    nodes: list[Any] = library(console, script, [json.dumps(case) for case in cases])

    for case, node in zip(cases, nodes, strict=True):
        wanted, found = (qbxml.parse_request_json(one, validate=False) for one in (case, node))
        assert (found.version, found.to_xml()) == (wanted.version, wanted.to_xml())


UNREADABLE: list[Any] = [
    None,
    "CustomerQueryRq",
    [{"CustomerQueryRq": {}}],
    {},
    {"version": "13.0"},
    {"CustomerAdd": {}},
    {"QBXMLMsgsRq": {}},
    {"CustomerQueryRq": {}, "CustomerAddRq": {}},
    {"CustomerQueryRq": {}, "request": {"name": "CustomerAddRq"}},
    {"CustomerQueryRq": "text"},
    {"CustomerQueryRq": [{}]},
    {"CustomerQueryRq": {"MaxReturned": None}},
    {"CustomerQueryRq": {"MaxReturned": [[1]]}},
    {"CustomerQueryRq": {"MaxReturned": {"#text": None}}},
    {"CustomerQueryRq": {"NameFilter": {"#text": "x", "Name": "y"}}},
    {"CustomerQueryRq": {"@iterator": {}}},
    {"request": {"children": []}},
    {"request": {"name": "CustomerQueryRq", "children": [None]}},
    {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": None}]}},
    {"request": {"name": "CustomerQueryRq", "text": "x", "children": [{"name": "MaxReturned", "text": 1}]}},
]


def test_json_that_the_service_refuses_as_a_form_is_not_read(console: Console) -> None:
    script = """async (load, texts) => {
        const { fromJson } = await load("request_json.js");
        return texts.map((text) => {
            try {
                return fromJson(text).tree.name;
            } catch ({ name, message }) {
                return name === "Error" && message.endsWith(".") ? null : `${name}: ${message}`;
            }
        });
    }"""
    read: list[str | None] = library(console, script, [json.dumps(case) for case in UNREADABLE])
    assert read == [None] * len(UNREADABLE)
    for case in UNREADABLE:
        with pytest.raises(InvalidRequest):
            qbxml.parse_request_json(case, validate=False)


def test_xml_of_a_request_with_a_text_in_place_of_elements_is_not_read(console: Console) -> None:
    script = """async (load, texts) => {
        const { fromXml } = await load("xml.js");
        return texts.map((text) => {
            const request = `<CustomerQueryRq>${text}</CustomerQueryRq>`;
            try {
                return fromXml(`<QBXML><QBXMLMsgsRq>${request}</QBXMLMsgsRq></QBXML>`).tree.children.length;
            } catch ({ name, message }) {
                return `${name}: ${message}`;
            }
        });
    }"""

    read = library(console, script, ["", "  ", "\n", "<MaxReturned>1</MaxReturned>", "all"])

    assert read == [0, 0, 0, 1, "Error: CustomerQueryRq must contain elements, not text."]


# --- Copies ------------------------------------------------------------------------------------------------------

CONTENTS = {
    "a customer": "<CustomerAddRq><CustomerAdd><Name>A &amp; B</Name><Phone>555</Phone></CustomerAdd></CustomerAddRq>",
    "an own requestID": '<ItemQueryRq requestID="7" iterator="Start"><MaxReturned>5</MaxReturned></ItemQueryRq>',
    "an empty element": "<CustomerModRq><CustomerMod><ListID>8-1</ListID><EditSequence>1</EditSequence><Phone></Phone>"
    "</CustomerMod></CustomerModRq>",
    "no field": "<CompanyQueryRq></CompanyQueryRq>",
}
STOP, ROLLBACK = 'onError="stopOnError"', 'onError="rollbackOnError"'
MESSAGE_SETS = (STOP, ROLLBACK, f'{STOP} responseData="includeNone"')
KEPT = ("request_xml", "label", "metadata", "webhook_url")

COPIES = """async (load, records) => {
    const { contentOf } = await load("queue_again.js");
    const { beginning, bodyOf } = await load("request_draft.js");
    const { codeSamples } = await load("code_samples.js");
    const { requestType } = await load("schema.js");
    const sent = ({ typescript }) => JSON.parse(/createQueuedRequest\\(([^]*),\\n  \\{ idem/.exec(typescript)[1]);
    return Promise.all(records.map(async (record) => ({
        "queued again": contentOf(record),
        edited: bodyOf(beginning(await requestType(record.request_name), record, "16.0")),
        "run as a sample": sent(codeSamples(record)),
    })));
}"""


def kept(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a copy of a record has too. A generated requestID is that of its own record."""
    xml = record["request_xml"].replace(f' requestID="{record["id"]}"', "")
    return {**{name: record[name] for name in KEPT}, "request_xml": xml, "version": record["request_json"]["version"]}


def test_every_copy_has_the_version_content_label_metadata_and_webhook_choice_of_its_original(console: Console) -> None:
    chance = random.Random(4)
    connection = console.service.connection()
    console.service.call("PATCH", connection.path, {"webhook_url": DEFAULT_HOOK})
    records: list[dict[str, Any]] = []
    for content, message_set, version in product(CONTENTS.values(), MESSAGE_SETS, VERSIONS):
        envelope = f"<QBXML><QBXMLMsgsRq {message_set}>{content}</QBXMLMsgsRq></QBXML>"
        body: dict[str, Any] = {"request_xml": f'<?xml version="1.0"?><?qbxml version="{version}"?>{envelope}'}
        webhook: dict[str, Any] = chance.choice([{}, {"webhook_url": None}, {"webhook_url": OWN_HOOK}])
        settings: dict[str, Any] = chance.choice([{}, {"label": "order 7"}, {"metadata": {"order": "7"}}])
        records.append(connection.queue(body | webhook | settings))
    console.keep_signed_in()

    copies: list[dict[str, dict[str, Any]]] = library(console, COPIES, records)

    for record, bodies in zip(records, copies, strict=True):
        for way, body in bodies.items():
            assert kept(connection.queue(body)) == kept(record), way


def test_a_sample_for_a_read_only_key_never_posts_to_another_address_than_the_hidden_one(console: Console) -> None:
    connection = console.service.connection()
    queued = connection.queue({"request_json": {"CustomerQueryRq": {}}, "webhook_url": OWN_HOOK})
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]
    seed_session(console.page, console.service.app_id, key, scope="read_only")
    record = {**queued, "webhook_url": "http://127.0.0.1:9"}

    (copy,) = library(console, COPIES, [record])

    response = console.service.call("POST", f"{connection.path}/queued_requests", copy["run as a sample"])
    assert response.status == 400
    assert "webhook_url" in response.text


def discarded(console: Console, connection: Connection) -> dict[str, Any]:
    """Return a write that was discarded, without a webhook."""
    tree = {"version": "16.0", "CustomerAddRq": {"CustomerAdd": {"Name": "Ada Brandt"}}}
    settings = {"webhook_url": None, "label": "order 7", "metadata": {"order": "7"}}
    record: dict[str, Any] = connection.queue({"request_json": tree, **settings})
    assert console.service.call("POST", f"/api/v1/queued_requests/{record['id']}/discard", {}).status == 200
    return record


def edit_and_queue(console: Console, record: dict[str, Any]) -> str:
    """Queue a record again by Compose. Return the id of the request whose page opens."""
    console.open(f"/app/queued_requests/{record['id']}")
    console.link("Edit and queue again").click()
    return queue_draft(console, record)


def queue_draft(console: Console, record: dict[str, Any]) -> str:
    """Queue the copy that Compose shows. Return the id of the request whose page opens."""
    expect(console.page.get_by_role("combobox", name="QBXML")).to_have_value("16.0")
    expect(console.page.get_by_label("Send no webhook")).to_be_checked()
    console.button("Add customer in Test").click()
    console.confirm("Add customer")
    console.page.wait_for_url(re.compile(rf"/app/queued_requests/(?!{record['id']})"))
    return str(console.page.url.rpartition("/")[2])


def test_both_buttons_queue_a_request_again_with_its_version_and_without_a_webhook(console: Console) -> None:
    connection = console.service.connection()
    console.service.call("PATCH", connection.path, {"webhook_url": DEFAULT_HOOK})
    first, second = (discarded(console, connection) for _ in range(2))

    console.sign_in(f"/app/queued_requests/{first['id']}")
    console.button("Queue again", exact=True).click()
    console.confirm("Queue a copy")
    console.page.wait_for_url(re.compile(rf"/app/queued_requests/(?!{first['id']})"))
    copies = [console.page.url.rpartition("/")[2], edit_and_queue(console, second)]

    for copy, record in zip(copies, (first, second), strict=True):
        assert kept(connection.record(copy)) == kept(record)

    # A draft that was opened before leads to the copy that there is.
    draft = {"connection": connection.id, "type": first["request_name"], "from": first["id"]}
    console.open(f"/app/compose?{urlencode(draft)}")
    assert queue_draft(console, first) == copies[0]
    console.sees("The request was queued before.")
    console.link(first["id"]).click()
    console.link("Open the request in its place").click()
    console.page.wait_for_url(re.compile(copies[0]))


def test_a_batch_that_stopped_is_fixed_and_continued(console: Console) -> None:
    connection = console.service.connection()
    company = {"$from": "a", "path": "CustomerRet/Name"}
    customers: list[dict[str, Any]] = [
        {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada Brandt"}}},
        {"CustomerAddRq": {"CustomerAdd": {"Name": "Bo Lind", "CompanyName": company}}},
    ]
    body = {"requests": [{"ref": "a", "request_json": customers[0]}, {"request_json": customers[1]}]}
    answer = console.service.call("POST", f"{connection.path}/queued_requests/batch", body)
    first, second = (record["id"] for record in answer.json["data"])
    path = f"/api/v1/queued_requests/{first}/discard?dependants=true"
    assert console.service.call("POST", path, {}).status == 200

    console.sign_in(f"/app/queued_requests/{second}")
    console.link("Open the request that failed").click()
    console.page.wait_for_url(re.compile(first))
    steps = console.page.get_by_role("region", name="Batch")
    expect(steps).to_contain_text("0 of 2 steps completed")
    expect(steps.get_by_role("listitem")).to_contain_text([re.compile("1.*this request"), "waited for step 1"])
    expect(steps.get_by_role("link")).to_have_attribute("href", re.compile(second))
    console.link("Fix and continue").click()
    expect(console.page.get_by_text("the requests of its batch are queued that were not sent")).to_be_visible()
    console.page.get_by_role("textbox", name=re.compile(r"^Name( ?required)?$")).fill("Ada Lovelace")
    console.button("Add customer in Test").click()
    console.confirm("Add customer")
    console.page.wait_for_url(re.compile(rf"/app/queued_requests/(?!{first})"))

    fixed = connection.record(console.page.url.rpartition("/")[2])
    batch = console.service.call("GET", f"{connection.path}/queued_requests?batch_id={fixed['batch_id']}").json["data"]
    assert "Ada Lovelace" in fixed["request_xml"]
    assert [record["depends_on"] for record in batch if record["id"] != fixed["id"]] == [[fixed["id"]]]
    assert {record["state"] for record in batch} == {"waiting"}
