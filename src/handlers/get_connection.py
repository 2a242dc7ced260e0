"""GET /connections/{connection_id}: one connection."""

from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response


@endpoint("Connections", "GET /connections/{connection_id}")
def handler(call: ApiCall, connection_id: str) -> ConnectionResponse:
    """Get a connection."""
    return connection_response(services().connections.get(call.app_id, connection_id))
