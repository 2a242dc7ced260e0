"""HTTP requests and responses of API Gateway, and the service's public URLs. It imports no slow modules."""

import base64
import gzip
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias

from handlers.common.bootstrap import services

SECURITY_HEADERS: Mapping[str, str] = {
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
}
"""Browsers use https only, and do not guess the type of a response."""

MIN_COMPRESSED_CHARACTERS = 1024
"""Shorter bodies are not compressed. The REST API has the same limit (`MinimumCompressionSize`)."""

Handler: TypeAlias = Callable[[dict[str, Any], object], dict[str, Any]]

NO_STORE: Mapping[str, str] = {"Cache-Control": "no-store", **SECURITY_HEADERS}
"""Responses hold a company's books or credentials, so no cache may keep them."""


def header(event: Mapping[str, Any], name: str) -> str | None:
    """Return a header's value. The case of its name does not matter."""
    for header_name, value in (event.get("headers") or {}).items():
        if header_name.lower() == name.lower():
            text: str = value
            return text
    return None


def source_ip(event: Mapping[str, Any]) -> str | None:
    """Return the IP address of the caller, as API Gateway saw it, or None."""
    context = event.get("requestContext") or {}
    # An HTTP API has it in `http`.
    for name in ("identity", "http"):
        if address := (context.get(name) or {}).get("sourceIp"):
            return str(address)
    return None


def response(status: int, content_type: str, body: str, headers: Mapping[str, str] = NO_STORE) -> dict[str, Any]:
    """Return a response of a function without a resolver."""
    headers = {**headers, "Content-Type": content_type}
    return {"statusCode": status, "headers": headers, "body": body, "isBase64Encoded": False}


def without_body(result: dict[str, Any]) -> dict[str, Any]:
    """Return the response to HEAD: the status and the headers of the response to GET."""
    return {**result, "body": "", "isBase64Encoded": False}


def public_url(event: Mapping[str, Any]) -> str:
    """Return the URL under which clients reach the service, without a slash at the end.

    It never comes from the `Host` header, because the caller chooses that. It is the URL of the deployment, or the
    domain name under which API Gateway was called.
    """
    return services().settings.base_url or _url_of(event)


def web_connector_url(event: Mapping[str, Any]) -> str:
    """Return the URL under which Web Connectors reach the service, without a slash at the end. See `public_url`."""
    return services().settings.web_connector_base_url or _url_of(event)


def _url_of(event: Mapping[str, Any]) -> str:
    context = event["requestContext"]
    # With the gateway's own domain, the path of the call begins with the stage. With `sam local` it is the route.
    full_path = context.get("path", event["path"])
    stage = full_path.removesuffix(event["path"]) if full_path.endswith(event["path"]) else ""
    return f"https://{context['domainName']}{stage}"


def for_both_apis(handler: Handler) -> Handler:
    """Let a handler of the REST API's calls also handle those of the HTTP API (`WebConnectorApi` in `template.yaml`).

    An HTTP API does not compress, so the responses to its calls are compressed here.
    """

    @wraps(handler)
    def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
        if event.get("version") != "2.0":
            return handler(event, context)
        event = _as_rest_call(event)
        return _compressed(event, handler(event, context))

    return handle


def _as_rest_call(event: dict[str, Any]) -> dict[str, Any]:
    """Return a call in payload format 2.0 with the members of a REST API's call that the handlers read."""
    method, resource = event["routeKey"].split(" ")
    path = resource
    for name, value in (event.get("pathParameters") or {}).items():
        path = path.replace(f"{{{name}+}}", value)
    # Behind a custom domain, rawPath begins with the key of the mapping, such as /connector.
    context = {**event["requestContext"], "path": event["rawPath"]}
    return {**event, "httpMethod": method, "resource": resource, "path": path, "requestContext": context}


def _compressed(event: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return a response as gzip if it is long and the caller accepts gzip. Web Connectors do not."""
    if len(result["body"]) < MIN_COMPRESSED_CHARACTERS:
        return result
    headers = {**result["headers"], "Vary": "Accept-Encoding"}
    if not _accepts_gzip(header(event, "Accept-Encoding") or ""):
        return {**result, "headers": headers}
    body = base64.b64encode(gzip.compress(result["body"].encode(), mtime=0)).decode()
    return {**result, "headers": {**headers, "Content-Encoding": "gzip"}, "body": body, "isBase64Encoded": True}


def _accepts_gzip(accept_encoding: str) -> bool:
    """Return whether a list such as `br, gzip;q=0.5` has gzip with a weight above 0 (RFC 9110, 12.5.3)."""
    for entry in accept_encoding.lower().split(","):
        coding, _, weight = entry.partition(";")
        if coding.strip() in {"gzip", "x-gzip"}:
            return not weight.strip().startswith("q=0") or any(digit in "123456789" for digit in weight)
    return False
