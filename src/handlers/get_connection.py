"""GET /connections/{connection_id}: one connection."""

from handlers.rest import Endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response

handler = Endpoint("Connections")


@handler.route("GET", "/api/v1/connections/<connection_id>")
def get_connection(connection_id: str) -> ConnectionResponse:
    """Get a connection."""
    return connection_response(services().connections.get(handler.app_id, connection_id))
