"""POST /connections/{connection_id}/pause: send no more requests to its QuickBooks."""

from handlers.rest import Endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections/<connection_id>/pause")
def pause_connection(connection_id: str) -> ConnectionResponse:
    """Pause a connection.

    A running session finishes the request in flight and the pages of an open iterator; nothing else is sent. Requests
    can still be queued. Pausing again does nothing.
    """
    return connection_response(services().connections.pause(handler.app_id, connection_id))
