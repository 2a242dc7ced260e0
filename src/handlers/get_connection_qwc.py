"""GET and POST /connections/{connection_id}/qwc: the file that adds the connection to a Web Connector."""

from aws_lambda_powertools.event_handler import Response

from domain.web_connector.protocol import qwc
from handlers.http import header, public_url
from handlers.rest import Endpoint, services
from handlers.rest.responses import file_response
from handlers.views.connections import QwcView

handler = Endpoint("Connections")
PATH = "/api/v1/connections/<connection_id>/qwc"


@handler.route("GET", PATH)
@handler.route("POST", PATH, operation_id="post_connection_qwc")
def get_connection_qwc(connection_id: str) -> QwcView | Response[str]:
    """Get the .qwc file.

    With `Accept: application/x-qwc` the response is the file itself, otherwise its text in JSON. The password is not
    in it.
    """
    connection = services().connections.get(handler.app_id, connection_id)
    text = qwc.render(connection, base_url=public_url(handler.event))
    if qwc.CONTENT_TYPE in (header(handler.event, "Accept") or "").lower():
        return file_response(text, qwc.CONTENT_TYPE, f"{connection_id}.qwc")
    return QwcView(qwc=text)
