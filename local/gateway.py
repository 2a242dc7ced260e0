"""API Gateway on one machine: the routes, authorizer and gateway responses of the template's REST API.

Turns a request into the proxy event of API Gateway, and the result of the function into a response. Sources: "Lambda
proxy integrations in API Gateway" (input and output format) and "Gateway response types". It has no business logic.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
import time
import uuid
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from local.functions import FunctionError, PayloadTooLarge, StillRunning
from local.template import PSEUDO_PARAMETERS, TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.functions import Functions
    from local.template import Template

MAX_BODY_BYTES = 10 * 1024 * 1024
"""API Gateway: the maximum size of a request to a REST API."""

INTEGRATION_SECONDS = 29
"""API Gateway: how long it waits for a function."""

API_ID = "local"

# The defaults of API Gateway, where the template declares no response (docs: "Gateway response types").
DEFAULT_STATUS: Mapping[str, int] = {
    "ACCESS_DENIED": 403,
    "AUTHORIZER_CONFIGURATION_ERROR": 500,
    "AUTHORIZER_FAILURE": 500,
    "INTEGRATION_FAILURE": 504,
    "INTEGRATION_TIMEOUT": 504,
    "INVALID_SIGNATURE": 403,
    "MISSING_AUTHENTICATION_TOKEN": 403,
    "REQUEST_TOO_LARGE": 413,
    "UNAUTHORIZED": 401,
}
DEFAULT_TEMPLATE = '{"message":$context.error.messageString}'


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request. `target` is the path with its query, as received; `headers` keeps order and repeated names."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    client_ip: str = "127.0.0.1"

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    def header(self, name: str) -> str | None:
        """Return the last value of a header; the case of its name does not matter."""
        return next((value for key, value in reversed(self.headers) if key.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class GatewayError(Exception):
    """An error for which API Gateway itself responds, with the gateway response of this type."""

    def __init__(self, response_type: str, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.response_type = response_type
        self.status = status or DEFAULT_STATUS[response_type]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and path (`/a/{b}`) of the API, the function behind it, and the name of its authorizer, if any."""

    method: str
    path: str
    function: str
    authorizer: str | None
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(path_pattern(self.path).pattern + "/?"))


def path_pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path with parameters: `/a/{b}`, `/a/{b+}`."""
    parts = re.split(r"\{([A-Za-z0-9_]+\+?)\}", path)
    return re.compile("".join(_group(part) if n % 2 else re.escape(part) for n, part in enumerate(parts)))


def _group(parameter: str) -> str:
    """Return the pattern of a path parameter; `name+` also takes the segments that follow."""
    return f"(?P<{parameter[:-1]}>.+)" if parameter.endswith("+") else f"(?P<{parameter}>[^/]+)"


@dataclass(frozen=True, slots=True)
class TokenAuthorizer:
    """A Lambda authorizer of type TOKEN."""

    function: str
    header: str
    cache_seconds: int


class Gateway:
    """The REST API of a template."""

    def __init__(self, template: Template, functions: Functions, one_at_a_time: threading.Lock | None = None) -> None:
        """Take the lock that is held while a function runs, if another gateway shares it."""
        self._functions = functions
        api = template.api()
        self._stage = api["StageName"]
        self._binary_types = frozenset(api.get("BinaryMediaTypes", []))
        self._min_compressed_bytes: int | None = api.get("MinimumCompressionSize")
        self._gateway_responses: Mapping[str, Any] = api.get("GatewayResponses", {})
        auth = api.get("Auth", {})
        self._authorizers = {name: _authorizer(name, facts) for name, facts in auth.get("Authorizers", {}).items()}
        self._routes = sorted(_routes(template, auth.get("DefaultAuthorizer")), key=_specific_first)
        self._policies: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
        # Powertools keeps the event in a class attribute (BaseRouter.current_event). In Lambda each function has a
        # separate process; here all share one, so only one call may run at a time.
        self._one_at_a_time = one_at_a_time or threading.Lock()

    def handle(self, request: Request) -> Response:
        """Return the response of the deployed API."""
        request_id = str(uuid.uuid4())
        try:
            route, path_parameters = self._route(request)
            context = self._request_context(request, route, request_id)
            if route.authorizer is not None:
                context["authorizer"] = self._authorize(self._authorizers[route.authorizer], request)
            event = self._event(request, route, path_parameters, context)
            return self._response(request, self._call(route.function, event))
        except GatewayError as error:
            return self._gateway_response(error, request_id)

    # --- Routes and the authorizer -------------------------------------------------------------------------------

    def _route(self, request: Request) -> tuple[Route, dict[str, str]]:
        if len(request.body) > MAX_BODY_BYTES:
            raise GatewayError("REQUEST_TOO_LARGE", "Request Too Long")
        matching = [(route, match) for route in self._routes if (match := route.pattern.fullmatch(request.path))]
        for route, match in matching:
            # The most specific path is chosen before the method (assumed).
            if route.path == matching[0][0].path and route.method in {request.method, "ANY"}:
                return route, {name: unquote(value) for name, value in match.groupdict().items()}
        # On an unknown route, API Gateway treats an Authorization header as an AWS signature.
        if request.header("Authorization"):
            raise GatewayError("INVALID_SIGNATURE", "Authorization header requires 'Credential' parameter.")
        raise GatewayError("MISSING_AUTHENTICATION_TOKEN", "Missing Authentication Token")

    def _authorize(self, authorizer: TokenAuthorizer, request: Request) -> dict[str, Any]:
        token = request.header(authorizer.header)
        if not token:
            raise GatewayError("UNAUTHORIZED", "Unauthorized")
        method_arn = (
            f"arn:aws:execute-api:{PSEUDO_PARAMETERS['AWS::Region']}:{PSEUDO_PARAMETERS['AWS::AccountId']}:"
            f"{API_ID}/{self._stage}/{request.method}/{request.path.lstrip('/')}"
        )
        result = self._policy(authorizer, token, method_arn)
        if not _allowed(result["policyDocument"], method_arn):
            raise GatewayError("ACCESS_DENIED", "User is not authorized to access this resource")
        facts = {name: _as_text(value) for name, value in (result.get("context") or {}).items()}
        return {"principalId": result["principalId"], "integrationLatency": 0, **facts}

    def _policy(self, authorizer: TokenAuthorizer, token: str, method_arn: str) -> dict[str, Any]:
        cached = self._policies.get((authorizer.function, token))
        if cached and cached[0] > time.monotonic():
            return cached[1]
        event = {"type": "TOKEN", "authorizationToken": token, "methodArn": method_arn}
        try:
            result = self._functions.invoke(authorizer.function, event)
        except FunctionError as error:
            # API Gateway: an authorizer that fails with exactly this message means 401.
            if str(error).endswith(": Unauthorized"):
                raise GatewayError("UNAUTHORIZED", "Unauthorized") from error
            _report(authorizer.function, error)
            raise GatewayError("AUTHORIZER_FAILURE", "Internal server error") from error
        if not isinstance(result, dict) or not {"principalId", "policyDocument"} <= set(result):
            raise GatewayError("AUTHORIZER_CONFIGURATION_ERROR", "Internal server error")
        if authorizer.cache_seconds:
            self._policies[authorizer.function, token] = (time.monotonic() + authorizer.cache_seconds, result)
        return result

    # --- The proxy integration -------------------------------------------------------------------------------------

    def _request_context(self, request: Request, route: Route, request_id: str) -> dict[str, Any]:
        now = datetime.now(UTC)
        host = (request.header("Host") or "").partition(":")[0]
        return {
            "accountId": PSEUDO_PARAMETERS["AWS::AccountId"],
            "apiId": API_ID,
            "domainName": host,
            "domainPrefix": host.partition(".")[0],
            "extendedRequestId": base64.b64encode(request_id[:11].encode()).decode(),
            "httpMethod": request.method,
            "identity": {
                "accessKey": None,
                "accountId": None,
                "caller": None,
                "cognitoAuthenticationProvider": None,
                "cognitoAuthenticationType": None,
                "cognitoIdentityId": None,
                "cognitoIdentityPoolId": None,
                "principalOrgId": None,
                "sourceIp": request.client_ip,
                "user": None,
                "userAgent": request.header("User-Agent"),
                "userArn": None,
            },
            "path": f"/{self._stage}{request.path}",
            "protocol": "HTTP/1.1",
            "requestId": request_id,
            "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "requestTimeEpoch": round(now.timestamp() * 1000),
            "resourceId": f"{zlib.crc32(route.path.encode()):08x}",
            "resourcePath": route.path,
            "stage": self._stage,
        }

    def _event(
        self, request: Request, route: Route, path_parameters: dict[str, str], context: dict[str, Any]
    ) -> dict[str, Any]:
        port = (request.header("Host") or "").partition(":")[2] or "80"
        headers = [
            *request.headers,
            ("X-Amzn-Trace-Id", f"Root=1-{int(time.time()):08x}-{uuid.uuid4().hex[:24]}"),
            ("X-Forwarded-For", request.client_ip),
            ("X-Forwarded-Port", port),
            ("X-Forwarded-Proto", "http"),
        ]
        query = parse_qsl(request.target.partition("?")[2], keep_blank_values=True)
        is_binary = _media_type(request.header("Content-Type")) in self._binary_types
        body = None
        if request.body:
            body = base64.b64encode(request.body).decode() if is_binary else request.body.decode("utf-8", "replace")
        return {
            "resource": route.path,
            "path": request.path,
            "httpMethod": request.method,
            "headers": dict(headers),
            "multiValueHeaders": _grouped(headers),
            "queryStringParameters": dict(query) or None,
            "multiValueQueryStringParameters": _grouped(query) or None,
            "pathParameters": path_parameters or None,
            "stageVariables": None,
            "requestContext": context,
            "body": body,
            "isBase64Encoded": is_binary and body is not None,
        }

    def _call(self, function: str, event: dict[str, Any]) -> dict[str, Any]:
        try:
            with self._one_at_a_time:
                result = self._functions.invoke(function, event, patience_seconds=INTEGRATION_SECONDS)
        except PayloadTooLarge as error:
            raise GatewayError("REQUEST_TOO_LARGE", "Request Too Long") from error
        except StillRunning as error:
            _report(function, error)
            raise GatewayError("INTEGRATION_TIMEOUT", "Endpoint request timed out") from error
        except FunctionError as error:
            _report(function, error)
            raise GatewayError("DEFAULT_5XX", "Internal server error", 502) from error
        if not isinstance(result, dict) or "statusCode" not in result:
            _report(function, "malformed Lambda proxy response")
            raise GatewayError("DEFAULT_5XX", "Internal server error", 502)
        return result

    def _response(self, request: Request, result: dict[str, Any]) -> Response:
        headers: dict[str, list[str]] = {}
        # multiValueHeaders take precedence over headers.
        for name, value in (result.get("headers") or {}).items():
            headers[name.lower()] = [name, _as_text(value)]
        for name, values in (result.get("multiValueHeaders") or {}).items():
            headers[name.lower()] = [name, *(_as_text(value) for value in values)]
        headers.setdefault("content-type", ["Content-Type", "application/json"])
        text = result.get("body") or ""
        body = text.encode()
        # API Gateway turns base64 into bytes only when the first type of Accept is a binary media type of the API.
        first_type = _media_type((request.header("Accept") or "").partition(",")[0])
        if result.get("isBase64Encoded") and first_type in self._binary_types:
            body = base64.b64decode(text)
        if self._compresses(request, headers, body):
            body = gzip.compress(body)
            headers["content-encoding"] = ["Content-Encoding", "gzip"]
        fields = [(name, value) for name, *values in headers.values() for value in values]
        return Response(int(result["statusCode"]), fields, body)

    def _compresses(self, request: Request, headers: Mapping[str, list[str]], body: bytes) -> bool:
        """Return whether API Gateway compresses a response ("Receive an API response with a compressed payload")."""
        encodings = (request.header("Accept-Encoding") or "").lower()
        is_large = self._min_compressed_bytes is not None and len(body) >= self._min_compressed_bytes
        return is_large and "gzip" in encodings and "content-encoding" not in headers

    def _gateway_response(self, error: GatewayError, request_id: str) -> Response:
        family = "DEFAULT_4XX" if error.status < 500 else "DEFAULT_5XX"  # noqa: PLR2004 - the HTTP status classes
        own = self._gateway_responses.get(error.response_type, {})
        defaults = self._gateway_responses.get(family, {})
        status = int(own.get("StatusCode", defaults.get("StatusCode", error.status)))
        templates = own.get("ResponseTemplates") or defaults.get("ResponseTemplates") or {}
        variables = {
            "$context.error.messageString": json.dumps(str(error)),
            "$context.error.message": str(error),
            "$context.error.responseType": error.response_type,
            "$context.requestId": request_id,
        }
        text = templates.get("application/json", DEFAULT_TEMPLATE)
        for name, value in variables.items():
            text = text.replace(name, value)
        headers = {"Content-Type": "application/json", "x-amzn-RequestId": request_id}
        for parameters in (defaults.get("ResponseParameters", {}), own.get("ResponseParameters", {})):
            # Single quotes mark a static value.
            headers |= {name: str(value).strip("'") for name, value in parameters.get("Headers", {}).items()}
        return Response(status, [*headers.items()], text.encode())


def _routes(template: Template, default_authorizer: str | None) -> Iterable[Route]:
    for function in template.functions():
        for event in function.events:
            if event.type == "Api":
                authorizer = event.properties.get("Auth", {}).get("Authorizer", default_authorizer)
                yield Route(
                    event.properties["Method"].upper(),
                    event.properties["Path"],
                    function.logical_id,
                    None if authorizer == "NONE" else authorizer,
                )


def _specific_first(route: Route) -> tuple[list[bool], bool]:
    """Sort a fixed path segment before a `{parameter}` at the same position, and a method before `ANY`."""
    return [segment.startswith("{") for segment in route.path.split("/")], route.method == "ANY"


def _authorizer(name: str, facts: Mapping[str, Any]) -> TokenAuthorizer:
    if facts.get("FunctionPayloadType", "TOKEN") != "TOKEN":
        raise TemplateError(f"authorizer {name}: only TOKEN authorizers are supported by local/gateway.py")
    identity = facts.get("Identity", {})
    return TokenAuthorizer(
        function=facts["FunctionArn"].removesuffix(".Arn"),
        header=identity.get("Header", "Authorization"),
        cache_seconds=int(identity.get("ReauthorizeEvery", 300)),  # API Gateway's default
    )


def _allowed(policy: Mapping[str, Any], method_arn: str) -> bool:
    """Evaluate a policy as IAM does: an explicit Deny wins, and without an Allow nothing is allowed."""
    effects = {
        statement["Effect"]
        for statement in policy["Statement"]
        if any(_matches(action, "execute-api:Invoke") for action in _as_list(statement["Action"]))
        and any(_matches(resource, method_arn) for resource in _as_list(statement["Resource"]))
    }
    return effects == {"Allow"}


def _matches(pattern: str, text: str) -> bool:
    expression = "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _media_type(header: str | None) -> str:
    return (header or "").partition(";")[0].strip().lower()


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


def _as_text(value: Any) -> str:
    """Return a value as API Gateway writes it in headers and authorizer context: always as text."""
    return value if isinstance(value, str) else json.dumps(value)


def _report(function: str, problem: object) -> None:
    print(f"{function}: {problem}", flush=True)
    if isinstance(problem, BaseException) and problem.__cause__ is not None:
        import traceback  # noqa: PLC0415 - only where something went wrong

        traceback.print_exception(problem.__cause__)
