"""GET and POST /qbwc: the endpoint of Web Connectors. They log in over SOAP, so there is no authorizer."""

import base64
import binascii
import logging
from typing import Any

from domain.web_connector.protocol import qwc, wsdl
from domain.web_connector.session.login import INVALID_USER
from handlers.common.bootstrap import end_init, services
from handlers.common.http import for_both_apis, response, source_ip, web_connector_url
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()
end_init(lambda services: services.web_connector)

GREETING = (
    "This is the Web Connector endpoint of qbxml-queue. Open a .qwc file with the QuickBooks Web Connector to use it."
)


@for_both_apis
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Respond to a SOAP call, to GET (the Web Connector checks the certificate and needs a 200) and to `GET ?wsdl`."""
    if event["httpMethod"] == "POST":
        reply = services().web_connector.reply(_body(event), source_ip(event))
        facts = {"status": reply.status, **reply.log}
        if facts.get("login") == INVALID_USER:
            logger.always(logging.INFO, "web_connector.called", **facts)
        else:
            logger.info("web_connector.called", extra=facts)
        return response(reply.status, reply.content_type, reply.body)
    if any(name.lower() == "wsdl" for name in event.get("queryStringParameters") or {}):
        return response(200, "text/xml; charset=utf-8", wsdl.render(web_connector_url(event) + qwc.SERVICE_PATH))
    return response(200, "text/plain; charset=utf-8", GREETING)


def _body(event: dict[str, Any]) -> bytes | str:
    body: str = event.get("body") or ""
    try:
        return base64.b64decode(body, validate=True) if event.get("isBase64Encoded") else body
    except binascii.Error:
        return body
