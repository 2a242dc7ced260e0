"""Queue requests and convenience queries through the functions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.request import QueuedRequest, RequestError, State
from domain.storage.changes import Put
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID, REQUEST_XML

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

TREE = {
    "version": "13.0",
    "request": {
        "name": "CustomerQueryRq",
        "attributes": {"request_id": "1"},
        "children": [{"name": "MaxReturned", "text": "10"}],
    },
}
HOOK = "https://shop.example/hook"


MISPLACED = REQUEST_XML.replace("<MaxReturned>", "<ActiveStatus>All</ActiveStatus><MaxReturned>")
FOREIGN = REQUEST_XML.replace("<MaxReturned>10</MaxReturned>", "<FullName>Łódź</FullName>")


def test_without_the_check_a_request_that_the_schema_refuses_is_queued_and_read_back(deployment: Deployment) -> None:
    invalid = deployment.api.call("POST", deployment.requests_url, {"request_xml": MISPLACED})
    assert invalid.status == 400
    (problem,) = invalid.json["error"]["details"]["problems"]
    assert (problem["line"], "MaxReturned" in problem["message"]) == (1, True)

    created = deployment.api.call("POST", f"{deployment.requests_url}?validate=false", {"request_xml": MISPLACED})

    assert created.status == 201
    record = deployment.api.call("GET", created.json["data"]["links"]["self"])
    assert record.status == 200
    assert [child["name"] for child in record.json["data"]["request_json"]["request"]["children"]] == [
        "ActiveStatus",
        "MaxReturned",
    ]


def test_without_the_check_malformed_xml_is_still_refused(deployment: Deployment) -> None:
    response = deployment.api.call("POST", f"{deployment.requests_url}?validate=false", {"request_xml": "<QBXML>"})

    assert response.status == 400


def test_characters_that_quickbooks_cannot_store_are_refused_or_replaced(deployment: Deployment) -> None:
    invalid = deployment.api.call("POST", deployment.requests_url, {"request_xml": FOREIGN})
    assert invalid.status == 400
    assert "FullName" in invalid.json["error"]["details"]["problems"][0]["path"]

    created = deployment.api.call("POST", f"{deployment.requests_url}?transliterate=true", {"request_xml": FOREIGN})

    assert "<FullName>Lódz</FullName>" in created.json["data"]["request_xml"]


def test_a_version_that_the_connections_quickbooks_does_not_support_is_refused(deployment: Deployment) -> None:
    before = deployment.store.connection(CONNECTION_ID)
    assert before is not None
    deployment.store.commit(Put(before, replace(before, qbxml_version="12.0").changed(before.updated_at)))

    explicit = f'<?qbxml version="13.0"?>{REQUEST_XML}'
    response = deployment.api.call("POST", deployment.requests_url, {"request_xml": explicit})

    assert (response.status, response.json["error"]["code"]) == (400, "unsupported_by_version")
    assert response.json["error"]["details"] == {"qbxml_version": "13.0", "supported": "12.0"}


@pytest.mark.parametrize("query", ["", "?qbxml_version=11.0"])
def test_a_request_without_a_version_is_one_that_quickbooks_supports(deployment: Deployment, query: str) -> None:
    before = deployment.store.connection(CONNECTION_ID)
    assert before is not None
    deployment.store.commit(Put(before, replace(before, qbxml_version="12.0").changed(before.updated_at)))

    in_xml = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML})
    in_json = deployment.api.call("POST", deployment.requests_url, {"request_json": {"CustomerQueryRq": {}}})
    by_get = deployment.api.call("GET", deployment.requests_url.replace("queued_requests", f"customers{query}"))

    assert (in_xml.status, in_json.status, by_get.status) == (201, 201, 202)
    versions = [response.json["data"]["request_json"]["version"] for response in (in_xml, in_json, by_get)]
    assert versions == ["12.0", "12.0", "11.0" if query else "12.0"]


def test_a_request_that_does_not_fit_into_a_reply_is_refused(deployment: Deployment) -> None:
    tree = {"CustomerQueryRq": {"FullName": "&" * 900_000}}
    response = deployment.api.call("POST", f"{deployment.requests_url}?validate=false", {"request_json": tree})

    assert (response.status, response.json["error"]["code"]) == (413, "request_too_large")
    assert response.json["error"]["details"]["size_bytes"] > response.json["error"]["details"]["limit_bytes"]


def test_a_queued_request_has_the_fields_of_the_contract(deployment: Deployment) -> None:
    response = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML, "webhook_url": HOOK})

    data = response.json["data"]
    assert response.status == 201
    assert data == {
        "id": data["id"],
        "connection_id": CONNECTION_ID,
        "batch_id": None,
        "batch_position": None,
        "request_name": "CustomerQueryRq",
        "query_id": data["id"],
        "page": 1,
        "last_page": None,
        "subject": None,
        "label": None,
        "metadata": {},
        "depends_on": [],
        "not_compared": None,
        "modification": None,
        "references": [],
        "state": "waiting",
        "webhook_state": "pending",
        "webhook_retrying": False,
        "waiting_reason": data["waiting_reason"],
        "request_xml": REQUEST_XML,
        "request_json": TREE,
        "response_xml": None,
        "response_json": None,
        "error": None,
        "executed": None,
        "settling": None,
        "settles": None,
        "queued_by": {"type": "api_key", "id": data["queued_by"]["id"], "name": None},
        "replaces": None,
        "webhook_url": HOOK,
        "webhook_attempts": [],
        "webhook_error": None,
        "links": {
            "self": f"/api/v1/connections/{CONNECTION_ID}/queued_requests/{data['id']}",
            "ui": f"/app/queued_requests/{data['id']}",
            "connection_ui": f"/app/connections/{CONNECTION_ID}",
        },
        "inserted_at": "2026-03-14T12:00:00.000000Z",
        "send_by": None,
        "priority": "normal",
        "if_exists": "fail",
        "outcome": None,
        "messages": None,
        "approval": None,
        "sent_at": None,
        "first_sent_at": None,
        "sent_in_sessions": 0,
        "responded_at": None,
        "updated_at": "2026-03-14T12:00:00.000000Z",
    }


@pytest.mark.parametrize(
    "body",
    [
        {"request_xml": REQUEST_XML},
        {"request_json": TREE},
        {"request_xml": REQUEST_XML, "request_json": TREE},
        {"request_xml": REQUEST_XML, "request_json": None, "webhook_url": None},
        {"queued_request": {"request_json": TREE}},
    ],
)
def test_every_form_of_the_body_queues_the_same_request(deployment: Deployment, body: dict[str, Any]) -> None:
    response = deployment.api.call("POST", deployment.requests_url, body)

    assert response.status == 201
    assert response.json["data"]["request_xml"] == REQUEST_XML


@pytest.mark.parametrize(
    "body",
    [
        {"request_json": TREE | {"version": "14.0"}},
        {"request_xml": REQUEST_XML.replace("stopOnError", "continueOnError")},
    ],
)
def test_both_forms_of_a_record_describe_the_same_request(deployment: Deployment, body: dict[str, Any]) -> None:
    """Its XML has no prologue to name the version, its tree no place for onError."""
    record = deployment.api.call("POST", deployment.requests_url, body).json["data"]

    forms = {name: record[name] for name in ("request_xml", "request_json")}
    again = deployment.api.call("POST", deployment.requests_url, forms)

    assert again.status == 201
    assert {name: again.json["data"][name] for name in forms} == forms


def test_a_body_in_base64_is_read(deployment: Deployment) -> None:
    response = deployment.api.call(
        "POST", deployment.requests_url, data=json.dumps({"request_xml": REQUEST_XML}).encode()
    )

    assert response.status == 201


@pytest.mark.parametrize("name", ["Content-Type", "CONTENT-TYPE", "content-type"])
@pytest.mark.parametrize("media_type", ["application/json", "Application/JSON; charset=utf-8"])
def test_header_names_and_media_types_may_be_written_in_any_case(
    deployment: Deployment, name: str, media_type: str
) -> None:
    client = ApiClient(deployment.api.key)

    response = client.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={name: media_type})

    assert response.status == 201


def test_a_request_without_a_label_gets_its_id_as_label(deployment: Deployment) -> None:
    data = deployment.queue(request_xml=REQUEST_XML.replace(' requestID="1"', ""))

    assert data["request_json"]["request"]["attributes"] == {"request_id": data["id"]}


def test_a_repeat_with_the_same_idempotency_key_returns_the_first_record(deployment: Deployment) -> None:
    headers = {"idempotency-key": "order-17"}
    first = deployment.api.call("POST", deployment.requests_url, {"request_json": TREE}, headers=headers)

    again = deployment.api.call("POST", deployment.requests_url, {"request_json": TREE}, headers=headers)
    other = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers=headers)

    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert (other.status, other.code) == (409, "idempotency_key_reused")
    assert len(deployment.api.call("GET", deployment.requests_url).json["data"]) == 1


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (None, "It is waiting. It has not ended. Wait until it has, or discard it"),
        ("quickbooks_error", "It ended as quickbooks_error. Nothing was written. Use a new key for the new request."),
        ("outcome_unknown", "It ended as outcome_unknown. QuickBooks may have executed it. Look in QuickBooks"),
        ("deleted", "It was deleted, so the service cannot say how it ended."),
    ],
)
def test_a_key_that_was_used_says_how_the_first_request_ended(
    deployment: Deployment, ended: str | None, told: str
) -> None:
    headers = {"idempotency-key": "order-17"}
    body = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}}
    first = deployment.api.call("POST", deployment.requests_url, body, headers=headers).json["data"]["id"]
    if ended == "deleted":
        deployment.api.call("DELETE", f"/api/v1/queued_requests/{first}?force=true")
    elif ended:
        deployment.end(first, State.ERROR, error=RequestError(ended, "No."))

    other = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers=headers)

    assert (other.status, other.code) == (409, "idempotency_key_reused")
    assert told in other.json["error"]["message"]
    outcomes = {} if ended == "deleted" else {ended or "waiting": 1}
    assert other.json["error"]["details"] == {"record_id": first, "outcomes": outcomes}


def test_null_opts_out_of_the_default_webhook_url(deployment: Deployment) -> None:
    deployment.api.call("PATCH", f"/api/v1/connections/{CONNECTION_ID}", {"webhook_url": HOOK})

    assert deployment.queue()["webhook_url"] == HOOK
    record = deployment.queue(webhook_url=None)

    assert (record["webhook_url"], record["webhook_state"]) == (None, "not_applicable")


def test_a_webhook_url_that_is_null_is_another_body_than_one_that_is_missing(deployment: Deployment) -> None:
    body, headers = {"request_xml": REQUEST_XML}, {"Idempotency-Key": "k"}
    first = deployment.api.call("POST", deployment.requests_url, body, headers=headers)

    second = deployment.api.call("POST", deployment.requests_url, body | {"webhook_url": None}, headers=headers)

    assert (first.status, second.status) == (201, 409)


def test_a_call_logs_one_line_without_credential_body_and_query(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    deployment.api.call("GET", f"{deployment.requests_url}?search_phrase=secret")

    (line,) = (record for record in caplog.records if record.message == "api.called")
    facts = vars(line)
    assert (facts["method"], facts["path"], facts["status"]) == ("GET", deployment.requests_url, 200)
    assert facts["app_id"] == deployment.app_id
    assert "secret" not in str(facts)
    assert str(deployment.api.key) not in str(facts)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("customers?name=Ann,%20Bob&include[]=Name,Email&include[]=ListID", "CustomerQueryRq"),
        ("vendors", "VendorQueryRq"),
        ("sales_orders?from_modified_date=2026-01-01", "SalesOrderQueryRq"),
        ("invoices?status=PaidOnly", "InvoiceQueryRq"),
        ("items?max_returned=5", "ItemQueryRq"),
    ],
)
def test_a_query_endpoint_queues_its_query_and_is_not_cached(deployment: Deployment, path: str, name: str) -> None:
    response = deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}/{path}")

    data = response.json["data"]
    assert (response.status, data["request_name"]) == (202, name)
    assert response.headers["Cache-Control"] == "no-store"
    assert data["links"]["self"] == f"/api/v1/connections/{CONNECTION_ID}/queued_requests/{data['id']}"


@pytest.mark.parametrize(
    ("path", "body", "may_begin"),
    [
        ("queued_requests", {"request_json": {"AccountQueryRq": {}}}, False),
        ("queued_requests", {"request_json": {"BillQueryRq": {}}}, False),
        ("queued_requests", {"request_json": {"BillQueryRq": {}}, "iterate": "never"}, False),
        ("queued_requests", {"request_json": {"BillQueryRq": {}}, "iterate": "auto"}, True),
        ("customers", None, True),
        ("customers?iterate=never", None, False),
        ("customers?max_returned=5", None, False),
        ("sales_orders", None, False),
    ],
)
def test_a_query_begins_to_iterate_only_if_it_can_and_may(
    deployment: Deployment, path: str, body: dict[str, Any] | None, *, may_begin: bool
) -> None:
    path = f"/api/v1/connections/{CONNECTION_ID}/{path}"
    response = deployment.api.call("POST", path, body) if body else deployment.api.call("GET", path)

    assert response.status in {201, 202}, response.json
    record = deployment.store.request(response.json["data"]["id"])
    assert isinstance(record, QueuedRequest)
    assert record.paging.may_begin == may_begin


@pytest.mark.parametrize(
    "request_json",
    [
        {"AccountQueryRq": {}},
        {"BillQueryRq": {"MaxReturned": 5}},
        {"CustomerQueryRq": {"ListID": "80000001-1"}},
        {"CustomerAddRq": {"CustomerAdd": {"Name": "Ann"}}},
    ],
)
def test_iterate_is_refused_for_a_request_that_cannot_iterate(
    deployment: Deployment, request_json: dict[str, Any]
) -> None:
    response = deployment.api.call("POST", deployment.requests_url, {"request_json": request_json, "iterate": "auto"})

    assert response.status == 400
    (problem,) = response.json["error"]["details"]["problems"]
    assert problem["field"] == "iterate"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("query", ["customers?name=Ann", "invoices?include[]=RefNumber", "items"])
def test_a_repeated_query_with_an_idempotency_key_is_queued_once(
    deployment: Deployment, method: str, query: str
) -> None:
    url = deployment.requests_url.replace("queued_requests", query)
    headers = {"Idempotency-Key": "nightly-2026-03-14"}

    first, second = (deployment.api.call(method, url, headers=headers) for _ in range(2))
    other = deployment.api.call(method, deployment.requests_url.replace("queued_requests", "vendors"), headers=headers)
    without_key = deployment.api.call(method, url)

    assert (first.status, second.status, other.status, without_key.status) == (202, 200, 409, 202)
    assert first.json["data"]["id"] == second.json["data"]["id"] != without_key.json["data"]["id"]
    assert len(deployment.api.call("GET", deployment.requests_url).json["data"]) == 2


def test_a_query_by_post_takes_its_parameters_from_the_url(deployment: Deployment) -> None:
    url = deployment.requests_url.replace("queued_requests", "customers")

    by_get, by_post = (deployment.api.call(method, f"{url}?name=Ann").json["data"] for method in ("GET", "POST"))
    with_body = deployment.api.call("POST", url, {"name": "Ann"})

    assert by_get["request_name"] == by_post["request_name"] == "CustomerQueryRq"
    assert by_get["request_json"]["request"]["children"] == by_post["request_json"]["request"]["children"]
    assert (with_body.status, with_body.json["error"]["message"]) == (
        400,
        "body: must be empty. Write the parameters in the URL",
    )
