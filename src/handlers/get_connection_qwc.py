"""GET and POST /connections/{connection_id}/qwc: the file that adds the connection to a Web Connector."""

from aws_lambda_powertools.event_handler import Response

from domain.web_connector.protocol import qwc
from handlers.common.http import NO_STORE, header, web_connector_url
from handlers.rest import ApiCall, endpoint, services
from handlers.views.connections import QwcView


@endpoint("Connections", "POST /connections/{connection_id}/qwc", "GET /connections/{connection_id}/qwc")
def handler(call: ApiCall, connection_id: str) -> QwcView | Response[str]:
    """Get the .qwc file.

    With `Accept: application/x-qwc` the response is the file itself, otherwise its text in JSON. The password is not
    in it.
    """
    connection = services().connections.get(call.app_id, connection_id)
    text = qwc.render(connection, base_url=web_connector_url(call.event))
    if qwc.CONTENT_TYPE in (header(call.event, "Accept") or "").lower():
        headers = {**NO_STORE, "Content-Disposition": f'attachment; filename="{connection_id}.qwc"'}
        return Response(200, qwc.CONTENT_TYPE, text, headers=headers)
    return QwcView(qwc=text)
