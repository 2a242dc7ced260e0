"""An HTTP API of API Gateway on one machine: the routes of the template's `AWS::ApiGatewayV2` resources.

Sources: "Create AWS Lambda proxy integrations for HTTP APIs" (payload format 2.0) and "Quotas for configuring and
running an HTTP API". It has no authorizers, and like `local/gateway.py` no rate limits.
"""

from __future__ import annotations

import base64
import json
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from local.functions import FunctionError, PayloadTooLarge, StillRunning
from local.gateway import MAX_BODY_BYTES, Request, Response, path_pattern
from local.template import PSEUDO_PARAMETERS

if TYPE_CHECKING:
    import re
    import threading
    from collections.abc import Iterator, Mapping

    from local.functions import Functions
    from local.template import Template

INTEGRATION_SECONDS = 30
"""API Gateway: how long an HTTP API waits for a function."""

API_ID = "localhttp"

TEXT_TYPES = frozenset({"application/javascript", "application/json", "application/xml"})
"""Bodies of these types, and of `text/*`, reach the function as text, all others as base64."""


class GatewayError(Exception):
    """An error for which API Gateway itself responds. An HTTP API's responses cannot be configured."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Route:
    """A route key (`GET /qbwc`) and the function behind it."""

    key: str
    function: str
    pattern: re.Pattern[str]


class HttpGateway:
    """The HTTP API of a template, behind a path of a domain name (`AWS::ApiGatewayV2::ApiMapping`)."""

    def __init__(self, template: Template, functions: Functions, mapping: str, one_at_a_time: threading.Lock) -> None:
        """Take the path of the mapping, such as `/connector`, and the lock of `local.gateway.Gateway`."""
        self._functions = functions
        self._mapping = mapping
        self._one_at_a_time = one_at_a_time
        self._routes = list(_routes(template))

    def serves(self, request: Request) -> bool:
        """Return whether a request is for this API."""
        return request.path == self._mapping or request.path.startswith(f"{self._mapping}/")

    def handle(self, request: Request) -> Response:
        """Return the response of the deployed API."""
        try:
            route, parameters = self._route(request)
            return _response(self._call(route.function, self._event(request, route, parameters)))
        except GatewayError as error:
            body = json.dumps({"message": str(error)}).encode()
            return Response(error.status, [("Content-Type", "application/json")], body)

    def _route(self, request: Request) -> tuple[Route, dict[str, str]]:
        if len(request.body) > MAX_BODY_BYTES:
            raise GatewayError(413, "Request Entity Too Large")
        for route in self._routes:
            method, _ = route.key.split(" ")
            match = route.pattern.fullmatch(request.path.removeprefix(self._mapping))
            if match and method in {request.method, "ANY"}:
                return route, {name: unquote(value) for name, value in match.groupdict().items()}
        raise GatewayError(404, "Not Found")

    def _event(self, request: Request, route: Route, parameters: dict[str, str]) -> dict[str, Any]:
        now = datetime.now(UTC)
        host = (request.header("Host") or "").partition(":")[0]
        headers: dict[str, str] = {}
        for name, value in request.headers:
            headers[name.lower()] = f"{headers[name.lower()]},{value}" if name.lower() in headers else value
        query: dict[str, str] = {}
        raw_query = request.target.partition("?")[2]
        for name, value in parse_qsl(raw_query, keep_blank_values=True):
            query[name] = f"{query[name]},{value}" if name in query else value
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_text = content_type.startswith("text/") or content_type in TEXT_TYPES
        body = request.body.decode("utf-8", "replace") if is_text else base64.b64encode(request.body).decode()
        return {
            "version": "2.0",
            "routeKey": route.key,
            "rawPath": request.path,
            "rawQueryString": raw_query,
            "headers": headers,
            "requestContext": {
                "accountId": PSEUDO_PARAMETERS["AWS::AccountId"],
                "apiId": API_ID,
                "domainName": host,
                "domainPrefix": host.partition(".")[0],
                "http": {
                    "method": request.method,
                    "path": request.path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": request.client_ip,
                    "userAgent": headers.get("user-agent", ""),
                },
                "requestId": uuid.uuid4().hex[:16],
                "routeKey": route.key,
                "stage": "$default",
                "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
                "timeEpoch": round(time.time() * 1000),
            },
            "isBase64Encoded": bool(request.body) and not is_text,
            **({"queryStringParameters": query} if query else {}),
            **({"pathParameters": parameters} if parameters else {}),
            **({"body": body} if request.body else {}),
        }

    def _call(self, function: str, event: dict[str, Any]) -> dict[str, Any]:
        try:
            with self._one_at_a_time:
                result = self._functions.invoke(function, event, patience_seconds=INTEGRATION_SECONDS)
        except PayloadTooLarge as error:
            raise GatewayError(413, "Request Entity Too Large") from error
        except StillRunning as error:
            print(f"{function}: {error}", flush=True)
            raise GatewayError(503, "Service Unavailable") from error
        except FunctionError as error:
            print(f"{function}: {error}", flush=True)
            raise GatewayError(500, "Internal Server Error") from error
        if not isinstance(result, dict) or "statusCode" not in result:
            print(f"{function}: the result has no statusCode", flush=True)
            raise GatewayError(500, "Internal Server Error")
        return result


def _response(result: Mapping[str, Any]) -> Response:
    text = result.get("body") or ""
    body = base64.b64decode(text) if result.get("isBase64Encoded") else text.encode()
    headers = {name.lower(): (name, str(value)) for name, value in (result.get("headers") or {}).items()}
    headers.setdefault("content-type", ("Content-Type", "application/json"))
    return Response(int(result["statusCode"]), [*headers.values()], body)


def _routes(template: Template) -> Iterator[Route]:
    integrations = template.resources("AWS::ApiGatewayV2::Integration")
    for route in template.resources("AWS::ApiGatewayV2::Route").values():
        integration = integrations[route["Target"].removeprefix("integrations/")]
        _, path = route["RouteKey"].split(" ")
        yield Route(route["RouteKey"], integration["IntegrationUri"].removesuffix(".Arn"), path_pattern(path))
