"""A call in a wrong but common form gets an answer that names the correct form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from domain.qbxml.request.other_names import BESIDE_THE_REQUEST
from handlers.rest.new_queued_request import NewBatchRequest
from tests.support.cases import for_each

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

ADD = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}
SEPARATELY = "Queue each request separately. Requests are sent in the order in which they are queued."
ONLY_THE_REQUEST = 'Write only the request, for example {"CustomerQueryRq": {"MaxReturned": 5}}.'


EACH_KIND_OF_ITEM = (
    "Each kind has its own request: ItemServiceAddRq, ItemNonInventoryAddRq, ItemOtherChargeAddRq, "
    "ItemInventoryAddRq, ItemInventoryAssemblyAddRq, ItemFixedAssetAddRq, ItemSubtotalAddRq, ItemDiscountAddRq, "
    "ItemPaymentAddRq, ItemSalesTaxAddRq, ItemSalesTaxGroupAddRq, ItemGroupAddRq."
)
UNKNOWN = "is not a field of this endpoint"
STATES = "'waiting', 'retryable', 'ticketed', 'sent', 'response_received', 'error' or 'discarded'"
A_TIME = "must be a time with a time zone, such as 2026-03-14T12:00:00Z"
A_BATCH = 'Write [{"request_json": {"CustomerQueryRq": {"MaxReturned": 5}}}], for example.'
A_FILTER = 'Write {"state": "waiting"}, for example.'
REF, REFS = 'Write "customer", for example.', 'Write ["customer"], for example.'
KEEP_NAME = "Leave Name out to keep the name."
ONLY_IN_A_BATCH = "Only the requests of a batch can refer to others: POST …/queued_requests/batch."
NO_PAGES = "A query has no numbered pages. With iterate=true, all objects arrive in pages of max_returned."
QUEUE_WITH = 'Queue a request with it, such as {{"request_json": {{"{}": {{"{}": …}}}}}}.'
LINE = {"ItemRef": {"FullName": "Oak"}}


def problem_of(response: Any) -> tuple[str, str | None]:
    """Return the field and the suggestion of the first problem."""
    assert response.status == 400, response.json
    problem = response.json["error"]["details"]["problems"][0]
    return problem["field"], problem.get("suggestion")


def invoice(**fields: Any) -> dict[str, Any]:
    return {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"FullName": "Ada"}, **fields}}}


@for_each(
    ("request_json", "suggestion"),
    [
        (
            {"CustomerAdd": {"Name": "Ada"}},
            'Did you mean CustomerAddRq? In JSON, write {"CustomerAddRq": {"CustomerAdd": {…}}}.',
        ),
        ({"CustomerQuery": {}}, 'Did you mean CustomerQueryRq? In JSON, write {"CustomerQueryRq": {…}}.'),
        (
            {"request": {"name": "InvoiceMod", "children": []}},
            'Did you mean InvoiceModRq? In JSON, write {"InvoiceModRq": {"InvoiceMod": {…}}}.',
        ),
        ({**ADD, "VendorAddRq": {"VendorAdd": {"Name": "V"}}}, SEPARATELY),
        ([ADD, ADD], SEPARATELY),
        ([ADD], SEPARATELY),
        (json.dumps(ADD), "Send JSON, not its text."),
        ("<QBXML/>", "Send QBXML as request_xml."),
        (
            {"QBXML": {"QBXMLMsgsRq": ADD}},
            'Write only the request, for example {"CustomerQueryRq": {"MaxReturned": 5}}.',
        ),
        ({"QBXMLMsgsRq": ADD}, 'Write only the request, for example {"CustomerQueryRq": {"MaxReturned": 5}}.'),
        ({"name": "CustomerQueryRq", "children": []}, 'Write {"request": {"name": …}}.'),
        (invoice(CustomerRef="Ada"), 'Write {"FullName": "Ada"}.'),
        (invoice(TermsRef='2% "quick"'), 'Write {"FullName": "2% \\"quick\\""}.'),
        (invoice(TxnDate="11/22/2026"), "Write 2026-11-22."),
        (invoice(TxnDate="22.11.2026"), "Write 2026-11-22."),
        (invoice(TxnDate="3/4/2026"), "Write 2026-03-04 or 2026-04-03."),
        (invoice(TxnDate="13/13/2026"), "There is no month 13."),
        (invoice(TxnDate="2026-13-01"), "There is no month 13."),
        (invoice(TxnDate="2026-02-30"), "February 2026 has 28 days."),
        (invoice(TxnDate="2024-02-30"), "February 2024 has 29 days."),
        (invoice(TxnDate="31/06/2026"), "June 2026 has 30 days."),
        (invoice(TxnDate="2026/1/3"), "Write 2026-01-03."),
        (invoice(TxnDate=20260131), "Write 2026-01-31."),
        (invoice(TxnDate="tomorrow"), None),
        (
            {"InvoiceQueryRq": {"ModifiedDateRangeFilter": {"FromModifiedDate": "2026-02-30T10:00:00"}}},
            "February 2026 has 28 days.",
        ),
        ({"ItemAddRq": {"ItemAdd": {"Name": "Oak"}}}, EACH_KIND_OF_ITEM),
        ({"ProductAdd": {"Name": "Oak"}}, EACH_KIND_OF_ITEM),
        ({"TermsAddRq": {}}, "Each kind has its own request: StandardTermsAddRq, DateDrivenTermsAddRq."),
        ({"CreateCustomer": {"Name": "Ada"}}, "Did you mean CustomerAddRq?"),
        ({"InvoiceUpdateRq": {}}, "Did you mean InvoiceModRq?"),
        ({"get_invoices": {}}, "Did you mean InvoiceQueryRq?"),
        ({"customer_add_rq": {"customer_add": {"name": "Ada"}}}, "Did you mean CustomerAddRq?"),
        ({"Vendor": {}}, "Did you mean VendorAddRq or VendorModRq or VendorQueryRq?"),
        ({"CustomerDelRq": {}}, "Write ListDelRq with the ListDelType Customer."),
        ({"DeleteInvoice": {}}, "Write TxnDelRq with the TxnDelType Invoice."),
        ({"InvoiceVoidRq": {}}, "Write TxnVoidRq with the TxnVoidType Invoice."),
        ({"Frobnicate": {}}, 'Write {"CustomerQueryRq": {"MaxReturned": 5}}, for example.'),
        ({"F" * 61: {}}, 'Write {"CustomerQueryRq": {"MaxReturned": 5}}, for example.'),
        ({"CustomerQueryRq": {}, "MaxReturned": 5}, "Write it inside CustomerQueryRq."),
        ({"CustomerQueryRq": {}, "label": "a"}, "Write label beside request_json, not in it."),
        (
            {"CustomerQueryRq": {"webhook_url": "https://a.example"}},
            "Write webhook_url beside request_json, not in it.",
        ),
        ({"CustomerQueryRq": {"iterator": "Start"}}, 'It is an attribute. Write "@iterator": "…".'),
        (invoice(Lines=[LINE]), "Did you mean InvoiceLineAdd?"),
        (invoice(InvoiceLine=[{}]), "Did you mean InvoiceLineAdd?"),
        (invoice(InvoiceLineAdd={**LINE, "Qty": 1}), "Did you mean Quantity?"),
        (invoice(InvoiceLineAdd={**LINE, "UnitPrice": 1}), "Did you mean Rate?"),
        (invoice(InvoiceLineAdd={"Item": "Oak"}), "Did you mean ItemRef? It contains a FullName or a ListID."),
        (invoice(InvoiceLineAdd={"item": {"FullName": "Oak"}}), "Did you mean ItemRef?"),
        (invoice(bill_address={"Addr1": "1 Bay Road"}), "Did you mean BillAddress?"),
        (invoice(InvoiceLineAdd={"Amount": "12.345"}), "Round it to 2 decimals."),
        (invoice(InvoiceLineAdd={"Amount": "$1,234.50"}), "Write 1234.50."),
        (invoice(InvoiceLineAdd={"Rate": "1.234,5"}), "Write 1234.5."),
        (invoice(InvoiceLineAdd={"Rate": "1,234"}), "Write 1234 or 1.234."),
        (invoice(InvoiceLineAdd={"Amount": "1e3"}), "Write 1000."),
        (invoice(InvoiceLineAdd={"Amount": "1e999999999"}), None),
        (invoice(IsPending="yes"), "Write true."),
        (
            {"InvoiceQueryRq": {"ModifiedDateRangeFilter": {"FromModifiedDate": "11/22/2026 10:00"}}},
            "Write 2026-11-22.",
        ),
        (
            {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada: kitchen"}}},
            "Write 'kitchen', and 'Ada' as the FullName of ParentRef.",
        ),
        ({"VendorAddRq": {"VendorAdd": {"Name": "Ada:kitchen"}}}, None),
        ({"VendorAddRq": {"VendorAdd": {"Name": ""}}}, None),
        ({"VendorAddRq": {"VendorAdd": {"Name": " \n"}}}, None),
        ({"VendorModRq": {"VendorMod": {"ListID": "1", "EditSequence": "1", "Name": ""}}}, KEEP_NAME),
        ({"VendorAddRq": {"VendorAdd": {"Name": "Ada\r\nBay Road"}}}, "Write 'Ada Bay Road'."),
        ({"VendorAddRq": {"VendorAdd": {"Name": "Ada\tBay"}}}, "Write 'Ada Bay'."),
        (invoice(CustomerRef={"ListID": {"$from": "c", "path": "CustomerRet/ListID"}}), ONLY_IN_A_BATCH),
        ({"CustomerAddRq": {"CustomerAdd": {"Name": "Łódź"}}}, "Write 'Lódz', or add ?transliterate=true."),
    ],
)
def test_a_request_in_another_form(deployment: Deployment, request_json: Any, suggestion: str | None) -> None:
    response = deployment.api.call("POST", deployment.requests_url, {"request_json": request_json})

    assert problem_of(response) == ("request_json", suggestion)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"Amount": "12345678901234.00"}, "Amount has 14 digits before the point; at most 13 are allowed."),
        ({"Amount": "97.123"}, "Amount has 3 decimals; at most 2 are allowed."),
        ({"Rate": 12345678901}, "Rate has 11 digits before the point; at most 10 are allowed."),
        ({"Quantity": 0.1234567}, "Quantity has 7 decimals; at most 5 are allowed."),
    ],
)
def test_the_digits_of_a_number_are_counted(deployment: Deployment, line: dict[str, Any], message: str) -> None:
    response = deployment.api.call(
        "POST", deployment.requests_url, {"request_json": invoice(InvoiceLineAdd={**LINE, **line})}
    )

    assert response.problem["message"] == message


def test_the_fields_beside_a_request_are_those_of_a_batch() -> None:
    assert set(NewBatchRequest.model_fields) - {"request_json", "request_xml"} == BESIDE_THE_REQUEST


def test_a_reference_in_xml_is_suggested_as_xml(deployment: Deployment) -> None:
    request = "<InvoiceAddRq><InvoiceAdd><CustomerRef>Ada</CustomerRef></InvoiceAdd></InvoiceAddRq>"
    document = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{request}</QBXMLMsgsRq></QBXML>'

    response = deployment.api.call("POST", deployment.requests_url, {"request_xml": document})

    assert problem_of(response) == ("request_xml", "Write <FullName>Ada</FullName>.")


def test_a_colon_in_a_name_without_levels_is_accepted(deployment: Deployment) -> None:
    request = {"ShipMethodAddRq": {"ShipMethodAdd": {"Name": "Van: north"}}}

    assert deployment.api.call("POST", deployment.requests_url, {"request_json": request}).status == 201


@pytest.mark.parametrize(
    ("body", "field", "suggestion"),
    [
        (ADD, "CustomerAddRq", 'Write it inside request_json: {"request_json": {"CustomerAddRq": …}}.'),
        ({"name": "HostQueryRq"}, "name", 'Write it inside request_json: {"request_json": {"name": …}}.'),
        ({"request": ADD}, "request", "Did you mean request_json?"),
        ({"qbxml": "<QBXML/>"}, "qbxml", "Did you mean request_xml?"),
        ({"request_jsn": ADD}, "request_jsn", "Did you mean request_json?"),
        ({"validate": False}, "validate", "Write it in the URL: ?validate=…"),
        ({"Idempotency-Key": "a"}, "Idempotency-Key", "Send it as the header Idempotency-Key."),
        ({"idempotencyKey": "a"}, "idempotencyKey", "Send it as the header Idempotency-Key."),
        ({"wait": 5}, "wait", "Send it as a header, such as Prefer: wait=10."),
        ({"ref": "a"}, "ref", "Only the requests of a batch have it: POST …/queued_requests/batch."),
        ({"depends_on": []}, "depends_on", "Only the requests of a batch have it: POST …/queued_requests/batch."),
        ({"transliterat": True}, "transliterat", None),
    ],
)
def test_a_field_with_another_name(deployment: Deployment, body: Any, field: str, suggestion: str) -> None:
    assert problem_of(deployment.api.call("POST", deployment.requests_url, body)) == (field, suggestion)


ONE: dict[str, Any] = {"request_json": {"CustomerQueryRq": {}}}


@for_each(
    ("path", "body", "field", "texts"),
    [
        ("batch", {"requests": []}, "requests", ("is empty; at least 1 item must be given", A_BATCH)),
        ("batch", {"requests": [ONE] * 26}, "requests", ("has 26 items; at most 25 are allowed", "Use several calls.")),
        ("batch", {"requests": ONE}, "requests", ("must be an array, not an object", A_BATCH)),
        ("batch", {"requests": ["x"]}, "requests", ("must be an object, not a string", A_BATCH)),
        ("batch", {"requests": [{**ONE, "depends_on": "c"}]}, "depends_on", ("must be an array, not a string", REFS)),
        ("batch", {"requests": [{**ONE, "depends_on": [0]}]}, "depends_on.0", ("must be a string, not a number", REFS)),
        (
            "batch",
            {"requests": [{**ONE, "depends_on": None, "ref": 1}]},
            "ref",
            ("must be a string, not a number", REF),
        ),
        (
            "batch",
            {"requests": [ONE], "label": "a"},
            "label",
            (UNKNOWN, 'Write it inside requests: {"requests": [{"label": …}]}.'),
        ),
        (
            "batch",
            {"requests": [{**ONE, "validate": False}]},
            "validate",
            (UNKNOWN, "Write it in the URL: ?validate=…"),
        ),
        ("discard", {"filter": "waiting"}, "filter", ("must be an object, not a string", A_FILTER)),
        ("discard", {"filter": [{"state": "waiting"}]}, "filter", ("must be an object, not an array", A_FILTER)),
        ("discard", {}, "filter", ("is missing", A_FILTER)),
        (
            "discard",
            {"filter": {}, "state": "waiting"},
            "state",
            (UNKNOWN, 'Write it inside filter: {"filter": {"state": …}}.'),
        ),
        (
            "discard",
            {"filter": {"dry_run": True}},
            "filter.dry_run",
            (UNKNOWN, 'Write it at the top of the body: {"dry_run": …}.'),
        ),
        ("discard", {"filter": {"status": "waiting"}}, "filter.status", (UNKNOWN, "Did you mean state?")),
        (
            "discard",
            {"filter": {"state": "done"}},
            "filter.state",
            (f"must be {STATES}, not 'done'", "Did you mean response_received?"),
        ),
        ("discard", {"filter": {"state": ["waiting"]}}, "filter.state", (f"must be {STATES}, not an array", None)),
        (
            "discard",
            {"filter": {"ids": ["x"]}},
            "filter.ids.0",
            ("must be an id, which is a lower-case UUID, not 'x'", None),
        ),
        (
            "discard",
            {"filter": {"webhook_failing": "yes"}},
            "filter.webhook_failing",
            ("must be true or false, not 'yes'", None),
        ),
        (
            "discard",
            {"filter": {"from": "2026-02-30"}},
            "filter.from",
            (f"{A_TIME}, not '2026-02-30'. February 2026 has 28 days", None),
        ),
        (
            "discard",
            {"filter": {"from": "31.12.2026"}},
            "filter.from",
            (f"{A_TIME}, not '31.12.2026'. Write 2026-12-31T00:00:00Z", None),
        ),
        (
            "discard",
            {"filter": {"from": "2026-01-01T10:00"}},
            "filter.from",
            (f"{A_TIME}, not '2026-01-01T10:00'. Write 2026-01-01T10:00:00Z", None),
        ),
        (
            "discard",
            {"filter": {"request_name": "InvoiceAdd"}},
            "filter.request_name",
            ("must be a request element, which ends in Rq, such as InvoiceAddRq, not 'InvoiceAdd'", None),
        ),
    ],
)
def test_a_body_of_another_form(
    deployment: Deployment, path: str, body: Any, field: str, texts: tuple[str, str | None]
) -> None:
    response = deployment.api.call("POST", f"{deployment.requests_url}/{path}", body)

    problems = response.json["error"]["details"]["problems"]
    (problem,) = [problem for problem in problems if problem["field"] == field]
    assert (problem["message"], problem.get("suggestion")) == texts


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_of_a_connection_means_none(deployment: Deployment, name: str) -> None:
    response = deployment.api.call("POST", "/api/v1/connections", {"name": name, "company_file": name})

    assert (response.json["data"]["name"], response.json["data"]["company_file"]) == (None, None)


@pytest.mark.parametrize(
    ("query", "message", "suggestion"),
    [
        ("name=a%0Ab", "must be a name, which has no line break and no tab, not 'a\\nb'", None),
        ("name=", "is empty", "Give it a value, or leave it out."),
        ("active=true", "must be one of ActiveOnly, InactiveOnly, All, not 'true'", "Did you mean ActiveOnly?"),
        ("iterate=yes", "must be auto, true or never, not 'yes'", "Write true."),
        ("qbxml_version=13", "must be a QBXML version from 1.0 to 17.0, such as 13.0, not '13'", "Write 13.0."),
        ("from_modified_date=2026-02-30", "must be a day that exists, not '2026-02-30'", "February 2026 has 28 days."),
        ("max_returned=all", "must be a whole number of at least 1, with up to 9 digits, not 'all'", None),
    ],
)
def test_a_value_of_another_form(deployment: Deployment, query: str, message: str, suggestion: str | None) -> None:
    connection = deployment.requests_url.rpartition("/")[0]

    problem = deployment.api.call("GET", f"{connection}/customers?{query}").problem

    assert (problem["message"], problem.get("suggestion")) == (message, suggestion)


@for_each(
    ("path", "field", "suggestion"),
    [
        ("queued_requests?per_page=5", "per_page", "Did you mean page_size?"),
        ("queued_requests?limit=5", "limit", "Did you mean page_size?"),
        ("queued_requests?status=waiting", "status", "Did you mean state?"),
        ("invoices?per_page=5", "per_page", "Did you mean max_returned?"),
        ("customers?limit=5", "limit", "Did you mean max_returned?"),
        ("customers?updated_after=2026-01-01", "updated_after", "Did you mean from_modified_date?"),
        ("customers?updatedAfter=2026-01-01", "updatedAfter", "Did you mean from_modified_date?"),
        ("customers?from_date=2026-01-01", "from_date", "Did you mean from_modified_date?"),
        ("invoices?from_date=2026-01-01", "from_date", "Did you mean from_transaction_date?"),
        ("invoices?fields=TxnID", "fields", "Did you mean include[]?"),
        ("customers?page=2", "page", NO_PAGES),
        ("customers?wait=5", "wait", "Send it as a header, such as Prefer: wait=10."),
        ("customers?full_name=Ada", "full_name", QUEUE_WITH.format("CustomerQueryRq", "FullName")),
        ("invoices?id=1", "id", QUEUE_WITH.format("InvoiceQueryRq", "TxnID")),
        ("invoices?full_name=Ada", "full_name", None),
        ("queued_requests?webhookState=failed", "webhookState", "Did you mean webhook_state?"),
        ("queued_requests?created_after=2026-01-01", "created_after", "Did you mean from?"),
    ],
)
def test_a_parameter_with_another_name(deployment: Deployment, path: str, field: str, suggestion: str) -> None:
    connection = deployment.requests_url.rpartition("/")[0]

    assert problem_of(deployment.api.call("GET", f"{connection}/{path}")) == (field, suggestion)


def test_the_year_of_a_date_in_a_query_comes_first(deployment: Deployment) -> None:
    connection = deployment.requests_url.rpartition("/")[0]

    response = deployment.api.call("GET", f"{connection}/invoices?from_transaction_date=11/22/2026")

    message = "from_transaction_date: must be a date, such as 2026-01-31, not '11/22/2026'"
    assert response.json["error"]["message"] == message
    assert problem_of(response) == ("from_transaction_date", "Write 2026-11-22.")


def test_a_member_that_occurs_twice_is_refused(deployment: Deployment) -> None:
    """A JSON parser keeps the last one only, so the first line of this invoice would be lost."""
    line = '"InvoiceLineAdd": {"Amount": "1.00"}'
    body = f'{{"request_json": {{"InvoiceAddRq": {{"InvoiceAdd": {{{line}, {line}}}}}}}}}'

    response = deployment.api.call("POST", deployment.requests_url, text=body)

    assert problem_of(response) == ("body", 'An element that repeats is an array: {"InvoiceLineAdd": [ … ]}.')
    assert response.json["error"]["message"] == "body: has an object with the member 'InvoiceLineAdd' twice"


def test_a_key_of_a_query_that_is_used_for_another_call_is_explained_without_a_body(deployment: Deployment) -> None:
    connection, headers = deployment.requests_url.rpartition("/")[0], {"Idempotency-Key": "nightly"}
    first = deployment.api.call("GET", f"{connection}/customers?name=a", headers=headers).json["data"]["id"]

    for path in ("customers?name=b", "vendors?name=a"):
        other = deployment.api.call("GET", f"{connection}/{path}", headers=headers)

        assert (other.status, other.code) == (409, "idempotency_key_reused")
        message = f"This Idempotency-Key was used for another call, which queued the request {first}."
        assert other.json["error"]["message"].startswith(message)


def test_several_problems_are_one_sentence(deployment: Deployment) -> None:
    request = {"CustomerAddRq": {"CustomerAdd": {"nam": "a", "fax": "b"}}}

    response = deployment.api.call("POST", deployment.requests_url, {"request_json": request})

    unknown = "request_json: {} is not an element of CustomerAdd"
    assert response.json["error"]["message"] == f"{unknown.format('nam')}; {unknown.format('fax')}."
