"""POST /connections: create a connection."""

from handlers.rest import Endpoint, services
from handlers.rest.connections import ConnectionResponse, checked_settings, connection_response
from handlers.rest.models import NewConnection

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections", status=201)
def create_connection(body: NewConnection | None = None) -> ConnectionResponse:
    """Create a connection.

    Set a password before a Web Connector uses it.
    """
    settings = checked_settings(body or NewConnection())
    return connection_response(services().connections.create(handler.app_id, **settings))
