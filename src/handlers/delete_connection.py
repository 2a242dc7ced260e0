"""DELETE /connections/{connection_id}: delete a connection and, soon after, its requests."""

from domain.errors import ConnectionActive
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint

handler = Endpoint("Connections", changes=True)


@handler.route("DELETE", "/api/v1/connections/<connection_id>", status=204, errors=(ConnectionActive,))
def delete_connection(connection_id: ConnectionId) -> None:
    """Delete a connection and its requests."""
    services().connection_removal.delete(handler.app_id, connection_id)
