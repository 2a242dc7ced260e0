"""Calls the API's functions as API Gateway does, with the template's routes, authorizer and proxy events."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from domain.errors import Unauthorized
from handlers.common.http import SECURITY_HEADERS
from local.template import Template
from tests.support.api_response import ApiResponse
from tests.support.openapi import check_response

if TYPE_CHECKING:
    from collections.abc import Mapping

STAGE = "live"
DOMAIN = "queue.example.com"
REQUEST_ID = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"


@dataclass(frozen=True, slots=True)
class Route:
    """A path of the template with the function behind it."""

    method: str
    path: str
    handler: str
    open: bool

    @property
    def is_described(self) -> bool:
        """Whether OpenAPI and the README's table have the route: HEAD is GET without a body, and has no entry."""
        return self.path.startswith("/api/") and self.method != "HEAD"

    def parameters(self, path: str) -> dict[str, str] | None:
        """Return the path's parameters, or None if the path does not match this route."""
        pattern = re.sub(r"\{(\w+)\+\}", r"(?P<\1>.+)", self.path)
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
        match = re.fullmatch(pattern, path)
        return {name: unquote(value) for name, value in match.groupdict().items()} if match else None


@cache
def routes() -> tuple[Route, ...]:
    """Return every route that the template declares for one method. `ANY` takes the methods that a path lacks."""
    return tuple(
        Route(
            event.properties["Method"].upper(),
            event.properties["Path"],
            function.handler,
            event.properties.get("Auth", {}).get("Authorizer") == "NONE",
        )
        for function in Template.load().functions()
        for event in function.events
        if event.type == "Api" and event.properties["Method"] != "any"
    )


def basic(key: str, password: str = "") -> str:
    """Return the Authorization header of a key."""
    return "Basic " + base64.b64encode(f"{key}:{password}".encode()).decode()


def api_event(
    method: str,
    url: str,
    *,
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
    authorizer: Mapping[str, str] | None = None,
    is_base64: bool = False,
) -> dict[str, Any]:
    """Return the proxy event of a REST API for a call."""
    parts = urlsplit(url)
    route, parameters = next(
        (route, path_parameters)
        for route in routes()
        if route.method == method and (path_parameters := route.parameters(parts.path)) is not None
    )
    query = parse_qs(parts.query, keep_blank_values=True)
    all_headers = {"Host": DOMAIN, "X-Forwarded-Proto": "https", "User-Agent": "curl/8.5.0", **(headers or {})}
    return {
        "resource": route.path,
        "path": parts.path,
        "httpMethod": method,
        "headers": all_headers,
        "multiValueHeaders": {name: [value] for name, value in all_headers.items()},
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": parameters or None,
        "stageVariables": None,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3d4e5",
            "authorizer": {**authorizer, "principalId": authorizer["app_id"]} if authorizer else None,
            "domainName": DOMAIN,
            "domainPrefix": "queue",
            "extendedRequestId": "JKJaXmPLvHcESHA=",
            "httpMethod": method,
            "identity": {"sourceIp": "203.0.113.7", "userAgent": "curl/8.5.0"},
            "path": f"/{STAGE}{parts.path}",
            "protocol": "HTTP/1.1",
            "requestId": REQUEST_ID,
            "requestTime": "14/Mar/2026:12:00:00 +0000",
            "requestTimeEpoch": 1773489600000,
            "resourceId": "0nsolv",
            "resourcePath": route.path,
            "stage": STAGE,
        },
        "body": body,
        "isBase64Encoded": is_base64,
    }


def load(handler: str) -> Any:
    """Return the function that a template's `Handler` names."""
    module, _, name = handler.rpartition(".")
    return getattr(import_module(module), name)


class ApiClient:
    """Calls the API with one key."""

    def __init__(self, key: str | None) -> None:
        self.key = key

    def call(
        self,
        method: str,
        url: str,
        json_body: Any = None,
        *,
        text: str | None = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        """Call a URL with a JSON body, any text, or bytes that API Gateway treats as binary."""
        all_headers = dict(headers or {})
        body = json.dumps(json_body) if json_body is not None else text
        if body is not None or data is not None:
            all_headers = {"content-type": "application/json"} | all_headers
        route = next(
            candidate
            for candidate in routes()
            if candidate.method == method and candidate.parameters(urlsplit(url).path) is not None
        )
        context = None
        if not route.open:
            try:
                context = self._authorized(all_headers)
            except Unauthorized:
                return _checked(route, _gateway_response("UNAUTHORIZED"))
        event = api_event(
            method,
            url,
            body=base64.b64encode(data).decode() if data is not None else body,
            headers=all_headers,
            authorizer=context,
            is_base64=data is not None,
        )
        return _checked(route, _response(load(route.handler)(json.loads(json.dumps(event)), None)))

    def _authorized(self, headers: Mapping[str, str]) -> dict[str, str]:
        token = headers.get("Authorization") or (basic(self.key) if self.key is not None else None)
        if token is None:
            # API Gateway does not call a TOKEN authorizer if the header is missing.
            raise Unauthorized("Unauthorized")
        arn = f"arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/{STAGE}/GET/api/v1/connections"
        policy = load("handlers.authorizer.handler")(
            {"type": "TOKEN", "authorizationToken": token, "methodArn": arn}, None
        )
        return {name: str(value) for name, value in policy["context"].items()}


def _checked(route: Route, response: ApiResponse) -> ApiResponse:
    """Check a response against the OpenAPI document and return it."""
    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name] == value, f"{route.method} {route.path} returned no {name}"
    if route.path.startswith("/api/"):
        check_response(
            route.method, route.path, response.status, response.headers.get("Content-Type", ""), response.text
        )
    return response


def _gateway_response(name: str) -> ApiResponse:
    response = Template.load().api()["GatewayResponses"][name]
    headers = {"Content-Type": "'application/json'"} | response["ResponseParameters"]["Headers"]
    return ApiResponse(
        int(response["StatusCode"]),
        {header: value.strip("'") for header, value in headers.items()},
        response["ResponseTemplates"]["application/json"],
    )


def _response(result: dict[str, Any]) -> ApiResponse:
    json.dumps(result)  # as Lambda's runtime does
    headers = {name: values[-1] for name, values in (result.get("multiValueHeaders") or {}).items()}
    headers |= result.get("headers") or {}
    if not result.get("isBase64Encoded"):
        return ApiResponse(result["statusCode"], headers, result.get("body") or "")
    data = base64.b64decode(result["body"])
    if headers.get("Content-Encoding") == "gzip":
        data = gzip.decompress(data)
    return ApiResponse(result["statusCode"], headers, data.decode())
