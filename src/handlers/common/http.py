"""HTTP requests and responses of API Gateway, and the service's public URL. It imports no slow modules."""

from collections.abc import Mapping
from typing import Any

from handlers.common.bootstrap import services

SECURITY_HEADERS: Mapping[str, str] = {
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
}
"""Browsers use https only, and do not guess the type of a response."""

NO_STORE: Mapping[str, str] = {"Cache-Control": "no-store", **SECURITY_HEADERS}
"""Responses hold a company's books or credentials, so no cache may keep them."""


def header(event: Mapping[str, Any], name: str) -> str | None:
    """Return a header's value. The case of its name does not matter."""
    for header_name, value in (event.get("headers") or {}).items():
        if header_name.lower() == name.lower():
            text: str = value
            return text
    return None


def response(status: int, content_type: str, body: str, headers: Mapping[str, str] = NO_STORE) -> dict[str, Any]:
    """Return a response of a function without a resolver."""
    headers = {**headers, "Content-Type": content_type}
    return {"statusCode": status, "headers": headers, "body": body, "isBase64Encoded": False}


def public_url(event: Mapping[str, Any]) -> str:
    """Return the URL under which clients reach the service, without a slash at the end.

    It never comes from the `Host` header, because the caller chooses that. It is the URL of the deployment, or the
    domain name under which API Gateway was called.
    """
    if base_url := services().settings.base_url:
        return base_url
    context = event["requestContext"]
    # With the gateway's own domain, the path of the call begins with the stage. With `sam local` it is the route.
    full_path = context.get("path", event["path"])
    stage = full_path.removesuffix(event["path"]) if full_path.endswith(event["path"]) else ""
    return f"https://{context['domainName']}{stage}"
