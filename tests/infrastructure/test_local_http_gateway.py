"""The local HTTP API treats requests and responses as API Gateway does."""

from __future__ import annotations

import base64
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from local.functions import FunctionError, PayloadTooLarge, StillRunning
from local.gateway import MAX_BODY_BYTES, Request
from local.http_gateway import HttpGateway
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable

MAPPING = "/connector"
OK = {"statusCode": 200, "headers": {"Content-Type": "text/plain"}, "body": "ok", "isBase64Encoded": False}


class Functions:
    """A function in place of each, which records its events."""

    def __init__(self, function: Callable[[dict[str, Any]], Any] = lambda _: OK) -> None:
        self._function = function
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def invoke(self, name: str, event: dict[str, Any], *, patience_seconds: float) -> Any:
        assert patience_seconds == 30
        self.calls.append((name, event))
        return self._function(event)


def gateway(functions: Functions) -> HttpGateway:
    """Return the HTTP API of the service's own template."""
    return HttpGateway(Template.load(), functions, MAPPING, threading.Lock())  # type: ignore[arg-type]


def request(method: str, target: str, body: bytes = b"", **headers: str) -> Request:
    names = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Request(method, target, [("Host", "localhost:3000"), *names], body)


@pytest.mark.parametrize(
    ("method", "path", "function", "parameters"),
    [
        ("GET", "/qbwc", "WebConnectorFunction", None),
        ("POST", "/qbwc", "WebConnectorFunction", None),
        ("GET", "/support", "ServeConsoleFunction", None),
        ("GET", "/app/assets/12/a%20b.js", "ServeConsoleFunction", {"path": "12/a b.js"}),
    ],
)
def test_a_route_leads_to_its_function(
    method: str, path: str, function: str, parameters: dict[str, str] | None
) -> None:
    functions = Functions()

    response = gateway(functions).handle(request(method, f"{MAPPING}{path}"))

    ((name, event),) = functions.calls
    assert (response.status, response.body, name) == (200, b"ok", function)
    assert event["rawPath"] == f"{MAPPING}{path}"
    assert event.get("pathParameters") == parameters
    assert not {"body", "queryStringParameters"} & event.keys()


@pytest.mark.parametrize(
    ("content_type", "encoded"),
    [("text/xml; charset=utf-8", False), ("application/xml", False), ("application/soap+xml", True), ("", True)],
)
def test_text_arrives_as_text_and_other_types_in_base64(content_type: str, *, encoded: bool) -> None:
    functions = Functions()
    body = "<a>é</a>".encode()

    gateway(functions).handle(request("POST", f"{MAPPING}/qbwc?a=1&a=2", body, Content_Type=content_type))

    ((_, event),) = functions.calls
    assert event["isBase64Encoded"] is encoded
    assert (base64.b64decode(event["body"]) if encoded else event["body"].encode()) == body
    assert event["queryStringParameters"] == {"a": "1,2"}
    assert event["headers"]["content-type"] == content_type


def test_a_response_in_base64_reaches_the_client_as_bytes() -> None:
    functions = Functions(lambda _: {**OK, "body": base64.b64encode(b"\x00\xff").decode(), "isBase64Encoded": True})

    assert gateway(functions).handle(request("GET", f"{MAPPING}/support")).body == b"\x00\xff"


def raising(error: Exception) -> Callable[[dict[str, Any]], Any]:
    def function(_: dict[str, Any]) -> Any:
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "status", "message"),
    [
        (raising(PayloadTooLarge("7 MB")), 413, "Request Entity Too Large"),
        (raising(FunctionError("KeyError")), 500, "Internal Server Error"),
        (raising(StillRunning("30 s")), 503, "Service Unavailable"),
        (lambda _: "no response", 500, "Internal Server Error"),
    ],
)
def test_api_gateway_responds_itself_if_the_function_does_not(
    function: Callable[[dict[str, Any]], Any], status: int, message: str
) -> None:
    response = gateway(Functions(function)).handle(request("POST", f"{MAPPING}/qbwc"))

    assert (response.status, json.loads(response.body)) == (status, {"message": message})


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("PUT", "/qbwc"), ("GET", "/api/v1/connections"), ("GET", "/app")]
)
def test_the_http_api_has_no_other_routes(method: str, path: str) -> None:
    functions = Functions()

    response = gateway(functions).handle(request(method, f"{MAPPING}{path}"))

    assert (response.status, json.loads(response.body)) == (404, {"message": "Not Found"})
    assert not functions.calls


def test_a_body_over_10_mb_does_not_reach_the_function() -> None:
    functions = Functions()

    response = gateway(functions).handle(request("POST", f"{MAPPING}/qbwc", bytes(MAX_BODY_BYTES + 1)))

    assert response.status == 413
    assert not functions.calls


@pytest.mark.parametrize(
    ("path", "serves"), [("/connector", True), ("/connector/qbwc", True), ("/connectors", False), ("/qbwc", False)]
)
def test_only_paths_below_the_mapping_belong_to_it(path: str, *, serves: bool) -> None:
    assert gateway(Functions()).serves(request("GET", path)) is serves
