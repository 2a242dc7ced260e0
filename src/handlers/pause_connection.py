"""POST /connections/{connection_id}/pause: send no more requests to its QuickBooks."""

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Data, Endpoint
from handlers.rest.connections import connection_data
from handlers.views.connections import ConnectionView

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections/<connection_id>/pause")
def pause_connection(connection_id: ConnectionId) -> Data[ConnectionView]:
    """Pause a connection.

    A running session finishes the request in flight and the pages of an open iterator; nothing else is sent. Requests
    can still be queued. Pausing again does nothing.
    """
    return connection_data(services().connections.pause(handler.app_id, connection_id))
