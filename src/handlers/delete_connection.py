"""DELETE /connections/{connection_id}: delete a connection and, soon after, its requests."""

from domain.connections.removal import remove_connection
from domain.errors import ConnectionActive
from handlers.rest import Endpoint, services

handler = Endpoint("Connections", changes=True)


@handler.route("DELETE", "/api/v1/connections/<connection_id>", status=204, errors=(ConnectionActive,))
def delete_connection(connection_id: str) -> None:
    """Delete a connection and its requests."""
    remove_connection(services().store, services().clock, handler.app_id, connection_id)
