"""The inspection API: the books as JSON, snapshots and resets, and refused requests."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from simulator import Company
from simulator.inspection import serving
from simulator.inspection.inspector import MAX_SNAPSHOTS
from simulator.tests.support import a_company, ask

if TYPE_CHECKING:
    from collections.abc import Iterator

ADD = "<CustomerAddRq requestID='7'><CustomerAdd><Name>Inspected</Name></CustomerAdd></CustomerAddRq>"


class Client:
    """Sends requests to the inspection API of a company."""

    def __init__(self, company: Company, url: str) -> None:
        self.company = company
        self.port = int(url.rstrip("/").rpartition(":")[2])

    def send(self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        self.headers = response.headers
        return response.status, json.loads(text) if response.headers["Content-Type"] == "application/json" else text

    def get(self, path: str) -> Any:
        status, body = self.send("GET", path)
        assert status == 200, body
        return body

    def post(self, path: str) -> Any:
        status, body = self.send("POST", path)
        assert status == 200, body
        return body


@pytest.fixture
def client() -> Iterator[Client]:
    company = a_company()
    with serving(company) as url:
        yield Client(company, url)


def test_the_summary_counts_records_and_says_whether_the_books_balance(client: Client) -> None:
    books = client.get("/books")

    assert (books["country"], books["qbxml_version"], books["is_balanced"]) == ("US", "16.0", True)
    assert books["debits"] == books["credits"] != "0.00"
    assert books["lists"]["Customer"] == 40
    assert books["transactions"]["SalesOrder"] == 40
    assert (books["executed"], books["problems"]) == (0, 0)


def test_records_have_the_fields_of_qbxml_with_names_of_references_and_no_others(client: Client) -> None:
    page = client.get("/transactions/Invoice?limit=2")
    invoice = page["data"][0]
    element = ask(client.company, f"<InvoiceQueryRq><TxnID>{invoice['TxnID']}</TxnID></InvoiceQueryRq>")[0][0]

    assert (len(page["data"]), page["total"]) == (2, len(client.company.books["Invoice"]))
    assert invoice["CustomerRef"]["FullName"] == element.findtext("CustomerRef/FullName")
    assert invoice["BalanceRemaining"] == element.findtext("BalanceRemaining")
    assert invoice["InvoiceLineRet"][0]["ItemRef"]["FullName"]
    assert "Computed" not in json.dumps(page)


def test_a_record_is_found_by_number_text_and_id(client: Client) -> None:
    customer = client.get("/lists/customer?search=JANSEN&limit=1")["data"][0]
    order = client.get("/transactions/SalesOrder?ref_number=1003")["data"][0]
    by_customer = client.get(f"/transactions/SalesOrder?search={quote(order['CustomerRef']['FullName'])}")

    assert "Jansen" in customer["FullName"]
    assert client.get(f"/lists/Customer/{customer['ListID']}")["record"] == customer
    assert order["TxnID"] in [transaction["TxnID"] for transaction in by_customer["data"]]


def test_a_transaction_is_shown_with_its_postings_and_links(client: Client) -> None:
    payment = client.get("/transactions/ReceivePayment?limit=1")["data"][0]
    transaction = client.get(f"/transactions/ReceivePayment/{payment['TxnID']}")

    sides = [sum(float(row[side] or 0) for row in transaction["postings"]) for side in ("debit", "credit")]
    assert sides[0] == pytest.approx(sides[1])
    assert {link["type"] for link in transaction["links"]} >= {"Invoice"}


def test_the_ledger_is_a_trial_balance_and_leads_to_the_postings_of_each_account(client: Client) -> None:
    accounts = {row["account"]: row for row in client.get("/ledger")["accounts"]}
    checking = client.get(f"/ledger/{accounts['Checking']['id']}?limit=500")

    assert checking["data"][-1]["balance"] == accounts["Checking"]["debit"]
    assert [row["date"] for row in checking["data"]] == sorted(row["date"] for row in checking["data"])


def test_executed_requests_are_listed_with_their_status(client: Client) -> None:
    ask(client.company, f"{ADD}{ADD}<HostQueryRq/>")

    assert [
        (executed["name"], executed["status_code"], executed["succeeded"])
        for executed in client.get("/executed")["data"]
    ] == [
        ("CustomerAddRq", 0, True),
        ("CustomerAddRq", 3100, False),
        ("HostQueryRq", 0, True),
    ]
    assert client.get("/executed?writes=true")["total"] == 2
    assert client.get("/problems")["data"] == []


def test_a_write_that_is_executed_twice_is_a_problem(client: Client) -> None:
    item = "<ToDoAddRq requestID='1'><ToDoAdd><Notes>Call</Notes></ToDoAdd></ToDoAddRq>"
    ask(client.company, item)
    ask(client.company, item)

    assert client.get("/problems")["data"] == ["ToDoAddRq with requestID 1 was executed more than once."]
    assert client.get("/books")["problems"] == 1


def test_reset_brings_back_the_company_of_the_start(client: Client) -> None:
    before = client.get("/lists/Customer?limit=500")
    ask(client.company, ADD)

    client.post("/reset")

    assert client.get("/lists/Customer?limit=500") == before
    assert client.get("/executed")["total"] == 0
    assert ask(client.company, ADD)[0].get("statusCode") == "0"


def test_a_snapshot_can_be_restored_again_and_again_and_deleted(client: Client) -> None:
    ask(client.company, ADD)
    snapshot = client.post("/snapshots")["id"]
    for _ in range(2):
        ask(client.company, ADD.replace("Inspected", "After"))
        assert client.post(f"/snapshots/{snapshot}/restore")["lists"]["Customer"] == 41

    assert client.get("/lists/Customer?search=Inspected")["total"] == 1
    assert client.get("/lists/Customer?search=After")["total"] == 0
    assert client.send("DELETE", f"/snapshots/{snapshot}")[0] == 200
    assert client.get("/snapshots")["data"] == []
    assert client.send("POST", f"/snapshots/{snapshot}/restore")[0] == 404


def test_an_iterator_ends_when_the_company_is_restored() -> None:
    company = a_company()
    session = company.begin_session("Test")
    first = "<CustomerQueryRq iterator='Start'><MaxReturned>3</MaxReturned></CustomerQueryRq>"
    iterator_id = ask(session, first)[0].get("iteratorID")
    company.restore(company.snapshot())

    attributes = f"iterator='Continue' iteratorID='{iterator_id}'"
    go_on = f"<CustomerQueryRq {attributes}><MaxReturned>3</MaxReturned></CustomerQueryRq>"

    assert ask(session, go_on)[0].get("statusCode") == "3000"


def test_the_number_of_snapshots_is_bounded(client: Client) -> None:
    for _ in range(MAX_SNAPSHOTS):
        client.post("/snapshots")

    status, body = client.send("POST", "/snapshots")

    assert (status, body["error"]["message"]) == (400, "There are 20 snapshots already. Delete one first.")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/lists/Invoice", 404),
        ("GET", "/transactions/Customer", 404),
        ("GET", "/transactions/Invoice/1-1", 404),
        ("GET", "/transactions/Invoice/1-1/2", 404),
        ("GET", "/ledger/1-1", 404),
        ("POST", "/books", 404),
        ("DELETE", "/snapshots/9", 404),
        ("GET", "/lists/Customer?limit=501", 400),
        ("GET", "/lists/Customer?offset=-1", 400),
        ("GET", "/lists/Customer?offset=99999999999999999999", 400),
        ("GET", f"/lists/Customer?search={'x' * 201}", 400),
        ("GET", f"/lists/Customer?{'a=1&' * 30}", 400),
        ("GET", f"/lists/{'x' * 3000}", 414),
    ],
)
def test_a_wrong_request_gets_an_error_that_says_why(client: Client, method: str, path: str, status: int) -> None:
    response, body = client.send(method, path)

    assert response == status
    assert body["error"]["message"].endswith(".")


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "rebound.example"}, 421), ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403)],
)
def test_pages_of_other_sites_and_other_names_are_refused(client: Client, headers: dict[str, str], status: int) -> None:
    for method, path in (("GET", "/books"), ("GET", "/"), ("POST", "/reset")):
        assert client.send(method, path, headers)[0] == status


def test_a_request_body_is_refused_before_it_is_read(client: Client) -> None:
    assert client.send("POST", "/reset", body=b"x" * 10)[0] == 413
    assert client.send("POST", "/reset", {"Content-Length": "99999999999"})[0] == 413


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com", "localhost"])  # noqa: S104 - refused
def test_an_address_that_other_machines_reach_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="listens on loopback only"), serving(Company.empty(), host=host):
        pass


def test_the_page_loads_nothing_from_elsewhere(client: Client) -> None:
    for path in ("/", "/page.css", "/page.js", "/icon.svg"):
        text = client.get(path)

        assert "default-src 'none'" in client.headers["Content-Security-Policy"]
        assert "https://" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_preferences_are_read_and_set(client: Client) -> None:
    assert client.get("/preferences")["classes"] == "on"

    assert client.post("/preferences/classes/off")["classes"] == "off"
    assert client.post("/preferences/closing_date/2025-12-31") == client.get("/preferences")

    refused = client.send("POST", "/preferences/classes/maybe")
    assert (refused[0], refused[1]["error"]["code"]) == (400, "bad_parameter")
    assert client.post("/reset")
    assert client.get("/preferences") == {**client.company.preferences, "classes": "on", "closing_date": "off"}


def test_behaviours_are_read_and_set_and_a_backup_is_restored(client: Client) -> None:
    assert client.get("/behaviours")["merge_lists_source"] == "on"
    backup = client.post("/snapshots")["id"]

    assert client.post("/behaviours/merge_lists_source/off")["merge_lists_source"] == "off"
    client.post(f"/snapshots/{backup}/restore_backup")

    assert client.get("/behaviours")["merge_lists_source"] == "off", "QuickBooks is the same program"


def test_a_user_can_edit_a_record(client: Client) -> None:
    customer = client.get("/lists/Customer?limit=1")["data"][0]

    edited = client.post(f"/lists/Customer/{quote(customer['ListID'])}/edit")

    assert edited["record"]["EditSequence"] > customer["EditSequence"]
    assert client.send("POST", "/lists/Customer/80000000-1/edit")[0] == 404
    assert client.send("POST", f"/lists/Vendor/{quote(customer['ListID'])}/edit")[0] == 404
