"""GET and POST /qbwc: the Web Connector's endpoint. Its calls carry credentials of their own: no authorizer."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from aws_lambda_powertools import Logger

from domain.web_connector.protocol import qwc, wsdl
from handlers.bootstrap import services

logger = Logger()

GREETING = (
    "This is the address of qbxml-queue's Web Connector service. Add it to a QuickBooks Web Connector by its .qwc file."
)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer a call, the Web Connector's look at our certificate (it must get a 200), or who asks for the WSDL."""
    if event["httpMethod"] == "POST":
        answer = services().web_connector.answer(_body(event))
        logger.info("web_connector.called", extra={"status": answer.status, **answer.log})
        return _answer(answer.status, answer.content_type, answer.body)
    if any(name.lower() == "wsdl" for name in event.get("queryStringParameters") or {}):
        return _answer(200, "text/xml; charset=utf-8", wsdl.render(_address(event)))
    return _answer(200, "text/plain; charset=utf-8", GREETING)


def _body(event: dict[str, Any]) -> bytes | str:
    body: str = event.get("body") or ""
    try:
        return base64.b64decode(body, validate=True) if event.get("isBase64Encoded") else body
    except binascii.Error:
        return body


def _address(event: dict[str, Any]) -> str:
    """Return the URL of this endpoint: the deployment's, or else the one that was called."""
    if base_url := services().settings.base_url:
        return base_url + qwc.SERVICE_PATH
    context = event["requestContext"]
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    scheme = headers.get("x-forwarded-proto", "https")
    return f"{scheme}://{headers.get('host') or context.get('domainName')}{context.get('path') or event['path']}"


def _answer(status: int, content_type: str, body: str) -> dict[str, Any]:
    headers = {"Content-Type": content_type, "Cache-Control": "no-store"}
    return {"statusCode": status, "headers": headers, "body": body, "isBase64Encoded": False}
