"""What mypy and pyright say to users of the client."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src"
CACHE = SOURCES.parents[2] / ".mypy_cache" / "clients"
PYRIGHT = SOURCES.parents[2] / ".tools" / "clients" / "node_modules" / "pyright" / "index.js"

RIGHT = """\
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from qbxml_queue import AsyncClient, Changed, Client, Deleted, FileCursor, ResyncRequired, SnapshotCompleted
from qbxml_queue import StillWaiting, line as new_line, verify
from qbxml_queue.schema.records import NewSubscription, QueuedRequest
from qbxml_queue.schema.requests import InvoiceAddRequest, InvoiceLineAdd
from qbxml_queue.schema.responses import CustomerRet, InvoiceRet


def balance(books: Client) -> Decimal | None:
    customer: CustomerRet = books.execute({"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}})["CustomerRet"]
    modified: datetime = customer["TimeModified"]
    name: str = customer["FullName"]
    print(modified, name)
    return customer.get("Balance")


def invoice(books: Client, lines: list[InvoiceLineAdd]) -> str:
    request: InvoiceAddRequest = {
        "InvoiceAddRq": {
            "@requestID": "order-7",
            "InvoiceAdd": {
                "CustomerRef": {"ListID": "80000001-1"},
                "TxnDate": date(2026, 1, 31),
                "InvoiceLineAdd": [*lines, {"Quantity": 2, "Rate": Decimal("49.50")}],
            },
        }
    }
    try:
        return books.execute(request, idempotency_key="order-7", timeout=60)["InvoiceRet"]["TxnID"]
    except StillWaiting as waiting:
        record: QueuedRequest = books.wait(waiting.record["id"])
        return record["id"]


def order(books: Client) -> Decimal | None:
    batch = books.batch("order-7")
    customer = batch.add({"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}})
    list_id = customer.ref("CustomerRet/ListID")
    invoice = batch.add({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": list_id}}}}, depends_on=[customer])
    batch.execute()
    for event in books.events(FileCursor("events.cursor")):
        print(event["type"], event["cursor"], event.get("result"))
        if event["type"] == "connection.stalled":
            name: str | None = event["name"]
            print(name)
        elif event["type"] == "query.completed":
            pages: int = event["pages"]
            print(pages)
    return invoice.result["InvoiceRet"].get("BalanceRemaining")


def copy(books: Client) -> None:
    body: NewSubscription = {"objects": ["Customer", "Invoice"], "include": {"Invoice": ["lines"]}}
    subscription = books.api.create_subscription(body)
    for change in books.changes(FileCursor("changes.cursor"), subscription_id=subscription["id"]):
        if isinstance(change, Changed):
            if change.object == "Invoice":
                invoice: InvoiceRet = change.record
                number: str | None = invoice.get("RefNumber")
                print(number, [line.get("Amount") for line in invoice.get("InvoiceLineRet", [])])
            elif change.object == "Customer":
                print(change.record["FullName"], change.sequence)
        elif isinstance(change, Deleted):
            print(change.object, change.id, change.sequence)
        elif isinstance(change, SnapshotCompleted):
            print(change.object, change.generation, change.records)
        elif isinstance(change, ResyncRequired):
            print(change.reason, books.api.resync_subscription(subscription["id"])["objects"][0]["state"])


async def copy_later(books: AsyncClient) -> None:
    async for change in books.changes(FileCursor("changes.cursor")):
        if isinstance(change, Changed) and change.object == "Bill":
            print(change.record["TxnID"], change.record.get("AmountDue"))


def receive(secret: str, headers: dict[str, str], body: bytes) -> str | None:
    event = verify(secret, headers, body)
    if event["type"] == "connection.stalled":
        return event["occurred_at"]
    if event["type"] == "queued_request.completed":
        state: Literal["completed"] = event["state"]
        return state if event["result"] else event["label"]
    return event["error"]["code"] if event["type"] == "queued_request.failed" and event["error"] else event["id"]


async def names(books: AsyncClient) -> list[str]:
    result = await books.execute({"CustomerQueryRq": {"FullName": ["Ada", "Bob"]}})
    rows = await books.execute({"AgingReportQueryRq": {"AgingReportType": "ARAgingSummary"}})
    for row in rows["ReportRet"].get("ReportData", {}).get("DataRow", []):
        number: int | None = row.get("@rowNumber")
        print(number, [cell.get("@value") for cell in row.get("ColData", [])])
    return [customer["FullName"] for customer in result["CustomerRet"]]


def sell(books: Client, yesterday: datetime) -> str:
    ada = books.customers.ensure(Name="Ada Ltd", Email="ada@example.com")
    outcome: str = ada["@outcome"]
    job = books.customers.create(Name="Kitchen", ParentRef=ada, idempotency_key=outcome)
    line: InvoiceLineAdd = {"ItemRef": "Bread", "Quantity": 2}
    item = books.items.find("Bread")
    if item is not None:
        line["ItemRef"] = item
    lines: list[InvoiceLineAdd] = [line, {"ItemRef": {"FullName": "Bread"}, "Rate": Decimal("1.5")}]
    invoice = books.invoices.create(CustomerRef=job, TxnDate=date(2026, 1, 1), lines=lines, if_exists="return")
    for customer in books.customers.list(ActiveStatus="All", modified_since=yesterday, page_size=10):
        print(customer["Name"])
    routed = books.customers.update(ada["ListID"], custom_fields={"Route": None, "Area": "North"})
    areas: dict[str, str] = routed["custom_fields"] | books.items.get("1", custom_fields=True)["custom_fields"]
    print(areas, ada["custom_fields"]["Route"])
    books.invoices.update(invoice["TxnID"], Memo="m", remove_lines=["1"], lines=[{"TxnLineID": "2", "Quantity": 3}])
    print(books.invoices.void(invoice["TxnID"]), books.customers.delete(ada["ListID"], timeout=3)["ListID"])
    with books.batch("order-1042") as batch:
        step = batch.customers.ensure(Name="Bob", custom_fields={"Route": "North"})
        last = batch.invoices.create(CustomerRef=step, lines=[{"ItemRef": "Bread"}], if_exists="return")
    return last.result["InvoiceRet"]["TxnID"]


def sell_lines(books: Client) -> None:
    bread = new_line(item="Bread", Quantity=2, custom_fields={"Colour": "Red"})
    books.invoices.create(CustomerRef="Ada Ltd", lines=[bread, {"ItemRef": "Milk"}])
    books.purchase_orders.create(VendorRef="Mill", lines=[bread])
    books.credit_memos.create(CustomerRef="Ada Ltd", lines=[bread])
    books.bills.create(VendorRef="Mill", ItemLineAdd=[new_line(item=books.items.get("1"), Cost=Decimal("1.5"))])


def results(books: Client) -> Decimal:
    report = books.reports.profit_and_loss(FromReportDate=date(2026, 1, 1), SummarizeColumnsBy="Month", timeout=60)
    for row in report:
        print(row.type, row.label, row.object)
    [first, *_] = report.as_dicts()
    print(first, books.reports.custom_summary(SummarizeColumnsBy="Month", SummarizeRowsBy="Account").title)
    assert report.total is not None
    amount = report.total.values[-1]
    return amount if isinstance(amount, Decimal) else Decimal(0)


async def later(books: AsyncClient) -> Decimal | None:
    print((await books.reports.ar_aging_summary(ReportDateMacro="All")).total)
    async for vendor in books.vendors.list():
        print(vendor["Name"])
    async with books.batch() as batch:
        batch.vendors.ensure(Name="V")
    return (await books.customers.get("1")).get("Balance")
"""

RESOURCES = {
    'books.customers.create(Nam="Ada", Name="x")': 'Unexpected keyword argument "Nam" for "create" of "Customers"; did',
    "books.customers.create(Name=3)": 'Argument "Name" to "create" of "Customers" has incompatible type "int"',
    'books.customers.create(Phone="3")': 'Missing named argument "Name" for "create" of "Customers"',
    'books.customers.create(Name="x", idempotencykey="x")': 'did you mean "idempotency_key"?',
    'books.customerz.create(Name="x")': '"Client" has no attribute "customerz"',
    'books.accounts.void("x")': '"Accounts" has no attribute "void"',
    'books.invoices.create(CustomerRef=books.invoices.get("1"))': 'Argument "CustomerRef" to "create" of "Invoices"',
    'books.invoices.create(CustomerRef={"FulName": "x"})': 'Argument "CustomerRef" to "create" of "Invoices" has',
    'books.invoices.create(CustomerRef="x", lines=[{"ItemRf": "x"}])': 'Extra key "ItemRf" for TypedDict "InvoiceLine',
    'books.invoices.create(CustomerRef="x", lines=[{"Quantity": 1.5}])': 'TypedDict item "Quantity" has type "Decimal',
    'books.customers.list(ActiveStatus="Some")': 'Argument "ActiveStatus" to "list" of "Customers" has incompatible',
    'books.customers.get("x")["Nam"]': 'TypedDict "CustomerRead" has no key "Nam"',
    'books.customers.create(Name="x", custom_fields={"Route": 3})': 'Dict entry 0 has incompatible type "str": "int"',
    'books.customers.create(Name="x", custom_fields={"Route": None})': 'Dict entry 0 has incompatible type "str": "No',
    'books.customers.get("x", custom_fields="Route")': 'Argument "custom_fields" to "get" of "Customers" has incom',
    'books.accounts.get("x", custom_fields=True)': 'Unexpected keyword argument "custom_fields" for "get" of "Account',
    'books.accounts.create(AccountType="Bank", Name="x", custom_fields={})': 'argument "custom_fields" for "create" of',
    'books.invoices.update("1", EditSequence="2")': 'Unexpected keyword argument "EditSequence" for "update"',
    "books.reports.profit_and_los()": '"Reports" has no attribute "profit_and_los"; maybe "profit_and_loss"',
    "books.reports.profit_and_loss(FromReportDat=1)": 'Unexpected keyword argument "FromReportDat" for "profit_',
    "books.reports.profit_and_loss(FromReportDate=1)": 'Argument "FromReportDate" to "profit_and_loss" of "Reports"',
    'books.reports.custom_summary(SummarizeColumnsBy="Day")': 'Missing named argument "SummarizeRowsBy" for "custom_',
    'books.reports.journal(ReportDateMacro="Now")': 'Argument "ReportDateMacro" to "journal" of "Reports" has incomp',
    'books.invoices.create(CustomerRef="x", lines=[line(Quantty=2)])': 'Unexpected keyword argument "Quantty" for',
    'books.invoices.create(CustomerRef="x", lines=[line(item=2)])': 'Argument "item" to "line" has incompatible type',
    'books.invoices.create(CustomerRef="x", lines=[line(Rate=1.5)])': 'Argument "Rate" to "line" has incompatible type',
    'books.api.discard_queued_reques("1")': '"Api" has no attribute "discard_queued_reques"',
    "books.api.discard_queued_request()": 'Too few arguments for "discard_queued_request" of "Api"',
    'books.api.list_queued_requests(stat="waiting")': 'Unexpected keyword argument "stat" for "list_queued_requests"',
    'books.api.test_webhook({"url": "https://shop.example"})': 'Extra key "url" for TypedDict "NewWebhookTest"',
    'books.batch().customers.get("1")': '"CustomersInBatch" has no attribute "get"',
}
"""Wrong calls of resources and of routes, and the one message for each."""

WRONG = {
    "the name of the request": 'books.execute({"CustomrAddRq": {"CustomerAdd": {"Name": "Ada"}}})',
    "the name of an element": 'books.execute({"CustomerAddRq": {"CustomerAdd": {"Nam": "Ada"}}})',
    "a missing element": 'books.execute({"CustomerAddRq": {"CustomerAdd": {"Phone": "12"}}})',
    "an amount that is a float": 'books.execute({"BillQueryRq": {"MaxReturned": 1.5}})',
    "a value that the enumeration does not have": 'books.execute({"CustomerQueryRq": {"ActiveStatus": "Some"}})',
    "two requests": 'books.execute({"CustomerQueryRq": {}, "VendorQueryRq": {}})',
    "an object of another request": 'books.execute({"CustomerQueryRq": {}})["VendorRet"]',
    "an element of the result": 'books.execute({"CustomerQueryRq": {}})["CustomerRet"][0]["Fullname"]',
    "a request of a batch": 'books.batch().add({"CustomrAddRq": {"CustomerAdd": {"Name": "Ada"}}})',
    "the result of an entry": 'books.batch().add({"CustomerQueryRq": {}}).result["VendorRet"]',
    "an event of another type": 'print([one["pages"] for one in books.api.list_events()["data"] if one["type"] == '
    '"connection.stalled"])',
    "a member that not all webhooks have": 'print(verify("", {}, b"")["occurred_at"])',
    "an object of another change": 'print([one.record["RefNumber"] for one in books.changes(FileCursor("x")) '
    'if isinstance(one, Changed) and one.object == "Customer"])',
    "a member that not all changes have": 'print([one.record for one in books.changes(FileCursor("x"))])',
    "an option": 'books.execute({"CustomerQueryRq": {}}, idempotencykey="1")',
}

PRELUDE = "from qbxml_queue import Changed, Client, FileCursor, line, verify\n\n\ndef use(books: Client) -> None:\n    "

ANNOTATED = """\
from qbxml_queue.schema.requests import CustomerAddRequest
request: CustomerAddRequest = {"CustomerAddRq": {"CustomerAdd": {"Nam": "Ada"}}}
"""

PROGRAMS = {
    "right.py": RIGHT,
    "calls.py": PRELUDE + "\n    ".join(RESOURCES) + "\n",
    "wrong.py": PRELUDE + "\n    ".join(WRONG.values()) + "\n",
    "annotated.py": ANNOTATED,
}
"""What pyright reads in one run."""


def mypy(folder: Path, *files: str) -> str:
    """Return what mypy --strict says about files."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(CACHE), *files]
    environment = {"MYPYPATH": str(SOURCES), "PATH": "/usr/bin:/bin"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return result.stdout + result.stderr


def test_right_programs_pass_mypy_strict(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")

    assert mypy(tmp_path, "right.py") == "Success: no issues found in 1 source file\n"


def test_each_wrong_program_is_an_error(tmp_path: Path) -> None:
    files = [f"wrong_{number}.py" for number in range(len(WRONG))]
    for name, line in zip(files, WRONG.values(), strict=True):
        (tmp_path / name).write_text(f"{PRELUDE}{line}\n", encoding="utf-8")

    output = mypy(tmp_path, *files)

    assert set(re.findall(r"(wrong_\d+\.py):5: error", output)) == set(files)


def test_each_wrong_call_of_a_resource_has_one_precise_message(tmp_path: Path) -> None:
    (tmp_path / "calls.py").write_text(PROGRAMS["calls.py"], encoding="utf-8")

    output = mypy(tmp_path, "calls.py")

    first = PRELUDE.count("\n") + 1
    errors = re.findall(r"calls\.py:(\d+): error: (.*)", output)
    assert [int(line) for line, _ in errors] == list(range(first, first + len(RESOURCES))), output
    for (_, message), expected in zip(errors, RESOURCES.values(), strict=True):
        assert expected in message


def test_an_annotated_request_gets_a_precise_message(tmp_path: Path) -> None:
    (tmp_path / "annotated.py").write_text(ANNOTATED, encoding="utf-8")

    output = mypy(tmp_path, "annotated.py")

    assert 'annotated.py:2: error: Missing key "Name" for TypedDict "CustomerAdd"' in output
    assert 'annotated.py:2: error: Extra key "Nam" for TypedDict "CustomerAdd"' in output


def test_the_samples_of_the_console_pass_mypy_strict(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    console = SOURCES.parents[2] / "tests" / "console"
    printed = subprocess.run(
        [node, "--import", console / "browser.mjs", console / "sample_bodies.mjs"], capture_output=True, check=True
    )
    calls: list[dict[str, Any]] = json.loads(printed.stdout)
    program = "".join(
        f"def call_{number}() -> None:\n{textwrap.indent(call['samples']['python'], '    ')}\n\n"
        for number, call in enumerate(calls)
    )
    (tmp_path / "samples.py").write_text(program, encoding="utf-8")
    wrong = calls[0]["samples"]["python"].replace("request_json", "request_jsn").replace("request_xml", "request_xm")
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")

    assert mypy(tmp_path, "samples.py") == "Success: no issues found in 1 source file\n"
    assert "error" in mypy(tmp_path, "wrong.py")


def test_the_client_itself_passes_mypy_strict(tmp_path: Path) -> None:
    output = mypy(tmp_path, "-p", "qbxml_queue")

    assert output.startswith("Success"), output


@pytest.fixture(scope="module")
def pyright(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Return the errors of the programs above, in strict mode, and those of the client's own modules, in standard mode.

    One run reads the types once. It leaves out the generated types, which take longer than all else and which the
    programs use, and the commands and receivers, whose frameworks take as long: mypy checks all of them.
    """
    node = shutil.which("node")
    if node is None or not PYRIGHT.exists():
        pytest.skip("Without Node and the packages of tools/node/clients (make test-clients), pyright is not run.")
    folder = tmp_path_factory.mktemp("pyright")
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text, encoding="utf-8")
    client = os.path.relpath(SOURCES / "qbxml_queue", folder)
    configuration = {
        "include": [*PROGRAMS, f"{client}/*.py"],
        "strict": [*PROGRAMS],
        "typeCheckingMode": "standard",
        "extraPaths": [str(SOURCES)],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(configuration), encoding="utf-8")
    command = [node, str(PYRIGHT), "--outputjson", "--pythonpath", sys.executable]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    report = json.loads(result.stdout)
    modules = len(list((SOURCES / "qbxml_queue").glob("*.py")))
    assert report["summary"]["filesAnalyzed"] == len(PROGRAMS) + modules, result.stdout
    errors = defaultdict(list)
    for error in report["generalDiagnostics"]:
        errors[Path(error["file"]).name].append(error)
    return errors


def lines_of(errors: list[dict[str, Any]]) -> list[int]:
    """Return the lines of errors, without those that follow from others: something unknown is used, or nothing."""
    follow = re.compile("reportUnknown|reportUnusedImport")
    return [error["range"]["start"]["line"] + 1 for error in errors if not follow.match(error["rule"])]


def test_right_programs_pass_pyright_strict(pyright: dict[str, list[dict[str, Any]]]) -> None:
    assert pyright["right.py"] == []


def test_pyright_says_one_thing_of_each_wrong_call_of_a_resource(pyright: dict[str, list[dict[str, Any]]]) -> None:
    first = PRELUDE.count("\n") + 1

    assert lines_of(pyright["calls.py"]) == list(range(first, first + len(RESOURCES)))
    assert [error["message"] for error in pyright["calls.py"] if "overload" in error["message"]] == []


def test_pyright_finds_each_wrong_program(pyright: dict[str, list[dict[str, Any]]]) -> None:
    first = PRELUDE.count("\n") + 1

    assert set(lines_of(pyright["wrong.py"])) == set(range(first, first + len(WRONG)))


def test_pyright_is_precise_about_an_annotated_request(pyright: dict[str, list[dict[str, Any]]]) -> None:
    [error] = pyright["annotated.py"]

    assert '"Nam" is an undefined item in type "CustomerAdd"' in error["message"]


def test_the_client_itself_passes_pyright(pyright: dict[str, list[dict[str, Any]]]) -> None:
    assert {name: found for name, found in pyright.items() if found and name not in PROGRAMS} == {}


@pytest.mark.parametrize("module", ["requests", "responses", "records"])
def test_the_types_can_be_imported_at_run_time(module: str) -> None:
    program = f"import qbxml_queue.schema.{module}"
    subprocess.run([sys.executable, "-W", "error", "-c", program], env={"PYTHONPATH": str(SOURCES)}, check=True)
