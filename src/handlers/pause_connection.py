"""POST /connections/{connection_id}/pause: send no more requests to its QuickBooks."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response


@endpoint("Connections", "POST /connections/{connection_id}/pause", needs=(Permission.OPERATE,))
def handler(call: ApiCall, connection_id: str) -> ConnectionResponse:
    """Pause a connection.

    A running session finishes the request in flight and the pages of an open iterator; nothing else is sent. Requests
    can still be queued. Pausing again does nothing.
    """
    return connection_response(services().connections.pause(call.app_id, connection_id, actor=call.actor))
