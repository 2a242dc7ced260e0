"""A call in a wrong but common form gets an answer that names the correct form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

ADD = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}
SEPARATELY = "Queue each request separately. Requests are sent in the order in which they are queued."
ONLY_THE_REQUEST = 'Write only the request, for example {"CustomerQueryRq": {"MaxReturned": 5}}.'


def problem_of(response: Any) -> tuple[str, str | None]:
    """Return the field and the suggestion of the first problem."""
    assert response.status == 400, response.json
    problem = response.json["error"]["details"]["problems"][0]
    return problem["field"], problem.get("suggestion")


def invoice(**fields: Any) -> dict[str, Any]:
    return {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"FullName": "Ada"}, **fields}}}


@pytest.mark.parametrize(
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
        (invoice(TxnDate="13/13/2026"), None),
        (
            {"InvoiceQueryRq": {"ModifiedDateRangeFilter": {"FromModifiedDate": "11/22/2026 10:00"}}},
            "Write 2026-11-22.",
        ),
        (
            {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada: kitchen"}}},
            "Write 'kitchen', and 'Ada' as the FullName of ParentRef.",
        ),
        ({"VendorAddRq": {"VendorAdd": {"Name": "Ada:kitchen"}}}, None),
        ({"CustomerAddRq": {"CustomerAdd": {"Name": "Łódź"}}}, "Write 'Lódz', or add ?transliterate=true."),
    ],
    ids=str,
)
def test_a_request_in_another_form(deployment: Deployment, request_json: Any, suggestion: str | None) -> None:
    response = deployment.api.call("POST", deployment.requests_url, {"request_json": request_json})

    assert problem_of(response) == ("request_json", suggestion)


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
    ],
)
def test_a_field_with_another_name(deployment: Deployment, body: Any, field: str, suggestion: str) -> None:
    assert problem_of(deployment.api.call("POST", deployment.requests_url, body)) == (field, suggestion)


@pytest.mark.parametrize(
    ("path", "field", "suggestion"),
    [
        ("queued_requests?per_page=5", "per_page", "Did you mean page_size?"),
        ("queued_requests?limit=5", "limit", "Did you mean page_size?"),
        ("queued_requests?status=waiting", "status", "Did you mean state?"),
        ("invoices?per_page=5", "per_page", "Did you mean max_returned?"),
        ("customers?limit=5", "limit", "Did you mean max_returned?"),
        ("customers?updated_after=2026-01-01", "updated_after", "Did you mean from_modified_date?"),
    ],
)
def test_a_parameter_with_another_name(deployment: Deployment, path: str, field: str, suggestion: str) -> None:
    connection = deployment.requests_url.rpartition("/")[0]

    assert problem_of(deployment.api.call("GET", f"{connection}/{path}")) == (field, suggestion)


def test_the_year_of_a_date_in_a_query_comes_first(deployment: Deployment) -> None:
    connection = deployment.requests_url.rpartition("/")[0]

    response = deployment.api.call("GET", f"{connection}/invoices?from_transaction_date=11/22/2026")

    assert response.json["error"]["message"] == "from_transaction_date: Write 2026-11-22."


def test_a_member_that_occurs_twice_is_refused(deployment: Deployment) -> None:
    """A JSON parser keeps the last one only, so the first line of this invoice would be lost."""
    line = '"InvoiceLineAdd": {"Amount": "1.00"}'
    body = f'{{"request_json": {{"InvoiceAddRq": {{"InvoiceAdd": {{{line}, {line}}}}}}}}}'

    response = deployment.api.call("POST", deployment.requests_url, text=body)

    assert problem_of(response) == ("body", 'An element that repeats is an array: {"InvoiceLineAdd": [ … ]}.')
    assert response.json["error"]["message"] == "body: has an object with the member 'InvoiceLineAdd' twice"
