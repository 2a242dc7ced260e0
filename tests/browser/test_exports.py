"""What leaves the console: the exact document, tables and lists as CSV, and requests as code."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.support import Console, query, unsettled

if TYPE_CHECKING:
    from playwright.sync_api import Download, Route

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


DANGEROUS = [f"{start}{rest}" for start in "=+-@\t\r\n" for rest in ("1+1", "cmd|' /C calc'!A0", "SUM(A1)", "")]
SAFE = ["", "Ann", "a=b", "-12.50", "3", '"quoted", and; separated', "two\nlines", "Grünwald 東京", "' quoted"]


def test_no_cell_is_a_formula_and_every_cell_comes_back(console: Console) -> None:
    console.open("/app")
    console.page.get_by_label("API key").wait_for()
    cells = [*DANGEROUS, "  =1+1", "\u00a0@x", "\uff1d1+1", *SAFE]

    text: str = console.page.evaluate(
        "async ([address, rows]) => (await import(address)).toCsv(['value'], rows)",
        [module(console, "lib/csv.js"), [[cell] for cell in cells]],
    )

    read = [row[0] for row in rows_of(text)[1:]]
    assert [one.removeprefix("'") if one != "' quoted" else one for one in read] == cells
    for one, cell in zip(read, cells, strict=True):
        assert (one[0:1] == "'") == (cell not in SAFE or cell == "' quoted"), repr(cell)


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


def test_all_failures_since_monday_are_a_file_after_four_clicks(console: Console) -> None:
    connection = console.service.connection()
    failed = unsettled(connection, {"request": {"name": "CustomerAddRq", "children": [CUSTOMER]}})
    query(connection)
    # The stack has connections of other tests too.
    console.sign_in(f"/app?search={connection.id}")

    console.page.locator(f"a.title[href$='{connection.id}']").click()
    console.page.get_by_role("navigation", name="Requests by state").get_by_role("link", name="Failed").click()
    console.page.get_by_label("Time", exact=True).select_option("Since Monday")
    console.sees("Last change")
    with console.page.expect_download() as download:
        console.button("CSV").click()

    header, *rows = rows_of(text_of(download.value))
    assert [dict(zip(header, row, strict=True))["id"] for row in rows] == [failed]


def test_results_are_exported_with_all_rows_and_columns(console: Console) -> None:
    connection = console.service.connection()
    record = query(connection)
    customers = [{"ListID": f"{n}", "Name": "=HYPERLINK(1)", "Balance": "-97.50", "IsActive": True} for n in range(70)]

    def answered(route: Route) -> None:
        response = json.loads(route.fetch().text())
        tree = [{"QBXMLMsgsRs": {"CustomerQueryRs": {"CustomerRet": customers}}}]
        response["data"].update(state="response_received", response_xml="<QBXML/>", response_json=tree)
        route.fulfill(json=response)

    console.page.route(f"**/api/v1/queued_requests/{record}", answered)
    console.sign_in(f"/app/queued_requests/{record}")
    with console.page.expect_download() as download:
        console.page.get_by_role("region", name="Results").get_by_role("button", name="CSV").click()

    header, *rows = rows_of(text_of(download.value))
    assert len(rows) == 70
    assert dict(zip(header, rows[3], strict=True)) == {
        "ListID": "3",
        "Name": "'=HYPERLINK(1)",
        "Balance": "-97.50",
        "IsActive": "Yes",
    }


def run(language: str, code: str, key: str) -> str:
    """Run a sample as its reader would, and return what it prints."""
    program = {
        "curl": ["sh", "-c"],
        "python": [sys.executable, "-c"],
        "javascript": ["node", "--input-type=module", "-e"],
    }
    done = subprocess.run(  # noqa: S603 - samples of ours
        [*program[language], code],
        capture_output=True,
        check=True,
        text=True,
        env={"API_KEY": key, "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return done.stdout.strip()


@pytest.mark.parametrize("language", ["curl", "python", "javascript"])
def test_a_sample_queues_the_same_request_once(console: Console, language: str) -> None:
    if shutil.which("node" if language == "javascript" else language.replace("python", "sh")) is None:
        pytest.skip(f"needs {language}")
    connection = console.service.connection()
    body = {"request_json": {"request": {"name": "CustomerAddRq", "children": [CUSTOMER]}}}
    record = console.service.call("POST", f"{connection.path}/queued_requests", body).json["data"]
    console.sign_in(f"/app/queued_requests/{record['id']}")
    console.button({"curl": "curl", "python": "Python", "javascript": "JavaScript"}[language], exact=True).click()
    with console.page.expect_download() as download:
        console.page.get_by_role("region", name="Request", exact=True).get_by_role("button", name="Download").click()
    code = text_of(download.value)

    printed = [run(language, code, console.service.api_key) for _ in range(2)]

    ids = {json.loads(one)["data"]["id"] if language == "curl" else one for one in printed}
    (copy,) = ids
    stored = connection.record(copy)
    assert copy != record["id"]
    assert without_label(stored["request_xml"]) == without_label(record["request_xml"])


def without_label(xml: str) -> str:
    """Return a request without its generated label."""
    return re.sub(r' requestID="[^"]*"', "", xml)


def test_the_short_form_of_every_request_queues_the_same_request(console: Console) -> None:
    connection = console.service.connection()
    console.open("/app/qbxml")
    console.sees("232 request types")
    examples: dict[str, str] = console.page.evaluate(
        """async (address) => {
            const { requestNames, requestType, exampleTree, toXml } = await import(address);
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
        (literal,) = re.findall(r"^request = (.*?)^headers = ", sample["python"], re.MULTILINE | re.DOTALL)
        body = {"request_json": json.loads(literal)}
        copy = console.service.call("POST", f"{connection.path}/queued_requests", body)
        if copy.status != 201:
            problems[record["request_name"]] = copy.json["error"]["message"]
        elif without_label(copy.json["data"]["request_xml"]) != without_label(record["request_xml"]):
            problems[record["request_name"]] = copy.json["data"]["request_xml"]
    assert len(records) > 200
    assert problems == {}
