"""GET and POST /connections/{connection_id}/qwc: the file that adds the connection to a Web Connector."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from domain.web_connector.protocol import qwc
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.request_checks import base_url_of, header
from handlers.rest.responses import file_answer, object_answer

handler = Endpoint()
PATH = "/api/v1/connections/<connection_id>/qwc"
ABOUT: dict[str, Any] = {
    "summary": "Get the .qwc file",
    "description": "With `Accept: application/x-qwc` the file itself, else its text in JSON.",
    "response_description": "The file's text",
    "tags": ["Connections"],
}
APP_NAME = "qbxml-queue"


@handler.get(PATH, operation_id="get_connection_qwc", **ABOUT)
@handler.post(PATH, operation_id="post_connection_qwc", **ABOUT)
def get(connection_id: ConnectionId) -> Response[Any]:
    """Answer with the file; the password is never in it."""
    connection = services().connections.get(handler.app_id, connection_id)
    base_url = services().settings.base_url or base_url_of(handler.event)
    text = qwc.render(connection, base_url=base_url, app_name=APP_NAME)
    if qwc.CONTENT_TYPE in (header(handler.event, "Accept") or "").lower():
        return file_answer(text, qwc.CONTENT_TYPE, f"{connection_id}.qwc")
    return object_answer({"qwc": text})
