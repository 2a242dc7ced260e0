"""POST /connections/{connection_id}/pause: hand out nothing more to its Web Connector."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.connections import connection_answer

handler = Endpoint(changes=True)


@handler.post(
    "/api/v1/connections/<connection_id>/pause",
    operation_id="pause_connection",
    summary="Pause a connection",
    description="Nothing more is handed out, in a session that is running after the request in flight; the pages of an "
    "open iteration are finished. Requests can still be queued. Pausing again does nothing.",
    response_description="The connection",
    tags=["Connections"],
)
def pause(connection_id: ConnectionId) -> Response[Any]:
    """Answer with the connection as it is now."""
    return connection_answer(services().connections.pause(handler.app_id, connection_id))
