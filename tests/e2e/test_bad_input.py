"""Bad input over HTTP gets the contract's error (or the protocol's), never a 500, and nothing is stored."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest
import urllib3

from local.first_steps import Api
from tests.e2e.support import QUERY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.support import Connection, Service
    from tests.support.api_response import ApiResponse

UNKNOWN_ID = "c0000000-0000-4000-8000-00000000000f"
ONE = '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq/></QBXMLMsgsRq></QBXML>'


@pytest.fixture
def connection(service: Service) -> Iterator[Connection]:
    """Yield a connection, and check afterwards that nothing was stored in it."""
    connection = service.connection()
    yield connection
    response = service.call("GET", f"{connection.path}/queued_requests")
    assert (response.status, response.json["data"], response.json["total_pages"]) == (200, [], 0)


def with_authorization(service: Service, path: str, header: str | None) -> ApiResponse:
    headers = {} if header is None else {"Authorization": header}
    return service.call("GET", path, key="", headers=headers)


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "header", ["Basic", "Basic !!!", "Bearer sk_x", basic("no colon"), basic("sk_unknown:"), basic(":")]
)
def test_a_malformed_or_unknown_credential_is_refused(service: Service, header: str) -> None:
    response = with_authorization(service, "/api/v1/connections", header)

    assert response.status == 401
    if service.applies_gateway_responses:
        assert response.code == "unauthorized"
        assert response.headers["WWW-Authenticate"].startswith("Basic realm=")


def test_no_credential_is_refused(service: Service) -> None:
    pool = urllib3.PoolManager(retries=urllib3.Retry(False))
    response = pool.request("GET", f"{service.base_url}/api/v1/connections")
    pool.clear()

    assert response.status == 401
    if service.applies_gateway_responses:
        assert json.loads(response.data)["error"]["code"] == "unauthorized"


def test_a_read_only_key_changes_nothing(service: Service, connection: Connection) -> None:
    key = service.operate("create_key", app_id=service.app_id, scope="read_only")["api_key"]

    allowed = service.call("GET", connection.path, key=key)
    forbidden = service.call("POST", f"{connection.path}/queued_requests", {"request_json": QUERY}, key=key)

    assert allowed.status == 200
    assert (forbidden.status, forbidden.code) == (403, "forbidden")


def test_an_id_of_another_app_is_not_found(service: Service, connection: Connection) -> None:
    stranger = service.operate("create_app", name="Stranger")
    key = service.operate("create_key", app_id=stranger["app_id"])["api_key"]

    for method, path, body in (
        ("GET", connection.path, None),
        ("POST", f"{connection.path}/queued_requests", {"request_json": QUERY}),
        ("GET", f"{connection.path}/customers", None),
    ):
        response = service.call(method, path, body, key=key)
        assert (response.status, response.code) == (404, "not_found")


def test_a_body_of_2_mb_is_too_large(connection: Connection) -> None:
    body = {"request_xml": ONE.replace("<CustomerQueryRq/>", " " * 2 * 1024 * 1024)}

    response = connection.service.call("POST", f"{connection.path}/queued_requests", body)

    assert (response.status, response.code) == (413, "request_too_large")


SOAP = (
    '<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>{}'
    "</soap:Body></soap:Envelope>"
)


def test_soap_of_6_mb_is_refused(service: Service) -> None:
    body = SOAP.format("<x>" + "a" * 6 * 1024 * 1024 + "</x>").encode()

    response = service.call("POST", "/qbwc", body, headers={"Content-Type": "text/xml"})

    assert response.status == 413


def test_an_unknown_path_is_not_found(gateway: Service) -> None:
    outside, below = "begin with /api/v1", "/api/v1/ can be followed by api_key, "
    for path, message in (("/nothing", outside), ("/api/v1/nothing", below), ("/api/v2/connections", outside)):
        response = gateway.call("GET", path)
        assert (response.status, response.code) == (404, "not_found")
        assert message in response.json["error"]["message"]


def test_the_path_that_is_meant_is_suggested(gateway: Service) -> None:
    response = gateway.call("POST", f"/api/v1/connections/{UNKNOWN_ID}/queued_requests/btach", {})

    meant = f"/api/v1/connections/{UNKNOWN_ID}/queued_requests/batch"
    assert (response.status, response.code) == (404, "not_found")
    assert response.json["error"]["message"] == f"The path does not exist. Did you mean {meant}?"


@pytest.mark.parametrize("path", ["/app", "/app/qbxml", "/docs", "/openapi.json", "/support", "/api/v1/connections"])
def test_head_has_the_status_and_the_type_of_get_and_no_body(gateway: Service, path: str) -> None:
    get, head = gateway.call("GET", path), gateway.call("HEAD", path)

    assert (head.status, head.text) == (200, "")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]
    assert gateway.call("HEAD", "/api/v1/nothing").status == 404


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/v1/connections", "GET, HEAD, POST"),
        (f"/api/v1/connections/{UNKNOWN_ID}", "DELETE, GET, HEAD, PATCH"),
        (f"/api/v1/connections/{UNKNOWN_ID}/queued_requests/{UNKNOWN_ID}/discard", "POST"),
    ],
)
def test_a_method_that_a_path_does_not_have_is_refused_with_the_ones_that_it_has(
    gateway: Service, path: str, allowed: str
) -> None:
    response = gateway.call("PUT", path, {})

    assert (response.status, response.code) == (405, "method_not_allowed")
    assert response.headers["Allow"] == allowed
    assert response.json["error"]["message"].endswith(f"does not have the method PUT. It has {allowed}.")


def test_without_a_key_an_unknown_method_is_unauthorized(gateway: Service) -> None:
    response = gateway.call("PATCH", "/api/v1/connections", {}, key="")

    assert (response.status, response.code) == (401, "unauthorized")


def test_more_than_10_mb_is_too_large(gateway: Service) -> None:
    response = gateway.call("POST", "/api/v1/connections", b" " * (10 * 1024 * 1024 + 1))

    assert (response.status, response.code) == (413, "request_too_large")


def test_a_second_response_uses_the_same_connection(service: Service) -> None:
    """The connection can still be used after a body that was refused."""
    api = Api(service.base_url, service.api_key)

    first = api.request("POST", "/api/v1/connections", b" " * (2 * 1024 * 1024))
    second = api.request("GET", "/api/v1/connections")

    assert first.status == 413
    assert second.status == 200
