"""A call in a wrong but common form gets an answer that names the correct form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from domain.qbxml.request.other_names import BESIDE_THE_REQUEST
from handlers.rest.new_queued_request import NewBatchRequest

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
LINE = {"ItemRef": {"FullName": "Oak"}}


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
        ({"CustomerAddRq": {"CustomerAdd": {"Name": "Łódź"}}}, "Write 'Lódz', or add ?transliterate=true."),
    ],
    ids=str,
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
