"""What leaves the console: the exact document, tables and lists as CSV, and requests as code."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

from tests.browser.support import Console, query
from tests.browser.test_many import queued

if TYPE_CHECKING:
    from playwright.sync_api import Download, Route

    from tests.e2e.support import Connection

CUSTOMER = {"name": "CustomerAdd", "children": [{"name": "Name", "text": "O'Brien & Söhne $(id) `id` \\"}]}


def text_of(download: Download) -> str:
    """Return the text of a file with its byte order mark."""
    return download.path().read_bytes().decode("utf-8")


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of a CSV file."""
    assert text.startswith("\ufeff")
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def module(console: Console, name: str) -> str:
    """Return the address of a module of the console."""
    address: str = console.page.evaluate(
        "(name) => performance.getEntriesByType('resource').map((one) => one.name).find((one) => one.endsWith(name))",
        f"/{name}",
    )
    return address


def test_copy_gives_the_document_that_quickbooks_gets(console: Console) -> None:
    connection = console.service.connection()
    body = {"request_json": {"request": {"name": "CustomerAddRq", "children": [CUSTOMER]}}}
    record = console.service.call("POST", f"{connection.path}/queued_requests", body).json["data"]["id"]
    console.page.add_init_script("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };")
    console.sign_in(f"/app/queued_requests/{record}")

    console.page.get_by_role("region", name="Request", exact=True).get_by_role("button", name="Copy").click()
    console.sees("Copied")

    sent = console.service.call("GET", f"/api/v1/queued_requests/{record}?include[]=sent_xml").json["data"]["sent_xml"]
    assert console.page.evaluate("globalThis.copied") == sent
    assert re.match(r'<\?xml version="1.0"[^>]*\?>\s*<\?qbxml version="13.0"\?>', sent)
    assert "newMessageSetID=" in sent


def test_a_list_is_exported_with_all_its_pages(console: Console) -> None:
    connection = console.service.connection()
    ids = [query(connection) for _ in range(130)]
    console.sign_in(f"/app/connections/{connection.id}?state=waiting")

    with console.page.expect_download() as download:
        console.button("CSV").click()

    header, *rows = rows_of(text_of(download.value))
    assert download.value.suggested_filename == "requests.csv"
    assert [dict(zip(header, row, strict=True))["id"] for row in rows] == ids[::-1]
    assert {dict(zip(header, row, strict=True))["state"] for row in rows} == {"waiting"}


def test_rows_that_leave_a_list_while_it_is_exported_do_not_hide_others(console: Console) -> None:
    connection = console.service.connection()
    ids = queued(connection, 120, "import")
    leaving = [*ids[:5], *ids[60:65], *ids[-5:]]
    answers: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        response = route.fetch()
        if not answers:
            body = {"filter": {"ids": leaving}}
            connection.service.call("POST", f"{connection.path}/queued_requests/discard", body)
        answers.append(response.json())
        route.fulfill(response=response)

    console.sign_in(f"/app/connections/{connection.id}?state=waiting")
    console.button("CSV").wait_for()
    console.page.route("**/queued_requests?*page_size=100*", answer)
    with console.page.expect_download() as download:
        console.button("CSV").click()

    header, *rows = rows_of(text_of(download.value))
    exported = [dict(zip(header, row, strict=True)) for row in rows]
    staying = [request_id for request_id in ids[::-1] if request_id not in leaving]
    assert [one["id"] for one in exported if one["id"] not in leaving] == staying


CHANGING_LISTS = """async ([address, seeds]) => {
    const { overlappingPages } = await import(address);
    const wrong = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
        let state = seed * 7919;
        const chance = () => { state = (state * 48271) % 2147483647; return state / 2147483647; };
        const moves = seed % 3 === 0;  // like a list that is sorted by the last change
        let next = 0, changes = 0;
        const row = () => ({ id: `row ${next++}`, changed: changes++ });
        let list = Array.from({ length: Math.floor(chance() * 700) }, row);
        const always = new Set(list.map(({ id }) => id));
        const most = chance() * (seed % 2 ? 8 : 60);
        const change = () => {
            for (let left = Math.floor(chance() * most); left > 0 && list.length; left -= 1) {
                const [gone] = list.splice(Math.floor(chance() * list.length), 1);
                always.delete(gone.id);
            }
            for (let come = Math.floor(chance() * most); come > 0; come -= 1) {
                const place = [0, list.length, Math.floor(chance() * list.length)][Math.floor(chance() * 3)];
                list.splice(moves ? list.length : place, 0, row());
            }
            for (let moved = moves ? Math.floor(chance() * most) : 0; moved > 0 && list.length; moved -= 1) {
                const [one] = list.splice(Math.floor(chance() * list.length), 1);
                list.push({ ...one, changed: changes++ });
            }
        };
        const read = async (page, size) => {
            const data = list.slice((page - 1) * size, page * size);
            const total_pages = Math.ceil(list.length / size);
            change();
            return { data, total_pages };
        };
        const rows = new Map();
        const parts = overlappingPages(read, ({ id, changed }) => `${changed} ${id}`);
        let part = await parts.next();
        for (; !part.done; part = await parts.next()) for (const one of part.value) rows.set(one.id, one);
        const missing = [...always].filter((id) => !rows.has(id)).length;
        if (part.value && missing) wrong.push({ seed, missing });
        if (!part.value && most < 9) wrong.push({ seed, unfinished: true });
    }
    return wrong;
}"""


def test_every_row_that_stays_in_a_list_is_exported_whatever_changes_between_its_pages(console: Console) -> None:
    console.sign_in("/app")
    console.sees_heading("Connections")

    assert console.page.evaluate(CHANGING_LISTS, [module(console, "lib/list_export.js"), 300]) == []


def with_response(console: Console, record: str, responses: dict[str, Any]) -> None:
    """Show a request with these members of its response."""

    def answered(route: Route) -> None:
        response = json.loads(route.fetch().text())
        tree = [{"QBXMLMsgsRs": responses}]
        response["data"].update(state="response_received", response_xml="<QBXML/>", response_json=tree)
        route.fulfill(json=response)

    console.page.route(f"**/api/v1/queued_requests/{record}", answered)
    console.sign_in(f"/app/queued_requests/{record}")


def saved_results(console: Console) -> tuple[str, list[list[str]]]:
    """Save the results as CSV, and return the name and the cells of the file."""
    with console.page.expect_download() as download:
        console.page.get_by_role("region", name="Results").get_by_role("button", name="CSV").click()
    return download.value.suggested_filename, rows_of(text_of(download.value))


def test_results_are_exported_with_all_rows_and_with_columns_that_only_the_last_object_has(console: Console) -> None:
    customers = [{"ListID": f"{n}", "Name": "=HYPERLINK(1)", "Balance": "-97.50", "IsActive": True} for n in range(300)]
    customers.append({"ListID": "300", "Name": "Ann", "BillAddress": {"City": "Bayshore"}, "Email": "ann@example.com"})
    with_response(console, query(console.service.connection()), {"CustomerQueryRs": {"CustomerRet": customers}})

    name, (header, *rows) = saved_results(console)

    assert name == "CustomerRet.csv"
    assert header == ["Name", "Balance", "Email", "IsActive", "BillAddress.City", "ListID"]
    assert len(rows) == 301
    assert rows[3] == ["'=HYPERLINK(1)", "-97.50", "", "Yes", "", "3"]
    assert rows[300] == ["Ann", "", "ann@example.com", "", "Bayshore", "300"]
    shown = console.page.get_by_role("region", name="CustomerRet").get_by_role("columnheader")
    assert set(shown.all_inner_texts()) == {"Name", "Balance", "Email", "IsActive", "BillAddress", "ListID"}


def test_a_file_has_a_row_for_each_line_and_loses_no_text_of_a_list(console: Console) -> None:
    line = {"ItemRef": {"ListID": "I1", "FullName": "Soap"}, "Amount": "1.00"}
    group = {"ItemGroupRef": {"FullName": "Set"}, "InvoiceLineRet": [line, line | {"Amount": "2.00", "Desc": "=1+1"}]}
    links = [{"TxnID": "T1", "Amount": "-5.00"}, {"TxnID": "T2", "Amount": "-6.00"}]
    invoices = [
        {"RefNumber": "1", "Subtotal": "9.00", "InvoiceLineRet": [line, line], "InvoiceLineGroupRet": [group]},
        {"RefNumber": "2", "Subtotal": "0.00", "LinkedTxn": links, "Notes": ["one", "two"]},
        {"RefNumber": "3", "Shipping": {"InvoiceLineRet": [{"Amount": "3.00"}]}},
    ]
    with_response(console, query(console.service.connection()), {"InvoiceQueryRs": {"InvoiceRet": invoices}})
    console.sees("The CSV has a row for each line")

    _, (header, *cells) = saved_results(console)

    rows = [{name: text for name, text in zip(header, row, strict=True) if text} for row in cells]
    first, item = {"RefNumber": "1", "Subtotal": "9.00"}, {"ItemRef": "Soap", "ItemRef.ListID": "I1"}
    alone = {f"InvoiceLineRet.{name}": text for name, text in (item | {"Amount": "1.00"}).items()}
    in_group = {f"InvoiceLineGroupRet.InvoiceLineRet.{name}": text for name, text in item.items()}
    in_group |= {"InvoiceLineGroupRet.ItemGroupRef": "Set"}
    amount = "InvoiceLineGroupRet.InvoiceLineRet.Amount"
    assert rows == [
        {"Line": "1", **first, **alone},
        {"Line": "2", **first, **alone},
        {"Line": "3", **first, **in_group, amount: "1.00"},
        {"Line": "4", **first, **in_group, amount: "2.00", "InvoiceLineGroupRet.InvoiceLineRet.Desc": "'=1+1"},
        {
            "Line": "1",
            "RefNumber": "2",
            "Subtotal": "0.00",
            "LinkedTxn": "TxnID: T1, Amount: -5.00; TxnID: T2, Amount: -6.00",
            "Notes": "one; two",
        },
        {"Line": "1", "RefNumber": "3", "Shipping.InvoiceLineRet.Amount": "3.00"},
    ]


def generated(chance: random.Random, texts: list[str], depth: int = 0) -> Any:
    """Return a value of a response: an object, a list or a text, all of whose texts differ."""
    kind = chance.random()
    names = ("InvoiceLineRet", "InvoiceLineGroupRet", "DataExtRet", "CustomerRef", "FullName", "Name", "#text", "A.B")
    if depth == 0 or (depth < 5 and kind < 0.5):
        return {name: generated(chance, texts, depth + 1) for name in chance.sample(names, chance.randrange(1, 5))}
    if depth < 5 and kind < 0.7:
        return [generated(chance, texts, depth + 1) for _ in range(chance.randrange(3))]
    texts.append(f"text{len(texts)}")
    return texts[-1]


def test_a_file_has_every_text_of_any_objects(console: Console) -> None:
    console.sign_in()
    chance = random.Random(1)
    texts: list[str] = []
    results = [["XRet", [generated(chance, texts) for _ in range(chance.randrange(1, 8))]] for _ in range(80)]

    files: list[str] = console.page.evaluate(
        "async ([address, results]) => { const { resultCsv } = await import(address);"
        " return Promise.all(results.map(resultCsv)); }",
        [module(console, "lib/csv.js").replace("csv.js", "result_file.js"), results],
    )

    for file in files:
        header, *rows = rows_of(file)
        assert all(len(row) == len(header) for row in rows)
        assert len(set(header)) == len(header)
    assert len(texts) > 1000
    assert set(texts) == {text for file in files for text in re.findall(r"text\d+", file)}


def test_a_report_is_a_table_and_a_file_with_its_columns_and_rows_in_their_order(console: Console) -> None:
    connection = console.service.connection()
    kind = {"name": "GeneralSummaryReportType", "text": "BalanceSheetStandard"}
    report = {"request": {"name": "GeneralSummaryReportQueryRq", "children": [kind]}}
    record = str(connection.queue({"request_json": report})["id"])
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{record}")
    console.sees("Balance Sheet · ")

    name, (header, *rows) = saved_results(console)

    assert name == "Balance Sheet All Transactions.csv"
    assert header[0] == "Label"
    assert header[2:] == ["Row type", "Object type", "Object"]
    xml = ET.fromstring(connection.record(record)["response_xml"])  # noqa: S314 - a response of our simulator
    sent = list(xml.iterfind(".//ReportData/*"))
    types = {"TextRow": "Heading", "DataRow": "Data", "SubtotalRow": "Subtotal", "TotalRow": "Total"}
    assert len(sent) > 10
    assert [row[2] for row in rows] == [types[one.tag] for one in sent]
    for row, one in zip(rows, sent, strict=True):
        texts = [cell.get("value") for cell in one.iterfind("ColData")] or [one.get("value")]
        assert [text for text in row[:2] if text] == texts
        assert row[4] == next((data.get("value") for data in one.iterfind("RowData")), "")


def test_a_report_keeps_cells_of_unknown_columns_and_titles_of_several_rows(console: Console) -> None:
    titles = [{"@titleRow": 1, "@value": "Jan 26"}, {"@titleRow": 2, "@value": "Amount"}]
    report = {
        "ReportTitle": "Profit & Loss",
        "ColDesc": [
            {"@colID": "1", "@dataType": "STRTYPE", "ColTitle": [{"@titleRow": 1}], "ColType": "Label"},
            {"@colID": "2", "@dataType": "AMTTYPE", "ColTitle": titles, "ColType": "Amount"},
        ],
        "ReportData": {
            "DataRow": [
                {"@rowNumber": 10, "ColData": [{"@colID": "2", "@value": "-4.00"}, {"@colID": "7", "@value": "=A1"}]},
                {"@rowNumber": 2, "ColData": [{"@colID": "1", "@value": "Sales"}]},
            ],
            "TextRow": [{"@rowNumber": 1, "@value": "Income"}],
        },
    }
    with_response(console, query(console.service.connection()), {"GeneralSummaryReportQueryRs": {"ReportRet": report}})

    name, (header, *rows) = saved_results(console)

    assert name == "Profit & Loss.csv"
    assert header[:4] == ["Label", "Jan 26 Amount", "Column 7", "Row type"]
    assert [row[:4] for row in rows] == [
        ["Income", "", "", "Heading"],
        ["Sales", "", "", "Data"],
        ["", "-4.00", "'=A1", "Data"],
    ]


def test_a_result_that_reached_the_maximum_says_so_and_is_fetched_whole(console: Console) -> None:
    connection = console.service.connection()
    record = query(connection, count=2)
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{record}")

    console.sees("QuickBooks returned 2, your maximum. It may have more.")
    assert saved_results(console)[0] == "CustomerRet (incomplete, maximum 2).csv"
    console.button("Fetch all").click()
    console.page.wait_for_url(re.compile(rf"/app/queued_requests/(?!{record})"))

    copy = connection.record(console.page.url.rpartition("/")[2])
    assert 'iterator="Start"' in copy["request_xml"]
    connection.run_session()
    pages = console.service.call("GET", f"{connection.path}/queued_requests?query_id={copy['query_id']}").json
    assert pages["total"] > 1
    assert {one["state"] for one in pages["data"]} == {"response_received"}


def iterated(console: Console) -> tuple[Connection, list[dict[str, Any]]]:
    """Fetch customers in pages of 7. Return the connection and the pages."""
    connection = console.service.connection()
    tree = {"@iterator": "Start", "MaxReturned": 7}
    first = connection.queue({"request_json": {"CustomerQueryRq": tree}})
    for _ in range(3):
        connection.run_session()
    path = f"{connection.path}/queued_requests?query_id={first['id']}&sort=inserted_at&sort_direction=asc&page_size=100"
    listed = connection.service.call("GET", path).json["data"]
    return connection, [connection.record(one["id"]) for one in listed]


def names_in(page: dict[str, Any]) -> list[str]:
    """Return the names of the customers of a page."""
    (answer,) = page["response_json"][0]["QBXMLMsgsRs"].values()
    return [one["FullName"] for one in answer["CustomerRet"]]


def file_of_all_pages(console: Console) -> tuple[str, list[str]]:
    """Save the CSV of all pages. Return its name and the names of the customers."""
    with console.page.expect_download() as download:
        console.button("CSV of all pages").click()
    header, *rows = rows_of(text_of(download.value))
    return download.value.suggested_filename, [row[header.index("FullName")] for row in rows]


def test_the_pages_of_a_query_say_how_many_objects_they_have_and_are_one_file(console: Console) -> None:
    _, pages = iterated(console)
    names = [name for page in pages for name in names_in(page)]
    assert len(pages) > 2

    for page in (pages[0], pages[-1]):
        console.keep_signed_in()
        console.open(f"/app/queued_requests/{page['id']}")
        console.sees(f"{len(pages)} pages. All {len(names)} objects; complete")
        name, saved = file_of_all_pages(console)
        assert name == "CustomerRet.csv"
        assert sorted(set(saved)) == sorted(names)


def test_pages_that_are_missing_are_said_and_named_in_the_file(console: Console) -> None:
    _, pages = iterated(console)
    total, fetched = (sum(len(names_in(page)) for page in some) for some in (pages, pages[:-1]))

    def without_last(route: Route) -> None:
        body = route.fetch().json()
        body["data"][-1] |= {"state": "waiting"}
        route.fulfill(json=body)

    console.page.route("**/queued_requests?query_id=*", without_last)
    console.keep_signed_in()
    console.open(f"/app/queued_requests/{pages[0]['id']}")

    console.sees(f"{len(pages)} pages, {fetched} of {total} objects fetched so far")
    assert file_of_all_pages(console)[0] == f"CustomerRet (incomplete, {fetched} of {total}).csv"


def test_a_query_fetches_all_in_pages_where_its_maximum_is_entered(console: Console) -> None:
    connection = console.service.connection()
    console.keep_signed_in()
    console.open(f"/app/compose?connection={connection.id}&type=CustomerQueryRq")
    field = console.page.locator(".field", has=console.page.get_by_label("At most"))
    console.page.get_by_label("At most").fill("7")

    field.get_by_label("Fetch all, in pages of this number").check()
    expect(console.page.get_by_label(re.compile("Fetch all"))).to_have_count(1)
    console.button("Queue customer query").click()

    console.page.wait_for_url(re.compile("/app/queued_requests/"))
    copy = connection.record(console.page.url.rpartition("/")[2])
    assert 'iterator="Start"' in copy["request_xml"]


def test_a_file_of_results_that_would_be_too_large_is_not_saved(console: Console) -> None:
    """Every line repeats the fields of its object, so a response of 1 MB can make a file of gigabytes."""
    invoice = {"Memo": "x" * 500_000, "InvoiceLineRet": [{}] * 20_000}
    with_response(console, query(console.service.connection()), {"InvoiceQueryRs": {"InvoiceRet": [invoice]}})

    console.page.get_by_role("region", name="Results").get_by_role("button", name="CSV").click()

    console.sees("The CSV would be larger than 50 MB. Get the response from the API instead.")


CLIENTS = Path(__file__).resolve().parents[2] / "clients"
ENDINGS = {"curl": "sh", "Python": "py", "TypeScript": "mjs"}
PROGRAMS = {"curl": "sh", "Python": sys.executable, "TypeScript": "node"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which programs find both clients."""
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([sys.executable, CLIENTS / "python" / "generate.py"], check=True)  # noqa: S603 - a program of ours
    if node := shutil.which("node"):
        subprocess.run([node, CLIENTS / "typescript" / "generate.mjs"], check=True)  # noqa: S603 - a program of ours
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "qbxml-queue").symlink_to(CLIENTS / "typescript")
    return folder


def run(folder: Path, language: str, code: str, key: str) -> str:
    """Run a sample as its reader would, and return what it prints."""
    program = folder / f"sample.{ENDINGS[language]}"
    # The only syntax of TypeScript in a sample, which Node 20 cannot read.
    program.write_text(code.replace("process.env.API_KEY!", "process.env.API_KEY"), encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - samples of ours
        [PROGRAMS[language], program],
        capture_output=True,
        check=True,
        text=True,
        env={"API_KEY": key, "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(CLIENTS / "python" / "src")},
    )
    return done.stdout.strip()


@pytest.mark.parametrize("language", list(PROGRAMS))
def test_a_sample_queues_the_same_request_once(console: Console, folder: Path, language: str) -> None:
    if shutil.which(PROGRAMS[language]) is None:
        pytest.skip(f"needs {PROGRAMS[language]}")
    connection = console.service.connection()
    console.service.call("PATCH", connection.path, {"webhook_url": "http://127.0.0.1:9/production"})
    tree = {"version": "16.0", "request": {"name": "CustomerAddRq", "children": [CUSTOMER]}}
    settings = {"label": "it's: null,", "metadata": {"order": "7: null"}, "webhook_url": None}
    record = connection.queue({"request_json": tree, **settings})
    console.sign_in(f"/app/queued_requests/{record['id']}")
    console.button(language, exact=True).click()
    with console.page.expect_download() as download:
        console.page.get_by_role("region", name="Request", exact=True).get_by_role("button", name="Download").click()
    code = text_of(download.value)

    printed = [run(folder, language, code, console.service.api_key) for _ in range(2)]

    ids = {json.loads(one)["data"]["id"] if language == "curl" else one for one in printed}
    (copy,) = ids
    stored = connection.record(copy)
    assert copy != record["id"]
    assert without_label(stored["request_xml"]) == without_label(record["request_xml"])
    assert stored["request_json"]["version"] == "16.0"
    assert {name: stored[name] for name in settings} == settings


def without_label(xml: str) -> str:
    """Return a request without its generated label."""
    return re.sub(r' requestID="[^"]*"', "", xml)


def test_the_short_form_of_every_request_queues_the_same_request(console: Console) -> None:
    connection = console.service.connection()
    console.open("/app/qbxml")
    console.sees("232 request types")
    examples: dict[str, str] = console.page.evaluate(
        """async (address) => {
            const { requestNames, requestType } = await import(address);
            const { exampleTree } = await import(address.replace("schema.js", "trees.js"));
            const { toXml } = await import(address.replace("schema.js", "xml.js"));
            const example = async (name) => [name, toXml(exampleTree(await requestType(name)))];
            return Object.fromEntries(await Promise.all((await requestNames()).map(example)));
        }""",
        module(console, "lib/schema.js"),
    )
    records: list[dict[str, Any]] = [
        console.service.call("POST", f"{connection.path}/queued_requests", {"request_xml": xml}).json["data"]
        for xml in examples.values()
    ]
    samples: list[dict[str, str]] = console.page.evaluate(
        "async ([address, records]) => records.map((await import(address)).codeSamples)",
        [module(console, "lib/code_samples.js"), records],
    )

    problems = {}
    for record, sample in zip(records, samples, strict=True):
        (literal,) = re.findall(r"createQueuedRequest\(\n(.*?),\n  \{ idem", sample["typescript"], re.DOTALL)
        body = json.loads(literal)
        assert list(body["request_json"]) == ["version", record["request_name"]]
        copy = console.service.call("POST", f"{connection.path}/queued_requests", body)
        if copy.status != 201:
            problems[record["request_name"]] = copy.json["error"]["message"]
        elif without_label(copy.json["data"]["request_xml"]) != without_label(record["request_xml"]):
            problems[record["request_name"]] = copy.json["data"]["request_xml"]
    assert len(records) > 200
    assert problems == {}
