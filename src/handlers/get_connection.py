"""GET /connections/{connection_id}: one connection."""

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Data, Endpoint
from handlers.rest.connections import connection_data
from handlers.views.connections import ConnectionView

handler = Endpoint("Connections")


@handler.route("GET", "/api/v1/connections/<connection_id>")
def get_connection(connection_id: ConnectionId) -> Data[ConnectionView]:
    """Get a connection."""
    return connection_data(services().connections.get(handler.app_id, connection_id))
